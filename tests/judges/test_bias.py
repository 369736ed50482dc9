"""The bias finder: finds what was planted, where it was planted, and stays silent where there is nothing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput, Undefined
from karat.judges.bias import find_bias
from karat.judges.gold_errors import against_gold
from karat.records import Judgments
from simulated import THOROUGH, about, studies
from varied_judges import varied_judges


def study(
    seed: int,
    queries: int = 60,
    docs: int = 12,
    *,
    effect: float = 0.0,
    where: str = "wikipedia",
    groups: tuple[str, ...] = ("crowd",),
    gold: bool = True,
    errs: float = 0.5,
) -> pl.DataFrame:
    """Labels that are off by a grade with chance `errs`, up or down; the crowd adds `effect` on the mean in `where`.

    Labels may leave the scale, so that the planted effect is exact. Queries differ in how they are rated as a whole.
    """
    rng = np.random.default_rng(seed)
    query, n = np.repeat(np.arange(queries), docs), queries * docs
    wp, nav = rng.random(n) < 0.3, (np.arange(queries) % 3 == 0)[query]
    length = rng.permutation(np.arange(queries) % 8 + 1)[query]
    features = {
        "query": query.astype(str),
        "doc": np.arange(n).astype(str),
        "wikipedia": np.where(wp, "WP", "nWP"),
        "root_url": np.where(~wp & (rng.random(n) < 0.2), "RU", "nRU"),
        "url_depth": rng.poisson(2, n),
        "query_length": length,
        "navigational": np.where(nav, "Nav", "nNav"),
        "colour": rng.choice(["red", "green", "blue"], n),
    }
    planted = {"wikipedia": wp, "pair": wp & nav, "length": length > 6, "two": wp.astype(int) + nav}[where]
    grade = rng.integers(1, 4, n)
    frames = [pl.DataFrame({**features, "label": grade.astype(float), "group": "gold"})] if gold else []
    for group in groups:
        lean = 0.1 * rng.normal(size=queries)[query]
        chance = rng.random(n)
        error = (chance < errs / 2 + lean).astype(float) - (chance > 1 - errs / 2 + lean)
        if group == "crowd":
            error += (rng.random(n) < effect) * (planted > 0) + (rng.random(n) < effect) * (planted > 1)
        frames.append(pl.DataFrame({**features, "label": grade + error, "group": group}))
    return pl.concat(frames)


def found(frame: pl.DataFrame, **options: object) -> pl.DataFrame:
    return find_bias(Judgments.of(frame), **options).frame.filter("found")  # type: ignore[arg-type]


@pytest.mark.evidence
def test_where_there_is_no_bias_a_study_in_twenty_at_most_has_a_finding() -> None:
    features = ["wikipedia", "root_url", "url_depth", "query_length", "colour"]
    alarms = [found(study(seed, queries=30, docs=10), features=features).height > 0 for seed in studies(6, 500)]
    assert np.mean(alarms) <= 0.05


@pytest.mark.parametrize("judges", [5, 20])
@pytest.mark.evidence
def test_two_groups_of_one_population_without_gold_differ_nowhere(judges: int) -> None:
    """Neither on half of the documents nor on half of the queries; an interval holds 0 in 95 % of studies or more."""
    seeds, alarms, held = studies(6, 600), 0, list[bool]()
    for seed in seeds:
        two = varied_judges(seed, judges=judges, groups=2).with_columns(kind=pl.col("query").cast(pl.Int64) % 2)
        frame = find_bias(two, ["split", "kind"], everything=True).frame
        alarms += bool(frame["found"].any())
        single = frame.filter(pl.col("feature_2").is_null())
        held += ((single["low"] <= 0) & (single["high"] >= 0)).to_list()
    assert len(held) == 2 * len(seeds)
    assert alarms / len(seeds) <= 0.05
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(held))


@pytest.mark.evidence
def test_rare_errors_and_queries_of_very_different_size_give_no_more_alarms() -> None:
    """A slice of 30 pairs often has no error at all by luck; one query may hold a third of a slice."""
    alarms, seeds = 0, studies(15, 200)
    for seed in seeds:
        frame = study(seed, queries=50, docs=30, errs=0.06)
        keep = pl.col("doc").cast(pl.Int64) % 30 < 30 / (pl.col("query").cast(pl.Int64) + 1) + 4
        alarms += found(frame.filter(keep)).height > 0
    assert alarms / len(seeds) <= (0.08 if THOROUGH else 0.15)


@pytest.mark.evidence
def test_half_a_grade_on_wikipedia_pages_is_found_with_an_interval_that_holds_it() -> None:
    hits = held = alone = 0
    seeds = studies(8, 250)
    for seed in seeds:
        frame = found(study(seed, effect=0.5, groups=("crowd", "professional")))
        hit = frame.filter(
            (pl.col("feature") == "wikipedia") & pl.col("feature_2").is_null() & (pl.col("group") == "crowd")
        )
        hits += hit.height
        alone += frame.height == 1
        held += hit.height == 1 and hit["low"][0] <= 0.5 <= hit["high"][0]
    assert hits > 0.95 * len(seeds)
    assert held / hits == about(0.95, hits, off=0.01)
    assert alone / len(seeds) >= 0.9 - (0 if THOROUGH else 0.2)


@pytest.mark.evidence
def test_a_bias_on_two_features_at_once_is_found_as_the_pair() -> None:
    hits = held = alone = 0
    seeds = studies(8, 20)
    for seed in seeds:
        frame = found(study(seed, queries=120, effect=0.5, where="pair"))
        hit = frame.filter(
            (pl.col("feature") == "wikipedia")
            & (pl.col("value") == "WP")
            & (pl.col("feature_2") == "navigational")
            & (pl.col("value_2") == "Nav")
        )
        hits += hit.height
        alone += frame.height == 1
        held += hit.height == 1 and hit["low"][0] <= 0.5 <= hit["high"][0]
    assert hits >= 0.9 * len(seeds)
    assert held >= 0.85 * len(seeds)
    assert alone >= 0.85 * len(seeds)


def test_two_biases_that_add_up_are_found_as_two_and_not_as_a_pair() -> None:
    frame = found(study(1, queries=150, effect=0.5, where="two"))
    assert sorted(frame["feature"]) == ["navigational", "wikipedia"]
    assert frame["feature_2"].is_null().all()


def test_numbers_are_cut_and_the_slice_is_named() -> None:
    result = find_bias(Judgments.of(study(2, queries=80, effect=0.6, where="length")))
    row = result.frame.row(0, named=True)
    assert (row["slice"], row["feature"], row["value"]) == ("queries of 7 or more words", "query_length", "7 or more")
    # The other slices of the same feature stand out only because of this one.
    rest = result.frame.filter(~pl.col("found") & (pl.col("feature") == "query_length"))
    assert set(rest["because_of"]) <= {"queries of 7 or more words"}


def test_the_finding_reads_as_a_sentence() -> None:
    result = find_bias(Judgments.of(study(3, queries=100, effect=0.5)))
    row = result.frame.row(0, named=True)
    assert result.finding == (
        f"Exploration: the crowd rates Wikipedia pages {row['effect']:.2f} of a grade higher than the rest at the same "
        f"gold grade (95% CI [{row['low']:.2f}, {row['high']:.2f}], adjusted p < 0.001; over all grades the mean error "
        f"is {row['inside']:+.2f} inside and {row['outside']:+.2f} outside; {row['n_pairs']} pairs of "
        f"{row['n_queries']} queries)."
    )
    silent = find_bias(Judgments.of(study(3)))
    assert silent.finding.startswith("Exploration: no significant bias in ")
    assert silent.frame.height == 0
    assert silent.frame.columns == result.frame.columns


def test_a_negative_effect_is_called_lower() -> None:
    frame = study(3, queries=100, effect=0.5)
    turned = frame.with_columns(label=4 - pl.col("label"))
    assert find_bias(Judgments.of(turned)).finding.startswith("Exploration: the crowd rates Wikipedia pages 0.")
    assert "of a grade lower than the rest at the same gold grade" in find_bias(Judgments.of(turned)).finding


def test_the_effect_is_inside_less_outside_as_against_gold_has_them() -> None:
    judgments = Judgments.of(study(4, effect=0.5))
    row = find_bias(judgments, ["wikipedia"], everything=True).frame.row(0, named=True)
    table = against_gold(judgments, by="wikipedia").frame
    inside, outside = (table.filter(pl.col("value") == v)["error"][0] for v in ("WP", "nWP"))
    assert (row["inside"], row["outside"]) == pytest.approx((inside, outside))
    assert row["effect"] == pytest.approx(inside - outside, abs=0.05)
    assert row["low"] < row["effect"] < row["high"]
    assert row["p"] <= row["p_bh"]


def test_without_gold_groups_are_compared_on_the_pairs_that_both_labelled() -> None:
    frame = study(5, queries=100, effect=0.5, groups=("crowd", "professional"), gold=False)
    result = find_bias(Judgments.of(frame))
    assert result.frame.select("group", "against", "feature", "value").row(0) == (
        "crowd",
        "professional",
        "wikipedia",
        "WP",
    )
    assert result.finding.startswith("Exploration: against the professionals, the crowd rates Wikipedia pages 0.")
    assert "of a grade higher than the rest at the same average grade" in result.finding
    with pytest.raises(Undefined, match="one group without gold"):
        find_bias(Judgments.of(frame.filter(pl.col("group") == "crowd")))
    apart = frame.with_columns(doc=pl.col("group") + pl.col("doc"))
    with pytest.raises(Undefined, match="no two groups labelled the same documents"):
        find_bias(Judgments.of(apart))


def test_gold_may_come_apart_and_columns_of_the_record_are_no_features() -> None:
    frame = study(6, queries=80, effect=0.5)
    gold = Judgments.of(frame.filter(pl.col("group") == "gold").select("query", "doc", "label"))
    crowd = Judgments.of(frame.filter(pl.col("group") == "crowd"))
    assert find_bias(crowd, gold=gold).frame.equals(find_bias(Judgments.of(frame)).frame)
    bare = Judgments.of(frame.select("query", "doc", "label", "group"))
    with pytest.raises(BadInput, match="expected columns with features of query or document"):
        find_bias(bare)
    with pytest.raises(BadInput, match="expected a column domain"):
        find_bias(crowd, ["domain"], gold=gold)


def test_columns_that_a_tool_keeps_for_itself_are_no_features() -> None:
    """Appen's `_unit_id` and `_trust` met the names of columns that are made on the way: a fault."""
    rows = [
        {"query": f"q{n % 12}", "doc": f"d{n}", "label": n % 2, "judge": f"w{n % 3}", "_item": n, "_trust": 0.5}
        for n in range(60)
    ]
    gold = [{"query": f"q{n % 12}", "doc": f"d{n}", "label": 1} for n in range(60)]
    with pytest.raises(BadInput, match="expected columns with features"):
        find_bias(rows, gold=gold)
    with pytest.raises(BadInput, match="expected a name without _ before it, found _trust"):
        find_bias(rows, gold=gold, features=["_trust"])


