"""Claims of the papers on related optimistic trees, measured: `bamsoo reproduce family`.

==============  ===============================================================
peaks           functions whose near-optimality dimension is known
states          which stored runs of an algorithm its present source would make again
deterministic   SequOOL and SOO without noise: exponential in n / log n, or in sqrt(n)
noisy           StoSOO and StroquOOL: the regret of the points they recommend
gp_draws        IMGPO, BaMSOO and the default on draws from a GP: their rates
every           all algorithms of the package on the paper's functions and on BBOB
page            the part of docs/family.md that is written from these results
==============  ===============================================================
"""

from . import deterministic, every, gp_draws, noisy

EXPERIMENTS = (
    deterministic.EXPERIMENT,
    noisy.EXPERIMENT,
    gp_draws.EXPERIMENT,
    every.EXPERIMENT,
)
