"""From two DataFrames to one of rows; what their schemas tell is refused before any job.

A row is one of a side, as it is there: an item of a user, or a user with lists. Columns of the
sides stand beside each other, and are null in rows of the other side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toplist.checks import require
from toplist.inputs.keyed import KeptTruths
from toplist.inputs.options import GROUP, SIDES, columns_of, named_in, refuse_composite
from toplist.inputs.tables import SideTable

_WHOLE = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True)
class Side:
    """One of the two DataFrames, the names of its columns, and the argument that it is.

    `value` is the column of values of the items, by our name: "rank", "score", "relevance" or
    "group"; None where there is none.
    """

    frame: Any
    names: Mapping[str, str]
    argument: str
    value: str | None = None

    def kind(self, name: str) -> str:
        """Return the type of a column, called by our name."""
        return str(self.frame.schema[self.names[name]].dataType.simpleString())

    def element(self, name: str) -> str:
        """Return the type of a column, or of the elements of its lists."""
        return self.kind(name).removeprefix("array<").removesuffix(">" if self.has_lists else "")

    @property
    def has_lists(self) -> bool:
        """Whether a row is a user with a list."""
        return self.kind("item_id").startswith("array<")

    @property
    def sent(self) -> dict[str, str]:
        """The columns that workers read, by our names, and what each is called there."""
        names = ("item_id",) if self.value is None else ("item_id", self.value)
        return {"user_id": "user_id"} | {name: f"{self.argument}_{name}" for name in names}

    def cells(self) -> list[Any]:
        """Return the columns as workers read them: whole numbers as bigint, so that they compare.

        Scores keep their type, since none is rounded.
        """
        found = []
        for name, sent in self.sent.items():
            kind = self.kind(name) if name == "user_id" else self.element(name)
            if name == GROUP:
                kind = "string"
            elif kind in _WHOLE:
                kind = "bigint"
            elif kind.startswith("decimal("):
                kind = "double"
            listed = self.has_lists and name != "user_id"
            own = column(self.names[name]).cast(f"array<{kind}>" if listed else kind)
            found.append(own.alias(sent))
        return found


def sides_of(
    recs: Any, truth: Any, columns: Mapping[str, Any] | None, system: str | None
) -> tuple[Side, Side]:
    """Return both sides; ValueError or TypeError for columns that cannot be evaluated."""
    if system is not None and not isinstance(system, str):
        raise TypeError(f"system={system!r}: give the name of one column of ranks")
    refuse_composite(columns, "DataFrames of Spark")
    names_of = {side: columns_of(columns, side) for side in SIDES}
    if isinstance(truth, KeptTruths) and hasattr(recs, "sparkSession"):
        if truth.users is not None and truth.lists.grouped:
            names_of["ground_truths"].setdefault(GROUP, GROUP)
        truth = _frame_of(truth, recs.sparkSession, names_of["ground_truths"])
    ranked, relevant = (
        _side(frame, argument, names_of[argument])
        for frame, argument in zip((recs, truth), SIDES, strict=True)
    )
    if system is not None:
        require("ranks", [system], recs.columns)
    for name in ("user_id", "item_id"):
        families = [_family(side, name) for side in (ranked, relevant)]
        if families[0] != families[1]:
            theirs, target = relevant.names[name], "string" if families[0] == "text" else "bigint"
            if name == "item_id" and relevant.has_lists:
                target = f"array<{target}>"
            raise TypeError(
                f"{name} holds {families[0]} in ranks and {families[1]} in ground_truths: they are "
                f"never equal; cast one side: ground_truths.withColumn({theirs!r}, "
                f'ground_truths[{theirs!r}].cast("{target}"))'
            )
    return ranked, relevant


def _frame_of(kept: KeptTruths, session: Any, names: Mapping[str, str]) -> Any:
    """Return ground truths as a DataFrame with a list for each user, which may be empty."""
    import pyarrow as pa

    if kept.users is None:
        raise TypeError("ground_truths have no users: Spark needs them keyed, or from a table")
    offsets, lists = pa.array(kept.lists.offsets, pa.int32()), kept.lists
    columns = {names["user_id"]: kept.users}
    items = lists.items.decoded(lists.items.codes)
    columns[names["item_id"]] = pa.ListArray.from_arrays(offsets, pa.array(items))
    if lists.grades is not None:
        grades = pa.ListArray.from_arrays(offsets, pa.array(lists.grades))
        columns[names[GROUP if lists.grouped else "relevance"]] = grades
    return session.createDataFrame(pa.table(columns))


def _side(frame: Any, argument: str, names: Mapping[str, Any]) -> Side:
    """Return one side; its columns are those of an empty table, which is checked as all tables."""
    modules = [kind.__module__ for kind in type(frame).__mro__]
    if not any(name.startswith("pyspark.sql") for name in modules):
        package = type(frame).__module__.partition(".")[0]
        given = repr(frame) if isinstance(frame, str) else f"a {package}.{type(frame).__name__}"
        raise TypeError(
            f"{argument} is {given}: toplist.spark takes DataFrames of Spark; give "
            "spark.table('NAME') of a table, .to_spark() of pyspark.pandas; toplist.top_k_eval "
            "takes pandas and polars"
        )
    import pyarrow as pa

    names = named_in(names, frame.columns, argument)
    found = Side(frame, names, argument)
    empty = pa.Table.from_arrays([pa.nulls(0)] * len(frame.columns), names=frame.columns)
    table = SideTable(empty, argument, names)
    table.one_of("item_id")
    value = table.check(found.has_lists)
    if value is None:
        return found
    name, kind = names[value], found.kind(value)
    if kind.startswith("array<") != found.has_lists:
        raise TypeError(
            f"{argument}: {name!r} is {kind}, {names['item_id']!r} {found.kind('item_id')}: "
            f"give both as lists of one length, or drop {name!r}"
        )
    element = found.element(value)
    is_decimal = element.startswith("decimal(")
    if value == "score" and is_decimal:
        way = f"frame.withColumn({name!r}, frame[{name!r}].cast('double'))"
        raise TypeError(f"{argument}: {name!r} is {kind}: cast scores to doubles, {way}")
    if value != GROUP and element not in (*_WHOLE, "float", "double") and not is_decimal:
        raise TypeError(f"{argument}: {name!r} is {kind}: a {value} is a number")
    return Side(frame, names, argument, value)


def _family(side: Side, name: str) -> str:
    """Return what ids are, in words; TypeError for other than whole numbers and text."""
    kind = side.kind(name) if name == "user_id" else side.element(name)
    if kind not in (*_WHOLE, "string"):
        raise TypeError(
            f"{side.argument}: {side.names[name]!r} is {kind}: ids are whole numbers or text"
        )
    return "text" if kind == "string" else "whole numbers"


def column(name: str) -> Any:
    """Return a column by its name, which may hold dots."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def rows_of(recs: Side, truth: Side, system: str | None) -> Any:
    """Return both sides as one DataFrame of rows; "side" is 0 for ranks, 1 for ground truths."""
    from pyspark.sql import functions as F

    cells = [[F.lit(at).alias("side"), *side.cells()] for at, side in enumerate((recs, truth))]
    if system is not None:
        cells[0].append(column(system).cast("string").alias("system"))
    ranked, relevant = recs.frame.select(*cells[0]), truth.frame.select(*cells[1])
    return ranked.unionByName(relevant, allowMissingColumns=True)


