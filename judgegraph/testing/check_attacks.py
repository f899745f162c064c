"""An agent whose judged text, or whose judge, writes what would be more than a text."""

from __future__ import annotations

from typing import Any

from judgegraph.testing.check_prompts import open_sections, sections, shows
from judgegraph.testing.check_runs import Runs
from judgegraph.testing.hostile_texts import TEXTS, closing
from judgegraph.testing.invented_state import scores_of
from judgegraph.testing.trial import Trial


async def attacks(runs: Runs) -> None:
    """Hostile texts in place of what is judged, and in replies."""
    if "sample" in (runs.keys.reads or {}):
        await _texts(runs)
    for where, state in runs.states():
        trial = await runs.tried(state, runs.judge("marked"), f"{where}, a hostile reply")
        runs.report.add(*open_sections(trial, "what a judge said stands"))


async def _texts(runs: Runs) -> None:
    seen: set[tuple[str, str]] = set()
    shown = asked = False
    for name, text in TEXTS.items():
        for trial in await _attack(runs, text, name):
            seen |= sections(trial)
            shown, asked = shown or shows(trial), asked or bool(trial.asked)
    await _attack(runs, closing(sorted(seen)), "codes of before")
    if asked and not shown:
        runs.report.note(["no prompt shows the judged text"])


async def _attack(runs: Runs, text: str, name: str) -> list[Trial]:
    whole = _hostile(runs, text)
    states = [whole, runs.bare(whole)] if runs.works_bare else [whole]
    trials = [await runs.tried(state, runs.judge(), f"hostile: {name}") for state in states]
    runs.report.add(*(breach for trial in trials for breach in open_sections(trial)))
    return trials


def _hostile(runs: Runs, text: str) -> dict[str, Any]:
    sample = runs.samples[0].model_copy(update={"output": text, "rival": text, "source": text, "query": text})
    state = runs.state(sample)
    if "sample" not in runs.own and "scores" in state and "scores" not in runs.own:
        state["scores"] = scores_of(runs.agent, reason=text)
    return {**state, "sample": sample}
