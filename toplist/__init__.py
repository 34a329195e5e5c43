"""Ranked item-id lists and ground-truth sets in, metrics at every k out, by a named formula.

Quick start
-----------

Lists are per user, best first; truths are what was relevant. `top_k_eval` gives the means, their
intervals and who was counted; ``ndcg(ranks, truths)`` and the other metric functions give the
values of every user at every k, so that any k is a slice.

>>> import toplist as tl
>>> ranks = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]]
>>> truths = [{7, 3, 5}, {4, 2, 8, 7}]
>>> tl.top_k_eval(ranks, truths, k=[1, 3, 5], metrics=["recall", "map", "ndcg"])
                    @1              @3                       @5
recall  0.2917 ±0.0817  0.5833 ±0.1633  0.7500 [0.2600, 1.0000]
map     1.0000 –        0.6111 ±0.1089  0.6417 [0.2007, 1.0000]
ndcg    1.0000 –        0.7346 ±0.0602  0.7662 [0.4121, 1.0000]
convention standard: mean over users
95 % interval, ± half or [low, high]: normal (rough: only 2 users); – where all values are equal
2 of 2 users evaluated
>>> tl.ndcg(ranks, truths).round(4)
array([[1.    , 1.    , 0.7654, 0.7654, 0.9469],
       [1.    , 0.6131, 0.7039, 0.5856, 0.5856]])

Join once with ``hits = tl.match(ranks, truths)`` and pass `hits` to everything else.

Chapters
--------

Each package has its chapter in its docstring, ``help(tl.loo)``:

- `toplist.inputs`: what goes in, and what happens at the edges
- `toplist.metrics`: which formula, the conventions of other libraries, a metric of your own
- `toplist.results`: what a result holds, segments, merging, saving
- `toplist.comparing`: systems side by side, tests, bands, segments, runs, power, a gate for CI
- `toplist.inference`: is B better than A? Tests of values of your own
- `toplist.plots`: charts
- `toplist.files`: files of any size, streams, databases
- `toplist.spark`: clusters
- `toplist.loo`: leave-one-out and hold-out, sampled candidates
- `toplist.beyond`: coverage, Gini, popularity, novelty, diversity, exposure of groups
- `toplist.propensities`: IPS and SNIPS, popularity bias, psp and psndcg of extreme classification
- `toplist.scores` and `toplist.pointwise`: score matrices; AUC, log loss, MAE, RMSE
- `toplist.testing`: a gate in the tests of pytest
- `toplist.reporting`: one page about an evaluation
- `toplist.audit`: what makes an evaluation fail or mislead
- `toplist.cli`: the command line
- `toplist.typing`: the types of options, for functions that pass them on

Packages
--------

The packages and modules from the ground up; each imports only from lines above its own::

    kernels     every compiled loop: arrays in, arrays out
    checks      checks of single arguments, errors that name a keyword
    parallel    blocks of users over threads
    metrics     what numbers mean: definitions, conventions, names ("ndcg@10"), formulas
    inputs      ids, lists and tables: recognized, checked, encoded as integers; the options
    stats       paired tests, intervals, corrections and power, on arrays
    matching    the join of lists and truths: ranks of hits (`match`, `Hits`); items listed twice
    pointwise   AUC, log loss, MAE, RMSE of predicted values
    scores      score matrices: top k, DCG with ties
    averages    hits to numbers: values per user, histograms, moments
    beyond      metrics of the lists themselves: coverage, popularity, novelty, diversity
    plots       charts
    propensities    relevant items that count 1 / p: IPS, SNIPS
    results     one evaluation: `TopKResult`, its means, tables, segments, merging, saving
    comparing   several evaluations: `compare`, tests, bands, segments, runs, power, `gate`
    evaluation  what is asked, evaluation in memory, the metric functions (`ndcg`, `recall`, ...)
    files       formats and readers; evaluation of files of any size and of streams
    loo         interaction logs: splits, ranks of held-out items, sampled candidates
    annotating  `unjudged`: which listed items to judge next
    audit       flaws of lists, ground truths and logs
    spark       evaluation on a cluster
    testing     `assert_not_worse` for pytest
    top_k       `top_k_eval`: by type to memory, files, streams or Spark
    ground_truths   `GroundTruths`: read once, for many lists
    reporting   `show`: the lists of one user side by side; `report`: one page, in HTML
    cli         the command line
    typing      the types of options and names, for annotations

In memory, `top_k_eval` goes from inputs over matching and averages to a result.
"""

