"""Results split by an attribute of the users, or of the relevant items: all adds up.

That a segment is the evaluation of its users, and a slice that of its items, under all options, is
said by properties/test_matrix.py.
"""

import math
from dataclasses import replace

import doors
import matrix
import numpy as np
import pytest
from doors import by_words
from shared_inputs import LIBRARIES, frame_of, library
from world import draw

import toplist as tl

LISTS = {"ann": ["tea"], "bob": ["jam"], "eve": ["fig"], "zed": ["fig"]}
TRUTHS = {"eve": "fig", "ann": "tea", "bob": "fig", "joe": []}
RANKED = {"ann": ["a", "b", "c"], "bob": ["b", "a", "d"], "cid": ["e"], "dot": []}
WANTED = {"ann": {"b", "c"}, "bob": {"d"}, "cid": {"x", "e"}, "dot": {"a"}}
ITEMS = {"a": "head", "b": "head", "c": "tail", "d": "tail", "e": math.nan, "zzz": "tail"}
OPTIONS = {"k": [1, 3], "metrics": ["recall", "precision", "ndcg"]}


def result(**options):
    return by_words(LISTS, TRUTHS, **{"k": 1, "metrics": ["hit", "mrr"]} | options)


def evaluated(lists=RANKED, truth=WANTED, **options):
    return by_words(lists, truth, **OPTIONS | options)


def shown(segments):
    """Return the users of each part, in their order, and their values."""
    return {
        label: (sorted(part.users), part.to_dict(), part.n_missing)
        for label, part in segments.items()
    }


def close(found, expected):
    """Check that two splits have the same users, and means but for the order of their sums."""
    assert found.keys() == expected.keys()
    for label, (users, means, n_missing) in found.items():
        assert (users, n_missing) == (expected[label][0], expected[label][2])
        assert means == pytest.approx(expected[label][1], nan_ok=True, rel=1e-12)


# Users


def test_labels_by_key_absent_ones_and_unused_ones():
    found = result().by({"ann": "b", "bob": "a", "joe": "a", "kim": "a", "zed": "b"})
    assert list(found) == ["a", "b", None]
    assert [part["hit@1"] for part in found.values()] == [0.0, 1.0, 1.0]
    assert [list(part.users) for part in found.values()] == [["bob", "joe"], ["ann"], ["eve"]]
    assert (found["a"].n_users, found["a"].n_evaluated, found["a"].n_skipped) == (2, 1, 1)
    assert found.n_unused == 2 and found.to_dict()[None] == {"hit@1": 1.0, "mrr@1": 1.0}
    assert repr(found) == (
        "            users  n                    hit@1                    mrr@1\n"
        "a               2  1  0.0000 [0.0000, 0.7935]  0.0000\n"
        "b               1  1  1.0000 [0.2065, 1.0000]  1.0000\n"
        "(no label)      1  1  1.0000 [0.2065, 1.0000]  1.0000\n"
        "all             4  3  0.6667 [0.2077, 0.9385]  0.6667 [0.0000, 1.0000]\n"
        "users: of the ground truth; n: in the means\n"
        "2 labels of users who are not in the result (unused)\n"
        "convention standard: mean over users\n"
        "95 % interval, ± half or [low, high]: Wilson for hit; Student's t for mrr "
        "(rough: only 3 users)\n"
        "3 of 4 users evaluated, 1 skipped (no relevant items), "
        "1 with a list but no ground truth (ignored)"
    )


def test_the_roughest_of_all_segments_is_named():
    ranks = tl.Hits.from_ranks([1, 2] * 40, 10)
    whole, labels = tl.top_k_eval(ranks, k=10, metrics="mrr"), ["few"] * 4 + ["many"] * 76
    split, beside = whole.by(labels), tl.compare({"a": whole, "b": whole}).by(labels)
    assert "(rough: only 4 users, mrr@10 of few)" in str(split)
    text = beside.to_text(intervals=True)
    assert "(rough: only 4 users, mrr@10 of a in few and 1 more)" in text
    pytest.importorskip("pandas")
    assert split.to_pandas()["rough"].tolist() == ["only 4 users", ""]


