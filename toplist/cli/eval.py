"""`toplist eval`: files of ranked lists and of relevant items in, a table out.

examples:
  toplist eval recs.csv truth.csv
  toplist eval recs.csv truth.csv -k 10 20 -m ndcg recall
  toplist eval bpr.csv itemknn.csv truth.csv -k 10 --plot curves.png
  toplist eval run.trec qrels.trec -m ndcg@10 --convention trec_eval
  toplist eval recs.csv truth.csv --columns user_id=uid ground_truths:item_id=id
  toplist eval recs.csv truth.csv -m ndcg@10 --save base.npz
  toplist eval recs.csv truth.csv --segments users.csv:country -o table.txt
  toplist eval recs.csv truth.csv --item-segments items.csv:genre
  zcat recs.jsonl.gz | toplist eval - truth.csv --ranks-format jsonl

the files:
  CSV, TSV, JSONL, TREC (run and qrels), each also .gz, or Parquet (a file or a
  folder), by extension. Columns: user_id, item_id and rank or score (in the
  truth, if there are grades, relevance). In JSONL and Parquet item_id may be a
  whole ranked list. Files of any size are read block by block; lists in which
  the rows of a user are apart are read whole and sorted, as TREC files are,
  where they fit into memory. Results that --save kept (.npz) may
  stand among the lists; of such alone no truth is given. They keep the options
  that they were made with: other ones beside them are an error.
"""

import argparse
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from toplist import files
from toplist.checks import prefixed
from toplist.cli import output
from toplist.cli.options import (
    Parser,
    add_columns,
    add_convention,
    add_formats,
    add_options,
    asked_convention,
    check_sides,
    convention,
    given_options,
    names_of_columns,
    option,
)
from toplist.cli.ranked_truth import ranked_truth
from toplist.cli.saved import check_alike, check_alone
from toplist.cli.streams import Output, add_output, screen_width
from toplist.evaluation.plan import entries_of
from toplist.files import tables
from toplist.files.batches import stream_of
from toplist.files.formats import TEXT_IDS
from toplist.ground_truths import GroundTruths
from toplist.inputs.grades import Grading
from toplist.inputs.items import ITEMS, Items
from toplist.inputs.options import DEFAULT_METRICS, GROUP, SIDES
from toplist.inputs.sources import Ranks
from toplist.inputs.texts import Texts
from toplist.metrics.beyond_accuracy import LIST_METRICS
from toplist.metrics.conventions import CONVENTIONS, convention_of
from toplist.metrics.definitions import METRICS
from toplist.metrics.names import canonical
from toplist.metrics.weighing import SCORED
from toplist.plots import axes
from toplist.propensities import Propensities
from toplist.results.result import TopKResult
from toplist.results.terms import Entry
from toplist.results.writing import Content
from toplist.top_k import top_k_eval

DEFAULT_KS = [1, 5, 10, 20]
# As a cut-off: whole lists, k=None in Python.
ALL = "all"
# The names of the metrics of all conventions.
NAMES = {name for one in CONVENTIONS.values() for name in one.metrics} | {*LIST_METRICS, *SCORED}

USAGE = "RECS [RECS ...] [TRUTH] [-k K ...] [-m METRIC ...] [options]"


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add_reading(parser)
    add = parser.group("output")
    text = "the results by a label of users; keeps all users"
    add("--segments", text, metavar="FILE:COLUMN")
    text = "by a label of relevant items; keeps all users"
    add("--item-segments", text, metavar="FILE:COLUMN")
    add("--every-metric", "a line each for metrics that are one here", action="store_true")
    add("--per-user", "also write every user's values (CSV); keeps all users", metavar="FILE")
    add("--plot", "also draw the curves over k (.png, .svg, .pdf)", metavar="FILE")
    text = "also save the result with its users, FILE.npz; of several systems, in a folder"
    add("--save", text, metavar="PATH")
    add_output(add, output.FORMATS)


