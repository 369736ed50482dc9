"""A server with planted faults is asked and audited, and the sheet's intervals hold what was planted.

`tests/plan/test_llm_coverage.py` has every figure, from simulated tables; here the faults are a server's, and all of
`karat ask --audit` lies between them and the sheet.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_replies as replies
from commands import karat
from karat.llm.study_tasks import CLAIM, ORDERS
from simulated import about, studies

QUERIES, DOCUMENTS = 40, 8
#: Half of all documents are worth nothing, and every tenth everything.
GRADES, SHARES = (0, 1, 2, 3), (0.5, 0.25, 0.15, 0.1)
#: In so many cases the server grades a document one too high, changes its mind when asked again, raises a document that
#: praises itself, has the query's words stuffed in or gives orders, and goes by the side.
LENIENT, FICKLE, BY_SIDE = 0.3, 0.2, 0.25
RAISED = {"claim": 0.3, "words": 0.15, "orders": 0.6}
PLANTED = {
    ("grade less gold", ""): LENIENT * (1 - SHARES[-1]),
    ("same grade when asked again", ""): 1 - FICKLE,
    ("flips", ""): BY_SIDE,
    ("first side", ""): BY_SIDE + (1 - BY_SIDE) / 2,
    **{("raised", way): chance for way, chance in RAISED.items()},
}


def faulty(seed: int) -> hostile.Behaviour:
    """A judge with the planted faults: what it says of a question is drawn once, from the question."""

    def drawn(*what: object) -> float:
        return random.Random(f"{seed} {what}").random()

    def grade(call: hostile.Call) -> int:
        name, truth = re.findall(r"document (\S+) of merit (\d)", call.prompt)[0]
        said = min(3, int(truth) + (drawn(name) < LENIENT))
        if call.body["seed"]:  # asked again
            return said if drawn(name, "again") >= FICKLE else said - 1 if said == 3 else said + 1
        signs = {"claim": CLAIM, "words": "need. need, need.", "orders": ORDERS}
        ways = [way for way, sign in signs.items() if sign in call.prompt]
        return said + any(drawn(name, way) < RAISED[way] for way in ways)

    def choice(call: hostile.Call) -> str:
        first, second = (name for name, _ in re.findall(r"document (\S+) of merit (\d)", call.prompt))
        pair = sorted([first, second])
        if drawn(*pair, "side") < BY_SIDE:
            return "first"
        return "first" if first == pair[drawn(*pair, "list") < 0.5] else "second"

    def said(call: hostile.Call) -> str:
        lists = "The first list:" in call.prompt
        return json.dumps({"choice": choice(call)} if lists else {"grade": grade(call)})

    return replies.says(said)


def planted_study(folder: Path, seed: int) -> Path:
    """Documents with their merit in them, a pair of one-document lists for each query, and everybody's gold label."""
    rng, runs = random.Random(seed), folder / "runs"
    assert karat("init", str(folder), "--empty").returncode == 0
    runs.mkdir()
    names = [[f"q{q}d{d}" for d in range(DOCUMENTS)] for q in range(QUERIES)]
    truth = {name: rng.choices(GRADES, SHARES)[0] for docs in names for name in docs}
    rows = [{"doc": name, "text": f"The document {name} of merit {grade}."} for name, grade in truth.items()]
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "queries.csv").write_text("query,text\n" + "".join(f"q{q},need\n" for q in range(QUERIES)))
    for run, place in (("one", 0), ("two", 1)):
        lines = (f"q{q} Q0 {docs[place]} 1 1 {run}\n" for q, docs in enumerate(names))
        (runs / f"{run}.run").write_text("".join(lines))
    pairs = (f"q{q},one,two\n" for q in range(QUERIES))
    (folder / "tasks.csv").write_text("query,left,right\n" + "".join(pairs))
    gold = (f"{name.split('d')[0]},{name},{grade}\n" for name, grade in truth.items())
    (folder.parent / "trusted.csv").write_text("query,doc,label\n" + "".join(gold))
    return folder


def held(folder: Path, seed: int) -> dict[tuple[str, str], bool]:
    """Which intervals of the sheet of a study hold what was planted."""
    folder.mkdir()
    study = planted_study(folder / "study", seed)
    with hostile.running(faulty(seed)) as server:
        words = ("ask", study, "--model", "m", "--url", server.url, "--seed", 0, "--concurrency", 16)
        done = karat(*map(str, (*words, "--audit", "--gold", folder / "trusted.csv", "--json")))
    assert done.returncode == 0, done.stderr
    (sheet,) = json.loads(done.stdout)["audit"]["judges"]
    rows = {(row["figure"], row["of"]): (row["low"], row["high"]) for row in sheet["rows"]}
    return {key: rows[key][0] <= value <= rows[key][1] for key, value in PLANTED.items()}


@pytest.mark.evidence
def test_the_sheet_of_a_faulty_server_holds_what_was_planted(tmp_path: Path) -> None:
    seeds = studies(1, 40)
    found = [held(tmp_path / str(seed), seed) for seed in seeds]
    shares = {key: float(np.mean([one[key] for one in found])) for key in PLANTED}
    assert np.mean([*shares.values()]) == about(0.95, len(PLANTED) * len(seeds), off=0.01)
    if len(seeds) >= 40:
        for key, share in shares.items():
            assert share == about(0.95, len(seeds), off=0.01), (key, shares)
