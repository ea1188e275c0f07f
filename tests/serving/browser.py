"""A real browser for tests of pages: the chromium of the system, driven by playwright.

`python -m tests.serving.browser` installs it by apt-get where it is missing and that is possible (root on Debian or
Ubuntu); `make test` does so before the tests. Without one, tests of pages say so and are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find() -> str | None:
    """Where the browser is, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def page() -> Iterator[Any]:
    """An empty page of a fresh browser; what goes wrong in it ends up in `page.problems`."""
    executable = find()
    if executable is None:
        pytest.skip("there is no chromium here; install it, or run `python -m tests.serving.browser` as root")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        try:
            found = browser.new_page()
            found.problems = []
            found.on("pageerror", lambda error: found.problems.append(str(error)))
            found.on("request", lambda request: found.problems.append(request.url) if "127.0.0.1" not in request.url
                     and not request.url.startswith("data:") else None)  # fmt: skip
            yield found
        finally:
            browser.close()


def install() -> int:
    """0 if there is a browser in the end; also where none can be had, as tests then say so themselves."""
    if find() or shutil.which("apt-get") is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return 0
    print("Installing chromium for the tests of pages ...", flush=True)
    command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", "chromium"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for attempt in (command, ["apt-get", "update", "-qq"], command):
        if subprocess.run(attempt, env=environment, stdout=subprocess.DEVNULL).returncode == 0 and find():
            return 0
    print("chromium could not be installed; tests of pages are skipped.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(install())
