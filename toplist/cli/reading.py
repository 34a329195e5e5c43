"""What goes in: lists, truths and files beside them, which are evaluated, and saved results.

A saved result keeps the options that it was made with: one that would be ignored is an error.
Beside lists, which are evaluated now, it may stand where it was made with the same ones.
"""

import argparse
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from toplist import files
from toplist.averages.propensities import Propensities
from toplist.checks import USERS, prefixed, require
from toplist.cli import options as cli
from toplist.evaluation.plan import entries_of
from toplist.files import tables
from toplist.files.batches import stream_of
from toplist.files.formats import TEXT_IDS, find_format, first_line
from toplist.files.text import csv_rows
from toplist.inputs import options as inputs
from toplist.inputs.truths import read_gains
from toplist.metrics.beyond_accuracy import LIST_METRICS
from toplist.metrics.conventions import CONVENTIONS, MISSING, RELEVANT, convention_of
from toplist.metrics.definitions import EMPTY, METRICS
from toplist.metrics.names import canonical
from toplist.metrics.properties import SCORED
from toplist.results.result import TopKResult
from toplist.results.tables import as_text, key_columns
from toplist.results.terms import Entry
from toplist.top_k import GroundTruths, top_k_eval

DEFAULT_KS = [1, 5, 10, 20]
# As a cut-off: whole lists, k=None in Python.
ALL = "all"
# The names of the metrics of all conventions.
NAMES = {name for one in CONVENTIONS.values() for name in one.metrics} | {*LIST_METRICS, *SCORED}


# The options of an evaluation


def _cut_off(argument: str) -> int | str:
    """Read one argument of ``-k``."""
    if argument == ALL:
        return ALL
    if "," in argument:
        raise ValueError(f"{argument!r}: write -k {argument.replace(',', ' ')}")
    with suppress(ValueError):
        return int(argument)
    raise ValueError(f"{argument!r} is no whole number: give cut-offs, or {ALL} for whole lists")


def _one_by_one(names: Sequence[str]) -> None:
    """Raise ValueError for metrics with commas between them."""
    for name in names:
        if "," in re.sub(r"\(.*?\)", "", name):  # commas between parameters are in brackets
            raise ValueError(f"-m {name}: write -m {' '.join(filter(None, name.split(',')))}")


def _file_or_column(given: str) -> None:
    """Raise ValueError for clusters with a colon that are no FILE:COLUMN."""
    if ":" in given:
        cli.check_labels("--clusters", given)


OF_METRICS = {"check": _one_by_one, "words": NAMES}
USUAL = "(default: {}, as far as the convention has them)"
LISTS = "RECS...  ranked lists, a file per system; - is stdin"
FILES = f"{LISTS}\n[TRUTH]  relevant items: the last file"
ASKED = f"""
    -k K...  cut-offs (default: 1 5 10 20), or all: whole lists
    -m --metrics METRIC...  names, also name@k {USUAL.format(" ".join(inputs.DEFAULT_METRICS))};
        see toplist metrics
"""
#: The options of an evaluation that are words or numbers, by what takes them in Python.
WORDS = {
    "ranks": ("unit", "ties"),
    "propensities": ("weighting", "clip"),
    "convention": ("empty", "missing", "relevant", "gains"),
    "": ("duplicates", "unjudged", "relevant_from", "system"),
    "items": ("unknown",),
}
USERS_AND_ITEMS = cli.table(
    """
    --unit UNIT  what the rows are in print: sessions
    --weighting {}  of --propensities (default: snips)
    --clip CLIP  least propensity that counts
    --empty {}  users with an empty truth (default: the convention's)
    --missing {}  users without a list (default: the convention's)
    --relevant {}  R of all relevant items (default), or listed ones
    --duplicates {}  an item twice in a list (default: raise; collapse with --items-as)
    --unjudged {}  listed items without a grade: misses (default), or dropped
    --relevant-from FROM  relevant from this grade on
    --gains GAINS  of a grade in nDCG: linear, exponential, or 1=1,2=4 (default: the convention's)
    --ties {}  equal scores: as the rows are, or by item (default: item_desc of TREC files)
    --system SYSTEM  column of systems, each evaluated alone
    --unknown {}  listed items that these files do not have
    --padding ID  the id that fills up short lists: dropped from their ends
    --items-as FILE  documents in place of chunks (CSV, TSV: item_id, document)
    --weights FILE:COLUMN  of the users in the means: numbers from 0 on
    --clusters FILE:COLUMN  of the rows: intervals and tests are by these; or a column of user_id
    --propensities FILE[:COLUMN]  item_id and how likely it was observed: relevant items count 1 / p
    """,
    weighting={"choices": inputs.WEIGHTINGS},
    empty={"choices": EMPTY},
    missing={"choices": MISSING},
    relevant={"choices": RELEVANT},
    gains={"type": read_gains},
    unknown={"choices": inputs.UNKNOWN},
    clusters={"check": _file_or_column},
)
OF_ITEMS = cli.table(
    "\n".join(f"{cli.option(name)} FILE  {row.help}" for name, row in inputs.ITEMS.items())
)
READING = cli.of_files((*files.COLUMNS, inputs.GROUP), "ranks, ground_truths or FILE")
#: The options that name a file of items, and what it has of each: see `toplist.files.tables.facts`.
OF_FACTS = {"items_as": "document", "propensities": "number"}
OF_FACTS |= {name: row.file for name, row in inputs.ITEMS.items()}
#: The names of all options of an evaluation, but those that choose among its means.
EVALUATING = ["convention", *(one.name for one in (*USERS_AND_ITEMS, *OF_ITEMS, *READING))]


