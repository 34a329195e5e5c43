"""Results split by an attribute of the items: each slice is an evaluation with filtered truths."""

import math
import pickle
import random

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_inputs import LIBRARIES, frame_of, library

import toplist as tl

LABELS = ["head", "mid", "tail", None]
KS = [1, 3, 7]
OWN = ["rbp(p=0.5)", "err(max=4)", "nerr(max=4)", "complete", "iprec(recall=0.5)", "r_precision"]
PARAMETRIC = tuple(name.partition("(")[0] for name in OWN)


def drawn(seed):
    """Draw lists, truths, labels of the items and options of an evaluation."""
    rng = random.Random(seed)
    item = rng.choice(
        [lambda one: one + 2, str, lambda one: one * 2**55 - 2**60, lambda one: f"item {one}"]
    )
    items = [item(one) for one in range(rng.choice([4, 12, 30]))]
    n_users, graded = rng.randint(1, 8), rng.random() < 0.5
    options = {"k": rng.choice([KS, 5]), "convention": rng.choice(list(tl.CONVENTIONS))}
    own = tl.CONVENTIONS[options["convention"]].metrics
    metrics = [one for one in own if own[one].cut != "n" and one not in ("judged", *PARAMETRIC)]
    options["metrics"] = [*metrics, *(OWN if options["convention"] == "standard" else [])]
    if graded and rng.random() < 0.5:
        options["relevant_from"] = rng.choice([1, 2])
    if graded and rng.random() < 0.3:
        options["gains"] = rng.choice(["exponential", {1: 1, 2: 5, 3: 6, 4: 9}])
    options["duplicates"] = rng.choice(["raise", "first", "collapse"])
    if options["duplicates"] != "raise" and rng.random() < 0.5:
        options["items_as"] = {one: f"doc {at // 2}" for at, one in enumerate(items)}
    own = tl.CONVENTIONS[options["convention"]]
    options["empty"] = rng.choice(["skip", "zero", *[None] * (own.empty != "raise")])
    options["missing"] = rng.choice(["zero", "skip"])
    options["relevant"] = rng.choice([None, None, "listed"])
    if rng.random() < 0.3:
        options |= {"aggregate": "pooled", "empty": rng.choice(["skip", "zero"])}
    if rng.random() < 0.3:
        options["weights"] = [rng.choice([0.0, 1.0, 2.5]) for _ in range(n_users)]
    several = rng.choices if options["duplicates"] != "raise" else rng.sample
    ranks = [several(items, k=rng.randint(0, min(9, len(items)))) for _ in range(n_users)]
    truths = [rng.sample(items, k=rng.randint(0, min(8, len(items)))) for _ in range(n_users)]
    if graded:
        truths = [{one: rng.randint(0, 4) for one in truth} for truth in truths]
    elif rng.random() < 0.5:
        truths = [truth + truth[:2] for truth in truths]  # an item twice counts once
    else:
        truths = [set(truth) for truth in truths]
    document = options.get("items_as", {})
    labels = {document.get(one, one): rng.choice(LABELS) for one in items if rng.random() < 0.9}
    return ranks, truths, labels, options


def filtered(truth, label, labels, options):
    """Return the items of a truth that have a label, and whether one of them is relevant."""
    document = options.get("items_as", {})
    kept = [one for one in truth if labels.get(document.get(one, one)) == label]
    if not isinstance(truth, dict):
        return kept, bool(kept)
    least = options.get("relevant_from")
    grades = {one: truth[one] for one in kept}
    relevant = (g > 0 if least is None else g >= least for g in grades.values())
    return grades, any(relevant)


