"""Ids that were chosen to share places of a table, beside others: nothing takes 3 x the time.

    python benchmarks/collisions.py          # a minute
    python benchmarks/collisions.py --smoke  # tiny sizes: does everything still run?

100,000 ids, chosen by the constants of the code as it is (`tests/collisions.py`), in each table
that is open to them: integers, texts of one hash, texts whose hashes share 40 bits. A ratio is the
best time with these over the best time with plain ids, which take turns in one process.
"""

import argparse
import csv
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from timing import best_of

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from collisions import colliding_ids, colliding_texts
from toplist.files.text_ids import TextIds

import toplist as tl
from toplist import beyond, files, loo, pointwise
from toplist.inputs.factorize import Numbering
from toplist.inputs.texts import Texts, joined

LIMIT = 3.0


def rows(ids: Any) -> Any:
    """Return ids as lists of 100."""
    return [ids[i : i + 100] for i in range(0, len(ids), 100)]


INTEGERS = {
    "one list": lambda ids: tl.match(ids, ids[::7].copy()),
    "lists of 100": lambda ids: tl.match(ids.reshape(-1, 100), ids.reshape(-1, 100)[:, ::5]),
    "a truth of one": lambda ids: tl.match(ids, ids[len(ids) // 2 :][:1].copy()),
    "repeats in a truth": lambda ids: tl.match(ids, np.repeat(ids[::-1], 2)),
    "numbering": lambda ids: Numbering().number(ids),
    "users of a log": lambda ids: loo.leave_one_out((ids, ids, np.arange(len(ids)))),
    "users of gauc": lambda ids: pointwise.gauc(ids, np.arange(len(ids)) % 2, np.arange(len(ids))),
    "a catalogue": lambda ids: beyond.item_coverage(ids.reshape(-1, 100), k=100, catalogue=ids),
}
TEXTS = {
    "one list": lambda ids: tl.match(ids, set(ids[::7])),
    "lists of 100": lambda ids: tl.match(rows(ids), [row[::5] for row in rows(ids)]),
    "dicts of users": lambda ids: tl.match(
        {one: [one] for one in ids}, {one: [one] for one in ids}
    ),
    "numbering of frames": lambda ids: Texts().encode(joined(ids)),
    "numbering of files": lambda ids: TextIds().encode(ids),
    "a catalogue": lambda ids: beyond.item_coverage(rows(ids), k=100, catalogue=ids),
}


def evaluated(library: str) -> Any:
    """Return what evaluates frames of ids, as users and as items."""
    frames: dict[int, Any] = {}

    def made(ids: Any) -> Any:
        frame = __import__(library).DataFrame
        ranks = {"user_id": ids, "item_id": ids, "rank": [1] * len(ids)}
        return frame(ranks), frame({"user_id": ids[::-1], "item_id": ids[::-1]})

    def mean(ids: Any) -> Any:
        if id(ids) not in frames:
            frames[id(ids)] = made(ids)
        return tl.top_k_eval(*frames[id(ids)], k=1)

    return mean


def read(folder: Path) -> Any:
    """Return what reads a file of ids, as users and as items."""

    def lists(ids: Any) -> Any:
        name = folder / f"{id(ids)}.csv"
        if not name.exists():
            with name.open("w", newline="") as file:
                table = csv.writer(file)
                table.writerow(["user_id", "item_id", "rank"])
                table.writerows((one, one, 1) for one in ids)
        return files.read_ranks(name)

    return lists


def ratios(repeats: int, call: Any, given: Any) -> tuple[float, list[float]]:
    """Return the best seconds with plain ids, and how many times these each of the others takes."""
    for ids in given:
        call(ids)  # compiles
    plain, *chosen = best_of(repeats, *(partial(call, ids) for ids in given))
    return plain, [took / plain for took in chosen]


def main() -> None:
    """Print a ratio for each table and each kind of chosen ids."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, one round, a few seconds")
    n, repeats = (2_000, 1) if parser.parse_args().smoke else (100_000, 5)
    shuffled, worst = np.random.default_rng(0).permutation(n), 0.0
    integers = shuffled * 9_973, colliding_ids(n).view(np.int64)
    texts = [f"item-{one:011d}" for one in shuffled], colliding_texts(n), colliding_texts(n, 40)
    with TemporaryDirectory() as folder:
        libraries = [name for name in ("pandas", "polars") if find_spec(name)]
        of_frames = {f"frames of {name}": evaluated(name) for name in libraries}
        of_files = {"files": read(Path(folder))}
        for kind, given, cases in (
            ("integers", integers, INTEGERS | of_frames),
            ("texts", texts, TEXTS | of_frames | of_files),
        ):
            for name, call in cases.items():
                plain, found = ratios(repeats, call, given)
                print(f"{kind:<10}{name:<22}{1e3 * plain:9.2f} ms", *map("{:6.2f}".format, found))
                worst = max(worst, *found)
    print(f"\nthe worst: {worst:.2f} (at most {LIMIT:.0f})")


if __name__ == "__main__":
    main()
