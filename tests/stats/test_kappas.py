"""Agreement beyond chance: published figures, other libraries, hand calculations, and the null hypothesis."""

from __future__ import annotations

from pathlib import Path

import krippendorff
import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, jaccard_score
from statsmodels.stats.inter_rater import fleiss_kappa as their_fleiss

from karat.stats.agreement_coefficients import (
    cohen_kappa,
    cross_table,
    fleiss_kappa,
    fleiss_test,
    jaccard,
    krippendorff_alpha,
    label_counts,
    pair_sums,
    raw_agreement,
    within_agreement,
)

Floats = npt.NDArray[np.float64]


def counts_of(coders: pl.DataFrame, grades: list[int]) -> Floats:
    """Items x levels from items x coders; what a coder left out is null."""
    labels = coders.with_row_index("item").unpivot(index="item", value_name="label").drop_nulls("label")
    level = np.searchsorted(grades, labels["label"].to_numpy())
    return label_counts(labels["item"].to_numpy(), level, coders.height, len(grades))


def one(counts: Floats) -> tuple[Floats, Floats, float]:
    """The sums over all items as one cell."""
    sums = pair_sums(counts, np.zeros(len(counts), np.int64), 1)
    return sums.by_item, sums.by_label, float(sums.spread[0])


def test_fleiss_1971(classic: Path) -> None:
    """The z of 17.7 is printed in the manual of R's irr (kappam.fleiss on the same thirty patients)."""
    by_item, _, spread = one(
        counts_of(pl.read_csv(classic / "fleiss1971_diagnoses.csv").drop("subject"), [*range(1, 6)])
    )
    assert fleiss_kappa(by_item)[0] == pytest.approx(0.4302445, abs=5e-8)
    z, p = fleiss_test(by_item, np.array([spread]))
    assert z[0] == pytest.approx(17.7, abs=0.05)
    assert p[0] < 1e-60


def test_fleiss_of_wikipedia(classic: Path) -> None:
    table = pl.read_csv(classic / "fleiss_wikipedia_10x5_counts.csv")
    counts = table.select(pl.selectors.starts_with("c")).to_numpy().astype(float)
    sums = pair_sums(counts, np.arange(10), 10)
    assert np.round(raw_agreement(sums.by_item), 3) == pytest.approx(table["P_i"].to_numpy(), abs=0.0006)
    assert fleiss_kappa(sums.by_item.sum(axis=0)) == pytest.approx(0.210, abs=0.0005)


@pytest.mark.parametrize(
    ("file", "figures"),
    [
        ("krippendorff_wikipedia_3x15.csv", {"nominal": 0.691358, "interval": 0.810845}),
        ("krippendorff_krippendorff2011_4x12.csv", {"nominal": 0.743421, "ordinal": 0.815, "interval": 0.849107}),
    ],
)
def test_krippendorff_by_himself(classic: Path, file: str, figures: dict[str, float]) -> None:
    coders = pl.read_csv(classic / file).drop("unit")
    grades = sorted({*range(1, 6)})
    _, coincidences, _ = one(counts_of(coders, grades))
    for kind, figure in figures.items():
        places = 5e-4 if figure == 0.815 else 5e-7
        value = krippendorff_alpha(coincidences, np.array(grades, float), kind)
        assert value[0] == pytest.approx(figure, abs=places), kind


@st.composite
def tables(draw: st.DrawFn) -> npt.NDArray[np.int64]:
    """Items x judges with gaps (-1), some grades never used."""
    items, judges = draw(st.integers(2, 12)), draw(st.integers(2, 5))
    cells = draw(st.lists(st.integers(-1, 4), min_size=items * judges, max_size=items * judges))
    return np.array(cells).reshape(items, judges)


def counts_with_gaps(table: npt.NDArray[np.int64]) -> Floats:
    return np.stack([(table == level).sum(axis=1) for level in range(5)], axis=1).astype(float)


@given(tables())
def test_alpha_is_that_of_the_krippendorff_package(table: npt.NDArray[np.int64]) -> None:
    counts = counts_with_gaps(table)
    paired = counts[counts.sum(axis=1) >= 2]
    assume((paired.sum(axis=0) > 0).sum() > 1)
    _, coincidences, _ = one(counts)
    for kind in ("nominal", "ordinal", "interval"):
        theirs = krippendorff.alpha(
            value_counts=counts.astype(int), value_domain=np.arange(5.0), level_of_measurement=kind
        )
        assert krippendorff_alpha(coincidences, np.arange(5.0), kind)[0] == pytest.approx(theirs, abs=1e-9), kind


@given(tables())
def test_with_equal_numbers_of_judges_it_is_fleiss(table: npt.NDArray[np.int64]) -> None:
    table = np.abs(table)
    assume(len(np.unique(table)) > 1)
    counts = counts_with_gaps(table)
    assert fleiss_kappa(one(counts)[0])[0] == pytest.approx(their_fleiss(counts), abs=1e-9)


