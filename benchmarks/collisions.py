"""Ids that were chosen to share places of a table: slower than others, but never quadratic.

    python benchmarks/collisions.py          # a minute
    python benchmarks/collisions.py --smoke  # tiny sizes: does everything still run?

For each table, ids chosen by the constants of the code as it is (`tests/collisions.py`): how many
times as long they take as plain ids, and how many times as long as half of them. In quadratic time,
these would be thousands, and four.
"""

import argparse
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from timing import best_of

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from collisions import colliding_ids, colliding_texts

import toplist as tl
from toplist.inputs.factorize import Numbering
from toplist.inputs.texts import Texts, joined


def rows(ids: Any) -> Any:
    """Return ids as lists of 100."""
    return [ids[i : i + 100] for i in range(0, len(ids), 100)]


INTEGERS = {
    "join, one list": lambda ids: tl.match(ids, ids[::7].copy()),
    "join, lists of 100": lambda ids: tl.match(ids.reshape(-1, 100), ids.reshape(-1, 100)[:, ::5]),
    "join, truths of one": lambda ids: tl.match(ids.reshape(-1, 100), ids[::100].copy()),
    "numbering": lambda ids: Numbering().number(ids),
}
TEXTS = {
    "lists of 100": lambda ids: tl.match(rows(ids), [row[::5] for row in rows(ids)]),
    "numbering": lambda ids: Texts().encode(joined(ids)),
}


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, one round, a few seconds")
    n, repeats = (2_000, 1) if parser.parse_args().smoke else (100_000, 5)
    shuffled = np.random.default_rng(0).permutation(n)
    integers = shuffled * 9_973, colliding_ids(n).view(np.int64)
    texts = [f"item-{one:011d}" for one in shuffled], colliding_texts(n)
    for kind, (plain, chosen), cases in (("integers", integers, INTEGERS), ("texts", texts, TEXTS)):
        for name, call in cases.items():
            calls = [partial(call, ids) for ids in (plain, chosen[: n // 2], chosen)]
            for compiled in calls:
                compiled()
            usual, half, whole = best_of(repeats, *calls)
            print(
                f"{kind:<10}{name:<22}{1e3 * whole:9.2f} ms{whole / usual:8.1f} x plain ids"
                f"{whole / half:6.1f} x half of them"
            )


if __name__ == "__main__":
    main()
