"""A headless browser that opens the site's pages, several at once, and says what is wrong with them.

The pages of one browser share its cache, so that scripts and styles are fetched and compiled once. (Intercepting requests
would turn that cache off, so what has to be answered otherwise, the index of the search, is the server's business.)
"""

from __future__ import annotations

import asyncio
import functools
import http.server
import io
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
EMPTY_INDEX = '{"config": {"lang": ["en"], "separator": " ", "pipeline": [], "fields": {}}, "docs": []}'
# What is wider than a phone; listings and tables scroll by themselves.
_TOO_WIDE = """() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return '';
    const guilty = [...document.querySelectorAll('.md-content *')].find(
        e => e.getBoundingClientRect().right > root.clientWidth + 1 && !e.closest('pre, .md-typeset__scrollwrap'));
    return `${root.scrollWidth} pixels wide on a phone: ${guilty ? guilty.outerHTML.slice(0, 120) : ''}`;
}"""


class _Files(http.server.SimpleHTTPRequestHandler):
    """The files of the site; `with_search`: the index of the search too, which each page would build anew, for seconds."""

    protocol_version = "HTTP/1.1"  # connections are kept

    def __init__(self, *args: Any, with_search: bool, **options: Any) -> None:
        self._with_search = with_search
        super().__init__(*args, **options)

    def send_head(self) -> Any:
        name = self.path.rpartition("/")[2]
        if self._with_search or not name.startswith("search_index."):
            return super().send_head()
        content = (EMPTY_INDEX if name.endswith(".json") else f"var __index = {EMPTY_INDEX}").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(site: Path, with_search: bool) -> Iterator[str]:
    """The address of a server of the site's files."""
    handler = functools.partial(_Files, directory=str(site), with_search=with_search)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@asynccontextmanager
async def tabs(number: int, scheme: Literal["light", "dark"] = "light") -> AsyncIterator[list[Any]]:
    """So many pages of one browser; the troubles of each are collected in `page.troubles`.

    Pages share what the theme remembers, so that a browser is for readers who prefer one scheme, from its start.
    """
    from playwright.async_api import async_playwright

    from tests.serving.browser import find, install

    install()
    executable = find()
    if executable is None:
        sys.exit("There is no chromium here; install it (`apt-get install chromium`).")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        context = await browser.new_context(color_scheme=scheme)
        try:
            yield [_collecting(await context.new_page()) for _ in range(number)]
        finally:
            await browser.close()


def _collecting(page: Any) -> Any:
    troubles: list[str] = []

    def note(trouble: str) -> None:
        if trouble:
            troubles.append(trouble)

    page.troubles = troubles
    page.on("pageerror", lambda error: note(f"raised {error}"))
    page.on("console", lambda said: note(said.text if said.type in ("error", "warning") else ""))
    page.on("requestfailed", lambda request: note(_failed(request)))
    page.on("request", lambda request: note(f"asked {request.url}" if _leaves(request.url) else ""))
    return page


def _failed(request: Any) -> str:
    """What could not be fetched; a picture that was still on its way when the next page was opened does not count."""
    return "" if request.failure == "net::ERR_ABORTED" else f"could not fetch {request.url} ({request.failure})"


def _leaves(url: str) -> bool:
    return not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:"))


async def look(page: Any, address: str, name: str, folder: Path | None) -> list[str]:
    """Open one page at both widths; returns what is wrong with it. With a folder, pictures are left there."""
    page.troubles.clear()
    picture = name.replace("/", "--") + ".png"
    await page.set_viewport_size(DESK)
    await page.goto(f"{address}/{name}", wait_until="load")
    if folder is not None:
        await page.screenshot(path=folder / "desk" / picture)
    await page.set_viewport_size(PHONE)
    wide = await page.evaluate(_TOO_WIDE)
    if folder is not None:
        await page.wait_for_timeout(150)
        await page.screenshot(path=folder / "phone" / picture)
    return [f"{name}: {trouble}" for trouble in [*page.troubles, *([wide] if wide else [])]]


async def look_in_the_dark(page: Any, address: str, name: str, folder: Path) -> list[str]:
    """Open one page of a browser for readers who prefer dark ones, and leave its picture."""
    page.troubles.clear()
    await page.set_viewport_size(DESK)
    await page.goto(f"{address}/{name}", wait_until="load")
    if await page.evaluate("document.body.getAttribute('data-md-color-scheme')") != "slate":
        page.troubles.append("is not dark where dark is preferred")
    await page.screenshot(path=folder / "dark" / (name.replace("/", "--") + ".png"))
    return [f"{name}: {trouble}" for trouble in page.troubles]


async def look_at_all(pages: Sequence[Any], address: str, names: Sequence[str], pictures: dict[str, Path]) -> list[str]:
    """All of them, each by whichever page is free; `pictures`: which of them leave some, and where."""
    troubles: list[str] = []
    waiting = iter(names)

    async def work(page: Any) -> None:
        for name in waiting:
            troubles.extend(await look(page, address, name, pictures.get(name)))

    await asyncio.gather(*map(work, pages))
    return sorted(troubles)


async def search(page: Any, address: str, words: str, expected: str, folder: Path) -> list[str]:
    """Type something into the search; returns what is wrong with the answers."""
    page.troubles.clear()
    await page.set_viewport_size(DESK)
    await page.goto(f"{address}/index.html", wait_until="load")
    await page.wait_for_timeout(500)  # the key is listened to when the scripts have started
    await page.keyboard.press("/")
    await page.keyboard.type(words)
    try:
        await page.wait_for_selector(f".md-search-result__link[href*='{expected}']", timeout=60_000)
    except Exception:
        page.troubles.append(f"searching for {words!r} does not find {expected}")
    await page.screenshot(path=folder / "desk" / f"search-{words}-{address.partition(':')[0]}.png")
    return [f"search: {trouble}" for trouble in page.troubles]
