"""Does a judge's label depend on when it was given: on the label just before, and on how long the session is?"""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.labels import select
from karat.labels.gold import GOLD
from karat.labels.order import in_order
from karat.records import Judgments, LabelsLike, Result
from karat.records.base import count
from karat.records.number_format import interval_said, p_said
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.many import holm
from karat.stats.regression import clustered_ols

#: What is looked for, in the words of the table; a session's effect is per ten labels.
BEFORE, LATER, EACH = "the label before, one grade higher", "ten labels later in the session", 10.0
#: Orders to shuffle within a session: what a regression finds in them is its own doing.
SHUFFLES = 40
#: Fewer labels or judges than this tell nothing.
FEWEST_LABELS, FEWEST_JUDGES = 30, 3
GROUP = "judges"


def order_effects(labels: LabelsLike, *, level: float = 0.95, seed: int = 0) -> Result:
    """How far labels move with the label that a judge gave just before, and with the place in the session.

    >>> rng = np.random.default_rng(1)
    >>> rows = [{"query": f"q{n // 6}", "doc": f"d{n}", "judge": f"j{j}", "label": int(rng.integers(4)), "time": n}
    ...         for j in range(8) for n in range(60)]
    >>> order_effects(rows).frame.select("effect", "n", "judges").rows()[0]
    ('the label before, one grade higher', 472, 8)

    A label counts as what it is above or below the mean of the others' labels of the same document, so that a query
    with many good documents in a row is no effect, and less the judge's own mean. Labels stand in the order of their
    time, in sessions where a column `session` tells them. Both effects are of one regression, with errors by query and
    judge.
    A label takes part in the mean that it is compared with, which alone makes the label before look as if it pushed
    labels down: the same regression on shuffled sessions shows by how much, and this is taken off. p is adjusted for
    all effects and groups (Holm).

    Use it before believing that labels of one document are labels of that document only. Documents are best shown in an
    order drawn by lot: where good ones come first by design, the place in the session is theirs. What the document
    read just before does to a label is a question of context, not of habit.

    Reference: Scholer, Kelly, Wu, Lee and Webber, The effect of threshold priming and need for cognition on relevance
    calibration and assessment (SIGIR 2013).
    """
    judged = Judgments.of(labels)
    judged.need("judge", "effects of order")
    frame, notes = _sessions(judged)
    rows = []
    for (name,), part in frame.group_by("group", maintain_order=True):
        rows += _effects(str(name), part, level, seed)
    if not rows:
        few = f"{FEWEST_JUDGES} judges with {FEWEST_LABELS} labels after another one, of documents that others judged"
        raise Undefined(f"effects of order need at least {few}")
    table = pl.DataFrame(rows).sort("group", maintain_order=True)
    table = table.with_columns(p_adjusted=pl.Series(holm(table["p"].to_numpy())))
    return Result(table, _sentence(table, level), tuple(notes))


def _sessions(judged: Judgments) -> tuple[pl.DataFrame, list[str]]:
    """The labels in order, with what others said of the document: group, judge, query, session, error, label."""
    counted = select(judged)
    item, notes = list(counted.key), [*judged.notes, *counted.notes]
    frame = counted.frame.drop_nulls(["label", "judge"])
    frame = frame.with_columns(group=pl.col("group").fill_null(GROUP) if judged.has("group") else pl.lit(GROUP))
    frame = frame.filter(pl.col("group") != GOLD)
    if not judged.has("time"):
        notes.append("labels without a time: taken in the order of the file")
    # A judge's own second label is no other opinion.
    frame = in_order(frame).unique([*item, "judge"], keep="first", maintain_order=True)
    others, size = pl.col("label").sum().over(item) - pl.col("label"), pl.len().over(item) - 1
    session = [pl.col(name).cast(pl.String).fill_null("") for name in ("judge", "session") if name in frame.columns]
    frame = frame.with_columns(
        error=pl.when(size > 0).then(pl.col("label") - others / size),
        session=pl.concat_str(session, separator="\u0000"),
    )
    alone = frame["error"].null_count()
    if alone:
        notes.append(f"{count(alone, 'label')} of documents that nobody else judged: only as the label before")
    return frame.select("group", "judge", "query", "session", "label", "error"), notes


