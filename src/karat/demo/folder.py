"""The demo study as a folder that `karat report` and `karat serve` take."""

from __future__ import annotations

import json

from karat.demo.demo_study import MEASURE, DemoStudy
from karat.demo.simulated_people import CROWD, FAVOUR, FAVOURED, OTHER
from karat.formats.write_folder import runs_by_system, write_folder

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
