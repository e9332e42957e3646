"""Search of a scikit-learn estimator's hyper-parameters, with scikit-learn's cross-validation."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import Algorithm, Name, planned, resolve
from ..base.checks import brief, check_whole
from ..base.defaults import ALGORITHM
from ..errors import ExhaustedError, SettingsError, SpaceError
from ..record.trials import Trial
from ..search.optimizer import Optimizer
from ..space import Choice, Fidelity, Int, Real

try:
    from sklearn.base import is_classifier
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection import check_cv
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state, indexable
    from sklearn.utils.validation import _num_samples

    from .sklearn_resources import (
        ROWS,
        FewerRows,
        SameSplits,
        SteppedFolds,
        Stepwise,
        Trained,
        check_resource,
        check_stepwise,
    )
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"BamsooSearchCV needs the package {error.name}; pip install 'bamsoo[sklearn]'",
        name=error.name,
    ) from error

EvaluateCandidates = Callable[..., dict[str, Any]]

GRID = "index of the grid"
"""The parameter that says which of several grids is used. It has spaces in its name, which no
parameter of an estimator can have."""


class CandidateBatch(NamedTuple):
    """Candidates that are evaluated together."""

    candidates: list[dict[str, Any]]
    cv: Any
    resources: list[int]
    """How much of the resource each has, or how many steps; empty if there is none."""

    @property
    def more(self) -> dict[str, list[int]] | None:
        """The column of `cv_results_` about it."""
        return {"n_resources": self.resources} if self.resources else None


@dataclass
class Done:
    """What has been cross-validated so far."""

    evaluate: EvaluateCandidates
    """scikit-learn's function that cross-validates candidates."""
    results: dict[str, Any] = field(default_factory=dict)
    """The columns of scikit-learn, of the candidates that could be fitted."""
    candidates: list[dict[str, Any]] = field(default_factory=list)
    numbers: list[int | None] = field(default_factory=list)
    """The trial of each candidate."""
    resources: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    """The indices of the candidates for which all fits failed."""
    failure: ValueError | None = None
    """Why the last of these failed."""

    def add(self, batch: CandidateBatch) -> None:
        """Cross-validate candidates; a ValueError of scikit-learn if all their fits fail."""
        self.results = self.evaluate(batch.candidates, cv=batch.cv, more_results=batch.more)
        self._enter(batch)

    def fail(self, batch: CandidateBatch, failure: ValueError) -> None:
        """Enter candidates for which all fits failed."""
        first = len(self.candidates)
        self.failed += range(first, first + len(batch.candidates))
        self.failure = failure
        self._enter(batch)

    def _enter(self, batch: CandidateBatch) -> None:
        self.candidates += batch.candidates
        self.resources += batch.resources


class BamsooSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search an estimator's parameters with bamsoo; see docs/sklearn.md.

    Parameters
    ----------
    estimator : estimator
    space : dict of name -> (low, high), Real, Int, Choice, list or scipy distribution
        A pipeline's parameters have names such as ``svc__C``. As in scikit-learn, a list contains
        the values themselves, at least two; a range is a tuple. The scipy distributions uniform,
        loguniform and randint are accepted and mean the range they draw from. A list of such dicts
        is a list of grids, and each candidate has the parameters of one of them.
    n_iter : int, default 50
        The largest number of candidates to evaluate. There are fewer if the space has fewer points.
        With `resource` or `steps`, it counts candidates at the full resource: cheaper ones count as
        what they cost.
    n_points : int, default 1
        The number of candidates evaluated at once. The search learns most if they are evaluated
        one after another; more at once can keep more than `cv` workers busy.
    algorithm : str or settings object, default "auto"
        As in `bamsoo.minimize`.
    noise : float or "learn", optional
        As in `bamsoo.minimize`, for scores that vary from one evaluation to the next, as with
        estimators without a fixed random state. A candidate may then be evaluated more than once.
        The best candidate is still chosen by scikit-learn, by its score.
    study : path, optional
        A study file that keeps every candidate with its score, for `bamsoo show`, `report` and
        `watch`, even while the search runs. If it holds candidates already, the search goes on
        from them, and they count towards `n_iter`; of these, only the best is fitted again, so that
        `best_params_` is the best of all. All options must be strings, numbers, booleans or None.
    random_state : int, RandomState or None, default None
        Seeds the search. The default algorithm draws few random numbers, so two seeds may give the
        same first candidates.
    resource : str, optional
        What makes a fit cheaper: "n_samples", the number of rows, or the name of an integer
        parameter of the estimator, such as ``n_estimators``. Candidates begin with little of it,
        and those that cannot win do not get more. With `steps`, the parameter that grows.
    min_resources : int or "smallest", default "smallest"
        The least of the resource. "smallest" is as in HalvingRandomSearchCV: for rows, twice the
        number of splits times the number of classes, and otherwise 1.
    max_resources : int or "auto", default "auto"
        The full resource. "auto" is the number of rows; other resources need a number.
    steps : int, optional
        Train each candidate in this many steps, and stop those that cannot win. A step is a call of
        `partial_fit` with all rows. With `resource`, it is a call of `fit` with `warm_start`, and
        the resource grows evenly to `max_resources`, so it must count what the model has in all, as
        ``n_estimators`` does. The splits are trained one after another, whatever `n_jobs` says.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in scikit-learn's RandomizedSearchCV. The search maximises the score; if there are
        several, the one that `refit` names, or the first one if `refit` is False. With two to four
        scores, and a function as `refit`, it searches for the front of all of them, and the
        function picks a candidate: `cv_results_["front"]` says which ones no other one dominates.
        All candidates are evaluated on the same splits.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, ...
        As in RandomizedSearchCV. `cv_results_` has one row per candidate, in order. A candidate for
        which all fits failed has `error_score` as its score, and no times. With `resource` or
        `steps`, the column ``n_resources`` has how much of it each candidate got, or the number of
        its steps, and the best candidate is the best of those with all of it.
    min_resources_, max_resources_ : int
        With `resource`: its least and its full amount.
    result_ : bamsoo.Result
        The result of the search, for `plot`, `predict`, `ranges` and `to_dataframe`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from bamsoo import Real
    >>> from bamsoo.integrations.sklearn import BamsooSearchCV
    >>> space = {"C": Real(1e-2, 1e3, log=True), "gamma": Real(1e-4, 1e1, log=True)}
    >>> search = BamsooSearchCV(SVC(), space, n_iter=15).fit(*load_iris(return_X_y=True))
    >>> len(search.cv_results_["params"])
    15
    >>> bool(search.best_score_ > 0.97)
    True
    """

    def __init__(
        self,
        estimator: Any,
        space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_iter: int = 50,
        n_points: int = 1,
        algorithm: Name | Algorithm = ALGORITHM,
        noise: float | str | None = None,
        study: str | PathLike[str] | None = None,
        random_state: Any = None,
        resource: str | None = None,
        min_resources: int | str = "smallest",
        max_resources: int | str = "auto",
        steps: int | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.n_iter = n_iter
        self.n_points = n_points
        self.algorithm = algorithm
        self.noise = noise
        self.study = study
        self.random_state = random_state
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.steps = steps

    def fit(self, X: Any, y: Any = None, **params: Any) -> "BamsooSearchCV":
        """Search, and fit the best candidate to all rows.

        Parameters
        ----------
        X, y, **params
            As in RandomizedSearchCV. With `steps`, only ``groups`` are taken besides X and y.
        """
        if not self._cheaper:
            super().fit(X, y, **params)
            return self
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        if self.resource is not None:
            check_resource(self.estimator, self.resource)
            self._set_resources(_num_samples(X), y, cv.get_n_splits(X, y, params.get("groups")))
        self._splitter = SameSplits(cv)
        try:
            if self.steps is None:
                super().fit(X, y, **params)
            else:
                self._fit_in_steps(X, y, params)
        finally:
            del self._splitter
        return self

    def _fit_in_steps(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        """Search with models that are trained step by step, in place of the estimator."""
        check_whole("BamsooSearchCV", "steps", self.steps)
        if others := [name for name in params if name != "groups"]:
            raise SettingsError(
                f"steps= trains with X and y alone, got {', '.join(others)}; leave out steps="
            )
        check_stepwise(self.estimator, self.resource)
        settings: Any = self
        given, steps = (self.estimator, self.n_jobs), int(settings.steps)
        most = steps if self.resource is None else self.max_resources_
        self._stepwise = Stepwise(self.estimator, steps, self.resource, most, Trained())
        X, y = indexable(X, y)
        self._rows = X, y, list(self._splitter.split(X, y, params.get("groups")))
        settings.estimator, settings.n_jobs = self._stepwise, None
        try:
            super().fit(X, y, **params)
        finally:
            settings.estimator, settings.n_jobs = given
            del self._stepwise, self._rows
        if self.refit:
            settings.best_estimator_ = settings.best_estimator_.estimator_

    def _set_resources(self, count: int, y: Any, n_splits: int) -> None:
        """Find the least and the full amount of the resource."""
        rows, most, least = self.resource == ROWS, self.max_resources, self.min_resources
        if self.steps is not None and rows:
            raise SettingsError(
                "steps= needs a parameter of the estimator as resource=, or none, got 'n_samples'; "
                "leave out one of them"
            )
        if most == "auto" and not rows:
            raise SettingsError(
                f"max_resources='auto' is the number of rows; give a number for {self.resource}"
            )
        if most == "auto":
            most = count
        if rows and count < 2:
            raise SettingsError(
                f"resource='n_samples' needs at least two rows, got n_samples={count}"
            )
        check_whole("BamsooSearchCV", "max_resources", most)
        self.max_resources_ = int(most)
        if rows and self.max_resources_ > count:
            raise SettingsError(
                f"max_resources must be at most the number of rows, {count}, got {most}"
            )
        if least == "smallest":
            least = 1
            if rows:
                classes = len(np.unique(y)) if is_classifier(self.estimator) else 1
                least = min(2 * n_splits * classes, max(self.max_resources_ // 2, 1))
        check_whole("BamsooSearchCV", "min_resources", least)
        self.min_resources_ = int(least)
        if self.steps is None and self.min_resources_ >= self.max_resources_:
            raise SettingsError(
                f"min_resources must be below max_resources, got {least} and {most}"
            )

    def _run_search(self, evaluate_candidates: EvaluateCandidates) -> None:
        """Ask for candidates, cross-validate them, and tell their scores."""
        settings: Any = self
        verbose, settings.verbose = settings.verbose, 0  # it would print a line before each one
        try:
            with self._search() as search:
                self._go_through(search, evaluate_candidates, verbose)
                self.result_ = search.result
                if self._left(search) <= 0:
                    self.result_.end(0, f"the budget of n_iter={self.n_iter} is spent")
        finally:
            settings.verbose = verbose

    def _go_through(
        self, search: Optimizer, evaluate_candidates: EvaluateCandidates, verbose: int
    ) -> None:
        # other kinds of cv give the same splits each time anyway
        splits = SameSplits(self.cv) if hasattr(self.cv, "split") else None
        done = Done(evaluate_candidates)
        if (best := search.best) is not None:  # of an earlier fit with the same study
            done.add(self._batch([search.space.params(best.x)], splits))
            done.numbers.append(best.number)
        while (left := self._left(search)) > 0:
            try:
                trials = search.ask(min(self.n_points, left))
            except ExhaustedError:
                break
            for some, batch in self._batches(search, trials, splits):
                for trial, score in zip(some, self._fitted(batch, done), strict=True):
                    self._tell(search, trial, score)
                    done.numbers.append(trial.number)
                    if verbose > 0:
                        self._show(search, trial, score)
        if done.failure is not None:
            self._add_failed(done, done.failure)
        if self._aims:
            front = {evaluation.number for evaluation in search.front}
            done.results["front"] = np.array([number in front for number in done.numbers])
        del self._evaluated

    def _tell(self, search: Optimizer, trial: Trial, score: Any) -> None:
        """Tell the scores of a candidate that was not stopped; one alone is that of a failure."""
        several = search.objectives.several and len(score) > 1
        if trial.number in search.ledger.out:
            search.tell(trial, score if several else None if self._aims else score[0])

    def _fitted(self, batch: "CandidateBatch", done: "Done") -> Any:
        """The scores of the candidates of a batch; `error_score` if no fit succeeded."""
        try:
            done.add(batch)
        except ValueError as error:
            if "fits failed" not in str(error):
                raise
            done.fail(batch, error)
            return np.full((len(batch.candidates), 1), self.error_score)
        columns = [done.results[name] for name in self._scores(done.results)]
        return np.array(columns).T[-len(batch.candidates) :]

    def _show(self, search: Optimizer, trial: Trial, score: Sequence[float]) -> None:
        """Print a line about a candidate."""
        shown = ", ".join(f"{k}={v!r}" for k, v in self._given(trial.params).items())
        said = ", ".join(f"{each:.6g}" for each in score)
        print(f"[BamsooSearchCV {search.told}/{self.n_iter}] {shown}; score={said}")

    def _add_failed(self, done: "Done", failure: ValueError) -> None:
        """Add the candidates that could not be fitted to the results; an error if all failed."""
        if not done.results:
            raise failure
        warnings.warn(
            f"{len(done.failed)} of {len(done.candidates)} candidates could not be fitted; the "
            f"reason for the last one was: {failure}",
            FitFailedWarning,
            stacklevel=3,
        )
        more = {"n_resources": done.resources} if self._cheaper else None
        done.results.update(self._format_all(done.candidates, done.failed, more))

    @property
    def _cheaper(self) -> bool:
        """Whether fits may be cheaper than full ones."""
        return self.resource is not None or self.steps is not None

    def _left(self, search: Optimizer) -> int:
        """The number of full candidates that may still be evaluated."""
        if not self._cheaper:
            return int(self.n_iter - search.told)
        return int(search.ledger.costs.free(self.n_iter, {}) // search.ledger.costs.unit)

    def _batches(
        self, search: Optimizer, trials: list[Trial], splits: SameSplits | None
    ) -> Iterator[tuple[list[Trial], "CandidateBatch"]]:
        """Trials that are evaluated together, because they have the same resource."""
        if self.steps is not None:
            for trial in trials:
                yield [trial], self._take_steps(search, trial)
            return
        levels = [trial.params.get(self.resource or ROWS) for trial in trials]
        for level in dict.fromkeys(levels):
            some = [trial for trial, each in zip(trials, levels, strict=True) if each == level]
            yield some, self._batch([trial.params for trial in some], splits)

    def _batch(self, params: list[Mapping[str, Any]], splits: Any) -> "CandidateBatch":
        """Candidates with the same resource, and the splits to evaluate them on."""
        given = [self._given(each) for each in params]
        if self.steps is not None:
            return CandidateBatch(given, self._splitter, [self.steps] * len(given))
        if self.resource is None:
            return CandidateBatch(given, splits, [])
        level = int(params[0][self.resource])
        if self.resource == ROWS:
            splits = FewerRows(self._splitter, level, is_classifier(self.estimator))
        return CandidateBatch(given, splits, [level] * len(given))

    def _take_steps(self, search: Optimizer, trial: Trial) -> "CandidateBatch":
        """Train a candidate until it is stopped or has taken all its steps."""
        scorer, _ = self._get_scorers()
        params, step = self._given(trial.params), 0
        folds = SteppedFolds(self._stepwise, params, *self._rows)
        for step in range(1, self._stepwise.steps + 1):
            if not folds.take_step(step):
                break
            score, running = folds.score(scorer, self.refit), {trial.number: step}
            if search.ledger.must_finish(trial.number, self.n_iter, running):
                search._record(trial, step, score)
            elif not search.report(trial, step, score):
                break
        folds.end()
        if self.resource is not None:
            params[self.resource] = self._stepwise.reached(step)
            return CandidateBatch([params], self._splitter, [self._stepwise.reached(step)])
        return CandidateBatch([params], self._splitter, [step])

    def _search(self) -> AbstractContextManager[Optimizer]:
        """A fresh search; all settings are checked before the first fit."""
        check_whole("BamsooSearchCV", "n_iter", self.n_iter)
        check_whole("BamsooSearchCV", "n_points", self.n_points)
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        space = self._whole_space()
        algorithm = planned(resolve(self.algorithm, self.noise), int(self.n_iter))
        settings: dict[str, Any] = {
            "space": space,
            "direction": "maximize",
            "algorithm": algorithm,
            "objectives": self._aims,
            "steps": self.steps,
        }
        if self.study is None:
            return nullcontext(Optimizer(**settings, seed=int(seed)))
        from ..study import Study

        stored = None if self.random_state is None and Path(self.study).exists() else int(seed)
        study = Study.open(self.study, **settings, seed=stored)
        if study.note is None:
            study.note = {"budget": int(self.n_iter)}
        return study

    def _whole_space(self) -> dict[str, Any]:
        """The parameters of the search: of all grids, and the resource if that is one."""
        several = isinstance(self.space, (list, tuple)) and len(self.space) > 0
        grids: Any = self.space if several else [self.space]
        if not all(isinstance(grid, Mapping) for grid in grids):
            raise SpaceError(
                "space must be a dict of parameter names or a list of such dicts, "
                f"got {brief(self.space)}"
            )
        spaces = [{name: _parameter(name, given[name]) for name in given} for given in grids]
        space: dict[str, Any] = spaces[0]
        if several:
            space = {GRID: Choice(dict(enumerate(spaces)))}
        if self.resource is not None and any(self.resource in each for each in spaces):
            raise SettingsError(
                f"{self.resource} is the resource, so the space must not have a parameter of that "
                "name; leave out one of them"
            )
        if self.resource is not None and self.steps is None:
            space = space | {
                self.resource: Fidelity(self.min_resources_, self.max_resources_, log=True)
            }
        return space

    def _given(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that the estimator gets."""
        return {name: value for name, value in params.items() if name not in (GRID, ROWS)}

    @property
    def _aims(self) -> list[str] | None:
        """The scores whose front is searched for; None if a single one is maximised."""
        several = isinstance(self.scoring, (list, tuple, dict)) and len(self.scoring) > 1
        return list(self.scoring) if several and callable(self.refit) else None

    def _scores(self, results: dict[str, Any]) -> list[str]:
        """The columns to maximise."""
        if self._aims is not None:
            return [f"mean_test_{name}" for name in self._aims]
        return [self._score(results)]

    def _score(self, results: dict[str, Any]) -> str:
        """The column to maximise: the score that `refit` names, or the only or first one."""
        if isinstance(self.scoring, (list, tuple, dict)) and not isinstance(self.refit, str):
            return f"mean_test_{next(iter(self.scoring))}"
        named = f"mean_test_{self.refit}"
        if named in results:
            return named
        columns = [name for name in results if name.startswith("mean_test_")]
        return "mean_test_score" if "mean_test_score" in columns else columns[0]

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: dict[str, Any]) -> Any:
        """The best candidate of those with the full resource."""
        if callable(refit) or "n_resources" not in results:
            return BaseSearchCV._select_best_index(refit, refit_metric, results)
        resources = np.asarray(results["n_resources"])
        full = np.flatnonzero(resources == resources.max())
        scores = np.asarray(results[f"mean_test_{refit_metric}"])[full]
        return full[0 if np.isnan(scores).all() else np.nanargmax(scores)]

    def _format_results(
        self,
        candidate_params: list[dict[str, Any]],
        n_splits: int,
        out: list[dict[str, Any]],
        more_results: Any = None,
    ) -> dict[str, Any]:
        self._evaluated = n_splits, out
        if self.steps is not None and (seconds := self._stepwise.trained.seconds):
            for row, taken in zip(out[-n_splits:], seconds, strict=True):
                row["fit_time"] = taken
        results: dict[str, Any] = super()._format_results(
            candidate_params, n_splits, out, more_results
        )
        return results

    def _format_all(
        self, candidates: list[dict[str, Any]], failed: list[int], more: Any
    ) -> dict[str, Any]:
        """All results, with rows for candidates for which all fits failed.

        If all fits of a batch fail, scikit-learn assumes a mistake of the caller and keeps no rows
        of it. In a search with small batches, they are candidates like any others.
        """
        n_splits, out = self._evaluated
        lost = {
            **out[0],
            "test_scores": _like(out[0]["test_scores"], self.error_score),
            "fit_time": np.nan,
            "score_time": np.nan,
        }
        if self.return_train_score:
            lost["train_scores"] = _like(out[0]["train_scores"], self.error_score)
        left = iter(out)
        rows = [
            lost if place in failed else next(left)
            for place in range(len(candidates))
            for _ in range(n_splits)
        ]
        results: dict[str, Any] = super()._format_results(candidates, n_splits, rows, more)
        return results