def evaluation(given: str = FILES, asked: str = ASKED) -> dict[str, cli.Group]:
    """Return the files, and all options of how they are read and evaluated, in groups."""
    return {
        "files": cli.table(given),
        "what to compute": [
            *cli.table(asked, k={"type": _cut_off}, metrics=OF_METRICS),
            *cli.table(cli.CONVENTION),
        ],
        "users and items": USERS_AND_ITEMS,
        "metrics of the lists themselves": OF_ITEMS,
        "how files are read": READING,
    }


def given_options(options: argparse.Namespace, place: str = "") -> dict[str, Any]:
    """Return the options of an evaluation that are given for a place in Python."""
    known = vars(options)
    return {name: known[name] for name in WORDS[place] if known.get(name) is not None}


# What is checked before any file is opened


def names_of(paths: Sequence[str]) -> list[str]:
    """Name systems by their files, without folder and extension where the names still differ.

    Examples
    --------
    >>> names_of(["runs/bpr.csv.gz", "runs/knn.v2.csv"])
    ['bpr', 'knn.v2']
    >>> names_of(["a/recs.csv", "b/recs.csv"])
    ['a/recs.csv', 'b/recs.csv']
    """
    short = [os.path.splitext(os.path.basename(path).removesuffix(".gz"))[0] for path in paths]
    return short if len(set(short)) == len(short) else list(paths)


def is_saved(path: str) -> bool:
    """Return whether a file is a result that `TopKResult.save` wrote, by its name; else of lists.

    JSON is no form of lists, and as a result it is refused with the way out.

    Examples
    --------
    >>> [is_saved(name) for name in ("base.npz", "base.json", "lists.jsonl", "lists.csv.gz")]
    [True, True, False, False]
    """
    return path.lower().endswith((".npz", ".json", ".json.gz"))


