"""The name of a judge or a group stands in sentences as it stands in the data."""

from __future__ import annotations

import re

import karat as kt
from karat.records import Judgments, Result
from karat.reports.tables import to_latex

NAME = "gptA"


def judged() -> Judgments:
    """Labels of one group, which overrates half of the documents, and gold labels of the same documents."""
    rows = []
    for query in range(30):
        for doc in range(8):
            site = "wiki" if doc % 2 else "other"
            truth = (query + doc) % 3
            item = {"query": f"q{query}", "doc": f"d{doc}", "site": site}
            rows.append(item | {"label": truth, "judge": "expert", "group": "gold"})
            rows.append(item | {"label": min(truth + (doc % 2) * (query % 4 > 0), 2), "judge": NAME, "group": NAME})
    return Judgments.of(rows)


def test_a_sentence_keeps_the_case_of_a_judges_name() -> None:
    labels = judged()
    results = [
        kt.judges.against_gold(labels),
        kt.judges.find_bias(labels, ["site"]),
        kt.judges.distribution(labels),
        kt.judges.judge_table(labels),
    ]
    texts = [text for result in results for text in (result.finding, *result.notes, result.to_latex())]
    named = [name for text in texts for name in re.findall("gpta", text, re.IGNORECASE)]
    assert len(named) > 5
    assert {*named} == {NAME}


def test_a_note_in_latex_keeps_the_case_of_a_systems_name() -> None:
    result = Result(
        kt.score({"q": {"d": 1}}, {"q": {"d": 1.0}}, "P@1", draws=0).means, "One.", ("hybrid: 3 ties", "few")
    )
    assert "hybrid: 3 ties." in to_latex(result)
    assert "Few." in to_latex(result)
