"""`karat disagree`: how many users would call this result top, given what one judge said?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from karat.cli import options
from karat.cli.inputs import Reading

if TYPE_CHECKING:
    import polars as pl

    from karat.judges.disagreement import Disagreement
    from karat.records import Judgments, Queries, Result

EXAMPLES = """\b
Examples:
  karat disagree crowd.csv --top 2 --at-least 1 --of 3
  karat disagree crowd.csv --top 2 --min-labels 6 --by kind --queries queries.csv
  karat disagree crowd.csv --of 3 --out weights.csv
  karat disagree my-study
  karat score labels.csv my.run -m "nDCG(gains=udm(1/3))@10" --weights weights.csv
  karat disagree fedweb.csv --combine snippet,page --top 3,2 --of 3"""

#: The pairs M of N that are shown when none is asked for: the paper's Table 1.
USUAL = [(1, 2), (1, 3), (2, 3), (2, 4), (2, 5)]
#: Which options have a say in what is shown.
LABELS = {"min_labels", "most_labels", "all_labels"}
HEARD = {
    "model": {*LABELS, "at_least", "of_users", "zero_lowest", "draws", "seed"},
    "by": {*LABELS, "queries", "draws", "seed"},
    "combine": {"all_labels", "at_least", "of_users"},
    "consistency": {"all_labels", "draws", "seed"},
    "robustness": {"all_labels"},
}


@click.command(epilog=EXAMPLES)
@click.argument("judgments")
@click.option("--top", metavar="LEVEL", help="The level that users want; with --combine one for each part, as 3,2.")
@click.option("--at-least", type=int, metavar="M", help="At least so many users say top.")
@click.option("--of", "of_users", type=int, metavar="N", help="Of so many users, the judge among them.")
@click.option("--min-labels", default=2, show_default=True, help="Use documents with at least so many labels.")
@click.option("--most-labels", type=int, metavar="N", help="Use the first N labels of each document only.")
@click.option("--all-labels", is_flag=True, help="Use also labels asked only where the first two differed.")
@click.option("--by", metavar="COLUMN", help="Report by a column, by list_quality, or by top5, top10, ...")
@click.option("--queries", metavar="FILE", help="Queries with a kind, for --by kind.")
@click.option("--combine", metavar="PARTS", help="Combined levels of surfaces or aspects, as snippet,page.")
@click.option("--consistency", is_flag=True, help="Compare judges with themselves and with each other.")
@click.option("--robustness", is_flag=True, help="Score one judge's ranking with another's labels.")
@click.option("--zero-lowest", is_flag=True, help="Fix the weights of levels up to 0 to 0 in what is written.")
@click.option("--out", metavar="FILE", help="Write the weights, for karat score --weights, or the table as CSV.")
@options.draws
@options.seed
@options.database
@options.labels
@options.as_json
def disagree(
    judgments: str,
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    min_labels: int,
    most_labels: int | None,
    all_labels: bool,
    by: str | None,
    queries: str | None,
    combine: str | None,
    consistency: bool,
    robustness: bool,
    zero_lowest: bool,
    out: str | None,
    draws: int,
    seed: int,
    database: str | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """What a grade is worth to users who disagree.

    From documents with labels of several judges: the probability that another user says the top level, and the weight
    of each level, P(at least M of N users say top), binomial as in the paper, beta-binomial, and counted. Where a third
    label was asked only when the first two differed, which shows in the data, the first two of each document are used.
    """
    from karat.judges import disagreement

    asked = {"by": by is not None, "combine": combine is not None, "consistency": consistency, "robustness": robustness}
    views = [name for name, wanted in asked.items() if wanted]
    _refuse_unheard(views, out)
    study = reading.study(judgments, database=database, only=["queries"], queries=queries)
    read = with_kinds(study.judged, study.queries)
    if combine is not None:
        found = [_combined(read, combine, top, at_least or 1, of_users or max(3, at_least or 1), all_labels)]
        _tell(found, out, as_json)
        return
    wanted = None if top is None else _level(top, read)
    which: dict[str, Any] = {"min_labels": min_labels, "most_labels": most_labels, "all_labels": all_labels}
    chance: dict[str, Any] = {"draws": draws, "seed": seed}
    if views:
        found = [result for view in views for result in _view(view, read, wanted, by, which, chance)]
        _tell(found, out, as_json)
        return
    pairs = _pairs(at_least, of_users)
    model = disagreement(read, wanted, **which, **chance)
    if out is not None:
        _write(model.weights_for(pairs, zero_lowest), out)
    if as_json:
        click.echo(json.dumps(_document(model, pairs), ensure_ascii=False))
        return
    _print_model(model, pairs)


def _refuse_unheard(views: list[str], out: str | None) -> None:
    """An option that would change nothing of what is asked for is refused, rather than left aside without a word."""
    from karat.cli.validate_options import typed
    from karat.errors import BadInput

    if "combine" in views and len(views) > 1:
        raise BadInput(f"--combine stands alone: leave out --{' and --'.join(set(views) - {'combine'})}")
    if out is not None and len(views) > 1:
        raise BadInput(f"--out writes one table: ask for one of --{', --'.join(views)}")
    heard = {option for view in views or ["model"] for option in HEARD[view]}
    known = {option for options in HEARD.values() for option in options}
    for option in click.get_current_context().command.params:
        if option.name in known - heard and typed(str(option.name)):
            with_what = " and ".join(f"with --{view}" for view in views) or "without --by"
            raise BadInput(f"{option.opts[0]} says nothing {with_what}: leave it out")
    if typed("zero_lowest") and out is None:
        raise BadInput("--zero-lowest is about the weights that --out writes: give --out, or leave it out")


def _view(
    view: str, read: Judgments, top: float | None, by: str | None, which: dict[str, Any], chance: dict[str, Any]
) -> list[Result]:
    from karat.judges import consistency, disagreement_by, overlap

    all_labels = which["all_labels"]
    if view == "by":
        return [disagreement_by(read, by or "", top, **which, **chance)]
    if view == "consistency":
        return [
            overlap(read, top, all_labels=all_labels),
            consistency(read, top, all_labels=all_labels, **chance),
        ]
    from karat.validity import robustness

    return [robustness(read, top, all_labels=all_labels)]


def _pairs(at_least: int | None, of_users: int | None) -> list[tuple[int, int]]:
    from karat.errors import BadInput

    for name, value in (("--at-least", at_least), ("--of", of_users)):
        if value is not None and value < 1:
            raise BadInput.at(name, expected="1 user or more", found=str(value))
    if of_users is None:
        return USUAL if at_least is None else [(at_least, n) for n in range(max(at_least, 2), at_least + 4)]
    return [(at_least, of_users)] if at_least is not None else [(m, of_users) for m in range(1, of_users + 1)]


def _level(text: str, judgments: Judgments) -> float:
    """A level by its number, or by its name on the scale."""
    from karat.errors import BadInput

    names = {level.name.casefold(): level.grade for level in judgments.scale or ()}
    if text.casefold() in names:
        return names[text.casefold()]
    try:
        return float(text)
    except ValueError:
        raise BadInput.at("--top", expected="a level, as a number or a name of --scale", found=f'"{text}"') from None


def with_kinds(judgments: Judgments, queries: Queries | None) -> Judgments:
    """The judgments with what is known of their queries, such as the kind."""
    if queries is None:
        return judgments
    known = queries.frame
    extra = [name for name in known.columns if name not in judgments.frame.columns]
    frame = judgments.frame.join(known.select("query", *extra), on="query", how="left", maintain_order="left")
    return replace(judgments, frame=frame)


def _combined(judgments: Judgments, combine: str, top: str | None, at_least: int, of: int, all_labels: bool) -> Result:
    from karat.errors import BadInput
    from karat.judges import combined_weights

    parts = [part.strip() for part in combine.split(",")]
    tops = [_level(part.strip(), judgments) for part in (top or "").split(",") if part.strip()]
    if len(tops) != len(parts):
        raise BadInput.at(
            "--top", expected=f"a level for each of {combine}, as 3,2", found="nothing" if top is None else f'"{top}"'
        )
    column = "aspect" if judgments.has("aspect") and parts[0] in judgments.frame["aspect"].to_list() else "surface"
    return combined_weights(judgments, parts, tops, column=column, at_least=at_least, of=of, all_labels=all_labels)


def _document(model: Disagreement, pairs: list[tuple[int, int]]) -> dict[str, Any]:
    from karat.records.result import rows_of

    levels = {f"{row['level']:g}": row for row in rows_of(model.to_frame())}
    weights = model.table(pairs)
    return {
        "top": model.top,
        "p": {name: {key: row[key] for key in ("value", "low", "high", "n")} for name, row in levels.items()},
        "weights": rows_of(weights.frame),
        "beta": {
            name: {"a": None if a != a else a, "b": None if b != b else b}
            for name, (a, b) in zip(levels, model.opinions, strict=True)
        },
        "notes": list(weights.notes),
    }


def _write(table: pl.DataFrame, path: str) -> None:
    from karat.formats.files import write_bytes

    write_bytes(path, table.write_csv().encode())


def _print_model(model: Disagreement, pairs: list[tuple[int, int]]) -> None:
    from karat.cli.results import print_result
    from karat.records import Result

    told = model.to_frame().rename({"value": "p", "low": "p_low", "high": "p_high"})
    weights = model.table(pairs)
    print_result(Result(told, model.finding, scale=weights.scale))
    click.echo()
    print_result(replace(weights, finding="What a level is worth: P(at least M of N users say top)."))


def _tell(found: list[Result], out: str | None, as_json: bool) -> None:
    from karat.cli.results import print_result

    if out is not None:
        _write(found[-1].frame.drop("draws", strict=False), out)
    if as_json:
        documents = [result.to_dict() for result in found]
        click.echo(json.dumps(documents[0] if len(documents) == 1 else documents, ensure_ascii=False, default=str))
        return
    for place, result in enumerate(found):
        if place:
            click.echo()
        hidden = [name for name in result.frame.columns if name != "draws"]
        print_result(result, hidden)
