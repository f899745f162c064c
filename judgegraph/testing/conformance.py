"""What a check of an agent found, one watched call of that agent, and the states that it is tried in."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import inspect
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

import typing_extensions
from typing_extensions import get_type_hints, is_typeddict

from judgegraph.agents.judge import aspect_stage
from judgegraph.errors import ConfigError, counted, one_line
from judgegraph.testing.recording import Asked
from judgegraph.testing.scripted import Answering, answered_by, ended
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

CODES: dict[str, str] = {  # code -> what an agent that conforms does
    "shape": "is a frozen dataclass or a function, and can be called",
    "signature": "annotates its state and its return value with a TypedDict each",
    "not-equal": "equals another of the same settings",
    "undeclared-read": "reads only keys that its state's annotation declares",
    "undeclared-write": "returns a mapping with keys that its return annotation declares",
    "mutates-state": "leaves the state as it was",
    "mutates-itself": "leaves itself as it was",
    "not-json": "returns values that JSON can hold and give back",
    "wrong-key": "puts a value under its own key, by `keyed`",
    "off-scale": "writes no number or label that is not on its scale",
    "clamped": "writes a status for an answer off the scale, and moves none onto it",
    "failure-scored": "writes a status, never an answer, where the judge gave none; a score that no judge gives, "
    "whose reason alone a judge words, has reader='plain'",
    "failure-vanishes": "writes, where a good reply would have been an entry, one with a status, or a note",
    "config-swallowed": "lets jg.ConfigError pass: jg.AuthError, one of them, would meet every sample alike",
    "unknown-criterion": "rectifies only criteria that have a score",
    "unreviewed": "rectifies every score under review, by a status where it can say nothing",
    "other-name": "signs its rectifications by its own `name`, by which they are looked for",
    "other-stage": "reviews the scores of its own `stage`, and no others",
    "wrong-direction": "says 'up' of a higher value and 'down' of a lower one",
    "raises": "ends without an error, whatever the judge does",
    "hangs": "ends in time",
    "not-deterministic": "writes the same for the same state and replies",
    "prompt-differs": "asks the same for the same state, so that a ledger knows the call again",
    "open-section": "shows judged text, and what a judge said of it, only in a section that the text cannot close",
    "cancellation": "ends at once when it is cancelled",
    "leaked-task": "leaves no task behind",
    "about": "says in `about` what it measures, on what range: a planner knows no more of it",
    "no-measure": "gives a finite number or a Finding, and raises judgegraph.tools.Unmeasurable where it cannot",
    "missing-optional": "works without the keys that it declares as NotRequired",
    "missing-required": "names the key that is missing",
}


@dataclass(frozen=True)
class Breach:
    """One thing that an agent does and should not.

    Attributes:
        code: of `CODES`. message: what was seen. case: in which state, with which judge.
    """

    code: str
    message: str
    case: str = ""

    def __str__(self) -> str:
        where = f" [{self.case}]" if self.case else ""
        return f"{self.code}: {one_line(self.message, 400)}{where}; an agent that conforms {CODES[self.code]}"


@dataclass
class Conformance:
    """The report of `check_agent`; printed, it lists what was found.

    Attributes:
        agent: its class's name. findings: one per code and message, with the first case that showed it.
        notes: what could not be checked, and advice. runs: how often the agent was called.
    """

    agent: str
    findings: list[Breach] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    runs: int = 0
    ignored: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Nothing was found."""
        return not self.findings

    @property
    def codes(self) -> set[str]:
        """The codes that were found."""
        return {finding.code for finding in self.findings}

    def add(self, *found: Breach) -> None:
        """Keep findings, each of one message once."""
        known = {(finding.code, finding.message) for finding in self.findings}
        for one in found:
            if one.code not in self.ignored and (one.code, one.message) not in known:
                self.findings.append(one)
                known.add((one.code, one.message))

    def note(self, texts: Iterable[str]) -> None:
        """Keep notes, each once."""
        self.notes += [text for text in dict.fromkeys(texts) if text not in self.notes]

    def __str__(self) -> str:
        end = "conforms" if self.ok else f"{counted(len(self.findings), 'finding')}"
        lines = [f"{self.agent}: {end} ({counted(self.runs, 'run')})", *(f"- {finding}" for finding in self.findings)]
        return "\n".join([*lines, *(f"  note: {one_line(note, 400)}" for note in self.notes)])


# One call of an agent, watched: what it read, wrote, asked, changed and left behind.


PATIENCE = 20.0  # seconds that one call of an agent may use or spend idle: its judge answers at once
LEAVING = 2.0  # seconds for a task that is cancelled


@dataclass
class Trial:
    """What came of it.

    Attributes:
        result: what the agent returned, of a Command its update. error: what it raised instead.
        asked: the requests it made. touched: keys that it asked the state for.
    """

    case: str
    state: dict[str, Any]
    result: Any = None
    error: BaseException | None = None
    asked: list[Asked] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    hung: bool = False
    leaked: int = 0
    state_changed: bool = False
    itself_changed: bool = False

    @property
    def written(self) -> Mapping[str, Any]:
        """What it wrote; nothing where it raised or returned no mapping."""
        return self.result if isinstance(self.result, Mapping) else {}


async def tried(agent: Any, state: dict[str, Any], model: Answering, case: str) -> Trial:
    """Call the agent once."""
    trial = Trial(case, state)
    given, watched, before = copy.deepcopy(state), Watched(state), repr(agent)
    known = asyncio.all_tasks()
    asked = with_judge(agent, model)
    own = repr(asked)
    with answered_by(model):
        task = asyncio.ensure_future(called(asked, watched))
        trial.hung = not await ended({task}, PATIENCE)
        if not trial.hung:
            trial.error = _error(task)
            trial.result = _update(task.result()) if trial.error is None else None
        trial.leaked = await left_behind(known)
    trial.asked, trial.touched = list(model.asked), watched.touched
    trial.state_changed = dict(watched) != given or state != given
    trial.itself_changed = repr(asked) != own or repr(agent) != before
    return trial


def _error(task: asyncio.Future[Any]) -> BaseException | None:
    return asyncio.CancelledError("it cancelled itself") if task.cancelled() else task.exception()


def with_judge(agent: Any, model: Answering) -> Any:
    """The agent with this judge, where it has a setting of that name: it may ask it without our door."""
    if not dataclasses.is_dataclass(agent) or isinstance(agent, type):
        return agent
    settable = {f.name for f in dataclasses.fields(agent) if f.init}
    return dataclasses.replace(agent, judge=model) if "judge" in settable else agent


async def called(agent: Any, state: Watched) -> Any:
    """A plain function is called in a thread, as LangGraph does."""
    call = agent if inspect.isroutine(agent) else type(agent).__call__
    result = agent(state) if inspect.iscoroutinefunction(call) else await asyncio.to_thread(agent, state)
    return await result if inspect.isawaitable(result) else result


async def left_behind(known: set[asyncio.Task[Any]]) -> int:
    """How many tasks were started and go on; they are ended."""
    for _ in range(5):
        await asyncio.sleep(0)
    left = [task for task in asyncio.all_tasks() - known if not task.done()]
    for task in left:
        task.cancel()
    if left:
        await ended(left, LEAVING)
    return len(left)


def _update(result: Any) -> Any:
    """What a node writes: a `Command` carries it as its update."""
    update = getattr(result, "update", None)
    is_command = type(result).__name__ == "Command" and not isinstance(result, Mapping)
    return (update or {}) if is_command else {} if result is None else result


# States to try an agent in: a value for every key of the shared vocabulary.


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
