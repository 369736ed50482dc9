"""The human ceiling: how often one judge prefers what the others prefer, to be read beside a measure's agreement."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import FrameLike, Preferences, Result
from karat.records.number_format import percent
from karat.records.table import count
from karat.stats.arrays import Bools, Floats, Ints, totals
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.cluster_robust import clustered_differences
from karat.stats.hypothesis_tests import binomial_p, flip_p, share_interval, welch_p
from karat.users.pair_scores import PairScores
from karat.users.votes import BY, HOW, counted, for_side, signs, trusted


def ratio_interval(
    query: Ints, part: Floats | Bools, base: Bools, resampling: Resampling, *, signed: bool = False
) -> tuple[float, float]:
    """A bootstrap interval, over queries, of the sum of `part` by the number of `base`; `signed` parts go below 0."""
    cells = np.unique(query[base], return_inverse=True)[1]
    number = int(cells.max()) + 1 if len(cells) else 0
    if number < FEWEST or not resampling.draws:
        return np.nan, np.nan
    above, below = totals(cells, part[base], number), np.bincount(cells).astype(np.float64)
    if np.ptp(above / below) == 0:  # in all queries or in none: as wide as a share of so many queries is
        return _alike(float(above[0] / below[0]), number, resampling.level, signed)
    drawn = np.concatenate([(times @ above) / (times @ below) for times in resampling.times(number)])
    return resampling.ends(drawn, number)


def _alike(value: float, number: int, level: float, signed: bool) -> tuple[float, float]:
    """The interval where all queries have one value: a difference of 0 may be one either way."""
    if abs(value) not in (0.0, 1.0):
        return np.nan, np.nan
    low, high = share_interval(number if value else 0, number, level)
    if value == 0 and signed:
        return -high, high
    return (low, high) if value >= 0 else (-high, -low)


def between_parts(
    compared: PairScores, place: int, one: str, two: str, parts: dict[str, Bools], ties: str
) -> dict[str, object]:
    """The share of agreement in one part of a split against that in another."""
    difference = compared.difference[:, place]
    known = ~np.isnan(difference) & (True if ties == "in" else difference != 0)
    agree = np.sign(np.nan_to_num(difference)) * compared.users > 0
    sides = [parts[one] & known, parts[two] & known]
    (wins, n), (other_wins, other_n) = ((int((agree & side).sum()), int(side.sum())) for side in sides)
    p = np.nan
    if n and other_n:
        n_in, n_out = (np.bincount(compared.query[side], minlength=compared.queries) for side in sides)
        s_in, s_out = (totals(compared.query[side], agree[side], compared.queries) for side in sides)
        seen = n_in + n_out > 0
        found = clustered_differences(
            n_in[seen, None, None], s_in[seen, None, None], (n_in + n_out)[seen, None], (s_in + s_out)[seen, None]
        )
        p = float(found.p[0])
    return {
        "first": one,
        "second": two,
        "first_share": wins / n if n else np.nan,
        "second_share": other_wins / other_n if other_n else np.nan,
        "welch_p": welch_p(wins, n, other_wins, other_n),
        "p": p,
    }


def between_measures(compared: PairScores, resampling: Resampling) -> list[dict[str, object]]:
    """Every two measures on the same pairs: those in which users prefer a side and both measures are defined.

    Where one of the two ties in all of them there is nothing to compare: the figures are NaN.
    """
    rows: list[dict[str, object]] = []
    for one, two in combinations(range(len(compared.measures)), 2):
        gaps = compared.difference[:, [one, two]]
        base = ~np.isnan(gaps).any(axis=1) & (compared.users != 0)
        if not ((gaps != 0) & base[:, None]).any(axis=0).all():
            base = np.zeros_like(base)
        # Twice the credit, so that it is a whole number: 2 for agreeing, 1 for a tie, 0 for disagreeing.
        credit = 1 + np.sign(np.nan_to_num(gaps)) * compared.users[:, None]
        more = np.where(base, credit[:, 0] - credit[:, 1], 0.0)
        low, high = ratio_interval(compared.query, more / 2, base, resampling, signed=True)
        first, second = int((more > 0).sum()), int((more < 0).sum())
        rows.append(
            {
                "first": compared.measures[one],
                "second": compared.measures[two],
                "first_better": first,
                "second_better": second,
                "n": int(base.sum()),
                "difference": float(more[base].mean() / 2) if base.any() else np.nan,
                "low": low,
                "high": high,
                "sign_p": binomial_p(first, second),
                "p": flip_p(totals(compared.query, more, compared.queries)),
            }
        )
    return rows


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
