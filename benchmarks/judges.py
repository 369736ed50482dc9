"""Race karat's Dawid-Skene and its bootstrap of agreement against crowd-kit's Dawid-Skene on 100,000 labels.

    make bench                      or: python benchmarks/judges.py [--repeat 3] [--to-the-end] [--only alpha]

20,000 documents, 500 judges, 5 grades, 5 labels each; every contender in a process of its own on the same labels.
Seconds are of the fit alone, from labels in memory to posteriors, without start-up and reading; memory is the peak of
the process. What counts are the ratios within one run: machines differ. Same steps must give the same posteriors, or
the race is void. With --to-the-end crowd-kit also takes as many steps as plain EM needs until no posterior moves by
1e-6 (minutes).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

DATA = Path(__file__).parent / "data"
#: A posterior that differs by more than this is another answer.
SAME = 1e-6

#: Both get the ids that a file of judgments has, as text; crowd-kit also whole numbers, which suit it best.
CROWD_KIT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, polars as pl
from crowdkit.aggregation import DawidSkene
labels, answer, ids, steps = sys.argv[1:5]
frame = pl.read_parquet(labels)
if ids == "text":
    task, worker = pl.concat_str("query", "doc", separator=" "), pl.col("judge")
else:
    task, worker = pl.col("doc").str.slice(1).cast(int), pl.col("judge").str.slice(1).cast(int)
task, worker = frame.select(task).to_series().to_list(), frame.select(worker).to_series().to_list()
import pandas as pd
rows = pd.DataFrame({"task": task, "worker": worker, "label": frame["label"].cast(int).to_list()})
model = DawidSkene() if steps == "default" else DawidSkene(n_iter=int(steps), tol=-np.inf)
DawidSkene(n_iter=2).fit(rows.head(1000))  # so that nothing is loaded for the first time below
start = time.perf_counter()
model.fit(rows)
seconds = time.perf_counter() - start
order = pd.unique(rows["task"])
np.save(answer, model.probas_.loc[order].sort_index(axis=1).to_numpy())
print(json.dumps({"seconds": seconds, "steps": len(model.loss_history_)}))
"""
KARAT = """
import json, sys, time
import numpy as np, polars as pl
from karat.judges import dawid_skene
from karat.records import Judgments
labels, answer, smoothing, steps = sys.argv[1:5]
judgments = Judgments.of(pl.read_parquet(labels))
plain = {} if steps == "default" else {"max_iterations": int(steps), "accelerate": False}
if plain and sys.argv[5] == "exactly":
    plain["tolerance"] = 0.0
dawid_skene(Judgments.of(judgments.frame.head(1000)), max_iterations=2)
start = time.perf_counter()
model = dawid_skene(judgments, smoothing=float(smoothing), **plain)
seconds = time.perf_counter() - start
order = judgments.frame.select("query", "doc").unique(maintain_order=True)
found = order.join(model.posterior, on=["query", "doc"], maintain_order="left")
np.save(answer, found.select(pl.col("^p_.*$")).to_numpy())
print(json.dumps({"seconds": seconds, "steps": model.iterations, "converged": model.converged}))
"""
ALPHA = """
import json, sys, time
import polars as pl
from karat.judges import agreement
from karat.records import Judgments
judgments = Judgments.of(pl.read_parquet(sys.argv[1]))
agreement(Judgments.of(judgments.frame.head(1000)), judges=sys.argv[2], draws=2)
start = time.perf_counter()
found = agreement(judgments, judges=sys.argv[2], draws=1000)
seconds = time.perf_counter() - start
row = found.frame.row(0, named=True)
print(json.dumps({"seconds": seconds, "alpha": [row[f"alpha_ordinal{end}"] for end in ("", "_low", "_high")]}))
"""


@dataclass(frozen=True)
class Took:
    """What one fit cost, and where it ended."""

    seconds: float
    megabytes: float
    steps: int
    answer: npt.NDArray[np.float64]


def make_data(judges: int = 500, items: int = 20_000, per_item: int = 5, seed: int = 1) -> str:
    """Labels of judges who are right in 40 to 90 % of cases and else err in ways of their own."""
    import polars as pl

    DATA.mkdir(exist_ok=True)
    path = DATA / f"labels-{judges}.parquet"
    if path.exists():
        return str(path)
    rng = np.random.default_rng(seed)
    truth = rng.choice(5, items, p=[0.4, 0.25, 0.15, 0.12, 0.08])
    right = rng.uniform(0.4, 0.9, judges)[:, None, None]
    confusion = right * np.eye(5) + (1 - right) * rng.dirichlet(np.ones(5), (judges, 5))
    item = np.repeat(np.arange(items), per_item)
    judge = np.concatenate([rng.choice(judges, per_item, replace=False) for _ in range(items)])
    borders = confusion[judge, truth[item]].cumsum(axis=1)[:, :-1]
    label = (rng.random(len(item))[:, None] > borders).sum(axis=1)
    frame = pl.DataFrame({
        "query": [f"q{i // 100}" for i in item],
        "doc": [f"d{i}" for i in item],
        "label": label.astype(np.float64),
        "judge": [f"w{j}" for j in judge],
    })  # fmt: skip
    frame.write_parquet(path)
    return str(path)


