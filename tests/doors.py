"""The one place that knows how options of an evaluation are spelled, and how data is handed over.

`call(world, options, door)` evaluates a `World` (tests/world.py) under options in neutral words and
returns an `Answer` of plain numbers; what the library refuses comes through as its own error. The
rows of the matrix, the digest and the oracle know these words alone, so that they outlive the names
of keywords.

The words: metrics, k, convention, empty, missing, relevant, aggregate, gains, weights, clusters,
propensities (with weighting, clip), items_as, relevant_from, unjudged, duplicates, padding, ties,
users, unit, columns, system, keep, unknown, n_threads. What is data
of the world (weights, clusters, propensities, items_as, padding, users, columns, system) is asked
for by True. Facts of items are given where a metric needs them.
"""

import contextlib
import importlib
import io
import json
import math
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from world import padding_of

import toplist as tl
from toplist.metrics.conventions import rules_of

# Which facts of the world a metric of the lists needs, by its name or the first word of it.
FACTS = {
    "item_coverage": ["catalogue"],
    "gini": ["catalogue"],
    "average_popularity": ["counts"],
    "tail_percentage": ["counts"],
    "novelty": ["counts"],
    "popularity_lift": ["counts", "history"],
    "intra_list_diversity": ["features"],
    "intra_list_diversity(distance=jaccard)": ["labels"],
    "intra_list_diversity(distance=given)": ["distances"],
    "calibration": ["labels", "history"],
    "exposure_share": ["labels"],
    "hit_share": ["labels"],
    "unexpectedness": ["expected"],
    "serendipity": ["expected"],
}
OF_DATA = (
    *("weights", "clusters", "propensities", "items_as", "padding", "users", "columns", "system"),
    "groups",
)


# Where a word of an evaluation is said, but for those of the evaluation itself.
POLICIES = ("empty", "missing", "relevant", "aggregate", "gains")
ITEMS = (
    *("catalogue", "counts", "features", "labels", "distances", "history", "expected"),
    "unknown",
)
OF_RANKS = ("ties", "users", "order", "unit", "ranks_format")
OF_SPARK = ("partitions", "paired")


def said(words, ranks, truths):
    """Return lists, truths and keywords of the library for an evaluation in flat words."""
    words = dict(words)

    def taken(names):
        return {name: words.pop(name) for name in names if name in words}

    policies = {name: value for name, value in taken(POLICIES).items() if value is not None}
    if policies:
        rules = rules_of(words.get("convention", "standard"))
        words["convention"] = rules.replace(**policies)
    items = taken(ITEMS)
    if items:
        words["items"] = tl.Items(**items)
    how = taken(("weighting", "clip"))
    if how:
        if words.get("propensities") is None:
            raise ValueError(f"{next(iter(how))} needs propensities")
        words["propensities"] = tl.Propensities(words["propensities"], **how)
    of_ranks, of_spark = taken(OF_RANKS), taken(OF_SPARK)
    if "ranks_format" in of_ranks:
        of_ranks["format"] = of_ranks.pop("ranks_format")
    if of_spark:
        ranks = tl.spark.Ranks(ranks, **of_ranks, **of_spark)
    elif any(value is not None for value in of_ranks.values()):
        ranks = tl.Ranks(ranks, **of_ranks)
    if "ground_truths_format" in words:
        truths = tl.GroundTruths(truths, format=words.pop("ground_truths_format"))
    return ranks, truths, words


def by_words(ranks, ground_truths=None, k=None, **words):
    """Evaluate lists under options in flat words, each of which has its place in the library."""
    ranks, truths, keywords = said(words, ranks, ground_truths)
    return tl.top_k_eval(ranks, truths, k, **keywords)


def match_by_words(ranks, ground_truths, k=None, **words):
    """Join lists with truths under options in flat words."""
    ranks, truths, keywords = said(words, ranks, ground_truths)
    return tl.match(ranks, truths, k, **keywords)


def curve(metric, ranks, truths=None, k=None, **words):
    """Return a metric of every user at every k, under options in flat words."""
    ranks, truths, keywords = said(words, ranks, truths)
    divisor = keywords.pop("divisor", None)
    if divisor is not None:
        rules = keywords.get("convention", "standard")
        rules = tl.CONVENTIONS[rules] if isinstance(rules, str) else rules
        metric = replace(rules.metrics[metric], divisor=divisor)
    return tl.curves(metric, ranks, truths, k, **keywords)


