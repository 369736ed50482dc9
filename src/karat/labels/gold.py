"""Gold: the labels that are taken for the truth, split off once, with one label a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.labels.scale_check import refuse_other_scale, refuse_other_start
from karat.labels.selection import ASKED
from karat.records import Judgments, LabelsLike
from karat.records.result import Caution
from karat.records.schema import CHANCE, LEAST_CHANCE
from karat.records.table import count

#: The group whose labels are the truth.
GOLD = "gold"
#: So few labels may be the gold ones by chance.
FEW = 20


def _without_gold(labels: Judgments, gold: Judgments | None) -> Judgments:
    """The labels less those that are among the gold ones: a label cannot be checked by itself."""
    if gold is None or not (labels.has("judge") and gold.has("judge")):
        return labels
    mine, theirs = (_answers(given.frame) for given in (labels, gold))
    known = theirs.drop_nulls(["judge", "label"])
    left = mine.with_row_index("_row").join(known, on=mine.columns, how="anti", nulls_equal=True, maintain_order="left")
    rest = labels.frame[left["_row"]]
    if rest.height in (0, labels.frame.height):
        return labels
    said = count(labels.frame.height - rest.height, "label")
    note = f"{said} that stand among the gold labels, too, left aside: a label cannot be checked by itself"
    return replace(labels, frame=rest, notes=(*labels.notes, note))


def _answers(frame: pl.DataFrame) -> pl.DataFrame:
    """Who said what about which item, all that was asked of it included: novelty is not relevance as a whole."""
    asked = [
        pl.coalesce(pl.col(name) if name in frame.columns else pl.lit(None, pl.String), pl.lit(of.usual)).alias(name)
        for name, of in ASKED.items()
    ]
    return frame.select("query", "doc", *asked, "judge", "label")


def split_gold(
    labels: LabelsLike,
    gold: LabelsLike | None = None,
    *,
    given_stands: bool = False,
    any_scale: bool = False,
) -> tuple[Judgments, Judgments | None]:
    """The judges' labels and the gold ones, whether gold came by itself or as a group of that name.

    >>> rows = [{"query": "q", "doc": "d", "label": 2, "group": "crowd"},
    ...         {"query": "q", "doc": "d", "label": 1, "group": "gold"}]
    >>> judged, gold = split_gold(rows)
    >>> len(judged), len(gold)
    (1, 1)

    Labels of the group gold alone are nobody's yardstick: they are the labels. Of gold labels that come by themselves
    with groups, one of them gold, that group counts. Gold in both places is refused, unless `given_stands`: then a
    note says that the group's is left aside. Gold labels on another scale than the judges' are refused, unless
    `any_scale`: then only scales that begin at different grades are.
    """
    judged, trusted = _split(labels, gold, given_stands)
    if trusted is not None:
        (refuse_other_start if any_scale else refuse_other_scale)(judged, trusted)
        if _same_labels(judged, trusted):
            same = f"the gold labels are the labels, all {len(trusted):,} of them: the same file twice?"
            trusted = replace(trusted, notes=(*trusted.notes, Caution(same)))
    return judged, trusted


def _same_labels(labels: Judgments, gold: Judgments) -> bool:
    """Whether both say the same of the same documents, and of more than a few: no judge is that good."""
    said = [given.frame.select("query", "doc", "label").sort(pl.all()) for given in (labels, gold)]
    return len(labels) >= FEW and said[0].equals(said[1])


def _split(labels: LabelsLike, gold: LabelsLike | None, given_stands: bool) -> tuple[Judgments, Judgments | None]:
    judgments = Judgments.of(labels)
    apart = None if gold is None else Judgments.of(gold)
    if apart is not None and apart.has("group") and GOLD in apart.frame["group"]:
        apart = replace(apart, frame=apart.frame.filter(pl.col("group").fill_null(GOLD) == GOLD))
    if not judgments.has("group"):
        return _without_gold(judgments, apart), apart
    is_gold = (judgments.frame["group"] == GOLD).fill_null(False)
    if not is_gold.any():
        return _without_gold(judgments, apart), apart
    judged = replace(judgments, frame=judgments.frame.filter(~is_gold))
    if apart is not None and given_stands and len(judged):
        left = count(judgments.frame.filter(is_gold).drop_nulls("label").height, "label")
        note = f"{left} of the group {GOLD} left aside: the gold labels were given apart"
        return _without_gold(replace(judged, notes=(*judgments.notes, note)), apart), apart
    if apart is not None:
        raise BadInput.at(
            "the judgments",
            expected="gold labels in one place",
            found="a group gold beside other gold labels",
            remedy="leave one of them out",
        )
    if is_gold.all():
        return judgments, None
    inside = replace(judgments, frame=judgments.frame.filter(is_gold), notes=())
    return judged, inside


def known_grades(labels: Judgments) -> Judgments | None:
    """The grades that are known of documents, from the labels' own column `gold`, as a served study's labels have it.

    >>> rows = [{"query": "q", "doc": "d", "label": 2, "gold": 3.0}, {"query": "q", "doc": "e", "label": 1}]
    >>> known_grades(Judgments.of(rows))
    1 judgment of 1 document for 1 query, label 3
    >>> known_grades(Judgments.of({"q": {"d": 1}})) is None
    True

    They tell how judges err, and correct no score: whoever set them up chose the documents, no lot did.
    """
    if GOLD not in labels.frame.columns or labels.frame[GOLD].dtype == pl.Boolean:
        return None
    grades = labels.frame[GOLD].cast(pl.Float64, strict=False)
    if grades.null_count() > labels.frame[GOLD].null_count():
        return None  # marks of some other kind
    key = [name for name in ("query", "doc", "context", "subtopic") if name in labels.frame.columns]
    told = labels.frame.select(*key, label=grades).drop_nulls("label").unique(maintain_order=True)
    if not told.height:
        return None
    two = told.filter(pl.struct(key).is_duplicated())
    if two.height:
        row = two.row(0, named=True)
        found = " and ".join(f"{label:g}" for label in two.filter(pl.col("doc") == row["doc"])["label"].head(2))
        place = f"the column gold of document {row['doc']} of query {row['query']}"
        raise BadInput.at(place, expected="one known grade", found=found)
    return Judgments(told, (), labels.scale)


def read_sampling_probabilities(gold: pl.DataFrame, item: Sequence[str] = ("query", "doc")) -> pl.DataFrame | None:
    """Read the sampling probability of each item with a gold label, or None where no gold label has one.

    >>> gold = pl.DataFrame({"query": ["q"], "doc": ["d"], "label": [1.0], "probability": [0.25]})
    >>> read_sampling_probabilities(gold).rows()
    [('q', 'd', 0.25)]

    Args:
        gold: Gold labels with `query`, `doc`, `label` and perhaps `probability`; rows without a label were sampled
            and are still to be labelled.
        item: The columns that tell items apart.

    Returns:
        The columns of `item` and `probability`, a row for each labelled item.

    Raises:
        BadInput: Some gold labels have a probability and others have none, one is not a probability, or an item has
            two.
    """
    if "probability" not in gold.columns or gold["probability"].null_count() == gold.height:
        return None
    key = list(item)
    labelled = gold.drop_nulls("label").select(*key, "probability").unique(maintain_order=True)
    bad = labelled.filter(~pl.col("probability").is_between(LEAST_CHANCE, 1).fill_null(False))
    if bad.height:
        row = bad.row(0, named=True)
        found = "none" if row["probability"] is None else f"{row['probability']:g}"
        raise BadInput.at(
            f"the gold label of document {row['doc']} of query {row['query']}",
            expected=CHANCE,
            found=f"{found} ({count(bad.height, 'such label')})",
            remedy="fill in the sampling probability of each gold label, remove gold labels that were not sampled, or "
            "drop the column if all were sampled with the same probability",
        )
    # An item that was sampled twice needs one probability for both rounds, even if only one row has a label.
    sampled = gold.select(*key, "probability").drop_nulls("probability").unique(maintain_order=True)
    twice = sampled.filter(sampled.select(key).is_duplicated())
    if twice.height:
        row = twice.row(0, named=True)
        raise BadInput.at(
            f"the gold label of document {row['doc']} of query {row['query']}",
            expected="one probability",
            found=", ".join(f"{p:.17g}" for p in twice["probability"].head(2)),
            remedy="two rounds need one sampling probability for both together: "
            + advise(
                "karat plan gold --gold FIRST samples and writes it", "plan_gold(..., pilot=FIRST) samples and has it"
            ),
        )
    return labelled
