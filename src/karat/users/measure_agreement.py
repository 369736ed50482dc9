"""Do measures agree with users? How often a measure prefers the system of a pair that users prefer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.measures import Profile, as_measures
from karat.records import Documents, FrameLike, Judgments, LabelsLike, Preferences, Queries, Result, RunsLike
from karat.records.number_format import percent, uncapitalized
from karat.records.runs import joined
from karat.records.table import count
from karat.stats.arrays import Bools, totals
from karat.stats.bootstrap import FEWEST, Resampling
from karat.stats.hypothesis_tests import binomial_p, flip_p, share_interval, welch_p
from karat.stats.multiple_testing import holm
from karat.users.human_ceiling import between_measures, between_parts, human_ceiling, ratio_interval
from karat.users.pair_scores import OWN, PairScores, asked_by, score_pairs, shown_depth, split_pairs, with_covariates
from karat.users.votes import preferred

TIES = ("out", "in")


def figures(agree: int, equal: int, disagree: int, tied: int, ties: str, level: float) -> dict[str, Any]:
    """One column of a table of agreement: counts, shares, the interval of the first, and tests against chance.

    >>> small = figures(25, 2, 15, 0, "out", 0.95)
    >>> small["n"], round(small["agree_share"], 3), round(small["p"], 3)
    (42, 0.595, 0.154)

    Pairs tied on the measure are left out of the base (`ties` "out") or are a row of it ("in"). `p` is the binomial
    test of agree against disagree; `t_p` is the paper's t-test of the two, which finds too much: they share their
    pairs.

    Reference: Sanderson et al. (SIGIR 2010), Tables 1 to 9.
    """
    n = agree + equal + disagree + (tied if ties == "in" else 0)
    low, high = share_interval(agree, n, level)
    base = n or np.nan
    return {
        "agree": agree,
        "equal": equal,
        "disagree": disagree,
        "ties": tied,
        "n": n,
        "agree_share": agree / base,
        "low": low,
        "high": high,
        "equal_share": equal / base,
        "disagree_share": disagree / base,
        "ties_share": tied / base if ties == "in" else np.nan,
        "p": binomial_p(agree, disagree),
        "t_p": welch_p(agree, n, disagree, n),
    }


def check_ties(ties: str) -> None:
    """Refuse anything but out and in."""
    if ties not in TIES:
        raise BadInput.at("the ties", expected=" or ".join(TIES), found=f'"{ties}"')


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """A table of agreement, with the tests between measures and parts, and how far judges agree with each other."""

    beside: ClassVar[tuple[str, ...]] = ("between_measures", "between_splits", "ceiling")
    columns: tuple[str, ...] = field(
        default=("measure", "split", "agree", "equal", "disagree", "ties", "n", "agree_share", "p_adjusted"),
        kw_only=True,
    )
    between_measures: pl.DataFrame = field(default_factory=pl.DataFrame)
    between_splits: pl.DataFrame = field(default_factory=pl.DataFrame)
    #: One judge against the majority of the others, see `human_ceiling`.
    ceiling: pl.DataFrame = field(default_factory=pl.DataFrame)

    def beside_humans(self, ceiling: Result) -> Agreement:
        """The same with the human ceiling beside it, and in the notes."""
        return replace(self, ceiling=ceiling.frame, notes=(*self.notes, _note(ceiling)))


def agreement(
    preferences: Preferences | FrameLike,
    labels: LabelsLike,
    runs: RunsLike,
    measures: object,
    *,
    by: str | None = None,
    how: str = "votes",
    at_least: float | None = None,
    split: Sequence[str] = (),
    ties: str = "out",
    queries: Queries | FrameLike | None = None,
    documents: Documents | FrameLike | None = None,
    profile: str | Profile = "trec_eval",
    depth: int | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Agreement:
    """How often each measure prefers the system that users prefer, with tests against chance and between measures.

    >>> from karat.simulate import preference_study
    >>> study = preference_study("nDCG@10", queries=40, noise=0.5, seed=3)
    >>> found = agreement(study.preferences, study.judgments, study.runs, ["nDCG@10", "P@10"])
    >>> found.frame.select("measure", "split", "agree", "equal", "disagree", "ties", "n").rows()[0]
    ('nDCG@10', 'all', 110, 4, 6, 0, 120)

    Pairs that a measure ties are left out of its base (`ties` "out"), or are a row of it ("in"); `credit` is 1 for
    agreeing, 1/2 for a tie, 0 for disagreeing, over the pairs in which users prefer a side. `split` asks for parts:
    "difference", "difference_all", "zero", a column of the queries such as "kind", or a covariate of the pairs
    (`with_covariates`): "list_length", "missing_snippets" and "snippet_length" (with `documents`), or a column of the
    preferences. `mean_difference` is how far apart the measure puts the pairs of a row. `p` is against chance, whole
    queries flipped at random, because the pairs of one query hang together; `binomial_p` and `t_p` take pairs for
    independent, as the paper does. `p_adjusted` allows for all rows (Holm). Intervals are bootstrap intervals over
    queries.

    `between_measures` compares the credit of measures on the same pairs: in `first_better` pairs the first has more, in
    `second_better` the second; `sign_p` is the exact sign test of these two, `p` tests the credit by whole queries,
    adjusted by Holm, which alone makes one `better`. A measure that ties in every pair is compared with no other.
    `between_splits` compares parts by the paper's t-test (`welch_p`) and with errors clustered by query (`p`).

    `ceiling` has the same figures of judges, each against the majority of the others (`human_ceiling`): no measure
    can be asked to know users better than they know each other.

    `by` says what a pair is of: by default a subtopic, with its own labels, where users were asked about subtopics and
    labels are of them, else a query (so, too, for measures of diversity, which look at all subtopics). Users saw
    `depth` results of a list (by default those of the lists that came with the answers, or ten): measures that look
    further down are named in the notes.

    Agreement of 50 % is chance only where users never find both equal. Few pairs make weak tests: that no measure is
    called better does not make them equal.

    Reference: Sanderson et al., Do User Preferences and Evaluation Measures Line Up? (SIGIR 2010).
    """
    check_ties(ties)
    Resampling(level, draws, seed)
    queries, documents = Queries.of_optional(queries), Documents.of_optional(documents)
    told, judged = Preferences.of(preferences), Judgments.of(labels)
    by, notes = asked_by(told, judged, as_measures(measures), by)
    wanted = preferred(told, by=by, how=how, at_least=at_least)
    runs, depth = joined(runs), shown_depth(told, depth)
    asked = [name for name in split if name not in OWN] if not isinstance(split, str) else []
    frame = (
        with_covariates(wanted.frame, told, runs, asked, documents=documents, depth=depth) if asked else wanted.frame
    )
    wanted = replace(wanted, frame=frame, notes=(*wanted.notes, *notes))
    compared = score_pairs(wanted, judged, runs, measures, profile=profile, depth=depth)
    found = agreement_of(compared, split=split, ties=ties, queries=queries, level=level, draws=draws, seed=seed)
    among = compared.pairs
    humans = human_ceiling(told, by=by, how=how, at_least=at_least, among=among, level=level, draws=draws, seed=seed)
    return found.beside_humans(humans)


def agreement_of(
    compared: PairScores,
    *,
    split: Sequence[str] = (),
    ties: str = "out",
    queries: Queries | FrameLike | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Agreement:
    """The same from pairs whose scores are known, see `score_pairs`."""
    if isinstance(split, str):
        raise BadInput.at("the split", expected="a list of splits", found=f'"{split}"', remedy=f'write ["{split}"]')
    check_ties(ties)
    queries = Queries.of_optional(queries)
    resampling = Resampling(level, draws, seed)
    notes = list(compared.notes)
    undefined = np.isnan(compared.difference).sum(axis=0)
    rows, tests = [], []
    for place, measure in enumerate(compared.measures):
        if undefined[place]:
            left = count(int(undefined[place]), "pair")
            notes.append(f"{measure} is undefined in {left}: left out of its counts")
        if not np.nan_to_num(compared.difference[:, place]).any():
            notes.append(f"{measure} tells no two systems of a pair apart: whether it agrees with users cannot be told")
        which = {"all": np.ones(len(compared), bool)}
        for name in split:
            parts = split_pairs(compared, name, place, queries)
            which |= parts
            tests += [
                {"measure": measure, "split": name, **between_parts(compared, place, one, two, parts, ties)}
                for one, two in combinations(parts, 2)
            ]
        for name, pairs in which.items():
            rows.append({"measure": measure, "split": name, **_row(compared, place, pairs, ties, resampling)})
    table = _adjusted(rows, _ROW)
    if compared.queries < FEWEST and draws:
        notes.append(f"no intervals: fewer than {FEWEST} queries are too few to tell")
    pairs_each = len(compared) / compared.queries
    if pairs_each > 1.5:
        notes.append(f"{pairs_each:.1f} pairs a query: p allows for that")
    ahead = pl.when(pl.col("difference") > 0).then("first").otherwise("second")
    between = _adjusted(between_measures(compared, resampling), _MEASURES)
    between = between.with_columns(better=pl.when(pl.col("p_adjusted") < 1 - level).then(ahead))
    finding = _sentence(table, between, compared, level)
    found = Agreement(table, finding, tuple(notes), between, _adjusted(tests, _SPLITS))
    return replace(found, columns=_OF_PARTS) if split else found


#: Of parts one asks how far apart the measure puts their pairs; tests are between them, not of each against chance.
_OF_PARTS = ("measure", "split", "agree", "equal", "disagree", "n", "agree_share", "mean_difference")


def _note(ceiling: Result) -> str:
    """The human ceiling as a note, with what there is to know about it."""
    return uncapitalized("; ".join([ceiling.finding.rstrip("."), *ceiling.notes]))


_SHARES = ("mean_difference", "credit", "agree_share", "low", "high", "equal_share", "disagree_share", "ties_share")
_ROW = {
    **dict.fromkeys(("measure", "split"), pl.String),
    **dict.fromkeys(("agree", "equal", "disagree", "ties", "n"), pl.Int64),
    **dict.fromkeys((*_SHARES, "p", "binomial_p", "t_p"), pl.Float64),
}
_MEASURES = {
    **dict.fromkeys(("first", "second"), pl.String),
    **dict.fromkeys(("first_better", "second_better", "n"), pl.Int64),
    **dict.fromkeys(("difference", "low", "high", "sign_p", "p"), pl.Float64),
}
_SPLITS = {
    **dict.fromkeys(("measure", "split", "first", "second"), pl.String),
    **dict.fromkeys(("first_share", "second_share", "welch_p", "p"), pl.Float64),
}


def _adjusted(rows: list[dict[str, Any]], schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    """The table of these rows, with p values that allow for how many tests stand in it."""
    table = pl.DataFrame(rows, schema=schema)
    return table.with_columns(p_adjusted=pl.Series(holm(table["p"].to_numpy()), dtype=pl.Float64))


def _row(compared: PairScores, place: int, which: Bools, ties: str, resampling: Resampling) -> dict[str, Any]:
    """Counts, shares and tests of one measure on some of the pairs."""
    difference = compared.difference[:, place]
    known = which & ~np.isnan(difference)
    way = np.sign(np.where(known, difference, 0.0)) * compared.users
    tied = known & (difference == 0)
    agree, disagree = known & (way > 0), known & (way < 0)
    base = known if ties == "in" else known & ~tied
    equal = known & ~tied & (compared.users == 0)
    found = figures(int(agree.sum()), int(equal.sum()), int(disagree.sum()), int(tied.sum()), ties, resampling.level)
    found["binomial_p"] = found["p"]
    found["p"] = flip_p(totals(compared.query, agree.astype(np.float64) - disagree, compared.queries))
    found["mean_difference"] = float(np.abs(difference[base]).mean()) if base.any() else np.nan
    asked = known & (compared.users != 0)
    found["credit"] = float((1 + way[asked]).mean() / 2) if asked.any() else np.nan
    found["low"], found["high"] = ratio_interval(compared.query, agree, base, resampling)
    return found


def _sentence(table: pl.DataFrame, between: pl.DataFrame, compared: PairScores, level: float) -> str:
    whole = table.filter(pl.col("split") == "all").with_columns(pl.col("credit", "agree_share").fill_nan(None))
    # A measure that has no pair left has the credit of a coin, and says nothing.
    order = [pl.col("agree_share").is_null(), pl.col("credit").is_null(), -pl.col("credit")]
    best = whole.sort(order, maintain_order=True).row(0, named=True)
    if not compared.users.any():
        return f"Users find both systems equal in all {count(len(compared), 'pair')}: no measure can agree with them."
    if best["credit"] is None:
        return "No measure is defined in any pair of which users prefer a side."
    if best["agree_share"] is None:
        return "No measure tells any two systems of a pair apart."
    ends = ""
    if not np.isnan(best["low"]):
        ends = f" ({level * 100:g} % interval {percent(best['low'])} to {percent(best['high'])})"
    text = f"{best['measure']} agrees with users in {percent(best['agree_share'])} of {count(best['n'], 'pair')}{ends}"
    if not best["p_adjusted"] < 1 - level:
        text += ", which may be chance"
    elif best["disagree"] > best["agree"]:
        text += f" and disagrees in {percent(best['disagree_share'])}: it goes against users by more than chance"
    against = whole.filter(pl.col("p_adjusted") < 1 - level, pl.col("disagree") > pl.col("agree"))["measure"].to_list()
    against = [measure for measure in against if measure != best["measure"]]
    if against:
        text += f"; {', '.join(against)} {'goes' if len(against) == 1 else 'go'} against users"
    if not between.height:
        return text + "."
    better = between.filter(pl.col("better").is_not_null())
    if not better.height:
        return text + f"; none of {whole.height} measures is shown to agree better than another."
    worse = pl.when(pl.col("better") == pl.col("first")).then("second").otherwise("first")
    than = better.select("better", worse=worse).rows()
    beaten = [other for measure, other in than if measure == best["measure"]]
    if len(beaten) == whole.height - 1 > 3:  # more than are named below
        return text + f"; {best['measure']} is shown to agree better than every other."
    # What the best is better than comes first: that is what was asked.
    pairs = [(best["measure"], other) for other in beaten] + [pair for pair in than if pair[0] != best["measure"]]
    shown = ", ".join(f"{measure} than {other}" for measure, other in pairs[:3])
    return text + f"; shown to agree better: {shown}{' and others' if len(pairs) > 3 else ''}."
