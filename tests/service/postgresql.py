"""A PostgreSQL server of the tests' own: in a folder, on a socket, as somebody who is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tools.programs import locate

PATIENCE = 120.0
NOBODY = "nobody"  # whom it runs as where we are root, which PostgreSQL refuses to be


class PostgreSQL:
    """A server that can be stopped and started again. `address` leads to an empty database, for its superuser."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ocucb-pg-"))
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam(NOBODY)
            self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self.programs = self._reachable(Path(locate("PostgreSQL")).resolve().parent)
        # Syncing guards against a power cut, which no test can make, and takes long.
        self._run("initdb", "--no-sync", "--auth=trust", "--encoding=utf8", "--username=postgres", "--pgdata", "data")
        with (self.folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\nfsync = off\n")
        self.address = f"postgresql://postgres:@/postgres?host={self.folder}"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._run("pg_ctl", "start", "--wait", f"--timeout={PATIENCE:.0f}", "--pgdata", "data", "--log", "log")

    def stop(self) -> None:
        """Stop it: connections are closed, transactions under way are lost."""
        self._run("pg_ctl", "stop", "--mode=fast", f"--timeout={PATIENCE:.0f}", "--pgdata", "data")

    def close(self) -> None:
        """Stop it for good, and leave nothing."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _reachable(self, programs: Path) -> Path:
        """Return the folder of the server's programs, or of a copy, where its user may not see them: in root's home."""
        try:
            subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, **self._user)
        except PermissionError:
            home, package = programs.parent, programs.parents[1]
            libraries = package.with_name(f"{package.name}.libs")  # of a wheel, found by relative paths
            copy = self.folder / "installed"
            shutil.copytree(home, copy / package.name / home.name)
            if libraries.exists():
                shutil.copytree(libraries, copy / libraries.name)
            return copy / package.name / home.name / programs.name
        return programs

    def _run(self, program: str, *words: str) -> None:
        with (self.folder / "output").open("ab") as output:
            done = subprocess.run(
                [self.programs / program, *words],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
                timeout=PATIENCE + 10.0,
                **self._user,
            )
        said = "\n".join(file.read_text() for file in (self.folder / "output", self.folder / "log") if file.exists())
        assert done.returncode == 0, said
