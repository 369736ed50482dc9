"""What an address says of a page: the host it is on, and the site."""

from __future__ import annotations

import polars as pl

SCHEME = r"^(?:(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//)?"
#: The host in the column url, in small letters.
HOST = pl.col("url").str.extract(SCHEME + r"(?:[^/?#@]*@)?([^/?#:]+)", 1).str.to_lowercase()
#: The host without www.
SITE = HOST.str.replace(r"^www\.", "")
