"""The guide's nginx, as a process of our own: in a folder, on a free port, with a certificate signed by itself."""

from __future__ import annotations

import os
import re
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx

from service.guide.machine import Machine
from service.nodes.test_killed import free_ports
from service.server import PATIENCE
from tools.programs import locate

SITE = "/etc/nginx/conf.d/ocucb.conf"
NAME = "ocucb.example"
AROUND = """
{user}
daemon off;
worker_processes 2;
pid {folder}/pid;
error_log {folder}/errors warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/answers;
    fastcgi_temp_path {folder}/unused;
    uwsgi_temp_path {folder}/unused;
    scgi_temp_path {folder}/unused;
    include {site};
}}
"""


class Nginx:
    """nginx before some nodes."""

    def __init__(self, machine: Machine, urls: list[str]) -> None:
        self.folder = machine.root / "nginx"
        self.folder.mkdir()
        self.port = free_ports(1)[0]
        self.certificate = machine.path("/etc/ssl/ocucb/fullchain.pem")
        _make_certificate(self.certificate, machine.path("/etc/ssl/ocucb/key.pem"))
        site = machine.write("nginx", SITE)
        site.write_text(_aimed(site.read_text(encoding="utf-8"), urls, self.port), encoding="utf-8")
        around = AROUND.format(user="user root;" if os.geteuid() == 0 else "", folder=self.folder, site=site)
        main = self.folder / "nginx.conf"
        main.write_text(around, encoding="utf-8")
        self._command = [locate("nginx"), "-e", f"{self.folder}/errors", "-c", str(main)]

    def check(self) -> str:
        """Return what `nginx -t` says of the configuration."""
        done = subprocess.run([*self._command, "-t"], capture_output=True, text=True, check=False, timeout=PATIENCE)
        return done.stderr

    def __enter__(self) -> Nginx:
        self._process = subprocess.Popen(self._command)
        end = time.monotonic() + PATIENCE
        with socket.socket() as probe:
            while probe.connect_ex(("127.0.0.1", self.port)) != 0:
                assert self._process.poll() is None, self.errors
                assert time.monotonic() < end, "nginx does not listen"
                time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        assert self._process.wait(PATIENCE) == 0

    @property
    def url(self) -> str:
        return f"https://{NAME}:{self.port}"

    @property
    def errors(self) -> str:
        return (self.folder / "errors").read_text(encoding="utf-8")

    def context(self) -> ssl.SSLContext:
        """Return what a caller believes: our certificate, and no other."""
        return ssl.create_default_context(cafile=self.certificate)

    def client(self, key: str | None) -> httpx.Client:
        """Return a caller who finds the name on this machine."""
        headers = {"Host": f"{NAME}:{self.port}"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.port}", headers=headers, verify=self.context(), timeout=PATIENCE
        )


def _aimed(text: str, urls: list[str], port: int) -> str:
    """Return the configuration with a free port, and with these nodes in place of the guide's."""
    servers = re.findall(r"^    server (127\.0\.0\.1:8000)( .*)$", text, flags=re.MULTILINE)
    assert len(servers) == 1
    lines = "\n".join(f"    server {url.removeprefix('http://')}{servers[0][1]}" for url in urls)
    text = text.replace(f"    server {''.join(servers[0])}", lines)
    assert text.count("listen 443 ssl;") == 1
    return text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")


def _make_certificate(certificate: Path, key: Path) -> None:
    certificate.parent.mkdir(parents=True)
    names = f"subjectAltName=DNS:{NAME},IP:127.0.0.1"
    words = (
        f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME} -addext {names} -keyout {key} -out {certificate}"
    )
    subprocess.run([locate("openssl"), *words.split(" ")], check=True, capture_output=True, timeout=PATIENCE)
