"""Groups of commands whose files are loaded when one of them is called: `karat --help` loads none."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from karat.advice import speak_command_line
from karat.errors import BadInput


class LazyGroup(click.Group):
    """A group that knows its commands by name and a line of help, in sections, and loads the file of the one called.

    The command `score` of the package `karat.cli` is the object `score` of the file `score.py`, or of the one `file`
    that has all commands of the group; a name that Python keeps for itself has an underscore behind it, as `import_`.

    Where a group has a default, that is the command when the first word is none: `karat judges crowd.csv` is
    `karat judges all crowd.csv`. A file that has the name of a command is typed as ./all.
    """

    def __init__(
        self,
        package: str,
        sections: Mapping[str, Mapping[str, str]],
        *,
        default: str | None = None,
        file: str | None = None,
        files: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**{"name": package.rpartition(".")[2], **more})
        self.package, self.sections, self.default, self.file = package, sections, default, file
        self.files = files or {}

    def main(self, *args: Any, **more: Any) -> Any:
        """Run a command; messages then speak of options, not of Python parameters."""
        with speak_command_line():
            return super().main(*args, **more)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words after the group's name, with the default command before them where they name none."""
        if self.default is not None and args and args[0] not in (*self.list_commands(ctx), *ctx.help_option_names):
            if not args[0].startswith("-") and not Path(args[0]).exists():
                known = ", ".join(self.list_commands(ctx))
                ctx.fail(f"{args[0]} is no file, and no part of {ctx.command_path}: {known}.")
            second = args[1] if len(args) > 1 and not args[0].startswith("-") else None  # no value of an option
            if second in self.list_commands(ctx) and not Path(str(second)).exists():
                ctx.fail(f"{second} is a part, which comes first: {ctx.command_path} {second} {args[0]}")
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command with the words after it; an option that stands twice there is refused unless it may."""
        name, command, words = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, click.Group) and not ctx.resilient_parsing:
            inner = click.Context(command, parent=ctx, info_name=name)
            _, _, typed = command.make_parser(inner).parse_args([*words])
            for option in {*typed}:
                if isinstance(option, click.Option) and not option.multiple and typed.count(option) > 1:
                    # click would take the last and forget the others without a word
                    raise BadInput.at(option.opts[-1], expected="one", found=str(typed.count(option)))
        return name, command, words

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the sections."""
        return [name for section in self.sections.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded now; None where there is none of that name."""
        if not any(cmd_name in section for section in self.sections.values()):
            return None
        name = cmd_name.replace("-", "_")
        name = f"{name}_" if keyword.iskeyword(name) or hasattr(builtins, name) else name
        command: click.Command = getattr(
            import_module(f"{self.package}.{self.files.get(cmd_name, self.file or name)}"), name
        )
        return command

    @property
    def loaded(self) -> dict[str, click.Command]:
        """All commands by name, loaded."""
        context = click.Context(self)
        found = {name: self.get_command(context, name) for name in self.list_commands(context)}
        return {name: command for name, command in found.items() if command is not None}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands section by section, each with its line of help."""
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl(list(section.items()))
