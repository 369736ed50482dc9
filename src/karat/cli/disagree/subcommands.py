"""The parts of `karat disagree`: weights, by a column, combined levels, consistency, robustness, pictures of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

import karat as kt
from karat import judges as analysis
from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading
from karat.cli.output_formats import keep_inputs, write_csv
from karat.cli.results import Tables, print_result, show_all, tell_as
from karat.cli.subcommand import part
from karat.cli.terminal import waiting
from karat.errors import BadInput, Undefined
from karat.formats import write
from karat.judges.disagreement import Disagreement
from karat.records import Judgments, Result
from karat.records.result import rows_of


@part(
    levels.labels,
    levels.top,
    click.option("--given", "seen", metavar="GROUP", help="The group whose label is seen, as llm."),
    options.group,
    levels.all_labels,
    click.option(
        "--weights-out",
        "weights",
        metavar="FILE",
        help="Where to write the weights, for udm(user) gains of karat score.",
    ),
    options.out,
    options.to_format,
    options.resampling,
    options.study,
    examples="""karat disagree users crowd.csv --top 1 --weights-out weights.csv
karat score labels.csv my.run -m "nDCG(gains=udm(user))@10" --weights weights.csv
karat disagree users crowd.csv --top 1 --out weighted.csv
karat disagree users llm.csv people.csv --given llm --group people --top 2""",
)
def users(
    labels: tuple[str, ...],
    top: str | None,
    seen: str | None,
    group: str | None,
    weights: str | None,
    out: str | None,
    to_format: str | None,
    reading: Reading,
    **how: Any,
) -> Tables:
    """What a random user says, who is not the judge: the chance of --top or higher after each label.

    With --given and --group, across groups: what people say when an LLM said this. What --weights-out writes, score,
    compare and report read as gains, nDCG(gains=udm(user))@10, and intervals hold the weights' error; the note has them
    as gains={...}, which every command takes; --out writes each document's weight as its label.
    """
    read = levels.judged(reading, labels, out)
    keep_inputs("--weights-out", weights, labels)
    found = analysis.random_user(read, levels.level_named(top, read), given=seen, group=group, **how)
    if weights is not None:
        write_csv(analysis.one_users_weights(found), weights)
    if out is not None:
        gains = analysis.user_gains(found, read, given=seen)
        write(Judgments.of(gains.frame.select("query", "doc", label="gain")), out, to_format)
    elif to_format is not None:
        options.refuse("to_format", why="nothing is written without --out")
    return {"Random user": found}


@part(
    levels.labels,
    levels.top,
    levels.at_least,
    levels.of_users,
    click.option("--parts", metavar="NAMES", help="Surfaces or aspects to combine, as snippet,page."),
    levels.zero,
    click.option("--soft", is_flag=True, help="By all labels of a document together, with a check on labels held out."),
    options.out,
    options.to_format,
    options.resampling,
    options.study,
    examples="""karat disagree gains crowd.csv --of 3 --out weighted.csv
