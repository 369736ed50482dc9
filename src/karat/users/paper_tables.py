"""Every table of agreement of the paper on preferences, by one call."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Queries, Result, RunsLike
from karat.records.runs import joined
from karat.users.human_ceiling import human_ceiling
from karat.users.measure_agreement import Agreement, agreement_of
from karat.users.measure_correlation import measure_correlation
from karat.users.pair_scores import PairScores, score_pairs
from karat.users.reasons import reason_table
from karat.users.votes import preferred

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


#: The rows of a table of agreement, by the columns that are counted; ties where they are counted in.
ROWS = {"agree": "Agree", "equal": "Rank equal", "disagree": "Disagree", "ties": "Ties"}
#: The figures of Table 3, and what the paper calls them.
CORRELATIONS = {"tau": "Kendall's tau", "tau_ap": "AP-correl."}


def as_printed(table: Result) -> Result:
    """The same table in the paper's layout; what is none of its tables stays as it is.

    >>> frame = pl.DataFrame({"measure": ["nDCG@10"] * 2, "split": ["all", "small difference"], "agree": [160, 96],
    ...                       "equal": [21, 16], "disagree": [66, 43], "ties": [0, 0], "n": [247, 155]})
    >>> for row in as_printed(Result(frame, "")).frame.iter_rows(): print(row)
    ('Agree', '160 (65 %)', '96 (62 %)')
    ('Rank equal', '21 (9 %)', '16 (10 %)')
    ('Disagree', '66 (27 %)', '43 (28 %)')
    ('', '247', '155')

    Tables 1, 2 and 4 to 9 have users' answers as rows; Table 3 the upper half of both correlations; Table 10 class,
    example and number. The mean difference of each part, of which Section 4.2 tells, goes into a note.
    """
    frame = table.frame
    if {"measure", *ROWS} - {"ties"} <= {*frame.columns}:
        return _agreement(table)
    if {"first", "second", *CORRELATIONS} <= {*frame.columns}:
        return replace(_plain(table), frame=pl.concat([_half(frame, *one) for one in CORRELATIONS.items()]))
    if {"class", "example", "n"} <= {*frame.columns}:
        return replace(_plain(table), frame=frame.select("class", "example", "n").filter(pl.col("n") > 0))
    return table


def _agreement(table: Result) -> Result:
    frame = table.frame
    parts = frame["split"].n_unique() > 1
    # Ties are a row where they are of the pairs counted, as in Table 8.
    ties_in = bool((frame["n"] == frame.select(pl.sum_horizontal(*ROWS)).to_series()).all()) and frame["ties"].sum() > 0
    rows = {name: said for name, said in ROWS.items() if name != "ties" or ties_in}
    columns: dict[str, list[str]] = {"users": [*rows.values(), ""]}
    for row in frame.iter_rows(named=True):
        name = row["measure"].replace("_", "-") if not parts or row["split"] == "all" else row["split"]
        base = max(row["n"], 1)
        columns[name] = [f"{row[part]:,} ({100 * row[part] / base:.0f} %)" for part in rows] + [f"{row['n']:,}"]
    notes = list(table.notes)
    if "mean_difference" in frame.columns:
        means = [
            (row["split"], row["mean_difference"]) for row in frame.iter_rows(named=True) if row["mean_difference"]
        ]
        said = ", ".join(f"{split} {mean:.3f}" for split, mean in means[: 3 if parts else 1])
        notes.append(f"mean difference in {frame['measure'][0]}: {said}")
    return replace(_plain(table), frame=pl.DataFrame(columns), notes=tuple(notes))


def _half(frame: pl.DataFrame, figure: str, said: str) -> pl.DataFrame:
    """The upper half of a square of correlations, its name in the first column's head row."""
    frame = frame.with_columns(pl.col("first", "second").str.replace_all("_", "-"))
    names = pl.concat([frame["first"], frame["second"]]).unique(maintain_order=True).to_list()
    known = {(row["first"], row["second"]): row[figure] for row in frame.iter_rows(named=True)}
    rows = []
    for first in names[:-1]:
        cells = [known.get((first, second)) for second in names[1:]]
        rows.append([said, first, *("" if value is None else f"{value:.4f}" for value in cells)])
    return pl.DataFrame(rows, schema=["correlation", "measure", *names[1:]], orient="row")


def _plain(table: Result) -> Result:
    """The finding and the notes alone: what stands beside a table in karat is no part of the paper's."""
    return Result(table.frame, table.finding, table.notes)