@dataclass
class Answer:
    """What an evaluation says, in plain numbers: keys are "metric@k"."""

    means: dict
    std: dict
    intervals: dict
    n: dict
    counts: dict
    users: list | None = None
    values: dict | None = None


def facts_of(metrics):
    """List the facts that metrics need."""
    names = [name.partition("@")[0] for name in metrics]
    needed = (FACTS.get(name, FACTS.get(name.partition("(")[0], ())) for name in names)
    return list(dict.fromkeys(fact for facts in needed for fact in facts))


# What columns are called where `columns` is asked for.
RENAMED = {
    "user_id": "who",
    "item_id": "what",
    "rank": "place",
    "score": "points",
    "relevance": "worth",
}


@dataclass(frozen=True)
class Case:
    """A world under options, on its way to a door."""

    world: object
    options: dict

    def __getitem__(self, word):
        return self.options.get(word)

    def words(self):
        """Return the options that are words."""
        words = {name: value for name, value in self.options.items() if name not in OF_DATA}
        return {"k": None} | words

    def facts(self):
        """Return the facts that the metrics need."""
        return {name: getattr(self.world, name) for name in facts_of(self.options["metrics"])}

    def data(self):
        """Return the data that options ask for."""
        world, found = self.world, {}
        if self["weights"]:  # of lists without a truth, too
            found["weights"] = world.weights
        if self["clusters"]:
            users = counting(world, self.options)
            found["clusters"] = {user: world.clusters[user] for user in users}
        if self["propensities"]:
            found["propensities"] = world.propensities
        if self["items_as"]:
            found["items_as"] = world.documents
        if self["padding"]:
            found["padding"] = padding_of(world)
        return found

    def keywords(self):
        """Return all keywords but those of a door."""
        return self.words() | self.facts() | self.data()

    def evaluate(self, ranks, truths, **more):
        """Call the library; of several systems the first is wanted."""
        keywords = self.keywords() | more
        found = by_words(ranks, truths, **keywords)
        return found["a"] if "system" in keywords else found


# Lists and truths as Python holds them


def lists_of(case):
    """Return lists by user: of items, or of items and scores."""
    world = case.world
    if world.scores is None:
        return world.lists
    return {
        user: dict(zip(items, world.scores[user], strict=True))
        for user, items in world.lists.items()
    }


def truths_of(case):
    """Return truths by user: sets, dicts item -> grade, or groups."""
    if case["groups"]:
        return tl.Groups(case.world.groups)
    if case.world.graded:
        return case.world.truths
    return {user: set(grades) for user, grades in case.world.truths.items()}


def by_key(case, folder):
    """Give dicts user -> list and user -> truth."""
    return case.evaluate(lists_of(case), truths_of(case))


def positions_of(case):
    """Return lists and truths by row, and what goes with the rows."""
    users = case.world.users
    more = {}
    for name in ("weights", "clusters"):
        if case[name] and not case["users"]:
            more[name] = [getattr(case.world, name)[user] for user in users]
    for name in ("history", "expected"):
        if name in facts_of(case["metrics"]) and not case["users"]:
            more[name] = [getattr(case.world, name)[user] for user in users]
    if case["users"]:
        more["users"] = users
    if case["groups"]:
        return list(lists_of(case).values()), tl.Groups(list(case.world.groups.values())), more
    return list(lists_of(case).values()), list(truths_of(case).values()), more


def by_position(case, folder):
    """Give a list of lists and a list of truths."""
    lists, truths, more = positions_of(case)
    return case.evaluate(lists, truths, **more)


def by_array(case, folder):
    """Give a rectangle of ids, filled up by padding, and truths by row."""
    import numpy as np

    lists, truths, more = positions_of(case)
    pad = padding_of(case.world)
    longest = max(map(len, lists), default=0)
    rows = [[*items, *[pad] * (longest - len(items))] for items in lists]
    return case.evaluate(np.array(rows), truths, **more | {"padding": pad})


def by_hits(case, folder):
    """Join first, evaluate the hits."""
    keywords = case.keywords()
    k = keywords["k"]
    longest = max(map(len, case.world.lists.values()), default=0)
    depth = None if k is None else max(longest, *(k if isinstance(k, list) else [k]))
    names = ("duplicates", "padding", "relevant_from", "items_as", "unjudged", "ties")
    how = {name: keywords.pop(name) for name in names if name in keywords}
    both = ("gains", "convention", "n_threads")
    how |= {name: keywords[name] for name in both if name in keywords}
    return by_words(match_by_words(lists_of(case), truths_of(case), depth, **how), **keywords)


