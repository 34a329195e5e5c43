"""How ids, titles and other texts of the data are written on the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from toplist.checks import is_missing, printable
from toplist.inputs.catalogues import Fact, by_item

# What gives the title of an item, or None.
TitleOf = Callable[[Any], Any]
# Characters shown of an id and of a title, and those of an id in its tooltip.
OF_ID, OF_TITLE, OF_WHOLE = 80, 120, 400


def titles_of(given: Any, name: str = "titles", key: str = "item_id") -> TitleOf:
    """Return what gives the title of an item, or of a user, by a dict, a Series or a table."""
    if given is None:
        return lambda one: None
    facts = by_item(given, Fact("title", several=True), name, key)
    return dict(zip(facts.items, facts.values, strict=True)).get


def cut(text: str, most: int) -> str:
    """Return a text that is no longer than `most`, with … at its end if it was.

    Examples
    --------
    >>> cut("coffee", 6), cut("coffee pot", 6)
    ('coffee', 'coffe…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def plain(value: Any) -> str:
    """Return a value as text that holds no control characters and no marks of direction."""
    text = value if isinstance(value, str) else str(value)
    return printable(cut(text, 10_000))


@dataclass
class Words:
    """How items are called, and whether users are shown by their ids or numbered.

    Attributes
    ----------
    title_of, user_title_of : function
        The title of an item, or of a user, or None.
    named : bool
        Whether the ids of users are on the page.
    """

    title_of: TitleOf
    user_title_of: TitleOf
    named: bool
    _numbers: dict[Any, int] = field(default_factory=dict)

    def title(self, item: Any) -> str:
        """Return the title of an item, cut; "" without one."""
        return self._cut(self.title_of(item))

    def user_title(self, user: Any) -> str:
        """Return the title of a user, cut; "" without one, and where users are numbered."""
        return self._cut(self.user_title_of(user)) if self.named else ""

    def _cut(self, found: Any) -> str:
        return "" if is_missing(found) else cut(plain(found), OF_TITLE)

    def user(self, user: Any) -> str:
        """Return what a user is called: the id, or a number of this page."""
        if self.named:
            return plain(user)
        return f"user {self._numbers.setdefault(user, len(self._numbers) + 1)}"
