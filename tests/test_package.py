"""What holds for the whole package: light imports, forks, threads, layers, documents."""

import ast
import configparser
import dataclasses
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import numba
import pytest

import toplist
from toplist import CONVENTIONS, METRICS
from toplist.inputs.options import ITEMS
from toplist.metrics.beyond_accuracy import LIST_METRICS, variant

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(toplist.__file__).parent
OPTIONAL = {"pandas", "polars", "pyarrow", "matplotlib", "scipy", "narwhals", "sklearn", "IPython"}
OPTIONAL |= {"pyspark", "jinja2", "markupsafe"}
SIX = ("hit", "precision", "recall", "map", "ndcg", "mrr")


def fresh(code, *options, timeout=120, **variables):
    """Run code in a fresh interpreter; a variable of None is unset. Return its output."""
    environment = {**os.environ, **variables}
    environment = {name: value for name, value in environment.items() if value is not None}
    run = subprocess.run(
        [sys.executable, "-P", *options, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout


# Light imports

STEPS = r"""
import re, sys
def loaded(step):
    names = {name.partition(".")[0] for name in sys.modules}
    print("\nLOADED", step, *sorted(names))
import toplist
print(len([name for name in sys.modules if name.startswith("toplist")]))
print("toplist.spark" in sys.modules, "spark" in dir(toplist))
loaded("import")
print(toplist.spark.Ranks.__module__)
loaded("spark")
named = re.findall("`toplist[.]([a-z]+)`|^    ([a-z_]+)  ", toplist.__doc__, re.M)
print(len([getattr(toplist, a or b) for a, b in named]))
from toplist import *
loaded("names")
from toplist.cli import main
for arguments in (["--help"], ["eval", "--help"], ["metrics", "ndcg"]):
    try:
        main(arguments)
    except SystemExit:
        pass
    loaded("cli")
print(toplist.top_k_eval([[1]], [{1}], k=1))
loaded("evaluation")
"""


def test_light_imports_and_a_module_for_each_that_the_documentation_names():
    """One process, step by step: what is loaded once stays."""
    out = fresh(STEPS)
    steps = [line.split()[1:] for line in out.splitlines() if line.startswith("LOADED ")]
    names = ["import", "spark", "names", *["cli"] * 3, "evaluation"]
    assert [step for step, *_ in steps] == names
    for _, *loaded in steps[:-1]:
        assert OPTIONAL.isdisjoint(loaded) and {"numba", "llvmlite"}.isdisjoint(loaded)
    assert (OPTIONAL - {"scipy"}).isdisjoint(steps[-1])  # numba loads scipy where it finds it
    lines = [line for line in out.splitlines() if line and line[:6] != "LOADED"]
    n_modules, *spark, n_named = lines[:4]
    assert int(n_modules) <= 42  # hardly more than the first version, a folder of files: 35
    assert spark == ["False True", "toplist.spark"] and int(n_named) > 25


# Imports in the source

SOURCES = sorted(PACKAGE.rglob("*.py"))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def imports(node, inside=False):
    """Yield (module, whether inside a function) of every import; not those for type checkers."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.Import):
            yield from ((alias.name.partition(".")[0], inside) for alias in one.names)
        elif isinstance(one, ast.ImportFrom):
            yield (one.module or "").partition(".")[0], inside
        elif isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING":
            continue
        elif isinstance(one, BLOCKS):
            yield from imports(one, inside or isinstance(one, FUNCTIONS))


def test_only_kernels_import_numba_and_no_module_an_optional_library():
    usual = {"numpy", "numba", "toplist", "__future__"} | sys.stdlib_module_names
    for path in SOURCES:
        found = set(imports(ast.parse(path.read_text())))
        at_module_level = {name for name, inside in found if not inside}
        assert at_module_level.isdisjoint(OPTIONAL) and at_module_level <= usual, path
        compiled = {name for name, _ in found} & {"numba", "llvmlite"}
        assert not compiled or path.parent.name == "kernels", path
        if path.parts[-2:] == ("kernels", "__init__.py"):
            assert not compiled  # loaded with the first kernel, by another module


# Processes and threads


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_evaluates_after_its_parent():
    out = fresh(
        """
        import os, signal, threading
        import numpy as np
        import toplist as tl
        from toplist import parallel

        ranks = np.arange(4 * parallel.BLOCK).reshape(-1, 64)  # several blocks: threads are used

        def mean():
            return tl.top_k_eval(ranks, ranks[:, 7], k=64, metrics="mrr", n_threads=2)["mrr@64"]

        started = []
        start = threading.Thread.start
        threading.Thread.start = lambda self: (started.append(self), start(self))
        assert mean() == 1 / 8
        assert started and threading.active_count() == 1
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # ends a child that hangs
            os._exit(0 if mean() == 1 / 8 else 3)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), mean())
        """
    )
    assert out.split() == ["0", "0.125"]


@pytest.fixture
def sealed(tmp_path):
    """Install a copy of the package that has no place for compiled code; return variables.

    Files stand where the folders would be made, which stops even those who may write everywhere.
    """
    copy = tmp_path / "install" / "toplist"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (copy, copy / "kernels", tmp_path / "install"):
        (folder / "__pycache__").write_text("")
        folder.chmod(0o555)
    home = tmp_path / "home"
    home.write_text("")
    yield {
        "PYTHONPATH": str(tmp_path / "install"),
        "HOME": str(home),
        "USERPROFILE": str(home),
        "LOCALAPPDATA": str(home),
        "XDG_CACHE_HOME": None,
        "NUMBA_OPT": "0",  # which compiles faster
        "NUMBA_CACHE_DIR": None,
    }
    for folder in (copy, copy / "kernels", tmp_path / "install"):
        folder.chmod(0o755)


def test_a_sealed_install_without_a_home_evaluates_in_eight_threads_at_once(sealed):
    out = fresh(
        """
        import threading
        import toplist as tl
        print(tl.__file__)
        start, found = threading.Barrier(8), []

        def call():
            start.wait()
            found.append(tl.top_k_eval(tl.Hits.from_ranks([2, 0], 2), k=2, metrics=["mrr", "hit"]))

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print([[*one] for one in found] == [[0.25, 0.5]] * 8)

        import numba

        try:  # it is sealed indeed
            numba.njit(cache=True)(tl.kernels.curves.curves.py_func)
        except RuntimeError as error:
            print("no locator available" in str(error))
        """,
        "-Werror",
        **sealed,
    )
    path, *values = out.splitlines()
    assert path.startswith(sealed["PYTHONPATH"]) and values == ["True", "True"]


# Documents


def public_names():
    """Return the names that `toplist` publishes, in the order of its source."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    aliases = [
        alias
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("toplist")
        for alias in node.names
    ]
    return [alias.asname or alias.name for alias in aliases]


