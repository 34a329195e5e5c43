"""What type checkers and editors know: the words of options and the names, each written once."""

import ast
import importlib
import inspect
import pkgutil
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import typing
from pathlib import Path

import pytest

import toplist
from toplist.comparing.comparison import Comparison
from toplist.files import formats
from toplist.inputs.options import DEFAULT_METRICS
from toplist.metrics import beyond_accuracy, conventions, definitions, names
from toplist.results.markup import Display

PACKAGE = Path(toplist.__file__).parent
MODULES = [
    importlib.import_module(one.name)
    for one in pkgutil.walk_packages(toplist.__path__, "toplist.")
    if "kernels" not in one.name and "__main__" not in one.name
]


COMMON_K = 1, 3, 5, 10, 20, 50, 100
# Every Literal that a module of toplist has, by its name.
LITERALS = {
    name: value
    for module in MODULES
    for name, value in vars(module).items()
    if typing.get_origin(value) is typing.Literal
}


@pytest.mark.parametrize(
    ("literal", "table"),
    [
        (definitions.MetricName, toplist.METRICS),
        (definitions.DiscountName, definitions.DISCOUNTS),
        (definitions.DivisorName, definitions.DIVISORS),
        (conventions.ConventionName, [*toplist.CONVENTIONS, *conventions.SYNONYMS]),
        (beyond_accuracy.ListMetricName, beyond_accuracy.LIST_METRICS),
        (formats.FormatName, formats.FORMATS),
        (names.Name, [*toplist.METRICS, *beyond_accuracy.LIST_METRICS]),
        (names.NameAtK, [f"{name}@{k}" for name in DEFAULT_METRICS for k in COMMON_K]),
    ],
)
def test_names_of_a_table_are_those_of_its_literal(literal, table):
    assert typing.get_args(literal) == tuple(table)


def checked_words():
    """Yield (module, name) of every constant that `choice` checks an option against."""
    sources = ((module, inspect.getsource(module)) for module in MODULES)
    for module, source in ((one, text) for one, text in sources if "choice(" in text):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "choice":
                words = getattr(node.args[2], "id", "")
                if words.isupper():
                    yield module, words


def test_words_that_are_checked_are_taken_from_their_literal():
    """``TIES = get_args(Ties)``: one tuple, no second list of the same words."""
    found = list(checked_words())
    assert len(found) > 30
    words = [typing.get_args(literal) for literal in LITERALS.values()]
    for module, name in found:
        assert any(getattr(module, name) is one for one in words), (module.__name__, name)


def public_functions():
    """Yield what is called with options, and its name: functions, methods and classes."""
    modules = [getattr(toplist, name) for name in toplist._MODULES]
    for place in (toplist, *modules, toplist.inference):
        for name in getattr(place, "__all__", ()):  # the cookbook has text alone
            found = getattr(place, name)
            where = f"{place.__name__}.{name}"
            if inspect.isfunction(found):
                yield where, found
            elif inspect.isclass(found) and not issubclass(found, Warning):
                yield where, found
                methods = inspect.getmembers(found, inspect.isfunction)
                yield from ((f"{where}.{key}", one) for key, one in methods if key[0] != "_")


def documented_words(doc):
    """Yield (parameter, words) of every ``name : {"a", "b"}`` in a docstring."""
    for several, words in re.findall(r"^([\w, ]+) : \{(\".*?)\}", doc, flags=re.MULTILINE):
        for name in several.split(", "):
            yield name, set(re.findall(r'"(.*?)"', words))


def literals_of(function, name):
    """Return the types of words in the annotation of a parameter, also inside unions."""
    hint = inspect.signature(function).parameters[name].annotation
    if isinstance(hint, str):
        hint = eval(hint, vars(inspect.getmodule(function)) | LITERALS)
    found, inside = [], [hint]
    for one in inside:
        found += [literal for literal in LITERALS.values() if literal == one]
        inside += typing.get_args(one)
    return found


def words_of_type(function, name):
    """Return the words that the type of a parameter has; None without any."""
    return {word for one in literals_of(function, name) for word in typing.get_args(one)} or None


FUNCTIONS = dict(public_functions())
DOCUMENTED = [
    (where, name, words)
    for where, function in FUNCTIONS.items()
    for name, words in documented_words(inspect.cleandoc(function.__doc__ or ""))
    if name in inspect.signature(function).parameters
]


def test_documented_words_are_those_of_the_type():
    for where, name, words in DOCUMENTED:
        if where == "toplist.Metric" and name == "empty":
            words |= {"raise"}  # the policy of a convention, which its metrics inherit
        assert words_of_type(FUNCTIONS[where], name) == words, (where, name)


def test_options_have_their_words_wherever_they_are_keywords():
    """Also where the documentation refers to that of another function."""
    options, n = {name for _, name, _ in DOCUMENTED}, 0
    for where, function in FUNCTIONS.items():
        for name, parameter in inspect.signature(function).parameters.items():
            if name in options and (isinstance(parameter.default, str) or name == "duplicates"):
                assert words_of_type(function, name) is not None, (where, name)
                n += 1
    assert len(options) > 20 and n >= 60


