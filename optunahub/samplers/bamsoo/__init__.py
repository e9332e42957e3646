"""Make `bamsoo.integrations.optuna.BaMSOOSampler` available through OptunaHub."""

from bamsoo.integrations.optuna import BaMSOOSampler


__all__ = ["BaMSOOSampler"]
