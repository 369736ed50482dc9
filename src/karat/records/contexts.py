"""What was read before a document: one other, or several in order."""

from __future__ import annotations

import json

import polars as pl

#: Stands between the documents of a path, and in no id.
THEN = "\x1f"


def read_before(context: str | None) -> list[str]:
    """The documents that were read before, in order: one by its id, or several as a list in JSON.

    >>> read_before("a"), read_before('["a", "b"]'), read_before(None)
    (['a'], ['a', 'b'], [])
    """
    if context is None:
        return []
    if context.startswith("["):
        try:
            found = json.loads(context)
        except ValueError:
            return [context]
        if isinstance(found, list):
            return [str(doc) for doc in found]
    return [context]


def paths(contexts: pl.Series) -> pl.DataFrame:
    """What was read before, as one text (`path`), how many documents (`read`), and the last of them (`last`).

    >>> paths(pl.Series(["a", '["a", "b"]', None])).select("read", "last").rows()
    [(1, 'a'), (2, 'b'), (0, None)]
    """
    text = contexts.cast(pl.String).alias("context")
    several = text.unique().drop_nulls()
    several = several.filter(several.str.starts_with("["))
    read = {one: read_before(one) for one in several}
    known = pl.DataFrame(
        {
            "context": list(read),
            "path": [THEN.join(docs) for docs in read.values()],
            "read": [len(docs) for docs in read.values()],
            "last": [docs[-1] if docs else None for docs in read.values()],
        },
        schema={"context": pl.String, "path": pl.String, "read": pl.Int64, "last": pl.String},
    )
    found = pl.DataFrame({"context": text}).join(known, on="context", how="left", maintain_order="left")
    one = pl.when(pl.col("context").is_null()).then(0).otherwise(1).cast(pl.Int64)
    return found.select(
        path=pl.coalesce("path", "context"), read=pl.coalesce("read", one), last=pl.coalesce("last", "context")
    )
