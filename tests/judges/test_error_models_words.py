"""Error models: what they say, and honest words where nothing can be learnt."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowds import lenient_and_scattered, rf10_crowd
from karat.errors import BadInput, Undefined
from karat.judges.agreement import agreement
from karat.judges.dawid_skene import dawid_skene
from karat.judges.error_models import majority_posterior, one_coin
from karat.judges.ordinal_model import ordinal
from karat.records import Judgments, Scale

FITTED = [one_coin, dawid_skene, ordinal]


def test_a_fit_that_did_not_settle_says_so() -> None:
    judgments, _ = lenient_and_scattered(3, 20, 30)
    model = dawid_skene(judgments, max_iterations=3)
    assert not model.converged
    assert "did NOT converge in 3 iterations" in repr(model)
    assert any("not converged" in note for note in model.notes)
    assert model.to_dict()["converged"] is False
    settled = dawid_skene(judgments)
    assert f"converged in {settled.iterations} iterations" in repr(settled)


def test_labels_are_judgments_that_score() -> None:
    import karat as kt

    judgments, _ = lenient_and_scattered(3, 20, 30)
    model = dawid_skene(Judgments.of(judgments.frame, scale=Scale.parse("0..4")))
    labels, expected = model.labels(), model.labels(expected=True)
    assert labels.frame.columns == ["query", "doc", "label"]
    assert labels.scale == Scale.parse("0..4")
    assert set(labels.frame["label"].unique()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert (expected.frame["label"] % 1 != 0).any()
    assert any("Dawid-Skene" in note for note in labels.notes)
    run = {"0": {"0": 2.0, "20": 1.0}, "1": {"1": 1.0}}
    assert kt.score(expected, run, ["nDCG@10"], draws=0).means["value"][0] > 0


def test_of_two_equally_probable_grades_the_lower_stands() -> None:
    rows = [{"query": "q", "doc": "d", "label": label, "judge": judge} for judge, label in [("ann", 2), ("bob", 1)]]
    assert majority_posterior(Judgments.of(rows)).posterior["label"].to_list() == [1.0]
    assert majority_posterior(Judgments.of(rows)).posterior["expected"].to_list() == [1.5]


def test_answers_without_a_label_are_counted_and_left_aside() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": judge}
        for judge, labels in {"ann": [0, 1, None], "bob": [0, 1, 1], "eve": [0, None, 1]}.items()
        for i, label in enumerate(labels)
    ]
    model = dawid_skene(Judgments.of(rows))
    assert "2 answers without a label (can't tell) left aside" in model.notes
    assert model.posterior["n"].to_list() == [3, 2, 2]


@pytest.mark.parametrize("model", FITTED)
def test_nothing_is_learnt_from_one_grade_one_judge_or_no_shared_document(model: Any) -> None:
    def rows(*labels: tuple[str, str, int | None]) -> Judgments:
        return Judgments.of([{"query": "q", "doc": d, "judge": j, "label": label} for d, j, label in labels])

    with pytest.raises(Undefined, match="all 2 labels are 1"):
        model(rows(("d", "ann", 1), ("d", "bob", 1)))
    with pytest.raises(Undefined, match="only one judge"):
        model(rows(("d", "ann", 1), ("e", "ann", 0)))
    with pytest.raises(Undefined, match="no two judges labelled the same document"):
        model(rows(("d", "ann", 1), ("e", "bob", 0)))
    with pytest.raises(Undefined, match="there is no label"):
        model(rows(("d", "ann", None)))
    with pytest.raises(Undefined, match="only one judge"):
        model({"q": {"d": 1, "e": 0}})
    # With gold, one judge is enough.
    alone = rows(*((f"d{i}", "ann", i % 2) for i in range(20)))
    gold = Judgments.of({"q": {f"d{i}": i % 2 for i in range(10)}})
    assert model(alone, gold=gold).converged


@pytest.mark.parametrize("model", FITTED)
def test_bad_settings_are_named(model: Any) -> None:
    judgments, _ = lenient_and_scattered(3, 10, 10)
    for setting in ({"max_iterations": 0}, {"tolerance": -1.0}, {"smoothing": -1.0}, {"smoothing": np.nan}):
        with pytest.raises(BadInput):
            model(judgments, **setting)
    with pytest.raises(BadInput, match="above 0"):
        ordinal(judgments, smoothing=0)


def test_real_valued_labels_are_refused_with_a_remedy() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"query": "q", "doc": [f"d{i}" for i in range(200)], "judge": "j", "label": rng.random(200)})
    with pytest.raises(BadInput, match="round the labels"):
        dawid_skene(Judgments.of(frame))


def test_a_judge_who_shared_no_document_is_mentioned() -> None:
    judgments, _ = lenient_and_scattered(3, 10, 20)
    lonely = pl.DataFrame({"query": ["q"], "doc": ["9999"], "label": [1.0], "judge": ["lonely"]})
    model = dawid_skene(Judgments.of(pl.concat([judgments.frame, lonely])))
    assert "1 judge shared no document with another: nothing is known of their errors" in model.notes


def test_the_same_name_in_two_groups_is_two_judges() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": "ann", "group": group}
        for group, labels in {"crowd": [0, 1, 1], "llm": [0, 1, 0]}.items()
        for i, label in enumerate(labels)
    ]
    assert dawid_skene(Judgments.of(rows)).judges["group"].to_list() == ["crowd", "llm"]


def test_aspects_are_not_mixed() -> None:
    rows = [
        {"query": "q", "doc": f"d{i}", "label": label, "judge": judge, "aspect": aspect}
        for aspect, judge, labels in [
            (None, "ann", [0, 1, 1]),
            ("overall", "bob", [0, 1, 0]),
            ("novelty", "ann", [1, 1, 0]),
        ]
        for i, label in enumerate(labels)
    ]
    model = dawid_skene(Judgments.of(rows))
    assert model.posterior["n"].to_list() == [2, 2, 2]
    assert "3 labels of single aspects left aside" in model.notes


def test_a_vanished_grade_is_mentioned(rf10: Path) -> None:
    """One coin per judge does not fit this crowd: it explains all labels as scatter around the middle grade."""
    judgments, _ = rf10_crowd(rf10)
    model = one_coin(judgments)
    assert any("no document is left with it" in note for note in model.notes)


def test_judges_who_err_alike_are_noticed(llmjudge: Path) -> None:
    """Dawid-Skene explains what 33 language models have in common as finer grades, further from gold than majority."""
    names = ["column_1", "column_2", "column_3", "column_4"]
    frames = []
    for path in sorted((llmjudge / "submissions").iterdir()):
        with gzip.open(path) as file:
            frame = pl.read_csv(file.read(), separator=" ", has_header=False, schema=dict.fromkeys(names, pl.String))
        frames.append(frame.select(query="column_1", doc="column_3", label="column_4", group=pl.lit(path.stem)))
    labels = pl.concat(frames).with_columns(pl.col("label").cast(pl.Float64)).filter(pl.col("label") <= 3)
    model = dawid_skene(Judgments.of(labels))
    assert model.judges.height == 33
    assert model.judges["judge"].is_null().all()
    assert any("taken for those of one judge a group" in note for note in model.notes)
    assert any("documents taken for grade 2 are mostly labelled 1" in note for note in model.notes)


def test_labels_without_names_teach_what_people_of_one_kind_do() -> None:
    """A file without names has an alpha, so it has a fit: nobody knows who is who, so all err alike."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 400)
    rows = [
        {"query": f"q{i % 20}", "doc": f"d{i:03}", "label": int(truth[i] if rng.random() < 0.8 else 1 - truth[i])}
        for i in range(400)
        for _ in range(5)
    ]
    # Three in a row told apart by nothing but their place in the file.
    labels = pl.DataFrame(rows).with_columns(judge=pl.lit(None, pl.String))
    assert agreement(labels, draws=0).frame["alpha_nominal"][0] > 0.2
    model = dawid_skene(labels)
    assert model.judges.height == 1
    assert model.judges["accuracy"][0] == pytest.approx(0.8, abs=0.03)
    found = model.posterior.sort("doc")
    # The majority of five who are right with .8 is right with .942, and nothing does better here.
    assert (found["label"].to_numpy() == truth).mean() == pytest.approx(0.942, abs=0.03)
    assert "by people without a name" in model.finding


@pytest.mark.parametrize("model", [*FITTED, majority_posterior])
def test_a_repeat_by_the_same_judge_changes_nothing(model: Any) -> None:
    judgments, _ = lenient_and_scattered(3, 10, 10)
    again = judgments.frame.head(20).with_columns(label=pl.lit(4.0))
    both = model(Judgments.of(pl.concat([judgments.frame, again])))
    assert both.posterior.equals(model(judgments).posterior)
    assert "20 labels repeated by the same judge: the first counts" in both.notes
