"""Build the site: guide, reference, notebooks and project pages; warnings are errors.

``python .ci/site/build.py`` writes ``build/site/html``; open its ``index.html``. The text is that
of README and the docstrings: here is only what joins them. The build fails on a warning of Sphinx,
a public name without a docstring, and a link, anchor or image that leads nowhere.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import links
import pages
import pictures

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "build" / "site"
SOURCE, HTML = OUT / "source", OUT / "html"


def first_page(readme: str) -> str:
    """Return README up to its first section, its page of a report, and the map of the site."""
    top = re.split(r"^## ", readme, maxsplit=1, flags=re.MULTILINE)[0]
    example = f'<p><a href="{pages.EXAMPLE}">The page of the picture, whole</a></p>\n'
    return "\n".join([top, example, *pages.site_map(ROOT)])


def write_sources() -> None:
    """Write all pages: those of the repository, with links of the site, and the generated ones."""
    shutil.rmtree(OUT, ignore_errors=True)
    texts = links.relinked(ROOT, pages.files_of(ROOT))
    for path, text in texts.items():
        (SOURCE / path).parent.mkdir(parents=True, exist_ok=True)
        (SOURCE / path).write_text(text)
    for path in links.copied(ROOT, pages.files_of(ROOT)):
        (SOURCE / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, SOURCE / path)
    (SOURCE / "index.md").write_text(first_page(texts["README.md"]))
    for path, text in pages.generated().items():
        (SOURCE / path).parent.mkdir(parents=True, exist_ok=True)
        (SOURCE / path).write_text(text)
    pictures.draw(ROOT, SOURCE / "pictures")


def main() -> int:
    """Build and check; return the exit status."""
    if silent := pages.silent():
        print(*(f"{name} has no docstring" for name in silent), sep="\n")
        return 1
    write_sources()
    sphinx = [sys.executable, "-m", "sphinx", "--builder", "html", "--conf-dir", str(HERE)]
    quiet = ["--quiet", "--fail-on-warning", "--keep-going", "--jobs", "auto"]
    status = subprocess.call([*sphinx, *quiet, str(SOURCE), str(HTML)])
    if status:
        return status
    pages.make_report.write(HTML / pages.EXAMPLE)
    dead = links.dead(HTML)
    print(*dead, sep="\n", end="\n" if dead else "")
    print(f"{sum(1 for _ in HTML.rglob('*.html'))} pages: {HTML / 'index.html'}")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
