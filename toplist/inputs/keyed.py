"""Lists keyed by a column of users, and `align`: two such sides, user by user.

Every table is read so, and so are a dict and a pandas Series if the other side is a table. The rows
of two aligned sides follow the order in which users first appear in the truth. A Series whose index
only counts its rows has no keys beside lists by position.

`KeptTruths` are ground truths that are read, checked and encoded once, for many lists. What follows
from the truths alone is kept by the objects that it follows from: encoded ids, relevant items,
hashes, keys and places of users by `Flat.once`, the numbers of texts by `Texts`.

Weights, labels and clusters, one of each user, are read here too (`values_by_user`).
"""

import numbers
from collections.abc import Mapping, Sequence, Set
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from toplist.checks import HEAVIEST, Floats, about, cached, check_spread, doubles, no_mask
from toplist.inputs.factorize import Column, numbered, numbered_by, recoded
from toplist.inputs.ids import alone, kinds_of, two_kinds
from toplist.inputs.lists import (
    Flat,
    Lists,
    first_repeat,
    flatten,
    in_containers,
    is_frame,
    name_user,
    of_column,
)
from toplist.inputs.texts import IdTexts, Texts, joined


def keyed(rows: Mapping[Any, Any], side: str, padding: Any = None) -> Flat:
    """Return a dict user -> ids in the form of a table; `padding` is only dropped from sets."""
    lists = [*rows.values()] if side == "ranks" else in_containers(rows.values())
    found = alone(flatten(lists, None, side, padding, list(rows)))
    return replace(found, users=column_of("user_id", list(rows), side))


def column_of(name: str, ids: Sequence[Any], where: str) -> Column:
    """Return ids of Python, of one kind, as a column: integers as they are, others as codes.

    `where` is for messages.

    Examples
    --------
    >>> column = column_of("user_id", ["b", "a", "b"], "ranks")
    >>> column.codes.tolist(), column.names
    ([0, 1, 0], ['b', 'a'])
    """
    several = name == "user_id" and {*map(type, ids)} == {tuple}  # keys of several columns
    if not several and kinds_of(ids, where) == {int}:
        return Column(name, np.array(ids, np.int64))
    places: dict[Any, int] = {}
    return Column(name, numbered_by(places, ids)[0], list(places))


def align(ranked: Flat, truth: Flat) -> tuple[Flat, Flat, int]:
    """Align two sides by user: their ranked and relevant ids, and how many users are left over.

    Raises
    ------
    TypeError
        For ids of two kinds.
    ValueError
        For a user with two truths, or no user on both sides.
    """
    given = truth.items
    users, items = alike(ranked.users, truth.users), alike(ranked.items, given)
    ranked = ranked.under(users[0], items[0])
    if users[1] is not truth.users or items[1] is not given:
        truth = truth.under(users[1], items[1])
    n_users, known = len(truth.users.codes), truth.places
    numbers = known.find(ranked.users.codes)
    unknown = numbers < 0
    n_extra = int(np.count_nonzero(unknown))
    if n_extra:
        numbers[unknown] = n_users + numbered(ranked.users.codes[unknown])[0]
    if n_extra == len(numbers) > 0 and n_users:
        raise no_common_user(ranked.users.decode(ranked.users.codes[0]), truth.keys[0])
    places = np.full(n_users + n_extra, -1)
    places[numbers] = np.arange(len(numbers))
    places = places[:n_users]
    if len(numbers) != n_users or not np.array_equal(places, np.arange(n_users)):
        ranked = ranked.take(places)
    return replace(ranked, users=truth.keys), truth, n_extra


def alike(ranked: Column, truth: Column) -> tuple[Column, Column]:
    """Return columns of both sides whose codes are equal where the ids are; the truth's first."""
    texts = [one.names for one in (truth, ranked) if isinstance(one.names, Texts)]
    codes = Codes(texts[0] if texts else Texts())
    truth, ranked = codes.encode(truth, "ground_truths"), codes.encode(ranked, "ranks")
    # an empty column is of any kind
    truth = truth if len(truth) else replace(truth, names=codes.names)
    return replace(ranked, names=codes.names), truth


