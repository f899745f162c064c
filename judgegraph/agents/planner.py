"""The planner: how to use the assistants for these criteria, before any sample is seen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import JudgeLike, Reply, ask, replies
from judgegraph.calls.asking import STRING, Form, enum_of, record
from judgegraph.calls.types import TEXTS
from judgegraph.errors import ReplyError, one_line, settings_checked
from judgegraph.evidence import EVIDENCE
from judgegraph.prompts.template import criteria_text, inset, slug, slugs
from judgegraph.types import Criterion, Finding, Note, Notes, Plan, Sample, given_criteria, keyed, sample_of, text_of

# A plan as a planner is asked for it, and as those who follow it read it.


Read = tuple[Plan, tuple[str, ...]]  # the plan, and what of it was mended, in words


PLAN, USAGE = 3000, 300  # characters of a plan, and of how one assistant is to be used
TURN, CALLED = 160, 35  # tokens of a reply that calls assistants: what it may say, and for each of them


def plan_form(criteria: Mapping[str, Criterion], assistants: Sequence[str]) -> Form[Read]:
    """The form of a plan.

    Args:
        criteria: key of the form -> criterion. assistants: names on offer.

    Returns:
        Reads {"plan", "alignment", "usage"}. A text is needed; of the rest, what names an unknown assistant or
        criterion is dropped and told, since the plan is still of use without it.
    """
    names = enum_of(assistants)
    served = record({key: {"type": "array", "items": names, "title": c.name} for key, c in criteria.items()})
    used = record(dict.fromkeys(assistants, STRING))

    def read(data: Any) -> Read:
        if not isinstance(data, Mapping) or not str(data.get("plan") or "").strip():
            raise ValueError("'plan' is missing: the text of the plan")
        if not isinstance(data.get("alignment"), Mapping):
            raise ValueError("'alignment' is missing: an object with a list of assistants per criterion")
        alignment, mended = _aligned(data["alignment"], criteria, assistants)
        usage = data.get("usage")
        said = {name: str(usage[name]) for name in assistants if usage.get(name)} if isinstance(usage, Mapping) else {}
        return Plan(text=str(data["plan"]).strip(), alignment=alignment, usage=said), mended

    texts = {**TEXTS, "plan": PLAN, **dict.fromkeys(assistants, USAGE)}
    return Form("plan", record({"plan": STRING, "alignment": served, "usage": used}), read, texts=texts)


def _aligned(
    given: Mapping[str, Any], criteria: Mapping[str, Criterion], assistants: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Criterion's name -> known assistants; and what was mended, in words."""
    known = {name.casefold(): name for name in assistants}
    by_key = {slug(str(key)): value for key, value in given.items()}
    mended = [f"unknown criterion '{one_line(key, 60)}' dropped" for key in given if slug(str(key)) not in criteria]
    alignment = {}
    for key, criterion in criteria.items():
        listed = by_key.get(key)
        named = [str(name) for name in listed] if isinstance(listed, list) else []
        unknown = [name for name in named if name.strip().casefold() not in known]
        mended += [f"unknown assistant '{one_line(name, 60)}' dropped" for name in unknown]
        if not isinstance(listed, list):
            mended.append(f"no list of assistants for '{criterion.name}'")
        found = (known.get(name.strip().casefold()) for name in named)
        alignment[criterion.name] = tuple(dict.fromkeys(name for name in found if name))
    return alignment, tuple(dict.fromkeys(mended))


def plan_text(plan: Plan | None) -> str:
    """Text, usage and alignment for a prompt's section; "" where there is no plan to follow."""
    if plan is None or plan.status != "ok":
        return ""
    usage = [f"- {_line(name)}: {_line(said)}" for name, said in plan.usage.items()]
    served = [f"- {_line(n)}: {_line(', '.join(of)) or 'absent (no assistant)'}" for n, of in plan.alignment.items()]
    parts = (("", [plan.text]), ("How to read them:\n", usage), ("Which assistants serve which criterion:\n", served))
    return "\n\n".join(title + "\n".join(lines) for title, lines in parts if lines)


def assistants_text(assistants: Mapping[str, str]) -> str:
    """What is on offer: name -> description, a heading per assistant, a blank line between them."""
    return "\n\n".join(f"## {name}\n{inset(about)}" for name, about in assistants.items())


def _line(text: str) -> str:
    return " ".join(text.split())


