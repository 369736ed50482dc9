"""Gold labels that are not all there yet: said once, and rightly."""

from __future__ import annotations

from typing import Any

from karat.correction.gold_sample import Gold
from karat.records import Judgments


def rows(labels: list[float | None], **more: Any) -> list[dict[str, Any]]:
    return [{"query": "q", "doc": f"d{i}", "label": label, **more} for i, label in enumerate(labels)]


def test_documents_that_wait_for_their_gold_label_are_said_once() -> None:
    gold = Gold.of(Judgments.of(rows([1.0, 0.0, None, None], probability=0.5)))
    assert gold.frame["probability"].to_list() == [0.25, 0.25]
    assert gold.notes == (
        "2 drawn documents of 4 without a gold label (yet): those with one are taken for a random part of the draw",
    )


def test_without_probabilities_they_are_said_too() -> None:
    gold = Gold.of(Judgments.of(rows([1.0, 0.0, None, None])))
    assert gold.notes[0] == "2 documents of 4 without a gold label (yet) left aside"
    assert not any("can't tell" in note for note in gold.notes)


def test_who_cannot_tell_where_another_can_is_said_apart() -> None:
    data = rows([1.0, 0.0, None], probability=0.5, judge="ann") + rows([None, 0.0, None], probability=0.5, judge="bob")
    gold = Gold.of(Judgments.of(data))
    assert gold.notes == (
        "3 labels of 2 documents: the median counts",
        "1 answer without a label (can't tell) left aside",
        "1 drawn document of 3 without a gold label (yet): those with one are taken for a random part of the draw",
    )
