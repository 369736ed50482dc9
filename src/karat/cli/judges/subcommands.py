"""The parts of `karat judges`: agreement, error, labels, gold, clicks, distribution, bias, and all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from inspect import signature
from typing import Any

import click

import karat as kt
from karat.cli import options
from karat.cli.inputs import Reading, measures_named, read_several, runs_in, with_kinds
from karat.cli.judges.llm import llm as llm
from karat.cli.options import Command, OneOf, as_one
from karat.cli.output_formats import keep_inputs, write_csv
from karat.cli.results import Tables
from karat.cli.subcommand import Given, every_part, part
from karat.correction.judge_confusion import confusion as confusion_of
from karat.errors import BadInput
from karat.judges import FEATURES, add_features
from karat.judges.agreement_tests import agreement_with_tests
from karat.judges.gold_errors import Target
from karat.judges.jackknife import Judges as Population
from karat.labels import Panel
from karat.records import ClickLog, Clicks, Documents, Judgments, Queries, Result, Runs
from karat.records.column_names import OF_ANSWERS_OF_LLMS
from karat.records.runs import together
from karat.users.ranking_agreement import compare_rankings


def features(command: Command) -> Command:
    """The options that give features of query and document."""
    return options.documents(options.queries(options.runs(command)))


def of_labels(*wanted: Callable[[Any], Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """LABELS and these options, and those that say how labels are read: the command gets what they give as `given`.

    What the command names as parameters of its own it gets as typed.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = {"as_json", "as_tsv", "as_latex", "plot", "out", *signature(command).parameters}

        @wraps(command)
        def with_given(**typed: Any) -> None:
            asked = {name: typed.pop(name) for name in [*typed] if name in own}
            command(given=_read(featured="documents" in typed, **typed), **asked)

        labels = click.argument("labels", metavar="LABELS...", nargs=-1, required=True)
        made: Callable[..., None] = as_one(labels, *wanted, options.study)(with_given)
        return made

    return decorated


@dataclass(frozen=True)
class Judged(Given):
    """What the parts of the report look at."""

    gold: Judgments | None
    clicks: Clicks | ClickLog | None
    by: tuple[str, ...]
    judges_are: Population
    #: The level of intervals, and for those drawn at random their draws and seed.
    chance: dict[str, Any]
    lists: tuple[Runs, ...] = ()
    #: The files that were read, not to be written over.
    files: tuple[str, ...] = ()

    @cached_property
    def panel(self) -> Panel:
        """All labels that count, gold among them."""
        return Panel.of(self.judgments, self.gold, apart=self.by)

    @property
    def level(self) -> float:
        """The level of the intervals."""
        return float(self.chance["level"])

    def each(self, name: str, made: Callable[[str | None], Result]) -> dict[str, Result]:
        """A result for each column to report by, or one over all."""
        return {f"{name} by {by}": made(by) for by in self.by} or {name: made(None)}

    def seen(self, result: Result, title: str) -> Result:
        """A table as people see it: without what was looked at and is no finding of its own, which --json has."""
        if "found" in result.frame.columns:
            result = replace(result, frame=result.frame.filter(result.frame["found"]))
        return super().seen(result, title)


def _read(
    reading: Reading,
    labels: Sequence[str],
    *,
    featured: bool,
    gold: str | None = None,
    clicks: str | None = None,
    documents: str | None = None,
    queries: str | None = None,
    runs: Sequence[str] = (),
    by: Sequence[str] = (),
    judges_are: Population = "sample",
    **chance: Any,
) -> Judged:
    """The labels with what stands beside them, and the features that it allows."""
    given = reading.study(
        labels,
        only=("clicks", "documents", "queries"),
        gold=gold,
        clicks=clicks,
        documents=documents,
        queries=queries,
    )
    runs = runs or runs_in(labels[0])
    lists = tuple(read_several(runs)) if runs else ()
    judgments = given.judged
    if featured:
        judgments = _with_features(judgments, given.documents, given.queries, lists, by)
    files = [*labels, *runs, *(file for file in (gold, clicks, documents, queries) if file is not None)]
    return Judged(judgments, given.known, given.clicks, tuple(by), judges_are, chance, lists, tuple(files))


def _with_features(
    judgments: Judgments, documents: Documents | None, queries: Queries | None, lists: Sequence[Runs], by: Sequence[str]
) -> Judgments:
    """The judgments with the features that documents, queries and runs allow; those asked for must be among them."""
    judgments = with_kinds(judgments, queries)
    wanted = [name for name in by if name in FEATURES and not judgments.has(name)] or None
    if wanted is not None or documents is not None or queries is not None or lists:
        judgments = add_features(
            judgments,
            wanted,
            queries=queries,
            documents=documents,
            runs=together(lists) if lists else None,
        )
    for name in by:
        judgments.need(name, "--by")
    return judgments


