"""Reasons learned from hand-coded comments: a text classifier for several classes at once, tested beside the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import Result
from karat.records.base import count
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.bootstrap import Resampling, mean_intervals
from karat.stats.totals import totals
from karat.validity.reason_classes import NAMES, UNCLASSIFIABLE
from karat.validity.reasons import codes_of, comments_of, rule_flags

#: A class with fewer coded comments than this is left to the rules.
FEWEST_CODED = 5
#: Fewer coded comments than this teach nothing.
FEWEST_COMMENTS = 30
#: From this probability on a class is suggested.
LIKELY = 0.5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReasonModel(Result):
    """What hand-coded comments teach about the words of each class, and how well that does on comments not seen.

    The frame has, per class and on comments not learned from, precision, recall and F1 of the rules and of the model.
    """

    #: Overall: mean overlap with the coder's classes (Jaccard), exact matches, F1; rules, model, difference.
    overall: pl.DataFrame
    beside: ClassVar[tuple[str, ...]] = ("overall",)
    _words: Any
    _models: dict[str, Any]

    def suggest(self, comments: Any) -> pl.DataFrame:
        """The comments with a column for each class, and `suggested`: their names, most probable first."""
        frame = comments_of(comments)
        flags, chance = _suggest(self._words, self._models, frame)
        named = [
            "; ".join(NAMES[place] for place in np.argsort(-chance[row], kind="stable") if flags[row, place])
            for row in range(len(flags))
        ]
        return frame.select("reason").with_columns(
            *(pl.Series(name, flags[:, place]) for place, name in enumerate(NAMES)), suggested=pl.Series(named)
        )


def learn_reasons(coded: Any, *, folds: int = 5, level: float = 0.95, draws: int = 1000, seed: int = 0) -> ReasonModel:
    """Learn the classes of reasons from comments coded by hand; figures are from comments that were not learned from.

    `coded` has the columns `reason` (or `comment`) and `codes`, several divided by ; as in `position; number`. The
    model is a logistic regression for each class on the words and pairs of words of a comment (TF-IDF) and on what the
    rules say; a class with fewer than five coded comments is left to the rules. Comments of one `query`, where that
    column is there, stay together in cross-validation, so that a topic's words are no help. The difference to the
    rules comes with a bootstrap interval; where it holds 0, the rules do as well.

    Use it to suggest, and let a person decide: classes of a few comments are learned badly. The coder is taken for
    right.
    """
    frame, flags = codes_of(coded)
    if frame.height < FEWEST_COMMENTS:
        raise Undefined(f"{count(frame.height, 'coded comment')}: too few to learn from ({FEWEST_COMMENTS} or more)")
    if not 2 <= folds <= frame.height:
        raise BadInput.at("the folds", expected="2 or more, not more than comments", found=str(folds))
    by_query = "query" in frame.columns and frame["query"].null_count() == 0 and frame["query"].n_unique() >= folds
    group = np.arange(frame.height)
    if by_query:
        group = frame["query"].cast(pl.String).rank("dense").to_numpy().astype(np.int64) - 1
    number = int(group.max()) + 1
    part = (np.random.default_rng(seed).permutation(number) % folds)[group]
    learned = np.zeros_like(flags)
    for fold in range(folds):
        words, models = _learn(frame.filter(pl.Series(part != fold)), flags[part != fold], seed)
        learned[part == fold] = _suggest(words, models, frame.filter(pl.Series(part == fold)))[0]
    rules = rule_flags(frame)
    words, models = _learn(frame, flags, seed)
    together = " by query" if by_query else ""
    notes = [f"{folds}-fold cross-validation{together} over {count(frame.height, 'comment')}, seed {seed}"]
    left = [name for place, name in enumerate(NAMES) if flags[:, place].any() and name not in models]
    if left:
        notes.append(f"fewer than {FEWEST_CODED} comments, left to the rules: {', '.join(left)}")
    resampling = Resampling(level, draws, seed)
    overall = _overall(flags, {"rules": rules, "model": learned}, group, number, resampling)
    return ReasonModel(
        frame=_classes(flags, {"rules": rules, "model": learned}),
        finding=_finding(overall.row(0, named=True), level),
        notes=tuple(notes),
        overall=overall,
        _words=words,
        _models=models,
    )


def _learn(frame: pl.DataFrame, flags: Bools, seed: int) -> tuple[Any, dict[str, Any]]:
    """The vocabulary, and a classifier for every class with enough comments on either side."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b[\w'#]+\b")
    words.fit(frame["reason"].to_list())
    features = _features(words, frame)
    models = {}
    for place, name in enumerate(NAMES):
        said = int(flags[:, place].sum())
        if FEWEST_CODED <= said <= len(flags) - FEWEST_CODED:
            model = LogisticRegression(class_weight="balanced", C=3.0, max_iter=2000, random_state=seed)
            models[name] = model.fit(features, flags[:, place])
    return words, models


