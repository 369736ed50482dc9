"""How far a grade moves when the same judge sees the document after another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.context.aspect_sheets import Sheets
from karat.errors import BadInput, Undefined
from karat.judges.slices import sliced
from karat.labels import ALL
from karat.labels.selection import OVERALL
from karat.records import Judgments, LabelsLike, Result
from karat.records.judgments import paths
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import Floats
from karat.stats.cluster_robust import clustered_ols
from karat.stats.multiple_testing import holm
from karat.stats.paired_statistics import compared, in_words, interval_note, share

#: What every row of the table of mean changes has: nothing to compare by.
OF_EVERY_ROW = (
    "aspect",
    "label",
    "change",
    "low",
    "high",
    "lower",
    "same",
    "higher",
    "p",
    "p_holm",
    "n",
    "n_queries",
    "retest",
    "n_retest",
)

#: How many documents were read before, where labels have no column of that name.
BEFORE = "documents_before"

#: What is shown of the mean changes.
MEANS = ("aspect", "change", "lower", "same", "higher", "n", "p_holm", "retest")


def grade_change(judgments: LabelsLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """By how many grades, up or down, a document's grade in context differs from its grade alone, aspect by aspect.

    >>> rows = [{"query": f"q{i}", "doc": "d", "label": 2 - (context is not None and i == 0), "context": context}
    ...         for i in range(4) for context in (None, "c")]
    >>> grade_change(rows, draws=0).frame.select("aspect", "size", "n", "share").rows()
    [('overall', 0.0, 3, 0.75), ('overall', 1.0, 1, 0.25)]

    Both grades are of one judge, and neither is N/A; nor is the overall grade. A judge asked twice about the same
    thing does not always say the same, so not all of it is an effect of context: `retest` is the share of changes of
    this size among `n_retest` documents that the same judges were asked about again in one setting, if any, and
    `beyond` what is left when it is taken off, with its interval. Every size that occurs in context or on retest has a
    row, so that both shares sum to 1.

    Reference: Golbus et al. (WWW 2014), Fig. 3.
    """
    sheets, change = _changes(judgments)
    again, size = _retest(sheets, _told(sheets, change)), np.abs(change)
    sizes = np.unique(np.concatenate([size[~np.isnan(size)], np.abs(again[~np.isnan(again)])]))
    chosen = _told(sheets, change)
    sums, cells = sheets.sums(~sheets.alone, _of_size(size, sizes)), sheets.cells(chosen)
    asked_again = _asked_again(sheets, chosen)
    alike = sheets.sums(asked_again, _of_size(np.abs(sheets.retest[asked_again]), sizes))
    found = compared([alike, sums], share, cells, "share", level=level, draws=draws, seed=seed)
    (_, value, _), (_, low, _), (_, high, _), queries = found.value, found.low, found.high, found.queries[1]
    whole = sums.sum(axis=0)
    frame = pl.DataFrame(
        {
            "aspect": np.repeat(sheets.aspects, len(sizes)),
            "size": np.tile(sizes, len(sheets.aspects)),
            "n": whole[:, 0].astype(np.int64),
            "share": value,
            "share_low": low,
            "share_high": high,
            "n_documents": whole[:, 1].astype(np.int64),
            "n_queries": queries,
            "retest": found.value[0],
            "n_retest": np.repeat((~np.isnan(again)).sum(axis=0), len(sizes)),
            "beyond": found.value[2],
            # Few judges asked twice make a wide interval; no share is further than 1 from another.
            "beyond_low": np.clip(found.low[2], -1, 1),
            "beyond_high": np.clip(found.high[2], -1, 1),
        }
    ).filter(pl.col("n_documents") > 0)
    same = frame.row(0, named=True)
    if same["size"] > 0:
        said = "Every overall grade changes in context."
    else:
        stay = in_words(same["share"], same["share_low"], same["share_high"], level, percent=True)
        moved = frame.filter((pl.col("aspect") == OVERALL) & (pl.col("size") > 0))
        parts = [
            f"{100 * s:.1f} % change by {g:g}"
            for g, s in moved.filter(pl.col("n") > 0).select("size", "share").iter_rows()
        ]
        said = (
            f"{stay} of overall grades are the same in context as alone" + "".join(f", {part}" for part in parts) + "."
        )
    if not np.isnan(same["retest"]):
        said += _beyond_retest(same, level)
    told = (*sheets.notes, *_no_retest(again), *interval_note(low, value, draws, cells))
    return Result(frame, said, told, columns=("aspect", "size", "n", "share", "retest", "beyond"))


def _beyond_retest(same: dict[str, Any], level: float) -> str:
    """How often judges repeat a grade, and how much more or less often grades change in context."""
    said = (
        f" Judges who are asked again in the same setting repeat their overall grade in {same['retest']:.1%} of cases"
    )
    if same["size"] > 0:
        return said + "."
    sign = -1 if same["beyond"] <= 0 else 1  # the share that stays the same is smaller where more grades change
    value, low, high = (100 * sign * same[name] for name in ("beyond", "beyond_low", "beyond_high"))
    direction = "more often" if sign < 0 else "less often"
    interval = "" if np.isnan(low) else f", {level * 100:g}% CI [{min(low, high):.1f}, {max(low, high):.1f}]"
    return f"{said}; in context, grades change {abs(value):.1f} percentage points {direction}{interval}."


def mean_change(judgments: LabelsLike, by: str | None = None, *, level: float = 0.95) -> Result:
    """The mean change of the grade in context, aspect by aspect, over all or by a column such as what was read before.

    >>> rows = [{"query": f"q{i}", "doc": "d", "label": 2 - (context is not None) * (i % 3 > 0), "context": context}
    ...         for i in range(9) for context in (None, "c")]
    >>> mean_change(rows).finding
    'In context overall falls by 0.67 of a grade (95 % interval 0.28 to 1.05; 9 documents of 9 queries).'

    `by` is any column that the judgments in context have, or `documents_before` for how many documents were read
    before; numbers are cut into slices. `lower`, `same` and `higher` are
    shares of documents. The interval and `p` (of no change) allow for documents of one query and, where five judges or
    more have names, of one judge: they are for judges like these. `p_holm` allows for the number of rows, and only what
    is below 0.05 there is called a finding. A mean of 0 does not say that context has no effect: gains and losses may
    cancel. What has fewer than five queries is shown without interval. `retest` is the mean change of `n_retest` grades
    that the same judges gave again in the same setting: what asking twice does by itself.

    Reference: Golbus et al. (WWW 2014), sections 3.1 and 5.1 (impact of conditioning).
    """
    sheets, change = _changes(judgments, by)
    query, told = sheets.query[~sheets.alone], _told(sheets, change)
    cells = sheets.cells(told)
    judge = sheets.judge[~sheets.alone] if cells.judged is not None else None
    keep = ~np.isnan(change[:, 0])
    value = pl.repeat(ALL, len(change), dtype=pl.String, eager=True)
    notes = [*sheets.notes, cells.population, *_no_retest(_retest(sheets, told))]
    if by is not None:
        value = sliced(sheets.keys.filter(pl.Series(~sheets.alone))[by])
        unknown = int((value.is_null().to_numpy() & keep).sum())
        if unknown:
            notes.append(f"{by} is unknown for {count(unknown, 'document')} in context, left aside")
    values = value.drop_nulls().unique().sort()
    rows = []
    for place, aspect in enumerate(sheets.aspects):
        for name in values:
            these = (value == name).fill_null(False).to_numpy() & ~np.isnan(change[:, place])
            if these.any():
                who = None if judge is None else judge[these]
                mean = _mean(change[these, place], query[these], who, level)
                again = _retest(sheets, np.flatnonzero(~sheets.alone)[these])[:, place]
                known = again[~np.isnan(again)]
                retest = {"retest": float(known.mean()) if len(known) else np.nan, "n_retest": len(known)}
                rows.append({"aspect": aspect, "value": str(name), **mean, **retest})
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame = frame.with_columns(p_holm=pl.Series(holm(frame["p"].to_numpy())))
    if by is None:
        return Result(frame.drop("value"), _mean_said(frame, None, level), tuple(notes), columns=MEANS)
    said = _mean_said(frame, by, level)
    return Result(frame.rename({"value": by}), said, tuple(notes), columns=(MEANS[0], by, *MEANS[1:]))


def check_by(by: str | None) -> None:
    """Refuse a column that cannot stand beside the mean changes.

    >>> check_by("judge")
    """
    if by in OF_EVERY_ROW:
        remedy = {"aspect": "every aspect has its own row already", "label": ""}
        raise BadInput.at(
            "the column to compare by",
            expected="one that says something of a document as a whole: judge, query, group or one of your own",
            found=by,
            remedy=remedy.get(by, "give the column another name"),
        )


def _changes(judgments: LabelsLike, by: str | None = None) -> tuple[Sheets, Floats]:
    """The sheets, and the changes of the rows in context; NaN where the overall change is unknown."""
    check_by(by)
    judged = Judgments.of(judgments)
    if by == BEFORE and not judged.has(BEFORE) and judged.has("context"):
        number = paths(judged.frame["context"])["read"].cast(pl.String)
        judged = replace(judged, frame=judged.frame.with_columns(number.alias(BEFORE)))
    sheets = Sheets.of(judged, by=by)
    if sheets.alone.all():
        raise Undefined("No document was judged in context: there is no change to tell.")
    change = sheets.change
    change[np.isnan(change[:, 0])] = np.nan
    if np.isnan(change).all():
        raise Undefined("No judge gave an overall grade to the same document both alone and in context.")
    return sheets, change


def _retest(sheets: Sheets, rows: npt.NDArray[np.bool_ | np.int64]) -> Floats:
    """What the judges of these rows changed when asked again in the same setting, where both have an overall grade."""
    return sheets.retest[_asked_again(sheets, rows)]


def _no_retest(again: Floats) -> list[str]:
    if len(again):
        return []
    return ["none of these judges was asked twice in one setting: what they change by themselves is not known"]


def _of_size(size: Floats, sizes: Floats) -> npt.NDArray[np.bool_]:
    """Changes as rows x (aspects and sizes) x (is of this size, known)."""
    known = np.repeat(~np.isnan(size), len(sizes), axis=1)
    return np.stack([(size[:, :, None] == sizes).reshape(known.shape), known], axis=2)


def _asked_again(sheets: Sheets, rows: npt.NDArray[np.bool_ | np.int64]) -> npt.NDArray[np.bool_]:
    """Which rows judges were asked about again, of the judges of these rows."""
    again: npt.NDArray[np.bool_] = np.isin(sheets.judge, sheets.judge[rows]) & ~np.isnan(sheets.retest[:, 0])
    return again


def _told(sheets: Sheets, change: Floats) -> npt.NDArray[np.bool_]:
    """Which rows are in context of one whose overall change is known."""
    told = ~sheets.alone
    told[told] = ~np.isnan(change[:, 0])
    return told


def _mean(
    change: Floats, query: npt.NDArray[np.int64], judge: npt.NDArray[np.int64] | None, level: float
) -> dict[str, Any]:
    queries = len(np.unique(query))
    found = {
        "change": float(change.mean()),
        "low": np.nan,
        "high": np.nan,
        "lower": float((change < 0).mean()),
        "same": float((change == 0).mean()),
        "higher": float((change > 0).mean()),
        "p": np.nan,
        "n": len(change),
        "n_queries": queries,
    }
    if queries >= FEWEST:
        # A part of one judge alone, as by judge, is about this judge.
        several = judge is not None and len(np.unique(judge)) > 1
        fit = clustered_ols(change, np.zeros((len(change), 0)), query, judge=judge if several else None)
        low, high = fit.intervals(level)
        found |= {"low": float(low[0]), "high": float(high[0]), "p": float(fit.p[0])}
    return found


def _mean_said(frame: pl.DataFrame, by: str | None, level: float) -> str:
    overall = frame.filter(pl.col("aspect") == OVERALL)
    sure = overall.filter(pl.col("p_holm").fill_nan(1) <= 0.05).sort(pl.col("change").abs(), descending=True)
    if not sure.height:
        where = "" if by is None else f", whatever {by} is"
        return f"No change of the mean overall grade in context is beyond chance{where}."
    said = []
    for row in sure.head(3).iter_rows(named=True):
        goes = "falls" if row["change"] < 0 else "rises"
        # In the direction of the change, so that a loss reads as a positive number.
        low, high = sorted((row["low"], row["high"]), key=abs) if row["change"] < 0 else (row["low"], row["high"])
        low, high = (-low, -high) if row["change"] < 0 else (low, high)
        where = "in context" if by is None else f"{by} {row['value']}:"
        said.append(
            f"{where} overall {goes} by {abs(row['change']):.2f} of a grade ({level * 100:g} % interval {low:.2f} to "
            f"{high:.2f}; {count(row['n'], 'document')} of {count(row['n_queries'], 'query', 'queries')})"
        )
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}."
