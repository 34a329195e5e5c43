"""Splits of time by RecTools and LensKit, and of last rows, in an environment of each.

    python benchmarks/conformance/splits.py --envs envs       # makes the environments
    TOPLIST_PEERS=envs pytest -m peers tests/loo/test_splits_peers.py

The functions of peers take [[user, item, day], ...] with one row per user and day, and return as
rows what the peer splits; the test calls them in the environments, and compares with toplist's.
"""

import sys
from pathlib import Path

PEERS = {"rectools": ("rectools==0.19.0",), "lenskit": ("lenskit==2025.8.1",)}
FIRST = "2024-01-01"


def by_rectools(rows: list[list[int]]) -> dict:
    """Return [train, test] of windows of a week, and of the last 2 rows, all filters off."""
    import pandas as pd
    from rectools import Columns
    from rectools.dataset import Interactions
    from rectools.model_selection import LastNSplitter, TimeRangeSplitter

    table = pd.DataFrame(rows, columns=[Columns.User, Columns.Item, Columns.Datetime])
    days = pd.to_timedelta(table[Columns.Datetime], unit="D")
    table[Columns.Datetime], table[Columns.Weight] = pd.Timestamp(FIRST) + days, 1
    log = Interactions(table)

    def taken(splitter) -> list:
        parts = (found[:2] for found in splitter.split(log))
        return [[[rows[i] for i in part.tolist()] for part in both] for both in parts]

    off = {f"filter_{what}": False for what in ("cold_users", "cold_items", "already_seen")}
    return {
        "windows": taken(TimeRangeSplitter("7D", 3, **off)),
        "last": taken(LastNSplitter(2, 1, **off))[0],
    }


def by_lenskit(rows: list[list[int]]) -> dict:
    """Return [train, test] of three weeks."""
    import datetime

    import pandas as pd
    from lenskit.data import from_interactions_df
    from lenskit.splitting import split_global_time

    table = pd.DataFrame(rows, columns=["user_id", "item_id", "timestamp"])
    first = datetime.datetime.fromisoformat(FIRST)
    table["timestamp"] = [first + datetime.timedelta(day) for day in table["timestamp"]]
    log = from_interactions_df(table)
    day_of = {(user, item): day for user, item, day in rows}

    def taken(split) -> list:
        train = split.train.interaction_table(format="pandas", original_ids=True)
        pairs = zip(train["user_id"], train["item_id"], strict=True)
        tested = [(key.user_id, item) for key, items in split.test for item in items.ids()]
        both = ([(int(user), int(item)) for user, item in part] for part in (pairs, tested))
        return [[[*pair, day_of[pair]] for pair in part] for part in both]

    last = max(table["timestamp"]) + datetime.timedelta(1)
    cuts = [last - datetime.timedelta(7 * weeks) for weeks in (3, 2, 1)]
    return {"windows": [taken(split) for split in split_global_time(log, cuts)]}


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from environments import interpreter, options_of

    options = options_of(__doc__, PEERS, envs={"type": Path, "required": True})
    for name in options.names:
        interpreter(options.envs.resolve() / f"splits-{name}", PEERS[name])
