"""Files that are written: whole or not at all."""

import errno
import gzip
import os
import stat
import sys

import pytest

from toplist.files import write_text
from toplist.results.saved import write_all


def test_text_is_written_as_it_is(put, tmp_path):
    write_text(tmp_path / "a.csv", "é\r\nb\n")
    assert (tmp_path / "a.csv").read_bytes() == "é\r\nb\n".encode()
    write_text("a.csv", "new")  # a bare name
    assert (tmp_path / "a.csv").read_text() == "new"
    assert os.listdir() == ["a.csv"]
    written = []
    for _ in range(2):
        write_text("a.csv.gz", "text\n")
        written.append((tmp_path / "a.csv.gz").read_bytes())
    assert gzip.decompress(written[0]) == b"text\n" and written[0] == written[1]


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_write_text_keeps_links_and_the_usual_mode(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("")
    (tmp_path / "link").symlink_to(plain)
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert plain.read_text() == "text"
    write_text(tmp_path / "new", "text")
    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("plain", "new")]
    umask = os.umask(0)
    os.umask(umask)
    assert modes == [0o666 & ~umask] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_write_text_does_not_replace_a_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(path, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(path).st_mode)


@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_an_open_stream_is_written_where_it_is(tmp_path, folder):
    if not os.path.exists(folder):
        pytest.skip(f"no {folder}")
    reader, writer = os.pipe()
    with open(reader, "rb") as source, open(writer, "wb") as sink:
        write_text(f"{folder}/{sink.fileno()}", "text")
        assert os.read(source.fileno(), 10) == b"text"
    with open(tmp_path / "log", "wb", buffering=0) as log:
        log.write(b"before ")
        write_text(f"{folder}/{log.fileno()}", "text")
        log.write(b" after")
    assert (tmp_path / "log").read_text() == "before text after"


def test_text_that_cannot_be_written(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.csv", "\ud800")
    assert os.listdir(tmp_path) == []
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "text")


def test_all_files_or_none(put, tmp_path):
    put("a.csv", "old a")
    put("b.csv", "old b")

    def full(path):
        with open(path, "w") as file:
            file.write("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left on device: 'b.csv'"):
        write_all({"a.csv": "new a", "b.csv": full, "c.csv": b"new"})
    assert sorted(os.listdir()) == ["a.csv", "b.csv"]
    assert (tmp_path / "a.csv").read_text() == "old a"
    write_all({"a.csv": "new a", "b.csv": lambda p: put(os.path.basename(p), "b"), "c.csv.gz": "c"})
    assert sorted(os.listdir()) == ["a.csv", "b.csv", "c.csv.gz"]
    assert (tmp_path / "b.csv").read_text() == "b"
    assert gzip.decompress((tmp_path / "c.csv.gz").read_bytes()) == b"c"


def test_a_failed_rename_names_the_file(put, tmp_path, monkeypatch):
    put("a.csv", "old a")
    put("c.csv", "old c")
    replace = os.replace

    def refuse(source, target):
        assert os.path.dirname(source) == str(tmp_path) and os.path.exists(source)
        if target.endswith("c.csv"):
            raise OSError(errno.EIO, "refused")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="refused: 'c.csv'"):
        write_all({"a.csv": "new", "c.csv": "new"})
    assert sorted(os.listdir()) == ["a.csv", "c.csv"]  # no temporary file is left
    assert (tmp_path / "a.csv").read_text() == "new"
    assert (tmp_path / "c.csv").read_text() == "old c"


def test_targets_that_cannot_be(put, tmp_path):
    put("a.csv", "old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="two of the files to write are one"):
        write_all({"a.csv": "", "link.csv": ""})
    with pytest.raises(IsADirectoryError, match="'folder'"):
        write_all({"a.csv": "new", "folder": "new"})
    with pytest.raises(FileNotFoundError, match="'none/b.csv'"):
        write_all({"a.csv": "new", "none/b.csv": "new"})
    assert (tmp_path / "a.csv").read_text() == "old"
    assert sorted(os.listdir()) == ["a.csv", "folder", "link.csv"]
