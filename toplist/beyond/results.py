"""Metrics of the lists themselves inside an evaluation: by name, at every k, mergeable.

Those of the whole population are computed from an `Exposure`; those of each user are averaged over
the users who have a value. Both are of all lists given, also of users without a ground truth, but
for the few that read it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import chain
from operator import add
from typing import Any

import numpy as np

from toplist import kernels
from toplist.averages.moments import at, together
from toplist.beyond.exposure import Exposure, exposure_of
from toplist.beyond.indexing import Index, Listed
from toplist.beyond.listed import OfUsers, digest_of
from toplist.checks import Bools, Floats, Ints
from toplist.inputs.keyed import is_series, weights_of
from toplist.inputs.lists import name_user
from toplist.inputs.options import ItemData, needs
from toplist.matching.hits import Hits
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.conventions import CONVENTIONS
from toplist.metrics.names import parse

# Curves of users, and whose they are; None: by position.
Held = tuple[Floats, Sequence[Any] | None]
# What weights are held as, beside the values of metrics.
WEIGHTS = "weights"
# Down to here every k has a column, so that parts with lists of different length merge.
DEEP = 1 << 16


@dataclass(frozen=True, eq=False)
class Spread:
    """The mean over users at every k, of those who have a value there; all are (K,).

    `n_left_out` have none at the largest k though they were in question: they have a list, or for
    metrics that read it, a ground truth. `users` is -1 at a k that is not known: of users of a
    result that was loaded, at every k but those asked for. A number of all lists together has no
    deviation, NaN. With weights of users, `weight` and `weight2` are the sums of these and of their
    squares, and `deviation` is weighted; users of weight 0 are not in it.
    """

    users: Ints
    mean: Floats
    deviation: Floats
    n_left_out: int = 0
    weight: Floats | None = None
    weight2: Floats | None = None

    @property
    def n(self) -> int:
        """How many users have a value at the largest k."""
        return self.n_at(None)

    def n_at(self, k: int | None) -> int:
        """Return how many users have a value at a k; below the lists it stays as it is."""
        last = len(self.users) if k is None else min(k, len(self.users))
        return int(self.users[last - 1]) if last else 0

    @property
    def std(self) -> Floats:
        """The standard deviation over users (ddof = 1); NaN for fewer than two."""
        out, (weight, weight2) = np.full_like(self.mean, np.nan), self._weights
        below = weight - weight2 / np.where(self.users > 0, weight, 1.0)
        np.divide(self.deviation, below, out=out, where=(self.users > 1) & (below > 0))
        return np.sqrt(out)

    @property
    def _weights(self) -> tuple[Any, Any]:
        """The sums of the weights and of their squares; without weights, of 1 for each user."""
        users = np.maximum(self.users, 0)
        return (users, users) if self.weight is None else (self.weight, self.weight2)

    @property
    def error(self) -> Floats:
        """The standard error of the mean, of users who weigh the same."""
        error: Floats = self.std / np.sqrt(np.maximum(self.users, 1))
        return error

    def __add__(self, other: "Spread") -> "Spread":
        """Return the mean over both sets of users, at every k on its own."""
        users = np.where((self.users < 0) | (other.users < 0), -1, self.users + other.users)
        weights = [
            None if mine is None or theirs is None else mine + theirs
            for mine, theirs in ((self.weight, other.weight), (self.weight2, other.weight2))
        ]
        parts = ((one._weights[0], np.nan_to_num(one.mean), one.deviation) for one in (self, other))
        with np.errstate(invalid="ignore"):  # 0 / 0 at a k where no user has a value
            mean, deviation = together(*parts)
        mean, deviation = np.where(users > 0, mean, np.nan), np.where(users > 0, deviation, 0.0)
        return Spread(users, mean, deviation, self.n_left_out + other.n_left_out, *weights)

    def at(self, metric: ListMetric, cuts: Ints) -> "Spread":
        """Return the averages of a metric at some k's, which may be below the lists."""
        known = len(self.mean)
        found = at(self, np.minimum(cuts, known) - 1)
        deviation = found.deviation * metric.share(known, cuts) ** 2
        return replace(found, mean=metric.at(self.mean, cuts), deviation=deviation)

    def after(self, near: "Spread") -> "Spread":
        """Return the same, with what was averaged over lists that end above in its place there."""
        k, mine = len(near.users), vars(self)
        arrays: dict[str, Any] = {
            name: np.append(one, mine[name][k:]) for name, one in vars(near).items() if np.ndim(one)
        }
        return replace(self, **arrays)

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> "Spread":
        """Return the mean of values (n, K), NaN where a user has none; with weights (n,)."""
        if weights is not None:
            return cls._weighted(values[weights > 0], weights[weights > 0, np.newaxis])
        users = np.zeros(values.shape[1], np.int64)
        mean, deviation = np.zeros((2, values.shape[1]))
        kernels.lists.moments(values, users, mean, deviation)
        return cls(users, mean, deviation)

    @classmethod
    def _weighted(cls, values: Floats, weights: Floats) -> "Spread":
        """Return the weighted mean of values (n, K), with weights (n, 1) above 0."""
        there = ~np.isnan(values)
        each, filled = np.where(there, weights, 0.0), np.where(there, values, 0.0)
        weight, users = each.sum(axis=0), np.count_nonzero(there, axis=0)
        mean = np.full(len(weight), np.nan)
        np.divide((each * filled).sum(axis=0), weight, out=mean, where=users > 0)
        # both sums are rounded
        ends = (ends.reduce(values, axis=0, initial=np.nan) for ends in (np.fmin, np.fmax))
        mean = np.clip(mean, *ends)
        deviation = (each * np.where(there, values - mean, 0.0) ** 2).sum(axis=0)
        return cls(users, mean, deviation, 0, weight, (each**2).sum(axis=0))


