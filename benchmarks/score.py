"""Race `karat score` against other tools, from files to scores, each in a process of its own.

    make bench                      or: python benchmarks/score.py [--repeat 3] [--only large]
    TREC_EVAL=~/src/trec_eval make bench     races the C trec_eval, too: the program itself, or a folder to build it in

Wall time includes the start of the process, and so do seconds of the processor, which others on the machine change
less; memory is the peak. What counts are the ratios within one run: machines differ. Every tool must print the same
scores, or the race is void. The floor is Polars reading the three columns that are needed. The ratios of a run are kept
in benchmarks/history, one file a day.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"
KARAT = str(Path(sys.executable).parent / "karat")


def built_trec_eval() -> str:
    """The C trec_eval that TREC_EVAL names, or that of the folder it names, built there if need be; else nothing."""
    given = os.environ.get("TREC_EVAL", "")
    if not given or Path(given).is_file():
        return given
    if not (Path(given) / "trec_eval").exists():
        subprocess.run(["make", "-C", given], check=True, stdout=subprocess.DEVNULL)
    return str(Path(given) / "trec_eval")


TREC_EVAL = built_trec_eval()
# Installed programs have their bytecode: to compile karat anew at each start is no part of the race.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

PYTREC_EVAL = """
import json, sys, pytrec_eval
with open(sys.argv[1]) as f: qrels = pytrec_eval.parse_qrel(f)
with open(sys.argv[2]) as f: run = pytrec_eval.parse_run(f)
names = ["ndcg_cut_10", "map", "recip_rank", "P_10"]
asked = {"ndcg_cut.10", "map", "recip_rank", "P.10"}
found = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
print(json.dumps([sum(q[name] for q in found.values()) / len(found) for name in names]))
"""
IR_MEASURES = """
import json, sys, ir_measures
from ir_measures import nDCG, AP, RR, P
asked = [nDCG @ 10, AP, RR, P @ 10]
qrels, run = ir_measures.read_trec_qrels(sys.argv[1]), ir_measures.read_trec_run(sys.argv[2])
found = ir_measures.calc_aggregate(asked, qrels, run)
print(json.dumps([found[m] for m in asked]))
"""
RANX = """
import json, sys, ranx
found = ranx.evaluate(ranx.Qrels.from_file(sys.argv[1], kind="trec"), ranx.Run.from_file(sys.argv[2], kind="trec"),
                      ["ndcg@10", "map", "mrr", "precision@10"])
print(json.dumps(list(found.values())))
"""
FLOOR = """
import sys, polars as pl
names = dict.fromkeys(["query", "Q0", "doc", "rank", "score", "system"], pl.String) | {"score": pl.Float64}
lines = pl.scan_csv(sys.argv[1], separator=" ", has_header=False, quote_char=None, schema=names)
lines.select("query", "doc", "score").collect()
"""
MEASURES = "nDCG@10,AP,RR,P@10"
#: The same as trec_eval has them.
ASKED = [word for name in ("ndcg_cut.10", "map", "recip_rank", "P.10") for word in ("-m", name)]
#: The ratios that were seen, by race and tool.
SEEN: dict[str, dict[str, dict[str, float]]] = {}


@dataclass(frozen=True)
class Took:
    """What one run of a command cost."""

    seconds: float
    processor: float
    megabytes: float
    output: str


def run(command: list[str]) -> Took:
    """Run a command to its end and measure it."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:2])} ended with {process.returncode}")
    processor = usage.ru_utime + usage.ru_stime
    return Took(time.perf_counter() - start, processor, usage.ru_maxrss / 1024, output)


def best(command: list[str], repeat: int) -> Took:
    """The fastest of some runs: what the machine can do when nothing else disturbs it."""
    return min((run(command) for _ in range(repeat)), key=lambda took: took.seconds)


