"""Ranked item-id lists and ground-truth sets in, metrics at every k out, by a named formula.

Quick start
-----------

Lists are per user, best first; truths are what was relevant. `top_k_eval` gives the means, their
intervals and who was counted; ``ndcg(ranks, truths)``, and `curves` of any other metric, give the
values of every user at every k, so that any k is a slice.

>>> import toplist as tl
>>> ranks = [[5, 7, 8, 9, 3], [4, 6, 2, 1, 10]]
>>> truths = [{7, 3, 5}, {4, 2, 8, 7}]
>>> tl.top_k_eval(ranks, truths, k=[1, 3, 5], metrics=["recall", "map", "ndcg"])
                             @1                       @3                       @5
recall  0.2917 [0.0000, 0.8211]  0.5833 [0.0000, 1.0000]  0.7500 [0.0000, 1.0000]
map     1.0000 –                 0.6111 [0.0000, 1.0000]  0.6417 [0.0000, 1.0000]
ndcg    1.0000 –                 0.7346 [0.3443, 1.0000]  0.7662 [0.0000, 1.0000]
convention standard: mean over users
95 % interval, ± half or [low, high]: Student's t (rough: only 2 users); – where all values are \
equal
2 of 2 users evaluated
>>> tl.ndcg(ranks, truths).round(4)
array([[1.    , 1.    , 0.7654, 0.7654, 0.9469],
       [1.    , 0.6131, 0.7039, 0.5856, 0.5856]])

Join once with ``hits = tl.match(ranks, truths)`` and pass `hits` to everything else.

Chapters
--------

Each package has its chapter in its docstring, ``help(tl.loo)``:

- `toplist.inputs`: what goes in, and what happens at the edges; the ragged container `Lists`
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
    checks      checks of single arguments, errors that name a keyword, names of 0.3
    parallel    blocks of users over threads
    metrics     what numbers mean: definitions, conventions, names ("ndcg@10"), formulas
    inputs      ids, lists and tables: recognized, checked, encoded as integers; the options
    stats       paired tests, intervals, corrections and power, on arrays
    matching    the join of lists and truths: ranks of hits (`match`, `Hits`); items listed twice
    pointwise   AUC, log loss, MAE, RMSE of predicted values
    scores      score matrices: top k, DCG with ties
    averages    hits to numbers: values per user, histograms, moments; IPS and SNIPS
    beyond      metrics of the lists themselves: coverage, popularity, novelty, diversity
    plots       charts
    results     one evaluation: `TopKResult`, its means, tables, segments, merging, saving
    comparing   several evaluations: `compare`, tests, bands, segments, runs, power, `gate`, pytest
    evaluation  what is asked, evaluation in memory, the metric functions (`ndcg`, `recall`, ...)
    files       formats and readers; evaluation of files of any size and of streams
    loo         interaction logs: splits, ranks of held-out items, sampled candidates
    audit       flaws of lists, ground truths and logs; `unjudged`: what to judge next
    spark       evaluation on a cluster
    top_k       `top_k_eval`: by type to memory, files, streams or Spark; `GroundTruths`
    reporting   `show`: the lists of one user side by side; `report`: one page, in HTML
    cli         the command line
    typing      the types of options and names, for annotations

In memory, `top_k_eval` goes from inputs over matching and averages to a result.
"""

import sys as _sys
import typing as _typing

from toplist.evaluation import curves, hit, merge, mrr, ndcg, precision, recall
from toplist.evaluation import map_ as map
from toplist.inputs.options import Items, Ranks
from toplist.inputs.truths import Groups
from toplist.matching import match
from toplist.matching.hits import Hits
from toplist.metrics.conventions import CONVENTIONS, Convention
from toplist.metrics.definitions import METRICS, Metric
from toplist.results.result import TopKResult
from toplist.top_k import GroundTruths, top_k_eval

if _typing.TYPE_CHECKING:
    from toplist import audit, beyond, files, loo, plots, pointwise, scores, spark
    from toplist.audit import annotating as annotating
    from toplist.averages import propensities
    from toplist.averages.propensities import Propensities
    from toplist.comparing import inference
    from toplist.comparing import testing as testing
    from toplist.comparing.comparison import compare
    from toplist.comparing.datasets import across
    from toplist.comparing.gating import gate
    from toplist.reporting import report
    from toplist.reporting.showing import show

