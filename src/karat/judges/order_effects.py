"""Does what came before move a label? The document judged just before, the judge's own label of it, and the session."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.labels import ALL, GOLD
from karat.labels.label_table import gathered
from karat.records import LabelsLike, Result
from karat.records.number_format import interval_said
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import centred
from karat.stats.cluster_robust import clustered_ols
from karat.stats.multiple_testing import holm

#: What may move a label, by its column: what a change is of, and how a sentence says it.
EFFECTS = {
    "document": ("document before", "for each grade that the document judged just before is better"),
    "label": ("label before", "for each grade that the judge's label just before was above what others say"),
    "place": ("100 labels later", "with every 100 labels of a session"),
}


def order_effects(labels: LabelsLike, gold: LabelsLike | None = None, *, level: float = 0.95) -> Result:
    """How far labels move with the document judged just before, the judge's label of it, and the place in the session.

    >>> rows = [{"query": "q" + str(i % 5), "doc": f"d{i}", "judge": judge, "label": (i * 7 + (judge == "b") * i) % 4,
    ...          "time": i if judge == "a" else 40 - i} for i in range(20) for judge in "ab"]
    >>> order_effects(rows).frame.select("group", "effect", "n").rows()
    [('all', 'document before', 38), ('all', 'label before', 38), ('all', '100 labels later', 38)]

    Who has just seen a bad document may be kind to the next one (a negative effect: contrast), or go on as before (a
    positive one). A label counts as what it is above what is known of its document without this judge: the gold label,
    else the mean of the others' labels. Likewise the document before is as good as gold or others say, and the label
    before is how far the judge went above that. Both are held against the judge's other documents of that query, and
    labels against the judge's own mean, so that neither what others think of a query nor a judge's habits look like an
    effect; how good the document itself is, is allowed for. All effects are of one regression. Errors allow for labels
    of one query and of one judge (where five or more have names), `p_holm` for the number of rows.

    Labels are in the order of the times (`time`), else of the file, in sessions where a column `session` tells them.
    Documents are best shown in an order drawn by lot: where good ones come first by design, the place in the session
    is theirs. Where judges had them in the same order, the one before moves them all alike, and only gold tells it.
    Others' labels are rough measures of a document: without gold, its effect is found nearer to 0 than it is.

    Reference: Scholer, Kelly, Wu, Lee and Webber, The effect of threshold priming and need for cognition on relevance
    calibration and assessment (SIGIR 2013).
    """
    found = gathered(labels, gold)
    notes = [*found.notes]
    if not found.timed:
        notes.append("no times: the order of the labels is taken for that in which they were given")
    frame = _in_sequence(found.frame, list(found.key))
    known = frame.drop_nulls(["above", "document", "label"])
    if not known.height:
        raise Undefined(
            "no label stands beside another judge's, or a gold one, and after one that does: what came before it does "
            "cannot be told"
        )
    if known.height < frame.height:
        lost = count(frame.height - known.height, "label")
        notes.append(f"{lost} left out: the first of a session, or of a document that nobody else judged")
    known = known.with_columns(
        pl.col("query").rank("dense").cast(pl.Int64), judge=pl.struct("group", "who").rank("dense").cast(pl.Int64)
    )
    parts = {str(name): part for (name,), part in known.sort("group").group_by("group", maintain_order=True)}
    if len(parts) > 1:
        parts = {ALL: known, **parts}
    table = pl.DataFrame([row for name, part in parts.items() for row in _effects(name, part, level)])
    table = table.insert_column(table.columns.index("p") + 1, pl.Series("p_holm", holm(table["p"].to_numpy())))
    return Result(table, _sentence(table, level), tuple(notes))


def _in_sequence(frame: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """How far each label is above its document, the document and the label before it, and its place in the session."""
    trusted = frame.filter(pl.col("group") == GOLD).group_by(key).agg(gold=pl.col("label").mean())
    frame = frame.filter(pl.col("group") != GOLD).join(
        trusted, on=key, how="left", maintain_order="left", nulls_equal=True
    )
    size = pl.len().over(key) - 1
    others = pl.when(size > 0).then((pl.col("label").sum().over(key) - pl.col("label")) / size)
    frame = frame.with_columns(quality=pl.coalesce("gold", others)).with_columns(
        above=pl.col("label") - pl.col("quality")
    )
    mine = ["group", "who", "query"]
    frame = frame.with_columns(
        *(pl.col(name).sum().over(mine).alias(f"{name}_total") for name in ("quality", "above")),
        *(pl.col(name).count().over(mine).alias(f"{name}_known") for name in ("quality", "above")),
    )
    session = ["group", "who", *(["session"] if "session" in frame.columns else [])]
    return frame.with_columns(
        document=_before("quality", session),
        label=_before("above", session),
        place=pl.int_range(pl.len()).over(session) / 100,
    ).filter(pl.col("judge").is_not_null())


def _before(name: str, session: list[str]) -> pl.Expr:
    """The value of the label before, less the mean of the judge's labels of its query but for the one that follows.

    What is common to a query is in both labels. The one that follows is no part of the mean, or its chance errors would
    stand on both sides; and as the weights add up to 0, the judge's mean, which both are part of, does no harm either.
    """
    columns = (name, f"{name}_total", f"{name}_known", "query")
    last, total, known, query = (pl.col(column).shift(1).over(session) for column in columns)
    same = (query == pl.col("query")) & pl.col(name).is_not_null()
    rest = known.cast(pl.Int64) - same.cast(pl.Int64)
    usual = (total - pl.when(same).then(pl.col(name)).otherwise(0.0)) / rest
    return pl.when(rest > 0).then(last - usual)


def _effects(group: str, rows: pl.DataFrame, level: float) -> list[dict[str, Any]]:
    """The effects on the labels of a group, each judge compared with their own mean."""
    query, judge = rows["query"].to_numpy(), np.unique(rows["judge"].to_numpy(), return_inverse=True)[1]
    queries, judges = len(np.unique(query)), int(judge.max()) + 1
    y, *columns = (centred(judge, rows[name].to_numpy()) for name in ("above", *EFFECTS, "quality"))
    change = low = high = p = np.full(len(EFFECTS) + 1, np.nan)
    if queries >= FEWEST:
        fit = clustered_ols(y, np.column_stack(columns), query, judge=judge if judges >= FEWEST else None)
        change, p, (low, high) = fit.coefficients, fit.p, fit.intervals(level)
    return [
        {"group": group, "effect": name, "change": float(change[at]), "low": float(low[at]), "high": float(high[at])}
        | {"p": float(p[at]), "n": rows.height, "n_queries": queries, "n_judges": judges}
        for at, (name, _) in enumerate(EFFECTS.values(), start=1)
    ]


def _sentence(table: pl.DataFrame, level: float) -> str:
    over = f"{count(table['n'][0], 'label')} of {count(table['n_judges'][0], 'judge')}"
    known = table.filter(pl.col("p").is_not_nan())
    if not known.height:
        return f"Too few queries, or labels too much alike, to tell what came before does to {over}."
    words = dict(EFFECTS.values())
    said = [
        f"{row['change']:+.2f} of a grade {words[row['effect']]}{interval_said(row['low'], row['high'], level)}"
        + ("" if row["group"] == table["group"][0] else f", {row['group']}")
        for row in known.filter(pl.col("p_holm") <= 1 - level).sort("p").head(2).iter_rows(named=True)
    ]
    if not said:
        first = known.row(0, named=True)
        ends = interval_said(first["low"], first["high"], level)
        return (
            f"What came before is not shown to move labels: {first['change']:+.2f} of a grade "
            f"{words[first['effect']]}{ends}, over {over}."
        )
    return f"What came before moves labels: {'; '.join(said)}, over {over}."
