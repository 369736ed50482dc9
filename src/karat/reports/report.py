"""The report: every section that the study allows, the verdict first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import TypeGuard

from karat.comparison import Comparison
from karat.correction import score
from karat.errors import BadInput, KaratError, Undefined
from karat.formats import read_judgments, read_runs
from karat.formats.read import unique_system_names
from karat.labels import split_gold
from karat.llm.audit_labels import known_llms
from karat.measures import as_measures
from karat.measures.scores import Scores
from karat.measures.topics import UserWeights
from karat.records import Judgments, LabelsLike, PathLike, Runs, RunsLike
from karat.records.result import Caution
from karat.records.runs import headed_by, joined
from karat.records.table import count
from karat.reports.context import context_section
from karat.reports.figure import Figure
from karat.reports.grade_weights import worth_section
from karat.reports.judging import judges_section
from karat.reports.latex import latex_tables
from karat.reports.llm import llm_section
from karat.reports.next_steps import next_section
from karat.reports.page import page
from karat.reports.query_groups import query_groups
from karat.reports.scores import scores_section
from karat.reports.section import MISSING, Section, in_a_few_words
from karat.reports.section import headline as short
from karat.reports.users import users_section
from karat.reports.verdict import How, comparison, each_measure, verdict_section, warnings_of
from karat.study import Study

#: What is scored beside the measure that decides.
BESIDE = ("nDCG@10", "AP", "RR", "P@10")
#: The sections and their questions.
QUESTIONS = {
    "verdict": "Which is better?",
    "scores": "How good is each system?",
    "judges": "Can the judges be trusted?",
    "llm": "Can you trust this judge?",
    "worth": "What is a grade worth to users who disagree?",
    "context": "What is a document worth after another?",
    "users": "Do the measures agree with users?",
    "next": "What to do next",
}


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What was found, section by section: as a page, as pictures, as tables for a paper."""

    title: str
    verdict: str
    reason: str
    about: str
    simulated: str
    sections: tuple[Section, ...]
    comparison: Comparison | None = None
    scores: Scores | None = None
    #: What may change the verdict.
    warnings: tuple[str, ...] = ()
    #: The comparison by each measure, systems in the order of the runs.
    by_measure: tuple[Comparison, ...] = ()

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures in the order of the page."""
        return tuple(figure for section in self.sections for figure in section.figures)

    def html(self) -> str:
        """The page, complete in itself."""
        return page(self.title, self.verdict, self.reason, self.about, self.simulated, self.sections, self.warnings)

    def latex(self) -> str:
        """The scores and comparisons as LaTeX tables (booktabs; wide ones take graphicx)."""
        return latex_tables(self.scores, self.comparison, self.by_measure)

    def write_charts(self, folder: PathLike) -> list[Path]:
        """Write every figure as SVG and PNG with its numbers as CSV, and tell where."""
        return [path for figure in self.figures for path in figure.write(Path(folder))]

    def __repr__(self) -> str:
        return f"{self.verdict.rstrip('.')}: {self.reason}" if self.reason else self.verdict

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


def _study_of(
    labels: Study | PathLike | LabelsLike,
    runs: RunsLike | PathLike | Sequence[PathLike] | None,
    gold: LabelsLike | PathLike | None,
) -> Study:
    """The study, or one made of the labels; runs and gold labels that are given stand for its own."""
    if isinstance(gold, int | float):
        remedy = "say how many gold labels to plan for with n_gold="
        raise BadInput.at("gold", expected="gold labels", found=str(gold), remedy=remedy)
    trusted = read_judgments(gold) if _is_path(gold) else gold
    if isinstance(labels, Study):
        study = labels
    elif _is_path(labels):
        study = Study.load(labels) if Path(labels).is_dir() else Study.load(labels=labels)
    else:
        judged, inside = split_gold(Judgments.of(labels), None if trusted is None else Judgments.of(trusted))
        study, trusted = Study("A study of search engines", labels=judged, gold=inside), None
    if trusted is not None:
        judged, inside = split_gold(study.judged, Judgments.of(trusted), given_stands=True)
        study = replace(study, labels=judged, gold=inside)
    return study if runs is None else replace(study, runs=_runs_of(runs))


def _runs_of(runs: RunsLike | PathLike | Sequence[PathLike]) -> tuple[Runs, ...]:
    """The runs, read where they are files."""
    files = [runs] if _is_path(runs) else [*runs] if isinstance(runs, Sequence) and all(map(_is_path, runs)) else []
    if files:
        return tuple(unique_system_names([read_runs(file) for file in files], [str(file) for file in files]))
    every = joined(runs)
    return tuple(replace(every, frame=every.frame.filter(system=name)) for name in every.systems)


def _is_path(data: object) -> TypeGuard[PathLike]:
    return isinstance(data, str | os.PathLike)


def report(
    labels: Study | PathLike | LabelsLike,
    runs: RunsLike | PathLike | Sequence[PathLike] | None = None,
    *,
    gold: LabelsLike | PathLike | None = None,
    measure: str | None = None,
    measures: Sequence[str] = BESIDE,
    group: str | None = None,
    by: Sequence[str] = (),
    baseline: str | None = None,
    difference: float = 0.02,
    n_gold: int = 300,
    draws: int = 1000,
    seed: int = 0,
    user_weights: UserWeights | None = None,
    common_queries: bool = False,
    allow_unjudged: bool = False,
    progress: Callable[[Sequence[str]], Iterable[str]] | None = None,
) -> Report:
    """A report of all that the labels and runs, or a study or its folder, allow; what they do not is one line each.

    `labels` and `runs` are what `compare` takes, or files of them. A study has runs and gold labels of its own, which
    those that are given replace.
    `measure` decides (nDCG@10 unless named); `group` names the judges whose labels score the systems, all
    of them by their median otherwise. `by` are columns of the queries, or length or question: the verdict on each group
    of them. `baseline` names the system that the others are compared with. `difference` is the one worth seeing,
    `n_gold` the number of gold labels to plan for. A judged query that a system misses counts 0 where there are
    several, unless `common_queries` compares on the queries that all answer. `allow_unjudged` compares although most of
    a system's top documents have no label.
    `user_weights` are for gains of users who disagree, as `compare` takes them. `progress` gets the names of the parts
    and gives them back one by one.
    """
    study = _study_of(labels, runs, gold)
    deciding = str(as_measures(measure or "nDCG@10")[0])
    wanted = [str(one) for one in as_measures(list(dict.fromkeys([deciding, *measures])))]
    wanted = list(dict.fromkeys(wanted))
    if group is not None:
        study.of_group(group)  # a name mistyped should not cost the work on the rest
    if isinstance(by, str):
        raise BadInput.at("by", expected="a list of columns", found=f'"{by}"')
    for column in by:
        query_groups(study, column)
    if baseline is not None:
        study = replace(study, runs=tuple(headed_by(study.runs, baseline)))
    how = How(seed=seed, user_weights=user_weights, common_queries=common_queries, allow_unjudged=allow_unjudged)
    found: list[Comparison] = []
    scored: list[Scores] = []

    def scores() -> Section:
        scored.append(_scores(study, wanted, group, draws, how))
        return scores_section(scored[0], found[0] if found else None)

    def verdict() -> Section:
        found.append(comparison(study, deciding, group, how, baseline))
        return verdict_section(found[0], study, group, how, by)

    makers: dict[str, Callable[[], Section]] = {
        "verdict": verdict,
        "scores": scores,
        "judges": lambda: judges_section(study, draws, seed),
        "llm": lambda: llm_section(study, deciding, difference, draws, seed),
        "worth": lambda: worth_section(study, group, draws, seed),
        "context": lambda: context_section(study, draws, seed),
        "users": lambda: users_section(study, group, wanted, draws, seed),
        "next": lambda: next_section(found[0] if found else None, study, group, difference, n_gold, seed),
    }
    sections, told = list[Section](), set[str]()
    asked = [name for name in QUESTIONS if name != "llm" or _has_llms(study)]
    for name in (progress or list)(asked):
        try:
            made = makers[name]()
        except KaratError as error:
            made = Section((f"{MISSING}{str(error).rstrip('.')}.",))
        # What several sections would note, on the labels that all use, is noted by the first.
        beside = Caution if name == "verdict" else ()  # what stands beside the verdict already
        notes = tuple(note for note in made.notes if note not in told and not isinstance(note, beside))
        told.update(made.notes)
        alone = name == "users" and study.labels is None
        title = "What do users prefer?" if alone else QUESTIONS[name]
        sections.append(replace(made, name=name, title=title, notes=notes))
    headline, reason = _headline(found, scored, sections)
    return Report(
        title=study.title,
        verdict=headline,
        reason=reason,
        about=_about(study, group, seed),
        simulated=study.truth.simulated if study.truth is not None else "",
        sections=tuple(sections),
        comparison=found[0] if found else None,
        scores=scored[0] if scored else None,
        warnings=warnings_of(found[0]) if found else (),
        by_measure=tuple(each_measure(study, wanted, group, how)) if found else (),
    )


def _has_llms(study: Study) -> bool:
    """Whether some labels are of LLMs: nobody else's report has a word about them."""
    return study.audit is not None or (study.labels is not None and bool(known_llms(study.labels).any()))