#: Features of yes or no, which the regression of the errors is on; a domain or a length would fill the page.
SPLITS = ("wikipedia", "query_in_url", "root_url", "navigational")
#: What a regression is of, in words.
REGRESSED: dict[Target, str] = {"error": "the error", "label": "the label", "gold": "gold"}
#: A text column with more values than this splits labels too finely.
MOST_VALUES = 50


@part(
    of_labels(options.gold, options.by, features, options.judges_are, options.resampling),
    examples="""karat judges agreement llm-judges/*.txt --gold gold.qrels
karat judges agreement crowd.csv pro.csv --by wikipedia --documents docs.jsonl""",
)
def agreement(given: Judged) -> Tables:
    """How far judges agree, within a group, between groups and with gold labels, and whether groups differ in it."""
    labels, gold, judges = given.judgments, given.gold, given.judges_are
    tables, tests = dict[str, Result](), dict[str, Result]()
    for by in given.by or (None,):
        what = "" if by is None else f" by {by}"
        made = agreement_with_tests(labels, gold, by=by, judges=judges, **given.chance)
        tables[f"Agreement{what}"] = made[0]
        if made[1] is not None and made[1].frame.height:
            tests[f"Differences{what}"] = made[1]
    return tables | tests


@part(of_labels(options.gold, options.level), examples="karat judges error crowd.csv --gold gold.csv")
def error(given: Judged) -> Tables:
    """A row for each judge: agreement with the others, accuracy, leniency, pace, drift, and who may be a spammer."""
    return {"Judges": kt.judges.judge_table(given.judgments, gold=given.gold, level=given.level)}


@part(
    of_labels(
        options.gold,
        options.by,
        features,
        click.option(
            "--target",
            "targets",
            multiple=True,
            default=["error"],
            show_default=True,
            type=click.Choice(["error", "label", "gold"]),
            help="What features are to tell by regression: error, label or gold; may be repeated.",
        ),
        options.judges_are,
        options.level,
    ),
    examples="""karat judges gold crowd.csv pro.csv --gold gold.csv
karat judges gold my-study --by wikipedia,query_in_url,root_url --target gold --target label --target error
karat judges gold crowd.csv --gold gold.csv --by wikipedia --documents docs.jsonl""",
)
def gold(given: Judged, targets: tuple[Target, ...] = ("error",)) -> Tables:
    """How labels err against gold labels: too high, too low, by how much, and by which features."""
    by, judges, level = given.by, given.judges_are, given.level
    tables = {
        "Against gold": kt.judges.against_gold(given.panel, by=by, judges=judges, level=level),
        "Error distribution": kt.judges.error_distribution(given.panel, by=by, judges=judges, level=level),
    }
    splits = [name for name in SPLITS if given.judgments.has(name)]
    if not splits:
        options.refuse(
            "targets", why="there are no features of yes or no to regress on: give --documents and --queries"
        )
    for target in targets if splits else ():
        regression = kt.judges.gold_regression(given.panel, splits, target, judges=judges, level=level)
        tables[f"Regression of {REGRESSED[target]}"] = regression
    return tables


@part(
    of_labels(
        options.gold,
        options.runs,
        click.option("--rel", default=1.0, metavar="GRADE", help="From which grade a document is relevant."),
        options.depth(10),
        options.out,
        options.level,
    ),
    examples="""karat judges confusion llm.csv --gold gold.csv
karat judges confusion llm.csv --gold gold.csv --runs bm25.run --depth 5 --plot confusion.svg
karat judges confusion llm.csv --gold gold.csv --out confusion.csv
karat correct llm.csv bm25.run neural.run --confusion confusion.csv""",
)
def confusion(given: Judged, rel: float, depth: int, out: str | None) -> Tables:
    """How often each true grade gets each label, how often judges are right, and with --runs the true grades by rank.

    --out writes the matrix for karat correct --confusion; --plot draws it.
    """
    if not given.lists:
        options.refuse("depth", why="it is about ranks of runs, and none are named by --runs")
    keep_inputs("--out", out, given.files)
    runs = given.lists or None
    found = confusion_of(given.judgments, given.gold, runs, rel=rel, depth=depth, level=given.level)
    if out is not None:
        write_csv(found.frame, out)
    counts = dict(zip(found.accuracy["documents"], found.accuracy["counts"], strict=True))
    said = f"Right on relevant documents (grade {rel:g} and above) and on the others."
    if "0/0" not in counts.values():
        taken = f"--relevant {counts['relevant']} --nonrelevant {counts['not relevant']}"
        said += f" karat correct takes it as {taken}: as many labels as these count for, drawn as they were."
    tables = {
        "Confusion": Result(found.frame, found.finding, found.notes, scale=found.scale, columns=found.columns),
        "Accuracy": Result(found.accuracy.drop("effective"), said),
    }
    if found.by_rank.height:
        tables["True grades by rank"] = Result(found.by_rank, "The share of each grade by the labels, and corrected.")
    return tables


