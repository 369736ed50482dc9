"""The fifteen classes of reasons that users gave for preferring a list, and the words that give each away."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class ReasonClass:
    """A class of reasons: its name, what it means, and the words that give it away."""

    name: str
    about: str
    #: Patterns of which any suggests the class; what follows "no", "less" or "not" is found by the others' own words.
    words: tuple[str, ...] = ()

    def found(self, texts: pl.Series) -> pl.Series:
        """Which of these lower-case texts have one of the words."""
        if not self.words:
            return pl.repeat(False, len(texts), dtype=pl.Boolean, eager=True)
        return texts.str.contains("|".join(f"(?:{word})" for word in self.words)).fill_null(False)


#: The classes that were found in 1,307 comments on two lists side by side, most frequent first.
REASONS: tuple[ReasonClass, ...] = (
    ReasonClass(
        "on topic",
        "the results are about what was asked",
        (
            r"\bon[- ]topic\b",
            r"\b(?:is|are|was|were|all|more|mostly|only|results?|links?|pages?|sites?|them) (?:\w+ )?about\b",
            r"\b(?:pertain|relate[sd]?|related|relating|correspond|match(?:es|ed)?|address(?:es|ed)?|answer(?:s|"
            r"ed)?)\b",
            r"\b(?:focus(?:ed|es)?|specific(?:ally)? to|targeted|contains?|includes?|provides?|covers?)\b.*"
            r"\b(?:information|info|topic|subject|question|query|details?|data)\b",
            r"\b(?:what (?:i|we|you|they|the user) (?:was|were|am|is|are)? ?(?:looking|searching|asking)|"
            r"asked for)\b",
        ),
    ),
    ReasonClass(
        "specific links",
        "a certain page or site is there, or is not",
        (
            r"\b(?:has|had|have|having|contains?|includes?|gives?|shows?|lists?|provides?|lacks?|missing|with|"
            r"links? to)"
            r" (?:\w+ ){0,4}(?:link|home ?page|web ?site|site|page|url)\b",
            r"\b(?:official|main|direct|actual|correct|right) (?:\w+ )?(?:link|home ?page|web ?site|site|page)\b",
            r"\bhome ?page\b",
            r"\blinks? (?:directly )?to\b",
            r"\bwikipedia (?:link|page|article|entry)\b",
            r"\bwww\.|\.(?:com|org|gov|edu|net)\b",
        ),
    ),
    ReasonClass("not classifiable", "no reason that can be told"),
    ReasonClass(
        "irrelevant",
        "the other list has results that do not belong",
        (
            r"\b(?:ir|non[- ]?|un)(?:relevant|related)\b",
            r"\b(?:ir|non[- ]?)relevan(?:t|cy|ce)\b",
            r"\b(?:not|isn'?t|aren'?t|nothing|no|none|don'?t|doesn'?t|didn'?t|wasn'?t|weren'?t)\b (?:\w+ ){0,4}"
            r"(?:relevant|related|relate|relevance|about|pertain|match|for|do with|on topic|answer)\b",
            r"\b(?:off[- ]topic|unrelated|useless|wrong|random)\b",
        ),
    ),
    ReasonClass(
        "more relevant",
        "the results are more relevant, without saying how",
        (
            r"\b(?:more|most|better|higher|greater|highly|very|so) (?:\w+ )?(?:relevant|relevance|relevancy|"
            r"pertinent)\b",
            r"\brelevan(?:t|ce|cy)\b.*\b(?:higher|better|greater)\b",
            r"\b(?:are|is|were|results?) relevant\b",
        ),
    ),
    ReasonClass(
        "number",
        "there are more of the wanted results",
        (
            r"\b(?:more|fewer|less|many|several|lots of|a lot of|plenty of|greater number of|number of) "
            r"(?:of )?(?:the )?(?:\w+ ){0,3}(?:links?|results?|sites?|pages?|websites?|listings?|hits|items|"
            r"entries|options?)\b",
            r"\b(?:only|just|at least|has|had|have|there (?:is|are|were)) (?:one|two|three|four|five|six|seven|"
            r"eight|nine|ten|\d+)\b",
        ),
    ),
    ReasonClass(
        "position",
        "the good results stand higher",
        (
            r"\b(?:higher|lower) (?:up|down|on|in|ranked|rank|position|placed|than|results?|links?)\b",
            r"\b(?:higher|lower)[.!]?$",
            r"\b(?:closer to the top|further (?:up|down)|farther (?:up|down)|nearer the top)\b",
            r"\b(?:first|second|third|top|1st|2nd|3rd|#1|number one|no\. ?1|last|bottom) "
            r"(?:\w+ ){0,2}(?:result|link|site|page|one|few|two|three|five|entry|listing|hit|item|spot|position)s?\b",
            r"\b(?:at|on|near|towards?|to) the (?:very )?(?:top|bottom|beginning|start)\b",
            r"\b(?:ranked|ranking|ranks|order(?:ed|ing)?|position(?:ed)?|came first|comes first|right away)\b",
        ),
    ),
    ReasonClass(
        "range of results",
        "the list is broad or varied",
        (
            r"\b(?:variety|varied|various|diverse|diversity|broader|wider|wide|range|different (?:kinds|"
            r"types|sorts|sites|"
            r"sources|aspects|results|topics)|comprehensive|more options|mix(?:ture)? of)\b",
        ),
    ),
    ReasonClass(
        "presentation",
        "the list reads better",
        (
            r"\b(?:clear(?:er|ly)?|easier|easy|readable|read|descripti(?:ve|ons?)|described?|summar(?:y|ies)|"
            r"snippets?|titles?|"
            r"layout|format(?:ted)?|organi[sz]ed|understand(?:able)?|detailed descriptions?|looks? (?:better|"
            r"nicer|cleaner)|"
            r"well[- ]presented|presentation)\b",
        ),
    ),
    ReasonClass(
        "quality/authority",
        "the pages are better or can be trusted more",
        (
            r"\b(?:quality|authorit(?:y|ative|ies)|credible|credibility|trust(?:ed|worthy)?|reliable|reputable|"
            r"official|"
            r"legitimate|legit|porn\w*|adult (?:site|content)|well[- ]known|professional|expert)\b",
        ),
    ),
    ReasonClass(
        "spam/adverts",
        "spam, advertisements, things for sale",
        (
            r"\b(?:spam\w*|adverts?|advertis\w+|ads?\b|commercial\w*|junk|classifieds?|sponsored|selling|"
            r"for sale|sales pitch|"
            r"scam\w*|pop-?ups?)\b",
        ),
    ),
    ReasonClass(
        "duplication",
        "the same result again",
        (
            r"\b(?:duplicat\w*|repeat\w*|repetiti\w*|redundan\w*|same (?:\w+ )?(?:link|site|page|result|website|"
            r"thing|url|source)s?|"
            r"twice|over and over|all (?:just )?(?:from )?(?:wikipedia|one site))\b",
            r"\bjust wikipedia\b",
        ),
    ),
    ReasonClass(
        "availability",
        "what is found can be had: free, to download",
        (
            r"\b(?:free|download\w*|available|availability|accessible|access to|without (?:paying|registration|"
            r"signing)|"
            r"subscription|paywall|log ?in)\b",
        ),
    ),
    ReasonClass(
        "language",
        "the pages are in a language that can be read",
        (
            r"\b(?:english|spanish|french|german|chinese|japanese|arabic|russian|italian|portuguese|foreign)\b",
            r"\blanguages?\b",
        ),
    ),
    ReasonClass(
        "dead links",
        "links do not work",
        (
            r"\b(?:dead|broken|expired|outdated|bad) (?:links?|pages?|sites?|urls?)\b",
            r"\blinks? (?:\w+ ){0,4}(?:not work|dead|broken|don'?t work|didn'?t work|doesn'?t work)\b",
            r"\b(?:did not|didn'?t|does not|doesn'?t|do not|don'?t|not) (?:work(?:ing)?|load(?:ing)?|open(?:ing)?)\b",
            r"\b404\b",
        ),
    ),
)
NAMES: tuple[str, ...] = tuple(reason.name for reason in REASONS)
UNCLASSIFIABLE = "not classifiable"