def in_parts(case, folder):
    """Evaluate the users in two halves and merge the results."""
    users = list(dict.fromkeys([*case.world.lists, *case.world.truths]))
    halves = [case.world.only(users[start::2]) for start in (0, 1)]
    return tl.merge([by_key(Case(half, case.options), folder) for half in halves])


def saved(case, folder):
    """Save the result and load it."""
    by_key(case, folder).save(folder / "result.npz")
    return tl.TopKResult.load(folder / "result.npz")


# Tables


def as_columns(names, rows):
    """Return the columns of rows; what has no name is left out."""
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def columns_of(case):
    """Return the columns of two tables, with the names that the case asks for."""
    world, value = case.world, "rank" if case.world.scores is None else "score"
    systems = {"a": world, "b": world.of_other()} if case["system"] else {"a": world}
    rows = [
        (user, item, rank if one.scores is None else one.scores[user][rank - 1], name)
        for name, one in systems.items()
        for user, items in one.lists.items()
        for rank, item in enumerate(items, start=1)
    ]
    names = "user_id", "item_id", value, "model"
    ranks = as_columns(names if case["system"] else names[:3], rows)
    judged = [(user, *one) for user, grades in world.truths.items() for one in grades.items()]
    truth = as_columns(("user_id", "item_id", "relevance")[: 2 + world.graded], judged)
    if case["groups"]:
        facts = [(u, enumerate(groups)) for u, groups in world.groups.items()]
        rows = [(u, item, row) for u, groups in facts for row, group in groups for item in group]
        truth = as_columns(("user_id", "item_id", "fact"), rows)
    if case["columns"]:
        ranks, truth = ({RENAMED.get(n, n): one for n, one in t.items()} for t in (ranks, truth))
    return ranks, truth


def names_of(case):
    """Return the keywords that name columns."""
    more, ids = {}, ("user_id", "item_id")
    if case["columns"]:
        graded = case.world.graded and not case["groups"]
        names = {
            "ranks": (*ids, "score" if case.world.scores else "rank"),
            "ground_truths": (*ids, "relevance") if graded else ids,
        }
        more["columns"] = {
            side: {name: RENAMED[name] for name in some} for side, some in names.items()
        }
    if case["groups"]:
        more.setdefault("columns", {}).setdefault("ground_truths", {})["group"] = "fact"
    if case["system"]:
        more["system"] = "model"
    return more


def maker(library):
    """Return what makes a table of columns; on Spark in the session that is active."""
    if library != "spark":
        module = importlib.import_module(library)
        return module.table if library == "pyarrow" else module.DataFrame
    import pyarrow as pa
    from pyspark.sql import SparkSession

    session = SparkSession.active()
    return lambda columns: session.createDataFrame(pa.table(columns))


def table(library, **more):
    """Return the door of a library's tables; `more` are keywords that it takes alone."""

    def door(case, folder):
        make = maker(library)
        ranks, truth = columns_of(case)
        for name in ("relevance", RENAMED["relevance"]):  # a column has one type
            if name in truth:
                truth[name] = list(map(float, truth[name]))
        return case.evaluate(make(ranks), make(truth), **names_of(case), **more)

    return door


def nested(case, folder):
    """Give frames of pandas with a row per user: lists of items, of scores, of grades."""
    import pandas as pd

    world = case.world
    ranks = {"user_id": list(world.lists), "item_id": list(world.lists.values())}
    if world.scores is not None:
        ranks["score"] = list(world.scores.values())
    truth = {"user_id": world.users, "item_id": [list(one) for one in world.truths.values()]}
    if world.graded:
        truth["relevance"] = [list(one.values()) for one in world.truths.values()]
    return case.evaluate(pd.DataFrame(ranks), pd.DataFrame(truth))


def stream(case, folder):
    """Give readers of record batches of three rows."""
    import pyarrow as pa

    ranks, truth = (pa.table(columns) for columns in columns_of(case))

    def reader(rows):
        return pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(max_chunksize=3))

    more = names_of(case)
    return case.evaluate(reader(ranks), reader(truth), **more)


# Files


