"""`--segments FILE:COLUMN` of `toplist eval`: results by a label of users, read from a file."""

from collections.abc import Callable, Mapping
from typing import Any

from toplist.checks import header_hint, no_columns
from toplist.cli import output
from toplist.files.formats import table_format
from toplist.files.tables import read_table
from toplist.results import segments, summary
from toplist.results.result import TopKResult
from toplist.results.saved import content
from toplist.results.segments import Segments

Splits = Mapping[str, Segments[TopKResult]]


def check(option: str) -> None:
    """Raise ValueError unless the option reads FILE:COLUMN."""
    path, colon, column = option.rpartition(":")
    if not (path and colon and column):
        raise ValueError(f"--segments {option!r}: write FILE:COLUMN")
    table_format(path)


def split(
    results: Mapping[str, TopKResult], option: str, user_id: str
) -> dict[str, Segments[TopKResult]]:
    """Split the result of every system by a column of a file that has a row per user."""
    path, _, column = option.rpartition(":")
    labels = _labels(path, user_id, column)
    found = {}
    for name, result in results.items():
        # compared as text: keys of a result may be numbers, those of a text file never are
        known = {user: labels[str(user)] for user in result.users if str(user) in labels}
        if labels and result.n_users and not known:
            raise ValueError(
                f"{path}: has none of the users of the result; it has {next(iter(labels))!r}"
            )
        one = result.by(known)
        found[name] = Segments(one.whole, one.parts, len(labels) - len(known))
    return found


def _labels(path: str, user_id: str, column: str) -> dict[str, Any]:
    """Return the label of each user, by the user as text."""
    table = read_table(path)
    names = list(getattr(table, "column_names", table))
    absent = [name for name in dict.fromkeys((user_id, column)) if name not in names]
    if absent:
        lacks = no_columns(list(map(repr, absent))) + header_hint(absent, names)
        raise ValueError(f"{path}: {lacks}; columns found: {names}")
    keys, values = (
        table[name] if isinstance(table, dict) else table.column(name).to_pylist()
        for name in (user_id, column)
    )
    labels: dict[str, Any] = {}
    for key, value in zip(map(str, keys), values, strict=True):
        label = None if value == "" else value
        if labels.setdefault(key, label) != label:
            raise ValueError(f"{path}: user {key!r} has two labels, {labels[key]!r} and {label!r}")
    return labels


def _as_json(found: Splits) -> str:
    contents = {}
    for name, one in found.items():
        parts = [{"segment": label, **content(part)} for label, part in one.items()]
        contents[name] = content(one.whole) | {"segments": parts}
    return output.json_by_system(contents)


def _as_csv(found: Splits) -> str:
    header = ["segment", *summary.COLUMNS]
    return output.csv_by_system(header, {name: segments.rows(one) for name, one in found.items()})


def _written(write: Callable[[Segments[TopKResult]], str], title: str) -> Callable[[Splits], str]:
    """Return what writes one system, or several, each below its name in a title."""

    def text(found: Splits) -> str:
        if len(found) == 1:
            return write(next(iter(found.values())))
        return "\n\n".join(f"{title.format(name)}\n{write(one)}" for name, one in found.items())

    return text


FORMATS: dict[str, Callable[[Splits], str]] = {
    "table": _written(repr, "system {}"),
    "json": _as_json,
    "csv": _as_csv,
    "markdown": _written(Segments.to_markdown, "**{}**\n"),
    "latex": _written(Segments.to_latex, "% system {}"),
}
