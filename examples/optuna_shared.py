"""Several processes work on one Optuna study: `python examples/optuna_shared.py STORAGE-URL`.

It needs `pip install 'bamsoo[optuna]'`, and a driver for the database of the URL. Each process has
its own sampler; the samplers know about each other only through the storage.
"""

import argparse
import time
import uuid
from collections import Counter
from multiprocessing import get_context

import optuna

import bamsoo
from bamsoo.integrations.optuna import BaMSOOSampler


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 0, 15)
    time.sleep(0.05)  # stands for a slow evaluation
    return float(bamsoo.problems.branin([x, y]))


def work(url: str, name: str, process: int, trials: int) -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.load_study(study_name=name, storage=url, sampler=BaMSOOSampler(seed=1))
    for _ in range(trials):
        trial = study.ask()
        trial.set_user_attr("process", process)
        study.tell(trial, objective(trial))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "url", help="such as sqlite:///shared.db or postgresql://USER@HOST/DATABASE"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--trials", type=int, default=30, help="trials per process")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    name = f"branin-{uuid.uuid4().hex[:8]}"
    optuna.create_study(study_name=name, storage=arguments.url)
    context = get_context("spawn")
    processes = [
        context.Process(target=work, args=(arguments.url, name, i, arguments.trials))
        for i in range(arguments.processes)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    study = optuna.load_study(study_name=name, storage=arguments.url)
    trials = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    points = {(t.params["x"], t.params["y"]) for t in trials}
    by = Counter(t.user_attrs["process"] for t in trials)
    print(f"{len(trials)} trials, {len(points)} different points")
    print("by process:", ", ".join(f"{process}: {n}" for process, n in sorted(by.items())))
    distance = study.best_value - bamsoo.problems.branin.optimum
    print(
        f"best {study.best_value:.9f} in trial {study.best_trial.number}, "
        f"{distance:.1e} above the optimum"
    )


if __name__ == "__main__":
    main()
