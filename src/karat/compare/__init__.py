"""Which system wins? Paired tests, many systems, and the verdict that holds when labels are wrong sometimes."""

import sys
from types import ModuleType

from karat.compare.comparison import Comparison
from karat.compare.verdict import compare

__all__ = ["Comparison", "compare"]


class _Compare(ModuleType):
    """This folder and the function in it share a name: `karat.compare(...)` calls the function in either case."""

    __call__ = staticmethod(compare)
    __wrapped__ = staticmethod(compare)  # for the signature that editors and notebooks show


sys.modules[__name__].__class__ = _Compare
