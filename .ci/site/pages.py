"""The pages of the site: which there are, in which order; the reference pages, written here."""

import inspect
import os
import pkgutil
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

sys.path.append(str(Path(__file__).resolve().parents[2] / "notebooks"))

import make_report
import members
import pictures
from members import comment_of

import toplist
from toplist import cli

# Guide: the modules and packages whose docstrings are chapters, in reading order.
CHAPTERS = {
    "toplist.inputs": "Inputs",
    "toplist.metrics": "Metrics and conventions",
    "toplist.results": "Results",
    "toplist.comparing": "Comparing",
    "toplist.inference": "Tests and intervals",
    "toplist.plots": "Plots",
    "toplist.files": "Files",
    "toplist.spark": "Spark",
    "toplist.loo": "Splits",
    "toplist.beyond": "Beyond accuracy",
    "toplist.propensities": "Propensities",
    "toplist.scores": "Score matrices",
    "toplist.pointwise": "Predicted values",
    "toplist.testing": "Assertions",
    "toplist.reporting": "Reports",
    "toplist.audit": "Data checks",
    "toplist.cli": "Command line",
    "toplist.typing": "Types of options",
}
# Beside the pages of the site: what `toplist report` wrote of the example data.
EXAMPLE = "example_report.html"
COOKBOOK = Path("cookbook.md")  # among the notebooks
# Modules and packages that users do not import.
INSIDE = {"__main__", "averages", "checks", "evaluation", "kernels", "matching", "parallel"}
INSIDE |= {"stats", "top_k"}
# What users import under another name than that of its module.
ALIASES = {
    "toplist.annotating": "toplist.audit.annotating",
    "toplist.inference": "toplist.comparing.inference",
    "toplist.propensities": "toplist.averages.propensities",
    "toplist.testing": "toplist.comparing.testing",
}

# Classes that people meet as results and never import, by the module that has them.
RETURNED = {
    "toplist.annotating": ["ItemsToJudge", "ItemToJudge"],
    "toplist.reporting.showing": ["Shown", "ListedItem", "MissedItem"],
    "toplist.comparing.tests": ["Tests"],
    "toplist.comparing.contrasts": ["Contrast", "TestPlan"],
    "toplist.comparing.views": ["Band", "Movers", "Mover", "Power"],
    "toplist.comparing.gating": ["GateRow"],
    "toplist.comparing.datasets": ["OverDatasets"],
    "toplist.stats.datasets": ["Friedman", "Replicability"],
    "toplist.results.segments": ["Segments", "Bounds"],
    "toplist.comparing.segments": ["SegmentedComparison", "Heterogeneity"],
    "toplist.comparing.judge": ["JudgeCorrected"],
    "toplist.stats.planning": ["Corrected"],
}

PROJECT = {
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "CHANGELOG.md",
    ".github/CONTRIBUTING.md": "CONTRIBUTING.md",
}


def module_of(name: str) -> ModuleType:
    """Return the module of a chapter."""
    return import_module(ALIASES.get(name, name))


def public(module: ModuleType) -> list[str]:
    """Return what a module publishes, without its modules; or else what it defines."""
    names = getattr(module, "__all__", None)
    if names is None:
        own = {n: v for n, v in vars(module).items() if inspect.isroutine(v) or inspect.isclass(v)}
        names = [n for n, v in own.items() if v.__module__ == module.__name__ and n[0] != "_"]
    return [name for name in names if not inspect.ismodule(getattr(module, name))]


def _present() -> dict[str, str]:
    """Return the chapters whose modules there are; a public module without one is an error."""
    modules = {module.name for module in pkgutil.iter_modules(toplist.__path__)}
    if missing := {f"toplist.{name}" for name in modules - INSIDE} - set(CHAPTERS):
        raise SystemExit(f"no chapter of .ci/site/pages.py for {', '.join(sorted(missing))}")
    root = Path(toplist.__file__).parents[1]
    return {name: title for name, title in CHAPTERS.items() if _file(root, name)}