class Codes:
    """One code for every id of a kind, the same in all columns that are encoded.

    An integer is its own code, text and others (bytes, dates, keys of several columns) are
    numbered. With `as_text`, integers are read as decimal text, as the ids of a text file are.
    `texts` are those by which text is numbered; `names` are what the codes stand for so far.

    Examples
    --------
    >>> codes = Codes(Texts(), as_text=True)
    >>> codes.encode(Column("item_id", np.array([7, 5])), "a.jsonl").codes.tolist()
    [0, 1]
    >>> codes.encode(Column("item_id", np.array([0, 1]), ["5", "b"]), "b.csv").codes.tolist()
    [1, 2]
    """

    def __init__(self, texts: Texts, as_text: bool = False) -> None:
        self.texts = texts
        self.names: Any = texts if as_text else None
        self._as_text = as_text
        self._others: dict[Any, int] = {}
        # and an example and where it is, by place where that matters
        self._kinds: dict[str, tuple[type, str, str]] = {}

    def encode(self, column: Column, where: str) -> Column:
        """Return a column by these codes, the same where it has them; TypeError for a second kind.

        `where` it is, for messages.
        """
        if not len(column):
            return replace(column, codes=np.empty(0, np.int64), names=self.names)
        example = column[0]
        kind = next((one for one in (int, str, bytes) if isinstance(example, one)), object)
        found = kind, f"{example!r:.300}", where
        known = self._kinds.setdefault(where if self._as_text else "", found)
        if known[0] is not kind:
            both = sorted((known, found), key=lambda one: one[2] != "ranks")
            first, second = (f"{shown} in {place}" for _, shown, place in both)
            raise two_kinds(
                f"column {column.name!r:.300} holds ids", first, second, "convert one side"
            )
        several = isinstance(example, tuple)  # a key of several columns
        if kind is str or (self._as_text and not several):
            self.names = self.texts
            return in_texts(column, self.texts)
        if kind is int:
            same = column.codes.dtype == np.int64
            return column if same else replace(column, codes=column.codes.astype(np.int64))
        names = column.names
        if self._as_text and several:
            names = [tuple(map(str, key)) for key in names]
        is_first = not self._others
        codes, new = numbered_by(self._others, names)
        self.names = list(self._others)
        if is_first and len(new) == len(names) and names is column.names:
            return column
        return replace(column, codes=recoded(column.codes, codes), names=self.names)


def in_texts(column: Column, texts: Texts) -> Column:
    """Return a column by the numbers of texts; integers are read as decimal text.

    Examples
    --------
    >>> column = in_texts(Column("item_id", np.array([7, 5, 7])), Texts())
    >>> column.codes.tolist(), column[:]
    ([0, 1, 0], ['7', '5', '7'])
    """
    if column.names is texts:
        return column
    if column.names is None or isinstance(column.names, Texts):  # of which few may be used
        codes, distinct = numbered(column.codes)
        column = replace(column, codes=codes, names=column.decoded(distinct))
    numbers = texts.encode(joined(list(map(str, column.names))))
    return replace(column, codes=recoded(column.codes, numbers), names=texts)


def no_truths(ranked: Any) -> ValueError:
    """Return the error of ground truths without any user, given a user of ranks."""
    error = ValueError(
        f"ground_truths has no user, ranks has {ranked!r}: there is nothing to evaluate against; a "
        "user without relevant items is {user: []}"
    )
    return about(error, side="ground_truths", users=(ranked, None))


def no_common_user(ranked: Any, truth: Any) -> ValueError:
    """Return the error of two sides without a common user, given a user of each."""
    mixed = isinstance(ranked, str) != isinstance(truth, str)
    hint = " (a number and its text are two keys)" if mixed else ""
    error = ValueError(
        f"no user is in both: ranks has {ranked!r}, ground_truths has {truth!r}{hint}"
    )
    return about(error, users=(ranked, truth))


