"""What tests of files share: a folder to write files in."""

import gzip

import pytest


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Write text or bytes under a name, in the folder where the test runs; return the name."""
    monkeypatch.chdir(tmp_path)

    def put(name, content):
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return name

    return put
