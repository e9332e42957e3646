"""The ledger of trials, pending and finished, is right whatever the order of events."""

from math import isfinite, isnan, nan

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import Fidelity, Optimizer
from bamsoo.record.ledger import front_of, on_the_front
from bamsoo.record.objectives import ORDINARY
from bamsoo.record.trials import Evaluation
from bamsoo.space import Point, Space

BOX = [(0.0, 1.0), (-2.0, 3.0)]


def test_what_is_given_back_is_handed_out_again_oldest_first():
    opt = Optimizer(BOX, algorithm="soo")
    trials = [opt.ask() for _ in range(5)]
    for number in (3, 1, 3):
        opt.give_back(trials[number])
    trials[1].x[:] = 7.0  # a caller's own copy
    again = [opt.ask(), opt.ask()]
    assert [trial.number for trial in again] == [1, 3]
    assert_array_equal(again[0].x, trials[1].point.x)
    assert opt.ask().number == 5


def test_a_trial_that_was_told_is_not_handed_out_again():
    opt = Optimizer(BOX, algorithm="soo")
    first, second = opt.ask(), opt.ask()
    opt.give_back(first)
    opt.tell(first, 1.0)  # its worker was only late
    opt.tell(second, 2.0)
    opt.give_back(second)
    assert opt.ask().number == 2
    with pytest.raises(bamsoo.errors.TrialError, match="already been told"):
        opt.tell(first, 1.0)


def test_a_trial_of_another_optimizer_is_not_given_back():
    opt, other = Optimizer(BOX, algorithm="soo"), Optimizer(BOX, algorithm="random")
    opt.ask()
    opt.give_back(other.ask())
    assert opt.ask().number == 1


@pytest.mark.parametrize("algorithm", ["bamsoo", "auto", "soo"])
def test_an_enqueued_trial_is_pending_and_not_asked_for_again(algorithm):
    opt, twin = Optimizer(BOX, algorithm=algorithm), Optimizer(BOX, algorithm=algorithm)
    centre = twin.ask()
    opt.enqueue(centre.x)
    enqueued, trial = opt.ask(2)
    assert (enqueued.number, trial.number) == (0, 1)
    assert (enqueued.point == centre.point, trial.point != centre.point) == (True, True)
    opt.tell(enqueued, 3.0)
    assert opt.told == 1
    assert opt.best.number == 0


def test_a_failure_keeps_its_reason():
    opt = Optimizer(BOX, algorithm="soo")
    opt.tell(opt.ask(), None, "the solver diverged")
    opt.tell(opt.ask(), nan)
    opt.tell(opt.ask(), 1.0)
    assert [e.error for e in opt.evaluations] == ["the solver diverged", "the value is nan", None]
    assert opt.ledger.failed == opt.result.nfailed == 2


@pytest.mark.parametrize("space", [BOX, {"a": BOX[0], "b": BOX[1]}], ids=["pairs", "named"])
def test_a_result_does_not_change_after_it_was_made(space):
    opt = Optimizer(space, algorithm="random")
    seen = []
    for i in range(40):
        opt.tell(opt.ask(), float(i))
        seen.append(opt.result)
    for i, result in enumerate(seen):
        assert len(result.X) == len(result.F) == result.nfev == i + 1
        assert result.F.tolist() == list(range(i + 1))
    if isinstance(space, dict):
        seen[5].X[0]["a"] = 99.0
        assert seen[6].X[0]["a"] != 99.0
        assert opt.result.X[0]["a"] != 99.0


