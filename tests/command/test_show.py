"""The command show."""

import io
import json
import re

import numpy as np
from rich.console import Console

import bamsoo
from bamsoo.command.show import Column, _print_table

from command_line import bamsoo_, shell, trials


def test_show_lists_the_best_and_the_failures():
    shell("case $0 in 5*) echo [bold] >&2; exit 9;; esac; echo $0", budget=6)
    out = bamsoo_("show", "run.db", "--rows", 2)
    assert "minimize, SOO, seed 0; 6 of 6 evaluations, 1 failed, 0 pending" in out
    assert re.search(r"best [\d.]+ at x=", out)
    assert "trial 0 failed: exit code 9; standard error: [bold]" in out
    assert out.count("done") == 2
    best = json.loads(bamsoo_("show", "run.db", "--json"))
    assert best["value"] == min(t.value for t in trials() if t.value is not None)


def test_a_table_says_how_much_of_it_is_shown_and_has_no_empty_columns(here):
    bamsoo_("minimize", "branin", "--budget", 30, "--study", "run.db")
    text = bamsoo_("show", "run.db")
    assert "30 of 30 evaluations" in text
    assert "20 of 30 trials, best first; --rows 30 shows all" in text
    shown = json.loads(bamsoo_("show", "run.db", "--json"))
    assert shown["message"] == "the budget of 30 evaluations is spent"
    with bamsoo.Study.open("given.db", space={"x": (0, 1)}, constraints=["load"]) as study:
        study.tell({"x": 0.25}, 2.0, constraints={"load": -0.125})
    text = bamsoo_("show", "given.db")
    assert "seconds" not in text
    assert "-0.125" in text


def test_while_nothing_is_feasible_the_least_violation_is_shown(here):
    settings = {"space": {"x": (0, 1)}, "constraints": ["T <= 520"]}
    with bamsoo.Study.open("never.db", **settings) as study:
        for temperature in (530.0, 525.0, 540.0):
            study.tell(study.ask(), 2.0, constraints={"T": temperature})
    text = bamsoo_("show", "never.db")
    assert "no feasible point was found" in text
    assert "trial 1 violates least: T <= 520 by 5" in text


def test_the_value_is_never_cut_in_a_narrow_terminal():
    names = [f"parameter{i}" for i in range(9)]
    columns = [Column(name, ["0.123456"], optional=True) for name in names]
    columns += [Column("value", ["-1.2345678e-05"]), Column("state", ["done"])]
    text = io.StringIO()
    _print_table(Console(file=text, width=80, force_terminal=True, no_color=True), columns)
    assert "-1.2345678e-05" in text.getvalue()
    assert (
        "too narrow: parameter4, parameter5, parameter6, parameter7, parameter8" in text.getvalue()
    )
    assert max(map(len, text.getvalue().splitlines()[3:4])) <= 80


def test_several_objectives_are_shown_by_name(here):
    aims = {"loss": "min", "gain": "max"}
    bamsoo.minimize(lambda x: (x, 2.0 * x), {"x": (0, 1)}, 1, objectives=aims, study="two.db")
    text = bamsoo_("show", "two.db")
    assert "two.db: loss (min), gain (max), Auto" in text
    assert "1 point on the front; a compromise is loss 0.5, gain 1.0 at x=0.5" in text


def test_json_has_no_infinite_numbers(here):
    def fun(x):
        return 1e300 * x, 1e300 - 1e300 * x

    aims = ["loss", "latency"]
    bamsoo.minimize(fun, {"x": (0, 1)}, 5, objectives=aims, study=here / "large.db")
    shown = json.loads(bamsoo_("show", "large.db", "--json"))
    assert shown["hypervolume"] is None


def test_several_objectives_under_noise(here):
    rng = np.random.default_rng(0)

    def fun(x):
        return x + 0.1 * rng.standard_normal(), 1.0 - x

    aims = ["loss", "latency"]
    found = bamsoo.minimize(
        fun, {"x": (0, 1)}, 12, objectives=aims, noise="learn", study=here / "noisy.db"
    )
    assert f"{len(found.front)} points on the front" in bamsoo_("show", "noisy.db")
    shown = json.loads(bamsoo_("show", "noisy.db", "--json"))
    assert shown["params"] == found.params


def test_levels_of_a_fidelity_are_counted_by_what_they_cost(here):
    def fun(x, rows):
        return float("nan") if rows == 27 else x + 1.0 / rows

    space = {"x": (0, 1), "rows": bamsoo.Fidelity(1, 27, log=True)}
    r = bamsoo.minimize(fun, space, 4, study="run.db")
    assert r.message.endswith("; no full evaluation gave a value")
    assert r.nfev > 4 > r.cost
    assert "\nno full evaluation gave a value\n" in bamsoo_("show", "run.db")
    shown = json.loads(bamsoo_("show", "run.db", "--json"))
    assert shown["message"].startswith(f"{r.cost:.6g} of 4 full evaluations are done")