def run(script: str, *arguments: str) -> tuple[dict[str, float], float]:
    """What a script printed, and the peak memory of its process."""
    command = [sys.executable, "-c", script, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the contender ended with {process.returncode}")
    return json.loads(output), usage.ru_maxrss / 1024


def fit(script: str, labels: str, *arguments: str, repeat: int) -> Took:
    """The fastest of some fits: what the machine can do when nothing else disturbs it."""
    answer = DATA / "answer.npy"
    best: Took | None = None
    for _ in range(repeat):
        said, megabytes = run(script, labels, str(answer), *arguments)
        if best is None or said["seconds"] < best.seconds:
            best = Took(said["seconds"], megabytes, int(said["steps"]), np.load(answer))
    assert best is not None
    return best


def race(labels: str, repeat: int, to_the_end: bool) -> Took:
    """Dawid-Skene by both, the same number of steps; then until nothing moves."""
    print("\nDawid-Skene on 100,000 labels of 20,000 documents by 500 judges, 5 grades; best of", repeat)
    print(f"{'':<42}{'seconds':>9}{'steps':>7}{'peak MB':>9}{'crowd-kit takes':>17}  answer")
    base = fit(CROWD_KIT, labels, "text", "default", repeat=repeat)
    numbers = fit(CROWD_KIT, labels, "numbers", "default", repeat=repeat)
    same = fit(KARAT, labels, "0", str(base.steps), "exactly", repeat=repeat)
    show("crowd-kit, as it comes", base, base, base)
    show("crowd-kit, ids as whole numbers", numbers, base, base)
    show("karat, the same steps", same, base, base)
    print(f"{'':<42}{numbers.seconds / same.seconds:>42.1f} x with whole numbers")
    plain = fit(KARAT, labels, "0", "5000", "until it settles", repeat=1)
    settled = fit(KARAT, labels, "0", "default", repeat=repeat)
    smooth = fit(KARAT, labels, "1", "default", repeat=repeat)
    end = fit(CROWD_KIT, labels, "text", str(plain.steps), repeat=1) if to_the_end else None
    print("Until no posterior moves by more than 1e-6 in a step")
    show("crowd-kit, where it stopped by itself", base, base, end or plain)
    if end is not None:
        show("crowd-kit, as many plain steps", end, end, end)
    show("karat, plain steps", plain, end or base, end or plain)
    show("karat", settled, end or base, end or plain)
    show("karat, smoothed (its default)", smooth, end or base, end or plain)
    return base


def show(name: str, took: Took, base: Took, truth: Took) -> None:
    """One line: cost, ratio, and whether the answer is the same."""
    apart = float(np.abs(took.answer - truth.answer).max())
    labels = int((took.answer.argmax(axis=1) != truth.answer.argmax(axis=1)).sum())
    if took is truth:
        said = ""
    elif apart <= SAME:
        said = f"same (to {apart:.0e})"
    else:
        said = f"{labels} of {len(took.answer):,} labels differ, posteriors by up to {apart:.0e}"
    ratio = f"{base.seconds / took.seconds:.1f} x as long"
    print(f"{name:<42}{took.seconds:>9.3f}{took.steps:>7}{took.megabytes:>9.0f}{ratio:>17}  {said}")


def memory(repeat: int) -> None:
    """The same number of labels by 40 times as many judges: items x judges would be 400 million cells."""
    few = fit(KARAT, make_data(), "1", "50", "exactly", repeat=repeat)
    many = fit(KARAT, make_data(judges=20_000, seed=2), "1", "50", "exactly", repeat=repeat)
    print(f"\nMemory of karat's fit: 500 judges {few.megabytes:.0f} MB, 20,000 judges {many.megabytes:.0f} MB")


def alpha(labels: str, repeat: int, base: Took | None) -> None:
    """Agreement with intervals of both kinds, against one Dawid-Skene of crowd-kit's."""
    rival = fit(CROWD_KIT, labels, "text", "default", repeat=repeat) if base is None else base
    print("\nAgreement (Fleiss, Krippendorff's alphas, ...) with intervals on the same labels")
    for kind, how in (("fixed", "1,000-fold bootstrap over queries"), ("sample", "each query and judge left out")):
        said, megabytes = min((run(ALPHA, labels, kind) for _ in range(repeat)), key=lambda found: found[0]["seconds"])
        value, low, high = said["alpha"]  # type: ignore[misc]
        print(f"{how}: {said['seconds']:.3f} s, {megabytes:.0f} MB; ordinal alpha {value:.4f} [{low:.4f}, {high:.4f}]")
        print(f"crowd-kit's one Dawid-Skene takes {rival.seconds / said['seconds']:.1f} x as long")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repeat", type=int, default=3)
    arguments.add_argument("--to-the-end", action="store_true")
    arguments.add_argument("--only", choices=["race", "memory", "alpha"])
    asked = arguments.parse_args()
    start = time.perf_counter()
    labels, base = make_data(), None
    if asked.only in (None, "race"):
        base = race(labels, asked.repeat, asked.to_the_end)
    if asked.only in (None, "memory"):
        memory(1)
    if asked.only in (None, "alpha"):
        alpha(labels, asked.repeat, base)
    print(f"\nAll in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
