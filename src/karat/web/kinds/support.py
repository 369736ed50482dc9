"""A sentence of an answer beside the passage that it cites."""

from __future__ import annotations

from karat.records import study_design as statements
from karat.web.kinds.kind import KindOnPage
from karat.web.kinds.statement import StatementReply, check, shown

SUPPORT = KindOnPage(StatementReply, shown, check(statements.SUPPORT))
