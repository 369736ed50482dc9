"""`karat validate coders`: do people who code comments agree?"""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.results import tell
from karat.cli.validate import users as of_users
from karat.formats import read_comments
from karat.validity import coder_agreement


@click.command(epilog="\b\nExamples:\n  karat validate coders coded.csv")
@click.argument("coded")
@options.resampling
@options.form
def coders(coded: str, chance: dict[str, Any], form: options.Form) -> None:
    """Whether people who code comments agree, class by class."""
    tell({"Coders": coder_agreement(read_comments(coded), **chance)}, form, of_users.show)
