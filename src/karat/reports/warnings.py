"""What may change the verdict, and so stands beside it."""

from __future__ import annotations

from karat.comparison import Comparison
from karat.records.result import Caution


def warnings_of(found: Comparison) -> tuple[str, ...]:
    """The notes that may change the verdict, as sentences."""
    names, systems = dict[str, list[str]](), {*found.systems}
    for note in found.notes:
        if isinstance(note, Caution):
            # What holds for several systems is said once.
            who, _, what = note.partition(": ")
            names.setdefault(what if who in systems else note, []).extend([who] if who in systems else [])
    return tuple(f"{', '.join(who)}: {what}." if who else f"{what}." for what, who in names.items())
