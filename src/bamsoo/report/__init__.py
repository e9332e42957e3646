"""A study as one page to look at: what happened, in a file that needs no network."""

from os import PathLike
from pathlib import Path

from .model import describe
from .page import render, replace_report

__all__ = ["describe", "render", "write"]


def write(
    study: str | PathLike[str], page: str | PathLike[str] | None = None, *, replay: bool = True
) -> Path:
    """Write the page of a study file, also while a run is writing that.

    Parameters
    ----------
    study : path
        A study file; it is only read.
    page : path, optional
        Where to; by default beside the study, with the suffix .html. Of files that are
        there already only a report is replaced, and all at once.
    replay : bool
        Walk the search through its events again, for the partition and the rejected nodes.
        That costs what the search spent thinking, never an evaluation.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    StudyError
        Where the file is no study.
    SettingsError
        Where the page cannot be written, or another file stands there.
    """
    target = Path(study).with_suffix(".html") if page is None else Path(page)
    replace_report(target, lambda: render(describe(study, replay=replay)))
    return target
