"""A fact that a good answer has, beside an answer."""

from __future__ import annotations

from karat.records import study_design as statements
from karat.web.kinds.kind import KindOnPage
from karat.web.kinds.statement import StatementReply, check, shown

NUGGET = KindOnPage(StatementReply, shown, check(statements.NUGGET))
