"""Values of one's own: dicts, Series and tables are matched by user, and never by accident."""

import copy
import pickle
import re

import numpy as np
import pytest

import toplist as tl
from toplist import inference


@pytest.fixture
def written():
    """Two tables as a cluster writes them, the rows in other orders, and the values by user."""
    rng = np.random.default_rng(1)
    users = [f"u{i}" for i in range(40)]
    tables, by_user = {}, {}
    for name in ("als", "popularity"):
        order = rng.permutation(users).tolist()
        tables[name] = {"user_id": order, "ndcg@10": rng.random(40)}
        by_user[name] = dict(zip(order, tables[name]["ndcg@10"].tolist(), strict=True))
    return tables, by_user


def test_dicts_are_matched_by_key(written):
    _, by_user = written
    by_place = {name: [some[u] for u in by_user["als"]] for name, some in by_user.items()}
    one, other = (tl.paired_tests(some)[0] for some in (by_user, by_place))
    assert (one.difference, one.p) == pytest.approx((other.difference, other.p), rel=1e-12)


ASKED = [
    tl.paired_tests,
    lambda some: inference.equivalence(some, margin=0.1),
    inference.tukey,
    inference.anova,
    lambda some: inference.family({"ndcg": tuple(some.values())}),
    lambda some: inference.ratio(*((one, one) for one in some.values())),
]


@pytest.mark.parametrize("ask", ASKED)
def test_tables_and_series_by_user_are_matched_by_user(ask, written):
    tables, by_user = written
    expected = repr(ask(by_user))
    for library, made in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        make = getattr(pytest.importorskip(library), made)
        frames = {name: make(table) for name, table in tables.items()}
        assert repr(ask(frames)) == expected
        assert repr(ask({**frames, "als": by_user["als"]})) == expected  # beside a dict
        if library == "pandas":
            series = {name: one.set_index("user_id")["ndcg@10"] for name, one in frames.items()}
            assert repr(ask(series)) == expected


@pytest.mark.parametrize("ask", ASKED)
def test_series_that_count_their_rows_are_not_paired_by_accident(ask, written):
    pandas = pytest.importorskip("pandas")
    tables, by_user = written
    series = {name: pandas.DataFrame(table)["ndcg@10"] for name, table in tables.items()}
    said = (
        r"a Series that counts its rows, as those of .* do.*table\.set_index\('user_id'\)\[COLUMN\]"
    )
    with pytest.raises(TypeError, match=said):
        ask(series)
    with pytest.raises(TypeError, match="counts its rows, but the users have keys, like 'u"):
        ask({**series, "als": by_user["als"]})
    arrays = {name: one.to_numpy() for name, one in series.items()}
    for same in (pandas.DataFrame(arrays), {**arrays, "als": series["als"]}):
        assert repr(ask(dict(same.items()))) == repr(ask(arrays))


def test_other_tables_are_refused_with_the_line_to_write(written):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pandas.DataFrame(written[0]["als"])
    wide = table.assign(**{"mrr@10": 0.0})
    both = re.escape("['user_id', 'ndcg@10']")
    for given, line in (
        (wide, rf"table\[{both}\]"),
        (polars.from_pandas(wide), rf"select\({both}\)"),
    ):
        with pytest.raises(
            TypeError, match=f"als are a table of 'user_id', 'ndcg@10', 'mrr.*{line}"
        ):
            tl.paired_tests({"als": given, "popularity": given})
    by_index = table.set_index("user_id")
    with pytest.raises(TypeError, match=r"if its index has the users, table\['ndcg@10'\]"):
        tl.paired_tests({"als": by_index, "popularity": table})
    assert tl.paired_tests({"als": by_index["ndcg@10"], "popularity": table})[0].difference == 0
    with pytest.raises(ValueError, match="the table of als has user .* twice"):
        tl.paired_tests({"als": pandas.concat([table, table]), "popularity": table})
    with pytest.raises(ValueError, match="the Series of a has user 1 twice"):
        tl.paired_tests({name: pandas.Series([1.0, 2.0, 3.0], [1, 1, 2]) for name in "ab"})
    with pytest.raises(TypeError, match=r"values\['als'\] is a LazyFrame: .*\.collect\(\)"):
        tl.paired_tests({"als": polars.LazyFrame(written[0]["als"]), "popularity": table})
    with pytest.raises(TypeError, match=r"another order: .*set_index\('user_id'\)\.sort_index"):
        inference.band(table, table)
    with pytest.raises(ValueError, match="no pairs: give name -> \\(system, baseline\\)"):
        inference.family({})


