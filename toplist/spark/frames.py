"""From two DataFrames to one of rows; what their schemas tell is refused before any job.

A row is of a side, a user and an item. `place` is where the item stands in its list: `LONG` in a
table with a row per item, `EMPTY` for the one row of an empty list, null for that of a null. Values
keep a column of their own: a rank or score, in the type of the scores, and the relevance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toplist.checks import no_columns, require
from toplist.inputs.grades import check_ignored
from toplist.inputs.kept import KeptTruths
from toplist.inputs.options import GROUP, SIDES, columns_of, named_in, refuse_composite
from toplist.inputs.tables import check_no_grades

RANKED, RELEVANT = 0, 1
LONG, EMPTY = -1, 0
# The values of items that are ranked by their place in a list.
PLACE = "place"
_WHOLE = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True)
class Side:
    """One of the two DataFrames, the names of its columns, and the argument that it is."""

    frame: Any
    names: Mapping[str, str]
    argument: str

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
    def value(self) -> str | None:
        """The column of values of the items, by our name; `PLACE` for lists that have none."""
        if GROUP in self.names:
            return GROUP
        wanted = ("rank", "score") if self.argument == "ranks" else ("relevance",)
        found = next((name for name in wanted if self.names[name] in self.frame.columns), None)
        return PLACE if found is None and self.has_lists and self.argument == "ranks" else found

    @property
    def value_kind(self) -> str:
        """The type in which values reach a worker: scores in their own, since none is rounded."""
        assert self.value is not None
        if self.value == GROUP:
            return "string"
        kind = self.element(self.value)
        if self.value == "score":
            return kind
        return "bigint" if self.value == "rank" and kind in _WHOLE else "double"


def sides_of(
    recs: Any, truth: Any, columns: Mapping[str, Any] | None, system: str | None
) -> tuple[Side, Side]:
    """Return both sides; ValueError or TypeError for columns that cannot be evaluated."""
    if system is not None and not isinstance(system, str):
        raise TypeError(f"system={system!r}: give the name of one column of ranks")
    refuse_composite(columns, "DataFrames of Spark")
    sides = []
    names_of = {side: columns_of(columns, side) for side in SIDES}
    if isinstance(truth, KeptTruths) and hasattr(recs, "sparkSession"):
        if truth.users is not None and truth.lists.grouped:
            names_of["ground_truths"].setdefault(GROUP, GROUP)
        truth = _frame_of(truth, recs.sparkSession, names_of["ground_truths"])
    for frame, argument in zip((recs, truth), SIDES, strict=True):
        _check_kind(frame, argument)
        found = Side(frame, named_in(names_of[argument], frame.columns, argument), argument)
        names = [found.names["user_id"], found.names["item_id"]]
        more = [system] if system is not None and argument == "ranks" else []
        require(found.argument, [*names, *more], found.frame.columns)
        _check_value(found)
        if argument == "ground_truths" and found.value is None:
            check_ignored(frame.columns, found.names)
        sides.append(found)
    _check_ids(*sides)
    return sides[0], sides[1]


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


def _check_kind(frame: Any, argument: str) -> None:
    """Raise TypeError for what is no DataFrame of Spark."""
    modules = [kind.__module__ for kind in type(frame).__mro__]
    if any(name.startswith("pyspark.sql") for name in modules):
        return
    package = type(frame).__module__.partition(".")[0]
    given = repr(frame) if isinstance(frame, str) else f"a {package}.{type(frame).__name__}"
    raise TypeError(
        f"{argument} is {given}: toplist.spark takes DataFrames of Spark; give "
        "spark.table('NAME') of a table, .to_spark() of pyspark.pandas; toplist.top_k_eval takes "
        "pandas and polars"
    )


def _check_value(side: Side) -> None:
    """Raise ValueError or TypeError for no rank nor score, and for values that are no numbers."""
    value, names = side.value, side.names
    if value is None and side.argument == "ranks":
        raise no_columns("ranks", [names["rank"], names["score"]], side.frame.columns, either=2)
    if value is None or value == PLACE:
        return
    name, kind = names[value], side.kind(value)
    require(side.argument, [name], side.frame.columns)
    if kind.startswith("array<") != side.has_lists:
        raise TypeError(
            f"{side.argument}: {name!r} is {kind}, {names['item_id']!r} {side.kind('item_id')}: "
            f"give both as lists of one length, or drop {name!r}"
        )
    if value == GROUP:
        check_no_grades(side.argument, side.frame.columns, names)
        return
    element = side.element(value)
    if value == "score" and element.startswith("decimal("):
        way = f"frame.withColumn({name!r}, frame[{name!r}].cast('double'))"
        raise TypeError(f"{side.argument}: {name!r} is {kind}: cast scores to doubles, {way}")
    if element not in (*_WHOLE, "float", "double") and not element.startswith("decimal("):
        raise TypeError(f"{side.argument}: {name!r} is {kind}: a {value} is a number")


def _check_ids(recs: Side, truth: Side) -> None:
    """Raise TypeError where ids of one side are numbers and those of the other text."""
    for name in ("user_id", "item_id"):
        families = []
        for side in (recs, truth):
            kind = side.kind(name) if name == "user_id" else side.element(name)
            families.append(
                "whole numbers" if kind in _WHOLE else "text" if kind == "string" else ""
            )
            if not families[-1]:
                given = f"{side.argument}: {side.names[name]!r} is {kind}"
                raise TypeError(f"{given}: ids are whole numbers or text")
        if families[0] != families[1]:
            raise TypeError(
                f"{name} holds {families[0]} in ranks and {families[1]} in ground_truths: they are "
                f"never equal; cast one side: {_cast(truth, name, families[0])}"
            )


def _cast(truth: Side, name: str, family: str) -> str:
    """Return the line that makes ids of the truth those of the other side."""
    column, target = truth.names[name], "string" if family == "text" else "bigint"
    if name == "item_id" and truth.has_lists:
        target = f"array<{target}>"
    return f'ground_truths.withColumn({column!r}, ground_truths[{column!r}].cast("{target}"))'


def column(name: str) -> Any:
    """Return a column by its name, which may hold dots."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def rows_of(recs: Side, truth: Side, system: str | None) -> Any:
    """Return both sides as one DataFrame of rows."""
    from pyspark.sql import functions as F

    kinds = {
        side.value: side.value_kind for side in (recs, truth) if side.value not in (None, PLACE)
    }
    if system is not None:
        kinds["system"] = "string"
    frames = []
    for code, side in enumerate((recs, truth)):
        found, own = _rows(side, column(system) if system is not None and side is recs else None)
        given = [own.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in kinds.items()]
        shared = [_wide(own[name], side, name).alias(name) for name in ("user_id", "item_id")]
        frames.append(
            found.select(F.lit(code).alias("side"), *shared, own[PLACE].alias(PLACE), *given)
        )
    return frames[0].unionByName(frames[1])


