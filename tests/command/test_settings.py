"""Each setting of a run is described in one place, from which options, keys and notes follow."""

import pytest

from bamsoo.command.settings import KEYS, NOTED, SIGNED, Plan, chosen
from bamsoo.errors import SettingsError


def plan(**more):
    return Plan({"problem": "branin"}, ".", **more)


def test_the_keys_of_a_toml_file_and_their_types():
    assert KEYS["params"] == (dict,)
    assert KEYS["budget"] == (int,)
    assert KEYS["timeout"] == KEYS["goal"] == (int, float)
    assert KEYS["constraints"] == KEYS["record"] == (str, list)
    assert KEYS["maximize"] == KEYS["keep_going"] == (bool,)
    assert KEYS["scheduler"] == (str,)
    assert not {"", "replay", "directory", "given", "space", "direction"} & KEYS.keys()


def test_what_a_study_notes_and_what_of_it_is_signed():
    assert set(NOTED) == {
        "target", "directory", "budget", "workers", "scheduler", "goal", "trial_timeout",
        "stalled", "gap", "value", "record", "template", "workdir", "files", "keep", "output",
        "residuals", "data", "loss", "f_scale", "weights", "fatal_failures", "patience",
    }  # fmt: skip
    signed = ["target", "directory", "workers", "scheduler", "trial_timeout", "value"]
    assert signed == SIGNED


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("target", {"command": ["a", "b"]}, {"command": []}),
        ("target", {"problem": "branin"}, {"problem": "nothing"}),
        ("directory", "/tmp", None),
        ("budget", None, "many"),
        ("trial_timeout", 2.5, -1.0),
        ("scheduler", "tcp://host:1", 5),
        ("record", ["a"], ["a", 1]),
    ],
)
def test_a_note_from_elsewhere_is_checked(name, good, bad):
    assert NOTED[name](good)
    assert not NOTED[name](bad)


def test_an_option_counts_before_a_file_and_lists_are_tuples():
    found = chosen({"budget": 5, "record": (), "x0": ("a=1",)}, {"budget": 9, "record": "a"})
    assert (found["budget"], found["record"], found["x0"]) == (5, ("a",), ("a=1",))
    assert chosen({"budget": None, "record": ()}, {"budget": 9})["budget"] == 9


def test_objectives_have_the_direction_of_the_run_unless_they_say_otherwise():
    assert plan().aims is None
    assert plan(objectives=("a", "b:max", {"c": "min"})).aims == {
        "a": "min",
        "b": "max",
        "c": "min",
    }
    assert plan(objectives=("a", "b:min"), direction="maximize").aims == {"a": "max", "b": "min"}
    with pytest.raises(SettingsError, match="'a' is given twice"):
        _ = plan(objectives=("a", "a:max")).aims
    with pytest.raises(SettingsError, match="--objective a:maximum: expected NAME, NAME:min or"):
        _ = plan(objectives=("a:maximum", "b")).aims


def test_rules_and_constraints_are_made_from_what_is_given():
    assert plan().limits is None
    assert plan().stop == ()
    assert plan().search is None
    assert len(plan(stalled=3, gap=0.1).stop) == 2
    assert plan(constraints=("x <= 1",), measured=("c",)).limits[1] == "c"
    assert plan(noise=0.5).search.noise == 0.5
