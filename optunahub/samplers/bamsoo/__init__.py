"""OptunaHub's way to `bamsoo.integrations.optuna.BaMSOOSampler`."""

from bamsoo.integrations.optuna import BaMSOOSampler


__all__ = ["BaMSOOSampler"]