def test_small_slices_are_not_looked_at() -> None:
    frame = study(7, effect=0.5)
    every = find_bias(Judgments.of(frame), everything=True).frame
    assert every["n_pairs"].min() >= 30
    assert every["n_queries"].min() >= 10
    large = find_bias(Judgments.of(frame), everything=True, min_pairs=100, min_queries=40).frame
    assert large["n_pairs"].min() >= 100
    assert large["n_queries"].min() >= 40
    assert large.height < every.height
    with pytest.raises(Undefined, match="no slice has 5000 pairs"):
        find_bias(Judgments.of(frame), min_pairs=5000)
    with pytest.raises(BadInput, match="expected 2 pairs and 3 queries"):
        find_bias(Judgments.of(frame), min_queries=1)


def test_two_features_that_say_the_same_are_one_finding() -> None:
    frame = study(8, queries=100, effect=0.5).with_columns(
        domain=pl.when(pl.col("wikipedia") == "WP").then(pl.lit("en.wikipedia.org")).otherwise(pl.lit("other.com"))
    )
    result = find_bias(Judgments.of(frame))
    assert result.frame.filter("found")["slice"].to_list() == ["Wikipedia pages"]
    assert result.frame.filter(pl.col("feature") == "domain")["because_of"].unique().to_list() == ["Wikipedia pages"]


