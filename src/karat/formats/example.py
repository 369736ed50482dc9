"""An example study: small, complete, to be changed by hand."""

from __future__ import annotations

import json
from pathlib import Path

from karat.errors import BadInput
from karat.formats.study_folder import new_id

STUDY = """\
# A study for karat serve. Lines with # are remarks; what is commented out shows the default.
id = "{id}"
title = "{title}"
groups = ["judges"]            # kinds of judges: each document is labelled in each group
guidelines = \"\"\"
Imagine that you typed the query and want what is described under it. Judge what the page would do for you, not how
well it is made. When you cannot tell, say so: that is better than a guess.
\"\"\"
# cant_tell = ["the page does not show", "not a language I read", "the query is unclear", "other"]

[scale]
levels = [
  {{ grade = 0, name = "bad", definition = "Of no use for this need." }},
  {{ grade = 1, name = "fair", definition = "Touches the need, little more." }},
  {{ grade = 2, name = "good", definition = "Answers a part of the need." }},
  {{ grade = 3, name = "perfect", definition = "Nothing more is wanted." }},
]

# [[aspects]]                  # any number of them, each graded on the same scale or N/A
# name = "novelty"
# definition = "It says what the page read before does not."

[overlap]
labels = 2                     # labels of a document in each group
third_when_apart_by = 1        # one more when the first two differ by so many grades; 0: never
# judges_per_pair = 8          # answers to two lists side by side
# reserve_minutes = 30         # how long a task is kept for a judge
# one_judge_per_query = false
# hours_apart = 24             # between a query's documents alone and in context, for one judge
# most_per_judge = 0           # 0: no limit

[traps]
# block = 5                    # one of so many pairs is a trap, where the task file has some
# failed_allowed = 0

[practice]
# pass = 0.6                   # share of practice.csv to get right

[pairs]
# reasons = ["more relevant", "better order", "more variety", "less spam", "clearer snippets"]
# strengths = 1                # 2: slightly or much better
# depth = 10

[platform]
# prolific = true              # people come to /enter?PROLIFIC_PID=...&STUDY_ID=...&SESSION_ID=...
# prolific_studies = ["..."]   # only from these of Prolific's studies (STUDY_ID); without it, from any
# mturk = true                 # external question: /enter
# group = "judges"
# completion_code = "C1ABCDEF" # from Prolific; without one everybody gets their own
# tasks = 20                   # the code is shown after so many
"""

QUERIES = """\
query,text,description
1,horse hooves,How to care for the hooves of a horse that is ridden on roads.
2,make sourdough,A recipe for a first sourdough bread with times and amounts.
"""

DOCUMENTS = [
    (
        "hoof-care",
        "Caring for hooves",
        "Pick out the feet daily, trim every six weeks ...",
        "https://example.org/hoof-care",
        "Pick out the feet daily and look for stones. A farrier trims the hooves every six weeks. On roads, shoes or "
        "boots protect them from wear; check the nails after each ride.",
    ),
    (
        "hoof-anatomy",
        "Anatomy of the hoof",
        "The hoof consists of the wall, the sole and the frog ...",
        "https://example.org/anatomy",
        "The hoof consists of the wall, the sole and the frog. The wall grows about a centimetre in a month.",
    ),
    (
        "horse-shop",
        "Boots and saddles: winter sale",
        "Riding boots from 49 ...",
        "https://example.org/shop",
        "Riding boots from 49, saddles from 199. Free shipping this week.",
    ),
    (
        "first-loaf",
        "Your first sourdough loaf",
        "500 g flour, 350 g water, 100 g starter, 10 g salt ...",
        "https://example.org/first-loaf",
        "500 g flour, 350 g water, 100 g starter, 10 g salt. Mix, rest 4 hours, shape, rest 12 hours in the cold, bake "
        "40 minutes at 240 degrees.",
    ),
    (
        "starter",
        "Keeping a starter alive",
        "Feed it once a day with equal parts ...",
        "https://example.org/starter",
        "Feed it once a day with equal parts of flour and water. In the fridge, once a week will do.",
    ),
    (
        "bakeries",
        "The ten best bakeries",
        "Where to buy sourdough in town ...",
        "https://example.org/bakeries",
        "Where to buy sourdough in town: a list of ten bakeries with their opening hours.",
    ),
]

RUNS = {
    "plain": {"1": ["horse-shop", "hoof-anatomy", "hoof-care"], "2": ["bakeries", "starter", "first-loaf"]},
    "better": {"1": ["hoof-care", "hoof-anatomy", "horse-shop"], "2": ["first-loaf", "starter", "bakeries"]},
}

TASKS = """\
kind,query,doc,context,left,right,left_query,right_query,trap,expected
judge,1,hoof-care,,,,,,,
judge,1,hoof-anatomy,,,,,,,
judge,1,horse-shop,,,,,,,
judge,2,first-loaf,,,,,,,
judge,2,starter,,,,,,,
judge,2,bakeries,,,,,,,
judge,2,starter,first-loaf,,,,,,
pair,1,,,plain,better,,,,
pair,2,,,plain,better,,,,
pair,1,,,better,plain,1,2,true,left
"""


def write_example(folder: str, *, title: str = "An example study", empty: bool = False) -> list[str]:
    """Write the files of a study into a folder; returns their names. What is there is never overwritten."""
    place = Path(folder)
    said = STUDY.format(id=new_id(), title=title.replace("\\", "\\\\").replace('"', '\\"'))
    contents = {"study.toml": said}
    if not empty:
        names = ("doc", "title", "snippet", "url", "text")
        rows = [json.dumps(dict(zip(names, row, strict=True))) for row in DOCUMENTS]
        contents |= {"queries.csv": QUERIES, "documents.jsonl": "\n".join(rows) + "\n", "tasks.csv": TASKS}
        for system, lists in RUNS.items():
            lines = [
                f"{query} Q0 {doc} {rank} {10 - rank} {system}\n"
                for query, docs in lists.items()
                for rank, doc in enumerate(docs, 1)
            ]
            contents[f"runs/{system}.run"] = "".join(lines)
    there = [name for name in contents if (place / name).exists()]
    if there:
        raise BadInput.at(folder, expected="a new folder", found=", ".join(there), remedy="choose another one")
    try:
        for name, content in contents.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(content, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror})") from None
    return list(contents)
