"""Every agent, critic, method and helper in use, found by the registry's tables and the agents' room."""

import asyncio
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any

import judgegraph as jg
import judgegraph.agents
from judgegraph import registry
from judgegraph.agents.panel import PanelRole
from judgegraph.agents.sage import Sage
from judgegraph.evidence import Turn
from judgegraph.graphs.sageval import sageval
from judgegraph.registry.shipped import AGENTS, CRITICS, METHODS, PEER_METHODS
from judgegraph.tools import assistants

ABOUT = {"rouge-l": "words shared with another text", "chrf": "characters shared", "said": "what another judge says"}
TOOL = {"type": "function", "function": {"name": "rouge-l", "description": "overlap", "parameters": {"type": "object"}}}
NEEDED: dict[str, dict[str, Any]] = {  # settings of those that have none by default
    "gate": {"node": "evaluator", "when": "wide"},
    "panel": {"judges": ["g-eval", "evaluator"]},
    "jury": {"jurors": {"strict": "You look for what is wrong.", "kind": "You look for what is right."}, "debate": 1},
    "Planner": {"assistants": ABOUT},
    "FusionJudge": {"assistants": ABOUT},
    "Blend": {"ranges": {"rouge-l": (0, 1), "chrf": (0, 100)}},
    "Consultant": {"tools": [TOOL]},
    "PanelRole": {"name": "editor", "role": "edits for wording."},
}
ELSEWHERE = ("Person",)  # asks nobody's model
MORE: dict[str, list[dict[str, Any]]] = {
    "sage": [{"calls": "three"}, {"cot": True}],
    "evaluator": [{"cot": True}],
    "scorer": [{"reply": "text"}],
    "proposer": [{"reply": "text", "prompt": "propose_text"}],
    "criteria-writer": [{"reply": "text"}],
    "Judge": [{"reply": "text"}, {"of": "rival"}],
    "Comparer": [{"orders": "both"}, {"reply": "text"}],
    "fennec": [{"reply": "text"}, {"orders": "both"}, {"mode": "apart"}],
    "coascore": [
        {"reply": "text"},
        {"scores": "none"},
        {"scores": "random"},
        {"fuse": "average"},
        {"chain": "inter", "criteria": "general"},
    ],
    "sageval": [
        *({"critic": name} for name in CRITICS if name != "sage"),
        {"cot": True},
        {"cot": True, "critic_calls": "three"},
    ],
    "fusion-eval": [{"consult": "all"}, {"plan": False}, {"fuse": "selected", "direct": "llm-score"}],
    "g-eval": [{"reply": "form"}, {"logprobs": False, "samples": 2}],
    "llm-score": [{"cot": True}],
    "checkeval": [{"more": "both", "sift": True}],
    "chateval": [{"speaking": "summarized"}],
    "mateval": [{"reply": "text"}],
    "Listener": [{"reply": "text"}],
}
Maker = Callable[[Any], Any]  # judge -> an agent or a graph


def _room() -> Iterator[tuple[str, Maker]]:
    """Agents that no table names."""
    named = {target.rpartition(":")[2] for target in (*AGENTS.values(), *CRITICS.values())}
    for module in pkgutil.iter_modules(judgegraph.agents.__path__):
        room = importlib.import_module(f"judgegraph.agents.{module.name}")
        for name, kind in vars(room).items():
            mine = inspect.isclass(kind) and kind.__module__ == room.__name__ and is_dataclass(kind)
            if mine and hasattr(kind, "stage" if name == "PanelRole" else "name") and name not in (*named, *ELSEWHERE):
                for more in ({}, *MORE.get(name, [])):
                    settings = {**NEEDED.get(name, {}), **more}
                    yield titled(name, more), lambda judge, kind=kind, s=settings: kind(**s, **_judge(kind, judge))


def _judge(kind: type, judge: Any) -> dict[str, Any]:
    return {"judge": judge} if "judge" in inspect.signature(kind).parameters else {}


def titled(name: str, settings: dict[str, Any]) -> str:
    return "-".join([name, *(f"{value}" for value in settings.values())])


