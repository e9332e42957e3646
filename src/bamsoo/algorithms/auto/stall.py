"""How much a point must be able to gain to be worth an evaluation, while the search stands still.

On a plateau, and along an axis without influence, a point next to the best always looks as good as
the best, and evaluating it teaches nothing. So while the best value does not improve, a point is
worth an evaluation only if it may be better by a share of the values' standard deviation. The share
grows until the search goes where little is known.
"""

import numpy as np

from ..._typing import Array
from .constants import StallConstants


def wanted(values: Array, rng: np.random.Generator, constants: StallConstants) -> float:
    """How much better than the best value a point must be able to be; 0 while the best improves.

    Parameters
    ----------
    values : array
        Values to be maximised, in the order in which they arrived. They are in the model's units,
        so that slow progress on a logarithmic scale counts as progress.
    rng : Generator
        Draws the required share, between the smallest one and a limit that grows with the time
        since the last gain. Small shares stay possible, so steps near the best never end.
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
