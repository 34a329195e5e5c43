"""Metrics beside a history, a baseline or labels of items, as functions and by name."""

import math
import pickle

import numpy as np
import pytest
from doors import by_words
from file_helpers import sent, through_a_file
from hypothesis import given, settings
from hypothesis import strategies as st
from listwise import listwise
from oracle import beyond as oracle

import toplist as tl
from toplist.kernels import labels as kernels

ITEMS = list("abcdefgh")
LABELS = {"a": ["war"], "b": ["war", "love"], "c": "love", "d": None, "e": [], "f": ["fun", "fun"]}
LABELS |= {"g": ["war", "fun", "love"], "h": math.nan}
AS_LISTS = {"a": ["war"], "b": ["war", "love"], "c": ["love"], "f": ["fun"]}
AS_LISTS |= {"g": ["war", "fun", "love"]}
COUNTS = dict(zip(ITEMS, [8, 4, 0, 1, 3, 2, 9, 5], strict=True))
USERS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(ITEMS), unique=True, max_size=6),
        st.lists(st.sampled_from(ITEMS), max_size=5),
        st.sets(st.sampled_from(ITEMS), max_size=4),
    ),
    min_size=1,
    max_size=5,
)


def same(found, value, users, k):
    """Compare with a value for each user at every k."""
    expected = [[value(*user, at) for at in range(1, k + 1)] for user in users]
    np.testing.assert_allclose(found, np.reshape(expected, (len(users), k)), rtol=0, atol=1e-12)


@settings(deadline=None)
@given(USERS, st.integers(1, 8))
def test_calibration_is_the_formula(users, k):
    lists, histories, _ = map(list, zip(*users, strict=True))
    for distance in ("kl", "hellinger"):
        for weights in ("equal", "rank"):
            how = {"distance": distance, "weights": weights}
            found = listwise.calibration(lists, k, history=histories, labels=LABELS, **how)

            def value(ranked, history, _, at, how=how):
                return oracle.calibration(ranked, at, history, AS_LISTS, **how)

            same(found, value, users, k)
    found = listwise.calibration(lists, k, history=histories, labels=LABELS, alpha=0.5)
    same(found, lambda r, h, _, at: oracle.calibration(r, at, h, AS_LISTS, alpha=0.5), users, k)


@settings(deadline=None)
@given(USERS, st.integers(1, 8))
def test_lift_diversity_and_shares_are_the_formulas(users, k):
    lists, histories, truths = map(list, zip(*users, strict=True))
    found = listwise.popularity_lift(lists, k, history=histories, counts=COUNTS)
    same(found, lambda r, h, _, at: oracle.popularity_lift(r, at, h, COUNTS), users, k)
    apart = np.random.default_rng(k).random((8, 8))
    apart += apart.T
    every = {item: AS_LISTS.get(item, []) for item in ITEMS}
    rows = {item: place for place, item in enumerate(ITEMS)}
    for keywords, features, distance in (
        ({"labels": LABELS}, every, oracle.jaccard_distance),
        ({"distances": dict(zip(ITEMS, apart, strict=True))}, rows, lambda i, j: apart[i, j]),
    ):
        found = listwise.intra_list_diversity(lists, k, single=0.25, **keywords)

        def value(ranked, _, __, at, features=features, distance=distance):
            return oracle.intra_list_diversity(ranked, at, features, distance, 0.25)

        same(found, value, users, k)
    for label in ("war", "love", "fun"):
        of = {"labels": LABELS, "label": label}
        same(
            listwise.exposure_share(lists, k, **of),
            lambda r, _, __, at, label=label: oracle.label_exposure(r, at, AS_LISTS, label),
            users,
            k,
        )
        same(
            listwise.hit_share(lists, truths, k, **of),
            lambda r, _, t, at, label=label: oracle.label_hits(r, t, at, AS_LISTS, label),
            users,
            k,
        )
    with pytest.raises(ValueError, match=r"name a label, as in 'hit_share\(label=war\)'"):
        listwise.hit_share(lists, truths, k, labels=LABELS)


