"""The loop around a search: every free worker gets the next trial, and every reply is told."""

import logging
import numbers
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf, isnan
from typing import TYPE_CHECKING, Any, TypeAlias

from ..base.checks import brief, check_whole, count, is_finite, short, without_numbers
from ..errors import (
    ExhaustedError,
    LateError,
    SettingsError,
    StudyError,
    TryAgain,
    ValueTypeError,
    WorkerError,
)
from ..record.events import Told
from ..record.said import Said
from ..record.trials import Trial
from ..search.optimizer import Optimizer
from ..stop import Rule
from .calls import may_return_none
from .evaluation import Companion, FirstError, Reply, StepValue, in_words
from .outage import PATIENCE, Outage
from .pool import Pool, Workers, open_pool
from .progress import Display

if TYPE_CHECKING:
    from ..result.result import Result


log = logging.getLogger("bamsoo")
"""The log of a run, silent unless the caller configures the standard library's logging."""
log.addHandler(logging.NullHandler())


Callbacks: TypeAlias = "Callable[[Result], object] | Sequence[Callable[[Result], object]] | None"


class Ending(IntEnum):
    """Why a run ended: `result.status`."""

    BUDGET = 0
    TARGET = 1
    TIMEOUT = 2
    CALLBACK = 3
    EXHAUSTED = 4
    ERROR = 5
    RULE = 6
    FAILING = 7
    OUTAGE = 8


def never() -> bool:
    """Return False: nothing outside the run asks it to stop."""
    return False


@dataclass(frozen=True)
class Rules:
    """When a run ends and what it does on the way; checked when it is made.

    Parameters
    ----------
    budget, target, timeout, callback, on_error, trial_timeout
        As in `minimize`; the budget includes the evaluations of earlier runs of a study. If it is
        None, it becomes infinite, and the run ends by the timeout or by a rule.
    interrupted : callable
        Called before each evaluation; if it returns True, no more evaluations are started.
    stop : tuple of callables
        Each is called with the result so far after each evaluation, and ends the run by returning
        True or a sentence that says why.
    insist : str, optional
        What a caller can give to go on although no evaluation gives a value. If it is empty, the
        caller has given it, and the run goes on.
    patience : float
        Seconds to wait for evaluations that cannot take place (`TryAgain`).
    fatal_failures : int, optional
        The run ends when this many evaluations in a row have failed with the same reason.
    initializer : callable, optional
        What each process that the run starts calls first.
    """

    budget: float | None
    target: Any = None
    timeout: float | None = None
    callback: Callbacks = None
    on_error: str = "raise"
    trial_timeout: float | None = None
    interrupted: Callable[[], bool] = never
    stop: tuple[Rule, ...] = ()
    insist: str = ""
    patience: float = PATIENCE
    fatal_failures: int | None = None
    initializer: Callable[[], object] | None = None

    def __post_init__(self) -> None:
        endless = self.timeout in (None, inf) and not self.stop
        if self.budget is None and endless:
            raise SettingsError(
                "budget is None, so the run would never end; give timeout= or stop=, such as "
                "stop=Stalled(20), or a budget"
            )
        object.__setattr__(
            self, "budget", inf if self.budget is None else whole_budget(self.budget)
        )
        for callback in self.callbacks:
            if not callable(callback):
                raise SettingsError(
                    f"callback must be callable, or a list of callables, got {brief(callback)}"
                )
        if self.on_error not in ("raise", "fail"):
            raise SettingsError(f"on_error must be 'raise' or 'fail', got {brief(self.on_error)}")
        if self.timeout is not None and not (
            (is_finite(self.timeout) and self.timeout > 0) or self.timeout == inf
        ):
            raise SettingsError(f"timeout must be a positive number, got {brief(self.timeout)}")
        if not is_finite(self.patience) or self.patience < 0:
            raise SettingsError(
                f"patience must be a number of seconds >= 0, got {brief(self.patience)}"
            )
        if self.fatal_failures is not None:
            check_whole("a run", "fatal_failures", self.fatal_failures)

    @property
    def most(self) -> float:
        """The budget, which is infinite if there is none."""
        assert self.budget is not None
        return self.budget

    @property
    def callbacks(self) -> "Sequence[Callable[[Result], object]]":
        """The callbacks as a list."""
        given = self.callback
        if given is None:
            return ()
        return given if isinstance(given, (list, tuple)) else (given,)


