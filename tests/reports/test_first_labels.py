"""Agreement in the report is that of the labels asked of every document alike, however many those are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from karat.judges import agreement
from karat.records import Judgments
from karat.records.study_design import Rules
from karat.reports.judging import judges_section
from karat.study import Study


@pytest.mark.parametrize("asked", [2, 3])
def test_the_report_shows_the_agreement_of_the_first_labels(asked: int) -> None:
    rng = np.random.default_rng(1)
    rows = []
    for doc in range(120):
        labels = [int(label) for label in rng.integers(0, 3, asked + 1)]
        further = labels[0] != labels[1]
        rows += [
            {"query": f"q{doc % 12}", "doc": f"d{doc}", "label": label, "judge": f"j{who}", "time": str(who)}
            for who, label in enumerate(labels[: asked + further])
        ]
    judgments = replace(Judgments.of(rows), rules=Rules(labels=asked))
    figures = agreement(judgments, draws=0).frame
    first = figures.filter(figures["labels"] == f"first {'two' if asked == 2 else 'three'}")
    assert first.height == 1
    section = judges_section(Study("a study", labels=judgments), 0, 0)
    drawn = next(figure for figure in section.figures if figure.name == "agreement").data
    assert drawn["alpha"].to_list() == pytest.approx(first["alpha_ordinal"].to_list())