def make_data(name: str, queries: int, docs: int, judged: int, corpus: int, seed: int) -> tuple[str, str]:
    """A run of `queries` lists of `docs` documents and labels for `judged` documents of each, half of them found."""
    DATA.mkdir(exist_ok=True)
    labels, results = DATA / f"{name}.qrels", DATA / f"{name}.run"
    if labels.exists() and results.exists():
        return str(labels), str(results)
    rng = np.random.default_rng(seed)
    with labels.open("w") as qrels, results.open("w") as lists:
        for query in np.sort(rng.choice(1_200_000, queries, replace=False)):
            found = rng.choice(corpus, docs, replace=False)
            scores = np.sort(rng.normal(20, 5, docs))[::-1]
            lists.writelines(
                f"{query} Q0 {d} {rank} {s:.6f} bench\n"
                for rank, (d, s) in enumerate(zip(found, scores, strict=True), 1)
            )
            pool = np.unique(
                np.append(rng.choice(found, (judged + 1) // 2, replace=False), rng.choice(corpus, judged // 2))
            )
            grades = rng.integers(0, 4, len(pool)) if judged > 1 else np.ones(len(pool), int)
            qrels.writelines(f"{query} 0 {d} {g}\n" for d, g in zip(pool, grades, strict=True))
    return str(labels), str(results)


def race(title: str, labels: str, results: str, repeat: int) -> None:
    """All tools on the same files."""
    python = [sys.executable, "-c"]
    tools = {
        "karat": [KARAT, "score", labels, results, "-m", MEASURES, "--json"],
        "karat, no intervals": [KARAT, "score", labels, results, "-m", MEASURES, "--json", "--draws", "0"],
        "pytrec_eval": [*python, PYTREC_EVAL, labels, results],
        "ir_measures": [*python, IR_MEASURES, labels, results],
    }
    if importlib.util.find_spec("ranx"):
        tools["ranx"] = [*python, RANX, labels, results]
    if TREC_EVAL:
        tools["trec_eval"] = [TREC_EVAL, *ASKED, labels, results]
    took = {name: best(command, repeat) for name, command in tools.items()}
    scores = {name: values(name, t.output) for name, t in took.items()}
    base = took["pytrec_eval"]
    print(f"\n{title}: from files to {MEASURES}, best of {repeat}")
    heads = f"{'pytrec_eval takes':>20}{'peak MB':>9}{'of its memory':>15}  scores"
    print(f"{'tool':<22}{'seconds':>9}{'processor':>11}{heads}")
    for name, t in took.items():
        faster, memory = base.seconds / t.seconds, t.megabytes / base.megabytes
        same = np.allclose(scores[name], scores["pytrec_eval"], atol=1e-6 if name != "trec_eval" else 1e-4)
        shown = " ".join(f"{v:.4f}" for v in scores[name]) + ("" if same else "  DIFFERENT")
        cost = f"{f'{faster:.1f} x as long':>20}{t.megabytes:>9.0f}{f'{memory:.2f} x':>15}"
        print(f"{name:<22}{t.seconds:>9.2f}{t.processor:>11.2f}{cost}  {shown}")
    floor = best([*python, FLOOR, results], repeat)
    print(f"{'Polars reads 3 columns':<22}{floor.seconds:>9.2f}{floor.processor:>11.2f}{'':>20}{floor.megabytes:>9.0f}")
    for other in ("trec_eval", "pytrec_eval"):
        if other in took:
            faster, memory = (
                took[other].seconds / took["karat"].seconds,
                took["karat"].megabytes / took[other].megabytes,
            )
            work = took[other].processor / took["karat"].processor
            print(
                f"karat is {faster:.1f} times as fast as {other} ({work:.1f} by the processor), "
                f"in {memory:.2f} times its memory"
            )
    long, work = took["karat"].seconds / floor.seconds, took["karat"].processor / floor.processor
    print(f"karat takes {long:.1f} times as long as Polars reading the three columns ({work:.1f} by the processor)")
    took["floor"] = floor
    SEEN[title] = {
        name: {
            "seconds": t.seconds / took["karat"].seconds,
            "processor": t.processor / took["karat"].processor,
            "memory": t.megabytes / took["karat"].megabytes,
        }
        for name, t in took.items()
    }


def race_many(labels: str, results: str, repeat: int, number: int = 60) -> None:
    """So many runs at once against a tool that is called once for each."""
    text = Path(results).read_text()
    runs = []
    for place in range(number):
        path = DATA / f"many-{place}.run"
        if not path.exists():
            path.write_text(text.replace(" bench\n", f" bench{place}\n"))
        runs.append(str(path))
    karat = best([KARAT, "score", labels, *runs, "-m", MEASURES, "--json"], repeat)
    one = [sys.executable, "-c", PYTREC_EVAL, labels] if not TREC_EVAL else [TREC_EVAL, *ASKED, labels]
    each = [run([*one, path]) for path in runs]
    loop, work = sum(t.seconds for t in each), sum(t.processor for t in each)
    name = "trec_eval" if TREC_EVAL else "pytrec_eval"
    print(
        f"\n{number} runs at once: karat {karat.seconds:.2f} s ({karat.processor:.2f} by the processor), "
        f"{karat.megabytes:.0f} MB; {name} in a loop {loop:.2f} s ({work:.2f}); "
        f"karat is {loop / karat.seconds:.1f} times as fast ({work / karat.processor:.1f})"
    )
    SEEN[f"{number} runs"] = {name: {"seconds": loop / karat.seconds, "processor": work / karat.processor}}


def keep() -> None:
    """The ratios of this run beside those of other days."""
    folder = Path(__file__).parent / "history"
    folder.mkdir(exist_ok=True)
    path = folder / f"{date.today():%Y-%m-%d}.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(kept | SEEN, indent=1) + "\n")
    print(f"\nRatios to karat kept in benchmarks/history/{path.name}")


def values(name: str, output: str) -> list[float]:
    """The scores that a tool printed."""
    if name == "trec_eval":
        found = {line.split()[0]: float(line.split()[2]) for line in output.splitlines()}
        return [found[key] for key in ("ndcg_cut_10", "map", "recip_rank", "P_10")]
    document = json.loads(output)
    if not name.startswith("karat"):
        return [float(value) for value in document]
    return [entry["value"] for entry in document["systems"][0]["scores"].values()]


def starting(repeat: int) -> None:
    """How long until karat answers, against starting Python alone."""
    bare = best([sys.executable, "-c", "pass"], repeat)
    print("\nStarting up")
    for name, command in {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import karat": [sys.executable, "-c", "import karat"],
        "karat --help": [KARAT, "--help"],
        "import pytrec_eval": [sys.executable, "-c", "import pytrec_eval"],
        "import ir_measures": [sys.executable, "-c", "import ir_measures"],
        "import ranx": [sys.executable, "-c", "import ranx"],
    }.items():
        t = best(command, repeat)
        print(f"{name:<22}{t.seconds:>9.3f} s{t.seconds / bare.seconds:>8.1f} x starting Python")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repeat", type=int, default=3)
    arguments.add_argument("--only", choices=["large", "small", "many", "start"])
    asked = arguments.parse_args()
    if asked.only in (None, "large"):
        race(
            "6,980 queries x 1,000 documents, 1 judged each",
            *make_data("large", 6980, 1000, 1, 8_841_823, 1),
            asked.repeat,
        )
    if asked.only in (None, "small"):
        # As deep as TREC-8's pools: 86,830 judgments of 50 topics.
        race(
            "250 queries x 1,000 documents, 1,737 judged each",
            *make_data("small", 250, 1000, 1737, 500_000, 2),
            asked.repeat,
        )
    if asked.only in (None, "many"):
        race_many(*make_data("small", 250, 1000, 1737, 500_000, 2), asked.repeat)
    if asked.only in (None, "start"):
        starting(max(asked.repeat, 5))
    if SEEN:
        keep()


if __name__ == "__main__":
    main()