def test_logarithms_are_those_of_math():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 999), 1 + np.linspace(-0.5, 1, 999), [1.0]])
    found = x.copy()
    kernels._logarithms(found, *np.empty((2, len(x))))
    expected = np.array([math.log(one) for one in x])
    np.testing.assert_allclose(found, expected, rtol=3e-16, atol=0)
    assert found[-1] == 0


def test_many_labels_and_both_ends_of_the_distances():
    labels = {i: [i, i + 1000, "all"] for i in range(200)}
    lists, history = {"u": list(range(100))}, {"u": list(range(100))}
    for distance, most in (("kl", -math.log(0.01)), ("hellinger", 1.0)):
        how = {"labels": labels, "distance": distance}
        found = listwise.calibration(lists, history=history, **how)
        assert found[0, -1] == pytest.approx(0, abs=1e-7) and (np.diff(found[0]) <= 0).all()
        apart = {i: [i] for i in range(200)}
        how["labels"] = apart
        found = listwise.calibration(lists, history={"u": [150, 151]}, **how)
        assert found[0] == pytest.approx([most] * 100, abs=1e-12)
    found = listwise.intra_list_diversity(lists, labels=labels)
    assert found[0, 1:] == pytest.approx([0.8] * 99, abs=1e-12)  # one label of five


# Forms


FORMS = {
    "dict": (lambda rows: rows, lambda labels: labels),
    "containers": (
        lambda rows: {u: tuple(some) if u % 2 else np.array(some) for u, some in rows.items()},
        lambda labels: {i: np.array(some) for i, some in labels.items()},
    ),
}


