"""`karat clicks`: what clicks say of documents once it is known where they stood."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.option_values import OneOf
from karat.cli.outputs import keep_inputs, write_csv
from karat.cli.part import part
from karat.cli.reading_options import columns
from karat.cli.results import Tables
from karat.errors import BadInput
from karat.formats.click_batches import LogParts, click_batches
from karat.judges.click_models import click_labels_by_rank
from karat.judges.click_models.debiased import click_labels_of_parts
from karat.records import Clicks, Result


@part(
    click.argument("log", metavar="LOG...", nargs=-1, required=True),
    click.option(
        "--label",
        type=OneOf("karat.judges.click_models.debiased:KINDS"),
        show_default="attractiveness, or coec where ranks cannot tell",
        help="Which figure --out writes as the label.",
    ),
    options.satisfied_after,
    options.level,
    columns,
    options.out,
    examples="""karat clicks log.parquet --out labels.csv
karat clicks ubi_queries.ndjson ubi_events.ndjson --satisfied-after 30
karat score labels.csv new.run -m nDCG@10""",
)
def clicks(log: tuple[str, ...], label: str | None, out: str | None, **asked: Any) -> Tables:
    """Labels from clicks, freed of the rank at which results were shown.

    LOG has a row for each result shown: query, doc, rank, clicked, and maybe session and dwell (seconds); or a row for
    each event, with an action (impression, click); or it is what OpenSearch's User Behavior Insights writes, queries
    and events, in one file or several. Beside the rate of clicks there are COEC (clicks over expected clicks) and the
    attractiveness by a position-based model, each with its interval.
    """
    if out is None:
        options.refuse("label", why="it goes with --out, which writes labels")
    keep_inputs("--out", out, log)
    found = click_batches(*log)
    if isinstance(found, Clicks):
        raise BadInput.at(
            ", ".join(log),
            expected="a log with a row for each result shown, and its rank",
            found="counts without ranks",
            remedy="karat judges clicks and karat validate clicks take counts",
        )
    if isinstance(found, LogParts):
        told = click_labels_of_parts(found, found.rows, **asked)
    else:
        told = click_labels_by_rank(found, **asked)
    if out is not None:
        write_csv(told.labels(label).frame, out)
    ranks = Result(told.ranks, "How likely each rank is looked at, the most looked-at one 1.")
    return {"Documents": told, "Ranks": ranks}
