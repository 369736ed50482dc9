"""A study: what judges are asked, on which scale, by which rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, get_args

from karat.errors import BadInput
from karat.records.scale import Scale

#: The classes of reasons that people gave for preferring a list (Sanderson et al., SIGIR 2010).
REASON_CLASSES = (
    "on topic",
    "specific links",
    "not classifiable",
    "irrelevant",
    "more relevant",
    "number",
    "position",
    "range of results",
    "presentation",
    "quality/authority",
    "spam/adverts",
    "duplication",
    "availability",
    "language",
    "dead links",
)


@dataclass(frozen=True)
class Aspect:
    """One thing to grade beside the whole: novelty, freshness, authority."""

    name: str
    definition: str = ""


#: What is asked about the whole of a document, alone and after another, and about its snippet.
QUESTION, QUESTION_IN_CONTEXT = "How relevant is this page?", "Now, how relevant is this page?"
SNIPPET_QUESTION = "By what is shown here, how relevant does it seem?"


@dataclass(frozen=True)
class SnippetFirst:
    """The first of two steps: the snippet is graded before the page is opened, on a scale of its own."""

    scale: Scale
    question: str = SNIPPET_QUESTION


#: They are given no more tasks of this kind; the lead alone is told; they are given no more tasks at all.
InvitedFailing = Literal["exclude", "flag", "reject"]


@dataclass(frozen=True)
class Rules:
    """How many labels are asked for, of whom, and when.

    A document gets `labels` labels of each group, one more when the first two differ by `apart` grades or more (0:
    never). A pair of lists gets `judges_per_pair` answers. A task given to a judge is kept for `reserve_minutes`.
    With `one_judge_per_query` all documents of a query go to one judge of the group. A query's documents alone and in
    context are asked of one judge at least `hours_apart` hours apart.
    """

    labels: int = 2
    apart: float = 1.0
    judges_per_pair: int = 8
    reserve_minutes: float = 30.0
    one_judge_per_query: bool = False
    hours_apart: float = 24.0
    block: int = 5
    traps_failed: int = 0
    #: What happens to an invited judge who fails more traps; those of a platform are rejected.
    invited_failing: InvitedFailing = "exclude"
    practice_pass: float = 0.6
    most_per_judge: int = 0
    #: A judge is flagged who takes less time than this for most documents: seconds, and a share of the others' median.
    min_seconds: float = 1.0
    min_share_of_median: float = 0.2
    #: What is asked again of a judge comes so many hours after the answer.
    repeat_hours: float = 24.0

    def __post_init__(self) -> None:
        # By the names that study.toml has.
        for name, value, least, most, expected in (
            ("labels", self.labels, 1, 1000, "1 or more, at most 1000"),
            ("third_when_apart_by", self.apart, 0, 1e9, "0 (never) or a number of grades"),
            ("judges_per_pair", self.judges_per_pair, 1, 10_000, "1 or more, at most 10000"),
            ("reserve_minutes", self.reserve_minutes, 1e-9, 10080, "more than 0, at most a week (10080)"),
            ("hours_apart", self.hours_apart, 0, 1e6, "0 or more"),
            ("repeat_hours", self.repeat_hours, 0, 1e6, "0 or more"),
            ("block", self.block, 2, 1e6, "2 or more"),
            ("failed_allowed", self.traps_failed, 0, 1e6, "0 or more"),
            ("pass", self.practice_pass, 0, 1, "a share from 0 to 1"),
            ("min_seconds", self.min_seconds, 0, 3600, "0 (no limit) or seconds, at most 3600"),
            ("min_share_of_median", self.min_share_of_median, 0, 1, "0 (no limit) or a share up to 1"),
            ("most_per_judge", self.most_per_judge, 0, 1e9, "0 (no limit) or more"),
        ):
            if not least <= value <= most:
                raise BadInput.at(f"the rule {name}", expected=expected, found=str(value))
        if self.invited_failing not in get_args(InvitedFailing):
            found = f'"{self.invited_failing}"'
            raise BadInput.at("[traps] invited_failing", expected="exclude, flag or reject", found=found)


#: The sites of MTurk that show an external question in a frame: to workers, and to requesters who look at it, in the
#: marketplace and its sandbox. www.mturk.com is what MTurk itself names as the site to submit to.
MTURK_FRAMES = (
    "https://worker.mturk.com",
    "https://workersandbox.mturk.com",
    "https://www.mturk.com",
    "https://requester.mturk.com",
    "https://requestersandbox.mturk.com",
)
#: A site: a scheme and a whole name, without a path or a wildcard.
ORIGIN = re.compile(r"https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?", re.IGNORECASE)


@dataclass(frozen=True)
class Platform:
    """How judges of Prolific and MTurk come in, and what they take back."""

    prolific: bool = False
    mturk: bool = False
    group: str = ""
    completion_code: str = ""
    tasks: int = 0
    #: The ids of Prolific's studies from which people may come; none means any.
    prolific_studies: tuple[str, ...] = ()
    #: The sites that may show judges' pages in a frame, such as https://worker.mturk.com; MTurk's where it is used.
    frame_ancestors: tuple[str, ...] = ()

    @property
    def framing_sites(self) -> tuple[str, ...]:
        """The sites that may show judges' pages in a frame."""
        return self.frame_ancestors or (MTURK_FRAMES if self.mturk else ())

    def __post_init__(self) -> None:
        for site in self.frame_ancestors:
            if not ORIGIN.fullmatch(site):
                raise BadInput.at(
                    "[platform] frame_ancestors",
                    expected="sites by their whole names, such as https://worker.mturk.com",
                    found=f'"{site[:100]}"',
                    remedy="leave out paths and *",
                )
        _text("[platform] completion_code", self.completion_code or "-", 80)
        if not 0 <= self.tasks <= 1_000_000:
            raise BadInput.at("[platform] tasks", expected="0 (all of them) or more", found=str(self.tasks))


