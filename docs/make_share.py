"""Write the page for man and the shells' completions that the package installs: python docs/make_share.py."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from karat.cli import SECTIONS, karat

SHARE = Path(__file__).parents[1] / "share"
HEAD = r""".TH KARAT 1
.SH NAME
karat \- how much gold is in relevance labels, and which search engine is better once you know
.SH SYNOPSIS
.B karat
.I COMMAND
.RI [ ARGUMENTS ]
.SH DESCRIPTION
Labels come first, then runs:
.B karat score qrels.txt bm25.run
Files may be plain, .gz, .zst, or \- for standard input. Each command has examples:
.B karat COMMAND \-\-help
"""
TAIL = r""".SH EXIT STATUS
0 done; 1 the data cannot answer; 2 something in the input is to be mended; 3 a rule of
.B karat compare
was broken; 70 a fault in karat.
.SH ENVIRONMENT
.TP
.B KARAT_MAX_BYTES
How many bytes a packed file may have once unpacked.
.TP
.B KARAT_DEBUG
Faults are told in full.
"""


def man() -> str:
    """The page: every command with a line, and the parts of those that have some."""
    parts = [HEAD]
    context = click.Context(karat)
    for title, commands in SECTIONS.items():
        parts.append(f".SH {title.upper()}\n")
        for name, said in commands.items():
            command = karat.get_command(context, name)
            words = f" Parts: {', '.join(command.list_commands(context))}." if isinstance(command, click.Group) else ""
            parts.append(f".TP\n.B karat {name}\n{(said + words).replace('-', chr(92) + '-')}\n")
    return "".join([*parts, TAIL])


def completion(shell: type[ShellComplete]) -> str:
    """The script that asks karat what fits."""
    return shell(karat, {}, "karat", "_KARAT_COMPLETE").source() + "\n"


def files() -> dict[str, str]:
    """Every file below share/ with its text."""
    return {
        "man/man1/karat.1": man(),
        "bash-completion/completions/karat": completion(BashComplete),
        "zsh/site-functions/_karat": completion(ZshComplete),
        "fish/vendor_completions.d/karat.fish": completion(FishComplete),
    }


if __name__ == "__main__":
    BashComplete._check_version = staticmethod(lambda: None)  # type: ignore[method-assign]  # of the bash at hand
    for name, text in files().items():
        (SHARE / name).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / name).write_text(text)
