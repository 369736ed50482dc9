"""The demo study: real documents, real engines, grades given by hand; people simulated from the grades."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import polars as pl

from karat.comparison import Comparison, compare
from karat.correction import score
from karat.demo.corpus import python_documents
from karat.demo.engines import search
from karat.demo.simulated_people import CROWD, FAVOUR, FAVOURED, LLM, OTHER, SCALE, clicked, judged, preferred
from karat.errors import Undefined
from karat.formats.write import runs_by_system, write_folder
from karat.llm.audit import audit_llm
from karat.llm.audit_sheet import LLMAudit
from karat.plan.gold_selection import plan_gold
from karat.records import Clicks, Documents, Judgments, Preferences, Queries, Runs, Scale
from karat.records.table import count

HERE = Path(__file__).parent
#: The measure of the demo, how many gold labels it draws, and the share of them drawn from all documents alike: without
#: it the engines could be told apart, but their own scores would have no intervals.
MEASURE, GOLD, UNIFORM = "P@10", 240, 0.2
#: Without so many graded documents left, another Python's documentation is not the one that was graded.
LEAST = 300


@dataclass(frozen=True, eq=False)
class DemoStudy:
    """What the demo's engines found, what a person said of it, and what simulated people say.

    `hand` holds the grade of every document in the engines' top ten, given by hand; `by_subtopic` the same by what the
    document answers. `judgments` (by group), `gold` (drawn from `hand` with known probability), `preferences` and
    `clicks` are what a study would have collected.
    """

    queries: Queries
    documents: Documents
    indexed: int
    runs: Runs
    hand: Judgments
    by_subtopic: Judgments
    judgments: dict[str, Judgments]
    gold: Judgments
    preferences: Preferences
    clicks: Clicks
    seed: int
    notes: tuple[str, ...]

    @property
    def two(self) -> Runs:
        """The two engines between which the LLM-like judge is not fair."""
        return Runs.check(self.runs.frame.filter(pl.col("system").is_in([OTHER, FAVOURED])))

    @cached_property
    def naive(self) -> Comparison:
        """The verdict that takes the LLM-like judge's labels as they are."""
        return compare(self.judgments[LLM.name], self.two, MEASURE, seed=self.seed)

    @cached_property
    def corrected(self) -> Comparison:
        """The verdict with gold labels of some documents."""
        return compare(self.judgments[LLM.name], self.two, MEASURE, gold=self.gold, seed=self.seed)

    @cached_property
    def by_ndcg(self) -> Comparison:
        """The verdict by nDCG@10, from the same gold labels of single documents."""
        return compare(self.judgments[LLM.name], self.two, "nDCG@10", gold=self.gold, seed=self.seed)

    @cached_property
    def audit(self) -> LLMAudit:
        """How far the LLM-like judge can be trusted."""
        return audit_llm(
            self.judgments[LLM.name],
            self.two,
            gold=self.gold,
            queries=self.queries,
            documents=self.documents,
            draws=200,
            seed=self.seed,
        )

    @property
    def found_out(self) -> bool:
        """Whether the truth is outside the naive interval and inside the corrected one."""
        naive, corrected = (
            said.methods.filter(pl.col("method") == said.method) for said in (self.naive, self.corrected)
        )
        outside = not naive["low"][0] <= self.truth <= naive["high"][0]
        return outside and corrected["low"][0] <= self.truth <= corrected["high"][0]

    @cached_property
    def true_scores(self) -> dict[str, float]:
        """Every engine's score by the hand grades of all documents, which a real study would not have."""
        scores = score(self.hand, self.runs, [MEASURE], draws=0).to_frame()
        return dict(zip(scores["system"].to_list(), scores["value"].to_list(), strict=True))

    @property
    def truth(self) -> float:
        """The true difference of the two engines between which the LLM-like judge is not fair."""
        return self.true_scores[FAVOURED] - self.true_scores[OTHER]


