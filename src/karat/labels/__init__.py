"""What do the judges say? One label per document from all that was said."""

from karat.labels.majority import majority
from karat.labels.subtopics import one_subtopic_each

__all__ = ["majority", "one_subtopic_each"]
