"""What every layer uses: checks, types, defaults, and the protection of a search from outside."""
