"""Search of a scikit-learn estimator's hyper-parameters, with scikit-learn's cross-validation."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..algorithms import Algorithm, Name, planned, resolve
from ..checks import brief, check_whole
from ..defaults import ALGORITHM
from ..errors import ExhaustedError, SpaceError
from ..ledger import Trial
from ..optimizer import Optimizer
from ..space import Choice, Fidelity, Int, Real

try:
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"BamsooSearchCV needs the package {error.name}; pip install 'bamsoo[sklearn]'",
        name=error.name,
    ) from error

Evaluate = Callable[..., dict[str, Any]]

GRID = "index of the grid"
"""The parameter that says which of several grids is used. It has spaces in its name, which no
parameter of an estimator can have."""


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
        which all fits failed has `error_score` as its score, and no times.
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

    def _run_search(self, evaluate_candidates: Evaluate) -> None:
        """Ask for candidates, cross-validate them, and tell their scores."""
        settings: Any = self
        verbose, settings.verbose = settings.verbose, 0  # it would print a line before each one
        try:
            with self._search() as search:
                self._go_through(search, evaluate_candidates, verbose)
                self.result_ = search.result
        finally:
            settings.verbose = verbose

    def _go_through(self, search: Optimizer, evaluate_candidates: Evaluate, verbose: int) -> None:
        # other kinds of cv give the same splits each time anyway
        splits = SameSplits(self.cv) if hasattr(self.cv, "split") else None
        results: dict[str, Any] = {}
        candidates: list[dict[str, Any]] = []
        failed: list[int] = []
        failure: ValueError | None = None
        numbers: list[int | None] = []  # the trial of each candidate
        if (best := search.best) is not None:  # of an earlier fit with the same study
            candidates, numbers = [self._given(search.space.params(best.x))], [best.number]
            results = evaluate_candidates(candidates, cv=splits)
        while (left := self.n_iter - search.told) > 0:
            try:
                trials = search.ask(min(self.n_points, left))
            except ExhaustedError:
                break
            params = [self._candidate(trial) for trial in trials]
            try:
                results = evaluate_candidates(params, cv=splits)
                columns = [results[name] for name in self._scores(results)]
                scores: Any = np.array(columns).T[-len(trials) :]
            except ValueError as error:
                if "fits failed" not in str(error):
                    raise
                failed += range(len(candidates), len(candidates) + len(trials))
                scores, failure = np.full((len(trials), 1), self.error_score), error
            candidates += params
            for trial, score in zip(trials, scores, strict=True):
                several = search.objectives.several and len(score) > 1
                search.tell(trial, score if several else None if self._aims else score[0])
                numbers.append(trial.number)
                if verbose > 0:
                    shown = ", ".join(f"{k}={v!r}" for k, v in self._candidate(trial).items())
                    said = ", ".join(f"{each:.6g}" for each in score)
                    print(f"[BamsooSearchCV {search.told}/{self.n_iter}] {shown}; score={said}")
        if failure is not None:
            if not results:  # every fit of every candidate failed
                raise failure
            warnings.warn(
                f"{len(failed)} of {len(candidates)} candidates could not be fitted; the reason "
                f"for the last one was: {failure}",
                FitFailedWarning,
                stacklevel=2,
            )
            results.update(self._format_all(candidates, failed))
        if self._aims:
            front = {evaluation.number for evaluation in search.front}
            results["front"] = np.array([number in front for number in numbers])
        del self._evaluated

    def _search(self) -> AbstractContextManager[Optimizer]:
        """A fresh search; all settings are checked before the first fit."""
        check_whole("BamsooSearchCV", "n_iter", self.n_iter)
        check_whole("BamsooSearchCV", "n_points", self.n_points)
        several = isinstance(self.space, (list, tuple)) and len(self.space) > 0
        grids: Any = self.space if several else [self.space]
        if not all(isinstance(grid, Mapping) for grid in grids):
            raise SpaceError(
                "space must be a dict of parameter names or a list of such dicts, "
                f"got {brief(self.space)}"
            )
        seed = self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31 - 1)
        spaces = [{name: _parameter(name, given[name]) for name in given} for given in grids]
        space: Mapping[str, Any] = spaces[0]
        if several:
            space = {GRID: Choice(dict(enumerate(spaces)))}
        algorithm = planned(resolve(self.algorithm, self.noise), int(self.n_iter))
        if self.study is None:
            return nullcontext(
                Optimizer(space, "maximize", algorithm, int(seed), objectives=self._aims)
            )
        from ..study import Study

        stored = None if self.random_state is None and Path(self.study).exists() else int(seed)
        study = Study.open(
            self.study,
            space=space,
            direction="maximize",
            algorithm=algorithm,
            seed=stored,
            objectives=self._aims,
        )
        if study.note is None:
            study.note = {"budget": int(self.n_iter)}
        return study

    @classmethod
    def _candidate(cls, trial: Trial) -> dict[str, Any]:
        return cls._given(trial.params)

    @staticmethod
    def _given(params: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in params.items() if name != GRID}

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

    def _format_results(
        self,
        candidate_params: list[dict[str, Any]],
        n_splits: int,
        out: list[dict[str, Any]],
        more_results: Any = None,
    ) -> dict[str, Any]:
        self._evaluated = n_splits, out
        results: dict[str, Any] = super()._format_results(
            candidate_params, n_splits, out, more_results
        )
        return results

    def _format_all(self, candidates: list[dict[str, Any]], failed: list[int]) -> dict[str, Any]:
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
        results: dict[str, Any] = super()._format_results(candidates, n_splits, rows)
        return results


def _parameter(name: str, given: Any) -> Any:
    """Convert a parameter in scikit-learn's form: a list of values or a scipy distribution.

    A tuple (low, high) is a range, as everywhere in bamsoo.
    """
    if isinstance(given, Fidelity):
        raise SpaceError(
            f"{name}: BamsooSearchCV compares candidates at equal cost, so it takes no Fidelity; "
            "use bamsoo.minimize, or give the parameter a fixed value"
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


class SameSplits:
    """A splitter that splits only once, so that all candidates are compared on the same splits."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self._splits: list[Any] | None = None

    def split(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        """The splits that the splitter made the first time."""
        if self._splits is None:
            self._splits = list(self._splitter.split(*args, **kwargs))
        return iter(self._splits)


def _like(scores: Any, value: float) -> Any:
    """The scores of a fold, or a dict of several by name, all replaced by `value`."""
    return dict.fromkeys(scores, value) if isinstance(scores, dict) else value
