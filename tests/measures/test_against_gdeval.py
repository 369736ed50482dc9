"""Small studies scored by karat and by gdeval itself (the Perl program that ir_measures ships): equal to 5 decimals."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import ir_measures
import numpy as np
import pytest

import karat as kt


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl program, and there is no perl")
def test_karat_scores_as_gdeval_does(tmp_path: Path) -> None:
    program = Path(ir_measures.__file__).parent / "bin" / "gdeval.pl"
    rng = np.random.default_rng(3)
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    with qrels.open("w") as labels, run.open("w") as lists:
        for query in range(1, 121):
            for doc in rng.choice(40, 20, replace=False):
                labels.write(f"{query} 0 d{doc} {rng.integers(-2, 5) if query % 7 else -1}\n")
            for rank, doc in enumerate(rng.choice(40, rng.integers(1, 30), replace=False), 1):
                lists.write(f"{query} Q0 d{doc} {rank} {rng.integers(0, 9)} t\n")
    theirs = {}
    for line in subprocess.check_output(["perl", program, qrels, run, "10"], text=True).splitlines()[1:]:
        _, topic, ndcg, err = line.split(",")
        theirs[topic] = (float(ndcg), float(err))
    scores = kt.score(
        kt.read_judgments(str(qrels)), kt.read_runs(str(run)), ["nDCG@10", "ERR@10"], profile="gdeval", draws=0
    )
    ours = {query: (ndcg, err) for _, query, ndcg, err in scores.queries.iter_rows() if query in theirs}
    assert len(theirs) > 90
    assert ours.keys() == theirs.keys() - {"amean"}
    for topic, values in ours.items():
        assert values == pytest.approx(theirs[topic], abs=0.51e-5), topic
    assert scores.means["n"][0] == len(theirs) - ("amean" in theirs)
