"""Values of one's own: dicts, Series and tables are matched by user, and never by accident."""

import re

import numpy as np
import pytest

from toplist import inference

paired_tests, RNG = inference.paired_tests, np.random.default_rng
NDCG = "ndcg@10"


@pytest.fixture
def written():
    """Two tables as a cluster writes them, the rows in other orders, and the values by user."""
    rng = RNG(1)
    users = [f"u{i}" for i in range(40)]
    tables, by_user = {}, {}
    for name in ("als", "popularity"):
        order = rng.permutation(users).tolist()
        tables[name] = {"user_id": order, NDCG: rng.random(40)}
        by_user[name] = dict(zip(order, tables[name][NDCG].tolist(), strict=True))
    return tables, by_user


ASKED = [
    paired_tests,
    lambda some: inference.equivalence(some, margin=0.1),
    inference.tukey,
    lambda some: inference.ratio(*((one, one) for one in some.values())),
]


@pytest.mark.parametrize("ask", ASKED)
def test_tables_and_series_by_user_are_matched_by_user(ask, written):
    tables, by_user = written
    by_place = {name: [some[u] for u in by_user["als"]] for name, some in by_user.items()}
    one, other = (paired_tests(some)[0] for some in (by_user, by_place))
    assert (one.difference, one.p) == pytest.approx((other.difference, other.p), rel=1e-12)
    expected = repr(ask(by_user))
    for library, made in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        make = getattr(pytest.importorskip(library), made)
        frames = {name: make(table) for name, table in tables.items()}
        assert repr(ask(frames)) == expected
        assert repr(ask({**frames, "als": by_user["als"]})) == expected  # beside a dict
        if library == "pandas":
            series = {name: one.set_index("user_id")[NDCG] for name, one in frames.items()}
            assert repr(ask(series)) == expected


@pytest.mark.parametrize("ask", ASKED)
def test_series_that_count_their_rows_are_not_paired_by_accident(ask, written):
    pandas = pytest.importorskip("pandas")
    tables, by_user = written
    series = {name: pandas.DataFrame(table)[NDCG] for name, table in tables.items()}
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
    wide, by_index = table.assign(**{"mrr@10": 0.0}), table.set_index("user_id")
    columns = "als are a table of 'user_id', 'ndcg@10', 'mrr.*"
    both = re.escape("['user_id', 'ndcg@10']")
    for error, given, line in (
        (TypeError, wide, rf"{columns}table\[{both}\]"),
        (TypeError, polars.from_pandas(wide), rf"{columns}select\({both}\)"),
        (TypeError, by_index, r"if its index has the users, table\['ndcg@10'\]"),
        (TypeError, polars.LazyFrame(table.to_dict("list")), r"als'\] is a LazyFrame: .*collect"),
        (ValueError, pandas.concat([table, table]), "the table of als has user .* twice"),
        (ValueError, pandas.Series([1.0, 2.0, 3.0], [1, 1, 2]), "the Series of als has user 1 tw"),
    ):
        with pytest.raises(error, match=line):
            paired_tests({"als": given, "popularity": table})
    assert paired_tests({"als": by_index[NDCG], "popularity": table})[0].difference == 0
    with pytest.raises(TypeError, match=r"another order: .*set_index\('user_id'\)\.sort_index"):
        inference.band(table, table)


def test_arrays_are_paired_by_position_and_say_so():
    """Equal values of the same users in two orders: nobody wins, once values are keyed."""
    values = RNG(0).random(30)
    by_position = paired_tests({"a": values, "b": values[::-1]})
    assert "paired by position" in str(by_position) and by_position[0].wins > 0
    keyed = dict(enumerate(values.tolist()))
    matched = paired_tests({"a": keyed, "b": dict(reversed(keyed.items()))})
    assert "by position" not in str(matched) and (matched[0].wins, matched[0].losses) == (0, 0)


# Clusters and weights


@pytest.mark.parametrize("labels", [["a", "a\0", "b", "c"], [1, "1", 2, 3]])
def test_labels_of_clusters_are_told_apart_as_in_python(labels):
    values = {name: RNG(i).random(8) for i, name in enumerate("xy")}
    by_user = {name: dict(enumerate(some.tolist())) for name, some in values.items()}
    for tests in (
        paired_tests(values, clusters=labels * 2),
        paired_tests(by_user, clusters=dict(enumerate(labels * 2))),
    ):
        assert tests.plan.n_clusters == 4 and tests[0].df == pytest.approx(3)
        assert "over 8 " in str(tests) and "in 4 clusters" in str(tests)


@pytest.mark.parametrize("name", ["weights", "clusters"])
def test_weights_and_clusters_by_user_may_be_a_series(name, written):
    pandas, (_, by_user) = pytest.importorskip("pandas"), written
    given = {user: 1 + row % 7 for row, user in enumerate(by_user["als"])}
    expected = repr(paired_tests(by_user, **{name: given}))
    assert repr(paired_tests(by_user, **{name: pandas.Series(given)[::-1]})) == expected
    table = pandas.DataFrame({"user_id": [*given], name: [*given.values()]})
    with pytest.raises(TypeError, match=f"{name} is a table: give a dict user -> value"):
        paired_tests(by_user, **{name: table})
    with pytest.raises(ValueError, match="clusters: user 'u.* has none"):
        paired_tests(by_user, clusters=pandas.Series(given).where(lambda one: one > 1))
