"""What can I type? One file per command; only parsing and printing here."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from karat.errors import BadInput, KaratError, MissingExtra

app = typer.Typer(
    name="karat",
    help="How much gold is in your relevance labels, and which search engine is better once you know.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from karat import __version__

        typer.echo(f"karat {__version__}")
        raise typer.Exit


@app.callback()
def karat(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """How much gold is in your relevance labels, and which search engine is better once you know."""


def main() -> None:
    """Run the command line: exit 0 when done, 1 when the data cannot answer, 2 on bad input."""
    from karat.cli import convert, measures, score  # noqa: F401  (each adds its command)

    try:
        app()
    except (BadInput, MissingExtra) as error:
        _fail(error, 2)
    except KaratError as error:
        _fail(error, 1)
    except BrokenPipeError:
        # The reader has seen enough (karat score ... | head): that is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("KARAT_DEBUG"):
            raise
        typer.echo(
            f"karat: this is a fault in karat, not in your data ({type(error).__name__}: {error}); "
            "please report it with what KARAT_DEBUG=1 prints",
            err=True,
        )
        sys.exit(70)


def _fail(error: KaratError, code: int) -> None:
    typer.echo(f"karat: {error}", err=True)
    sys.exit(code)
