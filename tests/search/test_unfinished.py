"""Evaluations that are not finished: what is dropped, what goes on, and what the model is told."""

import numpy as np
import pytest

import bamsoo
from bamsoo import Fidelity
from bamsoo.record.trials import Evaluation
from bamsoo.search.stopping import REVIVED, Belief, Stopping
from bamsoo.search.unfinished import AtLevels, Fate, Unfinished
from bamsoo.space import Point


class Margins:
    """Instead of a model of levels: how far each point could get above the best value."""

    def __init__(self, margins):
        self._margins = margins

    def margin(self, point, bar):
        return self._margins[float(point.unit[0])]

    def above(self, level, point, index):
        return 4.0 * level


@pytest.mark.parametrize(
    ("margins", "revived"),
    [
        ({}, []),
        ({4: 0.1}, [4]),
        ({4: 0.1, 7: 0.3, 9: 0.2}, [7, 9, 4]),
        ({0: 9.0, 1: 9.0}, []),
    ],
)
def test_of_dropped_points_the_one_that_could_win_by_most_goes_on(monkeypatch, margins, revived):
    # the first two are believed to be the worst, and are not looked at
    opt = bamsoo.Optimizer({"x": (0.0, 16.0), "n": Fidelity(1, 16)}, "maximize")
    ledger, count = opt.ledger, REVIVED + 2
    unfinished = AtLevels(
        opt.space,
        ledger,
        opt.objectives,
        lambda: np.zeros((1, 1)),
        Margins({i / 16: margins.get(i, -0.1) for i in range(count)}),
    )
    told = {}

    def at(*numbers):
        return Point.given(opt.space, numbers)

    for i in range(count):
        evaluation = Evaluation(i, at(i, 1.0), (float(i),), opt.objectives)
        unfinished.drop(evaluation, Belief((float(i),), (1.0,)))
        told[evaluation.point] = evaluation
    monkeypatch.setattr(ledger, "at", told.get)
    at_top = Evaluation(99, at(0.5, 16.0), (1.0,), opt.objectives)
    rising = []
    for i in revived:  # each goes on once
        found = unfinished.revived_by(at_top, rising)
        assert found.x[0] == i
        rising.append(unfinished.higher(found))
        assert rising[-1] == at(i, 4.0)
    left = unfinished.revived_by(at_top, rising)
    assert left is None or left.x[0] < 2  # those are looked at when others have gone on


def test_the_curve_of_a_finished_trial_ends_with_its_value_and_a_stopped_one_is_as_reported(
    monkeypatch,
):
    entered, add = [], Stopping.add

    def listened(self, x, taken, steps, values, instead_of=None):
        entered.append((taken, list(steps), np.ravel(values).tolist()))
        return add(self, x, taken, steps, values, instead_of)

    monkeypatch.setattr(Stopping, "add", listened)
    opt = bamsoo.Optimizer([(0.0, 1.0)], steps=10)
    early, *others = opt.ask(3)
    opt._record(early, 1, 5.0)
    opt._record(early, 4, 4.0)
    opt.tell(early, 0.5)  # before its last step, and another value than that of the step before
    assert entered.pop() == (4, [1, 4, 10], [-5.0, -4.0, -0.5])
    for trial in others:
        taken = next(step for step in range(1, 11) if not opt.report(trial, step, 90.0 - step))
        steps = list(range(1, taken + 1))
        assert entered.pop() == (taken, steps, [step - 90.0 for step in steps])
    assert not entered


def test_without_steps_and_levels_every_evaluation_is_finished():
    opt = bamsoo.Optimizer([(0.0, 1.0)])
    unfinished = Unfinished(opt.space, opt.ledger, opt.objectives, lambda: np.zeros((1, 1)))
    trial = opt.ask()
    opt.tell(trial, 2.0)
    (evaluation,) = opt.evaluations
    assert unfinished.instead(evaluation) is None
    assert not unfinished.left([])
    assert unfinished.first(trial.point, False) == trial.point.at_top == trial.point
    assert unfinished.evaluation(trial.point) is evaluation
    assert not unfinished.judge(0, 1, (5.0,)).stop


@pytest.mark.parametrize("asked", [True, False])
def test_what_somebody_else_stopped_survives_an_interrupt(asked):
    opt = bamsoo.Optimizer([(0.0, 1.0)], "maximize")
    opt.tell(opt.ask(), 3.0)
    trial = opt.ask()
    opt._tell_stopped(trial if asked else np.array([0.9]), 1.5, {})
    opt._take_up(opt._events, len(opt._events))  # as after an interrupt
    opt.ask()
    known = opt.book.known
    assert set(known.values[~known.final].tolist()) == {1.5}
    assert opt.best.value == 3.0
    assert (opt.result.nstopped, opt.result.nfailed) == (1, 0)


@pytest.mark.parametrize(("answers", "fate"), [(True, Fate.SEEN), (False, Fate.KEPT)])
def test_a_failure_below_the_top_is_kept_unless_it_answers_the_search(answers, fate):
    opt = bamsoo.Optimizer({"x": (0.0, 16.0), "n": Fidelity(1, 16)})

    class Levels(Margins):
        def fail(self, point, level):
            pass

        def outlives(self, level, index):
            return False

    unfinished = AtLevels(
        opt.space, opt.ledger, opt.objectives, lambda: np.zeros((1, 1)), Levels({})
    )
    failed = Evaluation(0, Point.given(opt.space, (3.0, 1.0)), (), opt.objectives)
    assert unfinished.arrive(failed, answers, False) is fate
    assert (
        unfinished.arrive(failed._replace(point=failed.point.at_top), answers, False) is Fate.SEEN
    )


def test_what_the_model_believes_of_stopped_evaluations_reaches_the_search():
    """Also where the search's own points differ from the evaluated ones by rounding."""
    space = {"rate": bamsoo.Real(1e-4, 1.0, log=True), "width": bamsoo.Int(3, 40)}
    opt = bamsoo.Optimizer(space, steps=16)
    for _ in range(14):
        trial = opt.ask()
        rate, width = trial.params["rate"], trial.params["width"]
        for step in range(1, 17):
            value = (np.log10(rate) + 2) ** 2 + (width - 20) ** 2 / 100 + 2 / step
            if not opt.report(trial, step, value):
                break
        else:
            opt.tell(trial, value)
    opt.ask()
    known = opt.book.known
    stopped = np.flatnonzero(~known.final)
    ends = [belief for belief, _ in opt._course._unfinished._dropped.values()]
    assert len(stopped) > 5
    assert {float(each) for each in known.F[stopped, 0]} <= {each.means[0] for each in ends}
