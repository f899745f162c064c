"""Who&When: runs of several agents that failed, with the agent and the step that people hold to be at fault.

Source: Zhang et al. 2025, arXiv:2505.00212. Steps are counted from 0 there and from 1 here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from judgegraph.agents.trajectory import AGENT, DECISIVE, step_name, steps_of
from judgegraph.bench.files import Collection, field, present, read_lines, sample_of
from judgegraph.errors import DataError
from judgegraph.evidence import Turn
from judgegraph.types import Sample

FILES = ("algorithm-generated.jsonl", "hand-crafted.jsonl")
_SAID = re.compile(r"\s*\((?:thought|->[^()]*)\)\s*\Z")  # "Orchestrator (-> WebSurfer)"


def samples(folder: Path) -> Iterator[Sample]:
    """One for each log; its group is the file it stands in.

    Raises:
        DataError: a line is no log; a step that people name is none of its steps.
    """
    for name in FILES:
        if present(folder / name):
            for at, row in enumerate(read_lines(folder / name), 1):
                yield _sample(row, name.removesuffix(".jsonl"), f"{folder / name}, line {at}")


def _sample(row: Mapping[str, Any], group: str, where: str) -> Sample:
    history = field(row, "history", where, list)
    turns = [_turn(one, f"{where}, history") for one in history]
    step = str(row.get("mistake_step"))
    if not step.isdigit() or int(step) >= len(turns):
        raise DataError(f"{where}, key 'mistake_step': expected the number of one of {len(turns)} steps, got {step!r}")
    named = _bare(field(row, "mistake_agent", where, str))
    agents = {turn.agent.casefold(): turn.agent for turn in turns if turn.agent}
    human = {DECISIVE: step_name(int(step) + 1), AGENT: agents.get(named.casefold(), named)}
    return sample_of(
        where, id=f"{group}/{row.get('log', where)}", query=field(row, "question", where, str),
        reference=str(row.get("ground_truth") or "") or None, output=turns[-1].text, turns=tuple(turns), human=human,
        meta={"group": group},
    )  # fmt: skip


def _turn(one: Any, where: str) -> Turn:
    if not isinstance(one, Mapping) or "role" not in one:
        raise DataError(f"{where}: expected messages with a role and a content")
    role, content = str(one["role"]), str(one.get("content") or "")
    if role == "human":
        return Turn(role="user", content=content)
    return Turn(role="assistant", agent=_bare(str(one.get("name") or role)), content=content)


def _bare(name: str) -> str:
    """An agent's name, without what says to whom it speaks."""
    return _SAID.sub("", name)


def baselines(found: Sequence[Sample]) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Criterion -> judge that looks at nothing -> sample -> what it names."""
    last = {sample.id: steps_of(sample)[-1] for sample in found}
    first = {sample.id: steps_of(sample)[0] for sample in found}
    by = {"the last step": last, "the first step": first}
    return {
        DECISIVE: {name: {id: step_name(at) for id, at in steps.items()} for name, steps in by.items()},
        AGENT: {
            name: {sample.id: sample.turns[steps[sample.id] - 1].agent for sample in found}
            for name, steps in by.items()
        },
    }


def chance(found: Sequence[Sample]) -> str:
    """What a step, and an agent, drawn at random would reach on average."""
    said = []
    for group in dict.fromkeys(str(sample.meta["group"]) for sample in found):
        own = [sample for sample in found if sample.meta["group"] == group]
        steps = fmean(1 / len(steps_of(sample)) for sample in own)
        agents = fmean(1 / len({turn.agent for turn in sample.turns if turn.agent}) for sample in own)
        said.append(f"{group}: {agents:.1%} of agents, {steps:.1%} of steps")
    return f"Chance reaches, {'; '.join(said)}. A step is right where its very number is named."


COLLECTION = Collection(
    name="whoandwhen",
    title="Who&When (Zhang et al. 2025)",
    items="logs of failed runs of several agents: algorithm-generated 126, hand-crafted 58",
    origin="mingyin1/Agents_Failure_Attribution @ 3d9d568 (MIT), a JSON object a line",
    files=FILES,
    criteria="trajectory",
    preset="whoandwhen",
    samples=samples,
    recorded=lambda folder: {},
    method="find-fault",
    columns="headings",
    statistics=("accuracy",),
    baselines=baselines,
    baseline_names=("the last step", "the first step"),
    chance=chance,
)
