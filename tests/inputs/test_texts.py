"""Columns of text are numbered exactly: equal codes where, and only where, strings are equal."""

import numpy as np
import pytest
from collisions import colliding_texts, neighbouring_texts, not_quadratic
from hypothesis import given, settings
from hypothesis import strategies as st

import toplist as tl
from toplist.inputs import columns
from toplist.inputs.id_hashes import hashes_of
from toplist.inputs.texts import Spans, Texts, joined
from toplist.kernels import hashing
from toplist.kernels import texts as kernels


@pytest.fixture(scope="module")
def texts():
    """Return plain texts, texts of one hash, and texts whose hashes share 40 bits."""
    plain = [f"item-{number:011d}" for number in np.random.default_rng(0).permutation(20_000)]
    return plain, colliding_texts(20_000), colliding_texts(20_000, 40)


def in_lists(ids, length):
    return [ids[i : i + length] for i in range(0, len(ids), 100)]


def read_twice(ids):
    """Return the codes of texts as the readers of files number them, in two blocks."""
    numbers = Texts()
    return np.concatenate([numbers.encode(joined(part)) for part in (ids[::2], ids)])


TEXT_CASES = {
    "numbered": lambda ids: Texts().encode(joined(ids * 2)),
    "numbered in files": read_twice,
    "lists": lambda ids: tl.match(in_lists(ids, 100), in_lists(ids, 20)).ranks,
    "one list": lambda ids: tl.match(ids, set(ids[::7])).ranks,
}


@pytest.mark.parametrize("case", TEXT_CASES)
def test_texts_chosen_to_collide(case, texts):
    for chosen in texts[1:]:
        not_quadratic(TEXT_CASES[case], texts[0], chosen)
    names = Texts()
    codes = names.encode(joined(texts[1]))
    assert list(names) == texts[1] and np.array_equal(codes, np.arange(len(names)))


def test_texts_chosen_to_be_neighbours_in_the_table():
    plain = [f"item{number:08d}" for number in np.random.default_rng(0).permutation(20_000)]
    chosen = neighbouring_texts(20_000)
    not_quadratic(lambda ids: Texts().encode(joined(ids * 2)), plain, chosen)
    names = Texts()
    assert np.array_equal(names.encode(joined(chosen)), np.arange(20_000))
    assert list(names) == chosen and names._slow is not None


def test_texts_of_a_dictionary_keep_their_words(texts):
    names = Texts()
    codes = names.encode(joined(texts[1]))
    assert names._slow is not None
    assert np.array_equal(names.hashes(codes), hashes_of(texts[1]))
    assert names.index(texts[1][7]) == 7 and texts[0][7] not in names
    assert names.encode(joined([texts[0][7], "", texts[1][7]])).tolist() == [20_000, 20_001, 7]
    assert names.decoded(np.array([20_001, 20_000, 7])) == ["", texts[0][7], texts[1][7]]
    lists = in_lists(texts[1], 100)
    one, other = tl.match(lists, lists), tl.match(lists, lists[::-1])
    assert one.about.fingerprints[0].total == other.about.fingerprints[0].total


def test_a_table_of_a_file_that_grows_keeps_the_codes_of_its_texts():
    """Texts that collide and fit into the rows of a block, but not into a table of only them."""
    chosen, plain = neighbouring_texts(1_500), [f"item-{i}" for i in range(3_000)]
    rows = [*chosen, *["7"] * 100_000, *plain, *chosen, *plain]
    names = Texts()
    codes = names.encode(joined(rows))
    assert names._slow is not None
    assert len(names) == len(np.unique(codes)) == 4_501


def test_long_texts_of_one_hash():
    n, length = 300, 8_000
    words = np.arange(1, n + 1, dtype=np.uint64)
    second = (np.full(n, length, np.uint64) * hashing.GOLDEN ^ words) * hashing.GOLDEN
    second ^= second >> np.uint64(32)  # what follows the first eight bytes undoes them
    text = np.zeros((n, length), np.uint8)
    text[:, :16] = np.stack([words, second], axis=1).view(np.uint8)
    starts = np.append(np.arange(n) * length, np.zeros(20_000, int))  # the rest is nothing
    ends = np.append(starts[:n] + length, np.zeros(20_000, int))
    names = Texts()
    codes = names.number(Spans(text.ravel(), starts, ends))
    assert len(np.unique(codes)) == len(names) == n + 1


def test_look_ups_of_texts_are_bounded_too():
    chosen, names = neighbouring_texts(600), Texts()
    names.encode(joined(chosen + ["a"] * 20_000))  # within the budget: they stay in the table
    assert names._slow is None
    assert names.encode(joined(chosen[-2:] * 50_000)).tolist() == [598, 599] * 50_000
    assert names._slow is not None  # hundreds of probes for each row


def test_the_chosen_texts_do_collide(texts):
    hashes = np.empty((3, 20_000), np.int64)
    for row, words in zip(hashes, texts, strict=True):
        data = np.frombuffer(("\0".join(words) + "\0").encode(), np.uint8)
        kernels.hash_strings(data, np.flatnonzero(data == 0), row)
    distinct = [len(np.unique(row)) for row in hashes]
    assert distinct[:2] == [20_000, 1] and distinct[2] > 19_000
    assert len(np.unique(hashes[2].view(np.uint64) << np.uint64(24))) == 1


WORDS = st.text(max_size=12) | st.sampled_from(["", "a", "b", "item0000000001", "item0000000002"])


