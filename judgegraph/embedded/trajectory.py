"""Faults of form in an agent's run, as its numbered steps show them; whether a step was wise is not seen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from typing import Any

from judgegraph.embedded.leaves import At, Leaf, among, label, number, pick, sentence
from judgegraph.embedded.text import content

_HEAD = re.compile(r"^\[(\d+)\] (.*)$")
_CALL = re.compile(r"^(?P<who>.+?) calls (?P<name>\S+)(?: \((?P<id>[^()]*)\))?: (?P<args>.*)$", re.S)
_SAID = re.compile(r"^(?P<who>[^:\n]*?)(?P<error>, error)?: (?P<text>.*)$", re.S)
_ERROR = re.compile(
    r"\A\W*(?:error|exception|traceback|failed|failure|fatal)\b|\b(?:HTTP|status|code)[ :=]*[45]\d\d\b|"
    r"\b(?:timed? ?out|permission denied|not found|unavailable|exception|traceback)\b",
    re.I,
)
_BAD_ARGUMENT = re.compile(
    r"invalid|missing|required|unexpected|validation|no such|unknown|must be|misspel|TypeError|KeyError|ValueError",
    re.I,
)
_BAD_TOOL = re.compile(
    r"(?:no|unknown|not a valid|unrecogni[sz]ed|invalid) (?:such )?tool|"
    r"tool\b.{0,40}\bnot (?:found|available|valid)",
    re.I,
)
_ADMITS = re.compile(
    r"fail|error|could(?: not|n't)|cannot|can't|unable|sorry|problem|misspel|wrong|again|retry|instead|did not work|"
    r"unavailable|not found|no result|without",
    re.I,
)
ALIKE = 0.7  # of 1: arguments of a second attempt are spelt like those of the first
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_NAME = re.compile(r"\b[A-Z][\w-]{2,}\b")
_TYPES: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass
class Step:
    """A step as its lines show it."""

    number: int
    role: str = ""
    name: str = ""
    text: str = ""
    failed: bool = False
    calls: list[tuple[str, Any, str]] = field(default_factory=list)  # name, arguments, id
    answers: str = ""  # of a tool's result: the id of the call

    @property
    def is_agents(self) -> bool:
        """Whether an agent took it."""
        return self.role not in ("user", "human", "system", "tool", "function")


@dataclass(frozen=True)
class Fault:
    """What is wrong with a step, and what tells it; how far the run mended it."""

    kind: str
    note: str
    mended: bool = False


@lru_cache(maxsize=32)
def steps_in(section: str) -> tuple[Step, ...]:
    """The steps of a section; a line that is no head goes on with the one before it."""
    blocks: list[tuple[int, str]] = []
    for line in section.splitlines():
        if match := _HEAD.match(line):
            blocks.append((int(match[1]), match[2]))
        elif blocks:
            number, text = blocks[-1]
            blocks[-1] = (number, f"{text}\n{line.removeprefix('    ')}")
    steps: dict[int, Step] = {}
    for number, text in blocks:
        step = steps.setdefault(number, Step(number))
        called = _CALL.match(text) if " calls " in text.partition(":")[0] else None
        if called:
            step.calls.append((called["name"], _parsed(called["args"]), called["id"] or ""))
            _who(step, called["who"])
        elif said := _SAID.match(text):
            step.text, step.failed = said["text"], bool(said["error"])
            _who(step, said["who"])
    return tuple(steps.values())


def _who(step: Step, who: str) -> None:
    head, _, rest = who.strip().removesuffix(" thinks").partition(" (")
    step.role, _, step.name = head.partition(" ")
    step.answers = rest.removesuffix(")")
    if step.role in ("tool", "function") and not step.failed:
        step.failed = _ERROR.search(step.text[:300]) is not None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def tools_in(facts: str) -> dict[str, dict[str, Any]]:
    """Definitions of the tools that were offered, by name; {} where the facts name none."""
    at = facts.find("tools: ")
    if at < 0:
        return {}
    try:
        listed, _ = json.JSONDecoder().raw_decode(facts[at + len("tools: ") :])
    except (ValueError, RecursionError):
        return {}
    found = {}
    for one in listed if isinstance(listed, list) else []:
        inner = one.get("function", one) if isinstance(one, Mapping) else {}
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            found[inner["name"]] = dict(inner)
    return found


def faults_of(steps: Sequence[Step], query: str, tools: Mapping[str, Mapping[str, Any]]) -> dict[int, Fault]:
    """Number of a step -> its fault, of the agent's steps that have one."""
    found: dict[int, Fault] = {}
    for at, step in enumerate(steps):
        if step.is_agents:
            fault = (
                _tool_fault(steps, at, query, tools) or _argument_fault(steps, at, query, tools)
                or _repeated(steps, at) or _ignored(steps, at) or _unsupported(steps, at, query)
            )  # fmt: skip
            if fault:
                found[step.number] = fault
    return found