import typing as _typing

from toplist.evaluation.evaluate import (
    alpha_ndcg,
    bpref,
    cg,
    complete,
    conformance,
    dcg,
    err,
    f1,
    group_recall,
    hit,
    iprec,
    judged,
    mrr,
    ndcg,
    nerr,
    precision,
    r_precision,
    rbp,
    recall,
)
from toplist.evaluation.evaluate import map_ as map
from toplist.inputs.lists import Lists
from toplist.matching.hits import Hits
from toplist.matching.match import match
from toplist.metrics.conventions import CONVENTIONS, Convention
from toplist.metrics.definitions import DISCOUNTS, DIVISORS, METRICS, Metric
from toplist.results.result import TopKResult
from toplist.top_k import top_k_eval

if _typing.TYPE_CHECKING:
    from toplist import audit, beyond, files, loo, plots, pointwise, propensities, scores, spark
    from toplist import testing as testing
    from toplist.annotating import unjudged
    from toplist.comparing import inference
    from toplist.comparing.comparison import Comparison, compare
    from toplist.comparing.datasets import across
    from toplist.comparing.gating import gate
    from toplist.comparing.inference import paired_tests
    from toplist.comparing.rankings import Across
    from toplist.comparing.verdicts import Gate
    from toplist.evaluation.parts import merge
    from toplist.ground_truths import GroundTruths
    from toplist.inputs.groups import Groups
    from toplist.reporting.showing import show
    from toplist.reporting.writing import report

__version__ = "0.3.0"

# what help(toplist) lists
__all__ = [
    "CONVENTIONS", "DISCOUNTS", "DIVISORS", "METRICS", "Across", "Comparison", "Convention", "Gate",
    "GroundTruths", "Groups", "Hits", "Lists", "Metric", "TopKResult", "across", "alpha_ndcg",
    "audit", "beyond", "bpref", "cg", "compare", "complete", "conformance", "dcg", "err", "f1",
    "files", "gate", "group_recall", "hit", "inference", "iprec", "judged", "loo", "map", "match",
    "merge", "mrr", "ndcg", "nerr", "paired_tests", "plots", "pointwise", "precision",
    "propensities", "r_precision", "rbp", "recall", "report", "scores", "show", "spark", "testing",
    "top_k_eval", "unjudged",
]  # fmt: skip


# Loaded on first use, since they take twice as long to import as all others: modules, and names
# with the module that has them.
_MODULES = (
    *("audit", "beyond", "files", "loo", "plots", "pointwise", "propensities", "scores", "spark"),
    "testing",
)
_OTHERS = "annotating", "cli", "comparing", "ground_truths", "reporting", "typing"
_LATER = {name: name for name in (*_MODULES, *_OTHERS)} | {
    "Across": "comparing.rankings",
    "Comparison": "comparing.comparison",
    "Gate": "comparing.verdicts",
    "GroundTruths": "ground_truths",
    "Groups": "inputs.groups",
    "across": "comparing.datasets",
    "compare": "comparing.comparison",
    "gate": "comparing.gating",
    "inference": "comparing.inference",
    "merge": "evaluation.parts",
    "paired_tests": "comparing.inference",
    "show": "reporting.showing",
    "report": "reporting.writing",
    "unjudged": "annotating",
}


# Names of 0.2, and what to write or read instead.
_GONE = {
    "top_k_eval_files": "write toplist.top_k_eval('recs.csv', 'truth.csv', k=10)",
    "top_k_eval_batches": "write toplist.top_k_eval(recs, truth, k=10)",
    "cookbook": "the recipes are in notebooks/cookbook.md, and on the site",
}


def __getattr__(name: str) -> _typing.Any:
    """Return a name that is loaded on first use."""
    from importlib import import_module

    if name in _GONE:
        raise AttributeError(f"toplist.{name} is gone since 0.3: {_GONE[name]}")
    if name not in _LATER:
        places = () if name.startswith("_") else [import_module(f"toplist.{m}") for m in _MODULES]
        raise import_module("toplist.metrics.names").no_attribute(name, __all__, places)
    path = _LATER[name]
    module = import_module(f"toplist.{path}")
    found = module if path.rpartition(".")[2] == name else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, also those not yet loaded."""
    return sorted(__all__)
