"""What would a random user say, who is not the judge? Of the judge's own group, or of another one."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.level_counts import FEW_LABELS, levels_of, need_labels, top_level, top_level_notes, used
from karat.labels import Panel
from karat.records import LabelsLike, Result
from karat.records.base import count
from karat.records.number_format import interval_said, with_ends
from karat.records.scale import ONE_USER
from karat.stats import FEWEST, Resampling, ratio, ratio_intervals
from karat.stats.arrays import Floats
from karat.stats.cell_sums import summed
from karat.stats.distinct import distinct
from karat.stats.kappas import label_counts


def random_user(
    labels: Panel | LabelsLike,
    top: float | None = None,
    *,
    given: str | None = None,
    group: str | None = None,
    all_labels: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """The probability that a random user says `top` or higher, for each label that a judge gave.

    >>> rows = [{"query": "q", "doc": d, "label": n, "judge": str(j)}
    ...         for d, given in {"a": [2, 2, 1], "b": [1, 0, 0]}.items() for j, n in enumerate(given)]
    >>> random_user(rows, 1).frame.select("level", pl.col("weight").round(3)).rows()
    [(0.0, 0.5), (1.0, 0.5), (2.0, 1.0)]

    The user is not the judge, as in the user disagreement model (`disagreement`), and any level may be the least that
    he is content with. `given` is the group whose label is seen, `group` the one that the user is of: what a person
    would say when an LLM said this, for gains of an LLM's grades. A document of m labels of the one group and c of this
    level counts c / m; of the same group, the label itself is not among the users'.

    Reference: Demeester, Trieschnigg, Nguyen, Hiemstra and Zhou, Predicting relevance based on assessor disagreement
    (Information Retrieval Journal 2015).
    """
    panel = Panel.of(labels).of_judges()
    for name in (given, group):
        if name is not None and name not in panel.groups:
            raise BadInput.at("the group", expected=f"one of {', '.join(panel.groups)}", found=name)
    alike = given == group
    if alike:
        need_labels(panel if given is None else panel.kept(panel.group == panel.groups.index(given)))
        panel = used(panel, all_labels=all_labels)
    grades, least = levels_of(panel), top_level(panel, top)
    seen_counts, users = (_counts(panel, grades, name) for name in (given, group))
    content = np.array(grades) >= least
    size, others = seen_counts.sum(axis=1), users.sum(axis=1) - alike
    kept = (size > 0) & (others > 0)
    if not kept.any():
        raise Undefined("no document has a label of both: what a user would say cannot be told")
    asked = seen_counts[kept] / size[kept, None]
    say = users[kept][:, content].sum(axis=1)[:, None] - (content[None, :] & alike)
    told = asked * np.maximum(say, 0) / others[kept, None]
    number, query, _ = distinct(panel.query_of_item[kept])
    told, asked = (summed(query, each, len(number)) for each in (told, asked))
    weight = ratio(told.sum(axis=0), asked.sum(axis=0))
    ends = ratio_intervals(told, asked, Resampling(level, draws, seed))
    n = seen_counts[kept].sum(axis=0).astype(np.int64)
    frame = pl.DataFrame({"level": grades, **with_ends("weight", weight, *ends), "n": n})
    frame = frame.filter(pl.col("n") > 0).with_columns(few=pl.col("n") < FEW_LABELS)
    who = ("another user" if alike else "a user") + (f" of {group}" if group else "")
    below = frame.filter(pl.col("level") < least).sort("level").to_dicts() or frame.to_dicts()
    row = below[-1]
    finding = (
        f"When {given or 'one'} says {panel.said(row['level'])}, {who} says {panel.said(least)} or higher with "
        f"probability {row['weight']:.3f}{interval_said(row['weight_low'], row['weight_high'], level, 3)}."
    )
    gains = ",".join(f"{one['level']:g}:{one['weight']:.3f}" for one in frame.to_dicts())
    unused = top_level_notes(panel, least) if not (panel.value >= least).any() else []
    notes = [*panel.notes, *unused, f"{count(int(kept.sum()), 'document')} with labels of both, {len(number)} queries"]
    notes.append(f"as gains of any measure, in every command: nDCG(gains={{{gains}}})@10")
    if len(number) < FEWEST and draws:
        notes.append(f"{count(len(number), 'query', 'queries')}: too few for intervals")
    return Result(frame, finding, tuple(notes), scale=panel.scale)


def one_users_weights(found: Result) -> pl.DataFrame:
    """What `random_user` found as weights for udm(user) gains, in the form of a file of `karat disagree --out`.

    >>> found = {"level": [1.0], "weight": [0.3], "weight_low": [0.2], "weight_high": [0.4], "n": [9]}
    >>> one_users_weights(Result(pl.DataFrame(found), "")).rows()
    [(1, 0, 1.0, 0.3, 0.2, 0.4)]
    """
    users = {name: pl.lit(value) for name, value in zip(("at_least", "of"), ONE_USER, strict=True)}
    return found.frame.select(**users, level="level", weight="weight", low="weight_low", high="weight_high")


def _counts(panel: Panel, grades: list[float], group: str | None) -> Floats:
    """How many labels of each grade a group, or everybody, gave to each item."""
    mine = np.ones(len(panel.item), bool) if group is None else panel.group == panel.groups.index(group)
    place = np.searchsorted(grades, panel.value[mine])
    return label_counts(panel.item[mine], place, panel.items.height, len(grades)).astype(np.float64)