def _scores(study: Study, measures: list[str], group: str | None, draws: int, how: How) -> Scores:
    """The scores as `score` has them, with corrected ones beside them where there are gold labels that can.

    Of several systems they are over the queries that the verdict counts.
    """
    if study.labels is not None and not study.systems:
        raise Undefined("there is no run")
    weights = how.user_weights
    complete = len(study.systems) > 1 and not how.common_queries
    plainly = partial(
        score, study.of_group(group), list(study.runs), measures, draws=draws, seed=how.seed, complete=complete
    )
    if study.gold is not None:
        try:
            return plainly(gold=study.gold, user_weights=weights)
        except KaratError as error:
            plain = plainly(user_weights=weights)
            return replace(plain, notes=(f"scores are not corrected with gold labels: {error}", *plain.notes))
    return plainly(user_weights=weights)


def _headline(found: list[Comparison], scored: list[Scores], sections: list[Section]) -> tuple[str, str]:
    """The verdict in a few words and what it rests on; without a comparison, the first thing that was found."""
    if found:
        return f"{in_a_few_words(found[0])}.", f"{found[0].reason}."
    if scored:
        said = next(section for section in sections if section.name == "scores")
        corrected = scored[0].has_gold and said.figures
        return (f"{said.figures[0].title}.", said.said[0]) if corrected else (scored[0].finding, "")
    first = [section.said[0] for section in sections if not section.missing]
    return (f"{short(first[0])}." if first else "The data does not allow a verdict."), ""


def _about(study: Study, group: str | None, seed: int) -> str:
    parts = []
    if study.systems:
        parts.append(count(len(study.systems), "system"))
    if study.labels is not None:
        labels = study.labels.frame
        parts.append(f"{count(labels.height, 'label')} for {count(labels['query'].n_unique(), 'query', 'queries')}")
        if study.groups:
            parts.append(f"judges: {', '.join(study.groups)}")
    if study.gold is not None:
        parts.append(count(len(study.gold), "gold label"))
    if study.preferences is not None:
        parts.append(count(len(study.preferences), "preference"))
    if study.clicks is not None:
        parts.append(repr(study.clicks))
    scored_by = f"labels of {group}" if group else "the median of all labels"
    scored = f" Systems are scored by {scored_by}." if study.systems and study.labels is not None else ""
    return f"{'; '.join(parts)}.{scored} Seed {seed}."