def add_reading(parser: Parser, *, of_two: bool = False) -> None:
    """Add the files, and all options of how they are read and evaluated; `of_two` for the gate."""
    add = parser.group("files")
    if of_two:
        for name in ("new", "base"):
            add(name, "ranked lists, or a saved result", metavar=name.upper())
        add("truth", "relevant items, of lists: the last file", metavar="TRUTH", nargs="?")
    else:
        add("recs", "ranked lists, a file per system; - is stdin", metavar="RECS", nargs="+")
        add("truth", "relevant items: the last file", metavar="TRUTH", nargs="?")
    add = parser.group("what to compute")
    text = "name@k, as ndcg@10; see toplist metrics"
    if not of_two:
        text = "cut-offs (default: 1 5 10 20), or all: whole lists"
        add("-k", text, several=True, type=_cut_off, metavar="K")
        text = f"names, also name@k (default: {' '.join(DEFAULT_METRICS)}, as far as the "
        text += "convention has them); see toplist metrics"
    add("-m --metrics", text, several=True, words=NAMES, metavar="METRIC")
    add_convention(add)
    add = parser.group("users and items")
    add_options(add)
    add("--padding", "the id that fills up short lists: dropped from their ends", metavar="ID")
    text = "documents in place of chunks (CSV, TSV: item_id, document)"
    add("--items-as", text, metavar="FILE")
    text = "of the rows: intervals and tests are by these; or a column of user_id"
    add("--clusters", text, metavar="FILE:COLUMN")
    text = "item_id and how likely it was observed: relevant items count 1 / p"
    add("--propensities", text, metavar="FILE[:COLUMN]")
    add = parser.group("metrics of the lists themselves")
    for name, row in ITEMS.items():
        add(option(name), row.help, metavar="FILE")
    add = parser.group("how files are read")
    add_columns(add, (*files.COLUMNS, GROUP), sides="ranks, ground_truths or FILE")
    add_formats(add, files.FORMATS)
    chosen = "k", "metrics"  # of a saved result, too
    parser.set_defaults(evaluating=[name for name in parser.names if name not in chosen])


def _cut_off(argument: str) -> int | str:
    """Read one argument of ``-k``."""
    if argument == ALL:
        return ALL
    if "," in argument:
        raise argparse.ArgumentTypeError(f"{argument!r}: write -k {argument.replace(',', ' ')}")
    try:
        return int(argument)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{argument!r} is no whole number: give cut-offs, or {ALL} for whole lists"
        ) from None


