"""What a search gives as its result, with its models, at one moment."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algorithms.book import Book
from ..base.sense import MAXIMISED
from ..model.warp import Identity
from ..record.ledger import compromise_of
from ..record.trials import Evaluation
from ..result.predictor import Predictor
from .course import Course
from .setup import Setup

if TYPE_CHECKING:  # imported where they are used, since scipy.optimize is slow to load
    from ..result.gap import Bounds
    from ..result.result import Result


def result_of(
    setup: Setup,
    course: Course,
    book: Book | None,
    front: Callable[[], list[Evaluation]],
    success: bool,
) -> "Result":
    """The result as it is now, for which the best evaluations are looked for when they are needed.

    The book is None if an interrupted call has left the search behind its events.
    """
    from ..result.result import Details, Result

    ledger, space, several = course.ledger, setup.space, setup.objectives.several
    columns, told = ledger.columns, len(ledger.evaluations)
    predictors, why = predictors_of(setup, course, book)

    @cache
    def best() -> Evaluation | None:
        return compromise_of(front()) if several else next(iter(front()), None)

    def at_best(read: Callable[[Evaluation], Any], without: Any = None) -> Callable[[], Any]:
        return lambda: without if (found := best()) is None else read(found)

    later: dict[str, Callable[[], Any]] = {
        "x": at_best(lambda found: found.x.copy()),
        "fun": at_best(lambda found: found.values if several else found.value, nan),
        "params": at_best(lambda found: space.params(found.x)),
        "X": partial(columns.X, told),
        "F": partial(columns.F, told),
        "C": partial(columns.C, told),
        "feasible": partial(columns.feasible, told),
        "curves": ledger.costs.until_now(),
    }
    if columns.nresiduals or setup.objectives.squares is not None:
        later["R"] = partial(columns.R, told)
        later["residuals"] = at_best(lambda found: np.array(found.residuals))
    details = Details(
        space,
        setup.objectives,
        ledger.evaluations,
        told,
        front,
        predictors,
        why,
        _unlearned(setup, course, book),
        [] if book is None else _bounds(setup, book, predictors),
        course.started and course.book.gp is None,
        setup.constraints,
        book is not None and book.noisy,
        setup.steps,
        {} if book is None else course.expected_ends(),
        tol=setup.tol,
        later=later,
    )
    return Result(
        details,
        direction=setup.objectives.direction,
        seed=setup.seed,
        nfev=ledger.told,
        cost=ledger.costs.cost,
        success=success,
        status=0,
        message="in progress" if course.ended is None else course.ended,
        nfailed=ledger.failed,
        nstopped=ledger.stopped,
        ninfeasible=ledger.infeasible,
        nrejected=course.book.rejected,
        nexpanded=course.book.n - 1,
        tree=None if book is None else book.tree,
    )


def _bounds(setup: Setup, book: Book, predictors: Sequence[Predictor]) -> "list[Bounds]":
    """The upper bounds of each objective, by its model and those of the constraints."""
    from ..result.gap import Bounds

    space, constraints, algorithm = setup.space, setup.constraints, setup.algorithm
    eta, learned, exact = algorithm.eta, algorithm.kernel is None, not book.noisy
    limits = [
        Bounds(Predictor(space, MAXIMISED, m.gp, m.transform), book.tree, eta, True, exact)
        for m in (() if book.limits is None else book.limits.models)
        if m.gp is not None
    ]
    return [
        Bounds(each, book.tree, eta, learned, exact, limits, constraints) for each in predictors
    ]


def _unlearned(setup: Setup, course: Course, book: Book | None) -> float | str | None:
    """The noise of a search that has not learned its model yet; None if it has, or has none."""
    if book is None or book.gp is None or not course.started or not setup.algorithm.learns_prior:
        return None
    return setup.algorithm.noise if isinstance(book.transform, Identity) else None


def predictors_of(setup: Setup, course: Course, book: Book | None) -> tuple[list[Predictor], str]:
    """The model of each objective that the search uses, or the reason why there is none."""
    name = type(setup.algorithm).__name__
    if book is None:
        return [], "a call was interrupted; the model is available again after the next ask"
    if not course.started:
        return [], "the search has no model yet; call ask first"
    if book.gp is None:
        return [], (
            f"{name} has no model to predict with; use auto, bamsoo, gp-ucb, bamlogo or imgpo"
        )
    if book.gp.known == 0:
        return [], f"the model of {name} has no value yet; tell it one first"
    if _unlearned(setup, course, book) is not None:
        return [], f"{name} has not learned its model yet; tell it a few more values"
    models = zip(setup.objectives.senses, book.gps, book.transforms, strict=True)
    return [Predictor(setup.space, *model, book.beliefs.learned) for model in models], ""
