"""Options of an evaluation beside saved results: one that would be ignored is an error.

A saved result keeps the options that it was made with. Beside lists, which are evaluated now, it
may stand where it was made with the same ones.
"""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from toplist.cli.options import BESIDE, option
from toplist.inputs.items import ITEMS
from toplist.results.result import TopKResult

# Options that say how files look: beside a saved result they are of the other files alone.
OF_FILES = frozenset(
    {"columns", "ranks_format", "ground_truths_format", "order", "padding", "system"}
)


def check_alone(options: argparse.Namespace, saved: Iterable[str]) -> None:
    """Raise ValueError for an option that nothing reads, where all results are saved ones."""
    path = next(iter(saved))
    given = {name for name, one in vars(options).items() if one}
    for name in options.evaluating:
        labels = name == "clusters" and ":" in (options.clusters or "")  # of the saved rows
        beside = any(given & {one, f"item_{one}"} for one in BESIDE)
        if name not in options.asked or labels or (name == "columns" and beside):
            continue
        raise ValueError(
            f"{_written(options, name)} changes nothing of {path}, a saved result, which keeps "
            "the options it was made with: leave it out, or give the lists and the truth"
        )


def check_alike(
    options: argparse.Namespace,
    saved: Mapping[str, TopKResult],
    evaluated: Mapping[str, TopKResult],
) -> None:
    """Raise ValueError for an option that a saved result, by its path, was not made with."""
    labels = ":" in (options.clusters or "")
    asked = [name for name in options.evaluating if name in options.asked - OF_FILES]
    for name in asked:
        if name == "clusters" and labels:
            continue
        for path, kept in saved.items():
            if any(_made(kept, name) != _made(one, name) for one in evaluated.values()):
                raise ValueError(
                    f"{_written(options, name)} does not go with {path}: it was saved by an "
                    f"evaluation {_without(kept, name)}: leave it out, or evaluate those lists "
                    "with it too"
                )


def _made(result: TopKResult, keyword: str) -> Any:
    """Return what an option of an evaluation was, as far as a result knows of it."""
    terms, lists = result.terms, result.lists
    if keyword in ITEMS:
        return None if lists is None else lists.given.get(keyword)
    if keyword == "aggregate":
        return set(terms.pooled)
    if keyword == "clusters":
        labels = result.clusters
        return None if labels is None else dict(zip(result.users, labels, strict=True))
    known = {**terms.made_by, **vars(terms.grading)}
    return known.get(keyword, getattr(terms, keyword, None))


def _without(result: TopKResult, keyword: str) -> str:
    """Say what an option was: with another value where it is a word or a number, or without."""
    made = _made(result, keyword)
    plain = isinstance(made, (str, float, int)) and keyword not in (*ITEMS, "items_as")
    if plain and keyword != "propensities":
        return f"with {option(keyword, made)}"
    return "without it" if not made else "with another one"


def _written(options: argparse.Namespace, name: str) -> str:
    """Return an option as it was given, or its name alone where its value is long."""
    value = getattr(options, name)
    plain = isinstance(value, (str, float, int)) and value is not True
    return option(name, value if plain else None)
