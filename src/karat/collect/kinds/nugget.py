"""A fact that a good answer has, beside an answer."""

from __future__ import annotations

from karat.collect.kinds.kind import KindOnPage
from karat.collect.kinds.statement import StatementReply, check, shown
from karat.store.kinds.nugget import CHOICES

NUGGET = KindOnPage(StatementReply, shown, check(CHOICES))
