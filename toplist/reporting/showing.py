"""`show`: the lists of one user, of any form, side by side; the relevant items that they miss."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from math import inf
from typing import Any, NamedTuple
from unicodedata import combining, east_asian_width

from toplist.beyond.indexing import UserItems
from toplist.checks import (
    check_positive_int,
    counted,
    did_you_mean,
    is_missing,
    near,
    prefixed,
    printable,
)
from toplist.files.batches import Source, source_of
from toplist.inputs.facts import Fact, by_item, ids_of
from toplist.inputs.forms import read_sides
from toplist.inputs.ids import two_kinds
from toplist.inputs.keyed import KeptTruths
from toplist.inputs.lists import Flat
from toplist.inputs.options import ColumnNames, Duplicates, Items, Options, of_source
from toplist.metrics.conventions import Convention, ConventionName, rules_of
from toplist.metrics.names import Metrics
from toplist.results.markup import aligned, fitted, tag, terminal_width
from toplist.results.tables import LOOK, shortened
from toplist.top_k import GroundTruths, top_k_eval

# Columns of text; in fewer than the second number, two lists stand below each other.
WIDTH, NARROW = 80, 60
METRICS = "ndcg", "recall", "mrr"
HIT = "✓ hit"
# Letters of an id, a title and a name of a system that are shown; HTML has the rest in a tooltip.
ID, TITLE, NAME = 80, 120, 30
# Items of a history that are shown.
OF_HISTORY = 5
# Users among whom the one is looked for that may be meant.
LOOKED_AT = 20_000


# Lists, relevant items and titles, out of whatever form they were given in


def ranked(
    given: Any,
    kept: KeptTruths,
    rules: Convention,
    columns: ColumnNames,
    padding: Any,
    read: Callable[[Source], Any],
) -> Flat:
    """Return the lists of the users of ground truths, in their order; `read` reads a file."""
    given, said = of_source(given, columns, rules)
    options = Options(convention=rules, padding=padding, **said)
    if isinstance(given, (str, os.PathLike)):
        given = read(source_of(given, "ranks", options))
    return read_sides(given, kept, None, options.joining)[0]


def row_of(lists: Flat, place: int) -> list[Any]:
    """Return a ranked list."""
    return [*lists.row(place)][: int(lists.lengths[place])]


def truth_of(lists: Flat, place: int, padding: Any = None) -> Any:
    """Return the ground truth of one user: a list, of groups their items; or a dict of grades."""
    items = lists.row(place)
    if lists.grades is None or lists.grouped:
        return [one for one in items if padding is None or one != padding]
    start = int(lists.offsets[place])
    pairs = zip(items, lists.grades[start : start + len(items)].tolist(), strict=True)
    return {one: grade for one, grade in pairs if padding is None or one != padding}


def relevant_of(truth: Any, least: float | None) -> Any:
    """Return the items of a ground truth once; of grades those that are relevant, with theirs."""
    if isinstance(truth, dict):
        return {item: g for item, g in truth.items() if (g > 0 if least is None else g >= least)}
    return list(dict.fromkeys(truth))


def catalogue_of(items: Items | None) -> Container[Any] | None:
    """Return what says whether an item is in the catalogue; None without one."""
    ids = None if items is None or items.catalogue is None else ids_of(items.catalogue)
    return ids if ids is None or isinstance(ids, range) else {*ids}


def history_of(
    items: Items | None, users: Sequence[Any], n_users: int | None, columns: Any, padding: Any
) -> dict[Any, list[Any]] | None:
    """Return the items that users had before, each once; None where that is not given.

    `n_users` says how many there are, where users are known by position. TypeError and ValueError
    for other forms, keys of another kind, and where nobody of several is there.
    """
    if items is None or items.history is None:
        return None
    own = UserItems.of(items.history, "history", {"columns": columns, "padding": padding})
    if n_users is None and own.flat.users and users:
        theirs, ours = own.flat.users[0], users[0]
        if isinstance(theirs, str) != isinstance(ours, str):
            sides = f"{theirs!r} in history", f"{ours!r} in ground_truths"
            raise two_kinds("users", *sides, "convert those of history")
    keys, n = (list(users), len(users)) if n_users is None else (None, n_users)
    rows = own.rows(keys, n, whole=len(users) > 1)
    places = zip(users, (rows if n_users is None else rows[list(users)]).tolist(), strict=True)
    return {user: [*dict.fromkeys(own.flat.row(row))] for user, row in places if row >= 0}


def titles_of(given: Any, name: str = "titles", key: str = "item_id") -> Callable[[Any], str]:
    """Return what gives the title of an item, or of a user, or ""; of a dict, Series or table."""
    find = given
    if not callable(given):
        facts = () if given is None else by_item(given, Fact("title", several=True), name, key)
        find = dict(zip(facts.items, facts.values, strict=True) if facts else ()).get
    return lambda one: "" if is_missing(found := find(one)) else str(found)


def plain(value: Any) -> str:
    """Return a value as text that holds no control characters and no marks of direction."""
    text = value if isinstance(value, str) else str(value)
    return printable(shortened(text, 10_000))


# One user


class ListedItem(NamedTuple):
    """An `item` of a list, its `title` or "", whether it is a `hit`, and how it `moved`.

    `grade` is that of a hit, where items have grades.
    """

    item: Any
    title: str
    hit: bool
    moved: str
    grade: float | None = None

    @property
    def mark(self) -> str:
        """That it is a hit, and its grade; else nothing."""
        return (HIT if self.grade is None else f"{HIT} {self.grade:g}") if self.hit else ""


class MissedItem(NamedTuple):
    """A relevant `item`, its `title` or "", and its `ranks`, by system; None where not listed.

    `known` says that the catalogue has it; True without one. `grade` is None without grades.
    """

    item: Any
    title: str
    ranks: tuple[int | None, ...]
    known: bool = True
    grade: float | None = None

    @property
    def best(self) -> float:
        """The best of the ranks."""
        return min(filter(None, self.ranks), default=inf)

    @property
    def places(self) -> list[str]:
        """The ranks in words."""
        nowhere = "not listed" if self.known else "not in the catalogue"
        return [nowhere if rank is None else f"rank {rank:,}" for rank in self.ranks]


class HistoryItem(NamedTuple):
    """An `item` that the user had before, and its `title` or ""."""

    item: Any
    title: str


@dataclass(frozen=True, eq=False, repr=False)
class Shown:
    """The lists of one user side by side. Returned by `toplist.show`.

    Attributes
    ----------
    user : key, or position
    k : int
    lists : dict of system -> tuple of ListedItem
        The first k items of each list, best first.
    missed : tuple of MissedItem
        The relevant items in none of these.
    n_relevant : int
    lengths : dict of system -> int
        How long the whole lists are.
    values : dict of system -> dict of ``name@k`` -> float
    history : tuple of HistoryItem, or None
        What the user had before, if that was given.
    title : str
        What the user is called, or "".
    """

    user: Any
    k: int
    lists: Mapping[str, tuple[ListedItem, ...]]
    missed: tuple[MissedItem, ...]
    n_relevant: int
    lengths: Mapping[str, int]
    values: Mapping[str, Mapping[str, float]]
    history: tuple[HistoryItem, ...] | None = None
    title: str = ""

    def __repr__(self) -> str:
        """Return the lists for a terminal."""
        return self.to_text(terminal_width() or WIDTH)

    def to_text(self, width: int = WIDTH) -> str:
        """Return the lists as they are printed: two beside each other, others below each other."""
        names = {one: printable(shortened(one, NAME)) for one in self.lists}
        rows = [[names[one], *map(LOOK.number, some.values())] for one, some in self.values.items()]
        two, width = len(names) == 2 and width >= NARROW, max(width, NARROW // 2)
        user = printable(f"user {self.user} {shortened(self.title, TITLE)}".rstrip(" "))
        lines = fitted([f"{user}: {counted(self.n_relevant, 'relevant item')}"], width)
        lines += [] if self.history is None else fitted([self.before], width)
        lines += aligned([["", *next(iter(self.values.values()))], *rows]).split("\n")
        room = (width - 3) // 2 if two else width
        of_mark = max((len(one.mark) for row in self.lists.values() for one in row), default=0)
        of_mark = max(of_mark, len(HIT))
        blocks = []
        for system, listed in self.lists.items():
            block = [_fit(names[system], room)]
            for rank, one in enumerate(listed, start=1):
                moved = _fit(one.moved, room // 2).rstrip()
                label = _fit(_label(one), room - len(moved) - of_mark - 6)
                block.append(f"{rank:>3} {one.mark:{of_mark}} {label} {moved}")
            blocks.append(block if listed else [*block, _fit("    no list", room)])
        sides = zip_longest(*blocks, fillvalue=" " * room)
        pairs = (f"{a} | {b}" for a, b in sides) if two else chain.from_iterable(blocks)
        lines += map(str.rstrip, pairs)
        lines.append(f" k = {self.k} ".center(width, "-"))
        lines += fitted([f"{self._heading}:"] if self.missed else [], width)
        for item in self.missed:
            where = ", ".join(map(": ".join, zip(names.values(), item.places, strict=True)))
            label = f"{shortened(_label(item), TITLE)}{_graded(item)}"
            lines += fitted([f"  {label}  {where}"], width)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the lists for a notebook, light or dark."""
        return self.to_html()

    def to_html(self) -> str:
        """Return the lists as a notebook shows them: HTML without scripts, light or dark."""
        n_relevant = counted(self.n_relevant, "relevant item")
        title = f" {_bdi(self.title, TITLE)}" if self.title else ""
        parts = [tag("p", f"user {_bdi(self.user, ID)}{title}: {n_relevant}", "note")]
        parts += [] if self.history is None else [tag("p", _bdi(self.before, 1000), "note")]
        names = {one: _bdi(one, NAME) for one in self.lists}
        means = [
            [names[one], *map(LOOK.number, some.values())] for one, some in self.values.items()
        ]
        metrics = (_bdi(name, ID) for name in next(iter(self.values.values())))
        parts.append(_table(["", *metrics], means))
        lists = []
        for system, listed in self.lists.items():
            rows = [
                [str(rank), one.mark, _item(one), _bdi(one.moved, ID)]
                for rank, one in enumerate(listed, start=1)
            ]
            lists.append(_table(["", "", names[system], ""], rows or [["", "", "no list", ""]]))
        parts.append(tag("div", "\n".join(lists), "beside"))
        if self.missed:
            rows = [[_item(one) + _graded(one), *one.places] for one in self.missed]
            parts.append(tag("p", _bdi(self._heading, TITLE), "note"))
            parts.append(_table(["", *names.values()], rows))
        return '<div style="overflow-x:auto">\n' + "\n".join(parts) + "\n</div>"

    @property
    def before(self) -> str:
        """What the user had before, in words: how many items, and the first of them."""
        items = self.history or ()
        first = ", ".join(shortened(_label(one), TITLE) for one in items[:OF_HISTORY])
        more = ", ..." if len(items) > OF_HISTORY else ""
        return f"{counted(len(items), 'item')} in the history{': ' if items else ''}{first}{more}"

    @property
    def _heading(self) -> str:
        """What is said above the relevant items that are missed, with the lengths of the lists."""
        where = ("not in", "in neither of", "in none of")[min(len(self.lists), 3) - 1]
        ends = ", ".join(f"{shortened(name, NAME)} has {m:,}" for name, m in self.lengths.items())
        return printable(f"relevant, {where} the first {self.k} ({ends})")


