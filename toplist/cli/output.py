"""What `toplist eval` prints and writes, of one system or of several side by side."""

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from toplist import plots
from toplist.checks import USERS, prefixed, require
from toplist.cli.options import names_of_columns
from toplist.cli.streams import csv_text
from toplist.comparing.comparison import compare
from toplist.files.formats import table_format
from toplist.files.tables import read_table
from toplist.plots.charts import panels
from toplist.results import describe, segments
from toplist.results.display import Display
from toplist.results.json_text import content, text_of
from toplist.results.result import TopKResult
from toplist.results.saved import check_name, dump
from toplist.results.segments import Segments
from toplist.results.writing import Content
from toplist.stats.pairs import snap

Results = Mapping[str, TopKResult]
Splits = Mapping[str, Segments[TopKResult]]

PICTURES = (".png", ".svg", ".pdf")


def names_of(paths: Sequence[str]) -> list[str]:
    """Name systems by their files, without folder and extension where the names still differ.

    Examples
    --------
    >>> names_of(["runs/bpr.csv.gz", "runs/knn.v2.csv"])
    ['bpr', 'knn.v2']
    >>> names_of(["a/recs.csv", "b/recs.csv"])
    ['a/recs.csv', 'b/recs.csv']
    """
    short = [os.path.splitext(os.path.basename(path).removesuffix(".gz"))[0] for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def _displayed(results: Results) -> Display:
    """Return one system as a table of metrics x k, or several as a row each."""
    return compare(results) if len(results) > 1 else next(iter(results.values()))


def as_json(results: Results) -> str:
    """Return means, standard deviations, intervals and counts; several systems by name."""
    return json_by_system({name: content(result) for name, result in results.items()})


def as_csv(results: Results) -> str:
    """Return a row per metric and k: metric, k, mean, std, low, high, n; several by system."""
    return csv_by_system(
        describe.COLUMNS, {name: describe.rows(one) for name, one in results.items()}
    )


def per_user_csv(results: Results) -> str:
    """Return a row per user: user_id and one column per metric and k; several by system."""
    values = {system: describe.of_users(one) for system, one in results.items()}
    names = list(dict.fromkeys(name for columns in values.values() for name in columns))
    rows = {
        system: zip(one.users, *(values[system][name].tolist() for name in names), strict=True)
        for system, one in results.items()
    }
    return csv_by_system(["user_id", *names], rows)


def differences_csv(results: Results, pairs: Iterable[tuple[str, str]]) -> str:
    """Return a row per user: user_id, the values of every system, and system - baseline of pairs.

    Users are matched by key, or by position; a cell is empty where a system does not count a user.
    """
    values = {
        (system, name): dict(zip(one.users, of_name.tolist(), strict=True))
        for system, one in results.items()
        for name, of_name in describe.of_users(one).items()
    }
    users = list(dict.fromkeys(user for one in results.values() for user in one.users))
    columns = {
        f"{s} {name}": [some.get(user, nan) for user in users] for (s, name), some in values.items()
    }
    for system, baseline in pairs:
        for name in [name for s, name in values if s == system and (baseline, name) in values]:
            both = columns[f"{system} {name}"], columns[f"{baseline} {name}"]
            columns[f"{system} - {baseline} {name}"] = snap(*both).tolist()
    return csv_text(["user_id", *columns], zip(users, *columns.values(), strict=True))


def json_by_system(contents: Mapping[str, Any]) -> str:
    """Return what is known of one system as JSON; of several by name."""
    return text_of(contents if len(contents) > 1 else next(iter(contents.values())))


def csv_by_system(header: Iterable[str], rows: Mapping[str, Iterable[Iterable[Any]]]) -> str:
    """Return the rows of every system as CSV; with several, the first column is the system."""
    if len(rows) == 1:
        return csv_text(header, next(iter(rows.values())))
    labelled = ([system, *row] for system, some in rows.items() for row in some)
    return csv_text(["system", *header], labelled)


# Each takes the results, whether metrics that are equal by definition have a line each, and how
# wide a table may be.
FORMATS: dict[str, Callable[[Results, bool, int | None], str]] = {
    "table": lambda results, every, width: _displayed(results).to_text(every, width=width),
    "json": lambda results, every, _: as_json(results),
    "csv": lambda results, every, _: as_csv(results),
    "markdown": lambda results, every, _: _displayed(results).to_markdown(every),
    "latex": lambda results, every, _: _displayed(results).to_latex(every),
}


def check_picture(path: str) -> None:
    """Raise if no picture can be written, or none under this name."""
    if not path.endswith(PICTURES):
        raise ValueError(f"--plot {path}: the name must end in {', '.join(PICTURES)}")


def draw(results: Results, path: str) -> None:
    """Write curves over k: of one system in one picture, of several a picture per metric."""
    alone = len(results) == 1
    figure: Any = plots.curves(next(iter(results.values()))).figure if alone else panels(results)
    figure.savefig(path, dpi=150)


def is_saved(path: str) -> bool:
    """Return whether a file is a result that `TopKResult.save` wrote, by its name; else of lists.

    JSON is no form of lists, and as a result it is refused with the way out.

    Examples
    --------
    >>> [is_saved(name) for name in ("base.npz", "base.json", "lists.jsonl", "lists.csv.gz")]
    [True, True, False, False]
    """
    return path.lower().endswith((".npz", ".json", ".json.gz"))


def check_save(path: str, recs: Sequence[str], system: str | None) -> None:
    """Raise ValueError if the results of some files cannot be saved under a path."""
    if any(map(is_saved, recs)):
        raise ValueError(f"--save {path}: a saved result is among the files; it is kept already")
    if os.path.isdir(path):
        return
    check_name("--save ", path)
    if system or len(recs) > 1:
        raise ValueError(f"--save {path}: of several systems, name a folder that is there")


def saved_files(results: Results, path: str) -> dict[str, Content]:
    """Return the file of the one result; in a folder, a file for each, named by its system."""
    if not os.path.isdir(path):
        return {path: dump(next(iter(results.values())))}
    odd = [name for name in results if os.path.basename(name) != name]
    if odd:
        raise ValueError(f"--save {path}: {odd[0]!r} is no name of a file: evaluate it alone")
    return {os.path.join(path, f"{name}.npz"): dump(result) for name, result in results.items()}


def check_labels(flag: str, option: str) -> None:
    """Raise ValueError unless the option reads FILE:COLUMN."""
    path, colon, column = option.rpartition(":")
    if not (path and colon and column):
        raise ValueError(f"{flag} {option!r}: write FILE:COLUMN")
    table_format(path)


def split_by(
    results: Mapping[str, TopKResult], option: str, user_id: Any
) -> dict[str, Segments[TopKResult]]:
    """Split the result of every system by a column of a file that has a row per user."""
    path, _, column = option.rpartition(":")
    found, by_text = {}, labels(path, user_id, column, "user")
    for name, result in results.items():
        known = _of_users(result, by_text, path)
        one = result.by(known)
        found[name] = Segments(one.whole, one.parts, len(by_text) - len(known))
    return found


def labels_of(result: TopKResult, option: str, user_id: Any) -> dict[Any, Any]:
    """Return the labels of the users of a result, by a column of a file."""
    path, _, column = option.rpartition(":")
    return _of_users(result, labels(path, user_id, column, "user"), path)


def clustered(found: Any, by_text: Mapping[Any, Any], path: str) -> Any:
    """Return a result, or those of several systems, with the clusters of the rows."""
    if not isinstance(found, TopKResult):
        return {name: clustered(one, by_text, path) for name, one in found.items()}
    known = _of_users(found, by_text, path)
    without = next((one for one in found.users if known.get(one) is None), None)
    if without is not None:
        raise ValueError(f"{path}: has no cluster of row {without!r}")
    unit = "rows" if found.terms.unit == USERS else found.terms.unit
    terms = replace(found.terms, unit=unit)
    return replace(found, terms=terms, clusters=[known[one] for one in found.users])


def _of_users(result: TopKResult, by_text: Mapping[Any, Any], path: str) -> dict[Any, Any]:
    """Return labels by the users of a result: its keys may be numbers, a file's are text."""
    keys = {user: _as_text(user) for user in result.users}
    known = {user: by_text[key] for user, key in keys.items() if key in by_text}
    if by_text and result.n_users and not known:
        raise ValueError(
            f"{path}: has none of the users of the result; it has {next(iter(by_text))!r}"
        )
    return known


def _as_text(user: Any) -> Any:
    return tuple(map(str, user)) if isinstance(user, tuple) else str(user)


def split_by_item(
    results: Mapping[str, TopKResult], option: str, item_id: str
) -> dict[str, Segments[TopKResult]]:
    """Split the result of every system by a column of a file that has a row per item."""
    path, _, column = option.rpartition(":")
    by_text = labels(path, item_id, column, "item")
    known = (one.hits.items for one in results.values() if one.hits is not None)
    if any(isinstance(items.example(), int) for items in known if items is not None):
        by_text = dict(zip(integers(path, by_text), by_text.values(), strict=True))
    try:
        return {name: result.by_item(by_text) for name, result in results.items()}
    except (ValueError, TypeError) as error:
        raise prefixed(f"{path}: ", error) from None


def integers(source: str, ids: Iterable[str]) -> list[int]:
    """Return ids read as text as integers; `source` is named in the error."""
    try:
        return [int(item) for item in ids]
    except ValueError:
        raise ValueError(
            f"{source}: the ids of the lists are numbers, but not all ids here are"
        ) from None


def labels(path: str, key: Any, column: str, what: str) -> dict[Any, Any]:
    """Return the label of each user or item, as `what` says, by its key as text.

    The key may be several columns.
    """
    table = read_table(path)
    names = list(getattr(table, "column_names", table))
    parts = key if isinstance(key, list) else [key]
    require(path, (*parts, column), names)
    *keys, values = (
        table[name] if isinstance(table, dict) else table.column(name).to_pylist()
        for name in (*parts, column)
    )
    found: dict[Any, Any] = {}
    users = zip(*keys, strict=True) if len(parts) > 1 else keys[0]
    for key, value in zip(map(_as_text, users), values, strict=True):
        label = None if value == "" else value
        if found.setdefault(key, label) != label:
            raise ValueError(f"{path}: {what} {key!r} has two labels, {found[key]!r} and {label!r}")
    return found


def title_of(
    options: argparse.Namespace, of: str = "titles", what: str = "item"
) -> Callable[[Any], Any]:
    """Return what gives the title of an item, or of a user, whose id may be a number; or None."""
    path, _, column = (getattr(options, of) or "").rpartition(":")
    key = names_of_columns(options, of).get(f"{what}_id", f"{what}_id")
    known = labels(path, key, column, what) if path else {}
    return lambda one: known.get(_as_text(one))


def _split_json(found: Splits) -> str:
    contents = {}
    for name, one in found.items():
        parts = [{"segment": label, **content(part)} for label, part in one.items()]
        contents[name] = content(one.whole) | {"segments": parts}
    return json_by_system(contents)


def _split_csv(found: Splits) -> str:
    header = ["segment", *describe.COLUMNS]
    return csv_by_system(header, {name: segments.rows(one) for name, one in found.items()})


def _written(write: Callable[..., str], title: str) -> Callable[..., str]:
    """Return what writes one system, or several, each below its name in a title."""

    def text(found: Splits, **how: Any) -> str:
        parts = {name: write(one, **how) for name, one in found.items()}
        if len(found) == 1:
            return next(iter(parts.values()))
        return "\n\n".join(f"{title.format(name)}\n{part}" for name, part in parts.items())

    return text


SEGMENT_FORMATS: dict[str, Callable[[Splits, int | None], str]] = {
    "table": lambda found, width: _written(Segments.to_text, "system {}")(found, width=width),
    "json": lambda found, _: _split_json(found),
    "csv": lambda found, _: _split_csv(found),
    "markdown": lambda found, _: _written(Segments.to_markdown, "**{}**\n")(found),
    "latex": lambda found, _: _written(Segments.to_latex, "% system {}")(found),
}
