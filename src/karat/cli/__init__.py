"""What can I type? One file per command; only parsing and printing here."""

from __future__ import annotations

import gc
import io
import os
import sys

import click

from karat import __version__
from karat.cli.compare import compare
from karat.cli.context import context
from karat.cli.convert import convert
from karat.cli.correct import correct
from karat.cli.demo import demo
from karat.cli.disagree import disagree
from karat.cli.export import export
from karat.cli.import_ import import_
from karat.cli.init import init
from karat.cli.judges import judges
from karat.cli.measures import measures
from karat.cli.plan import plan
from karat.cli.report import report
from karat.cli.score import score
from karat.cli.serve import serve
from karat.cli.simulate import simulate
from karat.cli.train import train
from karat.cli.validate import validate
from karat.errors import BadInput, KaratError, MissingExtra


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="karat %(version)s")
def karat() -> None:
    """How much gold is in your relevance labels, and which search engine is better once you know."""


karat.add_command(score)
karat.add_command(compare)
karat.add_command(convert)
karat.add_command(correct)
karat.add_command(disagree)
karat.add_command(judges)
karat.add_command(context)
karat.add_command(plan)
karat.add_command(report)
karat.add_command(train)
karat.add_command(validate)
karat.add_command(measures)
karat.add_command(init)
karat.add_command(serve)
karat.add_command(import_)
karat.add_command(export)
karat.add_command(simulate)
karat.add_command(demo)


def main() -> None:
    """Run the command line: exit 0 when done, 1 when the data cannot answer, 2 on bad input."""
    # A command lives for seconds and keeps what it loads: the collector would look through it for nothing.
    gc.set_threshold(100_000)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that cannot show a letter shows its number
    try:
        karat()
    except (BadInput, MissingExtra) as error:
        _fail(error, 2)
    except KaratError as error:
        _fail(error, 1)
    except BrokenPipeError:
        # The reader has seen enough (karat score ... | head): that is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        click.echo(f"karat: {error.strerror or error}", err=True)
        sys.exit(2)
    except Exception as error:
        if os.environ.get("KARAT_DEBUG"):
            raise
        click.echo(
            f"karat: this is a fault in karat, not in your data ({type(error).__name__}: {error}); "
            "please report it with what KARAT_DEBUG=1 prints",
            err=True,
        )
        sys.exit(70)


def _fail(error: KaratError, code: int) -> None:
    click.echo(f"karat: {error}", err=True)
    sys.exit(code)
