"""Four search engines over the demo's documents: words, weighted words, names only, and words with meanings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl

from karat.simulate.parts import word_list
from karat.stats.arrays import Floats

#: How deep the lists go.
DEPTH = 10
#: BM25's usual settings: how soon a word's repeats stop counting, and how much long texts are discounted.
K1, B = 1.2, 0.75
#: How many dimensions of meaning the hybrid keeps, and how gently it fuses two rankings.
DIMENSIONS, FUSE = 128, 60
#: Words that say nothing of what is looked for.
STOP = word_list(
    "a an and are as at be by can do does for from how i in into is it its my of on one or so some such that the their "
    "them then there these this to was what when where which while will with without you your"
)


def words(text: str) -> list[str]:
    """The words of a text in lower case, names taken apart, plurals and endings cut roughly.

    >>> words("How do I read JSONDecoder files, str.splitlines or heapq.nlargest?")
    ['read', 'json', 'decoder', 'file', 'str', 'splitline', 'heapq', 'nlargest']
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return [_stem(word) for word in re.findall(r"[a-z]+", apart.lower()) if word not in STOP and len(word) > 1]


def _stem(word: str) -> str:
    for ending, least in (("ing", 6), ("ies", 5), ("es", 6), ("ed", 6), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "e" if ending == "es" else "")
    return word


def search(documents: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """The lists of all engines: system, query, doc, score."""
    asked = [words(text) for text in queries["text"]]
    titles = [words(f"{doc} {first}") for doc, first in documents.select("title", "snippet").iter_rows()]
    full = [words(doc) + words(text) for doc, text in documents.select("doc", "text").iter_rows()]
    bm25 = _bm25(full, asked)
    tfidf, meaning = _vectors(full, asked)
    scores = {"bm25": bm25, "tfidf": tfidf, "title": _bm25(titles, asked), "hybrid": _fused(bm25, meaning)}
    return pl.concat([_ranked(name, queries["query"], documents["doc"], score) for name, score in scores.items()])


def _ranked(system: str, queries: pl.Series, docs: pl.Series, score: Floats) -> pl.DataFrame:
    # Rounded, so that sums in another order on another machine do not turn a tie into a difference.
    score = score.round(6)
    query, doc = np.nonzero(score > 0)
    found = pl.DataFrame({"query": queries[query], "doc": docs[doc], "score": score[query, doc]})
    # Ties go as karat breaks them: by doc id, the last first.
    found = found.sort("query", "score", "doc", descending=[False, True, True])
    top = found.group_by("query", maintain_order=True).head(DEPTH)
    return top.select(pl.lit(system).alias("system"), "query", "doc", "score")


def _counts(texts: list[list[str]], asked: list[list[str]]) -> tuple[Any, Any]:
    """How often each word is in each text, and in each question."""
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(analyzer=list)
    found = counter.fit_transform(texts)
    return found.astype(np.float64), counter.transform(asked).astype(np.float64)


def _bm25(texts: list[list[str]], asked: list[list[str]]) -> Floats:
    """BM25: questions x texts."""
    found, wanted = _counts(texts, asked)
    length = np.asarray(found.sum(axis=1)).ravel()
    within = np.diff(found.tocsc().indptr)
    rarity = np.log(1 + (found.shape[0] - within + 0.5) / (within + 0.5))
    found = found.tocsr()
    row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    weight = found.copy()
    slow = K1 * (1 - B + B * length / length.mean())
    weight.data = rarity[found.indices] * found.data * (K1 + 1) / (found.data + slow[row])
    scores: Floats = (wanted.sign() @ weight.T).toarray()
    return scores


def _vectors(texts: list[list[str]], asked: list[list[str]]) -> tuple[Floats, Floats]:
    """Cosines of weighted words, and of their dimensions of meaning (latent semantic analysis)."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    found, wanted = _counts(texts, asked)
    weigh = TfidfTransformer(sublinear_tf=True)
    of_texts, of_asked = weigh.fit_transform(found), weigh.transform(wanted)
    cosine: Floats = (of_asked @ of_texts.T).toarray()
    svd = TruncatedSVD(min(DIMENSIONS, min(found.shape) - 1), random_state=0)
    there, here = normalize(svd.fit_transform(of_texts)), normalize(svd.transform(of_asked))
    meaning: Floats = here @ there.T
    return cosine, meaning


def _fused(one: Floats, two: Floats) -> Floats:
    """Reciprocal rank fusion of two rankings: what both put high comes first."""
    ranks = [np.argsort(np.argsort(-score, axis=1, kind="stable"), axis=1) + 1 for score in (one, two)]
    fused: Floats = 1 / (FUSE + ranks[0]) + 1 / (FUSE + ranks[1])
    return fused