def by_user(rng):
    """Return values of the same users in two orders, and what they are in one."""
    lists = {f"u{i}": rng.permutation(20)[:5].tolist() for i in range(40)}
    other = {user: lists[user][::-1] for user in sorted(lists, key=lambda _: rng.random())}
    counts = {item: item + 1 for item in range(20)}
    values = [tl.beyond.average_popularity(one, item_counts=counts) for one in (lists, other)]
    return values, [values[0], np.array([values[1].by_user()[user] for user in lists])]


def test_values_that_know_their_users_are_paired_by_user():
    given, aligned = by_user(np.random.default_rng(0))
    assert list(given[0].users) != list(given[1].users)
    found, expected = (
        tl.paired_tests({name: make(one)[:, 1] for name, one in zip("ab", some, strict=True)})[0]
        for some, make in ((given, lambda one: one), (aligned, np.asarray))
    )
    assert found.difference == pytest.approx(expected.difference, rel=1e-12)
    assert found.p == pytest.approx(expected.p, rel=1e-9)
    bands = tl.inference.band(*given), tl.inference.band(*map(np.asarray, aligned))
    np.testing.assert_array_equal(bands[0].low, bands[1].low)


def test_values_of_users_keep_them_or_are_refused():
    (a, b), _ = by_user(np.random.default_rng(1))
    column = a[:, 2]
    for one in (column, a[..., 2], 2 * column, column.round(3), pickle.loads(pickle.dumps(column))):
        assert one.users == a.users
    assert column[1:3].users == column[[1, 2]].users == list(a.users[1:3])
    assert not hasattr(a[0], "users") and not hasattr(a.mean(axis=0), "users")
    with pytest.raises(ValueError, match="in another order: by_user"):
        a - b
    with pytest.raises(TypeError, match="not sorted in place"):
        column.sort()
    assert column[()].tolist() == column.tolist()
    with pytest.raises(ValueError, match="it is not known whose values these are"):
        tl.paired_tests({"a": np.sort(column), "b": b[:, 2]})
    with pytest.raises(TypeError, match="np.asarray.. of each"):
        tl.paired_tests({"a": column, "b": np.asarray(b[:, 2])})
    with pytest.raises(TypeError, match="weights are by position, but the values are by user"):
        tl.paired_tests({"a": column, "b": b[:, 2]}, weights=[1.0] * 40)


def test_every_value_by_user_knows_its_user():
    lists, truths = {"a": [1, 2], "b": [2, 3]}, {"b": {3}, "a": {2}}
    assert tl.ndcg(lists, truths).users == tl.top_k_eval(lists, truths, 2).per_user("ndcg").users
    features = {1: [1, 0], 2: [0, 1], 3: [1, 1]}
    assert tl.ndcg(lists, truths).users == ["b", "a"]
    for found in (
        tl.beyond.intra_list_diversity(lists, features=features),
        tl.beyond.novelty(lists, item_counts={1: 1, 2: 2, 3: 3}),
        tl.beyond.tail_percentage(lists, item_counts={1: 1, 2: 2, 3: 3}),
        tl.beyond.overlap(lists, lists).per_user,
    ):
        assert list(found.users) == ["a", "b"]
    assert tl.beyond.serendipity(lists, truths, baseline={1}).users == ["b", "a"]
    assert tl.beyond.unexpectedness(lists, baseline=truths).users == ["b", "a"]
    assert type(tl.ndcg([[1]], [{1}])) is np.ndarray


@pytest.mark.parametrize("labels", [["a", "a\0", "b", "c"], [1, "1", 2, 3]])
def test_labels_of_clusters_are_told_apart_as_in_python(labels):
    values = {name: np.random.default_rng(i).random(8) for i, name in enumerate("xy")}
    clusters = dict(enumerate(labels * 2))
    by_user = {name: dict(enumerate(some.tolist())) for name, some in values.items()}
    for tests in (
        tl.paired_tests(values, clusters=labels * 2),
        tl.paired_tests(by_user, clusters=clusters),
    ):
        assert tests.plan.n_clusters == 4 and tests[0].df == pytest.approx(3)
        assert "over 8 " in str(tests) and "in 4 clusters" in str(tests)


