"""Predicted values: formulas, scikit-learn, forms of input, errors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import beyond as oracle
from shared_inputs import LIBRARIES, frame_of, said

from toplist import parallel, pointwise

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1)
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", "d"]), st.integers(0, 1), SCORES), max_size=25
)


def close(found, expected):
    assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=25)
@given(ROWS)
def test_auc_and_gauc_are_recboles_formulas(rows):
    users, labels, predictions = ([row[i] for row in rows] for i in range(3))
    exact = oracle.recbole_auc(labels, predictions)
    close(pointwise.auc(labels, predictions), math.nan if exact is None else float(exact))
    weighted = pointwise.auc(labels, predictions, weights=[1] * len(rows))
    close(weighted, pointwise.auc(labels, predictions))
    expected = oracle.recbole_gauc(users, labels, predictions)
    close(pointwise.gauc(users, labels, predictions), expected)
    found = pointwise.user_auc(users, labels, predictions)
    assert found.users == list(dict.fromkeys(users))
    columns = found.users, found.auc, found.n_positives, found.n_negatives
    for user, value, m, n in zip(*columns, strict=True):
        mine = [row[1:] for row in rows if row[0] == user]
        exact = oracle.recbole_auc([y for y, _ in mine], [p for _, p in mine])
        close(value, math.nan if exact is None else float(exact))
        assert (m, m + n) == (sum(y for y, _ in mine), len(mine))


@settings(max_examples=15)
@given(ROWS.filter(len))
def test_losses_are_the_formulas(rows):
    _, labels, predictions = (list(column) for column in zip(*rows, strict=True))
    pairs = list(zip(labels, predictions, strict=True))
    close(pointwise.mae(labels, predictions), sum(abs(p - y) for y, p in pairs) / len(pairs))
    squares = sum((p - y) ** 2 for y, p in pairs) / len(pairs)
    close(pointwise.rmse(labels, predictions), math.sqrt(squares))
    for clip in (1e-15, 0.01):
        found = pointwise.log_loss(labels, predictions, clip=clip)
        assert found == pytest.approx(oracle.log_loss(labels, predictions, clip), rel=1e-9)
    assert pointwise.log_loss([1, 0], [0.0, 1.0]) == pytest.approx(52 * math.log(2))


def rows_of(n=20_000, n_users=300, seed=0):
    rng = np.random.default_rng(seed)
    users, labels = rng.integers(0, n_users, n) * 10**12, rng.integers(0, 2, n)
    predictions = np.clip(rng.normal(0.4 + 0.2 * labels, 0.3, n), 0, 1).round(2)  # with ties
    return users, labels, predictions, rng.random(n)


def test_scikit_learn():
    sklearn = pytest.importorskip("sklearn.metrics")
    users, labels, predictions, weights = rows_of(n=4_000, n_users=12)
    per_user = [
        (sum(labels[own]), sklearn.roc_auc_score(labels[own], predictions[own]))
        for own in (users == user for user in np.unique(users))
    ]
    gauc = np.average([value for _, value in per_user], weights=[n for n, _ in per_user])
    close(pointwise.gauc(users, labels, predictions), gauc)
    pairs = (
        (pointwise.auc, sklearn.roc_auc_score),
        (pointwise.log_loss, sklearn.log_loss),
        (pointwise.mae, sklearn.mean_absolute_error),
        (pointwise.rmse, sklearn.root_mean_squared_error),
    )
    for ours, theirs in pairs:
        close(ours(labels, predictions), theirs(labels, predictions))
        found = ours(labels, predictions, weights=weights)
        close(found, theirs(labels, predictions, sample_weight=weights))


FUNCTIONS = pointwise.auc, pointwise.log_loss, pointwise.mae, pointwise.rmse


def test_neither_threads_nor_the_order_of_rows_leave_a_trace(monkeypatch):
    users, labels, predictions, weights = rows_of(n=6_000, n_users=90)
    order = np.random.default_rng(1).permutation(len(users))
    monkeypatch.setattr(parallel, "BLOCK", 500)
    one = pointwise.gauc(users, labels, predictions, n_threads=1)
    assert one == pointwise.gauc(users[order], labels[order], predictions[order], n_threads=4)
    for function in FUNCTIONS:
        for options in ({}, {"weights": weights}):
            shuffled = {name: column[order] for name, column in options.items()}
            found = function(labels, predictions, **options)
            assert found == function(labels[order], predictions[order], **shuffled)


def test_the_second_float_of_a_sum():
    n = 100_000
    labels = np.zeros(2 * n + 1)
    predictions = np.array([1e16] + [1.0] * n + [3.0] * n)  # each 1 is lost beside 1e16
    assert pointwise.mae(labels, predictions) == (10**16 + 4 * n) / (2 * n + 1)


# Extreme inputs


USERS, LABELS, PREDICTIONS = [1, 1, 2, 2, 2, 2], [1, 0, 1, 1, 1, 0], [1, 0, 0, 0, 1, 0.5]
ENDS = [
    (pointwise.auc, ([0, 1, 1], [0.3, 0.3, 0.3]), {}, 0.5),
    (pointwise.gauc, ([1, 1, 2, 2], [0, 1, 1, 0], [7, 7, 7, 7]), {}, 0.5),
    (pointwise.auc, ([0, 1], [-0.0, 0.0]), {}, 0.5),
    (pointwise.auc, ([0, 1, 1], [-math.inf, 0, math.inf]), {}, 1.0),
    (pointwise.log_loss, ([1, 0], [0.0, 0.5]), {"clip": 0}, math.inf),
    # 1 of 1 pair, 1 of 3
    (pointwise.gauc, (USERS, LABELS, PREDICTIONS), {}, (1 + 3 / 3) / 4),
    (pointwise.gauc, (USERS, LABELS, PREDICTIONS), {"weights": "rows"}, (2 + 4 / 3) / 6),
    (pointwise.gauc, (USERS, LABELS, PREDICTIONS), {"weights": "equal"}, (1 + 1 / 3) / 2),
    # integers are compared as integers
    *((pointwise.auc, ([0, 1], np.array([n, n + 1])), {}, 1.0) for n in (2**60, -(2**60))),
    (pointwise.gauc, ([7, 7], [0, 1], [2**63, 2**63 + 1]), {}, 1.0),
    # nothing is NaN, without a warning
    *((function, ([], []), {}, math.nan) for function in FUNCTIONS),
    (pointwise.gauc, ([], [], []), {}, math.nan),
    (pointwise.gauc, (["p"], [1], [0.5]), {}, math.nan),
    (pointwise.auc, ([1, 1], [0.1, 0.2]), {}, math.nan),
    (pointwise.mae, ([1], [1]), {"weights": [0]}, math.nan),
]


@pytest.mark.parametrize(("function", "given_", "options", "expected"), ENDS)
def test_ends(function, given_, options, expected):
    assert function(*given_, **options) == pytest.approx(expected, rel=1e-15, nan_ok=True)


def test_users_with_one_label_are_left_out_and_counted():
    users, labels = ["p", "p", "n", "b", "b"], [1, 1, 0, 1, 0]
    found = pointwise.user_auc(users, labels, [0.1, 0.2, 0.3, 0.5, 0.4])
    counts = found.n_users, found.n_evaluated, found.n_only_positives, found.n_only_negatives
    assert counts == (3, 1, 1, 1) and found.mean() == 1.0
    assert "1 of 3 users evaluated, 1 with only positives, 1 with only negatives" in repr(found)


# Forms of input


KINDS = [[*"aabb"], np.array([*"aabb"]), [1, 1, 2, 2], np.array([1, 1, 2, 2], np.int16)]
KINDS += [[2**62, 2**62, -5, -5], np.array([2**62 + 1] * 2 + [3] * 2, np.uint64)]


@pytest.mark.parametrize("users", KINDS)
def test_every_kind_of_user(users):
    found = pointwise.user_auc(users, [True, False, True, False], np.float32([0.5, 0.25, 0, 1]))
    assert found.auc.tolist() == [1, 0]
    assert found.users == [users[0], users[2]]


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables(library):
    content = {"who": ["x", "x", "y", "y"], "clicked": [True, False, False, True]}
    content |= {"prediction": [0.9, 0.1, 0.2, 0.6], "w": [1, 2, 3, 4]}
    part = {"label": "clicked"}
    columns = part | {"user_id": "who"}
    table = frame_of(library, content)
    assert pointwise.gauc(table, columns=columns) == 1.0
    assert pointwise.user_auc(table, columns=columns).users == ["x", "y"]
    labels, predictions = content["clicked"], content["prediction"]
    for function in FUNCTIONS:
        assert function(table, columns=columns) == function(labels, predictions)
        found = function(table, weights="w", columns=columns)
        assert found == function(labels, predictions, weights=content["w"])
    said("the table: no column 'label',  ... : ['who', 'cl", pointwise.auc, table)
    said("columns={'user_id': 'NAME'} names another", pointwise.user_auc, table, columns=part)
    with pytest.raises(ValueError, match="no column 'v'; columns found"):
        pointwise.auc(table, weights="v", columns=columns)
    words = "columns: 'rank' is none of user_id, label, prediction"
    said(words, pointwise.auc, table, columns={"rank": "r"})
    said("give it alone", pointwise.auc, table, [1], columns=columns)


MASKED = np.ma.array([1, 99], mask=[0, 1])
REFUSED = [
    (lambda: pointwise.auc([0, 2], [0, 1]), "label 2 in row 1:  ... (ratings >= 4)"),
    (lambda: pointwise.auc([0, 1], [0]), "1 predictions for 2 labels"),
    (lambda: pointwise.auc([0, 1], [0, math.nan]), "row 1 has prediction nan: a number"),
    (lambda: pointwise.mae([0], [math.inf]), "row 0 has prediction inf: a finite"),
    (lambda: pointwise.log_loss([1], [1.5]), "prediction 1.5: a probability"),
    (lambda: pointwise.log_loss([1], [1], clip=0.5), "clip must be"),
    (lambda: pointwise.mae([1], [1], weights=[-1]), "row 0 has weight -1"),
    (lambda: pointwise.mae([1], [1], weights=[1, 1]), "2 weights for 1 labels"),
    (lambda: pointwise.gauc([1], [1], [1], weights="hits"), "weights='hits'"),
    (lambda: pointwise.gauc([1, 2], [1], [1]), "2 users for 1 labels"),
    (lambda: pointwise.auc([0]), "predictions is missing"),
    (lambda: pointwise.auc(["0"], [0.5]), "labels must be numbers, one per row"),
    (lambda: pointwise.auc([[0]], [[0.5]]), "of 2 dimensions"),
    (lambda: pointwise.gauc([0.5], [1], [1]), "0.5 is a float, never an id"),
    (lambda: pointwise.gauc(np.array([0.5]), [1], [1]), "users: 0.5 is a float"),
    (lambda: pointwise.gauc([1, "1"], [1, 0], [1, 1]), "ids of two kinds"),
    (lambda: pointwise.gauc("ab", [1, 0], [1, 1]), "users must be ids, one per row"),
    (lambda: pointwise.mae(MASKED, [1, 0]), "labels is a masked array: fill it"),
    (lambda: pointwise.mae([1, 0], MASKED), "predictions is a masked array"),
    (lambda: pointwise.mae([1, 0], [1, 0], weights=MASKED), "weights is a masked array"),
    (lambda: pointwise.gauc(MASKED, [1, 0], [1, 0]), "users is a masked array"),
    (lambda: pointwise.auc([1, 0], [2**53 + 1, 0.5]), "9007199254740993 is beyond 2^53"),
    (lambda: pointwise.log_loss([1], [1], clip="a"), "clip must be"),
    (lambda: pointwise.mae([1], [1], columns={"label": "x"}), "columns= names columns of a table"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_is_refused(call, words):
    said(words, call)
