"""The Optuna sampler: what BaMSOOSampler promises beyond Optuna's own suite of tests."""

import inspect
import pickle
import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

import bamsoo
from bamsoo.integrations.optuna import NOTE, BaMSOOPruner, BaMSOOSampler
from bamsoo.study.optuna_space import structure_of

pytestmark = pytest.mark.usefixtures("quiet_optuna")

ROOT = Path(__file__).parents[2]


def branin(trial):
    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
    return float(bamsoo.problems.branin([x, y]))


def mixed(trial):
    rate = trial.suggest_float("rate", 1e-5, 1, log=True)
    share = trial.suggest_float("share", 0, 1, step=0.1)
    even = trial.suggest_int("even", 2, 20, step=2)
    many = trial.suggest_int("many", 1, 1000, log=True)
    kind = trial.suggest_categorical("kind", [None, "a", True])
    return rate + (share - 0.3) ** 2 + abs(even - 8) + abs(many - 30) / 100 + (kind != "a")


def new(seed=1, algorithm="auto", **study):
    return optuna.create_study(sampler=BaMSOOSampler(algorithm, seed=seed), **study)


def points(study):
    return [trial.params for trial in study.get_trials(deepcopy=False)]


def all_different(study, again=0):
    """Whether only so many points came again, to see whether values are exact."""
    different = {tuple(map(repr, p.items())) for p in points(study)}
    return len(different) == len(study.trials) - again


def test_it_finds_the_optimum_through_optuna():
    study = new()
    study.optimize(branin, 40)
    assert study.best_value < 0.39789
    assert all_different(study)


def test_both_directions_ask_for_the_same_points():
    down, up = new(), new(direction="maximize")
    down.optimize(branin, 15)
    up.optimize(lambda trial: -branin(trial), 15)
    assert points(down) == points(up)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "objective", "n"),
    [
        ("auto", branin, 24),
        ("auto", mixed, 24),
        ("soo", mixed, 24),
        ("random", mixed, 24),
        ("gp-ucb", branin, 6),
    ],
)
def test_a_resumed_study_goes_on_as_if_it_had_never_ended(algorithm, objective, n):
    whole = new(algorithm=algorithm)
    whole.optimize(objective, n)
    storage = optuna.storages.InMemoryStorage()
    for _ in range(3):
        part = new(algorithm=algorithm, storage=storage, study_name="s", load_if_exists=True)
        part.optimize(objective, n // 3)
    assert points(part) == points(whole)
    assert all_different(whole, again=objective is mixed and algorithm == "auto")


def test_a_parallel_study_is_walked_through_exactly():
    study = new()
    study.optimize(branin, 25, n_jobs=3)
    assert any(all_different(study, again) for again in (0, 1))  # it depends on the order
    study.sampler = BaMSOOSampler(seed=1)
    study.optimize(branin, 1)
    assert study.sampler._walk._optimizer.told == sum(
        NOTE in t.system_attrs for t in study.trials[:-1]
    )


def test_the_search_is_fed_and_not_rebuilt():
    study = new()
    study.optimize(branin, 3)
    walk = study.sampler._walk
    study.optimize(branin, 5)
    assert study.sampler._walk is walk
    study.add_trial(  # by another process, say
        optuna.create_trial(
            params={"x": 3.0, "y": 2.0}, distributions=study.trials[0].distributions, value=0.5
        )
    )
    study.optimize(branin, 1)
    assert study.sampler._walk is walk
    assert [e.value for e in walk._optimizer.evaluations].count(0.5) == 1


def test_one_sampler_may_serve_two_studies():
    sampler = BaMSOOSampler(seed=1)
    one, two = (optuna.create_study(sampler=sampler) for _ in range(2))
    for _ in range(4):
        one.optimize(branin, 1)
        two.optimize(mixed, 1)
    assert {t.state for t in one.trials + two.trials} == {TrialState.COMPLETE}
    assert all_different(one)
    assert all_different(two)


def test_trials_of_other_samplers_are_known_to_the_search():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))
    study.optimize(branin, 10)
    study.sampler = BaMSOOSampler(seed=1)
    study.optimize(branin, 1)
    told = study.sampler._walk._optimizer.evaluations
    assert [e.value for e in told] == [t.value for t in study.trials[:10]]


