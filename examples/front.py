"""Weight against deflection of a cantilever: two objectives, and their front in out/front.html.

`python examples/front.py --picture docs/images/front.png` also takes the screenshot for the README,
with chromium and selenium.
"""

import argparse
import base64
import shutil
from pathlib import Path

import bamsoo
import bamsoo.report

OUT = Path("out")
SPACE = {
    "width": (20, 60),  # mm
    "height": (30, 120),  # mm
    "profile": bamsoo.Choice(["solid", "box", "I"]),
    "material": bamsoo.Choice(
        {"steel": {}, "aluminium": {}, "carbon": {"layers": bamsoo.Int(4, 16)}}
    ),
}


def beam(
    width: float, height: float, profile: str, material: str, layers: int = 0
) -> dict[str, float]:
    """A stand-in for a finite-element model: a beam of 1 m that carries 1 kN at its end."""
    area = {"solid": 1.0, "box": 0.45, "I": 0.38}[profile] * width * height
    inertia = {"solid": 1.0, "box": 0.72, "I": 0.66}[profile] * width * height**3 / 12
    modulus = {"steel": 210e3, "aluminium": 70e3, "carbon": 60e3 + 6e3 * layers}[material]
    density = {"steel": 7.85e-6, "aluminium": 2.7e-6, "carbon": 1.55e-6 + 2e-8 * layers}[material]
    return {"weight": area * 1000 * density, "deflection": 1000 * 1000**3 / (3 * modulus * inertia)}


def picture(page: Path, file: Path) -> None:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as driver:
        size = {"width": 1100, "height": 760, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.resolve().as_uri())
        driver.execute_async_script(
            "const done = arguments[0]; document.getElementById('best').remove();"
            "requestAnimationFrame(() => requestAnimationFrame(done))"
        )
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    file.write_bytes(base64.b64decode(shot["data"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    study, page = OUT / "beam.db", OUT / "front.html"
    study.unlink(missing_ok=True)
    r = bamsoo.minimize(beam, SPACE, 80, objectives=["weight", "deflection"], study=study)
    bamsoo.report.write(study, page)
    print(f"{len(r.front)} of {r.nfev} evaluations are on the front; page {page}")
    if given.picture is not None:
        picture(page, given.picture)


if __name__ == "__main__":
    main()
