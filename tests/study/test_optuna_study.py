"""Studies of Optuna as the report and the live page show them."""

import json
import math
import re

import optuna
import pytest
from click.testing import CliRunner
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import bamsoo
from bamsoo.command.main import main
from bamsoo.errors import SettingsError, StudyError
from bamsoo.report import describe, write
from bamsoo.report.watch import Watch
from bamsoo.space import Choice, Int, Real
from bamsoo.study.optuna_study import OptunaSource, is_optuna

from command_line import bamsoo_

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


def objective(trial):
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    units = trial.suggest_int("units", 16, 256, step=16)
    model = trial.suggest_categorical("model", ["cnn", None])
    value = (math.log10(rate) + 3) ** 2 + units / 100
    if model == "cnn":
        value += trial.suggest_int("kernel", 1, 7)
    if trial.number == 3:
        raise ValueError("diverged")
    trial.set_user_attr("epochs", 7)
    trial.report(value + 1, 0)
    if trial.number == 5:
        raise optuna.TrialPruned
    trial.report(value, 1)
    return value


@pytest.fixture
def storage(tmp_path):
    address = f"sqlite:///{tmp_path}/optuna.db"
    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(storage=address, study_name="resnet", sampler=sampler)
    study.optimize(objective, n_trials=14, catch=ValueError)
    return study, address, tmp_path / "optuna.db"


@pytest.mark.slow
def test_trials_of_optuna_are_shown_as_they_are(storage):
    study, address, path = storage
    before = path.read_bytes()
    shown = OptunaSource(address).read()
    assert shown.space.given == {
        "rate": Real(1e-5, 1e-1, log=True),
        "units": Int(16, 256, step=16),
        "model": Choice({"cnn": {"kernel": Int(1, 7)}, None: {}}),
    }
    for trial, record in zip(study.trials, shown.trials, strict=True):
        assert record.params == trial.params
        state = {3: "failed", 5: "stopped"}.get(trial.number, "done")
        assert (record.number, record.state) == (trial.number, state)
        assert record.value == (trial.value if state == "done" else None)
    assert shown.best.value == study.best_value
    assert shown.trials[0].extras == {"epochs": 7}
    assert shown.curves[5] == [study.trials[5].intermediate_values[0]]
    assert (shown.result.nfev, shown.result.nstopped) == (14, 1)
    assert shown.result.cost == 13.5  # the pruned trial has taken one step of two
    page = describe(OptunaSource(str(path)))
    assert page["title"] == "resnet"
    assert page["trials"]["state"][3] == "f"
    assert "reason" not in page["model"]
    assert path.read_bytes() == before


@pytest.mark.slow
def test_the_command_writes_a_page_of_a_database_and_of_a_journal(storage, tmp_path, monkeypatch):
    _, address, path = storage
    monkeypatch.chdir(tmp_path)
    log = str(tmp_path / "journal.log")
    two = optuna.create_study(
        storage=JournalStorage(JournalFileBackend(log)),
        directions=["minimize", "maximize"],
        study_name="two",
    )
    two.set_metric_names(["loss", "accuracy"])
    two.optimize(lambda t: (t.suggest_float("x", 0, 1), t.params["x"] ** 2), n_trials=6)
    for given, name in [(address, "resnet"), (str(path), "resnet"), (log, "two")]:
        done = CliRunner().invoke(main, ["report", given, "--name", name])
        assert (done.exit_code, done.stdout) == (0, f"{name}.html\n"), done.output
    text = (tmp_path / "two.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])
    assert [each["name"] for each in data["objectives"]] == ["loss", "accuracy"]
    assert len(data["front"]) == 6
    done = CliRunner().invoke(main, ["report", address, "--name", "other"])
    assert done.exit_code == 2
    assert "holds no study 'other', only resnet" in done.stderr


@pytest.mark.filterwarnings("ignore:.*set_metric_names:optuna.exceptions.ExperimentalWarning")
def test_objectives_with_equal_names_are_told_apart(tmp_path):
    path = f"sqlite:///{tmp_path / 'two.db'}"
    two = optuna.create_study(storage=path, directions=["minimize", "maximize"])
    two.set_metric_names(["loss", "loss"])
    two.optimize(lambda t: (t.suggest_float("x", 0, 1), t.params["x"] ** 2), n_trials=3)
    read = OptunaSource(path).read()
    assert read.objectives.ways == {"loss (0)": "min", "loss (1)": "max"}
    assert len(read.front) == 3


def test_the_live_page_follows_a_study_of_optuna(storage):
    study, address, _ = storage
    followed = Watch(OptunaSource(address))
    first = followed.news({"trials": 0})
    study.optimize(objective, n_trials=2)
    followed.look()
    followed.think()
    news = followed.news({"trials": first["versions"]["trials"], "search": 0})
    assert len(news["trials"]["trials"]["state"]) == 16
    assert news["running"] is None
    assert "reason" not in news["search"]["model"]


def test_ranges_that_changed_are_widened_and_odd_parameters_are_extras():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))

    def shifting(trial):
        high = 1.0 if trial.number < 4 else 2.0
        x = trial.suggest_float("x", 0, high)
        if trial.number in (2, 5):
            trial.suggest_float("odd", 0, 1)
        return x

    study.optimize(shifting, n_trials=8)
    from bamsoo.study.optuna_study import OptunaStudy

    shown = OptunaStudy(study, "memory")
    assert shown.space.given == {"x": Real(0.0, 2.0)}
    assert shown.trials[2].extras == {"odd": study.trials[2].params["odd"]}


