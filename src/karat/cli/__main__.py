"""`python -m karat.cli` is `karat`."""

from karat.cli import main

main()
