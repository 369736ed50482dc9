"""The simulated study of relevance in context holds what it says it plants."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from karat import BadInput
from karat.simulate import ContextStudy, context_study

ITEM = ["query", "doc", "judge"]


def overall(study: ContextStudy) -> pl.DataFrame:
    """Overall grades in context beside those of the same judge alone."""
    frame = study.with_relations().frame.filter(pl.col("aspect") == "overall")
    alone = frame.filter(pl.col("context").is_null()).select(*ITEM, alone="label")
    return frame.filter(pl.col("context").is_not_null()).join(alone, on=ITEM)


@pytest.fixture(scope="module")
def study() -> ContextStudy:
    return context_study(seed=2, queries=400)


def test_the_planted_effects_are_exact_in_expectation(study: ContextStudy) -> None:
    assert study.truth["redundancy"] == pytest.approx(-1.0, abs=1e-6)
    assert study.truth["detail"] == pytest.approx(0.5, abs=1e-6)
    change = overall(study).drop_nulls(["label", "alone"]).with_columns(by=pl.col("label") - pl.col("alone"))
    assert {*change["relation"]} == {"near copy", "detail", "other"}
    for name, part in change.group_by("relation"):
        error = float(part["by"].std()) / np.sqrt(part.height)  # type: ignore[arg-type]
        assert part["by"].mean() == pytest.approx(study.truth[f"change {name[0]}"], abs=4 * error)


def test_an_effect_that_the_scale_does_not_allow_is_told_as_it_came_out() -> None:
    truth = context_study(seed=2, queries=20, redundancy=9.0).truth
    assert -4 < truth["redundancy"] < -1
    assert truth["detail"] == pytest.approx(0.5, abs=1e-6)


def test_without_effects_company_changes_nothing() -> None:
    truth = context_study(seed=2, queries=50, redundancy=0, detail=0, contrast=0).truth
    assert [truth[f"change {name}"] for name in ("near copy", "detail", "other")] == [0, 0, 0]


def test_priming_moves_labels_about_their_mean() -> None:
    # Else every change in context would be off by what it adds alone: some 0.07 of a grade if 2 were the middle.
    means = []
    for priming in (0.0, 0.3):
        frame = context_study(seed=2, queries=150, priming=priming).judgments.frame
        alone = frame.filter((pl.col("aspect") == "overall") & pl.col("context").is_null())
        means.append(float(alone["label"].drop_nulls().mean()))  # type: ignore[arg-type]
    # Some 1,050 labels, each moved by up to a grade: means are equal to within 0.03.
    assert means[1] == pytest.approx(means[0], abs=0.04)


def test_judges_say_na_as_often_as_planted(study: ContextStudy) -> None:
    frame = study.judgments.frame.join(study.pages.select("doc", "spam"), on="doc").filter(~pl.col("spam"))
    assert study.truth["covered alone novelty"] == pytest.approx(0.227)
    assert frame["aspect"].n_unique() == 6
    for (setting, aspect), part in frame.group_by(pl.col("context").is_null(), "aspect"):
        planted = study.truth[f"covered {'alone' if setting else 'context'} {aspect}"]
        assert part["label"].is_not_null().mean() == pytest.approx(planted, abs=0.04)
    spam = study.judgments.frame.join(study.pages.select("doc", "spam"), on="doc").filter("spam")
    assert spam.filter(pl.col("aspect") == "overall")["label"].null_count() == spam.height // 6


def test_the_papers_scheme_is_asked_of_one_judge_two_weeks_apart() -> None:
    study = context_study(seed=3, queries=10, twice=0.0)
    frame = study.judgments.frame.filter(pl.col("aspect") == "overall")
    assert frame.group_by("query").agg(pl.col("judge").n_unique())["judge"].to_list() == [1] * 10
    alone = frame.filter(pl.col("context").is_null()).group_by("query").len()["len"].sort().to_list()
    assert alone == [5] * 6 + [10] * 4
    rank = dict(study.pages.select("doc", "rank").iter_rows())
    asked = [(rank[doc], rank[context]) for doc, context in frame.select("doc", "context").drop_nulls().iter_rows()]
    first = {(rank, 1): 10 for rank in (2, 3, 4, 5)}
    assert {pair: asked.count(pair) for pair in set(asked)} == {
        **first,
        **{(rank, 5): 6 for rank in (1, 2, 3, 4)},
        **{(rank, 6): 4 for rank in (7, 8, 9, 10)},
    }
    times = frame.group_by(pl.col("context").is_null().alias("alone")).agg(pl.min("time"), pl.max("time").alias("last"))
    late, early = times.sort("alone").iter_rows(named=True)
    assert early["last"] < late["time"]


def test_near_copies_have_nearly_the_same_words(study: ContextStudy) -> None:
    words = {doc: set(text.split()) for doc, text in study.documents.frame.select("doc", "text").iter_rows()}
    shared = {
        name: np.mean([len(words[a] & words[b]) / len(words[a] | words[b]) for a, b in rows.iter_rows()])
        for name, rows in (
            (key[0], part.select("doc", "context")) for key, part in study.pairs.head(4000).group_by("relation")
        )
    }
    assert shared["near copy"] > 0.75
    assert shared["near copy"] > shared["detail"] + 0.2 > shared["other"] + 0.2


def test_held_out_labels_are_the_judges_own(study: ContextStudy) -> None:
    first = study.judgments.frame.filter((pl.col("aspect") == "overall") & pl.col("context").is_not_null())
    first = first.unique(["query", "doc", "context"], keep="first", maintain_order=True)
    both = first.join(study.pairs.filter("judged"), on=["query", "doc", "context"])
    assert both.height == first.height
    assert both["label"].equals(both["label_right"])
    assert study.pairs["judged"].mean() < 0.1


def test_the_same_seed_gives_the_same_study_and_another_one_another() -> None:
    one, two, three = (context_study(seed=seed, queries=5) for seed in (1, 1, 2))
    assert one.judgments.frame.equals(two.judgments.frame)
    assert one.documents.frame.equals(two.documents.frame)
    assert one.runs.frame.equals(two.runs.frame)
    assert not one.judgments.frame.equals(three.judgments.frame)


def test_small_studies_and_other_schemes_work() -> None:
    for scheme in ("paper", "adjacent", "pairs"):
        made = context_study(seed=1, queries=1, docs=3, judges=1, scheme=scheme)  # type: ignore[arg-type]
        assert made.judgments.has("context")
    assert context_study(seed=1, queries=2, docs=2, scheme="pairs").pairs["judged"].all()


@pytest.mark.parametrize(
    "wrong",
    [{"queries": 0}, {"docs": 1}, {"judges": 0}, {"spam": 1.5}, {"scheme": "half"}, {"coverage": {"taste": (1, 1)}}],
)
def test_an_impossible_study_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="expected"):
        context_study(**wrong)
