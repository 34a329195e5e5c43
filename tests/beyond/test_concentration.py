"""Concentration from counts of counts: the bits of the lists; counts of any size are exact."""

import pickle
import sys
from collections import Counter

import numpy as np
import pytest
from doors import by_words
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import beyond as oracle

import toplist as tl
from toplist import beyond
from toplist.beyond import from_counts_of_counts

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
COUNTS = {1: 2, 2: 3, 3: 1, 4: 1}  # within k = 3
CATALOGUE = 9
FIGURES = [
    beyond.item_coverage,
    beyond.gini,
    lambda x: beyond.gini(x, divisor="n-1"),
    lambda x: beyond.gini(x, over="recommended"),
    lambda x: beyond.gini(x, over="recommended", divisor="n-1"),
    beyond.shannon_entropy,
    lambda x: beyond.shannon_entropy(x, unit="bits"),
    lambda x: beyond.shannon_entropy(x, normalised="catalogue"),
    lambda x: beyond.shannon_entropy(x, normalised="recommended"),
    lambda x: beyond.shannon_entropy(x, variant="recbole"),
    beyond.personalisation,
]


def counted(lists, k):
    return dict(Counter(oracle.listings(lists, k).values()))


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, CATALOGUE - 1), unique=True, max_size=7), max_size=12),
    st.sets(st.integers(1, 8), min_size=1),
    st.booleans(),
)
def test_counts_give_the_bits_of_the_lists(lists, ks, zeros):
    local = beyond.exposure(lists, 8, catalogue=CATALOGUE)
    counts = {k: counted(lists, k) for k in ks}
    if zeros:
        counts = {k: {0: CATALOGUE - sum(one.values())} | one for k, one in counts.items()}
    catalogue = None if zeros else CATALOGUE
    found = from_counts_of_counts(counts, catalogue=catalogue, n_users=sum(map(bool, lists)))
    for figure in FIGURES:
        expected = figure(local)[np.array(sorted(ks)) - 1]
        assert figure(found).tobytes() == expected.tobytes()
    for k, one in counts.items():
        alone = from_counts_of_counts(one, catalogue=catalogue)
        for figure in FIGURES[:-1]:
            np.testing.assert_array_equal(figure(alone), figure(local)[k - 1 : k])


LARGE = st.dictionaries(st.integers(1, 2**45), st.integers(1, 2**35), min_size=1, max_size=9)


@settings(deadline=None, max_examples=100)
@given(LARGE, st.integers(0, 2**40))
def test_counts_of_any_size_are_exact(counts, unlisted):
    k, catalogue, n_users = 10**9, sum(counts.values()) + unlisted, 2**60
    found = from_counts_of_counts({k: counts}, catalogue=catalogue, n_users=n_users)
    assert beyond.item_coverage(found) == oracle.coverage_of_counts(counts, catalogue)
    for divisor in ("n", "n-1"):
        expected = oracle.gini_of_counts(counts, catalogue, divisor)
        assert beyond.gini(found, divisor=divisor) == expected
        expected = oracle.gini_of_counts(counts, None, divisor)
        assert beyond.gini(found, over="recommended", divisor=divisor) == expected
    entropy = oracle.entropy_of_counts(counts)
    assert abs(beyond.shannon_entropy(found)[0] - entropy) <= 4e-15 * max(1, entropy)
    shared = oracle.personalisation_of_counts(counts, k, n_users)
    assert abs(beyond.personalisation(found)[0] - shared) <= 4e-16


def doubled(exposure, times):
    for _ in range(times):
        exposure = exposure + exposure
    return exposure


