"""Whatever the public functions return can be pickled and copied, and shows the same after it."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Mapping

import numpy as np
import pytest
from doors import by_words

import toplist as tl
from toplist.beyond.results import ListResult

RANKS = {"a": [5, 7, 8, 9, 3], "b": [4, 6, 2, 1, 10], "c": [1, 2, 3]}
TRUTHS = {"a": {7, 3, 5}, "b": {4, 2, 8, 7}, "c": {3}}
GRADES = {"a": {7: 3, 3: 1}, "b": {4: 2, 2: 0}, "c": {3: 1}}
LABELS = {"a": "new", "b": "old", "c": "old"}
COLUMNS = [7, 7, 8, 8, 9, 9, 9], list("ababcab"), [1, 2, 3, 4, 5, 6, 7]
GROUPS = tl.Groups({"a": [[1, 5], [3]], "b": [[2]], "c": [[3, 4]]})
NAMED = dict(zip(("user_id", "item_id", "timestamp"), COLUMNS, strict=True))


def evaluated(ranks=RANKS, truths=TRUTHS, **options):
    return by_words(ranks, truths, [1, 3], **options)


def of_lists():
    """A result with metrics of the lists themselves."""
    names = ["hit", "item_coverage", "novelty"]
    counts = {item: item + 1 for item in range(20)}
    return evaluated(metrics=names, catalogue=20, counts=counts)


def compared():
    other = evaluated({"a": [1, 5, 3], "b": [2, 4], "c": [3]})
    return tl.compare({"x": evaluated(), "y": other}, baseline="x")


def exposed():
    return tl.beyond.exposure(RANKS, 3, catalogue=20)


def sampled():
    return tl.loo.sampled_ranks(np.eye(4, 50), [3, 4, 5, 6], n=20, seed=0)


def split_frame(library):
    return tl.loo.holdout(pytest.importorskip(library).DataFrame(NAMED), 0.5)


def split_arrow():
    return tl.loo.holdout(pytest.importorskip("pyarrow").table(NAMED), 0.5)


FOUND = {
    "result": evaluated,
    "result of grades": lambda: evaluated(truths=GRADES, relevant_from=2, weights=[1, 2, 3]),
    "pooled result": lambda: evaluated(aggregate="pooled"),
    "result of lists": of_lists,
    "groups": lambda: tl.Groups({"a": [[1, 5], [3]]}),
    "ranks": lambda: tl.Ranks(RANKS, ties="item"),
    "items": lambda: tl.Items(catalogue=9),
    "propensities": lambda: tl.Propensities({1: 0.5}),
    "result of groups": lambda: evaluated(truths=GROUPS, metrics=["group_recall", "alpha_ndcg"]),
    "segments": lambda: evaluated().by(LABELS),
    "comparison": compared,
    "comparison of runs": lambda: tl.compare({"x": [evaluated(), evaluated()], "y": evaluated()}),
    "comparison in segments": lambda: compared().by(LABELS),
    "tests": lambda: compared().test(),
    "equivalence": lambda: compared().equivalence(margin=0.1),
    "band": lambda: compared().band("ndcg"),
    "power": lambda: compared().power(difference=0.1),
    "gate": lambda: tl.gate(evaluated(), evaluated(), {"ndcg@3": 0.1}, by=LABELS),
    "across": lambda: tl.across({"x": compared(), "y": compared()}, "ndcg@3", n_resamples=99),
    "hits": lambda: tl.match(RANKS, GRADES),
    "lists": lambda: tl.inputs.Lists([0, 1, 3], [3, 4, 5]),
    "ground truths": lambda: tl.GroundTruths(TRUTHS),
    "metric": lambda: tl.METRICS["rbp"],
    "convention": lambda: tl.CONVENTIONS["trec_eval"],
    "convention with a policy": lambda: tl.CONVENTIONS["standard"].replace(empty="zero"),
    "exposure": exposed,
    "agreement": lambda: tl.beyond.overlap(RANKS, {"a": [5], "b": [6], "c": [1]}, 3),
    "split of columns": lambda: tl.loo.leave_one_out(NAMED),
    "split of a tuple": lambda: tl.loo.leave_one_out(COLUMNS, validation=True),
    "split of arrays": lambda: tl.loo.holdout(tuple(map(np.array, COLUMNS)), 0.5),
    "split of pandas": lambda: split_frame("pandas"),
    "split of polars": lambda: split_frame("polars"),
    "split of Arrow": split_arrow,
    "windows": lambda: tl.loo.windows(COLUMNS, 1),
    "core": lambda: tl.loo.leave_one_out(COLUMNS, k_core=1).report.core,
    "split of a core": lambda: tl.loo.leave_one_out(NAMED, k_core=1),
    "report": lambda: tl.loo.leave_one_out(COLUMNS).report,
    "columns": lambda: tl.loo.leave_one_out(COLUMNS).columns(),
    "sampled ranks": sampled,
    "sampled": lambda: sampled().sampled,
    "result of sampled ranks": lambda: sampled().evaluate(20),
    "estimate": lambda: tl.loo.corrected(sampled(), metrics="ndcg@5")["ndcg@5"],
    "audit": lambda: tl.audit.check(RANKS, TRUTHS),
    "finding": lambda: tl.audit.check({**RANKS, "d": [1]}, TRUTHS).findings[0],
    "AUC of users": lambda: tl.pointwise.user_auc(["u", "u", "v"], [1, 0, 1], [0.3, 0.1, 0.2]),
}


def content(found):
    """Everything that an object holds, as lists of text; functions by their names."""
    if isinstance(found, tl.beyond.Exposure):  # without users it is a count of pairs
        return content([found.k, found.n_users, found.n_items, found.catalogue, *found.pairs])
    if isinstance(found, ListResult):  # a pickle leaves out the lists
        return content([found.names, found.exposure, found.spreads])
    if isinstance(found, np.ndarray):
        return repr(found.tolist())
    if dataclasses.is_dataclass(found):
        parts = {one.name: getattr(found, one.name) for one in dataclasses.fields(found)}
        return [type(found).__name__, content(parts)]
    if isinstance(found, Mapping):
        return [(repr(key), content(value)) for key, value in found.items()]
    if isinstance(found, (list, tuple)):
        return [type(found).__name__, *map(content, found)]
    return getattr(found, "__qualname__", repr(found))


@pytest.mark.parametrize("again", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
@pytest.mark.parametrize("name", FOUND)
def test_the_way_there_and_back(name, again):
    found = FOUND[name]()
    shown = repr(found), content(found)
    back = again(found)
    assert type(back) is type(found)
    assert (repr(back), content(back)) == shown


@pytest.mark.parametrize("name", [name for name in FOUND if name.startswith("split")])
def test_a_split_that_was_pickled_works_as_before(name):
    split = FOUND[name]()
    back = pickle.loads(pickle.dumps(split))
    assert back.truths("train") == split.truths("train") and back.truths() == split.truths()
    rows = np.array([2, 0])
    assert content(back.log.take(rows)) == content(split.log.take(rows))


def test_every_public_class_is_among_them():
    modules = tl, tl.audit, tl.beyond, tl.loo, tl.pointwise
    public = [getattr(one, name) for one in modules for name in one.__all__]
    classes = {one for one in public if inspect.isclass(one) and not issubclass(one, Exception)}
    assert classes - {type(make()) for make in FOUND.values()} == set()
