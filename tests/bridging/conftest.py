"""Files of foreign judgements, and what comes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from foreign import judge

import judgegraph as jg
from judgegraph.bridging.bridge import Bridge, bridge, gather
from judgegraph.bridging.records import read_records
from judgegraph.graphs.bridging import bridging

Write = Callable[..., Path]


@pytest.fixture
def file(tmp_path: Path) -> Write:
    """Writes rows, or lines as they are, as a file of judgements."""

    def write(*rows: dict[str, Any] | str, name: str = "rows.jsonl") -> Path:
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def bridged(file: Write) -> Callable[..., Bridge]:
    """What comes of rows, read, judged anew and sifted."""

    def of(*rows: dict[str, Any] | str, **settings: Any) -> Bridge:
        gathered = gather([read_records(file(*rows))])
        return bridge(gathered, jg.evaluate(bridging(judge()), gathered.samples), **settings)

    return of
