"""The notebooks show what a run of them shows, and what they say in words holds."""

import re
import struct
import sys
import time
from base64 import b64decode
from itertools import pairwise
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
if not NOTEBOOKS:
    pytest.skip("tests are run away from the project", allow_module_level=True)
sys.path.append(str(FOLDER))

import make_outputs  # noqa: E402

CHECK = """
import sys
from types import SimpleNamespace
sys.path.append({folder!r})
import notebook_checks
notebook_checks.{name}(SimpleNamespace(**globals()))
"""
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
# all but the first are slow
each_run = pytest.mark.parametrize(
    "path",
    [
        NOTEBOOKS[0],
        *(pytest.param(path, marks=pytest.mark.slow(seconds=10)) for path in NOTEBOOKS[1:]),
    ],
    ids=lambda path: path.stem,
)
# the client's own event loops and sockets, and its kernel's
runs_a_kernel = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def read(path):
    return nbformat.read(path, as_version=4)


def run(notebook, check):
    """Run a notebook and, with its names, the function of `notebook_checks` called `check`."""
    code = CHECK.format(folder=str(Path(__file__).parents[1]), name=check)
    notebook.cells.append(nbformat.v4.new_code_cell(code))
    make_outputs.run(notebook)
    del notebook.cells[-1]
    make_outputs.clean(notebook)


def shown(output):
    """Return what is compared: text and tables as they are, of a picture its size."""
    data = dict(output.get("data", {"text": output.get("text")}))
    if "image/png" in data:
        data["image/png"] = struct.unpack(">II", b64decode(data["image/png"])[16:24])
    return data


def alike(stored, now):
    """Compare outputs; sizes differ a little, as widths of text do between matplotlibs."""
    sizes = {kind: pytest.approx(of, rel=0.05) for kind, of in stored.items() if "png" in kind}
    return now == stored | sizes


@runs_a_kernel
@each_run
def test_a_run_shows_what_is_stored(path):
    """After a change on purpose: ``python notebooks/make_outputs.py``."""
    notebook, start = read(path), time.perf_counter()
    run(notebook, path.stem.partition("_")[2])
    assert time.perf_counter() - start < make_outputs.LIMIT
    for stored, now in zip(read(path).cells, notebook.cells, strict=True):
        outputs = stored.get("outputs", []), now.get("outputs", [])
        for before, after in zip(*outputs, strict=True):
            assert alike(shown(before), shown(after)), f"cell {stored.id} shows {shown(after)}"


def test_another_number_and_another_size_are_found():
    table, picture = {"text/plain": "0.1314"}, {"image/png": (616, 374)}
    assert alike(table, table) and alike(picture, {"image/png": (620, 374)})
    for found in ({"text/plain": "0.1315"}, {}, {"image/png": (700, 374)}):
        assert not alike(table, found) and not alike(picture, found)


def test_a_failing_check_and_a_warning_are_refused():
    folder = str(Path(__file__).parents[1])
    with pytest.raises(AttributeError, match="result"):  # which no cell has made
        exec(CHECK.format(folder=folder, name="quickstart"), {"x": 1})
    warned = nbformat.v4.new_output("stream", name="stderr", text="look here")
    cells = [nbformat.v4.new_code_cell("1", outputs=[warned])]
    with pytest.raises(ValueError, match="look here"):
        make_outputs.clean(nbformat.v4.new_notebook(cells=cells))


@each_notebook
def test_it_is_stored_with_what_a_run_shows(path):
    """All cells in order, and nothing of the machine that ran them."""
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata == make_outputs.METADATA
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert all(cell.metadata == {} for cell in notebook.cells)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not any(re.search(r"^\s*assert ", cell.source, re.MULTILINE) for cell in code)

    outputs = [output for cell in code for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    for text in (text for output in outputs for text in shown(output).values()):
        assert not re.search(r"0x[0-9a-f]{6}|/home/|/tmp/|/Users/|<Axes|<Figure", str(text))
    assert path.stat().st_size < 400_000


@each_notebook
def test_its_head_says_how_to_run_it(path):
    head = read(path).cells[0].source
    assert head.startswith(f"# {path.stem[0]} · ")
    assert head.endswith('`pip install -e ".[notebook]"`, then `jupyter lab notebooks`.*')


def test_readme_and_the_notebooks_link_them_in_reading_order():
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\(notebooks/(\w+)\.ipynb\)", readme)
    assert linked == [path.stem for path in NOTEBOOKS]
    for path, following in pairwise(NOTEBOOKS):
        assert read(path).cells[-1].source.endswith(f"({following.name}).")
