"""What was asked for, and by which rules: entries of `metrics`, each with its k's."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from toplist.checks import whole
from toplist.conventions import Convention
from toplist.grades import Grading
from toplist.list_metrics import LIST_METRICS, ListMetric, named
from toplist.metrics import METRICS, Metric
from toplist.spelling import parse


@dataclass(frozen=True)
class Entry:
    """One entry of `metrics` as asked for: at one k (a float) or at several (an array)."""

    metric: Metric | ListMetric
    ks: tuple[int, ...]
    scalar: bool


@dataclass(frozen=True)
class Terms:
    """What two results must share to be merged: what was asked, and by which rules."""

    entries: tuple[Entry, ...]
    convention: str
    empty: str
    missing: str
    grading: Grading
    pooled: tuple[str, ...] = ()
    weighted: bool = False

    @property
    def depth(self) -> int:
        """The largest k."""
        return max((k for entry in self.entries for k in entry.ks), default=0)

    @property
    def asked(self) -> dict[str, Metric | ListMetric]:
        """The metrics by name, each once."""
        return {entry.metric.name: entry.metric for entry in self.entries}

    @property
    def metrics(self) -> dict[str, Metric]:
        """Those of hits, by name."""
        return {name: one for name, one in self.asked.items() if isinstance(one, Metric)}

    @property
    def list_metrics(self) -> dict[str, ListMetric]:
        """Those of the lists themselves, by name."""
        return {name: one for name, one in self.asked.items() if isinstance(one, ListMetric)}


def entries_of(
    metrics: str | Metric | Iterable[str | Metric],
    k: int | Iterable[int] | None,
    rules: Convention,
) -> tuple[Entry, ...]:
    """Read what was asked for into entries, each with its k's."""
    if not isinstance(metrics, (str, Metric, Iterable)):
        raise ValueError(f"metrics={metrics!r}: give names, or Metric objects")
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not asked:
        raise ValueError("metrics is empty: name at least one")
    ks = _cut_offs(k)
    scalar = not isinstance(k, Iterable)
    entries = []
    for spec in asked:
        metric, own = _parse(spec, rules)
        if own is None and not ks:
            raise ValueError(f"k is missing: give k=10, or metrics such as '{metric.name}@10'")
        if own is not None and ks:
            raise ValueError(f"k is given twice: by k={k!r} and by the metric {spec!r}")
        entries.append(Entry(metric, (own,) if own else ks, scalar))
    _refuse_twins(entries)
    return tuple(entries)


def _parse(spec: str | Metric, rules: Convention) -> tuple[Metric | ListMetric, int | None]:
    """Read one entry: a metric of the lists themselves, or one of the convention."""
    found = named(spec)
    if found is not None:
        return found
    try:
        return parse(spec, rules)
    except ValueError as error:
        if isinstance(spec, str) and spec.partition("@")[0].partition("(")[0] in METRICS:
            raise
        raise ValueError(f"{error}; of the lists themselves: {', '.join(LIST_METRICS)}") from None


def _cut_offs(k: int | Iterable[int] | None) -> tuple[int, ...]:
    if k is None:
        return ()
    ks = tuple(whole(one, "k") for one in (k if isinstance(k, Iterable) else [k]))
    if len(set(ks)) < len(ks):
        raise ValueError(f"k={list(ks)} holds a cut-off twice")
    if not ks:
        raise ValueError("k is empty: give at least one cut-off")
    return ks


def _refuse_twins(entries: list[Entry]) -> None:
    seen: dict[str, Entry] = {}
    for entry in entries:
        for name in (entry.metric.name, *(f"{entry.metric.name}@{k}" for k in entry.ks)):
            other = seen.setdefault(name, entry)
            if other is not entry and (other.metric != entry.metric or "@" in name):
                raise ValueError(
                    f"two metrics are named {name!r}: give one another name, for example with "
                    f"dataclasses.replace(metric, name={entry.metric.name + '_2'!r})"
                )


def difference(a: Terms, b: Terms) -> str:
    """Name the first term that differs, and both values."""
    for field in fields(Terms):
        mine, theirs = getattr(a, field.name), getattr(b, field.name)
        if mine != theirs and field.name != "entries":
            return f"{field.name} is {mine!r} in one and {theirs!r} in the other"
    names = [
        [f"{entry.metric.name}@{k}" for entry in terms.entries for k in entry.ks]
        for terms in (a, b)
    ]
    if names[0] == names[1]:
        metrics = [name for name in a.asked if a.asked[name] != b.asked[name]]
        return f"{', '.join(metrics) or 'k'} is defined differently in one and in the other"
    return f"one has {', '.join(names[0])}, the other {', '.join(names[1])}"
