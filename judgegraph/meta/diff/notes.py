"""What to know of two runs before their difference is believed."""

from __future__ import annotations

from judgegraph.errors import one_line
from judgegraph.meta.diff.changes import told
from judgegraph.runtime.run import Run
from judgegraph.runtime.unfinished import unfinished


def notes_of(a: Run, b: Run) -> tuple[str, ...]:
    """Of two runs: no configuration, samples that are not there yet, lines that hold no item.

    Raises:
        DataError: a run's folder cannot be read.
    """
    notes = []
    for name, run in (("A", a), ("B", b)):
        manifest = run.manifest
        if not told(manifest, "configuration"):
            notes.append(f"run {name} does not tell its configuration, so no cause can be named: keep runs in folders")
        if said := unfinished(run):
            notes.append(f"run {name} is {said}")
        notes += [f"run {name}: {one_line(what, 400)}" for what in (run.folder.left_out if run.folder else ())]
    return tuple(notes)
