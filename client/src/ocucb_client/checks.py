"""Checks of what the client is given: each returns the clean value, or raises InvalidError in one clear line."""

from __future__ import annotations

import math
import re
import secrets
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from numbers import Integral, Real
from typing import Any, TypeAlias
from urllib.parse import quote

from ocucb_client.errors import wrong_value

Label: TypeAlias = str | int

_LARGEST_WHOLE = 2**53 - 1  # beyond it, floats skip whole numbers
_IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]{1,200}")
_API_KEY = re.compile(r"[\x21-\x7e]+")


def positive(name: str, value: object, remedy: str) -> float:
    """Return a finite number greater than 0."""
    number = math.nan if isinstance(value, bool) else _as_float(value)
    if not (math.isfinite(number) and number > 0.0):
        raise wrong_value(f"{name} must be a finite number greater than 0, got {value!r}; {remedy}")
    return number


def whole(name: str, value: object, low: int, remedy: str) -> int:
    """Return a whole number, `low` or more."""
    number = _as_plain(value)
    if isinstance(number, bool) or not isinstance(number, Integral) or not low <= int(number) <= _LARGEST_WHOLE:
        raise wrong_value(f"{name} must be a whole number, {low} or more, got {value!r}; {remedy}")
    return int(number)


def reward(value: object) -> float:
    """Return a reward as a finite float."""
    number = _as_float(value)
    if not math.isfinite(number):
        raise wrong_value(f"a reward must be a finite number, got {value!r}")
    return number


def label(value: object) -> Label:
    """Return the label of an arm as a plain string or integer."""
    found = _as_plain(value)
    if isinstance(found, bool) or not isinstance(found, str | int):
        raise wrong_value(f"a label must be a string or an integer, got {value!r}")
    return str.__str__(found) if isinstance(found, str) else int(found)  # a member of an enumeration becomes plain


def labels(arms: object) -> list[Label]:
    """Return the labels of so many arms, or the labels given, all different."""
    given = _as_plain(arms)
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return list(range(given))
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise wrong_value(f"arms must be how many there are, or their labels, got {arms!r}")
    found = [label(one) for one in given]
    if not found:
        raise wrong_value("arms must name at least one arm, got none")
    if len(set(found)) < len(found):
        twice = Counter(found).most_common(1)[0][0]
        raise wrong_value(f"labels must be different, got {twice!r} twice")
    return found


def among(arms: object) -> list[Label]:
    """Return the labels of some arms."""
    if isinstance(arms, str | bytes) or not isinstance(arms, Iterable):
        raise wrong_value(f"among must be a list of labels of arms, got {arms!r}; for one arm, a list of it")
    found = [label(one) for one in arms]
    if not found:
        raise wrong_value("among must name at least one arm, got none")
    return found


def units(given: object) -> list[str]:
    """Return the names of units."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise wrong_value(f"units must be a list of texts, got {given!r}; for one unit, decide(..., unit=...)")
    found = list(given)
    if not found or not all(isinstance(unit, str) for unit in found):
        raise wrong_value(f"units must be a list of at least one text, got {found!r}")
    return found


def path_segment(what: str, text: str) -> str:
    """Return text as one segment of a path; one that could lead elsewhere is refused."""
    try:
        if isinstance(text, str) and text not in ("", ".", ".."):
            return quote(text, safe="")
    except UnicodeEncodeError:
        pass
    raise wrong_value(f"{what} must be text, and neither '.' nor '..', got {text!r}")


def idempotency_key(key: str | None) -> str:
    """Return the idempotency key given, or a new one."""
    if key is None:
        return secrets.token_hex(16)
    if not isinstance(key, str) or not _IDEMPOTENCY_KEY.fullmatch(key) or key != key.strip():
        raise wrong_value(f"an idempotency key must be 1 to 200 printable ASCII characters, got {key!r}")
    return key


def api_key(key: str) -> str:
    """Return the text of an API key. The message does not repeat it."""
    if not isinstance(key, str) or not _API_KEY.fullmatch(key):
        raise wrong_value("api_key must be the text of an API key, ocucb_..., without spaces; got something else")
    return key


def _as_float(value: object) -> float:
    """Return a real number as a float: inf if it is too large for one, nan if it is none."""
    number = _as_plain(value)
    try:
        return float(number) if isinstance(number, Real) else math.nan
    except OverflowError:
        return math.inf


def _as_plain(value: Any) -> Any:
    """Return what is in a scalar of NumPy or the like, which need not be installed; anything else as it is."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def part(given: str | None) -> str | None:
    """Return the name of a part of a reward, if there is one."""
    if given is not None and not (isinstance(given, str) and given):
        raise wrong_value(f"a part of a reward must have a name, got {given!r}")
    return given


def moment(name: str, given: datetime) -> str:
    """Return a time as text, which must say its offset: a time of day without one means another moment elsewhere."""
    if not isinstance(given, datetime) or given.tzinfo is None:
        raise wrong_value(f"{name} must be a datetime with a time zone, got {given!r}")
    return given.isoformat()