def _frames(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame

    def history(rows):
        pairs = [(user, item) for user, some in rows.items() for item in some]
        users, items = map(list, zip(*pairs, strict=True))
        return make({"user_id": users, "item_id": items, "rating": [5] * len(users)})

    def labels(given):
        pairs = [(item, one) for item, some in given.items() for one in some or [None]]
        items, names = map(list, zip(*pairs, strict=True))
        return make({"genre": names, "item_id": items})

    return history, labels


def _series():
    pandas = pytest.importorskip("pandas")

    def series(rows):
        return pandas.Series(list(rows.values()), index=pandas.Index(list(rows)))

    return series, series


@pytest.mark.parametrize("form", ["dict", "containers", "pandas", "polars", "pyarrow", "series"])
@pytest.mark.parametrize("text", [False, True])
def test_every_form_of_history_and_labels_is_the_same(form, text):
    name = str if text else int
    lists = {u: [name((u * 3 + r) % 10) for r in range(4)] for u in range(6)}
    history = {u: [name((u + 2 * r) % 10) for r in (0, 1, 1)] for u in range(5)}
    labels = {name(i): [["x"], ["y", "x"], []][i % 3] for i in range(10)}
    expected = listwise.calibration(lists, history=history, labels=labels)
    made = _series() if form == "series" else FORMS.get(form) or _frames(form)
    given = {"history": made[0](history), "labels": made[1](labels)}
    found = listwise.calibration(lists, **given)
    assert found.tobytes() == expected.tobytes()
    truth = {u: [name(0)] for u in lists}
    result = by_words(lists, truth, 4, metrics="calibration", **given)
    assert result.per_user("calibration").tobytes() == expected.tobytes()
    assert np.isnan(expected[5]).all() and result.n_of("calibration@4") == 5
    assert "mean over 5 users with a list and a history (1 left out)" in repr(result)


def test_by_position_and_names_of_positions():
    lists, history = [["a"], ["b"]], [["c"], ["a"]]
    expected = listwise.calibration(lists, history=history, labels=LABELS)
    truth = [{"a"}, {"b"}]
    result = tl.top_k_eval(
        lists, truth, 1, metrics="calibration", items=tl.Items(history=history, labels=LABELS)
    )
    assert result.per_user("calibration").tolist() == expected.tolist()
    keyed = {"v": ["a"], "u": ["c"]}
    result = tl.top_k_eval(
        tl.Ranks(lists, users=["u", "v"]),
        truth,
        1,
        metrics="calibration",
        items=tl.Items(history=keyed, labels=LABELS),
    )
    assert result.per_user("calibration", keyed=True) == dict(
        zip("uv", expected.tolist(), strict=True)
    )
    one = listwise.calibration(["a"], history=["c"], labels=LABELS)
    assert one.tolist() == expected[0].tolist()


def test_a_square_table_of_distances():
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame([[0.5, 0.0], [0.0, 0.5]], index=["y", "x"], columns=["x", "y"])
    assert listwise.intra_list_diversity([["x", "y"]], distances=given).tolist() == [[0, 0.5]]


def test_unknown_items():
    lists, history = [["a", "x", "b"]], [["a", "y"]]
    known = {"history": history, "labels": LABELS}
    with pytest.raises(ValueError, match=r"history: user 0 has item 'y', which is not in labels"):
        listwise.calibration(lists, **known)
    with pytest.raises(ValueError, match="user 0 lists item 'x' at rank 2, which is not in labels"):
        listwise.calibration(lists, **known | {"history": [["a"]]})
    found = listwise.calibration(lists, unknown="skip", **known)
    expected = listwise.calibration([["a", "b"]], history=[["a"]], labels=LABELS)
    assert found[0, [0, 2]].tolist() == expected[0].tolist() and found[0, 0] == found[0, 1]
    lift = {"history": history, "counts": {"a": 2, "b": 6}}
    found = listwise.popularity_lift(lists, unknown="skip", **lift)
    assert found.tolist() == [[0, 0, 1]]
    assert listwise.popularity_lift(lists, unknown=2, **lift)[0, 1] == 0
    other = known | {"labels": {"q": "war"}}
    with pytest.raises(ValueError, match="no item of ranks is in labels: it has 'q', ranks ha"):
        listwise.exposure_share(lists, labels={"q": "war"}, label="war", unknown="skip")
    with pytest.raises(ValueError, match="no item of history is in labels: it has 'q', histor"):
        listwise.calibration([["q"]], unknown="skip", **other)
    for name in ("nan", "skip"):
        given = {"labels": LABELS}, {"distances": {"a": [0, 1], "b": [1, 0]}}
        for one in given:
            found = listwise.intra_list_diversity(lists, unknown=name, **one)
            assert np.isnan(found[0, 2]) == (name == "nan")


def test_grades_of_0_are_no_baseline():
    found = listwise.unexpectedness([[1, 2]], expected=[{1: 0, 2: 3}])
    assert found.tolist() == [[1.0, 0.5]]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"history": [["a"]]}, TypeError, "history is by position, ranks by key: give a dict"),
        ({"history": {"zoe": ["a"]}}, ValueError, "history has none of the users: it has 'zoe', "),
        ({"history": 7}, TypeError, "history is a int: give a dict user -> items, a table"),
        ({"labels": 7}, TypeError, "labels is a int: give a dict item -> label"),
        ({"labels": {"a": [["x"]]}}, TypeError, "item 'a' has .* give text or numbers"),
        (
            {"labels": {"a": {"x": 1}}},
            TypeError,
            "item 'a' has the label .'x': 1., a dict: gi",
        ),
        ({"labels": {"a": 1, "b": "1"}}, ValueError, "1 and '1' are written alike: gi"),
        ({"labels": {"a": "x", 3: "y"}}, TypeError, "ids of two kinds, 'a' in labels an"),
        ({"history": {"u": [1.5]}}, TypeError, "history: .*1.5"),
        ({"metrics": "exposure_share(label=wra)"}, ValueError, "no item is labelled 'wra': there"),
        (
            {"metrics": "hit_share", "labels": {"a": None}},
            ValueError,
            "labels has no lab",
        ),
        ({"metrics": "calibration(x=1)"}, ValueError, "takes distance, weights, alpha, not x"),
        ({"metrics": "calibration(weights=rnak)"}, ValueError, "did you mean 'rank'"),
        ({"metrics": "novelty(p=1)"}, ValueError, "'novelty' takes total, unknown, not p"),
    ],
)
def test_errors(given, error, message):
    options = {"metrics": "calibration", "history": {"u": ["a"]}, "labels": LABELS} | given
    with pytest.raises(error, match=message):
        by_words({"u": ["a", "b"]}, {"u": ["a"]}, 2, **options)