class CountedItems(dict[Any, Any]):
    """The rows of a Series whose index only counts them, 0, 1, 2, ..., as a dict."""


def is_series(value: Any) -> bool:
    """Whether a value is a pandas Series, or works like one."""
    return hasattr(value, "to_dict") and hasattr(value, "index") and not is_frame(value)


def counts_rows(index: Any) -> bool:
    """Return whether an index is pandas' default one: 0, 1, 2, ... of unnamed rows."""
    default = type(index).__name__ == "RangeIndex" and index.name is None
    return default and index.start == 0 and index.step == 1


def beside(ranks: Any, truths: Any) -> tuple[Any, Any]:
    """Return both sides, with a Series as a list or array where the other side has positions.

    A Series that counts its rows has positions. One with keys of its own is left for `keyed_rows`
    beside keys, and refused beside positions.
    """
    sides = {"ranks": ranks, "ground_truths": truths}
    keyed = {
        name: not counts_rows(side.index)
        if is_series(side)
        else isinstance(side, Mapping) or is_frame(side) or hasattr(side, "users")
        for name, side in sides.items()
    }
    for name, other in (("ranks", "ground_truths"), ("ground_truths", "ranks")):
        side = sides[name]
        if not is_series(side):
            continue
        if not any(keyed.values()):
            array = side.to_numpy()
            plain = isinstance(array, np.ndarray) and array.dtype.kind in "iufb"
            sides[name] = array if plain else side.to_list()
        elif not keyed[other] and not is_series(sides[other]):
            key = side.index[0] if len(side) else "its index"
            lists = "ranks.to_numpy()" if name == "ranks" else "ranks"
            raise TypeError(
                f"{name} is a Series with keys of its own, like {key!r}, but {other} is by "
                f"position: give {name}.to_numpy() if its rows are in the order of {other}, and "
                f"toplist.Ranks({lists}, users={name}.index) to name them"
            )
    return sides["ranks"], sides["ground_truths"]


def check_unique(series: Any, name: str, what: str, way: str = "") -> None:
    """Raise ValueError for a user or an item that the index of a Series holds twice.

    `what` is "user" or "item", `way` the way out.
    """
    if not series.index.is_unique:
        twice = series.index[series.index.duplicated()].tolist()[0]
        raise ValueError(f"{name}: {what} {twice!r} is in the index of the Series twice{way}")


def keyed_rows(series: Any, side: str) -> dict[Any, Any]:
    """Return a Series as a dict; one whose index holds a user twice is refused."""
    check_unique(series, side, "user", ": a user has one row")
    rows: dict[Any, Any] = series.to_dict()
    rows = CountedItems(rows) if counts_rows(series.index) else rows
    if side == "ranks" and rows and not hasattr(next(iter(rows.values())), "__len__"):
        raise TypeError(
            "ranks is a Series with one id per user: a Series of lists is keyed by its index; one "
            "user's list enters as .to_list()"
        )
    return rows


def check_not_counted(side: str, rows: Any, other: str, users: Any) -> None:
    """Raise TypeError for a Series that counts its rows beside other keys than 0, 1, 2, ..."""
    if not isinstance(rows, CountedItems):
        return
    known = list(users)
    unknown = [user for user in known if user not in rows]
    if unknown or len(set(known)) < len(rows):
        user = [*unknown, *known, "no user"][0]
        raise TypeError(
            f"{side} is a Series that counts its rows, but {other} has keys, like {user!r}: "
            f"{side}.set_axis(USERS) gives it the users of its rows"
        )


