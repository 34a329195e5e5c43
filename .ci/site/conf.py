"""What Sphinx does with the docstrings: names become links, formulas stay as they are written."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

sys.path.insert(0, str(Path(__file__).parent))

import pages

import toplist

project = "toplist"
copyright = "the toplist developers"
version = release = toplist.__version__
extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_nb"]
smartquotes = False  # what stands in quotes is to be copied
html_theme = "furo"
html_title = f"toplist {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}

# `name` in a docstring is a link where it names something public, and code otherwise.
default_role = "py:obj"
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the docstrings have the types, in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # `members` says which, in the order of the source
nb_execution_mode = "off"  # with the outputs that are committed
nb_merge_streams = True
myst_heading_anchors = 4

for alias, name in pages.ALIASES.items():
    sys.modules[alias] = importlib.import_module(name)

LOG = logging.getLogger(__name__)


def formulas_as_written(app: Any, what: str, name: str, obj: Any, *rest: Any) -> None:
    """Show an indented block after a paragraph as it stands: formulas and small tables."""
    lines = rest[-1]
    place = 2
    while place < len(lines):
        here, before = lines[place], lines[place - 2]
        margin = len(before) - len(before.lstrip())
        indented = len(here) - len(here.lstrip()) > margin
        plain = before.strip() and not re.match(r"\s*(- |\d\. |\.\. |:)|.*::$", before)
        if here.strip() and not lines[place - 1].strip() and indented and plain:
            lines[place:place] = [before[:margin] + ".. code-block:: none", ""]
            place += 2
        place += 1


def attributes_as_parameters(app: Any, what: str, name: str, obj: Any, *rest: Any) -> None:
    """Have numpydoc list attributes as it lists parameters: without a link for some of them."""
    lines = rest[-1]
    for other, one in (("Attributes", "Other Parameters"), (":Other Parameters:", ":Attributes:")):
        for place in [i for i, line in enumerate(lines) if line == other and what == "class"]:
            lines[place] = one
            if one == "Other Parameters":
                lines[place + 1] = "-" * len(one)


def parameters_named_as_modules(app: Any, doctree: nodes.document) -> None:
    """Take `results` for a parameter, `toplist.results` for the module."""
    modules = {name.removeprefix("toplist.") for name in pages.CHAPTERS}
    for node in list(doctree.findall(addnodes.pending_xref)):
        if node.get("reftype") == "obj" and node["reftarget"] in modules:
            node.replace_self(node.children)


def setup(app: Any) -> None:
    """Join the hooks."""
    app.connect("autodoc-process-docstring", formulas_as_written, priority=200)
    app.connect("autodoc-process-docstring", attributes_as_parameters, priority=100)
    app.connect("autodoc-process-docstring", attributes_as_parameters, priority=900)
    app.connect("doctree-read", parameters_named_as_modules)
    app.connect("missing-reference", found_elsewhere)
    app.connect("html-page-context", heads_with_scope)


def heads_with_scope(app: Any, page: str, template: str, context: Any, *rest: Any) -> None:
    """Say of the heads of tables that they are of columns; docutils does not."""
    if "body" in context:
        context["body"] = context["body"].replace('<th class="head', '<th scope="col" class="head')


def found_elsewhere(app: Any, env: Any, node: Any, content: nodes.Node) -> nodes.Node | None:
    """Resolve a name as users know it: in `toplist`, as ``tl.``, of a class without its module."""
    if node.get("refdomain") != "py":
        return None
    python, target = env.domains.python_domain, node["reftarget"]
    name = re.sub(r"^tl\.", "toplist.", target)
    for alias, module in pages.ALIASES.items():
        name = name.replace(module, alias)
    candidates = [name, f"toplist.{name}"]
    if name.split(".")[0][:1].isupper():
        candidates += [full for full in python.objects if full.endswith(f".{name}")]
    hits = [full for full in candidates if full in python.objects]
    if not hits:
        if name.startswith("toplist.") and not importable(name):
            LOG.warning("`%s` names nothing", target, location=node)
        return None
    found = python.objects[hits[0]]
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, content, hits[0])


def importable(name: str) -> bool:
    """Return whether a dotted name is that of a module or of something in one."""
    module, _, rest = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ImportError:
        return bool(module) and rest in dir_of(module)
    return True


def dir_of(name: str) -> set[str]:
    """Return the names in a module or class."""
    try:
        return set(vars(importlib.import_module(name)))
    except ImportError:
        module, _, rest = name.rpartition(".")
        return set(dir(getattr(importlib.import_module(module), rest, None))) if module else set()