def test_a_squeezed_scale_is_no_bias_on_whatever_is_mostly_good() -> None:
    """The group draws all grades to the middle; root pages are better than others, and nothing else is the matter."""
    rng = np.random.default_rng(12)
    grade, query = rng.integers(0, 5, 2000), np.repeat(np.arange(100), 20)
    squeezed = np.round(2 + 0.5 * (grade - 2) + rng.normal(size=2000) * 0.4)
    rows = {"query": query.astype(str), "doc": np.arange(2000).astype(str)}
    rows["root_url"] = np.where(rng.random(2000) < 0.1 + 0.15 * grade, "RU", "nRU")
    frames = [
        pl.DataFrame({**rows, "label": v.astype(float), "group": g}) for v, g in ((grade, "gold"), (squeezed, "llm"))
    ]
    judgments = Judgments.of(pl.concat(frames))
    raw = against_gold(judgments, by="root_url").frame.filter(pl.col("feature") == "root_url")
    assert raw.row(0, named=True)["high"] < raw.row(1, named=True)["low"]
    fair = find_bias(judgments)
    assert fair.finding.startswith("Exploration: no significant bias in ")
    # A habit beside the squeeze is found as large as it is, although the plain difference points the other way.
    lifted = pl.concat([frames[0], frames[1].with_columns(label=pl.col("label") + 0.4 * (pl.col("root_url") == "RU"))])
    row = find_bias(Judgments.of(lifted)).frame.row(0, named=True)
    assert row["low"] <= 0.4 <= row["high"]
    assert row["inside"] - row["outside"] < -0.1


