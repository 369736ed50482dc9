"""Do people differ from each other more than from themselves? Self against cross consistency."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.judges.level_votes import level_of, levels_of, top_level_notes, used, with_names
from karat.labels import Panel
from karat.labels.panel import numbered
from karat.records import LabelsLike, Result
from karat.records.result import Histograms
from karat.records.table import count
from karat.stats import Resampling, ratio, ratio_intervals, totals
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Bools, Floats, Ints, distinct

#: A difference that is rounding.
NOTHING = 1e-12
#: How many meetings of two judges on a document to hold at once.
AT_ONCE = 5_000_000


def consistency(
    labels: Panel | LabelsLike,
    top: float | None = None,
    *,
    all_labels: bool = False,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """p(T|i) between two judgments of the same judge, and between judges (the paper's Figs. 2 and 3).

    >>> rows = [{"query": "q", "doc": d, "judge": j, "label": n} for d, j, n in
    ...         [("a", "x", 1), ("a", "x", 1), ("a", "y", 1), ("a", "y", 0), ("b", "x", 0), ("b", "x", 0)]]
    >>> found = consistency(rows, draws=0)
    >>> found.frame.filter(pl.col("level") == 1).select("kind", pl.col("p").round(2)).rows()
    [('self', 0.67), ('cross', 0.67)]

    Needs documents that a judge judged more than once; of these documents, all judges are compared with each other,
    every two alike. Each judge's label of a document is drawn from those he gave: p is the expectation over all draws,
    exactly. The `draws` at random make the histograms and their sd. Where a further judge was asked only when the first
    two differed, these two count (unless `all_labels`).
    """
    panel = (labels if isinstance(labels, Panel) else Panel.of(labels, repeats="all")).of_judges()
    panel = with_names(panel, "self and cross consistency")
    levels = levels_of(panel, top)
    panel = used(panel, all_labels=all_labels)
    cells, cell = numbered(pl.DataFrame({"item": panel.item, "judge": panel.judge}))
    given = label_counts(cell, level_of(panel, levels), cells.height, len(levels))
    twice = given.sum(axis=1) >= 2
    if not twice.any():
        raise Undefined("no judge judged a document twice: self consistency cannot be told")
    items = cells["item"].to_numpy()
    kept = np.isin(items, items[twice])
    given, twice, item = given[kept], twice[kept], distinct(items[kept])[1]
    exact = {"self": _self(given[twice]), "cross": _cross(given / given.sum(axis=1, keepdims=True), item)}
    drawn = _drawn(given, twice, item, draws, seed)
    rows = []
    for kind, p in exact.items():
        for place, level in enumerate(levels if not np.isnan(p).all() else []):
            values = drawn[kind][:, place]
            known = values[~np.isnan(values)]
            # Of two labels there is one way to draw both: such draws do not tell how sure p is.
            sd = float(known.std(ddof=1)) if len(known) > 1 and np.ptp(known) > NOTHING else np.nan
            rows.append((kind, level, float(p[place]), sd, values.tolist()))
    names = ["kind", "level", "p", "sd", "draws"]
    table = pl.DataFrame(rows, schema=names, schema_overrides={"draws": pl.List(pl.Float64)}, orient="row")
    judged = f"{count(int(twice.sum()), 'time')} a judge judged a document twice or more"
    notes = (*panel.notes, *top_level_notes(panel, levels[-1]), f"{judged}, {draws:,} draws, seed {seed}")
    said = _finding(exact, panel.said(levels[-1]))
    drawing = _histograms(table, panel, levels[-1], f"{judged}, {draws:,} draws, seed {seed}") if draws else None
    return Result(table, said, notes, scale=panel.scale, columns=("kind", "level", "p", "sd"), drawing=drawing)


def _histograms(table: pl.DataFrame, panel: Panel, top: float, how: str) -> Histograms:
    """The draws: of the top level a judge with himself and others (Fig. 2), of the others between judges (Fig. 3)."""
    shown = table.filter((pl.col("level") == top) | (pl.col("kind") == "cross")).sort(-pl.col("level"), "kind")
    names = [f"said {panel.said(row['level'])}, {row['kind']}" for row in shown.to_dicts()]
    frame = shown.select(series=pl.Series(names, dtype=pl.String), value="draws").explode("value").drop_nulls()
    return Histograms(frame, f"p({panel.said(top)} | said)", how=how)


def _finding(p: dict[str, Floats], top: str) -> str:
    own, cross = (float(p[kind][-1]) for kind in ("self", "cross"))
    if np.isnan(own):
        finding = f"No judge who judged a document twice called it {top}"
    else:
        finding = f"A judge repeats his own {top} with probability {own:.2f}"
    if np.isnan(p["cross"]).all():
        return f"{finding}; no other judge to compare."
    return finding + (f"; nobody else says {top}." if np.isnan(cross) else f"; another judge agrees with {cross:.2f}.")


def _self(given: Floats) -> Floats:
    """p(T|i) of two different labels of one judge and document, from how often each level was given."""
    size = given.sum(axis=1, keepdims=True)
    others = np.tile(given[:, [-1]], given.shape[1])
    others[:, -1] -= 1
    asked = given / size
    return ratio((asked * others / (size - 1)).sum(axis=0), asked.sum(axis=0))


def _cross(says: Floats, item: Ints) -> Floats:
    """p(T|i) over all pairs of judges of a document, each way round, from the chances that a judge says each level."""
    judges = np.bincount(item)
    top = totals(item, says[:, -1], len(judges))[item] - says[:, -1]
    told = (says * top[:, None]).sum(axis=0)
    return ratio(told, (says * (judges[item] - 1)[:, None]).sum(axis=0))


def _drawn(given: Floats, twice: Bools, item: Ints, draws: int, seed: int) -> dict[str, Floats]:
    """The p of draws: a judge's label of a document is one of those he gave, and a second one where there are two."""
    rng, levels = np.random.default_rng(seed), given.shape[1]
    found = {kind: np.full((draws, levels), np.nan) for kind in ("self", "cross")}
    for draw in range(draws):
        one = _one_each(rng, given)
        second = _one_each(rng, (given - one)[twice])
        found["self"][draw] = _self(one[twice] + second)
        found["cross"][draw] = _cross(one, item)
    return found


def _one_each(rng: np.random.Generator, given: Floats) -> Floats:
    """One of each row's labels at random, as a row with a single 1."""
    share = np.cumsum(given, axis=1)
    level = (rng.random((len(given), 1)) * share[:, [-1]] >= share).sum(axis=1)
    one: Floats = np.eye(given.shape[1])[level]
    return one


def overlap(
    labels: Panel | LabelsLike, at: float | None = None, *, by: str | None = None, all_labels: bool = False
) -> Result:
    """The overlap of two judges' sets of documents at or above a level: |A and B| / |A or B|, for every two judges.

    >>> rows = [{"query": "q", "doc": d, "judge": j, "label": n} for d, j, n in
    ...         [("a", "x", 1), ("a", "y", 1), ("b", "x", 1), ("b", "y", 0), ("c", "x", 0), ("c", "y", 1)]]
    >>> overlap(rows).finding
    'Two judges agree on 0.33 of the documents that either calls 1 or higher (1 pair of judges).'

    `by` is a column, such as the vertical of an engine: then there is a row for each of its values, over all pairs of
    judges, with an interval over queries. Also called Jaccard's coefficient. Reference: Voorhees (SIGIR 1998). It is
    the limit of precision and recall that one judge's labels allow another's. Where a further judge was asked only when
    the first two differed, these two count (unless `all_labels`).
    """
    panel = used(with_names(Panel.of(labels).of_judges(), "overlap"), all_labels=all_labels)
    at = panel.grades[panel.grade].max() if at is None else at
    called = f"{panel.said(at)} or higher"
    part = None if by is None else panel.feature(by).cast(pl.String).fill_null("none")
    one, other, n = pl.col("grade"), pl.col("grade_other"), pl.col("n").cast(pl.Int64)
    met = _meetings(panel, part).with_columns(pl.col("grade", "grade_other") >= int(np.searchsorted(panel.grades, at)))
    sums = {"documents": n.sum(), "both": n.filter(one & other).sum(), "either": n.filter(one | other).sum()}
    _, both, either = met.select(**sums).row(0)
    if not either:
        raise Undefined(f"no document judged by two judges was called {called}: overlap cannot be told")
    if by is not None:
        table, finding = _overlap_by(met, sums, by, called)
        return Result(table, finding, panel.notes)
    table = met.group_by("one", "other").agg(**sums, overlap=sums["both"] / sums["either"])
    table = table.sort("documents", "one", "other", descending=[True, False, False])
    name = panel.judges["judge"].gather
    judges = [name(table["one"]).alias("judge"), name(table["other"]).alias("against")]
    finding = (
        f"Two judges agree on {both / either:.2f} of the documents that either calls {called} "
        f"({count(table.height, 'pair')} of judges)."
    )
    return Result(table.select(*judges, pl.exclude("one", "other")), finding, panel.notes, scale=panel.scale)


def _meetings(panel: Panel, part: pl.Series | None = None) -> pl.DataFrame:
    """How often two judges said these two grades for the same document: one, other, grade, grade_other, query, n.

    Where a value of each label is given, also by that of the first judge's (`part`).

    Labels of one item are joined with each other, some items at a time, and counted before the next: memory goes with
    the number of judges who met, not with items x judges.
    """
    frame = pl.DataFrame({"item": panel.item, "judge": panel.judge, "grade": panel.grade, "query": panel.query})
    frame = frame.with_columns([] if part is None else [part.alias("part")])
    # A panel made with repeats has several labels of a judge: the first is theirs.
    frame = frame.unique(["item", "judge"], keep="first", maintain_order=True).sort("item", "judge")
    size = frame.select(pl.len().over("item")).to_series().cast(pl.Int64)
    # A lot ends with an item, so that the labels of an item stay together.
    frame = frame.with_columns(lot=size.cum_sum() // AT_ONCE).with_columns(pl.col("lot").min().over("item"))
    key = ["one", "other", "grade", "grade_other", "query", *([] if part is None else ["part"])]
    found = []
    for some in frame.partition_by("lot", include_key=False):
        met = some.join(some, on=["item", "query"], suffix="_other").filter(pl.col("judge") < pl.col("judge_other"))
        met = met.rename({"judge": "one", "judge_other": "other"})
        found.append(met.group_by(key).agg(n=pl.len()))
    return pl.concat(found).group_by(key).agg(pl.col("n").sum())


def _overlap_by(met: pl.DataFrame, sums: dict[str, pl.Expr], by: str, called: str) -> tuple[pl.DataFrame, str]:
    """The overlap over all pairs of judges, for each value of a column, highest first; and what there is to say."""
    rows = []
    for (value,), mine in met.group_by("part"):
        told = mine.group_by("query").agg(**sums).sort("query").drop("query")
        both, either = (told.select(name).to_numpy().astype(np.float64) for name in ("both", "either"))
        figures = (ratio(both.sum(axis=0), either.sum(axis=0)), *ratio_intervals(both, either, Resampling()))
        rows.append((value, *(float(figure[0]) for figure in figures), *told.sum().row(0)))
    names = [by, "overlap", "overlap_low", "overlap_high", *sums]
    table = pl.DataFrame(rows, schema=names, orient="row")
    table = table.sort(pl.col("overlap").fill_nan(-1.0), by, descending=[True, False])
    known = table.filter(pl.col("overlap").is_not_nan())
    first, last = known.row(0, named=True), known.row(-1, named=True)
    return table, (
        f"Of the documents that either judge calls {called}, both do on {first['overlap']:.2f} ({by} {first[by]}) to "
        f"{last['overlap']:.2f} ({by} {last[by]})."
    )
