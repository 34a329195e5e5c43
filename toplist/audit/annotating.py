"""`unjudged`: the listed items that nobody judged, the most valuable to judge first; and `judged`.

``unjudged(systems, truths, k).to_csv("judge.csv")`` is a file for people: they write a grade into
its column relevance. ``judged(truths, "judge.csv")`` are the ground truths with these grades. On
the command line it is ``toplist unjudged``.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, count
from typing import Any, NamedTuple

import numpy as np

from toplist import kernels
from toplist.checks import Ints, check_positive_int, choice, counted, prefixed, readable
from toplist.files.tables import grades_of
from toplist.inputs.factorize import written
from toplist.inputs.forms import side_to_builtin
from toplist.inputs.keyed import KeptTruths
from toplist.inputs.lists import Flat, is_container, is_frame, is_truth_container
from toplist.inputs.options import ColumnNames, Duplicates, Options, columns_of, of_source
from toplist.inputs.tables import lists_of
from toplist.inputs.texts import IdTexts
from toplist.matching import read_and_joined
from toplist.matching.slices import holes
from toplist.metrics.definitions import METRICS, with_parameters
from toplist.results.markup import Display
from toplist.results.saved import PathLike, write_all
from toplist.results.tables import LOOK, Column, Grid, Look, Page, Table, as_text, key_columns

__all__ = ["judged", "unjudged"]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


# Rows that are printed.
SHOWN = 10
COLUMNS = ("user_id", "item_id", "rank", "systems", "weight")
# What the file for those who judge may have beside the key of a user.
BESIDE = (*COLUMNS[1:], "relevance", "title", "user_title")
# What an id is called: by a dict, or by a function that returns None for another id.
Titles = Mapping[Any, Any] | Callable[[Any], Any]


@readable
class ItemToJudge(NamedTuple):
    """An item that nobody judged for a user: its best rank, who lists it, what that is worth.

    Attributes
    ----------
    user : key, or position
    item : id
    rank : int
        The best rank in any of the lists.
    systems : tuple
        The names of those that list it in the first k.
    weight : float
        The sum of (1 - p) p^(rank - 1) over the systems.
    """

    user: Any
    item: Any
    rank: int
    systems: tuple[Any, ...]
    weight: float


@dataclass(frozen=True, eq=False, repr=False)
class ItemsToJudge(Display, Sequence[ItemToJudge]):
    """Listed items that nobody judged, most valuable first; a table when printed.

    Iterating yields `ItemToJudge`, a named tuple; ``items[:500]`` are the first 500.

    Attributes
    ----------
    columns : dict name -> list of n
        user_id, item_id, rank, systems (tuples) and weight.
    key : str, or sequence of str
        The columns that the users are of; several ones are written in place of user_id.
    """

    columns: dict[str, list[Any]]
    key: str | Sequence[str] = "user_id"

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.columns["rank"])

    def __getitem__(self, at: Any) -> Any:
        """Return one item; or of a slice, a table of these."""
        cells = {name: column[at] for name, column in self.columns.items()}
        return (
            replace(self, columns=cells) if isinstance(at, slice) else ItemToJudge(*cells.values())
        )

    def _page(self, look: Look = LOOK) -> Page:
        """Return the first rows, and how many there are."""
        n = counted(len(self), "unjudged item")
        first = f"the first {SHOWN} of {n}" if len(self) > SHOWN else n
        user, *others = COLUMNS
        columns = [Column(name, "number" if name == "weight" else "text") for name in others]
        rows = self[:SHOWN]._as_text().rows
        return Page([Table.of(user, "{user_id}", columns, rows, look)], [first])

    def _grid(self) -> Grid:
        return Grid(self.columns)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns user_id, item_id, rank, systems (tuples) and weight."""
        return dict(self.columns)

    def to_csv(
        self, path: PathLike, *, titles: Titles | None = None, user_titles: Titles | None = None
    ) -> None:
        """Write a CSV file for those who judge: these columns, and an empty one for the relevance.

        Systems are separated by blanks. Gzipped for ``.gz``. `judged` reads the grades back. In
        place of user_id a key of several columns has these, by the names in ``columns=``, or else
        (also if one of them is that of another column here) user_id_1, user_id_2, ...

        Parameters
        ----------
        path : path
        titles, user_titles : dict id -> text, or function of an id, optional
            Of the items, and of the users, as the texts of queries: columns title and user_title,
            empty where there is none.

        Raises
        ------
        OSError
            If the file cannot be written; one that is there then stays as it is.
        """
        write_all({path: self.text_for_judges(titles, user_titles)})

    def text_for_judges(
        self, titles: Titles | None = None, user_titles: Titles | None = None
    ) -> str:
        """Return what `to_csv` writes."""
        as_written = self._as_text().columns
        columns = key_columns(self.columns["user_id"], self.key, BESIDE)
        columns |= {name: list(as_written[name]) for name in COLUMNS[1:]}
        said = {"user_id": ("user_title", user_titles), "item_id": ("title", titles)}
        for ids, (name, known) in said.items():
            if known is not None:
                title = known if callable(known) else known.get
                columns[name] = [title(one) for one in self.columns[ids]]
        return Grid(columns | {"relevance": [""] * len(self)}).to_csv()

    def _as_text(self) -> Grid:
        """Return the columns as they are written: ids as text, systems separated by blanks."""
        written = {name: list(map(str, self.columns[name])) for name in ("user_id", "item_id")}
        systems = [" ".join(map(str, row)) for row in self.columns["systems"]]
        return Grid(self.columns | written | {"systems": systems})


