"""Text that both databases can keep: no NUL, no half of a surrogate pair, not too long."""

from __future__ import annotations

import json
from typing import Any

from ocucb.labels import Label, clean_label
from ocucb.service.errors import RequestError

MAX_TEXT_LENGTH = 200
INTEGER_LABEL_BOUND = 2**63


def clean_text(name: str, value: object, longest: int = MAX_TEXT_LENGTH) -> str:
    """Return `value` as text of 1 to `longest` characters that can be stored."""
    if not isinstance(value, str) or not 1 <= len(value) <= longest:
        got = f"{len(value)} characters" if isinstance(value, str) else repr(value)
        raise RequestError(f"{name} must be text of 1 to {longest} characters, got {got}")
    if "\0" in value or not (value.isascii() or _encodes(value)):
        raise RequestError(f"{name} must be text without NUL or broken characters, got {value!r}")
    return value


def clean_name(name: object) -> str:
    """Return the name of an experiment: text that is also one segment of a URL, and that a person can read."""
    text = clean_text("the name of an experiment", name)
    if not text.isprintable() or text != text.strip() or set(text) & set("/\\") or text in (".", ".."):
        raise RequestError(
            "the name of an experiment must have no slashes, control characters or spaces at its ends, "
            f"and not be '.' or '..', got {text!r}"
        )
    return text


def clean_arm(label: object) -> Label:
    """Return the label of an arm that can be stored."""
    arm = clean_label(label)
    if isinstance(arm, str):
        return clean_text("the label of an arm", arm)
    if abs(arm) >= INTEGER_LABEL_BOUND:
        raise RequestError(
            f"the label of an arm must be text or an integer below 2^63, got one of {arm.bit_length()} bits"
        )
    return arm


def encode(data: object) -> str:
    """Return plain data as JSON, in ASCII."""
    try:
        return json.dumps(data, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"expected plain data for JSON, with finite numbers: {error}") from None


def decode(text: str) -> Any:
    """Return the data behind JSON."""
    return json.loads(text)


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
