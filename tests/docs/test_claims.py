"""What is promised of a corrected verdict: for any judge by P, CG, DCG and RBP alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import karat as kt
from commands import karat

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "paper" / "paper.md"]
#: Words of a guarantee for any judge.
GUARANTEE = re.compile(
    r"however the (?:judge|LLM)s? errs?|holds although they err|although the judges err|holds nevertheless"
    r"|(?:right|holds|unbiased) for any judge|for any judge",
    re.IGNORECASE,
)
#: The measures for which it holds, one of which has to stand in the same paragraph.
SUMS = re.compile(r"\bsums?\b|\bP\b|P@\d|\bDCG\b|\bRBP\b")


def paragraphs(text: str) -> list[str]:
    return re.split(r"\n\s*\n", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_guarantee_for_any_judge_names_its_measures(page: Path) -> None:
    unnamed = [part for part in paragraphs(page.read_text()) if GUARANTEE.search(part) and not SUMS.search(part)]
    assert unnamed == []


def test_sentences_that_promised_too_much_are_gone() -> None:
    texts = [page.read_text() for page in PAGES] + [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    for words in (
        "holds however the judge errs",
        "a verdict holds although they err",
        "the verdict holds nevertheless",
    ):
        assert not [text for text in texts if words in text]


@pytest.mark.parametrize("function", [kt.compare, kt.score])
def test_docstrings_name_the_measures_that_rest_on_a_model(function: object) -> None:
    text = " ".join(str(function.__doc__).split())
    assert "for any judge" in text.replace("right for any judge", "for any judge")
    for measure in ("P, CG, DCG and RBP", "nDCG, RR and ERR"):
        assert measure in text
    assert "rest on a model of unlabelled documents" in text


def test_help_and_pages_state_the_coverage_on_real_runs() -> None:
    assert "nDCG, RR and ERR also rest on a model" in " ".join(karat("compare", "--help").stdout.split())
    page = (ROOT / "docs" / "compare.md").read_text()
    assert "in 82 to 89% with 600" in page
    assert "82 to 89%" in " ".join(str(kt.compare.__doc__).split())
