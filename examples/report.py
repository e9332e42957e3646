"""A run over a mixed space, with failures, and its report in out/report.html.

`python examples/report.py --pictures docs/images` also takes the screenshots for the README and
docs/report.md, with chromium and selenium.
"""

import argparse
import base64
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from math import exp, log10
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import bamsoo
import bamsoo.report

BUDGET = 90
OUT = Path("out")
SPACE = {
    "temperature": (300, 700),
    "pressure": bamsoo.Real(1e-2, 1e2, log=True),
    "stages": bamsoo.Int(1, 12),
    "catalyst": bamsoo.Choice(["none", "nickel", "platinum"]),
}


def cost(temperature: float, pressure: float, stages: int, catalyst: str) -> float:
    """A stand-in for the simulation of a plant, which fails at high temperature and pressure."""
    if temperature > 600 and pressure > 3:
        raise RuntimeError(f"the solver diverged at {temperature:.0f} K, {pressure:.3g} bar")
    best_at = {"none": 560.0, "nickel": 470.0, "platinum": 430.0}[catalyst]
    price = {"none": 0.0, "nickel": 6.0, "platinum": 14.0}[catalyst]
    reach = exp(-(((temperature - best_at) / 90) ** 2) - (log10(pressure) - 0.4) ** 2)
    made = 1.0 - (1.0 - 0.55 * reach) ** stages
    return 100.0 * (1.0 - made) + price + 2.5 * stages + 0.02 * (temperature - 300)


def slow(**params: Any) -> float:
    time.sleep(0.3)
    return cost(**params)


def browser() -> Any:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def shoot(driver: Any, picture: Path, section: str, height: float | None = None) -> None:
    """Take one section of the page that is open, or what is above `height`."""
    where = driver.execute_async_script(
        "const [section, done] = arguments; requestAnimationFrame(() =>"
        "requestAnimationFrame(() => { const r = document.querySelector(section)"
        ".getBoundingClientRect(); done({x: 0, y: Math.max(r.top + scrollY - 12, 0),"
        "width: innerWidth, height: r.height + 24, scale: 1}) }))",
        section,
    )
    if height is not None:
        where.update(y=0, height=height)
    shot = driver.execute_cdp_cmd(
        "Page.captureScreenshot",
        {"format": "png", "clip": where, "captureBeyondViewport": True},
    )
    picture.write_bytes(base64.b64decode(shot["data"]))


WITHOUT = (
    "main > section:not(#best, #importance, #slices), #slices h3, #slices h3 ~ *, nav, .controls,"
    ".note, .inline, .controls-row, details, .tile:nth-child(n+5), .subtitle"
)
"""What the picture of the README leaves out: all but the best point, what matters, and slices."""


def pictures(page: Path, directory: Path) -> None:
    sections = {"report-top": ("#best", "light"), "report-model": ("#slices", "dark"),
                "report-partition": ("#partition", "light")}  # fmt: skip
    with browser() as driver:
        size = {"width": 1100, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.resolve().as_uri())
        for name, (section, theme) in sections.items():
            driver.execute_script(
                "const e = document.getElementById('theme'); e.value = arguments[0];"
                "e.dispatchEvent(new Event('change'))",
                theme,
            )
            shoot(driver, directory / f"{name}.png", section, 900 if section == "#best" else None)
        driver.execute_script(
            "document.querySelectorAll(arguments[0]).forEach(({ style }) => {"
            "style.display = 'none'; })",
            WITHOUT,
        )
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "width": 1280})
        bottom = "return document.querySelector('#slices').getBoundingClientRect().bottom + scrollY"
        shoot(driver, directory / "report-readme.png", "#best", driver.execute_script(bottom) + 12)
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        watched(driver, directory / "watch.png")


def watched(driver: Any, picture: Path) -> None:
    """Take the live page of a run that goes on."""
    with TemporaryDirectory() as directory:
        study, began = Path(directory) / "plant.db", time.time()
        run = Thread(
            target=bamsoo.minimize,
            args=(slow, SPACE, BUDGET),
            kwargs={
                "study": study,
                "workers": ThreadPoolExecutor(2),
                "on_error": "fail",
                "stop": lambda r: picture.stat().st_mtime > began,
            },
        )
        run.start()
        while not study.exists():
            time.sleep(0.1)
        command = [sys.executable, "-m", "bamsoo", "watch", str(study)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
            assert watch.stdout is not None
            address = re.search(r"http://\S+", watch.stdout.readline())
            assert address is not None
            driver.get(address[0])
            evaluations = "return document.querySelector('.tile:nth-child(4)').innerText"
            for _ in range(600):
                if re.search(r"\b[3-8]\d\b", driver.execute_script(evaluations)):
                    break
                time.sleep(0.2)
            shoot(driver, picture, "#best", 900)
            watch.terminate()
        run.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, metavar="DIRECTORY")
    wanted = parser.parse_args().pictures
    OUT.mkdir(exist_ok=True)
    with TemporaryDirectory() as directory:
        study = Path(directory) / "plant.db"
        result = bamsoo.minimize(cost, SPACE, BUDGET, study=study, on_error="fail")
        page = bamsoo.report.write(study, OUT / "report.html")
    print(f"best {result.fun:.6g} at {result.params}")
    print(f"page {page}")
    if wanted is not None:
        pictures(page, wanted)


if __name__ == "__main__":
    main()
