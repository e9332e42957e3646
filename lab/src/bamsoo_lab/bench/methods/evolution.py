"""Evolution strategies, and Nevergrad, which combines them."""

from typing import Any

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.space import Parameter

from ..measure import MeasuredObjective


def cma_es(f: MeasuredObjective) -> None:
    """CMA-ES with BIPOP restarts, on the unit cube, with sigma 1/4."""
    import cma

    rng = np.random.default_rng(f.seed)
    options = _cma_options(f)
    while f.left:
        cma.fmin2(f.unit, lambda: rng.random(f.dim), 0.25, options, restarts=9, bipop=True)


def _cma_options(f: MeasuredObjective) -> dict[str, Any]:
    return {
        "bounds": [0, 1],
        "maxfevals": f.budget,
        "seed": f.seed + 1,  # 0 would mean a seed from the clock
        "verbose": -9,
        "verb_log": 0,
    }


def lq_cma(f: MeasuredObjective) -> None:
    """CMA-ES with a linear or quadratic surrogate, on the unit cube, with sigma 1/4.

    It starts at random points, and each restart doubles the population.
    """
    import cma

    rng = np.random.default_rng(f.seed)
    while f.left:
        options = {**_cma_options(f), "maxfevals": f.left}
        cma.fmin_lq_surr2(f.unit, lambda: rng.random(f.dim), 0.25, options, restarts=9)


def ngopt(f: MeasuredObjective) -> None:
    """Nevergrad's NGOpt, which chooses an optimiser by the dimension and the budget."""
    import nevergrad

    low, high = np.array(f.bounds).T
    start = (low + high) / 2
    space = nevergrad.p.Array(init=start).set_bounds(low, high)
    space.random_state = np.random.RandomState(f.seed)
    search = nevergrad.optimizers.NGOpt(parametrization=space, budget=f.budget, num_workers=1)
    search.minimize(f)


def cma_margin(f: MeasuredObjective) -> None:
    """CMA-ES with margin; integers are equal steps, and options are coded as integers.

    Every axis is scaled to [0, 1], log ranges by their logarithms; integers on a log scale are
    rounded. It starts at the centre with sigma 1/4. Restarts are at random points, and each doubles
    the population. A failed evaluation counts as the worst value so far.
    """
    from cmaes import CMAwM

    sizes = [_size(parameter) for parameter in f.target.by_name().values()]
    steps = np.array([1.0 / (size - 1) if size else 0.0 for size in sizes])

    def value(z: Array) -> float:
        pairs = zip(z.tolist(), sizes, strict=True)
        return f.unit(np.array([(round(u * (n - 1)) + 0.5) / n if n else u for u, n in pairs]))

    rng = np.random.default_rng(f.seed)
    mean, population = np.full(f.dim, 0.5), None
    while f.left:
        search = CMAwM(
            mean=mean,
            sigma=0.25,
            bounds=np.tile([0.0, 1.0], (f.dim, 1)),
            steps=steps,
            seed=int(rng.integers(2**31)),
            population_size=population,
        )
        while not search.should_stop():
            told: list[tuple[Array, float]] = []
            for _ in range(search.population_size):
                z, tell = search.ask()
                told.append((tell, value(z)))
            search.tell([(z, f.worst if np.isnan(v) else v) for z, v in told])
        mean, population = rng.random(f.dim), 2 * search.population_size


def _size(parameter: Parameter) -> int | None:
    """The number of equal steps of a parameter; None if it is continuous or on a log scale."""
    grid = parameter.grid()
    return None if grid is None or parameter.log else grid.count
