"""What may be said of a statement beside a text."""

#: A sentence beside the passage that it cites: the passage says all of it, a part, nothing of it, or the contrary.
SUPPORT = ("full", "partial", "none", "against")
#: A nugget, a fact that a good answer has, beside an answer: wholly in there, in part, not at all.
NUGGET = ("full", "partial", "none")
