"""The kinds of tasks: one file each, and its name in the line below."""

from karat.store.kinds.code import CODE
from karat.store.kinds.judge import JUDGE
from karat.store.kinds.kind import AnswerTable, TaskKind
from karat.store.kinds.pair import PAIR

#: A row that does not say its kind, and by whose columns it cannot be told, is of the first.
KINDS: dict[str, TaskKind] = {kind.name: kind for kind in (JUDGE, PAIR, CODE)}

__all__ = ["CODE", "JUDGE", "KINDS", "PAIR", "AnswerTable", "TaskKind"]
