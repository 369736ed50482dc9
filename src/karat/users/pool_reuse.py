"""Would the labels have served a run that nobody had judged? Each run left out in turn, and scored all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from karat.context import label_in_context
from karat.context.labelling import source_named
from karat.errors import BadInput, Undefined
from karat.measures import as_measures
from karat.measures.scorer import Scorer
from karat.records import Judgments, LabelsLike, Result, Runs, RunsLike
from karat.records.judgments import paths
from karat.records.runs import joined, ranked
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import Floats

#: How far down lists were judged where a measure looks at all of them.
DEEP = 10
#: The sources that are compared when none is named.
SOURCES = ("judged", "backed off", "predicted")
#: What is scored when no measure is asked for.
MEASURES = ("CCG(context=0.5)@5", "CG(context=0.5)@5")


def reuse(
    judgments: LabelsLike,
    runs: RunsLike,
    measures: object = MEASURES,
    *,
    sources: Sequence[str] = SOURCES,
    model: str = "grades",
    documents: Any = None,
    depth: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Result:
    """How far off a run's score is when it had no part in what was judged, source by source of the labels in context.

    >>> from karat.simulate import context_study
    >>> study = context_study(seed=1, queries=20, scheme="pairs")
    >>> reuse(study.judgments, study.runs, "CG(context=0.5)@5", depth=5).frame["system"].n_unique()
    3

    Each run is left out in turn: documents that no other run has in its first `depth` (as far as the measures look),
    and labels in context of two documents that no other run has both, lose their labels, as if this run had come later.
    It is then scored by what is left, with labels of each of the `sources` (`label_in_context`), and by all labels that
    judges gave, made up in the same way. `score` is the latter, `reused` the former, `off` their mean difference with
    its interval over queries (Student's t); `rank` and `reused_rank` are the run's places among all runs by the two. A
    `tau` of 1 says that no two runs change places.

    Reference: Zobel, How reliable are the results of large-scale information retrieval experiments? (SIGIR 1998);
    Golbus et al. (WWW 2014), section 6.
    """
    from scipy.stats import kendalltau

    judged, lists, wanted = Judgments.of(judgments), joined(runs), as_measures(measures)
    if len(lists.systems) < 2:
        raise BadInput.at("the runs", expected="two or more, each left out in turn", found="one")
    named = list(dict.fromkeys(source_named(name) for name in sources))
    depth = max([2, *(one.cutoff or DEEP for one in wanted)]) if depth is None else depth
    top = ranked(lists, depth).select("system", "query", "doc")
    how: dict[str, Any] = {"depth": depth, "model": model, "documents": documents, "seed": seed}
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    for source in named:
        whole = _scores(_labels(judged, lists, source, how), lists, wanted)
        left = {}
        for system in lists.systems:
            kept, lost = _without(judged, top, system)
            try:
                left[system] = _scores(_labels(kept, lists, source, how), lists, wanted)
            except (BadInput, Undefined) as error:
                raise Undefined(f"without {system} nothing can be scored: {error}") from error
            if source == named[0]:
                notes.append(f"without {system} {count(lost, 'label')} of {len(judged):,} would not have been given")
        for measure in map(str, wanted):
            means = {name: float(np.nanmean(_column(whole, name, measure)[1])) for name in lists.systems}
            reused = {name: float(np.nanmean(_column(left[name], name, measure)[1])) for name in lists.systems}
            tau = kendalltau(
                [means[name] for name in lists.systems], [reused[name] for name in lists.systems]
            ).statistic
            for system in lists.systems:
                off = _off(_column(whole, system, measure), _column(left[system], system, measure), level)
                among = means | {system: reused[system]}
                rows.append(
                    {"source": source, "measure": measure, "system": system, "score": means[system]}
                    | {"reused": reused[system], **off, "rank": _rank(means, system)}
                    | {"reused_rank": _rank(among, system), "tau": float(tau)}
                )
    frame = pl.DataFrame(rows, infer_schema_length=None)
    shown = ("source", "measure", "system", "score", "reused", "off", "rank", "reused_rank")
    return Result(frame, _said(frame), tuple(notes), columns=shown)


def _without(judged: Judgments, top: pl.DataFrame, system: str) -> tuple[Judgments, int]:
    """The labels that there would be without this run, and how many there would not be."""
    others = top.filter(pl.col("system") != system).select("query", "doc").unique()
    own = top.filter(pl.col("system") == system).select("query", "doc").unique()
    alone = own.join(others, on=["query", "doc"], how="anti").with_columns(gone=pl.lit(True))
    last = (
        paths(judged.frame["context"])["last"]
        if judged.has("context")
        else pl.Series([None] * len(judged), dtype=pl.String)
    )
    frame = judged.frame.with_columns(_last=last)
    gone = frame.join(alone, on=["query", "doc"], how="left", maintain_order="left")["gone"].fill_null(False)
    before = alone.rename({"doc": "_last", "gone": "also"})
    gone |= frame.join(before, on=["query", "_last"], how="left", maintain_order="left")["also"].fill_null(False)
    # A document after another was judged for the lists that have both.
    both = top.join(top.rename({"doc": "_last"}), on=["system", "query"]).filter(pl.col("doc") != pl.col("_last"))
    theirs = both.filter(pl.col("system") != system).select("query", "doc", "_last").unique()
    mine = both.filter(pl.col("system") == system).select("query", "doc", "_last").unique()
    pairs = mine.join(theirs, on=["query", "doc", "_last"], how="anti").with_columns(pair=pl.lit(True))
    gone |= frame.join(pairs, on=["query", "doc", "_last"], how="left", maintain_order="left")["pair"].fill_null(False)
    return replace(judged, frame=judged.frame.filter(~gone)), int(gone.sum())


def _labels(judged: Judgments, lists: Runs, source: str, how: dict[str, Any]) -> Judgments:
    return label_in_context(judged, lists, source=source, **how)


def _scores(labels: Judgments, lists: Runs, wanted: list[Any]) -> pl.DataFrame:
    return Scorer(labels, wanted, complete=True, draws=0).score(lists).queries


def _column(scores: pl.DataFrame, system: str, measure: str) -> tuple[pl.Series, Floats]:
    mine = scores.filter(pl.col("system") == system).sort("query")
    return mine["query"], mine[measure].to_numpy().astype(np.float64)


def _off(whole: tuple[pl.Series, Floats], left: tuple[pl.Series, Floats], level: float) -> dict[str, Any]:
    """The mean of what queries are off, with its interval; queries that lost all their labels score 0."""
    from scipy.special import stdtrit

    both = pl.DataFrame({"query": whole[0], "whole": whole[1]}).join(
        pl.DataFrame({"query": left[0], "left": left[1]}), on="query", how="left", maintain_order="left"
    )
    apart = (both["left"].fill_null(0.0) - both["whole"]).to_numpy()
    apart = apart[~np.isnan(apart)]
    low = high = np.nan
    if len(apart) >= FEWEST and apart.std() > 0:  # where nothing is lost, nothing is left to chance
        half = float(stdtrit(len(apart) - 1, 0.5 + level / 2)) * float(apart.std(ddof=1)) / np.sqrt(len(apart))
        low, high = apart.mean() - half, apart.mean() + half
    return {"off": float(apart.mean()), "off_low": float(low), "off_high": float(high), "n": len(apart)}


def _rank(means: dict[str, float], system: str) -> int:
    return 1 + sum(value > means[system] + 1e-12 for value in means.values())


def _said(frame: pl.DataFrame) -> str:
    """Which source reuses labels best, by the mean size of what scores are off, as a share of the scores."""
    share = (pl.col("off").abs() / pl.col("score").abs()).fill_nan(None)
    by = frame.group_by("source", maintain_order=True).agg(
        share.mean().alias("share"), (pl.col("rank") != pl.col("reused_rank")).sum().alias("moved"), pl.len()
    )
    told = [
        f"with labels {row['source']} by {100 * (row['share'] or 0):.1f} % on the mean ({row['moved']} of {row['len']} "
        "change places)"
        for row in by.sort("share", nulls_last=True).iter_rows(named=True)
    ]
    return f"Scores of a run that had no part in what was judged are off {', '.join(told)}."