def _file(root: Path, name: str) -> str | None:
    """Return the file of a module or package, from the repository's root."""
    stem = ALIASES.get(name, name).replace(".", "/")
    return next((f for f in (f"{stem}.py", f"{stem}/__init__.py") if (root / f).is_file()), None)


def files_of(root: Path) -> dict[str, str]:
    """Return the page of every file of the repository that has one."""
    files = {"README.md": "README.md", "toplist/__init__.py": "reference/toplist.rst"}
    files |= {file: page for file, page in PROJECT.items() if (root / file).is_file()}
    files |= {f"notebooks/{p.name}": f"notebooks/{p.name}" for p in [*_notebooks(root), COOKBOOK]}
    return files | {_file(root, name): f"guide/{name}.rst" for name in _present()}


def _notebooks(root: Path) -> list[Path]:
    """Return the notebooks in reading order."""
    return sorted((root / "notebooks").glob("*.ipynb"))


def _first_line(text: str | None) -> str:
    """Return the first line of a docstring, without its point."""
    return (text or "").strip().split("\n")[0].removesuffix(".")


def _toctree(caption: str, entries: Iterable[str]) -> list[str]:
    """Return the part of the navigation under one caption."""
    return ["```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```", ""]


def site_map(root: Path) -> list[str]:
    """Return the map of the site: a line per page, in the words of the pages themselves."""
    guide, reference = _present(), _names()
    project = [page for file, page in PROJECT.items() if (root / file).is_file()]
    lines = ["## Guide", ""]
    for name in guide:
        text = _first_line(module_of(name).__doc__)
        lines.append(f"- [{guide[name]}](guide/{name}.rst), `{name}`: {text}")
    lines += ["- {doc}`notebooks/cookbook`", "", "## Reference", ""]
    for title, names in reference.items():
        lines.append(f"- {title}: " + ", ".join(f"{{py:obj}}`~{name}`" for name in names))
    lines += ["", "## Notebooks", ""]
    lines += [f"- {{doc}}`notebooks/{path.stem}`" for path in _notebooks(root)]
    lines += ["", "## Project", ""]
    lines += ["- [README](README.md)", *(f"- {{doc}}`{Path(page).stem}`" for page in project)]
    lines.append("")
    lines += _toctree("Start", ["README <README>"])
    chapters = [f"{title} <guide/{name}>" for name, title in guide.items()]
    lines += _toctree("Guide", [*chapters, "Cookbook <notebooks/cookbook>"])
    lines += _toctree("Reference", [f"reference/{page}" for page in groups()])
    lines += _toctree("Notebooks", [f"notebooks/{path.stem}" for path in _notebooks(root)])
    return lines + _toctree("Project", [Path(page).stem for page in project])


def _returned() -> list[str]:
    """Return the names of classes that are met and not imported."""
    return [name for names in RETURNED.values() for name in names]


def _names() -> dict[str, list[str]]:
    """Return the full names that the map shows, by kind."""
    found: dict[str, list[str]] = {}
    for page, (title, names) in groups().items():
        kind = "Functions" if page == "toplist" else "Classes" if page == title else title
        found.setdefault(kind, []).extend(f"toplist.{name}" for name in names)
    of = [f"{module}.{name}" for module, names in RETURNED.items() for name in names]
    return found | {title: of}


def groups() -> dict[str, tuple[str, list[str]]]:
    """Return the pages of the reference of `toplist` itself: title and names of each."""
    found: dict[str, list[str]] = {"toplist": [], "metric_functions": [], "definitions": []}
    classes = []
    for name in public(toplist):
        value = getattr(toplist, name)
        if inspect.isclass(value):
            classes.append(name)
        elif not callable(value):
            found["definitions"].append(name)
        else:
            found["metric_functions" if name in toplist.METRICS else "toplist"].append(name)
    titles = "toplist", "Metrics as functions", "Definitions as data"
    pages = {page: (title, found[page]) for page, title in zip(found, titles, strict=True)}
    pages |= {name: (name, [name]) for name in sorted(classes)}
    return pages | {"returned": ("What tests and segments return", _returned())}


