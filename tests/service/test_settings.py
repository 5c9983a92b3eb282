"""Settings: where each comes from, which wins, what is refused and in which words; help and docs say the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from ocucb import cli
from ocucb.errors import ParameterError
from ocucb.service.settings import (
    OTHER_VARIABLES,
    SETTING_ROWS,
    Settings,
    load_settings,
    markdown_table,
    mask,
    unknown_variables,
)

ROOT = Path(__file__).parent.parent.parent
SECRET = "hunter2"


def file_with(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(flags: dict[str, object], environ: dict[str, str], file: Path | None = None) -> str:
    with pytest.raises(ParameterError) as caught:
        load_settings(flags, environ, file)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_defaults() -> None:
    settings = load_settings({}, {}, None)
    assert settings == Settings()
    assert (settings.database, settings.host, settings.port) == ("sqlite:///ocucb.db", "127.0.0.1", 8000)
    assert settings.keep_idempotency_keys == 604_800.0
    assert [row.name for row in SETTING_ROWS] == [field.name for field in fields(Settings)]
    for row in SETTING_ROWS:
        assert row.check(row.default, row.name) == getattr(settings, row.name)
        assert type(getattr(settings, row.name)) is row.kind
        assert row.help.endswith(".")


def test_flags_before_environment_before_file_before_default(tmp_path: Path) -> None:
    file = file_with(tmp_path, "port = 1\nrate_limit = 2\nmax_batch = 3\nbehind_tls = true\nrequest_timeout = 5\n")
    environ = {"OCUCB_PORT": "10", "OCUCB_RATE_LIMIT": "20", "OCUCB_BEHIND_TLS": "no", "HOME": "elsewhere"}
    settings = load_settings({"port": "100", "rate_limit": None, "behind_tls": None}, environ, file)
    assert (settings.port, settings.rate_limit, settings.max_batch, settings.max_waiting) == (100, 20, 3, 10_000)
    assert settings.behind_tls is False
    assert type(settings.request_timeout) is float
    assert load_settings({"behind_tls": True}, environ, file).behind_tls is True


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = file_with(tmp_path, "port = 1\n")
    other = tmp_path / "y.toml"
    other.write_text("port = 2\n", encoding="utf-8")
    assert load_settings({}, {"OCUCB_CONFIG": str(file)}, None).port == 1
    assert load_settings({}, {"OCUCB_CONFIG": str(file)}, other).port == 2
    assert load_settings({}, {"OCUCB_CONFIG": ""}, None).port == 8000


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("port", "0", 0),
        ("port", "65535", 65_535),
        ("max_body_bytes", "2_000_000", 2_000_000),
        ("request_timeout", "2.5", 2.5),
        ("request_timeout", "3", 3.0),
        ("behind_tls", "True", True),
        ("behind_tls", "1", True),
        ("behind_tls", "off", False),
        ("trusted_proxies", "", ""),
        ("trusted_proxies", "127.0.0.1, ::1, 10.0.0.0/8", "127.0.0.1, ::1, 10.0.0.0/8"),
        ("trusted_proxies", "*", "*"),
        ("log_level", "debug", "debug"),
        ("database", "postgresql:///name", "postgresql:///name"),
        ("database", "postgresql://me:%40/:@[::1]:5432/name?a=b", "postgresql://me:%40/:@[::1]:5432/name?a=b"),
        ("database", "postgresql://me:@/name?host=/tmp/x", "postgresql://me:@/name?host=/tmp/x"),
        ("database", "sqlite:////tmp/a@b.db", "sqlite:////tmp/a@b.db"),
    ],
)
def test_text_that_is_a_value(name: str, text: str, value: object) -> None:
    assert getattr(load_settings({name: text}, {}, None), name) == value
    assert getattr(load_settings({}, {f"OCUCB_{name.upper()}": text}, None), name) == value


DATABASE = "sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/NAME, with %40 for an @ in a password"
BAD = [
    ("port", "http", "a whole number from 0 to 65,535, got 'http'"),
    ("port", "65536", "a whole number from 0 to 65,535, got 65536"),
    ("port", "-1", "a whole number from 0 to 65,535, got -1"),
    ("port", "1.0", "a whole number from 0 to 65,535, got '1.0'"),
    ("port", "", "a whole number from 0 to 65,535, got ''"),
    ("rate_limit", "9" * 5000, "a whole number from 1 to 1,000,000,000, got str of 5002 characters"),
    ("request_timeout", "nan", "a number from 0.01 to 3,600, got nan"),
    ("request_timeout", "inf", "a number from 0.01 to 3,600, got inf"),
    ("request_timeout", "0", "a number from 0.01 to 3,600, got 0.0"),
    ("behind_tls", "maybe", "true or false, got 'maybe'"),
    ("log_level", "loud", "one of debug, info, warning, error, got 'loud'"),
    ("host", "", "an address or a name of this machine, got ''"),
    (
        "trusted_proxies",
        "proxy",
        "addresses or networks with commas between them, as in 127.0.0.1,10.0.0.0/8, got 'proxy'",
    ),
    ("database", "ocucb.db", f"{DATABASE}, got 'ocucb.db'"),
    ("database", "postgresql://me:a@b@host/name", f"{DATABASE}, got 'postgresql://me:***@host/name'"),
    ("database", "postgresql://host:port/name", f"{DATABASE}, got 'postgresql://host:port/name'"),
    ("database", "postgresql://[::1/name", f"{DATABASE}, got 'postgresql://[::1/name'"),
    ("database", "sqlite:///", f"{DATABASE}, got 'sqlite:///'"),
]


@pytest.mark.parametrize(("name", "text", "words"), BAD)
def test_a_bad_value_is_one_line_that_says_where_it_stands(name: str, text: str, words: str) -> None:
    flag, variable = f"--{name.replace('_', '-')}", f"OCUCB_{name.upper()}"
    assert refused({name: text}, {}) == f"flag {flag} must be {words}"
    assert refused({}, {variable: text}) == f"variable {variable} must be {words}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('port = "8000"', "port in file FILE must be a whole number from 0 to 65,535, got '8000'"),
        ("port = 8000.0", "port in file FILE must be a whole number from 0 to 65,535, got 8000.0"),
        ("port = true", "port in file FILE must be a whole number from 0 to 65,535, got True"),
        ("request_timeout = true", "request_timeout in file FILE must be a number from 0.01 to 3,600, got True"),
        ("behind_tls = 1", "behind_tls in file FILE must be true or false, got 1"),
        ("host = ['a']", "host in file FILE must be an address or a name of this machine, got ['a']"),
        ("[port]\na = 1", "port in file FILE must be a whole number from 0 to 65,535, got {'a': 1}"),
        ("prot = 1", "file FILE has 'prot', which is no setting; did you mean port?"),
        ("rate = 1", "file FILE has 'rate', which is no setting; did you mean rate_limit?"),
        ("largest_body = 1", "file FILE has 'largest_body', which is no setting; did you mean max_body_bytes?"),
        ("zzz = 1", "file FILE has 'zzz', which is no setting"),
        ("PORT = 1", "file FILE has 'PORT', which is no setting"),
        ("[server]\nport = 1", "file FILE has 'server', which is no setting"),
    ],
)
def test_a_file_that_says_what_it_cannot(text: str, words: str, tmp_path: Path) -> None:
    file = file_with(tmp_path, text)
    assert refused({}, {}, file) == words.replace("FILE", str(file))


def test_a_bad_value_is_refused_also_where_another_would_win(tmp_path: Path) -> None:
    assert refused({"port": "1"}, {"OCUCB_PORT": "x"}).startswith("variable OCUCB_PORT must be")
    assert refused({"port": "1"}, {}, file_with(tmp_path, "port = 99999")).startswith("port in file")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    torn, binary = file_with(tmp_path, "port = "), tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    assert refused({}, {}, torn).startswith(f"file {torn} must be TOML, got: ")
    assert refused({}, {}, binary).startswith(f"file {binary} must be TOML, got: ")
    absent = tmp_path / "absent.toml"
    assert (
        refused({}, {}, absent)
        == f"file {absent} cannot be read: No such file or directory; give another with --config"
    )
    assert refused({}, {}, tmp_path).startswith(f"file {tmp_path} cannot be read: Is a directory")


def test_settings_check_themselves() -> None:
    with pytest.raises(ParameterError, match=r"^port must be a whole number from 0 to 65,535, got -1$"):
        Settings(port=-1)
    assert type(Settings(sweep=2).sweep) is float


def test_unknown_variables() -> None:
    environ = {"OCUCB_PROT": "1", "OCUCB_PORT": "1", "OCUCB_KEY": "x", "OCUCB_CONFIG": "y", "PATH": "z"}
    assert unknown_variables(environ) == [
        "the variable OCUCB_PROT is no setting and was ignored; did you mean OCUCB_PORT?"
    ]
    assert load_settings({}, {**environ, "OCUCB_CONFIG": ""}, None).port == 1


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"postgresql://me:{SECRET}@host:5432/name", "postgresql://me:***@host:5432/name"),
        (f"postgresql://me:a@{SECRET}@host/name", "postgresql://me:***@host/name"),
        (f"postgresql://me:a/{SECRET}:b@host/name", "postgresql://me:***@host/name"),
        (f"postgresql://host/name?user=me&password={SECRET}&a=b", "postgresql://host/name?user=me&password=***&a=b"),
        (f"me:{SECRET}@host", "me:***@host"),
        ("postgresql://me@host/name", "postgresql://me@host/name"),
        ("sqlite:///folder/ocucb.db", "sqlite:///folder/ocucb.db"),
    ],
)
def test_a_password_is_never_shown(address: str, shown: str) -> None:
    assert mask(address) == shown
    if address.startswith("postgresql") and address.count("@") < 2:
        assert SECRET not in repr(Settings(database=address))
    assert SECRET not in refused({"database": f"mysql+{address}"}, {})


def test_help_has_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.exit_code(["serve", "--help"]) == 0
    printed = " ".join(re.sub("[│╭╮╰╯─]", " ", capsys.readouterr().out).split())
    for row in SETTING_ROWS:
        assert f" {row.flag} " in printed
        assert row.help in printed
        assert row.kind is bool or f"[default: {row.shown_default}]" in printed


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, ocucb.cli; ocucb.cli.exit_code(['serve', '--help']); "
        "print([name for name in ('uvicorn', 'fastapi', 'sqlalchemy', 'xarray') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_docs_have_every_row() -> None:
    """If this fails: put what `ocucb.service.settings.markdown_table()` returns into docs/settings.md."""
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert markdown_table() in page, "docs/settings.md needs the table that settings.markdown_table() returns"


def test_the_docs_have_a_file_that_works(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    assert load_settings({}, {}, file_with(tmp_path, example)) != Settings()


def test_variables_that_documents_name_exist() -> None:
    known = {row.variable for row in SETTING_ROWS} | OTHER_VARIABLES | {"OCUCB_TEST_GPU"}
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {name: page.name for page in pages for name in re.findall(r"\bOCUCB_[A-Z_]*[A-Z]", page.read_text("utf-8"))}
    assert "OCUCB_KEY" in named
    assert {name: page for name, page in named.items() if name not in known} == {}


def test_a_wrong_flag_is_one_line(tmp_path: Path) -> None:
    for words, expected in [
        (["--port", "x"], "flag --port must be a whole number from 0 to 65,535, got 'x'"),
        (["--prot", "1"], "Unknown option: --prot. Did you mean --port? See ocucb serve --help"),
        (
            ["--log-level", "loud"],
            'Invalid value "loud" for --log-level. Choose from: "debug", "info", "warning", "error". See',
        ),
        (["--config", "absent.toml"], "file absent.toml cannot be read: No such file or directory"),
        (["--database", f"mysql://me:{SECRET}@host/name"], "got 'mysql://me:***@host/name'"),
    ]:
        done = subprocess.run(
            [sys.executable, "-m", "ocucb.cli", "serve", *words],
            cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if not name.startswith("OCUCB_")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert re.fullmatch(r"ocucb: error: [^\n]+\n", done.stderr)
        assert expected in done.stderr
    assert list(tmp_path.iterdir()) == []