@part(
    of_labels(
        options.gold,
        options.clicks,
        options.by,
        features,
        click.option(
            "--pairs",
            default="both",
            show_default=True,
            type=click.Choice(["all", "top-two", "both"]),
            help="All pairs of a query's documents, the two most clicked, or both.",
        ),
        click.option(
            "--min-clicks", default=10, show_default=True, metavar="N", help="Clicks that a document of a pair needs."
        ),
        click.option(
            "--least-difference",
            type=float,
            metavar="CLICKS",
            show_default="the median of all pairs",
            help="By how many clicks two documents differ where users prefer one.",
        ),
        click.option(
            "--min-top-clicks",
            default=100,
            show_default=True,
            metavar="N",
            help="Clicks that the most clicked document of a query needs.",
        ),
        click.option(
            "--high",
            type=float,
            metavar="GRADE",
            show_default="the second highest of the scale, or of the group's labels",
            help="From which grade a label of the most clicked document is high.",
        ),
        options.resampling,
    ),
    examples="""karat judges clicks crowd.csv --clicks clicks.csv
karat judges clicks crowd.csv --clicks clicks.csv --by wikipedia --documents docs.jsonl
karat judges clicks my-study --by wikipedia,root_url --pairs top-two --least-difference 52 --min-top-clicks 1000""",
)
def clicks(
    given: Judged,
    pairs: str = "both",
    min_clicks: int = 10,
    least_difference: float | None = None,
    min_top_clicks: int = 100,
    high: float | None = None,
) -> Tables:
    """Whether labels prefer what users click, and what the most clicked documents are labelled.

    Two documents of a query that differ in clicks by --least-difference or more say what users prefer. The labels agree
    (correct), contradict (incorrect) or are the same (insensitive). Of the most clicked document: how often its label
    is one of the two highest (p_a), and how often no other has a higher one (p_r).
    """
    clicked = given.clicks
    if clicked is None:
        raise BadInput("clicks are needed: give them with --clicks")
    preferred: dict[str, Any] = {
        "pairs": pairs.replace("-", " "),
        "minimum_clicks": min_clicks,
        "least_difference": least_difference,
    }
    top: dict[str, Any] = {"minimum_clicks": min_top_clicks, "high": high}
    return given.each(
        "Against clicks", lambda by: kt.users.against_clicks(given.panel, clicked, by=by, **preferred, **given.chance)
    ) | given.each("Most clicked", lambda by: kt.users.most_clicked(given.panel, clicked, by=by, **top, **given.chance))


@part(
    of_labels(options.gold, options.by, features, options.judges_are, options.level),
    examples="""karat judges distribution crowd.csv pro.csv
karat judges distribution crowd.csv pro.csv --by wikipedia --documents docs.jsonl --json""",
)
def distribution(given: Judged) -> Tables:
    """How often each group gives each grade, and whether groups, or values of a column, differ in it."""
    for name in given.by:
        values = given.panel.feature(name)
        if not values.dtype.is_numeric() and values.n_unique() > MOST_VALUES:
            expected = f"a column of up to {MOST_VALUES} values"
            raise BadInput.at(f"--by {name}", expected=expected, found=f"{values.n_unique():,}")
    judges, level = given.judges_are, given.level
    return {
        "Label distribution": kt.judges.distribution(given.panel, given.by, judges=judges, level=level),
        "Tests": kt.judges.distribution_tests(given.panel, given.by, judges=judges, level=level),
    }