class KeptTruths:
    """Ground truths in one of three forms: `rows` by position or by key, or read from a table.

    `texts` number the users and items of tables that are text, also those of the lists; `stream` is
    the file that they are from.
    """

    def __init__(self, rows: Any, texts: IdTexts, stream: Any = None) -> None:
        self.texts, self.stream = texts, stream
        self.rows = rows if isinstance(rows, Flat) else _copied(rows)

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.rows.lengths if isinstance(self.rows, Flat) else self.rows)

    @cached
    def users(self) -> list[Any] | None:
        """The keys of the users; None where they are known by position."""
        if isinstance(self.rows, Flat):
            return self.rows.keys
        return list(self.rows) if isinstance(self.rows, Mapping) else None

    @cached
    def lists(self) -> Flat:
        """The truths in the form of a table, text by the numbers of `texts`."""
        return self.listed()

    def listed(self, padding: Any = None) -> Flat:
        """Return the truths in the form of a table, sets without `padding`."""
        if isinstance(self.rows, Flat):
            return self.rows
        found = keyed(self.rows, "ground_truths", padding)
        users = Codes(self.texts.users).encode(found.users, found.side)
        return found.under(users, Codes(self.texts.items).encode(found.items, found.side))

    @cached
    def flat(self) -> Flat:
        """The ids of all rows."""
        return self.flattened()

    def flattened(self, padding: Any = None) -> Flat:
        """Return the ids of all rows, sets without `padding`."""
        if isinstance(self.rows, Flat):
            return self.rows
        rows = list(self.rows.values()) if isinstance(self.rows, Mapping) else self.rows
        return flatten(rows, None, "ground_truths", padding, self.users)


def _copied(rows: Any) -> Any:
    """Return rows that nobody else can change, a bare id in a list."""
    if isinstance(rows, Lists):
        gains = None if rows.gains is None else rows.gains.copy()
        return Lists(rows.offsets.copy(), rows.items.copy(), gains)
    if isinstance(rows, np.ndarray) and rows.dtype != object:
        return rows.copy()
    by_key = isinstance(rows, Mapping)
    lists = in_containers(rows.values() if by_key else rows)
    own = [frozenset(row) if isinstance(row, Set) else copy(row) for row in lists]
    kind = CountedItems if isinstance(rows, CountedItems) else dict
    return kind(zip(rows, own, strict=True)) if by_key else own


# One value per user: weights, labels, clusters; by key where there are keys, never by accident


def values_by_user(
    values: Any, users: Sequence[Any] | None, n_rows: int, what: str
) -> tuple[list[Any], int]:
    """Return the value of every row (None where it has none), and how many belong to no row.

    Parameters
    ----------
    values : dict user -> value, pandas Series, or one value per row
        A dict and a Series are matched by key. A Series with a default RangeIndex
        has no keys of its own: it is taken by position where the result has positions, and refused
        beside keys.
    users : sequence or None
        The keys of the rows; None where they are known by position.
    n_rows : int
    what : str
        What the values are, for messages: "weights", "labels".

    Raises
    ------
    TypeError
        For text, sets, tables, and keys where the result has positions only.
    ValueError
        For another number of values than rows, a key twice, or no key in common.

    Examples
    --------
    >>> values_by_user({"ann": 2.0, "eve": 1.0}, ["eve", "bob"], 2, "weights")
    ([1.0, None], 1)
    """
    if is_series(values):
        counted = counts_rows(values.index)
        if users is not None and counted:
            raise TypeError(
                f"{what} is a Series that counts its rows, but the users have keys, like "
                f"{next(iter(users), 'none')!r}: give it by user, "
                f"table.set_index('user_id')[COLUMN], {what}.set_axis(users) or a dict user -> "
                f"value; or {what}.to_numpy() if its order is that of result.users"
            )
        if users is None and not counted:
            raise TypeError(
                f"{what} is a Series with an index of its own, but the users are known by "
                f"position: name the rows by users=, or give {what}.to_numpy() in the order of the "
                "rows"
            )
        check_unique(values, what, "user")
        values = values.to_numpy() if counted else values.to_dict()
    if isinstance(values, Mapping):
        rows: Sequence[Any] = range(n_rows) if users is None else users
        known = sum(user in values for user in rows)
        if values and n_rows and not known:
            by = "positions only (users= names its rows)" if users is None else repr(rows[0])
            raise ValueError(
                f"{what} have none of the users: they are keyed by {next(iter(values))!r}, the "
                f"result has {by}"
            )
        return [values.get(user) for user in rows], len(values) - known
    if is_frame(values):
        raise TypeError(
            f"{what} is a table: give a dict user -> value, "
            "dict(zip(table['user_id'], table['COLUMN']))"
        )
    sized = hasattr(values, "__len__") and np.iterable(values)  # an array without axes is not
    if isinstance(values, (str, bytes, Set)) or not sized:
        raise TypeError(
            f"{what} is a {type(values).__name__}: give one value per user, or a dict user -> value"
        )
    if len(values) != n_rows:
        raise ValueError(f"{len(values)} {what} for {n_rows} users: one per user is needed")
    return values.tolist() if hasattr(values, "tolist") else list(values), 0


