"""Pages about the same thing: overviews, details, and near copies that say the same in the same words."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl

from karat.simulate.parts import word_list
from karat.simulate.web import ENDINGS, FOLDERS, KINDS, SITES
from karat.stats.arrays import Ints

KIND = ("overview", "detail", "plain")
#: How many sentences a page has, and how many of an overview's a detail page repeats.
SENTENCES, REPEATED = 8, 3
_PARTS = word_list("history price care origin season colour weight repair trade storage size rules")
_DOES = word_list("explains shows lists doubts compares praises measures dates describes forgets")
_WHAT = word_list("makers visitors tools places records reasons habits signs prizes methods mistakes names books songs")
#: Sentences that a page may have, each about something else, and in a year of its own.
FACTS = tuple(f"The {a} of {{}} {b} its {c}" for a, b, c in product(_PARTS, _DOES, _WHAT))
YEARS = np.arange(1700, 2025)


def make_kinds(queries: int, docs: int, copies: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """The kind of each page (a place in KIND), and the page that it copies or is: queries x docs, both.

    >>> kind, source = make_kinds(1, 6, 0.5, np.random.default_rng(5))
    >>> source.tolist()
    [[0, 0, 0, 3, 4, 0]]
    """
    kind = rng.choice(len(KIND), size=(queries, docs), p=(0.3, 0.35, 0.35))
    source = np.tile(np.arange(docs), (queries, 1))
    row = np.arange(queries)
    for place in range(1, docs):
        copied = rng.random(queries) < copies
        original = source[row, rng.integers(place, size=queries)]
        source[copied, place] = original[copied]
    return np.take_along_axis(kind, source, axis=1), source


def make_texts(texts: pl.Series, kind: Ints, source: Ints, rng: np.random.Generator) -> pl.Series:
    """The text of each page: a near copy differs by a sentence, and a detail page takes up an overview's matter."""
    queries, docs = kind.shape
    different = len(FACTS) * len(YEARS)
    said = rng.integers(different, size=(queries, docs, SENTENCES))
    # An overview and the pages that go into its details have some sentences in common.
    shared = rng.integers(different, size=(queries, 1, REPEATED))
    said[:, :, :REPEATED] = np.where((kind < 2)[:, :, None], shared, said[:, :, :REPEATED])
    said = np.take_along_axis(said, source[:, :, None], axis=1)
    copied = np.flatnonzero((source != np.arange(docs)).ravel())
    flat = said.reshape(-1, SENTENCES)
    flat[copied, rng.integers(SENTENCES, size=len(copied))] = rng.integers(different, size=len(copied))
    page = np.repeat(np.arange(queries * docs), SENTENCES)
    fact, year = flat.ravel() % len(FACTS), YEARS[flat.ravel() // len(FACTS)]
    sentences = pl.DataFrame(
        {"page": page, "fact": pl.Series(FACTS)[fact], "about": texts[page // docs], "year": year}
    ).with_columns(
        sentence=pl.format("{} since {}.", pl.col("fact").str.replace("{}", pl.col("about"), literal=True), "year")
    )
    return sentences.group_by("page", maintain_order=True).agg(pl.col("sentence").str.join(" "))["sentence"]


def make_sites(kind: Ints, rng: np.random.Generator) -> pl.Series:
    """The site of each page: half of the overviews and details of a query are on one and the same site."""
    queries, docs = kind.shape
    names = [f"{a}{b}.{c}" for a, b, c in product(SITES, KINDS, ENDINGS)]
    own = rng.integers(len(names), size=(queries, docs))
    main = rng.integers(len(names), size=(queries, 1))
    at_home = (kind < 2) & (rng.random((queries, docs)) < 0.5)
    return pl.Series(names)[np.where(at_home, main, own).ravel()]


def make_documents(
    asked: pl.DataFrame, doc: pl.Series, kind: Ints, source: Ints, rng: np.random.Generator
) -> pl.DataFrame:
    """The pages of all queries, query by query: doc, title, url, site and text."""
    docs = kind.shape[1]
    about = asked["text"][np.repeat(np.arange(asked.height), docs)]
    frame = pl.DataFrame(
        {
            "doc": doc,
            "about": about,
            "kind": pl.Series(KIND)[kind.ravel()],
            "site": make_sites(kind, rng),
            "folder": pl.Series(FOLDERS)[rng.integers(len(FOLDERS), size=len(doc))],
            "text": make_texts(asked["text"], kind, source, rng),
        }
    )
    return frame.select(
        "doc",
        title=pl.format("{}: {}", pl.col("about").str.to_titlecase(), pl.col("kind").replace("plain", "a page")),
        url=pl.format("https://www.{}/{}/{}.html", "site", "folder", "doc"),
        site="site",
        text="text",
    )