@pytest.mark.parametrize("times", [20, 24, 31, 40, 53, 57])
def test_merged_exposures_beyond_31_bits_are_exact(times):
    """As Python's integers and fractions say it, and as the same counts of counts do."""
    found = doubled(beyond.exposure(LISTS, catalogue=CATALOGUE), times)
    counts = {
        k: {c << times: n for c, n in counted(LISTS, k).items()} for k in (1, 2, 3)
    }  # each list 2^times times
    assert found.n_users == 5 << times
    assert found.counts().tolist() == [count << times for count in LISTED] + [0]
    assert found.curves.total.tolist() == [5 << times, 10 << times, 15 << times]
    coverage = [oracle.coverage_of_counts(one, CATALOGUE) for one in counts.values()]
    assert beyond.item_coverage(found).tolist() == coverage
    gini = [oracle.gini_of_counts(one, CATALOGUE) for one in counts.values()]
    assert beyond.gini(found).tolist() == gini
    entropy = [oracle.entropy_of_counts(one) for one in counts.values()]
    np.testing.assert_allclose(beyond.shannon_entropy(found), entropy, rtol=4e-15)
    shared = [oracle.personalisation_of_counts(one, k, 5 << times) for k, one in counts.items()]
    np.testing.assert_allclose(beyond.personalisation(found), shared, rtol=4e-15)
    again = from_counts_of_counts(counts, catalogue=CATALOGUE, n_users=5 << times)
    for figure in FIGURES:
        assert figure(found).tobytes() == figure(again).tobytes()


def test_many_lists_with_few_listings_of_an_item_at_each_rank():
    """An item is in 2^24 lists at each rank, and in 2^31 in all: the sum of squares is 2^69."""
    n = 128
    rotated = [[(u + r) % n for r in range(n)] for u in range(n)]
    found = doubled(beyond.exposure(rotated, catalogue=n), 24)
    assert found.n_users == 2**31 and found.counts().tolist() == [2**31] * n
    np.testing.assert_array_equal(beyond.gini(found), 0.0)
    expected = [oracle.personalisation_of_counts({k << 24: n}, k, 2**31) for k in range(1, n + 1)]
    np.testing.assert_allclose(beyond.personalisation(found), expected, rtol=0, atol=4e-16)


def test_as_many_lists_and_items_as_there_are():
    """10^10 lists of 100 ids, and a catalogue of 10^8 items."""
    counts = {4_000_000_000: 1, 1_995_000: 400_000, 2_000: 99_000_000}
    found = from_counts_of_counts({100: counts}, catalogue=10**8, n_users=10**10)
    assert beyond.item_coverage(found).tolist() == [0.99400001]
    assert beyond.gini(found).tolist() == [oracle.gini_of_counts(counts, 10**8)]
    assert repr(found) == "CountsOfCounts(k=100, 100,000,000 items, 10,000,000,000 lists)"
    assert found.frequencies == {100: {0: 599_999} | counts}
    assert list(found.frequencies[100]) == [0, 2_000, 1_995_000, 4_000_000_000]


# Forms


LEVELS, SIZES = list(COUNTS), list(COUNTS.values())
TABLE = {"n": LEVELS, "items": np.array(SIZES, np.int32)}
LISTED = beyond.exposure(LISTS, catalogue=8).counts()


def module(name):
    return pytest.importorskip(name)


