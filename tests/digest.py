"""2,000 random evaluations and 2,000 random comparisons as a file of numbers, and two such files.

    python tests/digest.py before.jsonl                # write the numbers of this checkout
    python tests/digest.py before.jsonl after.jsonl    # what differs, at all and by more than 1e-11

Each line is a case, drawn by its number alone, so that files of two versions hold the same cases. A
case that is refused has the kind of its error. The second form prints how many numbers differ, by
kind, with an example of each, and exits with 1 where some differ by more than 1e-11.
"""

import argparse
import contextlib
import json
import math
import random
from collections import Counter
from pathlib import Path

from doors import DOORS, UnsaidError, ask, call, seen
from matrix import APART, LISTS, OF_ALL, OPTIONS, metrics_of, refusals_of
from world import draw

CLOSE = 1e-11


def evaluation(number):
    """Draw a world, options and a door that has words for them."""
    rng = random.Random(number)
    while True:
        names = rng.sample([n for n in OPTIONS if n != "metrics"], rng.choice([0, 1, 1, 2, 3]))
        options = {name: rng.choice(OPTIONS[name]) for name in names}
        options.setdefault("k", rng.choice([3, [1, 2, 5], None]))
        graded = "propensities" not in options and ("gains" in options or rng.random() < 0.7)
        kind = rng.choice(["hits", "lists", "both"])
        options["metrics"] = metrics_of(options, kind, graded)
        how = {"ties": "ties" in options, "graded": graded, "text": rng.random() < 0.5}
        how["gap"] = "unknown" in options
        world = draw(number, users=rng.choice([3, 7, 20]), odd=rng.random() < 0.7, **how)
        door = rng.choice(list(DOORS))
        together = not any(apart <= options.keys() for apart in APART)
        if together and options["metrics"] and not refusals_of(options, door):
            with contextlib.suppress(UnsaidError):
                seen(world, options, door)
                return world, options, door


def comparison(number):
    """Draw a world, options, and a question about two systems."""
    rng = random.Random(number)
    question = rng.choice(["test", "test", "test", "equivalence", "band", "lead", "power", "gate"])
    options = {"k": [2, 5], "metrics": rng.sample(["hit", "recall", "map", "ndcg", "mrr"], 2)}
    for name in ("relevant_from", "convention", "duplicates"):
        if rng.random() < 0.2:
            options[name] = rng.choice(OPTIONS[name])
    if "convention" in options:
        options["metrics"] = metrics_of(options, "hits")[:3]
    options["metrics"] += rng.sample(
        [one for one in LISTS if one not in OF_ALL], rng.choice([0, 1])
    )
    how = {}
    if question == "test":
        how["method"] = rng.choice(["t", "randomization", "bootstrap", "wilcoxon", "sign"])
        how["correction"] = rng.choice(["holm", "none"])
        how["alternative"] = rng.choice(["two-sided", "greater", "less"])
        how["by"] = rng.random() < 0.2
        if how["method"] in ("t", "randomization") and not how["by"] and rng.random() < 0.3:
            how["correction"] = "maxt"
    if question in ("test", "equivalence") and how.get("method", "t") in ("t", "bootstrap"):
        for name in ("weights", "clusters"):
            if rng.random() < 0.2:
                options[name] = True
    if question in ("equivalence", "gate"):
        how["margin"] = rng.choice([0.001, 0.05])
    if question == "band":
        how["metric"] = options["metrics"][0]
    how["users"] = "common"
    world = draw(number, users=rng.choice([7, 12, 30]), odd=rng.random() < 0.5)
    return world, options, question, how


def numbers(kind, number):
    """Return the numbers of a case, by name; or the kind of the error."""
    try:
        if kind == "comparison":
            world, options, question, how = comparison(number)
            found = ask(world, options, question, **how)
            return {" ".join(key): value for key, value in found.items()}
        found = call(*evaluation(number))
    except (ValueError, TypeError) as error:
        return {"refused": type(error).__name__}
    held = {f"counts {name}": value for name, value in found.counts.items()}
    for part in ("means", "std", "intervals", "n", "values"):
        rows = getattr(found, part) or {}
        held |= {f"{part} {name}": value for name, value in rows.items()}
    return held


def write(path, n):
    """Write a line for each case."""
    with path.open("w") as file:
        for kind in ("evaluation", "comparison"):
            for number in range(n):
                held = {"kind": kind, "number": number, "found": numbers(kind, number)}
                file.write(json.dumps(held, default=float) + "\n")


def apart(one, other):
    """Return how far apart two values are; infinitely where they are not of one kind."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return max(map(apart, one, other), default=0.0)
    if one == other or one is None or other is None:
        return 0.0 if one == other else math.inf
    if isinstance(one, str | list) or isinstance(other, str | list):
        return math.inf
    if math.isnan(one) or math.isnan(other):
        return 0.0 if math.isnan(one) and math.isnan(other) else math.inf
    return abs(one - other) / max(1.0, abs(one), abs(other))


def compare(before, after):
    """Print what differs between two files; return how many numbers differ by more than 1e-11."""
    counts, far, examples = Counter(), Counter(), {}
    for line, other in zip(before.open(), after.open(), strict=True):
        one, two = json.loads(line), json.loads(other)
        case = one["kind"], one["number"]
        assert case == (two["kind"], two["number"])
        for name in one["found"].keys() | two["found"].keys():
            values = one["found"].get(name), two["found"].get(name)
            distance = apart(*values)
            counts["all"] += 1
            counts["equal"] += distance == 0
            if distance > 0:
                what = one["kind"], name.partition("@")[0]
                counts["close"] += distance <= CLOSE
                if distance > CLOSE:
                    far[what] += 1
                    examples.setdefault(what, (case, name, values))
    print(", ".join(f"{name} {n:,}" for name, n in counts.items()))
    for what, n in far.most_common():
        print(f"{n:6} {' '.join(what)}, such as {examples[what]}")
    return sum(far.values())


def main():
    """Write a file, or compare two."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="?")
    parser.add_argument("--cases", type=int, default=2000)
    options = parser.parse_args()
    if options.after is None:
        return write(options.before, options.cases)
    raise SystemExit(compare(options.before, options.after) > 0)


if __name__ == "__main__":
    main()