def _label(one: ListedItem | MissedItem | HistoryItem) -> str:
    """Return id and title in one line, for a terminal."""
    return printable(f"{one.item} {one.title}".rstrip(" "))


def _graded(one: MissedItem) -> str:
    return "" if one.grade is None else f" (grade {one.grade:g})"


def _fit(words: str, room: int) -> str:
    """Return a text in exactly so many columns: cut, or with blanks.

    Examples
    --------
    >>> _fit("popularity", 6), _fit("knn", 6), _fit("日本語", 4)
    ('popul…', 'knn   ', '日… ')
    """
    words = words[: room + 1]  # of 10,000 letters
    widths = [0 if combining(one) else 1 + (east_asian_width(one) in "WF") for one in words]
    while sum(widths) > room:
        words, widths = words[: len(widths) - 2] + "…", [*widths[:-2], 1]
    return words + " " * (room - sum(widths))


def _bdi(words: Any, most: int) -> str:
    """Return text as HTML, in its own direction; what is cut is whole in the tooltip."""
    from html import escape

    whole = printable(str(words), ("Zs", "Cf"))
    cut = shortened(whole, most)
    tooltip = f' title="{escape(whole)}"' if cut != whole else ""
    return f"<bdi{tooltip}>{escape(cut)}</bdi>"


