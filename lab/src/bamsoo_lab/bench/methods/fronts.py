"""Optimisers of several objectives only: BoTorch's qLogNEHVI, and NSGA-II of pymoo.

Both work on the unit cube. Integers and options are rounded before a point is evaluated.
"""

from contextlib import suppress
from typing import Any

from ..measure import MeasuredObjective

POPULATION = 20
"""Population of pymoo's NSGA-II: with its default of 100, a run of 100 evaluations is random."""


def botorch(f: MeasuredObjective) -> None:
    """One SingleTaskGP per output and qLogNEHVI as in BoTorch's tutorial on several objectives.

    It starts with 2 (D + 1) points of a Sobol sequence. The tutorial is given its reference point;
    here `infer_reference_point` chooses it from the front so far.
    """
    import torch
    from botorch.acquisition.multi_objective.logei import (
        qLogNoisyExpectedHypervolumeImprovement as Gain,
    )
    from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
    from botorch.exceptions import ModelFittingError
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import ModelListGP, SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from botorch.sampling import SobolQMCNormalSampler
    from botorch.utils.multi_objective import infer_reference_point, is_non_dominated
    from gpytorch.mlls import SumMarginalLogLikelihood

    torch.manual_seed(f.seed)
    cube = torch.stack([torch.zeros(f.dim), torch.ones(f.dim)]).double()
    m = len(f.target.objectives)

    def outputs(x: Any) -> Any:
        values, measured = f.observe_unit(x.numpy())
        return torch.tensor([[*(-v for v in values), *measured.values()]], dtype=torch.double)

    start = min(f.budget, 2 * (f.dim + 1))
    X = torch.quasirandom.SobolEngine(f.dim, scramble=True, seed=f.seed).draw(start).double()
    Y = torch.cat([outputs(x) for x in X])
    limits = [lambda Z, i=i: Z[..., i] for i in range(m, Y.shape[1])] or None
    while f.left:
        noise = torch.full((len(X), 1), 1e-8, dtype=torch.double)
        models = [
            SingleTaskGP(X, Y[:, i : i + 1], noise, outcome_transform=Standardize(1))
            for i in range(Y.shape[1])
        ]
        model = ModelListGP(*models)
        with suppress(ModelFittingError):  # the model as it stands is still a model
            fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        met = Y[(Y[:, m:] <= 0.0).all(1), :m]
        known = met if len(met) else Y[:, :m]
        gain = Gain(
            model,
            ref_point=infer_reference_point(known[is_non_dominated(known)]),
            X_baseline=X,
            sampler=SobolQMCNormalSampler(torch.Size([128]), seed=f.seed),
            objective=IdentityMCMultiOutputObjective(outcomes=[*range(m)], num_outcomes=Y.shape[1]),
            constraints=limits,
            prune_baseline=True,
        )
        options = {"batch_limit": 5, "maxiter": 200}
        x, _ = optimize_acqf(
            gain, bounds=cube, q=1, num_restarts=10, raw_samples=512, options=options
        )
        X = torch.cat([X, x.detach()])
        Y = torch.cat([Y, outputs(x[0].detach())])


def pymoo(f: MeasuredObjective) -> None:
    """NSGA-II of pymoo with a population of `POPULATION`."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.optimize import minimize

    class Constrained(ElementwiseProblem):  # type: ignore[misc]
        def _evaluate(self, x: Any, out: dict[str, Any], *args: Any, **more: Any) -> None:
            values, measured = f.observe_unit(x)
            out["F"], out["G"] = values, [*measured.values()]

    m, limits = len(f.target.objectives), len(f.target.constraints)
    problem = Constrained(n_var=f.dim, n_obj=m, n_ieq_constr=limits, xl=0.0, xu=1.0)
    minimize(problem, NSGA2(pop_size=POPULATION), ("n_eval", f.budget), seed=f.seed)
