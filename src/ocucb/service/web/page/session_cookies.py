"""Who is logged in: a signed cookie that names an API key, so that any node knows it and a revoked key ends it."""

from __future__ import annotations

import hashlib
import secrets

from itsdangerous import BadSignature, Signer

from ocucb.service.access import Access, ApiKey
from ocucb.service.records import SECOND, Clock, utc_now

COOKIE = "ocucb_session"


class SessionCookies:
    """Makes session cookies and reads them. Nothing is kept: a cookie is id, end, nonce, and a signature over them.

    The signing secret is the same on all nodes. Logging out takes the cookie from the browser; a copy of it would be
    good until its end, or until the key is revoked.
    """

    def __init__(self, access: Access, seconds: float, now: Clock = utc_now) -> None:
        self._seconds, self._now = seconds, now
        self._cookies, self._forms = (
            Signer(access.secret, salt=purpose, key_derivation="hmac", digest_method=hashlib.sha256)
            for purpose in ("session", "form")
        )

    def make(self, key: ApiKey) -> str:
        """Return the cookie of a new session."""
        end = self._now() // SECOND + round(self._seconds)
        return self._cookies.sign(f"{key.id}.{end}.{secrets.token_urlsafe(12)}").decode()

    def read(self, cookie: str) -> str | None:
        """Return the id of the key that a cookie stands for, if it is ours and in time. The key may be revoked."""
        try:
            key, end, _ = self._cookies.unsign(cookie).decode().split(".")
        except BadSignature:
            return None
        return key if self._now() // SECOND < int(end) else None

    def form_token(self, cookie: str) -> str:
        """Return what a form must carry to be believed: no other site can know it."""
        return self._forms.get_signature(cookie).decode()

    def is_form_token(self, cookie: str, token: str) -> bool:
        """Tell whether a form carries the right token."""
        return self._forms.verify_signature(cookie, token)
