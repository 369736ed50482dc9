"""karat: how much gold is in your relevance labels, and which search engine is better once you know.

>>> import karat as kt
>>> kt.nDCG @ 10
nDCG@10

Names are loaded when they are first used, so that `import karat` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.errors import BadInput, KaratError, MissingExtra, NotConverged, Undefined
    from karat.estimate import Scores, score
    from karat.formats import (
        read_clicks,
        read_documents,
        read_judgments,
        read_preferences,
        read_queries,
        read_runs,
        write,
    )
    from karat.labels import majority
    from karat.measures import (
        AP,
        AP_IA,
        CCG,
        CG,
        DCG,
        ERR,
        ERR_IA,
        GAP,
        NRBP,
        P_IA,
        RBP,
        RR,
        Bpref,
        CCG_single,
        Judged,
        Measure,
        P,
        R,
        RBP_residual,
        Rprec,
        StRecall,
        Success,
        alpha_DCG,
        alpha_nDCG,
        infAP,
        nDCG,
        nERR_IA,
        nNRBP,
        parse_measure,
    )
    from karat.records import ClickLog, Clicks, Documents, Judgments, Preferences, Queries, Runs, Scale

__version__ = "0.1.0"

_HOME = {
    "errors": ("BadInput", "KaratError", "MissingExtra", "NotConverged", "Undefined"),
    "records": ("ClickLog", "Clicks", "Documents", "Judgments", "Preferences", "Queries", "Runs", "Scale"),
    "formats": (
        "read_clicks",
        "read_documents",
        "read_judgments",
        "read_preferences",
        "read_queries",
        "read_runs",
        "write",
    ),
    "labels": ("majority",),
    "measures": (
        "AP",
        "AP_IA",
        "Bpref",
        "CCG",
        "CCG_single",
        "CG",
        "DCG",
        "ERR",
        "ERR_IA",
        "GAP",
        "Judged",
        "Measure",
        "NRBP",
        "P",
        "P_IA",
        "R",
        "RBP",
        "RBP_residual",
        "RR",
        "Rprec",
        "StRecall",
        "Success",
        "alpha_DCG",
        "alpha_nDCG",
        "infAP",
        "nDCG",
        "nERR_IA",
        "nNRBP",
        "parse_measure",
    ),
    "estimate": ("Scores", "score"),
}
_WHERE = {name: home for home, names in _HOME.items() for name in names}

__all__ = [  # noqa: PLE0604
    "__version__",
    *_WHERE,
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(import_module(f"karat.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'karat' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