def test_running_trials_are_pending_and_never_repeated():
    space = {"x": FloatDistribution(-5, 10), "y": FloatDistribution(0, 15)}
    study = optuna.create_study(sampler=BaMSOOSampler(seed=1, search_space=space))
    out = [study.ask(space) for _ in range(8)]
    assert len({tuple(t.params.values()) for t in out}) == 8
    other = optuna.load_study(
        study_name=study.study_name, storage=study._storage, sampler=BaMSOOSampler(seed=1)
    )
    other.sampler = BaMSOOSampler(seed=1, search_space=space)  # a process that knows of none
    more = [other.ask(space) for _ in range(8)]
    assert len({tuple(t.params.values()) for t in out + more}) == 16
    for i, trial in enumerate(reversed(out + more)):  # told in any order
        (study if i % 2 else other).tell(trial, branin(optuna.trial.FixedTrial(trial.params)))
    other.optimize(branin, 10)
    study.optimize(branin, 10)
    assert all_different(study)


def test_a_point_is_taken_as_soon_as_it_is_handed_out():
    # before a trial suggests its parameters, and while it has suggested some of them
    space = {"x": IntDistribution(0, 3), "y": IntDistribution(0, 3)}
    study = optuna.create_study(sampler=BaMSOOSampler("soo", seed=1, search_space=space))
    first, second = study.ask(), study.ask()
    x = first.suggest_int("x", 0, 3)
    assert (second.suggest_int("x", 0, 3), second.suggest_int("y", 0, 3)) != (
        x,
        first.suggest_int("y", 0, 3),
    )


def test_of_two_processes_that_take_the_same_point_at_once_one_asks_again(monkeypatch):
    space = {"x": FloatDistribution(0, 1)}
    study = optuna.create_study(sampler=BaMSOOSampler(seed=1, search_space=space))
    rival = optuna.load_study(
        study_name=study.study_name,
        storage=study._storage,
        sampler=BaMSOOSampler(seed=1, search_space=space),
    )
    taken = []
    write = study._storage.set_trial_system_attr

    def slow(trial_id, key, value):
        if key == NOTE and not taken:
            taken.append(None)
            taken.append(rival.ask(space))  # between the other's look and its note
        write(trial_id, key, value)

    monkeypatch.setattr(study._storage, "set_trial_system_attr", slow)
    mine = study.ask(space)
    assert mine.params != taken[1].params


def test_an_enqueued_trial_uses_up_no_point():
    plain, queued = new(), new()
    plain.optimize(branin, 4)
    queued.optimize(branin, 2)
    queued.enqueue_trial({"x": 1.0, "y": 1.0})
    queued.optimize(branin, 3)
    assert points(queued)[2] == {"x": 1.0, "y": 1.0}
    assert points(queued)[3] == points(plain)[2]
    queued.enqueue_trial({"x": 2.0})  # the search fills in the rest
    queued.optimize(branin, 2)
    assert points(queued)[5]["x"] == 2.0
    assert all_different(queued)


def test_failed_trials_count_as_failed():
    study = new()

    def objective(trial):
        value = branin(trial)
        if trial.number == 3:
            raise RuntimeError
        return float("nan") if trial.number == 4 else value

    study.optimize(objective, 10, catch=RuntimeError)
    told = study.sampler._walk._optimizer
    assert len(told.result.failures) == 2
    assert all_different(study)


def test_pruned_trials_count_as_their_last_report_but_not_as_better_than_the_median():
    study = new(direction="maximize")

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        reports = {3: [0.2, -7.0], 4: [100.0], 5: [], 6: [float("nan")]}
        for step, value in enumerate(reports.get(trial.number, [])):
            trial.report(value, step)
        if trial.number in reports:
            raise optuna.TrialPruned
        return x

    study.optimize(objective, 8)
    known = sorted(t.value for t in study.trials[:3])
    search = study.sampler._walk._optimizer
    assert len(search.result.failures) == 2
    assert [e.stopped for e in search.evaluations[3:5]] == [True, True]
    rows = search.book.known
    believed = rows.values[~rows.final]
    assert believed[0] == -7.0
    assert believed[1] == pytest.approx((known[0] + known[1]) / 2)  # of -7 and three values
    assert search.best.value == max(known[-1], *(t.value for t in study.trials[7:]))