def _tables() -> Iterator[tuple[str, Maker]]:
    for kind, table in (("agent", AGENTS), ("critic", CRITICS), ("method", {**METHODS, **PEER_METHODS})):
        for name in table:
            for more in ({}, *MORE.get(name, [])):
                settings = {**NEEDED.get(name, {}), **more}
                made = lambda judge, k=kind, n=name, s=settings: registry.make(k, n, s, judge=judge)  # noqa: E731
                yield f"{kind}/{titled(name, more)}", made


def _helpers() -> Iterator[tuple[str, Maker]]:
    """What makes one node: over models that may have written their criteria, too."""
    always = lambda _: True  # noqa: E731
    yield "jg.panel", lambda j: jg.panel(j, "g-eval", "sageval", judge=j, criteria="forms")
    yield "jg.panel-vote", lambda j: jg.panel("llm-score", "coascore", judge=j, combine="vote")
    yield "jg.each", lambda j: jg.each("g-eval", judge=j)
    yield "jg.each-critic", lambda j: jg.each(Sage(judge=j))
    for critic in CRITICS:
        yield f"jg.critique-{critic}", lambda j, c=critic: jg.critique(c, judge=j)
        yield f"jg.refine-{critic}", lambda j, c=critic: jg.refine(c, rounds=2, judge=j)
    yield "jg.critique-when", lambda j: jg.critique("sage", judge=j, when=always)
    yield "jg.critique-panel-role", lambda j: jg.critique(PanelRole(name="editor", role="edits.", judge=j))
    yield "jg.gate", lambda j: jg.gate("critic-panel", always, judge=j)
    yield "jg.escalate", lambda j: jg.escalate(j, "llm-score", when=always, judge=j)
    yield "jg.escalate-each", lambda j: jg.escalate(j, "g-eval", when=always, judge=j, each=True)
    yield "jg.escalate-fennec", lambda j: jg.escalate("fennec", "g-eval", when=always, judge=j)
    yield "jg.metric_node", lambda j: jg.metric_node("rouge-l", "chrf")
    yield (
        "jg.as_assistant",
        lambda j: registry.make(
            "method", "fusion-eval", judge=j,
            assistants=assistants([jg.as_assistant(sageval(j, criteria="forms"), about="a judge"), "rouge-l"]),
        ),
    )  # fmt: skip


PARTS: dict[str, Maker] = dict([*_tables(), *_room(), *_helpers()])
PARTS["agent/escalate"] = lambda judge: registry.make(
    "agent", "escalate", cheap=judge, strong="g-eval", when=lambda _: True, judge=judge
)
SILENT = {  # ask no model
    "agent/rectify", "agent/merge", "agent/consensus", "Consensus", "Blend", "jg.metric_node", "Average", "RandomRater",
    "OrderMerge", "YesShare",
}  # fmt: skip


def _with_steps(sample: Any) -> Any:
    """A run that says what the sample's output and source say."""
    turns = [Turn(role="assistant", content=str(sample.output)), Turn(role="tool", content=str(sample.source))]
    return sample.model_copy(update={"turns": (*turns, Turn(role="assistant", content="Done."))})


WITHOUT = {"agent/criteria-writer": "criteria", "agent/criteria-writer-text": "criteria"}  # else it writes none


async def ran(part: Any, state: dict[str, Any], name: str = "") -> Any:
    """What a part writes for a state: an agent, plain or not, or a graph."""
    state = {key: value for key, value in state.items() if key != WITHOUT.get(name)}
    if name in ("GuidelineWriter", "ReverseGuidelineWriter"):
        state["criterion"] = state["criterion"].model_copy(update={"guideline": None})
    if name in ("StepJudge", "RunJudge", "FaultSearch"):
        state |= {"sample": _with_steps(state["sample"]), "step": 1}
    if hasattr(part, "ainvoke"):
        return await part.ainvoke(state)
    if inspect.iscoroutinefunction(type(part).__call__):
        return await part(state)
    return await asyncio.to_thread(part, state)


__all__ = ["PARTS", "SILENT", "ran"]
