"""`karat disagree combined`: what is a good snippet of a fair page worth?"""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.disagree import levels
from karat.cli.inputs import Reading
from karat.errors import BadInput
from karat.judges import combined_weights


@click.command(epilog="\b\nExamples:\n  karat disagree combined fedweb.csv --parts snippet,page --top 3,2 --of 3")
@click.argument("labels")
@click.option("--parts", required=True, metavar="NAMES", help="Surfaces or aspects to combine, as snippet,page.")
@levels.top
@levels.at_least
@levels.of_users
@levels.all_labels
@options.out
@options.study
@options.form
def combined(
    labels: str,
    parts: str,
    top: str | None,
    at_least: int | None,
    of_users: int | None,
    all_labels: bool,
    out: str | None,
    reading: Reading,
    form: options.Form,
) -> None:
    """Weights of combined levels of surfaces or aspects; --top has a level for each of them, as 3,2."""
    read = levels.judged(reading, labels, out)
    names = [part.strip() for part in parts.split(",")]
    tops = [levels.level_named(part.strip(), read) for part in (top or "").split(",") if part.strip()]
    if len(tops) != len(names):
        raise BadInput.at(
            "--top", expected=f"a level for each of {parts}, as 3,2", found="nothing" if top is None else f'"{top}"'
        )
    at_least = at_least or 1
    found = combined_weights(
        read,
        names,
        tops,
        column="aspect" if read.has("aspect") and names[0] in read.frame["aspect"].to_list() else "surface",
        at_least=at_least,
        of=of_users or max(3, at_least),
        all_labels=all_labels,
    )
    levels.tell_and_write({"Combined levels": found}, out, form)