def decisive(found: Mapping[int, Fault]) -> int | None:
    """The earliest step whose fault the run did not mend; None where there is none."""
    return min((number for number, fault in found.items() if not fault.mended), default=None)


def _before(steps: Sequence[Step], at: int, query: str) -> str:
    """All that could be known at a step: the request, and what was said and returned before."""
    said = [query]
    for step in steps[:at]:
        said.append(step.text)
        said += [json.dumps(args, ensure_ascii=False, default=str) for _, args, _ in step.calls]
    return "\n".join(said)


def _result_of(steps: Sequence[Step], at: int, id: str, name: str) -> Step | None:
    for step in steps[at + 1 :]:
        if step.role in ("tool", "function") and (
            step.answers == id if id and step.answers else step.name in (name, "")
        ):
            return step
    return None


def _tool_fault(steps: Sequence[Step], at: int, query: str, tools: Mapping[str, Mapping[str, Any]]) -> Fault | None:
    for call in steps[at].calls:
        name, _, id = call
        result = _result_of(steps, at, id, name)
        if result is not None and result.failed and _BAD_TOOL.search(result.text):
            return Fault("wrong tool", f"the tool {name} is not known", _mended(steps, at, call, other=True))
        if not tools:
            continue
        if name not in tools:
            return Fault("wrong tool", f"the tool {name} is not offered", _mended(steps, at, call, other=True))
        wanted = _words(f"{query} {steps[at].text}")
        own = _fit(wanted, name, tools[name])
        best = max(tools, key=lambda one: _fit(wanted, one, tools[one]))
        if own == 0 and _fit(wanted, best, tools[best]) >= 2 and not _called(steps, at, best):
            return Fault("wrong tool", f"{name} shares no word with what is asked, {best} does")
    return None


def _words(text: str) -> set[str]:
    return {word[:5] for word in content(re.findall(r"\w+", text.replace("_", " ").lower()))}


def _fit(wanted: set[str], name: str, tool: Mapping[str, Any]) -> int:
    return len(wanted & _words(f"{name} {tool.get('description') or ''}"))


def _called(steps: Sequence[Step], at: int, name: str) -> bool:
    return any(name == one for step in steps[:at] for one, _, _ in step.calls)


def _mended(steps: Sequence[Step], at: int, call: tuple[str, Any, str], *, other: bool = False) -> bool:
    """Whether a call failed, and a later one in its place came to a result: of the same tool, or of `other` ones with
    the same arguments."""
    name, args, id = call
    result = _result_of(steps, at, id, name)
    if result is None or not result.failed:
        return False
    for later, step in enumerate(steps[at + 1 :], at + 1):
        for called, given, own in step.calls:
            answered = _result_of(steps, later, own, called)
            instead = given == args if other else called == name
            if instead and answered is not None and not answered.failed:
                return True
    return False