def _item(one: ListedItem | MissedItem) -> str:
    """Return id and title as HTML, bold for a hit."""
    title = f" {_bdi(one.title, TITLE)}" if one.title else ""
    words = tag("span", _bdi(one.item, ID) + title, "words")
    return f"<b>{words}</b>" if isinstance(one, ListedItem) and one.hit else words


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of cells that are HTML already."""
    first = tag("tr", "".join(tag("th", cell, "left") for cell in head), "header")
    lines = ("".join(tag("td", cell, "left") for cell in row) for row in rows)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return tag("table", f"<thead>{first}</thead>\n<tbody>\n{body}\n</tbody>", "table")


def show(
    user: Any,
    systems: Mapping[str, Any],
    ground_truths: Any,
    titles: Any = None,
    k: int = 10,
    *,
    metrics: Metrics = METRICS,
    convention: ConventionName | Convention = "standard",
    items: Items | None = None,
    relevant_from: float | None = None,
    duplicates: Duplicates | None = None,
    padding: Any = None,
    columns: ColumnNames = None,
    user_titles: Any = None,
) -> Shown:
    """Show the lists of one user side by side: hits, what moved, and what was missed.

    The first system is the one that the others are compared with: ▲5 (was 7) is an item that it has
    at rank 7, and "only here" one that no other list has. Below the line at k are the relevant
    items in the first k of no list, and where they stand in each list as far as it is given.

    Parameters
    ----------
    user : key, or position where ground truths are by position
        As in the ground truths; in files, as it is written there.
    systems : dict of name -> ranked lists
        Of each system in any form that `toplist.match` takes, `toplist.Ranks` too, or the path of a
        file, of which only the rows of this user are kept.
    ground_truths : relevant items
        Likewise, or `toplist.GroundTruths`; of many users. A file that has grades or groups is kept
        whole.
    titles : dict item -> title, pandas Series, or table of item_id and a column, optional
        An item without a title is shown by its id alone.
    k : int
    metrics, convention, items, relevant_from, duplicates, padding, columns
        As in `toplist.top_k_eval`; `metrics` stand above the lists, with the values that an
        evaluation of all users has for this one. Of the history of `items` the first items are
        shown; what is missed may be in no catalogue.
    user_titles : dict user -> title, pandas Series, or table of user_id and a column, optional
        Such as the texts of queries.

    Returns
    -------
    Shown
        Text when printed, HTML in a notebook. ``.lists`` and ``.missed`` have the items.

    Raises
    ------
    TypeError, ValueError
        As `toplist.top_k_eval`, with the name of the system; for an unknown user, with near ones;
        for a metric of all lists together, which no user has.
    OSError
        For a path that cannot be opened.

    Examples
    --------
    >>> import toplist as tl
    >>> old, new = {"ann": ["tea", "jam", "oat"]}, {"ann": ["rye", "jam", "tea"]}
    >>> truth, titles = {"ann": {"jam", "oat", "fig"}}, {"tea": "Green tea", "rye": "Rye bread"}
    >>> print(tl.show("ann", {"old": old, "new": new}, truth, titles, k=2).to_text(60))
    user ann: 3 relevant items
         ndcg@2  recall@2   mrr@2
    old  0.3869    0.3333  0.5000
    new  0.3869    0.3333  0.5000
    old                          | new
      1       tea Green tea   ▼2 |   1       rye Rye… only here
      2 ✓ hit jam                |   2 ✓ hit jam
    -------------------------- k = 2 ---------------------------
    relevant, in neither of the first 2 (old has 3, new has 3):
      oat  old: rank 3, new: not listed
      fig  old: not listed, new: not listed
    """
    k = check_positive_int(k, "k")
    if not isinstance(systems, Mapping) or not systems:
        raise TypeError("systems: give a dict of name -> ranked lists, such as {'bm25': lists}")
    kept: Any = ground_truths
    if isinstance(kept, (str, os.PathLike)):
        kept = truths_of_file(GroundTruths(kept, columns=columns), user)
    kept = kept if isinstance(kept, KeptTruths) else GroundTruths(kept, columns=columns)
    place = _place_of(user, kept)
    key = place if kept.users is None else kept.users[place]
    relevant = relevant_of(truth_of(kept.flat, place, padding), relevant_from)
    rules = rules_of(convention)
    rules = rules.replace(  # this user is shown, whatever others lack
        empty="skip" if rules.empty == "raise" else None,
        missing="skip" if rules.missing == "raise" else None,
    )
    how: dict[str, Any] = {"metrics": metrics, "duplicates": duplicates, "items": items}
    how |= {"relevant_from": relevant_from, "padding": padding, "columns": columns}
    lists: dict[str, list[Any]] = {}
    values: dict[str, dict[str, float]] = {}
    for name, given in ((str(name), given) for name, given in systems.items()):
        try:
            ranks = ranked(given, kept, rules, columns, padding, lambda s: of_file(s, key))
            row = row_of(ranks, place)
            lists[name] = [*dict.fromkeys(row)] if duplicates == "collapse" else row
            is_file = isinstance(getattr(given, "ranks", given), (str, os.PathLike))
            whose = {key: row} if is_file else given
            found = top_k_eval(whose, kept, k, convention=rules, **how)
            values[name] = {one: float(found.per_user(one)[place]) for one in found.names()}
        except (ValueError, TypeError) as error:
            raise prefixed(f"system {name!r}: ", error) from None
    past = history_of(items, [user], None if kept.users else len(kept), columns, padding)
    before = None if past is None else past.get(user, [])
    beside: Any = {"history": before, "catalogue": catalogue_of(items)}
    page = shown(user, k, lists, values, relevant, titles_of(titles), **beside)
    return replace(page, title=titles_of(user_titles, "user_titles", "user_id")(user))


def shown(
    user: Any,
    k: int,
    lists: Mapping[str, Sequence[Any]],
    values: Mapping[str, Mapping[str, float]],
    relevant: Collection[Any] | Mapping[Any, float],
    title: Callable[[Any], str],
    depth: int | None = None,
    history: Sequence[Any] | None = None,
    catalogue: Container[Any] | None = None,
) -> Shown:
    """Return what is shown of whole lists: hits, what moved, and what is missed in the first k.

    Of each list the first `depth` items; by default k. `relevant` may have the grades of items.
    """
    grades = relevant if isinstance(relevant, Mapping) and {*relevant.values()} != {1} else {}
    known, baseline = {*relevant}, next(iter(lists))
    # of an item that is there twice, the first place
    places = [{one: len(row) - i for i, one in enumerate(row[::-1])} for row in lists.values()]
    of_item = {one: tuple(row.get(one) for row in places) for row in places for one in row}

    def listed(at: int, rank: int, item: Any) -> ListedItem:
        ranks = of_item[item]
        hit = item in known and ranks[at] == rank
        moved = _moved(ranks, at, rank, baseline)
        return ListedItem(item, title(item), hit, moved, grades.get(item) if hit else None)

    first = {
        name: tuple(listed(at, rank, item) for rank, item in enumerate(row[: depth or k], start=1))
        for at, (name, row) in enumerate(lists.items())
    }
    nowhere = (None,) * len(lists)
    there = {*relevant} if catalogue is None else {one for one in relevant if one in catalogue}
    every = (
        MissedItem(one, title(one), of_item.get(one, nowhere), one in there, grades.get(one))
        for one in relevant
    )
    missed = sorted((one for one in every if one.best > k), key=lambda one: (one.best, str(one)))
    lengths = {name: len(row) for name, row in lists.items()}
    past = None if history is None else tuple(HistoryItem(one, title(one)) for one in history)
    return Shown(user, k, first, tuple(missed), len(relevant), lengths, values, past)


def _moved(ranks: Sequence[int | None], at: int, rank: int, baseline: str) -> str:
    """Return how an item moved: from the list of the first system, or from it to the second's."""
    if ranks[at] != rank:
        return f"again, see {ranks[at]}"
    if len(ranks) > 1 and all(one is None for i, one in enumerate(ranks) if i != at):
        return "only here"
    if len(ranks) == 1 or (len(ranks) > 2 and not at):
        return ""
    before, after = (ranks[0], rank) if at else (rank, ranks[1])
    if before is None or after is None:
        return f"not in {shortened(printable(baseline), NAME)}"
    if before == after:
        return ""
    arrow = f"{'▲' if after < before else '▼'}{abs(before - after)}"
    return f"{arrow} (was {before})" if at else arrow


