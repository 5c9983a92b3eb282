"""Who may come in: whose key a request has, how often it is used, and what it is good for."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from ocucb.service.access import ApiKey
from ocucb.service.errors import DeniedError, UnavailableError, UnknownExperimentError
from ocucb.service.web.app_state import AppState, RecognisedKey, RequestContext
from ocucb.service.web.errors import Refusal, retry_after
from ocucb.service.web.limits import TokenBuckets, network_of
from ocucb.service.web.paths import RouteMatch
from ocucb.service.web.refresh import KeyRefresher
from ocucb.service.web.route_table import RoutePolicy

MAX_FAILED_KEYS_PER_MINUTE = 60  # from one address


class Admission:
    """Lets requests in by their API keys. For one event loop."""

    def __init__(self, app_state: AppState) -> None:
        self._app_state, self._access = app_state, app_state.service.access
        self._rate = app_state.service.settings.rate_limit
        self._key_rates = TokenBuckets(self._rate, self._rate)
        self._failed_keys = TokenBuckets(MAX_FAILED_KEYS_PER_MINUTE / 60, MAX_FAILED_KEYS_PER_MINUTE)
        self._refresh_for_new_keys = KeyRefresher(self._access, 0.05)
        self._refresh_now = KeyRefresher(self._access, 0.0)

    def identify(self, headers: Mapping[bytes, bytes], before: RecognisedKey | None = None) -> ApiKey | None:
        """Return the key of a request, if it is known in memory. If it is that of the one before, no hash is needed."""
        if before is not None and (
            headers is before.headers or hmac.compare_digest(headers.get(b"authorization", b""), before.authorization)
        ):
            return self._access.find(before.id)
        return self._access.identify(_bearer(headers))

    async def admit(self, context: RequestContext, match: RouteMatch, client: tuple[str, int] | None) -> None:
        """Find out whose request it is, and refuse it if it may not be made."""
        policy = match.route.policy
        if policy.role is None:
            return
        context.key = self.identify(context.headers) or await self.find_new_key(context.headers, client)
        self.take_turn(context.key)
        if policy.fresh is not None:
            context.key = await self._recheck(context.key, policy)
        check_role(context.key, match)

    def take_turn(self, key: ApiKey) -> None:
        """Count a request made with a key, and refuse it if there are too many."""
        if wait := self._key_rates.take(key.id):
            raise Refusal(429, f"a key has {self._rate} requests per second; slow down", retry_after(wait))

    async def find_new_key(self, headers: Mapping[bytes, bytes], client: tuple[str, int] | None) -> ApiKey:
        """Return a key that was made on another node just now, or refuse; whoever fails often is not looked up."""
        if wait := self._failed_keys.take(network_of(client)):
            raise Refusal(429, "too many requests without a valid key; try again later", retry_after(wait))
        if _bearer(headers).startswith("ocucb_"):
            await self._app_state.with_timeout(self._refresh_for_new_keys())
        key = self.identify(headers)
        if key is None:
            raise DeniedError
        return key

    async def _recheck(self, key: ApiKey, policy: RoutePolicy) -> ApiKey:
        try:
            await self._app_state.with_timeout(self._refresh_now())
        except UnavailableError:
            if policy.fresh == "must":
                raise
        found = self._access.find(key.id)
        if found is None:
            raise DeniedError
        return found


def check_role(key: ApiKey, match: RouteMatch) -> None:
    """Refuse a key that is not good for a route; to a key that does not see an experiment there is none."""
    role, name = match.route.policy.role, match.parameters.get("name")
    if role is not None and not key.may(role):
        raise Refusal(403, f"this needs a key with the role {role}; this key has {', '.join(sorted(key.roles))}")
    if name is not None and not key.sees(name):
        raise UnknownExperimentError(name)


def _bearer(headers: Mapping[bytes, bytes]) -> str:
    scheme, _, text = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""
