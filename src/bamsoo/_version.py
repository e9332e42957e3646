"""The version, in a module of its own so that any layer can read it without loading the rest."""

__version__ = "0.4.0"
