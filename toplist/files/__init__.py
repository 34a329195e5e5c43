"""Files of any size, and what lies in a database: read in parts, evaluated and forgotten.

Files
-----

``tl.top_k_eval("recs.csv", "truth.csv", k)`` takes two files, CSV, TSV, JSONL, TREC or Parquet (a
file or a folder); so does ``toplist eval``. Text is read by pyarrow (the extra ``io``) in blocks of
some 4 MB: every column of CSV, TSV and TREC as text (007 stays 007, and NA stays NA), JSONL with
integers and texts apart. What pyarrow would read otherwise than it is written (a quote within a
cell, a line end within quotes, 0x1F as a number, lines of JSON whose values are of several kinds)
is read by Python's csv and json, that block alone. Without pyarrow these read all of it, the same
to the last character, at some 2 µs per row, of JSONL 4. Packed files (gzip) are recognised by their
first bytes. Errors name the file and the line.

The ground truths are read whole, in any order (10 million users with ten relevant items each take
some 2 GB); the lists are read in blocks of complete users, which are evaluated and forgotten. Where
the rows of a user of the lists are apart, the file is read whole and sorted, and the account says
so, if it fits into a quarter of the free memory; or else an error has the line that sorts it. The
result has all means, spreads and counts, but no values per user; ``keep="users"`` keeps these, for
segments and tests of ten million users. TREC runs always keep them: queries are few. So do
clusters, and weights beside metrics of hits alone: their intervals need the rows.

Truths made of groups have a column for these, which is read where it is named:
``columns={"group": "nugget"}``; in TREC qrels ``{"group": "iteration"}``, their second field, and
rows of a grade below 1 are left out.

`read_ranks` and `read_truths` read a file into memory, for `toplist.match` and all others. A path
may stand beside lists in memory: ``tl.top_k_eval(lists, Path("truth.csv"), k)``.

Databases and streams
---------------------

Tables that are larger than memory, or that lie in another engine, are put into the order of users
by that engine: as files, or as a stream or hash buckets of users. A reader of record batches is a
stream, which is read once: a RecordBatchReader, a relation of DuckDB, what ``collect_batches()`` of
a lazy frame of polars returns. Ground truths beside a stream may have any form. Every recipe
gives the means of a local run, bit for bit. Below, recs.parquet holds user_id, item_id and rank,
truth.parquet user_id and item_id, both in no order. Of items with a score instead of a rank, equal
ones have no order either: give ``ties="item"``. ``import toplist as tl`` comes first.

DuckDB (1.5 or later) writes the lists in the order of users, within the memory that you set::

    import duckdb

    duckdb.sql("SET memory_limit = '500MB'")
    duckdb.sql("COPY (FROM 'recs.parquet' ORDER BY user_id) TO 'recs-sorted.parquet'")
    result = tl.top_k_eval("recs-sorted.parquet", "truth.parquet", k=10)

Its relations are read as they are, without files; a connection has one open result, so of two
relations each gets a cursor (a reader of Arrow is ``relation.to_arrow_reader()``)::

    import duckdb

    recs = duckdb.cursor().sql("FROM 'recs.parquet' ORDER BY user_id")
    result = tl.top_k_eval(recs, duckdb.cursor().sql("FROM 'truth.parquet'"), k=10)

In hash buckets of users less is sorted at a time, each bucket may be evaluated on another machine,
and the results are saved there (``part.save("part.npz")``) or pickled. With ``keep="part"`` a user
without a list in the bucket is not counted; those without a list in any are added when the parts
are merged::

    import duckdb

    truth = tl.GroundTruths("truth.parquet")

    def bucket(n):
        rows = f"FROM 'recs.parquet' WHERE hash(user_id) % 8 = {n}"
        return duckdb.cursor().sql(f"{rows} ORDER BY user_id")

    parts = (tl.top_k_eval(bucket(n), truth, k=10, keep="part") for n in range(8))
    result = tl.merge(parts, truth)

Polars, in the same two ways: sorted files, and buckets::

    import polars as pl

    rows = pl.scan_parquet("recs.parquet").sort("user_id", maintain_order=True)
    rows.sink_parquet("recs-sorted.parquet")
    result = tl.top_k_eval("recs-sorted.parquet", "truth.parquet", k=10)

::

    import polars as pl

    truth = tl.GroundTruths("truth.parquet")

    def bucket(n):
        rows = pl.scan_parquet("recs.parquet").filter(pl.col("user_id").hash() % 8 == n)
        return rows.sort("user_id", maintain_order=True).collect(engine="streaming")

    parts = (tl.top_k_eval(bucket(n), truth, k=10, keep="part") for n in range(8))
    result = tl.merge(parts, truth)

Dask shuffles the lists by user; what comes back from its workers are results without users::

    import dask
    import dask.dataframe as dd
    import pyarrow as pa

    def evaluated(lists, truth):
        lists = pa.Table.from_pandas(lists.sort_values("user_id"))
        return tl.top_k_eval(lists, truth, k=10, keep="part")

    truth, shuffled = dd.read_parquet("truth.parquet").compute(), dd.read_parquet("recs.parquet")
    parts = shuffled.shuffle("user_id", npartitions=8).to_delayed()
    parts = dask.compute(*(dask.delayed(evaluated)(one, truth) for one in parts))
    result = tl.merge(parts, truth)

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

from toplist.files.batches import read_ranks, read_truths
from toplist.files.formats import FORMATS, format_of
from toplist.files.tables import write_text
from toplist.inputs.options import COLUMNS

__all__ = ["COLUMNS", "FORMATS", "format_of", "read_ranks", "read_truths", "write_text"]


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
