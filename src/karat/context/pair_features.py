"""What may tell how good a document is after another: their grades, aspects, texts, sites and ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.context.document_pairs import MOST_GRADES, PAIR, Graded
from karat.records import Documents, Runs
from karat.records.documents import SITE
from karat.records.runs import ranked
from karat.records.table import count
from karat.stats.arrays import Floats


@dataclass(frozen=True, eq=False)
class Features:
    """What is known about pairs of documents, as numbers: a row for each pair, by kind of feature."""

    #: The two grades as numbers, and as levels (0 or 1 for each).
    grades: Floats
    levels: Floats
    #: Everything else, and the names of its columns.
    more: Floats
    names: tuple[str, ...]
    #: What there would be if more were given.
    notes: tuple[str, ...]

    @property
    def rich(self) -> Floats:
        """All there is: levels and everything else."""
        return np.column_stack([self.levels, self.more])


def features(pairs: pl.DataFrame, graded: Graded, runs: Runs | None, documents: Documents | None) -> Features:
    """The features of pairs that have their grades alone.

    A number that is not known for some pairs is 0 there, and a column more says that it is not known.
    """
    grades = pairs.select("alone", "above").to_numpy().astype(np.float64)
    known = np.unique(graded.alone["grade"].to_numpy())
    levels = np.concatenate([grades[:, [j]] == known for j in (0, 1)], axis=1) if len(known) <= MOST_GRADES else grades
    found = {"alone x above": grades[:, 0] * grades[:, 1], **_other_contexts(pairs, graded)}
    notes = []
    if graded.aspects.width > 2:
        found |= _aspects(pairs, graded)
    else:
        notes.append("no aspects but overall")
    if runs is None:
        notes.append("no runs, so no ranks")
    else:
        found |= _ranks(pairs, runs)
    if documents is not None and not _any_known(pairs, documents):
        notes.append(f"no document that was judged among the {count(len(documents), 'document')} given")
        documents = None
    site = None if documents is None else _sites(documents)
    texts = None if documents is None else _texts(documents, pairs)
    if site is None:
        notes.append("no sites or addresses of documents")
    else:
        same = _looked_up(pairs, site, "doc") == _looked_up(pairs, site, "context")
        found["same site"] = same.cast(pl.Float64).to_numpy()
    if texts is None:
        notes.append("no texts of documents")
    else:
        alike = _likeness(pairs, texts)
        found |= alike
        # A copy takes away more from a good page than from a bad one, which has little to lose.
        found |= {f"{name} x alone": values * grades[:, 0] for name, values in alike.items()}
    return Features(grades, levels.astype(np.float64), *_columns(found), notes=tuple(notes))


def _columns(found: dict[str, Floats]) -> tuple[Floats, tuple[str, ...]]:
    columns: dict[str, Floats] = {}
    for name, values in found.items():
        missing = np.isnan(values)
        columns[name] = np.where(missing, 0.0, values)
        if missing.any():
            columns[f"no {name}"] = missing.astype(np.float64)
    return np.column_stack(list(columns.values())), tuple(columns)


def _other_contexts(pairs: pl.DataFrame, graded: Graded) -> dict[str, Floats]:
    """How the document's grade changed after other documents than this one, on the mean."""
    change = graded.with_grades(graded.given).select(*PAIR, change=pl.col("grade") - pl.col("alone")).drop_nulls()
    whole = change.group_by("query", "doc").agg(pl.col("change").sum().alias("sum"), pl.len().alias("n"))
    rows = pairs.select(PAIR).join(whole, on=["query", "doc"], how="left", maintain_order="left")
    # The pair's own judgment is what is to be told: it must not tell itself.
    own = rows.join(change, on=PAIR, how="left", maintain_order="left")["change"].to_numpy().astype(np.float64)
    n = rows["n"].fill_null(0).to_numpy().astype(np.float64) - ~np.isnan(own)
    total = rows["sum"].fill_null(0.0).to_numpy() - np.nan_to_num(own)
    return {"change after others": np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)}


