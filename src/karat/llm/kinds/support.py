"""A sentence of an answer beside the passage that it cites: does the passage bear it out?"""

from __future__ import annotations

from karat.llm.kinds.statement import asked_beside
from karat.records import study_design

SUPPORT = asked_beside("support", "sentence", "passage", study_design.SUPPORT)
