"""Options that several commands share, so that they are spelled and explained alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import click

from karat.cli.inputs import Reading

#: A command, or the function that one is made of.
Command = TypeVar("Command", bound=Callable[..., Any])


class OneOf(click.Choice[str]):
    """A choice of names that are asked for when they are wanted: a command's definition loads nothing."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names, self.case_sensitive = names, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # click sets it once, this looks it up
        """The names there are now."""
        return tuple(self.names())


class FormatName(OneOf):
    """A format's name, taken as it is: reading and writing say which there are, as they do in Python."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is."""
        return value


def _hows() -> Iterable[str]:
    from karat.labels.consensus import HOWS

    return HOWS


def _formats() -> Iterable[str]:
    from karat.formats import FORMATS

    return FORMATS


def _formats_written() -> Iterable[str]:
    from karat.formats import FORMATS

    return [name for name, form in FORMATS.items() if form.writes]


def _hows_and_models() -> Iterable[str]:
    from karat.judges import MODELS

    return [*_hows(), *MODELS]


consensus = click.option(
    "--consensus",
    type=OneOf(_hows),
    is_flag=False,
    flag_value="median",
    help="Reduce to one label per document: the median of its judges' labels unless another is named.",
)
consensus_or_model = click.option(
    "--consensus",
    default="median",
    show_default=True,
    type=OneOf(_hows_and_models),
    help="How several judges' labels of a document become one.",
)
from_format = click.option(
    "--from",
    "from_format",
    type=FormatName(_formats),
    help="The file's format, where name and first line do not tell.",
)
to_format = click.option(
    "--to",
    "to_format",
    type=FormatName(_formats_written),
    help="The format to write, where the name does not tell.",
)
database = click.option(
    "--database", metavar="URL", help="postgresql://...; by default the file karat.db in the folder."
)
scale = click.option("--scale", metavar="LEVELS", help="The scale of the labels: 0..3, or bad,fair,good.")
drop_bad_labels = click.option(
    "--drop-bad-labels", is_flag=True, help="Drop labels outside the scale, and say how many."
)
time_format = click.option(
    "--time-format", metavar="FORMAT", help="How times are written, if not as ISO 8601: '%m/%d/%Y %H:%M'."
)


def labels(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that reads labels, which gets them as one: `reading`, of type `Reading`."""

    @wraps(command)
    def with_reading(*, scale: str | None, drop_bad_labels: bool, time_format: str | None, **others: Any) -> Any:
        return command(reading=Reading(scale, drop_bad_labels, time_format), **others)

    return scale(drop_bad_labels(time_format(with_reading)))


def _only(context: click.Context, option: click.Parameter, files: tuple[str, ...]) -> str | None:
    """The file given, for an option that takes one; a second is refused, where click would forget the first."""
    from karat.errors import BadInput

    if len(files) > 1:
        raise BadInput.at(
            option.opts[-1],
            expected="one file",
            found=", ".join(files),
            remedy="for gold labels of two rounds, karat plan gold --pilot FIRST writes a file that holds both",
        )
    return files[0] if files else None


def one_file(name: str, explained: str) -> Callable[[Command], Command]:
    """An option that takes one file, and refuses a second."""
    return click.option(name, metavar="FILE", multiple=True, callback=_only, help=explained)


gold = one_file("--gold", "Gold labels of some documents, with the probability of each to be drawn.")
profile = click.option(
    "--profile",
    default="trec_eval",
    show_default=True,
    metavar="TOOL",
    help="Where tools differ, do as trec_eval, trec_eval9, ndeval or gdeval.",
)
complete = click.option("-c", "--complete", is_flag=True, help="Count judged queries that a run misses as 0.")
level = click.option("--level", default=0.95, show_default=True, help="The level of the intervals.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document with full precision.")


def _enough(context: click.Context, option: click.Parameter, value: int) -> int:
    """Refuse a handful of draws before any work is done: an interval of them would mislead."""
    from karat.errors import BadInput

    if value != 0 and value < 100:
        raise BadInput.at("--draws", expected="0 draws, or 100 or more", found=str(value))
    return value


draws = click.option(
    "--draws",
    default=1000,
    show_default=True,
    callback=_enough,
    help="Bootstrap draws for the intervals: 0 for none, or 100 and more.",
)
seed = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="The seed of all that is drawn at random."
)
