"""What each document is worth to users who disagree: a gain in place of a grade, for any measure and any tool."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.combined_levels import combined_levels
from karat.judges.disagreement import Disagreement, disagreement
from karat.judges.level_votes import FEW_LABELS, level_of, levels_of, need_labels, top_level, top_level_notes, used
from karat.labels import Panel
from karat.records import LabelsLike, Result
from karat.records.number_format import interval_said, with_ends
from karat.records.scale import ONE_USER, users_who_agree
from karat.records.table import count
from karat.stats import FEWEST, Resampling, ratio, ratio_intervals, totals
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Floats, distinct, summed

#: Columns of combined weights that are no part of a level.
ENDS = ("", "_low", "_high")
NOT_PARTS = (
    "level",
    "told",
    "asked",
    "n",
    "few",
    "alone",
    *(f"{name}{end}" for name in ("weight", "p_top") for end in ENDS),
)
#: Into so many bins of documents are predictions put beside what was said.
BINS = 8


@dataclass(frozen=True, eq=False, repr=False)
class DocumentGains(Result):
    """The gain of each document: query, doc, gain, n (its labels); `calibration` where it was predicted."""

    calibration: Result | None = field(default=None, kw_only=True)


def document_gains(
    labels: Panel | LabelsLike, top: float | None = None, *, at_least: int = 1, of: int = 3
) -> DocumentGains:
    """The weight of each document: the mean, over its judges, of the worth of what they said (`disagreement`).

    >>> rows = [{"query": "q", "doc": d, "label": n, "judge": str(j)}
    ...         for d, given in {"a": [2, 2], "b": [1, 0], "c": [1, 2]}.items() for j, n in enumerate(given)]
    >>> document_gains(rows).frame.select("doc", "gain").rows()
    [('a', 1.0), ('b', 0.375), ('c', 0.875)]

    Written as labels, they are gains for every measure that takes labels as they are: nDCG, DCG, CG, RBP.
    """
    model = disagreement(labels, top, draws=0)
    panel = Panel.of(labels).of_judges()
    worth = np.nan_to_num(model.binomial(at_least, of))[level_of(panel, model.votes.levels)]
    users = users_who_agree(at_least, of)
    said = f"P({users} {'say' if of else 'says'} {panel.said(model.top)})"
    return _means(panel, worth, said, model.notes)


def combined_gains(found: Result, labels: Panel | LabelsLike, *, column: str = "surface") -> DocumentGains:
    """The weight of each document by what judges said of all its parts together, as `combined_weights` found it."""
    parts = [name for name in found.frame.columns if name not in NOT_PARTS]
    tops = found.frame.row(0, named=True)
    panel, levels = combined_levels(labels, parts, [tops[part] for part in parts], column, all_labels=True)
    worth = dict(zip(found.frame["level"].to_list(), found.frame["weight"].to_list(), strict=True))
    weight = np.array([worth.get(name, 0.0) for name in levels["level"].to_list()])[panel.grade]
    unknown = [name for name in levels["level"].to_list() if name not in worth]
    notes = [f"nothing is known of {len(unknown)} combinations: worth 0"] if unknown else []
    return _means(panel, weight, f"the worth of {' and '.join(parts)} together", notes)


def user_gains(found: Result, labels: Panel | LabelsLike, *, given: str | None = None) -> DocumentGains:
    """The weight of each document by what a random user would say, as `random_user` found it.

    >>> from karat.judges.document_gains import random_user
    >>> rows = [{"query": "q", "doc": d, "label": n, "judge": str(j)}
    ...         for d, said in {"a": [2, 2, 1], "b": [1, 0, 0]}.items() for j, n in enumerate(said)]
    >>> user_gains(random_user(rows, 1), rows).frame.select("doc", pl.col("gain").round(3)).rows()
    [('a', 0.833), ('b', 0.5)]

    `given` is the group whose labels are seen, as in `random_user`: documents without one of theirs have no gain.
    """
    panel = Panel.of(labels).of_judges()
    if given is not None:
        panel = panel.kept(panel.group == panel.groups.index(given))
    worth = dict(zip(found.frame["level"].to_list(), found.frame["weight"].to_list(), strict=True))
    unknown = sorted({*panel.value.tolist()} - {*worth})
    said = ", ".join(panel.said(grade) for grade in unknown)
    notes = [f"nothing is known of users where {given or 'a judge'} says {said}: worth 0"] if unknown else []
    weight = np.array([worth.get(grade, 0.0) for grade in panel.value.tolist()])
    return _means(panel, np.nan_to_num(weight), "what a random user would say", notes)


def soft_relevance(
    labels: Panel | LabelsLike,
    top: float | None = None,
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> DocumentGains:
    """The probability that a random user calls a document top, given all labels that it has.

    Each label in turn tells what share of users likes such documents (a beta distribution), the others are votes, and
    the answers are averaged: the order in which labels came must not matter. `calibration` holds each label out in
    turn, predicts it from the others, and puts predictions beside what was said, with intervals over queries.
    """
    model = disagreement(labels, top, all_labels=True, level=level, draws=draws, seed=seed)
    if np.isnan([a for (a, _), p in zip(model.opinions, model.p, strict=True) if not np.isnan(p)]).any():
        raise Undefined(
            "soft relevance takes documents with three labels or more: nobody knows how far documents differ"
        )
    panel, levels = model.votes.panel, model.votes.levels
    counts = label_counts(panel.item, level_of(panel, levels), panel.items.height, len(levels))
    frame = _gains(panel, _posterior(counts, model))
    gain = frame["gain"].to_numpy()
    checked = _calibration(model, Resampling(level, draws, seed))
    said = (
        f"{count(frame.height, 'document')}: a random user says {panel.said(model.top)} of one with probability "
        f"{gain.min():.2f} to {gain.max():.2f}, given its labels."
    )
    return DocumentGains(frame, said, model.notes, calibration=checked)


def _posterior(counts: Floats, model: Disagreement) -> Floats:
    """P(a further user says top) from how many labels of each level a document has."""
    size, (a, b) = counts.sum(axis=1, keepdims=True), np.transpose(model.opinions)
    seen_is_top = np.arange(counts.shape[1]) == counts.shape[1] - 1
    more = np.maximum(counts[:, [-1]] - seen_is_top, 0)
    each = counts / np.maximum(size, 1) * (a + more) / (a + b + np.maximum(size - 1, 0))
    found: Floats = np.nansum(each, axis=1)
    return found


def _calibration(model: Disagreement, resampling: Resampling) -> Result:
    """Each label predicted from the document's others: what was predicted beside what was said, in bins."""
    v, levels = model.votes, len(model.votes.levels)
    document, held = np.nonzero(v.counts)
    guess = _posterior(v.counts[document] - np.eye(levels)[held], model)
    told, share, of = held == levels - 1, (v.counts / v.size[:, None])[document, held], v.query[document]
    ends = np.quantile(guess, np.linspace(0, 1, BINS + 1)[1:-1])
    rows = []
    for place in range(BINS):
        mine = np.searchsorted(ends, guess, side="right") == place
        if not mine.any():
            continue
        part, whole = (totals(of[mine], each[mine], v.n_queries)[:, None] for each in (share * told, share))
        low, high = ratio_intervals(part, whole, resampling)
        guessed = float(np.average(guess[mine], weights=share[mine]))
        was = float(part.sum() / whole.sum())
        rows.append((guessed, was, float(low[0]), float(high[0]), round(float(share[mine].sum()))))
    names = ["expected", "said", "said_low", "said_high", "documents"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    off = (frame["expected"] - frame["said"]).abs().to_numpy()
    weighted = float(np.average(off, weights=frame["documents"].to_numpy()))
    finding = f"Held-out labels: what was predicted is off by {weighted:.3f} on average, by {off.max():.3f} at most."
    return Result(frame, finding)


def _gains(panel: Panel, gain: Floats) -> pl.DataFrame:
    """The gains of the items that have labels, with the number of these."""
    number = np.bincount(panel.item, minlength=panel.items.height)
    frame = panel.items.select("query", "doc", gain=pl.Series(gain), n=pl.Series(number))
    return frame.filter(pl.col("n") > 0)


def _means(panel: Panel, worth: Floats, what: str, notes: tuple[str, ...] | list[str]) -> DocumentGains:
    whole = totals(panel.item, worth, panel.items.height)
    frame = _gains(panel, whole / np.maximum(np.bincount(panel.item, minlength=len(whole)), 1))
    gain = frame["gain"].to_numpy()
    finding = f"{count(frame.height, 'document')} with a gain from {gain.min():.3f} to {gain.max():.3f}: {what}."
    several = int((frame["n"] > 1).sum())
    if several:
        notes = [*notes, f"{count(several, 'document')} with several labels: the mean of what each is worth"]
    return replace(DocumentGains(frame, finding), notes=tuple(notes))


def random_user(
    labels: Panel | LabelsLike,
    top: float | None = None,
    *,
    given: str | None = None,
    group: str | None = None,
    all_labels: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """The probability that a random user says `top` or higher, for each label that a judge gave.

    >>> rows = [{"query": "q", "doc": d, "label": n, "judge": str(j)}
    ...         for d, given in {"a": [2, 2, 1], "b": [1, 0, 0]}.items() for j, n in enumerate(given)]
    >>> random_user(rows, 1).frame.select("level", pl.col("weight").round(3)).rows()
    [(0.0, 0.5), (1.0, 0.5), (2.0, 1.0)]

    The user is not the judge, as in the user disagreement model (`disagreement`), and any level may be the least that
    he is content with. `given` is the group whose label is seen, `group` the one that the user is of: what a person
    would say when an LLM said this, for gains of an LLM's grades. A document of m labels of the one group and c of this
    level counts c / m; of the same group, the label itself is not among the users'.

    Reference: Demeester, Trieschnigg, Nguyen, Hiemstra and Zhou, Predicting relevance based on assessor disagreement
    (Information Retrieval Journal 2015).
    """
    panel = Panel.of(labels).of_judges()
    for name in (given, group):
        if name is not None and name not in panel.groups:
            raise BadInput.at("the group", expected=f"one of {', '.join(panel.groups)}", found=name)
    alike = given == group
    if alike:
        need_labels(panel if given is None else panel.kept(panel.group == panel.groups.index(given)))
        panel = used(panel, all_labels=all_labels)
    grades, least = levels_of(panel), top_level(panel, top)
    seen_counts, users = (_counts(panel, grades, name) for name in (given, group))
    content = np.array(grades) >= least
    size, others = seen_counts.sum(axis=1), users.sum(axis=1) - alike
    kept = (size > 0) & (others > 0)
    if not kept.any():
        raise Undefined("no document has a label of both: what a user would say cannot be told")
    asked = seen_counts[kept] / size[kept, None]
    say = users[kept][:, content].sum(axis=1)[:, None] - (content[None, :] & alike)
    told = asked * np.maximum(say, 0) / others[kept, None]
    number, query, _ = distinct(panel.query_of_item[kept])
    told, asked = (summed(query, each, len(number)) for each in (told, asked))
    weight = ratio(told.sum(axis=0), asked.sum(axis=0))
    ends = ratio_intervals(told, asked, Resampling(level, draws, seed))
    n = seen_counts[kept].sum(axis=0).astype(np.int64)
    frame = pl.DataFrame({"level": grades, **with_ends("weight", weight, *ends), "n": n})
    frame = frame.filter(pl.col("n") > 0).with_columns(few=pl.col("n") < FEW_LABELS)
    who = ("another user" if alike else "a user") + (f" of {group}" if group else "")
    below = frame.filter(pl.col("level") < least).sort("level").to_dicts() or frame.to_dicts()
    row = below[-1]
    finding = (
        f"When {given or 'one'} says {panel.said(row['level'])}, {who} says {panel.said(least)} or higher with "
        f"probability {row['weight']:.3f}{interval_said(row['weight_low'], row['weight_high'], level, 3)}."
    )
    gains = ",".join(f"{one['level']:g}:{one['weight']:.3f}" for one in frame.to_dicts())
    unused = top_level_notes(panel, least) if not (panel.value >= least).any() else []
    notes = [*panel.notes, *unused, f"{count(int(kept.sum()), 'document')} with labels of both, {len(number)} queries"]
    notes.append(f"as gains of any measure, in every command: nDCG(gains={{{gains}}})@10")
    if len(number) < FEWEST and draws:
        notes.append(f"{count(len(number), 'query', 'queries')}: too few for intervals")
    return Result(frame, finding, tuple(notes), scale=panel.scale)


def one_users_weights(found: Result) -> pl.DataFrame:
    """What `random_user` found as weights for udm(user) gains, in the form of a file of `karat disagree --out`.

    >>> found = {"level": [1.0], "weight": [0.3], "weight_low": [0.2], "weight_high": [0.4], "n": [9]}
    >>> one_users_weights(Result(pl.DataFrame(found), "")).rows()
    [(1, 0, 1.0, 0.3, 0.2, 0.4)]
    """
    users = {name: pl.lit(value) for name, value in zip(("at_least", "of"), ONE_USER, strict=True)}
    return found.frame.select(**users, level="level", weight="weight", low="weight_low", high="weight_high")


def _counts(panel: Panel, grades: list[float], group: str | None) -> Floats:
    """How many labels of each grade a group, or everybody, gave to each item."""
    mine = np.ones(len(panel.item), bool) if group is None else panel.group == panel.groups.index(group)
    place = np.searchsorted(grades, panel.value[mine])
    return label_counts(panel.item[mine], place, panel.items.height, len(grades)).astype(np.float64)
