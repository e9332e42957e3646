"""The suite of fits."""

from contextlib import suppress
from math import inf

import numpy as np
import pytest

from bamsoo_lab.bench import fitting, suites
from bamsoo_lab.bench.case import Case
from bamsoo_lab.bench.fits import curves, more_wild
from bamsoo_lab.bench.measure import MeasuredObjective, Spent
from bamsoo_lab.bench.methods import ALL
from bamsoo_lab.bench.suites import fits

# sums of squares at the starting points, as published with the problems
STARTS = {
    "linear": 72.0,
    "rosenbrock": 24.2,
    "helical": 2500.0,
    "powell": 215.0,
    "bard": 41.68170,
    "kowalik": 5.313172e-3,
    "meyer": 1.693608e9,
    "watson 6": 16.43083,
    "box": 1031.154,
    "jennrich": 4171.306,
    "brown dennis": 7926693.0,
    "chebyquad 6": 0.04642817,
    "brown": 273.248,
    "osborne 1": 16.17411,
    "osborne 2, far": 199.6847,
    "mancino 5": 2.539084e9,
    "heart": 9.385672,
}


def test_there_are_53_problems_of_more_and_wild():
    assert len(more_wild.KINDS) == 53
    assert more_wild.KINDS.keys() == more_wild.OPTIMA.keys()


@pytest.mark.parametrize("name", STARTS)
def test_sums_of_squares_at_the_starts_are_as_published(name):
    fit = more_wild.KINDS[name].build(0)
    r = fit.residuals(np.array(fit.box).mean(1))
    np.testing.assert_allclose(r @ r, STARTS[name], rtol=1e-5)


def test_no_point_is_better_than_the_optimum():
    rng = np.random.default_rng(0)
    for name, i in fits.problems("develop"):
        if name in ("nerve", "predators", "kinetics", "epidemic"):  # ODEs take long
            continue
        fit = fits.fit(name, i)
        low, high = np.array(fit.box).T
        for x in rng.uniform(low, high, (20, len(low))):
            with np.errstate(all="ignore"):
                r = fit.residuals(x)
                assert not r @ r < fits.optimum(name, i)


def test_parts_have_nothing_in_common_and_both_have_several_basins():
    develop, report = (set(fits.problems(part)) for part in ("develop", "report"))
    assert not develop & report
    assert {name for name, i in develop | report if not i} == more_wild.KINDS.keys()
    assert sum(kind.basins for kind in curves.KINDS.values()) >= 6
    assert len(curves.KINDS) >= 12


@pytest.mark.parametrize("name", ["bamsoo", "bamsoo-sum", "dfo-ls", "least-squares"])
def test_methods_solve_a_fit_within_the_budget(name):
    for module in ALL[name].modules:
        pytest.importorskip(module)
    case = Case("fits", "pumping", 2, 11, 30)
    f = MeasuredObjective(suites.target(case), 30, 11)
    f.start()
    with suppress(Spent):
        ALL[name].solve(f)
    assert f.count <= 30
    run = {"budget": 30, "suite": "fits", **f.notes()}
    assert fitting.reached(run, case)[0] < inf


def test_ratios_count_what_only_one_method_reached():
    cases = [Case("fits", name, 2, 0, 30) for name in ("rosenbrock", "bard", "box")]
    ours = dict(zip(cases, ([2, 4, 8], [3, 3, inf], [inf] * 3), strict=True))
    theirs = dict(zip(cases, ([4, 4, 4], [3, inf, inf], [inf] * 3), strict=True))
    assert fitting.median_ratio(ours, theirs, cases, 0) == pytest.approx(0.5**0.5)
    assert fitting.median_ratio(ours, theirs, cases, 1) < 1e-3
    assert fitting.effort(ours, cases) == pytest.approx((4 + 3 + 30) / 2)


def test_a_peer_that_ran_a_part_is_compared_on_it():
    cases = [Case("fits", name, fits.KINDS[name].dim, 11, 100) for name in ("film", "nerve")]
    solved = {"budget": 100, "steps": [[5, 0.0]], "suite": "fits", "cpu": 0.1, "evaluations": 100}
    ours = dict.fromkeys(cases, solved)
    methods = {"bamsoo": ours, "dfo-ls": ours, "optuna-gp": {cases[0]: solved}}
    found = {goal: shown for goal, shown, _ in fitting.goals(methods)}
    assert found["several basins: at least as many solved as by Optuna GP"] == "1 and 1 of 1"
    rows = {row[1]: row[2] for row in fitting.table(methods).rows}
    assert rows["Optuna GP"] == "1 of 1"