def check(seed):
    """Compare each slice of one evaluation with an evaluation of filtered truths; count them."""
    ranks, truths, labels, options = drawn(seed)
    whole = by_words(ranks, truths, **options)
    if not whole.hits.n_relevant.any() or not any(
        filtered(truth, label, labels, options)[1] and label is not None
        for truth in truths
        for label in LABELS
    ):
        return 0
    found, seen = whole.by_item(labels), 0
    for label in LABELS:
        kept = [filtered(truth, label, labels, options) for truth in truths]
        users = [user for user, (_, some) in enumerate(kept) if some]
        assert (label in found) == bool(users)
        if not users:
            continue
        own = dict(options)
        if "weights" in own:
            own["weights"] = [own["weights"][user] for user in users]
        some = [ranks[user] for user in users], [kept[user][0] for user in users]
        alone, part = by_words(*some, **own), found[label]
        assert list(part.users) == users
        for count in ("n_users", "n_evaluated", "n_skipped", "n_missing"):
            assert getattr(part, count) == getattr(alone, count)
        for name in [*part.terms.metrics, *part.names()]:
            assert np.array_equal(part[name], alone[name], equal_nan=True), (seed, label, name)
            assert np.array_equal(part.std(name), alone.std(name), equal_nan=True)
            assert np.array_equal(part.interval(name), alone.interval(name), equal_nan=True)
            values = np.asarray(part.per_user(name)), alone.per_user(name)
            assert np.array_equal(*values, equal_nan=True)
        seen += len(part.hits.relevant.ranks)
    assert seen == len(whole.hits.relevant.ranks)
    return 1


SLOW = [pytest.param(first, marks=pytest.mark.slow) for first in range(100, 2000, 100)]


@pytest.mark.parametrize("first", [0, *SLOW])
def test_a_slice_is_an_evaluation_with_filtered_truths_bit_for_bit(first):
    assert sum(map(check, range(first, first + 100))) > 70


LISTS = {"ann": ["a", "b", "c"], "bob": ["b", "a", "d"], "cid": ["e"], "dot": []}
TRUTH = {"ann": {"b", "c"}, "bob": {"d"}, "cid": {"x", "e"}, "dot": {"a"}}
ITEMS = {"a": "head", "b": "head", "c": "tail", "d": "tail", "e": math.nan, "zzz": "tail"}
OPTIONS = {"k": [1, 3], "metrics": ["recall", "precision", "ndcg"]}


def evaluated(lists=LISTS, truth=TRUTH, **options):
    return by_words(lists, truth, **OPTIONS | options)


def shown(segments):
    """Return the users of each slice and their values."""
    return {
        label: (list(part.users), part.to_dict(), part.n_missing)
        for label, part in segments.items()
    }


def test_slices_of_a_few_lists():
    found = evaluated().by_item(ITEMS)
    assert list(found) == ["head", "tail", None]
    assert list(found["head"].users) == ["ann", "dot"] and found["head"].n_missing == 1
    assert found["head"]["recall@3"] == 0.5
    assert found["tail"].per_user("precision@3", keyed=True) == {"ann": 1 / 3, "bob": 1 / 3}
    assert found[None].users[0:1] == ["cid"] and found[None]["recall@1"] == 0.5
    assert found["tail"].users[-1] == "bob" and found.n_unused == 1
    assert found.whole.to_dict() == evaluated().to_dict()
    text = str(found)
    assert "(no label)" in text and "1 label of items that are relevant to no user" in text
    assert "users: with relevant items of the slice, which are the truth there" in text
    with pytest.raises(KeyError, match="'mid': the segments are 'head', 'tail', None"):
        found["mid"]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_parts_merge_and_split_and_pickle_as_the_whole(seed, at):
    ranks, truths, labels, options = drawn(seed)
    options = {name: options[name] for name in ("k", "duplicates", "items_as") if name in options}
    truths = [truth if truth else set() for truth in truths]
    keys = [f"u{user}" for user in range(len(ranks))]
    both = [dict(zip(keys, rows, strict=True)) for rows in (ranks, truths)]
    parts = [
        [{user: rows[user] for user in some} for rows in both]
        for some in (keys[:at], keys[at:][::-1])
    ]
    whole = by_words(*both, **options)
    if not whole.hits.n_relevant.any():
        return
    some = whole.hits.items.example()  # so that some relevant item has a label
    labels[options.get("items_as", {}).get(some, some)] = "head"
    expected = shown(whole.by_item(labels))
    merged = tl.merge([by_words(*part, **options) for part in parts])
    again = pickle.loads(pickle.dumps(merged))
    halves = whole.by([user in keys[:at] for user in keys])
    turned = tl.merge([halves[half] for half in halves])
    for other in (merged, again, turned):
        found = shown(other.by_item(labels))
        assert found.keys() == expected.keys()
        for label, (users, means, n_missing) in found.items():
            assert sorted(users) == expected[label][0] and n_missing == expected[label][2]
            assert means == pytest.approx(expected[label][1], nan_ok=True, rel=1e-12)


