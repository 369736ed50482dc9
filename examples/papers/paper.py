"""What the scripts of the papers share: each result as a table for LaTeX and as a figure, in one folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from karat.errors import Undefined
from karat.records.result import ResultBase
from karat.reports.plots import figure_of
from karat.reports.tables import to_latex


@dataclass(frozen=True)
class Paper:
    """A folder with the tables and figures of a paper."""

    folder: Path

    def table(self, name: str, result: ResultBase) -> None:
        """Write a table, NAME.tex, and say what it finds."""
        self._write(f"{name}.tex", to_latex(result, name).encode())
        print(f"{name}: {result.finding}")

    def figure(self, name: str, result: ResultBase) -> None:
        """Draw a figure, NAME.svg and NAME.pdf."""
        drawn = figure_of(result)
        for ending in (".svg", ".pdf"):
            self._write(f"{name}{ending}", drawn.drawn(ending))

    def both(self, name: str, result: ResultBase) -> None:
        """Write the table, and the figure where there is one."""
        self.table(name, result)
        try:
            self.figure(name, result)
        except Undefined as reason:
            print(f"{name}: no figure ({reason})")

    def _write(self, name: str, data: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(data)
