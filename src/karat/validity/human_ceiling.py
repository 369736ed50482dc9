"""The human ceiling: how often one judge prefers what the others prefer, to be read beside a measure's agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import FrameLike, Preferences, Result
from karat.records.base import count
from karat.records.number_format import percent
from karat.stats.bootstrap import Resampling
from karat.validity.agreement_tests import ratio_interval
from karat.validity.votes import BY, HOW, counted, for_side, signs, trusted

#: A judge of fewer answers for a side is the best or the worst by luck.
FEWEST_ANSWERS = 10
SIDES = ("for_a", "for_b", "equal", "none")


def human_ceiling(
    preferences: Preferences | FrameLike,
    *,
    by: str = "query",
    how: str = "votes",
    at_least: float | None = None,
    among: pl.DataFrame | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often one judge prefers what the majority of the others prefers: all judges, the best, median and worst.

    >>> said = lambda n: {"ann": "left", "ben": "left", "cyd": "left", "eve": "left" if n < 4 else "right"}
    >>> rows = [{"query": f"q{n}", "left": "a", "right": "b", "judge": judge, "choice": choice}
    ...         for n in range(10) for judge, choice in said(n).items()]
    >>> human_ceiling(rows, draws=0)
    One judge agrees with the majority of the others in 85 % of 40 answers for a side (judges from 40 % to 100 %).

    Counted as a measure's agreement is: an answer for a side agrees, disagrees, or meets others who are tied (`equal`);
    who finds both equal is left out (`ties`), and has half a `credit` where the others prefer a side. `by`,
    `how` and `at_least` make the others' preference as in `preferred`; `among` keeps the pairs in it. "all" puts the
    answers of all judges together, with an interval over queries. Best, median and worst are of judges with 10
    answers for a side or more: the best of many judges owes some of its place to luck.

    No strict bound: a measure is set against the majority of all, a judge against one fewer, and a
    single judge errs, so a measure may do better than most judges. It needs two judges a pair.
    """
    if by not in BY or how not in HOW:
        expected = f"by {' or '.join(BY)}, how {' or '.join(HOW)}"
        raise BadInput.at("human_ceiling", expected=expected, found=f'"{by}", "{how}"')
    resampling = Resampling(level, draws, seed)
    answers = _against_others(counted(trusted(preferences), at_least).frame, by, how, among)
    frame = pl.DataFrame(schema=_COLUMNS)
    if not answers.filter(pl.col("own") != 0).height:
        return Result(frame, "No pair has answers of two judges: how far one agrees with the others cannot be told.")
    low, high = ratio_interval(
        np.unique(answers["query"].to_numpy(), return_inverse=True)[1].astype(np.int64),
        (answers["own"] * answers["others"] > 0).to_numpy(),
        (answers["own"] != 0).to_numpy(),
        resampling,
    )
    pooled = answers.select(*_FIGURES).with_columns(judges=pl.lit("all"), low=low, high=high)
    rows = [_row(pooled.row(0, named=True))]
    each = answers.drop_nulls("judge").group_by("judge").agg(*_FIGURES).filter(pl.col("n") >= FEWEST_ANSWERS)
    each = each.sort("agree_share", "judge", descending=[True, False])
    notes = []
    if each.height > 1:
        rows.append(_row(each.row(0, named=True) | {"judges": "best"}))
        middle = {name: each[name].median() for name in ("agree_share", "credit")}
        rows.append(_row({"judges": "median", **middle}))
        rows.append(_row(each.row(-1, named=True) | {"judges": "worst"}))
        named = answers["judge"].drop_nulls().n_unique()
        if each.height < named:
            notes.append(
                f"best, median and worst are of {each.height:,} of {count(named, 'judge')}, those with "
                f"{FEWEST_ANSWERS} answers for a side or more"
            )
    else:
        notes.append(f"no best and worst judge: fewer than two gave {FEWEST_ANSWERS} answers for a side")
    frame = pl.DataFrame(rows, schema=_COLUMNS)
    return Result(frame, _sentence(frame), tuple(notes))


