"""Frames of Polars as DataFrames of Spark."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa


def in_spark(session: Any, frame: pl.DataFrame) -> Any:
    """The frame in a session of Spark, classic or Connect; by Arrow, so that no worker has to make rows of it."""
    table = frame.to_arrow()
    kinds = [pa.string() if kind in (pa.large_string(), pa.string_view()) else kind for kind in table.schema.types]
    return session.createDataFrame(table.cast(pa.schema(zip(table.schema.names, kinds, strict=True))))
