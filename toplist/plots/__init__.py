"""Pictures of results, drawn with matplotlib: curves over k, users, segments, exposure, samples.

Every function takes arrays or results with their labels, draws on ``ax=`` or on a new figure, which
a notebook shows, and returns the matplotlib axes: ``plots.curves(result).figure.savefig("a.pdf")``.
Pictures of results say who was counted and by which rules. Background, texts and fonts are those of
the style, as of ``plt.style.use("dark_background")``; the colours of lines are our own. A new
figure grows until names and legends fit. pyplot and rcParams are not changed. They need the extra
``toplist[plot]``.

- ``result.plot("ndcg")`` and ``compared.plot("ndcg")``, or `curves`: curves over k, with bands
- `per_user`: how a metric is spread over users
- `precision_recall`: interpolated precision over recall, the eleven points of TREC
- `segments`: of ``result.by(labels)`` and ``result.by_item(labels)``, which draw themselves:
  ``.plot("ndcg@10")``
- `exposure`: Lorenz curve and Gini of ``beyond.exposure(lists, catalogue=items).counts(k)``
- `sampled`: sampled candidates beside the full ranking
- `critical_difference`: mean ranks over data sets, of ``tl.across(...).plot()``
- ``compared.test(...).plot()`` and ``compared.band("ndcg").plot()``: forests and bands of
  differences
"""

from toplist.plots.charts import curves, exposure, per_user, precision_recall, sampled, segments
from toplist.plots.differences import critical_difference

__all__ = [
    "critical_difference",
    "curves",
    "exposure",
    "per_user",
    "precision_recall",
    "sampled",
    "segments",
]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