def _rows(side: Side, system: Any) -> tuple[Any, dict[str, Any]]:
    """Return a frame with a row per item, and its columns by our names."""
    from pyspark.sql import functions as F

    given = ["item_id"] + ([side.value] if side.value not in (None, PLACE) else [])
    own = {name: column(side.names[name]) for name in ("user_id", *given)}
    own |= {} if system is None else {"system": system}
    if not side.has_lists:
        return side.frame, own | {PLACE: F.lit(LONG)}
    zipped = F.arrays_zip(*(own[name].alias(name) for name in given))  # null where one of them is
    kept = [own[name].alias(name) for name in own if name not in given]
    known = zipped.isNotNull().alias("_known")
    frame = side.frame.select(*kept, known, F.posexplode_outer(zipped).alias("_at", "_of"))
    place = F.when(F.col("_known"), F.coalesce(F.col("_at") + 1, F.lit(EMPTY)))
    found = {name: F.col(f"_of.{name}") if name in given else F.col(name) for name in own}
    return frame, found | {PLACE: place}


def _wide(ids: Any, side: Side, name: str) -> Any:
    """Return whole numbers as bigint, so that int and bigint are one user."""
    kind = side.kind(name) if name == "user_id" else side.element(name)
    return ids.cast("bigint") if kind in _WHOLE else ids


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
    if truth.value is None:
        return False
    frame, own = _rows(truth, None)
    grades = own[truth.value].cast("double")
    misses = grades == 0 if relevant_from is None else grades < relevant_from
    return not frame.where(misses & (grades >= 0)).isEmpty()


def users_of(side: Side, where: Any = None) -> Any:
    """Return a frame with the users of a side, or of some of its rows."""
    frame = side.frame if where is None else side.frame.where(where)
    return frame.select(_wide(column(side.names["user_id"]), side, "user_id").alias("user_id"))
