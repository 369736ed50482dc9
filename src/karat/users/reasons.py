"""Why users prefer one list: the fifteen classes of reasons, suggestions by rules, and their counts with examples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import Preferences, Result
from karat.records.table import count, frame_of
from karat.stats.arrays import Bools, Floats, Ints, totals
from karat.stats.bootstrap import Resampling, mean_intervals
from karat.users.votes import counted, trusted

#: The classes found in 1,307 comments on two lists side by side, most frequent first, with patterns of which any
#: suggests the class; what follows "no", "less" or "not" is found by the others' own words.
REASONS: dict[str, tuple[str, ...]] = {
    # the results are about what was asked
    "on topic": (
        r"\bon[- ]topic\b",
        r"\b(?:is|are|was|were|all|more|mostly|only|results?|links?|pages?|sites?|them) (?:\w+ )?about\b",
        r"\b(?:pertain|relate[sd]?|related|relating|correspond|match(?:es|ed)?|address(?:es|ed)?|answer(?:s|ed)?)\b",
        r"\b(?:focus(?:ed|es)?|specific(?:ally)? to|targeted|contains?|includes?|provides?|covers?)\b.*\b"
        r"(?:information|info|topic|subject|question|query|details?|data)\b",
        r"\b(?:what (?:i|we|you|they|the user) (?:was|were|am|is|are)? ?(?:looking|searching|asking)|asked for)\b",
    ),
    # a certain page or site is there, or is not
    "specific links": (
        r"\b(?:has|had|have|having|contains?|includes?|gives?|shows?|lists?|provides?|lacks?|missing|with|links? to) "
        r"(?:\w+ ){0,4}(?:link|home ?page|web ?site|site|page|url)\b",
        r"\b(?:official|main|direct|actual|correct|right) (?:\w+ )?(?:link|home ?page|web ?site|site|page)\b",
        r"\bhome ?page\b",
        r"\blinks? (?:directly )?to\b",
        r"\bwikipedia (?:link|page|article|entry)\b",
        r"\bwww\.|\.(?:com|org|gov|edu|net)\b",
    ),
    # no reason that can be told
    "not classifiable": (),
    # the other list has results that do not belong
    "irrelevant": (
        r"\b(?:ir|non[- ]?|un)(?:relevant|related)\b",
        r"\b(?:ir|non[- ]?)relevan(?:t|cy|ce)\b",
        r"\b(?:not|isn'?t|aren'?t|nothing|no|none|don'?t|doesn'?t|didn'?t|wasn'?t|weren'?t)\b "
        r"(?:\w+ ){0,4}(?:relevant|related|relate|relevance|about|pertain|match|for|do with|on topic|answer)\b",
        r"\b(?:off[- ]topic|unrelated|useless|wrong|random)\b",
    ),
    # the results are more relevant, without saying how
    "more relevant": (
        r"\b(?:more|most|better|higher|greater|highly|very|so) (?:\w+ )?(?:relevant|relevance|relevancy|pertinent)\b",
        r"\brelevan(?:t|ce|cy)\b.*\b(?:higher|better|greater)\b",
        r"\b(?:are|is|were|results?) relevant\b",
    ),
    # there are more of the wanted results
    "number": (
        r"\b(?:more|fewer|less|many|several|lots of|a lot of|plenty of|greater number of|number of) "
        r"(?:of )?(?:the )?(?:\w+ ){0,3}(?:links?|results?|sites?|pages?|websites?|listings?|hits|items|entries|"
        r"options?)\b",
        r"\b(?:only|just|at least|has|had|have|there (?:is|are|were)) "
        r"(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)\b",
    ),
    # the good results stand higher
    "position": (
        r"\b(?:higher|lower) (?:up|down|on|in|ranked|rank|position|placed|than|results?|links?)\b",
        r"\b(?:higher|lower)[.!]?$",
        r"\b(?:closer to the top|further (?:up|down)|farther (?:up|down)|nearer the top)\b",
        r"\b(?:first|second|third|top|1st|2nd|3rd|#1|number one|no\. ?1|last|bottom) "
        r"(?:\w+ ){0,2}(?:result|link|site|page|one|few|two|three|five|entry|listing|hit|item|spot|position)s?\b",
        r"\b(?:at|on|near|towards?|to) the (?:very )?(?:top|bottom|beginning|start)\b",
        r"\b(?:ranked|ranking|ranks|order(?:ed|ing)?|position(?:ed)?|came first|comes first|right away)\b",
    ),
    # the list is broad or varied
    "range of results": (
        r"\b(?:variety|varied|various|diverse|diversity|broader|wider|wide|range|"
        r"different (?:kinds|types|sorts|sites|sources|aspects|results|topics)|comprehensive|more options|"
        r"mix(?:ture)? of)\b",
    ),
    # the list reads better
    "presentation": (
        r"\b(?:clear(?:er|ly)?|easier|easy|readable|read|descripti(?:ve|ons?)|described?|summar(?:y|ies)|snippets?|"
        r"titles?|layout|format(?:ted)?|organi[sz]ed|understand(?:able)?|detailed descriptions?|looks? "
        r"(?:better|nicer|cleaner)|well[- ]presented|presentation)\b",
    ),
    # the pages are better or can be trusted more
    "quality/authority": (
        r"\b(?:quality|authorit(?:y|ative|ies)|credible|credibility|trust(?:ed|worthy)?|reliable|reputable|official|"
        r"legitimate|legit|porn\w*|adult (?:site|content)|well[- ]known|professional|expert)\b",
    ),
    # spam, advertisements, things for sale
    "spam/adverts": (
        r"\b(?:spam\w*|adverts?|advertis\w+|ads?\b|commercial\w*|junk|classifieds?|sponsored|selling|for sale|"
        r"sales pitch|scam\w*|pop-?ups?)\b",
    ),
    # the same result again
    "duplication": (
        r"\b(?:duplicat\w*|repeat\w*|repetiti\w*|redundan\w*|"
        r"same (?:\w+ )?(?:link|site|page|result|website|thing|url|source)s?|twice|over and over|all "
        r"(?:just )?(?:from )?(?:wikipedia|one site))\b",
        r"\bjust wikipedia\b",
    ),
    # what is found can be had: free, to download
    "availability": (
        r"\b(?:free|download\w*|available|availability|accessible|access to|without (?:paying|registration|signing)|"
        r"subscription|paywall|log ?in)\b",
    ),
    # the pages are in a language that can be read
    "language": (
        r"\b(?:english|spanish|french|german|chinese|japanese|arabic|russian|italian|portuguese|foreign)\b",
        r"\blanguages?\b",
    ),
    # links do not work
    "dead links": (
        r"\b(?:dead|broken|expired|outdated|bad) (?:links?|pages?|sites?|urls?)\b",
        r"\blinks? (?:\w+ ){0,4}(?:not work|dead|broken|don'?t work|didn'?t work|doesn'?t work)\b",
        r"\b(?:did not|didn'?t|does not|doesn'?t|do not|don'?t|not) (?:work(?:ing)?|load(?:ing)?|open(?:ing)?)\b",
        r"\b404\b",
    ),
}
NAMES = tuple(REASONS)
UNCLASSIFIABLE = "not classifiable"


#: What stands between the classes of one comment in a table.
SEPARATORS = r"[;|,]"
#: How many examples a table shows, and how long each may be: with more, a terminal has no room for the shares.
EXAMPLES, LONGEST = 1, 64
#: Whether a comment has a word in it.
WORDS = pl.col("reason").str.len_chars() > 0


def comments_of(data: Any) -> pl.DataFrame:
    """Comments as a frame with `reason` and whatever else is known of them, blanks left out.

    >>> comments_of(["more relevant", " "]).rows()
    [('more relevant',)]
    """
    return _answers(data).filter(WORDS)


def _answers(data: Any) -> pl.DataFrame:
    """The same with the blanks: an answer without a word, to a trap perhaps, still tells of its judge."""
    if isinstance(data, Preferences):
        frame = data.frame
    elif isinstance(data, pl.Series) or (isinstance(data, list | tuple) and all(isinstance(d, str) for d in data)):
        frame = pl.DataFrame({"reason": list(data)}, schema={"reason": pl.String})
    else:
        frame = frame_of(data, "the comments")
    if "reason" not in frame.columns and "comment" in frame.columns:
        frame = frame.rename({"comment": "reason"})
    if "reason" not in frame.columns:
        raise BadInput.at("the comments", expected="a column reason", found=", ".join(frame.columns))
    return frame.with_columns(pl.col("reason").cast(pl.String).str.strip_chars())


def reasons_by_rules(comments: Any) -> pl.DataFrame:
    """The classes that words in each comment suggest: `reason` and a column of true or false for each class.

    >>> found = reasons_by_rules(["the left one has more useful results higher in the search"])
    >>> [name for name in NAMES if found[name][0]]
    ['number', 'position']

    Several classes may be suggested; where none is, the comment is not classifiable. Rules look at words, not at sense:
    they are a start for coding by hand, and `learn_reasons` does better once some two hundred comments are coded.

    Reference: Sanderson, Paramita, Clough and Kanoulas (SIGIR 2010), section 4.3, Table 10.
    """
    frame = comments_of(comments)
    texts = frame["reason"].str.to_lowercase().str.replace_all("\u2019", "'")
    found = {name: _any_of(words, texts) for name, words in REASONS.items()}
    # More relevant results are better ones, not necessarily more of them.
    plain = texts.str.replace_all(r"\bmore (?:\w+ )?(?:ir|non[- ]?)?relevant (?:results?|links?|sites?|pages?)\b", " ")
    found["number"] &= _any_of(REASONS["number"], plain)
    # Who says "not relevant" has not said "relevant".
    found["more relevant"] &= ~(found["irrelevant"] & ~texts.str.contains(r"\bmore relevan"))
    found[UNCLASSIFIABLE] = ~pl.DataFrame(found).select(pl.any_horizontal(pl.all())).to_series()
    return frame.select("reason").with_columns(found[name].alias(name) for name in NAMES)


def rule_flags(comments: Any) -> Bools:
    """What the rules say as comments x classes."""
    return reasons_by_rules(comments).select(NAMES).to_numpy()


def _any_of(words: Sequence[str], texts: pl.Series) -> pl.Series:
    """Which of these lower-case texts have one of the words."""
    if not words:
        return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True)
    return texts.str.contains("|".join(f"(?:{word})" for word in words)).fill_null(False)


def codes_of(coded: Any) -> tuple[pl.DataFrame, Bools]:
    """Hand-coded comments, and which classes each has: from a column with names such as `position; number`.

    >>> codes_of([{"reason": "higher up", "codes": "Position; number"}])[1].sum()
    np.int64(2)

    The codes may also be lists. A name that is none of the fifteen is an error that says which.
    """
    frame = comments_of(coded)
    if "codes" not in frame.columns:
        raise BadInput.at("the coded comments", expected="a column codes", found=", ".join(frame.columns))
    codes = frame["codes"]
    if codes.dtype != pl.List:
        codes = codes.cast(pl.String).str.replace_all(SEPARATORS, ";").str.split(";")
    tidy = codes.list.eval(pl.element().cast(pl.String).str.strip_chars().str.to_lowercase())
    tidy = tidy.list.eval(pl.element().filter(pl.element().str.len_chars() > 0))
    known = frame.with_columns(tidy.alias("codes")).filter(pl.col("codes").list.len() > 0)
    strange = sorted({*known["codes"].explode().drop_nulls()} - {*NAMES})
    if strange:
        raise BadInput.at("the codes", expected=f"classes such as {', '.join(NAMES[:3])}", found=f'"{strange[0]}"')
    if not known.height:
        raise Undefined("no comment has a code")
    flags = np.column_stack([known["codes"].list.contains(name).to_numpy() for name in NAMES])
    return known, flags.astype(bool)


def reason_table(comments: Any, flags: Bools | None = None) -> Result:
    """How many comments give each reason, most frequent first, with examples (the paper's Table 10).

    >>> reason_table(["more relevant results", "dead links"]).frame.filter(pl.col("n") > 0).select("class", "n").rows()
    [('more relevant', 1), ('dead links', 1)]

    Comments with a column `codes` are counted as coded; others, by rules. `flags` (comments x classes) counts what
    another coder or a model says. Shares are of comments and add up to more than 1: a comment may give several.

    Where comments come with what was answered, the paper's are counted: those of a preference for one of the two lists,
    by judges who failed no trap, a judge's first answer to a question, and none to a trap.
    """
    every = _answers(comments).with_columns(_row=(WORDS.fill_null(False).cum_sum() - 1).cast(pl.Int64))
    written = every.filter(WORDS).height
    frame, notes = _of_a_preference(every)
    if flags is not None:
        if len(flags) != written:
            raise BadInput.at("the flags", expected=f"a row for each of {written:,} comments", found=str(len(flags)))
        flags, how = flags[frame["_row"].to_numpy()], "as suggested"
    elif "codes" in frame.columns:
        (frame, flags), how = codes_of(frame), "as coded by hand"
    else:
        flags, how = rule_flags(frame), "by rules: suggestions to check, not codes"
    if not frame.height:
        raise Undefined("no comment has any words" if not written else "no comment is of a preference")
    texts = frame["reason"].to_list()
    rows = []
    for name, said in zip(NAMES, flags.T, strict=True):
        mine = [texts[row] for row in np.flatnonzero(said)]
        rows.append((name, len(mine), len(mine) / len(texts), " / ".join(_short(text) for text in _telling(mine))))
    table = pl.DataFrame(rows, schema=["class", "n", "share", "example"], orient="row")
    table = table.sort("n", descending=True, maintain_order=True)
    several = int((flags.sum(axis=1) > 1).sum())
    top = table.row(0, named=True)
    finding = (
        f"The most frequent reason is {top['class']}: {top['n']:,} of {count(len(texts), 'comment')} "
        f"({top['share']:.0%}), {how}."
    )
    notes.append(f"{count(several, 'comment')} with several reasons, {count(int(flags.sum()), 'reason')} in all")
    return Result(table, finding, tuple(notes), columns=("class", "n", "share", "example"))


def _of_a_preference(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The comments that say why one list is preferred, by judges who are believed, as far as that is known."""
    notes: list[str] = []
    if frame.height and {"query", "left", "right", "choice"} <= {*frame.columns}:
        kept = counted(trusted(frame))
        frame, notes = kept.frame, [note for note in kept.notes if "_row" not in note]
    frame = sided = frame.filter(WORDS)
    if "choice" in frame.columns:
        sided = frame.filter(pl.col("choice").cast(pl.String).str.to_lowercase().is_in(["left", "right"]))
    if sided.height < frame.height:
        left = count(frame.height - sided.height, "comment")
        notes.append(f"{left} of answers that prefer no list left out, as in the paper")
    return sided, notes


def _telling(texts: Sequence[str]) -> list[str]:
    """The examples to show: short ones tell most, very short ones nothing."""
    return sorted(dict.fromkeys(texts), key=lambda text: (abs(len(text) - 45), text))[:EXAMPLES]


def _short(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    return f'"{text}"' if len(text) <= LONGEST else f'"{text[: LONGEST - 3].rstrip()}..."'


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