def test_labels_keep_their_order():
    for labels, order in (
        (["x", 1, "x", 1], ["x", 1]),
        (np.array([3, 1, 3, 1]), [1, 3]),
        (dict(zip(TRUTHS, ["mid", "old", "new"], strict=False)), ["mid", "new", "old", None]),
    ):
        assert list(result().by(labels)) == order
    codes = {"a": 2, "b": 10, "c": 1}
    assert list(evaluated().by_item(codes)) == [1, 2, 10, None]
    assert list(evaluated().by_item(codes, order=[10, 1, 5, 2])) == [10, 1, 2, None]
    assert list(evaluated().by_item({"a": 2, "b": "x", "c": 1})) == [2, "x", 1, None]


def test_ordered_categories_keep_their_order():
    pandas, polars = library("pandas"), library("polars")
    values, order, users = ["mid", "old", "new"], ["new", "mid", "old"], list("abc")
    ordered = pandas.Categorical(values, order, ordered=True)
    by_user = pandas.Series(ordered, users)
    whole = by_words({u: [1] for u in users}, {u: {1} for u in users}, k=1, metrics="hit")
    for labels, expected in (
        (by_user, order),
        (by_user.iloc[1:], ["new", "old", None]),
        (polars.Series(values, dtype=polars.Enum(order)), order),
    ):
        for one in (whole, tl.compare({"x": whole, "y": whole})):
            assert list(one.by(labels)) == expected
    items = pandas.DataFrame({"item_id": users, "shelf": ordered})
    for shelves in (items, items.set_index("item_id")["shelf"]):
        assert list(evaluated().by_item(shelves)) == [*order, None]


def of_pandas(name, *arguments, **options):
    return lambda: getattr(library("pandas"), name)(*arguments, **options)


COUNTING = r"counts its rows, but the users have keys, like 'eve': .*labels\.set_axis\(users\) or a"
# (what is split, labels, error, words)
REFUSED = [
    ("by", ["a"], ValueError, "1 labels for 4 users"),
    ("by", "abcd", TypeError, "labels is a str"),
    ("by", {1: "a"}, ValueError, "keyed by 1, the result has 'eve'"),
    ("by", {"a", "b"}, TypeError, "labels is a set"),
    ("by", np.array("x"), TypeError, "labels is a ndarray"),
    ("by", [["a"]] * 4, TypeError, r"label \['a'\] is a list"),
    ("by", of_pandas("Series", ["A", "B"]), TypeError, COUNTING),
    ("by", of_pandas("Series", [1, 2], ["ann", "ann"]), ValueError, "in the index .* twice"),
    ("by_item", {1: "x"}, TypeError, "of two kinds, 1 in labels and '[a-e]' in ground_truths"),
    ("by_item", {"q": "x"}, ValueError, "no relevant item has a label: there is 'q' in labels, a"),
    ("by_item", {"a": ["x", "y"]}, ValueError, "item 'a' has two labels, 'x' and 'y': an item is"),
    ("by_item", {"a": [["x"]]}, TypeError, "item 'a' has the label .*, a list: give text or num"),
    ("by_item", {"a": 1, "b": "1"}, ValueError, "labels: 1 and '1' are written alike: give one"),
    ("by_item", {"a": "x", 3: "y"}, TypeError, "ids of two kinds"),
    ("by_item", {None: "x"}, TypeError, "labels: None is a NoneType, never an id"),
    ("by_item", ["x", "y"], TypeError, "labels is a list: give a dict item -> label"),
    ("by_item", of_pandas("Series", ["x"]), TypeError, "labels is a Series that counts its rows"),
]


@pytest.mark.parametrize(("ask", "labels", "kind", "message"), REFUSED)
def test_labels_that_are_refused(ask, labels, kind, message):
    labels = labels() if callable(labels) else labels
    with pytest.raises(kind, match=message):
        getattr(result() if ask == "by" else evaluated(), ask)(labels)


def test_metrics_of_all_lists_together_do_not_split():
    lists, truths = {"a": ["x", "y"], "b": ["p", "x"]}, {"a": {"x"}, "b": {"z"}}
    labels = {"a": "new", "b": "old"}
    known = {"catalogue": list("pxyz"), "counts": dict.fromkeys("pxyz", 1)}
    whole = by_words(lists, truths, 2, metrics=["mrr", "gini", "novelty"], **known)
    for one in (whole.by(labels), tl.compare({"one": whole, "two": whole}).by(labels)):
        assert "of all lists together, left out: gini" in str(one)
    with pytest.raises(ValueError, match="they do not split"):
        by_words(lists, truths, 2, metrics="gini", **known).by(labels)


