"""A headless browser and a static file server for tests of exported pages."""

from __future__ import annotations

import contextlib
import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

READY = "() => /^Ready/.test(status.textContent) || status.classList.contains('failed')".replace(
    "status.", "document.getElementById('status')."
)


def browser_problem() -> str | None:
    """Why there is no browser to test with, or None."""
    if chromium() is None:
        return "no chromium is installed"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the package playwright is not installed"
    return None


def chromium() -> str | None:
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a plain static file server, as `python -m http.server` is one."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def opened(folder: Path, timeout: float = 60) -> Iterator[Any]:
    """The folder's page in a browser, once it says that it is ready. What goes wrong in it is raised."""
    from playwright.sync_api import sync_playwright

    with served(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            page = browser.new_page()
            page.set_default_timeout(timeout * 1000)
            problems: list[str] = []
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.goto(address)
            page.wait_for_function(READY)
            yield page
            if problems:
                raise AssertionError(f"the page raised: {problems}")
        finally:
            browser.close()