def rough(x, y):
    return (x - 0.4) ** 2 + (y - 0.6) ** 2 + (hash((x, y)) % 7) / 7


@pytest.mark.parametrize("pruner", [optuna.pruners.MedianPruner(2), BaMSOOPruner(4)])
def test_a_training_is_not_repeated_to_look_for_noise(pruner):
    study = optuna.create_study(sampler=BaMSOOSampler(seed=0), pruner=pruner)

    def objective(trial):
        value = rough(trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1))
        for step in range(1, 5):
            trial.report(value + 1.0 / step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study.optimize(objective, 60)
    search = study.sampler._walk._optimizer
    assert len({(t.params["x"], t.params["y"]) for t in study.trials}) == 60
    assert search.unequal is None and not search.book.noisy
    finite = [t.value for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
    assert search.best.value == min(finite)


def test_a_value_without_steps_is_repeated_to_look_for_noise():
    study = optuna.create_study(sampler=BaMSOOSampler(seed=0))
    study.optimize(lambda t: rough(t.suggest_float("x", 0, 1), t.suggest_float("y", 0, 1)), 60)
    assert len({(t.params["x"], t.params["y"]) for t in study.trials}) == 58
    search = study.sampler._walk._optimizer
    assert search.unequal is None and not search.book.noisy


def test_steps_and_logs_stay_on_their_values():
    study = new(seed=0)
    study.optimize(mixed, 40)
    for p in points(study):
        assert abs(p["share"] * 10 - round(p["share"] * 10)) < 1e-9
        assert p["even"] % 2 == 0
        assert type(p["many"]) is int
    assert study.best_params["kind"] == "a"
    assert study.best_params["even"] == 8


@pytest.mark.parametrize("algorithm", ["auto", "soo", "random"])
def test_a_small_space_is_searched_to_its_end_and_then_at_random(algorithm):
    space = {"a": IntDistribution(1, 7, step=3), "b": CategoricalDistribution(["x", "y"])}
    study = optuna.create_study(sampler=BaMSOOSampler(algorithm, seed=1, search_space=space))

    def objective(trial):
        return trial.suggest_int("a", 1, 7, step=3) + len(
            trial.suggest_categorical("b", ["x", "y"])
        )

    study.optimize(objective, 9)
    assert len({tuple(p.values()) for p in points(study)[:6]}) == 6
    assert len(study.trials) == 9


def test_a_given_space_is_searched_from_the_first_trial_on():
    space = {"x": FloatDistribution(-5, 10), "y": FloatDistribution(0, 15)}
    study = optuna.create_study(sampler=BaMSOOSampler(search_space=space))
    study.optimize(branin, 1)
    assert points(study) == [{"x": 2.5, "y": 7.5}]


def test_parameters_with_too_many_values_are_left_to_the_independent_sampler():
    class Seven(optuna.samplers.RandomSampler):
        def sample_independent(self, study, trial, name, distribution):
            return 7

    study = optuna.create_study(sampler=BaMSOOSampler(independent_sampler=Seven()))
    study.optimize(lambda t: t.suggest_int("n", 0, 2**60) + t.suggest_float("x", 0, 9), 3)
    assert [p["n"] for p in points(study)] == [7, 7, 7]
    assert [p["x"] for p in points(study)][1:] != [7, 7]


def test_a_sampler_survives_a_pickle_and_asks_for_the_same():
    study = new()
    study.optimize(branin, 4)
    copy = pickle.loads(pickle.dumps(study.sampler))
    study.optimize(branin, 1)
    again = optuna.create_study(sampler=copy)
    again.add_trials(study.trials[:4])
    again.optimize(branin, 1)
    assert points(again) == points(study)


def test_it_works_with_hyperband():
    # brackets depend on the study's name
    study = optuna.create_study(
        study_name="hyperband",
        sampler=BaMSOOSampler(seed=1),
        pruner=optuna.pruners.HyperbandPruner(max_resource=9),
    )

    def objective(trial):
        value = branin(trial)
        for step in range(9):
            trial.report(value + 9 - step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study.optimize(objective, 20)
    assert all_different(study)


@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "soo", "random", "doo"])
def test_an_optimizer_does_not_ask_for_expected_points(algorithm):
    free, told = (bamsoo.Optimizer([(0, 1), (0, 1)], algorithm=algorithm) for _ in range(2))
    later = [free.ask().x for _ in range(12)]
    told.expect(later[0])  # before the search begins
    asked = [told.ask() for _ in range(4)]
    for x in (*later[6:], asked[0].x, later[0]):  # asked or expected already, some of them
        told.expect(x)
    for trial in asked:
        told.tell(trial, float(trial.x.sum()))
    for x, value in zip(later[6:], [1.0, None, 2.0, 3.0, 4.0, 5.0], strict=True):
        told.tell(x, value)
    asked += [told.ask() for _ in range(20)]
    taken = {t.x.tobytes() for t in asked}
    assert later[0].tobytes() not in taken
    assert len(taken) == 24
    known = [e.x.tobytes() for e in told.evaluations]
    assert len(set(known)) == len(known)
    told.tell(later[0], -3.0)
    told.ask()
    assert (told.result.fun, told.told, len(told.result.failures)) == (-3.0, 4, 1)


def test_an_expected_point_is_a_row_of_the_gp_until_its_value_comes():
    opt = bamsoo.Optimizer(
        [(0, 1)], algorithm=bamsoo.algorithms.BaMSOO(kernel=bamsoo.kernels.Matern52(0.2))
    )
    opt.tell(opt.ask(), 0.0)
    before = opt.ask()
    opt.expect([0.9])
    opt.tell(before, 1.0)
    opt.ask()
    gp = opt.book.gp
    assert 0.9 in gp.X[gp.known :]
    opt.tell([0.9], 2.0)
    opt.ask()
    assert 0.9 in gp.X[: gp.known]
    assert 2.0 in -gp.values


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "best"}, "algorithm"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"search_space": {"x": (0, 1)}}, "x must be an Optuna distribution"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(arguments, message):
    with pytest.raises(bamsoo.BamsooError, match=message):
        BaMSOOSampler(**arguments)


