"""The page: the sections put into the template, escaped at this one boundary."""

from __future__ import annotations

import base64
import hashlib
import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy

import toplist
from toplist.checks import optional
from toplist.reporting import sections
from toplist.reporting.sections import Report, word_of
from toplist.reporting.words import cut, plain
from toplist.results import describe
from toplist.results.json_text import json_number
from toplist.results.markup import number, probability

# Bytes of a page, at most.
LARGEST = 5_000_000
# Relevant items of a user that are in no list: so many are named.
MOST_MISSED = 10


@dataclass(frozen=True)
class Origin:
    """Where the numbers are from: the command, files with their bytes and SHA-256, a stamp."""

    command: str
    files: Sequence[tuple[str, int, str]] = ()
    stamp: str | None = None


def need_jinja2() -> Any:
    """Return jinja2; ImportError with what to install."""
    return optional("jinja2", "a report is written through jinja2", "report")


def written(report: Report, origin: Origin) -> str:
    """Return the page as HTML.

    Raises
    ------
    ValueError
        If it is larger than 5 MB.
    """
    jinja2 = need_jinja2()
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        """Let no text of the data bring characters that are not printed; tags are escaped later."""
        return plain(value) if type(value) is str else value

    environment = jinja2.Environment(
        autoescape=True, finalize=shown, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"plain": plain, "cut": cut, "signed": number, "p": probability}
    environment.filters |= {"word": word_of, "user": report.words.user}
    environment.filters |= {"user_title": report.words.user_title}
    script = _file("page.js").strip()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.from_string(_file("page.html")).render(
        report=report,
        sections=sections,
        describe=describe,
        origin=origin,
        hash=Markup(digest),
        style=Markup(_file("page.css").strip()),
        script=Markup(script),
        data=Markup(_json(report)),
        versions=f"toplist {toplist.__version__}, Python {platform.python_version()}, "
        f"numpy {numpy.__version__}",
        version=toplist.__version__,
        most_missed=MOST_MISSED,
    )
    size = len(page.encode())
    if size > LARGEST:
        raise ValueError(
            f"the page would have {size / 1e6:.1f} MB, more than 5: show fewer users (n_users=, "
            "--users) or less of their lists (depth=, --depth)"
        )
    return str(page)


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text("utf-8")


def _json(report: Report) -> str:
    """Return all means as JSON that ends no element of a page."""
    means = {
        plain(system): {plain(name): json_number(value) for name, value in some.items()}
        for system, some in report.comparison.to_dict().items()
    }
    text = json.dumps({"primary": report.primary, "means": means}, indent=1)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
