"""Models that know a function well, for tests of what is derived from models."""

from scipy.stats import qmc

from bamsoo.base.sense import MAXIMISED
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.model.warp import Identity
from bamsoo.result.predictor import Predictor
from bamsoo.space import Space


def knowing(space, fun, n, length):
    """A predictor that knows a function of the caller's points well."""
    space = Space(space)
    gp = GP(Matern52(length, 100.0), space.dim, domain=space.domain)
    for key, u in enumerate(qmc.Sobol(space.dim, seed=1).random(n)):
        u = space.domain.snap(u)
        gp.expect(key, u)
        gp.observe(key, fun(space.params(space.decode(u))))
    return Predictor(space, MAXIMISED, gp, Identity())
