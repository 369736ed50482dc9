"""How good the labels are while they come in: agreement, distributions, judges, disagreements to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from karat.errors import KaratError, Undefined
from karat.judges import agreement, judge_table
from karat.labels import GOLD, Panel
from karat.labels.selection import LLM, OVERALL
from karat.records import Judgments, Scale
from karat.records.result import rows_of
from karat.records.table import count
from karat.stats.agreement_coefficients import label_counts
from karat.study.answer_tables import judgments, known_grades
from karat.study.store import Store

#: A document in another context, or for another subtopic, is judged by itself.
APART = ("context", "subtopic")
#: Draws of the bootstrap: enough for an interval that is looked at while it moves.
DRAWS = 500
#: How many disagreements are listed.
MOST = 20


def quality(store: Store) -> dict[str, Any]:
    """How far judges agree, the grades given, and the documents on which they differ; people and models apart."""
    assert store.scale is not None
    said = judgments(store)
    panel, people, models = (panel_now(store, part) for part in (said, *apart(said)))
    more = {"distribution": distribution_now(panel, store.scale), "disagreements": disagreements_now(people)}
    found = agreement_now(people)
    found["rows"] += [] if models is None else agreement_now(models)["rows"]
    return found | more | {"split": split_finding(people)}


def apart(said: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The labels of people and those of models: a model is nobody whom people agree with, or not."""
    models = pl.col("group") == LLM
    return said.filter(~models), said.filter(models)


def panel_now(store: Store, said: pl.DataFrame | None = None, *, known: bool = False) -> Panel | None:
    """The labels that stand now, with the grades that are known of documents where asked; None before the first.

    `said` are the labels, or some of them, where they are read already.
    """
    said = (judgments(store) if said is None else said).filter(pl.col("aspect") == OVERALL)
    if said["label"].null_count() == said.height:
        return None
    gold = known_grades(store) if known and GOLD not in said["group"] else None
    labels = Judgments(said, (), store.scale, store.rules)
    return Panel.of(labels, gold if gold is not None and gold.height else None, apart=APART)


def agreement_now(panel: Panel | None, *, seed: int = 0) -> dict[str, Any]:
    """How far the judges agree so far, for each group, with an interval, on labels that were asked of all documents."""
    try:
        if panel is None:
            raise Undefined("No document has two labels yet.")
        found = agreement(panel, draws=DRAWS, seed=seed)
        frame = found.frame.filter(pl.col("against").is_null() & (pl.col("n_pairs") > 0))
        if frame.is_empty():
            raise Undefined("No document has two labels yet.")
    except KaratError as reason:
        return {"finding": str(reason), "rows": [], "notes": []}
    frame = frame.sort("labels", maintain_order=True).unique("group", keep="last", maintain_order=True)
    names = {"alpha_ordinal": "alpha", "raw": "same"}
    columns = [
        pl.col(f"{name}{end}").alias(f"{new}{end}") for name, new in names.items() for end in ("", "_low", "_high")
    ]
    frame = frame.select("group", "labels", "n_queries", "n_pairs", "n_judges", *columns)
    notes = ["ordinal alpha: 1 is full agreement, 0 what chance would do"]
    notes += [note for note in found.notes if "jaccard" not in note]
    return {"finding": found.finding, "rows": rows_of(frame), "notes": notes}


def distribution_now(panel: Panel | None, scale: Scale) -> list[dict[str, Any]]:
    """How often each group gave each grade, and could not tell."""
    if panel is None:
        return []
    silent = dict(panel.silent.group_by("group").agg(pl.col("silent").sum()).iter_rows())
    used = label_counts(panel.group, panel.grade, len(panel.groups), panel.levels).astype(int)
    place = {float(grade): number for number, grade in enumerate(panel.grades)}
    rows = []
    for number, group in enumerate(panel.groups):
        counts = [int(used[number, place[grade]]) if grade in place else 0 for grade in scale.grades]
        none = int(silent.get(group, 0))
        rows.append({"group": group, "counts": counts, "cant_tell": none, "n": int(used[number].sum()) + none})
    return sorted(rows, key=lambda row: str(row["group"]))


def judges_now(panel: Panel | None) -> tuple[str, dict[str, dict[str, Any]]]:
    """What is known about each judge: pace, agreement with the others, gold, drift; and the finding in a sentence."""
    if panel is None:
        return "No labels yet.", {}
    try:
        found = judge_table(panel)
    except KaratError as reason:
        return str(reason), {}
    names = ["judge", "n", "cant_tell", "agreement", "agreement_low", "agreement_high", "n_compared"]
    names += ["n_gold", "accuracy", "accuracy_low", "accuracy_high", "seconds", "leniency", "leniency_low"]
    names += ["leniency_high", "drift", "drift_p", "likely_spammer", "one_grade"]
    return found.finding, {row["judge"]: row for row in rows_of(found.frame.select(names))}


def disagreements_now(panel: Panel | None) -> list[dict[str, Any]]:
    """The documents on which judges differ most, the widest first."""
    if panel is None:
        return []
    wide = (
        panel.frame.with_columns(item=pl.Series(panel.item))
        .group_by("item", maintain_order=True)
        .agg(
            (pl.col("label").max() - pl.col("label").min()).alias("apart"),
            pl.struct("judge", "group", "label", "comment").alias("labels"),
            pl.len().alias("n"),
        )
        .filter(pl.col("apart") > 0)
        .sort("apart", "n", descending=[True, True], maintain_order=True)
        .head(MOST)
    )
    return rows_of(pl.concat([panel.items[wide["item"]], wide.drop("item")], how="horizontal"))


def split_finding(panel: Panel | None) -> str:
    """On how many of the documents with two labels these differ, as far as labels were asked of all alike."""
    first = None if panel is None else panel.asked_of_all()
    if first is None:
        return "No document has two labels yet."
    pair = np.unique(first.group * first.items.height + first.item, return_inverse=True)[1]
    given = label_counts(pair, first.grade, int(pair.max()) + 1, first.levels)
    several = given.sum(axis=1) > 1
    if not several.any():
        return "No document has two labels yet."
    differ, number = int((given[several].max(axis=1) < given[several].sum(axis=1)).sum()), int(several.sum())
    which = "The labels" if first.labels == "all" else f"The {first.labels} labels"
    return f"{which} differ on {differ:,} of {count(number, 'document')} ({100 * differ / number:.0f} %)."