def public_modules():
    """Return the modules with names that `toplist` publishes, and one imported by its name."""
    modules = [getattr(toplist, name) for name in toplist.__all__]
    modules = [one for one in modules if inspect.ismodule(one) and hasattr(one, "__all__")]
    return [toplist, *modules, importlib.import_module("toplist.typing")]


def test_completion_of_a_module_shows_its_public_names_alone():
    for module in public_modules():
        shown = [name for name in dir(module) if not name.startswith("__")]
        assert shown == sorted(getattr(module, "__all__", ())), module


def public_classes():
    """Return the classes of objects that people hold: published ones, and those of results."""
    published = [
        getattr(module, name)
        for module in public_modules()
        for name in getattr(module, "__all__", ())
    ]
    results = [module for module in MODULES if module.__name__.startswith("toplist.results.")]
    shown = [one for module in results for one in vars(module).values() if inspect.isclass(one)]
    found = [one for one in shown if issubclass(one, Display) and not one.__subclasses__()]
    found += [one for one in published if inspect.isclass(one) and not issubclass(one, Warning)]
    return dict.fromkeys(found)


@pytest.mark.parametrize("kind", public_classes(), ids=lambda one: one.__name__)
def test_completion_of_an_object_shows_what_is_documented(kind):
    """What begins with an underscore is not completed; all else has a docstring, or a paragraph."""
    fields = getattr(kind, "__dataclass_fields__", ())
    names = {name for name in [*dir(kind), *fields] if name[0] != "_"}
    text = " ".join(inspect.getdoc(one) or "" for one in kind.__mro__ if one is not object)
    for name in sorted(names):
        own = inspect.getdoc(getattr(kind, name, None)) if name not in fields else None
        assert own or re.search(rf"\b{name}\b", text), f"{kind.__name__}.{name}"


def test_keys_are_completed_in_notebooks():
    """IPython asks an object for them: ``result["`` and the tabulator key."""
    result = toplist.top_k_eval([[1], [2]], [{1}, {1}], k=[1, 2], metrics=["mrr", "ndcg@2"])
    keys = result._ipython_key_completions_()
    assert keys == ["mrr@1", "mrr@2", "ndcg@2", "mrr", "ndcg"]
    assert all(key in result for key in keys)
    labels = ["new", "old"]
    assert result.by(labels)._ipython_key_completions_() == labels
    assert toplist.compare({"a": result}).by(labels)._ipython_key_completions_() == labels


# A program of another project

PROGRAM = Path(__file__).with_name("typed_program.py")
IGNORED = re.compile(r"  # type: ignore\[([a-z-]+)\]$")


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """Return what runs mypy on a program where toplist is installed, as pip installs it.

    An environment of its own, with the libraries of this one. The program lies elsewhere, so that
    no setting of this project is read.
    """
    pytest.importorskip("mypy")
    home = tmp_path_factory.mktemp("project")
    python = [sys.executable, "-m", "venv", "--without-pip", str(home / "env")]
    subprocess.run(python, check=True, timeout=600)
    (packages,) = (home / "env").glob("[Ll]ib/**/site-packages")
    keep = shutil.ignore_patterns("__pycache__", "*.nbc", "*.nbi")
    shutil.copytree(PACKAGE, packages / "toplist", ignore=keep)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    executable = next((home / "env").glob("[bS]*/python*"))

    def run(text):
        program = home / "program.py"
        program.write_text(text)
        options = ["--strict", "--python-executable", str(executable), "--no-error-summary"]
        command = [sys.executable, "-m", "mypy", *options, program.name]
        return subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=600).stdout

    return run


@pytest.mark.slow(seconds=8)
def test_types_of_a_program_of_another_project(check):
    assert check(PROGRAM.read_text()) == ""


@pytest.mark.slow(seconds=8)
def test_every_misspelt_option_is_an_error_of_its_line(check):
    """Without the ignores: so the test above finds what it says."""
    lines = PROGRAM.read_text().splitlines()
    expected = {at: found[1] for at, one in enumerate(lines, 1) if (found := IGNORED.search(one))}
    assert len(expected) > 25
    errors = re.findall(
        r"^program.py:(\d+): error: .*\[([a-z-]+)\]$",
        check("\n".join(IGNORED.sub("", one) for one in lines)),
        flags=re.MULTILINE,
    )
    assert {int(line): code for line, code in errors} == expected


def test_the_program_runs():
    runpy.run_path(str(PROGRAM), run_name="__main__")


# What a function of another project hands options on to.
HANDED_ON = [
    *(toplist.top_k_eval, toplist.curves, toplist.Ranks, toplist.GroundTruths, toplist.Items),
    *(toplist.Propensities, toplist.Convention.replace, toplist.compare, toplist.gate),
    *(Comparison.test, toplist.inference.paired_tests),
]


def test_types_of_options_are_published():
    """So that a function which hands an option on can say which words it takes."""
    import toplist.typing as published

    names = {*published.__all__} - {"Metrics"}
    assert all(getattr(published, name) is LITERALS[name] for name in names)
    for function in HANDED_ON:
        for name in inspect.signature(function).parameters:
            for literal in literals_of(function, name):
                assert any(getattr(published, one) is literal for one in names), (function, name)
