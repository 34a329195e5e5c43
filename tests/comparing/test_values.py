"""Values of one's own: dicts, Series and tables are matched by user, and never by accident."""

import copy
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
    one, other = (tl.inference.paired_tests(some)[0] for some in (by_user, by_place))
    assert (one.difference, one.p) == pytest.approx((other.difference, other.p), rel=1e-12)


ASKED = [
    tl.inference.paired_tests,
    lambda some: inference.equivalence(some, margin=0.1),
    inference.tukey,
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
            tl.inference.paired_tests({"als": given, "popularity": given})
    by_index = table.set_index("user_id")
    with pytest.raises(TypeError, match=r"if its index has the users, table\['ndcg@10'\]"):
        tl.inference.paired_tests({"als": by_index, "popularity": table})
    assert (
        tl.inference.paired_tests({"als": by_index["ndcg@10"], "popularity": table})[0].difference
        == 0
    )
    with pytest.raises(ValueError, match="the table of als has user .* twice"):
        tl.inference.paired_tests({"als": pandas.concat([table, table]), "popularity": table})
    with pytest.raises(ValueError, match="the Series of a has user 1 twice"):
        tl.inference.paired_tests(
            {name: pandas.Series([1.0, 2.0, 3.0], [1, 1, 2]) for name in "ab"}
        )
    with pytest.raises(TypeError, match=r"values\['als'\] is a LazyFrame: .*\.collect\(\)"):
        tl.inference.paired_tests({"als": polars.LazyFrame(written[0]["als"]), "popularity": table})
    with pytest.raises(TypeError, match=r"another order: .*set_index\('user_id'\)\.sort_index"):
        inference.band(table, table)
    with pytest.raises(ValueError, match="no pairs: give name -> \\(system, baseline\\)"):
        inference.family({})


def in_two_orders(rng):
    """Return curves of two systems over the same users in two orders, and the users of both."""
    lists = {f"u{i}": rng.permutation(20)[:5].tolist() for i in range(40)}
    other = {user: lists[user][::-1] for user in sorted(lists, key=lambda _: rng.random())}
    truths = {user: set(range(5)) for user in lists}
    results = [
        tl.top_k_eval(one, {user: truths[user] for user in one}, 5, metrics="dcg")
        for one in (lists, other)
    ]
    return [one.per_user("dcg", keyed=True) for one in results]


def test_values_by_user_are_paired_by_user():
    given = in_two_orders(np.random.default_rng(0))
    assert list(given[0]) != list(given[1])
    aligned = [np.array([one[user] for user in given[0]]) for one in given]
    at_2 = [{user: row[1] for user, row in one.items()} for one in given]
    tests = tl.inference.paired_tests(dict(zip("ab", at_2, strict=True)))
    by_position = tl.inference.paired_tests({"a": aligned[0][:, 1], "b": aligned[1][:, 1]})
    assert "paired by position" in str(by_position) and "by position" not in str(tests)
    assert tests[0].difference == pytest.approx(by_position[0].difference, rel=1e-12)
    assert tests[0].p == pytest.approx(by_position[0].p, rel=1e-9)
    bands = tl.inference.band(*given), tl.inference.band(*aligned)
    np.testing.assert_array_equal(bands[0].low, bands[1].low)
    with pytest.raises(TypeError, match="by user and the other by position"):
        tl.inference.band(given[0], aligned[1])
    with pytest.raises(ValueError, match="the curves are of different users"):
        tl.inference.band(given[0], dict(list(given[1].items())[1:]))


def test_keys_name_the_rows_of_arrays():
    one, other = in_two_orders(np.random.default_rng(1))
    a = np.array([row[2] for row in one.values()])
    b = {user: row[2] for user, row in other.items()}
    named = tl.inference.paired_tests({"a": a, "b": b}, users=list(one))
    keyed = tl.inference.paired_tests({"a": dict(zip(one, a.tolist(), strict=True)), "b": b})
    assert (named[0].difference, named[0].p) == (keyed[0].difference, keyed[0].p)
    assert "by position" not in str(named)
    with pytest.raises(TypeError, match="as arrays"):
        tl.inference.paired_tests({"a": a, "b": b})
    with pytest.raises(ValueError, match="users: 39 keys for 40 rows"):
        tl.inference.paired_tests({"a": a, "b": b}, users=list(one)[1:])
    with pytest.raises(TypeError, match="weights are by position, but the values are by user"):
        tl.inference.paired_tests({"a": a, "b": b}, users=list(one), weights=[1.0] * 40)


def test_values_by_user_are_keyed_where_it_is_asked():
    lists, truths = {"a": [1, 2], "b": [2, 3]}, {"b": {3}, "a": {2}}
    result = tl.top_k_eval(lists, truths, 2, metrics="mrr")
    assert result.per_user("mrr@2", keyed=True) == {"b": 0.5, "a": 0.5}
    curves = result.per_user("mrr", keyed=True)
    assert list(curves) == ["b", "a"] and curves["a"].tolist() == [0.0, 0.5]
    for found in (tl.ndcg(lists, truths), result.per_user("mrr")):
        assert type(found) is np.ndarray


@pytest.mark.parametrize("labels", [["a", "a\0", "b", "c"], [1, "1", 2, 3]])
def test_labels_of_clusters_are_told_apart_as_in_python(labels):
    values = {name: np.random.default_rng(i).random(8) for i, name in enumerate("xy")}
    clusters = dict(enumerate(labels * 2))
    by_user = {name: dict(enumerate(some.tolist())) for name, some in values.items()}
    for tests in (
        tl.inference.paired_tests(values, clusters=labels * 2),
        tl.inference.paired_tests(by_user, clusters=clusters),
    ):
        assert tests.plan.n_clusters == 4 and tests[0].df == pytest.approx(3)
        assert "over 8 " in str(tests) and "in 4 clusters" in str(tests)


@pytest.mark.parametrize("missing", [float("nan"), None])
def test_users_without_a_cluster_are_named(missing):
    values = {name: {"ann": 1.0, "bob": 2.0, "cid": 0.5} for name in "xy"}
    with pytest.raises(ValueError, match=f"clusters: user 'bob' has none, {missing}"):
        tl.inference.paired_tests(values, clusters={"ann": 1, "bob": missing, "cid": 1})


def test_missing_values_of_pandas_are_no_clusters():
    pandas = pytest.importorskip("pandas")
    values = {name: [1.0, 2.0, 0.5] for name in "xy"}
    for column in (pandas.Series([1, None, 1]), pandas.Series([1, None, 1], dtype="Int64")):
        with pytest.raises(ValueError, match="clusters: user 1 has none"):
            tl.inference.paired_tests(values, clusters=column)


def test_few_or_unequal_clusters_are_said():
    rng = np.random.default_rng(0)
    values = {name: rng.random(400) for name in "xy"}
    few = str(tl.inference.paired_tests(values, clusters=np.arange(400) % 5))
    assert "clusters so few or unequal leave 4.0 degrees of freedom" in few
    one = str(tl.inference.paired_tests(values, weights=[*np.ones(399), 1e5]))
    assert "weights so few or unequal leave 1.0" in one and "where one unit is nearly all" in one
    many = str(tl.inference.paired_tests(values, clusters=np.arange(400) % 50))
    assert "degrees of freedom" not in many
    both = tl.inference.paired_tests(values, clusters=np.arange(400) % 5, correction="maxt")
    assert both[0].p_adjusted == pytest.approx(both[0].p) and "clusters so few" in str(both)


def test_a_bootstrap_of_few_who_differ_says_that_it_is_liberal():
    rng = np.random.default_rng(0)
    values = {"x": rng.random(400), "y": rng.random(400)}
    many = tl.inference.paired_tests(values, method="bootstrap", n_resamples=99)
    assert "liberal" not in str(many)
    values["x"][90:] = values["y"][90:]
    few = tl.inference.paired_tests(values, method="bootstrap", n_resamples=99)
    assert "the bootstrap is liberal where fewer than 100 users differ" in str(few)
    assert "liberal" not in str(tl.inference.paired_tests(values))


@pytest.mark.parametrize("clusters", [None, np.arange(20) // 2])
def test_values_of_weight_0_count_nothing(clusters):
    x, y, weights = *np.random.default_rng(0).random((2, 20)), np.arange(20) % 3
    some = weights > 0
    one = tl.inference.paired_tests({"x": x, "y": y}, weights=weights, clusters=clusters)[0]
    alone = None if clusters is None else clusters[some]
    given = {"weights": weights[some], "clusters": alone}
    other = tl.inference.paired_tests({"x": x[some], "y": y[some]}, **given)[0]
    assert (one.n, one.difference, one.p, one.low) == (13, other.difference, other.p, other.low)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="the weight of user 2 is .* must be 0 or more"):
            tl.inference.paired_tests(
                {"x": x, "y": y}, weights=np.where(np.arange(20) == 2, wrong, 1)
            )


REDUCED = {
    "mean": lambda curves: curves.mean(axis=1),
    "nan_to_num": lambda curves: np.nan_to_num(curves)[:, -1],
    "astype": lambda curves: curves.astype(np.float32)[:, -1],
    "copy": lambda curves: curves.copy()[:, -1],
    "deepcopy": lambda curves: copy.deepcopy(curves)[:, -1],
}


@pytest.mark.parametrize("reduce", REDUCED.values(), ids=REDUCED)
def test_arrays_are_paired_by_position_and_say_so(reduce):
    """Equal lists of the same users in two orders: nobody wins, once values are keyed."""
    lists = {user: [user, user + 1, user + 2] for user in range(30)}
    truths = {user: {user + user % 3} for user in range(30)}
    arrays, keyed = {}, {}
    for name, users in (("a", [*lists]), ("b", [*lists][::-1])):
        sides = ({user: side[user] for user in users} for side in (lists, truths))
        arrays[name] = reduce(tl.top_k_eval(*sides, 3, metrics="mrr").per_user("mrr"))
        keyed[name] = dict(zip(users, arrays[name].tolist(), strict=True))
    by_position = tl.inference.paired_tests(arrays)
    assert "paired by position" in str(by_position) and by_position[0].wins > 0
    matched = tl.inference.paired_tests(keyed)
    assert "by position" not in str(matched) and (matched[0].wins, matched[0].losses) == (0, 0)