@pytest.mark.parametrize("missing", [float("nan"), None])
def test_users_without_a_cluster_are_named(missing):
    values = {name: {"ann": 1.0, "bob": 2.0, "cid": 0.5} for name in "xy"}
    with pytest.raises(ValueError, match=f"clusters: user 'bob' has none, {missing}"):
        tl.paired_tests(values, clusters={"ann": 1, "bob": missing, "cid": 1})


def test_missing_values_of_pandas_are_no_clusters():
    pandas = pytest.importorskip("pandas")
    values = {name: [1.0, 2.0, 0.5] for name in "xy"}
    for column in (pandas.Series([1, None, 1]), pandas.Series([1, None, 1], dtype="Int64")):
        with pytest.raises(ValueError, match="clusters: user 1 has none"):
            tl.paired_tests(values, clusters=column)


def test_few_or_unequal_clusters_are_said():
    rng = np.random.default_rng(0)
    values = {name: rng.random(400) for name in "xy"}
    few = str(tl.paired_tests(values, clusters=np.arange(400) % 5))
    assert "clusters so few or unequal leave 4.0 degrees of freedom" in few
    one = str(tl.paired_tests(values, weights=[*np.ones(399), 1e5]))
    assert "weights so few or unequal leave 1.0" in one and "where one unit is nearly all" in one
    many = str(tl.paired_tests(values, clusters=np.arange(400) % 50))
    assert "degrees of freedom" not in many
    both = tl.paired_tests(values, clusters=np.arange(400) % 5, correction="maxt")
    assert both[0].p_adjusted == pytest.approx(both[0].p) and "clusters so few" in str(both)


def test_a_bootstrap_of_few_who_differ_says_that_it_is_liberal():
    rng = np.random.default_rng(0)
    values = {"x": rng.random(400), "y": rng.random(400)}
    many = tl.paired_tests(values, method="bootstrap", n_resamples=99)
    assert "liberal" not in str(many)
    values["x"][90:] = values["y"][90:]
    few = tl.paired_tests(values, method="bootstrap", n_resamples=99)
    assert "the bootstrap is liberal where fewer than 100 users differ" in str(few)
    assert "liberal" not in str(tl.paired_tests(values))


@pytest.mark.parametrize("clusters", [None, np.arange(20) // 2])
def test_values_of_weight_0_count_nothing(clusters):
    x, y, weights = *np.random.default_rng(0).random((2, 20)), np.arange(20) % 3
    some = weights > 0
    one = tl.paired_tests({"x": x, "y": y}, weights=weights, clusters=clusters)[0]
    alone = None if clusters is None else clusters[some]
    given = {"weights": weights[some], "clusters": alone}
    other = tl.paired_tests({"x": x[some], "y": y[some]}, **given)[0]
    assert (one.n, one.difference, one.p, one.low) == (13, other.difference, other.p, other.low)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="the weight of user 2 is .* must be 0 or more"):
            tl.paired_tests({"x": x, "y": y}, weights=np.where(np.arange(20) == 2, wrong, 1))


REDUCED = {
    "mean": lambda curves: curves.mean(axis=1),
    "nan_to_num": lambda curves: np.nan_to_num(curves)[:, -1],
    "astype": lambda curves: curves.astype(np.float32)[:, -1],
    "copy": lambda curves: curves.copy()[:, -1],
    "deepcopy": lambda curves: copy.deepcopy(curves)[:, -1],
}


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="values that went through numpy lose their users, and are paired by position",
)
@pytest.mark.parametrize("reduce", REDUCED.values(), ids=REDUCED)
def test_values_by_user_are_matched_or_refused_after_numpy(reduce):
    """Equal lists of the same users in two orders: nobody wins."""
    lists = {user: [user, user + 1, user + 2] for user in range(30)}
    truths = {user: {user + user % 3} for user in range(30)}
    values = {}
    for name, users in (("a", [*lists]), ("b", [*lists][::-1])):
        sides = ({user: side[user] for user in users} for side in (lists, truths))
        values[name] = reduce(tl.top_k_eval(*sides, 3, metrics="mrr").per_user("mrr"))
    try:
        test = tl.paired_tests(values)[0]
    except (TypeError, ValueError):
        return
    assert (test.wins, test.losses) == (0, 0)
