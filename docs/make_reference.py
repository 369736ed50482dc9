"""Write docs/reference.md, options.md and words.md from the commands themselves: python docs/make_reference.py."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import click

from karat.cli import karat
from karat.cli.help_ import words

HEAD = """# Commands

<!-- Made from the commands' own help by docs/make_reference.py; a test holds it up to date. -->

Every command takes `-h` or `--help`; files may be plain, `.gz`, `.zst` or `-` (standard input). Exit code 0: done; 1:
the data cannot answer; 2: something in the input is to be mended, and the message says what; 70: a fault in karat, told
in full with `KARAT_DEBUG=1` in the environment.
"""

OPTIONS_HEAD = """# Options

<!-- Made from the commands by docs/make_reference.py; tests hold it up to date, and to one meaning a name. -->

One name has one meaning in all commands, and one meaning one name. An option that would do nothing in a command is
not there. [Commands](reference.md) has the defaults.

**Words and their order.** Labels come first, then runs: `karat score LABELS RUN...`. What users said comes before
both: `karat validate agreement PREFERENCES LABELS RUN...`. A study's folder stands for all of them. A part of an
analysis is a word after its command: `karat judges bias ...`; without one, `karat judges` and `karat context` tell
all that the data allows, `karat disagree` the weights and `karat validate` the agreement. A file named like a part is
typed as `./bias`.

**Where several files of labels and runs meet**, `karat judges` and `karat train`, which are about labels, take labels
only as words, and runs, like all else beside the labels, as an option, `--runs`; `karat report`, which is about runs,
takes further labels by `--labels`, and so does `karat judges llm`, whose plan is for the runs.

**Completion.** For bash, `eval "$(_KARAT_COMPLETE=bash_source karat)"` in `~/.bashrc`; for zsh, the same with
`zsh_source` in `~/.zshrc`; for fish, `_KARAT_COMPLETE=fish_source karat | source` in
`~/.config/fish/completions/karat.fish`. Then the tab key completes commands, parts and options.

| option | meaning | commands |
|---|---|---|"""


WORDS_HEAD = """# Words

<!-- Made from src/karat/cli/words.toml by docs/make_reference.py; a test holds it up to date. -->

The words of the [papers](papers/README.md) and of the trade, what they mean here, and where they lead; `karat help
WORD` tells one.

| word | also | meaning | command | page |
|---|---|---|---|---|"""


def commands(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name, those of a group after it."""
    context = click.Context(group)
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{before} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{before} {name}")


def section(name: str, command: click.Command) -> str:
    """One command's part of the page."""
    parts = [f"## {name}", f"    {name} {' '.join(usage(command))}".rstrip(), text(command.help)]
    options = [option for option in command.params if isinstance(option, click.Option)]
    if options:
        rows = [f"| {spelling(option)} | {meaning(option)} |" for option in options]
        parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]))
    if command.epilog:
        parts.append("```\n" + inspect.cleandoc(command.epilog.replace("\b", "")).strip() + "\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def usage(command: click.Command) -> Iterator[str]:
    """The words after the command's name."""
    if isinstance(command, click.Group):
        yield "|".join(sorted(command.list_commands(click.Context(command))))
    for part in command.params:
        if isinstance(part, click.Argument):
            name = part.metavar or (part.name or "").upper() + ("..." if part.nargs == -1 else "")
            yield name if part.required or name.startswith("[") else f"[{name}]"


def text(said: str | None) -> str:
    """Help as paragraphs."""
    return inspect.cleandoc((said or "").replace("\b\n", "")).strip()


def spelling(option: click.Option) -> str:
    """How an option is typed."""
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    if isinstance(option.type, click.Choice):
        return f"{names} {' or '.join(map(str, option.type.choices))}"
    return f"{names} {option.metavar or option.type.name.split()[0].upper()}"


def meaning(option: click.Option) -> str:
    """What an option does, with its default."""
    said = (option.help or "").replace("|", "\\|")
    if isinstance(option.show_default, str):
        return f"{said} Default: {option.show_default}."
    default = click.Context(karat, show_default=True)
    shown = option.get_help_extra(default).get("default")
    return f"{said} Default: {shown}." if shown and not option.is_flag else said


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(section(name, command) for name, command in commands(karat, "karat"))])


def meanings() -> dict[str, dict[str, list[str]]]:
    """What each option means, with the commands in which it does."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, command in commands(karat, "karat"):
        for option in command.params:
            if isinstance(option, click.Option) and option.help:
                names = ", ".join(f"`{spelled}`" for spelled in [*option.opts, *option.secondary_opts])
                found.setdefault(names, {}).setdefault(option.help, []).append(name.removeprefix("karat "))
    return dict(sorted(found.items(), key=lambda entry: entry[0].lstrip("`-")))


def options_page() -> str:
    """The page of all options: one name, one meaning."""
    rows = [
        f"| {name} | {said.replace('|', chr(92) + '|')} | {', '.join(where)} |"
        for name, by_meaning in meanings().items()
        for said, where in by_meaning.items()
    ]
    return "\n".join([OPTIONS_HEAD, *rows, ""])


def words_page() -> str:
    """The words of the papers and of the trade, from what `karat help` tells."""
    rows = []
    for word, entry in words().items():
        page = f"[{Path(entry['page']).stem}]({entry['page'].removeprefix('docs/')})"
        cells = (word, entry["also"], entry["means"], f"`{entry['command']}`", page)
        rows.append(f"| {' | '.join(text.replace('|', chr(92) + '|') for text in cells)} |")
    return "\n".join([WORDS_HEAD, *rows, ""])


if __name__ == "__main__":
    (Path(__file__).parent / "words.md").write_text(words_page())
    (Path(__file__).parent / "reference.md").write_text(page())
    (Path(__file__).parent / "options.md").write_text(options_page())
