"""What was asked for, and by which rules: entries of `metrics`, each with its k's."""

from dataclasses import dataclass, fields

from toplist.averages.sampled import Sampled
from toplist.inputs.grades import Grading
from toplist.metrics.beyond_accuracy import ListMetric
from toplist.metrics.definitions import Metric


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
    sampled: Sampled | None = None

    @property
    def depth(self) -> int:
        """The largest k."""
        return max((k for entry in self.entries for k in entry.ks), default=0)

    @property
    def ks(self) -> tuple[int, ...]:
        """The k's asked for, rising."""
        return tuple(sorted({k for entry in self.entries for k in entry.ks}))

    @property
    def names(self) -> list[str]:
        """The ``name@k`` of every mean asked for, in that order."""
        return [f"{entry.metric.name}@{k}" for entry in self.entries for k in entry.ks]

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

    def find(self, name: str) -> tuple[Metric | ListMetric, int | None]:
        """Read ``"name"`` or ``"name@k"``; KeyError with the valid ones."""
        metrics = self.asked
        base, at, k = name.rpartition("@") if isinstance(name, str) else ("", "", "")
        base = base if at else name
        known = base in metrics if isinstance(base, str) else False
        if known and not at:
            return metrics[base], None
        if known and k.isascii() and k.isdigit() and 1 <= int(k) <= self.depth:
            return metrics[base], int(k)
        raise KeyError(
            f"{name!r}: this result has {', '.join(metrics)}, alone or with @1 to @{self.depth}"
        )


def difference(a: Terms, b: Terms) -> str:
    """Name the first term that differs, and both values."""
    for field in fields(Terms):
        mine, theirs = getattr(a, field.name), getattr(b, field.name)
        if mine != theirs and field.name != "entries":
            return f"{field.name} is {mine!r} in one and {theirs!r} in the other"
    names = [terms.names for terms in (a, b)]
    if names[0] == names[1]:
        metrics = [name for name in a.asked if a.asked[name] != b.asked[name]]
        return f"{', '.join(metrics) or 'k'} is defined differently in one and in the other"
    return f"one has {', '.join(names[0])}, the other {', '.join(names[1])}"
