"""What to know of two runs before their difference is believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgegraph.errors import one_line
from judgegraph.meta.diff.changes import told


def notes_of(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[str, ...]:
    """Of two manifests: no configuration, an end out of order, lines that hold no item."""
    notes = []
    for name, manifest in (("A", a), ("B", b)):
        if not told(manifest, "configuration"):
            notes.append(f"run {name} does not tell its configuration, so no cause can be named: keep runs in folders")
        if manifest.get("state") not in (None, "finished"):
            notes.append(f"run {name} did not end in order ({one_line(manifest['state'], 40)}): it may lack samples")
        if damaged := manifest.get("damaged_lines"):
            notes.append(f"run {name}: {one_line(damaged, 40)} damaged lines are left out")
    return tuple(notes)
