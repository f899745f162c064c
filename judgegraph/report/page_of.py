"""The page of a run: its parts, and how they share the bytes that it may have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from judgegraph.report.about import about
from judgegraph.report.amounts import time
from judgegraph.report.blocks import Section
from judgegraph.report.graph_part import graph_part
from judgegraph.report.overview import facts, overview, state_of
from judgegraph.report.redacted_run import two_levels
from judgegraph.report.samples.detail import Detail
from judgegraph.report.samples.fitted import least, short, size, whole
from judgegraph.report.samples.groups import common_scale, grouped
from judgegraph.report.samples.lists import Listing, listings
from judgegraph.report.samples.sample import view_of
from judgegraph.report.sections import SECTIONS, Tally, failures, left_out, notes, suggestions, tally_of
from judgegraph.report.templates import Templates
from judgegraph.runtime.folder import REJECTED
from judgegraph.runtime.item import Item
from judgegraph.runtime.known_names import Names
from judgegraph.runtime.run import Run
from judgegraph.runtime.traces import SampleTrace, traces_of

MOST_BYTES = 2_900_000
SHOWING = (left_out, suggestions, failures, notes)  # sections that show texts
LEAST_WHOLE, MOST_WHOLE = 0.35, 0.8  # of what is left beside the sections, for the samples of the lists


def page_of(run: Run, *, most: int, redact: bool, most_bytes: int) -> str:
    """The whole page as text."""
    templates = Templates()
    counted, texts, names = two_levels(run) if redact else (run, run, None)
    tally, rejected = tally_of(counted), _rejected(run)
    summary = tally.summary
    parts = [overview(summary), graph_part(run), *_sections(counted, tally, texts)]
    state = state_of(run, summary)
    damaged = [
        what.partition(": sample")[0] if redact else what for what in (run.folder.left_out if run.folder else ())
    ]
    last = about(run.manifest, rejected, state, damaged)
    sections = templates.sections(parts)
    end = templates.sections([last])
    head = templates.head(_head(run, redact, state), facts(run, summary, len(rejected)), _anchors([*parts, last]))
    room = most_bytes - size([head, *sections, *end]) - 20_000
    lists = listings(texts, most)
    scale = common_scale(x.scale for x in summary.answers.values())
    groups = grouped(texts.items, summary.samples.total(), scale)
    folder, places = _folder(run), dict[str, int]()

    def write(item: Item, level: Detail) -> str:
        return templates.short(view_of(item, level, folder), places.get(item.id))

    share = min(MOST_WHOLE * room, max(LEAST_WHOLE * room, room - least(groups, write)))
    listed, detail = _whole(run, lists, templates, names, int(share))
    places |= {name: number for number, name in enumerate(listed)}
    shown = short(groups, write, room - size(list(listed.values())))
    samples = templates.samples(lists, listed, places, shown, detail)
    return "".join([head, *sections, samples, *end, templates.foot()])


def _sections(counted: Run, tally: Tally, texts: Run) -> Iterator[Section]:
    """Numbers from the one run, and from the other what shows texts."""
    shown = tally if texts is counted else tally_of(texts)
    for section in SECTIONS:
        run, told = (texts, shown) if section in SHOWING else (counted, tally)
        if (found := section(run, told)) is not None:
            yield found


def _whole(
    run: Run, lists: list[Listing], templates: Templates, names: Names | None, room: int
) -> tuple[dict[str, str], Detail]:
    """Id -> what is shown of it, of every sample in the lists."""
    why: dict[str, str] = {}
    for listing in lists:
        for name, reason in listing.samples:
            why.setdefault(name, reason)
    traces: list[SampleTrace] = list(traces_of(run, why, redact=names or False))
    folder = _folder(run)

    def write(detail: Detail) -> list[str]:
        views = [view_of(t.item, detail, folder, why[t.item.id], t) for t in traces]
        return [templates.sample(view, number) for number, view in enumerate(views)]

    written, detail = whole(write, room)
    return {t.item.id: html for t, html in zip(traces, written, strict=True)}, detail


def _folder(run: Run) -> str:
    return str(run.folder.path) if run.folder else ""


def _head(run: Run, redact: bool, state: str) -> dict[str, Any]:
    manifest = run.manifest
    return {
        "method": str(manifest.get("method") or "graph"), "name": run.folder.path.resolve().name if run.folder else "",
        "signature": run.signature, "state": state or str(manifest.get("state") or ""), "redact": redact,
        "when": str(manifest.get("started") or ""), "took": time(_took(manifest)),
        "version": str(manifest.get("judgegraph") or ""),
    }  # fmt: skip


def _took(manifest: Mapping[str, Any]) -> float | None:
    """Milliseconds in which it worked; from its start to its end is not that where it was taken up again."""
    seconds = manifest.get("seconds") if manifest.get("state") != "running" else None
    return seconds * 1000 if isinstance(seconds, int | float) and 0 < seconds < float("inf") else None


def _anchors(parts: list[Section]) -> Iterator[tuple[str, str]]:
    """(anchor, title) of the page's parts; the samples stand before the last."""
    yield from ((part.key, part.title) for part in parts[:-1])
    yield "samples", "Samples"
    yield parts[-1].key, parts[-1].title


def _rejected(run: Run) -> list[dict[str, Any]]:
    """Rows of the data that were no samples; none where that is not known."""
    if run.folder is None:
        return []
    try:
        found = json.loads((run.folder.path / REJECTED).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
