"""A nugget, a fact that a good answer has, beside an answer: is it in there?"""

from __future__ import annotations

from karat.llm.kinds.statement import asked_beside
from karat.records import study_design

NUGGET = asked_beside("nugget", "nugget", "answer", study_design.NUGGET)
