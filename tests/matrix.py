"""All pairs of options through every door: what is asked, what is refused on purpose, what differs.

Whatever a door reads is evaluated as `oracle.evaluate` says, or refused by a row of the table in
notebooks/cookbook.md, each with its reason.
"""

import ast
import itertools
import math
import re
from functools import partial
from pathlib import Path
from typing import NamedTuple

import oracle
from doors import EVERYWHERE, ROWS, UnsaidError, call, seen
from oracle import hits
from world import draw

HITS = (
    *("hit", "precision", "recall", "map", "ndcg", "mrr", "dcg", "cg", "f1", "rbp(p=0.5)"),
    *("r_precision", "judged", "bpref", "err(max=3)", "nerr(max=3)", "complete", "hit(rel=1)"),
    "iprec(recall=0.7)",
)
GROUPED = ("group_recall", "complete", "alpha_ndcg", "hit", "recall", "map", "ndcg", "mrr")
THRESHOLDS = ("precision(rel=1)", "recall(rel=1)", "map(rel=1)", "ndcg(rel=1)")  # by convention
LISTS = (
    *("novelty", "item_coverage", "gini", "shannon_entropy", "personalisation"),
    *("average_popularity", "tail_percentage", "popularity_lift", "intra_list_diversity"),
    *("calibration", "exposure_share(label=war)", "hit_share(label=war)", "unexpectedness"),
    *("serendipity", "intra_list_diversity(distance=given)"),
)
OF_ALL = ("item_coverage", "gini", "shannon_entropy", "personalisation")  # of all lists together
POOLED = ("hit", "precision", "recall", "map", "ndcg", "mrr")  # whose divisors the oracle knows
# Which metrics the oracle estimates under propensities.
ESTIMATED = {"snips": ("recall", "cg", "dcg"), "ips": ("precision", "cg", "dcg")}

# The options and the values that are tried; what is data of the world is asked for by True.
OPTIONS = {
    "metrics": ["lists", "both"],
    "k": [None, [1, 3]],
    "convention": ["trec_eval", "neurec", "xgboost"],
    "empty": ["zero", "one"],
    "missing": ["skip"],
    "relevant": ["listed"],
    "aggregate": ["pooled"],
    "gains": ["exponential", {0.5: 0.25, 1: 1, 2: 4, 3: 5}],
    "weights": [True],
    "clusters": [True],
    "propensities": [True],
    "weighting": ["ips"],
    "items_as": [True],
    "groups": [True],
    "relevant_from": [2, 0],
    "unjudged": ["drop"],
    "duplicates": ["first", "collapse"],
    "padding": [True],
    "ties": ["item", "item_desc", "trec_eval"],
    "users": [True],
    "unit": ["sessions"],
    "columns": [True],
    "system": [True],
    "keep": ["users"],
    "unknown": ["skip"],
    "n_threads": [1],
}
# What a world has or has not under an option, so that the option changes something.
WORLDS = {
    "ties": {"ties": True},
    "propensities": {"graded": False},
    "groups": {"graded": False},
    "unknown": {"gap": True},
}
# Pairs that no world has: both would change the lists in their own way.
APART = [{"ties", "duplicates"}, {"ties", "padding"}]


class Refusal(NamedTuple):
    """A pair that is refused on purpose, or one option at some doors.

    Attributes
    ----------
    options : name -> value; ... is any value
    of_lists, bpref : whether it is of a metric of the lists, of bpref
    doors : where; everywhere where there are none
    sometimes : whether it hangs on the world
    unless : options of which one lifts it
    words : a part of the error
    reason : why
    """

    options: dict
    of_lists: bool
    bpref: bool
    doors: tuple
    sometimes: bool
    unless: list
    words: str
    reason: str

    def fits(self, options, door):
        """Return whether options are refused at a door."""
        asked = options["metrics"]
        if (self.of_lists and set(LISTS).isdisjoint(asked)) or (
            self.bpref and "bpref" not in asked
        ):
            return False
        if (self.doors and door not in self.doors) or any(one in options for one in self.unless):
            return False
        return all(
            name in options and (value is ... or options[name] == value)
            for name, value in self.options.items()
        )


IN_PARTS = ("csv", "tsv", "jsonl", "parquet", "stream", "beir", "command line")
WHERE = {
    "": (),
    "in parts": IN_PARTS,
    "in parts, in Python": IN_PARTS[:-1],
    "truths without grades": tuple(door for door in EVERYWHERE if door != "trec"),
    "parts that are merged and end elsewhere": ("merged",),
    "parts that are merged, some of them": ("merged",),
    "`Hits`": ("hits",),
    "Spark": ("spark",),
}
PAGE = Path(__file__).parents[1] / "notebooks" / "cookbook.md"


def refusals():
    """Read the table of what does not go together, in the words of `OPTIONS`."""
    table = PAGE.read_text(encoding="utf-8").partition("## What does not go together")[2]
    rows = [re.split(r"\s*\|\s*", line)[1:-1] for line in table.splitlines() if line[:1] == "|"]
    return [_refusal(*row) for row in rows[2:]]


def _refusal(options, where, unless, words, reason):
    named = {}
    for code in re.findall("`([^`]+)`", options):
        name, _, value = code.partition("=")
        named[name] = ast.literal_eval(value) if value else ...
    lifted = re.findall("`([^`]+)`", unless)
    sometimes = where.startswith("parts that")
    bpref, of_lists = "bpref" in options, "of the lists" in options
    return Refusal(named, of_lists, bpref, WHERE[where], sometimes, lifted, words, reason)


REFUSED = refusals()