karat disagree gains fedweb.csv --parts snippet,page --top 3,3 --zero page=0 --out weighted.csv
karat disagree gains crowd.csv --soft --out soft.csv
karat compare weighted.csv a.run b.run -m nDCG@10""",
)
def gains(
    labels: tuple[str, ...],
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    parts: str | None,
    zero: tuple[str, ...],
    soft: bool,
    out: str | None,
    to_format: str | None,
    reading: Reading,
    **chance: Any,
) -> Tables:
    """What each document is worth to users who disagree, written as labels: gains for score, compare, report, validate.

    A label is worth P(at least M of N users say top); with --parts, by what a judge said of snippet and page together;
    with --soft, the document is worth the chance that a random user calls it top, given all its labels.
    """
    read = levels.judged(reading, labels, out)
    if soft and parts is not None:
        raise BadInput("--soft and --parts are two ways to weigh a document: choose one")
    if parts is None:
        options.refuse("zero", why="it is about combined levels, which --parts names")
    if parts is not None:
        weights, column = levels.combined(read, parts, top, at_least, of_users, zero, **chance)
        found = analysis.combined_gains(weights, read, column=column)
    elif soft:
        options.refuse("at_least", "of_users", why="--soft is about one random user")
        found = analysis.soft_relevance(read, levels.level_named(top, read), **chance)
    else:
        options.refuse("level", "draws", "seed", why="nothing is drawn; karat disagree weights has the intervals")
        how = {"at_least": at_least or 1, "of": of_users or max(3, at_least or 1)}
        found = analysis.document_gains(read, levels.level_named(top, read), **how)
    if out is not None:
        write(Judgments.of(found.frame.select("query", "doc", label="gain")), out, to_format)
    elif to_format is not None:
        options.refuse("to_format", why="nothing is written without --out")
    return {"Gains": found} | ({} if found.calibration is None else {"Calibration": found.calibration})


EXAMPLES = """\b
Examples:
  karat disagree weights crowd.csv --top 2 --at-least 1 --of 3
  karat disagree my-study
  karat disagree crowd.csv --of 3 --out weights.csv
  karat score labels.csv my.run -m "nDCG(gains=udm(1/3))@10" --weights weights.csv"""

#: The pairs M of N that are shown when none is asked for: the paper's Table 1.
USUAL = [(1, 2), (1, 3), (2, 3), (2, 4), (2, 5)]


@click.command(epilog=EXAMPLES)
@levels.labels
@levels.top
@levels.at_least
@levels.of_users
@levels.used
@levels.without_spammers
@click.option("--zero-lowest", is_flag=True, help="Fix the weights of levels up to 0 to 0 in what is written.")
@options.out
@options.resampling
@options.study
@options.form
def weights(
    labels: tuple[str, ...],
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    zero_lowest: bool,
    without_spammers: bool,
    out: str | None,
    reading: Reading,
    form: options.Form,
    **used: Any,
) -> None:
    """The probability that another user says the top level, and the weight of each level.

    A weight is P(at least M of N users say top): binomial as in the paper, beta-binomial, and counted. What --out
    writes, karat score --weights reads. --plot draws the weights for 1 of N users along N.
    """
    if zero_lowest and out is None:
        raise BadInput("--zero-lowest is about the weights that --out writes: give --out, or leave it out")
    read = levels.judged(reading, labels, out)
    pairs = _pairs(at_least, of_users)
    with waiting("Looking"):
        model, before = levels.modelled(read, top, without_spammers, **used)
    worth = model.table(pairs)
    if out is not None:
        write_csv(model.weights_for(pairs, zero_lowest), out)
    p = model.to_frame().rename({"value": "p", "low": "p_low", "high": "p_high"})
    if before is not None:
        p = p.join(before.to_frame().select("level", before="value"), on="level", how="left", maintain_order="left")
    told = {
        "p": Result(p, model.finding, scale=worth.scale),
        "weights": replace(worth, finding="What a level is worth: P(at least M of N users say top)."),
    }
    if out != "-":
        tell_as(form, _document(model, worth), worth, lambda: show_all(told.items(), print_result), ["p"])


def _pairs(at_least: int | None, of_users: int | None) -> list[tuple[int, int]]:
    if of_users is None:
        return USUAL if at_least is None else [(at_least, n) for n in range(max(at_least, 2), at_least + 4)]
    return [(at_least, of_users)] if at_least is not None else [(m, of_users) for m in range(1, of_users + 1)]


def _document(model: Disagreement, worth: Result) -> dict[str, Any]:
    named = {f"{row['level']:g}": row for row in rows_of(model.to_frame())}
    return {
        "top": model.top,
        "p": {name: {key: row[key] for key in ("value", "low", "high", "n")} for name, row in named.items()},
        "weights": rows_of(worth.frame),
        "beta": {
            name: {"a": None if a != a else a, "b": None if b != b else b}
            for name, (a, b) in zip(named, model.opinions, strict=True)
        },
        "notes": list(worth.notes),
    }


@part(
    levels.labels,
    click.argument("column"),
    levels.top,
    levels.used,
    options.queries,
    options.resampling,
    options.study,
    examples="""karat disagree by crowd.csv kind --queries queries.csv --top 2 --min-labels 6