def text_of(columns, separator):
    """Write columns as lines of text with a header."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def write(format, columns, path, trec):
    """Write the columns of one table as a file of a format."""
    if format in ("csv", "tsv"):
        path.write_text(text_of(columns, "," if format == "csv" else "\t"))
    elif format == "jsonl":
        rows = zip(*columns.values(), strict=True)
        path.write_text(
            "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
        )
    elif format == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), path, row_group_size=4)
    else:
        path.write_text(trec(columns))


def run_of(columns):
    """Write a run: user Q0 item rank score tag; trec_eval reads the score."""
    lines = []
    for row, (user, item) in enumerate(zip(columns["user_id"], columns["item_id"], strict=True)):
        score = columns["score"][row] if "score" in columns else -columns["rank"][row]
        lines.append(f"{user} Q0 {item} {columns.get('rank', [1] * row + [1])[row]} {score} tag\n")
    return "".join(lines)


def qrels_of(columns):
    """Write judgements: user 0 item grade."""
    grades = columns.get("relevance", [1] * len(columns["user_id"]))
    rows = zip(columns["user_id"], columns["item_id"], grades, strict=True)
    return "".join(f"{user} 0 {item} {grade}\n" for user, item, grade in rows)


def files_of(case, folder, format):
    """Write both sides; return their paths."""
    ranks, truth = columns_of(case)
    paths = folder / f"ranks.{format}", folder / f"truth.{format}"
    for columns, path, trec in zip((ranks, truth), paths, (run_of, qrels_of), strict=True):
        write(format, columns, path, trec)
    return paths


def file(format):
    """Return the door of files of a format."""

    def door(case, folder):
        return case.evaluate(*files_of(case, folder, format), **names_of(case))

    return door


def beir(case, folder):
    """Give a table of ranks, and judgements under BEIR's header."""
    ranks, truth = columns_of(case)
    names = {"user_id": "query-id", "item_id": "corpus-id", "relevance": "score"}
    ours = {theirs: ours for ours, theirs in RENAMED.items()}
    truth = {names[ours.get(name, name)]: one for name, one in truth.items()}
    write("csv", ranks, folder / "ranks.csv", None)
    write("tsv", truth, folder / "qrels.tsv", None)
    more = names_of(case)
    if case["columns"]:  # what its ids are called; its score is the relevance in any case
        more["columns"]["ground_truths"] = {one: names[one] for one in ("user_id", "item_id")}
    return case.evaluate(folder / "ranks.csv", folder / "qrels.tsv", **more)


# The command line


def flags(words):
    """Return options of the command line for words."""
    found = []
    for name, value in words.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            found.append(flag)
        elif isinstance(value, dict):
            found += [flag, ",".join(f"{a}={b}" for a, b in value.items())]
        elif value is not None:
            found += [flag, str(value)]
    return found


# What the command line reads from files of its own, and their columns.
FILED = {
    "weights": ("user_id", "w"),
    "clusters": ("user_id", "c"),  # of users without a truth, too: ips counts them
    "propensities": ("item_id", "p"),
    "items_as": ("item_id", "document"),
    "catalogue": ("item_id",),
    "counts": ("item_id", "count"),
    "features": ("item_id", "f0", "f1", "f2"),
    "labels": ("item_id", "label"),
    "distances": ("item_id",),  # and a column for each item
    "history": ("user_id", "item_id"),
    "expected": ("user_id", "item_id"),
}


def rows_of(held, width):
    """Return keys and their values as rows: one for each value, or as wide as the values are."""
    if width == 1:
        return [(one,) for one in held]
    rows = []
    for key, one in held.items():
        values = [one] if isinstance(one, (str, int, float)) else one
        rows += [(key, *values)] if width > 2 else [(key, value) for value in values]
    return rows


