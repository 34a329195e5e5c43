"""Messages of more than one module, each written once."""

from typing import Any

from toplist.checks import Keyword, worded


def item_twice(user: str, item: Any, first: int, second: int, fills: bool) -> ValueError:
    """Return the error of a ranked list with an item at two ranks.

    `fills` says that the list holds nothing else from the first rank on: the item is padding.
    """
    hint = (" (if it fills up the list: ", Keyword("padding", item), ")") if fills else ()
    return worded(
        ValueError,
        f"{user} has item {item!r} at ranks {first} and {second}: "
        "a ranked list holds an item once; ",
        Keyword("duplicates", "first"),
        " counts the first place and ignores the others",
        *hint,
    )


def two_kinds(what: str, first: str, second: str, way_out: str) -> TypeError:
    """Return the error of ids of two kinds, such as 1 and "1"; an example of each is given."""
    return TypeError(f"{what} of two kinds, {first} and {second}: they are never equal; {way_out}")


def user_in_two_rows(side: str, user: Any, first: int, second: int) -> ValueError:
    """Return the error of a user with two lists."""
    return ValueError(f"{side}: user {user!r} is in rows {first} and {second}: a user has one list")


def no_common_user(ranked: Any, truth: Any) -> ValueError:
    """Return the error of two sides without a common user, given a user of each."""
    hint = "" if type(ranked) is type(truth) else " (a number and its text are two keys)"
    return ValueError(
        f"no user is in both: ranks has {ranked!r}, ground_truths has {truth!r}{hint}"
    )