# Relevant items


def test_slices_of_a_few_lists():
    found = evaluated().by_item(ITEMS)
    assert list(found) == ["head", "tail", None] and found["head"].n_missing == 1
    assert repr(found["head"].users) == "['ann', 'dot']"
    assert found.n_unused == 1 and found.whole.to_dict() == evaluated().to_dict()
    text = str(found)
    assert "(no label)" in text and "1 label of items that are relevant to no user" in text
    assert "users: with relevant items of the slice, which are the truth there" in text
    uneven = tl.top_k_eval(["a", "b"], {"a": 1, "b": 3}, 2, metrics="err")
    assert uneven.by_item({"a": "x", "b": "y"})["x"]["err@2"] == 1 / 8  # the largest grade stays 3
    with pytest.raises(KeyError, match="'mid': the segments are 'head', 'tail', None"):
        found["mid"]
    for labels in ({}, {"a": None}):
        ((label, part),) = evaluated().by_item(labels).items()
        assert label is None and part.to_dict() == evaluated().to_dict()


# What the slices of the matrix leave out, or say of other items
SLICED = [
    {"duplicates": "collapse", "items_as": True},
    {"weights": True, "empty": "zero"},
    {"aggregate": "pooled", "missing": "skip"},
]


@pytest.mark.parametrize("options", SLICED, ids=str)
def test_a_slice_is_an_evaluation_with_filtered_truths_bit_for_bit(options):
    named = [one for one in matrix.metrics_of(options, "hits") if one not in ("bpref", "judged")]
    options = {"k": [1, 3, 7], "metrics": named} | options
    world = draw(2)
    if "items_as" in options:
        slices = {item: world.slices[document] for item, document in world.documents.items()}
        world = replace(world, slices=slices)
    whole = doors.by_key(doors.Case(world, options), None)
    for label, part in whole.by_item(world.slices).items():
        mine = world.of_slice(label, options.get("relevant_from"))
        alone = doors.by_key(doors.Case(mine, options), None)
        assert [*part.users] == [*alone.users]
        for name in part.terms.metrics:
            for ask in ("__getitem__", "std", "interval", "per_user", "n_of"):
                both = [getattr(one, ask)(name) for one in (part, alone)]
                assert np.array_equal(*both, equal_nan=True), (label, name, ask)
    with pytest.raises(ValueError, match="not split by item: bpref"):
        by_words(world.lists, world.truths, 2, metrics="bpref").by_item(world.slices)


@pytest.mark.parametrize("text", [True, False])
def test_files_keep_what_slices_need(tmp_path, monkeypatch, text):
    monkeypatch.setattr("toplist.files.text.SIZE", 300)  # many parts
    world, options = draw(2, text=text, graded=False, users=40), OPTIONS
    world = world.without_odd_rows()
    case = doors.Case(world, {"k": [1, 3], "metrics": OPTIONS["metrics"], "keep": "users"})
    files = doors.files_of(case, tmp_path, "csv")
    labels = {str(item): row % 3 for row, item in enumerate(world.catalogue[:10])}
    found = by_words(*files, keep="users", **options).by_item(labels)
    sides = (
        {str(u): [*map(str, row)] for u, row in side.items()}
        for side in (world.lists, world.truths)
    )
    close(shown(found), shown(by_words(*sides, **options).by_item(labels)))
    with pytest.raises(ValueError, match="split by item; of files and streams, keep='users' keeps"):
        by_words(*files, **options).by_item(labels)


def test_kept_truths_and_every_form_of_ids():
    expected = shown(evaluated().by_item(ITEMS))
    truth = tl.GroundTruths(WANTED)
    for _ in range(2):
        assert shown(evaluated(truth=truth).by_item(ITEMS)) == expected
    for write in (str.encode, lambda one: 2**62 + ord(one[-1]), lambda one: -ord(one[-1])):
        lists, truths = (
            {user: [write(one) for one in rows] for user, rows in side.items()}
            for side in (RANKED, WANTED)
        )
        found = evaluated(lists, truths).by_item({write(one): ITEMS[one] for one in ITEMS})
        assert shown(found) == expected
    for ids in ([2**62, 2**63 - 1], [5, 2**40]):
        for kind in (np.int64, np.uint64):
            found = tl.top_k_eval(np.array([ids], kind), np.array([ids], kind), k=2)
            labels = dict(zip([*ids, -1], ["one", "two", "no"], strict=True))
            assert list(found.by_item(labels)) == ["one", "two"]
    given = {"a": ["head"], "b": ("head", "head"), "c": "tail", "d": {"tail", None}, "e": ""}
    assert shown(evaluated().by_item(given)) == expected