@settings(deadline=None)
@given(st.lists(WORDS, max_size=60), st.lists(WORDS, max_size=9))
def test_numbers_are_those_of_a_dictionary(strings, more):
    texts = Texts()
    codes, later = texts.encode(joined(strings)), texts.encode(joined(more))
    assert list(texts) == list(dict.fromkeys([*strings, *more]))
    assert [texts[code] for code in codes] == texts.decoded(codes) == strings
    assert texts.decoded(later) == more
    assert texts.hashes(later).tolist() == hashes_of(more).tolist()
    for number, text in enumerate(texts):
        assert text in texts and texts.index(text) == number
    assert "not there" not in texts and 7 not in texts
    with pytest.raises(ValueError, match="'not there' is not"):
        texts.index("not there")


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=60), st.randoms())
def test_views_are_read_as_spans_are(strings, random):
    pyarrow = pytest.importorskip("pyarrow")
    parts = [pyarrow.array(strings, pyarrow.string_view()) for _ in range(2)]
    array = pyarrow.chunked_array(parts).combine_chunks()  # with several buffers
    column = columns.read(pyarrow.table({"item_id": array}), "item_id").texts
    texts = Texts()
    assert texts.decoded(column.encode(texts)) == 2 * strings
    rows = np.array(random.choices(range(2 * len(strings)), k=5))
    found = texts.decoded(texts.encode(column.texts.take(rows)))
    assert found == [(2 * strings)[row] for row in rows]


@pytest.mark.parametrize("name", ["item{}", "a longer name of item {}"])
def test_many_distinct_strings_make_the_table_grow(name):
    strings = [name.format(i * 7919 % 40_000) for i in range(100_000)]
    texts = Texts()
    codes = texts.encode(joined(strings))
    assert len(texts) == 40_000
    assert texts.decoded(codes) == strings
    shuffled = np.random.default_rng(0).permutation(100_000)
    again = texts.encode(joined([strings[row] for row in shuffled.tolist()]))
    assert np.array_equal(again, codes[shuffled])


@pytest.mark.parametrize("part", [200, 5_000, 9_000])
@pytest.mark.parametrize("which", ["number_texts", "place_texts"])
@pytest.mark.parametrize("call", [1, 2])
def test_a_table_that_gave_up_becomes_a_dictionary(monkeypatch, part, which, call):
    """Where many texts share places, the numbers are those of the table all the same."""
    strings = [f"item-{i * 7919 % 3_000:0{i % 2 * 15}d}" for i in range(9_000)]
    plain, texts = Texts(), Texts()
    codes = plain.encode(joined(strings))
    texts.encode(joined(strings[:100]))
    calls, kernel = [], getattr(kernels, which)

    def once(*arguments):
        calls.append(arguments)
        failed = (-1, part) if which == "number_texts" else False
        return failed if len(calls) == call else kernel(*arguments)

    monkeypatch.setattr(kernels, which, once)
    first = texts.encode(joined(strings[:part]))
    assert np.array_equal(first, codes[:part])
    assert np.array_equal(texts.encode(joined(strings)), codes)
    assert len(calls) == call or which == "place_texts"
    assert (texts._slow is not None) == (len(calls) == call)
    assert list(texts) == list(plain) and texts.index(strings[200]) == codes[200]
    assert "new" not in texts and np.array_equal(texts.hashes(codes[:99]), hashes_of(strings[:99]))


def test_a_text_is_found_behind_thousands_that_share_its_place(monkeypatch):
    texts = Texts()
    texts.encode(joined(["a", "b", "a longer name"]))
    monkeypatch.setattr(kernels, "find_texts", lambda *_: -1)
    assert [texts.index(text) for text in texts] == [0, 1, 2]
    assert "c" not in texts


@pytest.mark.parametrize("block", [4, 1_000])
@pytest.mark.parametrize("before", [0, 4])
def test_strings_of_one_hash_stay_apart(monkeypatch, before, block, texts):
    monkeypatch.setattr("toplist.inputs.texts.BLOCK", block)
    names = Texts()
    names.encode(joined(["known"]))
    words = ["known"] * before + texts[1][:40] * 2
    assert names.decoded(names.encode(joined(words))) == words
    assert list(names) == ["known", *texts[1][:40]] and names._slow is None
    assert names.index(words[-1]) == 40 and texts[1][40] not in names


def test_numbers_below_zero_count_from_the_end():
    texts = Texts()
    texts.encode(joined(["a", "b", "a longer name"]))
    assert [texts[-1], texts[-2], texts[-3]] == ["a longer name", "b", "a"]
    for number in (-4, 3):
        with pytest.raises(IndexError):
            texts[number]


@pytest.mark.parametrize(
    "name",
    ["{}", "{:07d}", "{:012d}", "{:x}", "{}x", "i{}", "item {:04d} x", "a long name, no. {}"],
)
def test_usual_names_spread_over_the_table(monkeypatch, name):
    """Else a dictionary would take its place; the table grows twice in one block of rows."""
    texts, sizes, place = Texts(), [], kernels.place_texts

    def noted(keys, table):
        sizes.append(len(table))
        return place(keys, table)

    monkeypatch.setattr(kernels, "place_texts", noted)
    strings = [name.format(number) for number in range(60_000)]
    assert texts.encode(joined(strings)).tolist() == list(range(len(strings)))
    assert sizes == [1 << 14, 1 << 16, 1 << 18]
    slots = np.flatnonzero(texts._table)
    together = np.count_nonzero(np.diff(slots) == 1) / len(slots)
    assert abs(together - len(slots) / len(texts._table)) < 0.1  # as of random slots
    assert texts._slow is None
