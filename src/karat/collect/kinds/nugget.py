"""A fact that a good answer has, beside an answer."""

from __future__ import annotations

from karat.collect.kinds.kind import KindOnPage
from karat.collect.kinds.statement import StatementReply, check, shown
from karat.records import statements

NUGGET = KindOnPage(StatementReply, shown, check(statements.NUGGET))