@pytest.mark.filterwarnings("ignore:.*set_metric_names:optuna.exceptions.ExperimentalWarning")
def test_the_objectives_of_a_study_may_have_equal_names():
    study = optuna.create_study(directions=["minimize"] * 2, sampler=BaMSOOSampler(seed=0))
    study.set_metric_names(["loss", "loss"])
    study.optimize(lambda t: (x := t.suggest_float("x", 0, 1), (x - 0.6) ** 2), n_trials=4)
    assert len({trial.params["x"] for trial in study.trials}) == 4


def test_a_study_with_more_objectives_than_a_search_can_have_is_sampled_independently(caplog):
    optuna.logging.enable_propagation()
    study = optuna.create_study(directions=["minimize"] * 5, sampler=BaMSOOSampler(seed=0))
    with caplog.at_level("WARNING"):
        study.optimize(lambda t: [t.suggest_float("x", 0, 1)] * 5, n_trials=4)
    assert len({trial.params["x"] for trial in study.trials}) == 4
    said = "5 objectives, but BaMSOOSampler searches for at most 4; sampling independently"
    assert sum(said in record.message for record in caplog.records) == 1


def test_a_study_with_several_directions_is_a_search_with_several_objectives():
    def fun(x, y):
        return x * x + y, -((x - 1) ** 2) - y

    space = {name: FloatDistribution(0, 1) for name in "xy"}
    sampler = BaMSOOSampler(search_space=space, seed=0)
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)
    study.optimize(
        lambda t: fun(t.suggest_float("x", 0, 1), t.suggest_float("y", 0, 1)), n_trials=15
    )
    ours = bamsoo.minimize(
        fun, dict.fromkeys("xy", (0, 1)), 15, objectives={"a": "min", "b": "max"}
    )
    assert [t.params for t in study.trials] == [dict(point) for point in ours.X]
    assert {t.number for t in study.best_trials} == {e.number for e in ours.front}


