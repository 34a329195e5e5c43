"""Metrics of the lists: over whom each number is, and what is said where these are others."""

import math

import numpy as np
import pytest
from doors import by_words
from listwise import listwise

import toplist as tl

USERS = "abcdefgh"
LABELS = {item: ("war", "love", "fun")[item % 3] for item in range(20)}
HISTORY = {user: [row, row + 3, 2 * row] for row, user in enumerate(USERS)}
METRICS = ["ndcg", "novelty", "hit_share(label=war)", "intra_list_diversity(distance=jaccard)"]
KNOWN = {"labels": LABELS, "counts": {item: item + 1 for item in range(20)}}
TRUTHS = {user: {3 * row % 20, (3 * row + 1) % 20, 19 - row} for row, user in enumerate(USERS)}


def lists(seed):
    """Return a list of five items for each user, but of one item for a and b."""
    rng = np.random.default_rng(seed)
    drawn = {user: rng.permutation(20).tolist() for user in USERS}
    return {user: items[: 1 if user in "ab" else 9] for user, items in drawn.items()}


def evaluate(seed=1, k=(1, 9), metrics=METRICS, users=USERS, **options):
    sides = ({user: side[user] for user in users} for side in (lists(seed), TRUTHS))
    return by_words(*sides, k=list(k), metrics=metrics, **KNOWN | options)


def hits_of(seed, k):
    """Return who has a hit among the first k."""
    return [user for user, some in lists(seed).items() if TRUTHS[user] & set(some[:k])]


def test_users_are_counted_at_every_k():
    result = evaluate()
    name = METRICS[2]
    few, many = (len(hits_of(1, k)) for k in (1, 9))
    assert 0 < few < many < 8
    assert [result.n_of(f"{name}@{k}") for k in (1, 9)] == [few, many]
    assert result.n_of(name) == many
    assert f"mean over {few} to {many} users with a hit ({8 - many} left out)" in str(result)
    lines = str(evaluate(metrics=name).by({user: user in "abcd" for user in USERS})).splitlines()
    n = [[len({*hits_of(1, k)} & {*some}) for k in (1, 9)] for some in ("efgh", "abcd", USERS)]
    for line, (least, most) in zip(lines[1:4], n, strict=True):
        assert f"  {least} to {most}  " in line if least < most else f"  {most}  " in line


@pytest.mark.parametrize("labels", [{0: 1, 1: "1"}, {0: [1], 1: ["1"]}, {0: True, 1: "True"}])
def test_labels_that_are_written_alike_are_refused(labels):
    with pytest.raises(ValueError, match="labels: .* and .* are written alike"):
        listwise.exposure_share([[0, 1]], labels=labels)


@pytest.mark.parametrize("nothing", [None, "", math.nan, [], [""], ["", None]])
def test_what_is_no_label(nothing):
    shares = listwise.exposure_share([[0, 1]], labels={0: "war", 1: nothing}, label="war")
    assert shares[0].tolist() == [1, 1 / (1 + 1 / math.log2(3))]


def test_weights_are_not_of_metrics_of_the_lists():
    weights = {user: row + 1.0 for row, user in enumerate(USERS)}
    result, plain = evaluate(weights=weights), evaluate()
    assert result["novelty@9"] == plain["novelty@9"] and result["ndcg@9"] != plain["ndcg@9"]
    assert "mean over 8 users with a list, without weights" in str(result)
    compared = tl.compare({"a": result, "b": evaluate(2, weights=weights)})
    tests = compared.test()
    assert tests.names == ["ndcg@1", "ndcg@9"]
    assert "not tested: novelty@1, novelty@9" in str(tests) and "without weights" in str(tests)
    with pytest.raises(ValueError, match="novelty@9 has no test: a mean without weights"):
        compared.test("novelty@9")


def test_what_is_not_tested_is_told():
    name = f"{METRICS[2]}@9"
    compared = tl.compare({"a": evaluate(), "b": evaluate(2)})
    common = [user for user in hits_of(1, 9) if user in hits_of(2, 9)]
    assert 1 < len(common) < min(len(hits_of(seed, 9)) for seed in (1, 2))
    tests = compared.test()
    assert name not in tests.names and "novelty@9" in tests.names
    (line,) = (line for line in str(tests).splitlines() if name in line and "not tested" in line)
    assert "a, b count other users: " in line and "users='common' tests over those" in line
    of_common = compared.test(users="common")
    assert name in of_common.names and of_common[name].n == len(common)


