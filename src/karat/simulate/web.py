"""A small web: queries and pages with addresses, titles and texts, made of word lists."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.simulate.parts import numbered, word_list
from karat.stats.arrays import Bools, Ints

#: What people ask about. No word of it is part of a word below, so "the query's words are in the URL" is decided.
TOPICS = word_list(
    "falcon orchid violin glacier pepper marathon lantern pottery saffron telescope walnut zeppelin harbour mosaic "
    "beetle accordion bakery compass dolphin espresso fossil guitar hammock iceberg jasmine kayak lavender magnet "
    "nectar origami penguin quartz raccoon sundial tortoise unicycle volcano windmill xylophone yoghurt"
)
SITES = word_list("daily open best city world smart blue first north green prime simple")
KINDS = word_list("times house works press shop club base online review central")
ENDINGS = ("com", "org", "net", "info")
FOLDERS = word_list("articles guides items topics archive local help people")
PAGES = word_list("index overview page story list notes details update")
SENTENCES = (
    "Prices and opening hours change from season to season.",
    "Most visitors come for the pictures and stay for the stories.",
    "Read what other people say before you decide.",
    "This page was last checked in spring.",
    "Write to us if something is missing here.",
    "There is more than one way to begin, and none of them is hard.",
    "A short list of answers stands at the end.",
    "Delivery takes three days within the country.",
    "The first written record is more than two hundred years old.",
    "Experts do not agree on the reasons.",
    "Sign in to save this for later.",
    "The table below compares what is on offer.",
)


def make_queries(number: int, rng: np.random.Generator) -> pl.DataFrame:
    """Queries of one to three words, some of them navigational: query, text, kind.

    >>> make_queries(2, np.random.default_rng(0)).columns
    ['query', 'text', 'kind']
    """
    topic = rng.integers(len(TOPICS), size=(number, 3))
    words = rng.integers(1, 4, size=number)
    parts = [np.where(words > place, np.array(TOPICS)[topic[:, place]], "") for place in range(3)]
    return pl.DataFrame(
        {
            "query": numbered("q", number),
            "text": pl.Series([" ".join(dict.fromkeys(filter(None, row))) for row in zip(*parts, strict=True)]),
            "kind": np.where(rng.random(number) < 0.3, "navigational", "informational").astype(str),
        }
    )


def make_pages(
    texts: pl.Series, grade: Ints, wikipedia: Bools, root: Bools, named: Bools, rng: np.random.Generator
) -> pl.DataFrame:
    """A page for each query text: its url, title, snippet and text.

    A Wikipedia page, a home page (`root`), or some other page; `named` ones have the query's words in their
    address. The better the page, the more of its sentences are about the query.
    """
    n = len(texts)

    def pick(words: tuple[str, ...]) -> pl.Series:
        return pl.Series(words)[rng.integers(len(words), size=n)]

    parts = pl.DataFrame(
        {
            "query": texts,
            "site": pick(SITES),
            "kind": pick(KINDS),
            "ending": pick(ENDINGS),
            "folder": pick(FOLDERS),
            "deeper": pick(FOLDERS),
            "page": pick(PAGES),
            "sentence": pick(SENTENCES),
            "number": np.arange(1, n + 1),
            "deep": rng.random(n) < 0.5,
            "wikipedia": wikipedia,
            "root": root,
            "named": named,
            "text": _texts(texts, grade, rng),
        }
    ).with_columns(
        name=pl.when("named")
        .then(pl.col("query").str.replace_all(" ", "-"))
        .otherwise(pl.format("{}-{}", "site", "page")),
        deeper=pl.when("deep").then(pl.format("{}/", "deeper")).otherwise(pl.lit("")),
    )
    entry = pl.col("name").str.replace_all("-", "_")
    entry = entry.str.slice(0, 1).str.to_uppercase() + entry.str.slice(1)
    article = pl.format("https://en.wikipedia.org/wiki/{}_({})", entry, "folder")
    home = pl.format("https://www.{}.{}/", "name", "ending")
    page = pl.format(
        "https://www.{}{}.{}/{}/{}{}-{}{}.html", "site", "kind", "ending", "folder", "deeper", "name", "page", "number"
    )
    return parts.select(
        url=pl.when("wikipedia").then(article).when("root").then(home).otherwise(page),
        title=pl.format("{} - {}", pl.col("query").str.to_titlecase(), pl.col("kind").str.to_titlecase()),
        snippet=pl.format("Here you learn all about {}. {}", "query", "sentence"),
        text="text",
    )


def _texts(texts: pl.Series, grade: Ints, rng: np.random.Generator) -> pl.Series:
    """Three to ten sentences a page; of each, the chance that it is about the query grows with the grade."""
    length = rng.integers(3, 11, size=len(texts))
    page = np.repeat(np.arange(len(texts)), length)
    about = rng.random(len(page)) < 0.1 + 0.15 * grade[page]
    said = "What to know about " + texts[page] + "."
    filler = pl.Series(SENTENCES)[rng.integers(len(SENTENCES), size=len(page))]
    sentences = pl.DataFrame({"page": page, "sentence": said.zip_with(pl.Series(about), filler)})
    return sentences.group_by("page", maintain_order=True).agg(pl.col("sentence").str.join(" "))["sentence"]
