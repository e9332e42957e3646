"""The command `bamsoo bench`."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from ..options import docs_option, jobs_option, out_option
from .suites import ALL as SUITES
from .suites import Selection
from .yahpo import FOLDER

if TYPE_CHECKING:  # loaded when a run begins, so that --help is quick
    from rich.console import Console


def numbers(low: int, high: int) -> Callable[..., tuple[int, ...] | None]:
    """An option's callback that reads whole numbers and ranges: ``2,3,5`` or ``1-5,11``."""

    def read(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
        if value is None:
            return None
        found: list[int] = []
        try:
            for part in value.split(","):
                first, _, last = part.partition("-")
                found.extend(range(int(first), int(last or first) + 1))
        except ValueError:
            found = []
        if not found or min(found) < low or max(found) > high:
            wanted = f"numbers from {low} to {high}, such as {low},{low + 1} or {low}-{low + 2}"
            raise click.BadParameter(f"expected {wanted}, got {value!r}")
        return tuple(dict.fromkeys(found))

    return read


NEEDS = {
    "mixed": "optimisers of functions on boxes; expected optimisers that handle the mixed "
    "parameters",
    "constrained": "optimisers without constraints; expected optimisers that handle the "
    "constraints",
    "conditional": "optimisers of fixed sets of parameters; expected optimisers that handle the "
    "conditions",
    "single": "optimisers of several objectives; expected optimisers that handle the objective",
    "several": "optimisers of one objective; expected optimisers that handle the several "
    "objectives",
    "stepless": "optimisers that stop evaluations; expected optimisers for the whole evaluations",
}
"""What a suite may require of a method, and the message for methods that do not have it."""


STOPPED = "interrupted; the finished runs are stored, and the same command continues from there"


@click.command("bench", short_help="Compare the default algorithm with other optimisers.")
@click.option("--suite", type=click.Choice(list(SUITES)), default="paper", show_default=True)
@click.option(
    "--against",
    metavar="NAME,…",
    help="Optimisers to compare with: slsqp, cobyqa, bobyqa, botorch, hebo, turbo, "
    "optuna (its GP), optuna-tpe, smac, skopt, ngopt, lq-cma, cma, direct, random, soo, "
    "paper-bamsoo, cma-margin, bamsoo-noise, botorch-nehvi, optuna-nsga2, pymoo, mosoo, "
    "bamsoo-whole, random-asha, random-hyperband, random-median, tpe-asha, tpe-hyperband, "
    "tpe-median, smac-budgets, dehb, or module:attribute for settings of your own. By default, "
    "all that the suite has.",
)
@click.option(
    "--run-peers", is_flag=True, help="Run the peers here instead of reading their stored runs."
)
@click.option(
    "--boxes", callback=numbers(0, 10**6), help="paper: numbers of the boxes; by default 0-9."
)
@click.option(
    "--dims",
    callback=numbers(2, 100),
    help="Dimensions. By default, bbob and inexact: 2,3,5,10,20; mixint: 5,10,20; constrained: "
    "2,5,10; objectives: all.",
)
@click.option(
    "--functions",
    callback=numbers(1, 130),
    help="Numbers of the functions. bbob, inexact, overhead and mixint: 1-24; noisy: 101-130; "
    "constrained: 1-54.",
)
@click.option(
    "--instances",
    callback=numbers(0, 10**6),
    help="Instances. By default, bbob: 21-23; inexact: 21; suites with parts: those of the part. "
    "The settings of the default were chosen on 1-7.",
)
@click.option(
    "--part",
    type=click.Choice(["develop", "report"]),
    help="Suites with parts, such as tuning: the cases that settings are chosen on, or those that "
    "are reported (the default).",
)
@click.option(
    "--tasks",
    metavar="NAME,…",
    help="tuning, designs, conditional, yahpo, objectives, steps, simulators: names of tasks; by "
    "default, all tasks of the part.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=2),
    help="Number of evaluations per run, instead of the suite's.",
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="yahpo, objectives, steps: the folder with the surrogates; by default, that in "
    "BAMSOO_YAHPO. Without one, objectives and steps leave out the tasks that need it.",
)
@click.option(
    "--scoreboard",
    is_flag=True,
    help="The part for development of every suite in one table, compared with the revision of the "
    "repository that --against names.",
)
@click.option(
    "--suites", metavar="NAME,…", help="scoreboard: some of its lines; by default, all of them."
)
@click.option("--long", is_flag=True, help="overhead: also make a run of 5,000 evaluations.")
@out_option("out/bench")
@jobs_option("Number of processes, of one thread each; the suite overhead uses one.")
@docs_option("A page in which the part about this suite is replaced, with its pictures.")
def bench(
    suite: str,
    against: str | None,
    run_peers: bool,
    boxes: tuple[int, ...] | None,
    dims: tuple[int, ...] | None,
    functions: tuple[int, ...] | None,
    instances: tuple[int, ...] | None,
    part: Literal["develop", "report"] | None,
    tasks: str | None,
    budget: int | None,
    data: str | None,
    scoreboard: bool,
    suites: str | None,
    long: bool,
    out: Path,
    jobs: int,
    docs: Path | None,
) -> None:
    """Compare the default with other optimisers on a suite of functions.

    Only bamsoo is run; the runs of the peers come with the package. Finished runs are stored, so
    after an interruption the same command continues where it stopped.
    """
    from rich.console import Console

    from . import methods
    from .bench import bench as run
    from .comparison import Comparison

    if data is not None:
        os.environ[FOLDER] = data  # where the processes that make the runs look for it too
    console = Console()
    if not console.is_terminal:
        console.width = 120  # a file or a pipe has no width
    if scoreboard:
        _scoreboard(suites, against, out, jobs, console, docs)
        return
    if suites is not None:
        raise click.UsageError("--suites is for --scoreboard; give one suite with --suite")
    names = None if tasks is None else tuple(name.strip() for name in tasks.split(","))
    wanted = Selection(boxes, dims, functions, instances, budget, part, names)
    chosen = SUITES[suite]
    usual = wanted == Selection()
    if chosen.fixed and not usual:
        raise click.UsageError(
            f"the suite {suite} has its own cases; leave out the options that change them"
        )
    if docs is not None and not usual:
        raise click.UsageError(
            "--docs is for a suite as it is; leave out the options that change its cases"
        )
    if against is not None:
        peers = [methods.find(name).name for name in against.split(",")]
    else:
        peers = [name for name in chosen.peers or methods.ALL if name != "bamsoo"]
    for needed, said in NEEDS.items():
        if not getattr(chosen, needed):
            continue
        unable = [name for name in peers if not getattr(methods.ALL[name], needed)]
        if against is not None and unable:
            raise click.UsageError(f"{', '.join(unable)}: {said} of the suite {suite}")
        peers = [name for name in peers if name not in unable]
    cases = [case for case in chosen.cases(wanted) if chosen.available(case)]
    missing = len(chosen.cases(wanted)) - len(cases)
    if not cases:
        raise click.UsageError(f"the suite {suite} needs data; name its folder with --data")
    if missing and docs is not None:
        raise click.UsageError("--docs is for a whole suite; name the folder of its data (--data)")
    if missing:
        console.print(f"{missing} cases are left out, because their data is not here (--data)")
    try:
        asked = Comparison(chosen, cases, peers, run_peers, usual and not missing, long)
        page = run(asked, out, jobs, console, docs)
    except KeyboardInterrupt:
        raise click.ClickException(STOPPED) from None
    console.print(f"The page: {page}", highlight=False, soft_wrap=True)


def _scoreboard(
    suites: str | None,
    against: str | None,
    out: Path,
    jobs: int,
    console: "Console",
    docs: Path | None,
) -> None:
    """Check the names of the lines, and show the scoreboard."""
    from .scoreboard import board, rows

    names = [] if suites is None else [name.strip() for name in suites.split(",")]
    unknown = [name for name in names if name not in rows.ALL]
    if unknown:
        raise click.BadParameter(
            f"the scoreboard has no line {', '.join(unknown)}; expected some of "
            f"{', '.join(rows.ALL)}",
            param_hint="--suites",
        )
    try:
        board.scoreboard(names, against, out, jobs, console, docs)
    except KeyboardInterrupt:
        raise click.ClickException(STOPPED) from None