def plain(names: Iterable[str]) -> str:
    """A list in a sentence: "a, b and c"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


class Task(TypedDict):  # what a planner reads: no sample
    criteria: NotRequired[list[Criterion]]  # else its own


class Planned(TypedDict):  # what it writes
    plan: Plan
    notes: Notes


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Planner:
    """Writes the plan that a judge follows, and which assistants serve which criterion.

    Source: Fusion-Eval (arXiv:2311.09204), figure 1 and table 4: one plan per task, criteria and assistants. Its
    prompt has no field of a sample, so all samples send equal calls, which a ledger pays for once.
    A plan that cannot be had is a Plan with a status, and a note: those who follow it go on without.

    Attributes:
        judge: who answers. assistants: name -> description, of those on offer; one or more.
        criteria: what is judged by, where the state brings none. task: one sentence, what kind of text is judged.
    """

    judge: JudgeLike = "embedded"
    assistants: Mapping[str, str]
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "fusion_plan"
    name: str = "planner"

    async def __call__(self, state: Task) -> Planned:
        asked = slugs(given_criteria(state) or self.criteria)
        messages = prompts.load(self.prompt).render(
            task=self.task, criteria=criteria_text(asked), assistants=assistants_text(self.assistants)
        )
        try:
            plan, mended = await ask(self.judge, messages, plan_form(asked, list(self.assistants)))
        except ReplyError as error:
            plan, mended = Plan(text="", status=error.status), ()
            text = f"no plan, all assistants are asked: {error}"
            note = Note(agent=self.name, text=text, status=plan.status, kind="plan-failed")
            return {"plan": plan, "notes": keyed(note)}
        if not mended:
            return {"plan": plan, "notes": {}}
        text = f"the plan was mended: {plain(mended)}"
        return {"plan": plan, "notes": keyed(Note(agent=self.name, text=text, kind="plan-mended"))}


# The consultant: calls assistants as tools, round by round, until it knows enough.


ToolCall = dict[str, Any]  # {"name", "id"}; assistants take no arguments


class Brief(TypedDict):  # what a consultant reads
    sample: Sample  # only which fields it has: its text does not go through the model
    criteria: NotRequired[list[Criterion]]  # else its own
    plan: NotRequired[Plan]
    findings: NotRequired[dict[str, Finding]]
    messages: NotRequired[list[Any]]  # the conversation so far
    rounds: NotRequired[int]


class Wish(TypedDict):  # what it writes
    messages: list[Any]
    calls: list[ToolCall] | None  # what to call now; None: it could not be asked, call what the plan names
    rounds: int  # replies that called, so far
    notes: Notes


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Consultant:
    """Goes on where the plan was written: its author calls assistants as tools, several in one reply, round by round.

    Source: Fusion-Eval (arXiv:2311.09204) hands the judge all scores; letting the planning model call them is ours.
    The first question depends on a sample only by the fields it has, so it is paid for once by a ledger. It ends when
    all that the plan names has been asked; what the model leaves out of that is called without it, and noted.

    Attributes:
        tools: OpenAI-shaped dicts, one per assistant. rounds: replies with calls at most, 1 or more.
        assistants: name -> description, as the planner was told: with a plan, its question and its answer stand before
            this one's. {} begins a conversation of its own, in which the plan is quoted.
        plan_prompt: of the planner.
    """

    judge: JudgeLike = "embedded"
    tools: Sequence[Mapping[str, Any]]
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    rounds: int = 4
    assistants: Mapping[str, str] = field(default_factory=dict)
    prompt: str = "fusion_consult"
    plan_prompt: str = "fusion_plan"
    name: str = "consultant"

    async def __call__(self, state: Brief) -> Wish:
        messages, turn = state.get("messages") or self._opening(state), state.get("rounds", 0) + 1
        try:
            form = Form("text", None, str, tokens=TURN + CALLED * len(self.tools), shorter=False)
            (reply,) = await replies(self.judge, messages, form, tools=self.tools)
        except ReplyError as error:
            return self._fall_back(messages, f"could not call assistants ({error})", error.status)
        calls, asked = calls_of(reply, turn), set(state.get("findings") or {})
        if not calls and turn == 1 and wanted(state.get("plan"), self._offered):
            return self._fall_back(messages, "the model called no assistant", "ok")
        if not calls and (left := named_by(state.get("plan"), self._offered) - asked):
            return self._fall_back(messages, f"the model stopped before {plain(sorted(left))} was called", "ok")
        said = [message_of(reply, calls)] if calls else []
        notes = keyed(*self._capped(state, turn, calls))
        return {"messages": [*messages, *said], "calls": calls, "rounds": turn, "notes": notes}

    @property
    def _offered(self) -> list[str]:
        return [str(tool["function"]["name"]) for tool in self.tools]

    def _opening(self, state: Brief) -> list[Any]:
        criteria, sample, plan = given_criteria(state) or self.criteria, sample_of(state), state.get("plan")
        held = [f for f in ("query", "source", "output", "reference") if text_of(getattr(sample, f) or "").strip()]
        held += [name for name in EVIDENCE if getattr(sample, name)]
        goes_on = bool(self.assistants) and plan is not None and plan.status == "ok"
        rendered = prompts.load(self.prompt).render(
            task=self.task, criteria=criteria_text(criteria), plan="" if goes_on else plan_text(plan),
            fields=plain(held) if held else "an empty output",
        )  # fmt: skip
        if plan is None or not goes_on:
            return list(rendered.messages)
        return self._planned(plan, criteria, "\n\n".join(text for _, text in rendered.messages))

    def _planned(self, plan: Plan, criteria: Sequence[Criterion], then: str) -> list[Any]:
        """The planner's question, its answer, and what is asked now: one conversation."""
        asked = slugs(criteria)
        before = prompts.load(self.plan_prompt).render(
            task=self.task, criteria=criteria_text(asked), assistants=assistants_text(self.assistants)
        )
        served = {key: list(plan.alignment.get(criterion.name, ())) for key, criterion in asked.items()}
        reply = {"plan": plan.text, "alignment": served, "usage": plan.usage}
        return [*before.messages, ("assistant", json.dumps(reply, ensure_ascii=False)), ("user", then)]

    def _fall_back(self, messages: list[Any], why: str, status: Any) -> Wish:
        note = Note(
            agent=self.name,
            text=f"{why}; what the plan names was called instead",
            status=status,
            kind="consultation-failed",
        )
        return {"messages": messages, "calls": None, "rounds": self.rounds, "notes": keyed(note)}

    def _capped(self, state: Brief, turn: int, calls: Sequence[ToolCall]) -> list[Note]:
        """A note where the last round leaves assistants uncalled that the plan names, or that the model may want."""
        left = wanted(state.get("plan"), self._offered) - set(state.get("findings") or {})
        left -= {call["name"] for call in calls}
        if turn < self.rounds or not calls or not left:
            return []
        text = f"stopped after {self.rounds} rounds of calls, its cap"
        if named_by(state.get("plan"), self._offered):
            text += f"; the plan names {plain(sorted(left))} too, called without the model"
        return [Note(agent=self.name, text=text, kind="consultation-capped")]


