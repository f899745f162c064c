"""Every agent and critic that this package brings keeps the contract that plug-ins are checked by."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

import pytest

import judgegraph.agents
from judgegraph.compiled import keys
from judgegraph.errors import ConfigError
from judgegraph.testing import check_agent
from judgegraph.testing.conformance import SAMPLES, state_of
from judgegraph.types import Sample

TOOL = {"type": "function", "function": {"name": "rouge-l", "description": "overlap", "parameters": {"type": "object"}}}
SETTINGS: dict[str, dict[str, Any]] = {  # of those that have none by default
    "Planner": {"assistants": {"rouge-l": "overlap with the reference"}},
    "FusionJudge": {"assistants": {"rouge-l": "overlap with the reference"}},
    "Blend": {"ranges": {"rouge-l": (0, 1)}},
    "PanelRole": {"role": "You look for what is missing.", "name": "gaps"},
    "Consultant": {"tools": [TOOL]},
}
ELSEWHERE = ("Person",)  # stops its graph, and runs nowhere but in one
MORE: dict[str, list[dict[str, Any]]] = {  # other ways of the same agent
    "Sage": [{"calls": "three"}],
    "Scorer": [{"reply": "text"}],
    "Judge": [{"reply": "text"}],
    "Comparer": [{"orders": "both"}, {"reply": "text"}, {"labels": "position", "orders": "BA"}],
    "Proposer": [{"reply": "text"}],
    "CriteriaWriter": [{"reply": "text"}],
    "GuidelineWriter": [{"reply": "text"}],
    "Corrector": [{"reply": "text"}],
    "Fuser": [{"reply": "text"}],
    "Rater": [{"reasons": True}],
    "Merge": [{"mode": "single"}, {"rule": "votes"}],
}


def agents() -> Iterator[type]:
    """Every dataclass of the room that is a node."""
    for module in pkgutil.iter_modules(judgegraph.agents.__path__):
        for name, kind in vars(importlib.import_module(f"judgegraph.agents.{module.name}")).items():
            own = inspect.isclass(kind) and kind.__module__ == f"judgegraph.agents.{module.name}"
            if own and is_dataclass(kind) and "state" in _parameters(kind) and name not in ELSEWHERE:
                yield kind


def _parameters(kind: type) -> list[str]:
    call = inspect.getattr_static(kind, "__call__", None)
    return list(inspect.signature(call).parameters) if inspect.isfunction(call) else []


WAYS = [
    pytest.param(kind, settings, id="-".join([kind.__name__, *map(str, settings.values())]))
    for kind in agents()
    for settings in ({}, *MORE.get(kind.__name__, []))
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("kind", "settings"), WAYS)
def test_it_conforms(kind: type, settings: dict[str, Any]):
    report = check_agent(kind(**SETTINGS.get(kind.__name__, {}), **settings), samples=tried(kind), rounds=2)
    assert report.ok, str(report)


def tried(kind: type) -> tuple[Sample, ...]:
    """Samples to try an agent on: those who work backwards need the judgement that they work from."""
    judged = {"judgement": {"verdict": "A", "reason": "It leaves nothing out."}}
    return tuple(s.model_copy(update={"meta": judged}) for s in SAMPLES) if "Reverse" in kind.__name__ else SAMPLES


def plain(state: dict[str, Any]) -> dict[str, Any]:
    """As JSON brings it."""
    made = {**state, "sample": {name: value for name, value in state["sample"] if value != {}}}
    return made | ({"criteria": [one.model_dump() for one in state["criteria"]]} if "criteria" in state else {})


@pytest.mark.parametrize("kind", list(agents()), ids=lambda kind: kind.__name__)
async def test_a_sample_and_criteria_as_plain_mappings_are_taken_for_what_they_are(kind: type):
    agent = kind(**SETTINGS.get(kind.__name__, {}))
    state = state_of(agent, keys(agent)[0], tried(kind)[0], {})
    if "sample" not in state:
        return
    one, other = [agent(given) for given in (state, plain(state))]
    found = [await given if inspect.isawaitable(given) else given for given in (one, other)]
    assert found[0] == found[1]
    for wrong, said in (("a text", "is a str; write Sample("), ({"id": "1"}, "output: Field required; write Sample(")):
        try:
            given = agent({**state, "sample": wrong})
            got = await given if inspect.isawaitable(given) else given
        except ConfigError as error:
            got = str(error)
        assert got == found[0] or said in got  # some look at no sample here


def test_the_room_has_agents():
    assert len({param.values[0] for param in WAYS}) >= 17
