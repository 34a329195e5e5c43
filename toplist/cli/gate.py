r"""`toplist gate`: is the new system not worse than the base? The exit status says it to CI.

Each metric is tested user by user: worse where the 95 % interval of new - base
lies below -MARGIN, not worse where it lies above, else undecided, with the
number of users that would decide (80 % power). Where fewer than 30 users
differ, sign flips must agree. NEW and BASE are lists, as for toplist eval,
with TRUTH; or results that were saved with their users, without it and without
options of an evaluation, which must be those of a saved one beside lists.

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

import argparse
import json
from typing import Any

from toplist.cli import output
from toplist.cli.eval import add_reading, check_asked, evaluated, takes_k
from toplist.cli.options import Parser, names_of_columns
from toplist.cli.ranked_truth import ranked_truth
from toplist.cli.streams import Output, add_output, screen_width
from toplist.comparing.aligning import USERS
from toplist.comparing.gating import gate
from toplist.metrics.conventions import convention_of
from toplist.metrics.names import canonical, hangs_on_convention
from toplist.results.json_text import json_number
from toplist.results.result import TopKResult
from toplist.stats.paired import checked
from toplist.stats.planning import check_margin
from toplist.testing import UNDECIDED

USAGE = "NEW BASE [TRUTH] -m METRIC ... --margin MARGIN [options]"

FORMATS = ("table", "markdown", "json")
# What an error, and each verdict, leaves behind.
ERROR = 2
STATUS = {"not worse": 0, "worse": 1, "undecided": 3}


def add(parser: Parser) -> None:
    """Add the arguments to the parser."""
    add_reading(parser, of_two=True)
    add = parser.group("the gate")
    text = "the loss that does not matter: a number, or name@k=number for each"
    add("--margin", text, several=True, type=_numbered, metavar="MARGIN")
    text = "name@k=number: the least mean, by its interval"
    add("--floor", text, several=True, type=_numbered, metavar="FLOOR")
    add("--segments", "also look for harm by a label of users", metavar="FILE:COLUMN")
    text = "whether too few users to decide fail it (default: fail)"
    add("--undecided", text, default="fail", choices=UNDECIDED)
    add("--level", "of the intervals (default: 0.95)", type=float, default=0.95)
    add("--users", "same in both, or common to both", default="same", choices=USERS)
    add("--seed", "of sign flips (default: 0)", type=int, default=0)
    add_output(parser.group("output"), FORMATS)


def _numbered(argument: str) -> tuple[str, float]:
    """Read ``0.005`` or ``ndcg@10=0.005``: a name, or "", and its number."""
    name, _, number = argument.rpartition("=")
    try:
        return name, float(number)
    except ValueError:
        words = f"{argument!r}: write a number, or name@k=number as in ndcg@10=0.005"
        raise argparse.ArgumentTypeError(words) from None


def check(options: argparse.Namespace) -> None:
    """Check the options before any file is opened; margins and floors become dicts by name."""
    options.recs = list(dict.fromkeys([options.new, options.base]))
    given = {_spelled(name, options): number for name, number in options.margin or ()}
    if len(given) < len(options.margin or []):
        raise ValueError("--margin: give one number for all, or one for each name@k")
    names = list(dict.fromkeys(_spelled(one, options) for one in options.metrics or given))
    if "" in given and not options.metrics:
        raise ValueError("--margin: of which metric? write -m ndcg@10, or --margin ndcg@10=0.005")
    if "" in given and len(given) > 1:
        raise ValueError("--margin: give one number for all of -m, or name@k=number for each")
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
        if takes_k(name):
            raise ValueError(f"{name}: at which k? write {name}@10")
    options.k = None
    checked("two-sided", options.level)
    if options.segments:
        output.check_labels("--segments", options.segments)
    if options.truth and output.is_saved(options.truth):
        raise ValueError(f"{options.truth} is a saved result: a gate is of two, NEW and BASE")
    check_asked(options)


def _spelled(name: str, options: argparse.Namespace) -> str:
    """Return a metric by its name here, if its convention is known before the results are read."""
    if any(map(output.is_saved, options.recs)) and hangs_on_convention(name):
        return name
    return canonical(name, convention_of(options.convention).name)


def run(options: argparse.Namespace) -> Output:
    """Compare the two; return the text to print and the exit status."""
    new, base = _results(options)
    labels = None
    if options.segments:
        user_id = names_of_columns(options, "segments").get("user_id", "user_id")
        labels = output.labels_of(new, options.segments, user_id)
    how = {name: getattr(options, name) for name in ("level", "users", "seed")}
    found = gate(new, base, options.margins, floors=options.floors, by=labels, **how)
    if options.format == "json":
        text = json.dumps(_plain(found.to_dict()), indent=1)
    elif options.format == "markdown":
        text = found.to_markdown()
    else:
        text = found.to_text(width=screen_width(options))
    passes = found.verdict == "undecided" and options.undecided == "ok"
    return Output(text, {}, ranked_truth(options), 0 if passes else STATUS[found.verdict])


def _plain(value: Any) -> Any:
    """Return what JSON can hold: null for NaN and infinity."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return list(map(_plain, value))
    return json_number(value) if isinstance(value, float) else value


def _results(options: argparse.Namespace) -> tuple[TopKResult, TopKResult]:
    """Return both results, loaded or evaluated; they must hold their users."""
    results = evaluated(options)
    if len(results) > len(options.recs):
        raise ValueError("a gate is of two systems: --system gives more of them")
    found = dict(zip(options.recs, results.values(), strict=True))
    for path, result in found.items():
        if result.hits is None:
            raise ValueError(
                f"{path}: without users, whom a gate compares one by one: save what toplist eval "
                "--save keeps, or a result of keep='users'"
            )
    return found[options.new], found[options.base]
