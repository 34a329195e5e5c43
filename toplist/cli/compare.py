"""`toplist compare`, `gate` and `across`: systems side by side, and their differences."""

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import nan
from typing import Any

from toplist.checks import printable
from toplist.cli import options as cli
from toplist.cli import reading
from toplist.comparing.comparison import Comparison, compare
from toplist.comparing.contrasts import CORRECTIONS, FAMILIES, METHODS, USERS_OF, TestPlan
from toplist.comparing.datasets import MISSING, RESAMPLES, across
from toplist.comparing.gating import gate
from toplist.comparing.samples import pairs_of
from toplist.comparing.testing import UNDECIDED
from toplist.comparing.tests import Tests
from toplist.files.jsonl import unique
from toplist.metrics.conventions import convention_of
from toplist.metrics.names import canonical, hangs_on_convention
from toplist.results import describe, markup
from toplist.results.markup import Display
from toplist.results.result import TopKResult
from toplist.results.saved import Content
from toplist.results.tables import Grid
from toplist.stats.datasets import OF
from toplist.stats.planning import check_margin
from toplist.stats.units import ALTERNATIVES, snap


def check_compare(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    reading.check_asked(options)
    if options.margin is not None and options.test != "t":
        raise ValueError("--margin asks for two one-sided t tests: it goes with --test t")
    if options.margin is not None and options.alternative != "two-sided":
        raise ValueError("--margin asks for both sides: it goes without --alternative")
    TestPlan(
        *(options.test, options.correction, options.alternative, options.level, options.family),
        *(options.resamples, options.seed),
        margin=options.margin,
    ).checked()
    drawn = options.test in ("randomization", "bootstrap") or options.correction == "maxt"
    for name in ("resamples", "seed"):
        if name in options.asked and not (drawn or options.band or options.lead):
            raise ValueError(
                f"--{name} {getattr(options, name)} changes nothing: --test {options.test} draws "
                "nothing, and there is no --band, --lead or --correction maxt: leave it out"
            )
    if options.family == "metric" and options.correction == "none":
        raise ValueError("--family metric changes nothing without a correction: leave it out")
    if not options.system:  # of which a file may have several
        pairs_of(list(options.named), _baselines(options))


def _baselines(options: argparse.Namespace) -> list[str] | None:
    """Return the names of the baselines, which are given by name or by file."""
    if options.baseline is None:
        return None
    known = {path: name for name, path in options.named.items()}
    return [one if one in options.named else known.get(one, one) for one in options.baseline]


def run_compare(options: argparse.Namespace) -> cli.Output:
    r"""Evaluate all systems and test them; return the text to print and the picture to write.

    Every system but the baseline is compared with it, user by user, in every
    metric at every k; p is corrected for all comparisons that are printed. Without
    --baseline, the first file is it; of more than two files each is compared with
    those before it, in the order of --sort if there is one: with those that are
    better. Files are those of toplist eval, read whole; systems are named by their
    files, without folder and extension. Results saved by toplist eval --save (.npz)
    may stand where lists do, by the metrics, k and options that they were evaluated
    with; of such results alone no TRUTH, and no option of an evaluation, is given.

    examples:
      toplist compare knn.csv ease.csv truth.csv -m ndcg@10
      toplist compare knn.csv ease.csv bpr.csv truth.csv -m ndcg@10 recall@20 \
          --baseline knn
      toplist compare knn.csv ease.csv truth.csv -m ndcg@10 --margin 0.005
      toplist compare knn.csv ease.csv truth.csv -m ndcg -k 50 --band
      toplist compare knn.csv ease.csv truth.csv -m ndcg@10 --movers 20
      toplist compare base.npz new.csv truth.csv -m ndcg@10
      toplist compare base.npz new.npz
    """
    results = reading.evaluated(options)
    comparison = compare(results, baseline=_baselines(options))
    try:
        if options.sort:
            comparison = comparison.sort(options.sort)
        how: dict[str, Any] = {
            name: getattr(options, name) for name in ("correction", "level", "users", "family")
        }
        if options.margin is not None:
            tests = comparison.equivalence(margin=options.margin, **how)
        else:
            how |= {"alternative": options.alternative, "seed": options.seed}
            draws = options.resamples
            tests = comparison.test(method=options.test, n_resamples=draws, **how)
        parts = {"tests": tests, **dict(_more(options, comparison, tests))}
    except KeyError as error:  # a name that a system lacks
        raise ValueError(error.args[0]) from None
    text, rules = cli.formatted(options, parts), [*map(printable, comparison.rules())]
    below = {
        "table": "\n".join(markup.fitted(rules, cli.screen_width(options))),
        "markdown": "\n\n".join(map(markup.in_markdown, rules)),
        "latex": "\n".join(f"% {line}" for line in rules),
    }
    if options.format in below:
        text = f"{text}\n\n{below[options.format]}"
    files: dict[str, Content] = {}
    if options.per_user:
        pairs = dict.fromkeys((one.system, one.baseline) for one in tests)
        files[options.per_user] = differences_csv(options, results, pairs)
    files |= cli.drawn(options, tests.plot, bbox_inches="tight")
    return cli.Output(text, files, reading.ranked_truth(options))


def differences_csv(
    options: argparse.Namespace,
    results: Mapping[str, TopKResult],
    pairs: Iterable[tuple[str, str]],
) -> str:
    """Return a row per user: the key, the values of every system, and system - baseline of pairs.

    Users are matched by key, or by position; a cell is empty where a system does not count a user.
    """
    values = {
        (system, name): dict(zip(one.users, of_name.tolist(), strict=True))
        for system, one in results.items()
        for name, of_name in describe.of_users(one).items()
    }
    users = list(dict.fromkeys(user for one in results.values() for user in one.users))
    columns = {
        f"{s} {name}": [some.get(user, nan) for user in users] for (s, name), some in values.items()
    }
    for system, baseline in pairs:
        for name in [name for s, name in values if s == system and (baseline, name) in values]:
            both = columns[f"{system} {name}"], columns[f"{baseline} {name}"]
            columns[f"{system} - {baseline} {name}"] = snap(*both).tolist()
    return Grid(reading.columns_of_users(options, users, columns) | columns).to_csv()


def _more(
    options: argparse.Namespace, comparison: Comparison, tests: Tests
) -> Iterator[tuple[str, Display]]:
    """Yield the bands of every metric, the lead of the best, the power, and the movers, by name."""
    drawn = {"n_resamples": options.resamples, "seed": options.seed, "users": options.users}
    if options.band:
        pairs = pairs_of(list(comparison.results), _baselines(options))
        for metric in dict.fromkeys(name.rpartition("@")[0] for name in comparison.names()):
            for system, baseline in pairs:
                found = comparison.band(metric, system, baseline, level=options.level, **drawn)
                yield f"band {metric} {system} - {baseline}", found
    if options.lead:
        yield "lead", comparison.lead(**drawn)
    if options.power:
        yield "power", comparison.power(level=options.level, users=options.users)
    for one in tests if options.movers else ():
        pair = one.system, one.baseline
        movers = comparison.movers(one.name, *pair, options.movers, users=options.users)
        yield f"movers {one.name} {one.system} - {one.baseline}", movers


TESTING = cli.table(
    """
    --baseline SYSTEM...  compare the others with it: a file, as given or by its name
    --test {}  the paired test (default: t)
    --correction {}  of p for all comparisons, with --margin too (default: holm)
    --family {}  all comparisons, or those of a metric
    --alternative {}  of system - baseline
    --sort METRIC  the systems by a mean, best first, such as ndcg@10
    --level LEVEL  of the intervals (default: 0.95)
    --users {}  same in all systems, or common to all
    --margin MARGIN  test whether differences are within ±MARGIN instead
    --band  also the difference at every k, all k together
    --power  also what so many users detect
    --lead  also how far the best of many leads, and how far by chance
    --movers N  also the N worst and N best users of every test, and the ranks of their hits
    --resamples N  of flips, bootstrap and MaxT
    --seed SEED  of what is drawn (default: 0)
    """,
    test={"default": "t", "choices": METHODS},
    correction={"default": "holm", "choices": CORRECTIONS},
    family={"default": "all", "choices": FAMILIES},
    alternative={"default": "two-sided", "choices": ALTERNATIVES},
    users={"default": "same", "choices": USERS_OF},
)
WRITTEN = cli.table(
    """
    --per-user FILE  also write every user's values and their differences (CSV)
    --plot FILE  also draw the differences (.png, .svg, .pdf)
    """
)


# gate


# What an error, and each verdict, leaves behind.
ERROR = 2
STATUS = {"not worse": 0, "worse": 1, "undecided": 3}


def _numbered(argument: str) -> tuple[str, float]:
    """Read ``0.005`` or ``ndcg@10=0.005``: a name, or "", and its number."""
    name, _, number = argument.rpartition("=")
    with suppress(ValueError):
        return name, float(number)
    words = "write a number in units of the metric, or name@k=number as in ndcg@10=0.005"
    raise ValueError(f"{argument!r}: {words}")


def check_gate(options: argparse.Namespace) -> None:
    """Check the options before any file is opened; margins and floors become dicts by name."""
    options.recs = list(dict.fromkeys([options.new, options.base]))
    given = {_spelled(name, options): number for name, number in options.margin or ()}
    if len(given) < len(options.margin or []) or ("" in given and len(given) > 1):
        raise ValueError("--margin: give one number for all, or one for each name@k")
    names = list(dict.fromkeys(_spelled(one, options) for one in options.metrics or given))
    if "" in given and not options.metrics:
        raise ValueError("--margin: of which metric? write -m ndcg@10, or --margin ndcg@10=0.005")
    if options.metrics and not given:
        raise ValueError(f"--margin is needed: the loss of {names[0]} that does not matter")
    margins = dict.fromkeys(names, given[""]) if "" in given else given
    if {*margins} != {*names}:
        lacking = sorted({*margins} ^ {*names})
        raise ValueError(f"--margin and -m name the same metrics, and {lacking[0]} is in one alone")
    floors = {_spelled(name, options): number for name, number in options.floor or ()}
    if "" in floors or len(floors) < len(options.floor or []):
        raise ValueError("--floor: write name@k=number, once for each name")
    for name, margin in margins.items():
        check_margin(margin, f"--margin of {name}")
    options.margins, options.floors = margins, floors
    options.metrics = list(dict.fromkeys([*margins, *floors]))
    if not options.metrics:
        raise ValueError("nothing to test: write -m ndcg@10 --margin 0.005")
    for name in options.metrics:
        if reading.takes_k(name):
            raise ValueError(f"{name}: at which k? write {name}@10")
    options.k = None
    if options.truth and reading.is_saved(options.truth):
        raise ValueError(f"{options.truth} is a saved result: a gate is of two, NEW and BASE")
    reading.check_asked(options)


def _spelled(name: str, options: argparse.Namespace) -> str:
    """Return a metric by its name here, if its convention is known before the results are read."""
    if any(map(reading.is_saved, options.recs)) and hangs_on_convention(name):
        return name
    return canonical(name, convention_of(options.convention).name)


def run_gate(options: argparse.Namespace) -> cli.Output:
    r"""Compare the two; return the text to print and the exit status.

    Each metric is tested user by user: worse where the 95 % interval of new - base
    lies below -MARGIN, not worse where it lies above, else undecided, with the
    number of users that would decide (80 % power). Where fewer than 30 users
    differ, or few lie far to one side, it allows for users who lose or gain all and
    were not drawn. NEW and BASE are lists, as for toplist eval, with TRUTH; or
    results that were saved with their users, without it and without options of an
    evaluation, which must be those of a saved one beside lists.

    exit status:
      0  not worse
      1  worse: a metric, a floor or a segment
      2  an error: files, usage, other users, another truth or convention
      3  undecided (0 with --undecided ok)

    examples:
      toplist gate new.csv base.csv truth.csv -m ndcg@10 --margin 0.005
      toplist gate new.npz base.npz -m ndcg@10 --margin 0.005 --undecided ok
      toplist gate new.csv base.csv truth.csv --margin ndcg@10=0.005 mrr@10=0.01 \
          --floor recall@20=0.6 --segments users.csv:country
      toplist gate new.csv base.csv truth.csv -m ndcg@10 --margin 0.005 \
          --format markdown
    """
    results = reading.evaluated(options)
    if len(results) > len(options.recs):
        raise ValueError("a gate is of two systems: --system gives more of them")
    of_path = dict(zip(options.recs, results.values(), strict=True))
    for path, result in of_path.items():
        if result.hits is None:
            way = "toplist eval --save keeps them, and so does keep='users'"
            raise ValueError(f"{path}: without users, whom a gate compares one by one: {way}")
    new, base = of_path[options.new], of_path[options.base]
    by = reading.of_users(new, reading.labels(options, "segments"))
    how = {name: getattr(options, name) for name in ("level", "users")}
    found = gate(new, base, options.margins, floors=options.floors, by=by, **how)
    text = cli.formatted(options, {"gate": found})
    passes = found.verdict == "undecided" and options.undecided == "ok"
    status = 0 if passes else STATUS[found.verdict]
    return cli.Output(text, {}, reading.ranked_truth(options), status)


NEW_AND_BASE = """
    NEW  ranked lists, or a saved result
    BASE  ranked lists, or a saved result
    [TRUTH]  relevant items, of lists: the last file
"""
GATING = cli.table(
    """
    --margin MARGIN...  the loss that does not matter: a number, or name@k=number for each
    --floor FLOOR...  name@k=number: the least mean, by its interval
    --segments FILE:COLUMN  also look for harm by a label of users
    --undecided {}  whether too few users to decide fail it (default: fail)
    --level LEVEL  of the intervals (default: 0.95)
    --users {}  same in both, or common to both
    """,
    margin={"type": _numbered},
    floor={"type": _numbered},
    undecided={"default": "fail", "choices": UNDECIDED},
    users={"default": "same", "choices": USERS_OF},
)


# across


def check_across(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    for path in options.file:
        if "@" in path and not os.path.exists(path):
            raise ValueError(f"{path} is no file; across is of one metric: -m {options.metric}")
    if options.of != "these" and options.baseline is None:
        raise ValueError(f"--of {options.of} is of differences from a baseline: add --baseline")


def run_across(options: argparse.Namespace) -> cli.Output:
    r"""Load the results and put them side by side; return the text and the picture to write.

    The files are those of result.save() in Python. Either one table.json,

      {"ml-20m": {"knn": "ml-20m/knn.npz", "ease": "ml-20m/ease.npz"}, ...}

    whose file names are relative to it; or the files themselves: then a data set
    is the folder of a file, and a system the file's name without its extension.
    Within a data set the systems have the same users; across data sets users have
    nothing to do with each other. Ranks have intervals where the files hold users.

    examples:
      toplist across table.json -m ndcg@10
      toplist across -m ndcg@10 --baseline knn ml-1m/*.npz ml-20m/*.npz
      toplist across table.json -m ndcg@10 --plot ranks.png --format latex
    """
    several = len(options.file) > 1
    files = by_folder(options.file) if several else table_of(options.file[0])
    results = {
        dataset: {system: TopKResult.load(path) for system, path in systems.items()}
        for dataset, systems in files.items()
    }
    how = {name: getattr(options, name) for name in ("baseline", "missing", "of", "seed")}
    try:
        found = across(results, options.metric, n_resamples=options.resamples, **how)
    except KeyError as error:  # a name that a system lacks
        raise ValueError(error.args[0]) from None
    text = cli.formatted(options, {"across": found})
    return cli.Output(text, cli.drawn(options, found.plot, bbox_inches="tight"))


def by_folder(paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return files by their folders and names; ValueError for two of one name.

    Examples
    --------
    >>> by_folder(["runs/ml/knn.npz", "runs/ml/ease.npz", "runs/yelp/knn.npz"])["ml"]
    {'knn': 'runs/ml/knn.npz', 'ease': 'runs/ml/ease.npz'}
    """
    folders = dict.fromkeys(os.path.dirname(os.path.abspath(path)) for path in paths)
    short = {folder: os.path.basename(folder) for folder in folders}
    named = short if len({*short.values()}) == len(short) else {one: one for one in folders}
    found: dict[str, dict[str, str]] = {}
    for path in paths:
        dataset = found.setdefault(named[os.path.dirname(os.path.abspath(path))], {})
        (system,) = reading.names_of([path])
        if system in dataset:
            both = f"{dataset[system]} and {path} are both system {system} of one data set"
            raise ValueError(f"{both}: give one, or a table.json with other names")
        dataset[system] = path
    return found


def table_of(path: str) -> dict[str, dict[str, str]]:
    """Return the files of a table of saved results, found from where it is."""
    table_form = '{"data set": {"system": "file", ...}, ...}'
    way = f"{path}: give several saved results, or a table of them, {table_form}"
    try:
        with open(path, encoding="utf-8") as file:
            table: Any = json.load(file, object_pairs_hook=unique)
    except ValueError as error:
        raise ValueError(f"{way}: it is not read as such: {error}") from None
    folder = os.path.dirname(path)
    found: dict[str, dict[str, str]] = {}
    for dataset, systems in table.items() if isinstance(table, dict) else [("", table)]:
        if not dataset or not isinstance(systems, dict) or not systems:
            raise ValueError(f"{way}: here {dataset or path!r} has no systems")
        for system, file in systems.items():
            if not isinstance(file, str):
                raise ValueError(f"{way}: here {system!r} of {dataset!r} is no file: {file!r}")
        found[dataset] = {system: os.path.join(folder, file) for system, file in systems.items()}
    return found


COMPARED = cli.table(
    f"""
    -m --metric METRIC  one name@k, such as ndcg@10
    --baseline SYSTEM  compare the others with it
    --missing {{}}  a system that a data set lacks: refused, or last there (default: error)
    --of {{}}  the interval of differences: for these data sets, or sets like these (default: these)
    --resamples N  users drawn again, for intervals of ranks (default: {RESAMPLES})
    --seed SEED  of what is drawn (default: 0)
    """,
    metric={"words": reading.NAMES, "required": True},
    missing={"default": "error", "choices": MISSING},
    of={"default": "these", "choices": OF},
    resamples=cli.KINDS["resamples"] | {"default": RESAMPLES},
)
PLOT = cli.table("--plot FILE  also draw the mean ranks (.png, .svg, .pdf)")


COMMANDS = {
    "compare": cli.Command(
        "RECS RECS [RECS ...] [TRUTH] [-m METRIC ...] [options]",
        reading.evaluation()
        | {"the comparison": TESTING, "output": [*WRITTEN, *cli.output(cli.PRINTED)]},
        run_compare,
        check_compare,
    ),
    "gate": cli.Command(
        "NEW BASE [TRUTH] -m METRIC ... --margin MARGIN [options]",
        reading.evaluation(
            NEW_AND_BASE, "-m --metrics METRIC...  name@k, as ndcg@10; see toplist metrics"
        )
        | {"the gate": GATING, "output": cli.output(("table", "markdown", "json"))},
        run_gate,
        check_gate,
        ERROR,
    ),
    "across": cli.Command(
        "TABLE.json | RESULT RESULT [...] -m METRIC@K [options]",
        {
            "files": cli.table("FILE...  a table of saved results, or these"),
            "what to compute": COMPARED,
            "output": [*PLOT, *cli.output(cli.PRINTED)],
        },
        run_across,
        check_across,
    ),
}
