"""Who is logged in: a signed cookie that names an API key, so that any node knows it and a revoked key ends it."""

from __future__ import annotations

import base64
import hmac
import secrets
from hashlib import sha256

from ocucb.service.access import Access, ApiKey
from ocucb.service.records import SECOND, Clock, utc_now

COOKIE = "ocucb_session"


class Sessions:
    """Begins sessions and recognises them. Nothing is kept: a cookie is id, end, nonce, and a signature over them.

    The signing secret is the same on all nodes. Logging out takes the cookie from the browser; a copy of it would be
    good until its end, or until the key is revoked.
    """

    def __init__(self, access: Access, lasts: float, now: Clock = utc_now) -> None:
        self._access, self._lasts, self._now = access, lasts, now

    def begin(self, key: ApiKey) -> str:
        """Return the cookie of a new session."""
        end = self._now() // SECOND + round(self._lasts)
        text = f"{key.id}.{end}.{secrets.token_urlsafe(12)}"
        return f"{text}.{self._sign('session', text)}"

    def read(self, cookie: str) -> str | None:
        """Return the id of the key that a cookie stands for, if it is ours and in time. The key may be revoked."""
        text, _, signature = cookie.rpartition(".")
        if not self._same(signature, self._sign("session", text)):
            return None
        key, end, _ = text.split(".")
        return key if self._now() // SECOND < int(end) else None

    def form_token(self, cookie: str) -> str:
        """Return what a form must carry to be believed: no other site can know it."""
        return self._sign("form", cookie)

    def is_form_token(self, cookie: str, token: str) -> bool:
        """Tell whether a form carries the right token."""
        return self._same(token, self.form_token(cookie))

    def _sign(self, purpose: str, text: str) -> str:
        digest = hmac.digest(self._access.secret, f"{purpose} {text}".encode("utf-8", "replace"), sha256)
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    @staticmethod
    def _same(one: str, other: str) -> bool:
        return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