def retrieved(seed: int, *, effect: float = 0.5, queries: int = 60) -> pl.DataFrame:
    """A study whose judge overrates what system `b` alone retrieves, beside many features without any effect."""
    rng = np.random.default_rng(seed)
    frame = study(seed, queries=queries, effect=effect)
    wp = pl.col("wikipedia") == "WP"
    noise = {f"noise_{i}": rng.integers(0, 4, queries * 12).astype(str) for i in range(8)}
    extra = pl.DataFrame({"doc": np.arange(queries * 12).astype(str), **noise})
    frame = frame.with_columns(shown_by=pl.when(wp).then(pl.lit("b alone")).otherwise(pl.lit("several systems")))
    return frame.drop("wikipedia").join(extra, on="doc", how="left", maintain_order="left")


def test_slices_by_system_are_a_family_of_their_own() -> None:
    """Adjusted for the primary slices only: the p value of the only one is that of the plain test."""
    result = find_bias(Judgments.of(retrieved(13, effect=0.22)), everything=True)
    (row,) = result.frame.filter(pl.col("family") == "primary").iter_rows(named=True)
    assert (row["slice"], row["kind"], row["found"]) == ("documents retrieved by b alone", "bias", True)
    assert row["p_bh"] == pytest.approx(row["p"])
    exploration = result.frame.filter(pl.col("family") == "exploration")
    # The same p value among all slices would not have been significant.
    assert row["p"] * exploration.height > 0.05
    assert result.finding.startswith("The crowd rates documents retrieved by b alone 0.")


@pytest.mark.parametrize("seed", range(8))
def test_found_is_an_adjusted_p_at_most_the_level(seed: int) -> None:
    """Sentence, table and threshold use one p value; what repeats another slice has none and names that slice."""
    effect = (0.0, 0.1, 0.2, 0.3)[seed % 4]
    result = find_bias(Judgments.of(retrieved(seed, effect=effect, queries=40)), everything=True)
    frame = result.frame
    assert (frame["found"] == (frame["p_bh"] <= 0.05).fill_null(False)).all()
    assert (frame["p_bh"].is_null() == frame["because_of"].is_not_null()).all()
    assert (frame["p_bh"] >= frame["p"] - 1e-12).fill_null(True).all()
    told = result.finding.startswith(("No significant bias", "Exploration: no significant bias"))
    if not frame["found"].any():
        assert told
    else:
        first = frame.row(0, named=True)
        p = "p < 0.001" if first["p_bh"] < 0.001 else f"p = {first['p_bh']:.3f}"
        said = [result.finding, *result.notes]
        assert any(first["slice"] in text and f"adjusted {p}" in text for text in said)


def test_effect_and_raw_means_of_opposite_sign_are_both_told() -> None:
    """The judge draws all grades to the middle and adds 0.4 on root pages, which are mostly good."""
    rng = np.random.default_rng(12)
    grade, query = rng.integers(0, 5, 2000), np.repeat(np.arange(100), 20)
    squeezed = np.round(2 + 0.5 * (grade - 2) + rng.normal(size=2000) * 0.4)
    root = rng.random(2000) < 0.1 + 0.15 * grade
    rows = {"query": query.astype(str), "doc": np.arange(2000).astype(str), "root_url": np.where(root, "RU", "nRU")}
    gold = pl.DataFrame({**rows, "label": grade.astype(float), "group": "gold"})
    llm = pl.DataFrame({**rows, "label": squeezed + 0.4 * root, "group": "llm"})
    result = find_bias(Judgments.of(pl.concat([gold, llm])))
    inside, outside = ((squeezed + 0.4 * root - grade)[which].mean() for which in (root, ~root))
    assert inside < outside
    assert "of a grade higher than the rest at the same gold grade" in result.finding
    assert f"the mean error is {inside:+.2f} inside and {outside:+.2f} outside" in result.finding


