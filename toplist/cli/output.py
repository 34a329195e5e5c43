"""What a command prints and writes: a text for the screen or a file, tables, pictures."""

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

from toplist.cli.options import HELP, Option, table
from toplist.inputs.options import ITEMS
from toplist.results import describe, markup, segments
from toplist.results.describe import content, text_of
from toplist.results.markup import Display, Grid
from toplist.results.result import TopKResult
from toplist.results.saved import Content, write_all
from toplist.results.segments import Segments
from toplist.stats.units import snap

Results = Mapping[str, TopKResult]
# What is shown of every system: its result, or that by segment.
Shown = Mapping[str, TopKResult | Segments]

# Arguments that may be `-`, and the option that names the format of each, if there is one.
PLACES = {
    **dict.fromkeys(("recs", "new", "base"), "ranks_format"),
    "truth": "ground_truths_format",
    **dict.fromkeys(("log", "train"), ""),
}
PICTURES = (".png", ".svg", ".pdf")
FORMATS = ("table", "json", "csv", "markdown", "latex")
# The formats of --out FILE by its extension, where --format is not given.
EXTENSIONS = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
# Options that name a file to write, and those that name files to read, or FILE:COLUMN.
TARGETS = {"output": "--out", "per_user": "--per-user", "plot": "--plot", "save": "--save"}
SOURCES = (*PLACES, *ITEMS, "items_as", "propensities", "file")
LABELS = "segments", "item_segments", "clusters", "propensities", "titles"
# What stands above each of several systems.
TITLES = {"table": "system {}\n", "markdown": "**{}**\n\n", "latex": "% system {}\n"}


class Output(NamedTuple):
    """What a command prints, the files that it writes, a note on standard error, its status."""

    text: str
    files: Mapping[str, Content] = {}
    note: str = ""
    status: int = 0


def output(formats: Sequence[str] = ()) -> list[Option]:
    """Return the options of what is printed and where to; with `formats`, how."""
    text = "-o --out FILE  write to FILE, not to the screen"
    if formats:
        endings = " ".join(ending for ending, name in EXTENSIONS.items() if name in formats)
        how = f"{', '.join(formats)} (default: by the extension of FILE, {endings}; else table)"
        text = f"--format FORMAT  {how}\n{text}"
    kinds: dict[str, Mapping[str, Any]] = {
        "format": {"choices": formats},
        "out": {"dest": "output"},
    }
    return [*table(text, **kinds), *HELP]


def _check_picture(path: str) -> None:
    """Raise if no picture can be written under this name."""
    if not path.endswith(PICTURES):
        raise ValueError(f"--plot {path}: the name must end in {', '.join(PICTURES)}")


PICTURE = {"check": _check_picture}


def settle_format(options: argparse.Namespace, formats: Sequence[str]) -> None:
    """Choose the format by the extension of ``--out``, where ``--format`` is not given."""
    if formats and options.format is None:
        extension = os.path.splitext(options.output or "")[1].lower()
        named = EXTENSIONS.get(extension, "table")
        options.format = named if named in formats else "table"


def check_targets(options: argparse.Namespace) -> None:
    """Raise ValueError if an output would replace an input, or another output."""
    given = [getattr(options, name, None) or [] for name in SOURCES]
    paths = [path for one in given for path in ([one] if isinstance(one, str) else one)]
    beside = (getattr(options, name, None) or "" for name in LABELS)
    paths += [one.rpartition(":")[0] for one in beside if ":" in one]
    sources = {os.path.realpath(path) for path in paths}
    taken: dict[str, str] = {}
    for name, option in TARGETS.items():
        target = getattr(options, name, None)
        if target == "-" and name != "output":
            raise ValueError(f"{option} -: the table goes to standard output, so name a file")
        if target in (None, "-"):
            continue
        place = os.path.realpath(target)
        if place in sources:
            raise ValueError(f"{option} {target} would overwrite an input file")
        if place in taken:
            raise ValueError(f"{taken[place]} and {option} both write {target}")
        taken[place] = option


def screen_width(options: argparse.Namespace) -> int | None:
    """Return how wide a table may be: as the terminal it goes to; None for files and pipes."""
    return None if _to_file(options) else markup.terminal_width()


def _to_file(options: argparse.Namespace) -> bool:
    return getattr(options, "output", None) not in (None, "-")


def written(report: Output, options: argparse.Namespace) -> str:
    """Write the files of a report, all or none; return what is left to print."""
    text = report.text.rstrip("\n") + "\n"
    contents = {**report.files, **({options.output: text} if _to_file(options) else {})}
    if contents:
        write_all(contents)
    return "" if options.quiet or _to_file(options) else text


def formatted(
    options: argparse.Namespace,
    parts: Iterable[Display],
    rows: Sequence[Mapping[str, Any]] = (),
    plain: Any = None,
    **how: Any,
) -> str:
    """Return some displays, one below the other, in the format that was asked for.

    CSV has the `rows`, and JSON what is `plain`, which is the rows by default.
    """
    if options.format == "json":
        return text_of(rows if plain is None else plain)
    if options.format == "csv":
        return Grid.of(rows[0], [[*row.values()] for row in rows]).to_csv()
    if options.format == "table":
        how["width"] = screen_width(options)
    name = {"table": "to_text"}.get(options.format, f"to_{options.format}")
    return "\n\n".join(getattr(one, name)(**how) for one in parts)


def systems(options: argparse.Namespace, found: Shown, **how: Any) -> str:
    """Return results, or those by segment, in the format that was asked for.

    Several results are side by side; several ones by segment are one below the other.
    """
    shown: Mapping[str, Any] = found
    split = any(isinstance(one, Segments) for one in found.values())
    if options.format == "json":  # means, spreads, intervals, counts
        contents = {name: content(one.whole if split else one) for name, one in shown.items()}
        for name, one in shown.items() if split else ():
            parts = [{"segment": label, **content(part)} for label, part in one.items()]
            contents[name]["segments"] = parts
        return text_of(contents if len(contents) > 1 else next(iter(contents.values())))
    if options.format == "csv":
        grid = segments.grid if split else describe.grid
        return _by_system({name: grid(one) for name, one in shown.items()}).to_csv()
    if len(shown) == 1:
        return formatted(options, shown.values(), **how)
    if not split:
        from toplist.comparing.comparison import compare  # a tenth of the time of one result

        return formatted(options, [compare(shown)], **how)
    title = TITLES[options.format]
    return "\n\n".join(title.format(s) + formatted(options, [one]) for s, one in shown.items())


def _by_system(grids: Mapping[str, Grid]) -> Grid:
    """Return the rows of every system; with several, the first column is the system."""
    return Grid.stacked("system", grids) if len(grids) > 1 else next(iter(grids.values()))


def per_user_csv(results: Results) -> str:
    """Return a row per user: user_id and one column per metric and k; several by system."""
    values = {system: describe.of_users(one) for system, one in results.items()}
    names = dict.fromkeys(name for columns in values.values() for name in columns)
    grids = {
        system: Grid(
            {"user_id": list(one.users)} | {name: values[system][name].tolist() for name in names}
        )
        for system, one in results.items()
    }
    return _by_system(grids).to_csv()


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
    return Grid({"user_id": users, **columns}).to_csv()


def drawn(options: argparse.Namespace, draw: Callable[[], Any], **how: Any) -> dict[str, Content]:
    """Return the picture that is asked for, if one is, by what draws it on axes."""
    if not options.plot:
        return {}
    return {options.plot: lambda path: draw().figure.savefig(path, **how)}
