"""The scoreboard: what a change of the default does to each kind of user, in one table."""
