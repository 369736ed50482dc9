"""What was planted in a simulated study."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from karat.errors import BadInput


@dataclass(frozen=True)
class Truth:
    """What was planted in a simulated study, so that a report can say whether it was found.

    `simulated` says in words what of the study is simulated; `scores` are the systems' true scores by `measure`.
    """

    simulated: str = ""
    measure: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Truth:
        """The planted truth in a JSON file with simulated, measure and scores; what else it holds is left aside."""
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: {error}") from None
        if not isinstance(said, dict) or not isinstance(said.get("scores", {}), dict):
            raise BadInput.at(
                str(path), expected='an object with "simulated", "measure" and "scores"', found=str(said)[:60]
            )
        scores = {str(name): float(value) for name, value in said.get("scores", {}).items()}
        return cls(str(said.get("simulated", "")), str(said.get("measure", "")), scores)

    def difference(self, measure: str, a: str, b: str) -> float | None:
        """The true difference of b less a by a measure, where it is known.

        >>> Truth("all", "P@10", {"x": 0.5, "y": 0.75}).difference("P@10", "x", "y")
        0.25
        """
        if measure != self.measure or a not in self.scores or b not in self.scores:
            return None
        return self.scores[b] - self.scores[a]