def check(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    check_asked(options)
    if options.plot:
        output.check_picture(options.plot)
    for given in ("segments", "item_segments"):
        if getattr(options, given):
            output.check_labels(option(given), getattr(options, given))
    if options.segments and options.item_segments:
        raise ValueError("--segments splits the users, --item-segments the items: give one of them")
    if options.save:
        output.check_save(options.save, options.recs, options.system)


def check_asked(options: argparse.Namespace) -> None:
    """Check what is asked; the default k is for the metrics without a k of their own.

    Where all results are saved ones, there is no ground truth, and what is not asked is theirs.
    """
    for path in filter(None, (*options.recs, options.truth)):
        if os.path.exists(path):
            continue
        if path.isdecimal():
            raise ValueError(f"{path} is a number, no file: write -k {path}")
        if canonical(path).partition("@")[0] in NAMES:
            raise ValueError(f"{path} is a metric, no file: write -m {path}")
    if options.clusters and ":" in options.clusters:
        output.check_labels("--clusters", options.clusters)
    _settle_truth(options)
    for name in options.metrics or ():
        if "," in re.sub(r"\(.*?\)", "", name):  # commas between parameters are in brackets
            raise ValueError(f"-m {name}: write -m {' '.join(filter(None, name.split(',')))}")
    if options.truth is not None:
        _settle_asked(options)
    if options.k and ALL in options.k:
        if len(options.k) > 1:
            raise ValueError("-k all is the whole list: give no other cut-off with it")
        if options.truth is None:
            raise ValueError(f"-k all: {options.recs[0]} is a saved result, which has its own k")
        options.k = None
    entries_of(asked_or_usual(options), options.k, convention_of(options.convention))
    if len(set(options.recs)) < len(options.recs):
        raise ValueError("a file of lists is named twice; the last file is the ground truth")
    if options.truth is None:
        check_alone(options, options.recs)
    lists = {
        path: name
        for name, path in zip(output.names_of(options.recs), options.recs, strict=True)
        if not output.is_saved(path)
    }
    check_sides(options, [*(SIDES if lists else ()), *lists.values(), *lists])
    Grading(options.relevant_from)


def _settle_truth(options: argparse.Namespace) -> None:
    """Take the last file as the ground truth of lists; as one more of saved results alone."""
    several = "base" not in options and len(options.recs) > 1  # the gate names each of its files
    if options.truth is None and several and not all(map(output.is_saved, options.recs)):
        options.truth = options.recs.pop()
    saved, truth = [*map(output.is_saved, options.recs)], options.truth
    if truth is None and not all(saved):
        lists = options.recs[saved.index(False)]
        raise ValueError(f"{lists} is no saved result: TRUTH, the last file, is needed")
    if truth is None:
        return
    if all(saved) and not output.is_saved(truth):
        raise ValueError(
            f"{truth}: saved results alone need no ground truth, and no lists are given: "
            "leave it out, or name the lists before it"
        )
    if all(saved):
        options.recs, options.truth = [*options.recs, truth], None
    elif output.is_saved(truth):
        raise ValueError(f"{truth} is a saved result: the last file is the truth")


def asked_or_usual(
    options: argparse.Namespace, usual: Sequence[str] = DEFAULT_METRICS
) -> list[str]:
    """Return the metrics asked for; else those of the usual ones that the convention has."""
    known = convention_of(options.convention).metrics
    return options.metrics or [name for name in usual if name in known]


def _settle_asked(options: argparse.Namespace) -> None:
    """Put the default metrics and k's where none are given."""
    options.metrics = asked_or_usual(options)
    if options.k is not None:
        return
    alone = [metric for metric in options.metrics if takes_k(metric)]
    if len(alone) == len(options.metrics):
        options.k = DEFAULT_KS
        return
    options.metrics = [
        f"{metric}@{k}" if k else metric
        for metric in options.metrics
        for k in (DEFAULT_KS if metric in alone else [None])
    ]


def takes_k(metric: str) -> bool:
    """Return whether a metric has no k of its own, and is not of the whole list."""
    name = canonical(metric)
    return "@" not in name and (name not in METRICS or METRICS[name].cut != "n")


def run(options: argparse.Namespace) -> Output:
    """Evaluate all systems; return the text to print and the files to write."""
    if options.plot:
        axes.need_matplotlib()
    missing = convention(options).missing
    # all systems count the same users of the truth, except where users without a list are left
    # out, and under ips, where those count who have a list alone: then the comparison must know
    # the users themselves, not only their number
    whole = bool(options.per_user or options.segments or options.item_segments)
    whole |= bool(options.clusters) or options.save is not None
    whole |= len(options.recs) > 1 and (missing == "skip" or options.weighting == "ips")
    results = evaluated(options, whole)
    if options.segments or options.item_segments:
        named = names_of_columns(options, "segments")
        if options.segments:
            user_id = named.get("user_id", "user_id")
            split = output.split_by(results, options.segments, user_id)
        else:
            item_id = named.get("item_id", "item_id")
            split = output.split_by_item(results, options.item_segments, item_id)
        text = output.SEGMENT_FORMATS[options.format](split, screen_width(options))
    else:
        width = screen_width(options)
        text = output.FORMATS[options.format](results, options.every_metric, width)
    contents: dict[str, Content] = {}
    if options.per_user:
        contents[options.per_user] = output.per_user_csv(results)
    if options.plot:
        contents[options.plot] = lambda path: output.draw(results, path)
    if options.save:
        contents |= output.saved_files(results, options.save)
    return Output(text, contents, ranked_truth(options))


def evaluated(options: argparse.Namespace, users: bool = True) -> dict[str, TopKResult]:
    """Return the results of all systems, by the names of their files: evaluated, or saved ones.

    With `users`, they keep what is known of each.
    """
    results: dict[str, TopKResult] = {}
    saved: dict[str, TopKResult] = {}
    columns, form = names_of_columns(options, "ground_truths"), options.ground_truths_format
    once = partial(GroundTruths, options.truth, columns=columns, format=form)
    user_id = names_of_columns(options, "clusters").get("user_id", "user_id")
    path, colon, column = (options.clusters or "").rpartition(":")
    clusters = output.labels(path, user_id, column, "row") if colon else {}
    kept = form is not None or len(options.recs) > 1
    truth = cache(once if kept else partial(Path, options.truth))
    for name, recs in zip(output.names_of(options.recs), options.recs, strict=True):
        found = (
            _loaded(options, recs)
            if output.is_saved(recs)
            else _evaluate(options, recs, name, truth, users)
        )
        alone = len(options.recs) == 1
        if colon:
            found = output.clustered(found, clusters, path)
        if isinstance(found, TopKResult):
            results[name] = found
            saved |= {recs: found} if output.is_saved(recs) else {}
        else:
            results |= {one if alone else f"{name} {one}": it for one, it in found.items()}
    loaded = list(map(id, saved.values()))
    check_alike(options, saved, {s: one for s, one in results.items() if id(one) not in loaded})
    return results


def _loaded(options: argparse.Namespace, path: str) -> TopKResult:
    """Return a saved result with what is asked for alone; ValueError if it lacks some of it."""
    result = TopKResult.load(path)
    terms = result.terms
    if not options.metrics and not options.k:
        return result
    asked = options.metrics or list(terms.metrics.values())
    entries: list[Entry] = []
    try:
        for one in entries_of(asked, options.k, CONVENTIONS[terms.convention]):
            name = one.metric.name
            metric, _ = terms.find(name)
            for k in one.ks:
                terms.find(f"{name}@{k}")
            own = (entry for entry in terms.entries if entry.metric == metric)
            entries += [replace(one, metric=metric)] if one.ks else own
    except KeyError as error:
        raise ValueError(f"{path}: {error.args[0]}") from None
    kept = {entry.metric.name for entry in entries}
    pooled = tuple(name for name in terms.pooled if name in kept)
    return replace(result, terms=replace(terms, entries=tuple(entries), pooled=pooled))


def _evaluate(
    options: argparse.Namespace, recs: str, name: str, truth: Callable[[], Any], users: bool
) -> TopKResult | dict[str, TopKResult]:
    """Evaluate one file of lists; with several files, an error names it."""
    of_lists = names_of_columns(options, "ranks", name, recs)
    of_truth = names_of_columns(options, "ground_truths")
    if of_lists != of_truth:
        of_lists.pop(GROUP, None)  # named for both
    by_side = {"ranks": of_lists, "ground_truths": of_truth}
    how = given_options(options, "ranks")
    try:
        found: TopKResult | dict[str, TopKResult] = top_k_eval(
            Ranks(recs, format=options.ranks_format, order=options.order, **how),
            truth(),
            options.k,
            metrics=options.metrics,
            convention=asked_convention(options),
            padding=_padding_of(options, recs, of_lists),
            columns=of_truth if of_lists == of_truth else by_side,
            keep="users" if users else None,
            clusters=None if ":" in (options.clusters or "") else options.clusters,
            **given_options(options),
            **_known_items(options, recs, of_lists),
        )
        return found
    except (ValueError, TypeError) as error:
        facts = vars(error)
        if "needs" in facts:
            what = ITEMS[facts["needs"]].help.partition(", for ")[0]
            error = ValueError(f"{facts['metric']} needs {option(facts['needs'])} FILE: {what}")
        if len(options.recs) == 1 or recs in str(error) or str(error).startswith(options.truth):
            raise error from None
        raise prefixed(f"{recs}: ", error) from None


def _known_items(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> dict[str, Any]:
    """Read the files of the keywords about items; ids have the type that they have in the lists.

    Those of documents have the type of the documents.

    `columns` are the names of columns in the file of the lists.
    """
    known: dict[str, Any] = {}
    given = options.items_as or options.propensities
    numbers = bool(given) and _hold_numbers(options, recs, columns)
    if options.items_as is not None:
        found = tables.facts(options.items_as, "document")
        chunks, documents = found.items, list(found.values)
        if numbers:
            chunks = output.integers(options.items_as, chunks)
            with suppress(ValueError):  # documents may be text where chunks are numbers
                documents = list(map(int, documents))
            numbers = not documents or isinstance(documents[0], int)
        known["items_as"] = dict(zip(chunks, documents, strict=True))
    if options.propensities is not None:
        of_items = tables.facts(options.propensities, "number")
        if numbers:
            of_items = of_items._replace(
                items=output.integers(options.propensities, of_items.items)
            )
        known["propensities"] = Propensities(of_items, **given_options(options, "propensities"))
    elif given_options(options, "propensities"):
        name = next(iter(given_options(options, "propensities")))
        raise ValueError(f"--{name} needs --propensities FILE")
    as_documents = numbers if options.items_as else None
    beside = beside_lists(options, recs, columns, as_documents=as_documents)
    return known | {"items": Items(**beside, **given_options(options, "items"))}


def beside_lists(
    options: argparse.Namespace,
    recs: str,
    columns: dict[str, str],
    names: Iterable[str] = ITEMS,
    as_documents: bool | None = None,
) -> dict[str, Any]:
    """Read the files beside the lists, such as --history; `as_documents`: ids are numbers, or text.

    By default they have the type that they have in the lists.
    """
    known: dict[str, Any] = {}
    for name in names:
        path = getattr(options, name)
        if path is None:
            continue
        keys, values, *_ = tables.facts(path, ITEMS[name].file)
        of_users, numbers = ITEMS[name].file == "items", as_documents
        if of_users or numbers is None:
            numbers = _hold_numbers(options, recs, columns)
        if of_users and numbers:
            values = [output.integers(path, items) for items in values]
        if _hold_numbers(options, recs, columns, "users") if of_users else numbers:
            keys = output.integers(path, keys)
        known[name] = dict(zip(keys, values, strict=True))
    return known


def _padding_of(options: argparse.Namespace, recs: str, columns: dict[str, str]) -> Any:
    """Return the padding id with the type of the ids in the lists."""
    if options.padding is None or not _hold_numbers(options, recs, columns):
        return options.padding
    return output.integers("--padding", [options.padding])[0]


def _hold_numbers(
    options: argparse.Namespace, recs: str, columns: dict[str, str], of: str = "items"
) -> bool:
    """Return whether the items, or users, of the lists are numbers: only formats with types."""
    sides = (recs, options.ranks_format), (options.truth, options.ground_truths_format)
    if any((given or files.format_of(path)) in TEXT_IDS for path, given in sides):
        return False
    stream = stream_of(recs, "ranks", options.ranks_format, columns, "file")
    first = next(iter(stream.parts((Texts(), Texts())))).lists
    return getattr(first, of).names is None
