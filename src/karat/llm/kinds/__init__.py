"""The kinds of tasks as models are asked them: one file each, named as the store names the kind."""

from importlib import import_module
from pkgutil import iter_modules

from karat.llm.kinds.kind import AskedKind, Verdict

#: By the names that they have in the store, which are those of the files.
ASKED: dict[str, AskedKind] = {
    file.name: value
    for file in iter_modules(__path__)
    for value in vars(import_module(f"{__name__}.{file.name}")).values()
    if isinstance(value, AskedKind)
}

__all__ = ["ASKED", "AskedKind", "Verdict"]
