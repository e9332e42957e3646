"""Make `bamsoo.integrations.optuna.BaMSOOPruner` available through OptunaHub."""

from bamsoo.integrations.optuna import BaMSOOPruner


__all__ = ["BaMSOOPruner"]