def unjudged(
    systems: Mapping[Any, Any],
    ground_truths: Any,
    k: int,
    *,
    p: float = 0.8,
    duplicates: Duplicates = "raise",
    padding: Any = None,
    columns: ColumnNames = None,
) -> ItemsToJudge:
    """Return which listed items to judge next: those without a grade, most valuable first.

    An item is worth the weight that rank-biased precision gives to its places, summed over the
    systems that list it in their first k (Moffat, Webber and Zobel, "Strategic system comparisons
    via targeted relevance judgments", SIGIR 2007, method A)::

        weight = sum over systems of (1 - p) p^(rank - 1)

    So judging from the top narrows `TopKResult.bounds` of rbp the fastest. Equal weights are in the
    order of the users, and for one user in that in which the items appear.

    Parameters
    ----------
    systems : dict name -> ranked lists
        Of each system in any form that `toplist.match` takes, `toplist.Ranks` too, or the path of a
        file.
    ground_truths : what was judged for the same users
        In any form that `toplist.match` takes, or the path of a file. An item is judged that has a
        grade, 0 included; beside sets, every item that is not in the set is unjudged. Users
        without a ground truth are left out: give an empty one.
    k : int
        How deep the lists are read.
    p : float
        The persistence of RBP, between 0 and 1: how likely a user goes on to the next rank.
    duplicates, padding, columns
        As in `toplist.top_k_eval`; of an item that a list holds twice, the first place counts.

    Returns
    -------
    ItemsToJudge
        Rows of user, item, best rank, systems that list it, weight; ``.to_csv(path)``.

    Raises
    ------
    TypeError, ValueError
        As `toplist.match`, with the name of the system; for systems that are no dict, or an empty
        one; for a wrong `k` or `p`.
    OSError
        For a path that cannot be opened.

    Examples
    --------
    >>> import toplist as tl
    >>> systems = {"bm25": {"q1": ["a", "b", "c"]}, "dense": {"q1": ["d", "b", "c"]}}
    >>> tl.annotating.unjudged(systems, {"q1": {"a": 1, "c": 0}}, k=3)
    user_id  item_id  rank     systems  weight
    q1             b     2  bm25 dense  0.3200
    q1             d     1       dense  0.2000
    2 unjudged items
    """
    if not isinstance(systems, Mapping):
        raise TypeError(f"systems is a {type(systems).__name__}: give a dict name -> ranked lists")
    if not systems:
        raise ValueError("systems is empty: give at least one, such as {'bm25': lists}")
    name, first = next(iter(systems.items()))
    bare = is_container(first) and isinstance(ground_truths, Mapping)  # else lists of many users
    if bare and any(map(is_truth_container, ground_truths.values())):
        why = f"{name!r} has the list of one user, ground_truths those of several"
        raise TypeError(f"systems: {why}: one system is {{'bm25': systems}}")
    choice("duplicates", duplicates, ("raise", "first"))  # of others no ranks are kept
    k, gains = check_positive_int(k, "k"), with_parameters(METRICS["rbp"], {"p": p}).discounts
    texts = ground_truths.texts if isinstance(ground_truths, KeptTruths) else IdTexts()
    truths = _opened(ground_truths, "ground_truths", Options(columns=columns), texts)
    keys: Sequence[Any] | None = None
    numbers = defaultdict[Any, int](count().__next__)  # of the items, as they appear
    found = []
    for at, (name, lists) in enumerate(systems.items()):
        try:
            lists, said = of_source(lists, columns)
            options = Options(duplicates=duplicates, padding=padding, **said)
            opened = _opened(lists, "ranks", options, texts)
            joining = options.joining._replace(fingerprints=False)
            hits, ranked, _ = read_and_joined(opened, truths, k, joining)
        except (ValueError, TypeError) as error:
            raise prefixed(f"system {name!r}: ", error) from None
        keys = ranked.users
        users, ranks = holes(hits, k)
        if duplicates == "first" and ranked.is_array:  # a dict of scores holds each item once
            users, ranks = _first_places(ranked, users, ranks)
        items = _items(ranked, users, ranks)
        codes = np.fromiter(map(numbers.__getitem__, items), np.int64, len(items))
        found.append(np.array([users, codes, ranks, np.full(len(users), at)]))
    users, codes, ranks, by = np.concatenate(found, axis=1)
    pairs = users * len(numbers) + codes
    order = np.lexsort((ranks, pairs))  # by rank, so that equal ranks have equal sums
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    weights = np.add.reduceat(1 / gains(k)[ranks[order] - 1], starts)
    firsts = np.minimum.reduceat(order, starts)  # where the pair appears first
    listed = np.zeros((len(starts), len(systems)), bool)
    listed[np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order))), by[order]] = True
    best = order[starts]
    last = np.lexsort((firsts, users[best], -weights))
    best = best[last]
    rows, names = users[best].tolist(), list(numbers)
    cells = (
        rows if keys is None else [keys[row] for row in rows],
        [names[code] for code in codes[best].tolist()],
        ranks[best].tolist(),
        [tuple(compress(systems, row)) for row in listed[last].tolist()],
        weights[last].round(12).tolist(),  # as people write 0.52
    )
    key = columns_of(columns, "ground_truths")["user_id"]
    return ItemsToJudge(dict(zip(COLUMNS, cells, strict=True)), key)


