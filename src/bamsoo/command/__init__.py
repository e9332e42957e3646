"""The command `bamsoo`: run a search, and show, export, report, watch and repair studies."""
