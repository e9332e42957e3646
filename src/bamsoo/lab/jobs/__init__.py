"""Runs as data: performed on several cores, stored one by one, continued after a stop."""
