"""Which labels count: selection, order, repeats, consensus and gold. Decided here and nowhere else."""

from karat.labels.aspects import of_aspect
from karat.labels.consensus import consensus
from karat.labels.gold import GOLD, known_grades, split_gold
from karat.labels.label_table import ALL
from karat.labels.panel import Panel
from karat.labels.selection import one_subtopic_each, select

__all__ = [
    "ALL",
    "GOLD",
    "Panel",
    "consensus",
    "known_grades",
    "of_aspect",
    "one_subtopic_each",
    "select",
    "split_gold",
]