def test_public_names_are_listed_once():
    names = public_names()
    assert [name for name, times in Counter(names).items() if times > 1] == []
    promised = {*SIX, "curves", "match", "top_k_eval", "Hits", "Metric", "TopKResult"}
    assert promised | {"METRICS", "CONVENTIONS", "Ranks", "GroundTruths", "Items"} <= set(names)
    modules = {path.stem for path in PACKAGE.iterdir()}
    assert sorted(toplist.__all__) == sorted(names)
    published = {name for name in vars(toplist) if not name.startswith("_")}
    assert published - set(names) <= modules
    for name in modules.intersection(names):
        assert isinstance(getattr(toplist, name), ModuleType)


def documented(name):
    """Return what a public name stands for; of a module, its functions and classes, if any."""
    found = getattr(toplist, name)
    if not isinstance(found, ModuleType):
        return [found]
    if hasattr(found, "__all__"):
        return [getattr(found, name) for name in found.__all__]
    inside = [one for key, one in vars(found).items() if key[0] not in "_@"]  # @: names of pytest
    # a module that defines nothing publishes what others define, or its text
    own = [one for one in inside if getattr(one, "__module__", "") == found.__name__]
    return own or inside or [found]


@pytest.mark.parametrize("name", public_names())
def test_public_names_have_an_example_or_are_data_and_signatures_can_be_read(name):
    """In help() and by `?`: ArrayLike spelt out is six lines of numpy's own."""
    assert documented(name)
    for found in documented(name):
        assert isinstance(found, (Mapping, tuple)) or ">>> " in found.__doc__, found
        if callable(found) and not (isinstance(found, type) and issubclass(found, Warning)):
            methods = [getattr(found, key) for key in vars(found) if not key.startswith("_")]
            for one in (found, *filter(callable, methods)):
                assert "numpy._typing" not in str(inspect.signature(one)), one