karat disagree by crowd.csv list_quality
karat disagree by fedweb.csv kind,list_quality
karat disagree by fedweb.csv top5,list_has_top
karat disagree by crowd.csv top10""",
)
def by(
    labels: tuple[str, ...], column: str, top: str | None, queries: str | None, reading: Reading, **used: Any
) -> Tables:
    """How far users disagree by a column, and whether the conditions differ in it.

    COLUMN is one of LABELS or of --queries, such as kind; list_quality, how good a query's list is; or top5, top10,
    ..., whether a document is that high in it. Several with commas are crossed.
    """
    names = [name.strip() for name in column.split(",")]
    read = levels.judged(reading, labels, None, queries, names)
    found = analysis.disagreement_by(read, names, levels.level_named(top, read), **used)
    tests = {"Differences": found.tests} if found.tests.frame.height else {}
    return {f"By {column}": found, **tests}


@part(
    levels.labels,
    click.option("--parts", required=True, metavar="NAMES", help="Surfaces or aspects to combine, as snippet,page."),
    levels.top,
    levels.at_least,
    levels.of_users,
    levels.zero,
    levels.all_labels,
    options.resampling,
    options.study,
    examples="""karat disagree combined fedweb.csv --parts snippet,page --top 3,2 --of 3 --zero page=0
karat disagree combined fedweb.csv --parts snippet,page --top 3,3 --out table4.tex""",
)
def combined(
    labels: tuple[str, ...],
    parts: str,
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    zero: tuple[str, ...],
    all_labels: bool,
    reading: Reading,
    **chance: Any,
) -> Tables:
    """Weights of combined levels of surfaces or aspects; --top has a level for each of them, as 3,2.

    karat disagree gains --parts writes what each document is worth by them.
    """
    read = levels.judged(reading, labels, None)
    found, _ = levels.combined(read, parts, top, at_least, of_users, zero, all_labels=all_labels, **chance)
    return {"Combined levels": found}


@part(
    levels.labels,
    levels.top,
    options.by,
    levels.all_labels,
    options.draws,
    options.seed,
    options.study,
    examples="""karat disagree consistency crowd.csv --top 2
karat disagree consistency fedweb.csv --by vertical --plot histograms.svg""",
)
def consistency(
    labels: tuple[str, ...], top: str | None, by: tuple[str, ...], all_labels: bool, reading: Reading, **drawn: Any
) -> Tables:
    """Judges compared with themselves, where they judged a document twice, and with each other.

    With --by, the overlap (Jaccard) over all judges for each value of the column, such as the vertical of an engine.
    """
    read = levels.judged(reading, labels, None)
    wanted = levels.level_named(top, read)
    columns: tuple[str | None, ...] = by or (None,)
    found = {
        f"Overlap by {name}" if name else "Overlap": analysis.overlap(read, wanted, by=name, all_labels=all_labels)
        for name in columns
    }
    try:
        found["Consistency"] = analysis.consistency(read, wanted, all_labels=all_labels, **drawn)
    except Undefined as error:
        if not by:
            raise
        first, table = next(iter(found.items()))
        found[first] = replace(table, notes=(*table.notes, f"consistency left out: {error}"))
    return found


@part(
    levels.labels,
    levels.top,
    levels.all_labels,
    options.study,
    examples="karat disagree robustness crowd.csv --top 2",
)
def robustness(labels: tuple[str, ...], top: str | None, all_labels: bool, reading: Reading) -> Tables:
    """Scores of one judge's perfect ranking by another judge's labels, measure by measure."""
    read = levels.judged(reading, labels, None)
    found = kt.users.robustness(read, levels.level_named(top, read), all_labels=all_labels)
    return {"Robustness": found}


@part(
    levels.labels,
    levels.top,
    click.option("--min-labels", default=6, metavar="N", help="Use documents with at least so many labels."),
    levels.all_labels,
    levels.count_repeats,
    options.seed,
    options.study,
    examples="karat disagree resampled crowd.csv --top 2 --plot figure1.svg",
)
def resampled(labels: tuple[str, ...], top: str | None, reading: Reading, **used: Any) -> Tables:
    """How well few labels of a document tell what another user says: one label, and n others drawn at random."""
    read = levels.judged(reading, labels, None)
    return {"Resampled": analysis.resampled_p(read, levels.level_named(top, read), **used)}


@part(
    levels.labels,
    levels.top,
    click.option("--query", metavar="ID", show_default="the one with most labels", help="The query that is shown."),
    options.study,
    examples="karat disagree opinions crowd.csv --query q7 --plot figure4.svg",
)
def opinions(labels: tuple[str, ...], top: str | None, query: str | None, reading: Reading) -> Tables:
    """What every judge said of every document of a query, top documents first."""
    read = levels.judged(reading, labels, None)
    return {"Opinions": analysis.opinions(read, query, levels.level_named(top, read))}