def _effects(group: str, frame: pl.DataFrame, level: float, seed: int) -> list[dict[str, object]]:
    # Sessions by their beginnings, whatever judges are called: what is drawn is then the same.
    begun = frame["session"].unique(maintain_order=True)
    frame = frame.with_columns(pl.col("session").replace_strict(begun, range(len(begun))))
    frame = frame.sort("session", maintain_order=True)
    session = frame["session"].to_numpy().astype(np.int64)
    judge, query = (frame[name].rank("dense").to_numpy().astype(np.int64) - 1 for name in ("judge", "query"))
    label, error = (frame[name].cast(pl.Float64).to_numpy() for name in ("label", "error"))
    kept, y, x = _design(session, judge, label, error)
    if kept.sum() < FEWEST_LABELS or len(np.unique(judge[kept])) < FEWEST_JUDGES or len(np.unique(query[kept])) < 2:
        return []
    names = [BEFORE, LATER]
    fit = clustered_ols(y, x, query[kept], names, judge=judge[kept])
    own = _own_doing(session, judge, label, error, seed)
    rows = []
    for name, bias in zip(names, own, strict=True):
        at = fit.names.index(name)
        value, spread, df = (float(part[at]) for part in (fit.coefficients, fit.errors, fit.df))
        low, high, p = _ends(value - bias, spread, df, level)
        rows.append(
            {
                "group": group,
                "effect": name,
                "change": value - bias,
                "low": low,
                "high": high,
                "p": p,
                "n": int(kept.sum()),
                "judges": len(np.unique(judge[kept])),
            }
        )
    return rows


def _design(session: Ints, judge: Ints, label: Floats, error: Floats) -> tuple[Bools, Floats, Floats]:
    """Which labels come after another one of the session, their errors, what may move them; less the judge's means."""
    first = np.append(True, session[1:] != session[:-1])
    start = np.maximum.accumulate(np.where(first, np.arange(len(session)), 0))
    place = (np.arange(len(session)) - start) / EACH
    before = np.append(0.0, label[:-1])
    kept = ~first & ~np.isnan(error)
    y, x = error[kept], np.column_stack([before, place])[kept]
    who = judge[kept]
    number = np.maximum(np.bincount(who), 1)
    columns = np.column_stack([y, x])
    means = np.column_stack([np.bincount(who, column) / number for column in columns.T])
    columns = columns - means[who]
    return kept, columns[:, 0], columns[:, 1:]


def _own_doing(session: Ints, judge: Ints, label: Floats, error: Floats, seed: int) -> Floats:
    """What the regression finds where the order within sessions is drawn by lot."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(SHUFFLES):
        order = np.lexsort((rng.random(len(session)), session))
        _, y, x = _design(session, judge[order], label[order], error[order])
        found.append(np.linalg.lstsq(x, y, rcond=None)[0])
    mean: Floats = np.mean(found, axis=0)
    return mean


def _ends(value: float, spread: float, df: float, level: float) -> tuple[float, float, float]:
    from scipy.special import stdtr, stdtrit

    if not spread > 0 or not df >= 1:
        return np.nan, np.nan, np.nan
    half = spread * float(stdtrit(df, (1 + level) / 2))
    return value - half, value + half, float(2 * stdtr(df, -abs(value) / spread))


def _sentence(table: pl.DataFrame, level: float) -> str:
    shown = table.filter(pl.col("p_adjusted") < 1 - level).sort("p")
    if not shown.height:
        least = float(table["p_adjusted"].drop_nans().min() or np.nan)  # type: ignore[arg-type]
        return f"No effect of order is shown: {count(table.height, 'test')}, the least {p_said(least)}."
    row = shown.row(0, named=True)
    way = "higher" if row["change"] > 0 else "lower"
    what = "after a label one grade higher" if row["effect"] == BEFORE else "ten labels later in the session"
    said = interval_said(row["low"], row["high"], level)
    return f"Labels of {row['group']} are {abs(row['change']):.2f} of a grade {way} {what}{said}, {p_said(row['p'])}."
