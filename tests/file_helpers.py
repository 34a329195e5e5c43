"""What tests of files share: Parquet files, errors, and evaluation streamed and in memory."""

import json
import tempfile
from pathlib import Path

import pytest
from doors import by_words

import toplist as tl


def through_a_file(result):
    """Return the result that comes back from a file."""
    with tempfile.TemporaryDirectory() as folder:
        result.save(path := Path(folder, "result.npz"))
        return tl.TopKResult.load(path)


def sent(result):
    """Return the result that comes back from a file without its users."""
    return through_a_file(result.without_users())


def jsonl(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def write_parquet(path, group=None, **columns):
    """Write columns, in row groups of that many rows; return the path."""
    pyarrow, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pyarrow.table(columns), path, row_group_size=group)
    return path


def fault(call, *args, kind=ValueError, **options):
    """Return the error of a call, of one line that a person can read."""
    with pytest.raises(kind) as caught:
        call(*args, **options)
    message = str(caught.value)
    assert not isinstance(caught.value, UnicodeError)
    assert "\n" not in message
    assert len(message) < 2000
    return message


def both(recs, truth, k=3, **options):
    """Evaluate two files, without users and with them."""
    return [by_words(recs, truth, k, keep=keep, **options) for keep in (None, "users")]
