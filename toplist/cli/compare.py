r"""`toplist compare`: is B better than A? Files of lists and of relevant items in, tests out.

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

import argparse
import json
from collections.abc import Callable, Iterable
from typing import Any

from toplist.checks import check_positive_int
from toplist.cli import output
from toplist.cli.eval import add_reading, check_asked, evaluated
from toplist.cli.options import Parser
from toplist.cli.ranked_truth import ranked_truth
from toplist.cli.streams import Output, add_output, csv_text, screen_width
from toplist.comparing.aligning import USERS
from toplist.comparing.comparison import Comparison, compare
from toplist.comparing.pairwise import CORRECTIONS, FAMILIES, METHODS, TestSpec, pairs_of
from toplist.comparing.tests import Tests
from toplist.plots import axes
from toplist.results import markup
from toplist.results.display import Display
from toplist.results.json_text import json_number
from toplist.results.writing import Content
from toplist.stats.paired import ALTERNATIVES

USAGE = "RECS RECS [RECS ...] [TRUTH] [-m METRIC ...] [options]"

FORMATS = ("table", "json", "csv", "markdown", "latex")


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add_reading(parser)
    add = parser.group("the comparison")
    text = "compare the others with it: a file, as given or by its name"
    add("--baseline", text, several=True, metavar="SYSTEM")
    add("--test", "the paired test (default: t)", default="t", choices=METHODS)
    text = "of p for all comparisons, with --margin too (default: holm)"
    add("--correction", text, default="holm", choices=CORRECTIONS)
    add("--family", "all comparisons, or those of a metric", default="all", choices=FAMILIES)
    add("--alternative", "of system - baseline", default="two-sided", choices=ALTERNATIVES)
    add("--sort", "the systems by a mean, best first, such as ndcg@10", metavar="METRIC")
    add("--level", "of the intervals (default: 0.95)", type=float, default=0.95)
    add("--users", "same in all systems, or common to all", default="same", choices=USERS)
    add("--margin", "test whether differences are within ±MARGIN instead", type=float)
    add("--band", "also the difference at every k, all k together", action="store_true")
    add("--power", "also what so many users detect", action="store_true")
    text = "also how far the best of many leads, and how far by chance"
    add("--lead", text, action="store_true")
    text = "also the N worst and N best users of every test, and the ranks of their hits"
    add("--movers", text, type=int, metavar="N")
    add("--resamples", "of flips, bootstrap and MaxT", type=int, metavar="N")
    add("--seed", "of what is drawn (default: 0)", type=int, default=0)
    add = parser.group("output")
    text = "also write every user's values and their differences (CSV)"
    add("--per-user", text, metavar="FILE")
    add("--plot", "also draw the differences (.png, .svg, .pdf)", metavar="FILE")
    add_output(add, FORMATS)


def check(options: argparse.Namespace) -> None:
    """Check the options before any file is opened."""
    check_asked(options)
    if options.plot:
        output.check_picture(options.plot)
    if options.margin is not None and options.test != "t":
        raise ValueError("--margin asks for two one-sided t tests: it goes with --test t")
    if options.margin is not None and options.alternative != "two-sided":
        raise ValueError("--margin asks for both sides: it goes without --alternative")
    TestSpec(
        *(options.test, options.correction, options.alternative, options.level, options.family),
        *(options.resamples, options.seed),
        margin=options.margin,
    )
    _check_drawn(options)
    if options.family == "metric" and options.correction == "none":
        raise ValueError("--family metric changes nothing without a correction: leave it out")
    pairs_of(output.names_of(options.recs), _baselines(options))
    more = options.band, options.power, options.lead, options.movers is not None
    if options.format in ("json", "csv") and any(more):
        raise ValueError(
            "--band, --power, --lead and --movers are tables of their own: not with "
            f"{options.format}"
        )
    if options.movers is not None:
        check_positive_int(options.movers, "--movers")


def _check_drawn(options: argparse.Namespace) -> None:
    """Raise ValueError for --resamples or --seed where nothing is drawn."""
    drawn = options.test in ("randomization", "bootstrap") or options.correction == "maxt"
    for name in ("resamples", "seed"):
        if name in options.asked and not (drawn or options.band or options.lead):
            flag, value = f"--{name}", getattr(options, name)
            raise ValueError(
                f"{flag} {value} changes nothing: --test {options.test} draws nothing, and there "
                "is no --band, --lead or --correction maxt: leave it out"
            )


def _baselines(options: argparse.Namespace) -> list[str] | None:
    """Return the names of the baselines, which are given by name or by file."""
    if options.baseline is None:
        return None
    names = output.names_of(options.recs)
    known = dict(zip(options.recs, names, strict=True)) | {name: name for name in names}
    return [known.get(one, one) for one in options.baseline]


def run(options: argparse.Namespace) -> Output:
    """Evaluate all systems and test them; return the text to print and the picture to write."""
    if options.plot:
        axes.need_matplotlib()
    results = evaluated(options)
    comparison = compare(results, baseline=_baselines(options))
    try:
        if options.sort:
            comparison = comparison.sort(options.sort)
        tests = _tests(options, comparison)
        text = _text(options, comparison, tests)
    except KeyError as error:  # a name that a system lacks
        raise ValueError(error.args[0]) from None
    drawn: dict[str, Content] = {}
    if options.per_user:
        pairs = dict.fromkeys((one.system, one.baseline) for one in tests)
        drawn[options.per_user] = output.differences_csv(results, pairs)
    if options.plot:
        draw: Callable[[], Any] = tests.plot
        drawn[options.plot] = lambda path: draw().figure.savefig(path, bbox_inches="tight")
    return Output(text, drawn, ranked_truth(options))


def _text(options: argparse.Namespace, comparison: Comparison, tests: Tests) -> str:
    """Return the tests, and what was asked for beside them, in the format that was asked for."""
    if options.format == "json":
        plain = [
            {name: json_number(v) if isinstance(v, float) else v for name, v in row.items()}
            for row in tests.to_dict()
        ]
        return json.dumps(plain, indent=1)
    if options.format == "csv":
        rows = tests.to_dict()
        cells = ((" ".join(c) if isinstance(c, tuple) else c for c in r.values()) for r in rows)
        return csv_text(rows[0], cells)
    parts, rules = (tests, *_more(options, comparison, tests)), comparison.rules()
    if options.format == "table":
        width = screen_width(options)
        texts = [part.to_text(width=width) for part in parts]
        texts.append("\n".join(markup.fitted(rules, width)))
    elif options.format == "markdown":
        texts = [*(part.to_markdown() for part in parts), *rules]
    else:
        texts = [*(part.to_latex() for part in parts), "\n".join(f"% {line}" for line in rules)]
    return "\n\n".join(texts)


def _tests(options: argparse.Namespace, comparison: Comparison) -> Tests:
    """Return the tests that were asked for."""
    how = {"correction": options.correction, "level": options.level, "users": options.users}
    how |= {"family": options.family}
    if options.margin is not None:
        return comparison.equivalence(margin=options.margin, **how)
    how |= {name: getattr(options, name) for name in ("alternative", "seed")}
    return comparison.test(method=options.test, n_resamples=options.resamples, **how)


def _more(options: argparse.Namespace, comparison: Comparison, tests: Tests) -> Iterable[Display]:
    """Yield the bands of every metric, the lead of the best, the power, and the movers."""
    if options.band:
        how = {"level": options.level, "users": options.users, "seed": options.seed}
        how |= {"n_resamples": options.resamples}
        pairs = pairs_of(list(comparison.results), _baselines(options))
        for metric in dict.fromkeys(name.rpartition("@")[0] for name in comparison.names()):
            for system, baseline in pairs:
                yield comparison.band(metric, system, baseline, **how)
    if options.lead:
        drawn = {"n_resamples": options.resamples, "seed": options.seed}
        yield comparison.lead(users=options.users, **drawn)
    if options.power:
        yield comparison.power(level=options.level, users=options.users)
    for one in tests if options.movers else ():
        pair = one.system, one.baseline
        yield comparison.movers(one.name, *pair, options.movers, users=options.users)
