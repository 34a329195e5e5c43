r"""`toplist report`: one page behind the numbers, as HTML that needs no network.

Files are those of toplist compare; the first system is the baseline. The page
says who was counted, what is wrong with the data, means with intervals and
formulas, curves, tests, segments, and shows the users with the largest
differences with their lists. Of saved results (.npz) alone the lists are not
known. The page holds the ids of the users it shows.

examples:
  toplist report knn.csv ease.csv truth.csv -m ndcg@10 -o report.html
  toplist report knn.csv ease.csv truth.csv -o report.html -m ndcg -k 50 \
      --primary ndcg@10 --titles items.csv:title --segments users.csv:country
  toplist report knn.csv ease.csv truth.csv --pseudonyms -o report.html
"""

import argparse
import hashlib
import os
import shlex
from typing import Any

from toplist.cli import output
from toplist.cli.eval import add_reading, beside_lists, check_asked, evaluated
from toplist.cli.options import (
    BESIDE,
    Parser,
    given_options,
    names_of_columns,
    option,
)
from toplist.cli.ranked_truth import ranked_truth
from toplist.cli.streams import Output, add_output
from toplist.comparing.comparison import compare
from toplist.files.batches import stream_of
from toplist.inputs.items import ITEMS, Items
from toplist.reporting import page
from toplist.reporting.lists import ItemsOf, items_of
from toplist.reporting.sections import USERS
from toplist.reporting.words import Words
from toplist.reporting.writing import made

USAGE = "RECS [RECS ...] [TRUTH] [-m METRIC ...] -o FILE [options]"


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add_reading(parser)
    add = parser.group("the page")
    add("--primary", "what is tested first (default: the first metric)", metavar="METRIC")
    add("--segments", "the differences by a label of users", metavar="FILE:COLUMN")
    add("--titles", "what the items are called", metavar="FILE:COLUMN")
    add("--user-titles", "what the users are called, as texts of queries", metavar="FILE:COLUMN")
    text = f"of the worst and of the best each (default: {USERS})"
    add("--users", text, type=int, default=USERS, metavar="N")
    add("--no-users", "leave users and their ids out", action="store_true")
    add("--pseudonyms", "number the users in place of their ids", action="store_true")
    text = "how much of a list is shown (default: k of --primary, at most 20)"
    add("--depth", text, type=int, metavar="K")
    add("--stamp", "a text for the foot, such as a date", metavar="TEXT")
    add_output(parser.group("output"))


def check(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    if not options.output:
        raise ValueError("where to write the page? add -o report.html")
    check_asked(options)
    for name in ("segments", "titles", "user_titles"):
        if getattr(options, name):
            output.check_labels(option(name), getattr(options, name))
    if options.truth is None:
        for name in ("titles", "depth"):
            if getattr(options, name) is not None:
                flag = option(name, getattr(options, name))
                raise ValueError(f"{flag} is of lists, and saved results have none: leave it out")
    if options.users < 0:
        raise ValueError(f"--users {options.users}: give 0 or more")
    if options.depth is not None and options.depth < 1:
        raise ValueError(f"--depth {options.depth}: give 1 or more")
    if options.system:
        raise ValueError("--system: give a file for each system")


def run(options: argparse.Namespace) -> Output:
    """Evaluate all systems and return the page."""
    page.need_jinja2()
    results = evaluated(options)
    comparison = compare(results, baseline=next(iter(results)) if len(results) > 1 else None)
    labels = None
    if options.segments:
        user_id = names_of_columns(options, "segments").get("user_id", "user_id")
        first = next(iter(results.values()))
        labels = output.labels_of(first, options.segments, user_id)
    n_users = 0 if options.no_users else options.users
    try:
        found = made(
            comparison,
            *_lists(options),
            Words(
                output.title_of(options),
                output.title_of(options, "user_titles", "user"),
                not options.pseudonyms,
            ),
            primary=options.primary,
            by=labels,
            n_users=n_users,
            depth=options.depth,
            options=given_options(options)
            | {"items_as": options.items_as, "padding": options.padding}
            | {"items": Items(**_beside(options))},
        )
        beside = *ITEMS, *BESIDE, "items_as", "propensities"
        given = (getattr(options, name) or "" for name in beside)
        paths = (one if os.path.exists(one) else one.rpartition(":")[0] for one in given)
        files = [*map(_file, filter(None, dict.fromkeys([*options.recs, options.truth, *paths])))]
        command = shlex.join(["toplist", "report", *options.given])
        text = page.written(found, page.Origin(command, files, options.stamp))
    except KeyError as error:  # a name that a system lacks
        raise ValueError(error.args[0]) from None
    notes = [ranked_truth(options)]
    if n_users and not options.pseudonyms:
        notes.append("the page holds ids of users, without --pseudonyms or --no-users")
    return Output(text, {}, "; ".join(filter(None, notes)))


def _lists(options: argparse.Namespace) -> tuple[dict[str, ItemsOf], ItemsOf | None]:
    """Return what gives the lists of users, by system, and their relevant items."""
    lists = {}
    for name, path in zip(output.names_of(options.recs), options.recs, strict=True):
        if not output.is_saved(path):
            columns = names_of_columns(options, "ranks", name, path)
            how = options.ranks_format, columns, options.order, options.ties
            stream = stream_of(path, "ranks", *how)
            lists[name] = items_of(stream, "ranks", padding=options.padding)
    if options.truth is None:
        return lists, None
    columns = names_of_columns(options, "ground_truths")
    truth = stream_of(options.truth, "ground_truths", options.ground_truths_format, columns)
    return lists, items_of(truth, "ground_truths", relevant_from=options.relevant_from)


def _beside(options: argparse.Namespace) -> dict[str, Any]:
    """Return history and catalogue, ids as in the first lists; without any lists none."""
    pairs = zip(output.names_of(options.recs), options.recs, strict=True)
    name, path = next((pair for pair in pairs if not output.is_saved(pair[1])), ("", ""))
    if not path:
        return {}
    columns = names_of_columns(options, "ranks", name, path)
    return beside_lists(options, path, columns, ("history", "catalogue"))


def _file(path: str) -> tuple[str, int, str]:
    """Return a file's name, bytes and the beginning of its SHA-256; of a folder the name."""
    if not os.path.isfile(path):
        return path, 0, "-"
    with open(path, "rb") as file:
        return path, os.path.getsize(path), hashlib.file_digest(file, "sha256").hexdigest()[:12]
