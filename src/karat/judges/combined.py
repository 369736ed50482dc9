"""Combined levels: what a snippet and the page behind it, or several aspects, say together."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.chances import binomial_tail
from karat.judges.disagreement import FEW_LABELS
from karat.judges.stop_rule import without_rule
from karat.records import Judgments, Result
from karat.records.base import count


def combined_weights(
    judgments: Judgments,
    parts: Sequence[str],
    top: Sequence[float],
    *,
    column: str = "surface",
    at_least: int = 1,
    of: int = 3,
    zero: dict[str, float] | None = None,
    all_labels: bool = False,
) -> Result:
    """The worth of every combination of levels (the paper's Table 4), highest first.

    `parts` are values of `column`, such as ("snippet", "page") of surface, or some aspects; a judge's labels on all
    parts of a document make its combined level. p_top is the share of other judges who give the combination `top` when
    one gave this one; `zero` sets combinations to 0, as {"page": 0} does for all with a page of the lowest level.

    >>> rows = [{"query": "q", "doc": d, "judge": j, "surface": s, "label": n}
    ...         for d, j, snippet, page in [("a", "x", 3, 2), ("a", "y", 3, 2), ("b", "x", 3, 2), ("b", "y", 1, 1)]
    ...         for s, n in (("snippet", snippet), ("page", page))]
    >>> combined_weights(Judgments.of(rows), ["snippet", "page"], [3, 2]).frame.select("level", "p_top", "n").rows()
    [('3, 2', 0.6666666666666666, 3), ('1, 1', 1.0, 1)]

    Figures from fewer than 50 labels are bracketed (`few`). Where a further judge was asked only when the first two
    differed, in a part or in the combination, these two count (unless `all_labels`).
    """
    wide, note = _combine(judgments, parts, column), ""
    if not all_labels:
        wide, note = _first_judges(wide, parts)
    wanted = ", ".join(f"{grade:g}" for grade in top)
    if not (wide["level"] == wanted).any():
        raise BadInput.at("the top combination", expected="one that some judge gave", found=wanted)
    item = ["query", "doc"]
    wide = wide.with_columns(labels=pl.len().over(item), tops=(pl.col("level") == wanted).sum().over(item))
    double = wide.filter(pl.col("labels") >= 2)
    if not double.height:
        raise Undefined("no document has combined labels of two judges")
    # One judge's label is drawn with probability 1/m; of the m - 1 others, so many are top.
    others = (pl.col("tops") - (pl.col("level") == wanted)) / (pl.col("labels") - 1)
    found = double.group_by("level", *parts).agg(
        n=pl.len(),
        told=(pl.col("tops") - (pl.col("level") == wanted)).sum(),
        asked=(pl.col("labels") - 1).sum(),
        p_top=(others / pl.col("labels")).sum() / (1 / pl.col("labels")).sum(),
    )
    need = pl.Series([at_least - (level == wanted) for level in found["level"]])
    weight = [binomial_tail(int(m), of - 1, p) for m, p in zip(need, found["p_top"], strict=True)]
    for part, lowest in (zero or {}).items():
        weight = [0.0 if value == lowest else w for w, value in zip(weight, found[part], strict=True)]
    found = found.with_columns(weight=pl.Series(weight, dtype=pl.Float64), few=pl.col("n") < FEW_LABELS)
    # The top combination is what all others are compared with, so it leads whatever its own weight is.
    found = found.with_columns(lead=pl.col("level") == wanted).sort(
        ["lead", "weight", "level"], descending=[True, True, False]
    )
    best = found.filter(~pl.col("lead")).row(0, named=True) if found.height > 1 else found.row(0, named=True)
    finding = (
        f"After ({wanted}), ({best['level']}) is worth most: at least {at_least} of {of} users would say ({wanted}) "
        f"with probability {best['weight']:.2f}" + (" (few labels)." if best["few"] else ".")
    )
    notes = [note] if note else []
    notes += [f"{count(double.select(item).n_unique(), 'document')} with combined labels of two judges or more"]
    if found["few"].any():
        notes.append(
            f"{count(int(found['few'].sum()), 'combination')} from fewer than {FEW_LABELS} labels: in brackets"
        )
    columns = ["level", *parts, "weight", "p_top", "told", "asked", "n", "few"]
    return Result(found.select(columns), finding, tuple(notes))


def _first_judges(wide: pl.DataFrame, parts: Sequence[str]) -> tuple[pl.DataFrame, str]:
    """The combined labels of the first two judges where more were asked only when these differed, and a note of it."""
    whole = pl.col("level").rank("dense").cast(pl.Float64)
    for label in (whole, *(pl.col(part) for part in parts)):
        as_said = wide.with_row_index("place").select("place", "query", "doc", "judge", label=label)
        kept, note = without_rule(Judgments(as_said))
        if note:
            return wide[kept.frame["place"]], note
    return wide, ""


def _combine(judgments: Judgments, parts: Sequence[str], column: str) -> pl.DataFrame:
    """One row per judge and document with all its parts: their levels, and the combination as a text."""
    judgments.need(column, "combined levels")
    judgments.need("judge", "combined levels")
    missing = [part for part in parts if part not in judgments.frame[column].unique().to_list()]
    if missing or len(parts) < 2:
        raise BadInput.at(
            "the parts of a combined level",
            expected=f"two or more values of {column}",
            found=", ".join(parts) + (f" (no {', '.join(missing)})" if missing else ""),
        )
    frame = judgments.frame.drop_nulls("label").filter(pl.col(column).is_in(list(parts)))
    if "time" in frame.columns:
        frame = frame.sort("time", nulls_last=True, maintain_order=True)
    wide = frame.pivot(column, index=["query", "doc", "judge"], values="label", aggregate_function="last")
    wide = wide.drop_nulls(list(parts))
    text = pl.concat_str(
        [pl.col(part).map_elements(lambda g: f"{g:g}", return_dtype=pl.String) for part in parts], separator=", "
    )
    return wide.with_columns(level=text)