def check_asked(options: argparse.Namespace) -> None:
    """Check what is asked.

    Where there are lists, the last file is the ground truth. Where all results are saved ones,
    there is none, and what is not asked is theirs.
    """
    recs = options.recs
    for path in filter(None, (*recs, options.truth)):
        if os.path.exists(path):
            continue
        if path.isdecimal():
            raise ValueError(f"{path} is a number, no file: write -k {path}")
        if canonical(path).partition("@")[0] in NAMES:
            raise ValueError(f"{path} is a metric, no file: write -m {path}")
    several = "base" not in options and len(recs) > 1  # the gate names each of its files
    if options.truth is None and several and not all(map(is_saved, recs)):
        options.truth = recs.pop()
    lists, truth = [path for path in recs if not is_saved(path)], options.truth
    if truth is None:
        if lists:
            raise ValueError(f"{lists[0]} is no saved result: TRUTH, the last file, is needed")
    elif is_saved(truth):
        raise ValueError(f"{truth} is a saved result: the last file is the truth")
    elif not lists:
        way = "leave it out, or name lists before it"
        raise ValueError(f"{truth}: saved results alone need no ground truth: {way}")
    else:
        options.metrics = asked_or_usual(options)
        options.k = options.k or DEFAULT_KS
    if options.k and ALL in options.k:
        if len(options.k) > 1:
            raise ValueError("-k all is the whole list: give no other cut-off with it")
        if truth is None:
            raise ValueError(f"-k all: {recs[0]} is a saved result, which has its own k")
        options.k = None
    entries_of(asked_or_usual(options), options.k, convention_of(options.convention))
    for name in _asked(options) if truth is None else ():
        if name != "columns" or not cli.labelled(options):
            said = f"{_written(options, name)} changes nothing of {recs[0]}, a saved result"
            kept = "which keeps the options it was made with"
            raise ValueError(f"{said}, {kept}: leave it out, or give the lists and the truth")
    weighing = given_options(options, "propensities")
    if weighing and not options.propensities:
        raise ValueError(f"{_written(options, next(iter(weighing)))} needs --propensities FILE")
    check_files(options)


def check_files(options: argparse.Namespace, *more: str) -> None:
    """Name the systems, as `named`; ValueError for lists given twice, and a column of no file.

    `more` are sides that the files of lists have none of. A file that `--columns` names by its path
    is called by its side, the ground truth, or its system: a column has one name there.
    """
    recs = options.recs
    if len({*recs}) < len(recs):
        raise ValueError("a file of lists is named twice; the last file is the ground truth")
    options.named = dict(zip(names_of(recs), recs, strict=True))
    lists = {name: path for name, path in options.named.items() if not is_saved(path)}
    of_lists, of_truth = inputs.SIDES
    named = [of_lists] * bool(lists) + [of_truth] * bool(options.truth)
    paths = [*lists.values(), *filter(None, [options.truth])]
    cli.check_sides(options, [*named, *more, *lists, *paths])
    sides = {path: name for name, path in lists.items()} | {options.truth: of_truth}
    options.columns = [(sides.get(side, side), *names) for side, *names in options.columns]
    cli.check_one_name_each(options.columns)


def asked_or_usual(
    options: argparse.Namespace, usual: Sequence[str] = inputs.DEFAULT_METRICS
) -> list[str]:
    """Return the metrics asked for; else those of the usual ones that the convention has."""
    known = convention_of(options.convention).metrics
    return options.metrics or [name for name in usual if name in known]


def takes_k(metric: str) -> bool:
    """Return whether a metric has no k of its own, and is not of the whole list."""
    name = canonical(metric)
    return "@" not in name and (name not in METRICS or METRICS[name].cut != "n")


# Systems, evaluated or saved


def evaluated(options: argparse.Namespace, users: bool = True) -> dict[str, TopKResult]:
    """Return the results of all systems, by the names of their files: evaluated, or saved ones.

    With `users`, they keep what is known of each.
    """
    truth = truth_of(options)
    clusters = labels(options, "clusters")  # of no file where they are a column of the keys
    results: dict[str, TopKResult] = {}
    named, lists = options.named, lists_of(options)
    for name, path in named.items():
        if is_saved(path):
            found = {"": _loaded(options, path)}
        else:
            found = _evaluate(options, lists[name], truth, users)
        for one, result in found.items():
            if clusters.path:
                of_users(result, clusters)
                own = [*map(clusters.get, result.users)]
                if None in own:
                    row = result.users[own.index(None)]
                    raise ValueError(f"{clusters.path}: has no cluster of row {row!r}")
                unit = "rows" if result.terms.unit == USERS else result.terms.unit
                result = replace(result, terms=replace(result.terms, unit=unit), clusters=own)
            system = name if not one else one if len(named) == 1 else f"{name} {one}"
            results[system] = result
    saved = {path: results[name] for name, path in named.items() if is_saved(path)}
    fresh = [one for name, one in results.items() if named.get(name) not in saved]
    _check_alike(options, saved, fresh)
    return results