def _features(words: Any, frame: pl.DataFrame) -> Any:
    from scipy.sparse import csr_matrix, hstack

    return hstack([words.transform(frame["reason"].to_list()), csr_matrix(rule_flags(frame).astype(float))]).tocsr()


def _suggest(words: Any, models: dict[str, Any], frame: pl.DataFrame) -> tuple[Bools, Floats]:
    """Which classes to suggest, and how probable each is; the rules' answer where nothing was learned."""
    chance = rule_flags(frame).astype(np.float64)
    features = _features(words, frame)
    for name, model in models.items():
        chance[:, NAMES.index(name)] = model.predict_proba(features)[:, 1]
    flags = chance >= LIKELY
    # A reason, or none that can be told: never both, never neither.
    other = NAMES.index(UNCLASSIFIABLE)
    reasons = np.delete(flags, other, axis=1).any(axis=1)
    flags[:, other] = ~reasons
    return flags, chance


def _classes(flags: Bools, told: dict[str, Bools]) -> pl.DataFrame:
    coded = flags.sum(axis=0)
    columns: dict[str, Any] = {"class": list(NAMES), "coded": coded.astype(np.int64)}
    for name, said in told.items():
        both, suggested = (flags & said).sum(axis=0), said.sum(axis=0)
        columns[f"{name}_precision"] = _ratio(both, suggested)
        columns[f"{name}_recall"] = _ratio(both, coded)
        columns[f"{name}_f1"] = _ratio(2 * both, suggested + coded)
    return pl.DataFrame(columns).sort("coded", descending=True, maintain_order=True)


def _overall(flags: Bools, told: dict[str, Bools], group: Ints, number: int, resampling: Resampling) -> pl.DataFrame:
    """Mean overlap of the two sets of classes of a comment, exact matches and F1, with intervals over comments."""
    row: dict[str, float] = {}
    overlaps = {name: (flags & said).sum(axis=1) / (flags | said).sum(axis=1) for name, said in told.items()}
    for name, said in told.items():
        row[f"{name}_overlap"] = overlaps[name].mean()
        row[f"{name}_exact"] = (flags == said).all(axis=1).mean()
        row[f"{name}_f1"] = 2 * (flags & said).sum() / (flags.sum() + said.sum())
    gain = overlaps["model"] - overlaps["rules"]
    low = high = np.full(1, np.nan)
    if resampling.draws:
        by_group = totals(group, gain, number) / (len(gain) / number)
        level, draws, seed = resampling.level, resampling.draws, resampling.seed
        low, high = mean_intervals(by_group[:, None], level=level, draws=draws, seed=seed)
    return pl.DataFrame([row | {"gain": gain.mean(), "gain_low": low[0], "gain_high": high[0], "n": len(gain)}])


def _ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _finding(row: dict[str, Any], level: float) -> str:
    interval = f"{level * 100:g} % interval of the difference {row['gain_low']:+z.2f} to {row['gain_high']:+z.2f}"
    figures = f"{row['model_overlap']:.2f} against {row['rules_overlap']:.2f}"
    how = "better" if row["gain_low"] > 0 else "worse" if row["gain_high"] < 0 else "no better"
    said = f"The model finds a coder's reasons {how} than the rules do: mean overlap {figures}"
    return f"{said} ({interval}; {count(row['n'], 'comment')} not learned from)."
