"""What a reader of scores should know: missing queries, ties, unjudged documents, undefined values."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.advice import advise
from karat.measures import Judged, Lists, Measure, Topics
from karat.measures.cascade import Cascade
from karat.measures.graded import CCG, Contextual
from karat.measures.label_coverage import (
    REFUSE_SHARE,
    TOP,
    WARN_SHARE,
    as_percent,
    is_above,
    unjudged_shares,
    unknown_documents,
)
from karat.measures.rankings import cause_of, shown
from karat.records import Judgments
from karat.records.judgments import MADE
from karat.records.result import Caution, VerdictWarning
from karat.records.table import count
from karat.stats.arrays import Floats

#: Of fewer documents the same label may be the truth.
FEWEST_ALIKE = 10
#: What to call labels that no judge gave, in the order of their sources.
WORDS = ("predicted", "backed off", "the grade alone")


def notes_on(
    lists: Lists,
    values: Floats,
    systems: list[str],
    measures: list[Measure],
    complete: bool,
    *,
    own_queries: bool = False,
    comparing: bool = False,
) -> list[str]:
    """What a reader of these lists' values should know, in sentences; a run with `own_queries` misses no others.

    How missing queries are counted is an option with another name where systems are compared (`comparing`).
    """
    whose = f"{systems[0]}: " if len(systems) == 1 else ""
    about_all = [
        *_barren(lists),
        *_alike(lists),
        *_out_of_reach(lists, measures),
        *_undefined(values, measures),
        *_ties(lists, measures),
        *_in_context_only(lists, measures),
        *_without_context(lists, measures),
    ]
    missing = [] if own_queries else _missing(lists, systems, complete, comparing)
    told = [type(note)(whose + note) for note in about_all]
    return [
        *missing,
        *_without_labels(lists, systems),
        *told,
        *_unjudged(lists, systems, measures, comparing),
    ]


def _missing(lists: Lists, systems: list[str], complete: bool, comparing: bool) -> list[str]:
    """Judged queries that a run does not have."""
    notes = []
    queries = lists.topics.queries["query"]
    for system in systems:
        mine = (lists.keys["system"] == system) & pl.Series(lists.size > 0)
        missing = queries.filter(~queries.is_in(lists.keys["query"].filter(mine).implode()))
        if len(missing):
            option = advise("--complete", "complete=True")
            if comparing:
                option = advise("leaving out --common-queries", "common_queries=False")
            what = "counted as 0" if complete else f"left out of the means ({option} counts 0)"
            number = count(len(missing), "judged query", "judged queries")
            notes.append(f"{system}: {number} of {len(queries):,} not in the run, {what}: {shown(missing)}")
    return notes


def _without_labels(lists: Lists, systems: list[str]) -> list[str]:
    """Queries of a run that nobody judged."""
    notes = []
    unjudged = lists.unjudged_queries
    if len(unjudged):
        whose = f"{systems[0]}: " if len(systems) == 1 else ""
        number = count(len(unjudged), "query", "queries")
        notes.append(f"{whose}{number} of the run without labels left aside: {shown(unjudged.sort())}")
        spelled = _other_spelling(lists)
        notes += [whose + spelled] if spelled else []
    return notes


def _other_spelling(lists: Lists) -> str:
    """Whether the queries that only one side knows are the same, spelled otherwise; some of them, if most are lost."""
    judged, run = lists.topics.queries["query"], lists.unjudged_queries
    found = lists.keys["query"].filter(pl.Series(lists.size > 0))
    labels = judged.filter(~judged.is_in(found.implode()))
    cause, pairs = cause_of(labels, run)
    if cause:
        return (
            f"{count(pairs.height, 'query', 'queries')} of the run may be judged under another spelling "
            f"({shown(pairs['run'])} in the run, {shown(pairs['labels'])} in the labels): they differ by {cause}"
        )
    if found.n_unique() * 2 < min(len(judged), len(run)):
        return (
            f"few queries in common: {shown(run)} in the run, {shown(labels)} in the labels; are the ids spelled alike?"
        )
    return ""


def _barren(lists: Lists) -> list[str]:
    barren = len(lists) - int(lists.has_relevant.sum())
    if not barren:
        return []
    what = "left out of the means" if lists.profile.leaves_out_empty else "counted as 0"
    return [f"{count(barren, 'list')} of queries without a relevant document: {what}"]


def _alike(lists: Lists) -> list[str]:
    """Lists of which every document has the same label, as of a judge who says the same of all."""
    label, shown_docs = lists.label, int(lists.size.sum())
    if not FEWEST_ALIKE <= shown_docs <= len(label) or not (label > 0).all() or (label != label[0]).any():
        return []
    said = f"every document in the lists has the label {label[0]:g}: by such labels no order is better than another"
    return [Caution(said)]


def _out_of_reach(lists: Lists, measures: list[Measure]) -> list[str]:
    """Measures that call relevant what no label reaches: shares below 1, say, or a grade that nobody gave."""
    highest = np.nanmax(lists.topics.label) if np.isfinite(lists.topics.label).any() else 0.0
    lost = [str(m) for m in measures if (rel := getattr(m, "rel", None)) is not None and 0 < highest < rel]
    if not lost:
        return []
    return [f"no label reaches what {', '.join(lost)} count as relevant (the highest is {highest:g}): set rel"]


def _undefined(values: Floats, measures: list[Measure]) -> list[str]:
    missing = np.isnan(values).sum(axis=0)
    return [
        f"{measure} is undefined for {count(int(n), 'list')} of {len(values):,}: left out of its mean"
        for measure, n in zip(measures, missing, strict=True)
        if n
    ]


def _unjudged(lists: Lists, systems: list[str], measures: list[Measure], comparing: bool) -> list[str]:
    """The share of each system's documents without a label; a warning where it is large.

    A comparison has a warning of its own about the shares of its systems, so that only ids are left to be named here.
    """
    notes: list[str] = []
    for depth in _depths(measures):
        shares = unjudged_shares(lists, depth)
        for system in systems:
            share = shares.get(system, 0.0)
            large = is_above(share, WARN_SHARE)
            if share >= 0.0005 and not (large and comparing):
                text = f"{system}: {as_percent(share)} of the top {depth} have no label and count as not relevant"
                notes.append((VerdictWarning if large else str)(text))
            unknown, cause = unknown_documents(lists, system) if large else ("", "")
            # Documents that nobody labelled are unknown, too: without a cause they are worth a note.
            kind = VerdictWarning if cause or is_above(share, REFUSE_SHARE) else str
            notes += [kind(f"{system}: {unknown}{cause}")] if unknown else []
    return list(dict.fromkeys(notes))


def _depths(measures: list[Measure]) -> list[int]:
    """How far down unjudged documents are counted: the cutoffs, or the top ten for measures without any."""
    counting = [measure for measure in measures if measure.counts_unjudged]
    return sorted({measure.cutoff for measure in counting if measure.cutoff}) or ([TOP] if counting else [])


def _in_context_only(lists: Lists, measures: list[Measure]) -> list[str]:
    """Documents that were judged in context and never alone."""
    depth = max((m.cutoff or 0 for m in measures if not isinstance(m, Judged)), default=0)
    if not depth:
        return []
    # Only a document that was judged in some context has a row without a label of its own.
    in_context = float(np.isnan(lists.cut(depth).label).sum()) / max(1, int(np.minimum(lists.size, depth).sum()))
    if not in_context:
        return []
    lose = ", so that a measure with context=a counts at most a of their worth" if _in_context(measures) else ""
    looked_at = f"of the documents looked at (top {depth})"
    return [f"{_share(in_context)} {looked_at} were judged in context only: not relevant alone{lose}"]


def _share(share: float) -> str:
    return f"{share:.0%}".replace("%", " %") if share >= 0.01 else "under 1 %"


def _in_context(measures: list[Measure]) -> list[Measure]:
    """The measures that look at labels given the document above."""
    return [m for m in measures if isinstance(m, Contextual | CCG | Cascade) and m.context > 0]


def _without_context(lists: Lists, measures: list[Measure]) -> list[str]:
    wants_context = _in_context(measures)
    if not wants_context:
        return []
    deepest = max(m.cutoff or 0 for m in wants_context)
    seen = lists.cut(deepest) if deepest else lists
    known = 0 if seen.conditional is None else int((~np.isnan(seen.conditional) & (seen.rank > 1)).sum())
    below = int((seen.rank > 1).sum())
    if known == below:
        return []
    return [f"{below - known:,} of {below:,} documents have no label given the one above and keep their own"]


def made_labels(labels: Judgments) -> Topics | None:
    """Where labels in context come from, as topics whose labels number the sources; none if judges gave them all."""
    if not labels.has("source") or not labels.has("context"):
        return None
    source = labels.frame["source"].cast(pl.String, strict=False)
    if not source.is_in(list(MADE)).any():
        return None
    number = source.replace_strict(MADE, list(range(1, len(MADE) + 1)), default=0, return_dtype=pl.Float64)
    frame = labels.frame.select("query", "doc", "context", label=number)
    return Topics.of(Judgments(frame.filter(labels.frame["label"].is_not_null())))


def on_made_labels(lists: Lists, measures: list[Measure], systems: list[str]) -> list[str]:
    """A note for each system with labels in context that no judge gave; the lists have the sources as labels."""
    wants_context = _in_context(measures)
    if not wants_context:
        return []
    deepest = max(m.cutoff or 0 for m in wants_context) if all(m.cutoff for m in wants_context) else 0
    seen = lists.cut(deepest) if deepest else lists
    if seen.conditional is None:
        return []
    known = (seen.rank > 1) & ~np.isnan(seen.conditional)
    notes = []
    for system in systems:
        mine = (lists.keys["system"] == system).to_numpy()[seen.row_list] & known
        given = np.bincount(seen.conditional[mine].astype(np.int64), minlength=len(MADE) + 1)
        if not given[1:].sum():
            continue
        shares = [f"{_share(n / given.sum())} {word}" for n, word in zip(given[1:], WORDS, strict=True) if n]
        top = f" (top {deepest})" if deepest else ""
        whole = count(int(given.sum()), "label")
        notes.append(f"{system}: of {whole} in context looked at{top}, {', '.join(shares)}: no judge gave them")
    return notes


def _ties(lists: Lists, measures: list[Measure]) -> list[str]:
    """Lists where documents of equal score stand on both sides of a cutoff."""
    notes = []
    for cutoff in sorted({measure.cutoff for measure in measures if measure.cutoff is not None}):
        tied = int(np.count_nonzero(np.bincount(lists.tie_list[lists.tie_rank == cutoff + 1])))
        if tied:
            notes.append(f"ties in score at rank {cutoff} in {count(tied, 'list')} of {len(lists):,}: doc ids decided")
    if not notes and len(lists.tie_list):
        tied = int(np.count_nonzero(np.bincount(lists.tie_list)))
        notes.append(f"ties in score in {count(tied, 'list')} of {len(lists):,}, none at a cutoff: doc ids decided")
    return notes
