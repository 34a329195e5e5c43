"""Comparisons in words: the table of `Tests`, the lines below it, and the sentence for a paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from toplist.checks import counted
from toplist.results.contrasts import Contrast, Contrasts, Plan
from toplist.results.markup import Cell, Look, Page, Table, settled
from toplist.stats import planning
from toplist.stats.paired import CAUTIONS

NAMES = {
    "t": "paired t",
    "randomization": "sign flips",
    "bootstrap": "studentised bootstrap",
    "wilcoxon": "Wilcoxon signed ranks",
    "sign": "sign test",
    "equivalence": "two one-sided t tests",
    "tukey": "Tukey's test",
}
CORRECTED = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "maxt": "MaxT",
}
LOOK = Look(intervals=True)
# These have no interval of their own.
OTHER_INTERVALS = ("randomization", "wilcoxon", "sign")
# What these two test is no mean.
NO_MEAN = (
    "{} does not test the mean: with n = 10,000 and ties it rejected true nulls 20 to 100 % of the "
    "time"
)


def number(value: float, digits: int = 4) -> str:
    """Return a number with its sign.

    Examples
    --------
    >>> number(0.00378), number(-0.003, 2), number(math.nan)
    ('+0.0038', '-0.00', '-')
    """
    return "-" if value != value else f"{settled(value):+.{digits}f}"


def probability(p: float, floor: float = 0.0) -> str:
    """Return a p value; one at the floor of its resamples is known to be at most that.

    Examples
    --------
    >>> probability(0.0483), probability(0.0004), probability(1e-4, 1e-4), probability(math.nan)
    ('0.048', '<0.001', '<=0.0001', '-')
    """
    if p != p:
        return "-"
    if floor and p <= floor * (1 + 1e-9):
        return f"<={floor:.2g}"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _p_is(p: float) -> str:
    words = probability(p)
    return f"p {words}" if words[0] == "<" else f"p = {words}"


def percent(share: float) -> str:
    """Return a relative difference.

    Examples
    --------
    >>> percent(0.0391), percent(1.2), percent(math.nan)
    ('+3.9 %', '+120 %', '-')
    """
    if not math.isfinite(share):
        return "-"
    return f"{100 * share:+.1f} %" if abs(share) < 0.9995 else f"{100 * share:+.0f} %"


def page(tests: Contrasts, look: Look = LOOK) -> Page:
    """Return the table of the comparisons: one table, or one for each name, or name and pair."""
    pairs = list(dict.fromkeys((one.system, one.baseline) for one in tests))
    if any(one.segment is not None for one in tests):
        tables = [_of_pair(tests, pair, look, name) for name in tests.names for pair in pairs]
    elif len(pairs) == 1:
        tables = [_of_pair(tests, pairs[0], look)]
    else:
        tables = [_of_name(tests, name, look) for name in tests.names]
    notes = tuple(_notes(tests, pairs))
    return Page(tuple(tables), notes, legend=notes[0])


def _of_pair(tests: Contrasts, pair: tuple[str, str], look: Look, name: str = "") -> Table:
    """Return a table of two systems: a row per name, or of one name a row per segment."""
    some = [one for one in tests if (one.system, one.baseline) == pair]
    some = [one for one in some if name in ("", one.name)]
    rows = []
    for one, cells in zip(some, _cells(tests, some, look), strict=True):
        users = (Cell(f"{one.n:,}"),) if name else ()
        means = Cell(look.number(one.baseline_mean)), Cell(look.number(one.mean))
        rows.append((str(one.segment) if name else one.name, (*users, *means, *cells)))
    columns = (*("users",) * bool(name), pair[1], pair[0], *_headers(tests, look))
    return Table(name, columns, tuple(rows))


def _of_name(tests: Contrasts, name: str, look: Look) -> Table:
    """Return a table of one name: a row per system, the baseline first, or per pair."""
    some = [one for one in tests if one.name == name]
    headers, baselines, rows = _headers(tests, look), tests.plan.baselines, []
    if len(baselines) == 1:
        blank = tuple(Cell() for _ in headers)
        rows = [(baselines[0], (Cell(look.number(some[0].baseline_mean)), *blank))]
    for one, cells in zip(some, _cells(tests, some, look), strict=True):
        if len(baselines) == 1:
            rows.append((one.system, (Cell(look.number(one.mean)), *cells)))
        else:
            rows.append((f"{one.system} - {one.baseline}", cells))
    return Table(name, ("mean", *headers) if len(baselines) == 1 else headers, tuple(rows))


def _headers(tests: Contrasts, look: Look) -> tuple[str, ...]:
    """Return the headers of what is said of a difference."""
    plan = tests.plan
    shown = f"{100 * (2 * plan.level - 1 if plan.margin else plan.level):.4g} % interval"
    shown += " (two-sided)" * (plan.alternative != "two-sided")
    last = ["p (equivalence)"] if plan.margin else ["p"]
    if plan.correction != "none":
        last.append(f"p ({CORRECTED[plan.correction]})")
    return ("difference", *[shown] * look.intervals, "relative", "d_z", "win/tie/loss", *last)


def _cells(tests: Contrasts, some: Sequence[Contrast], look: Look) -> list[tuple[Cell, ...]]:
    """Return the cells of some comparisons."""
    marked = any(one.mark for one in some) and tests.plan.margin is None
    floor = 1 / (tests.plan.n_resamples + 1) if tests.plan.n_resamples else 0.0
    rows = []
    for one in some:
        mark = (one.mark or " ") if marked else ""
        p = [probability(one.p, 0.0 if one.exact else floor)]
        if tests.plan.correction != "none":
            p.append(probability(one.p_adjusted, 0.0 if one.exact else floor))
        outcome = f"{one.wins}/{one.ties}/{one.losses}"
        size = "-" if one.d_z != one.d_z else f"{one.d_z:.2f}"
        ends = [f"[{_signed(one.low, look)}, {_signed(one.high, look)}]"] * look.intervals
        difference = _signed(one.difference, look) + mark
        words = (difference, *ends, percent(one.relative), size, outcome, *p)
        rows.append(tuple(map(Cell, words)))
    return rows


def _signed(value: float, look: Look) -> str:
    return "-" if value != value else look.number(value, "+")


def _notes(tests: Contrasts, pairs: Sequence[tuple[str, str]]) -> Iterable[str]:
    """Yield the lines below the table."""
    plan = tests.plan
    whose = ", ".join(plan.baselines)
    what = f"against {whose}, " if whose and len(pairs) > 1 else ""
    if len(pairs) == 1:
        what = f"{pairs[0][0]} - {pairs[0][1]}, "
    marks = ""
    if plan.margin is not None:
        marks = _after(tests) if plan.correction != "none" else ""
    elif any(one.mark for one in tests):
        marks = f"; † ‡ p < 0.05, 0.01{_after(tests)}"
    elif not tests.n_family:
        marks = ": too few to test"
    elif plan.correction != "none":
        marks = f"; no p below 0.05{_after(tests)}"
    yield f"{what}{_test(plan)} over {_whom(tests)}{marks}"
    if plan.margin is not None:
        yield from (
            f"{one.system} - {one.baseline} {one.name}: {_within(one, plan)} within "
            f"±{plan.margin:g} (not worse p {probability(one.p_not_worse)}, not better p "
            f"{probability(one.p_not_better)})"
            for one in tests
        )
    elif plan.method == "tukey":
        yield "p and intervals hold for all pairs together"
    elif len(pairs) > 1:
        yield "intervals hold one by one, not together"
    detectable = _detectable(tests)
    if detectable:
        yield f"detectable with 80 % power, before correction: {detectable}"
    if plan.runs is not None:
        yield from (
            f"{_label(one)}: for these trained models p {probability(one.p_users)}, standard error "
            f"{one.error_users:.4g}; for models trained anew p {probability(one.p)}, standard "
            f"error {one.error:.4g}"
            for one in tests
        )
    if plan.n_clusters:
        yield "win/tie/loss count rows; the interval and p are of clusters"
    if plan.method in OTHER_INTERVALS and plan.margin is None:
        yield "the intervals are those of the t test"
    if plan.method in ("wilcoxon", "sign"):
        yield NO_MEAN.format(NAMES[plan.method])
    yield from plan.notes
    for caution, meaning in CAUTIONS.items():
        where = [_label(one) for one in tests if caution in one.cautions]
        if where:
            yield f"{caution}: {meaning} ({', '.join(where[:4])}{', ...' * (len(where) > 4)})"


def _test(plan: Plan) -> str:
    """Return the test in words."""
    words = NAMES["equivalence" if plan.margin is not None else plan.method]
    if plan.n_resamples and plan.method in ("randomization", "bootstrap"):
        words += f" ({plan.n_resamples:,}, seed {plan.seed})"
    if plan.alternative != "two-sided":
        words += f", one-sided ({plan.alternative})"
    return words


def _whom(tests: Contrasts) -> str:
    """Return over whom was tested."""
    sizes = sorted({one.n for one in tests})
    unit = "user" if tests.plan.of_users else "row"
    if not sizes:
        return f"no {unit}s"
    words = counted(sizes[0], unit) if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} {unit}s"
    if tests.plan.n_clusters:
        words += f" in {counted(tests.plan.n_clusters, 'cluster')}"
    return words + ", weighted" * tests.plan.weighted


def _after(tests: Contrasts) -> str:
    """Return what p was corrected for."""
    if tests.plan.method == "tukey":
        return f" after Tukey over {counted(len(tests), 'comparison')}"
    if tests.plan.correction == "none":
        return ", uncorrected"
    each = " of each name" if tests.plan.family == "metric" else ""
    n_segments = len({one.segment for one in tests if one.segment is not None})
    each += f" in {counted(n_segments, 'segment')}" if n_segments else ""
    how = CORRECTED[tests.plan.correction]
    return f" after {how} over {counted(tests.n_family, 'comparison')}{each}"


def _within(one: Contrast, plan: Plan) -> str:
    return "equivalent" if one.p_adjusted < 1 - plan.level else "not shown to be equivalent"


def _label(one: Contrast) -> str:
    where = "" if one.segment is None else f" ({one.segment})"
    return f"{one.system} - {one.baseline} {one.name}{where}"


def _detectable(tests: Contrasts) -> str:
    """Return the differences that as many users detect, by name."""
    found: dict[str, list[float]] = {}
    plan = tests.plan
    if plan.method != "t" or plan.margin or plan.runs or plan.n_clusters or plan.weighted:
        return ""
    for one in tests:
        if one.n > 2 and one.std > 0:
            least = planning.detectable(one.std, one.n, level=plan.level)
            found.setdefault(one.name, []).append(least)
    ends = {name: (f"{min(some):.4f}", f"{max(some):.4f}") for name, some in found.items()}
    return ", ".join(
        f"{low if low == high else f'{low} to {high}'} ({name})"
        for name, (low, high) in ends.items()
    )


def sentence(tests: Contrasts) -> str:
    """Return what a paper says of the tests."""
    plan = tests.plan
    if not tests.n_family:
        return f"No difference could be tested over {_whom(tests)}."
    if plan.margin is not None:
        return _equivalent(tests)
    sided = "two-sided " if plan.alternative == "two-sided" else ""
    after = _after(tests)
    corrected = "with uncorrected p" if after == ", uncorrected" else f"with p{after}"
    runs = ""
    if plan.runs:
        ends = " to ".join(map(str, sorted({*plan.n_runs[:1], *plan.n_runs[-1:]})))
        runs = " and " + f"{ends} {plan.runs} runs of each system".strip()
    together = "for all pairs together" if plan.method == "tukey" else "one by one"
    head = (
        f"Differences were tested by {sided}{_test(plan)} over {_whom(tests)}{runs}, {corrected}; "
        f"{'two-sided ' * (not sided)}intervals are {100 * plan.level:.4g} % and hold {together}"
        f"{', by the t test' * (plan.method in OTHER_INTERVALS)}."
    )
    if plan.method in ("wilcoxon", "sign"):
        words = NO_MEAN.format(NAMES[plan.method])
        head += f" {words[:1].upper()}{words[1:]}."
    if len(tests) > 4:
        found = sum(bool(one.mark) for one in tests)
        return f"{head} p is below 0.05 for {found} of {len(tests)} differences."
    unit = "user" if plan.of_users else "row"
    return " ".join([head, *(_said(one, unit) for one in tests)])


def _equivalent(tests: Contrasts) -> str:
    """Return what a paper says of tests of equivalence."""
    plan = tests.plan
    assert plan.margin is not None
    corrected = "with uncorrected p" if plan.correction == "none" else f"with p{_after(tests)}"
    head = (
        f"Equivalence within ±{plan.margin:g} was tested by {_test(plan)} over {_whom(tests)}, "
        f"{corrected}; intervals are {100 * (2 * plan.level - 1):.4g} %."
    )
    words = (
        f"{one.system} and {one.baseline} are {_within(one, plan)} in {one.name} (difference "
        f"{number(one.difference)}, interval [{number(one.low)}, {number(one.high)}], "
        f"{_p_is(one.p_adjusted)})."
        for one in tests
    )
    return " ".join([head, *words])


def _said(one: Contrast, unit: str) -> str:
    change = "exceeds" if one.difference > 0 else "is below"
    if one.difference == 0:
        change = "equals"
    size = "" if one.d_z != one.d_z else f", d_z = {one.d_z:.2f}"
    by = "" if one.difference == 0 else f" by {settled(abs(one.difference)):.4f}"
    where = "" if one.segment is None else f" (segment {one.segment})"
    return (
        f"{one.system} {change} {one.baseline}{by} in {one.name}{where} "
        f"({settled(one.mean):.4f} against {settled(one.baseline_mean):.4f}, "
        f"interval [{number(one.low)}, {number(one.high)}], "
        f"{_p_is(one.p_adjusted)}{size}; {counted(one.wins, unit)} higher, "
        f"{one.ties:,} equal, {one.losses:,} lower)."
    )


def legend(tests: Contrasts) -> str:
    """Return what the marks of a table of means say."""
    whose = each_of(tests.plan.baselines)
    if not tests.n_family:
        against = f" against {whose}" if whose else ""
        return f"nothing could be tested{against} over {_whom(tests)}"
    found = any(one.mark for one in tests)
    if not whose:
        return f"no difference was found: {tested(tests)}"
    marks = (
        f"† ‡ better, ▾ worse than {whose}" if found else f"no difference from {whose} was found"
    )
    return f"{marks}: {tested(tests)}"


def each_of(names: Sequence[str]) -> str:
    """Return names in words.

    Examples
    --------
    >>> each_of(["a"]), each_of(["a", "b"])
    ('a', 'each of a, b')
    """
    return f"each of {', '.join(names)}" if len(names) > 1 else "".join(names)


def tested(tests: Contrasts) -> str:
    """Return which test, over whom, at which p, corrected for what."""
    marked = tests.plan.baselines and any(one.mark for one in tests)
    ends = "0.05, 0.01" if marked else "0.05"
    return f"{_test(tests.plan)} over {_whom(tests)}, p < {ends}{_after(tests)}"