def test_judges_who_are_always_right_have_no_bias() -> None:
    result = find_bias(Judgments.of(study(9, errs=0.0).with_columns(label=pl.lit(2.0))))
    assert result.finding.startswith("Exploration: no significant bias in ")


def test_unknown_values_are_neither_inside_nor_outside() -> None:
    frame = study(10, queries=100, effect=0.5)
    wrong = pl.col("doc").cast(pl.Int64) % 5 == 0
    # Where the colour is unknown, labels are far off: that must not count as the rest of any colour.
    frame = frame.with_columns(
        colour=pl.when(wrong).then(None).otherwise(pl.col("colour")),
        label=pl.col("label") + 2 * (wrong & (pl.col("group") == "crowd")),
    )
    every = find_bias(Judgments.of(frame), ["colour"], everything=True).frame
    assert every["effect"].abs().max() < 0.3


@pytest.mark.thorough
def test_a_hundred_thousand_labels_are_no_hurdle() -> None:
    frame = study(11, queries=1000, docs=33, effect=0.5, groups=("crowd", "professional"))
    judgments = Judgments.of(frame)
    assert len(judgments) == 99_000
    assert find_bias(judgments).frame.filter("found")["slice"].to_list() == ["Wikipedia pages"]


def noisy(seed: int, judges: int = 8) -> pl.DataFrame:
    """On long documents labels err twice as often, up and down alike; each judge has a device, without any effect."""
    rng = np.random.default_rng(seed)
    n, labels = 480, 3
    grade, long = rng.integers(1, 4, n), rng.random(n) < 0.4
    rows, who = np.repeat(np.arange(n), labels), rng.random((n, judges)).argsort(axis=1)[:, :labels].ravel()
    error = rng.choice([-1, 1], len(rows)) * (rng.random(len(rows)) < np.where(long, 0.6, 0.3)[rows])
    names = {"query": (np.arange(n) // 8).astype(str), "doc": np.arange(n).astype(str)}
    gold = pl.DataFrame({**names, "label": grade.astype(float), "group": "gold", "judge": "nist"})
    crowd = pl.DataFrame(
        {name: values[rows] for name, values in names.items()}
        | {"label": (grade[rows] + error).astype(float), "group": "crowd", "judge": who.astype(str)}
        | {"length": np.where(long, "long", "short")[rows], "device": np.array(["phone", "desk"])[who % 2]}
    )
    return pl.concat([gold, crowd], how="diagonal")


def test_a_slice_where_judges_are_right_less_often_is_noise_and_no_bias() -> None:
    """Planted: right in 40 % of long documents and in 70 % of the others, errors up and down alike."""
    result = find_bias(noisy(1))
    (row,) = result.frame.filter("found").iter_rows(named=True)
    assert (row["kind"], row["feature"], row["feature_2"]) == ("noise", "length", None)
    assert row["effect"] < 0 or row["value"] == "short"
    assert sorted([row["inside"], row["outside"]]) == pytest.approx([0.4, 0.7], abs=0.05)
    assert row["low"] <= np.sign(row["effect"]) * 0.3 <= row["high"]
    assert "the crowd is right less often on pairs with length long, by " in result.finding
    assert " right inside and " in result.finding


def test_a_bias_makes_no_second_finding_of_its_errors() -> None:
    """Who overrates Wikipedia pages is right there less often: one finding, and the other is because of it."""
    result = find_bias(study(3, queries=100, effect=0.5))
    assert result.frame.filter("found")["kind"].to_list() == ["bias"]
    noise = result.frame.filter(pl.col("kind") == "noise", pl.col("slice") == "Wikipedia pages")
    assert noise["because_of"].to_list() == ["Wikipedia pages"]


def test_numbers_that_came_as_texts_are_cut_like_numbers() -> None:
    frame = study(2, queries=80, effect=0.6, where="length")
    texts = frame.with_columns(pl.col("query_length", "url_depth").cast(pl.String))
    assert find_bias(texts).frame.equals(find_bias(frame).frame)
