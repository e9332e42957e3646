"""What a point must be able to gain to be worth an evaluation: more, the longer nothing was gained.

On a plateau, and along an axis without influence, a point next to the best always looks as good as
the best, and evaluating it teaches nothing. So while the best value stands still, only points that
may be better by a share of the values' deviation are worth an evaluation. The share grows, until
the search goes where little is known.
"""

import numpy as np

from ..._typing import Array
from .constants import StallConstants


def wanted(values: Array, rng: np.random.Generator, constants: StallConstants) -> float:
    """How much better than the best a point must be able to be; 0 while values get better.

    Parameters
    ----------
    values : array
        To be maximised, in the order in which they came, in the model's units: there slow progress
        on a logarithmic scale is progress.
    rng : Generator
        Draws the share from those that the time since the last gain allows, so that steps near the
        best are never given up.
    constants : StallConstants
    """
    if len(values) <= constants.free:
        return 0.0
    best, deviation = np.maximum.accumulate(values), float(values.std())
    gained = int(np.argmax(best >= best[-1] - constants.real * deviation))
    doublings = (len(values) - 1 - gained - constants.free) / constants.doubling
    if doublings < 0.0:
        return 0.0
    least, most = np.log(constants.shares)
    share = np.exp(rng.uniform(least, min(least + doublings * np.log(2.0), most)))
    return float(share * deviation)