_OWN, _OTHERS = pl.col("own"), pl.col("others")
_COUNTS = {
    "agree": (_OWN * _OTHERS > 0).sum().cast(pl.Int64),
    "equal": ((_OWN != 0) & (_OTHERS == 0)).sum().cast(pl.Int64),
    "disagree": (_OWN * _OTHERS < 0).sum().cast(pl.Int64),
    "ties": (_OWN == 0).sum().cast(pl.Int64),
    "n": (_OWN != 0).sum().cast(pl.Int64),
    "agree_share": (_OWN * _OTHERS > 0).filter(_OWN != 0).mean(),
    "credit": ((1 + _OWN * _OTHERS) / 2).filter(_OTHERS != 0).mean(),
}
_FIGURES = [figure.alias(name) for name, figure in _COUNTS.items()]
_COLUMNS = {
    "judges": pl.String,
    **dict.fromkeys(("agree", "equal", "disagree", "ties", "n"), pl.Int64),
    **dict.fromkeys(("agree_share", "low", "high", "credit"), pl.Float64),
}


def _row(figures: dict[str, Any]) -> dict[str, Any]:
    """A row of the table; what a row has not is empty, an interval NaN."""
    return {"low": np.nan, "high": np.nan} | {name: figures[name] for name in _COLUMNS if name in figures}


def _against_others(frame: pl.DataFrame, by: str, how: str, among: pl.DataFrame | None) -> pl.DataFrame:
    """For each judge and pair what the judge prefers (`own`) and what all others do (`others`): 1 for a, -1 for b, 0.

    A pair is one of a query, whose subtopics' majorities are averaged, or one of a subtopic. The nameless are taken for
    different people.
    """
    pair = ["query", "subtopic", "a", "b"] if by == "subtopic" else ["query", "a", "b"]
    if among is not None:
        frame = frame.join(among.select(pair).unique(), on=pair, how="semi", nulls_equal=True)
    question = ["query", "subtopic", "a", "b"]
    if "judge" not in frame.columns:
        frame = frame.with_columns(judge=pl.lit(None, pl.String))
    votes = frame.select(
        *question,
        "judge",
        person=pl.struct("judge", pl.when(pl.col("judge").is_null()).then(pl.int_range(pl.len())).alias("nameless")),
        for_a=for_side("a").cast(pl.Int64),
        for_b=for_side("b").cast(pl.Int64),
        equal=(pl.col("choice") == "equal").cast(pl.Int64),
        none=(pl.col("choice") == "none").cast(pl.Int64),
    )
    vote, total, size = pl.col("for_a") - pl.col("for_b"), pl.col("_total"), pl.col("_size")
    votes = votes.with_columns(vote=vote).with_columns(
        _total=pl.col("vote").sum().over(question), _size=pl.len().over(question).cast(pl.Int64)
    )
    # A pair's value is the mean over its subtopics of the majority; without one judge, that judge's questions change.
    whole = votes.unique(question).group_by(pair).agg(_value=(total / size).sum(), _questions=pl.len())
    everyone = votes.group_by(pair).agg(pl.col(*SIDES).sum().name.prefix("_"))
    alone = size == 1
    left = pl.when(alone).then(0.0).otherwise((total - pl.col("vote")) / (size - 1))
    one = votes.group_by([*pair, "person"], maintain_order=True).agg(
        pl.col("judge").first(),
        pl.col(*SIDES).sum(),
        value=pl.col("vote").mean(),
        _change=(left - total / size).sum(),
        _gone=alone.sum(),
    )
    one = one.join(whole, on=pair, nulls_equal=True).join(everyone, on=pair, nulls_equal=True)
    one = one.filter(pl.col("_questions") > pl.col("_gone"))
    others = one.select(
        *(pl.col(f"_{side}") - pl.col(side) for side in SIDES),
        value=(pl.col("_value") + pl.col("_change")) / (pl.col("_questions") - pl.col("_gone")),
    ).rename({f"_{side}": side for side in SIDES})
    return one.select("query", "judge", own=signs(how)).with_columns(others=others.select(signs(how)).to_series())


def _sentence(frame: pl.DataFrame) -> str:
    rows = {row["judges"]: row for row in frame.iter_rows(named=True)}
    whole = rows["all"]
    text = (
        f"One judge agrees with the majority of the others in {percent(whole['agree_share'])} of "
        f"{count(whole['n'], 'answer')} for a side"
    )
    if "best" in rows:
        text += f" (judges from {percent(rows['worst']['agree_share'])} to {percent(rows['best']['agree_share'])})"
    return text + "."
