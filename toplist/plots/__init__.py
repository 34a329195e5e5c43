"""Pictures of results, drawn with matplotlib: curves over k, users, segments, exposure, samples.

Every function takes arrays or results with their labels, and returns the matplotlib axes. Each
picture says who was counted and by which rules.
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
