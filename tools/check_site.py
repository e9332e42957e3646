"""Check a built site: nothing is loaded from the network, and every link has a target.

python tools/check_site.py out/docs
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""Elements that the browser loads together with the page, with the attribute of their address."""


class Page(HTMLParser):
    """What a page loads, what it links to, and the anchors to which others can link."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def has(self, fragment: str) -> bool:
        """Whether the page has this anchor."""
        return unquote(fragment) in self.anchors

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the addresses and anchors of one element."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors.update(given[key] for key in ("id", "name") if key in given)
        if tag in LOADS and LOADS[tag] in given:
            self.loads.append(given[LOADS[tag]])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given.get("href", ""))
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])


def complaints(site: Path) -> list[str]:
    """Everything that is wrong, one sentence each."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site)
        for address in [*page.loads, *page.links]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.loads and parts.scheme != "data":
                    found.append(f"{where}: loads {address} from the network")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{where}: {address} does not exist")
            elif parts.fragment and target in pages and not pages[target].has(parts.fragment):
                found.append(f"{where}: the page of {address} has no such anchor")
    return found


def main() -> None:
    """Print everything that is wrong, and fail if anything is."""
    site = Path(sys.argv[1]).resolve()
    found = complaints(site)
    if found:
        sys.exit("\n".join(found))
    pages = len(list(site.rglob("*.html")))
    print(f"{site}: {pages} pages; every link has a target, nothing is loaded from the network")


if __name__ == "__main__":
    main()