def truths_of_file(kept: GroundTruths, user: Any) -> GroundTruths:
    """Return ground truths of a file: of one user alone, unless numbers hang on those of others.

    These are grades and groups: what a grade is worth, and what may be asked, is known of all.
    """
    own = [] if kept.stream is None else _plain_rows(kept.stream, user)
    return GroundTruths({user: own[0]}) if len(own) == 1 else kept


def of_file(stream: Source, user: Any) -> dict[Any, Any]:
    """Return the list of one user of a file, by the user; users are compared as text.

    The file is read in parts where it can be.
    """
    found = _plain_rows(stream, user)
    if len(found) != 1:  # rows of the user in several places, or none
        found = _rows(stream.whole(), user)
    return {user: found[0]} if found else {}


def _plain_rows(stream: Source, user: Any) -> list[Any]:
    """Return the rows of a user in the parts of a file; none where items have grades or groups."""
    with suppress(ValueError, TypeError):  # reading all of it says what is wrong, if it is
        found = []
        for part in stream.blocks():
            if part.lists.grades is not None:
                return []
            found += _rows(part.lists, user)
        return found
    return []


def _rows(lists: Flat, user: Any) -> list[Any]:
    """Return the rows of a user, who is compared as text."""
    return [lists.row(row) for row, one in enumerate(lists.keys) if str(one) == str(user)]


def _place_of(user: Any, kept: KeptTruths) -> int:
    """Return the row of a user of ground truths, in those of files compared as text."""
    keys: Any = range(len(kept)) if kept.users is None else kept.users
    if kept.stream is None and user in keys:
        return int(keys.index(user))
    texts = [] if kept.stream is None else [*map(str, keys)]
    if str(user) in texts:
        return texts.index(str(user))
    error = _unknown(user, keys)
    raise error if kept.stream is None else prefixed(f"{kept.stream.path}: ", error)


def _unknown(user: Any, users: Sequence[Any]) -> ValueError:
    """Return the error of a user without a ground truth, with one that may be meant."""
    known = {str(one): one for one in users[:LOOKED_AT]}
    meant = did_you_mean(known.get(near(str(user), known) or ""))
    first = "" if meant or not known else f"; the first is {users[0]!r:.80}"
    n = counted(len(users), "user")
    return ValueError(f"no user {user!r:.80} in the ground truth of {n}{meant or first}")