def systems_of(recs: Side, system: str) -> tuple[str, ...]:
    """Return the names of all systems, sorted; ValueError for rows without one."""
    names = recs.frame.select(column(system).cast("string")).distinct().collect()
    found = [row[0] for row in names]
    if not found:
        raise ValueError("ranks has no rows, so no systems")
    if None in found:
        raise ValueError(f"ranks: the column {system!r} of systems is null in some rows")
    return tuple(sorted(found))


def perhaps_systems(recs: Side) -> str:
    """Return what an error says of a user with two lists, if a column may name systems."""
    used = set(recs.names.values())
    others = [field for field in recs.frame.schema.fields if field.name not in used]
    others.sort(key=lambda field: field.dataType.simpleString() != "string")
    if not others:
        return ""
    return f"; if its rows are of several systems, name their column: system={others[0].name!r}"


def has_misses(truth: Side, relevant_from: float | None) -> bool:
    """Return whether an item of grade 0 or more is judged not relevant; a job of Spark."""
    from pyspark.sql import functions as F

    if truth.value is None:
        return False

    def is_miss(grade: Any) -> Any:
        low = grade == 0 if relevant_from is None else grade < relevant_from
        return low & (grade >= 0)

    grades = column(truth.names[truth.value])
    misses = F.exists(grades, is_miss) if truth.has_lists else is_miss(grades)
    return not truth.frame.where(misses).isEmpty()


def users_of(side: Side, where: Any = None) -> Any:
    """Return a frame with the users of a side, or of some of its rows."""
    frame = side.frame if where is None else side.frame.where(where)
    return frame.select(side.cells()[0])