FORMS = {  # others are read as those of tests/loo/test_rank_counts.py
    "dict": lambda: COUNTS,
    "dict of numpy's": lambda: dict(zip(np.array(LEVELS), np.array(SIZES), strict=True)),
    "in another order": lambda: dict(reversed(COUNTS.items())),
    "an empty count": lambda: COUNTS | {9: 0},
    "lists": lambda: (LEVELS, SIZES),
    "np.unique": lambda: np.unique(LISTED, return_counts=True),
    "pandas": lambda: module("pandas").DataFrame(TABLE),
    "pandas, columns": lambda: tuple(module("pandas").DataFrame(TABLE)[name] for name in TABLE),
    "polars, group_by": lambda: module("polars").DataFrame({"n": LISTED}).group_by("n").len(),
    "polars, columns": lambda: tuple(module("polars").DataFrame(TABLE).get_columns()),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_the_same(name):
    made = FORMS[name]
    alone = from_counts_of_counts(made(), catalogue=8)
    by_k = from_counts_of_counts({3: made(), 1: {1: 3, 2: 1}}, catalogue=range(8))
    expected = beyond.exposure(LISTS, catalogue=8)
    for figure in FIGURES[:-1]:
        assert figure(alone).tolist() == figure(expected)[2:].tolist()
        assert figure(by_k).tolist() == figure(expected)[[0, 2]].tolist()
    assert by_k.ks == (1, 3) and alone.frequencies == {None: {0: 1} | COUNTS}


def test_nothing_listed_and_no_catalogue():
    nothing = from_counts_of_counts({}, catalogue=4, n_users=3)
    assert beyond.item_coverage(nothing).tolist() == [0.0]
    assert np.isnan([beyond.gini(nothing), beyond.shannon_entropy(nothing)]).all()
    unknown = from_counts_of_counts(COUNTS)
    assert unknown.n_items is None and repr(unknown) == "CountsOfCounts(no stated catalogue)"
    assert beyond.gini(unknown, over="recommended") == beyond.gini(LISTS, over="recommended")[-1]
    assert beyond.shannon_entropy(unknown) == beyond.shannon_entropy(LISTS)[-1]
    kept = pickle.loads(pickle.dumps(unknown))
    assert from_counts_of_counts(kept.frequencies, catalogue=8).n_items == 8
    by_k = from_counts_of_counts({3: COUNTS, 10: {0: 1, 5: 7}}, n_users=5)
    again = from_counts_of_counts(by_k.frequencies, n_users=5)
    assert again.frequencies == by_k.frequencies and again.n_items == by_k.n_items == 8


def test_duckdb_counts_the_counts():
    duckdb = pytest.importorskip("duckdb")
    rows = [(u, i, r) for u, one in enumerate(LISTS) for r, i in enumerate(one, start=1)]
    con = duckdb.connect()
    con.execute("CREATE TABLE recs (user_id BIGINT, item_id BIGINT, rank INT)")
    con.executemany("INSERT INTO recs VALUES (?, ?, ?)", rows)
    counts = {
        k: con.sql(
            f"WITH seen AS (SELECT COUNT(*) n FROM recs WHERE rank <= {k} GROUP BY item_id) "
            "SELECT n, COUNT(*) FROM seen GROUP BY n"
        )
        for k in (1, 2, 3)
    }
    local = beyond.exposure(LISTS, catalogue=8)
    fetched = {k: one.fetchall() for k, one in counts.items()}
    for given_counts in [fetched, counts] if "pyarrow" in sys.modules else [fetched]:
        found = from_counts_of_counts(given_counts, catalogue=8, n_users=5)
        for figure in FIGURES:
            assert figure(found).tobytes() == figure(local).tobytes()


# What is refused


def frame(**columns):
    return lambda: module("pandas").DataFrame(columns)


def lazy():
    return module("polars").DataFrame(TABLE).lazy()


WRONG_VALUES = [
    ({5: "7"}, {}, "number of items '7': whole"),
    ([(1, 2), (1, 3)], {}, "count 1 is there twice"),
    (([1, 2, 1], [3, 4, 5]), {}, "count 1 is there twice"),
    (([1, 2], [3]), {}, "2 counts, but 1 numbers of"),
    ({-1: 2}, {}, "counts: count -1: whole numbers"),
    ({1: -2}, {}, "number of items -2: whole numbers"),
    ({1.5: 2}, {}, "count 1.5: whole numbers from 0"),
    ({1: 2.0}, {}, "2.0: .* of an integer type"),
    ({True: 2}, {}, "count True: whole"),
    ({None: 2}, {}, "count None: whole"),
    ({"a": 2}, {}, "count 'a': whole"),
    ({2**63: 2}, {}, "count 9223372036854775808: whole"),
    ({None: {1: 2}, 3: {1: 2}}, {}, "k must be a whol"),
    ({0: {1: 2}}, {}, "k must be at least 1, not 0"),
    (frame(n=[1]), {}, "a table of columns 'n': give"),
    (frame(n=[1, None], m=[1, 2]), {}, "count 1.0: whole numbers .* of an integer type"),
    ({1: 3, 2: 2}, {"catalogue": 4}, "counts: 5 items, but the catalogue has 4: 5 are listed"),
    ({0: 1, 1: 3}, {"catalogue": range(7)}, "leave out the count 0, or make it 4"),
    ({5: {0: 60, 1: 2}}, {"catalogue": 100}, "at k=5: 62 items, .* has 100: .* or make it 98"),
    ({5: {0: 4, 1: 3}, 9: {0: 2, 1: 4}}, {}, "at k=9: 6 items, but the catalogue has 7"),
    ({1: 1}, {"catalogue": 0}, "catalogue must be at least"),
    ({5: {4: 1}}, {"n_users": 3}, "at k=5: an item is in 4 lists, but there are 3 lists: count an"),
    ({2: {3: 3}}, {"n_users": 3}, "at k=2: 9 listings, but 3 lists of 2 hold at most 6"),
    ({1: 1}, {"n_users": 2.0}, "n_users 2.0: whole"),
    ({5: {3: 3}, 9: {2: 4}}, {}, "at k=9: 8 listings, fewer than the 9 at k=5"),
    ({5: {3: 3}, 9: {6: 2}}, {}, "at k=9: 2 listed items, fewer than the 3 at k=5"),
]
WRONG_TYPES = [
    ([1, 2], "counts is a list: give a dict of cou"),
    ({5: [1, 2]}, "counts at k=5 is a list: give"),
    ({5: np.arange(9999)}, "k=5 is a ndarray: give"),
    (lambda: {5: lazy()}, "counts at k=5: a LazyFrame that"),
    ([(1, 2, 3)], "counts is a list: give a dict"),
    (lazy, "counts: a LazyFrame that is not collected"),
    (((1, 2), (3, 4)), "a tuple that holds a tuple"),
    ({5: {1: 2}, 6: 3}, "counts at k=6 is a int"),
]


def refused(error, words, call):
    with pytest.raises(error, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("counts", "options", "words"), WRONG_VALUES)
def test_counts_of_wrong_values(counts, options, words):
    counts = counts() if callable(counts) else counts
    refused(ValueError, words, lambda: from_counts_of_counts(counts, **options))


@pytest.mark.parametrize(("counts", "words"), WRONG_TYPES)
def test_counts_of_wrong_types(counts, words):
    counts = counts() if callable(counts) else counts
    refused(TypeError, words, lambda: from_counts_of_counts(counts))


FOUND = from_counts_of_counts({3: COUNTS})
NO_K = from_counts_of_counts(COUNTS, n_users=5)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: beyond.gini(FOUND), ValueError, "gini over the catalogue needs catalogue="),
        (lambda: beyond.item_coverage(FOUND), ValueError, "item_coverage needs catalogue="),
        (lambda: beyond.gini(FOUND, catalogue=8), TypeError, "counted already: it takes no catal"),
        (lambda: beyond.shannon_entropy(FOUND, 2), TypeError, "are of some k's already"),
        (lambda: beyond.personalisation(FOUND), ValueError, "needs k and the number of lists"),
        (lambda: beyond.personalisation(NO_K), ValueError, "needs k and the number of lists"),
        (lambda: FOUND + FOUND, TypeError, "do not add up, since an item may be in both"),
        (lambda: sum([FOUND, FOUND]), TypeError, "do not add up"),
        (lambda: FOUND.counts(), AttributeError, "'CountsOfCounts' object has no attribute"),
        (lambda: beyond.exposure(FOUND), TypeError, "of type CountsOfCounts, which holds no lists"),
        (lambda: beyond.group_exposure(FOUND, groups={1: 2}), TypeError, "which holds no lists"),
        (lambda: beyond.novelty(FOUND, counts=[1] * 9), TypeError, "which holds no lists"),
        (
            lambda: beyond.novelty(beyond.exposure(LISTS), counts=[1] * 9),
            TypeError,
            "of type Exposure, which holds no lists: give the lists themselves",
        ),
        (lambda: beyond.overlap(FOUND, FOUND), TypeError, "a: ranks is of type CountsOfC"),
        (lambda: tl.match(FOUND, [{1}]), TypeError, "ranks is a CountsOfCounts: give"),
    ],
)
def test_what_counts_of_counts_cannot_say(call, error, words):
    refused(error, words, call)