def metrics_of(options, which, graded=True):
    """Return the metrics of a convention, of the lists, or both, as far as options have them."""
    name = options.get("convention", "standard")
    known = HITS if name == "standard" else tuple(hits.CONVENTIONS[name])
    if name != "standard":
        known += tuple(one for one in THRESHOLDS if one.partition("(")[0] in known)
        known += ("iprec(recall=0.7)",) if name == "trec_eval" else ()
    if options.get("groups"):
        known = tuple(one for one in GROUPED if name == "standard" or one in known)
    if options.get("aggregate"):
        known = tuple(one for one in known if one in POOLED)
    if options.get("propensities"):
        estimated = ESTIMATED[options.get("weighting", "snips")]
        known = tuple(one for one in known if one in estimated)
    if not graded:
        known = tuple(one for one in known if one != "bpref" and "rel=" not in one)
    if options.get("relevant_from") == 0:
        known = tuple(one for one in known if one != "bpref")  # nobody is judged not relevant
    return list({"hits": known, "lists": LISTS, "both": known + LISTS}[which])


def pairs():
    """List all pairs of options with all their values, as options in the words of `doors`."""
    found = []
    for one, other in itertools.combinations(OPTIONS, 2):
        if {one, other} in APART:
            continue
        for a, b in itertools.product(OPTIONS[one], OPTIONS[other]):
            both = {"k": [2, 5], one: a, other: b}
            if "weighting" in both:  # which is said of propensities
                both["propensities"] = True
            found.append(both)
    found = [options | {"metrics": _asked(options)} for options in found]
    return [options for options in found if options["metrics"]]


def _asked(options):
    graded = {"propensities", "groups"}.isdisjoint(options)
    usual = "both" if "unknown" in options else "hits"  # it is of facts, so of the lists
    return metrics_of(options, options.get("metrics", usual), graded)


def with_half(options, rng):
    """Return options with half of their metrics of hits; those of the lists share their facts."""
    names = [name for name in options["metrics"] if name not in LISTS]
    left_out = rng.sample(names, len(names) // 2)
    return options | {"metrics": [name for name in options["metrics"] if name not in left_out]}


def world_of(options, seed, text=True):
    """Return a world in which the options change something."""
    how = {"text": text}
    for name, more in WORLDS.items():
        if name in options:
            how |= more
    return draw(seed, **how)


def close(one, other, to=1e-12):
    """Return whether two numbers are equal to 1e-12, or both NaN."""
    return (
        one == other
        or math.isclose(one, other, rel_tol=to, abs_tol=to)
        or (one != one and other != other)
    )


def differences(world, options, door):
    """Return what a door says otherwise than the oracle: (what, name, expected, found)."""
    found = call(world, options, door)
    ties = "item_desc" if door == "trec" else "order"
    expected = oracle.evaluate(seen(world, options, door), options, ties)
    kept = door == "command line"  # which keeps the rows that intervals need
    if options.get("weights") and not kept:
        held = {name.partition("@")[0] for name in found.values or {}}
        held |= {*HITS} if options.get("propensities") else set()
        expected.intervals |= {
            name: (math.nan, math.nan)
            for name in expected.intervals
            if name.partition("@")[0] not in held
        }
    by_row = door in ROWS and not options.get("users")
    return apart(expected, found, by_row)


def apart(expected, found, by_row=False):
    """Return what an answer says otherwise than expected; `by_row` where its users are rows."""
    rows = [("counts", name, n, found.counts[name]) for name, n in expected.counts.items()]
    if found.means.keys() != expected.means.keys():
        return [("metrics", "", sorted(expected.means), sorted(found.means))]
    for what in ("means", "std", "n"):
        known = getattr(expected, what)
        rows += [(what, name, one, getattr(found, what)[name]) for name, one in known.items()]
    if found.values is not None and found.users is not None:
        place = {user: row for row, user in enumerate(found.users)}
        if by_row:
            place = {user: place[row] for row, user in enumerate(expected.users)}
        for name, values in expected.values.items():
            if values is not None and name in found.values:
                mine = [found.values[name][place[user]] for user in expected.users]
                rows += [
                    (f"value of {user}", name, *both)
                    for user, *both in zip(expected.users, values, mine, strict=True)
                ]
    wrong = [row for row in rows if row[2] is not None and not close(row[2], row[3])]
    for name, ends in expected.intervals.items():
        if not all(map(partial(close, to=1e-9), ends, found.intervals[name])):
            wrong.append(("interval", name, ends, found.intervals[name]))
    return wrong


def refusals_of(options, door):
    """Return the rows that refuse options at a door."""
    if door == "command line" and not {"weights", "clusters"}.isdisjoint(options):
        options = options | {"keep": "users"}  # it reads files so, to know the rows
    return [row for row in REFUSED if row.fits(options, door)]


def verdict(options, door, seed, text=True):
    """Return what is wrong with an evaluation; "" if nothing is, None if the door cannot say it."""
    rows = refusals_of(options, door)
    said = {name: value for name, value in options.items() if name != "metrics"}
    what = f"{door}, seed {seed}, {said}"
    try:
        found = differences(world_of(options, seed, text), options, door)
    except UnsaidError:
        return None
    except (ValueError, TypeError) as error:
        said = str(error).replace("--", "")  # as the command line spells options
        return "" if any(row.words in said for row in rows) else f"{what}: {error}"
    sure = [row.reason for row in rows if not row.sometimes]
    if sure:
        return f"{what}: not refused, though {sure[0]}"
    return f"{what}: {found[:2]} of {len(found)}" if found else ""