def command_line(case, folder):
    """Run ``toplist eval`` on two files and read the JSON that it prints."""
    from toplist.cli import main

    words = case.words()
    metrics, k = words.pop("metrics"), words.pop("k")
    arguments = ["eval", *map(str, files_of(case, folder, "csv")), "-m", *metrics]
    if not all("@" in name for name in metrics):
        arguments += ["-k", *map(str, k if isinstance(k, list) else [k or "all"])]
    arguments += flags(words)
    for name, names in FILED.items():
        if case[name] or name in facts_of(metrics):
            held = getattr(case.world, "documents" if name == "items_as" else name)
            path = folder / f"{name}.csv"
            names += (*map(str, held),) if name == "distances" else ()
            path.write_text(text_of(as_columns(names, rows_of(held, len(names))), ","))
            column = f":{names[1]}" if name in ("weights", "clusters", "propensities") else ""
            arguments += [f"--{name.replace('_', '-')}", f"{path}{column}"]
    if case["padding"]:
        arguments += [f"--padding={padding_of(case.world)}"]
    names = names_of(case)
    if "columns" in names:
        arguments.append("--columns")
        for side, columns in names["columns"].items():
            arguments += [f"{side}:{ours}={theirs}" for ours, theirs in columns.items()]
    if "system" in names:
        arguments += ["--system", "model"]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main([*arguments, "--format", "json"])
        except SystemExit as stop:
            status = stop.code
    if status:
        raise ValueError(err.getvalue().strip())
    found = json.loads(out.getvalue())
    return found["a"] if "system" in names else found


# Parts of a result


def segments(world, options, form="dict"):
    """Return the answers of the segments of the users of a world, and what they leave out."""
    case = Case(seen(world, options, "dicts"), options)
    labels = {user: world.segments[user] for user in counting(world, options)}
    found = by_key(case, None).by(FORMS[form](labels))
    return {label: without_k(answer(one)) for label, one in found.items()}, set(found.left_out)


def categories(labels):
    """Return labels by user as ordered categories of pandas."""
    import pandas as pd

    values = pd.Categorical(labels.values(), categories=ORDERED, ordered=True)
    return pd.Series(values, index=list(labels))


def series(labels):
    """Return labels by user as a Series of pandas."""
    import pandas as pd

    return pd.Series(labels)


ORDERED = "new", "mid", "old"
FORMS = {
    "dict": dict,
    "list": lambda labels: list(labels.values()),
    "Series": series,
    "categories": categories,
}


def counting(world, options):
    """Return the users of the truth, and whom IPS counts beside them."""
    if options.get("weighting") == "ips":
        return list(
            dict.fromkeys([*world.users, *(one for one in world.lists if world.lists[one])])
        )
    return world.users


def slices(world, options):
    """Return the answers of the slices of the items of a world."""
    case = Case(seen(world, options, "dicts"), options)
    found = by_key(case, None).by_item(world.slices)
    return {label: without_k(answer(one)) for label, one in found.items()}


# Comparisons of two systems

# Columns of a table of tests.
TESTED = (
    *("mean", "baseline_mean", "difference", "error", "df", "statistic", "p", "p_adjusted"),
    *("low", "high", "n", "wins", "ties", "losses"),
)
GATED = "mean", "base_mean", "difference", "low", "high", "n", "differ", "p_not_worse", "p_worse"


def ask(world, options, question, **how):
    """Compare both systems of a world; return numbers by (metric@k, segment, column).

    `question` is "test", "equivalence", "band", "lead", "power", "tukey" or "gate"; with
    ``by=True`` it is asked of each segment of the users.
    """
    results = {
        name: by_key(Case(seen(side, options, "dicts"), options), None)
        for name, side in {"a": world, "b": world.of_other()}.items()
    }
    if question == "gate":
        margins = dict.fromkeys(results["a"].to_dict(), how.pop("margin"))
        found = tl.gate(results["b"], results["a"], margins, **how)
        return numbers(found.to_dict()["rows"], GATED) | {("", "", "verdict"): found.verdict}
    compared = tl.compare(results, baseline="a")
    if how.pop("by", False):
        compared = compared.by({user: world.segments[user] for user in world.users})
    found = getattr(compared, question)(**how)
    if question == "band":
        curves = zip(found.low.tolist(), found.high.tolist(), strict=True)
        return {(how["metric"], str(k), "band"): both for k, both in enumerate(curves, start=1)}
    if question in ("test", "equivalence", "tukey"):
        return numbers(found.to_dict(), TESTED)
    rows = found.to_pandas().to_dict("records")
    return numbers(rows, [name for name in rows[0] if isinstance(rows[0][name], (int, float))])


def numbers(rows, columns):
    """Return the numbers of the rows of a table."""
    return {
        (str(row.get("name")), str(row.get("segment", row.get("k"))), column): row.get(column)
        for row in rows
        for column in columns
    }


class UnsaidError(Exception):
    """A door has no way to say an option."""


