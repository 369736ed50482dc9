"""Spark's DataFrames under karat's names, and what goes wrong on a worker in karat's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from karat.errors import BadInput, MissingExtra, Undefined
from karat.records.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

#: The column by which rows are dealt out.
BUCKET = "karat_bucket"
#: Errors that a worker may raise, by the name that stands in Spark's message.
ERRORS = {"BadInput": BadInput, "Undefined": Undefined}

#: Spark's names of Polars' types.
_KINDS = {pl.String: "string", pl.Int64: "bigint", pl.Float64: "double", pl.Boolean: "boolean"}

Made = TypeVar("Made")


def functions() -> Any:
    """`pyspark.sql.functions`, or an error that says how to get it."""
    try:
        from pyspark.sql import functions
    except ImportError:
        raise MissingExtra.named("spark", "working on a cluster") from None
    return functions


def is_spark(data: object) -> bool:
    """Whether this is a DataFrame of Spark, classic or Connect."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(data).__mro__
    )


def known(frame: Any, schema: Schema, name: str, also: Iterable[str] = ()) -> DataFrame:
    """The columns of a Spark frame that a record type knows, under karat's names."""
    if not is_spark(frame):
        found = f"{type(frame).__name__} of {type(frame).__module__.partition('.')[0]}"
        raise BadInput.at(name, expected="a DataFrame of Spark", found=found, remedy="kt.score takes all others")
    renamed = schema.rename(frame.columns)
    kept = [column for column in frame.columns if renamed.get(column, column) in {*schema.names, *also}]
    names = [renamed.get(column, column) for column in kept]
    missing = [column for column in schema.required if column not in names]
    if missing:
        raise BadInput.at(
            name,
            expected=f"{schema.name} with the columns {', '.join(schema.required)}",
            found=f"{', '.join(frame.columns)} (no {', '.join(missing)})",
            remedy="name the columns so",
        )
    f = functions()
    made: DataFrame = frame.select(*[f.col(quoted(old)).alias(new) for old, new in zip(kept, names, strict=True)])
    return made


def quoted(name: str) -> str:
    """A column's name as Spark reads it whatever stands in it: `P(rel=2)@5` and `alpha_nDCG(alpha=0.5)@10` do."""
    return "`" + name.replace("`", "``") + "`"


def dealt(frame: DataFrame, key: Iterable[str], buckets: int) -> DataFrame:
    """The frame with a bucket for every row: rows that agree on the key are in the same one."""
    f = functions()
    hashed: Column = f.pmod(f.xxhash64(*[f.col(quoted(name)) for name in key]), f.lit(buckets))
    return frame.withColumn(BUCKET, hashed.cast("int"))


def default_buckets(frame: DataFrame, buckets: int | None) -> int:
    """As many buckets as Spark shuffles into, unless their number is given."""
    if buckets is None:
        return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    if isinstance(buckets, bool) or not isinstance(buckets, int) or buckets < 1:
        raise BadInput.at("the buckets", expected="a whole number from 1", found=str(buckets))
    return buckets


def cogrouped(
    left: DataFrame, right: DataFrame, kernel: Callable[[pl.DataFrame, pl.DataFrame], pl.DataFrame], schema: str
) -> DataFrame:
    """What the kernel makes of each bucket of two frames, as Arrow tables (Spark 4), or by way of pandas (3.5)."""
    groups = left.groupBy(BUCKET).cogroup(right.groupBy(BUCKET))
    if hasattr(groups, "applyInArrow"):

        def in_arrow(one: pa.Table, other: pa.Table) -> pa.Table:
            return _plain(kernel(*[pl.DataFrame(pl.from_arrow(part)) for part in (one, other)]))

        return groups.applyInArrow(in_arrow, schema)

    def in_pandas(one: Any, other: Any) -> Any:
        import pyarrow as pa

        tables = [pa.Table.from_pandas(part, preserve_index=False) for part in (one, other)]
        return _plain(kernel(*[pl.DataFrame(pl.from_arrow(table)) for table in tables])).to_pandas()

    return groups.applyInPandas(in_pandas, schema)


def grouped(frame: DataFrame, kernel: Callable[[pl.DataFrame], pl.DataFrame], columns: Mapping[str, Any]) -> DataFrame:
    """What the kernel makes of each bucket of one frame, with these columns of Polars' types."""
    schema = ", ".join(f"{quoted(name)} {_KINDS[kind]}" for name, kind in columns.items())
    groups = frame.groupBy(BUCKET)
    if hasattr(groups, "applyInArrow"):

        def in_arrow(part: pa.Table) -> pa.Table:
            return _plain(kernel(pl.DataFrame(pl.from_arrow(part))).select(list(columns)))

        return groups.applyInArrow(in_arrow, schema)

    def in_pandas(part: Any) -> Any:
        import pyarrow as pa

        table = pa.Table.from_pandas(part, preserve_index=False)
        return _plain(kernel(pl.DataFrame(pl.from_arrow(table))).select(list(columns))).to_pandas()

    return groups.applyInPandas(in_pandas, schema)


def _plain(frame: pl.DataFrame) -> pa.Table:
    """An Arrow table with the types that Spark knows: texts by 32-bit offsets."""
    import pyarrow as pa

    table = frame.to_arrow()
    kinds = [
        pa.string() if pa.types.is_large_string(kind) or kind == pa.string_view() else kind
        for kind in table.schema.types
    ]
    return table.cast(pa.schema(zip(table.schema.names, kinds, strict=True)))


def collected(frame: DataFrame) -> pl.DataFrame:
    """A Spark frame brought to this machine; what a worker refused is refused here in the same words."""

    def bring() -> pl.DataFrame:
        if hasattr(frame, "toArrow"):
            return pl.DataFrame(pl.from_arrow(frame.toArrow()))
        return pl.DataFrame(pl.from_pandas(frame.toPandas()))

    return in_words(bring)


def beside(frame: DataFrame, table: pl.DataFrame) -> DataFrame:
    """A small table of this machine in the session of a frame; as Arrow (Spark 4), without a Python worker."""
    plain = _plain(table)
    session: Any = frame.sparkSession
    made: DataFrame = session.createDataFrame(plain if hasattr(frame, "toArrow") else plain.to_pandas())
    return made


def in_words(act: Callable[[], Made]) -> Made:
    """What an action of Spark gives; an error of karat on a worker is raised as that, without Spark's tracebacks."""
    try:
        return act()
    except Exception as error:
        found = re.search(r"karat\.errors\.(\w+): (.*?)(?:\n\s*$|\n\n|\n\tat |\Z)", str(error), re.DOTALL)
        if found is None or found[1] not in ERRORS:
            raise
        raise ERRORS[found[1]](found[2].strip()) from None
