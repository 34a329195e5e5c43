"""Forms of the lists, the catalogue and what is known of items: each says the same."""

import numpy as np
import pytest
from listwise import listwise

import toplist as tl
from toplist import beyond

LISTS = [[5, 7, 3], [4, 5, 2], [2, 3, 5], [1, 4, 6], [5, 3, 7]]
OTHERS = [[7, 5, 1], [4, 5, 2], [5, 6, 7], [2, 3, 5], [3, 7, 5]]
GROUPS = {5: "a", 7: "b", 3: "a"}  # the others are the group None
COVERAGE, GINI = [0.5, 0.75, 0.875], [0.575, 0.425, 0.34166666666666667]

FORMS = {  # what makes the ranks of lists of ids, and an id of an integer
    "lists": (list, int),
    "tuples": (lambda lists: tuple(map(tuple, lists)), int),
    "array": (np.array, int),
    "int32": (lambda lists: np.array(lists, np.int32), int),
    "uint8": (lambda lists: np.array(lists, np.uint8), int),
    "uint32": (lambda lists: np.array(lists, np.uint32), int),
    "wide": (list, lambda item: 10**15 + item),
    "wide array": (np.array, lambda item: 10**15 * (item - 10)),
    "huge": (list, lambda item: 2**62 + item),
    "unsigned": (lambda lists: np.array(lists, np.uint64), lambda item: 2**62 + item),
    "Lists": (lambda lists: tl.inputs.Lists(np.arange(6) * 3, np.ravel(lists)), int),
    "strings": (list, "i{}".format),
    "text array": (np.array, "i{}".format),
    "dict": (lambda lists: {f"u{u}": ranked for u, ranked in enumerate(lists)}, "i{}".format),
}


def overlaps_are_the_plain_ones(a, b):
    assert (
        beyond.overlap(a, b).per_user.tobytes() == beyond.overlap(LISTS, OTHERS).per_user.tobytes()
    )


def groups_are_the_plain_ones(exposure, groups):
    found = exposure.ratios(groups)
    assert list(found)[-1] is None and set(found) == {"a", "b", None}
    expected = beyond.exposure(LISTS, catalogue=8).ratios(GROUPS)
    for group, ratio in found.items():
        assert ratio.tobytes() == expected[group].tobytes()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(form):
    make, kind = FORMS[form]
    ranks, others = (make([list(map(kind, one)) for one in lists]) for lists in (LISTS, OTHERS))
    ids = list(map(kind, range(8)))
    for catalogue in (ids, np.array(ids), set(ids), dict.fromkeys(ids), [*ids, ids[3], ids[5]]):
        exposure = beyond.exposure(ranks, catalogue=catalogue)
        assert listwise.item_coverage(exposure).tolist() == COVERAGE
        np.testing.assert_allclose(listwise.gini(exposure), GINI, rtol=0, atol=1e-12)
    expected = listwise.shannon_entropy(LISTS)
    assert listwise.shannon_entropy(ranks).tobytes() == expected.tobytes()
    overlaps_are_the_plain_ones(ranks, others)
    groups_are_the_plain_ones(exposure, {kind(item): group for item, group in GROUPS.items()})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", [int, "item {}".format])
