"""A graph with code of the caller's own, run dry before it is paid for: what nodes write is checked as in a run.

It hides the samples and the invented replies that it is run with, and which failures lie in the graph alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from langgraph.errors import InvalidUpdateError
from pydantic import ValidationError

from judgegraph.calls.estimate import READABLE, SAMPLES, Guessed
from judgegraph.calls.ledger import ReadOnlyLedger
from judgegraph.errors import (
    WRITTEN_IN,
    ConfigError,
    StateError,
    ValueRefused,
    given_as,
    in_words,
    off_its_ways,
    one_line,
    settings_checked,
)
from judgegraph.planning.dry_run import PATIENCE, DryRun, Endless, SimulatedJudge, runs_own
from judgegraph.runs.identity import details
from judgegraph.runs.item import item_of, node_of
from judgegraph.runs.summary import summarise
from judgegraph.sync import run_sync
from judgegraph.types import Sample
from judgegraph.wiring.code import Finding
from judgegraph.wiring.graph import precedence

REASON = 400  # characters of a reason
CODE, UNSURE = "wrong-value", "failed-dry-run"
TOLD = (  # notes of a sample that lie in the graph, whatever a judge replies
    "no-answer", "scale-missing", "criterion-unknown", "verdicts-not-applied", "drafts-stand", "doubt-unknown",
    "overall-off-scale", "panel-member-failed",
)  # fmt: skip
PAIR = SAMPLES[0].model_copy(update={"id": "3", "rival": "It is shut until spring."})
SURE = (StateError, NameError, ImportError, InvalidUpdateError)  # whatever is judged


@settings_checked
def dry_check(graph: Any) -> tuple[Finding, ...]:
    """Run a compiled graph on three samples that are made up, one of them a pair; arguments as `adry_check`."""
    return run_sync(adry_check(graph))


async def adry_check(graph: Any) -> tuple[Finding, ...]:
    """Run a compiled graph on three samples that are made up, one of them a pair, with invented replies.

    What `jg.ask` and agents ask is not sent, and nothing is kept. Nodes of the caller's own do run, so that one which
    calls a model some other way really calls it; a graph without any is not run, as `check` knows all of it.

    Returns:
        An error "wrong-value": what a node writes, or a condition gives, is refused on every sample, or nothing is
        written. Warnings "failed-dry-run": a node failed in another way, which may lie in the made-up sample, or
        what is written is no answer.

    Raises:
        ConfigError: a judge cannot be made, or the graph was compiled to stop at a node.
    """
    if not hasattr(graph, "ainvoke"):
        raise ConfigError(f"dry_check: expected a compiled graph, got {given_as(graph)}")
    with closing(ReadOnlyLedger(None)) as nothing:
        about = DryRun(graph, nothing, Guessed())
        if not runs_own(graph):
            return ()
        noted: list[Finding] = []
        met = [await _met(about, _bare(sample), noted) for sample in (*SAMPLES, PAIR)]
    first = next((error for error in met if error is not None), None)
    if first is None:
        return tuple(dict.fromkeys(noted))
    if None in met:  # such as a verdict on single outputs
        which = "a pair" if met[0] is None else "a sample without rival"
        return (_finding(first, f"on {which}, ", "warning"),)
    sure = next((error for error in met if error is not None and _is_sure(error)), None)
    if sure is not None and all(error is not None and _is_sure(error) for error in met):
        return (_finding(sure, "", "error"),)
    return (_finding(first, "on a sample that was made up, ", "warning"),)


class SampleLacks(KeyError):
    """What was looked for in a sample that was made up: a real one may have it."""


class _Held(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise SampleLacks(key)


def _bare(sample: Sample) -> Sample:
    """The sample, of which it is told apart what a node looks for in its `meta`, `human` and `facts`."""
    return sample.model_copy(update={name: _Held(getattr(sample, name)) for name in ("meta", "human", "facts")})


def _is_foreign(key: object) -> bool:
    """Whether a key that was looked for is none of a sample's own texts, as in a table by their ids."""
    texts = "\n".join(sample.model_dump_json() for sample in (*SAMPLES, PAIR))
    return key is not None and str(key) not in texts


async def _met(about: DryRun, sample: Sample, noted: list[Finding]) -> Exception | None:
    """What ends the graph on a sample, by the first manner of replies that does; else what a run would note of it."""
    for manner in READABLE[:2]:
        try:
            async with asyncio.timeout(PATIENCE):
                state = await about.final(SimulatedJudge(about, manner), sample)
            noted += _noted(about.graph, sample, state)
        except ConfigError:
            raise
        except (TimeoutError, Endless):  # that it may have no end is told by the count of its calls
            return None
        except Exception as error:
            return error
    return None


def _noted(graph: Any, sample: Sample, state: Any) -> Iterator[Finding]:
    """What was written and is no answer.

    Raises:
        StateError: nothing was.
    """
    item = item_of(sample, state, 0.0, wired=precedence(graph))
    for note in item.notes:
        if note.kind == "nothing-written":
            raise StateError(f"{note.text}: return {{'scores': keyed(Score(criterion=..., agent=..., value=...))}}")
    names = [criterion.name for criterion in details(graph)["criteria"]]
    for kind, notice in summarise([item], "", names).notices.items():
        if kind in TOLD:
            yield Finding(UNSURE, "", "scores", notice.text, "warning")
    if silent := sorted({one.agent for one in item.scores if one.status != "ok" and not one.reason}):
        text = (
            f"agent '{one_line(silent[0], 60)}' gives no reason for a score without an answer: write Score(reason=...)"
        )
        yield Finding(UNSURE, "", "scores", text, "warning")


def _is_sure(error: Exception) -> bool:
    """Whether it lies in the graph, and in nothing that a sample made up may lack."""
    if isinstance(error, ValidationError | ValueRefused):
        return error.title in WRITTEN_IN and all(one["input"] is not None for one in error.errors())
    if isinstance(error, KeyError) and not off_its_ways(error):
        return not isinstance(error, SampleLacks) and _is_foreign(error.args[0] if error.args else None)
    if isinstance(error, TypeError | AttributeError):
        return not any(what in str(error) for what in ("NoneType", "string indices"))  # a real output may be JSON
    return isinstance(error, SURE) or off_its_ways(error)


def _finding(error: Exception, where: str, severity: Any) -> Finding:
    said, node = one_line(in_words(error) if not isinstance(error, StateError) else error, REASON), node_of(error)
    said = f"KeyError: {error}, which the sample has not" if isinstance(error, SampleLacks) else said
    place = f"node '{node}' failed: " if node and not isinstance(error, StateError) else ""
    return Finding(CODE if severity == "error" else UNSURE, node, "", f"{where}{place}{said}", severity)
