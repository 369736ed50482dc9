"""Every two judges who labelled the same documents, side by side."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels import Panel
from karat.records import LabelsLike, Result
from karat.records.base import count
from karat.stats import totals
from karat.stats.kappas import cohen_kappa, krippendorff_alpha, raw_agreement

#: How many meetings of two judges on a document to hold at once.
AT_ONCE = 5_000_000


def pairwise(labels: Panel | LabelsLike, min_pairs: int = 10) -> Result:
    """How far every two judges agree who labelled at least `min_pairs` query-document pairs in common.

    >>> said = {"ann": [2, 0, 1, 2, 0, 1], "bob": [2, 0, 1, 1, 0, 2], "eve": [0, 0, 0, 1, 2, 2]}
    >>> pairwise([{"query": "q", "doc": f"d{i}", "label": label, "judge": judge}
    ...           for judge, labels in said.items() for i, label in enumerate(labels)], min_pairs=5)
    Of 3 pairs of judges, ann and bob agree most (Cohen's kappa 0.50, 6 pairs), ann and eve least (-0.25, 6 pairs).

    Columns: judge, against (and their groups, where there are groups), n_queries, n_pairs, raw, cohen, cohen_quadratic,
    alpha_ordinal; the most common pairs first. It finds judges who do not agree with anybody, and judges who agree too
    well to have worked apart. With few pairs in common the figures scatter widely: raise `min_pairs` before blaming
    a judge.
    """
    if not isinstance(min_pairs, int) or min_pairs < 1:
        raise BadInput.at("min_pairs", expected="1 or more", found=str(min_pairs))
    panel = Panel.of(labels)
    notes = list(panel.notes)
    named = ~panel.nameless[panel.judge]
    if not named.any():
        raise BadInput.at("the labels", expected="the names of judges, for comparing every two of them", found="none")
    if not named.all():
        notes.append(f"{count(int((~named).sum()), 'label')} without a judge left aside")
    met = meetings(panel.kept(named))
    pairs = met.group_by("one", "other").agg(n_pairs=pl.col("n").sum(), n_queries=pl.col("query").n_unique())
    enough = pairs.filter(pl.col("n_pairs") >= min_pairs).sort(
        "n_pairs", "one", "other", descending=[True, False, False]
    )
    enough = enough.with_row_index("pair")
    if enough.height < pairs.height:
        rare = count(pairs.height - enough.height, "pair") + " of judges"
        notes.append(f"{rare} with fewer than {min_pairs} labelled pairs in common left out")
    levels = panel.levels
    cells = met.join(enough.select("pair", "one", "other"), on=["one", "other"])
    place = (cells["pair"].cast(pl.Int64) * levels + cells["grade"]) * levels + cells["grade_other"]
    often = totals(place.to_numpy(), cells["n"].to_numpy(), enough.height * levels**2)
    table = often.reshape(enough.height, levels, levels)
    both_ways = table + np.swapaxes(table, 1, 2)
    groups = panel.has_groups
    judge = panel.judges["judge"].gather
    group = panel.judges["group"].gather
    frame = pl.DataFrame(
        [
            judge(enough["one"]).alias("judge"),
            judge(enough["other"]).alias("against"),
            *([group(enough["one"]).alias("group"), group(enough["other"]).alias("against_group")] if groups else []),
            enough["n_queries"].cast(pl.Int64),
            enough["n_pairs"].cast(pl.Int64),
            pl.Series("raw", raw_agreement(table)),
            pl.Series("cohen", cohen_kappa(table)),
            pl.Series("cohen_quadratic", cohen_kappa(table, panel.grades, "quadratic")),
            pl.Series("alpha_ordinal", krippendorff_alpha(both_ways, panel.grades, "ordinal")),
        ]
    )
    alike = int(frame["cohen"].is_nan().sum())
    if alike:
        notes.append(f"all labels alike for {count(alike, 'pair')} of judges: kappa and alpha are undefined there")
    shown = ("judge", "against", "group", "n_pairs", "raw", "cohen", "cohen_quadratic", "alpha_ordinal")
    return Result(frame, _finding(frame, min_pairs), tuple(notes), columns=shown)


def meetings(panel: Panel, part: pl.Series | None = None) -> pl.DataFrame:
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


def _finding(frame: pl.DataFrame, min_pairs: int) -> str:
    defined = frame.filter(pl.col("cohen").is_not_nan()).sort("cohen", "n_pairs", "judge", "against", descending=True)
    if not defined.height:
        return f"No two judges have {count(min_pairs, 'pair')} in common on which to compare them."
    best, worst = defined.row(0, named=True), defined.row(-1, named=True)
    said = [f"{row['cohen']:.2f}, {count(row['n_pairs'], 'pair')}" for row in (best, worst)]
    if defined.height == 1:
        return f"Judges {best['judge']} and {best['against']} agree with Cohen's kappa {said[0]}."
    return (
        f"Of {count(defined.height, 'pair')} of judges, {best['judge']} and {best['against']} agree most "
        f"(Cohen's kappa {said[0]}), {worst['judge']} and {worst['against']} least ({said[1]})."
    )
