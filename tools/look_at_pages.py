"""Pictures of pages of every kind, on a wide and on a narrow screen, for people to look at.

python tools/look_at_pages.py out/pages

Each page has a metric that people have: accuracies near 0.98, costs of some 15,000, errors of
1e-15, negative log-likelihoods. It needs chromium, selenium and Optuna.
"""

import base64
import shutil
import sys
from collections.abc import Callable, Iterator
from math import exp, log10
from pathlib import Path
from typing import Any

import numpy as np

import bamsoo
import bamsoo.report
from bamsoo import Choice, Int, Real
from bamsoo.report.compare import compare

WIDTHS = (1280, 390)
TALLEST = 12_000
"""Pixels; chromium draws nothing below about 16,000."""


def accuracy(path: Path) -> None:
    """Three models with parameters of their own; accuracies near 0.98."""
    space = {
        "model": Choice(
            {
                "svm": {"C": Real(1e-2, 1e3, log=True), "gamma": Real(1e-6, 1e-1, log=True)},
                "forest": {"max_depth": Int(2, 20), "max_features": Real(0.05, 1)},
                "network": {
                    "learning_rate_init": Real(1e-4, 1e-1, log=True),
                    "hidden_layer_sizes": Int(8, 256, log=True),
                    "optimizer": Choice(["adam", "sgd with momentum", "lbfgs"]),
                },
            }
        ),
        "scale": Choice([True, False]),
    }

    def f(model: str, scale: bool, **own: Any) -> float:
        if model == "svm":
            off = (log10(own["C"]) - 1) ** 2 / 4 + (log10(own["gamma"]) + 3) ** 2 / 2
            return float(0.9876 - 0.02 * (1 - exp(-off)) - 0.0004 * (not scale))
        if model == "forest":
            depth, share = own["max_depth"], own["max_features"]
            return float(0.975 - 0.01 * exp(-depth / 4) - 0.005 * share)
        slow = (log10(own["learning_rate_init"]) + 2.5) ** 2 / 100
        slow += 0.002 * (own["optimizer"] != "adam")
        return float(0.985 - slow - 0.3 / own["hidden_layer_sizes"])

    bamsoo.maximize(f, space, 60, study=path)


def costs(path: Path) -> None:
    """Money: about 15,233, and failures of two kinds."""
    space = {"stock": Int(0, 500), "price": Real(9.5, 24.99), "supplier": Choice(["A", "B", "C"])}

    def f(stock: int, price: float, supplier: str) -> float:
        if price > 23 and supplier == "C":
            raise RuntimeError("no offer of supplier C at this price")
        extra = {"A": 0, "B": 40.25, "C": -12.5}[supplier]
        return 15_233.07 + (stock - 240) ** 2 / 150 + 11.3 * (price - 14.95) ** 2 + extra

    bamsoo.minimize(f, space, 60, study=path, on_error="fail")


def tiny(path: Path) -> None:
    """Values down to 1e-20."""
    space = {"x": (0.1, 0.7), "y": (-1e-3, 1e-3), "z": Real(1e-9, 1e-3, log=True)}
    bamsoo.minimize(
        lambda x, y, z: (
            1e-15 * ((x - 0.3) ** 2 + (1e3 * y - 0.2) ** 2 + (log10(z) + 6) ** 2) + 1e-21
        ),
        space,
        60,
        study=path,
    )


def likelihood(path: Path) -> None:
    """A negative log-likelihood near -48,211, with noise."""
    luck = np.random.default_rng(0)
    space = {"mu": (-5, 5), "sigma": Real(0.01, 10, log=True), "nu": Real(2, 30), "rho": (-1, 1)}

    def f(mu: float, sigma: float, nu: float, rho: float) -> float:
        off = (mu - 1.2) ** 2 + log10(sigma) ** 2 + (nu - 6) ** 2 / 100 + (rho - 0.3) ** 2
        return -48_211.4 + 35 * off + float(luck.normal(0, 0.5))

    bamsoo.minimize(f, space, 60, study=path, noise="learn")


def limits(path: Path) -> None:
    """Measured constraints and recorded numbers."""
    space = {"T0": (300, 500), "diameter": Real(0.02, 0.2, log=True), "stages": Int(1, 8)}

    def f(T0: float, diameter: float, stages: int) -> Any:
        peak = T0 + 900 * diameter + 4 * stages
        made = 1 - exp(-stages * diameter * T0 / 60)
        return 1e6 * (1.2 - made) + 900 * stages, {"Tpeak": peak, "yield": made, "seconds": 3.21}

    bamsoo.minimize(f, space, 50, study=path, constraints=["Tpeak <= 520", "yield >= 0.9"])


