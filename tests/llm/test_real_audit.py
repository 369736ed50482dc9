"""A real model that is a very bad judge: its audit says so, and does so again from the answers alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

from commands import karat

FACTS = {
    "capital of France": "Paris is the capital of France.",
    "highest mountain": "Mount Everest is the highest mountain.",
    "boiling point of water": "Water boils at 100 degrees.",
    "author of Hamlet": "Shakespeare wrote Hamlet.",
    "largest ocean": "The Pacific is the largest ocean.",
    "colour of grass": "Grass is green.",
    "legs of a spider": "A spider has eight legs.",
    "language of Brazil": "People in Brazil speak Portuguese.",
}
#: A judge is told anything of from twenty gold labels on: each query's own fact, and twelve of others.
GOLD = 20


@pytest.mark.thorough
def test_the_audit_of_a_very_bad_judge_says_so(tmp_path: Path, language_model: Any) -> None:
    texts = [*FACTS.values()]
    pairs = [(query, (query + step) % len(texts)) for step in range(3) for query in range(len(texts))][:GOLD]
    (tmp_path / "q.csv").write_text("query,text\n" + "".join(f"q{n},{text}\n" for n, text in enumerate(FACTS)))
    documents = [{"doc": f"d{query}{fact}", "text": texts[fact]} for query, fact in pairs]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, documents)))
    gold = "".join(f"q{query},d{query}{fact},{int(query == fact)}\n" for query, fact in pairs)
    (tmp_path / "gold.csv").write_text(f"query,doc,label\n{gold}")
    (tmp_path / "short.txt").write_text("You judge passages.\n---\n{query}\n{document}\n")
    words = ["ask", "--audit", "--scale", "0..1", "--model", language_model.model, "--url", f"{language_model.url}/v1"]
    for option, file in (("queries", "q.csv"), ("documents", "d.jsonl"), ("gold", "gold.csv"), ("prompt", "short.txt")):
        words += [f"--{option}", str(tmp_path / file)]
    words += ["--as", "small", "--max-tokens", "20", "--concurrency", "1", "--out", str(tmp_path / "llm.csv")]
    done = karat(*words)
    assert done.returncode == 0, done.stderr
    # Twenty, each again, and the twelve that are not relevant altered in three ways.
    assert "small answered 76 of 76 questions" in done.stdout
    assert "Do not use small: " in done.stdout
    before = (tmp_path / "llm.csv").read_bytes()
    assert karat(*words, "--replay").returncode == 0
    assert (tmp_path / "llm.csv").read_bytes() == before