@pytest.mark.parametrize("table", [0, 1 << 25])
def test_parts_add_up_to_the_whole_by_tables_and_by_sorting(monkeypatch, table):
    """Merged in a table of ranks and items, or sorted where that would be too large."""
    monkeypatch.setattr(sys.modules["toplist.beyond.exposure"], "TABLE", table)
    rng = np.random.default_rng(8)
    lists = [rng.permutation(30)[: rng.integers(0, 9)].tolist() for _ in range(40)]
    for catalogue in (30, list(range(29, -1, -1)), 10**7):
        options = {"catalogue": catalogue, "unknown": "skip"}
        whole = tl.beyond.exposure(lists, 8, **options)
        parts = [tl.beyond.exposure(lists[at : at + 7], 8, **options) for at in range(0, 40, 7)]
        before = pickle.dumps(parts[0])
        added = sum(parts)
        growing = parts[0]
        for part in parts[1:]:
            growing = growing.plus(part, absorbing=True)
        for found in (added, growing, pickle.loads(pickle.dumps(added)), added.without_lists()):
            assert found.n_users == sum(map(bool, lists)) < 40
            for mine, theirs in zip(found.pairs, whole.pairs, strict=True):
                assert np.array_equal(mine, theirs)
            assert np.array_equal(tl.beyond.gini(found), tl.beyond.gini(whole))
            assert np.array_equal(tl.beyond.item_coverage(found), tl.beyond.item_coverage(whole))
            entropies = tl.beyond.shannon_entropy(found), tl.beyond.shannon_entropy(whole)
            assert np.array_equal(*entropies)
        assert pickle.dumps(parts[0]) == before  # nothing was added to the first part itself


