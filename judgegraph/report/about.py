"""All that the numbers depend on: signature, versions, configuration, data, and rows that were no samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Fold, Grid, Para, Section
from judgegraph.report.visible import line
from judgegraph.runtime.unfinished import GONE

ROWS = 400  # of the configuration
REJECTED = 50  # rows of the data
VALUE = 400  # characters
DAMAGED = 20  # lines that are named


def about(
    manifest: Mapping[str, Any], rejected: Sequence[Mapping[str, Any]], unfinished: str = "",
    damaged: Sequence[str] = (),
) -> Section:  # fmt: skip
    """The section; everything else stands in the run's manifest.json.

    Args:
        unfinished: as `runtime.unfinished` says it. damaged: lines of its items that were left out.
    """
    return Section("about", "About this run", tuple(_blocks(manifest, rejected, unfinished, damaged)))


def _blocks(
    manifest: Mapping[str, Any], rejected: Sequence[Mapping[str, Any]], unfinished: str, damaged: Sequence[str]
) -> Iterator[Block]:
    yield Grid("The run", ("What", "Value"), tuple(_facts(manifest, unfinished, damaged)))
    if criteria := manifest.get("criteria"):
        listed = tuple((line(c.get("name", ""), 100), _scale(c), line(c.get("definition", ""), 600)) for c in criteria)
        yield Fold(f"Criteria ({len(listed)})", (Grid("Criteria", ("Name", "Scale", "Definition"), listed[:ROWS]),))
    if settings := manifest.get("configuration"):
        rows = tuple((line(key, 120), line(_text(value), VALUE)) for key, value in settings.items())
        left = (Para(f"And {len(rows) - ROWS:,} more in manifest.json."),) if len(rows) > ROWS else ()
        grid = Grid("Configuration", ("Setting", "Value"), rows[:ROWS])
        yield Fold(f"Configuration ({len(rows)})", (grid, *left))
    if rejected:
        left = (Para(f"And {len(rejected) - REJECTED:,} more in rejected.json."),) if len(rejected) > REJECTED else ()
        bad = tuple(_row(row) for row in rejected[:REJECTED])
        grid = Grid("Rows of the data that are no samples", ("Line", "Id", "Field", "Why"), bad)
        yield Fold(counted(len(rejected), "rejected row"), (grid, *left))


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Of a rejected row: line, id, field and reason."""
    return tuple(
        line(str(row.get(key) or ""), most)
        for key, most in (("line", 20), ("id", 80), ("field", 80), ("reason", VALUE))
    )


def _facts(manifest: Mapping[str, Any], unfinished: str, damaged: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "Signature", str(manifest.get("signature", ""))
    yield "Method", line(str(manifest.get("method", "")), 120)
    yield "State", unfinished or str(manifest.get("state", ""))
    yield "Run", str(manifest.get("run", ""))
    yield "Started", str(manifest.get("started") or "")
    yield "Ended", str(manifest.get("ended") or ("not known" if unfinished.endswith(GONE) else "not yet"))
    if data := manifest.get("data"):
        yield "Data", line(f"{data.get('file')}, {data.get('size'):,} bytes, digest {data.get('digest')}", VALUE)
    versions = {"judgegraph": manifest.get("judgegraph"), **(manifest.get("versions") or {})}
    yield "Versions", ", ".join(f"{name} {number}" for name, number in versions.items())
    if budget := manifest.get("budget"):
        yield "Budget", ", ".join(f"{key} {value}" for key, value in budget.items() if value is not None)
    if damaged:
        rest = f"; and {len(damaged) - DAMAGED:,} more" if len(damaged) > DAMAGED else ""
        yield "Damaged", f"{counted(len(damaged), 'line')}: {line('; '.join(damaged[:DAMAGED]), 10 * VALUE)}{rest}"


def _scale(criterion: Mapping[str, Any]) -> str:
    from judgegraph.types import Scale

    told = criterion.get("scale")
    return str(Scale.of(told)) if told else "1-5"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