@dataclass(frozen=True)
class Compared:
    """What the live verdict of a study is about; no part of what judges are sent."""

    measure: str = "nDCG@10"
    #: The two systems by name, the second against the first; none where the study has two.
    systems: tuple[str, ...] = ()
    #: A difference that does not matter.
    margin: float | None = None
    queries: Literal["sample", "fixed"] = "sample"

    def __post_init__(self) -> None:
        if self.systems and len({*self.systems}) != 2:
            raise BadInput.at("[live] systems", expected="two systems", found=", ".join(self.systems))
        if self.margin is not None and not 0 < self.margin < inf:
            raise BadInput.at("[live] margin", expected="a difference above 0", found=str(self.margin))
        if self.queries not in ("sample", "fixed"):
            raise BadInput.at("[live] queries", expected="sample or fixed", found=f'"{self.queries}"')


@dataclass(frozen=True)
class Webhook:
    """Whom to tell what happens in a study, and what of it."""

    url: str
    events: tuple[str, ...] = ("flagged", "done")

    def __post_init__(self) -> None:
        if not re.fullmatch(r"https?://[^/\s@]+(/\S*)?", self.url):
            raise BadInput.at("[webhook] url", expected="an address with https:// or http://", found=f'"{self.url}"')
        known = ("answered", "flagged", "done")
        if not self.events or not {*self.events} <= {*known}:
            found = ", ".join(str(name) for name in self.events) or "none"
            raise BadInput.at("[webhook] events", expected=f"some of {', '.join(known)}", found=found)


