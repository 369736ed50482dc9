"""Do labels rank systems as gold labels do? Kendall's tau and AP correlation of system means under two label sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput, Undefined
from karat.labels import GOLD, split_gold
from karat.labels.scale_check import is_out_of_reach, scale_difference
from karat.measures import Measure, Profile, as_measures
from karat.measures.scorer import Scorer
from karat.records import Judgments, LabelsLike, Result, Runs, RunsLike
from karat.records.result import VerdictWarning
from karat.records.runs import joined
from karat.records.table import count
from karat.stats import FEWEST, Resampling
from karat.stats.arrays import Floats
from karat.stats.rank_correlation import kendall_rows, tau_ap_rows

#: With fewer systems a rank correlation says next to nothing.
MIN_SYSTEMS = 3
#: The top third of so many systems or more has a rank correlation of its own.
MIN_SYSTEMS_FOR_THIRDS = 9
#: A judge who labelled this share of a group's documents ranks systems alone; others are reduced to one label.
MIN_SHARE_OF_DOCUMENTS = 0.5
#: Below this share of labelled documents a ranking of systems rests on missing labels.
MIN_SHARE_LABELLED, MIN_SHARE_TO_RANK = 0.9, 0.5
#: Numbers in a table of resamples x systems x systems that is worked on at once.
MAX_CELLS = 2_000_000
FIGURES = ("tau", "tau_ap", "tau_top", "tau_ap_top")
SCHEMA = {
    "judge": pl.String,
    "measure": pl.String,
    **{f"{name}{end}": pl.Float64 for name in FIGURES for end in ("", "_low", "_high")},
    **dict.fromkeys(("systems", "top_systems", "queries"), pl.Int64),
}


def compare_rankings(
    labels: LabelsLike,
    runs: RunsLike,
    measures: object = "nDCG@10",
    *,
    gold: LabelsLike | None = None,
    profile: str | Profile = "trec_eval",
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """Compare how labels and gold labels rank systems: Kendall's tau and AP correlation of the systems' means.

    This is the figure that papers about LLM judges report first. A high correlation says that labels order systems
    well on average; it does not say that they decide a given pair of systems well. For that, see `compare` with a gold
    sample.

    >>> from karat.simulate import preference_study
    >>> study = preference_study(queries=30, systems=9, judges=1)
    >>> labels = study.judgments.frame.with_columns((pl.col("label") > 0).cast(pl.Float64))
    >>> found = compare_rankings(labels, study.runs, "nDCG@10", gold=study.judgments, draws=100)
    >>> found.frame.select("measure", pl.col("tau").round(3), "systems", "queries").row(0)
    ('nDCG@10', 1.0, 9, 30)

    Args:
        labels: Labels of one or more judges. Each judge who labelled at least half of the documents of the group
            ranks the systems alone; other judges of a group are reduced to one label for each document.
        runs: The rankings of three or more systems.
        measures: One or more measures. Each label set is scored on its own scale.
        gold: Gold labels of all documents that count, not of a sample, unless they are the group gold of the labels.
        profile: Which tool's conventions the scores follow.
        level: The confidence level.
        draws: Number of bootstrap resamples of the queries (0 for no intervals).
        seed: The seed of the resamples.

    Returns:
        A row for each judge and measure: `tau` (Kendall's tau_b) and `tau_ap` (AP correlation, with the ranking by
        gold as the truth and the mean over all orders of ties), the same over the top third of the systems by gold
        (`tau_top`, `tau_ap_top`), each with an interval, and the numbers of systems and queries. Few queries make
        rankings noisy and correlations too low, on average. Intervals are of the bootstrap over queries, corrected for
        this bias, and so reach further above the estimate than below it. They are a little short: in simulated studies
        with 24 systems and 40 queries, 95% intervals held the correlation over all queries in 88 to 93% (plain
        percentile intervals on the runs of TREC DL 2021: in 1 to 85%).

    Raises:
        BadInput: There are no gold labels, or they are a sample.
        Undefined: There are fewer than three systems, no query has labels of both kinds, or most documents that count
            have no label.

    Reference: Kendall (Biometrika 1945); Yilmaz, Aslam and Robertson (SIGIR 2008); Urbano and Marrero (ICTIR 2017).
    """
    resampling, wanted = Resampling(level, draws, seed, fewest=100), as_measures(measures)
    judged, trusted = split_gold(labels, gold, given_stands=True, any_scale=True)
    if trusted is None:
        raise BadInput.at(
            "the rankings", expected="gold labels", found="none", remedy=advise("give --gold", "give gold=")
        )
    if trusted.has("probability") and (trusted.frame["probability"] < 1).any():
        raise BadInput.at(
            "the gold labels",
            expected="labels of all documents that count",
            found="a sample (some sampling probabilities are below 1)",
            remedy=f"a sample does not rank systems by itself; {advise('karat score --gold', 'kt.score(gold=)')} "
            "corrects scores with it",
        )
    lists = joined(runs)
    if len(lists.systems) < MIN_SYSTEMS:
        raise Undefined(f"a rank correlation needs {MIN_SYSTEMS} systems or more, not {len(lists.systems)}")
    n_queries = lists.frame["query"].n_unique()
    truth, notes, rows = _scored(trusted, lists, wanted, profile), list[str](), list[tuple[object, ...]]()
    notes += _unlabelled(truth, wanted, GOLD)
    for name, one in label_sets(judged).items():
        scales = scale_difference(one, trusted)
        if scales is not None:
            notes.append(
                f"{name}: labels ({scales.labels}) and gold labels ({scales.gold}) are on different scales; each are "
                "scored on their own"
            )
        mine = _scored(one, lists, wanted, profile)
        notes += _unlabelled(mine, wanted, name)
        for measure in wanted:
            values = _by_query(mine, truth, lists.systems, str(measure))
            if scales is not None and is_out_of_reach(measure, scales):
                notes.append(f"{name}: {measure} is undefined, since no label reaches its relevance threshold")
                values = np.full_like(values, np.nan)
            if measure.cutoff and _share_labelled(mine, measure.cutoff) < MIN_SHARE_TO_RANK:
                values = np.full_like(values, np.nan)
            if values.shape[2] < n_queries:
                notes.append(
                    f"{name}, {measure}: {values.shape[2]:,} of {n_queries:,} queries count, "
                    "those with labels and gold labels"
                )
            rows.append((name, str(measure), *_correlations(values, resampling), values.shape[2]))
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    shown = ("judge", "measure", *FIGURES[: 4 if frame["top_systems"].max() else 2])
    missing = _missing(lists, trusted)
    notes = [*missing, *dict.fromkeys((*judged.notes, *notes))]
    return Result(frame, _finding(frame, level), tuple(notes), columns=shown)


def label_sets(labels: Judgments) -> dict[str, Judgments]:
    """The labels that rank systems separately: of each judge who labelled enough, else of each group.

    >>> one = [{"query": "q", "doc": d, "label": 1, "judge": "gpt", "group": "llm"} for d in "abc"]
    >>> crowd = [{"query": "q", "doc": d, "label": 0, "judge": f"w{d}", "group": "crowd"} for d in "abc"]
    >>> {name: len(of) for name, of in label_sets(Judgments.of([*one, *crowd])).items()}
    {'crowd': 3, 'gpt': 3}
    """
    frame, found = labels.frame, dict[str, Judgments]()
    groups = frame["group"].unique().drop_nulls().sort().to_list() if labels.has("group") else []
    for group in groups or [None]:
        mine = frame if group is None else frame.filter(pl.col("group") == group)
        documents = mine.select("query", "doc").n_unique()
        enough = pl.DataFrame({"judge": pl.Series([], dtype=pl.String)})
        if labels.has("judge"):
            sizes = mine.drop_nulls("judge").group_by("judge").agg(pl.struct("query", "doc").n_unique().alias("n"))
            enough = sizes.filter(pl.col("n") >= MIN_SHARE_OF_DOCUMENTS * documents).sort("judge")
        for judge in enough["judge"].to_list():
            name = judge if judge not in found else f"{group}, {judge}"
            found[name] = replace(labels, frame=mine.filter(pl.col("judge") == judge), notes=())
        if not enough.height:
            name = "labels" if group is None else str(group)
            found[name if name not in found else f"{name} (group)"] = replace(labels, frame=mine, notes=())
    return found


def _scored(labels: Judgments, runs: Runs, measures: Sequence[Measure], profile: str | Profile) -> pl.DataFrame:
    """Scores by system and query, a missing ranking counting 0, with the share of labelled documents at each cutoff."""
    cutoffs = sorted({measure.cutoff for measure in measures if measure.cutoff})
    asked = dict.fromkeys([*(str(measure) for measure in measures), *(f"Judged@{k}" for k in cutoffs)])
    scorer = Scorer(labels, [*asked], profile=profile, complete=True, draws=0)
    return scorer.score(runs).queries


def _share_labelled(scores: pl.DataFrame, cutoff: int) -> float:
    return float(scores[f"Judged@{cutoff}"].drop_nans().mean() or 0.0)  # type: ignore[arg-type]


def _unlabelled(scores: pl.DataFrame, measures: Sequence[Measure], name: str) -> list[str]:
    """A warning where too many of the documents that count have no label; where most have none, nothing can be said."""
    found = list[str]()
    for cutoff in sorted({measure.cutoff for measure in measures if measure.cutoff}):
        share = _share_labelled(scores, cutoff)
        if share < MIN_SHARE_TO_RANK:
            text = (
                f"{name}: {100 * (1 - share):.0f}% of the documents in the top {cutoff} have no label, "
                "too many to rank systems by; label them, or leave out the queries without labels"
            )
            if name == GOLD:
                raise Undefined(text)
            found.append(VerdictWarning(text))
            continue
        if share < MIN_SHARE_LABELLED:
            found.append(
                VerdictWarning(
                    f"{name}: {100 * (1 - share):.0f}% of the documents in the top {cutoff} have no label and count as "
                    "not relevant"
                )
            )
    return found


def _by_query(mine: pl.DataFrame, truth: pl.DataFrame, systems: list[str], measure: str) -> Floats:
    """Scores of both label sets by system and query, on the queries where both are defined for every system."""
    text = pl.col("system", "query").cast(pl.String)
    both = mine.select(text, mine=measure).join(truth.select(text, truth=measure), on=["system", "query"])
    queries = both["query"].unique().sort()
    places = pl.DataFrame({"system": systems, "place": range(len(systems))})
    both = both.join(places, on="system").sort("place", "query")
    values = both.select("mine", "truth").to_numpy().reshape(len(systems), len(queries), 2).transpose(2, 0, 1)
    known = ~np.isnan(values).any(axis=(0, 1))
    if not known.any():
        raise Undefined(f"no query has {measure} by labels and by gold labels")
    return np.asarray(values[:, :, known], dtype=np.float64)


def _correlations(values: Floats, resampling: Resampling) -> list[float | int]:
    """The figures with their intervals, and the numbers of systems and of top systems."""
    systems, queries = values.shape[1:]
    means = np.round(values.mean(axis=2), 12)  # equal means differ by rounding
    top = np.arange(0)
    if systems >= MIN_SYSTEMS_FOR_THIRDS:
        top = np.sort(np.argsort(-means[1], kind="stable")[: systems // 3])
    chosen = (np.arange(systems), top)
    drawn: list[list[Floats]] = [[], [], [], []]
    if resampling.draws:
        for times in resampling.times(queries):
            step = max(1, MAX_CELLS // systems**2)
            for start in range(0, len(times), step):
                part = times[start : start + step]
                one, two = (np.round(part @ side.T / queries, 12) for side in values)
                for place, figure in enumerate(_figures(one, two, chosen)):
                    drawn[place].append(figure)
    found: list[float | int] = []
    for place, figure in enumerate(_figures(means[:1], means[1:], chosen)):
        low, high = np.nan, np.nan
        if drawn[place] and queries >= FEWEST:
            low, high = _bias_corrected(float(figure[0]), np.concatenate(drawn[place]), resampling, queries)
        found += [float(figure[0]), low, high]
    return [*found, systems, len(top)]


def _bias_corrected(figure: float, drawn: Floats, resampling: Resampling, queries: int) -> tuple[float, float]:
    """The hull of the percentile interval moved to the estimate and the basic bootstrap's, within -1 and 1.

    Resampled rankings are noisier than the sample's, as those are noisier than the population's: correlations of
    resamples lie below that of the sample, and their percentiles hardly ever hold that of the population.
    """
    low, high = resampling.ends(drawn, queries)
    if np.isnan(low) or np.isnan(figure):
        return np.nan, np.nan
    bias = float(np.nanmean(drawn)) - figure
    return max(min(low - bias, 2 * figure - high), -1.0), min(max(high - bias, 2 * figure - low), 1.0)


def _figures(mine: Floats, truth: Floats, chosen: tuple[np.ndarray, np.ndarray]) -> list[Floats]:
    """Tau and AP correlation of each row of means, over all systems and over the top ones."""
    found = []
    for systems in chosen:
        if not len(systems):
            found += [np.full(len(mine), np.nan)] * 2
            continue
        one, two = mine[:, systems], truth[:, systems]
        tied = (np.ptp(one, axis=1) == 0) | (np.ptp(two, axis=1) == 0)
        found += [kendall_rows(one, two), np.where(tied, np.nan, tau_ap_rows(two, one))]
    return found


def _missing(runs: Runs, gold: Judgments) -> list[str]:
    """A note on rankings that are missing for queries with gold labels."""
    queries = gold.frame.drop_nulls("label")["query"].unique()
    there = runs.frame.select(pl.col("system", "query").cast(pl.String)).unique()
    there = there.filter(pl.col("query").is_in(queries.implode()))
    lost = len(queries) * len(runs.systems) - there.height
    if not lost:
        return []
    return [VerdictWarning(f"{lost:,} of {len(queries) * len(runs.systems):,} rankings are missing and count 0")]


def _finding(frame: pl.DataFrame, level: float) -> str:
    known = frame.filter(pl.col("tau").is_not_nan())
    if not known.height:
        return "All systems are tied: no rank correlation is defined."
    first = known.filter(pl.col("measure") == known["measure"][0]).sort(-pl.col("tau"), maintain_order=True)
    best = first.row(0, named=True)
    said = f"Kendall's tau {best['tau']:.2f}"
    if not np.isnan(best["tau_low"]):
        said += f", {100 * level:g}% CI [{best['tau_low']:.2f}, {best['tau_high']:.2f}]"
    said += f"; AP correlation {best['tau_ap']:.2f}"
    if not np.isnan(best["tau_ap_low"]):
        said += f", [{best['tau_ap_low']:.2f}, {best['tau_ap_high']:.2f}]"
    of = f"{best['systems']:,} systems over {count(best['queries'], 'query', 'queries')}"
    if first.height == 1:
        return f"{best['judge']} and gold labels rank {of} by {best['measure']} with {said}."
    return f"Of {first.height} judges, {best['judge']} ranks {of} by {best['measure']} most like gold labels: {said}."
