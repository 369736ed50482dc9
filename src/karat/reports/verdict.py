"""Which system is better? The verdict, and what the labels taken as they are would have said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from karat.comparison import Comparison
from karat.comparison import compare as compared
from karat.comparison import moved as moved_most
from karat.comparison.comparer import Comparer
from karat.correction import score
from karat.errors import KaratError, Undefined
from karat.measures.topics import UserWeights
from karat.records import Judgments, Runs
from karat.records.result import Caution
from karat.records.runs import each_system
from karat.reports.query_groups import groups_section
from karat.reports.section import Section, Table, Told
from karat.reports.verdict_figures import by_group, by_query, methods_figure
from karat.study import Study


@dataclass(frozen=True)
class How:
    """How the systems of a report are compared, in each of its sections."""

    seed: int = 0
    user_weights: UserWeights | None = None
    common_queries: bool = False
    allow_unjudged: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `compare`."""
        return vars(self)


#: So many queries that lost, and that won, are shown.
MOVED = 3


def comparison(
    study: Study,
    measure: str,
    group: str | None,
    how: How,
    baseline: str | None = None,
) -> Comparison:
    """The comparison of the study's systems, as `compare` has it of the same files and seed.

    Of two systems every difference is the second less the first, in the order of the runs. Of more it is the leading
    one less the other, as the finding says it, in `methods` and in `pairs`, and the leader is the first of `systems`.
    With a `baseline`, which is then the first, it is each of the others, best first, less the baseline.
    """
    if len(study.systems) < 2:
        there = "one system" if study.systems else "no run"
        raise Undefined(f"there is {there}, and a comparison takes two")
    labels = study.of_group(group)
    if not len(labels):
        raise Undefined("there are no labels to score the systems with")
    runs = [run for runs_of in study.runs for run in each_system(runs_of)]
    if len(runs) == 2:
        return compared(labels, runs, measure, gold=study.gold, **how.options)
    order = _best_first(labels, runs, study.gold, measure, how)
    runs.sort(key=lambda run: order.index(run.systems[0]))
    if baseline is not None:
        return compared(labels, runs, measure, gold=study.gold, baseline=baseline, **how.options)
    found = compared(labels, runs, measure, gold=study.gold, **how.options)
    return replace(found, methods=_turned(found.methods), pairs=_turned(found.pairs))


#: What changes places where a less b is told, not b less a.
OPPOSITE = (("a", "b"), ("system_a", "system_b"), ("low", "high"), ("wins", "losses"))


def _turned(frame: pl.DataFrame) -> pl.DataFrame:
    """The same differences the other way round: what was a is b, in the same columns."""
    other = {one: two for pair in OPPOSITE for one, two in (pair, pair[::-1])}
    minus = ("difference", "low", "high", "effect")
    return frame.select(
        (0.0 - pl.col(other.get(name, name)) if name in minus else pl.col(other.get(name, name))).alias(name)
        for name in frame.columns
    )


def _best_first(
    labels: Judgments,
    runs: list[Runs],
    gold: Judgments | None,
    measure: str,
    how: How,
) -> list[str]:
    complete = not how.common_queries
    means = score(labels, runs, measure, draws=0, user_weights=how.user_weights, complete=complete).best_first()
    if gold is None:
        return means
    ranks = compared(labels, runs, measure, gold=gold, draws=100, **how.options).ranks
    return ranks["system"].to_list() if ranks.height else means


def each_measure(study: Study, measures: Sequence[str], group: str | None, how: How) -> list[Comparison]:
    """The comparison by each measure, systems in the order of the runs; none by a measure that these labels refuse."""
    found, runs = [], [run for runs_of in study.runs for run in each_system(runs_of)]
    if len(runs) < 2:
        return []
    comparer = Comparer(study.of_group(group), runs, gold=study.gold, draws=100, **how.options)
    for measure in measures:
        try:
            found.append(comparer.by(measure))
        except KaratError:
            continue
    return found