def judged(
    ground_truths: Any, path: PathLike, *, columns: ColumnNames = None
) -> dict[Any, dict[Any, float]]:
    r"""Return ground truths with the grades that people wrote into a file of items to judge.

    Parameters
    ----------
    ground_truths : what was judged before
        As in `unjudged`, but for groups. Items of sets have grade 1.
    path : path
        A CSV or TSV file with user_id, item_id and relevance, such as that of
        `ItemsToJudge.to_csv`. Rows without a relevance are left out.
    columns : mapping, optional
        Of a table or file of ground truths, as in `toplist.top_k_eval`. Users of several columns
        have these in both files, or in that of the judges what `ItemsToJudge.to_csv` calls them.

    Returns
    -------
    dict user -> {item: grade}
        What `toplist.top_k_eval` takes.

    Raises
    ------
    TypeError
        For ground truths by position or of groups, and items that are neither text nor integers.
    ValueError
        With file and line, for a relevance that is no number, a user without a ground truth, and
        an item that has another grade already.

    Examples
    --------
    >>> import tempfile
    >>> import toplist as tl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tl.files.write_text(f"{folder}/a.csv", "user_id,item_id,relevance\nq1,d,2\nq1,b,\n")
    ...     tl.annotating.judged({"q1": {"a": 1, "c": 0}}, f"{folder}/a.csv")
    {'q1': {'a': 1.0, 'c': 0.0, 'd': 2.0}}
    """
    texts = IdTexts()
    side = _opened(ground_truths, "ground_truths", Options(columns=columns), texts)
    if is_frame(side):
        side = lists_of(side, "ground_truths", columns)
    if not isinstance(side, KeptTruths):
        side = KeptTruths(side_to_builtin(side, "ground_truths"), texts)
    if side.users is None:
        raise TypeError("ground_truths by position have no users: give a dict user -> items")
    truths = side.lists
    if truths.grouped:
        raise TypeError("ground_truths are groups of items, which have no grades")
    known: dict[Any, dict[Any, float]] = {}
    for row, user in enumerate(side.users):
        items, grades = truths.row(row), itertools.repeat(1.0)
        if truths.grades is not None:
            grades = truths.grades[truths.offsets[row] : truths.offsets[row + 1]].tolist()
        known[user] = dict(zip(items, grades, strict=False))
    users = {as_text(user): user for user in known}
    kinds = {type(item) for items in known.values() for item in items}
    if odd := kinds - {int, str}:
        words = f"items of ground_truths are {odd.pop().__name__}, and those of a file text"
        raise TypeError(f"{words}: give ids that are text or integers")
    key = columns_of(columns, "ground_truths")["user_id"]
    for user, item, grade, wrong in grades_of(path, [*key_columns(known, key, BESIDE)]):
        if user not in users:
            raise wrong(f"user {user!r} has no ground truth")
        if kinds == {int} and not item.lstrip("-").isdecimal():
            raise wrong(f"item {item!r} is no number, as those of the ground truths are")
        before = known[users[user]].setdefault(int(item) if kinds == {int} else item, grade)
        if before != grade:
            raise wrong(f"user {user!r}: item {item!r} has relevance {before:g} and {grade:g}")
    return known


def _opened(side: Any, name: str, options: Options, texts: IdTexts) -> Any:
    """Return the lists of a file; what is no path as it is."""
    if not isinstance(side, (str, os.PathLike)):
        return side
    from toplist.files.batches import source_of  # twice the import of toplist

    return source_of(side, name, options).whole(texts)


def _first_places(lists: Flat, users: Ints, ranks: Ints) -> tuple[Ints, Ints]:
    """Return the places of items that do not stand above them in the same list."""
    rows = lists.compact()
    order, again = kernels.hashing.order_of_rows(rows.ids, rows.offsets)
    later = np.zeros(len(order), bool)
    later[order[again]] = True
    kept = ~later[rows.offsets[users] + ranks - 1]
    return users[kept], ranks[kept]


def _items(lists: Flat, users: Ints, ranks: Ints) -> list[Any]:
    """Return the items at some ranks of some users' lists, as they were written."""
    if lists.is_array and lists.source is None:
        return written(lists.ids[lists.offsets[users] + ranks - 1], lists.names)
    rows = {user: lists.row(user) for user in np.unique(users).tolist()}
    places = zip(users.tolist(), (ranks - 1).tolist(), strict=True)
    return [rows[user][place] for user, place in places]
