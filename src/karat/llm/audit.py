"""Can you trust this judge? The sheet of an LLM: the sentence first, then every figure with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.correction.gold_sample import Gold
from karat.correction.judge_confusion import confusion
from karat.correction.label_value import Worth, labels_worth
from karat.errors import BadInput, KaratError, Undefined
from karat.judges import add_features
from karat.labels import split_gold
from karat.labels.scale_check import other_scale
from karat.llm.audit_labels import PAIR, LLMJudge, asked_llms, known_by_text
from karat.llm.audit_sheet import LLMAudit, LLMSheet
from karat.llm.audit_statistics import (
    Figure,
    errors,
    expected_grades,
    expected_of,
    graded_with_gold,
    of_people,
    table,
    with_gold,
)
from karat.llm.audit_verdict import Needed, Verdict, for_difference, for_width, verdict
from karat.llm.robustness_checks import (
    asked_again,
    both_orders,
    canaries,
    costs,
    err_alike,
    mistakes,
    outcomes,
    whole_cost,
)
from karat.plan.pilot import pilot_variance
from karat.records import Documents, FrameLike, Judgments, LabelsLike, Preferences, Queries, Runs, RunsLike, Scale
from karat.records.runs import joined
from karat.records.table import count
from karat.stats import Resampling

#: How many gold labels without a judge tell as much as one with it.
WORTH = "one gold label is worth"
#: Features of documents by which errors are told apart.
FEATURES = ("document_length", "query_words", "shown_by", "rank_shown")


def audit_llm(
    labels: LabelsLike,
    runs: RunsLike | None = None,
    *,
    gold: LabelsLike | None = None,
    preferences: Preferences | FrameLike | None = None,
    queries: Queries | FrameLike | None = None,
    documents: Documents | FrameLike | None = None,
    llms: Sequence[str] = (),
    group: str | None = None,
    measure: object = "nDCG@10",
    difference: float = 0.02,
    width: float = 0.1,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> LLMAudit:
    """Whether an LLM can be used as a judge: with how many gold labels, or not at all; a sheet for each LLM.

    >>> rng = np.random.default_rng(1)
    >>> truth = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(10)} for q in range(30)}
    >>> noise = {q: {d: int(rng.integers(0, 3)) for d in docs} for q, docs in truth.items()}
    >>> found = audit_llm(noise, gold=truth, draws=100)
    >>> found.sheets[0].answer
    'do not use it'

    `labels` are what `karat ask` or another tool wrote: query, doc, label and, as far as they are known, judge, model,
    prompt, outcome, repeat, altered and altered_from (canaries), expected_grade and mass, cost. The judges named in
    `llms` are LLMs, or those of `group`, else of the group llm, else those with a model, else all; others are people,
    to compare with.
    `preferences` of pairs of lists in both orders tell whether sides change the judge's mind; `documents` and `queries`
    by which documents it is misled; `runs` whether it favours a system, and how many gold labels a `difference` in
    `measure` between the first two takes. Without runs the plan is a mean grade known to within `width` grades.

    Intervals are for other queries and this judge. Without gold labels nobody can say that a judge is right, only that
    it contradicts itself or is easily fooled.
    """
    resampling = Resampling(level, draws, seed)
    judged, trusted = split_gold(Judgments.of(labels), None if gold is None else Judgments.of(gold), given_stands=True)
    asked_of = None if queries is None else Queries.of(queries)
    texts = None if documents is None else Documents.of(documents)
    judged = known_by_text(judged, trusted, asked_of, texts)
    if llms and group is not None:
        raise BadInput("LLMs are named, or their group is: give one of the two")
    asked = asked_llms(judged, group, llms)
    known = None if trusted is None else Gold.of(trusted)
    lists = None if runs is None else joined(runs)
    said = None if preferences is None else Preferences.of(preferences)
    given = _Given(
        known, trusted, lists, said, asked_of, texts, str(measure), difference, width, resampling, judged.scale
    )
    notes = [*asked.notes, *(() if known is None else known.notes)]
    notes = [note for note in notes if "the verdict is not to be trusted" not in note]
    if known is not None and known.frame["probability"].n_unique() > 1:
        notes.append(
            "gold labels were drawn with different probabilities: errors, confusion and worth weigh them, agreement "
            "takes each alike"
        )
    people = []
    if asked.people is not None:
        people = _people(asked.people, trusted, resampling, notes)
    sheets = tuple(_sheet(judge, given, people) for judge in asked.judges)
    if said is not None and not any("orders" in sheet.frame["part"] for sheet in sheets):
        names = ", ".join(judge.name for judge in asked.judges)
        notes.append(f"no pair of lists was shown to {names} in both orders: whether sides sway it is not told")
    return LLMAudit(sheets, tuple(dict.fromkeys([*notes, *_alike(asked.judges, given)])))


@dataclass(frozen=True, eq=False)
class _Given:
    """What all judges are held against."""

    known: Gold | None
    trusted: Judgments | None
    runs: Runs | None
    preferences: Preferences | None
    queries: Queries | None
    documents: Documents | None
    measure: str
    difference: float
    width: float
    resampling: Resampling
    scale: Scale | None

    @property
    def gold(self) -> pl.DataFrame | None:
        """query, doc, gold, and for how many documents each stands."""
        if self.known is None:
            return None
        return self.known.frame.select(*PAIR, gold="label", weight=1 / pl.col("probability").fill_null(1.0))


def _sheet(judge: LLMJudge, given: _Given, people: list[Figure]) -> LLMSheet:
    resampling, notes, figures = given.resampling, list[str](), list[Figure]()
    level, chance = resampling.level, _chance(resampling)
    gold, frame = given.gold, judge.graded.select(PAIR).clear()
    cells, worst, worth, needed = None, pl.DataFrame(), None, None
    why_not = "there are no gold labels"
    if gold is not None and given.trusted is not None:
        frame = graded_with_gold(judge, gold, _features(judge, given))
        why_not = "no document has both a grade of it and a gold label"
        if frame.height:
            notes += [note for note in [other_scale(judge.graded["label"], frame["gold"])] if note]
            figures += [*with_gold(judge, given.trusted, **chance), *people]
            cells = confusion(judge.graded.select(*PAIR, "label"), _only(given.trusted), level=level)
            worst = mistakes(frame, given.queries, given.documents)
            try:
                worth, more = _worth(judge, frame, resampling)
                figures += more
                needed = _needed(judge, given, worth, notes)
            except Undefined as error:
                why_not = str(error)
            figures += [*errors(frame, level=level), *expected_grades(judge, gold, level=level)]
    figures += asked_again(judge, **chance)
    if given.preferences is not None:
        figures += both_orders(given.preferences, judge.name, notes, level=level)
    figures += canaries(judge, gold, notes, level=level)
    figures += outcomes(judge, level=level)
    figures += costs(judge, level=level)
    if np.isfinite(spent := whole_cost(judge)):
        spared = 0 if worth is None else round(frame.height * (worth.times - 1))
        said = f" and spare {count(spared, 'gold label')}" if spared > 0 else ""
        notes.append(f"all its answers, repeats and canaries included, cost {spent:,.4g}{said}")
    if needed is not None:
        plan = Figure("worth", "gold labels needed", needed.gold, np.nan, np.nan, frame.height, 0, "answers")
        figures.insert(max(at for at, one in enumerate(figures) if one.part == "worth") + 1, plan)
    commonest = frame.group_by("gold").len()["len"].to_list() if frame.height else [0]
    n_rare = frame.height - max(commonest)
    found: Verdict = verdict(
        judge.name, figures, worth, needed, n_gold=_counting(frame, given), n_rare=n_rare, why_not=why_not
    )
    return LLMSheet(
        judge.name, found.answer, found.sentence, table(figures), cells, worst, frame.height,
        None if needed is None else needed.gold, tuple(dict.fromkeys(notes)), given.scale,
        found.pairs, found.favoured,
    )  # fmt: skip


def _chance(resampling: Resampling) -> dict[str, Any]:
    """Level, draws and seed, as analyses take them."""
    return {"level": resampling.level, "draws": resampling.draws, "seed": resampling.seed}


def _only(gold: Judgments) -> Judgments:
    """Gold labels without a group: they come apart from the judge's."""
    return Judgments(gold.frame.drop("group", strict=False), gold.notes, gold.scale)


