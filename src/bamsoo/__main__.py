"""Make `python -m bamsoo` run the command `bamsoo`."""

from .command.main import main

main()