@dataclass(frozen=True)
class StudyDesign:
    """What a study asks: title, scale, aspects, guidelines, groups of judges, rules.

    >>> StudyDesign("s1", "Horses", Scale.parse("bad, fair, good")).groups
    ('judges',)
    """

    id: str
    title: str
    scale: Scale
    aspects: tuple[Aspect, ...] = ()
    guidelines: str = ""
    groups: tuple[str, ...] = ("judges",)
    rules: Rules = field(default_factory=Rules)
    platform: Platform = field(default_factory=Platform)
    #: Ready answers to "why?", beside the free text.
    reasons: tuple[str, ...] = ("more relevant", "better order", "more variety", "less spam", "clearer snippets")
    classes: tuple[str, ...] = REASON_CLASSES
    #: How many steps a preference has: 1 is left or right, 2 also slightly or much.
    strengths: int = 1
    #: Why a judge cannot tell.
    cant_tell: tuple[str, ...] = ("the page does not show", "not a language I read", "the query is unclear", "other")
    #: What is asked about the whole, alone and after another document.
    question: str = QUESTION
    question_in_context: str = QUESTION_IN_CONTEXT
    #: Whether N/A may be said of the whole, as it may of aspects, which are kept then.
    not_applicable: bool = False
    #: Whether the snippet is graded before the page is, and how.
    snippet: SnippetFirst | None = None
    #: How many results of a list are shown side by side, and pooled from the runs when there are no tasks.
    depth: int = 10

    def __post_init__(self) -> None:
        _text("id", self.id, 80)
        _text("title", self.title, 1000)
        names = [aspect.name for aspect in self.aspects]
        for where, values in (
            ("groups", self.groups),
            ("[[aspects]] name", names),
            ("[pairs] reasons", self.reasons),
            ("[pairs] classes", self.classes),
            ("cant_tell", self.cant_tell),
        ):
            for value in values:
                _text(where, value, 200)
        written = [name.strip().lower() for name in names]  # in labels Novelty and novelty are one aspect
        for name, alike in zip(names, written, strict=True):
            if alike == "overall" or written.count(alike) > 1:
                expected = "another name for each aspect, and overall for none, which is the whole's"
                raise BadInput.at("[[aspects]] name", expected=expected, found=f'"{name}"')
        for where, many, most in (("strengths", self.strengths, 2), ("depth", self.depth, 1000)):
            if not 1 <= many <= most:
                raise BadInput.at(f"[pairs] {where}", expected=f"1 to {most}", found=str(many))
        if self.snippet is not None and not {*self.snippet.scale.grades} <= {*self.scale.grades}:
            # Labels of both stand in one table, whose scale is the page's.
            raise BadInput.at(
                "[snippet] levels",
                expected=f"grades of the page's scale {self.scale}, called as you like",
                found=str(self.snippet.scale),
            )

    def to_dict(self) -> dict[str, Any]:
        """What the pages and programs need to know of it."""
        return {
            "title": self.title,
            "scale": _levels(self.scale),
            "aspects": [{"name": a.name, "definition": a.definition} for a in self.aspects],
            "guidelines": self.guidelines,
            "groups": list(self.groups),
            "reasons": list(self.reasons),
            "classes": list(self.classes),
            "strengths": self.strengths,
            "cant_tell": list(self.cant_tell),
            "question": self.question,
            "question_in_context": self.question_in_context,
            "not_applicable": self.not_applicable,
            "snippet": None
            if self.snippet is None
            else {"question": self.snippet.question, "scale": _levels(self.snippet.scale)},
        }


def _text(where: str, value: str, most: int) -> None:
    """Refuse a name that cannot be shown in a line, or that no database keeps."""
    if not value.strip() or len(value) > most or any(ord(sign) < 32 for sign in value):
        short = value if len(value) <= 40 else f"{value[:40]}..."
        raise BadInput.at(where, expected=f"a text in one line, of 1 to {most} characters", found=repr(short))


def _levels(scale: Scale) -> list[dict[str, Any]]:
    return [{"grade": level.grade, "name": level.name, "definition": level.definition} for level in scale]


#: A sentence beside the passage that it cites: the passage says all of it, a part, nothing of it, or the contrary.
SUPPORT = ("full", "partial", "none", "against")
#: A nugget, a fact that a good answer has, beside an answer: wholly in there, in part, not at all.
NUGGET = ("full", "partial", "none")
