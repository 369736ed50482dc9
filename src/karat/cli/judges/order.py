"""`karat judges order`: does a label depend on when it was given?"""

from __future__ import annotations

from karat import judges as analysis
from karat.cli import options
from karat.cli.judges.judged import Judged, of_labels
from karat.cli.part import part
from karat.cli.results import Tables


@part(
    of_labels(options.level, options.seed),
    examples="""karat judges order crowd.csv
karat judges order my-study --level 0.99""",
)
def order(given: Judged) -> Tables:
    """Whether labels move with the label that a judge gave just before, and along the session.

    Labels are taken in the order of their column time, in sessions where a column session tells them; each counts as
    what it is above or below the others' labels of the same document.
    """
    return {"Order": analysis.order_effects(given.judgments, level=given.level, seed=given.chance["seed"])}
