"""Lines and rows that have no end: what they take in memory is bounded."""

import gzip

import pytest
from file_helpers import fault
from shared_inputs import fresh

from toplist.files import read_ranks, read_truths, text


@pytest.mark.slow
def test_a_line_without_an_end(put, tmp_path):
    """A small gz that unpacks to one line of 300 MB; its memory is bounded."""
    for name in ("a.jsonl.gz", "a.csv.gz", "a.run.gz"):
        with gzip.open(tmp_path / name, "wb", compresslevel=1) as file:
            for _ in range(300):
                file.write(b"x" * 1_000_000)
        code = """
            import resource, sys
            from toplist.files import read_ranks
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            try:
                read_ranks(sys.argv[1])
            except ValueError as error:
                print(error)
            print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
        """
        *message, peak = fresh(code, name)
        limit = text.JSON_LINE if "json" in name else text.LINE
        assert " ".join(message) == f"{name}:1: the line has no end after {limit:,} bytes"
        assert int(peak) < 200  # MB


ENDLESS = [
    *((name, "x" * 1500, f"{name}:1: the line has no end after 1,000 bytes")
      for name in ("a.csv", "a.jsonl.gz", "a.run")),
    ("a.csv", "user_id,item_id\nu,a\n" + "x" * 1500, "a.csv:3: the line has no end"),
    ("a.csv", "user_id,item_id\n" + '"a\n",' * 100 + '"b\n",' * 300, "a.csv:2: the row has no end"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "words"), ENDLESS)
def test_a_short_limit_of_a_line(put, monkeypatch, name, content, words):
    monkeypatch.setattr(text, "LINE", 1000)
    monkeypatch.setattr(text, "JSON_LINE", 1000)
    monkeypatch.setattr(text, "STEP", 100)
    read = read_truths if "user_id" in content else read_ranks
    assert fault(read, put(name, content)).startswith(words)