@dataclass(frozen=True, eq=False)
class Known:
    """The values of users, (n, cuts), `at` some of the k's; whose they are (None: by position)."""

    values: Floats
    at: Bools
    listed: Sequence[Any] | None = None

    def __call__(self) -> Held:
        """Return the curves, NaN at other k's, and whose they are."""
        if self.at.all():
            return self.values, self.listed
        curves = np.full((len(self.values), len(self.at)), np.nan)
        curves[:, self.at] = self.values
        return curves, self.listed

    @classmethod
    def at_all(cls, values: Floats, listed: Sequence[Any] | None = None) -> "Known":
        """Return values that are known at all k's."""
        return cls(values, np.ones(values.shape[1], bool), listed)


@dataclass(frozen=True, eq=False)
class Joined:
    """The values of users of several parts, with the users of the truth of each.

    They are down to the deepest k of any part.
    """

    name: str
    parts: tuple[tuple[Callable[[], Held], Sequence[Any]], ...]

    @classmethod
    def of(cls, name: str, parts: Sequence[tuple[Callable[[], Held], Sequence[Any]]]) -> "Joined":
        """Return those of parts, some of which may be joined already."""
        flat = (held.parts if isinstance(held, cls) else ((held, users),) for held, users in parts)
        return cls(name, tuple(chain.from_iterable(flat)))

    def __call__(self) -> Held:
        """Return the curves of the users of all truths, then of all other lists."""
        split = [rows_of(*held(), users) for held, users in self.parts]
        several = [own for own, _, _ in split] + [others for _, others, _ in split]
        if len({one.shape[1] for one in several}) > 1:
            cuts = np.arange(1, max(one.shape[1] for one in several) + 1)
            several = [_named(self.name).at(one, cuts) for one in several]
        curves = np.concatenate(several)
        known = [key for _, _, keys in split for key in keys or ()]
        if not known:
            return curves, None
        return curves, [*chain.from_iterable(users for _, users in self.parts), *known]