def test_errors_of_positions_tables_and_distances():
    known = {"labels": LABELS}
    with pytest.raises(TypeError, match="history is by key, ranks is not: users= names the lists"):
        listwise.calibration([["a"]], history={"u": ["a"]}, **known)
    with pytest.raises(ValueError, match="2 ranked lists but 1 users in history"):
        listwise.calibration([["a"], ["b"]], history=[["a"]], **known)
    with pytest.raises(ValueError, match="alpha must be above 0 and below 1, not 0"):
        listwise.calibration([["a"]], history=[["a"]], alpha=0, **known)
    with pytest.raises(ValueError, match=r"\(distance=jaccard\) needs toplist.Items\(labels="):
        listwise.intra_list_diversity([["a"]], distance="jaccard")
    for matrix, error, words in (
        ([[0, 1]], TypeError, "give a square array"),
        ([[0, 1], [2, 0]], ValueError, "the same in both directions"),
        ([[0, math.nan], [math.nan, 0]], ValueError, "must be finite"),
    ):
        with pytest.raises(error, match=words):
            listwise.intra_list_diversity([[0, 1]], distances=matrix)
    pandas = pytest.importorskip("pandas")
    for frame, words in (
        (pandas.DataFrame({"person": ["u"], "item_id": ["a"]}), "no column 'user_id'"),
        (pandas.DataFrame({"user_id": ["u"], "thing": ["a"]}), "no column 'item_id'"),
    ):
        with pytest.raises(ValueError, match=f"history: {words}"):
            listwise.calibration({"u": ["a"]}, history=frame, **known)
    with pytest.raises(TypeError, match="labels is a Series that counts its rows: give it by"):
        listwise.calibration([["a"]], history=[["a"]], labels=pandas.Series(["x"]))
    frame = pandas.DataFrame({"item_id": ["a"], "a": ["x"], "b": ["y"]})
    with pytest.raises(ValueError, match="labels: give a table of item_id and one column o"):
        listwise.calibration([["a"]], history=[["a"]], labels=frame)


# In an evaluation


N = 60
RANKS = {f"u{u}": [f"i{(u * 7 + r * 3) % 50}" for r in range(6)] for u in range(N)}
TRUTH = {f"u{u}": {f"i{(u * 7 + i) % 50}" for i in range(4)} for u in range(5, N + 4)}
KNOWN = {
    "history": {f"u{u}": [f"i{(u * 3 + i) % 50}" for i in range(u % 4)] for u in range(N)},
    "expected": {f"u{u}": [f"i{(u * 7 + i) % 50}" for i in range(2)] for u in range(0, N, 2)},
    "labels": {f"i{i}": [["own"], ["own", "other"], "third", None][i % 4] for i in range(50)},
    "counts": {f"i{i}": i + 1 for i in range(50)},
    "catalogue": [f"i{i}" for i in range(50)],
}
NAMES = ["calibration", "calibration(distance=hellinger,weights=rank)", "popularity_lift"]
NAMES += ["unexpectedness", "serendipity", "exposure_share", "hit_share", "personalisation"]
NAMES += ["intra_list_diversity", "novelty", "gini", "ndcg"]


def evaluated(ranks=RANKS, truth=TRUTH, **options):
    return by_words(ranks, truth, 6, metrics=NAMES, **KNOWN | options)


def alike(found, expected):
    assert found.names() == expected.names()
    for name in expected.names():
        assert found[name] == pytest.approx(expected[name], rel=1e-12, nan_ok=True), name
        std = pytest.approx(expected.std(name), rel=1e-10, nan_ok=True)
        assert found.std(name) == std and found.n_of(name) == expected.n_of(name), name
    notes = [str(one).splitlines()[-2 - len(NAMES) : -1] for one in (found, expected)]
    assert notes[0] == notes[1]