DOORS = {
    "dicts": by_key,
    "rows": by_position,
    "array": by_array,
    "hits": by_hits,
    "merged": in_parts,
    "saved": saved,
    "pandas": table("pandas"),
    "polars": table("polars"),
    "pyarrow": table("pyarrow"),
    "nested": nested,
    "stream": stream,
    "beir": beir,
    **{format: file(format) for format in ("csv", "tsv", "jsonl", "trec", "parquet")},
    "command line": command_line,
}
LIBRARIES = {door: door for door in ("pandas", "polars", "pyarrow")}
LIBRARIES |= {"nested": "pandas", "stream": "pyarrow", "parquet": "pyarrow"}


def installed(door):
    """Return a door; skip the test where it needs a library that is not installed."""
    if door in LIBRARIES:
        pytest.importorskip(LIBRARIES[door])
    return door


EVERYWHERE = DOORS | {"spark": table("spark", partitions=2)}  # which needs a session
ROWS = ("rows", "array")  # which know neither users nor lists without a truth
TABLES = ("pandas", "polars", "pyarrow", "stream", "spark")
UNFLAGGED = {"n_threads", "aggregate", "keep"}
TEXT = ("csv", "tsv", "trec", "beir", "command line")  # in which ids are text
FILES = ("csv", "tsv", "jsonl", "trec", "parquet", "beir", "command line")


def seen(world, options, door):
    """Return the world as a door can say it, or raise `UnsaidError`."""
    if door in ROWS:
        world = world.by_row()
    if door in (*TABLES, *FILES):
        world = world.without_odd_rows()
    in_columns, says = door in (*TABLES, *FILES), options.get
    unsaid = {
        "the command line has no such option": door == "command line"
        and not UNFLAGGED.isdisjoint(options),
        "users are keys already": says("users") and door not in ROWS,
        "no table, no columns": says("columns") and (not in_columns or door == "trec"),
        "no table, no systems": says("system") and (not in_columns or door in ("trec", "stream")),
        "no column of groups": says("groups") and door in ("trec", "beir", "nested"),
        "its header names grades": door == "beir" and not world.graded,
        "lists by row have no scores": world.scores is not None and door in ROWS,
        "ids of text files are text": door in TEXT and isinstance(world.catalogue[0], int),
    }
    for words, wrong in unsaid.items():
        if wrong:
            raise UnsaidError(words)
    if door == "trec":
        world = world.of_whole_grades()
    if options.get("duplicates"):
        world = world.with_repeats()
    if options.get("padding"):
        world = world.with_padding()
    return world


def call(world, options, door):
    """Evaluate what a door sees of a world; the library's errors come through.

    Raises
    ------
    UnsaidError
        If the door has no words for an option, so that nothing can be compared.
    """
    case = Case(seen(world, options, door), options)
    with tempfile.TemporaryDirectory() as folder:
        found = EVERYWHERE[door](case, Path(folder))
    if door in PRINTED:
        assert repr(found)
    return without_k(answer(found))


def without_k(answer):
    """Name a metric of whole lists by its name alone: its k is the longest list of the source."""
    for name in ("means", "std", "intervals", "n", "values"):
        held = getattr(answer, name) or {}
        for key in [key for key in held if key.partition("(")[0].partition("@")[0] in WHOLE]:
            held[key.partition("@")[0]] = held.pop(key)
    return answer


def answer(found):
    """Return the plain numbers of a result, or of the JSON of the command line."""
    if isinstance(found, dict):
        nan = math.nan

        def number(one):
            return nan if one is None else one

        counts = {name: found[name] for name in COUNTS}
        intervals = {name: tuple(map(number, one)) for name, one in found["interval"].items()}
        means, std = ({n: number(v) for n, v in found[w].items()} for w in ("values", "std"))
        return Answer(means, std, intervals, found["n"], counts)
    means = found.to_dict()
    std, intervals, n, values = {}, {}, {}, {}
    for name in means:
        std[name] = float(found.std(name))
        intervals[name] = tuple(map(float, found.interval(name)))
        n[name] = found.n_of(name)
        with contextlib.suppress(ValueError):
            values[name] = [float(one) for one in found.per_user(name)]
    users = list(range(found.n_users)) if found.users is None else list(found.users)
    counts = {name: getattr(found, name) for name in COUNTS}
    return Answer(means, std, intervals, n, counts, users, values or None)


WHOLE = ("bpref",)
PRINTED = ("dicts", "merged", "csv")  # one of each kind of averages: of rows, of parts, in blocks
COUNTS = ("n_users", "n_evaluated", "n_skipped", "n_missing", "n_extra")