@pytest.mark.parametrize("text", [True, False])
def test_files_keep_what_slices_need(tmp_path, monkeypatch, text):
    monkeypatch.setattr("toplist.files.lines.SIZE", 300)  # many parts
    rng = np.random.default_rng(0)
    write = "i{}".format if text else "{}".format
    lists = {user: [write(one) for one in rng.permutation(20)[:6]] for user in range(50)}
    truth = {user: [write(one) for one in rng.permutation(20)[:4]] for user in range(5, 60)}
    for name, last, rows in (("recs", ",rank", lists), ("truth", "", truth)):
        lines = [
            f"{user},{item}" + f",{rank}" * bool(last)
            for user, items in rows.items()
            for rank, item in enumerate(items, 1)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"user_id,item_id{last}", *lines, ""]))
    files = tmp_path / "recs.csv", tmp_path / "truth.csv"
    labels = {write(one): one % 3 for one in range(18)}
    expected = shown(by_words(*files, keep="users", **OPTIONS).by_item(labels))
    memory = [{str(user): items for user, items in rows.items()} for rows in (lists, truth)]
    assert shown(by_words(*memory, **OPTIONS).by_item(labels)) == expected
    found = shown(by_words(*files, keep="users", **OPTIONS).by_item(labels))
    for label, (users, means, _) in found.items():
        assert sorted(users) == sorted(expected[label][0])
        assert means == pytest.approx(expected[label][1], rel=1e-12)
    with pytest.raises(
        ValueError, match=r"split by item; of files and streams, keep='users' keeps"
    ):
        by_words(*files, **OPTIONS).by_item(labels)


def test_kept_truths_and_every_form_of_ids():
    expected = evaluated().by_item(ITEMS)
    truth = tl.GroundTruths(TRUTH)
    for _ in range(2):
        assert shown(evaluated(truth=truth).by_item(ITEMS)) == shown(expected)
    for write in (str.encode, lambda one: 2**62 + ord(one[-1]), lambda one: -ord(one[-1])):
        lists, truths = (
            {user: [write(one) for one in sorted(rows)] for user, rows in side.items()}
            for side in ({u: sorted(r) for u, r in LISTS.items()}, TRUTH)
        )
        found = evaluated(lists, truths).by_item({write(one): ITEMS[one] for one in ITEMS})
        plain = evaluated({u: sorted(r) for u, r in LISTS.items()}).by_item(ITEMS)
        assert shown(found) == shown(plain)
    wide = np.array([[2**62, 2**63 - 1]], np.uint64)
    found = tl.top_k_eval(wide, wide, k=2).by_item({-1: "no", 2**62: "one", 2**63 - 1: "two"})
    assert list(found) == ["one", "two"] and found.n_unused == 1
    far = np.array([[5, 2**40]])
    assert list(tl.top_k_eval(far, far, k=2).by_item({5: "a", 2**40: "b"})) == ["a", "b"]
    small = tl.top_k_eval([[3, 7]], [[3, 7]], k=2).by_item({3: "a"})
    assert {label: part["mrr@2"] for label, part in small.items()} == {"a": 1, None: 0.5}