def weights_of(weights: Any, users: Sequence[Any] | None, n_rows: int) -> Floats:
    """Return one weight per row, as `values_by_user` finds it.

    Raises
    ------
    TypeError, ValueError
        As `values_by_user`; for a row without a weight, and one that is no number from 0 to
        `HEAVIEST`; for one that is all of them, but for rounding.

    Examples
    --------
    >>> weights_of({"ann": 2, "bob": 0.5}, ["bob", "ann"], 2).tolist()
    [0.5, 2.0]
    """
    no_mask(weights, "weights")
    values: Any = weights
    by_row = isinstance(weights, np.ndarray) and weights.shape[:1] == (n_rows,)
    if not by_row:  # no Python objects
        values, _ = values_by_user(weights, users, n_rows, "weights")
        absent = [row for row, value in enumerate(values) if value is None]
        if absent:
            user = name_user(users, absent[0])
            raise ValueError(f"weights= has no entry for {user} ({len(absent):,} such)")
    plain, of_complex = np.asarray(values), (complex, np.complexfloating)
    objects = plain.dtype.kind == "O" and all(  # Decimals, say
        isinstance(one, (numbers.Number, np.number)) and not isinstance(one, of_complex)
        for one in values
    )
    if plain.size and plain.dtype.kind not in "biuf" and not objects:
        raise ValueError(f"weights must be numbers, one per user, not {plain.dtype}")
    found = doubles(values)
    if found.shape != (n_rows,):
        raise ValueError(f"weights has shape {found.shape}: one per user is needed, {n_rows}")
    bad = np.flatnonzero(~((found >= 0) & (found <= HEAVIEST)))
    if len(bad):
        raise ValueError(
            f"{name_user(users, int(bad[0]))} has weight {found[bad[0]]:g}: a number from 0 "
            f"to {HEAVIEST:g} is needed"
        )
    small = found[found > 0]
    if len(small) and small.max() < 1 / HEAVIEST:
        raise ValueError(
            f"the largest weight is {small.max():g}: give larger ones, they are relative"
        )
    check_spread(small)
    return found


def keys_of(users: Any, n_rows: int) -> list[Any]:
    """Return `users=` as a list: the keys of rows that are known by position otherwise.

    Raises
    ------
    TypeError
        For what is no list, array or column of keys, and keys of two kinds.
    ValueError
        For another number of keys than rows, or a key twice.

    Examples
    --------
    >>> keys_of(("ann", "bob"), 2)
    ['ann', 'bob']
    """
    if is_frame(users):
        raise TypeError("users is a table: give its column of keys, table['user_id']")
    if is_series(users) and not counts_rows(users.index):
        raise TypeError(
            "users is a Series with an index of its own, but names the rows by position: give "
            "users.to_numpy() in the order of the rows"
        )
    keys = list(users) if isinstance(users, (list, tuple, range)) else of_column(users)
    if keys is None:
        kind = type(users).__name__
        raise TypeError(f"users is a {kind}: give one key per row, in a list, an array or a column")
    kinds_of(keys, "users")
    if len(keys) != n_rows:
        raise ValueError(f"users: {len(keys):,} keys for {n_rows:,} rows: one per row is needed")
    if (twice := first_repeat(keys)) is not None:
        rows = f"rows {twice[0]} and {twice[1]}: a user has one row"
        raise ValueError(f"users: {keys[twice[1]]!r} is the key of {rows}")
    return keys