def test_a_wrong_keyword_is_a_type_error_that_names_it():
    message = r"^top_k_eval\(\) got .* keyword argument 'metric' \(did you mean 'metrics'\?\)$"
    with pytest.raises(TypeError, match=message):
        toplist.top_k_eval("no", "where", k=0, metric=3)


MOVED = {
    "gains": r"convention=toplist.CONVENTIONS\[.standard.\].replace\(gains=",
    "item_counts": r"items=toplist.Items\(counts=",
    "baseline": r"items=toplist.Items\(expected=",
    "weighting": r"toplist.Propensities\(p, weighting=",
    "ties": r"toplist.Ranks\(ranks, ties=",
    "ground_truths_format": r"toplist.GroundTruths\(path, format=",
    "partitions": r"toplist.spark.Ranks\(recs, partitions=",
}


def test_what_is_gone_names_its_new_place():
    for name, place in MOVED.items():
        with pytest.raises(TypeError, match=f"no keyword '{name}' since 0.4: write .*{place}"):
            toplist.top_k_eval([[1]], [{1}], **{name: 1})
    with pytest.raises(TypeError, match=r"CONVENTIONS\[.trec_eval.\].replace\(missing="):
        toplist.top_k_eval([[1]], [{1}], convention="trec_eval", missing="zero")
    gone = {(toplist, "dcg"): r"toplist.curves\('dcg'"}
    gone[toplist, "paired_tests"] = "toplist.inference.paired_tests"
    gone |= {(toplist.beyond, name): rf'toplist.curves\("{name}' for name in LIST_METRICS}
    for (module, name), place in gone.items():
        with pytest.raises(AttributeError, match=f"{name} is gone since 0.4: write {place}"):
            getattr(module, name)


def test_public_modules_are_imported_by_their_names():
    for name in toplist._MODULES:
        found = importlib.import_module(f"toplist.{name}")
        assert found is getattr(toplist, name) and found.__spec__.name == found.__name__


def test_every_keyword_about_items_has_a_row():
    assert [*ITEMS, "unknown"] == [one.name for one in dataclasses.fields(toplist.Items)]
    metrics = [*LIST_METRICS.values(), variant("intra_list_diversity", {"distance": "given"})]
    assert {keyword for metric in metrics for keyword in metric.needs} == set(ITEMS)


needs_sources = pytest.mark.skipif(
    not (ROOT / "setup.cfg").exists(), reason="tests are run away from the project"
)


@needs_sources
def test_layers_list_every_module():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    layers = config["importlinter:contract:flow"]["layers"].split()
    listed = Counter(name for name in layers if name != "|" and name[0] != "(")
    modules = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert listed == Counter(modules | packages)


@needs_sources
def test_every_folder_of_modules_is_a_package():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert config["tool"]["pytest"]["ini_options"]["filterwarnings"][0] == "error"
    assert config["tool"]["setuptools"]["packages"]["find"]["include"] == ["toplist", "toplist.*"]
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert all((folder / "__init__.py").exists() for folder in folders)
    assert config["project"]["dependencies"] and all(
        re.match("(numpy|numba)>=", one) for one in config["project"]["dependencies"]
    )
    assert (PACKAGE / "py.typed").exists()


@needs_sources
def test_every_child_process_of_a_test_has_a_limit():
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    for path in (path for path, text in sources.items() if "subprocess.run" in text):
        for node in ast.walk(ast.parse(sources[path])):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "subprocess.run":
                assert any(one.arg == "timeout" for one in node.keywords), (path, node.lineno)


def test_the_chapter_of_metrics_has_a_row_for_each_metric_and_convention():
    for row in [*(f"`{name}`" for name in METRICS), *(f"{name} " for name in CONVENTIONS)]:
        assert re.search(rf"^{re.escape(row)}", toplist.metrics.__doc__, re.MULTILINE), row


def test_numba_is_not_asked_for_parallel_kernels():
    """It kills a forked child, and two threads that call it abort."""
    from toplist.kernels import curves, join

    kernels = [one for module in (curves, join) for one in vars(module).values()]
    kernels = [getattr(one, "compiled", one) for one in kernels]
    options = [
        one.targetoptions for one in kernels if isinstance(one, numba.core.dispatcher.Dispatcher)
    ]
    assert options and not any(option.get("parallel") for option in options)
    assert all(option["nogil"] for option in options)
