"""The fifteen classes of reasons that users gave for preferring a list, and the words that give each away."""

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
