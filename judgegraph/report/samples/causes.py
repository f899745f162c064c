"""Why samples failed, in a line each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from judgegraph.report.amounts import counted
from judgegraph.report.visible import line
from judgegraph.runtime.item import FINE, LISTED, Item
from judgegraph.runtime.run import Run

REASON = 160  # characters


def causes(run: Run, ids: Collection[str]) -> dict[str, str]:
    """Id -> why it failed, of the samples that are asked for; the run's items are read once, or not at all."""
    return {item.id: cause(item) for item in run.items if item.id in ids} if ids else {}


def cause(item: Item) -> str:
    """How many parts failed, the item's own status else the commonest of theirs, and the first reason of that one."""
    parts = [part for name in LISTED for part in getattr(item, name)]
    parts += [item.plan] if item.plan is not None else []
    failed = [part for part in [item, *parts] if getattr(part, "status", "ok") not in FINE]
    if not failed:
        return ""
    met = Counter(part.status for part in failed)
    status = item.status if item.status not in FINE else met.most_common(1)[0][0]
    reason = next((why for part in failed if part.status == status and (why := _reason(part))), "")
    mostly = " mostly" if len(met) > 1 else ""
    said = f"{counted(len(failed), 'failed part')},{mostly} {status.replace('_', ' ')}"
    return f"{said}: {line(reason, REASON)}" if reason else said


def _reason(part: object) -> str:
    return str(getattr(part, "reason", "") or getattr(part, "text", "") or "")
