"""Do people differ from each other more than from themselves? Self against cross consistency."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import Undefined
from karat.judges.stop_rule import without_rule
from karat.records import Judgments, Result
from karat.records.base import count

Floats = npt.NDArray[np.float64]


def consistency(
    judgments: Judgments,
    top: float | None = None,
    *,
    all_labels: bool = False,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """p(T|i) between two judgments of the same judge, and between judges (the paper's Figs. 2 and 3).

    Needs documents that a judge judged more than once (some other judge too, for the cross part). In each draw every
    judge's label of a document is drawn from those he gave, and p is computed from two draws of one judge (self) or of
    two judges (cross); the draws make the histograms, their mean and sd the figures. Where a further judge was asked
    only when the first two differed, these two count (unless `all_labels`).

    >>> rows = [{"query": "q", "doc": d, "judge": j, "label": n} for d, j, n in
    ...         [("a", "x", 1), ("a", "x", 1), ("a", "y", 1), ("a", "y", 0), ("b", "x", 0), ("b", "x", 0)]]
    >>> found = consistency(Judgments.of(rows), draws=2000)
    >>> found.frame.filter(pl.col("level") == 1).select("kind", pl.col("mean").round(1)).rows()
    [('self', 0.7), ('cross', 0.5)]
    """
    judgments.need("judge", "self and cross consistency")
    top = judgments.top if top is None else top
    kept, note = (judgments, "") if all_labels else without_rule(judgments, repeats=True)
    frame = kept.frame.drop_nulls("label")
    item = ["query", "doc"]
    frame = frame.with_columns(times=pl.len().over([*item, "judge"])).filter(pl.col("times") >= 2)
    if not frame.height or top is None:
        raise Undefined("no judge judged a document twice: self consistency cannot be told")
    frame = frame.sort([*item, "judge"])
    cells = frame.group_by([*item, "judge"], maintain_order=True).agg(pl.col("label"))
    labels = frame["label"].to_numpy()
    size = cells["label"].list.len().to_numpy().astype(np.int64)
    start = np.cumsum(size) - size
    levels = np.array([g for g in np.unique(labels) if g < top] + [top])
    rng = np.random.default_rng(seed)
    # Two judges of the same document: neighbouring cells of the sorted table.
    same_item = (cells[1:].select(item) == cells[:-1].select(item)).select(pl.all_horizontal(pl.all())).to_series()
    left = np.flatnonzero(same_item.to_numpy())
    kinds: dict[str, list[Floats]] = {"self": [], "cross": []}
    for _ in range(draws):
        first = rng.integers(0, size)
        second = (first + rng.integers(1, size)) % size
        one, two = labels[start + first], labels[start + second]
        kinds["self"].append(_p(one, two, levels, top))
        if len(left):
            kinds["cross"].append(_p(one[left], one[left + 1], levels, top))
    rows = []
    for kind, drawn in kinds.items():
        for place, level in enumerate(levels if drawn else []):
            values = np.array(drawn)[:, place]
            known = values[~np.isnan(values)]
            mean, sd = (known.mean(), known.std(ddof=1)) if len(known) > 1 else (np.nan, np.nan)
            rows.append((kind, float(level), float(mean), float(sd), values.tolist()))
    table = pl.DataFrame(
        rows,
        schema={
            "kind": pl.String,
            "level": pl.Float64,
            "mean": pl.Float64,
            "sd": pl.Float64,
            "draws": pl.List(pl.Float64),
        },
        orient="row",
    )
    means = {row["kind"]: row["mean"] for row in table.filter(pl.col("level") == top).iter_rows(named=True)}
    finding = f"A judge repeats his own {top:g} with probability {means['self']:.2f}"
    finding += (
        f"; another judge agrees with {means['cross']:.2f}." if "cross" in means else "; no other judge to compare."
    )
    notes = [note] if note else []
    notes.append(f"{count(cells.height, 'document')} judged twice or more by one judge, {draws:,} draws, seed {seed}")
    return Result(table, finding, tuple(notes))


def overlap(judgments: Judgments, at: float | None = None, *, all_labels: bool = False) -> Result:
    """The overlap of two judges' sets of documents at or above a level: |A and B| / |A or B|, for every two judges.

    >>> rows = [{"query": "q", "doc": d, "judge": j, "label": n} for d, j, n in
    ...         [("a", "x", 1), ("a", "y", 1), ("b", "x", 1), ("b", "y", 0), ("c", "x", 0), ("c", "y", 1)]]
    >>> overlap(Judgments.of(rows)).finding
    'Two judges agree on 0.33 of the documents that either calls 1 or higher (1 pair of judges).'

    Reference: Voorhees (SIGIR 1998). It is the limit of precision and recall that one judge's labels allow another's.
    Where a further judge was asked only when the first two differed, these two count (unless `all_labels`).
    """
    judgments.need("judge", "overlap")
    at = judgments.top if at is None else at
    if at is None:
        raise Undefined("no document has a label: overlap cannot be told")
    kept, note = (judgments, "") if all_labels else without_rule(judgments)
    frame = kept.frame.drop_nulls("label").unique(["query", "doc", "judge"], keep="last", maintain_order=True)
    frame = frame.select("query", "doc", "judge", high=pl.col("label") >= at)
    both = frame.join(frame, on=["query", "doc"], suffix="_other").filter(pl.col("judge") < pl.col("judge_other"))
    either = pl.col("high") | pl.col("high_other")
    table = (
        both.group_by("judge", "judge_other")
        .agg(documents=pl.len(), both=(pl.col("high") & pl.col("high_other")).sum(), either=either.sum())
        .with_columns(overlap=pl.col("both") / pl.col("either"))
        .sort("documents", descending=True)
        .rename({"judge_other": "against"})
    )
    shared = int(table["either"].sum())
    if not shared:
        raise Undefined(f"no document judged by two judges was called {at:g} or higher: overlap cannot be told")
    share = int(table["both"].sum()) / shared
    finding = (
        f"Two judges agree on {share:.2f} of the documents that either calls {at:g} or higher "
        f"({count(table.height, 'pair')} of judges)."
    )
    return Result(table, finding, (note,) if note else ())


def _p(one: Floats, two: Floats, levels: Floats, top: float) -> Floats:
    """p(T|i) both ways round between two lists of labels."""
    said, other = np.concatenate([one, two]), np.concatenate([two, one])
    found = np.full(len(levels), np.nan)
    for place, level in enumerate(levels):
        shown = said >= top if level == top else said == level
        if shown.any():
            found[place] = (other[shown] >= top).mean()
    return found