AFTER_TIMEOUT = 60.0
"""After the timeout, a run waits for running evaluations for as long again, but at least this many
seconds. So an evaluation is abandoned only if it takes longer than everything before it, and a run
with a short timeout does not lose evaluations of ordinary length."""

FORGOTTEN = 3
"""A run ends if its first evaluations, this many, all return None: the function lacks a return
statement. A function that is seen to return None at some points only is not ended, since None then
marks points that cannot be evaluated."""

FAILING = 30
"""A run ends if its first evaluations, this many, all fail, unless failures are expected. A path or
a name is wrong then. With fewer, runs whose allowed region is a small part of the space would end
too: of 3 % of the space, 30 points miss all with a probability of 0.4."""

WHOLE = re.compile(r"\b(ints?|integers?|whole|floats?)\b|'float'")
"""What the message of an exception says if a function needs a whole number."""

PAUSE = 0.1
"""Seconds between two looks at what other processes have written, while there is nothing to do. A
look takes less than a millisecond; a longer pause would delay the end of short runs."""

NOISY = '; the values seem to be noisy, and noise="learn" may find a better point'
UNEQUAL = (
    "; the values are noisy, since one point gave {:.6g} and {:.6g}, so the best value is an "
    'estimate, and noise="learn" may find a better point'
)
UNEQUALS = (
    "; the values are noisy, since one point gave {} {:.6g} and {:.6g}, so the values of the front "
    'are estimates, and noise="learn" may find better points'
)
"""What is appended to the message of a result whose values are noisy although nobody said so. The
first is for evaluations that are not repeated, the last for several objectives."""


def whole_budget(budget: Any) -> int:
    """The budget as an int; raises an error unless it is a whole number >= 1."""
    number: Any = budget if isinstance(budget, numbers.Real) else 0
    if isinstance(budget, bool) or not (number >= 1 and number % 1 == 0):
        raise SettingsError(f"budget must be a whole number >= 1, got {brief(budget)}")
    return int(budget)


def drive(
    search: Optimizer,
    fun: Callable[..., Any],
    rules: Rules,
    workers: Workers = None,
    display: Display | None = None,
) -> "Result":
    """Ask, evaluate and tell until a rule ends the run; see `minimize`."""
    display = Display() if display is None else display
    loop = Loop(search, rules, display, may_return_none(fun))
    own: Companion | None = None
    if isinstance(fun, Companion):
        fun = own = fun.follow(search)
        loop.settle = own.settle
    try:
        if loop.end is None:
            try:
                most = loop.free // loop.unit
                pool = open_pool(
                    workers, fun, most, rules.trial_timeout, search.steps, rules.initializer
                )
                with closing(pool):
                    if own is not None:
                        own.check_workers(pool.size)
                    loop.through(pool)
            except WorkerError as error:
                raise WorkerError(f"{error}; {search.how_to_go_on}") from error
        if loop.raised is not None:
            raise loop.raised
    except BaseException as error:
        _attach(error, search)
        if isinstance(error, KeyboardInterrupt) and not error.args:
            done = count(search.told, "evaluation")
            if rules.most < inf:
                done = f"{search.told} of {count(int(rules.most), 'evaluation')}"
            error.args = (f"interrupted after {done}; {search.how_to_go_on}",)
        raise
    finally:
        try:
            if own is not None:
                own.end()
        finally:  # also after another Ctrl-C
            loop.abandon(*loop.out)
            display.close(search)
    assert loop.end is not None
    return _ended(search, *loop.end)


def _ended(search: Optimizer, ending: Ending, why: str) -> "Result":
    """The result of a run that has ended, with what its values show about noise."""
    result = search.result
    result.end(int(ending), why, explained=ending is Ending.FAILING)
    if (unequal := search.unequal) is not None:
        name, *both = unequal
        several = search.objectives.several
        result.message += UNEQUALS.format(name, *both) if several else UNEQUAL.format(*both)
    elif search.suspects_noise:
        result.message += NOISY
    log.info("%s: %s, best %r", count(result.nfev, "evaluation"), result.message, result.fun)
    return result


