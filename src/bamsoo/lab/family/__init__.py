"""What the papers on the other optimistic trees claim, measured: `bamsoo reproduce family`.

==============  ===============================================================
peaks           functions whose near-optimality dimension is known
states          which stored runs of an algorithm are still its own
deterministic   SequOOL against SOO without noise: exponential in n / log n, or in sqrt(n)
noisy           StoSOO and StroquOOL: the regret of what they recommend
gp_draws        IMGPO, BaMSOO and the default on draws from a GP: their rates
every           all algorithms of the package on the paper's functions and on BBOB
page            the part of docs/family.md that is written from all this
==============  ===============================================================
"""

from . import deterministic, every, gp_draws, noisy

EXPERIMENTS = (
    deterministic.EXPERIMENT,
    noisy.EXPERIMENT,
    gp_draws.EXPERIMENT,
    every.EXPERIMENT,
)
