"""Files of any size, and what lies in a database: read in parts, evaluated and forgotten.

Files
-----

``tl.top_k_eval("recs.csv", "truth.csv", k)`` takes two files, CSV, TSV, JSONL, TREC or Parquet (a
file or a folder); so does ``toplist eval``. CSV, TSV and TREC are read by pyarrow (the extra
``io``) in blocks of some 4 MB, every column as text: 007 stays 007, and NA stays NA. What pyarrow
would read otherwise than it is written (a quote within a cell, a line end within quotes, 0x1F as a
number) is read by Python's csv, that block alone. Without pyarrow Python's csv reads all of it, the
same to the last character, at some 2 µs per row. JSONL is read by Python's json, and keeps integers
and texts apart. Packed files (gzip) are recognised by their first bytes. Errors name the file and
the line.

A user is evaluated as soon as the list and the truth are both read; then both leave the memory.
Where the users of both files are in the same order, little is in memory at any time (ten million
users x 100 ids: 1.3 GB, most of it the list of users);
in any other order the truth is kept and the recommendations stream. The rows of a user stand
together, or else one error names the user and both places, and ``in_memory=True`` reads any order.
The result has all means, spreads and counts, but no values per user; ``keep="hits"`` keeps these,
for segments and tests of ten million users.

Truths made of groups have a column for these, which is read where it is named:
``columns={"group": "nugget"}``; in TREC qrels ``{"group": "iteration"}``, their second field, and
rows of a grade below 1 are left out.

`read_ranks` and `read_truths` read a file into memory, for `toplist.match` and all others. A path
may stand beside lists in memory: ``tl.top_k_eval(lists, Path("truth.csv"), k)``.

Databases and streams
---------------------

Tables that are larger than memory, or that lie in another engine, are put into the order of users
by that engine: as files, or as a stream or hash buckets of users (``stream=True``). Every recipe
gives the means of a local run, bit for bit. Below, recs.parquet holds user_id, item_id and rank,
truth.parquet user_id and item_id, both in no order. Of items with a score instead of a rank, equal
ones have no order either: give ``ties="item"``. ``import toplist as tl`` comes first.

DuckDB (1.5 or later) writes both files in the order of users, within the memory that you set::

    import duckdb

    duckdb.sql("SET memory_limit = '500MB'")
    for name in ("recs", "truth"):
        duckdb.sql(f"COPY (FROM '{name}.parquet' ORDER BY user_id) TO '{name}-sorted.parquet'")
    result = tl.top_k_eval("recs-sorted.parquet", "truth-sorted.parquet", k=10)

Its relations are read as they are, without files; a connection has one open result, so each side
gets a cursor (a reader of Arrow is ``relation.to_arrow_reader()``)::

    import duckdb

    def ordered(name):
        return duckdb.cursor().sql(f"FROM '{name}.parquet' ORDER BY user_id")

    result = tl.top_k_eval(ordered("recs"), ordered("truth"), k=10, stream=True)

In hash buckets of users less is sorted at a time, each bucket may be evaluated on another machine,
and the results are sent as bytes (``part.to_bytes()``). Hashing ids as text brings 7 of an int
column and 7 of a bigint one into the same bucket, whatever the hash function makes of types::

    import duckdb

    def bucket(name, n):
        rows = f"FROM '{name}.parquet' WHERE hash(user_id::VARCHAR) % 8 = {n}"
        return duckdb.cursor().sql(f"{rows} ORDER BY user_id")

    parts = (tl.top_k_eval(bucket("recs", n), bucket("truth", n), k=10, part=True, stream=True)
             for n in range(8))
    result = tl.merge(parts, disjoint=True)

Polars, in the same two ways: sorted files, and buckets::

    import polars as pl

    for name in ("recs", "truth"):
        rows = pl.scan_parquet(f"{name}.parquet").sort("user_id", maintain_order=True)
        rows.sink_parquet(f"{name}-sorted.parquet")
    result = tl.top_k_eval("recs-sorted.parquet", "truth-sorted.parquet", k=10)

::

    import polars as pl

    def bucket(name, n):
        users = pl.col("user_id").cast(pl.String).hash()
        rows = pl.scan_parquet(f"{name}.parquet").filter(users % 8 == n)
        return rows.sort("user_id", maintain_order=True).collect(engine="streaming")

    parts = (tl.top_k_eval(bucket("recs", n), bucket("truth", n), k=10, part=True, stream=True)
             for n in range(8))
    result = tl.merge(parts, disjoint=True)

Dask shuffles both sides by user; what comes back from its workers are results without users::

    import dask
    import dask.dataframe as dd
    import pyarrow as pa

    def evaluated(*sides):
        tables = (pa.Table.from_pandas(side.sort_values("user_id")) for side in sides)
        return tl.top_k_eval(*tables, k=10, part=True, stream=True)

    recs, truth = (dd.read_parquet(f"{name}.parquet").shuffle("user_id", npartitions=8)
                   for name in ("recs", "truth"))
    parts = map(dask.delayed(evaluated), recs.to_delayed(), truth.to_delayed())
    result = tl.merge(dask.compute(*parts), disjoint=True)

What it costs, wall time and peak memory of the process after a first run (2 shared cores; the
libraries alone take 0.29 GB), of 970,000 rows of lists and 196,000 of truths, and of ten times as
much. Keep the number of buckets in step with the data, and memory stays where it is::

    recipe            1 x                 10 x
    DuckDB files      0.14 s   0.39 GB    1.4 s   0.65 GB
    DuckDB stream     0.08 s   0.37 GB    0.9 s   0.63 GB
    DuckDB buckets    0.25 s   0.32 GB    2.9 s   0.39 GB
    Polars files      0.15 s   0.42 GB    1.3 s   0.87 GB
    Polars buckets    0.21 s   0.31 GB    2.4 s   0.48 GB
    Dask shuffle      0.24 s   0.51 GB    2.5 s   2.21 GB
"""

from toplist.files.formats import FORMATS, format_of
from toplist.files.lists import read_ranks, read_truths
from toplist.files.tables import write_text
from toplist.inputs.options import COLUMNS

__all__ = [
    "COLUMNS",
    "FORMATS",
    "format_of",
    "read_ranks",
    "read_truths",
    "write_text",
]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
