"""What was asked for, and by which rules: what two results must share to be merged."""

from dataclasses import dataclass, fields

from toplist.grades import Grading
from toplist.metrics import Metric


@dataclass(frozen=True)
class Entry:
    """One entry of `metrics` as asked for: at one k (a float) or at several (an array)."""

    metric: Metric
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
    def metrics(self) -> dict[str, Metric]:
        """The metrics by name, each once."""
        return {entry.metric.name: entry.metric for entry in self.entries}


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
        metrics = [name for name in a.metrics if a.metrics[name] != b.metrics[name]]
        return f"{', '.join(metrics) or 'k'} is defined differently in one and in the other"
    return f"one has {', '.join(names[0])}, the other {', '.join(names[1])}"
