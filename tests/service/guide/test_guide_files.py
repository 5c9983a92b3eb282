"""The files of the guide: systemd takes the unit, the service takes the settings, and the numbers in them agree."""

from __future__ import annotations

import re
import stat
import subprocess

import pytest

from ocucb.service.settings import Settings, load_settings
from service.guide.machine import Machine, blocks
from tools.programs import locate

UNIT = "/etc/systemd/system/ocucb@.service"
SAFE = 25  # tenths, of what systemd-analyze calls exposure: 0 is best, an ordinary service has 96


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text, flags=re.MULTILINE)
    assert found is not None, pattern
    return float(found[1])


def settings_of(machine: Machine) -> Settings:
    return load_settings({}, machine.environment(), None)


def analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([locate("systemd-analyze"), *words], capture_output=True, text=True, check=False, timeout=120)


def test_the_unit_is_one_that_systemd_takes_without_a_word(machine: Machine) -> None:
    unit = machine.write("ini", UNIT)
    done = analyze("verify", "--man=no", "--recursive-errors=no", str(unit))
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_leaves_an_intruder_little(machine: Machine) -> None:
    unit = machine.write("ini", UNIT)
    done = analyze("security", "--offline=true", f"--threshold={SAFE}", "--no-pager", str(unit))
    assert done.returncode == 0, done.stdout


def test_the_unit_gives_the_service_its_environment_and_time_to_stop(machine: Machine) -> None:
    unit = blocks("ini")[UNIT]
    assert "EnvironmentFile=/etc/ocucb/ocucb.env\n" in unit
    assert "ExecStart=/opt/ocucb/venv/bin/ocucb serve --port %i\n" in unit
    assert number(r"^TimeoutStopSec=(\d+)$", unit) > 3 * settings_of(machine).request_timeout
    assert stat.S_IMODE(machine.path("/etc/ocucb/ocucb.env").stat().st_mode) == 0o600


def test_the_settings_and_nginx_agree(machine: Machine) -> None:
    settings, nginx = settings_of(machine), blocks("nginx")["/etc/nginx/conf.d/ocucb.conf"]
    assert settings.behind_tls
    assert settings.database == f"sqlite:///{machine.root}/var/lib/ocucb/ocucb.db"
    assert settings.trusted_proxies == settings.host == "127.0.0.1"
    assert number(r"client_max_body_size (\d+);", nginx) == settings.max_import_bytes
    assert number(r"max_conns=(\d+) ", nginx) < settings.max_connections
    assert number(r"proxy_read_timeout (\d+)s;", nginx) > settings.request_timeout


@pytest.mark.parametrize("name", blocks("bash"))
def test_commands_are_what_a_shell_can_read(name: str) -> None:
    done = subprocess.run(["bash", "-n"], input=blocks("bash")[name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
