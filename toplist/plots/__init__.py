"""Pictures of results, drawn with matplotlib: curves over k, users, segments, exposure, samples.

Every function takes arrays or results with their labels, draws on ``ax`` or on a new figure, and
returns the matplotlib axes: ``plots.curves(result).figure.savefig("curves.pdf")``. Pictures of
results say who was counted and by which rules. pyplot and rcParams are neither used nor changed.
"""

from toplist.plots.charts import curves, exposure, per_user, sampled, segments

__all__ = [
    "curves",
    "exposure",
    "per_user",
    "sampled",
    "segments",
]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
