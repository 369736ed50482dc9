"""Two systems' answers to 60 questions, as nuggetizer writes its assignments, and gold labels of some; all simulated.

Both systems support the same share of nuggets. The model that assigns is kind to the long answers of `verbose`: one in
four of its nuggets that are not supported is called supported, or partly. A person labelled 240 nuggets, drawn by lot.
"""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

GRADES = ("not_support", "partial_support", "support")
HERE = Path(__file__).parent


def main() -> None:
    rng = random.Random(7)
    lines, truth = [], []
    for number in range(1, 61):
        qid, nuggets = f"q{number:02}", rng.randint(6, 10)
        vital = [place < nuggets / 2 for place in range(nuggets)]
        for run, kind in (("brief", 0.0), ("verbose", 0.25)):
            assigned = []
            for place in range(nuggets):
                grade = rng.choices((0, 1, 2), (0.45, 0.15, 0.4))[0]
                said = rng.choice((1, 2)) if grade == 0 and rng.random() < kind else grade
                assigned.append(
                    {
                        "text": f"fact {place + 1} about {qid}",
                        "importance": "vital" if vital[place] else "okay",
                        "assignment": GRADES[said],
                    }
                )
                truth.append((qid, f"{run}/{qid}/{place + 1}", grade))
            lines.append(
                {
                    "query": f"question {number}",
                    "qid": qid,
                    "answer_text": f"the {run} answer to {qid}",
                    "response_length": 5,
                    "run_id": run,
                    "nuggets": assigned,
                }
            )
    (HERE / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    drawn = sorted(rng.sample(range(len(truth)), 240))
    with (HERE / "gold.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("query", "doc", "label", "probability"))
        out.writerows((*truth[place], round(240 / len(truth), 6)) for place in drawn)


if __name__ == "__main__":
    main()
