"""Open every page of build/site in a headless browser, at the width of a desk and of a phone, and say what is wrong.

    python -m tools.site.check                         # after `make docs-site`; minutes
    python -m tools.site.check --only 'first_hour*'    # these pages

Wrong are: errors on the console, requests that fail or leave the machine, links and anchors that lead nowhere, pages wider
than a phone, and a search that finds nothing, from a server or from the disk. Screenshots of the pages written by hand, and
of some of the reference, are left in build/site-screenshots.
"""

from __future__ import annotations

import argparse
import asyncio
import fnmatch
import sys
import time
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

from .browser import look_at_all, look_in_the_dark, search, served, tabs

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
SCREENSHOTS = ROOT / "build" / "site-screenshots"
# Of the two thousand pages of the reference, those whose pictures are kept.
SHOWN = (
    "reference/index.html", "reference/proa.nn.html", "reference/proa/abs.html", "reference/proa/Tensor.html",
    "reference/proa.nn/Linear.html", "reference/proa.io/DataLoader.html", "reference/proa.optimizer/Adam.html",
    "reference/proa.nn.functional/cross_entropy.html", "reference/proa.vision.models/ResNet.html", "reference/names.html",
)  # fmt: skip


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


async def opened(names: Sequence[str], number: int) -> list[str]:
    """What is wrong with these pages, and with the search, in a browser with so many tabs."""
    pictures = {name: SCREENSHOTS for name in names if not name.startswith("reference/") or name in SHOWN}
    async with tabs(number) as pages:
        troubles: list[str] = []
        with served(SITE, with_search=True) as address:
            for place in (address, SITE.as_uri()):
                troubles += await search(pages[0], place, "cross_entropy", "cross_entropy.html", SCREENSHOTS)
        with served(SITE, with_search=False) as address:
            troubles += await look_at_all(pages, address, names, pictures)
            async with tabs(1, "dark") as (page,):
                for name, folder in pictures.items():
                    troubles += await look_in_the_dark(page, address, name, folder)
    return troubles


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site.check", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="*", help="a pattern of pages")
    parser.add_argument("--every", type=int, default=1, help="of the pages of the reference, every so many")
    parser.add_argument("--tabs", type=int, default=4, help="how many pages are opened at once")
    options = parser.parse_args()
    if not (SITE / "index.html").exists():
        sys.exit("There is no build/site; run `make docs-site` first.")
    names = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
    names = [name for name in names if fnmatch.fnmatch(name, options.only)]
    singles = [name for name in names if name.startswith("reference/") and name not in SHOWN]
    skipped = set(singles) - set(singles[:: options.every])
    names = [name for name in names if name not in skipped]
    for folder in ("desk", "dark", "phone"):
        (SCREENSHOTS / folder).mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    troubles = broken_links(SITE)
    print(f"links and anchors: {len(troubles)} troubles ({time.perf_counter() - started:.0f} s)", flush=True)
    troubles += asyncio.run(opened(names, max(1, options.tabs)))
    print("\n".join(troubles[:100]))
    print(f"{len(names)} pages opened at two widths, {len(troubles)} troubles ({time.perf_counter() - started:.0f} s)")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
