"""The notebooks run from top to bottom; a failing cell is a failing test."""

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
if not NOTEBOOKS:
    pytest.skip("tests are run away from the project", allow_module_level=True)

LIMIT = 60  # seconds of a notebook, on two cores


def read(path):
    return nbformat.read(path, as_version=4)


def execute(notebook):
    """Run all cells, in the folder of the notebooks."""
    resources = {"metadata": {"path": str(FOLDER)}}
    client = nbclient.NotebookClient(notebook, timeout=LIMIT, resources=resources)
    client.execute()
    return notebook


# the client's own event loops and sockets, and its kernel's
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path):
    start = time.perf_counter()
    notebook = execute(read(path))
    assert time.perf_counter() - start < LIMIT
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    said = "".join(one.text for one in outputs if one.get("name") == "stderr")
    assert said == ""  # no warning that a reader would have to explain away
    pictures = [one for one in outputs if "image/png" in one.get("data", {})]
    assert pictures


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_failing_cell_fails():
    cells = [nbformat.v4.new_code_cell(code) for code in ("x = 1", "assert x == 2", "x = 3")]
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="assert x == 2"):
        execute(nbformat.v4.new_notebook(cells=cells))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_clean(path):
    """Without outputs, counts and machine names, so that a diff shows what was written."""
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    for cell in notebook.cells:
        assert cell.metadata == {}
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
    assert any("assert " in cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert path.stat().st_size < 100_000


def test_readme_and_the_notebooks_link_them_in_reading_order():
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\(notebooks/(\w+)\.ipynb\)", readme)
    assert linked == [path.stem for path in NOTEBOOKS]
    for path, following in pairwise(NOTEBOOKS):
        assert read(path).cells[-1].source.endswith(f"({following.name}).")
