"""Logs of every kind."""

import datetime

import numpy as np
import pytest
from split_logs import columns

DATES = [datetime.datetime(2011, 12, 1 + day, 8, 26) for day in range(7)]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """Make a log of every kind from rows, and rows of a log's part again."""
    folder = tmp_path_factory.mktemp("logs")
    pandas, polars, pyarrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    from pyarrow import parquet

    def make(rows):
        users, items, days = columns(rows)
        times = [DATES[day] for day in days]
        named = {"user_id": users, "item_id": items, "timestamp": times}
        text = "".join(f"{u},{i},{t}\n" for u, i, t in zip(users, items, times, strict=True))
        (folder / "log.csv").write_text(f"user_id,item_id,timestamp\n{text}")
        tab = text.replace(",", "\t")
        (folder / "log.tsv").write_text(f"user_id\titem_id\ttimestamp\n{tab}")
        parquet.write_table(pyarrow.table(named), folder / "log.parquet")
        yield pandas.DataFrame(named)
        aware = [time.replace(tzinfo=datetime.UTC) for time in times]
        yield pandas.DataFrame(named | {"timestamp": aware})
        yield pandas.DataFrame(named).astype({"user_id": "category", "item_id": str})
        yield polars.DataFrame(named)
        yield pyarrow.table(named)
        yield named
        yield tuple(map(np.array, (users, items, [np.datetime64(t) for t in times])))
        yield list(map(str, users)), list(map(str, items)), list(map(str, times))
        yield users, items, [time.timestamp() for time in times]
        yield from (str(folder / name) for name in ("log.csv", "log.tsv", "log.parquet"))

    return make
