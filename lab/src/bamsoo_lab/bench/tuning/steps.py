"""Steps of a pipeline by name, shared by several tasks."""

from typing import Any

from sklearn import preprocessing

SCALERS = ("none", "standard", "minmax", "robust")


def scaler(name: str) -> Any:
    """A scaler by its name; "none" leaves the rows as they are."""
    return {
        "none": "passthrough",
        "standard": preprocessing.StandardScaler(),
        "minmax": preprocessing.MinMaxScaler(),
        "robust": preprocessing.RobustScaler(),
    }[name]
