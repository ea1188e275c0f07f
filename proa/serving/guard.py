"""Who may ask: tokens, and pages of other sites that a browser of this machine has open."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from urllib.parse import urlsplit

from .refusals import Kind, Refused
from .settings import LOOPBACK, HostSettings

# Anybody may see whether the server lives, and the page, which knows nothing until it is given a token.
OPEN_PATHS = ("/", "/v2/health/live", "/v2/health/ready")
OPEN_METHODS = ("ServerLive", "ServerReady")


def check_token(authorization: str | None, tokens: Iterable[str]) -> None:
    """Refused unless the header holds one of the tokens; all of them are compared, in equal time."""
    wanted = list(tokens)
    if not wanted:
        return
    scheme, _, given = (authorization or "").partition(" ")
    known = [hmac.compare_digest(given.strip().encode(), token.encode()) for token in wanted]
    if scheme.lower() != "bearer" or not any(known):
        raise Refused(Kind.NO_TOKEN, "a token is needed: send the header 'Authorization: Bearer TOKEN'.")


def check_origin(settings: HostSettings, host: str, origin: str | None) -> None:
    """Refused if a page of another site asks: a browser reaches servers that the site itself could not.

    A local server without tokens is also asked by a name of this machine only, or a site could lead its own name here.
    """
    if settings.is_local and not settings.tokens and urlsplit(f"//{host}").hostname not in LOOPBACK:
        raise Refused(
            Kind.FORBIDDEN, "this server answers to the names of this machine only, unless it asks for tokens."
        )
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        raise Refused(Kind.FORBIDDEN, "pages of other sites may not ask this server.")