def _aspects(pairs: pl.DataFrame, graded: Graded) -> dict[str, Floats]:
    mine = pairs.join(graded.aspects, on=["query", "doc"], how="left", maintain_order="left")
    other = pairs.join(
        graded.aspects.rename({"doc": "context"}), on=["query", "context"], how="left", maintain_order="left"
    )
    names = graded.aspects.columns[2:]
    return {
        f"{name} {whose}": frame[name].to_numpy().astype(np.float64)
        for whose, frame in (("alone", mine), ("above", other))
        for name in names
    }


def _ranks(pairs: pl.DataFrame, runs: Runs) -> dict[str, Floats]:
    """The best rank of both over the runs: a first place counts for more than one place further down."""
    best = ranked(runs).group_by("query", "doc").agg(pl.col("rank").min().log1p())
    mine = pairs.join(best, on=["query", "doc"], how="left", maintain_order="left")["rank"]
    other = pairs.join(best.rename({"doc": "context"}), on=["query", "context"], how="left", maintain_order="left")
    return {"rank": mine.to_numpy().astype(np.float64), "rank above": other["rank"].to_numpy().astype(np.float64)}


def _any_known(pairs: pl.DataFrame, documents: Documents) -> bool:
    return any(pairs[column].is_in(documents.frame["doc"].implode()).any() for column in ("doc", "context"))


def _sites(documents: Documents) -> pl.DataFrame | None:
    """The site of each document: as given, else the host of its address."""
    if documents.has("site"):
        return documents.frame.select("doc", value=pl.col("site").cast(pl.String))
    if documents.has("url"):
        return documents.frame.select("doc", value=SITE)
    return None


def _texts(documents: Documents, pairs: pl.DataFrame) -> pl.DataFrame | None:
    """Title, snippet and text of each document of the pairs, as far as they are known, as one text."""
    parts = [name for name in ("title", "snippet", "text") if documents.has(name)]
    if not parts:
        return None
    wanted = pl.concat([pairs["doc"], pairs["context"]]).unique()
    texts = documents.frame.select("doc", value=pl.concat_str(parts, separator=" ", ignore_nulls=True))
    # Of a text without a word nothing is known, not that it is unlike all others.
    there = pl.col("doc").is_in(wanted.implode()) & pl.col("value").str.contains(r"\w")
    return texts.filter(there).sort("doc")


def _looked_up(pairs: pl.DataFrame, table: pl.DataFrame, column: str) -> pl.Series:
    found = pairs.select(doc=column).join(table, on="doc", how="left", maintain_order="left")
    return found["value"]


def _likeness(pairs: pl.DataFrame, texts: pl.DataFrame) -> dict[str, Floats]:
    """How alike the two texts are, which share of the words is new, and how much longer the text is."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    numbered = texts.select("doc", value=pl.int_range(pl.len()))
    places = [_looked_up(pairs, numbered, column) for column in ("doc", "context")]
    known = (places[0].is_not_null() & places[1].is_not_null()).to_numpy()
    names = ("likeness", "new words", "length")
    found = {name: np.full(pairs.height, np.nan) for name in names}
    if not known.any():
        return found
    words = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True).fit_transform(texts["value"].to_list())
    mine, other = (words[place.to_numpy()[known].astype(np.int64)] for place in places)
    size = np.diff(words.indptr).astype(np.float64)
    n_mine, n_other = (size[place.to_numpy()[known].astype(np.int64)] for place in places)
    both = mine.multiply(other)
    shared = np.diff(both.tocsr().indptr)
    found["likeness"][known] = np.asarray(both.sum(axis=1)).ravel()
    found["new words"][known] = 1 - shared / np.maximum(n_mine, 1)
    found["length"][known] = np.log1p(n_mine) - np.log1p(n_other)
    return found
