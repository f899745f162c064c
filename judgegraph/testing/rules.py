"""The rules of a check: what an agent is, what it writes, what holds of each call, what critics and assistants owe."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, get_type_hints

from pydantic import BaseModel

from judgegraph import registry
from judgegraph.errors import ConfigError, ScaleError, one_line
from judgegraph.registry.shipped import keys_of
from judgegraph.testing.conformance import (
    CRITERIA,
    PATIENCE,
    Breach,
    Conformance,
    Trial,
    annotated,
    demand,
    state_of,
    tried,
)
from judgegraph.testing.recording import plain
from judgegraph.testing.scripted import END, START, TEXTS, Answering, answered_by, ended
from judgegraph.tools import Assistant, Metric, assistant, find
from judgegraph.types import (
    Comparison,
    Correction,
    EvalState,
    Finding,
    Plan,
    Rectification,
    Sample,
    Scale,
    Score,
    Value,
    keyed,
)

# Whether an agent does the same twice.


def differences(first: Trial, again: Trial) -> Iterator[Breach]:
    """Of two runs with one state and one judge: other prompts, or another result."""
    if first.error is not None or again.error is not None:
        return
    prompts, others = (Counter(asked.key for asked in trial.asked) for trial in (first, again))
    if prompts != others:
        yield Breach("prompt-differs", "the same state was asked for in other words the second time", first.case)
    elif _plain(first.written) != _plain(again.written):
        yield Breach("not-deterministic", "the same state and replies gave another result", first.case)


def _plain(written: Any) -> Any:
    dumped = {key: _dumped(value) for key, value in written.items()}
    return plain(dumped)


def _dumped(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude={"id"})
    if isinstance(value, Mapping):
        return {key: _dumped(inner) for key, inner in value.items()}
    return [_dumped(inner) for inner in value] if isinstance(value, list | tuple) else value


# What an agent is, before it is called.


@dataclass(frozen=True)
class Declared:
    """Keys as annotated.

    Attributes:
        reads: key -> annotation; None where the state has no TypedDict. needs: those of them that must be there.
        writes: None where nothing is said.
    """

    reads: dict[str, Any] | None
    needs: tuple[str, ...]
    writes: frozenset[str] | None


def name_of(agent: Any) -> str:
    """What a report calls it."""
    return getattr(agent, "__name__", None) or type(agent).__name__


def declared(agent: Any) -> Declared:
    """What it reads and writes."""
    reads, writes = keys_of(agent)
    needs = tuple(key for key in reads or () if not key.endswith("?"))
    hints = None if reads is None else dict.fromkeys((key.rstrip("?") for key in reads), object) | _hints(agent)
    return Declared(hints, needs, None if writes is None else frozenset(key.rstrip("?") for key in writes))


def _hints(agent: Any) -> dict[str, Any]:
    call = agent if inspect.isroutine(agent) else type(agent).__call__
    found = get_type_hints(call, include_extras=True)
    first = next(name for name in inspect.signature(call).parameters if name != "self")
    return annotated(found.get(first))


def misshapen(agent: Any, keys: Declared) -> Iterator[Breach]:
    """Whether it is a frozen dataclass or a function that says what it reads and writes."""
    is_dataclass = dataclasses.is_dataclass(agent) and not isinstance(agent, type)
    if not callable(agent):
        yield Breach("shape", f"{name_of(agent)} cannot be called")
    elif not (is_dataclass or inspect.isroutine(agent) or isinstance(agent, partial)):
        yield Breach("shape", f"{name_of(agent)} is an object of a plain class")
    elif is_dataclass and not agent.__dataclass_params__.frozen:
        yield Breach("shape", f"the dataclass {name_of(agent)} is not frozen")
    if is_dataclass and dataclasses.replace(agent) != agent:
        yield Breach("not-equal", f"a copy of {name_of(agent)} is not equal to it")
    for what, held in (("state", keys.reads), ("return value", keys.writes)):
        if held is None and callable(agent):
            yield Breach("signature", f"the {what} of {name_of(agent)} is annotated with no TypedDict")


def advice(agent: Any, keys: Declared) -> Iterator[str]:
    """What is no breach and good to know."""
    try:
        hash(agent)
    except TypeError as error:
        yield f"it cannot be hashed ({error})"
    for key in sorted((keys.writes or frozenset()) - set(EvalState.__annotations__)):
        yield f"it writes '{key}', which is no key of EvalState: a graph with it needs a state of its own"


# What holds of every call of an agent, whatever the state and the judge.


def breaches(trial: Trial, keys: Declared, may_raise: bool) -> Iterator[Breach]:
    """Everything that one call shows by itself."""
    yield from _end(trial, may_raise)
    for key in sorted(trial.touched - set(keys.reads or ())):
        yield Breach("undeclared-read", f"it asks the state for '{key}'", trial.case)
    for key in sorted(map(str, set(trial.written) - (keys.writes or set(trial.written)))):
        yield Breach("undeclared-write", f"it writes '{key}'", trial.case)
    if trial.state_changed:
        yield Breach("mutates-state", "the state is another afterwards", trial.case)
    if trial.itself_changed:
        yield Breach("mutates-itself", "the agent is another afterwards", trial.case)
    if trial.leaked and not trial.hung:
        yield Breach("leaked-task", f"{trial.leaked} tasks go on after it has ended", trial.case)
    yield from written_badly(trial)
    yield from _strangers(trial)


def _end(trial: Trial, may_raise: bool) -> Iterator[Breach]:
    if trial.hung:
        yield Breach("hangs", "it did not end", trial.case)
    elif trial.error is not None and not may_raise:
        yield Breach("raises", error_line(trial.error), trial.case)
    elif trial.error is None and trial.result is not trial.written:
        yield Breach("undeclared-write", f"it returned a {type(trial.result).__name__}, no mapping", trial.case)


def _strangers(trial: Trial) -> Iterator[Breach]:
    """Rectifications of what nobody scored."""
    scores = trial.state.get("scores")
    if scores is None:
        return
    known = {score.criterion for score in values_in(scores) if isinstance(score, Score)}
    for value in values_in(trial.written):
        if isinstance(value, Rectification) and value.criterion not in known:
            yield Breach("unknown-criterion", f"it rectifies {value.criterion!r}, which has no score", trial.case)


# The runs of a check: an agent in a state with a judge; and states that lack a key.


class Hung(Exception):
    """A run did not end, so that no other is tried."""


@dataclass
class Runs:
    """What the runs of one check share; findings go to the report."""

    agent: Any
    keys: Declared
    report: Conformance
    own: Mapping[str, Any]
    samples: tuple[Sample, ...]
    rounds: int
    answer: Callable[[list[Any]], Any] | None
    works_bare: bool = True

    def state(self, sample: Sample | None = None) -> dict[str, Any]:
        """With all that may be there, of the first sample where none is given."""
        return state_of(self.agent, self.keys.reads or {}, sample or self.samples[0], self.own)

    def states(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(what it is, state) of each sample: with all that may be there, and with no more than must be."""
        return chain.from_iterable(map(self._states, self.samples))

    def _states(self, sample: Sample) -> Iterator[tuple[str, dict[str, Any]]]:
        whole = self.state(sample)
        yield f"sample '{sample.id}'", whole
        bare = self.bare(whole)
        if self.works_bare and bare.keys() != whole.keys():
            yield f"sample '{sample.id}' alone", bare

    def bare(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        """Without what it can miss."""
        return {key: value for key, value in whole.items() if key in self.keys.needs}

    def judge(self, way: str = "drawn", **settings: Any) -> Answering:
        """One that answers in this way."""
        return Answering(way=way, answer=self.answer, **settings)

    async def tried(self, state: dict[str, Any], model: Answering, case: str, *, may_raise: bool = False) -> Trial:
        """Call the agent once, and report what that shows by itself.

        Raises:
            Hung: it did not end.
        """
        trial = await tried(self.agent, state, model, case)
        self.report.runs += 1
        self.report.add(*breaches(trial, self.keys, may_raise))
        if trial.hung:  # the others would take as long
            raise Hung
        return trial


async def incomplete(runs: Runs) -> None:
    """States without optional keys, and without each that is required."""
    whole = runs.state()
    demand(name_of(runs.agent), runs.keys.needs, whole)
    trial = await runs.tried(runs.bare(whole), runs.judge(), "without optional keys", may_raise=True)
    if trial.error is not None:
        runs.works_bare = False
        runs.report.add(Breach("missing-optional", error_line(trial.error), trial.case))
    for key in runs.keys.needs:
        rest = {name: value for name, value in whole.items() if name != key}
        trial = await runs.tried(rest, runs.judge(), f"without '{key}'", may_raise=True)
        if trial.error is None:
            runs.report.note([f"it works without '{key}', which its state's annotation requires: NotRequired?"])
        elif key not in error_line(trial.error):
            runs.report.add(Breach("missing-required", f"without '{key}' it raises {error_line(trial.error)}"))


LACKING = ("source", "reference", "query", "rival")


async def assistant_checked(assistant: Assistant, samples: Sequence[Sample], ignore: tuple[str, ...]) -> Conformance:
    """Ask it of each sample, as it is and without each input, and of hostile texts; twice, for it says the same."""
    report = Conformance(assistant.name, ignored=ignore)
    if not str(assistant.about).strip():
        report.add(Breach("about", "its `about` is empty"))
    measured = False
    with suppress(Hung):
        for case, sample in _cases(samples):
            first, again = [await _asked(assistant, sample, case, report) for _ in range(2)]
            measured = measured or (first is not None and first.status == "ok")
            if first and again and first != again:
                difference = f"it said {first.value}, then {again.value}"
                report.add(Breach("not-deterministic", difference, case))
    if not measured and report.ok:
        report.note(["no sample of ours has what it reads; give samples=, or its values stay unchecked"])
    return report


def _cases(samples: Sequence[Sample]) -> Iterator[tuple[str, Sample]]:
    for sample in samples:
        yield f"sample '{sample.id}'", sample
        for key in LACKING:
            if getattr(sample, key):
                yield f"sample '{sample.id}' without {key}", sample.model_copy(update={key: _nothing(key)})
        bare = Sample(id=sample.id, output=sample.output)
        yield f"sample '{sample.id}' with an output alone", bare
    for name, text in TEXTS.items():
        every = {"output": text, "source": text, "query": text, "rival": text, "reference": text}
        yield f"hostile: {name}", samples[0].model_copy(update=every)


def _nothing(key: str) -> Any:
    return Sample.model_fields[key].get_default()


async def _asked(assistant: Assistant, sample: Sample, case: str, report: Conformance) -> Finding | None:
    """What a run would make of it; None of an error that ends a run."""
    given, own = sample.model_copy(deep=True), repr(assistant)
    report.runs += 1
    with answered_by(Answering()):
        task = asyncio.ensure_future(find(assistant, sample))
    if not await ended({task}, PATIENCE):
        task.cancel()
        report.add(Breach("hangs", "it did not end", case))
        raise Hung
    if sample != given:
        report.add(Breach("mutates-state", "the sample is another afterwards", case))
    if repr(assistant) != own:
        report.add(Breach("mutates-itself", "the assistant is another afterwards", case))
    if (error := task.exception()) is not None:
        report.add(Breach("raises", error_line(error), case))
        return None
    found = task.result()
    if found.status == "agent_error":
        report.add(Breach("no-measure", found.reason, case))
    return found


# What is wanted of an agent that reads scores and writes rectifications.


ELSEWHERE = "elsewhere"  # a stage that no agent has of its own


def is_critic(keys: Declared) -> bool:
    """By what it declares."""
    return "scores" in (keys.reads or {}) and "rectifications" in (keys.writes or ())


def unreviewed(agent: Any, keys: Declared, trial: Trial) -> Iterator[Breach]:
    """Of a good reply: scores under review without a rectification, and rectifications that say it wrong."""
    if not is_critic(keys) or trial.error is not None:
        return
    changes, drafts = _rectifications_of(trial), _under_review(agent, trial)
    asked = _criteria(agent, trial)
    whole = trial.state.keys() >= (keys.reads or {}).keys()  # where no key is missing, no criterion is
    lacking = {d.criterion for d in drafts if asked is None or d.criterion in asked} - {r.criterion for r in changes}
    if whole and lacking and not statuses(trial):
        listed = ", ".join(map(repr, sorted(lacking)))
        yield Breach("unreviewed", f"no rectification of {listed}, which has a score under review", trial.case)
    yield from _signed_and_directed(agent, changes, drafts, trial.case)


def _criteria(agent: Any, trial: Trial) -> set[str] | None:
    """Those that it reviews by; None where it knows none."""
    known = trial.state.get("criteria", getattr(agent, "criteria", None))
    return None if known is None else {getattr(one, "name", "") for one in known}


def _signed_and_directed(agent: Any, changes: list[Rectification], drafts: list[Score], case: str) -> Iterator[Breach]:
    name = getattr(agent, "name", None)
    for one in changes:
        if isinstance(name, str) and one.agent != name:
            yield Breach("other-name", f"its name is {name!r}, a rectification is by {one.agent!r}", case)
        values = [d.value for d in drafts if d.criterion == one.criterion and d.value is not None]
        if one.action == "change" and one.value is not None and values:
            lower, higher = one.value < min(values), one.value > max(values)
            if (one.direction == "up" and lower) or (one.direction == "down" and higher):
                change = f"{one.criterion}: {one.direction!r} from {min(values):g} to {one.value:g}"
                yield Breach("wrong-direction", change, case)


async def reviews(runs: Runs) -> None:
    """A critic that is told another stage, at which one criterion has a score; another has a draft."""
    agent = runs.agent
    if not is_critic(runs.keys) or "scores" in runs.own or not _has_stage(agent):
        return
    there, here = CRITERIA[0], CRITERIA[1]
    scores = [
        Score(criterion=c.name, agent="evaluator", stage=stage, value=c.scale.low, scale=c.scale, reason="Short.")
        for c, stage in ((there, "draft"), (here, ELSEWHERE))
    ]
    state = {**runs.state(), "scores": keyed(*scores)}
    trial = await tried(dataclasses.replace(agent, stage=ELSEWHERE), state, runs.judge(), f"stage={ELSEWHERE!r}")
    runs.report.runs += 1
    names = {r.criterion for r in _rectifications_of(trial)}
    if trial.error is not None:
        return
    if there.name in names:
        runs.report.add(Breach("other-stage", "it rectifies a score of the stage 'draft'", trial.case))
    elif (
        "unreviewed" not in runs.report.codes
        and here.name not in names
        and here.name in (_criteria(agent, trial) or {here.name})
    ):
        runs.report.add(Breach("other-stage", "it rectifies no score of that stage", trial.case))


def _has_stage(agent: Any) -> bool:
    fields = dataclasses.fields(agent) if dataclasses.is_dataclass(agent) else ()
    return any(field.name == "stage" and field.init for field in fields)


def _rectifications_of(trial: Trial) -> list[Rectification]:
    """Its own rectifications: not those that it was handed."""
    handed = [value for value in values_in(trial.state) if isinstance(value, Rectification)]
    return [v for v in values_in(trial.written) if isinstance(v, Rectification) and v not in handed]


def _under_review(agent: Any, trial: Trial) -> list[Score]:
    stage = getattr(agent, "stage", "draft")
    scores = [value for value in values_in(trial.state.get("scores", {})) if isinstance(value, Score)]
    return [score for score in scores if score.stage == stage and score.status == "ok"]


# What a check is given: an agent or an assistant, as it is, as a class or by its name.


GRAPH = "judgegraph.check looks at its wiring and its calls; what is checked here are its agents, one by one"


def assistant_of(which: Any) -> Assistant | None:
    """The assistant that this is, None where it is something else.

    Raises:
        ConfigError: no such name.
    """
    if isinstance(which, str):
        kind, name = registry.find(which)
        return assistant(name) if kind == "assistant" else None
    if inspect.isclass(which) and hasattr(which, "about") and hasattr(which, "name"):
        which = agent_of(which)
    if isinstance(getattr(which, "name", None), str) and hasattr(which, "about") and callable(which):
        return assistant(which)
    if inspect.isfunction(which) and _first_hint(which) is Sample:
        about = (inspect.getdoc(which) or "").partition("\n")[0]
        return Metric(name=which.__name__.replace("_", "-"), about=about, measure=which)
    return None


def agent_of(which: Any) -> Any:
    """An agent of its name or its class.

    Raises:
        ConfigError: it cannot be made without settings, or is a graph or what builds one.
    """
    if isinstance(which, str):
        kind, name = registry.find(which)
        if kind == "method":
            raise ConfigError(f"check_agent: '{one_line(which, 80)}' is a method: {GRAPH}")
        thing = registry.load(kind, name)
        which = thing if inspect.isclass(thing) or registry.is_made(thing) else registry.make(kind, name)
    if hasattr(which, "builder") or hasattr(which, "compile"):
        raise ConfigError(f"check_agent: {type(which).__name__} is a graph: {GRAPH}")
    if not isinstance(which, type):
        return which
    try:
        return which()
    except Exception as error:
        why = f"{type(error).__name__}: {one_line(error)}"
        raise ConfigError(f"check_agent: {which.__name__}() fails ({why}); give an agent with its settings") from error


def _first_hint(function: Any) -> Any:
    try:
        hints = get_type_hints(function)
    except Exception:  # whatever stands in a user's annotations
        return None
    names = list(inspect.signature(function).parameters)
    return hints.get(names[0]) if names else None


# What an agent writes: judged text inside sections of its prompts, results on keys and scales.


_SECTION = re.compile(r"<([A-Za-z_]+)-([0-9a-f]{6,64})>(.*?)</\1-\2>", re.S)


def texts_of(trial: Trial) -> Iterator[str]:
    """What was sent to the judge; what it said itself is not looked at."""
    for asked in trial.asked:
        for message in asked.messages:
            if message["role"] in ("system", "human", "user") and isinstance(message["content"], str):
                yield message["content"]


def sections(trial: Trial) -> set[tuple[str, str]]:
    """(tag, code) of every section of every prompt."""
    return {(match[1], match[2]) for text in texts_of(trial) for match in _SECTION.finditer(text)}


def open_sections(trial: Trial, whose: str = "judged text stands") -> Iterator[Breach]:
    """A hostile text that stands outside of every section, whole or behind a tag that it closed."""
    for text in texts_of(trial):
        rest = _SECTION.sub(" ", text)
        for mark in (START, END):
            if mark in rest:
                before = rest[: rest.index(mark)].rstrip()[-60:]
                yield Breach("open-section", f"{whose} outside of any section, after {before!r}", trial.case)
                return


def shows(trial: Trial) -> bool:
    """Whether judged text is in any prompt."""
    return any(START in text for text in texts_of(trial))


# What an agent wrote: JSON, under its own keys, on its scales, and no answer that nobody gave.


def written_badly(trial: Trial) -> Iterator[Breach]:
    """Whatever is wrong with the values themselves."""
    for key, value in trial.written.items():
        yield from (Breach("not-json", text, trial.case) for text in _unfit(value, str(key)))
        yield from (Breach("wrong-key", text, trial.case) for text in _misplaced(value, str(key)))
    for value in values_in(trial.written):
        if isinstance(value, Score | Rectification) and (why := _off(value, trial)):
            yield Breach("off-scale", f"{value.key}: {why}", trial.case)


def claims(trial: Trial) -> Iterator[Breach]:
    """Answers among what was written in spite of a judge that gave none; what it was handed and hands on is none."""
    handed = {_text(value) for value in values_in(trial.state)}
    for value in values_in(trial.written):
        if _answers(value) and _text(value) not in handed:
            yield Breach("failure-scored", f"a {type(value).__name__} says {_words_of(value)}", trial.case)
    for key in ("overall", "verdict"):
        if trial.written.get(key) is not None and trial.written[key] != trial.state.get(key):
            yield Breach("failure-scored", f"{key} is {trial.written[key]!r}", trial.case)


def values_in(value: Any) -> Iterator[Value]:
    """Every value of ours in mappings and lists."""
    if isinstance(value, Value):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from values_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from values_in(inner)


def _answers(value: Value) -> bool:
    if getattr(value, "status", "") != "ok":
        return False
    if isinstance(value, Score):  # "plain": a metric's, whom no judge was asked for
        return value.reader != "plain"
    if isinstance(value, Comparison):
        return value.verdict is not None
    return isinstance(value, Rectification | Plan | Finding) or (isinstance(value, Correction) and bool(value.text))


def _words_of(value: Value) -> str:
    names = ("criterion", "action", "value", "label", "verdict", "text", "assistant")
    return ", ".join(f"{n}={getattr(value, n)!r:.60}" for n in names if getattr(value, n, None) is not None)


def _text(value: Value) -> str:
    return f"{type(value).__name__} {value!r}"


def scale_of(value: Score | Rectification, trial: Trial) -> Scale | None:
    """A score's own, a rectification's that of the score."""
    if isinstance(value, Score):
        return value.scale
    scores = [s for s in values_in(trial.state.get("scores", {})) if isinstance(s, Score)]
    return next((s.scale for s in scores if s.criterion == value.criterion and s.scale), None)


def statuses(trial: Trial) -> list[str]:
    """Those of failures, among what was written."""
    found = [getattr(value, "status", "ok") for value in values_in(trial.written)]
    return [status for status in found if status != "ok"]


def _off(value: Score | Rectification, trial: Trial) -> str:
    """Why an answer is not on its scale."""
    scale = scale_of(value, trial)
    try:
        if scale is not None and value.value is not None:
            scale.check(value.value)
        if scale is not None and value.label is not None:
            scale.check_label(value.label)
    except ScaleError as error:
        return str(error)
    return ""


def _misplaced(value: Any, path: str) -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        own = getattr(inner, "key", None) if isinstance(inner, Value) else None
        if own is not None and own != key:
            yield f"{path}[{key!r}] holds a {type(inner).__name__} whose key is {own!r}"


def _unfit(value: Any, path: str) -> Iterator[str]:
    """Why JSON, UTF-8 and back does not give the same."""
    if isinstance(value, BaseModel):
        try:
            text = value.model_dump_json()
            if isinstance(value, Value) and type(value).model_validate_json(text) != value:
                yield f"{path} is another after JSON and back"
        except Exception as error:  # whatever a stranger's model raises
            yield f"{path} cannot be written: {type(error).__name__}: {error}"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                yield f"{path} has the key {key!r}, which is no text"
            yield from _unfit(inner, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _unfit(inner, f"{path}[{index}]")
    else:
        yield from _unfit_scalar(value, path)


def _unfit_scalar(value: Any, path: str) -> Iterator[str]:
    if not (value is None or isinstance(value, bool | int | float | str)):
        yield f"{path} is a {type(value).__name__}"
        return
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as error:
        yield f"{path} cannot be written: {error}"


# The errors within an error: a task group raises what its tasks raised in a group.


def leaves(error: BaseException) -> Iterator[BaseException]:
    """What a group holds, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def error_line(error: BaseException) -> str:
    """Kind and text of each."""
    return "; ".join(f"{type(one).__name__}: {one}" for one in leaves(error))