def verdict_section(
    found: Comparison,
    study: Study,
    group: str | None,
    how: How,
    by: Sequence[str] = (),
) -> Section:
    """The verdict with its interval, what the labels taken as they are would have said, and groups of queries."""
    if found.refusal == "unjudged documents":
        return Section((found.finding,), (), (), found.notes)
    told = Told.of(found)
    said = [told.naive_against_corrected()]
    truth = None if study.truth is None else study.truth.difference(found.measure, told.a, told.b)
    if truth is not None:
        said.append(told.against_truth(truth))
    figures = [methods_figure(found, study.truth)] if found.methods.height else []
    notes = found.notes
    pair = [run for runs in study.runs for run in each_system(runs) if run.systems[0] in (told.a, told.b)]
    pair.sort(key=lambda run: run.systems[0] != told.a)
    if len(study.groups) > 1:
        try:
            figures.append(by_group(found, told, pair, study, truth, how.options))
        except KaratError as error:
            notes = (*notes, f"no comparison by group: {error}")
    if found.by_query.height:
        figures.append(by_query(found, told))
    tables = _moved(found, told, study, group)
    for column in by:
        try:
            part = groups_section(found, told, pair, study.of_group(group), study, column, how.options)
        except KaratError as error:
            notes = (*notes, f"no verdict by {column}: {error}")
            continue
        figures += part.figures
        tables += part.tables
        said += part.said if not part.figures else ()
        notes = (*notes, *part.notes)
    # By the labels as they are, whatever method decides.
    counts = {name: f"{name}_as_labelled" for name in ("wins", "ties", "losses")}
    pairs = found.pairs.rename(counts, strict=False)
    tables.append(Table("Every pair of systems, b less a, by the method that decides", pairs, True))
    tables.append(Table("What each method says", found.methods, True))
    if found.judge is not None:
        tables.append(Table("The judge's error: gain by label less gain by gold label", found.judge, True))
    if found.tests is not None:
        tables.append(Table("Other tests of the same difference", found.tests, True))
    said = [text for text in said if text] or [found.finding]
    return Section(tuple(said), tuple(figures), tuple(tables), notes)


def _moved(found: Comparison, told: Told, study: Study, group: str | None) -> list[Table]:
    """The queries that lost and won most, and the two lists of each side by side, folded in."""
    pair = replace(found, systems=(told.a, told.b))
    runs = list(study.runs)
    labels, gold, queries = study.of_group(group), study.gold, study.queries
    rows = moved_most(pair, labels, runs, number=MOVED, gold=gold, queries=queries, documents=study.documents)
    if not rows:
        return []
    frame = pl.DataFrame(
        [(row["query"], _text(row), row["difference"], row["a"], row["b"]) for row in rows],
        schema={
            "query": pl.String,
            "text": pl.String,
            "difference": pl.Float64,
            f"{found.measure} of {told.a}": pl.Float64,
            f"{found.measure} of {told.b}": pl.Float64,
        },
        orient="row",
    )
    caption = f"The queries on which {told.b} lost and won most against {told.a}, by the labels as they are"
    ranks = {"rank_a": f"rank in {told.a}", "rank_b": f"rank in {told.b}"}
    lists = [
        Table(
            f"{row['query']}{f' ({_text(row)})' if _text(row) else ''}: "
            f"{row['difference']:+.3f}, both lists with their labels",
            _grades(pl.DataFrame(row["documents"], infer_schema_length=None)).rename(ranks),
            True,
        )
        for row in rows
        if row["documents"]
    ]
    return [Table(caption, frame), *lists]


def _text(row: Mapping[str, Any]) -> str | None:
    """What the query says, unless that is its name."""
    return row["text"] if row["text"] != row["query"] else None


def _grades(documents: pl.DataFrame) -> pl.DataFrame:
    """Gold labels under a name of their own, whole numbers as such: `gold` is how many there are elsewhere."""
    if "gold" not in documents.columns:
        return documents
    gold = documents["gold"].cast(pl.Float64)
    whole = (gold.drop_nulls() == gold.drop_nulls().round()).all()
    return documents.with_columns(gold.cast(pl.Int64) if whole else gold).rename({"gold": "gold label"})


def warnings_of(found: Comparison) -> tuple[str, ...]:
    """The notes that may change the verdict, as sentences."""
    names, systems = dict[str, list[str]](), {*found.systems}
    for note in found.notes:
        if isinstance(note, Caution):
            # What holds for several systems is said once.
            who, _, what = note.partition(": ")
            names.setdefault(what if who in systems else note, []).extend([who] if who in systems else [])
    return tuple(f"{', '.join(who)}: {what}." if who else f"{what}." for what, who in names.items())
