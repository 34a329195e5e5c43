"""`toplist show`, `report`, `check` and `unjudged`: what is behind the numbers."""

import argparse
import hashlib
import os
import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from toplist import audit, files
from toplist.audit import annotating, by_user
from toplist.checks import check_positive_int, printable
from toplist.cli import options as cli
from toplist.cli import reading
from toplist.evaluation.plan import entries_of
from toplist.files.batches import stream_of
from toplist.inputs.options import SIDES
from toplist.loo.logs import COLUMNS
from toplist.metrics.conventions import convention_of
from toplist.metrics.definitions import METRICS, with_parameters
from toplist.reporting import page
from toplist.reporting.sections import USERS
from toplist.reporting.showing import METRICS as USUAL
from toplist.reporting.showing import WIDTH, of_file, show
from toplist.results.tables import Grid

# show


def check_show(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    options.metrics = reading.asked_or_usual(options, USUAL)
    entries_of(options.metrics, options.k, convention_of(options.convention))
    reading.check_files(options, "titles", "user_titles")


def run_show(options: argparse.Namespace) -> str:
    r"""Read the rows of the user and return them side by side.

    Files are those of toplist eval; of each, only the rows of this user are kept.
    Systems are named by their files. The first is the one that the others are
    compared with.

    examples:
      toplist show u0547 popularity.csv itemknn.csv truth.csv
      toplist show u0547 knn.csv ease.csv truth.csv --titles items.csv:title -k 20
      toplist show 301 bm25.run dense.run qrels.trec -m ndcg@10 rbp
    """
    names, form = cli.names_of_columns(options, "ground_truths"), options.ground_truths_format
    truth = of_file(stream_of(options.truth, "ground_truths", form, names), options.user)
    lists, facts = reading.lists_of(options), ("history", "catalogue")
    beside = reading.beside(options, next(iter(lists.values())), facts, user_as_text=True)
    found = show(
        options.user,
        lists,
        truth,
        reading.labels(options, "titles").get,
        options.k,
        metrics=options.metrics,
        convention=options.convention,
        items=beside["items"],
        relevant_from=options.relevant_from,
        duplicates=options.duplicates,
        user_titles=reading.labels(options, "user_titles").get,
    )
    return found.to_text(cli.screen_width(options) or WIDTH)


SHOWN_FILES = f"""
    USER  as the truth has it
    {reading.LISTS}
    TRUTH  relevant items: the last file
    --titles FILE:COLUMN  of the items: a column beside item_id
    --user-titles FILE:COLUMN  of the users, as texts of queries
    --history FILE  user_id and item_id: what users had before
    --catalogue FILE  items (CSV, TSV: item_id): what could be listed
"""
ASKED = f"""
    -k K  the first k items of each list (default: 10)
    -m --metrics METRIC...  of this user {reading.USUAL.format(" ".join(USUAL))}
    {cli.CONVENTION}
"""
SHARED = "relevant_from", "duplicates", "ties"


# report


def check_report(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    if not options.output:
        raise ValueError("where to write the page? add -o report.html")
    reading.check_asked(options)
    for name in ("titles", "depth") if options.truth is None else ():
        if getattr(options, name) is not None:
            given = cli.option(name, getattr(options, name))
            raise ValueError(f"{given} is of lists, and saved results have none: leave it out")
    if options.system:
        raise ValueError("--system: give a file for each system")


def run_report(options: argparse.Namespace) -> cli.Output:
    r"""Evaluate all systems and return the page.

    Files are those of toplist compare; the first system is the baseline. The page
    says which system is better in one metric, --primary, and by how much; then come
    means with intervals, curves, tests, segments, the users with the largest
    differences with their lists, and who was counted. Of saved results (.npz) alone
    the lists are not known. The page holds the ids of the users it shows.

    examples:
      toplist report knn.csv ease.csv truth.csv -m ndcg@10 -o report.html
      toplist report knn.csv ease.csv truth.csv -o report.html -m ndcg -k 50 \
          --primary ndcg@20 --titles items.csv:title --segments users.csv:country
      toplist report knn.csv ease.csv truth.csv --pseudonyms -o report.html
    """
    page.need_jinja2()
    results = reading.evaluated(options)
    first = next(iter(results))
    by = reading.of_users(results[first], reading.labels(options, "segments"))
    n_users = 0 if options.no_users else options.users
    given = (getattr(options, name) or "" for name in (*reading.OF_FACTS, *cli.BESIDE))
    paths = (one if os.path.exists(one) else one.rpartition(":")[0] for one in given)
    files = []  # each with its bytes and the beginning of its SHA-256; of a folder the name
    for path in filter(None, dict.fromkeys([*options.recs, options.truth, *paths])):
        size, digest = 0, "-"
        if os.path.isfile(path):
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
            size = os.path.getsize(path)
        files.append((path, size, digest))
    command = shlex.join(["toplist", "report", *options.given])
    how: dict[str, Any] = {"convention": options.convention, **reading.given_options(options)}
    lists, truth = {}, reading.truth_of(options)
    if truth is not None:  # else of saved results alone
        every = reading.lists_of(options).items()
        lists = {name: one for name, one in every if not reading.is_saved(str(one.ranks))}
        how |= reading.beside(options, next(iter(lists.values())))
    about: dict[str, Any] = {"command": command, "files": files, "by": by, "n_users": n_users}
    about |= {"named": not options.pseudonyms, "asked": options.primary}
    about |= {name: getattr(options, name) for name in ("stamp", "depth")}
    about |= {name: reading.labels(options, name).get for name in ("titles", "user_titles")}
    try:
        text = page.written(results, lists, truth, how, **about)
    except KeyError as error:  # a name that a system lacks
        raise ValueError(error.args[0]) from None
    notes = [reading.ranked_truth(options)]
    if n_users and not options.pseudonyms:
        notes.append("the page holds ids of users, without --pseudonyms or --no-users")
    return cli.Output(text, {}, "; ".join(filter(None, notes)))


NUMBER = partial(check_positive_int, name="--users", least=0)
OF_EACH = {"default": USERS, "check": NUMBER}
PAGE = f"""
    --primary METRIC  what the page answers (default: ndcg@10, or what is nearest)
    --segments FILE:COLUMN  the differences by a label of users
    --titles FILE:COLUMN  what the items are called
    --user-titles FILE:COLUMN  what the users are called, as texts of queries
    --users N  of the worst and of the best each (default: {USERS})
    --no-users  leave users and their ids out
    --pseudonyms  number the users in place of their ids
    --depth K  how much of a list is shown (default: k of --primary, at most 20)
    --stamp TEXT  a text for the foot, such as a date
"""


# check


def run_check(options: argparse.Namespace) -> str:
    """Read the files and return the flaws; with --strict, they are an error.

    Lists and ground truths are files as toplist eval reads them. The training log
    is a CSV, TSV or Parquet file with the columns user_id and item_id. One line is
    printed per flaw: errors, warnings, notes.

    examples:
      toplist check recs.csv truth.csv
      toplist check recs.csv truth.csv -k 10 --train train.csv
      toplist check recs.csv truth.csv --strict --quiet || echo "look at the data"
    """

    def columns(valid: Sequence[str], side: str) -> dict[str, str]:
        names = cli.names_of_columns(options, side)
        return {ours: name for ours, name in names.items() if ours in valid}

    of_recs, of_truth = (columns(files.COLUMNS, side) for side in SIDES)
    forms = options.ranks_format, options.ground_truths_format
    ranks = files.read_ranks(options.recs, format=forms[0], columns=of_recs, order=options.order)
    truths = files.read_truths(options.truth, format=forms[1], columns=of_truth)
    sides = [_as_text(by_user(ranks, SIDES[0])), _as_text(by_user(truths, SIDES[1]))]
    if options.train is not None:
        sides.append(_as_text(by_user(options.train, "train", columns(COLUMNS, "train"))))
    found = audit.check(*sides, k=options.k)
    if options.strict and not found.ok:
        raise ValueError("; ".join(one.text for one in found.findings if one.level != "note"))
    return "\n".join(map(printable, str(found).split("\n")))


def _as_text(rows: Mapping[Any, Any]) -> dict[str, list[str]]:
    """Return the same with ids as text: else a number in one file is not its text in another."""
    return {str(user): list(map(str, row)) for user, row in rows.items()}


CHECKED_FILES = """
    RECS  file of ranked lists; - is stdin
    TRUTH  file of relevant items
    --train LOG  file of the interactions that systems were trained on
"""
LOOKED_FOR = """
    -k K  also look for lists shorter than k
    --strict  exit with status 1 for an error or a warning
"""


# unjudged


def check_unjudged(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    options.truth = options.recs.pop()
    titles = {"titles", "user_titles"}
    if options.judged is not None:
        unread, why = {*OF_LISTS, *titles}, "does not go with --judged"
        if options.recs:
            raise ValueError("--judged goes beside the truth alone: leave the lists out")
    else:
        unread, why = titles if options.output is None else set(), "goes into a file: add -o"
        if not options.recs:
            raise ValueError("give the files of ranked lists, and the ground truth last")
    for name in sorted(options.asked & unread):
        raise ValueError(f"{cli.option(name)} {why}")
    reading.check_files(options, "titles", "user_titles")


def run_unjudged(options: argparse.Namespace) -> str:
    r"""List the items of the first k that nobody judged, most valuable first.

    An item is worth what rank-biased precision gives to its places, summed over the
    systems. With -o it is a file for people, who write a grade into its column
    relevance; --judged adds these grades to the truth (CSV: user_id, item_id,
    relevance). Rows that are left empty stay unjudged.

    examples:
      toplist unjudged bm25.run dense.run qrels.trec -k 10
      toplist unjudged bm25.run dense.run qrels.trec -n 500 -o judge.csv \
          --titles docs.csv:text --user-titles queries.csv:text
      toplist unjudged --judged judge.csv qrels.trec -o judged.csv
    """
    truth = reading.truth_of(options)
    if options.judged is not None:
        known = annotating.judged(truth, options.judged)
        return Grid.of(
            {"user_id": user, "item_id": item, "relevance": f"{grade:.15g}"}
            for user, items in known.items()
            for item, grade in items.items()
        ).to_csv()
    how = {name: getattr(options, name) for name in ("p", "duplicates", "padding")}
    lists = reading.lists_of(options)
    every = annotating.unjudged(lists, truth, options.k, **how)
    found: annotating.ItemsToJudge = every[: options.n]
    if not options.output:
        return found.to_text(width=cli.screen_width(options))
    titles = (reading.labels(options, name) for name in ("titles", "user_titles"))
    return found.text_for_judges(*(one if one.path else None for one in titles))


TO_JUDGE = f"""
    {reading.FILES}
    --judged FILE  beside the truth alone: the file with the grades of people
    --titles FILE:COLUMN  of the items: a column beside item_id
    --user-titles FILE:COLUMN  of the users, as texts of queries
"""
WHAT_TO_JUDGE = """
    -k K  the first k items of each list (default: 10)
    -n N  so many items (default: all)
    -p P  how likely a user goes on to the next rank (default: 0.8)
    --duplicates {}  an item twice in a list (default: raise)
"""
JUDGING: dict[str, dict[str, Any]] = {
    "k": cli.KINDS["k"] | {"default": 10},
    "n": {"check": partial(check_positive_int, name="-n")},
    "p": {"default": 0.8, "check": lambda p: with_parameters(METRICS["rbp"], {"p": p})},
    "duplicates": {"choices": ("raise", "first"), "default": "raise"},
}
# What is said of lists, and of those to judge in them.
OF_LISTS = *JUDGING, "ties", "padding", "order", "ranks_format"


COMMANDS = {
    "show": cli.Command(
        "USER RECS [RECS ...] TRUTH [options]",
        {
            "files": cli.table(SHOWN_FILES),
            "what to show": [
                *cli.table(ASKED, k=cli.KINDS["k"] | {"default": 10}, metrics=reading.OF_METRICS),
                *(one for one in reading.USERS_AND_ITEMS if one.name in SHARED),
            ],
            "how files are read": cli.of_files(files.COLUMNS, "ranks, ground_truths or FILE"),
            "output": cli.output(),
        },
        run_show,
        check_show,
    ),
    "report": cli.Command(
        "RECS [RECS ...] [TRUTH] [-m METRIC ...] -o FILE [options]",
        reading.evaluation() | {"the page": cli.table(PAGE, users=OF_EACH), "output": cli.output()},
        run_report,
        check_report,
    ),
    "check": cli.Command(
        "RECS TRUTH [--train LOG] [-k K] [options]",
        {
            "files": cli.table(CHECKED_FILES),
            "what to look for": cli.table(LOOKED_FOR, k={}),
            "how files are read": cli.of_files(
                (*files.COLUMNS, "timestamp"), "ranks, ground_truths or train"
            ),
            "output": cli.output(),
        },
        run_check,
        lambda options: cli.check_sides(options, [*SIDES, "train"]),
    ),
    "unjudged": cli.Command(
        "[RECS ...] TRUTH [-k K] [--judged FILE] [options]",
        {
            "files": cli.table(TO_JUDGE),
            "what to list": [
                *cli.table(WHAT_TO_JUDGE, **JUDGING),
                *(one for one in reading.USERS_AND_ITEMS if one.name in ("ties", "padding")),
            ],
            "how files are read": cli.of_files(files.COLUMNS, "ranks, ground_truths or FILE"),
            "output": cli.output(),
        },
        run_unjudged,
        check_unjudged,
    ),
}
