"""What `import karat as kt` offers: a list that changes on purpose only, every name with help of its own."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from types import ModuleType

import pytest

import karat as kt

FOLDERS = ["comparison", "context", "judges", "plan", "simulate", "users"]
FUNCTIONS = [
    "audit_llm",
    "click_labels_by_rank",
    "compare",
    "compare_rankings",
    "confusion",
    "consensus",
    "context_accuracy",
    "context_sources",
    "corrected_difference",
    "corrected_runs",
    "corrected_score",
    "fetch",
    "interleave",
    "label_in_context",
    "live_verdict",
    "of_aspect",
    "parse_measure",
    "pilot_variance",
    "plan_context",
    "plan_gold",
    "plan_gold_queries",
    "plan_power",
    "read_clicks",
    "read_confusion",
    "read_documents",
    "read_judgments",
    "read_preferences",
    "read_queries",
    "read_ratings",
    "read_runs",
    "read_session_lists",
    "read_subtopics",
    "register_error_model",
    "register_format",
    "register_measure",
    "report",
    "score",
    "udm",
    "write",
]
CLASSES = [
    "Accuracy",
    "ClickLog",
    "Clicks",
    "Comparison",
    "Documents",
    "Engine",
    "Judgments",
    "Measure",
    "Observed",
    "Panel",
    "PilotVariance",
    "Preferences",
    "Queries",
    "Report",
    "Runs",
    "Scale",
    "Scores",
    "Study",
]
TYPES = ["LabelsLike", "PathLike", "RunsLike"]
ERRORS = ["BadInput", "KaratError", "MissingExtra", "NotConverged", "Undefined"]
MEASURES = [
    "AP",
    "AP_IA",
    "Bpref",
    "CCG",
    "CCG_single",
    "CG",
    "CitationPrecision",
    "CitationRecall",
    "Compat",
    "DCG",
    "D_nDCG",
    "Dsharp_nDCG",
    "ERR",
    "ERR_IA",
    "F",
    "GAP",
    "GMAP",
    "IAP",
    "IPrec",
    "Judged",
    "NRBP",
    "NuggetRecall",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "P_IA",
    "R",
    "RBP",
    "RBP_residual",
    "RR",
    "Rprec",
    "SetF",
    "SetP",
    "SetR",
    "StRecall",
    "Success",
    "alpha_DCG",
    "alpha_nDCG",
    "gm_Bpref",
    "iRBU",
    "infAP",
    "nDCG",
    "nERR_IA",
    "nNRBP",
    "tie_nDCG",
]


def test_the_public_names_are_these() -> None:
    assert dir(kt) == sorted(["__version__", *FOLDERS, *FUNCTIONS, *CLASSES, *TYPES, *ERRORS, *MEASURES])


def test_only_these_names_are_packages() -> None:
    assert [name for name in dir(kt) if isinstance(getattr(kt, name), ModuleType)] == FOLDERS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_shows_the_function_with_its_arguments(name: str) -> None:
    function = getattr(kt, name)
    assert inspect.isfunction(function)
    shown = pydoc.plain(pydoc.render_doc(function))
    assert f"{name}(" in shown
    assert str(inspect.getdoc(function)).partition("\n")[0] in shown


@pytest.mark.parametrize(
    "first",
    [
        "karat.reports.page",
        pytest.param("karat.comparison.comparer", marks=pytest.mark.thorough),
        pytest.param("karat.judges", marks=pytest.mark.thorough),
    ],
)
def test_a_name_is_the_same_whatever_was_imported_before(first: str) -> None:
    code = f"import {first}, karat as kt; print(type(kt.compare).__name__, type(kt.report).__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["function", "function"]
