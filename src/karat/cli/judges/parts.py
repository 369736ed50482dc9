"""The parts of `karat judges`: agreement, error, gold, clicks, distribution, bias, and all of them."""

from __future__ import annotations

from contextlib import suppress

import click

from karat import judges as analysis
from karat.cli import options
from karat.cli.judges.judged import Judged, features, of_labels
from karat.cli.judges.llm import llm as llm
from karat.cli.outputs import keep_inputs, write_csv
from karat.cli.part import every_part, part
from karat.cli.results import Tables
from karat.errors import BadInput, KaratError
from karat.estimate.confusion import confusion as confusion_of
from karat.records import Judgments, Result
from karat.records.names import OF_ANSWERS_OF_LLMS

#: Features of yes or no, which the regression of the errors is on; a domain or a length would fill the page.
SPLITS = ("wikipedia", "query_in_url", "root_url", "navigational")
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
    tables = given.each("Agreement", lambda by: analysis.agreement(labels, gold, by=by, judges=judges, **given.chance))
    with suppress(KaratError):  # one group alone has nothing to differ from
        tests = given.each(
            "Differences",
            lambda by: analysis.agreement_tests(labels, gold, by=by, judges=judges, level=given.level),
        )
        tables |= {title: result for title, result in tests.items() if result.frame.height}
    return tables


@part(of_labels(options.gold, options.level), examples="karat judges error crowd.csv --gold gold.csv")
def error(given: Judged) -> Tables:
    """A row for each judge: agreement with the others, accuracy, leniency, pace, drift, and who may be a spammer."""
    return {"Judges": analysis.judge_table(given.judgments, gold=given.gold, level=given.level)}


@part(
    of_labels(options.gold, options.by, features, options.judges_are, options.level),
    examples="""karat judges gold crowd.csv pro.csv --gold gold.csv
karat judges gold crowd.csv --gold gold.csv --by wikipedia --documents docs.jsonl""",
)
def gold(given: Judged) -> Tables:
    """How labels err against gold labels: too high, too low, by how much, and by which features."""
    by, judges, level = given.by, given.judges_are, given.level
    tables = {
        "Against gold": analysis.against_gold(given.panel, by=by, judges=judges, level=level),
        "Error distribution": analysis.error_distribution(given.panel, by=by, judges=judges, level=level),
    }
    splits = [name for name in SPLITS if given.judgments.has(name)]
    if splits:
        regression = analysis.gold_regression(given.panel, splits, "error", judges=judges, level=level)
        tables["Regression of the error"] = regression
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
        "Confusion": Result(found.frame, found.finding, found.notes, columns=found.columns),
        "Accuracy": Result(found.accuracy.drop("effective"), said),
    }
    if found.by_rank.height:
        tables["True grades by rank"] = Result(found.by_rank, "The share of each grade by the labels, and corrected.")
    return tables


@part(
    of_labels(options.gold, options.clicks, options.by, features, options.resampling),
    examples="""karat judges clicks crowd.csv --clicks clicks.csv
karat judges clicks crowd.csv --clicks clicks.csv --by wikipedia --documents docs.jsonl""",
)
def clicks(given: Judged) -> Tables:
    """Whether labels prefer what users click, and what the most clicked documents are labelled."""
    clicked = given.clicks
    if clicked is None:
        raise BadInput("clicks are needed: give them with --clicks")
    tables = given.each(
        "Against clicks", lambda by: analysis.against_clicks(given.panel, clicked, by=by, pairs="both", **given.chance)
    )
    return tables | {"Most clicked": analysis.most_clicked(given.panel, clicked, **given.chance)}


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
        "Label distribution": analysis.distribution(given.panel, given.by, judges=judges, level=level),
        "Tests": analysis.distribution_tests(given.panel, given.by, judges=judges, level=level),
    }


@part(
    of_labels(options.gold, features, options.judges_are, options.level),
    examples="""karat judges bias crowd.csv --gold gold.csv --documents docs.jsonl --queries queries.csv
karat judges bias llm.csv --gold gold.csv --runs bm25.run --runs neural.run""",
)
def bias(given: Judged) -> Tables:
    """Slices of queries and documents that judges rate too high or too low, found without naming them.

    Looked through are the columns of LABELS and the features that --documents, --queries and --runs allow: wikipedia,
    query_in_url, root_url, url_depth, domain, query_length, navigational, document_length, rank_shown, shown_by.
    """
    labels = given.judgments
    if not any(labels.has(name) for name in {*labels.frame.columns} - {*Judgments.schema.names, *OF_ANSWERS_OF_LLMS}):
        raise BadInput("features of query and document are needed: give --documents, --queries or --runs")
    return {"Bias": analysis.find_bias(labels, gold=given.gold, judges=given.judges_are, level=given.level)}


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