def test_tables(library, kind):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame

    def table(lists):
        rows = [(f"u{u}", kind(i), r) for u, one in enumerate(lists) for r, i in enumerate(one, 1)]
        names = "who", "item_id", "rank"
        return make(dict(zip(names, map(list, zip(*rows[::-1], strict=True)), strict=True)))

    options = {"columns": {"user_id": "who"}}
    catalogue = list(map(kind, range(8)))
    found = listwise.item_coverage(table(LISTS), catalogue=catalogue, **options)
    assert found.tolist() == COVERAGE
    counts = {kind(i): i for i in range(8)}
    found = listwise.average_popularity(table(LISTS), 2, counts=counts, **options)
    assert found[:, 0].tolist() == [5, 1, 2, 4, 5]  # users as they first appear
    groups = {kind(item): group for item, group in GROUPS.items()}
    exposure = beyond.exposure(table(LISTS), catalogue=catalogue, **options)
    groups_are_the_plain_ones(exposure, groups)
    written = {f"u{u}": list(map(kind, one)) for u, one in enumerate(OTHERS)}
    plain = beyond.overlap(LISTS, OTHERS).per_user
    for b in (table(OTHERS), written):
        found = beyond.overlap(table(LISTS), b, **options)
        assert found.users == ["u4", "u3", "u2", "u1", "u0"]
        assert np.array_equal(found.per_user, plain[::-1])
    assert np.array_equal(beyond.overlap(written, table(LISTS), **options).per_user, plain)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_groups_of_a_series_and_by_position(library):
    series = pytest.importorskip(library).Series
    for groups in (series(["a", None]), ["a", None]):
        assert list(beyond.exposure([[0, 1]], catalogue=2).ratios(groups)) == ["a", None]
    if library == "pandas":
        groups_are_the_plain_ones(beyond.exposure(LISTS, catalogue=8), series(GROUPS))


def test_series_of_lists_and_of_counts():
    pandas = pytest.importorskip("pandas")
    a, b = {"x": [1, 2], "y": [3]}, {"y": [4], "x": [2, 1]}
    assert beyond.overlap(pandas.Series(a), b).per_user.tolist() == [[0, 1], [0, 0]]
    a, b = pandas.Series([[1, 2], [3]]), [[2, 1], [4]]
    for other in (pandas.Series(b), b):
        by_position = beyond.overlap(a, other)
        assert by_position.users is None
        assert by_position.per_user.tolist() == [[0, 1], [0, 0]]
    with pytest.raises(TypeError, match="b is keyed by user, a is by position"):
        beyond.overlap(a, {0: [2, 1], 1: [4]})
    train = pandas.Series([3, 3, 5, 7, 7, 7])
    found = listwise.average_popularity([[5, 7, 3]], counts=train.value_counts())
    assert found.tolist() == [[1, 2, 2]]
    assert listwise.item_coverage([[5, 7]], catalogue=train)[-1] == pytest.approx(2 / 3)


def test_padding_and_repeats():
    numbers, text = np.array([[3, 1, -1], [2, -1, -1]]), [["c", "a", ""], ["b", "", ""]]
    for padded, other, catalogue, padding in (
        (numbers, [[3, -1, -1], [2, 5, -1]], 4, -1),
        (text, [["c", "", ""], ["b", "x", ""]], list("abcd"), ""),
    ):
        options = {"padding": padding}
        found = listwise.item_coverage(padded, catalogue=catalogue, **options)
        assert found.tolist() == [0.5, 0.75]
        found = beyond.overlap(padded, other, divisor="union", **options)
        assert found.per_user.tolist() == [[1, 0.5], [1, 0.5]]
    first = {"duplicates": "first"}
    found = listwise.average_popularity([[0, 0, 1]], counts=[4, 2, 1], **first)
    assert found.tolist() == [[4, 4, 3]]
    found = beyond.exposure([[0, 0, 1]], catalogue=2, **first)
    assert found.curves.total.tolist() == [1, 1, 2]
    found = beyond.overlap([[1, 1, 2]], [[2, 1, 2]], divisor="union", **first)
    assert found.per_user.tolist() == [[0, 0.5, 1]]


def test_padding_of_text_in_a_table():
    """Padding ends each list; among the names of the column it may come anywhere."""
    polars = pytest.importorskip("polars")
    lists = [["a", "b", ""], ["b", "c", ""]]
    table = polars.DataFrame({"user_id": [1, 2], "item_id": lists})
    for found in (lists, table):
        entropy = listwise.shannon_entropy(found, padding="")
        np.testing.assert_array_equal(entropy, listwise.shannon_entropy([["a", "b"], ["b", "c"]]))
