"""The parts of `karat disagree`: weights, by a column, combined levels, consistency, robustness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from karat import judges as analysis
from karat import validity
from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading
from karat.cli.outputs import write_csv
from karat.cli.part import part
from karat.cli.progress import waiting
from karat.cli.results import Tables, print_result, show_all, tell_as
from karat.errors import BadInput
from karat.judges.disagreement import Disagreement
from karat.records import Result
from karat.records.result import rows_of

EXAMPLES = """\b
Examples:
  karat disagree weights crowd.csv --top 2 --at-least 1 --of 3
  karat disagree my-study
  karat disagree crowd.csv --of 3 --out weights.csv
  karat score labels.csv my.run -m "nDCG(gains=udm(1/3))@10" --weights weights.csv"""

#: The pairs M of N that are shown when none is asked for: the paper's Table 1.
USUAL = [(1, 2), (1, 3), (2, 3), (2, 4), (2, 5)]


@click.command(epilog=EXAMPLES)
@click.argument("labels")
@levels.top
@levels.at_least
@levels.of_users
@levels.used
@click.option("--zero-lowest", is_flag=True, help="Fix the weights of levels up to 0 to 0 in what is written.")
@options.out
@options.resampling
@options.study
@options.form
def weights(
    labels: str,
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    zero_lowest: bool,
    out: str | None,
    reading: Reading,
    form: options.Form,
    **used: Any,
) -> None:
    """The probability that another user says the top level, and the weight of each level.

    A weight is P(at least M of N users say top): binomial as in the paper, beta-binomial, and counted. What --out
    writes, karat score --weights reads.
    """
    if zero_lowest and out is None:
        raise BadInput("--zero-lowest is about the weights that --out writes: give --out, or leave it out")
    read = levels.judged(reading, labels, out)
    pairs = _pairs(at_least, of_users)
    with waiting("Looking"):
        model = analysis.disagreement(read, levels.level_named(top, read), **used)
    worth = model.table(pairs)
    if out is not None:
        write_csv(model.weights_for(pairs, zero_lowest), out)
    p = model.to_frame().rename({"value": "p", "low": "p_low", "high": "p_high"})
    told = {
        "p": Result(p, model.finding, scale=worth.scale),
        "weights": replace(worth, finding="What a level is worth: P(at least M of N users say top)."),
    }
    if out != "-":
        tell_as(form, _document(model, worth), worth, lambda: show_all(told.items(), print_result), ["p"])


def _pairs(at_least: int | None, of_users: int | None) -> list[tuple[int, int]]:
    for name, value in (("--at-least", at_least), ("--of", of_users)):
        if value is not None and value < 1:
            raise BadInput.at(name, expected="1 user or more", found=str(value))
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
    click.argument("labels"),
    click.argument("column"),
    levels.top,
    levels.used,
    options.queries,
    options.out,
    options.resampling,
    options.study,
    examples="""karat disagree by crowd.csv kind --queries queries.csv --top 2 --min-labels 6
karat disagree by crowd.csv list_quality
karat disagree by crowd.csv top10""",
)
def by(
    labels: str, column: str, top: str | None, queries: str | None, out: str | None, reading: Reading, **used: Any
) -> Tables:
    """How far users disagree by a column.

    COLUMN is one of LABELS or of --queries, such as kind; list_quality, how good a query's list is; or top5, top10,
    ..., whether a document is that high in it.
    """
    read = levels.judged(reading, labels, out, queries, column)
    found = analysis.disagreement_by(read, column, levels.level_named(top, read), **used)
    return levels.kept({f"By {column}": found}, out)


@part(
    click.argument("labels"),
    click.option("--parts", required=True, metavar="NAMES", help="Surfaces or aspects to combine, as snippet,page."),
    levels.top,
    levels.at_least,
    levels.of_users,
    levels.all_labels,
    options.out,
    options.study,
    examples="karat disagree combined fedweb.csv --parts snippet,page --top 3,2 --of 3",
)
def combined(
    labels: str,
    parts: str,
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    all_labels: bool,
    out: str | None,
    reading: Reading,
) -> Tables:
    """Weights of combined levels of surfaces or aspects; --top has a level for each of them, as 3,2."""
    read = levels.judged(reading, labels, out)
    names = [part.strip() for part in parts.split(",")]
    asked = [levels.level_named(part.strip(), read) for part in (top or "").split(",") if part.strip()]
    tops = [level for level in asked if level is not None]
    if len(tops) != len(names):
        raise BadInput.at(
            "--top", expected=f"a level for each of {parts}, as 3,2", found="nothing" if top is None else f'"{top}"'
        )
    at_least = at_least or 1
    found = analysis.combined_weights(
        read,
        names,
        tops,
        column="aspect" if read.has("aspect") and names[0] in read.frame["aspect"].to_list() else "surface",
        at_least=at_least,
        of=of_users or max(3, at_least),
        all_labels=all_labels,
    )
    return levels.kept({"Combined levels": found}, out)


@part(
    click.argument("labels"),
    levels.top,
    levels.all_labels,
    options.out,
    options.draws,
    options.seed,
    options.study,
    examples="karat disagree consistency crowd.csv --top 2",
)
def consistency(
    labels: str, top: str | None, all_labels: bool, out: str | None, reading: Reading, **drawn: Any
) -> Tables:
    """Judges compared with themselves, where they judged a document twice, and with each other."""
    read = levels.judged(reading, labels, out)
    wanted = levels.level_named(top, read)
    found = {
        "Overlap": analysis.overlap(read, wanted, all_labels=all_labels),
        "Consistency": analysis.consistency(read, wanted, all_labels=all_labels, **drawn),
    }
    return levels.kept(found, out)


@part(
    click.argument("labels"),
    levels.top,
    levels.all_labels,
    options.out,
    options.study,
    examples="karat disagree robustness crowd.csv --top 2",
)
def robustness(labels: str, top: str | None, all_labels: bool, out: str | None, reading: Reading) -> Tables:
    """Scores of one judge's perfect ranking by another judge's labels, measure by measure."""
    read = levels.judged(reading, labels, out)
    found = validity.robustness(read, levels.level_named(top, read), all_labels=all_labels)
    return levels.kept({"Robustness": found}, out)
