"""What is behind the numbers: `toplist show`, `report`, `check`, `unjudged`, and the definitions.

These are `toplist metrics` and `conventions`.
"""

import argparse
import hashlib
import os
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from toplist import audit, files, reporting
from toplist.audit import annotating, by_user, conformance
from toplist.checks import check_positive_int, printable
from toplist.cli import options as cli
from toplist.cli import reading
from toplist.evaluation.plan import entries_of
from toplist.inputs.options import SIDES
from toplist.loo.logs import COLUMNS, read_log
from toplist.metrics import conventions
from toplist.metrics.beyond_accuracy import LIST_METRICS, takes
from toplist.metrics.conventions import CONVENTIONS, SYNONYMS, Convention, convention_of
from toplist.metrics.definitions import METRICS, Metric, with_parameters
from toplist.metrics.names import parse
from toplist.metrics.properties import GAIN_WORDS, SCORED, SYMBOLS, WEIGHT_WORDS, formula, is_scored
from toplist.reporting.sections import USERS
from toplist.reporting.showing import METRICS as USUAL
from toplist.reporting.showing import WIDTH, show, truths_of_file
from toplist.results.describe import text_of
from toplist.results.markup import markdown
from toplist.results.tables import LOOK, Column, Grid, Page, Table

# show


def check_show(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    options.metrics = reading.asked_or_usual(options, USUAL)
    entries_of(options.metrics, options.k, convention_of(options.convention))
    reading.check_files(options, "titles", "user_titles")


def run_show(options: argparse.Namespace) -> str:
    r"""Read the rows of the user and return them side by side.

    Files are those of toplist eval; of each, only the rows of this user are kept,
    unless the truth has grades or groups. Systems are named by their files. The
    first is the one that the others are compared with. Numbers are those of eval.

    examples:
      toplist show u0547 popularity.csv itemknn.csv truth.csv
      toplist show u0547 knn.csv ease.csv truth.csv --titles items.csv:title -k 20
      toplist show 301 bm25.run dense.run qrels.trec -m ndcg@10 rbp
    """
    truth: Any = reading.truth_of(options)
    lists, facts = reading.lists_of(options), ("history", "catalogue")
    beside = reading.beside(options, next(iter(lists.values())), facts, user_as_text=True)
    found = show(
        options.user,
        lists,
        truths_of_file(truth, options.user),
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
    reporting.need_jinja2()
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
        files.append((path.replace(options.folder, ""), size, digest))
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
        text = reporting.written(results, lists, truth, how, **about)
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
        log = read_log(options.train, columns(COLUMNS, "train"), side="train")
        sides.append(_as_text(log.by_user()))
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
        if options.output is not None and not options.output.endswith(".csv"):
            raise ValueError(f"-o {options.output}: the truth is written as CSV, to a .csv")
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
    truth, names = reading.truth_of(options), reading.names_in_truth(options)
    if options.judged is not None:
        known = annotating.judged(truth, options.judged, columns=names)
        rows = [(u, i, f"{grade:.15g}") for u, row in known.items() for i, grade in row.items()]
        users, items, grades = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
        columns = {"item_id": items, "relevance": grades}
        return Grid(reading.columns_of_users(options, users, columns) | columns).to_csv()
    how = {name: getattr(options, name) for name in ("p", "duplicates", "padding")}
    lists = reading.lists_of(options)
    every = annotating.unjudged(lists, truth, options.k, columns=names, **how)
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


# metrics


def check_metrics(options: argparse.Namespace) -> None:
    """Raise ValueError for an unknown metric."""
    if options.metric:
        parse(options.metric, convention_of(options.convention))


def run_metrics(options: argparse.Namespace) -> str:
    """Return the metrics of a convention with their formulas, or all about one metric.

    examples:
      toplist metrics
      toplist metrics ndcg
      toplist metrics map --convention lenskit
      toplist metrics "rbp(p=0.5)"
    """
    convention = convention_of(options.convention)
    if options.metric:
        metric, _ = parse(options.metric, convention)
        if isinstance(metric, Metric):
            return _one_metric(metric, convention)
        over = f"mean over users {metric.whom}" if metric.of_users else "of all lists together"
        flags = " and ".join(cli.option(one) for one in metric.needs)
        needs = f"needs {flags}" if flags else "needs only the lists"
        given = "; ".join(f"{name}=: {words}" for name, words in takes(metric.base).items())
        lines = [metric.text, formula(metric), formula(metric, "latex"), f"{over}; {needs}"]
        return "\n".join([*lines, *([f"in its name: {given}"] if given else [])])
    width = max(map(len, convention.metrics))
    lines = [
        f"{name:{width}}  {_words(metric)}\n{'':{width}}  {formula(metric)}"
        for name, metric in convention.metrics.items()
    ]
    others = f"{'':{width}}  of the lists themselves: {', '.join(LIST_METRICS)}"
    scored = f"{'':{width}}  with --propensities: {', '.join(SCORED)}"
    return "\n".join([*lines, others, scored])


def _one_metric(metric: Metric, convention: Convention) -> str:
    """Return what one metric is under one convention, in words and formulas."""
    gains = WEIGHT_WORDS["ips"] if is_scored(metric) else GAIN_WORDS[str(convention.gains)]
    pooled = convention.is_pooled(metric) or is_scored(metric)
    ratio = "ratio of sums over users" if pooled else "mean over users"
    known = conventions.known_of(metric)
    whom = conventions.policies(convention.policy_of(metric), convention.missing, of=known)
    if is_scored(metric):  # under IPS they count, as its text says
        whom = f"under SNIPS {whom}"
    same = conventions.same_formula(metric, convention.relevant, convention.gains)
    lines = [
        _words(metric),
        formula(metric),
        formula(metric, "latex"),
        SYMBOLS,
        gains if metric.graded and not metric.earning else "",
        f"{ratio}; {whom}",
        f"convention {convention.name}: {convention.text}",
        f"source: {convention.source}" if convention.source else "",
        f"the same formula in: {', '.join(same) or 'none of the others'}",
    ]
    return "\n".join(filter(None, lines))


def _words(metric: Metric) -> str:
    """Return what a metric is in words, which are those of its standard divisor."""
    usual = METRICS.get(metric.name)
    if usual is None or metric.dividing.ideal or metric.dividing == usual.dividing:
        return metric.text
    return f"{metric.text}; here over {metric.dividing.name}"


# Every convention beside the others


def _grouped(name: str, values: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the values of a metric in lines, each with the conventions that print it."""
    groups: dict[str, list[str]] = {}
    for one, some in values.items():
        if some[name] is not None:
            groups.setdefault(f"{some[name]:.4f}", []).append(one)
    wrap = textwrap.TextWrapper(cli.WIDTH - 1, break_on_hyphens=False)
    lines = [name]
    for value, names in groups.items():
        wrap.initial_indent = f"  {value}  "
        wrap.subsequent_indent = " " * len(wrap.initial_indent)
        lines += wrap.wrap(", ".join(names))
    return lines


def run_conventions(options: argparse.Namespace) -> str:
    """Evaluate one list under every convention.

    A line per value that a metric has for this list, with the conventions whose
    value it is. The formulas: toplist metrics METRIC --convention NAME

    examples:
      toplist conventions
      toplist conventions -m map ndcg
      toplist conventions --list a b c d --truth b x y -k 3 -m map
      toplist conventions --format csv -o conventions.csv
    """
    values = conformance([options.list], [set(options.truth)], options.k)
    names = options.metrics or dict.fromkeys(name for some in values.values() for name in some)
    titles = {name: f"{name}@{options.k}" for name in names}
    plain = {
        one: {title: some.get(name) for name, title in titles.items()}
        for one, some in values.items()
    }
    rows = [{"convention": name, **some} for name, some in plain.items()]
    if options.format == "json":
        return text_of(plain)
    if options.format == "csv":
        return Grid.of(rows).to_csv()
    if options.format == "markdown":
        columns = map(Column, titles.values())
        return markdown(Page([Table.of("convention", "{convention}", columns, rows, LOOK)]))
    shared: dict[str, list[str]] = {}
    for other, name in SYNONYMS.items():
        shared.setdefault(name, []).append(other)
    case = f"list {' '.join(options.list)}; relevant {' '.join(options.truth)}; k = {options.k}"
    lines = [case, *(line for title in titles.values() for line in _grouped(title, plain))]
    lines += [f"the same as {name}: {', '.join(others)}" for name, others in shared.items()]
    return "\n".join(lines)


EXAMPLE = cli.table(
    """
    --list ITEM...  the ranked list, best first (default: 1 2 3 4 5)
    --truth ITEM...  the relevant items (default: 1 3 9)
    -k K  the cut-off (default: 5)
    -m --metrics METRIC...  only these metrics (default: all)
    """,
    list={"action": "store", "default": ["1", "2", "3", "4", "5"]},
    truth={"action": "store", "default": ["1", "3", "9"]},
    k=cli.KINDS["k"] | {"default": 5},
    metrics={
        "choices": list(dict.fromkeys(name for one in CONVENTIONS.values() for name in one.metrics))
    },
)

METRIC = f"""
    [METRIC]  one metric, as ndcg; without it all of them
    {cli.CONVENTION}
"""


COMMANDS = {
    "show": cli.Command(
        "USER RECS [RECS ...] TRUTH [options]",
        {
            "files": cli.table(SHOWN_FILES),
            "what to show": [
                *cli.table(ASKED, k=cli.KINDS["k"] | {"default": 10}, metrics=reading.OF_METRICS),
                *(one for one in reading.USERS_AND_ITEMS if one.name in SHARED),
            ],
            "how files are read": reading.READING,
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
            "what to look for": cli.table(LOOKED_FOR),
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
    "metrics": cli.Command(
        "[METRIC] [--convention NAME] [options]",
        {"what to show": cli.table(METRIC), "output": cli.output()},
        run_metrics,
        check_metrics,
    ),
    "conventions": cli.Command(
        "[--list ITEM ...] [--truth ITEM ...] [options]",
        {"what to evaluate": EXAMPLE, "output": cli.output(("table", "json", "csv", "markdown"))},
        run_conventions,
    ),
}
