"""Exports of a span of time, as lines and as Parquet; and decisions for many units in one call."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pandas as pd  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from ocucb.service.parquet import ParquetStream, check_installed
from service.helpers import ManualClock
from service.web.api import Api, check_error

EXPORT = "/v1/experiments/colours/export"
START = "2023-11-14T22:13:20Z"  # where the clock of the tests stands
LATER = "2023-11-14T22:15:00Z"


@pytest.fixture
def played(serve: Callable[..., Api], address: str, clock: ManualClock) -> Api:
    """Three decisions at the start, and three a hundred seconds later."""
    api = serve(address, now=clock)
    api.create(arms=["red", 7])
    for _ in range(2):
        made = [api.decide(unit=f"visitor {place}") for place in range(3)]
        api.reward(made[0]["id"], 0.5)
        clock.advance(100.0)
    return api


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({}, 6),
        ({"since": LATER}, 3),
        ({"until": LATER}, 3),
        ({"since": START, "until": LATER}, 3),
        ({"since": "2023-11-14T23:15:00+01:00"}, 3),
        ({"since": "2023-11-14T22:15:00.000001Z"}, 0),
        ({"since": LATER, "after": 7}, 1),
    ],
)
def test_a_span_of_time(played: Api, query: dict[str, str], count: int) -> None:
    lines = played.http.get(EXPORT, params=query).text.splitlines()
    assert len(lines) == count
    assert len(played.http.get(EXPORT, params={**query, "format": "csv"}).text.splitlines()) == count + 1
    table = pq.read_table(io.BytesIO(played.http.get(EXPORT, params={**query, "format": "parquet"}).content))
    assert table["seq"].to_pylist() == [json.loads(line)["seq"] for line in lines]


def test_parquet_has_what_json_has(played: Api) -> None:
    lines = [json.loads(line) for line in played.http.get(EXPORT).text.splitlines()]
    answer = played.http.get(EXPORT, params={"format": "parquet"})
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    assert answer.headers["content-disposition"].endswith('"decisions.parquet"')
    frame = pd.read_parquet(io.BytesIO(answer.content))
    assert list(frame["arm"]) == [str(line["arm"]) for line in lines]
    assert list(frame["decision"]) == [line["decision"] for line in lines]
    assert list(frame["unit"]) == [line["unit"] for line in lines]
    assert list(frame["at"]) == [pd.Timestamp(line["at"]) for line in lines]
    assert frame["reward"].dropna().tolist() == [line["reward"] for line in lines if line["reward"] is not None]
    assert list(frame["pulls"]) == [line["statistics"]["pulls"] for line in lines]


def test_a_time_that_is_none(lasting: Api) -> None:
    for wrong in ("yesterday", "2023-13-01T00:00:00Z"):
        check_error(lasting.http.get(EXPORT, params={"since": wrong}), 422)


def test_a_stream_is_written_piece_by_piece() -> None:
    check_installed()
    stream = ParquetStream({"number": "integer", "text": "text"})
    pieces = [stream.write([(place, str(place)) for place in range(part, part + 1000)]) for part in (0, 1000, 2000)]
    assert all(pieces)
    whole = b"".join([*pieces, stream.end()])
    file = pq.ParquetFile(io.BytesIO(whole))
    assert file.num_row_groups == 3
    assert file.read()["number"].to_pylist() == list(range(3000))


def test_many_units_in_one_call(both: Api) -> None:
    both.create(sticky=3600)
    before = both.decide(unit="b")
    asked = {"units": ["a", "b", "c", "a"]}
    headers = {"Idempotency-Key": "k" * 200}
    made = both.http.post("/v1/experiments/colours/decisions", json=asked, headers=headers).json()["decisions"]
    assert [one["unit"] for one in made] == ["a", "b", "c", "a"]
    assert made[1]["id"] == before["id"]
    assert [one["repeated"] for one in made] == [False, True, False, True]
    assert made[3]["id"] == made[0]["id"]
    again = both.http.post("/v1/experiments/colours/decisions", json=asked, headers=headers).json()["decisions"]
    assert [one["id"] for one in again] == [one["id"] for one in made]
    other = {"units": ["a", "x"]}
    check_error(both.http.post("/v1/experiments/colours/decisions", json=other, headers=headers), 409, "key-reused")
    for more in ({"unit": "z"}, {"count": 2}, {"different": True}):
        check_error(both.http.post("/v1/experiments/colours/decisions", json={**asked, **more}), 422)
    check_error(both.http.post("/v1/experiments/colours/decisions", json={"units": []}), 422)
    both.verify()