def named_by(plan: Plan | None, offered: Iterable[str]) -> set[str]:
    """The assistants on offer that a plan aligns with some criterion; none where there is no plan to follow."""
    if plan is None or plan.status != "ok":
        return set()
    return {name for serving in plan.alignment.values() for name in serving} & set(offered)


def wanted(plan: Plan | None, offered: Iterable[str]) -> set[str]:
    """Who should be asked: whom the plan names; all where there is none to follow."""
    return named_by(plan, offered) if plan is not None and plan.status == "ok" else set(offered)


def calls_of(reply: Reply[Any], turn: int) -> list[ToolCall]:
    """The calls in a reply, each with an id; broken arguments do not matter, as there are none to give."""
    broken = getattr(reply.message, "invalid_tool_calls", None) or ()
    asked = [*reply.tool_calls, *broken]
    return [
        {"name": one_line(call.get("name") or "", 80), "id": call.get("id") or f"call-{turn}-{i}"}
        for i, call in enumerate(asked)
    ]


def message_of(reply: Reply[Any], calls: Sequence[ToolCall]) -> Any:
    """The reply as a message to go on from: as it came where it can be sent back, else made anew."""
    from langchain_core.messages import AIMessage

    whole = [call.get("id") for call in reply.tool_calls] == [call["id"] for call in calls]
    if whole and reply.message is not None:
        return reply.message
    return AIMessage(reply.text, tool_calls=[{"name": c["name"], "args": {}, "id": c["id"]} for c in calls])