def _headed(title: str, *lines: str) -> str:
    """Return a page of reStructuredText with its title."""
    return "\n".join([title, "=" * len(title), "", *lines, ""])


def _directives(module: str, names: Iterable[str]) -> list[str]:
    """Return what documents each name of a module, under the name that users import."""
    lines = [f".. currentmodule:: {module}", ""]
    for name in names:
        value = getattr(module_of(module), name)
        if inspect.isclass(value):
            lines += [f".. autoclass:: {module}.{name}", ""]
            for member in members.members(value):
                kind = members.kind_of(value, member)
                lines.append(f"   .. auto{kind}:: {module}.{name}.{member}")
                lines += ["      :no-value:"] * (kind == "attribute") + [""]
        elif inspect.isroutine(value):
            lines += [f".. autofunction:: {module}.{name}", ""]
        else:
            content = [comment_of(name, value), "", *members.entries(value)]
            lines += [f".. py:data:: {name}", "", *(f"   {line}" for line in content), ""]
    return lines


def silent() -> list[str]:
    """Return the public names without a docstring."""
    found = []
    for module in ["toplist", *_present(), *RETURNED]:
        names = RETURNED.get(module) or public(module_of(module))
        for name in names:
            value = getattr(module_of(module), name)
            if inspect.isclass(value):
                found += [f"{module}.{name}.{one}".rstrip(".") for one in members.silent(value)]
            elif not (value.__doc__ if inspect.isroutine(value) else comment_of(name, value)):
                found.append(f"{module}.{name}")
    return found


def _help_pages() -> list[str]:
    """Return the page of ``--help`` of every command, 80 columns wide."""
    os.environ["COLUMNS"] = "80"
    lines = []
    for command in cli.COMMANDS:
        title = f"toplist {command}"
        text = [f"   {line}" for line in cli.parser_of(command).format_help().split("\n")]
        lines += [title, "-" * len(title), "", ".. code-block:: none", "", *text, ""]
    return lines


def _example() -> list[str]:
    """Return what shows the example of a report: its command, a picture, a link to the page."""
    lines = ["An example", "----------", "", "In the folder ``notebooks``:", ""]
    lines += [".. code-block:: sh", "", f"   {make_report.COMMAND}", ""]
    lines += [f"`The whole page <../{EXAMPLE}>`__, and a part of it:", ""]
    return [*lines, ".. image:: /notebooks/report.png", "   :alt: a part of the page", ""]


def _chapter(name: str, title: str) -> str:
    """Return the page of a module: its docstring, then what it publishes."""
    lines = [f"``{name}``", "", f".. automodule:: {name}", "   :no-members:", ""]
    lines += pictures.shown(name)
    if name == "toplist.reporting":
        lines += _example()
    if name == "toplist.cli":
        lines += _help_pages()
    # classes of `toplist` have a page of their own
    elif names := [one for one in public(module_of(name)) if one not in groups()]:
        lines += ["Reference", "---------", "", *_directives(name, names)]
    return _headed(title, *lines)


def generated() -> dict[str, str]:
    """Return the text of every page that is written from docstrings, by its path."""
    pages = {f"guide/{name}.rst": _chapter(name, title) for name, title in _present().items()}
    for page, (title, names) in groups().items():
        lines = [".. automodule:: toplist", "   :no-members:", ""] if page == "toplist" else []
        if page == "returned":
            lines = [line for at, found in RETURNED.items() for line in _directives(at, found)]
        else:
            lines += ["Reference", "---------", ""] if page == "toplist" else []
            lines += _directives("toplist", names)
        pages[f"reference/{page}.rst"] = _headed(title, *lines)
    return pages
