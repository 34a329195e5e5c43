"""Names that 0.3 had below the top of the package, and what to write instead; gone in 0.5."""

INSTEAD = {
    "toplist.beyond.from_counts_of_counts": (
        "Exposure.from_counts takes how many lists have each item at each rank"
    ),
    "toplist.beyond.group_exposure": (
        "write toplist.beyond.exposure(lists, catalogue=ITEMS).ratios(GROUPS)"
    ),
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
