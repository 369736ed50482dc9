"""`python -m karat` is `karat`."""

from karat.cli import main

main()
