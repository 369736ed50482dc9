"""What may change the verdict stands beside it; what does not stays among the notes."""

from __future__ import annotations

import polars as pl
import pytest

import karat as kt
from karat.simulate import two_systems
from karat.study import Study


def two(queries: int, labels: pl.DataFrame | None = None, judged: int = 10) -> Study:
    """Two systems that show ten documents each, the first `judged` of them labelled."""
    runs = tuple(
        kt.Runs.of(
            {f"q{i}": {f"d{k}": float((k * step + i) % 11) for k in range(10)} for i in range(queries)}, system=s
        )
        for s, step in (("a", 1), ("b", 3))
    )
    own = kt.Judgments.of({f"q{i}": {f"d{k}": (k + i) % 2 for k in range(judged)} for i in range(queries)})
    return Study("Two", labels=own if labels is None else kt.Judgments.of(labels), runs=runs)


def warnings(study: Study) -> str:
    report = kt.report(study, measure="P@10", measures=[], draws=100)
    header = report.html().split("</header>")[0]
    assert header.count('<p class="warning">') == len(report.warnings)
    notes = next(section for section in report.sections if section.name == "verdict").notes
    assert not {f"{note}." for note in notes} & {*report.warnings}
    return " ".join(report.warnings)


def test_where_nothing_is_the_matter_there_is_no_warning():
    assert warnings(two(12)) == ""


# Of ten documents one is 10 %, which is not more than 10 %; two are 20 %.
@pytest.mark.parametrize(
    ("judged", "said"), [(9, ""), (8, "20% of the top 10 of a and 20% of the top 10 of b have no label")]
)
def test_many_documents_without_a_label(judged, said):
    found = warnings(two(12, judged=judged))
    assert said in found
    assert bool(found) == bool(said)


def test_few_queries():
    assert "9 queries only: the interval is a guess" in warnings(two(9))


def test_labels_that_are_a_sample():
    frame = two(12).labels.frame.select("query", "doc", "label").with_columns(probability=pl.lit(0.5))
    assert "are of a sample" in warnings(two(12, frame))


def test_errors_that_favour_a_system(favoured):
    assert "the labels' errors favour B, by " in warnings(favoured)


@pytest.mark.parametrize(("number", "few"), [(29, True), (30, False)])
def test_few_gold_labels_that_count(number, few):
    study = two_systems(40, seed=2)
    # The documents of one system alone count for P@10, those of both do not: so many of the former, all of the latter.
    alone = (study.rank == 0).any(axis=1)
    places = alone.nonzero()[0]
    drawn = ~alone
    drawn[places[:: len(places) // number][:number]] = True
    chance = [number / len(places) if one else 1.0 for one in alone]
    gold = study.gold(drawn, chance)
    found = kt.compare(study.judgments(), study.runs(), "P@10", gold=gold)
    assert (f"{number} gold labels that count only: the interval is a guess" in found.notes) == few


def test_what_holds_for_several_systems_is_said_once():
    labels = two(12).labels.frame.with_columns(pl.col("doc").str.to_uppercase())
    report = kt.report(two(12, labels), measure="P@10", measures=[], draws=100, allow_unjudged=True)
    assert sum("a, b: 10 document ids of its top 10 are nowhere in the labels" in one for one in report.warnings) == 1
