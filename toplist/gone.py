"""Names that 0.3 had below the top of the package, and what to write instead; gone in 0.5."""

_NAMED = {  # functions of `toplist.beyond`: the name of a metric, what it needs, whether the truth
    "item_coverage": ("item_coverage", "catalogue", False),
    "gini": ("gini(over=recommended)", "", False),
    "shannon_entropy": ("shannon_entropy(unit=bits)", "", False),
    "personalisation": ("personalisation", "", False),
    "average_popularity": ("average_popularity(unknown=0)", "counts", False),
    "tail_percentage": ("tail_percentage(share=0.2)", "counts", False),
    "novelty": ("novelty(total=500)", "counts", False),
    "popularity_lift": ("popularity_lift", "history, counts", False),
    "intra_list_diversity": ("intra_list_diversity(distance=jaccard)", "labels", False),
    "calibration": ("calibration(alpha=0.01)", "history, labels", False),
    "unexpectedness": ("unexpectedness", "expected", False),
    "serendipity": ("serendipity(divisor=n)", "expected", True),
    "exposure_share": ("exposure_share(label=LABEL)", "labels", False),
    "hit_share": ("hit_share(label=LABEL)", "labels", True),
}


def _curves_of(name: str, needs: str, of_truth: bool) -> str:
    """Say how to write a metric of the lists, whose parameters stand in its name."""
    facts = ", ".join(f"{one}={one.upper()}" for one in needs.split(", ") if one)
    items = f", items=toplist.Items({facts})" if facts else ""
    return f'write toplist.curves("{name}", ranks, {"truths, " * of_truth}k=k{items})'


INSTEAD = {
    "toplist.beyond.from_counts_of_counts": (
        "Exposure.from_counts takes how many lists have each item at each rank"
    ),
    "toplist.beyond.group_exposure": (
        "write toplist.beyond.exposure(lists, catalogue=ITEMS).ratios(GROUPS)"
    ),
    **{f"toplist.beyond.{name}": _curves_of(*row) for name, row in _NAMED.items()},
    "toplist.loo.full_depth": "SampledRanks.sampled.depth(k) is that rank",
    "Comparison.anova": "test() compares the pairs; tukey() all of them with one pooled variance",
    "toplist.inference.anova": (
        "paired_tests() compares the pairs; tukey() all of them with one pooled variance"
    ),
}


def no_attribute(owner: str, name: str) -> AttributeError:
    """Return the error of a name that a module or class does not have; of a gone one, the way out.

    Examples
    --------
    >>> str(no_attribute("toplist.inference", "anova"))[:61]
    'toplist.inference.anova is gone since 0.4: paired_tests() com'
    >>> no_attribute("toplist.inference", "gone")
    AttributeError("'toplist.inference' has no attribute 'gone'")
    """
    whole = f"{owner}.{name}"
    if whole in INSTEAD:
        return AttributeError(f"{whole} is gone since 0.4: {INSTEAD[whole]}")
    return AttributeError(f"{owner!r} has no attribute {name!r}")
