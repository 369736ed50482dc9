"""Combined levels: what a snippet and the page behind it, or several aspects, say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.disagreement import UserModel
from karat.judges.level_votes import FEW_LABELS, top_level, used, votes, with_names
from karat.labels import Panel
from karat.labels.panel import numbered
from karat.records import Result
from karat.records.number_format import with_ends
from karat.records.scale import users_who_agree
from karat.records.table import count

#: Two combinations are as far apart as any rule for a third label asks for: they differ.
FAR = 1000.0


def combined_weights(
    labels: Any,
    parts: Sequence[str],
    top: Sequence[float],
    *,
    column: str = "surface",
    at_least: int = 1,
    of: int = 3,
    zero: Mapping[str, float] | None = None,
    all_labels: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """The worth of every combination of levels (the paper's Table 4), highest first.

    `parts` are values of `column`, such as ("snippet", "page") of surface, or some aspects; a judge's labels on all
    parts of a document make its combined level. p_top is the share of other judges who give the combination `top` when
    one gave this one, grades above it in a part counting as its; `zero` sets combinations to 0: {"page": 0} those whose
    page has grade 0 or lower. `alone` is what the last part's level is worth by itself, as the paper has
    it for pages: what is less in `weight` is what the other parts take from it.

    >>> rows = [{"query": "q", "doc": d, "judge": j, "surface": s, "label": n}
    ...         for d, j, snippet, page in [("a", "x", 3, 2), ("a", "y", 3, 2), ("b", "x", 3, 2), ("b", "y", 1, 1)]
    ...         for s, n in (("snippet", snippet), ("page", page))]
    >>> combined_weights(rows, ["snippet", "page"], [3, 2]).frame.select("level", "p_top", "n").rows()
    [('3, 2', 0.6666666666666666, 3), ('1, 1', 1.0, 1)]

    Figures from fewer than 50 labels, which the paper has in brackets, are marked (`few`). Where a further judge was
    asked only when the first two differed, in a part or in the combination, these two count (unless `all_labels`).
    """
    together, levels = combined_levels(labels, parts, top, column, all_labels)
    try:
        v = votes(together, together.grades)
    except Undefined:
        raise Undefined("no document has combined labels of two judges") from None
    model = UserModel(v, level, draws, seed)
    by_itself = _alone(together, parts[-1])
    figures = {
        **with_ends("weight", model.binomial(at_least, of), *model.binomial_ends(at_least, of)),
        **with_ends("p_top", model.p, *model.intervals),
        "told": [int(v.alike.others_top(i) @ (v.alike.counts[:, i] * v.alike.n)) for i in range(levels.height)],
        "asked": (v.size - 1) @ v.counts,
        "n": model.n,
    }
    # The top combination is what all others are compared with, so it leads whatever its own weight is.
    lead = pl.int_range(pl.len()) == pl.len() - 1
    found = levels.hstack(pl.DataFrame(figures)).with_columns(lead=lead).filter((pl.col("n") > 0) | pl.col("lead"))
    worth = UserModel(votes(by_itself, by_itself.grades), level, 0, seed).weights(at_least, of)
    found = found.with_columns(alone=pl.col(parts[-1]).replace_strict(worth, default=None))
    for part, lowest in (zero or {}).items():
        if part not in parts:
            raise BadInput.at("the part that is worth nothing", expected=f"one of {', '.join(parts)}", found=part)
        fixed = pl.col(part) <= lowest
        found = found.with_columns(
            pl.when(fixed).then(0.0).otherwise("weight").alias("weight"),
            pl.when(fixed & (part == parts[-1])).then(0.0).otherwise("alone").alias("alone"),
            *(pl.when(fixed).then(np.nan).otherwise(end).alias(end) for end in ("weight_low", "weight_high")),
        )
    found = found.with_columns(few=pl.col("n") < FEW_LABELS)
    found = found.sort(["lead", "weight", "level"], descending=[True, True, False])
    wanted = levels["level"][-1]
    best = found.filter(~pl.col("lead")).row(0, named=True) if found.height > 1 else found.row(0, named=True)
    finding = (
        f"After [{wanted}], [{best['level']}] is worth most: {users_who_agree(at_least, of)} would say [{wanted}] "
        f"with probability {best['weight']:.2f}" + (" (few labels)." if best["few"] else ".")
    )
    notes = [*together.notes, f"{count(len(v.counts), 'document')} with combined labels of two judges or more"]
    if found["few"].any():
        notes.append(f"{count(int(found['few'].sum()), 'combination')} from fewer than {FEW_LABELS} labels: few")
    notes.append(f"alone: what a level of {parts[-1]} is worth by itself, in the same documents")
    shown = ("level", "weight", "alone", "p_top", "told", "asked", "n", "few")
    table = found.select("level", *parts, *figures, "few", "alone")
    return Result(table, finding, tuple(notes), columns=shown)


def combined_levels(
    labels: Any, parts: Sequence[str], top: Sequence[float], column: str, all_labels: bool
) -> tuple[Panel, pl.DataFrame]:
    """The panel in which a label is a judge's combination of all parts, and what the combinations are, the top last."""
    panel = with_names(Panel.of(labels, apart=[column]).of_judges(), "combined levels")
    known = panel.items[column].unique().to_list() if column in panel.items.columns else []
    missing = [part for part in parts if part not in known]
    if missing or len(parts) < 2 or len(top) != len(parts):
        raise BadInput.at(
            "the parts of a combined level",
            expected=f"two or more values of {column}, and a top level for each",
            found=", ".join(parts) + (f" (no {', '.join(missing)})" if missing else ""),
        )
    for most in top:
        top_level(panel, most)
    item = ["query", "doc"]
    rows = panel.items.select(*item, column)[panel.item].with_columns(
        pl.Series("judge", panel.judge), pl.Series("group", panel.group), pl.Series("label", panel.value)
    )
    # Rows stay in the order in which labels were given: a judge comes where his first part does.
    wide = rows.filter(pl.col(column).is_in(list(parts))).pivot(
        column, index=[*item, "judge", "group"], values="label", aggregate_function="first", maintain_order=True
    )
    wide = wide.drop_nulls(list(parts)).with_row_index("row")
    above = [int((wide[part] > most).sum()) for part, most in zip(parts, top, strict=True)]
    wide = wide.with_columns(pl.col(part).clip(upper_bound=float(most)) for part, most in zip(parts, top, strict=True))
    said = [pl.col(part).map_elements(panel.said, return_dtype=pl.String) for part in parts]
    is_top = pl.all_horizontal(pl.col(part) == float(most) for part, most in zip(parts, top, strict=True))
    notes = [f"{count(sum(above), 'label')} above the top level as top"] if sum(above) else []
    if not wide.select(is_top.any()).item():
        notes.append(f"no judge gave [{', '.join(panel.said(grade) for grade in top)}], the top combination")
    best = pl.DataFrame({part: [float(most)] for part, most in zip(parts, top, strict=True)})
    levels = pl.concat([wide.select(parts), best]).unique().sort(is_top, *parts)
    levels = levels.with_columns(level=pl.concat_str(said, separator=", "))
    number = levels.select(parts).with_row_index("number")
    grade = wide.join(number, on=list(parts), how="left", maintain_order="left")["number"].to_numpy().astype(np.int64)
    items, place = numbered(wide.select(item))
    together = replace(
        panel,
        frame=wide,
        items=items,
        grades=np.arange(levels.height, dtype=np.float64) * FAR,
        query=numbered(wide.select("query"))[1],
        item=place,
        group=wide["group"].to_numpy(),
        judge=wide["judge"].to_numpy(),
        grade=grade,
        gold=np.full(items.height, -1),
        gold_weight=np.ones(items.height),
        notes=(*panel.notes, *notes),
    )
    if all_labels:
        return used(together, all_labels=True), levels
    return _first_judges(together, parts), levels


def _first_judges(together: Panel, parts: Sequence[str]) -> Panel:
    """The labels of the first two judges, where more were asked only when these differed: in all, or in a part."""
    if together.third_rules:
        return together.asked_of_all()
    for part in parts:
        alone = _alone(together, part)
        if alone.third_rules:
            asked = alone.asked_of_all()
            return replace(together.kept(together.frame["row"].is_in(asked.frame["row"]).to_numpy()), notes=asked.notes)
    return together


def _alone(together: Panel, part: str) -> Panel:
    """The same labels, of one part."""
    grades = together.frame[part].unique().sort().to_numpy()
    return replace(together, grades=grades, grade=np.searchsorted(grades, together.frame[part].to_numpy()))
