"""Keys and monitoring as the guide has them: its commands, its numbers, its fields of the log."""

from __future__ import annotations

import re
from typing import Any

from service.guide.machine import GUIDE, Machine, blocks
from service.server import Server

PAGE = {"name": "landing page", "arms": ["red", "green"]}
OTHER = {"name": "other", "arms": ["red", "green"]}


def commands(name: str) -> list[str]:
    """Return the commands of a block, one by one."""
    return [line for line in blocks("bash")[name].splitlines() if not line.startswith("#")]


def decide(server: Server, name: str, key: str | None) -> Any:
    return server.ask("POST", f"/v1/experiments/{name}/decisions", key)


def test_keys(machine: Machine) -> None:
    server = machine.start()
    for experiment in (PAGE, OTHER):
        server.ask("POST", "/v1/experiments", server.key, json=experiment).raise_for_status()
    make_shop, make_reader, show, revoke = commands("keys")
    shop, reader = machine.shell(make_shop).strip(), machine.shell(make_reader).strip()
    name = shop.split("_")[1]
    assert all(one in machine.shell(show) for one in (name, "web shop", "landing page", "prometheus"))
    assert [decide(server, name, shop).status_code for name in ("landing page", "other")] == [200, 404]
    assert decide(server, "other", reader).status_code == 403
    machine.shell(revoke.replace("ID", name))
    assert decide(server, "landing page", shop).status_code == 401
    assert decide(server, "landing page", server.key).status_code == 200


def test_the_admin_key_is_lost(machine: Machine) -> None:
    server = machine.start()
    found = re.search(r"`(ocucb keys make --name admin --role admin)`", GUIDE.read_text(encoding="utf-8"))
    assert found is not None
    assert server.ask("GET", "/v1/keys", machine.shell(found[1]).strip()).status_code == 200


def work(server: Server) -> None:
    """Give every number of the guide something to count."""
    server.ask("POST", "/v1/experiments", server.key, json=PAGE).raise_for_status()
    decision = decide(server, "landing page", server.key).json()["decisions"][0]["id"]
    server.ask("POST", "/v1/rewards", server.key, json={"decision": decision, "reward": 1}).raise_for_status()


def test_numbers(machine: Machine) -> None:
    """A key of the role that the guide says reads every number, with every label, that the alerts use."""
    server = machine.start()
    work(server)
    answer = server.ask("GET", "/metrics", machine.shell(commands("keys")[1]).strip())
    assert answer.status_code == 200
    rules = re.findall(
        r" expr: (?:>-\n)?(.*?)\n(?= +(?:for:|- ))", blocks("yaml")["/etc/prometheus/ocucb.rules.yml"], re.DOTALL
    )
    used = {name for rule in rules for name in re.findall(r"\bocucb_\w+", rule)}
    assert used <= set(re.findall(r"^(ocucb_\w+)[{ ]", answer.text, flags=re.MULTILINE))
    assert len(used) == 10
    for route in re.findall(r'route="([^"]+)"', " ".join(rules)):
        assert f'ocucb_http_request_seconds_bucket{{le="10.0",route="{route}"}} 1.0' in answer.text
    assert 'ocucb_rewards_total{outcome="counted"} 1.0' in answer.text


def test_fields_of_the_log(machine: Machine) -> None:
    server = machine.start()
    work(server)
    server.ask("GET", "/v1/experiments/landing page", server.key).raise_for_status()
    assert server.stop() == 0
    text = GUIDE.read_text(encoding="utf-8")
    part = text[text.index("The log is a JSON object per line") :].split("\n\n")[0]
    named = set(re.findall(r"`([a-z_]+)`", part))
    answered = [line for line in server.log if "request_id" in line]
    assert [line["route"] for line in answered] == ["/v1/experiments", "/v1/experiments/{name}"]
    assert set(answered[0]) == named - {"reason", "exception", "experiment"}
    assert set(answered[1]) == named - {"reason", "exception"}
    assert answered[1]["experiment"] == "landing page"
    assert str(server.key).split("_")[1] == answered[0]["key"]
