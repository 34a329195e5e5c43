"""`--segments FILE:COLUMN` of `toplist eval`: results by a label of users, read from a file."""

from collections.abc import Callable
from typing import Any

from toplist.cli.options import csv_text
from toplist.files.formats import table_format
from toplist.files.tables import read_table
from toplist.results import segments, tables
from toplist.results.result import TopKResult
from toplist.results.saved import content, text_of
from toplist.results.segments import Segments


def check(option: str) -> None:
    """Raise ValueError unless the option reads FILE:COLUMN."""
    path, colon, column = option.rpartition(":")
    if not (path and colon and column):
        raise ValueError(f"--segments {option!r}: write FILE:COLUMN")
    table_format(path)


def split(result: TopKResult, option: str, user_id: str) -> Segments[TopKResult]:
    """Split a result by a column of a file that has a row per user."""
    path, _, column = option.rpartition(":")
    table = read_table(path)
    names = list(getattr(table, "column_names", table))
    for name in (user_id, column):
        if name not in names:
            raise ValueError(f"{path}: no column {name!r}; columns found: {names}")
    keys, values = (_values(table, name) for name in (user_id, column))
    labels: dict[str, Any] = {}
    for key, value in zip(map(str, keys), values, strict=True):
        label = None if value == "" else value
        if labels.setdefault(key, label) != label:
            raise ValueError(f"{path}: user {key!r} has two labels, {labels[key]!r} and {label!r}")
    # compared as text: keys of a result may be numbers, those of a text file never are
    known = {user: labels[str(user)] for user in result.users if str(user) in labels}
    if labels and result.n_users and not known:
        raise ValueError(
            f"{path}: has none of the users of the result; it has {next(iter(labels))!r}"
        )
    found = result.by(known)
    return Segments(found.whole, found.parts, len(labels) - len(known))


def _values(table: Any, name: str) -> Any:
    """Return a column of a dict of columns or of an Arrow table."""
    return table[name] if isinstance(table, dict) else table.column(name).to_pylist()


def _as_json(found: Segments[TopKResult]) -> str:
    parts = [{"segment": label, **content(part)} for label, part in found.items()]
    return text_of(content(found.whole) | {"segments": parts})


def _as_csv(found: Segments[TopKResult]) -> str:
    return csv_text(["segment", *tables.SUMMARY], segments.rows(found))


FORMATS: dict[str, Callable[[Segments[TopKResult]], str]] = {
    "table": repr,
    "json": _as_json,
    "csv": _as_csv,
    "markdown": Segments.to_markdown,
    "latex": Segments.to_latex,
}