def test_an_algorithm_for_one_objective_says_so():
    study = optuna.create_study(
        directions=["minimize", "maximize"], sampler=BaMSOOSampler(algorithm="soo")
    )
    with pytest.raises(bamsoo.BamsooError, match="with several objectives, use auto"):
        study.optimize(lambda t: (t.suggest_float("x", 0, 1), 0.0), 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_however_samplers_take_turns_no_point_is_tried_twice_and_none_is_lost(seed):
    rng = random.Random(seed)
    storage = optuna.storages.InMemoryStorage()
    optuna.create_study(storage=storage, study_name="s")

    def process():
        sampler = BaMSOOSampler("auto" if seed % 2 else "soo", seed=1)
        return optuna.load_study(study_name="s", storage=storage, sampler=sampler)

    processes, out = [process() for _ in range(3)], []
    for _ in range(40):
        turn = rng.choice(processes)
        what = rng.random()
        if what < 0.5:
            trial = turn.ask()
            if rng.random() < 0.9:  # else it has a point later
                mixed(trial)
            out.append(trial)
        elif what < 0.9 and out:
            trial = out.pop(rng.randrange(len(out)))
            value = mixed(trial)
            trial.report(value, 0)
            state = rng.choice([TrialState.FAIL, TrialState.PRUNED, None, None, None])
            turn.tell(trial, value if state is None else None, state=state)
        elif what < 0.95:
            processes[rng.randrange(3)] = process()
        else:
            turn.enqueue_trial({"rate": rng.uniform(1e-5, 1), "kind": "a"})
    study = process()
    for trial in out:
        study.tell(trial, mixed(trial))
    study.optimize(mixed, 20)
    assert all_different(study)
    told = [e.value for e in study.sampler._walk._optimizer.evaluations]
    assert len(told) == len(study.trials) - 1
    values = {t.value for t in study.trials[:-1] if t.state == TrialState.COMPLETE}
    assert values <= set(told)


PROCESS = """
import sys, time, optuna
from bamsoo.integrations.optuna import BaMSOOPruner, BaMSOOSampler

optuna.logging.set_verbosity(optuna.logging.ERROR)
storage = eval(sys.argv[1])
study = optuna.load_study(study_name="s", storage=storage, sampler=BaMSOOSampler(seed=1))

def objective(trial):
    x, n = trial.suggest_float("x", -1, 1), trial.suggest_int("n", 0, 5)
    time.sleep(0.002)
    return x * x + n

study.optimize(objective, 12)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "journal"])
@pytest.mark.long
def test_two_processes_share_a_study_and_no_point(kind, tmp_path):
    path = str(tmp_path / "shared")
    storage = {
        "sqlite": f"'sqlite:///{path}'",
        "journal": "optuna.storages.JournalStorage("
        f"optuna.storages.journal.JournalFileBackend({path!r}))",
    }[kind]
    optuna.create_study(study_name="s", storage=eval(storage))
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PROCESS), storage]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [p.wait(60) for p in processes] == [0, 0]
    study = optuna.load_study(study_name="s", storage=eval(storage))
    assert [t.state for t in study.trials] == [TrialState.COMPLETE] * 24
    assert all_different(study)
    assert study.best_value < 1e-3


def test_without_optuna_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['optuna'] = None\n"
        "try:\n    import bamsoo.integrations.optuna\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'bamsoo[optuna]'" in ran.stdout
    assert ran.stdout.count("\n") == 1


@pytest.mark.slow
def test_the_examples_on_the_page_run():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/optuna.md").read_text(), re.S)
    assert blocks
    names = {"__name__": "example"}  # the page is read from top to bottom
    for block in blocks:
        exec(block, names)


each_package = pytest.mark.parametrize(
    ("kind", "provided"), [("sampler", BaMSOOSampler), ("pruner", BaMSOOPruner)]
)


@each_package
def test_a_package_for_optunahub_has_what_the_registry_asks_for(kind, provided):
    package = ROOT / f"optunahub/{kind}s/bamsoo"
    _, front, text = (package / "README.md").read_text().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    wanted = {"author", "title", "description", "tags", "optuna_versions", "license"}
    assert fields.keys() == wanted
    assert fields["tags"].startswith(f"[{kind},")
    assert fields["license"] == "MIT License"
    for heading in ("Abstract", "APIs", "Installation", "Example"):
        assert f"\n## {heading}\n" in text
    assert (package / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (package / "requirements.txt").read_text() == "bamsoo[optuna]\n"
    assert f'load_local_module(package="{kind}s/bamsoo"' in (package / "example.py").read_text()
    names = {}
    exec((package / "__init__.py").read_text(), names)
    assert names[provided.__name__] is provided


@each_package
def test_a_readme_for_optunahub_lists_every_argument_with_its_default(kind, provided):
    text = (ROOT / f"optunahub/{kind}s/bamsoo/README.md").read_text()
    (shown,) = re.findall(rf"^- `{provided.__name__}\((.*)\)`$", text, re.M)
    arguments = inspect.signature(provided).parameters.values()
    bare = [a.replace(annotation=a.empty) for a in arguments]
    assert f"({shown})".replace('"', "'") == str(inspect.Signature(bare))
    assert re.findall(r"^  - `(\w+)`:", text, re.M) == [a.name for a in arguments]


@pytest.mark.parametrize("given", [True, False])
def test_the_storage_is_read_twice_per_trial(monkeypatch, given):
    space = {"x": FloatDistribution(-5, 10), "y": FloatDistribution(0, 15)}
    study = optuna.create_study(
        sampler=BaMSOOSampler("soo", seed=1, search_space=space if given else None)
    )
    study.optimize(branin, 3)
    reads = []
    read = study._storage.get_all_trials

    def counted(*args, **settings):
        if "states" not in settings:  # Optuna itself looks for a trial that waits
            reads.append(args)
        return read(*args, **settings)

    monkeypatch.setattr(study._storage, "get_all_trials", counted)
    trial = study.ask()
    branin(trial)
    assert len(reads) == 2


@pytest.mark.parametrize("name", ["stosoo", "stroquool"])
def test_an_algorithm_that_repeats_points_is_refused(name):
    with pytest.raises(bamsoo.errors.SettingsError, match="suggests each point once"):
        BaMSOOSampler(name)


def test_an_algorithm_that_plans_says_that_it_needs_a_budget():
    study = optuna.create_study(sampler=BaMSOOSampler("sequool", seed=0))
    with pytest.raises(bamsoo.errors.SettingsError, match="plans for a budget"):
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=5)


@pytest.mark.parametrize("noise", [0.5, "learn"])
def test_under_noise_a_study_goes_on_too_and_points_may_be_tried_again(noise):
    def noisy(trial):
        n = trial.suggest_int("n", 1, 6)
        return (n - 4) ** 2 / 10 + random.Random(trial.number).gauss(0, 0.7)

    def made(stops):
        study = optuna.create_study(sampler=BaMSOOSampler(noise=noise, seed=1))
        for stop in stops:
            study.sampler = BaMSOOSampler(noise=noise, seed=1)
            study.optimize(noisy, n_trials=stop)
        return points(study)

    whole = made([30])
    assert made([8, 1, 21]) == whole
    assert len({tuple(point.items()) for point in whole}) <= 6
    with pytest.raises(bamsoo.errors.SettingsError, match="noise must be"):
        BaMSOOSampler(noise=-1.0)
    with pytest.raises(bamsoo.errors.SettingsError, match="auto, bamsoo or gp-ucb"):
        BaMSOOSampler("soo", noise=noise)


# ---- constraints


def far_from_the_best(trial):
    """Branin, whose optima all lie outside the half that is allowed."""
    x, y = trial.suggest_float("x", -5, 10), trial.suggest_float("y", 0, 15)
    trial.set_user_attr("limits", [y - 1.0, x - 9.0])
    return float(bamsoo.problems.branin([x, y]))


def limits(trial):
    return trial.user_attrs["limits"]


def constrained_study(budget, storage=None, name=None, seed=3):
    sampler = BaMSOOSampler(seed=seed, constraints_func=limits)
    study = optuna.create_study(
        sampler=sampler, storage=storage, study_name=name, load_if_exists=True
    )
    study.optimize(far_from_the_best, n_trials=budget)
    return study


@pytest.mark.slow
def test_constraints_are_stored_as_optuna_stores_them_and_the_search_heeds_them():
    study = constrained_study(40)
    for trial in study.trials:
        assert [*trial.system_attrs["constraints"]] == trial.user_attrs["limits"]
    feasible = [t for t in study.trials if max(t.user_attrs["limits"]) <= 0.0]
    allowed = [
        float(bamsoo.problems.branin([x, y]))
        for x in np.linspace(-5.0, 9.0, 400)
        for y in np.linspace(0.0, 1.0, 50)
    ]
    assert min(t.value for t in feasible) <= min(allowed) + 1.0
    assert len(feasible) >= 15


@pytest.mark.slow
def test_a_study_with_constraints_goes_on_as_if_nothing_had_happened(tmp_path):
    whole = constrained_study(14)
    storage = f"sqlite:///{tmp_path}/study.db"
    constrained_study(6, storage, "s")
    again = constrained_study(8, storage, "s")  # a new sampler, which walks through the trials
    assert [t.params for t in again.trials] == [t.params for t in whole.trials]


@pytest.mark.skipif(not hasattr(optuna.Trial, "set_constraint"), reason="Optuna is older than 5")
def test_constraints_that_the_objective_sets_count_like_those_of_a_function():
    def objective(trial):
        value = far_from_the_best(trial)
        for name, number in enumerate(trial.user_attrs["limits"]):
            trial.set_constraint(str(name), number)
        return value

    study = new(seed=3)
    study.optimize(objective, n_trials=12)
    assert [t.params for t in study.trials] == [t.params for t in constrained_study(12).trials]


def test_a_trial_without_constraints_is_not_feasible_and_does_not_stop_the_search():
    study = new(seed=3)
    study.sampler._constraints_func = limits
    study.add_trial(
        optuna.trial.create_trial(
            params={"x": 3.14, "y": 2.27},
            distributions={"x": FloatDistribution(-5, 10), "y": FloatDistribution(0, 15)},
            value=0.4,
        )
    )
    study.optimize(far_from_the_best, n_trials=8)
    assert len(study.trials) == 9


def test_constraints_func_must_be_a_function():
    with pytest.raises(bamsoo.errors.SettingsError, match="constraints_func must be a function"):
        BaMSOOSampler(constraints_func=[1.0])


# --- values outside ranges, and ranges that change


def asked(study):
    """The points that the search chose, by trial."""
    return {t.number: t.system_attrs[NOTE]["point"] for t in study.trials if NOTE in t.system_attrs}


def bowl(high):
    def objective(trial):
        x, y = trial.suggest_float("x", 0, high), trial.suggest_float("y", 0, 1)
        return (x - 0.3) ** 2 + y

    return objective


@pytest.mark.filterwarnings("ignore:Fixed parameter")
def test_a_trial_outside_its_range_does_not_take_the_parameter_out_of_the_search():
    study = optuna.create_study(sampler=BaMSOOSampler(seed=1))
    study.enqueue_trial({"x": 5.0})
    study.optimize(bowl(1.0), 12)
    assert all(set(point) == {"x", "y"} for point in asked(study).values())
    assert len(asked(study)) >= 10
    assert study.best_value < 0.05


@pytest.mark.parametrize(("before", "after"), [(1.0, 0.5), (0.2, 1.0)])
def test_a_range_that_changes_is_searched_on(before, after):
    study = optuna.create_study(sampler=BaMSOOSampler(seed=1))
    study.optimize(bowl(before), 6)
    study.optimize(bowl(after), 14)
    later = [point for number, point in asked(study).items() if number > 6]
    assert len(later) == 13 and all(set(point) == {"x", "y"} for point in later)
    assert all(t.params["x"] <= after for t in study.trials[6:])
    assert study.best_value < 0.05


def test_a_range_may_still_depend_on_an_option():
    def objective(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        return trial.suggest_float("x", 0, 1 if kind == "a" else 10)

    study = optuna.create_study(sampler=BaMSOOSampler(seed=1))
    study.optimize(objective, 16)
    structure = structure_of(study.trials)
    assert {v: s["x"].distribution.high for v, s in structure["kind"].brings.items()} == {
        0: 1.0,
        1: 10.0,
    }


@pytest.mark.parametrize("choices", [[1, True], [0, False, "a"]])
def test_choices_that_compare_equal_are_different_points(choices):
    seen = []

    def objective(trial):
        kind, i = trial.suggest_categorical("kind", choices), trial.suggest_int("i", 0, 9)
        seen.append((repr(kind), i))
        return i + (kind is True)

    study = optuna.create_study(sampler=BaMSOOSampler(seed=1))
    study.optimize(objective, 16)
    assert len(set(seen)) >= 15  # the first trial is random, and stored as the first such choice
