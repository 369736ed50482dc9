"""What was read before: a near copy, a page of the same site, or another page."""

from __future__ import annotations

import polars as pl
import pytest

from karat import BadInput, Documents, Judgments, Undefined, add_company
from karat.judges import mean_change
from karat.simulate import ContextStudy, context_study


@pytest.fixture(scope="module")
def study() -> ContextStudy:
    return context_study(seed=6, queries=120)


def test_near_copies_are_told_by_their_texts(study: ContextStudy) -> None:
    frame = add_company(study.with_relations(), study.documents).frame
    assert frame.filter(pl.col("context").is_null())["company"].null_count() == frame["company"].null_count()
    pairs = frame.filter((pl.col("aspect") == "overall") & pl.col("context").is_not_null())
    copies, told = pl.col("relation") == "near copy", pl.col("company") == "near copy"
    assert pairs.filter(copies).select(told.mean()).item() > 0.95
    assert pairs.filter(told).select(copies.mean()).item() > 0.85


def test_what_copies_lose_is_found_without_knowing_which_they_are(study: ContextStudy) -> None:
    found = mean_change(add_company(study.judgments, study.documents), "company")
    row = found.frame.row(by_predicate=(pl.col("aspect") == "overall") & (pl.col("company") == "near copy"), named=True)
    assert found.finding.startswith("Company near copy: overall falls by ")
    # A few pairs that are none among them draw the mean towards 0.
    assert row["low"] <= study.truth["change near copy"] + 0.1 <= row["high"] + 0.1


def test_without_texts_nothing_is_a_copy_and_without_sites_nothing_of_the_same_site(study: ContextStudy) -> None:
    def company(*columns: str) -> set[str | None]:
        known = Documents.of(study.documents.frame.select("doc", *columns))
        return set(add_company(study.judgments, known).frame["company"].to_list())

    assert company("url") == {None, "same site", "other"}
    assert company("text") == {None, "near copy", "other"}
    assert company("site", "text") == {None, "near copy", "same site", "other"}
    bare = Documents.of(study.documents.frame.select("doc", colour=pl.lit("red")))
    with pytest.raises(BadInput, match="expected a column text, site or url, found doc, colour"):
        add_company(study.judgments, bare)


def test_a_pair_of_which_nothing_is_known_has_no_company(study: ContextStudy) -> None:
    few = Documents.of(study.documents.frame.filter(pl.col("doc").str.starts_with("q001")))
    frame = add_company(study.judgments, few).frame.filter(pl.col("context").is_not_null())
    assert frame.filter(pl.col("query") == "q001")["company"].null_count() == 0
    assert frame.filter(pl.col("query") != "q001")["company"].is_null().all()


def test_documents_of_other_ids_are_refused_not_called_other_pages(study: ContextStudy) -> None:
    strange = Documents.of(study.documents.frame.with_columns(doc="x" + pl.col("doc")))
    with pytest.raises(BadInput, match=r"expected some of those that were judged, such as q.* found none of them"):
        add_company(study.judgments, strange)
    first = study.judgments.frame["doc"][0]
    with pytest.raises(Undefined, match="Of no document judged in context is anything known"):
        add_company(study.judgments, [{"doc": first, "url": "https://one.org/a"}, {"doc": "x", "url": "https://x.org"}])


@pytest.mark.parametrize("column", ["text", "url"])
def test_a_page_without_a_word_or_an_address_is_unknown_not_other(column: str) -> None:
    words = {"a": "horse hoof", "b": "horse hoof", "c": None, "d": " "}
    documents = [
        {"doc": doc, column: f"https://{text}.org" if column == "url" and text else text} for doc, text in words.items()
    ]
    pairs = [("a", None), ("b", "a"), ("c", "a"), ("d", "a"), ("a", "c")]
    rows = [{"query": "q", "doc": doc, "label": 1, "context": context} for doc, context in pairs]
    company = add_company(rows, documents).frame["company"].to_list()
    assert company[:3] == [None, "near copy" if column == "text" else "same site", None]
    assert company[4] is None
    assert column == "url" or company[3] is None


def test_judgments_alone_and_odd_thresholds_are_refused(study: ContextStudy) -> None:
    alone = Judgments.of(study.judgments.frame.filter(pl.col("context").is_null()))
    with pytest.raises(Undefined, match="No document was judged in context"):
        add_company(alone, study.documents)
    with pytest.raises(BadInput, match="a likeness above 0, up to 1"):
        add_company(study.judgments, study.documents, near_copy=0)
    with pytest.raises(BadInput, match="a likeness above 0, up to 1, found 'x'"):
        add_company(study.judgments, study.documents, near_copy="x")  # type: ignore[arg-type]
    itself = [{"query": "q", "doc": "a", "label": 1, "context": "a"}, {"query": "q", "doc": "a", "label": 1}]
    with pytest.raises(Undefined, match="No document was judged in context of another one"):
        add_company(itself, study.documents)
