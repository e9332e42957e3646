"""How study-format4.db was made: a study with every kind of event, and what it holds, as JSON.

Run it only for a new format, with the name of a new file: files that exist must stay as they are.

    python tests/data/write_study.py tests/data/study-formatN.db
"""

import json
import sys
from pathlib import Path

import bamsoo
from bamsoo import Choice, Int, Real, Study

SPACE = {
    "rate": Real(1e-4, 1.0, log=True),
    "model": Choice({"svm": {"C": Real(1e-3, 1e3, log=True)}, "forest": {"depth": Int(1, 20)}}),
    "part": Real(0.0, 1.0, step=0.25),
}


def main(path):
    constraints = ["size", bamsoo.Formula("rate <= 0.9")]
    with Study.open(path, space=SPACE, seed=7, constraints=constraints) as study:
        study.note = {"what": "a fixture"}
        given = {"rate": 0.5, "model": "svm", "C": 1.0, "part": 0.5}
        study.tell(given, 2.0, constraints={"size": 1})
        study.enqueue({"rate": 0.1, "model": "forest", "depth": 3, "part": 0.0})
        for i in range(12):
            trial = study.ask()
            if i == 4:
                study.tell(trial, None, "the solver diverged")
            elif i != 7:
                value = trial.params["rate"] + trial.params.get("depth", 5) / 10
                variance = 0.01 if i == 9 else None
                study.tell(trial, value, constraints={"size": i - 8.5}, variance=variance)
        study.expect({"rate": 0.2, "model": "forest", "depth": 4, "part": 1.0})
    with Study.open(path, readonly=True) as study:
        out = next(t.number for t in study.trials if t.state == "out")
        wanted = {"trials": study.trials, "settings": study.settings, "out": out}
    path.with_suffix(".json").write_text(json.dumps(wanted, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