__version__ = "0.4.0.dev0"

# what help(toplist) lists
__all__ = [
    "CONVENTIONS", "METRICS", "Convention", "GroundTruths", "Groups", "Hits", "Items", "Metric",
    "Propensities", "Ranks", "TopKResult", "across", "annotating", "audit", "beyond", "compare",
    "curves", "files", "gate", "hit", "inference", "loo", "map", "match", "merge", "mrr", "ndcg",
    "plots", "pointwise", "precision", "propensities", "recall", "report", "scores", "show",
    "spark", "testing", "top_k_eval",
]  # fmt: skip


# Loaded on first use, since they take twice as long to import as all others: modules, and names
# with the module that has them.
_MODULES = {
    name: name
    for name in ("audit", "beyond", "files", "loo", "plots", "pointwise", "scores", "spark")
} | {
    "annotating": "audit.annotating",
    "inference": "comparing.inference",
    "propensities": "averages.propensities",
    "testing": "comparing.testing",
}
_LATER = (
    _MODULES
    | {name: name for name in ("cli", "comparing", "reporting", "typing")}
    | {
        "Propensities": "averages.propensities",
        "across": "comparing.datasets",
        "compare": "comparing.comparison",
        "gate": "comparing.gating",
        "show": "reporting.showing",
        "report": "reporting",
    }
)


# Names of 0.3, and what to write instead; gone in 0.5.
_GONE = {
    **{
        name: f"write toplist.curves({name!r}, ranks, ground_truths)"
        for name in (
            *("alpha_ndcg", "bpref", "cg", "complete", "dcg", "err", "f1", "group_recall"),
            *("iprec", "judged", "nerr", "r_precision", "rbp"),
        )
    },
    "Across": "toplist.comparing.datasets has it",
    "Comparison": "toplist.comparing.comparison has it",
    "DISCOUNTS": "toplist.metrics.definitions has them",
    "DIVISORS": "toplist.metrics.definitions has them",
    "Gate": "toplist.comparing.gating has it",
    "Lists": "write toplist.inputs.Lists",
    "conformance": "write toplist.audit.conformance",
    "paired_tests": "write toplist.inference.paired_tests",
    "unjudged": "write toplist.annotating.unjudged",
}


def __getattr__(name: str) -> _typing.Any:
    """Return a name that is loaded on first use."""
    from importlib import import_module

    if name in _GONE:
        raise AttributeError(f"toplist.{name} is gone since 0.4: {_GONE[name]}")
    if name not in _LATER:
        public = {} if name.startswith("_") else _MODULES
        places = {one: import_module(f"toplist.{path}") for one, path in public.items()}
        raise import_module("toplist.metrics.names").no_attribute(name, __all__, places)
    path = _LATER[name]
    module = import_module(f"toplist.{path}")
    found = module if path.rpartition(".")[2] == name else getattr(module, name)
    globals()[name] = found
    return found


class _Modules:
    """Finds `import toplist.testing` and others in the packages where they stand."""

    @staticmethod
    def find_spec(name: str, *_: _typing.Any) -> _typing.Any:
        """Return how a public module is imported that stands in a package; None for others."""
        from importlib.machinery import ModuleSpec

        package, last = name.rpartition(".")[::2]
        stands_in_one = package == __name__ and "." in _MODULES.get(last, "")
        return ModuleSpec(name, _Modules) if stands_in_one else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: _typing.Any) -> _typing.Any:
        """Return the module itself."""
        found = __getattr__(spec.name.rpartition(".")[2])
        spec.loader_state = found.__spec__
        return found

    @staticmethod
    def exec_module(module: _typing.Any) -> None:
        """Leave what was executed where it stands, and its own place."""
        module.__spec__ = module.__spec__.loader_state


_sys.meta_path.append(_Modules)


def __dir__() -> list[str]:
    """List the public names, also those not yet loaded."""
    return sorted(__all__)
