"""The commands that run a search and look at its study: minimize, resume, show, export."""
