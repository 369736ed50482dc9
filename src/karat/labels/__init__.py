"""What do the judges say? One label per document from all that was said."""

from karat.labels.majority import majority

__all__ = ["majority"]
