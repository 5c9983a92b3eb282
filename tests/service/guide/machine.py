"""docs/production.md, carried out: a folder plays the machine, and the commands and files are those of the guide."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from service.server import PATIENCE, Server
from tools.programs import locate

GUIDE = Path(__file__).parents[3] / "docs" / "production.md"
PLACES = ("/etc/ocucb", "/etc/ssl/ocucb", "/opt/ocucb", "/var/lib/ocucb", "/var/backups/ocucb", "/usr/local/sbin")
NOT_HERE = re.compile(r"^(useradd|python3 -m venv|/opt/ocucb/venv/bin/pip) .*\n", flags=re.MULTILINE)
SCRIPTS = ("/usr/local/sbin/ocucb", "/usr/local/sbin/ocucb-backup", "/usr/local/sbin/ocucb-backup-postgresql")


def blocks(language: str) -> dict[str, str]:
    """Return the guide's blocks of a language by their first comment: what they do, or which file they are."""
    guide = GUIDE.read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```$", guide, flags=re.DOTALL | re.MULTILINE)
    return {_comment(text): text for text in found}


def _comment(text: str) -> str:
    match = re.search(r"^(?:#|--) (.*)$", text, flags=re.MULTILINE)
    assert match is not None, f"a block without a comment that names it: {text}"
    return match[1]


class Machine:
    """A machine as the guide leaves it, in a folder, where nobody else's user, service or file is touched."""

    def __init__(self, root: Path, database: str | None = None, shell: Mapping[str, str] | None = None) -> None:
        """Install. The database is the guide's SQLite file unless given; `shell` has variables for commands."""
        self.root = root
        self._shell = {"PATH": os.environ["PATH"], **(shell or {})}
        self.servers: list[Server] = []
        self._systemctl: dict[str, Callable[[], object]] = {"start": self.start, "stop": self.stop}
        self._others = {"/var/cache/ocucb/compiled": "NUMBA_CACHE_DIR"}
        self._run(NOT_HERE.sub("", blocks("bash")["install"]))
        self.path("/usr/local/sbin").mkdir(parents=True)
        self.path("/opt/ocucb/venv").symlink_to(sys.prefix)
        self.write("toml", "/etc/ocucb/ocucb.toml")
        for name in ("/etc/ocucb/ocucb.env", *SCRIPTS):
            self.write("bash", name)
        if database is not None:
            file = self.path("/etc/ocucb/ocucb.env")
            text = re.sub("^OCUCB_DATABASE=.*$", f"OCUCB_DATABASE='{database}'", file.read_text(), flags=re.MULTILINE)
            file.write_text(text, encoding="utf-8")
        self.run("permissions")

    def path(self, place: str) -> Path:
        """Return where a file of the guide is."""
        return Path(f"{self.root}{place}")

    def provide(self, program: str) -> None:
        """Let commands find a program that the guide's reader has."""
        self.path(f"/usr/local/sbin/{program}").symlink_to(locate(program))

    def fill(self, text: str) -> str:
        """Return text of the guide with the paths of this folder, and without users that are not here."""
        for place, variable in self._others.items():
            text = text.replace(place, os.environ[variable])
        for place in PLACES:
            text = text.replace(place, f"{self.root}{place}")
        text = re.sub(r"runuser -u \w+ -- ", "", text)
        return text.replace("-o ocucb -g ocucb ", "")

    def write(self, language: str, name: str) -> Path:
        """Write a file of the guide."""
        file = self.path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.fill(blocks(language)[name]), encoding="utf-8")
        return file

    def run(self, name: str, **words: str) -> str:
        """Run the commands of a block, with words in place of others. What systemd is told, we do."""
        text = NOT_HERE.sub("", blocks("bash")[name])
        for word, other in words.items():
            text = text.replace(word, other)
        out = ""
        for part in re.split(r"^(systemctl .*\n)", text, flags=re.MULTILINE):
            if part.startswith("systemctl "):
                self._systemctl[part.split()[1]]()
            else:
                out += self._run(part)
        return out

    def _run(self, text: str) -> str:
        return self.shell(self.fill(text))

    def shell(self, text: str) -> str:
        """Run commands as an administrator of this machine would, and return what they print."""
        path = f"{self.root}/usr/local/sbin:{self._shell['PATH']}:/usr/sbin:/sbin"
        done = subprocess.run(
            ["bash", "-euc", text],
            env={**os.environ, **self._shell, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout

    def environment(self) -> dict[str, str]:
        """Return what the environment file says, as the unit gives it to the service."""
        text = self.path("/etc/ocucb/ocucb.env").read_text(encoding="utf-8")
        return dict(re.findall(r"^(\w+)='(.*)'$", text, flags=re.MULTILINE))

    def start(self) -> Server:
        """Start a node with the guide's settings, on a free port."""
        folder = self.root / f"node {len(self.servers)}"
        folder.mkdir()
        variables: dict[str, Any] = dict(self.environment())
        self.servers.append(Server(folder, **variables))
        return self.servers[-1]

    def stop(self) -> None:
        """Stop all nodes as systemd would."""
        for server in self.servers:
            if server.process.poll() is None:
                assert server.stop() == 0

    def kill(self) -> None:
        """Leave nothing running."""
        for server in self.servers:
            server.__exit__()