@dataclass(frozen=True, eq=False)
class ListResult:
    """Metrics of the lists at every k; two parts over different users can be added.

    `exposure` gives those of the whole population, `spreads` the means over users. `values`
    returns the curves of each user, and in which order the users are (None: by position), of a file
    or pickle at the k's of `cuts` alone (None: at all); a sum of parts has none. `given` are
    digests of what each keyword gave, "" where parts were given other data. Weights of users are
    held as their values are, by the name `WEIGHTS`.
    """

    names: tuple[str, ...]
    exposure: Exposure | None
    spreads: Mapping[str, Spread]
    values: Mapping[str, Callable[[], Held]] | None
    cuts: tuple[int, ...] | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def merged(cls, parts: Sequence[tuple["ListResult", Sequence[Any]]]) -> "ListResult":
        """Return the metrics of parts, each with its users, with the values that all parts have."""
        whole: ListResult = reduce(add, (one for one, _ in parts))
        held = [(one.values, users) for one, users in parts if one.values is not None]
        if len(held) < len(parts):
            return whole
        values = {
            name: Joined.of(name, [(some[name], users) for some, users in held])
            for name in held[0][0]
        }
        cuts = next((one.cuts for one, _ in parts if one.cuts is not None), None)
        return replace(whole, values=values, cuts=cuts)

    def averages(self) -> dict[str, Spread]:
        """Return every metric at every k."""
        found = dict(self.spreads)
        for name in self.names:
            if name not in found and self.exposure is not None:
                mean = _of_exposure(_named(name), self.exposure)
                users = np.full(len(mean), self.exposure.n_users)
                found[name] = Spread(users, mean, np.full(len(mean), np.nan))
        return found

    def __add__(self, other: "ListResult") -> "ListResult":
        """Return the metrics over both sets of lists; ValueError for two catalogues, or none."""
        # parts of a stream have the one or the other
        counts = [one.exposure for one in (self, other) if one.exposure is not None]
        deepest = max((one.k for one in counts), default=0)  # a part may have shorter lists
        both = reduce(add, (one.down_to(deepest) for one in counts)) if counts else None
        spreads = {**self.spreads, **other.spreads}
        for name in self.spreads.keys() & other.spreads.keys():
            mine, theirs = self.spreads[name], other.spreads[name]
            cuts = np.arange(1, max(len(mine.mean), len(theirs.mean)) + 1)
            spreads[name] = mine.at(_named(name), cuts) + theirs.at(_named(name), cuts)
        names = tuple(dict.fromkeys((*self.names, *other.names)))
        given = {**self.given, **other.given}
        given |= {name: "" for name, one in self.given.items() if given[name] != one}
        return ListResult(names, both, spreads, None, given=given)

    def parted(
        self, name: str, users: Sequence[Any]
    ) -> tuple[Floats, Floats, Sequence[Any] | None]:
        """Return the curves of these users, of all other lists, and whose these are, if known.

        NaN of users without a list.
        """
        if not _named(name).of_users:
            raise ValueError(f"{name} is of all lists together: it has no values per user")
        assert self.values is not None  # which a result has as long as it has hits
        return rows_of(*self.values[name](), users)

    def check_known(self, name: str, k: int | None, of_users: bool = False) -> None:
        """Raise ValueError for a k (None: all) of which a loaded result does not know enough."""
        if name not in self.spreads:
            return
        known = self.spreads[name].users >= 0
        if of_users:
            known &= self.at_cuts(len(known))
        asked = known if k is None else known[min(k, len(known)) - 1 :][:1]
        if not asked.all():
            ks = ", ".join(f"{name}@{one}" for one in np.flatnonzero(known) + 1)
            raise ValueError(
                f"{name if k is None else f'{name}@{k}'}: a result that was saved or pickled has "
                f"the values of users that were asked for, {ks}: evaluate again for others"
            )

    def of_rows(self, users: Sequence[Any]) -> "ListResult | None":
        """Return the metrics of these users alone, by position; None where there are no values."""
        if self.values is None or not self.values:
            return None
        return self._of_curves({n: rows_of(*of(), users)[0] for n, of in self.values.items()})

    def weights_of(self, users: Sequence[Any]) -> Floats | None:
        """Return the weights of these users, then of all other lists; None without weights."""
        held = (self.values or {}).get(WEIGHTS)
        return None if held is None else np.concatenate(rows_of(*held(), users)[:2])[:, 0]

    def subset(self, rows: Ints) -> "ListResult":
        """Return the metrics of some users of `of_rows`."""
        assert self.values is not None
        return self._of_curves({name: curves()[0][rows] for name, curves in self.values.items()})

    def _of_curves(self, curves: Mapping[str, Floats]) -> "ListResult":
        """Return the metrics of users whose curves and weights are known, by position."""
        names, weights = tuple(name for name in curves if name != WEIGHTS), curves.get(WEIGHTS)
        own = None if weights is None else weights[:, 0]
        spreads = {name: Spread.of(curves[name], own) for name in names}
        for one in spreads.values():
            one.users[~self.at_cuts(len(one.users))] = -1
        values = {name: Known.at_all(one) for name, one in curves.items()}
        return replace(self, names=names, exposure=None, spreads=spreads, values=values)

    def at_cuts(self, depth: int) -> Bools:
        """Return at which k's values of users are known."""
        ks = np.arange(depth) + 1
        return np.isin(ks, ks if self.cuts is None else np.minimum(self.cuts, depth))

    def kept(self, users: Sequence[Any], ks: Sequence[int]) -> "ListResult":
        """Return the metrics without lists, with the values of users at some k's: for a file."""
        cuts = tuple(k for k in ks if self.cuts is None or k in self.cuts)
        known, values, listed = replace(self, cuts=cuts), {}, None
        for name, curves in (self.values or {}).items():
            own, others, keys = rows_of(*curves(), users)
            if keys and listed is None:  # one list for all, which a file has once
                listed = [*users, *keys]
            both, at = np.concatenate([own, others]), known.at_cuts(own.shape[1])
            values[name] = Known(both[:, at], at, listed if keys else None)
        return replace(known.without_users(), values=values or None, cuts=cuts if values else None)

    def without_users(self) -> "ListResult":
        """Return the metrics without the lists."""
        counts = None if self.exposure is None else self.exposure.without_lists()
        return replace(self, exposure=counts, values=None, cuts=None)