def _features(judge: LLMJudge, given: _Given) -> pl.DataFrame:
    """What is known of each document that the judge graded: length, the query's words, who shows it and how high."""
    pairs = judge.graded.select(PAIR).unique(maintain_order=True)
    made = add_features(
        Judgments.of(pairs.with_columns(label=pl.lit(0.0))),
        queries=given.queries,
        documents=given.documents,
        runs=given.runs,
    ).frame
    if "query_in_text" in made.columns:
        made = made.with_columns(query_words=pl.col("query_in_text") / 100)
    return made.select(*PAIR, *(name for name in FEATURES if name in made.columns))


def _worth(judge: LLMJudge, frame: pl.DataFrame, resampling: Resampling) -> tuple[Worth, list[Figure]]:
    """What the judge's grades are worth in gold labels, and its expected grades with them."""
    query = frame["query"].rank("dense").cast(pl.Int64).to_numpy() - 1
    truth, weight = frame["gold"].to_numpy(), frame["weight"].to_numpy()
    how: dict[str, Any] = {"level": resampling.level, "seed": resampling.seed}
    columns = {"with its grades": frame.select("label").to_numpy()}
    expected = frame.select(PAIR).join(expected_of(judge), on=PAIR, how="left", maintain_order="left")["expected_grade"]
    if expected.count() == frame.height:
        columns["with its grades and expected grades"] = np.column_stack([frame["label"], expected])
    found = {name: labels_worth(truth, x, query, weight, **how) for name, x in columns.items()}
    told = [
        Figure(
            "worth",
            WORTH,
            one.times,
            one.low,
            one.high,
            one.n,
            one.n_queries,
            "times",
            of,
        )
        for of, one in found.items()
    ]
    return found["with its grades"], told