def _argument_fault(steps: Sequence[Step], at: int, query: str, tools: Mapping[str, Mapping[str, Any]]) -> Fault | None:
    known = _before(steps, at, query) + steps[at].text
    for call in steps[at].calls:
        name, args, id = call
        schema = tools.get(name, {}).get("parameters") or tools.get(name, {}).get("input_schema") or {}
        if why := _unfit(args, schema):
            return Fault("wrong argument", f"{name}: {why}", _mended(steps, at, call))
        result = _result_of(steps, at, id, name)
        if result is not None and result.failed and _BAD_ARGUMENT.search(result.text):
            return Fault("wrong argument", f"{name} refuses it", _mended(steps, at, call))
        if why := _unknown(args, known):
            return Fault("wrong argument", f"{name}: {why}", False)
    return None


def _unfit(args: Any, schema: Mapping[str, Any]) -> str:
    """What a call's arguments lack by the tool's schema."""
    if not schema:
        return "" if isinstance(args, Mapping | list) or args == "" else "the arguments are no JSON"
    if not isinstance(args, Mapping):
        return "the arguments are no object"
    properties = schema.get("properties") or {}
    if missing := [key for key in schema.get("required") or () if key not in args]:
        return f"{missing[0]} is missing"
    for key, value in args.items():
        if properties and key not in properties:
            return f"it takes no {key}"
        about = properties.get(key) or {}
        kind = _TYPES.get(str(about.get("type")))
        if kind is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            return f"{key} is no {about['type']}"
        if about.get("enum") and value not in about["enum"]:
            return f"{key} is none of its values"
    return ""


def _unknown(args: Any, known: str) -> str:
    """A name or number among the arguments that stands nowhere before, with what it may be meant for."""
    low = known.lower()
    words = set(re.findall(r"\w+", low))
    for value in _leaves(args):
        said = re.findall(r"\w+", value.lower())
        if not said or any(word in words for word in said if len(word) > 2 or word.isdigit()) or value.lower() in low:
            continue
        if len(said) <= 3 and (value[:1].isupper() or any(sign.isdigit() for sign in value)):
            near = get_close_matches(said[0], words, 1, 0.75)
            meant = f"; {near[0]} may be meant" if near else ""
            return f"{value!r} stands nowhere before{meant}"
    return ""


