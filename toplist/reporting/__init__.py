"""Lists of users side by side (`show`), and one page about an evaluation (`report`).

The page is a file to read, to send and to print, without a server.

What is on it
-------------

``tl.report({"base": lists, "new": others}, truth, k=10, path="report.html")`` writes it, and so
does ``toplist report base.csv new.csv truth.csv -m ndcg@10 -o report.html``. Needs jinja2, the
extra ``report``. The first system is the baseline.

- The answer in a sentence, about one primary metric: ndcg@10, or what is nearest to it, or
  ``primary="recall@20"``; all systems with their intervals, the best first; and a table of all
  metrics
- Curves over k, which end where the lists do
- Is the difference more than chance? With all other comparisons folded beneath it
- Segments, ``by={user: label}``
- How alike the lists are, and how many items they show
- The users with the largest differences, and some at random, with both lists: what was hit, what
  was missed, and where that stands. ``titles={item: text}`` says what the items are
- Who was counted, how many had no list or no ground truth, what `toplist.audit` finds in the data,
  the files, the command, and all means as JSON

In print it has a few sheets: tables that are folded on the screen are left out.

Every number is one of the public functions: nothing is computed for the page. Options of
`toplist.top_k_eval` are given as there.

What is safe
------------

The page loads nothing from anywhere, and a policy in it (Content-Security-Policy) forbids scripts
but its own, of 2 KB, which sorts and filters. Ids and titles are text, whatever they hold. The page
has the ids of the users that it shows: ``pseudonyms=True`` numbers them, ``n_users=0`` leaves them
out; ids of items stay. The same data make the same bytes. 1,000,000 users make a page as large as
that of 1,000.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import Any

import numpy

import toplist
from toplist.checks import optional, prefixed
from toplist.comparing.comparison import compare
from toplist.comparing.views import SEED
from toplist.inputs.keyed import KeptTruths
from toplist.inputs.lists import is_container
from toplist.inputs.options import Ranks
from toplist.metrics.conventions import rules_of
from toplist.reporting import drawing, sections
from toplist.reporting.sections import DETAILED, USERS, Report
from toplist.reporting.showing import plain, ranked, relevant_of, row_of, show, truth_of
from toplist.results import describe
from toplist.results.result import TopKResult
from toplist.results.saved import PathLike, write_all
from toplist.results.tables import shortened
from toplist.top_k import GroundTruths, top_k_eval

__all__ = ["report", "show"]

# Bytes of a page, at most.
LARGEST = 5_000_000
# Relevant items of a user that are in no list: so many are named.
MOST_MISSED = 10


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


def need_jinja2() -> Any:
    """Return jinja2; ImportError with what to install."""
    return optional("jinja2", "a report is written through jinja2", "report")


def written(
    results: Mapping[str, TopKResult],
    given: Mapping[str, Any],
    kept: Any,
    options: Mapping[str, Any],
    **about: Any,
) -> str:
    """Return the page about some results as HTML.

    Parameters
    ----------
    results : dict of system -> TopKResult
    given : dict of system -> lists, as far as they are known
    kept : KeptTruths, or None
    options : dict
        Of the evaluation.
    **about
        What else a `Report` says.

    Raises
    ------
    ValueError
        If it is larger than 5 MB.
    """
    columns, padding = options.get("columns"), options.get("padding")
    named = (one.users for one in given.values() if isinstance(one, Ranks))
    users: Any = next((users for users in named if users is not None), None)
    if kept is not None and users is None:  # which rows without keys may have beside them
        users = range(len(kept)) if kept.users is None else kept.users
    places = {user: row for row, user in enumerate(users or ())}
    rules = rules_of(options.get("convention", "standard"))

    def listed(one: Any, some: Sequence[Any]) -> dict[Any, Any]:
        lists = ranked(one, kept, rules, columns, padding, lambda s: s.whole(kept.texts))
        rows = {user: row_of(lists, places[user]) for user in some if user in places}
        return {user: row for user, row in rows.items() if row}

    def relevant(some: Sequence[Any]) -> dict[Any, Any]:
        least, known = options.get("relevant_from"), [user for user in some if user in places]
        truths = (truth_of(kept.flat, places[user], padding) for user in known)
        return {u: relevant_of(one, least) for u, one in zip(known, truths, strict=True)}

    lists = {name: partial(listed, one) for name, one in given.items()}
    comparison = compare(results, baseline=next(iter(results)) if len(results) > 1 else None)
    report = Report(comparison, lists, relevant, options, **about)
    means = {
        plain(system): {plain(name): describe.json_number(value) for name, value in some.items()}
        for system, some in comparison.to_dict().items()
    }
    data = {"primary": report.primary, "means": means}
    page = _template().render(report=report, charts=sections.curves(report), data=data)
    size = len(page.encode())
    if size > LARGEST:
        raise ValueError(
            f"the page would have {size / 1e6:.1f} MB, more than 5: show fewer users (n_users=, "
            "--users) or less of their lists (depth=, --depth)"
        )
    return str(page)


@cache
def _template() -> Any:
    """Return the page without its data, compiled once."""
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        """Let no text of the data bring characters that are not printed; tags are escaped later."""
        return plain(value) if type(value) is str else value

    jinja2, files = need_jinja2(), resources.files(__package__)
    html, css, js = (
        files.joinpath(f"page.{kind}").read_text("utf-8").strip() for kind in ("html", "css", "js")
    )
    environment = jinja2.Environment(
        autoescape=True, finalize=shown, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"plain": plain, "cut": shortened, "px": "{:.1f}".format}
    environment.policies["json.dumps_kwargs"] = {}  # in the order of the systems
    environment.globals |= {
        "sections": sections,
        "drawing": drawing,
        "describe": describe,
        "style": Markup(css),
        "script": Markup(js),
        "hash": Markup(base64.b64encode(hashlib.sha256(js.encode()).digest()).decode()),
        "version": f"toplist {toplist.__version__}",
        "beside": f"Python {platform.python_version()}, numpy {numpy.__version__}",
        "most_missed": MOST_MISSED,
        "rows": sections.ROWS,
        "seed": SEED,
        "detailed": DETAILED,
    }
    return environment.from_string(html)


def report(
    systems: Mapping[Any, Any],
    ground_truths: Any = None,
    k: Any = None,
    *,
    path: PathLike,
    primary: str | None = None,
    by: Any = None,
    titles: Any = None,
    user_titles: Any = None,
    n_users: int = USERS,
    depth: int | None = None,
    pseudonyms: bool = False,
    stamp: str | None = None,
    **options: Any,
) -> None:
    """Write one page about systems: the answer, means, curves, tests, users, who was counted.

    The page is one HTML file that needs no network and no server: it is read in a browser, light
    or dark, on a phone, and printed. A small script sorts and filters users; without it everything
    is there. Needs jinja2: ``pip install 'toplist[report]'``.

    Parameters
    ----------
    systems : dict of system -> ranked lists, path, or TopKResult
        The first is the baseline. Of results, which `TopKResult.load` may have read, the lists are
        not known: users have the ranks of their hits alone.
    ground_truths, k, **options
        As in `toplist.top_k_eval`, by which lists are evaluated; not with results alone. With
        ``items=tl.Items(history=...)`` the page also says what its users had before, with
        ``catalogue=`` there which of the items they missed could not be listed.
    path : str or path
        Where to write; a file that is there is replaced, whole or not at all.
    primary : str, optional
        ``"ndcg@10"``, what the page answers: the systems are sorted by it and tested in it, and
        users chosen by it. Default: ndcg@10, or ndcg at the largest k below that was asked for;
        without ndcg, the first of the metrics.
    by : labels, optional
        Segments of the users, as in `Comparison.by`.
    titles : dict item -> text, pandas Series, or table of item_id and a column, optional
    user_titles : dict user -> text, pandas Series, or table of user_id and a column, optional
        Such as the texts of queries.
    n_users : int
        So many users with the largest differences are shown, worse and better each, of more than
        three systems fewer; 0: no ids of users stand on the page.
    depth : int, optional
        How much of a list is shown. Default: the k of `primary`, 20 at most.
    pseudonyms : bool
        Whether users are numbered on the page in place of their ids.
    stamp : str, optional
        A text for the foot of the page, such as a date. Without it the same data make the same
        bytes.

    Raises
    ------
    TypeError, ValueError
        As `toplist.top_k_eval` and `Comparison.test`, and for a page of more than 5 MB.
    ImportError
        Without jinja2.

    Notes
    -----
    Lists of more than 20,000 users are checked for flaws, and compared for overlap, of 20,000 drawn
    users; means, curves, tests and the choice of users are of all. The page holds the ids of the
    users that it shows, and of their items.

    Examples
    --------
    >>> import os, tempfile
    >>> import toplist as tl
    >>> truth = {user: {user % 3} for user in range(60)}
    >>> a = {user: [0, 1, 2] for user in truth}
    >>> b = {user: [user % 2, 2, 5] for user in truth}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tl.report({"a": a, "b": b}, truth, k=3, metrics="ndcg", path=f"{folder}/page.html")
    ...     os.listdir(folder)
    ['page.html']
    """
    need_jinja2()
    if not isinstance(systems, Mapping) or not systems:
        raise TypeError("report takes a dict of system -> ranked lists, such as {'base': lists}")
    if options.get("system") is not None:
        raise TypeError("report: system= names systems in one table: give a dict of tables")
    evaluate: Any = top_k_eval
    kept: Any = ground_truths
    if kept is not None and not isinstance(kept, KeptTruths):
        kept = GroundTruths(kept, columns=options.get("columns"))
    lists: dict[str, Any] = {}
    results: dict[str, TopKResult] = {}
    for name, given in systems.items():
        if isinstance(given, TopKResult):
            results[str(name)] = given
            continue
        held = given.ranks if isinstance(given, Ranks) else given
        bare = isinstance(held, (list, tuple)) and held and not is_container(held[0])
        if bare or kept is None:
            what = "the list of one user: give lists by user" if bare else "lists: give their truth"
            raise TypeError(f"report: {name!r} has {what}, {{'ann': [...]}}")
        is_file = isinstance(held, (str, os.PathLike)) or kept.stream is not None
        keep = {"keep": "users"} if is_file else {}
        try:
            results[str(name)] = evaluate(given, kept, k, **keep, **options)
        except (TypeError, ValueError) as error:
            raise prefixed(f"system {name!r}: ", error) from None
        lists[str(name)] = given
    asked: dict[str, Any] = {"k": k, **options, "primary": primary, "depth": depth, "by": by}
    asked |= {"titles": titles, "user_titles": user_titles}
    asked |= ({} if n_users == USERS else {"n_users": n_users}) | {"pseudonyms": pseudonyms}
    words = {name: one for name, one in asked.items() if one is not None and one is not False}
    said = [
        f"{name}={one!r}"
        if name in ("k", "metrics") or isinstance(one, (str, int, float))
        else f"{name}=..."
        for name, one in words.items()
    ]
    shown = ", ".join(f"{name!r}: ..." for name in results)
    command = ", ".join([f"{{{shown}}}", "truth", *said, "path=..."])
    about: dict[str, Any] = {"titles": titles, "user_titles": user_titles, "asked": primary}
    about |= {"by": by, "n_users": n_users, "depth": depth, "named": not pseudonyms}
    about |= {"command": f"toplist.report({command})", "stamp": stamp}
    write_all({path: written(results, lists, kept, options, **about)})
