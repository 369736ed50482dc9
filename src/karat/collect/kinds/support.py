"""A sentence of an answer beside the passage that it cites."""

from __future__ import annotations

from karat.collect.kinds.kind import KindOnPage
from karat.collect.kinds.statement import StatementReply, check, shown
from karat.records import statements

SUPPORT = KindOnPage(StatementReply, shown, check(statements.SUPPORT))