def test_fleiss_with_unequal_numbers_by_hand() -> None:
    """Labels aab | bb | c: agreement (1/3 + 1)/2; shares a 1/3, b 2/3; the lone c is left out."""
    counts = np.array([[2.0, 1, 0], [0, 2, 0], [0, 0, 1]])
    by_item, by_label, spread = one(counts)
    assert raw_agreement(by_item)[0] == pytest.approx(2 / 3)
    assert fleiss_kappa(by_item)[0] == pytest.approx((2 / 3 - 5 / 9) / (1 - 5 / 9))
    assert by_label.sum() == pytest.approx(5)
    assert spread == pytest.approx(2 / 6 + 1)


@given(tables())
def test_cohen_is_that_of_scikit_learn(table: npt.NDArray[np.int64]) -> None:
    first, second = np.abs(table[:, 0]), np.abs(table[:, 1])
    assume(len(np.unique([first, second])) > 1)
    cross = cross_table(np.zeros(len(first), np.int64), first, second, 1, 5)
    for weights in (None, "linear", "quadratic"):
        theirs = cohen_kappa_score(first, second, labels=[*range(5)], weights=weights)
        ours = cohen_kappa(cross, np.arange(5.0), weights)[0]
        assert ours == pytest.approx(theirs, abs=1e-9, nan_ok=True), weights


@given(tables(), st.integers(0, 4))
def test_overlap_and_closeness_of_two_judges(table: npt.NDArray[np.int64], at: int) -> None:
    first, second = np.abs(table[:, 0]), np.abs(table[:, 1])
    cross = cross_table(np.zeros(len(first), np.int64), first, second, 1, 5)
    a, b = first >= at, second >= at
    theirs = jaccard_score(a, b) if (a | b).any() else np.nan
    assert jaccard(cross, np.arange(5.0), at)[0] == pytest.approx(theirs, nan_ok=True)
    assert raw_agreement(cross)[0] == pytest.approx(np.mean(first == second))
    assert within_agreement(cross, np.arange(5.0))[0] == pytest.approx(np.mean(abs(first - second) <= 1))


def test_within_one_goes_by_grades_not_by_places() -> None:
    """Junk is -2, so it is two grades from 0 though it stands beside it."""
    cross = np.array([[[0.0, 1, 0], [0, 0, 1], [0, 0, 2]]])
    assert within_agreement(cross, np.array([-2.0, 0, 1]))[0] == 0.75


@given(tables())
def test_sums_of_queries_give_what_all_items_together_give(table: npt.NDArray[np.int64]) -> None:
    counts = counts_with_gaps(table)
    parts = pair_sums(counts, np.arange(len(counts)) % 3, 3)
    whole = pair_sums(counts, np.zeros(len(counts), np.int64), 1)
    assert np.allclose(parts.by_item.sum(axis=0), whole.by_item[0])
    assert np.allclose(parts.by_label.sum(axis=0), whole.by_label[0])
    assert parts.spread.sum() == pytest.approx(whole.spread[0])


def test_a_stack_of_matrices_gives_a_figure_each() -> None:
    rng = np.random.default_rng(0)
    stack = rng.integers(0, 9, (7, 4, 4)).astype(float)
    both = stack + np.swapaxes(stack, -1, -2)
    grades = np.arange(4.0)
    for figure, matrices in (
        (lambda m: cohen_kappa(m, grades, "linear"), stack),
        (lambda m: krippendorff_alpha(m, grades, "ordinal"), both),
        (fleiss_kappa, both),
        (lambda m: jaccard(m, grades, 2), stack),
    ):
        each = np.array([figure(matrix[None])[0] for matrix in matrices])
        assert np.allclose(figure(matrices), each)


def test_labels_all_alike_say_nothing_about_agreement_beyond_chance() -> None:
    by_item, by_label, spread = one(np.array([[3.0, 0], [2, 0]]))
    grades = np.array([0.0, 1])
    assert raw_agreement(by_item)[0] == 1
    assert np.isnan(fleiss_kappa(by_item)[0])
    assert np.isnan(fleiss_test(by_item, np.array([spread]))).all()
    assert np.isnan(krippendorff_alpha(by_label, grades, "ordinal")[0])
    assert np.isnan(cohen_kappa(by_item, grades)[0])
    assert np.isnan(jaccard(by_item, grades, 1)[0])


def test_nothing_judged_twice_is_undefined_throughout() -> None:
    by_item, by_label, spread = one(np.array([[1.0, 0], [0, 1]]))
    grades = np.array([0.0, 1])
    values = [
        raw_agreement(by_item),
        within_agreement(by_item, grades),
        fleiss_kappa(by_item),
        *fleiss_test(by_item, np.array([spread])),
        krippendorff_alpha(by_label, grades, "nominal"),
    ]
    assert np.isnan(values).all()


@pytest.mark.parametrize("numbers", [(3, 3), (2, 6)])
def test_by_chance_alone_one_p_in_twenty_is_below_a_twentieth(numbers: tuple[int, int]) -> None:
    """Labels drawn alike for every item, by equal and by unequal numbers of judges: z has spread 1."""
    rng = np.random.default_rng(3)
    shares, items, studies = [0.5, 0.3, 0.15, 0.05], 120, 1500
    judges = rng.integers(numbers[0], numbers[1] + 1, size=studies * items)
    counts = rng.multinomial(judges, shares).astype(float)
    sums = pair_sums(counts, np.repeat(np.arange(studies), items), studies)
    z, p = fleiss_test(sums.by_item, sums.spread)
    assert np.std(z) == pytest.approx(1, abs=0.06)
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.017)