class Account(RuleBasedStateMachine):
    """Ask, tell, give back, expect and enqueue in any order, against plain sets."""

    @initialize(algorithm=st.sampled_from(["soo", "bamsoo", "random"]))
    def begin(self, algorithm):
        space = {"i": bamsoo.Int(0, 5), "x": (0.0, 1.0)}
        self.opt = Optimizer(space, algorithm=algorithm)
        self.out, self.idle, self.known, self.elsewhere = {}, set(), {}, set()

    @rule()
    def ask(self):
        trial = self.opt.ask()
        if self.idle:
            assert trial.number == min(self.idle)
            self.idle.remove(trial.number)
        else:
            assert trial.number == len(self.opt.ledger.trials) - 1
            taken = {*self.known, *self.elsewhere, *(t.point for t in self.out.values())}
            assert trial.point not in taken
        self.out[trial.number] = trial

    @precondition(lambda self: self.out)
    @rule(data=st.data(), value=st.one_of(st.none(), st.floats(-9, 9)))
    def tell(self, data, value):
        number = data.draw(st.sampled_from(sorted(self.out)))
        trial = self.out.pop(number)
        self.opt.tell(trial, value)
        self.idle.discard(number)
        self.known[trial.point] = nan if value is None else value

    @precondition(lambda self: self.out)
    @rule(data=st.data())
    def give_back(self, data):
        number = data.draw(st.sampled_from(sorted(self.out)))
        self.opt.give_back(self.out[number])
        self.idle.add(number)

    @rule(i=st.integers(0, 5), x=st.floats(0, 1))
    def expect(self, i, x):
        point = {"i": i, "x": x}
        at = Point.given(self.opt.space, point)
        self.opt.expect(point)
        if at not in self.known and at not in {t.point for t in self.out.values()}:
            self.elsewhere.add(at)

    @precondition(lambda self: self.elsewhere)
    @rule(data=st.data(), value=st.floats(-9, 9))
    def tell_expected(self, data, value):
        at = data.draw(st.sampled_from(sorted(self.elsewhere, key=lambda point: point.key)))
        self.elsewhere.remove(at)
        self.opt.tell(at.x, value)
        self.known[at] = value

    @rule(i=st.integers(0, 5), x=st.floats(0, 1))
    def enqueue(self, i, x):
        at = Point.given(self.opt.space, {"i": i, "x": x})
        self.opt.enqueue({"i": i, "x": x})
        if isnan(self.known.get(at, 0.0)):  # a failure is evaluated again, as the same trial
            del self.known[at]
            (trial,) = (t for t in self.opt.ledger.trials if t.point == at)
            self.out[trial.number] = trial
            self.idle.add(trial.number)
        elif at not in {*self.known, *self.elsewhere, *(t.point for t in self.out.values())}:
            trial = self.opt.ledger.trials[-1]
            self.out[trial.number] = trial
            self.idle.add(trial.number)

    @invariant()
    def it_adds_up(self):
        if not hasattr(self, "opt"):
            return
        ledger = self.opt.ledger
        assert set(ledger.out) == set(self.out)
        assert set(ledger.expected) == self.elsewhere
        assert ledger.idle == tuple(sorted(self.idle))
        assert len(ledger.evaluations) == len(self.known)
        finite = [value for value in self.known.values() if isfinite(value)]
        assert ledger.failed == len(self.known) - len(finite)
        assert (ledger.best is None) == (not finite)
        if finite:
            assert ledger.best.value == min(finite)
        assert all(ledger.at(point) is not None for point in self.known)
        assert all(ledger.is_out(point) for point in self.elsewhere)


Account.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
test_any_order_of_events = Account.TestCase


@pytest.mark.parametrize(
    ("space", "more", "state"),
    [
        ([(0, 1)], {"number": 0}, "done"),
        ([(0, 1)], {}, "given"),
        ([(0, 1)], {"number": 0, "numbers": ()}, "failed"),
        ([(0, 1)], {"number": 0, "steps": 3}, "finished"),
        ([(0, 1)], {"number": 0, "steps": 3, "numbers": (), "stopped": True}, "stopped"),
        ({"x": (0, 1), "rows": Fidelity(1, 9)}, {"number": 0}, "finished"),
        ({"x": (0, 1), "rows": Fidelity(1, 9)}, {"number": 0, "cheap": True}, "cheap"),
    ],
)
def test_the_state_of_an_evaluation_in_a_word(space, more, state):
    space = Space(space)
    told = Evaluation(None, Point.of(space, np.zeros(space.dim)), (1.0,), ORDINARY)
    assert told._replace(**more).state == state


def test_records_are_what_was_asked_for_and_told_in_order():
    opt = Optimizer({"x": (0.0, 1.0), "y": (0.0, 1.0)}, algorithm="random")
    first, second = opt.ask(2)
    opt.tell({"x": 0.5, "y": 0.25}, 3.0, extras={"time": 7})
    opt.tell(second, 2.0)
    third = opt.ask()
    opt.tell(third, None, "it crashed")
    found = list(opt.ledger.records(False))
    assert [(r.number, r.state, r.value, r.error) for r in found] == [
        (0, "out", None, None),
        (1, "done", 2.0, None),
        (None, "given", 3.0, None),
        (2, "failed", None, "it crashed"),
    ]
    expected = [first.params, second.params, {"x": 0.5, "y": 0.25}, third.params]
    assert [r.params for r in found] == expected
    assert found[2].extras == {"time": 7}
    assert [r.origin for r in found] == ["random", "random", "given", "random"]


