"""Whether a run came to its end: numbers of one that did not are of a part of its samples."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from judgegraph.runtime.claim import LOCK
from judgegraph.runtime.run import Run

GONE = "its process is gone"
WHY = {"over_budget": "; its budget is spent"}


def unfinished(run: Run, done: int | None = None) -> str:
    """One phrase such as "unfinished: 12 of 32 samples", "" where the run came to its end.

    Args:
        done: samples that came to an end, a budget's refusals left out; None: they are counted here.

    Raises:
        DataError: they cannot be read.
    """
    state = str(run.manifest.get("state") or "finished")
    if state == "finished":
        return ""
    done = _done(run, state) if done is None else done
    total = total_of(run.manifest)
    known = total is not None and total >= done
    found = f"unfinished: {done:,} of {_samples(total)}" if known and total else f"unfinished after {_samples(done)}"
    return found + (_process(run) if state == "running" else WHY.get(state, ""))


def total_of(manifest: Mapping[str, Any]) -> int | None:
    """How many samples the run was given; None where its manifest does not know that."""
    told = _told(manifest)
    total = told.get("total")
    if total is None and manifest.get("state") == "over_budget":  # nothing was left: each refused one is an item too
        total = told.get("done")
    return total if isinstance(total, int) and total > 0 else None


def _done(run: Run, state: str) -> int:
    """The manifest of a run under way, or killed, is of its beginning."""
    told = _told(run.manifest)
    done, refused = told.get("done"), told.get("over_budget")
    if state != "running" and isinstance(done, int) and isinstance(refused, int):
        return done - refused
    return sum(item.status != "over_budget" for item in run.items)


def _process(run: Run) -> str:
    """Whether anyone still writes to it, as far as the lock of its folder tells."""
    if run.folder is None:
        return ""
    return {True: " so far", False: f"; {GONE}", None: ""}[_locked(run.folder.path / LOCK)]


def _locked(path: Path) -> bool | None:
    """None where it cannot be looked at, as in a folder that is only read. Nothing is made."""
    from filelock import FileLock, Timeout

    if not path.is_file():
        return False
    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    except (OSError, NotImplementedError):
        return None
    with suppress(OSError):
        lock.release()
    return False


def _samples(number: int | None) -> str:
    return f"{number:,} sample{'' if number == 1 else 's'}"


def _told(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    told = manifest.get("samples")
    return told if isinstance(told, Mapping) else {}
