"""A provider for OpenFeature, the standard API of feature flags: a flag is an experiment, its value the arm.

    from openfeature import api
    from ocucb_client import Client
    from ocucb_client.openfeature import OcucbProvider

    api.set_provider_and_wait(OcucbProvider(Client("http://127.0.0.1:8000", os.environ["OCUCB_KEY"])))

Needs `ocucb-client[openfeature]`. The targeting key is the unit. `track` gives the reward of the last decision that
this process made for the unit: in the experiment that `experiment` in its details names, or in the one whose name the
event has. If another process tracks, it names the decision itself: `decision` in the details.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import FlagResolutionDetails, Reason
from openfeature.provider import AbstractProvider, Metadata
from openfeature.track import TrackingEventDetails

from ocucb_client.client import Client
from ocucb_client.errors import ClientError, DeniedError, NotFoundError
from ocucb_client.models import Decision

logger = logging.getLogger("ocucb_client")

MAX_REMEMBERED = 100_000
FlagValue = bool | str | int | float | Sequence[Any] | Mapping[str, Any]
T = TypeVar("T", bound=FlagValue)
_WRONG_TYPE = object()


class OcucbProvider(AbstractProvider):
    """Resolves flags by decisions of an experiment, and falls back to the default value when there is none.

    A string flag has the label of the arm; a boolean, number or object flag the arm's metadata, or, if it has none,
    a label that says it: "on" and "off", "true" and "false", a number. The decision's id is in the flag's metadata. A
    decision is asked for once per evaluation; whether the same unit gets the same arm is for the experiment's `sticky`
    to say.

    Parameters
    ----------
    client : asks the service. Give it a short `timeout`, since a flag should rather have its default than wait.
        Whoever makes it closes it, so that no reward is lost.
    """

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client
        self._lock = threading.Lock()
        self._last: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._flags: set[str] = set()
        self._metadata: dict[str, dict[Any, Any]] = {}

    def get_metadata(self) -> Metadata:
        """Return the name of the provider."""
        return Metadata("ocucb")

    def resolve_boolean_details(
        self, flag_key: str, default_value: bool, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[bool]:
        """Return whether a flag is on."""
        return self._resolve(flag_key, default_value, evaluation_context, _boolean)

    def resolve_string_details(
        self, flag_key: str, default_value: str, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[str]:
        """Return the label of the arm."""
        return self._resolve(flag_key, default_value, evaluation_context, None)

    def resolve_integer_details(
        self, flag_key: str, default_value: int, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[int]:
        """Return the number that the arm stands for."""
        return self._resolve(flag_key, default_value, evaluation_context, _integer)

    def resolve_float_details(
        self, flag_key: str, default_value: float, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[float]:
        """Return the number that the arm stands for."""
        return self._resolve(flag_key, default_value, evaluation_context, _float)

    def resolve_object_details(
        self,
        flag_key: str,
        default_value: Sequence[Any] | Mapping[str, Any],
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Sequence[Any] | Mapping[str, Any]]:
        """Return the metadata of the arm."""
        return self._resolve(flag_key, default_value, evaluation_context, _object)

    async def resolve_boolean_details_async(
        self, flag_key: str, default_value: bool, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[bool]:
        """Do the same from an event loop, in a thread."""
        return await asyncio.to_thread(self.resolve_boolean_details, flag_key, default_value, evaluation_context)

    async def resolve_string_details_async(
        self, flag_key: str, default_value: str, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[str]:
        """Do the same from an event loop, in a thread."""
        return await asyncio.to_thread(self.resolve_string_details, flag_key, default_value, evaluation_context)

    async def resolve_integer_details_async(
        self, flag_key: str, default_value: int, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[int]:
        """Do the same from an event loop, in a thread."""
        return await asyncio.to_thread(self.resolve_integer_details, flag_key, default_value, evaluation_context)

    async def resolve_float_details_async(
        self, flag_key: str, default_value: float, evaluation_context: EvaluationContext | None = None
    ) -> FlagResolutionDetails[float]:
        """Do the same from an event loop, in a thread."""
        return await asyncio.to_thread(self.resolve_float_details, flag_key, default_value, evaluation_context)

    async def resolve_object_details_async(
        self,
        flag_key: str,
        default_value: Sequence[Any] | Mapping[str, Any],
        evaluation_context: EvaluationContext | None = None,
    ) -> FlagResolutionDetails[Sequence[Any] | Mapping[str, Any]]:
        """Do the same from an event loop, in a thread."""
        return await asyncio.to_thread(self.resolve_object_details, flag_key, default_value, evaluation_context)

    def track(
        self,
        tracking_event_name: str,
        evaluation_context: EvaluationContext | None = None,
        tracking_event_details: TrackingEventDetails | None = None,
    ) -> None:
        """Give the last decision for the unit its reward, in the background: the event's value, or 1 if it has none."""
        unit = None if evaluation_context is None else evaluation_context.targeting_key
        details = tracking_event_details or TrackingEventDetails()
        decision = self._decision_of(tracking_event_name, unit, details.attributes)
        if decision is not None:
            part = details.attributes.get("part")
            value = 1.0 if details.value is None else details.value
            try:
                self._client.reward_later(decision, value, None if part is None else str(part))
            except ClientError as problem:  # whoever tracks something must not fail at it
                logger.error("the reward of decision %s was not accepted: %s", decision, problem)

    def _decision_of(self, event: str, unit: str | None, attributes: Mapping[str, Any]) -> str | None:
        """Return the decision that an event is about; None for events that are about no experiment."""
        named = attributes.get("decision")
        if named is not None:
            return str(named)
        experiment = str(attributes.get("experiment", event))
        with self._lock:
            decision = self._last.get((experiment, unit or ""))
            expected = "experiment" in attributes or experiment in self._flags
        if decision is None and expected:
            logger.warning(
                "a reward of experiment %r is lost: this process has made no decision for the unit, or long ago; "
                "where another process tracks, give it the attribute decision, of the flag's metadata",
                experiment,
            )
        return decision

    def _resolve(
        self,
        flag: str,
        default: T,
        context: EvaluationContext | None,
        read: Callable[[Any, Any], Any] | None,
    ) -> FlagResolutionDetails[T]:
        unit = None if context is None else context.targeting_key
        try:
            decision = self._client.decide(flag, unit)
            value: Any = str(decision.arm) if read is None else read(self._metadata_of(decision), decision.arm)
        except NotFoundError as problem:
            return _failed(default, ErrorCode.FLAG_NOT_FOUND, problem)
        except ClientError as problem:
            return _failed(default, ErrorCode.GENERAL, problem)
        self._remember(flag, unit, decision)
        variant = str(decision.arm)
        if value is _WRONG_TYPE:
            said = f"arm {variant!r} of experiment {flag!r} has no value of this type; give it one as metadata"
            return FlagResolutionDetails(default, ErrorCode.TYPE_MISMATCH, said, Reason.ERROR, variant)
        about: dict[str, Any] = {"decision": decision.id, "pulls": decision.statistics.pulls}
        if decision.probability is not None:
            about["probability"] = decision.probability
        return FlagResolutionDetails(value, reason=Reason.SPLIT, variant=variant, flag_metadata=about)

    def _remember(self, flag: str, unit: str | None, decision: Decision) -> None:
        with self._lock:
            self._flags.add(flag)
            self._last[flag, unit or ""] = decision.id
            self._last.move_to_end((flag, unit or ""))
            if len(self._last) > MAX_REMEMBERED:
                self._last.popitem(last=False)

    def _metadata_of(self, decision: Decision) -> Any:
        """Return the metadata of an arm, which is read once for all arms, and once more for one that is new."""
        known = self._metadata.get(decision.experiment, {})
        if decision.arm not in known:
            try:
                known = {one.arm: one.metadata for one in self._client.arms(decision.experiment)}
            except DeniedError:  # a key without the role read: then labels must say it all
                known = {**known, decision.arm: None}
            self._metadata[decision.experiment] = known
        return known.get(decision.arm)


def _failed(default: T, code: ErrorCode, problem: ClientError) -> FlagResolutionDetails[T]:
    return FlagResolutionDetails(default, code, str(problem), Reason.ERROR)


def _boolean(value: Any, arm: Any) -> Any:
    if isinstance(value, bool):
        return value
    return {"on": True, "true": True, "off": False, "false": False}.get(str(arm).lower(), _WRONG_TYPE)


def _integer(value: Any, arm: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value  # exactly, however large
    number = _float(value, arm)
    return int(number) if number is not _WRONG_TYPE and number.is_integer() else _WRONG_TYPE


def _float(value: Any, arm: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        number = float(arm) if value is None else math.nan
    except ValueError:
        return _WRONG_TYPE
    return number if math.isfinite(number) else _WRONG_TYPE


def _object(value: Any, arm: Any) -> Any:
    return value if isinstance(value, Mapping | list) else _WRONG_TYPE