def test_a_front_begins_with_the_best_and_equals_are_in_the_order_of_the_next_objective():
    names = {"a": "min", "b": "max", "c": "min"}
    opt = Optimizer({"x": (0.0, 1.0)}, algorithm="random", objectives=names)
    ordered = [(1.0, 9.0, 7.0), (1.0, 8.0, 6.0), (1.0, 7.0, 5.0), (0.0, 1.0, 9.0), (2.0, 9.0, 0.0)]
    for i in (2, 0, 4, 1, 3):
        opt.tell({"x": i / 4}, ordered[i])
    opt.tell({"x": 0.9}, (2.0, 8.0, 8.0))  # dominated by the first
    assert [e.numbers for e in opt.result.front] == [ordered[i] for i in (3, 0, 1, 2, 4)]


def test_measurements_are_columns_by_name_and_nan_where_nothing_was_measured():
    opt = Optimizer(BOX, algorithm="random", constraints=["size", "heat"])
    opt.tell([0.1, 0.0], 1.0, constraints={"size": -1.0, "heat": 2.0})
    opt.tell([0.2, 0.0], None)
    opt.tell([0.3, 0.0], 2.0, constraints={"heat": -4.0, "size": -3.0})
    found = opt.result.C
    assert list(found) == ["size", "heat"]
    assert_array_equal(found["size"], [-1.0, nan, -3.0])
    assert_array_equal(found["heat"], [2.0, nan, -4.0])
    assert opt.result.feasible.tolist() == [False, False, True]
    assert (opt.ledger.infeasible, opt.ledger.failed, opt.ledger.given) == (0, 0, 3)


def test_a_front_has_one_row_for_each_point_and_says_equal_values_once():
    opt = bamsoo.Optimizer([(0, 1)], objectives=["a", "b"], algorithm="mosoo")
    for x, values in [(0.1, (0, 2)), (0.2, (2, 0)), (0.3, (1, 1)), (0.4, (1, 1)), (0.5, (1, 1))]:
        opt.tell([x], values)
    again = opt.ask()
    opt.tell(again.x, (1, 1))  # from elsewhere, before the trial itself is told
    opt.tell(again, (1, 1))
    front = opt.front
    assert [each.numbers for each in front] == [(0, 2), *[(1, 1)] * 4, (2, 0)][: len(front)]
    assert len({each.x.tobytes() for each in front}) == len(front)
    assert (
        on_the_front(front) == f"3 points on the front, and {len(front) - 3} with the same values"
    )
    assert on_the_front(front[:2]) == "2 points on the front"
    assert opt.result.fun == {"a": 1, "b": 1}  # the bend, although no such point stands alone
    assert opt.result.to_dataframe()["front"].sum() == len(front)


def test_the_cost_is_that_of_the_steps_that_were_taken():
    opt = Optimizer(BOX, steps=10, algorithm="soo")
    first, second, third = opt.ask(3)
    for step in (1, 2, 4):
        opt.report(first, step, 5.0 - step)
    assert opt.ledger.costs.cost == 0.4
    opt.tell(second, 1.0)  # without a report it took all of them
    opt.report(third, 3, 2.0)
    assert opt.ledger.costs.cost == 0.4 + 1.0 + 0.3


def test_a_row_says_in_short_what_there_is_to_say(tmp_path):
    r = bamsoo.maximize(lambda C: 0.1 + 0.2, {"C": bamsoo.Real(1e-2, 1e3, log=True)}, 1)
    said = "number=0, params={'C': 3.162278}, value=0.3"
    assert repr(r.evaluations[0]).startswith(f"Evaluation({said}, origin='tree'")
    with bamsoo.Study.open(tmp_path / "run.db", space={"x": (0, 1)}, algorithm="soo") as study:
        study.tell(study.ask(), None, "diverged")
        said = "number=0, params={'x': 0.5}, state='failed', error='diverged', origin='tree'"
        assert repr(study.trials[0]).startswith(f"Record({said}")


@pytest.mark.parametrize("aims", [["a", "b"], {"a": "max", "b": "min", "c": "max"}])
def test_a_front_that_grows_is_that_of_the_front_and_the_new_evaluation(aims):
    rng = np.random.default_rng(3)
    opt = bamsoo.Optimizer([(0, 1)], objectives=aims, algorithm="random")
    expected = []
    for _ in range(120):  # many points and vectors are equal
        opt.tell([rng.integers(40) / 40], rng.integers(0, 9, len(aims)).astype(float))
        expected = front_of([*expected, opt.ledger.evaluations[-1]])
        assert opt.front == expected
