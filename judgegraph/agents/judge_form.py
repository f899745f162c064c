"""Judges of others as agents: asked by a form's template, read by its reader; one for a response, one for a pair."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.judge import bare
from judgegraph.agents.merge import OVERALL
from judgegraph.calls import Form, JudgeLike, replies
from judgegraph.calls.asking import off_points
from judgegraph.errors import ConfigError, ReplyError, one_line, settings_checked
from judgegraph.evidence import EVIDENCE, Image, references_text
from judgegraph.forms.form import KEYS, JudgeForm
from judgegraph.forms.readers import FormReading, read_reply, reader_of
from judgegraph.forms.shipped import FORMS
from judgegraph.forms.templates import FormTemplate, level_of
from judgegraph.models.judges import resolve
from judgegraph.prompts import Rendered, examples_text
from judgegraph.prompts.template import EXAMPLES, left_out_examples
from judgegraph.types import (
    Comparison,
    Comparisons,
    Criterion,
    Note,
    Notes,
    Sample,
    Scale,
    Score,
    Scores,
    Side,
    Status,
    given_criteria,
    keyed,
    sample_of,
    text_of,
)

RAW_TEXT = "raw_text"  # the setting by which a call goes to /completions
ECHO, NO_LEVELS = "template-echo", "no-levels"
MARKUP = ("[INST]", "[/INST]", "<<SYS>>", "<|im_start|>", "<|im_end|>", "<|eot_id|>", "</s>", "<s>")
MAY_BE_EMPTY = frozenset(("output", "A", "B", "task", "scale", "criterion", "definition", "levels", "level", "rubric"))
NOTHING = '""'  # how an empty response is shown


class Case(TypedDict):  # what both read
    sample: Sample
    criteria: NotRequired[list[Criterion]]  # else their own
    task: NotRequired[str]


class Scored(TypedDict):  # what the one writes
    scores: Scores
    notes: Notes


class Compared(TypedDict):  # what the other writes
    comparisons: Comparisons
    scores: Scores
    notes: Notes


@dataclass(frozen=True)
class Answered:
    """What came of one question: a reading, or why there is none."""

    reading: FormReading
    status: Status = "ok"
    reason: str = ""
    raw: str | None = None
    notes: tuple[str, ...] = ()


@settings_checked
@dataclass(frozen=True, kw_only=True)
class FormJudge:
    """Scores one response by a judge form, a call for each criterion that the template shows, else one call.

    Attributes:
        judge: who answers: the model that was trained on the form, or one that can follow it.
        form: what it wants to be asked. template: its authors' words, None for a form of ours.
        criteria: what to judge by, where the state brings none; a template that shows no criterion is asked once.
        temperature: None leaves it to the judge.
    """

    judge: JudgeLike = "embedded"
    form: JudgeForm = FORMS["rating"]
    template: FormTemplate | None = None
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = ""
    temperature: float | None = 0.0
    name: str = "form-judge"
    stage: str = "final"

    async def __call__(self, state: Case) -> Scored:
        sample, task = sample_of(state), state.get("task") or self.task
        asked = asked_by(self.form, self.template, given_criteria(state) or self.criteria)
        values = {c.name: values_of(sample, c, self.form, task) for c in asked}
        said = await asyncio.gather(*(self._asked(c, values[c.name], sample.images) for c in asked))
        scores = [self._score(c, one, *self._left_out(c, sample)) for c, one in zip(asked, said, strict=True)]
        return {"scores": keyed(*scores), "notes": keyed(*remarks(self, values, asked))}

    async def _asked(self, criterion: Criterion, values: Mapping[str, str], images: Sequence[Image]) -> Answered:
        scale = self.form.numbers(criterion.scale)
        if criterion.scale.labels or (
            self.form.scale and shows_criterion(self.form, self.template) and scale != criterion.scale
        ):
            numbers = f"gives numbers{f', on {self.form.scale}' if self.form.scale else ''}"
            given = numbers if criterion.scale.labels else f"scores on {scale or self.form.scale}"
            why = f"the form {given}, and '{criterion.name}' is on {criterion.scale}"
            return Answered(FormReading(), "skipped", why)
        return await ask_form(self, values, scale, images)

    def _left_out(self, criterion: Criterion, sample: Sample) -> tuple[str, ...]:
        return left_out_examples(criterion, sample) if self.template is None else ()

    def _score(self, criterion: Criterion, said: Answered, *unshown: str) -> Score:
        value, scale = said.reading.value, self.form.numbers(criterion.scale)
        notes = off_points(value, scale) if value is not None and scale is not None else ()
        return Score(
            criterion=criterion.name, agent=self.name, stage=self.stage, scale=scale, value=value, status=said.status,
            reason=said.reason, reader=said.reading.step, raw=said.raw, notes=(*said.notes, *notes, *unshown),
        )  # fmt: skip


@settings_checked
@dataclass(frozen=True, kw_only=True)
class FormComparer:
    """Compares `Sample.output` (A, which stands first) and `Sample.rival` (B) by a judge form, in this order.

    Of a form that scores both it writes the scores too. The exchanged order is `judgegraph.compose.orders`' matter.
    Settings are those of `FormJudge`.
    """

    judge: JudgeLike = "embedded"
    form: JudgeForm = FORMS["verdict"]
    template: FormTemplate | None = None
    criteria: Sequence[Criterion] = ()
    task: str = "two answers to one request"
    prompt: str = ""
    temperature: float | None = 0.0
    name: str = "form-comparer"
    stage: str = "final"

    async def __call__(self, state: Case) -> Compared:
        sample, task = sample_of(state), state.get("task") or self.task
        asked = asked_by(self.form, self.template, given_criteria(state) or self.criteria)
        if sample.rival is None:
            why = "the sample has no rival to compare with"
            lost = Comparison(criterion=OVERALL, agent=self.name, status="skipped", reason=why)
            return {"comparisons": keyed(lost), "scores": {}, "notes": {}}
        values = {c.name: values_of(sample, c, self.form, task) for c in asked}
        said = await asyncio.gather(
            *(ask_form(self, values[c.name], self.form.numbers(c.scale), sample.images) for c in asked)
        )
        both = [*zip(asked, said, strict=True)]
        return {
            "comparisons": keyed(*(self._comparison(c, one) for c, one in both)),
            "scores": keyed(*(score for c, one in both for score in self._scores(c, one))),
            "notes": keyed(*remarks(self, values, asked)),
        }

    def _comparison(self, criterion: Criterion, said: Answered) -> Comparison:
        a, b = said.reading.values if len(said.reading.values) == 2 else (None, None)
        step = said.reading.step
        notes = said.notes if step in ("", "exact") else (*said.notes, f"read by the step '{step}'")
        return Comparison(
            criterion=criterion.name, agent=self.name, verdict=said.reading.verdict, score_a=a, score_b=b,
            status=said.status, reason=said.reason, raw=said.raw, notes=notes,
        )  # fmt: skip

    def _scores(self, criterion: Criterion, said: Answered) -> list[Score]:
        """Of both sides, of a form that gives scores; where the reply could not be read, with its status."""
        if reader_of(self.form).gives != "scores":
            return []
        sides: tuple[Side, Side] = ("output", "rival")
        values = said.reading.values if said.status == "ok" else (None, None)
        return [
            Score(
                criterion=criterion.name, agent=self.name, stage=self.stage, of=of, value=value, status=said.status,
                reader=said.reading.step, scale=self.form.numbers(criterion.scale), reason=said.reason, raw=said.raw,
            )
            for of, value in zip(sides, values, strict=True)
        ]  # fmt: skip


# What one question is made of: whom it is about, what fills the slots, the messages.


def shows_criterion(form: JudgeForm, template: FormTemplate | None) -> bool:
    """Whether the question shows a criterion; of ours the one for a single text does."""
    return form.kind == "single" if template is None else template.shows_criterion


def asked_by(form: JudgeForm, template: FormTemplate | None, criteria: Sequence[Criterion]) -> list[Criterion]:
    """The criteria that a form is asked by: those given, or one over all where its template shows none."""
    if criteria and shows_criterion(form, template):
        return [*criteria]
    scale = form.numbers() or (criteria[0].scale if len(criteria) == 1 else Scale(low=1, high=5))
    return [Criterion(name=criteria[0].name if len(criteria) == 1 else OVERALL, scale=scale)]


def values_of(sample: Sample, criterion: Criterion, form: JudgeForm, task: str) -> dict[str, str]:
    """Our keys -> the text of each, for the slots of a template."""
    output, rival = (
        _shown(text_of(text)) for text in (sample.output, sample.rival if sample.rival is not None else "")
    )
    levels = criterion.guideline or ""
    definition = criterion.definition or criterion.name
    scale = form.numbers(criterion.scale)
    numbers = (
        range(int(scale.low), int(scale.high) + 1) if scale and scale.low is not None and scale.high is not None else ()
    )
    return {
        "query": sample.query, "source": text_of(sample.source), "output": output, "A": output, "B": rival,
        "reference": references_text(sample.all_references) if sample.reference is not None else "",
        **dict.fromkeys(EVIDENCE, ""), **{k: v for k, v in sample.shown_evidence().items() if k in EVIDENCE},
        "criterion": criterion.name, "definition": definition, "levels": levels,
        "rubric": f"[{definition}]\n{levels}".rstrip(), "scale": str(scale or ""), "task": task,
        EXAMPLES: examples_text([criterion], output, rival),
        **{f"level:{number}": level_of(levels, str(number)) for number in numbers},
    }  # fmt: skip


def _shown(text: str) -> str:
    return text if text.strip() else NOTHING


def messages_of(form: JudgeForm, template: FormTemplate, values: Mapping[str, str]) -> Rendered:
    """A form's question: a system and a user message, with what the judge's turn begins with; or one raw text."""
    system, user = template.filled(values, form.drop_if_empty)
    said: list[tuple[str, str]] = [("system", system)] if system.strip() else []
    if form.endpoint == "chat":
        said += [("user", user), *([("assistant", form.prefix)] if form.prefix else [])]
        return Rendered(tuple(said), form.name, template.digest)
    if not form.wrap:
        text = f"{system.strip()}\n\n{user}" if system.strip() else user
    else:  # in one pass: a text that holds "{prompt}" is not looked at again
        pieces = form.wrap.split("{prompt}")
        before = pieces[0].replace("{system}", system) if "{system}" in form.wrap else pieces[0] + system
        text = before + user + pieces[-1]
    begun = "" if text.rstrip().endswith(form.prefix) else form.prefix  # the cue of a template may hold it already
    return Rendered((("user", text + begun),), form.name, template.digest)


def ours(form: JudgeForm, values: Mapping[str, str], criterion: Criterion, images: Sequence[Image] = ()) -> Rendered:
    """The question of a form of ours, whose template has sections."""
    prompt = prompts.load(form.prompt)
    if form.kind == "pair":
        more = {"response_a": values["A"], "response_b": values["B"]}
    else:
        more = {"output": values["output"], "criterion": bare(criterion), "guideline": values["levels"]}
        more |= {EXAMPLES: values[EXAMPLES]} if values[EXAMPLES] else {}
    known = {"task": values["task"], "query": values["query"], "source": values["source"]}
    beside: dict[str, Any] = {name: values[name] for name in EVIDENCE if values.get(name)}
    beside |= {"images": tuple(images)} if images else {}
    return prompt.render(**known, reference=values["reference"], **more, **beside)


UNSEEN = "the sample has images, which the form's template does not show; --no-images judges without them"


async def ask_form(
    agent: Any, values: Mapping[str, str], scale: Scale | None, images: Sequence[Image] = ()
) -> Answered:
    """Ask once and read; it never raises for a bad reply.

    A reply that cannot be read is not asked for again: a judge that was trained on one turn knows no second.
    """
    form: JudgeForm = agent.form
    if agent.template is None:
        criterion = Criterion(
            name=values["criterion"], definition=values["definition"], scale=scale or Scale(low=1, high=5)
        )
        rendered = ours(form, values, criterion, images)
    else:
        if why := UNSEEN if images else lacking(form, agent.template, values):
            return Answered(FormReading(), "skipped", why)
        rendered = messages_of(form, agent.template, values)
        beside = (*EVIDENCE, EXAMPLES)
        unshown = tuple(name for name in beside if values.get(name) and name not in agent.template.keys)
        rendered = replace(rendered, left_out=unshown) if unshown else rendered
    tokens = int(form.settings.get("max_tokens", 0))
    shape = Form("judge-form", None, partial(_read, form=form, scale=scale), tokens=tokens, shorter=False)
    try:
        (reply,) = await replies(agent.judge, rendered, shape, **settings_of(agent, form))
    except ReplyError as error:
        lost: Any = error.status
        return Answered(FormReading(), lost, str(error), error.text or None)
    reading: FormReading = reply.value
    if reply.ends is not None:
        reply.ends.end(reading.status)
    if reading.status != "ok":
        return Answered(FormReading(), reading.status, f"unread: {reading.shape}", reply.text, reply.notes)
    two = (f"two different verdicts: {reading.other} before the one that counts",) if reading.other else ()
    return Answered(reading, "ok", reading.reason, None, (*reply.notes, *two))


def _read(text: str, *, form: JudgeForm, scale: Scale | None) -> FormReading:
    return read_reply(text, form, scale)


def settings_of(agent: Any, form: JudgeForm) -> dict[str, Any]:
    """What goes with a form's calls.

    Raises:
        ConfigError: it wants raw text, and the judge takes messages alone.
    """
    found: dict[str, Any] = {"temperature": agent.temperature}
    if "top_p" in form.settings and agent.temperature:
        found["top_p"] = form.settings["top_p"]
    if form.stop:
        found["stop"] = list(form.stop)
    if form.endpoint == "completion":
        model: Any = resolve(agent.judge).model
        kind = str(getattr(model, "_llm_type", ""))
        if not (getattr(model, "takes_raw_text", False) or kind.startswith("judgegraph-") or kind == "embedded"):
            error = ConfigError(
                f"form '{form.name}' asks by raw text (/completions), which {type(model).__name__} does not take: name "
                "an openai: model with --base-url and the extra 'fast' (pip install 'judgegraph[fast]'), or set "
                "endpoint='chat' where its server has the judge's chat template"
            )
            error.ends_run = True
            raise error
        found[RAW_TEXT] = True
    elif form.prefix:  # as vLLM and its like go on with a turn that has begun
        found |= {"continue_final_message": True, "add_generation_prompt": False}
    return found


def lacking(form: JudgeForm, template: FormTemplate, values: Mapping[str, str]) -> str:
    """Why a template cannot be filled, "" where it can: it shows what the sample does not have."""
    wanted = sorted(template.keys - MAY_BE_EMPTY - set(form.drop_if_empty))
    missing = [key for key in wanted if not values.get(key, "").strip()]
    if not missing:
        return ""
    key = missing[0]
    without = [name for name in FORMS if name == f"{form.name}-no-reference"] if key == "reference" else []
    cure = f"; form '{without[0]}' wants none" if without else ""
    slot = template.slot_of(key)
    return f"the sample has no {key} ({KEYS[key]}) for the slot '{slot}': map a column, -f {key}=COLUMN{cure}"


def remarks(agent: Any, values: Mapping[str, Mapping[str, str]], asked: Sequence[Criterion]) -> list[Note]:
    """Notes on what a template shows: texts that hold lines of it, criteria without a text for each score."""
    template: FormTemplate | None = agent.template
    if template is None:
        return []
    found, shown = [], [one[key] for one in values.values() for key in ("query", "source", "output", "B", "reference")]
    line = template.echoes(shown) or next(
        (mark for mark in MARKUP if agent.form.endpoint == "completion" and any(mark in text for text in shown)), ""
    )
    if line:
        text = f"a judged text holds a line of the template, and the reply may be of another: {one_line(line, 80)!r}"
        found.append(Note(agent=agent.name, text=text, kind=ECHO))
    if template.keys & {"levels", "rubric"} and (bare_ones := [c.name for c in asked if not c.guideline]):
        names = ", ".join(one_line(name, 60) for name in bare_ones[:5])
        text = f"the rubric shows no text for each score: {names} has no guideline (guideline: in the criteria file)"
        found.append(Note(agent=agent.name, text=text, kind=NO_LEVELS))
    return found
