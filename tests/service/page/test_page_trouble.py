"""What the page shows when something is wrong, or was changed: damaged experiments, deleted ones, who changed what."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser
from sqlalchemy import delete

from ocucb.service.stores.tables import log, snapshots
from service.helpers import wait_until
from service.page.site import PHONE, Site


def test_a_damaged_experiment_hides_no_other(tmp_path: Path) -> None:
    with Site(tmp_path, "--cached-experiments", "1") as site:
        site.create("damaged", ["a", "b"])
        site.decide("damaged", 3)
        site.create("others", ["a", "b"])  # which takes its room in memory
        site.decide("others", 3)
        with site.store.write() as transaction:
            transaction.connection.execute(delete(snapshots))
            transaction.connection.execute(delete(log).where(log.c.experiment == 1, log.c.seq == 2))
        with site.client(site.admin) as client:
            listed = client.get("/")
            assert listed.status_code == 200
            assert 'class="status damaged"' in listed.text
            assert 'class="status active"' in listed.text
            page = client.get("/experiments/damaged")
            assert page.status_code == 500
            assert "restores it from a backup or deletes it" in page.text
            assert client.get("/experiments/others").status_code == 200


def test_changes_in_words(site: Site, browser: Browser) -> None:
    site.create("changed", ["a", "b"])
    first, second = (made["id"] for made in site.decide("changed", 2))
    rewards = [{"decision": made, "reward": 0.0} for made in (first, second)]
    assert site.ask("POST", "/v1/rewards", site.admin, json={"rewards": rewards}).status_code == 200
    corrections = [{"decision": first, "reward": None}, {"decision": second, "reward": 1.0}]
    sent = {"corrections": corrections}
    assert site.ask("POST", "/v1/rewards/correct", site.admin, json=sent).status_code == 200
    site.create("deleted soon", ["a", "b"])
    site.ask("POST", "/v1/experiments/deleted%20soon/archive", site.admin)
    site.ask("DELETE", "/v1/experiments/deleted%20soon", site.admin)
    with site.client(site.admin) as client:
        text = client.get("/changes").text
        assert f"decision {first}; was 0; void" in text
        assert f"decision {second}; was 0; reward 1" in text
        assert "roles admin" in text
        assert 'href="/experiments/changed"' in text
        assert "deleted soon" in text
        assert 'href="/experiments/deleted%20soon"' not in text
        of_one = client.get("/changes?experiment=changed").text
        assert "Changes of changed" in of_one
        assert "deleted soon" not in of_one
        assert 'href="/changes?experiment=changed"' in client.get("/experiments/changed").text
    with site.visit(browser, PHONE) as seen:
        seen.log_in(site.admin)
        seen.page.goto("/changes")
        sizes = seen.page.evaluate("[...document.querySelectorAll('.scroll')].map(e => e.scrollWidth - e.clientWidth)")
        assert sizes == [0], "on a phone details are below, and need no scrolling"


def test_an_archived_experiment_is_not_offered_for_use(site: Site) -> None:
    site.create("ended", ["a", "b"])
    site.decide("ended", 1)
    with site.client(site.admin) as client:
        page = client.get("/experiments/ended").text
        assert "Make a decision" in page
        assert re.search(r"\b1 decision since", page)
        site.ask("POST", "/v1/experiments/ended/archive", site.admin)

        def ended() -> bool:  # what is shown may be a second old
            return "Make a decision" not in client.get("/experiments/ended").text

        wait_until(ended, "the page offers nothing that would be refused")