def write(folder):
    rows = [(u, i, r) for u, some in RANKS.items() for r, i in enumerate(some, 1)]
    recs = "".join(f"{u},{i},{r}\n" for u, i, r in rows)
    (folder / "recs.csv").write_text("user_id,item_id,rank\n" + recs)
    truth = "".join(f"{u},{i}\n" for u, some in TRUTH.items() for i in sorted(some))
    (folder / "truth.csv").write_text("user_id,item_id\n" + truth)
    return folder / "recs.csv", folder / "truth.csv"


def test_files_in_parts_give_the_same(tmp_path, monkeypatch):
    from toplist.files import lines, loop

    files, expected = write(tmp_path), evaluated()
    for keep in (None, "users"):
        alike(evaluated(*files, keep=keep), expected)
    alike(evaluated(*files, keep="users"), expected)
    for module, name, size in (
        *((lines, "SIZE", 40),),
        (loop, "PART", 2),
    ):
        monkeypatch.setattr(module, name, size)
    alike(evaluated(*files), expected)


def test_batches_give_the_same(tmp_path):
    pa = pytest.importorskip("pyarrow")
    rows = [(u, i, r) for u, some in RANKS.items() for r, i in enumerate(some, 1)]
    recs = pa.table(dict(zip(("user_id", "item_id", "rank"), zip(*rows, strict=True), strict=True)))
    rows = [(u, i) for u, some in TRUTH.items() for i in some]
    truth = pa.table(dict(zip(("user_id", "item_id"), zip(*rows, strict=True), strict=True)))
    readers = (one.to_reader(max_chunksize=50) for one in (recs, truth))
    alike(evaluated(*readers), evaluated())
    alike(evaluated(recs, truth), evaluated())


def test_parts_merge_and_travel():
    parts = [
        evaluated(
            *({u: side[u] for u in side if (int(u[1:]) < 30) == odd} for side in (RANKS, TRUTH))
        )
        for odd in (True, False)
    ]
    alike(parts[0] + parts[1], evaluated())
    alike(sum(pickle.loads(pickle.dumps(parts))), evaluated())
    alike(tl.merge(sent(one) for one in parts), evaluated())


@pytest.mark.parametrize(
    "catalogue", [50, list(range(50)), np.arange(50), np.arange(50, dtype=np.uint8), None]
)
def test_saved_results_are_equal_and_merge(catalogue):
    lists, truth = [[1, 2, 3], [4, 5, 6]], [{1}, {5}]
    names = ["ndcg", "gini", "personalisation", "exposure_share", "calibration"]
    names = names if catalogue is not None else [names[0], *names[2:]]
    known = {"catalogue": catalogue, "labels": {i: f"p{i % 2}" for i in range(50)}}
    result = by_words(lists, truth, [1, 3], metrics=names, history=lists, **known)
    for again in (through_a_file(result), sent(result)):
        assert again == result and repr(again) == repr(result)
        if catalogue is not None:
            both = tl.merge([again, result.without_users()], disjoint=True)
            assert both["gini"] == pytest.approx(result["gini"], abs=1e-12)  # of twice the counts
            assert both.n_of("exposure_share(label=p0)@3") == 4


def test_segments_are_over_the_users_of_the_truth():
    result = evaluated()
    labels = {f"u{u}": "even" if u % 2 == 0 else "odd" for u in range(N + 4)}
    split = result.by(labels)
    for name in ("calibration@6", "serendipity@3", "exposure_share(label=own)@6", "novelty@6"):
        values = result.per_user(name)
        for label, part in split.items():
            own = values[[labels[user] == label for user in result.users]]
            assert part[name] == pytest.approx(np.nanmean(own), rel=1e-12)
            assert part.std(name) == pytest.approx(np.nanstd(own, ddof=1), rel=1e-12)
            np.testing.assert_array_equal(part.per_user(name), own)
        assert split.whole[name] == pytest.approx(np.nanmean(values), rel=1e-12)
    assert "gini@6" not in split["even"] and "calibration" in repr(split)
    merged = result.without_users()
    with pytest.raises(ValueError, match="it cannot be split"):
        merged.by(labels)


