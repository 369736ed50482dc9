"""`karat validate correlation`: do measures rank systems alike?"""

from __future__ import annotations

from dataclasses import replace

import click

from karat.cli import options
from karat.cli.inputs import Reading, run_files
from karat.cli.named_measures import measures_among
from karat.cli.outputs import keep_inputs
from karat.cli.results import tell
from karat.cli.runs import read_several
from karat.cli.validate import users as of_users
from karat.formats.open_files import write_bytes
from karat.reports.plots import figure_of
from karat.validity import measure_correlation

#: What is compared when no measure is asked for.
DEFAULT = ("nDCG@10", "RR@10", "P@10", "ERR@10")

EXAMPLES = """\b
Examples:
  karat validate correlation qrels.txt runs/*.run -m nDCG@10,P@10,AP
  karat validate correlation my-study --picture correlation.svg"""


@click.command(epilog=EXAMPLES)
@click.argument("labels")
@click.argument("runs", metavar="[RUN...]", nargs=-1)
@options.measure(several=True, otherwise=", ".join(DEFAULT))
@click.option("--picture", metavar="FILE", help="Write the correlations as an SVG picture.")
@options.profile
@options.seed
@options.study
@options.form
def correlation(
    labels: str,
    runs: tuple[str, ...],
    measure: tuple[str, ...],
    picture: str | None,
    profile: str,
    seed: int,
    reading: Reading,
    form: options.Form,
) -> None:
    """How alike measures rank systems: Kendall's tau_b for every two."""
    files, names = measures_among(runs, measure)
    keep_inputs("--picture", picture, [labels, *files])
    lists = read_several(run_files(labels, files))
    found = measure_correlation(reading.study(labels).judged, lists, names or list(DEFAULT), profile=profile, seed=seed)
    if picture is not None:
        how = f"Kendall's tau_b over {found.frame['systems'][0]} systems and {found.frame['queries'][0]} queries"
        write_bytes(picture, replace(figure_of(found), subtitle=how).svg().encode())
    tell({"Correlation": found}, form, of_users.show)