def evaluate_lists(
    metrics: Sequence[ListMetric],
    ranks: Any,
    depth: int,
    known: ItemData,
    hits: Hits | None = None,
    whole: bool = True,
    asked: Mapping[str, int] | None = None,
    weights: Any = None,
) -> ListResult:
    """Evaluate the metrics of the lists at every k up to `depth`.

    `hits` are those of the ground truth, for the metrics that read it; by their users, lists by
    position are known. `whole` says that these are all lists, not a part. `asked` has the largest k
    of each metric by itself: no bit of its means down to there hangs on what else is asked.
    `weights` are those of users, as `toplist.top_k_eval` takes them.

    Raises
    ------
    TypeError, ValueError
        For what is missing, and as the functions of `toplist.beyond`.
    """
    for metric in metrics:
        _check_needs(metric, known)
    lists = Listed.of(ranks, depth, known.reading)
    # below every list nothing changes: a huge k costs what the lists cost
    depth = min(depth, max(int(lists.flat.lengths.max(initial=0)), DEEP))
    users = lists.users if lists.users is not None or hits is None else hits.users
    flat = replace(lists.flat, users=users)
    lists, counts = replace(lists, depth=depth, flat=flat, hits=hits, whole=whole), None
    if any(not metric.of_users for metric in metrics):
        counts = exposure_of(lists, _catalogue(known))
    over_lists = [one for one in metrics if one.of_users and not one.of_truth]
    weighed = None if weights is None else Weighed.of(weights, lists, hits, bool(over_lists))
    spreads, given = dict[str, Spread](), dict[str, str]()
    values = dict[str, Callable[[], Held]]()
    indexed: dict[Any, Listed] = {}  # lists as indices of the same items are made once
    for metric in metrics:
        for keyword in metric.needs:
            read = known.facts[keyword]
            given[keyword] = read.once(digest_of, partial(digest_of, read))
        if not metric.of_users:
            continue
        source = OfUsers.of(metric, known)
        # first as if there were no deeper k: no bit hangs on what else is asked
        cuts = sorted({min((asked or {}).get(metric.name, depth), depth), depth})
        if (key := source.items.key) not in indexed:
            indexed[key] = source.items.coded(lists)
        rows = None
        if weighed is not None:
            rows = weighed.of_truth if source.of_truth else weighed.of_lists

        def spread_of(first: int, out: Floats, rows: Floats | None = rows) -> Spread:
            return Spread.of(out, None if rows is None else rows[first : first + len(out)])

        found = [reduce(add, source.blocks(indexed[key].cut(k), spread_of)) for k in cuts]
        spread = found[-1].after(found[0])
        held = hits.n_relevant if source.of_truth and hits is not None else flat.lengths
        if rows is not None:
            held = held[rows > 0]
        n_left_out = int(np.count_nonzero(held)) - spread.n
        spreads[metric.name] = replace(spread, n_left_out=n_left_out)
        values[metric.name] = partial(_of_all, source, lists, cuts)
    names = tuple(metric.name for metric in metrics)
    if weighed is not None and values:
        values[WEIGHTS] = weighed.of_all
    return ListResult(names, counts, spreads, values, given=given)


@dataclass(frozen=True, eq=False)
class Weighed:
    """The weights of the users of the lists, and of those of the truth, each in their order."""

    of_lists: Floats
    of_truth: Floats
    of_all: Known

    @classmethod
    def of(cls, given: Any, lists: Listed, hits: Hits | None, over_lists: bool) -> "Weighed":
        """Read the weights of all users, as `toplist.top_k_eval` takes them.

        With `over_lists`, means are over all lists. An empty list is no list, and has weight 0.

        Raises
        ------
        ValueError
            For a user with a list and without a weight.
        """
        users = [] if hits is None or hits.users is None else [*hits.users]
        of_truth = np.empty(0)
        if hits is not None:
            of_truth = weights_of(given, hits.users, len(hits))
        if lists.users is None:
            return cls(of_truth, of_truth, Known.at_all(of_truth[:, np.newaxis]))
        known = dict(zip(users, of_truth.tolist(), strict=True))
        others = [
            user
            for user, n in zip(lists.users, lists.flat.lengths.tolist(), strict=True)
            if over_lists and n and user not in known
        ]
        by_key = isinstance(given, Mapping) or is_series(given)
        absent = [user for user in others if not (by_key and user in given)]
        if absent:
            raise ValueError(
                f"weights= has no entry for {name_user(absent, 0)} ({len(absent):,} such): lists "
                "without a ground truth are in means of metrics of the lists; give the weights of "
                "all users, as a dict user -> number, or lists of users with a ground truth alone"
            )
        if others:
            known |= zip(others, weights_of(given, others, len(others)).tolist(), strict=True)
        of_lists = np.array([known.get(user, 0.0) for user in lists.users], np.float64)
        keys = dict.fromkeys([*users, *lists.users])
        of_all = np.array([known.get(user, 0.0) for user in keys], np.float64)
        return cls(of_lists, of_truth, Known.at_all(of_all[:, np.newaxis], [*keys]))