def test_truths_that_were_changed_since_are_refused():
    numbers = np.array([[1, 2], [3, 4]])
    found = tl.top_k_eval(np.array([[1, 5], [4, 3]]), numbers, k=2)
    assert list(found.by_item({1: "a", 4: "b"})) == ["a", "b", None]
    numbers[:] = [[3, 4], [1, 2]]  # a buffer, say, that holds the next batch
    truths = [{"a"}, {"c"}]
    of_sets = tl.top_k_eval([["a"], ["b"]], truths, k=1)
    truths[1] = {7}
    for one, labels in ((found, {1: "a", 4: "b"}), (of_sets, {"a": "x"})):
        with pytest.raises(ValueError, match="the ground truths were changed after they were eval"):
            one.by_item(labels)


@pytest.mark.parametrize("name", LIBRARIES)
def test_labels_in_tables(name):
    columns = {"item_id": ["a", "b", "c", "a", "e"], "shelf": ["x", "y", "y", "x", None]}
    expected = evaluated().by_item({"a": "x", "b": "y", "c": "y"})
    assert shown(evaluated().by_item(frame_of(name, columns))) == shown(expected)
    with pytest.raises(ValueError, match=r"labels\[\['item_id', 'COLUMN'\]\]; columns found"):
        evaluated().by_item(frame_of(name, columns | {"price": [1, 2, 3, 4, 5]}))


GROUPS = tl.Groups({user: [list(rows)] for user, rows in WANTED.items()})
JUDGED = {"ann": {"b": 1, "a": 0}}
# (result, words of the error)
UNSPLIT = [
    (lambda: tl.top_k_eval(tl.Hits([0, 1], [1], [2], [3]), k=3), "not known which items were hit"),
    (lambda: evaluated().by_item(ITEMS)["tail"], "not known which items were hit: evaluate lis"),
    (lambda: evaluated().without_users(), "this result holds no hits, so it cannot be split by it"),
    (lambda: evaluated(truth=GROUPS), "ground truths of groups are not split by item"),
    (lambda: evaluated({"ann": ["a"]}, JUDGED, unjudged="drop"), "with unjudged items dropped"),
    (lambda: evaluated(metrics=["cg"], propensities=dict.fromkeys("abcdex", 0.5)), "propensities"),
]


@pytest.mark.parametrize(("make", "words"), UNSPLIT)
def test_results_that_do_not_split_by_item(make, words):
    with pytest.raises(ValueError, match=words):
        make().by_item(ITEMS)
    with pytest.raises(ValueError, match="order lacks the label 2: it has 10, 1"):
        evaluated().by_item({"a": 2, "b": 10, "c": 1}, order=[10, 1])


def test_systems_are_compared_in_every_slice():
    truths, lists = {user: {user % 3, 3} for user in range(60)}, {"a": [0, 1, 3], "b": [3, 2, 1]}
    results = {
        name: tl.top_k_eval(dict.fromkeys(truths, row), truths, k=3, metrics=["mrr", "recall"])
        for name, row in lists.items()
    }
    labels = {3: "head", 0: "tail", 1: "tail"}
    found = tl.compare(results, baseline="a").by_item(labels)
    assert list(found) == ["head", "tail", None] and "relevant items of the slice" in str(found)
    slices = {name: one.by_item(labels) for name, one in results.items()}
    alone = [
        tl.compare({name: one[label] for name, one in slices.items()}).test("mrr@3")[0].p
        for label in found
    ]
    assert [one.p for one in found.test("mrr@3")] == alone
    with pytest.raises(ValueError, match="other relevant items"):
        tl.compare({"x": slices["a"]["head"], "y": slices["a"]["tail"]}).test(users="common")
