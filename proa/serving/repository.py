"""The models that are served: found, loaded, replaced and removed while requests come in.

A version is loaded beside the one that it replaces and takes its place once it is warmed up; the old one answers what it
has accepted and ends. What cannot be loaded is told with its reason, and what was served before goes on. All of this
happens in one thread, `refresh` by `refresh`; requests only ever look into a finished table.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import Any

from ..core.locks import new_reentrant_lock
from .folders import Found, look
from .refusals import Kind, Refused, bad_request
from .settings import ModelSettings
from .version import BadModel, Version

logger = logging.getLogger("proa.serving")


@dataclass(frozen=True)
class Entry:
    """What is known about one version. `served` answers requests; `found` is what lies on disk."""

    found: Found
    state: str  # LOADING, READY or UNAVAILABLE
    reason: str = ""
    served: Version | None = None


class Repository:
    """Models by name and version."""

    def __init__(self, sources: list[str], defaults: ModelSettings) -> None:
        self.sources = sources
        self.defaults = defaults
        self._table: dict[str, dict[str, Entry]] = {}
        self._unloaded: set[str] = set()  # by request; they stay away until they are asked for
        self._seen: dict[tuple[str, str], Found] = {}
        self._lock = new_reentrant_lock()  # of whoever changes the table
        self._closed = False

    # ---- for requests ------------------------------------------------------------------------------------------------

    def find(self, name: str, version: str = "") -> Version:
        """The version that answers; the newest one that is ready if none is named."""
        versions = self._table.get(name)
        if versions is None:
            known = ", ".join(sorted(self._table)) or "none"
            raise Refused(Kind.NOT_FOUND, f"there is no model {name[:100]!r}; there are: {known[:500]}.")
        if version:
            entry = versions.get(version)
            if entry is None:
                raise Refused(Kind.NOT_FOUND, f"{name} has no version {version[:40]!r}; it has {', '.join(versions)}.")
            if entry.served is None:
                raise Refused(Kind.BUSY, f"{name}/{version} is not ready: {entry.reason or entry.state}.")
            return entry.served
        for number in sorted(versions, key=lambda version: int(version or 0), reverse=True):
            served = versions[number].served
            if served is not None:
                return served
        reasons = "; ".join(f"{number}: {entry.reason or entry.state}" for number, entry in versions.items())
        raise Refused(Kind.BUSY, f"{name} is not ready: {reasons}.")

    def served(self, name: str = "", version: str = "") -> list[Version]:
        """All versions that answer, or those of one model."""
        if name:
            if version:
                return [self.find(name, version)]
            self.find(name)
        return [
            entry.served
            for model, versions in sorted(self._table.items())
            if not name or model == name
            for entry in versions.values()
            if entry.served is not None
        ]

    def index(self, only_ready: bool = False) -> list[dict[str, str]]:
        """Every version with its state, as the protocol's repository index has it."""
        return [
            {"name": name, "version": version, "state": _shown_state(entry), "reason": _shown_reason(entry)}
            for name, versions in sorted(self._table.items())
            for version, entry in sorted(versions.items(), key=lambda item: int(item[0] or 0))
            if not only_ready or entry.served is not None
        ]

    def versions_of(self, name: str) -> list[str]:
        return [number for number, entry in self._table.get(name, {}).items() if entry.served is not None]

    @property
    def problems(self) -> list[str]:
        return [
            f"{name}/{version}: {entry.reason}"
            for name, versions in sorted(self._table.items())
            for version, entry in versions.items()
            if entry.state == "UNAVAILABLE" and name not in self._unloaded
        ]

    # ---- changes -----------------------------------------------------------------------------------------------------

    def refresh(self, at_once: bool = False) -> None:
        """Looks at the folders and follows what changed there.

        Files may be in the middle of being copied: a version is loaded when two looks see it alike, or `at_once`.
        """
        with self._lock:
            if self._closed:
                return
            try:
                now = look(self.sources, self.defaults)
            except (OSError, ValueError) as error:
                if at_once and not self._table:
                    raise
                logger.error("the repository cannot be read; what is served stays: %s", error)
                return
            for key, found in now.items():
                if self._closed:
                    return
                if found.name not in self._unloaded and (at_once or self._seen.get(key) == found):
                    self._follow(found)
            for name, versions in list(self._table.items()):
                for version in list(versions):
                    if (name, version) not in now:
                        self._drop(name, version, forget=True)
                        logger.info("%s/%s is gone", name, version)
            self._seen = now

    def load(self, name: str) -> None:
        """Loads a model, or loads it again; Refused if no version of it can be."""
        with self._lock:
            now = look(self.sources, self.defaults)
            mine = [found for found in now.values() if found.name == name]
            if not mine:
                raise Refused(Kind.NOT_FOUND, f"there is no model {name[:100]!r} in the repository.")
            self._unloaded.discard(name)
            for found in mine:
                self._follow(found, again=True)
                self._seen[name, found.version] = found
            entries = self._table.get(name, {})
            bad = [f"{version}: {entry.reason}" for version, entry in entries.items() if entry.reason]
            if bad:
                raise bad_request(f"{name} was not loaded: {'; '.join(bad)}.")

    def unload(self, name: str) -> None:
        """Stops serving a model, once what it has accepted is answered, until somebody asks to load it."""
        with self._lock:
            if name not in self._table:
                raise Refused(Kind.NOT_FOUND, f"there is no model {name[:100]!r}.")
            self._unloaded.add(name)
            for version in list(self._table[name]):
                self._drop(name, version, forget=False)

    def close(self, seconds: float = -1) -> bool:
        """Answers what was accepted, and ends all threads; False if a model was still being loaded after that time."""
        self._closed = True
        if not self._lock.acquire(timeout=seconds):
            return False
        try:
            for name, versions in list(self._table.items()):
                for version in list(versions):
                    self._drop(name, version, forget=True)
        finally:
            self._lock.release()
        return True

    def _follow(self, found: Found, again: bool = False) -> None:
        """Makes the table say what lies on disk. What could not be loaded before is tried `again`, if so."""
        entry = self._table.get(found.name, {}).get(found.version)
        if entry is not None and entry.found == found and (entry.state == "READY" or not again):
            return
        before = entry.served if entry else None
        self._put(found, Entry(found, "LOADING", "", before))
        started = time.perf_counter()
        try:
            if found.problem:
                raise BadModel(found.problem)
            made = Version(found.name, found.version, found.path, found.settings)
        except Exception as error:  # whatever a file may hold: it is told, and the others go on
            text = str(error) if isinstance(error, BadModel) else f"{type(error).__name__}: {error}"
            still = " (the one loaded before goes on)" if before else ""
            self._put(found, Entry(found, "UNAVAILABLE", text + still, before))
            logger.error("%s/%s cannot be served%s: %s", found.name, found.version, still, text)
            return
        self._put(found, Entry(found, "READY", "", made))
        logger.info(
            "%s/%s is ready after %.1f s, %s", found.name, found.version, time.perf_counter() - started,
            f"batches of up to {found.settings.max_batch_size}" if made.batched else "request by request",
        )  # fmt: skip
        for note in made.notes:
            logger.warning("%s/%s: %s", found.name, found.version, note)
        if before is not None:
            before.close()

    def _put(self, found: Found, entry: Entry) -> None:
        """A new table instead of a changed one: requests read it without a lock."""
        versions = {**self._table.get(found.name, {}), found.version: entry}
        if found.version:  # a problem of the whole model is over
            versions.pop("", None)
        ordered = dict(sorted(versions.items(), key=lambda item: int(item[0] or 0)))
        self._table = {**self._table, found.name: ordered}

    def _drop(self, name: str, version: str, forget: bool) -> None:
        entry = self._table[name][version]
        versions = dict(self._table[name])
        if forget:
            del versions[version]
        else:
            versions[version] = replace(entry, state="UNAVAILABLE", reason="unloaded", served=None)
        table: dict[str, Any] = {**self._table, name: versions}
        if not versions:
            del table[name]
        self._table = table
        if entry.served is not None:
            entry.served.close()


def _shown_state(entry: Entry) -> str:
    return "READY" if entry.served is not None else entry.state


def _shown_reason(entry: Entry) -> str:
    return entry.reason or ("; ".join(entry.served.notes) if entry.served else "")
