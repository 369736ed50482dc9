"""What commands take of time and memory as labels grow: python benchmarks/sizes.py [--sizes 100000,1000000].

Labels 0 to 3 by 1,000 judges in two groups, five for each document, 100 documents a query, made with seed 1; every
command runs in a process of its own, one after another. Seconds are those of the processor, so that others on the
machine change little; memory is the peak. What was seen is kept in benchmarks/history/sizes.json, from which
`--chart` draws docs/pictures/sizes.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).parent / "history" / "sizes.json"
#: Each command with what stands for its files: labels, context, preferences, runs of two systems and of a hundred.
COMMANDS = {
    "judges": "judges {labels} --seed 1",
    "disagree": "disagree {labels}",
    "context": "context {context}",
    "validate": "validate {preferences} {labels} {runs}",
    "report": "report {labels} {runs} --out {folder}/report.html",
    "compare of 100 systems": "compare {qrels} {many} -m nDCG@10",
}


def labels(n: int, seed: int) -> pl.DataFrame:
    """So many labels of judges who are right more or less often."""
    rng = np.random.default_rng(seed)
    docs = n // 5
    doc = np.repeat(np.arange(docs), 5)
    truth, skill = rng.choice(4, docs, p=(0.5, 0.25, 0.15, 0.1)), rng.uniform(0.4, 0.95, 1000)
    judge = rng.integers(0, 1000, len(doc))
    label = np.where(rng.random(len(doc)) < skill[judge], truth[doc], rng.integers(0, 4, len(doc)))
    number, who = pl.Series(doc), pl.Series(judge)
    return pl.select(
        query=pl.lit("q") + (number // 100).cast(pl.String),
        doc=pl.lit("d") + number.cast(pl.String),
        label=pl.Series(label),
        judge=pl.lit("w") + who.cast(pl.String),
        group=pl.Series(np.where(judge < 200, "experts", "crowd")),
    )


def runs(made: pl.DataFrame, systems: int, seed: int) -> list[pl.DataFrame]:
    """Rankings of each query's documents, which know more or less of what the labels say."""
    rng = np.random.default_rng(seed)
    documents = made.group_by("query", "doc", maintain_order=True).agg(pl.col("label").mean())
    return [
        documents.select(
            "query",
            "doc",
            score=pl.col("label") + pl.Series(rng.normal(0, 1.5 + system % 7 / 7, documents.height)),
            system=pl.lit(f"s{system}"),
        )
        for system in range(systems)
    ]


def write(folder: Path, n: int, seed: int = 1) -> dict[str, str]:
    """The files of a study with so many labels."""
    made = labels(n, seed)
    made.write_csv(folder / "labels.csv")
    rng = np.random.default_rng(seed)
    # The same labels of pairs of pages: alone, and after another one, overall and for an aspect.
    place = pl.int_range(pl.len())
    context = made.drop("group").with_columns(
        aspect=pl.when(place % 2 == 0).then(pl.lit("overall")).otherwise(pl.lit("novelty")),
        context=pl.when(place // 2 % 2 == 1).then(
            pl.lit("d") + ((pl.col("doc").str.slice(1).cast(int) // 100) * 100).cast(pl.String)
        ),
    )
    context.write_csv(folder / "context.csv")
    queries = made["query"].unique(maintain_order=True)
    pl.DataFrame(
        {
            "query": np.repeat(queries.to_numpy(), 10),
            "left": "s0",
            "right": "s1",
            "choice": rng.choice(["left", "right", "equal"], 10 * len(queries), p=(0.5, 0.3, 0.2)),
            "judge": [f"u{number}" for number in rng.integers(0, 200, 10 * len(queries))],
        }
    ).write_csv(folder / "preferences.csv")
    two = runs(made, 2, seed)
    for system, frame in enumerate(two):
        frame.write_csv(folder / f"s{system}.csv")
    few = made.head(100_000)  # 200 queries
    few.group_by("query", "doc", maintain_order=True).agg(pl.col("label").first()).write_csv(folder / "qrels.csv")
    many = []
    for system, frame in enumerate(runs(few, 100, seed)):
        many.append(str(folder / f"many-{system}.csv"))
        frame.write_csv(many[-1])
    files = {name: str(folder / f"{name}.csv") for name in ("labels", "context", "preferences", "qrels")}
    return files | {"runs": f"{folder}/s0.csv {folder}/s1.csv", "many": " ".join(many), "folder": str(folder)}


def measured(words: list[str]) -> tuple[float, float]:
    """Seconds of the processor and megabytes of a command."""
    process = subprocess.Popen([sys.executable, "-m", "karat", *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"karat {' '.join(words[:4])} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def chart() -> None:
    """Time and memory against size, as one picture."""
    import altair as alt

    rows = pl.DataFrame(json.loads(KEPT.read_text())).filter(pl.col("command") != "compare of 100 systems")
    parts = []
    for name, title in (("seconds", "seconds of the processor"), ("megabytes", "peak memory, MB")):
        base = alt.Chart(alt.Data(values=rows.to_dicts())).encode(
            x=alt.X("labels:Q", scale=alt.Scale(type="log"), title="labels"),
            y=alt.Y(f"{name}:Q", scale=alt.Scale(type="log"), title=title),
            color=alt.Color("command:N", title=None),
        )
        parts.append((base.mark_line() + base.mark_point(filled=True)).properties(width=300, height=240))
    alt.hconcat(*parts).save(str(ROOT / "docs" / "pictures" / "sizes.svg"))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sizes", default="10000,100000,1000000")
    arguments.add_argument("--only", choices=[*COMMANDS])
    arguments.add_argument("--chart", action="store_true", help="only draw what was kept")
    asked = arguments.parse_args()
    if not asked.chart:
        KEPT.parent.mkdir(exist_ok=True)
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else []
        for size in map(int, asked.sizes.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                files = write(Path(folder), size)
                for name, command in COMMANDS.items():
                    if asked.only not in (None, name):
                        continue
                    seconds, megabytes = measured(command.format(**files).split())
                    print(f"{size:>9,} labels  {name:<24}{seconds:>8.1f} s{megabytes:>8.0f} MB", flush=True)
                    kept = [row for row in kept if (row["command"], row["labels"]) != (name, size)]
                    seen = {
                        "command": name,
                        "labels": size,
                        "seconds": round(seconds, 2),
                        "megabytes": round(megabytes),
                    }
                    kept.append(seen)
                    KEPT.write_text(
                        json.dumps(sorted(kept, key=lambda row: (row["command"], row["labels"])), indent=1) + "\n"
                    )
    chart()


if __name__ == "__main__":
    main()
