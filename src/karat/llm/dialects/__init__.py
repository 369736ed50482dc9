"""The dialects that servers of models speak: one file each, found by being here."""

from importlib import import_module
from pkgutil import iter_modules

from karat.llm.dialects.dialect import Dialect, Said, TokenChances, Unreadable

_FILES = (import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__))
DIALECTS: dict[str, Dialect] = {
    value.name: value for file in _FILES for value in vars(file).values() if isinstance(value, Dialect)
}

__all__ = ["DIALECTS", "Dialect", "Said", "TokenChances", "Unreadable"]
