"""Eight simulated systems, gold labels of all that they retrieve, and two simulated LLM judges.

One judge errs alike for all systems. The other is lenient to documents that the neural systems alone retrieve.
"""

from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).parent
QUERIES, DOCS, DEPTH = 24, 40, 10

rng = np.random.default_rng(7)
grades = rng.choice(4, (QUERIES, DOCS), p=[0.55, 0.25, 0.13, 0.07])
style = rng.random((QUERIES, DOCS)) < 0.4  # documents that neural systems like
rows = []
for number, noise in enumerate((1.1, 1.3, 1.5, 1.7, 1.2, 1.4, 1.6, 1.8)):
    name = f"{'lexical' if number < 4 else 'neural'}-{number % 4 + 1}"
    scores = grades + rng.normal(size=grades.shape) * noise + (0.9 * style if number >= 4 else -0.3 * style)
    for query, order in enumerate(np.argsort(-scores, axis=1)[:, :DEPTH]):
        rows += [(name, f"q{query + 1:02}", f"d{doc:02}", rank) for rank, doc in enumerate(order, 1)]
runs = pl.DataFrame(rows, schema=["system", "query", "doc", "rank"], orient="row")
shown = runs.select("query", "doc").unique().sort("query", "doc")
query = shown["query"].str.slice(1).cast(pl.Int64).to_numpy() - 1
doc = shown["doc"].str.slice(1).cast(pl.Int64).to_numpy()
truth, styled = grades[query, doc], style[query, doc]
fair = np.clip(truth + rng.choice([-1, 0, 1], len(truth), p=[0.15, 0.7, 0.15]), 0, 3)
lenient = np.clip(fair + (styled & (rng.random(len(truth)) < 0.6)), 0, 3)

runs.write_csv(HERE / "runs.csv")
shown.with_columns(label=pl.Series(truth)).write_csv(HERE / "gold.csv")
pl.concat(
    shown.with_columns(judge=pl.lit(name), label=pl.Series(labels).cast(pl.Int64))
    for name, labels in (("llm-fair", fair), ("llm-lenient", lenient))
).write_csv(HERE / "labels.csv")
