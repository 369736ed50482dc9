"""What the parts of `karat disagree` share: options, the level that users want, and how tables are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
import polars as pl

from karat import judges as analysis
from karat.cli.inputs import Reading, with_kinds
from karat.cli.options import as_one, named, refuse
from karat.cli.output_formats import keep_inputs
from karat.errors import BadInput
from karat.records import Judgments, Result
from karat.records.table import count

top = click.option(
    "--top", metavar="LEVEL", help="The level that users want, by its grade or name (default: the scale's highest)."
)
all_labels = click.option("--all-labels", is_flag=True, help="Use also labels asked only where the first two differed.")
min_labels = click.option("--min-labels", default=2, metavar="N", help="Use documents with at least so many labels.")
max_labels = click.option(
    "--max-labels", "most_labels", type=int, metavar="N", help="Use the first N labels of each document only."
)
count_repeats = click.option(
    "--count-repeats", is_flag=True, help="Count a judge's repeated label of a document as another user's."
)
#: Which labels are used.
used = as_one(min_labels, max_labels, all_labels, count_repeats)
at_least = click.option("--at-least", type=click.IntRange(1), metavar="M", help="At least so many users say top.")
of_users = click.option(
    "--of", "of_users", type=click.IntRange(1), metavar="N", help="Of so many users, the judge among them."
)


labels = click.argument("labels", metavar="LABELS...", nargs=-1, required=True)
zero = click.option(
    "--zero",
    metavar="PART=LEVEL",
    multiple=True,
    help="Combined levels with this grade or a lower one are worth nothing, as page=0.",
)
without_spammers = click.option(
    "--without-spammers", is_flag=True, help="Leave out judges who do not look at the documents; tell both figures."
)


def judged(
    reading: Reading,
    labels: Sequence[str],
    out: str | None,
    queries: str | None = None,
    columns: Sequence[str] = (),
) -> Judgments:
    """The labels, with what is known of their queries; --out may not name a file that is read."""
    keep_inputs("--out", out, [*labels, queries])
    study = reading.study(labels, only=["queries"], queries=queries)
    if study.queries is not None and not {*columns} & {*study.queries.frame.columns}:
        refuse("queries", why=f"it has no column {' or '.join(columns)}")
    return with_kinds(study.judged, study.queries)


def modelled(
    read: Judgments, top: str | None, without: bool, **used: Any
) -> tuple[analysis.Disagreement, analysis.Disagreement | None]:
    """The model, and where spammers are left out that of all judges as well."""
    every = analysis.disagreement(read, level_named(top, read), **used)
    if not without:
        return every, None
    table = analysis.judge_table(read).frame.filter(pl.col("likely_spammer").fill_null(False))
    spammers = table.select("group", "judge") if "group" in table.columns else table.select("judge")
    on = [name for name in ("group", "judge") if name in read.frame.columns and name in spammers.columns]
    kept = read.frame.join(spammers.select(on), on=on, how="anti", maintain_order="left")
    model = analysis.disagreement(replace(read, frame=kept), level_named(top, read), **used)
    who = ", ".join(spammers["judge"].to_list()[:8])
    said = f"{count(spammers.height, 'judge')} left out as spammers{f': {who}' if who else ''}"
    return replace(model, notes=(*model.notes, said)), every


def combined(
    read: Judgments,
    parts: str,
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    zero: Sequence[str],
    **how: Any,
) -> tuple[Result, str]:
    """The weights of combined levels, and the column that the parts are values of."""
    names = [part.strip() for part in parts.split(",")]
    asked = [level_named(part.strip(), read) for part in (top or "").split(",") if part.strip()]
    tops = [level for level in asked if level is not None]
    if len(tops) != len(names):
        found = "nothing" if top is None else f'"{top}"'
        raise BadInput.at("--top", expected=f"a level for each of {parts}, as 3,2", found=found)
    column = "aspect" if read.has("aspect") and names[0] in read.frame["aspect"].to_list() else "surface"
    nothing = named("--zero", zero, lambda text: level_named(text, read) or 0.0, expected="PART=LEVEL, as page=0")
    at_least = at_least or 1
    of = of_users or max(3, at_least)
    return (
        analysis.combined_weights(read, names, tops, column=column, at_least=at_least, of=of, zero=nothing, **how),
        column,
    )


def level_named(text: str | None, judgments: Judgments) -> float | None:
    """A level by its number, or by its name on the scale; none where none is named."""
    if text is None:
        return None
    names = {level.name.casefold(): level.grade for level in judgments.scale or ()}
    if text.casefold() in names:
        return names[text.casefold()]
    try:
        return float(text)
    except ValueError:
        raise BadInput.at("--top", expected="a level, as a number or a name of --scale", found=f'"{text}"') from None