def _loaded(options: argparse.Namespace, path: str) -> TopKResult:
    """Return a saved result with what is asked for alone; ValueError if it lacks some of it."""
    result = TopKResult.load(path)
    terms, entries = result.terms, list[Entry]()
    if not options.metrics and not options.k:
        return result
    try:
        for name in options.metrics or terms.asked:
            metric, own = terms.find(name)
            ks = (own,) if own else tuple(options.k or terms.ks_of[metric.name])
            for k in ks:
                terms.find(f"{metric.name}@{k}")
            entries.append(Entry(metric, ks, scalar=False))
    except KeyError as error:
        raise ValueError(f"{path}: {error.args[0]}") from None
    kept = {entry.metric.name for entry in entries}
    pooled = tuple(name for name in terms.pooled if name in kept)
    return replace(result, terms=replace(terms, entries=tuple(entries), pooled=pooled))


def truth_of(options: argparse.Namespace) -> GroundTruths | None:
    """Return the ground truth, which is read at its first use; None of saved results alone."""
    if options.truth is None:
        return None
    form = options.ground_truths_format
    return GroundTruths(options.truth, columns=names_in_truth(options), format=form)


def names_in_truth(options: argparse.Namespace) -> dict[str, Any]:
    """Return the names of columns in the file of ground truths."""
    return cli.names_of_columns(options, "ground_truths")


def columns_of_users(
    options: argparse.Namespace, users: Iterable[Any], beside: Iterable[str]
) -> dict[str, list[Any]]:
    """Return the columns of users in files that are written, as the ground truths have them."""
    return key_columns(users, names_in_truth(options).get("user_id", "user_id"), beside)


def lists_of(options: argparse.Namespace) -> dict[str, inputs.Ranks]:
    """Return the lists of all files, by system, with how they are read."""
    how = {"format": options.ranks_format, "order": options.order}
    found = {}
    for name, path in options.named.items():
        columns = cli.names_of_columns(options, "ranks", name)
        columns.pop(inputs.GROUP, None)  # of ground truths alone
        found[name] = inputs.Ranks(path, columns=columns, **how, **given_options(options, "ranks"))
    return found


def _evaluate(
    options: argparse.Namespace, lists: inputs.Ranks, truth: Any, users: bool
) -> dict[str, TopKResult]:
    """Evaluate the systems of a file, one without a name; an error names one of several files."""
    recs = str(lists.ranks)
    convention: Any = options.convention  # a synonym is kept where nothing of it is changed
    if policies := given_options(options, "convention"):
        convention = convention_of(convention).replace(**policies)
    try:
        found: Any = top_k_eval(
            lists,
            truth,
            options.k,
            metrics=options.metrics,
            convention=convention,
            columns=names_in_truth(options),
            keep="users" if users else None,
            weights=_weights(options),
            clusters=None if ":" in (options.clusters or "") else options.clusters,
            **given_options(options),
            **beside(options, lists),
        )
        by_system = {"": found} if isinstance(found, TopKResult) else found
        return {name: _named(options, one) for name, one in by_system.items()}
    except (ValueError, TypeError) as error:
        facts = vars(error)
        if "needs" in facts:
            what = inputs.ITEMS[facts["needs"]].help.partition(", for ")[0]
            error = ValueError(f"{facts['metric']} needs {cli.option(facts['needs'])} FILE: {what}")
        if len(options.recs) == 1 or recs in str(error) or str(error).startswith(options.truth):
            raise error from None
        raise prefixed(f"{recs}: ", error) from None


def _named(options: argparse.Namespace, result: TopKResult) -> TopKResult:
    """Return a result whose notes name standard input, not the folder where it lies for now."""
    if not options.folder:
        return result
    return replace(result, notes=tuple(one.replace(options.folder, "") for one in result.notes))


# Options of an evaluation beside saved results

# Those that say how files look: beside a saved result they are of the other files alone.
OF_FILES = {*("columns", "ranks_format", "ground_truths_format", "order", "padding", "system")}


