"""Numbers as people read them, and the round ones that an axis is marked with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from ocucb.service.records import SECOND

NOTHING: Final = "–"
MAX_DECIMALS: Final = 6
MIN_RANGE: Final = 1e-290
UNITS: Final = ((86_400.0, "day"), (3600.0, "hour"), (60.0, "minute"), (1.0, "second"))
PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def whole(number: float) -> str:
    """Return a count with its thousands apart.

    >>> whole(1234567)
    '1,234,567'
    """
    return f"{number:,.0f}"


def places(values: Iterable[float], digits: int = 4) -> int:
    """Return how many decimals show the largest of these values with so many digits.

    >>> places([0.25, 0.125]), places([12.5]), places([1e6]), places([])
    (4, 2, 0, 3)
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=1.0)
    if largest == 0.0:
        return digits - 1
    return min(MAX_DECIMALS, max(0, digits - 1 - math.floor(math.log10(largest))))


def real(value: float, decimals: int) -> str:
    """Return a number with so many decimals; a dash for none at all.

    >>> real(0.5, 3), real(-0.25, 1), real(float("nan"), 3), real(float("inf"), 3), real(2e13, 0)
    ('0.500', '−0.2', '–', '∞', '2.000e+13')
    """
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0.0 else "−∞"
    large = abs(value) >= 1e10 or 0.0 < abs(value) < 0.1**MAX_DECIMALS
    text = f"{value:.3e}" if large else f"{value:,.{decimals}f}"
    return f"−{text[1:]}" if text.startswith("-") and text.strip("-0.,") else text.lstrip("-")


def figure(value: float, digits: int = 4) -> str:
    """Return a number that stands alone, with so many digits and no idle zeros.

    >>> figure(30.0), figure(0.25), figure(2150.4), figure(0.0), figure(-1.5)
    ('30', '0.25', '2,150', '0', '−1.5')
    """
    text = real(value, places([value], digits))
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def percent(share: float) -> str:
    """Return a share of one in percent.

    >>> percent(0.627), percent(0.004), percent(0.9996), percent(1.0), percent(0.0)
    ('63 %', '0.4 %', '99.9 %', '100 %', '0 %')
    """
    hundred = 100.0 * share
    if 0.0 < hundred < 0.95:
        return f"{max(0.1, hundred):.1f} %"
    if 99.0 < hundred < 100.0:
        return f"{min(99.9, hundred):.1f} %"
    return f"{hundred:.0f} %"


def short(value: float) -> str:
    """Return a number for the mark of an axis.

    >>> short(0.0), short(0.25), short(1500.0), short(2e6), short(-0.5), short(1e-7)
    ('0', '0.25', '1.5k', '2M', '−0.5', '1e-07')
    """
    size = abs(value)
    scale, letter = next(((scale, letter) for scale, letter in PREFIXES if 1e15 > size >= scale), (1.0, ""))
    return f"{value / scale:g}{letter}".replace("-", "−", value < 0.0)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers, evenly apart, that lie between two numbers.

    >>> ticks(0.0, 1.0, 5), ticks(0.0, 730.0, 5), ticks(-3.0, 4.0, 4)
    ([0.0, 0.5, 1.0], [0.0, 200.0, 400.0, 600.0], [-2.0, 0.0, 2.0, 4.0])
    """
    if not high - low > MIN_RANGE:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in (1.0, 2.0, 5.0, 10.0, 20.0):
        step = factor * power
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [float(f"{count * step:.12g}") for count in range(first, last + 1)]


def duration(seconds: float) -> str:
    """Return a time in the largest unit that divides it.

    >>> duration(86_400.0), duration(5400.0), duration(0.5), duration(1.0)
    ('1 day', '90 minutes', '0.5 seconds', '1 second')
    """
    size, unit = next(((size, unit) for size, unit in UNITS if seconds % size == 0.0), UNITS[-1])
    count = seconds / size
    return f"{count:,g} {unit}{'' if count == 1.0 else 's'}"


def date_and_time(at: int) -> str:
    """Return a time of the log, for people.

    >>> date_and_time(1_700_000_000_000_000)
    '14 Nov 2023, 22:13 UTC'
    """
    when = datetime.fromtimestamp(at / SECOND, UTC)
    return f"{when.day} {when:%b %Y, %H:%M} UTC"


def counted(count: int, what: str) -> str:
    """Return how many there are of something.

    >>> counted(1, "reward"), counted(2000, "reward")
    ('1 reward', '2,000 rewards')
    """
    return f"{whole(count)} {what}{'' if count == 1 else 's'}"
