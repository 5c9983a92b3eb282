"""The settings of the service as rows: name, default, help, limits. Flags, variables, files and docs follow them."""

from __future__ import annotations

import difflib
import ipaddress
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ocucb.errors import ParameterError

PREFIX = "OCUCB_"
CONFIG_VARIABLE = "OCUCB_CONFIG"
OTHER_VARIABLES = frozenset({CONFIG_VARIABLE, "OCUCB_KEY"})  # ours, but no settings
_POSTGRESQL = (
    r"postgresql://([^@]*@)?(\[[^\]@]*\]|[^/?@:\[\]]*)(:\d{1,5})?([/?][^@]*)?"  # one @: one end of the password
)
_SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
Value = TypeVar("Value", str, int, float, bool)


def mask(address: str) -> str:
    """Return the address of a database without its password."""
    hidden = re.sub(r":(?!//).*@", ":***@", address, flags=re.DOTALL)
    return re.sub(r"(password=)[^&]*", r"\1***", hidden, flags=re.IGNORECASE)


def _is_database(text: str) -> bool:
    return re.fullmatch(rf"sqlite:///.+|{_POSTGRESQL}", text) is not None


def _is_address(text: str) -> bool:
    return re.fullmatch(r"(http://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}/?)?", text) is not None


def _is_proxies(text: str) -> bool:
    try:
        for part in filter(None, map(str.strip, text.split(","))):
            if part != "*":
                ipaddress.ip_network(part)
    except ValueError:
        return False
    return True


def setting(
    default: Value,
    text: str,
    low: float = 0.0,
    high: float = math.inf,
    choices: tuple[str, ...] = (),
    words: str = "",
    fits: Callable[[str], bool] = bool,
) -> Value:
    """Return a field of `Settings`: numbers lie between `low` and `high`; text fits, and `words` say what does."""
    row = {"help": text, "low": low, "high": high, "choices": choices, "words": words, "fits": fits}
    return field(default=default, metadata=row)


@dataclass(frozen=True)
class Settings:
    """How a node of the service is set up. One field per row; checked."""

    database: str = setting(
        "sqlite:///ocucb.db",
        "Where everything is kept: sqlite:///FILE for one node, postgresql://USER:PASSWORD@HOST/NAME for several.",
        words="sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME, with %40 for an @ in a password",
        fits=_is_database,
    )
    host: str = setting(
        "127.0.0.1",
        "The address to listen on; 0.0.0.0 for every one of this machine.",
        words="an address or a name of this machine",
    )
    port: int = setting(8000, "The port to listen on; 0 for any that is free.", high=65_535)
    advertise: str = setting(
        "",
        "The address at which other nodes reach this one, as in http://10.0.0.5:8000. An experiment has its home at "
        "one of the nodes, and requests are passed on to it. Empty: none are.",
        words="http://HOST:PORT, or nothing",
        fits=_is_address,
    )
    homes: str = setting(
        "rendezvous",
        "How the home of an experiment is chosen, the same at all nodes: by rendezvous hashing, or as nginx does that "
        "hashes by experiment, so that it sends requests there.",
        choices=("rendezvous", "nginx"),
    )
    behind_tls: bool = setting(
        False, "A proxy in front speaks TLS: cookies are for https alone, and no warning is due."
    )
    trusted_proxies: str = setting(
        "127.0.0.1",
        "Proxies that are believed when they say who the caller is: addresses or networks, with commas; * for all.",
        words="addresses or networks with commas between them, as in 127.0.0.1,10.0.0.0/8",
        fits=_is_proxies,
    )
    max_body_bytes: int = setting(1_000_000, "Bytes in the body of a request.", low=1000, high=1_000_000_000)
    max_import_bytes: int = setting(
        20_000_000, "Bytes in the body of an import, or of a new experiment.", low=1000, high=1_000_000_000
    )
    rate_limit: int = setting(20_000, "Requests per second and key.", low=1, high=1_000_000_000)
    request_timeout: float = setting(10.0, "Seconds until a request is answered 503.", low=0.01, high=3600)
    max_connections: int = setting(1000, "Connections at once; those above it are answered 503.", low=1, high=1_000_000)
    cached_experiments: int = setting(
        1000, "Experiments in memory at once; others are read when asked for.", low=1, high=1_000_000
    )
    max_batch: int = setting(512, "Requests in one transaction.", low=1, high=100_000)
    max_waiting: int = setting(
        10_000, "Requests that wait for a transaction, before others are turned away.", low=1, high=10_000_000
    )
    snapshot: int = setting(10_000, "Entries of a log between two snapshots.", low=1, high=1_000_000_000)
    sweep: float = setting(
        1.0, "Seconds between two looks for decisions whose window has passed.", low=0.01, high=86_400
    )
    keep_idempotency_keys: float = setting(
        7 * 86_400.0, "Seconds that an idempotency key is remembered.", low=1, high=3660 * 86_400
    )
    session: float = setting(43_200.0, "Seconds that a login to the page lasts.", low=1, high=366 * 86_400)
    logins: int = setting(10, "Failed logins per minute and address.", low=1, high=1_000_000)
    log_level: str = setting("info", "The least that is logged.", choices=("debug", "info", "warning", "error"))
    log_format: str = setting(
        "auto",
        "How lines of the log look; auto is text on a terminal and json elsewhere.",
        choices=("auto", "text", "json"),
    )

    traces: bool = setting(
        False, "Send OpenTelemetry traces, as the variables OTEL_EXPORTER_OTLP_ENDPOINT and others say."
    )

    def __post_init__(self) -> None:
        for row in SETTING_ROWS:
            object.__setattr__(self, row.name, row.check(getattr(self, row.name), row.name))

    def __repr__(self) -> str:
        shown = (f"{row.name}={row.show(getattr(self, row.name))}" for row in SETTING_ROWS)
        return f"Settings({', '.join(shown)})"