def test_truths_that_were_changed_since_are_refused():
    numbers = np.array([[1, 2], [3, 4]])
    result = tl.top_k_eval(np.array([[1, 5], [4, 3]]), numbers, k=2)
    assert list(result.by_item({1: "a", 4: "b"})) == ["a", "b", None]
    numbers[:] = [[3, 4], [1, 2]]  # a buffer, say, that holds the next batch
    with pytest.raises(ValueError, match="the ground truths were changed after they were evalu"):
        result.by_item({1: "a", 4: "b"})
    for change in ({"b"}, {7}, set()):
        truths = [{"a"}, {"c"}]
        result = tl.top_k_eval([["a"], ["b"]], truths, k=1)
        truths[1] = change
        with pytest.raises(ValueError, match="the ground truths were changed"):
            result.by_item({"a": "x"})
        with pytest.raises(ValueError, match="the ground truths were changed"):
            pickle.loads(pickle.dumps(result)).by_item({"a": "x"})


def test_labels_keep_their_order():
    result, codes = evaluated(), {"a": 2, "b": 10, "c": 1}
    assert list(result.by_item(codes)) == [1, 2, 10, None]
    assert list(result.by_item(codes, order=[10, 1, 5, 2])) == [10, 1, 2, None]
    assert list(result.by_item({"a": 2, "b": "x", "c": 1})) == [2, "x", 1, None]
    with pytest.raises(ValueError, match="order lacks the label 2: it has 10, 1"):
        result.by_item(codes, order=[10, 1])


def test_a_categorical_keeps_its_order():
    pandas = library("pandas")
    items = pandas.DataFrame({"item_id": list("abc"), "shelf": ["mid", "top", "low"]})
    assert list(evaluated().by_item(items)) == ["low", "mid", "top", None]
    items["shelf"] = pandas.Categorical(items["shelf"], ["top", "mid", "low"], ordered=True)
    for labels in (items, items.set_index("item_id")["shelf"]):
        assert list(evaluated().by_item(labels)) == ["top", "mid", "low", None]
    with pytest.raises(TypeError, match="labels is a Series that counts its rows: give it by item"):
        evaluated().by_item(items["shelf"])


@pytest.mark.parametrize("name", LIBRARIES)
def test_labels_in_tables(name):
    columns = {"item_id": ["a", "b", "c", "a", "e"], "shelf": ["x", "y", "y", "x", None]}
    expected = evaluated().by_item({"a": "x", "b": "y", "c": "y"})
    assert shown(evaluated().by_item(frame_of(name, columns))) == shown(expected)
    wide = frame_of(name, columns | {"price": [1, 2, 3, 4, 5]})
    with pytest.raises(ValueError, match=r"labels\[\['item_id', 'COLUMN'\]\]; columns found: \['i"):
        evaluated().by_item(wide)
    with pytest.raises(ValueError, match="labels: no column 'item_id', give a table of item_id"):
        evaluated().by_item(frame_of(name, {"movie": ["a"], "shelf": ["x"]}))
    columns["shelf"][3] = "z"
    with pytest.raises(ValueError, match="item 'a' has two labels, 'x' and 'z': an item is in one"):
        evaluated().by_item(frame_of(name, columns))


@pytest.mark.parametrize(
    ("labels", "kind", "message"),
    [
        ({1: "x"}, TypeError, "of two kinds, 1 in labels and '[a-e]' in ground_truths"),
        ({"q": "x"}, ValueError, "no relevant item has a label: there is 'q' in labels, and '"),
        ({"a": ["x", "y"]}, ValueError, "item 'a' has two labels, 'x' and 'y': an item is in one"),
        ({"a": [["x"]]}, TypeError, "labels: item 'a' has the label .*, a list: give text or num"),
        ({"a": 1, "b": "1"}, ValueError, "labels: 1 and '1' are written alike: give one"),
        ({"a": "x", 3: "y"}, TypeError, "ids of two kinds"),
        ({None: "x"}, TypeError, "labels: None is a NoneType, never an id"),
        (["x", "y"], TypeError, "labels is a list: give a dict item -> label"),
    ],
)
def test_labels_that_are_refused(labels, kind, message):
    with pytest.raises(kind, match=message):
        evaluated().by_item(labels)


def test_labels_are_read_as_those_of_metrics_of_the_lists():
    given = {"a": ["head"], "b": ("head", "head"), "c": "tail", "d": {"tail", None}, "e": ""}
    assert shown(evaluated().by_item(given)) == shown(evaluated().by_item(ITEMS))


