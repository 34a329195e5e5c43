r"""`toplist show`: the lists of one user side by side: hits, what moved, and what was missed.

Files are those of toplist eval; of each, only the rows of this user are kept.
Systems are named by their files. The first is the one that the others are
compared with.

examples:
  toplist show u0547 popularity.csv itemknn.csv truth.csv
  toplist show u0547 knn.csv ease.csv truth.csv --titles items.csv:title -k 20
  toplist show 301 bm25.run dense.run qrels.trec -m ndcg@10 rbp
"""

import argparse

from toplist import files
from toplist.checks import check_positive_int
from toplist.cli import output
from toplist.cli.eval import NAMES, asked_or_usual
from toplist.cli.options import (
    Parser,
    add_columns,
    add_convention,
    add_formats,
    add_options,
    check_sides,
    names_of_columns,
    option,
)
from toplist.cli.streams import add_output, screen_width
from toplist.evaluation.plan import entries_of
from toplist.files import tables
from toplist.files.batches import stream_of
from toplist.inputs.grades import Grading
from toplist.inputs.items import Items
from toplist.inputs.options import SIDES
from toplist.metrics.conventions import convention_of
from toplist.reporting.showing import METRICS, WIDTH, of_file, show

USAGE = "USER RECS [RECS ...] TRUTH [options]"

# Options of an evaluation that change what is shown.
TAKEN = "relevant_from", "duplicates", "ties"


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add = parser.group("files")
    add("user", "as the truth has it", metavar="USER")
    add("recs", "ranked lists, a file per system; - is stdin", metavar="RECS", nargs="+")
    add("truth", "relevant items: the last file", metavar="TRUTH")
    add("--titles", "of the items: a column beside item_id", metavar="FILE:COLUMN")
    add("--user-titles", "of the users, as texts of queries", metavar="FILE:COLUMN")
    add("--history", "user_id and item_id: what users had before", metavar="FILE")
    add("--catalogue", "items (CSV, TSV: item_id): what could be listed", metavar="FILE")
    add = parser.group("what to show")
    add("-k", "the first k items of each list (default: 10)", type=int, default=10)
    text = f"of this user (default: {' '.join(METRICS)}, as far as the convention has them)"
    add("-m --metrics", text, several=True, words=NAMES, metavar="METRIC")
    add_convention(add)
    add_options(add, TAKEN)
    add = parser.group("how files are read")
    add_columns(add, files.COLUMNS, sides="ranks, ground_truths or FILE")
    add_formats(add, files.FORMATS)
    add_output(parser.group("output"))


def check(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    for name in ("titles", "user_titles"):
        if getattr(options, name):
            output.check_labels(option(name), getattr(options, name))
    options.metrics = asked_or_usual(options, METRICS)
    k = check_positive_int(options.k, "k")
    entries_of(options.metrics, k, convention_of(options.convention))
    Grading(options.relevant_from)
    if len({*options.recs}) < len(options.recs):
        raise ValueError("a file of lists is named twice; the last file is the ground truth")
    check_sides(
        options, [*SIDES, "titles", "user_titles", *output.names_of(options.recs), *options.recs]
    )


def run(options: argparse.Namespace) -> str:
    """Read the rows of the user and return them side by side."""
    names = names_of_columns(options, "ground_truths")
    form = options.ground_truths_format
    truth = of_file(stream_of(options.truth, "ground_truths", form, names), options.user)
    lists = {}
    for name, path in zip(output.names_of(options.recs), options.recs, strict=True):
        names, form = names_of_columns(options, "ranks", name, path), options.ranks_format
        stream = stream_of(path, "ranks", form, names, options.order, options.ties)
        lists[name] = of_file(stream, options.user)
    title, sides = output.title_of(options), (truth, *lists.values())
    past = None
    if options.history:
        history = tables.facts(options.history, "items")
        past = dict(zip(history.items, history.values, strict=True)).get(options.user, [])
    items = [item for side in sides for row in side.values() for item in row]
    known = {*tables.facts(options.catalogue, "ids").items} if options.catalogue else None
    found = show(
        options.user,
        lists,
        truth,
        {item: title(item) for item in (*items, *(past or ()))},
        options.k,
        metrics=options.metrics,
        convention=options.convention,
        items=Items(
            history=None if past is None else {options.user: past},
            catalogue=None if known is None else [item for item in items if str(item) in known],
        ),
        relevant_from=options.relevant_from,
        duplicates=options.duplicates,
        user_titles={options.user: output.title_of(options, "user_titles", "user")(options.user)},
    )
    return found.to_text(screen_width(options) or WIDTH)