def _needed(judge: LLMJudge, given: _Given, worth: Worth, notes: list[str]) -> Needed:
    """How many gold labels the plan needs with this judge."""
    if given.runs is not None and len(given.runs.systems) > 1:
        systems = given.runs.systems[:2]
        if len(given.runs.systems) > 2:
            notes.append(f"the plan is for the first two systems, {systems[0]} and {systems[1]}")
        pair = Runs(given.runs.frame.filter(pl.col("system").is_in(systems)))
        assert given.trusted is not None
        try:
            spread = pilot_variance(judge.graded.select(*PAIR, "label"), pair, given.measure, gold=_only(given.trusted))
            return for_difference(spread, given.difference, (systems[0], systems[1]))
        except BadInput:
            raise
        except KaratError as error:
            notes.append(f"no plan for {systems[0]} and {systems[1]} ({error}): it is for a mean grade")
    return for_width(worth.left, given.width, given.resampling.level)


def _counting(frame: pl.DataFrame, given: _Given) -> int:
    """How many gold labels count for the plan: for two runs, those of documents that they show."""
    if given.runs is None or len(given.runs.systems) < 2 or not frame.height:
        return frame.height
    shown = given.runs.frame.filter(pl.col("system").is_in(given.runs.systems[:2])).select(PAIR).unique()
    return frame.join(shown, on=PAIR, how="semi").height


def _people(people: Judgments, gold: Judgments | None, resampling: Resampling, notes: list[str]) -> list[Figure]:
    try:
        return of_people(people, None if gold is None else _only(gold), **_chance(resampling))
    except KaratError as error:
        notes.append(f"people's agreement cannot be told: {error}")
        return []


def _alike(judges: tuple[LLMJudge, ...], given: _Given) -> list[str]:
    """A warning where several judges make the same mistakes."""
    if len(judges) < 2 or given.gold is None:
        return []
    mean, low, high, n = err_alike(judges, given.gold, given.resampling)
    # Judges who are one and the same have no interval.
    if not (low > 0 or mean > 1 - 1e-9):
        return []
    ends = "" if np.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    worth = len(judges) / (1 + (len(judges) - 1) * mean)
    return [
        f"the {len(judges)} judges err alike: the mean correlation of their errors is {mean:.2f}{ends} "
        f"({count(n, 'document')}), so that together they count for {worth:.1f} who err by "
        "themselves, and a majority of them does not mend what they share"
    ]