def test_what_is_no_study_of_optuna_is_not_taken_for_one(tmp_path):
    assert is_optuna("mysql://me@host/db")
    assert is_optuna("postgresql+psycopg2://me@host/db")
    assert not is_optuna("postgresql://me@host/db#run")
    assert is_optuna("postgresql://me@host/db", "run")
    (tmp_path / "text").write_text("hello")
    assert not is_optuna(str(tmp_path / "text"))
    assert not is_optuna(f"sqlite:///{tmp_path}/missing")
    with pytest.raises(StudyError, match="there is no such file"):
        OptunaSource(f"sqlite:///{tmp_path}/missing.db?timeout=5")
    assert not (tmp_path / "missing.db").exists()
    bamsoo.minimize(lambda x: x[0], [(0, 1)], 3, study=tmp_path / "run.db")
    for name in ("text", "run.db"):
        assert not is_optuna(f"sqlite:///{tmp_path}/{name}")
        with pytest.raises(StudyError, match="is no study of Optuna"):
            OptunaSource(f"sqlite:///{tmp_path}/{name}")


def planted(path, name):
    study = optuna.create_study(storage=f"sqlite:///{path}", study_name=name)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)


def test_the_name_of_a_study_never_decides_where_its_page_is_written(tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    names = [f"postgresql://x#{tmp_path}/planted", "../planted", ".planted"]
    for name in names:
        planted(here / "optuna.db", name)
        done = CliRunner().invoke(main, ["report", "optuna.db", "--name", name])
        assert done.exit_code == 0, done.output
        assert (here / done.stdout.strip()).parent == here
    assert {each.name for each in tmp_path.iterdir()} == {"here"}
    assert len(list(here.glob("[!.]*planted.html"))) == len(names)


def test_a_name_with_a_percent_sign_is_that_of_its_own_file(tmp_path):
    planted(tmp_path / "pA.db", "other")
    planted(tmp_path / "p.db", "own")
    odd = (tmp_path / "p.db").rename(tmp_path / "p{x}%41 ?#.db")
    assert OptunaSource(str(odd)).read().path == "own"
    planted(tmp_path / "p.db", "mine")
    (tmp_path / "p.db").rename(tmp_path / "p%41.db")
    for given in (f"{tmp_path}/p%41.db", f"sqlite:///{tmp_path}/p%41.db?timeout=5"):
        assert OptunaSource(given).read().path == "mine"
    assert len(list(tmp_path.iterdir())) == 3


def test_errors_of_a_database_do_not_show_its_password(monkeypatch):
    for given in ("mysql://me:Zq7/Zq7#Zq7@127.0.0.1:1/db", "mysql+nosuch://me:Zq7@host/db"):
        with pytest.raises(StudyError, match=r"mysql.*://me@.* cannot be read") as caught:
            OptunaSource(given)
        assert "Zq7" not in str(caught.value)
        assert caught.value.__suppress_context__


def test_looking_at_a_file_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "run.db"
    bamsoo.minimize(lambda x: x[0], [(0, 1)], 3, study=path)
    assert not is_optuna(str(path))
    assert [each.name for each in tmp_path.iterdir()] == ["run.db"]


def test_the_report_of_a_script_takes_the_address_of_a_study(storage, monkeypatch):
    _, address, path = storage
    monkeypatch.chdir(path.parent)
    for given in (address, path):
        page = write(given)
        assert page.name == "resnet.html"  # not a name beside somebody else's database
        assert "resnet" in page.read_text("utf-8")


def test_one_of_several_studies_in_a_file_is_named(storage, tmp_path, monkeypatch):
    study, address, _ = storage
    optuna.create_study(storage=address, study_name="other")
    space = {
        "rate": Real(1e-5, 1e-1, log=True),
        "units": Int(16, 256, step=16),
        "model": Choice({"cnn": {"kernel": Int(1, 7)}, None: {}}),
    }
    given = [
        bamsoo.minimize(lambda **_: 1.0, {**space, "units": units}, 1, known=known)
        for known in (f"{address}#resnet", f"{address}?timeout=5#resnet", study)
        for units in (space["units"], 32)
    ]
    values = [t.value for t in study.trials if t.state.name == "COMPLETE"]
    for r in given[::2]:
        assert sorted(v for v in r.F[:-1] if v == v) == sorted(values)
    assert [r.space.pinned for r in given] == [False, True] * 3
    assert "full evaluations in 14 trials" in bamsoo_("show", f"{address}#resnet")
    with pytest.raises(StudyError, match=r"holds 2 studies, .*; name one, as in sqlite:////.*#"):
        bamsoo.minimize(lambda **_: 1.0, space, 1, known=address)
    monkeypatch.chdir(tmp_path)
    bamsoo.minimize(lambda x: x, {"x": (0, 1)}, 1, study="run.db")
    with pytest.raises(SettingsError, match="a file has one study of bamsoo, which has no name"):
        bamsoo.minimize(lambda x: x, {"x": (0, 1)}, 1, study="sqlite:///run.db#x")
    with bamsoo.Study.open("sqlite:///a#b.db", space={"x": (0, 1)}):
        assert (tmp_path / "a#b.db").is_file()