def test_segments_tell_which_metrics_have_no_values():
    merged = evaluate(users="abcd") + evaluate(users="efgh")
    some = merged.by({user: user in "ab" for user in USERS})
    assert some[True].names() == ["ndcg@1", "ndcg@9"]
    assert f"no values of users, left out: {', '.join(METRICS[1:])}" in str(some)
    with pytest.raises(ValueError, match="merged or without users, no values"):
        merged._only("novelty").by(dict.fromkeys(USERS, 1))


def test_the_last_line_of_segments_is_over_their_users():
    """Lists without a truth are in the mean of all lists, and in no segment."""
    extra = {user: lists(1)[user] for user in USERS} | {"z": [0, 1, 2]}
    known = {"metrics": "novelty", "k": 3, **KNOWN}
    results = {name: by_words(extra, TRUTHS, **known) for name in "ab"}
    only = {user: extra[user] for user in USERS}
    of_users = by_words(only, TRUTHS, **known)["novelty@3"]
    assert of_users != results["a"]["novelty@3"]
    split = tl.compare(results).by({user: user in "ab" for user in USERS})
    shown = [line for line in str(split).splitlines() if line.startswith("all")]
    assert shown and all(f"{of_users:.4f}" in line for line in shown)


def test_bounds_of_slices():
    truths = {user: dict.fromkeys(some, 1) for user, some in TRUTHS.items()}
    sides = lists(1), truths
    some = tl.top_k_eval(*sides, k=9, metrics="recall").by_item(LABELS)["war"]
    low, high = some.bounds("recall@9")
    assert 0 <= low <= some["recall@9"] <= high


def test_a_mean_over_one_cluster_has_no_interval_and_says_so():
    result = evaluate(clusters=dict.fromkeys(USERS, "one"))
    assert "no interval: all are of one cluster" in str(result)
    assert np.isnan(result.interval("ndcg@9")).all()


def test_lists_without_a_truth_take_no_cluster_of_metrics_that_read_it():
    clusters = {user: row // 2 for row, user in enumerate(USERS)}
    extra = lists(1) | {"z": [0, 1, 2]}
    name = f"{METRICS[2]}@9"
    options = {"metrics": METRICS[2], "k": 9, "clusters": clusters, **KNOWN}
    assert by_words(extra, TRUTHS, **options).interval(name) == evaluate(
        metrics=METRICS[2], k=[9], clusters=clusters
    ).interval(name)


@pytest.mark.parametrize("alpha", [0.1, 0.5])
def test_alpha_of_calibration_stands_in_its_name(alpha):
    known = {"history": HISTORY, "labels": LABELS}
    curves = listwise.calibration(lists(1), 9, alpha=alpha, **known)
    asked = [f"calibration(alpha={alpha})", f"calibration(weights=rank, alpha={alpha}0)"]
    result = by_words(lists(1), TRUTHS, 9, metrics=asked, **known)
    assert result[asked[0]] == pytest.approx(np.nanmean(curves, axis=0), rel=1e-12)
    assert result.names()[1] == f"calibration(weights=rank,alpha={alpha})@9"
    assert f"({1 - alpha:g} q + {alpha} p)" in result.formula(asked[0])


@pytest.mark.parametrize("alpha", ["0", "1", "nan", "-1", "2"])
def test_alpha_that_cannot_be(alpha):
    with pytest.raises(ValueError, match="'calibration': alpha must be above 0 and below 1, not"):
        evaluate(metrics=f"calibration(alpha={alpha})", history=HISTORY)
    with pytest.raises(ValueError, match="'calibration': alpha='x' is not a number"):
        evaluate(metrics="calibration(alpha=x)", history=HISTORY)


def test_a_list_of_unknown_items_has_no_value_beside_others_and_by_itself():
    counts = {"counts": {1: 3, 2: 1}, "unknown": "skip"}
    found = listwise.average_popularity([[1], [7]], **counts)
    assert found[0].tolist() == [3] and np.isnan(found[1]).all()
    assert np.isnan(listwise.average_popularity([7], **counts)).all()
    with pytest.raises(ValueError, match="no item of ranks is in counts: it has 1, ranks has"):
        listwise.average_popularity([[8], [7]], **counts)


def test_a_label_may_have_an_at_sign():
    known = {"labels": {1: "a@3", 2: "z"}}
    result = by_words([[1, 2]], [{1}], k=2, metrics="hit_share", **known)
    assert "hit_share(label=a@3)  1.0000" in str(result)
    assert result["hit_share(label=a@3)@2"] == 1 and result["hit_share(label=z)@1"] == 0
