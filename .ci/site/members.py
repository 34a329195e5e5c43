"""What classes and constants show, and which of their public names have no docstring."""

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, get_args

from sphinx.pycode import ModuleAnalyzer

from toplist.metrics.definitions import Metric
from toplist.metrics.properties import formula

# operators and protocols that users write, with a docstring of their own
SPECIAL = {"__getitem__", "__iter__", "__add__", "__len__", "__contains__", "__float__", "__eq__"}


def _own(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield what a class and its bases in toplist define, each name once."""
    seen = set()
    for base in cls.__mro__:
        if base.__module__.startswith("toplist"):
            for name, value in vars(base).items():
                if name not in seen and (name in SPECIAL or not name.startswith("_")):
                    seen.add(name)
                    yield name, value


def _doc(value: Any) -> str:
    """Return the docstring of a method, a property or any other descriptor."""
    value = getattr(value, "__func__", value)
    return inspect.cleandoc(getattr(value, "__doc__", None) or "")


def _is_descriptor(value: Any) -> bool:
    """Return whether a class's entry is a method or a property: what is called or computed."""
    field = type(value).__name__ == "_tuplegetter"  # of a named tuple: an attribute
    return not field and (inspect.isroutine(value) or hasattr(value, "__get__"))


def members(cls: type) -> list[str]:
    """Return the methods and properties that a class shows, each once.

    Properties that stand among the attributes in its docstring are described there.
    """
    listed = _listed(cls)
    return [
        name
        for name, value in _own(cls)
        if _is_descriptor(value)
        and _doc(value)
        and (name not in listed or kind_of(cls, name) == "method")
    ]


def kind_of(cls: type, name: str) -> str:
    """Return what autodoc calls a member."""
    value = dict(_own(cls))[name]
    if inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
        return "method"
    return "property" if isinstance(value, property) else "attribute"


def _docs(cls: type) -> str:
    """Return the docstrings of a class and its bases."""
    return "\n".join(inspect.cleandoc(vars(base).get("__doc__") or "") for base in cls.__mro__)


def _listed(cls: type) -> set[str]:
    """Return the names in the sections of the docstring of a class: attributes, parameters."""
    lines = re.findall(r"^(\w+(?:, \w+)*)(?: :.*)?$", _docs(cls), re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


def silent(cls: type) -> list[str]:
    """Return the public names of a class without a docstring: itself, methods, attributes."""
    named = _listed(cls) | set(re.findall(r"(?<!`)`(\w+)`(?!`)", _docs(cls)))  # or in a sentence
    fields = {n for b in cls.__mro__ for n in inspect.get_annotations(b) if not n.startswith("_")}
    computed = {name: _doc(value) for name, value in _own(cls) if _is_descriptor(value)}
    found = [name for name, doc in computed.items() if not doc and name not in named | SPECIAL]
    found += sorted(fields - named - set(computed))
    return ([] if cls.__doc__ else [""]) + found


def comment_of(name: str, value: Any) -> str:
    """Return what the source says of a constant in the lines ``#:`` above it; "" for nothing.

    The words of an option, a `typing.Literal`, say what it is.
    """
    if words := get_args(value):
        return ", ".join(f"``{word!r}``" for word in words)
    for module in [m for n, m in sorted(sys.modules.items()) if n.startswith("toplist.")]:
        if vars(module).get(name) is value and getattr(module, "__file__", None):
            docs = ModuleAnalyzer.for_module(module.__name__).find_attr_docs()
            if ("", name) in docs:
                return " ".join(docs["", name]).strip()
    return ""


def entries(value: Any) -> list[str]:
    """Return what a constant holds, a line per entry: its name, its words, its formula."""
    if get_args(value):
        return []
    if not isinstance(value, Mapping):
        return [", ".join(f"``{one}``" for one in value)]
    lines = []
    for name, row in value.items():
        text = getattr(row, "text", "") or (_doc(row).split("\n")[0] if callable(row) else "")
        level = f" ({row.args[1]})" if isinstance(row, partial) else ""  # of a check of data
        lines.append(f"- ``{name}``{level}" + (f": {text}" if text else ""))
        if isinstance(row, Metric):
            lines[-1] += f" (``{formula(row)}``)" if text else ""
    return lines
