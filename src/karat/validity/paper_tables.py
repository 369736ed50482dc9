"""Every table of agreement of the paper on preferences, by one call."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Queries, Result, RunsLike
from karat.records.runs import joined
from karat.validity.human_ceiling import human_ceiling
from karat.validity.measure_correlation import measure_correlation
from karat.validity.pair_scores import PairScores, score_pairs
from karat.validity.reasons import reason_table
from karat.validity.user_agreement import Agreement, agreement_of
from karat.validity.votes import preferred

#: What the paper compares: cluster recall is subtopic recall, IA-PC is P_IA.
DIVERSITY = ("alpha_nDCG@10", "StRecall@10", "NRBP", "P_IA@10")
CONVENTIONAL = ("nDCG@10", "RR@10", "P@10", "ERR@10")


def agreement_tables(
    preferences: Preferences | FrameLike,
    labels: LabelsLike,
    runs: RunsLike,
    *,
    how: str = "votes",
    at_least: float | None = None,
    queries: Queries | FrameLike | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> dict[str, Result]:
    """The paper's Tables 1 to 10 for these preferences, by their names.

    >>> from karat.simulate import preference_study
    >>> study = preference_study(queries=12, subtopics=2, relevant=0.1)
    >>> list(agreement_tables(study.preferences, study.judgments, study.runs, draws=0))
    ['Table 1', 'Table 2', 'Table 3', 'Table 4', 'Table 5', 'Table 6', 'Table 7', 'Table 8']

    1: the first diversity measure, small and large differences. 2: all diversity measures. 3: their correlations over
    systems. Then each subtopic as a query of its own: 4: the conventional measures. 5: the first of them, small and
    large differences. 6 and 7: pairs in which one system scores 0, and in which none does. 8: as 7, with ties as a
    row. 9: the first by kinds of subtopics (or queries), where `queries` tells them. Without subtopics in the labels
    there are no Tables 1 to 3, and the others are by query. 10: reasons, where judges gave any, as coded or by rules.
    Tables of all pairs have the human ceiling beside them. A table that the data cannot give is left out.
    `how` and `at_least` are those of `preferred`.

    Reference: Sanderson et al. (SIGIR 2010).
    """
    preferences, labels, runs = Preferences.of(preferences), Judgments.of(labels), joined(runs)
    queries = Queries.of_optional(queries)
    by = "subtopic" if labels.has("subtopic") and preferences.has("subtopic") else "query"
    found: dict[str, Result] = {}

    def table(compared: PairScores, split: Sequence[str] = (), ties: str = "out") -> Agreement:
        return agreement_of(compared, split=split, ties=ties, queries=queries, level=level, draws=draws, seed=seed)

    def ceiling(compared: PairScores, by: str) -> Result:
        among = compared.pairs
        return human_ceiling(
            preferences, by=by, how=how, at_least=at_least, among=among, level=level, draws=draws, seed=seed
        )

    if labels.has("subtopic"):
        whole = score_pairs(preferred(preferences, how=how, at_least=at_least), labels, runs, DIVERSITY)
        humans = ceiling(whole, "query")
        found["Table 1"] = table(whole.first, ["difference"]).beside_humans(humans)
        found["Table 2"] = table(whole).beside_humans(humans)
        with suppress(Undefined):  # two systems have no ranking to speak of
            found["Table 3"] = measure_correlation(labels, runs, DIVERSITY, seed=seed)
    single = score_pairs(preferred(preferences, by=by, how=how, at_least=at_least), labels, runs, CONVENTIONAL)
    humans = ceiling(single, by)
    found["Table 4"] = table(single).beside_humans(humans)
    found["Table 5"] = table(single.first, ["difference_all"]).beside_humans(humans)
    zero = table(single, ["zero"])
    found["Table 6"] = part(zero, "one scores 0")
    found["Table 7"] = part(zero, "both score above 0")
    found["Table 8"] = part(table(single, ["zero"], "in"), "both score above 0")
    if queries is not None:
        with suppress(BadInput):  # no kinds are known
            found["Table 9"] = table(single.first, ["kind"]).beside_humans(humans)
    if preferences.has("reason"):
        with suppress(Undefined):  # nobody said why
            found["Table 10"] = reason_table(preferences)
    return found


def part(found: Agreement, split: str) -> Agreement:
    """One part of a split as a table of its own, with the tests between parts."""
    rows = found.frame.filter(pl.col("split") == split)
    best = rows.filter(pl.col("agree_share").is_not_nan()).sort("agree_share", descending=True).head(1)
    finding = f"No pair in which {split}."
    for row in best.iter_rows(named=True):
        finding = f"Where {split}, {row['measure']} agrees with users most often: in {row['agree']:,} of "
        finding += f"{row['n']:,} pairs ({100 * row['agree_share']:.0f} %)."
    return Agreement(rows, finding, found.notes, pl.DataFrame(), found.between_splits)