# What is a list, and which exposures merge


@pytest.mark.parametrize("nothing", [{}, {"c": []}, {"c": [-1, -1]}])
def test_an_empty_list_is_no_list(nothing):
    """Two lists of two items share one: their overlap is a half."""
    lists = {"a": [1, 2], "b": [1, 3], **nothing}
    known = {"catalogue": 4, "padding": -1}
    names = ["personalisation", "item_coverage", "gini"]
    result = by_words(lists, {"a": {1}, "c": {2}}, 2, metrics=names, **known)
    assert [result[f"{name}@2"] for name in names] == [0.5, 0.75, 0.375]
    assert [result.n_of(name) for name in names] == [2, 2, 2]
    assert beyond.personalisation(lists, 2, padding=-1).tolist() == [0, 0.5]
    assert beyond.exposure(lists, 2, **known).n_users == 2
    groups = beyond.group_exposure(lists, 2, groups=["x", "x", "y", "y"], padding=-1)
    assert groups.n_users == 2


SAME = [["z", "a", "m"], ("m", "z", "a"), {"a", "m", "z"}, np.array(["m", "a", "z"])]
SAME += [np.array(["z", "m", "a"], object), dict.fromkeys("amz")]


@pytest.mark.parametrize("one", range(len(SAME)))
@pytest.mark.parametrize("other", range(len(SAME)))
def test_exposures_over_the_same_items_merge_whatever_their_order(one, other):
    """An array is sorted where it is read, a list is not: each comes from another way to read."""
    parts = [
        beyond.exposure(lists, 2, catalogue=SAME[given])
        for lists, given in (([["z", "a"], ["m"]], one), ([["a", "m"]], other))
    ]
    for merged in (parts[0] + parts[1], parts[0].without_lists() + parts[1].without_lists()):
        assert dict(zip(merged.catalogue, merged.counts(), strict=True)) == {"z": 1, "a": 2, "m": 2}
        assert dict(zip(merged.catalogue, merged.counts(1), strict=True)) == {
            "z": 1,
            "a": 1,
            "m": 1,
        }
        assert beyond.gini(merged)[-1] == pytest.approx(2 / 15, rel=1e-15)
    with pytest.raises(ValueError, match="over two catalogues"):
        parts[0] + beyond.exposure([["a"]], 2, catalogue=["a", "m", "y"])
