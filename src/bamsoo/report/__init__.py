"""A study as a web page in a single file that needs no network."""

from os import PathLike
from pathlib import Path

from ..study.address import file_name, parse
from .model import describe
from .page import render, replace_report
from .source import Own, TrialSource, source_of, title_of

__all__ = ["describe", "render", "write"]


def write(
    study: str | PathLike[str] | TrialSource,
    page: str | PathLike[str] | None = None,
    *,
    replay: bool = True,
) -> Path:
    """Write a study as a web page, even while a run is writing to the study.

    Parameters
    ----------
    study : path or address
        A study file, or the address of a study; it is only read. It may also be a study of Optuna:
        ``sqlite:///optuna.db``, or the path of its database or journal file.
    page : path, optional
        Where to write it; by default next to the study, with the suffix .html, or for a study of
        Optuna in the current directory with its name. An existing file is replaced only if it is a
        report, and atomically.
    replay : bool, default True
        Replay the search, to show its partition and its own model. This takes as long as the
        search itself spent computing between evaluations; nothing is evaluated again.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    StudyError
        If the file is not a study.
    SettingsError
        If the page cannot be written, or a file that is not a report has that name.
    """
    source = source_of(study)
    if page is not None:
        target = Path(page)
    elif isinstance(source, Own):
        target = parse(source.study).file.with_suffix(".html")
    else:  # a name in a file of somebody else must not decide where to write
        target = Path(f"{file_name(title_of(source.read()))}.html")
    replace_report(target, lambda: render(describe(source, replay=replay)))
    return target
