"""`compare`: several systems side by side, the best of every column, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from toplist import plots
from toplist.averages import describe
from toplist.averages.means import Means
from toplist.checks import cached
from toplist.metrics.conventions import policies
from toplist.metrics.definitions import Metric
from toplist.results import tables
from toplist.results.display import Display
from toplist.results.markup import Cell, Page, Table
from toplist.results.result import TopKResult

if TYPE_CHECKING:
    from toplist.results.bands import Band
    from toplist.results.testing import Compared, Power
    from toplist.results.tests import Tests
    from toplist.stats.blocked import Anova

Results = Mapping[str, Means]

LENGTHS = "LISTS OF DIFFERENT LENGTH"


def compare(
    results: Mapping[str, TopKResult], baseline: str | Sequence[str] | None = None
) -> Comparison:
    """Put the results of several systems side by side.

    Parameters
    ----------
    results : dict of system -> TopKResult
        What `top_k_eval` returned for every system, with the same ground truths, convention
        and k.
    baseline : str or several, optional
        The system that the others are tested against: † and ‡ mark what is better in a paired t
        test (p below 0.05 and 0.01 after Holm), ▾ what is worse. `Comparison.test` has the tests.

    Returns
    -------
    Comparison
        Printed, a table with a row per system; the best of every column is marked, or with a
        baseline what differs from it. Lines below it say which systems were evaluated on different
        users, or by different rules.

    Raises
    ------
    TypeError, ValueError
        If `results` is not a dict of results, or is empty.

    Examples
    --------
    >>> from toplist import top_k_eval
    >>> truths = [{2}, {3}]
    >>> compare(
    ...     {
    ...         "good": top_k_eval([[2, 1], [1, 3]], truths, k=2),
    ...         "poor": top_k_eval([[1, 2], [1, 5]], truths, k=2),
    ...     }
    ... )
          hit@2 = recall@2  precision@2  map@2 = mrr@2  ndcg@2
    good           *1.0000      *0.5000        *0.7500  *0.8155
    poor            0.5000       0.2500         0.2500   0.3155
    * best of its column (no test of the difference)
    convention standard: mean over users
    2 of 2 users evaluated
    """
    if not isinstance(results, Mapping):
        raise TypeError(f"compare takes a dict of name -> result, not {type(results).__name__}")
    if not results:
        raise ValueError("compare: the dict is empty: give name -> result")
    for name, result in results.items():
        if not isinstance(name, str) or not isinstance(result, TopKResult):
            raise TypeError(
                f"compare: {name!r} is {type(result).__name__}: names are str, and values what "
                "top_k_eval returned"
            )
    if baseline is not None:
        from toplist.results.pairwise import pairs_of

        pairs_of(list(results), baseline)
    baselines = (baseline,) if isinstance(baseline, str) else tuple(baseline or ())
    return Comparison(dict(results), baselines)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Display):
    """Several results side by side. Returned by `toplist.compare`.

    Printed, it is a table with a row per system; the best of every column is marked. The lines
    below it say what makes the systems not comparable: other users, conventions or policies.

    Attributes
    ----------
    results : dict of system -> TopKResult
        As given: ``comparison.results["mine"].interval("ndcg@10")``.
    baselines : tuple of str
        The systems that the others are tested against; empty for all pairs.

    Examples
    --------
    >>> import toplist as tl
    >>> truths = [{2}, {3}]
    >>> good = tl.top_k_eval([[2, 1], [1, 3]], truths, k=[1, 2], metrics=["mrr"])
    >>> poor = tl.top_k_eval([[1, 2], [1, 5]], truths, k=[1, 2], metrics=["mrr"])
    >>> both = tl.compare({"good": good, "poor": poor})
    >>> both.best()
    {'mrr@1': ['good'], 'mrr@2': ['good']}
    """

    results: Mapping[str, TopKResult]
    baselines: tuple[str, ...] = ()

    @property
    def differences(self) -> list[str]:
        """What makes the systems not comparable, in a line each; empty if nothing does."""
        return differences(self.results)

    def names(self) -> list[str]:
        """Return every ``name@k`` that at least one of the systems has."""
        return list(dict.fromkeys(name for one in self.results.values() for name in one.names()))

    @property
    def comparable(self) -> bool:
        """Whether the systems differ in nothing except metrics, k, and the lengths of lists."""
        minor = "DIFFERENT METRICS OR K", LENGTHS
        return all(line.startswith(minor) for line in self.differences)

    def best(self) -> dict[str, list[str]]:
        """Return the systems with the best mean of every ``name@k``: several if they are equal.

        ``Metric.higher_is_better`` decides. A mean of NaN is never the best; none is if the
        systems are not `comparable`, if only one of them has this mean, or if all lists of some
        system end before k, and those of others do not.
        """
        return {name: self._best(name) for name in self.names()}

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the means of every system, ``{"mine": {"ndcg@10": 0.1, ...}, ...}``."""
        return {system: result.to_dict() for system, result in self.results.items()}

    def to_pandas(self, per_user: bool = False) -> Any:
        """Return a DataFrame: the rows of `TopKResult.to_pandas`, for every system.

        ``.pivot(index="system", columns=["metric", "k"], values="mean")`` has one row per system;
        ``.pivot(index="user_id", columns="system", values="ndcg@10")`` has one row per user.

        Parameters
        ----------
        per_user : bool
            False: a row per system, metric and k. True: a row per system and user.
        """
        import pandas

        frames = {name: result.to_pandas(per_user) for name, result in self.results.items()}
        for name, frame in frames.items():
            frame.insert(0, "system", name)
        return pandas.concat(list(frames.values()), ignore_index=True)

    def plot(self, metric: str | None = None, *, level: float = 0.95, ax: Any = None) -> Any:
        """Draw one metric over k: a line with its band per system.

        Parameters
        ----------
        metric : str, optional
            Without ``@``; default: the first.
        level : float
            Of the bands, between 0 and 1.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        matplotlib Axes
        """
        first = self.names()[0].rpartition("@")[0]
        return plots.curves(self.results, metric or first, level=level, ax=ax)

    def test(
        self,
        names: str | Sequence[str] | None = None,
        *,
        method: str = "t",
        correction: str = "holm",
        alternative: str = "two-sided",
        level: float = 0.95,
        family: str = "all",
        users: str = "same",
        clusters: Any = None,
        n_resamples: int | None = None,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> Tests:
        """Test the differences of the systems, user by user.

        Parameters
        ----------
        names : str or several, optional
            ``"ndcg@10"``; default: every ``name@k`` that was asked for.
        method, correction, alternative, level, clusters, n_resamples, seed, n_threads
            As in `toplist.paired_tests`.
        family : {"all", "metric"}
            What p is corrected for: all comparisons in the table, or those of one name.
        users : {"same", "common"}
            "same": all systems must count the same users. "common": those that all of them count.

        Returns
        -------
        Tests

        Raises
        ------
        KeyError
            For a name that a system does not have.
        ValueError
            For systems with other users, ground truths or rules, and for results without hits.

        Examples
        --------
        >>> import toplist as tl
        >>> truths = {user: {user % 3} for user in range(40)}
        >>> a = tl.top_k_eval({user: [0, 1, 2] for user in truths}, truths, k=2, metrics="mrr")
        >>> b = tl.top_k_eval({user: [2, 1, 0] for user in truths}, truths, k=2, metrics="mrr")
        >>> test = tl.compare({"a": a, "b": b}, baseline="a").test("mrr@2")["b", "mrr@2"]
        >>> round(test.difference, 3), round(test.p, 3), test.wins, test.ties, test.losses
        (-0.025, 0.85, 13, 13, 14)
        """
        from toplist.results import testing

        options = {"alternative": alternative, "level": level, "family": family, "seed": seed}
        options |= {"n_resamples": n_resamples, "n_threads": n_threads}
        return testing.tests(
            self._compared, names, users, clusters, method=method, correction=correction, **options
        )

    def equivalence(
        self,
        names: str | Sequence[str] | None = None,
        *,
        margin: float,
        correction: str = "none",
        level: float = 0.95,
        users: str = "same",
        clusters: Any = None,
    ) -> Tests:
        """Test whether differences are within ±margin: two one-sided t tests.

        Parameters
        ----------
        names, users, clusters
            As in `test`.
        margin : float
            Above 0: what is within does not matter.
        correction : {"none", "holm", "bh", "bonferroni"}
        level : float
            Of each one-sided test; the interval printed is that of 2 level - 1.
        """
        from toplist.results import testing

        return testing.tests(
            self._compared,
            names,
            users,
            clusters,
            margin=margin,
            correction=correction,
            level=level,
        )

    def band(
        self,
        metric: str,
        system: str | None = None,
        baseline: str | None = None,
        *,
        level: float = 0.95,
        users: str = "same",
        n_resamples: int | None = None,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> Band:
        """Return the difference of two systems at every k, with intervals for all k together.

        Parameters
        ----------
        metric : str
            Without ``@``.
        system, baseline : str, optional
            Default: the only other system, and the baseline; of two systems without one, the first
            less the second.
        level, users, n_resamples, seed, n_threads
            As in `test`.
        """
        from toplist.results import testing

        drawn = n_resamples, seed, n_threads
        return testing.band(self._compared, metric, system, baseline, level, users, *drawn)

    def power(
        self,
        names: str | Sequence[str] | None = None,
        *,
        power: float = 0.8,
        difference: float | None = None,
        level: float = 0.95,
        users: str = "same",
    ) -> Power:
        """Return what these users can detect, and how many would detect a given difference.

        Parameters
        ----------
        names, users
            As in `test`.
        power : float
            The chance that the test finds a difference that is there.
        difference : float, optional
            One that would matter: how many users would detect it?
        level : float
            1 - p below which a difference counts as found.
        """
        from toplist.results import testing

        return testing.power(self._compared, names, power, difference, level, users)

    def anova(self, name: str, *, users: str = "same") -> Anova:
        """Test whether any two of the systems differ in ``"ndcg@10"``; users are blocks."""
        from toplist.results import inference, testing

        return inference.anova(testing.values(self._compared, name, users))

    def tukey(self, name: str, *, method: str = "t", users: str = "same", **options: Any) -> Tests:
        """Compare all pairs of systems in one name by Tukey's test, see `inference.tukey`."""
        from toplist.results import inference, testing

        return inference.tukey(
            testing.values(self._compared, name, users), method=method, name=name, **options
        )

    def _best(self, name: str) -> list[str]:
        """Return the systems with the best mean; none if there are no two to compare."""
        metric, _, k = name.rpartition("@")
        if not self.comparable or int(k) in _unequal_ks(self.results):
            return []
        held = {system: r for system, r in self.results.items() if name in r.names()}
        means = {system: r[name] for system, r in held.items() if r[name] == r[name]}
        if len(means) < 2:
            return []
        asked = next(iter(held.values())).terms.asked[metric]
        if not isinstance(asked, Metric):
            return []  # more coverage or novelty is not better in itself
        higher = asked.higher_is_better
        top = max(means.values()) if higher else min(means.values())
        return [system for system, mean in means.items() if mean == top]

    def _page(self, every_metric: bool = False) -> Page:
        """Return one table of all means; of many, a table per metric."""
        groups = self._groups(every_metric)
        if sum(len(ks) for ks in groups.values()) <= tables.WIDE:
            columns = {
                " = ".join(f"{name}@{k}" for name in names): f"{names[0]}@{k}"
                for names, ks in groups.items()
                for k in ks
            }
            shown = [self._table("", columns)]
        else:
            shown = [
                self._table(" = ".join(names), {f"@{k}": f"{names[0]}@{k}" for k in ks})
                for names, ks in groups.items()
            ]
        notes = self._notes()
        legend = notes[0] if self._marks else ""
        return Page(tuple(shown), notes, tuple(self.differences), legend=legend)

    def _groups(self, every_metric: bool) -> dict[tuple[str, ...], list[int]]:
        """Return the metrics, equal ones together, with the k's of all systems."""
        ks: dict[str, set[int]] = {}
        for result in self.results.values():
            for name, some in describe.ks_by_metric(result).items():
                ks.setdefault(name, set()).update(some)
        names = list(ks)
        alone = [(name,) for name in names]
        groups = alone if every_metric else describe.equal_names(list(self.results.values()), names)
        return {group: sorted(ks[group[0]]) for group in groups}

    def _table(self, corner: str, columns: Mapping[str, str]) -> Table:
        """Return a table with a row per system; `columns` maps headers to ``name@k``."""
        marks = self._marks
        best = {name: [] if self.baselines else self._best(name) for name in columns.values()}
        rows = []
        for system, result in self.results.items():
            held = set(result.names())
            cells = (
                Cell(
                    (f"{result[name]:.4f}" if name in held else "-")
                    + marks.get((system, name), ""),
                    best=system in best[name],
                )
                for name in columns.values()
            )
            rows.append((system, tuple(cells)))
        return Table(corner, tuple(columns), tuple(rows))

    @property
    def _compared(self) -> Compared:
        from toplist.results.testing import Compared

        groups = self._groups(every_metric=False)  # one hypothesis once, where metrics are equal
        names = [f"{some[0]}@{k}" for some, ks in groups.items() for k in ks]
        return Compared(self.results, self.baselines, self.differences, names)

    @property
    def _tests(self) -> Tests | None:
        """The tests against the baselines that the table marks; None where there are none."""
        return self._tested[0]

    @cached
    def _tested(self) -> tuple[Tests | None, str]:
        """The tests, and why there are none though there is a baseline."""
        if not self.baselines:
            return None, ""
        try:
            return self.test(), ""
        except (ValueError, KeyError) as error:
            return None, str(error.args[0])

    @property
    def _marks(self) -> dict[tuple[str, str], str]:
        """The mark of every (system, name), a blank where others of the table have one."""
        if self._tests is None:
            return {}
        found = {
            (one.system, one.name): one.mark if one.better else "▾" * bool(one.mark)
            for one in reversed(self._tests.contrasts)
        }
        if not any(found.values()):
            return {}
        names = self.names()
        return {(s, name): found.get((s, name)) or " " for s in self.results for name in names}

    def _notes(self) -> tuple[str, ...]:
        """Return the rules and who was counted: once if they are the same, else per system."""
        from toplist.results import wording

        tests = () if self._tests is None else (wording.legend(self._tests),)
        if self._tested[1]:
            tests = (f"NOT TESTED against {', '.join(self.baselines)}: {self._tested[1]}",)
        return (*tests, *self.rules())

    def rules(self) -> tuple[str, ...]:
        """Return the lines that say by which rules and over whom the means are."""
        results = self.results.values()
        samples = {tuple(describe.sampling(result)) for result in results}
        return (
            *self._once([f"{describe.rules(r)}: {describe.averaging(r)}" for r in results]),
            *(samples.pop() if len(samples) == 1 else ()),  # several are among the differences
            *self._once([describe.account(r) for r in results]),
        )

    def _once(self, lines: list[str]) -> list[str]:
        """Return a line of every system, or one line if they are equal."""
        if len(set(lines)) == 1:
            return lines[:1]
        return [f"{name}: {line}" for name, line in zip(self.results, lines, strict=True)]


def differences(results: Results) -> list[str]:
    """Return what makes the numbers of some results not comparable, in a line each."""
    (first, one), *others = results.items()
    lines = [
        _different("CONVENTIONS", results, describe.rules),
        _different("AVERAGES", results, describe.averaging),
        _different("POLICIES", results, lambda r: policies(r.terms.empty, r.terms.missing)),
        _different("CANDIDATES", results, lambda r: " ".join(describe.sampling(r)) or "all items"),
        _different("METRICS OR K", results, _metrics),
        *_formulas(results),
        *_lengths(results),
        *(_users(first, one, name, other) for name, other in others if not _same_users(one, other)),
    ]
    return [line for line in lines if line]


def _different(what: str, results: Results, describing: Callable[[Means], str]) -> str:
    """Return which systems have which description; nothing if all have the same."""
    systems: dict[str, list[str]] = {}
    for name, result in results.items():
        systems.setdefault(describing(result), []).append(name)
    if len(systems) == 1:
        return ""
    parts = (f"{', '.join(names)}: {text}" for text, names in systems.items())
    return f"DIFFERENT {what}: {'; '.join(parts)}"


def _metrics(result: Means) -> str:
    """Return the metrics and their k's; metrics with the same k's are together."""
    names: dict[str, list[str]] = {}
    for name, ks in describe.ks_by_metric(result).items():
        names.setdefault("@".join(["", *map(str, ks)]), []).append(name)
    return ", ".join(f"{' '.join(some)} {ks}" for ks, some in names.items())


def _formulas(results: Results) -> list[str]:
    """Return the names that have several formulas, in a line."""
    found: dict[str, Any] = {}
    differ = {
        name: None
        for result in results.values()
        for name, metric in result.terms.metrics.items()
        if found.setdefault(name, metric) != metric
    }
    return [f"DIFFERENT FORMULAS: of {', '.join(differ)}"] if differ else []


def _longest(results: Results) -> dict[str, int]:
    """Return the length of the longest list of every system whose lists are known."""
    return {
        name: int(result.hits.n_listed.max(initial=0))
        for name, result in results.items()
        if result.hits is not None
    }


def _unequal_ks(results: Results) -> list[int]:
    """Return the k's that all lists of some system do not reach, and lists of another do."""
    longest = _longest(results).values()
    ks = {k for result in results.values() for k in result.ks}
    if not longest or min(longest) == max(longest):
        return []
    return sorted(k for k in ks if min(longest) < k <= max(longest))


def _lengths(results: Results) -> list[str]:
    """Return which systems have lists that end before a k, in a line."""
    ks, longest = _unequal_ks(results), _longest(results)
    if not ks:
        return []
    depth = {name: results[name].hits.k for name in longest}  # type: ignore[union-attr]
    parts = (
        f"{name} at {'least' if n == depth[name] else 'most'} {n:,}" for name, n in longest.items()
    )
    return [
        f"{LENGTHS}: {', '.join(parts)}: at k = {', '.join(map(str, ks))} the places below the end "
        "of a list are misses, so no system is marked as the best there"
    ]


def _same_users(one: Means, other: Means) -> bool:
    """Return whether two results count the same users in the same order: the usual case, fast."""
    if one.hits is None or other.hits is None:
        return False
    arrays = ((one.counted, other.counted), (one.hits.n_relevant, other.hits.n_relevant))
    same = all(np.array_equal(mine, theirs) for mine, theirs in arrays)  # type: ignore[arg-type]
    return same and list(one.users) == list(other.users)


def _users(first: str, one: Means, name: str, other: Means) -> str:
    """Return how the users of two results differ, as far as they are known."""
    mine, theirs = _counted(one), _counted(other)
    if mine is None or theirs is None:  # without hits, only their number is known
        if one.n_evaluated == other.n_evaluated:
            return ""
        return (
            f"DIFFERENT USERS: {first} over {one.n_evaluated:,}, {name} over {other.n_evaluated:,}"
        )
    if mine == theirs:
        return ""
    less, more = len(mine.keys() - theirs.keys()), len(theirs.keys() - mine.keys())
    if less or more:
        parts = [f"without {less:,} of the {len(mine):,} of {first}"] if less else []
        parts += [f"with {more:,} that are not in {first}"] if more else []
        return f"DIFFERENT USERS: {name} is over {len(theirs):,}, {' and '.join(parts)}"
    changed = sum(theirs[user] != n_relevant for user, n_relevant in mine.items())
    return (
        f"DIFFERENT GROUND TRUTHS: {changed:,} of {len(mine):,} users have another number of "
        f"relevant items in {name} than in {first}"
    )


def _counted(result: Means) -> dict[Any, int] | None:
    """Return the users in the means with their numbers of relevant items; None if unknown."""
    if result.hits is None or result.counted is None:
        return None
    rows = np.flatnonzero(result.counted).tolist()
    users, n_relevant = result.users, result.hits.n_relevant.tolist()
    return {users[row]: n_relevant[row] for row in rows}