def curves_of(
    metric: ListMetric, lists: Any, known: ItemData, hits: Hits | None = None
) -> tuple[Floats, Sequence[Any] | None]:
    """Return a metric of the lists at every k, and the users' keys (None: by position).

    Of each user, (n_users, K), with `hits` in a metric that reads the truth of its users; or of all
    lists together, (K,), which may be counted already.

    Raises
    ------
    TypeError, ValueError
        For what is missing.
    """
    if isinstance(lists, Exposure):
        if metric.needs and lists.catalogue is None:
            raise needs(metric.name, "catalogue", "toplist.beyond.exposure")
        return _of_exposure(metric, lists), None
    _check_needs(metric, known)
    lists = replace(Listed.of(lists, None, known.reading), hits=hits)
    if not metric.of_users:
        return _of_exposure(metric, exposure_of(lists, _catalogue(known))), None
    found, users = _of_all(OfUsers.of(metric, known), lists, [lists.depth])
    return found, hits.users if metric.of_truth and hits is not None else users


def rows_of(
    curves: Floats, listed: Sequence[Any] | None, users: Sequence[Any]
) -> tuple[Floats, Floats, Sequence[Any] | None]:
    """Return the curves of these users, of all other lists, and whose these are, if known.

    By position, whatever keys the positions have, where it is not known whose the curves are.
    """
    n = len(users)
    if listed is None or listed is users or list(listed[:n]) == list(users):
        lacking = max(n - len(curves), 0)  # whom an estimate adds has no ground truth
        own: Floats = curves[:n]
        if lacking:
            own = np.pad(own, ((0, lacking), (0, 0)), constant_values=np.nan)
        return own, curves[n:], None if listed is None else listed[n:]
    place = {user: row for row, user in enumerate(listed)}
    rows = np.array([place.get(user, -1) for user in users], np.int64)
    out = np.full((len(users), curves.shape[1]), np.nan)
    out[rows >= 0] = curves[rows[rows >= 0]]
    known = set(rows.tolist())
    others = [user for row, user in enumerate(listed) if row not in known]
    return out, np.delete(curves, rows[rows >= 0], axis=0), others


def _named(name: str) -> ListMetric:
    """Return the metric of a name that was evaluated."""
    found, _ = parse(name, CONVENTIONS["standard"])
    assert isinstance(found, ListMetric)
    return found


def _of_exposure(metric: ListMetric, counted: Exposure) -> Floats:
    """Return a metric of all lists together at every k."""
    return np.asarray(metric.of(counted, {"catalogue": counted.catalogue}))


def _catalogue(known: ItemData) -> Index | None:
    """Return the ids of the catalogue; None without one."""
    if "catalogue" not in known.facts:
        return None
    ids, unknown = known.facts["catalogue"].ids, -1 if known.unknown == "skip" else None
    return known.once("index", partial(Index, ids, unknown=unknown))


def _of_all(
    source: OfUsers, lists: Listed, cuts: Sequence[int]
) -> tuple[Floats, Sequence[Any] | None]:
    """Return the curves of all users down to the last of rising cuts, and whose they are.

    None is by position: of the truth, rows are in its order, whatever keys its users have there.
    """
    listed = source.items.coded(lists)
    rows = source.rows(listed)
    out = np.empty((len(rows), cuts[-1]))

    def keep(lo: int, part: Floats) -> None:
        out[lo : lo + len(part), : part.shape[1]] = part

    for k in reversed(cuts):  # no bit above hangs on what is asked below
        source.blocks(listed.cut(k), keep)
    return out, listed.users if rows is listed else None


def _check_needs(metric: ListMetric, known: ItemData) -> None:
    """Raise ValueError for a fact that a metric needs and nobody gave."""
    for name in metric.needs:
        if name not in known.facts:
            raise needs(metric.name, name)
