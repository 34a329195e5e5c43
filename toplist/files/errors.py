"""Errors of files: they name the file and the line or row, and stay short whatever is in it."""

from typing import Any, TypeVar

from toplist.checks import about

E = TypeVar("E", bound=Exception)

LONGEST = 1600  # characters of a message, after the name of its file
VALUE = 300  # characters of a list of columns, or of a name


def short(value: Any, most: int = VALUE) -> str:
    """Return the repr of a value, cut where it is long.

    Examples
    --------
    >>> short("a" * 1000, 12)
    "'aaaa...aaa'"
    """
    return cut(repr(value), most)


def cut(text: str, most: int) -> str:
    """Return a text, without its middle where it is long."""
    if len(text) <= most:
        return text
    head = (most - 3 + 1) // 2
    return f"{text[:head]}...{text[len(text) - (most - 3 - head) :]}"


def located(kind: type[E], place: str, reason: str) -> E:
    """Return an error that begins with a place; its words are cut to what a person reads."""
    return kind(f"{place}{cut(reason, LONGEST)}")


def named(place: str, error: E) -> E:
    """Return an error with a place before its message, and the message cut."""
    return about(located(type(error), place, str(error)), **vars(error))


def refused(path: str, reason: str) -> ValueError:
    """Return the error of a file as a whole."""
    return about(located(ValueError, f"{path}: ", reason), path=path)
