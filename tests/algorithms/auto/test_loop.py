"""The default algorithm as a whole: what it finds, and what it never stops doing."""

import numpy as np
import pytest
from mixed_space import DOMAIN, SPACE, mixed
from searches import rng, slanted

import bamsoo
from bamsoo import Choice, Int
from bamsoo.algorithms.auto.design import design
from bamsoo.algorithms.tree import Status
from bamsoo.space import Space


def test_the_default_learns_what_a_fixed_prior_must_be_told():
    f = bamsoo.problems.branin
    r = bamsoo.minimize(f, f.bounds, 60)
    assert r.fun - f.optimum < 1e-3
    for scale, shift in ((1e-9, 0.0), (1e9, 1e12)):
        other = bamsoo.minimize(lambda x, a=scale, b=shift: a * f(x) + b, f.bounds, 60)
        assert f(other.x) - f.optimum < 1e-2  # whatever the units


@pytest.mark.parametrize("dim", [2, 3])
def test_it_finds_the_bottom_of_a_slanted_valley(dim):
    r = bamsoo.minimize(slanted, [(0, 1)] * dim, 40 * dim)
    assert r.fun < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("problem", bamsoo.problems.PAPER, ids=lambda problem: problem.name)
def test_it_finds_the_optima_of_the_paper(problem):
    r = bamsoo.minimize(problem, problem.bounds, 150)
    assert r.fun - problem.optimum < 1e-5


def test_at_least_every_fourth_evaluation_is_in_the_tree():
    f = bamsoo.problems.hartmann6
    opt = bamsoo.Optimizer(f.bounds)
    for _ in range(120):
        trial = opt.ask()
        opt.tell(trial, f(trial.x))
    tree = opt.result.tree
    centres = np.unique(tree.x[tree.status == Status.EVALUATED], axis=0)
    assert len(centres) >= 29


def test_the_search_on_a_draw_from_a_gp_never_stops_expanding():
    rng = np.random.default_rng(4)
    W, b = rng.normal(size=(200, 2)) / 0.2, rng.uniform(0, 2 * np.pi, 200)
    draw = lambda x: float(np.cos(W @ x + b).sum() / 10)
    opt = bamsoo.Optimizer([(0, 1)] * 2, "maximize")
    progress = []  # the shallowest depth with leaves, and minus the number of leaves there
    for i in range(240):
        trial = opt.ask()
        opt.tell(trial, draw(trial.x))
        if i % 60 == 59:
            depths = [opt.result.tree.depth[leaf] for leaf in opt.result.tree.leaves()]
            progress.append((min(depths), -depths.count(min(depths))))
    assert progress == sorted(set(progress))


def test_parts_can_be_switched_off():
    f = bamsoo.problems.branin
    plain = bamsoo.minimize(
        f, f.bounds, 60, algorithm=bamsoo.algorithms.Auto(local=False, warp=False)
    )
    full = bamsoo.minimize(f, f.bounds, 60)
    tree = plain.tree
    assert len(np.unique(tree.x[tree.status == Status.EVALUATED], axis=0)) == 60
    assert full.fun < plain.fun


@pytest.mark.parametrize("seed", range(2))
def test_it_finds_the_best_of_a_mixed_space(seed):
    r = bamsoo.minimize(mixed, SPACE, 60, seed=seed)
    assert (r.params["kind"], r.params["size"], r.params["count"]) == ("c", 8, 7)
    assert r.fun < 0.01


@pytest.mark.parametrize("seed", range(2))
def test_a_space_of_whole_numbers_alone_has_steps_outside_the_tree_too(seed):
    space = {f"x{i}": Int(0, 30) for i in range(4)}
    best = {f"x{i}": 5 * i + 7 for i in range(4)}
    r = bamsoo.minimize(
        lambda **x: float(sum((x[n] - best[n]) ** 2 for n in x)), space, 60, seed=seed
    )
    assert r.fun <= 2


def test_every_option_is_tried_early():
    space = {"x": (0, 1), "kind": Choice(list("abcdef"))}
    r = bamsoo.minimize(lambda x, kind: x, space, 8)
    assert {params["kind"] for params in r.X} == set("abcdef")


def test_a_parameter_with_hundreds_of_options_does_not_spend_the_budget_on_them():
    points = design(Space({"kind": Choice(range(200)), "x": (0, 1)}).domain, rng())
    assert len(points) == 12


def test_the_first_points_are_a_latin_hypercube():
    points = design(Space([(0, 1)] * 7).domain, rng())
    assert points.shape == (5, 7)
    for column in points.T:
        assert sorted((column * 5).astype(int).tolist()) == list(range(5))


def test_values_known_from_before_replace_the_first_design():
    opt = bamsoo.Optimizer(SPACE)
    random = np.random.default_rng(0)
    for _ in range(10):
        x = Space(SPACE).decode(DOMAIN.snap(random.random(4)))
        params = Space(SPACE).params(x)
        opt.tell(params, mixed(**params))
    for _ in range(4):
        trial = opt.ask()
        opt.tell(trial, mixed(**trial.params))
    in_tree = (opt.result.tree.status == Status.EVALUATED).sum()
    assert in_tree >= 2


def test_the_seed_decides_the_drawn_points():
    runs = [bamsoo.minimize(mixed, SPACE, 25, seed=seed).X for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_at_least_every_seventh_evaluation_is_in_the_tree():
    r = bamsoo.minimize(mixed, SPACE, 75)
    design_and_root = 1 + DOMAIN.dim
    assert (r.tree.status == Status.EVALUATED).sum() >= (75 - design_and_root) // 7
