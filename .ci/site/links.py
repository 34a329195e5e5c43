"""Links: those of the repository's files become those of the site, and none may lead nowhere."""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag

# [text](target) and ![text](target), the target without a title
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
# what is shown as it stands: fenced blocks, and code in a line
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def _outside_code(text: str, replace: Mapping[str, str]) -> str:
    """Replace the targets of links in Markdown, except in code."""
    ends = [0, *(place for code in CODE.finditer(text) for place in code.span()), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    parts[::2] = [LINK.sub(lambda m: m[1] + replace.get(m[2], m[2]) + m[3], p) for p in parts[::2]]
    return "".join(parts)


def _targets(text: str) -> list[str]:
    """Return the targets of links that stand outside of code."""
    return [link[2] for link in LINK.finditer(CODE.sub("", text))]


def _local(root: Path, file: str, target: str) -> str | None:
    """Return the path in the repository that a link of a file leads to; None outside of it."""
    path, _ = urldefrag(target)
    if re.match(r"[a-z]+:", target) or not path:
        return None
    found = os.path.normpath(Path(file).parent / unquote(path))
    if not (root / found).is_file():
        raise SystemExit(f"{file}: the link {target} leads to no file")
    return found


def _markdown(root: Path, file: str) -> list[str]:
    """Return the Markdown of a file: its text, or the cells of a notebook."""
    if not file.endswith(".ipynb"):
        return [(root / file).read_text()]
    cells = json.loads((root / file).read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def relinked(root: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return the text of each page of the site that is a file, with the links of the site.

    `files` has the page of each file: README.md, notebooks, and the modules that are chapters,
    whose pages are not files and only linked to.
    """
    texts = {}
    for file, page in files.items():
        if file.endswith(".py"):
            continue
        new = {}
        for target in [one for text in _markdown(root, file) for one in _targets(text)]:
            if (found := _local(root, file, target)) is not None:
                anchor = target[target.index("#") :] if "#" in target else ""
                to = os.path.relpath(files.get(found, found), Path(page).parent)
                new[target] = to + anchor
        texts[page] = _rewritten((root / file).read_text(), file, new)
    return texts


def _rewritten(text: str, file: str, new: Mapping[str, str]) -> str:
    """Return the text of a file with other targets of links."""
    if not file.endswith(".ipynb"):
        return _outside_code(text, new)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = _outside_code("".join(cell["source"]), new)
    return json.dumps(notebook)


def copied(root: Path, files: Mapping[str, str]) -> set[str]:
    """Return the files that pages link to or show and that are no pages: pictures, programs."""
    return {
        found
        for file in files
        if not file.endswith(".py")
        for text in _markdown(root, file)
        for target in _targets(text)
        if (found := _local(root, file, target)) is not None and found not in files
    }


class _Page(HTMLParser):
    """The anchors of a page, and what it links to or shows."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.targets: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep ids and targets."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.targets.add(value)


def dead(html: Path) -> list[str]:
    """Return a line for every link, anchor or image of the built pages that leads nowhere."""
    page_of = cache(_Page)
    found = []
    for path in sorted(html.rglob("*.html")):
        for target in sorted(page_of(path).targets):
            if re.match(r"[a-z]+:|//", target):
                continue
            to, anchor = urldefrag(re.sub(r"\?v=\w+", "", target))
            at = (path.parent / unquote(to)).resolve() if to else path
            where = f"{path.relative_to(html)}: {target}"
            if not at.is_file():
                found.append(f"{where} leads to no file")
            elif at.suffix == ".html" and unquote(anchor) not in page_of(at).anchors:
                found.append(f"{where} leads to no place of its page")
    return found
