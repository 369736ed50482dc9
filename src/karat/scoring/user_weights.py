"""What a grade is worth to users who disagree, for measures with udm gains: as given, or from the labels themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from karat.labels import Panel
from karat.measures import Gains, Measure
from karat.measures.topics import UserWeights
from karat.records import Judgments
from karat.records.base import count
from karat.stats.arrays import Floats


@dataclass(frozen=True)
class Estimated:
    """Weights of the labels' own judges, with the covariance of their levels."""

    worth: UserWeights
    errors: Callable[[int, int], tuple[list[float], Floats]]

    def __call__(self, at_least: int, of: int) -> Mapping[float, float]:
        """The weight of each level."""
        return self.worth(at_least, of)


def weights_of_users(
    labels: Judgments, measures: Sequence[Measure], given: UserWeights | None = None
) -> tuple[UserWeights | None, list[str]]:
    """The weights that these measures ask for, and what a reader should know of them.

    >>> from karat.measures import as_measures
    >>> rows = [{"query": "q", "doc": "d", "judge": judge, "label": label} for judge, label in [("x", 1), ("y", 2)]]
    >>> weights, notes = weights_of_users(Judgments.of(rows), as_measures("nDCG(gains=udm(1/3))@10"))
    >>> weights(1, 3)
    {1.0: 1.0, 2.0: 1.0}
    >>> notes[-1]
    'user weights are of single labels; the labels of 1 document are medians of several'
    """
    asked = {gains for measure in measures if isinstance(gains := getattr(measure, "gains", None), Gains)}
    asked = {gains for gains in asked if gains.name == "udm"}
    if not asked:
        return given, []
    panel, notes = Panel.of(labels, apart=("context", "subtopic")).of_judges(), list[str]()
    if given is None:
        # Judges are looked at only where a measure asks for them: scores should start at once.
        from karat.judges.disagreement import disagreement

        model = disagreement(labels, draws=0)
        notes += [note if note in model.votes.panel.notes else f"user weights: {note}" for note in model.notes]
        given = Estimated(model.weights, model.weight_errors)
    top = min(max(given(gains.at_least, gains.of_users)) for gains in asked)
    above = panel.value > top
    if above.any():
        notes.append(f"{count(int(above.sum()), 'label')} above {panel.said(top)}, the top of the user weights: as top")
    several = int((panel.counts().sum(axis=1) > 1).sum())
    if several:
        notes.append(
            f"user weights are of single labels; the labels of {count(several, 'document')} are medians of several"
        )
    return given, notes
