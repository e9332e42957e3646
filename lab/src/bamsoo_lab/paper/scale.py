"""The sizes of the experiments: in full as in the paper, or a small version of all of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Sizes of the experiments.

    Parameters
    ----------
    repeats : int
        Runs of each randomised algorithm on each function.
    evaluations, term_evaluations : int
        Budget on the test functions and in term extraction.
    variant_repeats : int
        Runs of each variant on each function; 0 leaves the variants out.
    timings : int
        Number of runs whose median Table 1 gives.
    draws : int
        Functions drawn from a GP for each eta.
    rate_draws, expansions : int
        Functions drawn for each dimension and kind of maximum, and the n at which runs on them end.
    family_runs, family_draws : int
        For the family of optimistic trees: runs per case, and functions drawn from a GP per
        dimension.
    noisy_evaluations, draw_evaluations : int
        The largest budget under noise, and the budget per dimension on those draws.
    family_boxes, family_functions : int
        For the table of all algorithms: boxes of the paper's functions, and functions of BBOB.
    """

    repeats: int = 50
    evaluations: int = 200
    term_evaluations: int = 100
    variant_repeats: int = 10
    timings: int = 3
    draws: int = 400
    rate_draws: int = 50
    expansions: int = 2000
    family_runs: int = 12
    family_draws: int = 12
    noisy_evaluations: int = 8000
    draw_evaluations: int = 150
    family_boxes: int = 5
    family_functions: int = 24


FULL = Scale()
QUICK = Scale(
    repeats=3,
    evaluations=60,
    term_evaluations=40,
    variant_repeats=1,
    timings=1,
    draws=40,
    rate_draws=4,
    expansions=400,
    family_runs=3,
    family_draws=2,
    noisy_evaluations=1000,
    draw_evaluations=30,
    family_boxes=1,
    family_functions=3,
)