class SettingRow(NamedTuple):
    """One setting."""

    name: str
    default: Any
    help: str
    low: float
    high: float
    choices: tuple[str, ...]
    words: str
    fits: Callable[[str], bool]

    @property
    def kind(self) -> type:
        """The type of its values."""
        return type(self.default)

    @property
    def flag(self) -> str:
        """What it is called on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """What it is called in the environment."""
        return f"{PREFIX}{self.name.upper()}"

    @property
    def expected(self) -> str:
        """What its values are, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind in (int, float):
            return f"{_KINDS[self.kind]} from {self.low:,.15g} to {self.high:,.15g}"
        return self.words or _KINDS[self.kind]

    @property
    def shown_default(self) -> str:
        """Its default, as one would write it."""
        return f"{self.default:g}" if self.kind is float else str(self.default).lower()

    def parse(self, text: str) -> object:
        """Return the value that a text stands for; if it stands for none, the text."""
        if self.kind is bool:
            return _SWITCH.get(text.lower(), text)
        try:
            return self.kind(text)
        except ValueError:
            return text

    def check(self, value: object, where: str) -> Any:
        """Return a value that is allowed, or say what is wrong with it and where it stands."""
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind or not self._allows(value):
            raise ParameterError(f"{where} must be {self.expected}, got {self.show(value)}")
        return value

    def show(self, value: object) -> str:
        """Return a value as it may be printed: without a password."""
        text = repr(value) if len(repr(value)) <= 200 else f"{type(value).__name__} of {len(repr(value))} characters"
        return mask(text)

    def _allows(self, value: Any) -> bool:
        if isinstance(value, str):
            return value in self.choices if self.choices else self.fits(value)
        return bool(self.low <= value <= self.high)


SETTING_ROWS = tuple(SettingRow(one.name, one.default, **one.metadata) for one in fields(Settings))
_BY_NAME = {row.name: row for row in SETTING_ROWS}


def load_settings(flags: Mapping[str, object], environ: Mapping[str, str], file: Path | None) -> Settings:
    """Return the settings: flags before the environment, that before the file, that before the defaults.

    Flags are by name, as text or as values; None stands for one that was not given. Without a file, the environment
    may name one.
    """
    found: dict[str, Any] = {}
    if file is None and environ.get(CONFIG_VARIABLE):
        file = Path(environ[CONFIG_VARIABLE])
    if file is not None:
        for row, value in _read_file(file):
            found[row.name] = row.check(value, f"{row.name} in file {file}")
    for row in SETTING_ROWS:
        if (text := environ.get(row.variable)) is not None:
            found[row.name] = row.check(row.parse(text), f"variable {row.variable}")
        if (given := flags.get(row.name)) is not None:
            found[row.name] = row.check(row.parse(given) if isinstance(given, str) else given, f"flag {row.flag}")
    return Settings(**found)


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Return a line for each variable that looks like a setting and is none."""
    known = {row.variable for row in SETTING_ROWS} | OTHER_VARIABLES
    odd = sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
    return [f"the variable {name} is no setting and was ignored{_like(name, known)}" for name in odd]


def markdown_table() -> str:
    """Return the rows as the table of docs/settings.md."""
    lines = ["| name | default | what it is |", "|---|---|---|"]
    for row in SETTING_ROWS:
        limited = row.choices or row.kind in (int, float)
        limits = f" {row.expected[0].upper()}{row.expected[1:]}." if limited else ""
        default = f"`{row.shown_default}`" if row.shown_default else "empty"
        lines.append(f"| `{row.name}` | {default} | {row.help}{limits} |")
    return "\n".join(lines) + "\n"


def _read_file(file: Path) -> Iterator[tuple[SettingRow, object]]:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ParameterError(f"file {file} cannot be read: {problem.strerror}; give another with --config") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ParameterError(f"file {file} must be TOML, got: {problem}") from None
    for name, value in data.items():
        if name not in _BY_NAME:
            raise ParameterError(f"file {file} has {name!r}, which is no setting{_like(name, _BY_NAME)}")
        yield _BY_NAME[name], value


def _like(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" for the known name with most words in common, or else with most letters."""
    words = set(name.split("_")) - {PREFIX.rstrip("_")}
    shared = {other: len(words.intersection(other.split("_"))) for other in sorted(known)}
    best = max(shared, key=lambda other: shared[other])
    near = [best] if shared[best] else difflib.get_close_matches(name, shared, 1)
    return f"; did you mean {near[0]}?" if near else ""
