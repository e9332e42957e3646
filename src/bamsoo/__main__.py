"""`python -m bamsoo` is the command `bamsoo`."""

from .command.main import main

main()