def test_any_order_of_users_is_the_same():
    def turned(rows):
        return dict(list(rows.items())[::-1])

    other = {user: items[::-1] for user, items in RANKS.items()}
    names = ["calibration@6", "popularity_lift@6", "unexpectedness@6", "serendipity@6", "novelty@6"]
    a, b = evaluated(), evaluated(other)
    known = {name: turned(KNOWN[name]) for name in ("history", "expected", "labels")}
    c, d = (evaluated(turned(one), turned(TRUTH), **known) for one in (RANKS, other))
    for one, again in ((a, c), (b, d)):
        for name in set(one.names()):
            assert one[name] == pytest.approx(again[name], rel=1e-12)
            if name.partition("@")[0] not in ("gini", "personalisation"):
                assert one.per_user(name, keyed=True) == pytest.approx(
                    again.per_user(name, keyed=True), rel=0, abs=0, nan_ok=True
                )
    tests = [
        tl.compare({"a": x, "b": y}, baseline="a").test(names) for x, y in ((a, b), (a, d), (c, b))
    ]
    for one in tests:
        assert [(t.name, t.n, t.difference, t.p) for t in one] == [
            (t.name, t.n, t.difference, t.p) for t in tests[0]
        ]
    assert {t.name: t.n for t in tests[0]}["serendipity@6"] == len(TRUTH)
    values = []
    for x in (RANKS, other, turned(other)):
        found = listwise.calibration(x, 6, history=KNOWN["history"], labels=KNOWN["labels"])[:, 5]
        values.append({u: one for u, one in zip(x, found, strict=True) if np.isfinite(one)})
    p = [tl.inference.paired_tests({"a": values[0], "b": one})[0].p for one in values[1:]]
    assert p[0] == p[1]


def test_comparisons_test_metrics_of_users_without_being_asked():
    other = {user: items[::-1] for user, items in RANKS.items()}
    truth = {user: TRUTH[user] for user in RANKS if user in TRUTH}
    both = tl.compare({"a": evaluated(truth=truth), "b": evaluated(other, truth)}, baseline="a")
    names = {one.name.partition("@")[0] for one in both.test(users="same")}
    assert {"calibration", "serendipity", "novelty", "exposure_share(label=own)"} <= names
    assert both.best()["calibration@6"] and both.best()["serendipity@6"]
    assert both.best()["novelty@6"] == []
    assert both.sort("calibration@6").systems == sorted(
        "ab", key=lambda name: both.results[name]["calibration@6"]
    )
    n = sum(len(KNOWN["history"][user]) > 0 for user in RANKS)  # also without a truth
    assert both.band("popularity_lift").n == n
    listed = sum(len(items) > 0 for items in RANKS.values())
    assert listed > len(truth) and f"over {listed} users" in str(both.test(["novelty@6"]))


def test_unjudged_items_and_thresholds_of_the_truth():
    lists, truth = [["x", "a", "b"]], [{"a": 2, "b": 1, "c": 0}]
    names = ["serendipity@3", "hit_share(label=own)@3", "ndcg@3"]
    known = {"expected": {"b"}, "labels": {"a": "own", "b": "other", "x": "own"}}
    for options, expected in (({}, (1 / 3, 0.5)), ({"relevant_from": 2}, (1 / 3, 1.0))):
        for unjudged in ("miss", "drop"):
            found = by_words(lists, truth, metrics=names, unjudged=unjudged, **known, **options)
            assert tuple(found)[:2] == expected


def test_threads_leave_no_trace(monkeypatch):
    from toplist import parallel

    def values(n):
        known = {name: KNOWN[name] for name in ("history", "labels")}
        found = [
            listwise.calibration(RANKS, n_threads=n, **known),
            listwise.unexpectedness(RANKS, expected=KNOWN["expected"], n_threads=n),
            listwise.exposure_share(RANKS, labels=KNOWN["labels"], label="own", n_threads=n),
        ]
        return [one.tobytes() for one in found]

    whole = values(1)
    monkeypatch.setattr(parallel, "BLOCK", 16)
    monkeypatch.setattr(parallel.bounds, "__defaults__", (16,))
    assert values(1) == values(4) == whole