def _parameter(name: str, given: Any) -> Any:
    """Convert a parameter in scikit-learn's form: a list of values or a scipy distribution.

    A tuple (low, high) is a range, as everywhere in bamsoo.
    """
    if (fidelity := getattr(given, "fidelity", None)) is not None:
        raise SpaceError(
            f"{name}: BamsooSearchCV takes no Fidelity in its space; give "
            f"resource={name!r} and max_resources={fidelity.high!r} instead"
        )
    if isinstance(given, (list, np.ndarray)):
        return Choice(list(given))
    if not callable(getattr(given, "rvs", None)):
        return given
    kind = getattr(getattr(given, "dist", None), "name", type(given).__name__)
    if kind not in ("uniform", "loguniform", "reciprocal", "randint"):
        raise SpaceError(
            f"{name}: expected one of the scipy distributions uniform, loguniform and randint, got "
            f"{kind}; use Real, Int or Choice instead"
        )
    low, high = given.support()
    if kind == "randint":
        return Int(int(low), int(high))
    return Real(float(low), float(high), log=kind != "uniform")


BaMSOOSearchCV = BamsooSearchCV
"""The same class, spelled like `BaMSOOSampler`."""


def _like(scores: Any, value: float) -> Any:
    """The scores of a fold, or a dict of several by name, all replaced by `value`."""
    return dict.fromkeys(scores, value) if isinstance(scores, dict) else value