def _leaves(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [one for held in value.values() for one in _leaves(held)]
    if isinstance(value, list):
        return [one for held in value for one in _leaves(held)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _repeated(steps: Sequence[Step], at: int) -> Fault | None:
    for name, args, _ in steps[at].calls:
        for before in range(at):
            for earlier, given, id in steps[before].calls:
                result = _result_of(steps, before, id, earlier)
                if (earlier, given) == (name, args) and result is not None and not _ERROR.search(result.text[:300]):
                    return Fault("repeated step", f"step {steps[before].number} made the same call of {name}")
    if not steps[at].calls and len(steps[at].text.split()) > 5:
        for earlier_step in steps[:at]:
            if earlier_step.is_agents and earlier_step.text.split() == steps[at].text.split():
                return Fault("repeated step", f"it says again what step {earlier_step.number} said")
    return None


def _ignored(steps: Sequence[Step], at: int) -> Fault | None:
    """A step right behind a failed result that neither tries anything for it nor says a word of it."""
    before = []
    for step in reversed(steps[:at]):
        if step.role not in ("tool", "function"):
            break
        before.append(step)
    failed = [step for step in before if step.failed]
    if not failed or _ADMITS.search(steps[at].text):
        return None
    if any(_tries_again(steps, at, step) for step in failed):
        return None
    return Fault("ignored error", f"step {failed[0].number} failed, and nothing is said or done about it")


def _tries_again(steps: Sequence[Step], at: int, failed: Step) -> bool:
    """Whether a step calls the tool that failed again, with the same arguments or with some that are spelt alike."""
    before = [call for step in steps[:at] for call in step.calls if call[2] == failed.answers or not failed.answers]
    for name, args, _ in steps[at].calls:
        for earlier, given, _ in before[-1:]:
            one, other = (" ".join(_leaves(held)).lower() for held in (args, given))
            if name == earlier and (one == other or SequenceMatcher(None, one, other).ratio() >= ALIKE):
                return True
    return False


def _unsupported(steps: Sequence[Step], at: int, query: str) -> Fault | None:
    """An answer with figures or names that stand nowhere before it."""
    step = steps[at]
    if step.calls or not step.text or not any(one.role in ("tool", "function") for one in steps[:at]):
        return None
    known = _before(steps, at, query)
    told = set(_NUMBER.findall(known))
    figures = [one for one in _NUMBER.findall(step.text) if one not in told]
    low = known.lower()
    opens = {match.end() for match in re.finditer(r"(?:\A|[.!?:]\s+|\n\s*)(?=[A-Z])", step.text)}
    names = [m[0] for m in _NAME.finditer(step.text) if m.start() not in opens and m[0].lower() not in low]
    if figures:
        return Fault("unsupported claim", f"{figures[0]} stands in no earlier step")
    return Fault("unsupported claim", f"{names[0]} stands in no earlier step") if names else None


# What the forms of a run's judges are answered with.


@dataclass(frozen=True)
class RunSeen:
    """A run as a prompt shows it."""

    steps: tuple[Step, ...]
    faults: Mapping[int, Fault]

    @property
    def decisive(self) -> int | None:
        """The earliest step with a fault that was not mended."""
        return decisive(self.faults)


def run_seen(sections: Mapping[str, str]) -> RunSeen | None:
    """The run in a prompt's sections; None where it shows none."""
    steps = steps_in(sections.get("turns", ""))
    if not steps:
        return None
    query, facts = sections.get("query", ""), sections.get("facts", "")
    return RunSeen(steps, faults_of(steps, query, tools_in(facts)))


def qualities(seen: RunSeen) -> dict[str, tuple[float | None, str]]:
    """Slug of a criterion of runs -> (quality from 0 to 1, None without evidence; the note)."""
    own = [step for step in seen.steps if step.is_agents]
    calls = sum(len(step.calls) for step in own)

    def by(kinds: Sequence[str], of: int, what: str) -> tuple[float | None, str]:
        held = {number: fault for number, fault in seen.faults.items() if fault.kind in kinds}
        if not of:
            return None, f"no evidence: the run has no {what}"
        if not held:
            return 0.95, f"no fault of form was found in {of} {what}{'' if of == 1 else 's'}"
        first = min(held)
        return max(0.05, 0.6 - len(held) / of), f"step {first}: {held[first].note}"

    failed = [step for step in seen.steps if step.role in ("tool", "function") and step.failed]
    passed = [fault for fault in seen.faults.values() if fault.kind == "ignored error"]
    worst = seen.decisive
    ended = bool(own) and not own[-1].calls and bool(own[-1].text.strip())
    done = 0.9 if worst is None else 0.3
    why = "it ends in an answer, and no fault of form was left" if worst is None else f"step {worst} has a fault"
    recovered = (None, "no evidence: no step failed") if not failed else (
        0.05 if passed else 0.95, f"{len(failed)} failed, {len(passed)} passed over"
    )  # fmt: skip
    return {
        "task_completion": (done if ended else 0.1, why if ended else "it ends without an answer"),
        "tool_choice": by(("wrong tool",), calls, "call"),
        "arguments": by(("wrong argument",), calls, "call"),
        "economy": by(("repeated step",), len(own), "step"),
        "recovery": recovered,
        "policy": (None, "no evidence: I cannot tell whether a rule was kept"),
    }


def run_answers(properties: Mapping[str, Any], at: At) -> dict[str, Any]:
    """What is written into an object of a form about a run: a fault, a step, a score; {} for any other form."""
    if "turns" not in at.prompt.sections or not {"label", "score", *_SEARCHED} & properties.keys():
        return {}
    seen = run_seen(at.prompt.sections)
    if seen is None:
        return {}
    if found := _searched(properties, at, seen):
        return found
    if "score" in properties:
        return _scored(properties, at, seen)
    if "label" not in properties:
        return {}
    values = [v for v in pick(properties["label"], at.root, null=False, depth=0).get("enum", []) if isinstance(v, str)]
    if "wrong tool" in values:
        return _kind(values, at, seen)
    return _step(values, seen) if any(value.startswith("step ") for value in values) else {}


_SEARCHED = ("decisive_step", "mistake", "half")  # keys of the forms of a search


def _scored(properties: Mapping[str, Any], at: At, seen: RunSeen) -> dict[str, Any]:
    known = qualities(seen).get(at.key)
    if known is None:
        return {}
    quality, note = known
    chosen = pick(properties["score"], at.root, null=False, depth=0)
    shown = at.criterion
    low, high = (shown.low, shown.high) if shown and shown.low is not None and shown.high is not None else (1.0, 5.0)
    points = [value for value in chosen.get("enum", []) if isinstance(value, int | float)]
    value: Any = Leaf(None, ((None, 1.0),))
    if quality is not None:
        value = among(points, quality) if points else number(chosen, quality, low, high)
    return {"score": value, "reason": sentence(note)}


def _kind(values: Sequence[str], at: At, seen: RunSeen) -> dict[str, Any]:
    head = _HEAD.match(at.prompt.sections.get("step", "").lstrip().partition("\n")[0])
    where = int(head[1]) if head else seen.decisive
    fault = seen.faults.get(where) if where is not None else None
    kind = fault.kind if fault and fault.kind in values else "none"
    chances = [0.94 if value == kind else 0.06 / max(1, len(values) - 1) for value in values]
    mended = ", which a later step mends" if fault and fault.mended else ""
    note = f"{fault.note}{mended}" if fault else "no fault of form is seen; whether it was wise I cannot tell"
    return {"label": label(values, None, chances), "reason": sentence(note)}


def _step(values: Sequence[str], seen: RunSeen) -> dict[str, Any]:
    where = seen.decisive
    wanted = f"step {where}" if where is not None else "none"
    if wanted not in values:  # nothing was found, and a step has to be named
        return {
            "label": label(values, None),
            "reason": sentence("no fault of form is seen, and a step has to be named"),
        }
    chances = [0.9 if value == wanted else 0.1 / max(1, len(values) - 1) for value in values]
    note = seen.faults[where].note if where is not None else "no fault of form is seen in any step"
    return {"label": label(values, None, chances), "reason": sentence(note)}


def _searched(properties: Mapping[str, Any], at: At, seen: RunSeen) -> dict[str, Any]:
    """The forms of a search: a step among all, whether the last one is it, or which half holds it."""
    key = next((key for key in _SEARCHED if key in properties), "")
    values = pick(properties[key], at.root, null=False, depth=0).get("enum") if key else None
    if not values:
        return {}
    own = [step.number for step in seen.steps if step.is_agents]
    where = seen.decisive
    if key == "decisive_step":
        found = _step(values, seen)
        return {key: found["label"], "reason": found["reason"]}
    note = seen.faults[where].note if where is not None else "no fault of form is seen"
    if key == "mistake":
        faulty = bool(own) and own[-1] in seen.faults
        note = seen.faults[own[-1]].note if faulty else "no fault of form is seen in it"
        wanted = "yes" if faulty else "no"
    else:
        middle = (len(own) + 1) // 2
        wanted = "first" if where is None or where in own[:middle] else "second"
    chances = [0.9 if value == wanted else 0.1 / max(1, len(values) - 1) for value in values]
    return {key: label(values, None, chances), "reason": sentence(note)}
