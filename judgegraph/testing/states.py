"""States to try an agent in: a value for every key of the shared vocabulary."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

import typing_extensions
from typing_extensions import get_type_hints, is_typeddict

from judgegraph.agents.judge import aspect_stage
from judgegraph.errors import ConfigError
from judgegraph.types import (
    Comparison,
    Correction,
    Criterion,
    Finding,
    Note,
    Plan,
    Rectification,
    Sample,
    Scale,
    Score,
    Suggestion,
    keyed,
)

CRITERIA = (
    Criterion(name="Clarity", definition="How easily it is understood.", steps=("Read it.", "Say what is unclear.")),
    Criterion(name="Facts and/or figures", definition="Whether the source says so.", scale=Scale.of("0-1 any")),
    Criterion(name="Tone", definition="How it sounds.", scale=Scale(labels=("friendly", "neutral", "rude"))),
)
SAMPLES = (
    Sample(
        id="text", query="Summarise the notice.",
        source="The library opens at nine and closes at six. On Sundays it is closed.",
        output="The library is open from nine to six, but not on Sundays.", rival="The library is always open.",
        reference="Open nine to six, closed on Sundays.", human={"Clarity": 4, "Tone": ["neutral", "friendly"]},
    ),
    Sample(id="json", output={"title": "A survey", "questions": [{"id": "q1", "text": "How old are you?"}]}),
)  # fmt: skip
_MISSING = object()


def state_of(agent: Any, keys: Mapping[str, Any], sample: Sample, own: Mapping[str, Any]) -> dict[str, Any]:
    """A value for each of these keys: from `own`, the vocabulary, or the key's type; a key of neither is left out.

    Args:
        keys: key -> annotation.
    """
    held = {**_vocabulary(agent, sample), **own, "sample": own.get("sample", sample)}
    found = {key: held.get(key, _of_type(hint)) for key, hint in keys.items()}
    return {key: value for key, value in found.items() if value is not _MISSING}


def demand(agent: str, keys: Sequence[str], state: Mapping[str, Any]) -> None:
    """Refuse a state that lacks a required key."""
    if lacking := [key for key in keys if key not in state]:
        listed = ", ".join(map(repr, lacking))
        raise ConfigError(
            f"check_agent: {agent} reads {listed}, for which no value can be invented; give state={{...}}"
        )


def annotated(schema: Any) -> dict[str, Any]:
    """Key -> annotation of a TypedDict; empty for anything else."""
    return get_type_hints(schema, include_extras=True) if is_typeddict(schema) else {}


def scores_of(agent: Any, reason: str = "It reads well.") -> dict[str, Score]:
    """Drafts, finals and those at the agent's own stage, by an evaluator and a judge; of aspects; some that failed."""
    stages = dict.fromkeys(("draft", "final", str(getattr(agent, "stage", "draft"))))
    names = dict.fromkeys(("judge", "evaluator", str(getattr(agent, "judge_name", "judge"))))
    lost = [
        Score(criterion=c.name, agent="lost", stage=s, status="refused", reason="the model refused", scale=c.scale)
        for s in stages for c in CRITERIA[:2]
    ]  # fmt: skip
    given = [_score(c, name, stage, reason) for stage in stages for name in names for c in CRITERIA]
    aspects = [_score(a, "rater", aspect_stage(target), reason) for target, chain in _aspects().items() for a in chain]
    return keyed(*lost, *aspects, *given)


def _score(criterion: Criterion, agent: str, stage: str, reason: str) -> Score:
    about: dict[str, Any] = {"criterion": criterion.name, "agent": agent, "stage": stage, "scale": criterion.scale}
    if criterion.scale.labels:
        return Score(**about, label=criterion.scale.labels[1], reason=reason, reader="stated")
    low, high = criterion.scale.low or 0.0, criterion.scale.high or 1.0
    middle = (low + high) / 2
    shares = {f"{low:g}": 0.5, f"{high:g}": 0.5}
    return Score(**about, value=middle, reason=reason, distribution=shares, unseen=0.0, reader="logprobs")


def _aspects() -> dict[str, list[Criterion]]:
    chain = [Criterion(name=name, definition=f"How much {name.lower()} it has.") for name in ("Order", "Care")]
    return {criterion.name: chain for criterion in CRITERIA}


def _vocabulary(agent: Any, sample: Sample) -> dict[str, Any]:
    """The keys of EvalState, and those that agents of ours pass among themselves."""
    verdicts = [Rectification(criterion=c.name, agent="sage", reason="Agreed.") for c in CRITERIA]
    about: dict[str, Any] = {"criterion": CRITERIA[0].name, "agent": "comparer", "verdict": "A"}
    return {
        "sample": sample, "criteria": list(CRITERIA), "criterion": CRITERIA[0], "task": "a notice",
        "scores": scores_of(agent), "rectifications": keyed(*verdicts), "aspects": _aspects(),
        "suggestions": [Suggestion(kind="criterion", criterion="Length", definition="How long it is.", agent="sage")],
        "branches": {f"{c.name}/criteria-writer": c for c in CRITERIA}, "guidelines": {CRITERIA[0].name: "5: clear."},
        "plan": Plan(text="Read first.", alignment={CRITERIA[0].name: ("rouge-l",)}, usage={"rouge-l": "overlap"}),
        "findings": {
            "rouge-l": Finding(assistant="rouge-l", value=0.25),
            "chrf": Finding(assistant="chrf", status="agent_error", reason="no reference"),
        },
        "comparisons": keyed(Comparison(**about, score_a=4.0, score_b=2.0), Comparison(**about, order="BA")),
        "corrections": {"output": Correction(text="Better.", original="Good.", criteria=(CRITERIA[0].name,))},
        "overall": 3.5, "verdict": "A", "notes": keyed(Note(agent="evaluator", text="one reply was left out")),
    }  # fmt: skip


def _of_type(hint: Any) -> Any:
    """A value of a plain type; `_MISSING` for others."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Annotated, NotRequired, Required, typing_extensions.Annotated):
        return _of_type(inner[0])
    if origin is Literal:
        return inner[0]
    if origin in (Union, types.UnionType):
        return None if type(None) in inner else _of_type(inner[0])
    kind = origin or hint
    plain: dict[Any, Any] = {str: "a text", bool: False, int: 1, float: 0.5, list: [], dict: {}, tuple: (), set: set()}
    plain |= {Sequence: [], Mapping: {}}
    return plain.get(kind, _MISSING)


# A state that remembers which keys were asked of it.


class Watched(dict[str, Any]):
    """A plain state to whoever reads it; `touched` are the keys that were asked for by name, there or not."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self.touched: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.touched.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.touched.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.touched.add(str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # all that is there, which is what was declared
