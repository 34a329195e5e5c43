"""Messages that all packages share: wrong choices, prefixes of errors, missing columns."""

import subprocess
import sys
import time

import pytest
from shared_inputs import frame_of, said

import toplist as tl
from toplist.checks import choice, name_hint, near, optional, prefixed


def test_a_wrong_choice_keeps_its_keyword():
    for value in ("never", None, 0):
        words = f"ties={value!r}: choose from 'order', 'average'"
        said(words, choice, "ties", value, ["order", "average"])


def test_a_prefix_keeps_the_type_of_an_error():
    assert type(prefixed("a: ", TypeError("b"))) is TypeError
    broken = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert str(prefixed("a: ", broken)).startswith("a: 'utf-8' codec")


def test_all_missing_columns_of_tables_in_memory():
    table = frame_of("pandas", {"who": [1], "what": [2]})
    said("no columns 'user_id', 'item_id' ... found: ['who', 'wh", tl.match, table, {1: [2]})
    said("no columns 'user_id', 'item_id', ... : ['who', 'wh", tl.loo.leave_one_out, table)
    said("no columns 'label', 'prediction' ... : ['who', 'wh", tl.pointwise.auc, table)


def test_names_of_any_length_take_no_time():
    """Whatever stands in a header, or in the place of a name."""
    start = time.monotonic()
    assert near("x" * 10**7, ["ndcg"]) is None
    assert name_hint(["user_id"], ["x" * 10**7] * 2) == ""
    assert name_hint(["user_id"], map(str, range(10**6))) == ""
    assert time.monotonic() - start < 1


FAULTS = ["ImportError('numpy.core.multiarray failed to import')"]
FAULTS += [
    "ValueError('numpy.dtype size changed')",
    "ModuleNotFoundError('no numpy', name='numpy')",
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_library_that_fails_to_import_is_installed(tmp_path, monkeypatch, fault):
    (tmp_path / "of_an_old_numpy.py").write_text(f"raise {fault}")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="a needs it, which is installed and cannot be") as caught:
        optional("of_an_old_numpy", "a needs it", "io")
    assert fault.partition("('")[2].partition("'")[0] in str(caught.value)
    with pytest.raises(ImportError, match=r"a needs it, which is not installed: pip .*list\[io\]'"):
        optional("no_library_at_all", "a needs it", "io")


def test_parquet_where_pyarrow_fails_to_import(tmp_path):
    (tmp_path / "pyarrow").mkdir()
    (tmp_path / "pyarrow" / "__init__.py").write_text("raise ImportError('numpy is too old')")
    truth = tmp_path / "truth.csv"
    truth.write_text("user_id,item_id\nu,a\n")
    (tmp_path / "recs.parquet").write_bytes(b"PAR1")
    text = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import toplist as tl\n"
    text += f"print(len(tl.files.read_truths({str(truth)!r})))\n"
    text += f"tl.top_k_eval({str(tmp_path / 'recs.parquet')!r}, {str(truth)!r}, 1)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.stdout == "1\n"  # CSV is read without it
    assert done.stderr.endswith(
        "ImportError: Parquet files are read through pyarrow, which is installed and cannot be "
        "imported: ImportError: numpy is too old\n"
    )