def test_labels_that_are_called_as_other_lines_are_quoted():
    text = str(evaluated().by_item({"a": "all", "b": "(no label)", "c": "x"}))
    names = [line.split("  ")[0] for line in text.splitlines()[1:6]]
    assert names == ["'(no label)'", "'all'", "x", "(no label)", "all"]


def test_users_of_a_slice_are_shown_as_a_list():
    assert repr(evaluated().by_item(ITEMS)["head"].users) == "['ann', 'dot']"


def test_no_label_at_all_is_one_slice():
    for labels in ({}, {"a": None}):
        found = evaluated().by_item(labels)
        assert list(found) == [None] and found[None].to_dict() == evaluated().to_dict()


def test_results_that_do_not_split_by_item():
    hits = tl.Hits([0, 1], [1], [2], [3])
    for result in (tl.top_k_eval(hits, k=3), evaluated().by_item(ITEMS)["tail"]):
        with pytest.raises(ValueError, match="it is not known which items were hit: evaluate lis"):
            result.by_item(ITEMS)
    with pytest.raises(ValueError, match="this result holds no hits, so it cannot be split by it"):
        evaluated().without_users().by_item(ITEMS)
    groups = tl.Groups({user: [list(rows)] for user, rows in TRUTH.items()})
    with pytest.raises(ValueError, match="ground truths of groups are not split by item"):
        evaluated(truth=groups).by_item(ITEMS)
    judged = {"ann": {"b": 1, "a": 0}}
    with pytest.raises(ValueError, match="with unjudged items dropped, results are not split by"):
        evaluated({"ann": LISTS["ann"]}, judged, unjudged="drop").by_item(ITEMS)


def test_metrics_that_are_not_of_relevant_items_are_left_out():
    judged = {"ann": {"b": 1, "a": 0}, "bob": {"a": 2, "d": 0}}
    lists = {user: LISTS[user] for user in judged}
    names = ["bpref", "item_coverage", "judged", "recall"]
    result = evaluated(lists, judged, metrics=names, catalogue=list("abcde"))
    found = result.by_item(ITEMS)
    assert found["head"].names() == ["recall@1", "recall@3"]
    assert "not split by item, left out: bpref, item_coverage, judged" in str(found)
    alone = evaluated(lists, judged, metrics=["bpref", "judged"])
    with pytest.raises(ValueError, match="not split by item: bpref, judged; ask for"):
        alone.by_item(ITEMS)


def test_systems_are_compared_in_every_slice():
    truths = {user: {user % 3, 3} for user in range(60)}
    lists = {"a": [0, 1, 3], "b": [3, 2, 1]}
    results = {
        name: tl.top_k_eval(dict.fromkeys(truths, row), truths, k=3, metrics=["mrr", "recall"])
        for name, row in lists.items()
    }
    labels = {3: "head", 0: "tail", 1: "tail"}
    found = tl.compare(results, baseline="a").by_item(labels)
    assert list(found) == ["head", "tail", None]
    for label, part in found.items():
        for name, result in results.items():
            assert part.results[name].to_dict() == result.by_item(labels)[label].to_dict()
    tests = found.test("mrr@3", correction="holm")
    alone = [
        tl.compare({n: one.by_item(labels)[label] for n, one in results.items()}).test("mrr@3")[0].p
        for label in found
    ]
    assert [one.p for one in tests] == alone
    assert [one.p_adjusted for one in tests] == tl.inference.adjust(alone, "holm").tolist()
    assert "users: with relevant items of the slice" in str(found)
    slices = results["a"].by_item(labels)
    others = tl.compare({"x": slices["head"], "y": slices["tail"]})
    with pytest.raises(ValueError, match="other relevant items"):
        others.test(users="common")


def test_slices_are_drawn():
    pytest.importorskip("matplotlib")
    found = evaluated().by_item(ITEMS)
    ax = found.plot("ndcg@3")
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == ["head\n2 users", "tail\n2 users", "no label\n1 user"]
    both = tl.compare({"a": evaluated(), "b": evaluated()}).by_item(ITEMS)
    ax = both.plot("ndcg@3")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
