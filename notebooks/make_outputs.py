"""Run the notebooks and store what they show: text, tables and pictures.

Run ``python notebooks/make_outputs.py`` for all of them, or name some of them after it; the extra
``[notebook]`` installs what is needed. A notebook is written only if all of its cells ran without
an error and without a warning. ``tests/notebooks/test_notebooks.py`` runs the notebooks again and
compares what they show with what is stored.
"""

import sys
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parent
LIMIT = 60  # seconds of a cell, and in the tests of a whole notebook
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def run(notebook):
    """Run all cells of a notebook, in the folder of the notebooks; its outputs are replaced."""
    client = nbclient.NotebookClient(
        notebook,
        timeout=LIMIT,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute()


def clean(notebook):
    """Drop what tells of the machine or says nothing to a reader; refuse warnings."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.NotebookNode()
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise ValueError(f"cell {cell.id!r} warns: {output.text}")
            if "data" in output:
                output.metadata = nbformat.NotebookNode()
            if "image/png" in output.get("data", {}):
                output.data.pop("text/plain", None)  # <Axes: ...>, beside the picture itself


def main(names):
    """Run the notebooks named, or all, and write them."""
    paths = [FOLDER / Path(name).name for name in names] or sorted(FOLDER.glob("*.ipynb"))
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        run(notebook)
        clean(notebook)
        nbformat.write(notebook, path)
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
