"""Pages in a real browser: Debian's chromium, headless, driven by selenium.

Where the browser or its driver is not installed the tests that import this skip; `.ci/run`
installs both.
"""

import json
import shutil
import time

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip(
        "chromium and chromedriver are not installed: no page is looked at",
        allow_module_level=True,
    )
webdriver = pytest.importorskip(
    "selenium.webdriver", reason="selenium is not installed: no page is looked at"
)


FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, study):
    """The report beside a module's study, on which the browser has nothing to complain about."""
    opened = Page(browser, study.with_suffix(".html"))
    yield opened
    assert opened.complaints() == []


class Page:
    """An open page."""

    def __init__(self, driver, path, width=1200):
        """`path` is a file, or an address."""
        self.driver = driver
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get("about:blank")  # the last page may still send requests to a stopped server
        for kind in ("browser", "performance"):
            driver.get_log(kind)
        driver.get(path if isinstance(path, str) else path.as_uri())
        self.until("document.documentElement.dataset.ready === 'yes'")

    def js(self, code, *args):
        return self.driver.execute_script(code, *args)

    def until(self, condition):
        for _ in range(3000):
            if self.js(f"return {condition}"):
                return
            time.sleep(0.02)
        raise AssertionError(f"never: {condition}")

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).innerText", selector)

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).click()", selector)

    def set(self, selector, value, event="change"):
        self.js(
            "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
            "e.dispatchEvent(new Event(arguments[2], {bubbles: true}))",
            selector,
            str(value),
            event,
        )

    def picture(self, selector):
        """What a canvas shows after all pending redraws."""
        self.frame()
        return self.js("return document.querySelector(arguments[0]).toDataURL()", selector)

    def frame(self):
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )

    def mouse(self, selector, *steps):
        """Real pointer events at places of an element, as (kind, x, y)."""
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        left, top = self.js(
            "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [r.left, r.top]",
            selector,
        )
        for kind, x, y in steps:
            event = {"type": f"mouse{kind}", "x": left + x, "y": top + y, "clickCount": 1}
            event["button"] = "none" if kind == "Moved" else "left"
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
        self.frame()

    def rows(self):
        return self.js(
            "return [...document.querySelectorAll('#table tbody tr')].map("
            "tr => [...tr.cells].map(td => td.innerText))"
        )

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        sent = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                sent.append(message["params"]["request"]["url"])
        return sent