class Loop:
    """The loop of one call of `drive`.

    There are no rounds in which workers wait for each other: whenever a worker is free, the search
    is asked with what is known at that moment, and it knows which trials are pending.
    """

    def __init__(
        self, search: Optimizer, rules: Rules, display: Display, none_is_meant: bool = False
    ) -> None:
        self.search, self.rules, self.display = search, rules, display
        self.began, self.process = time.monotonic(), os.getpid()
        self.unit = search.ledger.costs.unit
        """The parts of a full evaluation, such as its steps, in which the budget is counted."""
        self.out: dict[int, Trial] = {}
        self.taken: dict[int, int] = {}  # the number of steps of each pending trial in this run
        self.raised: BaseException | None = None
        self.seen: Result | None = None  # the result that the rules were last called with
        # why no more trials are asked for, or None
        self.end = self.target_reached() or self.over() or self.ruled()
        self.at_once = False  # whether pending trials are abandoned instead of waited for
        self.none_is_meant = none_is_meant  # whether the function marks failures with None
        # called with the search, the number of a trial that has ended, and whether it failed
        self.settle: Callable[[Optimizer, int, bool], None] | None = None
        self.failures = self.forgotten = 0  # since the run began, or since its last value
        self.reason, self.same = "", 0  # why the last evaluations failed, and how many of them
        self.outage = Outage(rules.patience)
        self.shortages: set[str] = set()  # why not all workers could evaluate at once

    def through(self, pool: Pool) -> None:
        """Keep the pool full until the run ends, then wait for what is pending."""
        waited = False
        while not self.at_once:
            self.fill(pool)
            if not self.out and self.end is not None:
                return
            if not self.out and self.outage.lasts:
                time.sleep(PAUSE)
                self.end = self.over()
                continue
            if not self.out:  # other processes are evaluating what is left of the budget
                if not waited:
                    log.info("waiting for trials that other processes are evaluating")
                waited = True
                time.sleep(PAUSE)
                self.end = self.target_reached()
                continue
            try:
                replies = pool.wait()
            except (KeyboardInterrupt, SystemExit) as error:
                if len(self.out) == 1:
                    _note(error, *self.out.values())
                raise
            for number, message in replies:  # all of them, even after one that ends the run
                if isinstance(message, Reply):
                    self.take(self.out.pop(number), message)
                elif not self.at_once:
                    self.take_step(number, message, pool)
            self.give_up()

    def fill(self, pool: Pool) -> None:
        """Give every free worker a trial, unless the run is to end."""
        while self.end is None and len(self.out) < pool.size:
            if self.out and self.free < self.unit:
                return  # a trial that is stopped may leave enough for another one
            self.end = self.over()
            if self.end is not None:
                return
            if self.outage.lasts and not self.outage.is_due:
                return
            self.prepare()
            try:
                trial = self.search.ask_within(self.rules.most, self.running)
            except ExhaustedError as error:
                if not self.search.ledger.out:  # a pending one may be stopped, and begin again
                    self.end = Ending.EXHAUSTED, str(error)
                return
            if trial is None:
                return
            self.out[trial.number] = trial
            self.taken[trial.number] = 0
            if self.rules.interrupted():  # asked again, because `ask` may have taken a while
                self.end = self.over()
                self.abandon(trial.number)
                return
            if self.outage.lasts:
                self.outage.give(trial.number)
            pool.submit(trial.number, _point(trial, self.search))

    @property
    def running(self) -> dict[int, int]:
        """The number of steps that each pending trial of this run has taken."""
        return {number: self.taken[number] for number in self.out}

    @property
    def free(self) -> float:
        """The number of steps of the budget that this process neither took nor may yet take.

        A trial is started only if it can take all its steps, because one that cannot be finished
        cannot win.
        """
        return self.search.ledger.costs.free(self.rules.most, self.running)

    def others_spend(self) -> bool:
        """Whether other processes are evaluating the rest of the budget, so that this one waits."""
        others = () if self.out else self.search.elsewhere()
        return bool(others) and self.search.ledger.costs.free(self.rules.most, {}, others) >= 0

    def over(self) -> tuple[Ending, str] | None:
        """Why no more trials are to be asked for, or None."""
        if self.free < self.unit and not self.others_spend():
            return Ending.BUDGET, self.spent()
        if self.rules.timeout is not None and time.monotonic() - self.began > self.rules.timeout:
            return Ending.TIMEOUT, f"the timeout of {self.rules.timeout:g} s has passed"
        if self.rules.interrupted():
            return Ending.CALLBACK, "the run was stopped"
        return None

    def spent(self) -> str:
        """What the budget was spent on; with steps or a fidelity, some may be left."""
        budget, cost = int(self.rules.most), self.search.ledger.costs.cost
        full = self.search.steps is None and self.search.space.fidelity is None
        if full or cost >= budget:
            what = "evaluation" if full else "full evaluation"
            return f"the budget of {count(budget, what)} is spent"
        return (
            f"{cost:.4g} of {count(budget, 'full evaluation')} are spent; the rest is too little "
            "for another one"
        )

    def give_up(self) -> None:
        """Stop waiting for evaluations that still run long after the timeout."""
        timeout = self.rules.timeout
        if timeout is None or not self.out or self.at_once:
            return
        patience = max(timeout, AFTER_TIMEOUT)
        if time.monotonic() - self.began > timeout + patience:
            self.end = (
                Ending.TIMEOUT,
                f"the timeout of {timeout:g} s has passed, and {patience:g} s later "
                f"{count(len(self.out), 'evaluation')} had not finished, which will be started "
                "again if the run is continued",
            )
            self.at_once = True

    def target_reached(self) -> tuple[Ending, str] | None:
        """The end of the run if the target is reached, perhaps in an earlier run of the study."""
        if self.rules.target is not None and self.search.reaches(self.rules.target):
            target = self.rules.target
            said = target if isinstance(target, Mapping) else f"{target:g}"
            return Ending.TARGET, f"the target of {said} is reached"
        return None

    def ruled(self) -> tuple[Ending, str] | None:
        """The end of the run if one of the caller's rules says so, perhaps for earlier values."""
        if not self.rules.stop or not self.search.ledger.evaluations:
            return None
        result = self.seen = self.search.result
        for rule in self.rules.stop:
            if why := rule(result):
                return Ending.RULE, why if isinstance(why, str) else "a stopping rule ended the run"
        return None

    def prepare(self) -> None:
        """Enqueue the points that a rule wants evaluated before it can decide."""
        for rule in self.rules.stop if self.seen is not None else ():
            if hasattr(rule, "next_point") and (point := rule.next_point(self.seen)) is not None:
                self.search.enqueue(point, again=False)

    def take_step(self, number: int, step: StepValue, pool: Pool) -> None:
        """Report a step of a trial, and stop the trial if it cannot win."""
        trial = self.out[number]
        self.taken[number] += 1
        try:
            if self.search.ledger.must_finish(number, self.rules.most, self.running):
                self.search._record(trial, self.taken[number], step.value)
                go_on = True
            else:
                go_on = self.search.report(trial, self.taken[number], step.value)
        except LateError as error:
            log.warning("%s", error)
            go_on = False
        try:
            pool.answer(number, go_on)
        except Exception as error:  # raised by the function while it was closed
            _note(error, trial)
            if self.rules.on_error == "raise":
                self.break_off(error)
            log.warning("trial %d was stopped, but not cleanly: %s", number, in_words(error))
        if not go_on:
            del self.out[number]
            log.debug("trial %d stopped after %d steps", number, self.taken[number])
            if self.settle is not None:
                self.settle(self.search, number, False)
            self.after()

    def take(self, trial: Trial, reply: Reply) -> None:
        """Tell the outcome of a trial, and check whether it ends the run."""
        if isinstance(reply.error, TryAgain):
            self.put_off(trial, reply)
            return
        self.take_place()
        otherwise = reply.error.otherwise if isinstance(reply.error, FirstError) else None
        if otherwise is not None and any(each.numbers for each in self.search.evaluations):
            reply = replace(otherwise, took=reply.took)
        reply, event = self.checked(reply)
        fatal = isinstance(reply.error, SettingsError)  # then every evaluation would end like this
        if reply.error is not None and (fatal or self.rules.on_error == "raise"):
            self.out[trial.number] = trial
            _note(reply.error, trial)
            self.break_off(reply.error)
            return
        try:
            self.tell(trial, reply, event)
        except LateError as error:
            log.warning("%s", error)
            return
        self.say_told(trial, reply)
        if self.settle is not None:
            self.settle(self.search, trial.number, reply.value is None)
        if not self.at_once:
            self.end = self.useless(reply) or self.end
        self.after()

    def tell(self, trial: Trial, reply: Reply, event: Told) -> None:
        """Tell the outcome of a trial; one that cannot be stored is at least shown."""
        try:
            if self.search.steps is not None:
                self.record(trial, reply)
            self.search.tell_checked(trial, event)
        except StudyError:  # it may have taken hours, and nobody else knows it
            if reply.value is not None and os.getpid() == self.process:  # not in a forked child
                what = "trial %d at %s gave %r, which could not be stored"
                shown = logging.getLogger("bamsoo.study")  # its warnings are, in any program
                shown.warning(what, trial.number, trial.params, reply.value)
            raise

    def put_off(self, trial: Trial, reply: Reply) -> None:
        """Give back a trial whose evaluation could not take place, and pause."""
        self.search.give_back(trial)
        if self.at_once or self.end is not None:
            return
        outage = self.outage
        why = short(reply.reason)
        outage.meet(trial.number, why)
        if outage.spares(self.out, reply.took or 0.0):
            if trial.number in outage.tried:
                self.say_shortage(why)
            return
        if not self.out and not outage.said:
            said = f"an evaluation could not take place: {why}; it is tried again for "
            self.say(f"{said}{outage.patience:.6g} s, and the run waits")
            outage.said = True
        if outage.is_too_long:
            self.end = (
                Ending.OUTAGE,
                (
                    f"evaluations could not take place for {outage.seconds:.3g} s, the last time "
                    f"with: {why}; what is pending is evaluated when the run is continued"
                ),
            )

    def take_place(self) -> None:
        """Note that an evaluation took place, which ends an outage."""
        if self.outage.said:
            self.say(f"evaluations take place again, after {self.outage.seconds:.3g} s")
        elif self.outage.lasts:
            self.say_shortage(self.outage.why)
        self.outage.end()

    def say_shortage(self, why: str) -> None:
        """Say, once for each reason, that fewer evaluations can run at once than there are workers.

        A licence for two of them, for example, is refused again whenever one of the two has ended.
        """
        reason = without_numbers(why)
        if reason not in self.shortages:
            self.shortages.add(reason)
            self.say(f"not all workers can evaluate at once: {why}; the others are tried again")

    def say(self, text: str) -> None:
        """Tell the user something, once."""
        log.warning("%s", text)
        self.display.say(text)

    def record(self, trial: Trial, reply: Reply) -> None:
        """Enter the steps that an evaluation took before its reply and that are not known yet."""
        values, taken = list(reply.curve), self.taken[trial.number]
        lacks = bool(values) and values[-1] is None  # whether the last step gave no value
        if taken and not values:
            lacks = isnan(self.search.ledger.costs.curves[trial.number].values[-1][0])
        if reply.value is None and not (reply.error is None and lacks):
            values.append(None)  # it took another step, in which it failed
        for step, value in enumerate(values[: self.unit - taken], taken + 1):
            self.search._record(trial, step, value)

    def after(self) -> None:
        """Show the state after a trial, and check whether it ends the run."""
        if self.at_once:
            return
        self.display.show(self.search)
        if self.rules.callbacks:
            try:
                result = self.search.result
                ended = [callback(result) is True for callback in self.rules.callbacks]
            except StopIteration:
                ended = [True]
            except BaseException as error:
                ended = []
                self.break_off(error)
            if any(ended):
                self.end, self.at_once = (Ending.CALLBACK, "the callback ended the run"), True
        if not self.at_once:
            try:
                end = self.target_reached() or self.ruled()
            except BaseException as error:
                self.break_off(error)
            else:
                self.end, self.at_once = end or self.end, end is not None

    def useless(self, reply: Reply) -> tuple[Ending, str] | None:
        """The end of the run if no evaluation gives a value."""
        if reply.value is not None:
            self.failures = self.forgotten = self.same = 0
            return None
        reason = without_numbers(reply.reason)
        self.same = self.same + 1 if reason == self.reason else 1
        self.reason = reason
        if self.same == self.rules.fatal_failures:
            return Ending.FAILING, (
                f"{count(self.same, 'evaluation')} in a row failed with the same reason: "
                f"{short(reply.reason)}; if such failures are expected, allow more of them or give "
                f"{self.rules.insist or 'fatal_failures=None'}"
            )
        self.failures += 1
        self.forgotten = self.forgotten + 1 if reply.is_none and not self.none_is_meant else 0
        ledger = self.search.ledger
        insist = self.rules.insist
        if not insist or not ledger.all_failed:
            return None
        if self.forgotten >= FORGOTTEN:
            return Ending.FAILING, (
                f"the function returned None {self.forgotten} times in a row; does it lack a "
                f"return statement? If these points cannot be evaluated, give {insist}"
            )
        if self.failures >= max(FAILING, self.rules.fatal_failures or 0):
            return Ending.FAILING, (
                f"all of the first {self.failures} evaluations failed, the last one with: "
                f"{short(reply.reason)}; if this is expected, give {insist}"
            )
        return None

    def checked(self, reply: Reply) -> tuple[Reply, Told]:
        """The reply and the event that it is; a reply that is incomplete or invalid is an error."""
        said = Said.besides(reply.value, reply.beside, self.search.constraints)
        if reply.value is None:
            said = said._replace(error=reply.reason, variance=None)
        try:
            return reply, self.search.as_told(said._replace(took=reply.took))
        except ValueTypeError as error:
            reply = Reply(None, error=error, took=reply.took)
            return reply, self.search.as_told(Said(None, reply.reason, took=reply.took))

    def say_told(self, trial: Trial, reply: Reply) -> None:
        """Note what a trial has given."""
        if reply.value is None:
            log.warning("trial %d failed at %s: %s", trial.number, trial.params, reply.reason)
            self.display.failure(reply.reason)
        elif log.isEnabledFor(logging.DEBUG):
            log.debug("trial %d at %s: %r", trial.number, trial.params, reply.value)

    def break_off(self, error: BaseException) -> None:
        """End the run with this exception, unless there is one already, after telling replies."""
        self.raised = self.raised or error
        self.at_once = True

    def abandon(self, *numbers: int) -> None:
        """Give these trials back, so that the search hands them out again."""
        for number in numbers:
            self.search.give_back(self.out.pop(number))


def _point(trial: Trial, search: Optimizer) -> Any:
    return trial.params if search.space.named else trial.x.copy()


def _note(error: BaseException, trial: Trial) -> None:
    with suppress(Exception):  # some exceptions refuse notes; they propagate without one
        error.add_note(f"bamsoo: raised by trial {trial.number} at {trial.params}")
        if isinstance(error, AttributeError) and "attribute 'suggest_" in str(error):
            error.add_note(
                "bamsoo: fun gets the point itself; an objective of Optuna runs as it is in "
                "optuna, with bamsoo.integrations.optuna.BaMSOOSampler"
            )
        if isinstance(error, (TypeError, ValueError, IndexError)) and WHOLE.search(str(error)):
            for name, (low, high) in trial.point.space.between_whole_numbers(trial.x)[:1]:
                error.add_note(
                    f"bamsoo: {name} is a range of real numbers; for whole numbers, give "
                    f"Int({low:g}, {high:g})"
                )


def _attach(error: BaseException, search: Optimizer) -> None:
    result = search.result
    result.end(int(Ending.ERROR), f"ended by {type(error).__name__}")
    with suppress(Exception):
        error.result = result  # type: ignore[attr-defined]
