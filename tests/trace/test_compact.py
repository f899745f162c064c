"""Lines of JSON are the same to a reader with orjson and without, whatever stands in them."""

import dataclasses
import datetime
import enum
import json
import math
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
import pytest

from judgegraph.trace import record as module
from judgegraph.trace.record import compact


@dataclasses.dataclass
class Foreign:
    x: int = 1


class Pair(NamedTuple):
    a: int
    b: int


class Colour(enum.Enum):
    RED = "red"


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no")


@pytest.fixture(params=["orjson", "json"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "json":
        monkeypatch.setattr(module, "orjson", None)
    elif module.orjson is None:
        pytest.skip("orjson is not installed")
    return request.param


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"a": [1, 2.5, None, True], "é": "ü\n\x00\u2028"}, {"a": [1, 2.5, None, True], "é": "ü\n\x00\u2028"}),
        (("asked", "ff", [("system", "k")]), ["asked", "ff", [["system", "k"]]]),
        ({1: "a whole number as a key", None: 2}, {"1": "a whole number as a key", "null": 2}),
        ([2**70, 1e300], [2**70, 1e300]),
        ([Foreign()], ["Foreign(x=1)"]),
        ([np.float64(3.25), Pair(1, 2), Colour.RED, UUID(int=1)], [3.25, [1, 2], "red", str(UUID(int=1))]),
        ([math.nan, {"a": (math.inf,)}, np.float64("nan")], [None, {"a": [None]}, None]),
        ([datetime.date(2026, 1, 2)], ["datetime.date(2026, 1, 2)"]),
        (["half \ud83d of a pair"], ["half ? of a pair"]),
    ],
)
def test_a_value_is_read_as_it_was(way: str, value: Any, read: Any):
    line = compact(value)
    assert json.loads(line) == read
    assert b"\n" not in line
    assert b": " not in line


def test_what_can_be_neither_written_nor_told_is_an_error(way: str):
    with pytest.raises(RuntimeError):
        compact([Silent()])