def _asked(options: argparse.Namespace) -> Iterator[str]:
    """Yield the options of an evaluation that are given; clusters of a file are of any rows."""
    for name in EVALUATING:
        if name in options.asked and not (name == "clusters" and ":" in options.clusters):
            yield name


def _check_alike(
    options: argparse.Namespace, saved: Mapping[str, TopKResult], fresh: Sequence[TopKResult]
) -> None:
    """Raise ValueError for an option that a saved result, by its path, was not made with."""
    of_results = [name for name in _asked(options) if name not in OF_FILES]
    for name, (path, kept) in ((name, pair) for name in of_results for pair in saved.items()):
        made = _made(kept, name)
        if all(made == _made(one, name) for one in fresh):
            continue
        how = "with another one" if made else "without it"
        if isinstance(made, (str, float, int)) and name not in OF_FACTS:
            how = f"with {cli.option(name, made)}"
        said = f"{_written(options, name)} does not go with {path}"
        way = "leave it out, or evaluate those lists with it too"
        raise ValueError(f"{said}: it was saved by an evaluation {how}: {way}")


def _made(result: TopKResult, keyword: str) -> Any:
    """Return what an option of an evaluation was, as far as a result knows of it."""
    terms, lists = result.terms, result.lists
    if keyword in inputs.ITEMS:
        return None if lists is None else lists.given.get(keyword)
    if keyword in ("weights", "clusters"):
        given = getattr(result, keyword)
        return None if given is None else dict(zip(result.users, given, strict=True))
    known = {**terms.made_by, **vars(terms.grading)}
    return known.get(keyword, getattr(terms, keyword, None))


def _written(options: argparse.Namespace, name: str) -> str:
    """Return an option as it was given, or its name alone where its value is long."""
    value = getattr(options, name)
    plain = isinstance(value, (str, float, int)) and value is not True
    return cli.option(name, value if plain else None)


# Files beside the lists: their ids are texts, and become numbers where those of the lists are


def beside(
    options: argparse.Namespace,
    lists: inputs.Ranks,
    names: Collection[str] = OF_FACTS,
    user_as_text: bool = False,
) -> dict[str, Any]:
    """Return what files say of items, and the padding, as keywords of an evaluation.

    `names` are those of the options that name such files. With `user_as_text` the ids of users
    stay texts.
    """
    paths = {name: path for name in names if (path := getattr(options, name)) is not None}
    padding, weighing = getattr(options, "padding", None), given_options(options, "propensities")
    numbers = numbered(options, lists) if paths or padding is not None else (False, False)
    users, items = numbers[0] and not user_as_text, numbers[1]
    documents = items  # the ids that facts are of, which may be text where chunks are numbers
    known: dict[str, Any] = {}
    if padding is not None:
        known["padding"] = _ids("--padding", [padding], items)[0]
    for name, path in paths.items():
        kind = OF_FACTS[name]
        keys, values, *_ = tables.facts(path, kind)
        if kind == "document":
            with suppress(ValueError):
                values = _ids("", values, items)
            documents = items and (not values or isinstance(values[0], int))
        elif kind == "items":
            values = [_ids(path, some, items) for some in values]
        are_numbers = {"document": items, "items": users}.get(kind, documents)
        known[name] = dict(zip(_ids(path, keys, are_numbers), values, strict=True))
    if "propensities" in known:
        known["propensities"] = Propensities(known["propensities"], **weighing)
    of_items = {name: known.pop(name) for name in [*known] if name in inputs.ITEMS}
    return known | {"items": inputs.Items(**of_items, **given_options(options, "items"))}


def numbered(options: argparse.Namespace, lists: inputs.Ranks) -> tuple[bool, bool]:
    """Return whether users, and items, of the lists are numbers: only formats with types."""
    sides = (lists.ranks, lists.format), (options.truth, options.ground_truths_format)
    if any((given or files.format_of(path)) in TEXT_IDS for path, given in sides):
        return False, False
    stream = stream_of(lists.ranks, "ranks", lists.format, lists.columns, "file")
    first = next(iter(stream.blocks())).lists
    return first.users.names is None, first.items.names is None