def front(path: Path) -> None:
    """Three objectives."""
    space = {"rate": Real(1e-4, 0.1, log=True), "width": Int(8, 512, log=True), "drop": (0, 0.5)}

    def f(rate: float, width: int, drop: float) -> dict[str, float]:
        error = 0.012 + (log10(rate) + 2.5) ** 2 / 50 + 0.2 / width + drop**2 / 20
        return {"error": error, "latency": 1.5e-3 * width**1.1, "robust": 0.8 + drop / 4}

    aims = {"error": "min", "latency": "min", "robust": "max"}
    bamsoo.minimize(f, space, 60, study=path, objectives=aims)


def curves(path: Path) -> None:
    """Trainings that are stopped."""
    space = {"rate": Real(1e-4, 0.1, log=True), "width": Int(8, 512, log=True)}

    def f(rate: float, width: int) -> Iterator[float]:
        for epoch in range(30):
            level = 0.01 + (log10(rate) + 2.5) ** 2 / 40 + 0.3 / width
            yield level + 0.9 * exp(-epoch / 5)

    bamsoo.minimize(f, space, 20, study=path, steps=30)


def fit(path: Path) -> None:
    """Residuals of a model of a reaction."""
    t = np.linspace(0, 10, 40)
    measured = 2.5 * np.exp(-0.7 * t) + 0.3 + 0.02 * np.sin(40 * t)
    space = {"scale": (0, 10), "rate": Real(1e-3, 10, log=True), "ground": (0, 1)}
    bamsoo.least_squares(
        lambda scale, rate, ground: scale * np.exp(-rate * t) + ground - measured,
        space,
        40,
        study=path,
    )


def cheap(path: Path) -> None:
    """A fidelity."""
    space = {"rate": Real(1e-4, 1, log=True), "rows": bamsoo.Fidelity(500, 60_000, log=True)}
    bamsoo.minimize(
        lambda rate, rows: (log10(rate) + 2) ** 2 / 10 + 3 / rows**0.5, space, 15, study=path
    )


def nothing(path: Path) -> None:
    """Only failures."""
    space = {"x": (0, 1), "n": Int(1, 9)}
    bamsoo.minimize(lambda x, n: None, space, 8, study=path, on_error="fail")


def first(path: Path) -> None:
    """One evaluation."""
    bamsoo.minimize(lambda x, y: x * 1234.5678 + y, {"x": (0, 1), "y": (0, 1)}, 1, study=path)


KINDS: list[Callable[[Path], None]] = [
    *(accuracy, costs, tiny, likelihood, limits, front, curves, fit, cheap, nothing, first)
]


def of_optuna(store: str) -> None:
    """A study of Optuna with branches and pruned trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def f(trial: Any) -> float:
        kind = trial.suggest_categorical("kind", ["ridge", "boosting"])
        rate = trial.suggest_float("rate", 1e-3, 1, log=True)
        if kind == "boosting":
            rate *= 1 + trial.suggest_int("depth", 1, 12) / 12
        for step in range(10):
            trial.report(0.9876 - 0.01 * abs(log10(rate) + 1) - 0.1 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return 0.9876 - 0.01 * abs(log10(rate) + 1) - 0.01

    study = optuna.create_study(storage=store, study_name="boosting", direction="maximize")
    study.optimize(f, n_trials=50)


def pages(folder: Path) -> Iterator[Path]:
    """Run what has to be run, and write the pages."""
    for kind in KINDS:
        study = folder / f"{kind.__name__}.db"
        if not study.exists():
            kind(study)
        yield bamsoo.report.write(study)
    store = f"sqlite:///{folder}/optuna.db"
    if not (folder / "optuna.db").exists():
        of_optuna(store)
    yield bamsoo.report.write(store, folder / "optuna.html")
    both, more = folder / "both.html", folder / "costs-2.db"
    if not more.exists():
        costs(more)
    compare([folder / "costs.db", more], both)
    yield both


def look(driver: Any, page: Path, width: int) -> None:
    """Write what the page shows at this width, and say what is wider than the screen."""

    def resize(height: int) -> None:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    resize(900)
    driver.get(page.resolve().as_uri())
    script = "return document.documentElement.dataset.ready !== 'no' && document.body.scrollHeight"
    resize(min(int(driver.execute_script(script)), TALLEST))
    driver.execute_async_script("setTimeout(arguments[0], 800)")
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    picture = page.with_name(f"{page.stem}-{width}.png")
    picture.write_bytes(base64.b64decode(shot["data"]))
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    print(f"{picture}: {wide} pixels wide" + (", too wide" if wide > width else ""))
    for entry in driver.get_log("browser"):
        print(f"  {entry['message']}")


def main() -> None:
    """Write all pages and their pictures into the folder that is given."""
    from selenium import webdriver

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[2:]
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as driver:
        for page in pages(folder):
            for width in WIDTHS if not wanted or page.stem in wanted else ():
                look(driver, page, width)


if __name__ == "__main__":
    main()