def demo_study(seed: int = 0) -> DemoStudy:
    """Reads this Python's documentation, searches it, and simulates the people; the same seed gives the same study."""
    queries = Queries.of(_table("queries.csv"), _table("subtopics.csv"))
    graded = _table("grades.csv").with_columns(pl.col("grade").cast(pl.Int64))
    documents, found = _searched()
    runs, notes = _graded_only(found, graded)
    shown = Runs.check(runs)
    # What is judged is what some engine shows; a document graded for another Python's lists is not there to be seen.
    pairs = graded.join(runs.select("query", "doc").unique(), on=["query", "doc"], how="semi").sort("query", "doc")
    scale = Scale.parse(SCALE)
    hand = Judgments.check(pairs.select("query", "doc", label=pl.col("grade").cast(pl.Float64)), scale=scale)
    judgments = judged(pairs, runs, seed)
    size = min(GOLD, pairs.height // 2)
    plan = plan_gold(judgments[LLM.name], shown, MEASURE, size, uniform=UNIFORM, seed=seed)
    gold = plan.frame.drop("label").join(hand.frame, on=["query", "doc"], maintain_order="left")
    gold = gold.select("query", "doc", "label", "probability")  # in the order of the plan
    needed = documents.join(runs.select("doc").unique(), on="doc", how="semi")
    return DemoStudy(
        queries=queries,
        documents=Documents.of(needed),
        indexed=documents.height,
        runs=shown,
        hand=hand,
        by_subtopic=_by_subtopic(pairs),
        judgments=judgments,
        gold=Judgments.check(gold, scale=scale),
        preferences=preferred(pairs, shown, seed),
        clicks=clicked(pairs, runs, seed),
        seed=seed,
        notes=notes,
    )


@cache
def _searched() -> tuple[pl.DataFrame, pl.DataFrame]:
    """The documents of this Python and what the engines find in them, which no seed changes."""
    documents = python_documents()
    return documents, search(documents, _table("queries.csv"))


def _table(name: str) -> pl.DataFrame:
    return pl.read_csv(HERE / name, infer_schema=False)


def _graded_only(found: pl.DataFrame, graded: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The lists without documents that nobody graded: in another Python, texts and so the lists may differ."""
    runs = found.join(graded.select("query", "doc"), on=["query", "doc"], how="semi", maintain_order="left")
    there = runs.select("query", "doc").unique().height
    if there < LEAST:
        raise Undefined(
            f"only {count(there, 'document')} of {graded.height:,} with a grade are found in this Python "
            f"({platform.python_version()}): is its standard library installed as text?"
        )
    missing = found.height - runs.height
    if not missing:
        return runs, ()
    return runs, (
        f"{missing:,} of {found.height:,} results left out of the lists: this Python ({platform.python_version()}) "
        "tells other things than those whose texts were graded (3.11.7, 3.12.1, 3.13.0)",
    )


def _by_subtopic(pairs: pl.DataFrame) -> Judgments:
    """A row for each subtopic that a document answers, and one of grade 0 for a document that answers none."""
    rows = pairs.with_columns(subtopic=pl.col("subtopics").fill_null("").replace("", "a").str.split(""))
    rows = rows.explode("subtopic").filter(pl.col("subtopic") != "")
    return Judgments.check(rows.select("query", "subtopic", "doc", label=pl.col("grade").cast(pl.Float64)))


#: By this line a folder is known as the demo's, so that it may be written again.
MARK = 'id = "karat-demo"'

STUDY = f"""\
# The demo study of karat. The queries, documents, runs and hand grades are real; judges, clicks and preferences
# are simulated from the hand grades (their groups are called "simulated ...").
{MARK}
title = "Which search engine for Python's documentation?"
guidelines = \"\"\"
Somebody who programs in Python typed the question at the top. How much does this page of the documentation help?

- **answers it**: the one thing to use, or a page that says how to do it
- **some help**: a part of the answer, or a way that works but is not the usual one
- **no help**: about something else, even if it has the same words
\"\"\"
groups = ["judges"]
cant_tell = ["I do not understand the question", "I do not understand the page"]

[scale]
levels = [
  {{ grade = 0, name = "no help", definition = "about something else, even if it has the same words" }},
  {{ grade = 1, name = "some help", definition = "a part of the answer, or an unusual way" }},
  {{ grade = 2, name = "answers it", definition = "the one thing to use, or a page that says how" }},
]

[overlap]
labels = 2
third_when_apart_by = 1

[traps]
block = 5
failed_allowed = 1
"""


def _truth(study: DemoStudy) -> dict[str, object]:
    """What a report may say of the study's truth: what is simulated, and the scores by all hand grades."""
    return {
        "simulated": "Judges, clicks and preferences are simulated from grades given by hand; questions, documents and "
        "engines are real.",
        "measure": MEASURE,
        "scores": study.true_scores,
        "seed": study.seed,
        "planted": f"The LLM-like judge overrates what {FAVOURED} shows and {OTHER} does not by a grade, with chance "
        f"{FAVOUR:g}; {CROWD.names[0]} answers at random.",
    }


def write_demo(study: DemoStudy, folder: str) -> list[str]:
    """Writes the study into a folder; returns the names of the files. Only the demo's own folder is written again."""
    return write_folder(
        folder,
        {
            "study.toml": STUDY,
            "queries.csv": study.queries.frame,
            "subtopics.csv": study.queries.subtopics,
            "documents.jsonl": study.documents,
            **runs_by_system(study.runs),
            **{f"judgments-{group}.csv": judgments for group, judgments in study.judgments.items()},
            "gold.csv": study.gold,
            "preferences.csv": study.preferences,
            "clicks.csv": study.clicks,
            "hand.csv": study.hand,
            "hand-subtopics.qrels": study.by_subtopic,
            "truth.json": json.dumps(_truth(study), indent=2) + "\n",
        },
        again=MARK,
    )
