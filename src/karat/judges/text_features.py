"""Features of texts: the query's words in title and text, what a text is about, and whose kin a judge is."""

from __future__ import annotations

import polars as pl

WORD = r"[\p{L}\p{M}\p{N}]+"
#: Documents to a cluster of texts, and how many clusters there may be.
EACH, FEWEST, MOST = 25, 2, 12
#: How many words name a cluster, and how many are looked at.
NAMED, VOCABULARY = 3, 5000
#: Clusters are made of at most so many texts; the others go to the nearest.
LEARNED = 5000
#: Words in names of judges and systems that tell nothing of their family.
COMMON = (
    "alone",
    "judge",
    "judges",
    "system",
    "run",
    "rerank",
    "reranker",
    "ranker",
    "model",
    "base",
    "large",
    "small",
    "mini",
)
_NAME = r"[a-z]{3,}"


def in_title(facts: pl.DataFrame) -> pl.Series:
    """QiT where every word of the query is in the title, nQiT where one is not.

    >>> facts = pl.DataFrame({"query_text": ["GPS maps"] * 2, "title": ["Maps from GPS", "GPS"]})
    >>> in_title(facts).to_list()
    ['QiT', 'nQiT']
    """
    share = share_of_words(facts, "title")
    chosen = pl.when(pl.col("share") == 1).then(pl.lit("QiT")).when(pl.col("share") < 1).then(pl.lit("nQiT"))
    return share.alias("share").to_frame().select(chosen).to_series()


def in_text(facts: pl.DataFrame) -> pl.Series:
    """The percentage of the query's words that are in the text.

    >>> in_text(pl.DataFrame({"query_text": ["gps maps"], "document_text": ["all about GPS"]})).to_list()
    [50]
    """
    return (100 * share_of_words(facts, "document_text")).round().cast(pl.Int64)


def share_of_words(facts: pl.DataFrame, column: str) -> pl.Series:
    """The share of the query's words, each once, that a text has; none where either is unknown."""
    words = [pl.col(name).str.to_lowercase().str.extract_all(WORD).list.unique() for name in ("query_text", column)]
    pairs = facts.select("query_text", column).unique().drop_nulls()
    found = pairs.with_columns(asked=words[0], there=words[1]).filter(pl.col("asked").list.len() > 0)
    both = pl.col("asked").list.set_intersection("there").list.len() / pl.col("asked").list.len()
    shares = found.select("query_text", column, share=both)
    key = ["query_text", column]
    return facts.select(key).join(shares, on=key, how="left", maintain_order="left")["share"]


def topic(facts: pl.DataFrame) -> pl.Series:
    """What the text is about, as the words that tell its cluster from the others; none where there are few texts.

    Clusters are k-means of words weighted by tf-idf, one for every 25 documents, 12 at most: slices for which nobody
    had to think of a feature.
    """
    texts = facts.select("document_text").drop_nulls().unique(maintain_order=True)["document_text"].sort()
    nothing = pl.Series([None] * facts.height, dtype=pl.String)
    if len(texts) < FEWEST * EACH:
        return nothing
    from sklearn.cluster import KMeans
    from sklearn.feature_extraction.text import TfidfVectorizer

    weigh = TfidfVectorizer(max_features=VOCABULARY, min_df=2, max_df=0.5, token_pattern=r"(?u)\b[^\W\d_]{3,}\b")
    try:
        weights = weigh.fit_transform(texts.sample(min(len(texts), LEARNED), seed=0).to_list())
    except ValueError:  # no word is in two texts and not in most
        return nothing
    number = min(MOST, len(texts) // EACH)
    found = KMeans(number, n_init=3, random_state=0).fit(weights)
    place = found.predict(weigh.transform(texts.to_list()))
    words = weigh.get_feature_names_out()
    names = [", ".join(words[at] for at in centre.argsort()[::-1][:NAMED]) for centre in found.cluster_centers_]
    told = pl.DataFrame({"document_text": texts, "topic": [names[at] for at in place]})
    return facts.select("document_text").join(told, on="document_text", how="left", maintain_order="left")["topic"]


def kinship(facts: pl.DataFrame) -> pl.Series:
    """Kin where the one system that shows a document and its judge have a word of their names in common.

    >>> facts = pl.DataFrame({"shown_by": ["gpt-rerank", "bm25", "several systems"], "judge_name": ["gpt-4o"] * 3})
    >>> kinship(facts).to_list()
    ['Kin', 'nKin', None]
    """
    judge, system = (
        pl.col(name).str.to_lowercase().str.extract_all(_NAME).list.set_difference(list(COMMON))
        for name in ("judge_name", "shown_by")
    )
    kin = judge.list.set_intersection(system).list.len() > 0
    known = (pl.col("shown_by") != "several systems") & pl.col("judge_name").is_not_null()
    chosen = pl.when(known & kin).then(pl.lit("Kin")).when(known).then(pl.lit("nKin"))
    return facts.select(chosen).to_series()
