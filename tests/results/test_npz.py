"""Arrays in npz: what a file announces is looked at before memory is taken for it."""

import io
import tracemalloc
import warnings
import zipfile

import fuzz_saved
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toplist.results import npz

NUMBERS = {"a": np.arange(5, dtype=np.uint8), "b.c": np.array([0.5, np.inf]), "": np.zeros(0, bool)}


def written(tmp_path, given=NUMBERS):
    npz.write(tmp_path / "a.npz", given)
    return (tmp_path / "a.npz").read_bytes()


def read(data):
    return npz.read(io.BytesIO(data))


def test_arrays_come_back_as_they_are(tmp_path):
    found = read(written(tmp_path))
    assert list(found) == list(NUMBERS)
    for name, array in NUMBERS.items():
        assert found[name].dtype == array.dtype and found[name].tobytes() == array.tobytes()
    with pytest.raises(FileExistsError):
        npz.write(tmp_path / "a.npz", NUMBERS)


WHOLE = st.sampled_from([0, 1, 255, 256, 65_536, 2**31, 2**32]) | st.integers(0, 2**62)
KINDS = {"i8": WHOLE | st.integers(-(2**63), -1), "u8": WHOLE, "f8": st.floats() | WHOLE.map(float)}


@given(st.data())
def test_the_smallest_type_holds_the_same_numbers(data):
    kind = data.draw(st.sampled_from(list(KINDS)))
    array = np.array(data.draw(st.lists(KINDS[kind], max_size=4)), kind)
    small = npz.smallest(array)
    assert small.itemsize <= array.itemsize
    again = small.astype(array.dtype)
    assert np.array_equal(again, array, equal_nan=kind == "f8")
    assert np.array_equal(np.signbit(again), np.signbit(array))


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ([0, 255], "u1"), ([0, 256], "u2"), ([-1, 127], "i1"), ([-1, 128], "i2"), ([2**32], "i8"),
        ([-(2**31)], "i4"), ([1.0, 255.0], "u1"), ([0.5], "f4"), ([0.1], "f8"), ([1e300], "f8"),
        ([np.nan, 0.5], "f4"), ([-0.0], "f4"), ([True], "b1"),
    ],
)  # fmt: skip
def test_the_smallest_type(numbers, kind):
    assert npz.smallest(np.array(numbers)).dtype == np.dtype(kind)


def npy(head, data=bytes(8), magic=b"\x93NUMPY\1\0"):
    head = head.ljust(117) + b"\n"
    return magic + len(head).to_bytes(2, "little") + head + data


GOOD = b"{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }"


def test_a_header_as_numpy_writes_it():
    assert read(fuzz_saved.zipped([("a.npy", npy(GOOD))]))["a"].tolist() == [0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"(1,)", b"(99999999999999999,)", "array 'a' is not as long as it says"),
        (b"(1,)", b"(2,)", "not as long as it says"),
        (b"(1,)", b"(9999999999999999999,)", "no one-dimensional array of numbers"),
        (b"(1,)", b"(1, 1)", "no one-dimensional array"),
        (b"(1,)", b"()", "no one-dimensional array"),
        (b"<i8", b"|O", "no one-dimensional array"),
        (b"<i8", b"<U2", "no one-dimensional array"),
        (b"<i8", b"<f2", "no one-dimensional array"),
        (b"False", b"True", "no one-dimensional array"),
        (b"{'descr", b"{ 'descr", "no one-dimensional array"),
        (b"<i8", b"<i4", "not as long as it says"),
    ],
)
def test_headers_that_announce_something_else(old, new, words):
    tracemalloc.start()
    with pytest.raises(ValueError, match=words):
        read(fuzz_saved.zipped([("a.npy", npy(GOOD.replace(old, new)))]))
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def test_other_members():
    for data in (b"", b"\x93NUMPY", npy(GOOD, magic=b"\x93NUMPY\2\0"), npy(GOOD)[:40]):
        with pytest.raises(ValueError, match="'a' is no one-dimensional array of numbers"):
            read(fuzz_saved.zipped([("a.npy", data)]))
    with pytest.raises(ValueError, match="array 'a' is there twice"):
        read(fuzz_saved.zipped([("a.npy", npy(GOOD)), ("a.npy", npy(GOOD))]))


def test_zips_that_unpack_to_more_than_they_are(tmp_path):
    zeros = npy(GOOD.replace(b"1,", b"2097152,"), bytes(1 << 24))
    bomb = fuzz_saved.zipped([("a.npy", zeros)], packed=True)
    shared = zip_of_one_for_all(20)
    many = fuzz_saved.zipped([(f"{i}.npy", b"") for i in range(65)])
    tracemalloc.start()
    for data, words in (
        (bomb, "an array is compressed"),
        (shared, "its arrays are longer than the file"),
        (many, "its directory is too long"),
    ):
        with pytest.raises(ValueError, match=words):
            read(data)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def zip_of_one_for_all(n):
    """Return a zip whose directory has the place of one array under n names."""
    data = fuzz_saved.zipped([("a.npy", npy(GOOD, bytes(8 * 2000)))])
    start, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    entries = b"".join(
        data[start:end].replace(b"a.npy", bytes([97 + i]) + b".npy") for i in range(n)
    )
    counts = n.to_bytes(2, "little") * 2 + len(entries).to_bytes(4, "little")
    return data[:start] + entries + data[end : end + 8] + counts + data[end + 16 :]


def test_ends_and_checksums(tmp_path):
    data = written(tmp_path)
    for wrong in (data[:-1], data + b"x", data[:-22], b""):
        with pytest.raises(ValueError, match="it is cut, or goes on behind the end"):
            read(wrong)
    at = data.index(bytes(range(5)))
    with pytest.raises(zipfile.BadZipFile, match="Bad CRC-32"):
        read(data[:at] + b"\7" + data[at + 1 :])
    with warnings.catch_warnings(), pytest.raises(ValueError, match="its directory is too long"):
        read(data[:-42] + b"PK\6\7" + bytes(16) + data[-22:])
