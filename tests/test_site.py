"""The build of the site finds links that lead nowhere, and changes those that have a page."""

import sys
from pathlib import Path

import pytest

SITE = Path(__file__).parents[1] / ".ci" / "site"


@pytest.fixture
def links(monkeypatch):
    """Return the module of the site's links, which is not on the path."""
    monkeypatch.syspath_prepend(SITE)
    yield __import__("links")
    del sys.modules["links"]


def test_links_to_files_become_links_to_pages_outside_of_code(links, tmp_path):
    readme = (
        "[a](src/a.py) and `[a](src/a.py)`\n```\n[a](src/a.py)\n```\n"
        "[out](https://x.org/a) ![p](p.png)"
    )
    (tmp_path / "src").mkdir()
    for name, text in {"README.md": readme, "src/a.py": "", "p.png": ""}.items():
        (tmp_path / name).write_text(text)
    files = {"README.md": "README.md", "src/a.py": "guide/a.rst"}
    expected = readme.replace("[a](src/a.py)", "[a](guide/a.rst)", 1)
    assert links.relinked(tmp_path, files) == {"README.md": expected}
    assert links.copied(tmp_path, files) == {"p.png"}


def test_a_link_to_no_file_is_an_error(links, tmp_path):
    (tmp_path / "README.md").write_text("[gone](notebooks/gone.ipynb)")
    with pytest.raises(SystemExit, match=r"README.md: the link notebooks/gone.ipynb leads to no"):
        links.relinked(tmp_path, {"README.md": "README.md"})


def test_dead_links_anchors_and_pictures_are_found(links, tmp_path):
    page = '<p id="here"><a href="#here"></a><a href="{}"></a><img src="{}"></p>'
    (tmp_path / "a.html").write_text(page.format("b.html#here", "p.png"))
    (tmp_path / "b.html").write_text(page.format("a.html#there", "gone.png"))
    (tmp_path / "p.png").write_text("")
    assert links.dead(tmp_path) == [
        "b.html: a.html#there leads to no place of its page",
        "b.html: gone.png leads to no file",
    ]
