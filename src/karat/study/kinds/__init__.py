"""The kinds of tasks: one file each, found by being here."""

from importlib import import_module
from pkgutil import iter_modules

from karat.study.kinds.code import CODE
from karat.study.kinds.judge import JUDGE
from karat.study.kinds.kind import AnswerTable, TaskKind
from karat.study.kinds.pair import PAIR

_FILES = (import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__))
_FOUND = (value for file in _FILES for value in vars(file).values() if isinstance(value, TaskKind))
#: A row that does not say its kind, and by whose columns it cannot be told, is of the first.
KINDS: dict[str, TaskKind] = {kind.name: kind for kind in (JUDGE, PAIR, CODE, *_FOUND)}

__all__ = ["CODE", "JUDGE", "KINDS", "PAIR", "AnswerTable", "TaskKind"]
