"""`compare`: several systems side by side, the best of every column, and what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from toplist import plots
from toplist.averages.per_user import truths_of
from toplist.checks import Ints, cached, check_positive_int, choice, no_attribute
from toplist.comparing import samples, segments
from toplist.comparing.aligning import united
from toplist.comparing.contrasts import SameUsers, TestFamily, TestPlan, or_why
from toplist.comparing.samples import name_of, pairs_of
from toplist.comparing.side_by_side import MANY, Question
from toplist.comparing.tests import Tests
from toplist.comparing.views import SEED, HasViews, Mover, Movers, extremes
from toplist.metrics.definitions import Metric
from toplist.metrics.names import AnyName, Names
from toplist.plots import differences
from toplist.plots.axes import Axes
from toplist.results.means import in_line
from toplist.results.result import TopKResult
from toplist.results.tables import LOOK, Cell, Look, Page, Table
from toplist.stats import RUNS, RunsAre
from toplist.stats.planning import check_margin
from toplist.stats.simultaneous import Correction
from toplist.stats.units import snap

ComparisonPicture = Literal["curve", "movers"]
PICTURES: tuple[ComparisonPicture, ...] = get_args(ComparisonPicture)
UNTESTED = "not tested: .test() and toplist compare test the difference"
# What `compare` takes of a system: its result, or those of its runs.
Given = TopKResult | Sequence[TopKResult]


def compare(
    results: Mapping[str, Given] | Mapping[int, Given] | Mapping[float, Given],
    baseline: str | float | Sequence[str | float] | None = None,
    *,
    runs: RunsAre = "independent",
) -> Comparison:
    """Put the results of several systems side by side.

    Parameters
    ----------
    results : dict of system -> TopKResult
        What `top_k_eval` returned for every system, with the same ground truths, convention
        and k. A list of results are runs of one system: other seeds, other splits. Names that are
        numbers, such as the steps of checkpoints, are text from here on: ``"1000"``.
    baseline : str or several, optional
        The system that the others are tested against: † and ‡ mark what is better in a paired t
        test (p below 0.05 and 0.01 after Holm), ▾ what is worse. `Comparison.test` has the tests;
        without a baseline they are of all pairs, and the first of each pair is its baseline.
    runs : {"independent", "paired"}
        Of several runs: "paired" where run i of every system is of one split, or one seed; the
        runs of another i may then have other ground truths. Repeated splits overlap: their
        variance is a lower bound.

    Returns
    -------
    Comparison
        Printed, a table of all means; the best of each is marked, or with a baseline what differs
        from it. Lines below it say which systems were evaluated on different users, or by different
        rules.

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
    * best of its column; not tested: .test() and toplist compare test the difference
    convention standard: mean over users
    2 of 2 users evaluated
    """
    if not isinstance(results, Mapping):
        raise TypeError(f"compare takes a dict of name -> result, not {type(results).__name__}")
    if not results:
        raise ValueError("compare: the dict is empty: give name -> result")
    choice("runs", runs, RUNS)
    found, names = _runs(results)
    found = united(dict(zip(found, in_line([*found.values()]), strict=True)))
    unit = next(iter(found.values())).terms.unit  # one noun for all
    for name, one in found.items():
        if one.terms.unit != unit:
            found[name] = replace(one, terms=replace(one.terms, unit=unit))
    several = isinstance(baseline, (list, tuple))
    given: list[Any] = list(baseline) if several else [baseline]  # type: ignore[arg-type]
    given = [next((name_of(key) for key in results if key == one), one) for one in given]
    if baseline is not None:
        pairs_of(list(names), given if several else given[0])
    baselines = () if baseline is None else tuple(given)
    if runs == "paired" and len({*map(len, names.values())}) > 1:
        counts = ", ".join(f"{system} {len(some)}" for system, some in names.items())
        raise ValueError(f"runs='paired' needs as many runs of every system; there are {counts}")
    if any(len(some) > 1 for some in names.values()):
        return Comparison(found, baselines, names, runs)
    return Comparison(found, baselines)


def _runs(results: Mapping[Any, Any]) -> tuple[dict[str, TopKResult], dict[str, tuple[str, ...]]]:
    """Return all results by name, and the names of the runs of every system."""
    found: dict[str, TopKResult] = {}
    names: dict[str, tuple[str, ...]] = {}
    for system, given in ((name_of(key), given) for key, given in results.items()):
        if system == "" or (isinstance(given, (list, tuple)) and not given):
            raise ValueError(f"compare: {system!r} has {'no name' if given else 'no runs'}")
        some = list(given) if isinstance(given, (list, tuple)) else [given]
        for one in [system if isinstance(system, str) else None, *some]:
            if not isinstance(one, (str, TopKResult)):
                raise TypeError(
                    f"compare: {system!r} is {type(given).__name__}: names are text or numbers, "
                    "and values what top_k_eval returned, or lists of it (runs)"
                )
        runs = tuple(f"{system}, run {i + 1}" for i in range(len(some)))
        names[system] = runs if len(some) > 1 else (system,)
        for name, one in zip(names[system], some, strict=True):
            if name in found:
                raise ValueError(f"compare: two results are called {name!r}: rename a system")
            found[name] = one
    return found, names


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(HasViews):
    """Several results side by side. Returned by `toplist.compare`.

    Printed, it is a table with a row per system, or where these are few and means many, a row per
    mean; the best of each mean is marked. The lines below it say what makes the systems not
    comparable: other users, conventions or policies.

    Attributes
    ----------
    results : dict of system -> TopKResult
        As given: ``comparison.results["mine"].interval("ndcg@10")``. Several runs of a system are
        ``"mine, run 1"`` and so on.
    baselines : tuple of str
        The systems that the others are tested against; empty for all pairs.
    runs : dict of system -> names in `results`
        Empty where every system has one result.
    runs_are : {"independent", "paired"}

    Notes
    -----
    A comparison has no file of its own. `TopKResult.save` keeps each result, with the users that
    paired tests need, and `compare` puts those that were loaded side by side again. Tests
    are kept as a table: ``both.test().to_pandas().to_csv("tests.csv")``.

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

    if not TYPE_CHECKING:  # a type checker finds wrong names itself

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for a name of 0.3 it says what to write instead."""
            raise no_attribute(type(self).__name__, name)

    def by(self, labels: Any) -> segments.SegmentedComparison[Comparison]:
        """Compare the systems in every segment of the users.

        Parameters
        ----------
        labels : one label per user, or dict user -> label
            As in `TopKResult.by`; the systems must have the same users.

        Returns
        -------
        SegmentedComparison
            A mapping label -> Comparison, a table when printed; its tests are corrected for all
            segments together.

        Examples
        --------
        >>> import toplist as tl
        >>> truths = {user: {user % 3} for user in range(60)}
        >>> a = tl.top_k_eval({user: [0, 1, 2] for user in truths}, truths, k=2, metrics="mrr")
        >>> b = tl.top_k_eval({user: [2, 1, 0] for user in truths}, truths, k=2, metrics="mrr")
        >>> found = tl.compare({"a": a, "b": b}).by({user: user < 20 for user in truths})
        >>> list(found), round(found[True].results["a"]["mrr@2"], 4)
        ([False, True], 0.525)
        """
        return segments.by(self, labels)

    def by_item(
        self, labels: Any, *, order: Iterable[Any] | None = None
    ) -> segments.SegmentedComparison[Comparison]:
        """Compare the systems in every slice of the relevant items.

        Parameters
        ----------
        labels, order
            As in `TopKResult.by_item`.

        Returns
        -------
        SegmentedComparison
            A mapping label -> Comparison, a table when printed; its tests are corrected for all
            slices together, which share users.

        Examples
        --------
        >>> import toplist as tl
        >>> truths = {user: {user % 3, 3} for user in range(60)}
        >>> a = tl.top_k_eval({user: [0, 1, 3] for user in truths}, truths, k=3, metrics="mrr")
        >>> b = tl.top_k_eval({user: [3, 2, 1] for user in truths}, truths, k=3, metrics="mrr")
        >>> found = tl.compare({"a": a, "b": b}).by_item({3: "head", 0: "tail", 1: "tail"})
        >>> found["head"].to_dict()
        {'a': {'mrr@3': 0.3333333333333333}, 'b': {'mrr@3': 1.0}}
        >>> found.test()["tail", "b", "mrr@3"].difference
        -0.5833333333333334
        """
        return segments.by_item(self, labels, order)

    def plot(
        self,
        metric: AnyName | None = None,
        kind: ComparisonPicture = "curve",
        *,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw one metric over k, or at one k over the systems.

        Parameters
        ----------
        metric : str, optional
            ``"ndcg"``: over k, a line with its band per system. ``"ndcg@10"``: over the systems, a
            point with its interval for each, as a learning curve. Default: the first, over k.
        kind : {"curve", "movers"}
            "movers": the users' differences from the baseline (else the first system) in one
            ``name@k``, sorted; of two systems also both values, on new axes. "curve": over systems
            whose names are all numbers (steps, settings), these are the axis, rising:
            ``.set_xscale("log")`` of what is returned makes it logarithmic. Of others the best
            comes first. Of several runs it is the mean of theirs, without an interval.
        level : float
            Of the intervals, between 0 and 1.
        ax : matplotlib Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import toplist as tl
        >>> truths, lists = [{2}, {3}], {2000: [[2, 1], [3, 4]], 1000: [[1, 2], [3, 4]]}
        >>> results = {step: tl.top_k_eval(some, truths, k=2) for step, some in lists.items()}
        >>> ax = tl.compare(results).plot("mrr@2")
        >>> ax.lines[0].get_xydata().tolist()
        [[1000.0, 0.75], [2000.0, 1.0]]
        """
        choice("kind", kind, PICTURES)
        if kind == "movers":
            name, first = metric or self.names()[0], (*self.baselines, *self.systems)[0]
            others = [one for one in self.systems if one != first] or [first]
            found = [self.movers(name, one, first) for one in others]
            return differences.movers(found, ax=ax)
        metric = self.names()[0].rpartition("@")[0] if metric is None else metric
        if "@" not in metric:
            return plots.curves(self.results, metric, level=level, ax=ax)
        means = {system: self._mean(system, metric) for system in self.systems}
        ends = [one.interval(metric, level) for one in self.results.values() if not self.runs]
        every = self.results.values()
        return plots.over_systems(metric, means, ends, every, level=level, ax=ax)

    def movers(
        self,
        name: AnyName,
        system: str | None = None,
        baseline: str | None = None,
        n: int = 20,
        *,
        n_drawn: int = 0,
        users: SameUsers = "same",
    ) -> Movers:
        """Return the users with the largest differences: the n worst, and the n best.

        Worst first. Of equal differences, users with more relevant items come first, then by their
        ids. They are chosen because they are extreme: look at them, see `toplist.show`, and do not
        estimate from them. Users who do not differ are counted, and not shown.

        Parameters
        ----------
        name : str
            ``"ndcg@10"``.
        system, baseline : str, optional
            As in `band`.
        n : int
            Users on either side.
        n_drawn : int
            Others at random, as ``found.drawn``.
        users : {"same", "common"}
            As in `test`.

        Returns
        -------
        Movers
            Rows of user, both values, difference, number of relevant items, ranks of the hits.

        Raises
        ------
        KeyError, ValueError
            As `test`; and for several runs of a system.

        Examples
        --------
        >>> import toplist as tl
        >>> truths = {"ann": {"a"}, "bob": {"b", "c"}, "eve": {"d"}}
        >>> old = {"ann": ["a", "x"], "bob": ["x", "y"], "eve": ["d", "y"]}
        >>> new = {"ann": ["x", "a"], "bob": ["b", "c"], "eve": ["d", "x"]}
        >>> lists = {"old": old, "new": new}
        >>> results = {name: tl.top_k_eval(some, truths, k=2) for name, some in lists.items()}
        >>> found = tl.compare(results).movers("mrr@2")
        >>> found
        mrr@2     old     new  difference  relevant  hits old  hits new
        ann    1.0000  0.5000     -0.5000         1         1         2
        bob    0.0000  1.0000     +1.0000         2         -       1 2
        extremes are chosen because they are extreme: do not estimate from them
        new - old mrr@2: of 3 users, 1 worse, 1 equal, 1 better
        hits: their ranks; of equal differences, more relevant items first
        >>> [(row.user_id, row.system_ranks) for row in found]
        [('ann', (2,)), ('bob', (1, 2))]
        """
        n, question = check_positive_int(n, "n"), Question(self, users)
        question.one_each("movers()")
        pair = question.pair(system, baseline, "movers")
        both = replace(self._with(pair), baselines=())
        asked = replace(question, compared=both)
        name = asked.one(name, "this")
        source = asked.rows([name], "movers()")
        values = np.array([source.values(one, name) for one in pair])
        counted, n_counted = list[tuple[Any, Ints, Ints]](), []
        for one in pair:  # hits that the metric counts, of the truth for one of the lists
            hits, _ = both.results[one].held("the ranks of its hits are unknown")
            metric, _ = both.results[one].terms.find(name)
            found = truths_of(hits, metric) if isinstance(metric, Metric) else hits.relevant
            # rows below all rows, without a ground truth, have none
            at = np.minimum(source.rows[one], len(found))
            offsets = np.append(found.offsets, found.offsets[-1])
            counted.append((found.ranks, offsets[at], offsets[at + 1]))
            n_counted.append(np.append(found.n_relevant, 0)[at])
        keys = source.rows[pair[0]].tolist() if source.users is None else source.users
        n_relevant = np.maximum(*n_counted)
        higher = both._higher(name)
        d = snap(*values)

        def mover(row: int) -> Mover:
            ours, theirs = (
                tuple(ranks[first[row] : last[row]].tolist()) for ranks, first, last in counted
            )
            a, b = values[:, row].tolist()
            return Mover(keys[row], b, a, float(d[row]), int(n_relevant[row]), theirs, ours)

        chosen = extremes(-d if higher is False else d, n_relevant, keys, n)
        most = min(len(d), n_drawn + len(chosen))
        draw = np.random.default_rng(SEED).choice(len(d), most, replace=False).tolist()
        others = [row for row in draw if row not in chosen][:n_drawn]
        rows, drawn = (tuple(map(mover, some)) for some in (chosen, others))
        return Movers(rows, name, pair, values, higher, both.unit, drawn)

    def equivalence(
        self,
        names: Names | None = None,
        *,
        margin: float,
        correction: Correction = "holm",
        level: float = 0.95,
        family: TestFamily = "all",
        users: SameUsers = "same",
        clusters: Any = None,
    ) -> Tests:
        """Test whether differences are within ±margin: two one-sided t tests.

        Parameters
        ----------
        names, family, users, clusters
            As in `test`.
        margin : float
            Above 0: what is within does not matter.
        correction : {"holm", "bh", "bonferroni", "none"}
            Of p for the comparisons of a family; the intervals hold one by one.
        level : float
            Of each one-sided test; the interval printed is that of 2 level - 1.
        """
        check_margin(margin)
        plan = TestPlan("t", correction, level=level, family=family, margin=margin).checked()
        return Question(self, users, clusters).tests(names, plan)

    def tukey(self, name: AnyName, *, level: float = 0.95, users: SameUsers = "same") -> Tests:
        """Compare all pairs of systems in one name by Tukey's test, see `inference.tukey`.

        Differences are the first less the second, as in published tables of this test.
        """
        question = Question(self, users)
        question.one_each("this")
        name = question.one(name, "this")
        plan = question.told(TestPlan(level=level))
        higher = self._higher(name)
        return samples.tukey(question.plain(name), list(self.results), name, plan, higher)

    # What is shown

    def _page(self, look: Look = LOOK) -> Page:
        """Return the table of the means, with marks where there is a baseline.

        In LaTeX, for a paper, what is bold follows from the tests, too, and the notes tell of them.
        """
        paper = look.form == "latex"
        asked = self.baselines or (paper and len(self.systems) > 1)
        tests, why = self._tested if asked else (None, "")
        signs = tests.signs if tests is not None and self.baselines else {}
        blank = " " * any(signs.values())  # where others of the table have a mark
        best = {} if self.baselines else self.best()
        if paper:
            best = {} if tests is None else {n: self._bold(tests, n) for n in self.names()}

        def cell(system: str, name: str) -> Cell:
            mark = signs.get((system, self._tested_as.get(name, name))) or blank
            return self._cell(system, name, mark, system in best.get(name, ()), look)

        (layout, turned), systems = self._layout(look.every_metric), self.systems
        if turned:
            names = {corner + k: name for corner, of_k in layout for k, name in of_k.items()}
            rows = [(shown, [cell(s, name) for s in systems]) for shown, name in names.items()]
            tables = [Table("", systems, rows, systems)]
        else:
            tables = [
                Table(corner, [*ks], [(s, [cell(s, one) for one in ks.values()]) for s in systems])
                for corner, ks in layout
            ]
        notes, said = [*self.rules(look)], []
        if len(systems) >= MANY and Page(tables).marks:
            words = f"best of {len(systems)} on the same {self.unit}: part of the lead is chance"
            how_much = ", .lead() and toplist compare --lead say how much" * (not self.runs)
            notes.insert(0, words + how_much)
        if tests is not None:
            cautions = tests._cautions_of_marks(self._tested_as.items())
            said = [tests._legend(bool(self.baselines)), *cautions]
            notes = [*([tests.sentence()] if paper else said), *notes]
        elif why:
            against = f" against {', '.join(self.baselines)}" if self.baselines else ""
            notes.insert(0, f"NOT TESTED{against}: {why}")
        different = [one.text for one in self.differences]
        best_is = f"best of its {'line' if turned else 'column'}"
        if not paper:
            return Page(tables, notes, different, best=f"{best_is}; {UNTESTED}")
        if self.runs:
            said.append(self._of_runs() + ", without intervals" * bool(look.intervals))
        elif look.intervals:
            said.append("with 95 % intervals")
        to = "with those not shown to differ from it"
        if self.baselines:
            each = "each of " * (len(self.baselines) > 1)
            to = f"and different from {each}{', '.join(self.baselines)}"
        best_is = f"{best_is}, {to}"
        return Page(tables, notes + different, legend="; ".join(said), best=best_is)

    @cached
    def _tested(self) -> tuple[Tests | None, str]:
        """The tests of all names, also of those that are not shown; and why there are none.

        There are none, either, where no name that is shown is among them.
        """
        if self._shown_of is None:
            return or_why(self.test)
        found: tuple[Tests | None, str] = self._shown_of._tested
        if found[0] is not None and not {*found[0].names} & {*self._tested_as.values()}:
            why = or_why(lambda: Question(self).names(None))[1]
            return None, why or f"{', '.join(self.names())} has no test"
        return found

    def _bold(self, tests: Tests, name: str) -> list[str]:
        """Return the best systems of a name, if what they were compared with differs from them.

        Without a baseline those that do not differ from the best share it; none is the best if
        nothing differs from it. With baselines, it must differ from each of them.
        """
        top = self._best(name)
        if not top:
            return []
        as_name = self._tested_as[name]
        marks = {  # of each that it was compared with
            one.baseline if one.system == top[0] else one.system: one.mark
            for one in tests
            if one.name == as_name and top[0] in (one.system, one.baseline)
        }
        beaten = {other for other, mark in marks.items() if mark}
        if not self.baselines:
            return [*top, *sorted({*marks} - beaten - {*top})] if beaten else []
        others = {*(self.baselines if top[0] not in self.baselines else self.systems)} - {*top}
        return top if others and others <= beaten else []