def _ids(source: str, ids: Iterable[str], numbers: bool) -> list[Any]:
    """Return ids read as text, as integers if they are; `source` is named in the error."""
    try:
        return [int(one) if numbers else one for one in ids]
    except ValueError:
        words = "the ids of the lists are numbers, but not all ids here are"
        raise ValueError(f"{source}: {words}") from None


# Labels of users and items, which are joined as text


class ByText(dict[Any, Any]):
    """What a file says by ids as text, of users or items whose ids may be numbers elsewhere."""

    path = ""

    def __contains__(self, one: Any) -> bool:
        """Return whether the file has an id."""
        return super().__contains__(as_text(one))

    def __getitem__(self, one: Any) -> Any:
        """Return what the file says of an id that it has."""
        return super().__getitem__(as_text(one))

    def get(self, one: Any, default: Any = None) -> Any:
        """Return what the file says of an id."""
        return super().get(as_text(one), default)


def labels(options: argparse.Namespace, name: str) -> ByText:
    """Return what FILE:COLUMN says of each user or item, by its key as text; {} without a file.

    `name` is that of the option; a key may be several columns.
    """
    path, _, column = (getattr(options, name) or "").rpartition(":")
    if not path:
        return ByText()
    what = "item" if name in ("titles", "item_segments") else "user"
    id_ = f"{what}_id"
    key = cli.names_of_columns(options, name.removeprefix("item_")).get(id_, id_)
    found, parts = tables.read_table(path), key if isinstance(key, list) else [key]
    require(path, (*parts, column), list(getattr(found, "column_names", found)))
    *keys, values = (
        found[one] if isinstance(found, dict) else found.column(one).to_pylist()
        for one in (*parts, column)
    )
    known = ByText()
    known.path = path
    rows = zip(*keys, strict=True) if len(parts) > 1 else keys[0]
    for one, value in zip(map(as_text, rows), values, strict=True):
        label = None if value == "" else value
        if known.setdefault(one, label) != label:
            raise ValueError(f"{path}: {what} {one!r} has two labels, {known[one]!r} and {label!r}")
    return known


def _weights(options: argparse.Namespace) -> ByText | None:
    """Return the weights of users, if they are given."""
    found = labels(options, "weights")
    for user, weight in found.items():
        try:
            found[user] = None if weight is None else float(weight)
        except ValueError:
            wrong = f"user {user!r} has weight {weight!r}: give a number"
            raise ValueError(f"{found.path}: {wrong}") from None
    return found if found.path else None


def of_users(result: TopKResult, known: ByText) -> ByText | None:
    """Return labels; None without a file, ValueError where none is of a user of a result."""
    if known:
        result.held("its users are unknown")
        if result.n_users and not any(user in known for user in result.users):
            has = f"has none of the users of the result; it has {next(iter(known))!r}"
            raise ValueError(f"{known.path}: {has}")
    return known if known.path else None


def of_items(results: Iterable[TopKResult], by_text: ByText) -> Any:
    """Return labels by the items of results, which may be numbers."""
    known = (one.hits.items for one in results if one.hits is not None)
    numbers = any(isinstance(items.example(), int) for items in known if items is not None)
    return dict(zip(_ids(by_text.path, by_text, numbers), by_text.values(), strict=True))


# Files in each other's place


def ranked_truth(options: argparse.Namespace) -> str:
    """Return what to say of a ground truth that has ranks, as only lists have; else ""."""
    rank = names_in_truth(options).get("rank", "rank")
    path, header = options.truth, []
    with suppress(Exception):  # no note is worth an error
        if os.path.isfile(path) or os.path.isdir(path):  # else a pipe, which has been read
            format = find_format(path, options.ground_truths_format)
            if not format.is_text:
                header = tables.parquet_columns(path)
            elif format.delimiter:
                header = next(csv_rows([first_line(path)], format.delimiter))
            else:  # qrels of TREC have no names
                header = list(json.loads(first_line(path)))
    words = f"is taken as the ground truth, and has a column {rank!r} as files of ranked lists have"
    return f"{path}, the last file, {words}" if rank in header else ""
