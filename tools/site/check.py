"""Open every page of build/site in a headless browser, at the width of a desk and of a phone, and say what is wrong.

    python -m tools.site.check                         # after `make docs-site`; minutes
    python -m tools.site.check --only 'first_hour*'    # these pages

Wrong are: errors on the console, requests that fail or leave the machine, links and anchors that lead nowhere, pages wider
than a phone, and a search that finds nothing, from a server or from the disk. Screenshots of the pages written by hand, and
of some of the reference, are left in build/site-screenshots.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import http.server
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
SCREENSHOTS = ROOT / "build" / "site-screenshots"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# Of the two thousand pages of the reference, those whose pictures are kept.
SHOWN = (
    "reference/index.html", "reference/proa.nn.html", "reference/proa/abs.html", "reference/proa/Tensor.html",
    "reference/proa.nn/Linear.html", "reference/proa.io/DataLoader.html", "reference/proa.optimizer/Adam.html",
    "reference/proa.nn.functional/cross_entropy.html", "reference/proa.vision.models/ResNet.html", "reference/names.html",
)  # fmt: skip


EMPTY_INDEX = '{"config": {"lang": ["en"], "separator": " ", "pipeline": [], "fields": {}}, "docs": []}'


class _Anchors(HTMLParser):
    """The links of a page and the places in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places.update(filter(None, (given.get("id"), given.get("name") if tag == "a" else None)))
        self.links += filter(None, (given.get("href" if tag in ("a", "link") else "src"),))


def broken_links(site: Path) -> list[str]:
    """Every link and source of every page that leads nowhere, or away from the site to fetch something."""
    pages: dict[Path, _Anchors] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _Anchors()
        pages[path].feed(path.read_text(encoding="utf-8"))
    troubles = []
    for path, found in pages.items():
        for link in found.links:
            target, anchor = urldefrag(link)
            if ":" in target or target.startswith("//"):
                continue  # an address elsewhere, which a reader may follow; what is fetched from there the browser tells
            start = site if target.startswith("/") else path.parent
            wanted = (start / unquote(target).lstrip("/")).resolve() if target else path
            wanted = wanted / "index.html" if wanted.is_dir() else wanted
            if not wanted.exists():
                troubles.append(f"{path.relative_to(site)}: {link} is not there")
            elif anchor and wanted in pages and unquote(anchor) not in pages[wanted].places and anchor != "__skip":
                troubles.append(f"{path.relative_to(site)}: {link} has no such place")
    return troubles


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of a server of the site's files."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def browser_page() -> Iterator[Any]:
    """A page whose troubles are collected in `page.troubles`."""
    from playwright.sync_api import sync_playwright

    from tests.serving.browser import find, install

    install()
    executable = find()
    if executable is None:
        sys.exit("There is no chromium here; install it (`apt-get install chromium`).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        page: Any = browser.new_page(viewport=DESK)
        page.troubles = []
        page.on("pageerror", lambda error: page.troubles.append(f"raised {error}"))
        page.on("console", lambda said: page.troubles.append(said.text) if said.type in ("error", "warning") else None)
        page.on("requestfailed", lambda request: page.troubles.append(_failed(request)) if _failed(request) else None)
        page.on(
            "request", lambda request: page.troubles.append(f"asked {request.url}") if _leaves(request.url) else None
        )
        try:
            yield page
        finally:
            browser.close()


def _failed(request: Any) -> str:
    """What could not be fetched; a picture that was still on its way when the next page was opened does not count."""
    return "" if request.failure == "net::ERR_ABORTED" else f"could not fetch {request.url} ({request.failure})"


def _leaves(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:"))


def look(page: Any, address: str, name: str, keep: bool) -> list[str]:
    """Open one page at both widths; returns what is wrong with it."""
    page.troubles.clear()
    page.set_viewport_size(DESK)
    page.goto(f"{address}/{name}", wait_until="load")
    if keep:
        page.screenshot(path=SCREENSHOTS / "desk" / (name.replace("/", "--") + ".png"))
    page.set_viewport_size(PHONE)
    wide = page.evaluate(
        "() => { const root = document.documentElement; if (root.scrollWidth <= root.clientWidth) return '';"
        "const guilty = [...document.querySelectorAll('.md-content *')].find("
        "  e => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('pre, .md-typeset__scrollwrap'));"
        "return `${root.scrollWidth} pixels wide on a phone: ${guilty ? guilty.outerHTML.slice(0, 120) : ''}`; }"
    )
    if keep:
        page.wait_for_timeout(150)
        page.screenshot(path=SCREENSHOTS / "phone" / (name.replace("/", "--") + ".png"))
    return [f"{name}: {trouble}" for trouble in [*page.troubles, *([wide] if wide else [])]]


def search(page: Any, address: str, words: str, expected: str) -> list[str]:
    """Type something into the search; returns what is wrong with the answers."""
    page.troubles.clear()
    page.set_viewport_size(DESK)
    page.goto(f"{address}/index.html", wait_until="load")
    page.wait_for_timeout(500)  # the key is listened to when the scripts have started
    page.keyboard.press("/")
    page.keyboard.type(words)
    try:
        page.wait_for_selector(f".md-search-result__link[href*='{expected}']", timeout=20_000)
    except Exception:
        page.troubles.append(f"searching for {words!r} does not find {expected}")
    page.screenshot(path=SCREENSHOTS / "desk" / f"search-{words}-{address.partition(':')[0]}.png")
    return [f"search: {trouble}" for trouble in page.troubles]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site.check", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="*", help="a pattern of pages")
    parser.add_argument("--every", type=int, default=1, help="of the pages of the reference, every so many")
    options = parser.parse_args()
    if not (SITE / "index.html").exists():
        sys.exit("There is no build/site; run `make docs-site` first.")
    names = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
    names = [name for name in names if fnmatch.fnmatch(name, options.only)]
    singles = [name for name in names if name.startswith("reference/") and name not in SHOWN]
    skipped = set(singles) - set(singles[:: options.every])
    names = [name for name in names if name not in skipped]
    for folder in ("desk", "phone"):
        (SCREENSHOTS / folder).mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    troubles = broken_links(SITE)
    with served(SITE) as address, browser_page() as page:
        for place in (address, SITE.as_uri()):
            troubles += search(page, place, "cross_entropy", "cross_entropy.html")
        # Each page would build the index anew, for seconds; the search was tried above, so an empty one will do.
        page.route("**/search_index.js", lambda route: route.fulfill(body=f"var __index = {EMPTY_INDEX}"))
        page.route("**/search_index.json", lambda route: route.fulfill(body=EMPTY_INDEX))
        for number, name in enumerate(names, start=1):
            if number % 250 == 0:
                print(f"{number} pages, {len(troubles)} troubles ({time.perf_counter() - started:.0f} s)", flush=True)
            troubles += look(page, address, name, keep=not name.startswith("reference/") or name in SHOWN)
    print("\n".join(troubles[:100]))
    print(f"{len(names)} pages opened at two widths, {len(troubles)} troubles ({time.perf_counter() - started:.0f} s)")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
