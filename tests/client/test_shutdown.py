"""Programs that end, in every way there is: what they were told is accepted is delivered."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from client.admin_queries import decide, key_of, rewarded
from client.proxy import BUSY, CUT, DROPPED, TORN, Proxy
from client.scripts import Script
from ocucb_client import Client
from service.server import Server

Run = Callable[..., Script]

ENDS = {
    "its last line": "",
    "an exception": "raise LookupError('oh')",
    "sys.exit": "sys.exit(3)",
    "an exception in a thread": "import threading; threading.Thread(target=lambda: 1 / 0).start()",
}
CODES = {"its last line": 0, "an exception": 1, "sys.exit": 3, "an exception in a thread": 0}


@pytest.fixture
def decisions(admin: Client, name: str) -> list[str]:
    return decide(admin, name, 1500)


@pytest.fixture
def run(tmp_path: Path, proxy: Proxy, server: Server) -> Iterator[Run]:
    """Run programs; whatever is left of them at the end is killed."""
    running: list[Script] = []

    def start(code: str, decisions: list[str]) -> Script:
        running.append(Script(tmp_path, code, proxy.url, key_of(server), decisions))
        return running[-1]

    yield start
    for script in running:
        script.__exit__()


@pytest.mark.parametrize("end", ENDS)
def test_without_close(run: Run, proxy: Proxy, admin: Client, name: str, decisions: list[str], end: str) -> None:
    proxy.be_flaky(4, 0.5, DROPPED, CUT, TORN, BUSY)
    script = run(
        f"""
        client = Client(url, key)
        for decision in decisions:
            client.reward_later(decision, 0.5)
        {ENDS[end]}
        """,
        decisions,
    )
    assert script.end() == CODES[end], script.err
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


@pytest.mark.parametrize("end", ["", "raise LookupError('oh')"])
def test_a_loop_that_ends(run: Run, proxy: Proxy, admin: Client, name: str, decisions: list[str], end: str) -> None:
    proxy.be_flaky(5, 0.5, DROPPED, CUT, BUSY)
    script = run(
        f"""
        async def main():
            client = AsyncClient(url, key)
            for decision in decisions:
                await client.reward_later(decision, 0.5)
            {end}

        asyncio.run(main())
        """,
        decisions,
    )
    assert script.end() == bool(end), script.err
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_threads_that_go_on_after_the_last_line(run: Run, admin: Client, name: str, decisions: list[str]) -> None:
    """Python waits for threads that are no daemons, and only then are rewards no longer accepted."""
    script = run(
        """
        import threading
        client = Client(url, key)

        def give():
            for decision in decisions:
                client.reward_later(decision, 0.5)
                time.sleep(0.0005)

        threading.Thread(target=give).start()
        """,
        decisions,
    )
    assert script.end() == 0, script.err
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_daemons_are_refused_at_the_end(run: Run, proxy: Proxy, admin: Client, name: str, decisions: list[str]) -> None:
    """A daemon thread may still run while Python ends: what it is told is accepted is delivered, all else raises."""
    proxy.always = BUSY
    script = run(
        """
        import threading
        client = Client(url, key)
        begun = threading.Event()

        def give():
            for number, decision in enumerate(decisions):
                client.reward_later(decision, 0.5)
                os.write(1, f"{decision}\\n".encode())
                time.sleep(0.001)
                begun.set()

        threading.Thread(target=give, daemon=True).start()
        begun.wait()
        """,
        decisions,
    )
    script.wait_for("ClosedError", "err")
    proxy.heal()
    assert script.end() == 0, script.err
    told = script.out.split()
    assert 0 < len(told) < 1500
    assert rewarded(admin, name) == dict.fromkeys(told, 0.5)


def test_ctrl_c(run: Run, proxy: Proxy, admin: Client, name: str, decisions: list[str]) -> None:
    proxy.be_flaky(6, 0.5, DROPPED, CUT)
    script = run(
        """
        with Client(url, key) as client:
            for decision in decisions:
                client.reward_later(decision, 0.5)
            print("all accepted", flush=True)
            time.sleep(600)
        """,
        decisions,
    )
    script.wait_for("all accepted")
    script.process.send_signal(signal.SIGINT)
    assert script.end() == -signal.SIGINT
    assert "KeyboardInterrupt" in script.err
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_it_waits_at_exit_for_a_service_that_is_down(
    run: Run, proxy: Proxy, admin: Client, name: str, decisions: list[str]
) -> None:
    proxy.always = DROPPED
    script = run(
        """
        client = Client(url, key)
        for decision in decisions:
            client.reward_later(decision, 0.5)
        """,
        decisions,
    )
    script.wait_for("waiting at exit, Ctrl-C gives up: 1500 rewards are not delivered", "err")
    assert rewarded(admin, name) == {}
    proxy.heal()
    assert script.end() == 0, script.err
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_ctrl_c_at_exit_gives_up_and_says_what(run: Run, proxy: Proxy, decisions: list[str]) -> None:
    proxy.always = DROPPED
    script = run(
        """
        client = Client(url, key)
        for decision in decisions:
            client.reward_later(decision, 0.5)
        """,
        decisions,
    )
    script.wait_for("waiting at exit", "err")
    script.process.send_signal(signal.SIGINT)
    script.end()
    assert "given up at exit: 1500 rewards are not delivered" in script.err
    assert decisions[0] in script.err


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_process(run: Run, proxy: Proxy, admin: Client, name: str, decisions: list[str], method: str) -> None:
    """Processes of multiprocessing end without the usual hooks."""
    proxy.be_flaky(7, 0.5, DROPPED, CUT)
    script = run(
        f"""
        import multiprocessing

        def give(part):
            client = Client(url, key)
            for decision in part:
                client.reward_later(decision, 0.5)

        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            workers = [context.Process(target=give, args=(decisions[place::2],)) for place in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            sys.exit(sum(worker.exitcode for worker in workers))
        """,
        decisions,
    )
    assert script.end() == 0, script.err
    assert rewarded(admin, name) == dict.fromkeys(decisions, 0.5)


def test_after_a_fork(run: Run, proxy: Proxy, admin: Client, name: str, decisions: list[str]) -> None:
    """A child may not use its parent's client, and leaves what that has accepted to the parent."""
    proxy.always = BUSY
    script = run(
        f"""
        client = Client(url, key)
        client.reward_later(decisions[0], 0.5)
        child = os.fork()
        if child == 0:
            for call in (lambda: client.decide({name!r}), lambda: client.reward_later(decisions[1], 0.5), client.flush):
                try:
                    call()
                except Exception as problem:
                    print(type(problem).__name__, problem.code, flush=True)
            client.close()
            with Client(url, key) as own:
                own.reward_later(decisions[2], 0.5)
            sys.exit(0)
        code = os.waitpid(child, 0)[1]
        print("the child ended", code, flush=True)
        """,
        decisions,
    )
    script.wait_for("ClosedError forked\n" * 3)
    proxy.heal()
    assert script.end() == 0, script.err
    assert "the child ended 0" in script.out
    assert rewarded(admin, name) == {decisions[0]: 0.5, decisions[2]: 0.5}


@pytest.mark.parametrize("kind", ["Client", "AsyncClient"])
def test_killed_with_a_spool(
    tmp_path: Path, proxy: Proxy, server: Server, admin: Client, name: str, decisions: list[str], kind: str
) -> None:
    """Killed at six random moments, through a flaky proxy: what was accepted in any life is counted in the end."""
    proxy.be_flaky(8, 0.5, DROPPED, CUT, BUSY)
    draw, told = random.Random(8), set[str]()
    code = f"""
        async def main():
            client = {kind}(url, key, spool="rewards.spool")
            for decision in decisions:
                done = client.reward_later(decision, 0.5)
                if done is not None:
                    await done
                os.write(1, f"{{decision}}\\n".encode())
            time.sleep(600)

        asyncio.run(main())
        """
    for life in range(6):
        part = decisions[250 * life : 250 * (life + 1)]
        with Script(tmp_path, code, proxy.url, key_of(server), part) as script:
            script.wait_for(part[draw.randrange(1, 200)])
            time.sleep(draw.random() * 0.3)
            script.process.kill()
            script.end()
            told |= set(script.out.split("\n")[:-1])
    proxy.heal()
    with Client(proxy.url, key_of(server), spool=tmp_path / "rewards.spool") as client:
        client.flush(120.0)
    counted = rewarded(admin, name)
    assert len(told) >= 6
    assert told <= set(counted)
    assert set(counted.values()) == {0.5}
    assert len(counted) <= len(told) + 6  # the one that was on its way when it was killed


def test_a_spool_that_nobody_is_there_for(
    tmp_path: Path, run: Run, proxy: Proxy, server: Server, admin: Client, name: str, decisions: list[str]
) -> None:
    """The service is down all the while, and Ctrl-C gives up: the next start delivers."""
    proxy.always = DROPPED
    script = run(
        """
        client = Client(url, key, spool="rewards.spool")
        for decision in decisions[:100]:
            client.reward_later(decision, 0.5)
        """,
        decisions,
    )
    script.wait_for("waiting at exit", "err")
    script.process.send_signal(signal.SIGINT)
    script.end()
    assert "rewards.spool keeps them" in script.err
    proxy.heal()
    with Client(proxy.url, key_of(server), spool=tmp_path / "rewards.spool") as client:
        assert client.background.waiting + client.background.delivered == 100
    assert rewarded(admin, name) == dict.fromkeys(decisions[:100], 0.5)