@part(
    of_labels(
        options.gold,
        click.option(
            "--error-model",
            "model",
            default="dawid-skene",
            show_default=True,
            type=OneOf("karat.judges:MODELS"),
            help="The error model: how judges are taken to err.",
        ),
    ),
    examples="""karat judges labels crowd.csv
karat judges labels crowd.csv --gold gold.csv --error-model ordinal
karat judges labels crowd.csv --error-model dawid-skene --out labels.csv --plot confusions.png
karat score labels.csv my.run""",
)
def labels(given: Judged, model: str) -> Tables:
    """The probable grade of each document and the confusions of each judge, by an error model.

    --out labels.csv writes a label for each document, for karat score, with the probability of each grade and the
    expected grade; beside it labels-judges.csv and labels-confusions.csv; as qrels, karat convert --consensus does.
    --plot draws the confusions of each judge. Gold labels are taken for true.
    """
    fit = kt.judges.MODELS[model](given.judgments, gold=given.gold)
    documents = fit.posterior
    ids = documents.columns[: documents.columns.index("n")]
    chances = [name for name in documents.columns if name.startswith("p_")]
    documents = documents.select(*ids, "label", "expected", *chances, "n", "known")
    return {
        "Labels": Result(documents, fit.finding, fit.notes),
        "Judges": Result(fit.judges, "How often each is right, and by how much labels lie above the probable grade."),
        "Confusions": Result(
            fit.confusion,
            "How often each judge gives each label to documents of each probable grade.",
            drawing=fit.drawing,
        ),
    }


@part(
    of_labels(options.gold, features, options.judges_are, options.level),
    examples="""karat judges bias crowd.csv --gold gold.csv --documents docs.jsonl --queries queries.csv
karat judges bias llm.csv --gold gold.csv --runs bm25.run --runs neural.run""",
)
def bias(given: Judged) -> Tables:
    """Slices of queries and documents that judges rate too high or too low, found without naming them.

    Looked through are the columns of LABELS and the features that --documents, --queries and --runs allow: wikipedia,
    query_in_url, root_url, url_depth, domain, query_length, navigational, document_length, query_in_title,
    query_in_text, text_topic (clusters of texts), rank_shown, shown_by, kinship (of judge and system).
    """
    labels = given.judgments
    if not any(labels.has(name) for name in {*labels.frame.columns} - {*Judgments.schema.names, *OF_ANSWERS_OF_LLMS}):
        raise BadInput("features of query and document are needed: give --documents, --queries or --runs")
    return {"Bias": kt.judges.find_bias(labels, gold=given.gold, judges=given.judges_are, level=given.level)}


@part(
    of_labels(options.gold, options.level),
    examples="""karat judges order crowd.csv
karat judges order crowd.csv --gold gold.csv""",
)
def order(given: Judged) -> Tables:
    """Whether the document judged just before, or the judge's label of it, moves a label, and how labels drift.

    Labels are taken in the order of their column time, in sessions where a column session tells them; each counts as
    what it is above or below gold, or the others' labels of the same document.
    """
    return {"Order": kt.judges.order_effects(given.judgments, given.gold, level=given.level)}


@part(
    of_labels(
        options.gold,
        options.runs,
        options.measure(several=True, otherwise="nDCG@10"),
        options.profile,
        options.resampling,
    ),
    examples="""karat judges rankings llm.csv --gold nist.qrels --runs runs.csv
karat judges rankings gpt.qrels llama.qrels --gold nist.qrels --runs a.run --runs b.run --runs c.run -m nDCG@10,P@10
karat judges rankings llm.csv --gold nist.qrels --runs runs.csv --plot tau.svg --latex""",
)
def rankings(given: Judged, measure: tuple[str, ...], profile: str) -> Tables:
    """Kendall's tau and AP correlation of the systems' means by labels and by gold labels.

    A row for each judge and measure, with bootstrap intervals over queries, over all systems and over the top third by
    gold. The gold labels are of all documents that count, not of a sample. Each label set is scored on its own scale.
    """
    if not given.lists:
        raise BadInput("runs are needed: give three systems or more with --runs")
    names = measures_named(measure) or ["nDCG@10"]
    found = compare_rankings(given.judgments, given.lists, names, gold=given.gold, profile=profile, **given.chance)
    return {"Rankings": found}


EXAMPLES = """\b
Examples:
  karat judges all crowd.csv
  karat judges my-study
  karat judges crowd.csv pro.csv --gold gold.csv --documents docs.jsonl --queries queries.csv"""


@click.command("all", epilog=EXAMPLES)
@of_labels(options.gold, options.clicks, options.by, features, options.judges_are, options.resampling)
@options.form
def all_(given: Judged, form: options.Form) -> None:
    """All that the data allows, the parts one after another; what is left out is said, with the reason."""
    every_part(given, [agreement, error, gold, clicks, distribution, bias], form)
