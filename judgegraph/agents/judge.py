"""The judge: one response, one criterion and its guideline, one score."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import Form, JudgeLike, Rated, Reader, Slot, rate
from judgegraph.calls.asking import (
    STRING,
    Incomplete,
    answer_key,
    answer_of,
    answer_schema,
    bare_schema,
    rating_schema,
    ratings_form,
    read_entries,
    record,
)
from judgegraph.calls.ratings import STATED
from judgegraph.errors import ReplyError, counted, settings_checked
from judgegraph.prompts import Prompt, Rendered
from judgegraph.prompts.criteria import same_key
from judgegraph.prompts.template import criteria_text, criterion_text, left_out_examples, slugs
from judgegraph.types import Criterion, Sample, Scale, Score, Scores, Side, key_of, keyed, sample_of

TEXT_TOKENS = 1000  # of a rating with its explanation
PROMPTS = {"form": "judge_single", "text": "judge_single_text"}


class Case(TypedDict):  # what the judge reads
    sample: Sample
    criterion: Criterion
    guidelines: NotRequired[dict[str, str]]  # criterion -> guideline; else the criterion's own


class Judged(TypedDict):  # what it writes
    scores: Scores


def guideline_for(criterion: Criterion, guidelines: Mapping[str, str] | None) -> str:
    """The guideline written for a criterion, its own, or none ("")."""
    return (guidelines or {}).get(criterion.name) or criterion.guideline or ""


@lru_cache(maxsize=1024)
def bare(criterion: Criterion) -> str:
    """A criterion as its section shows it where the guideline has a section of its own."""
    return criterion_text(criterion.model_copy(update={"guideline": None}))


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Judge:
    """Scores one criterion of one response, in the units of its scale, by its guideline.

    Source: Fennec, section 3.1, eq. 3, single evaluation. A reply that cannot be read is a status, never a number.

    Attributes:
        judge: who answers. task: one sentence that says what kind of text is judged.
        reader: how the score is read (paper: the stated number).
        reply: "form" asks for JSON, "text" for "Response Score: n" and an explanation, read by `read_rating`.
        prompt: a template, by default the reply's own. stage: of the score it writes.
        temperature: paper: 0; None leaves it to the judge.
        of: which response of a pair is scored, by a question that does not show the other.
    """

    judge: JudgeLike = "embedded"
    task: str = "an assistant's response to a user's query"
    reader: Reader = STATED
    reply: Literal["form", "text"] = "form"
    prompt: str = ""
    temperature: float | None = 0.0
    name: str = "judge"
    stage: str = "final"
    of: Side = "output"

    def __post_init__(self) -> None:
        if self.prompt in ("", *PROMPTS.values()):  # so that `replace(agent, reply=...)` changes both
            object.__setattr__(self, "prompt", PROMPTS[self.reply])

    async def __call__(self, state: Case) -> Judged:
        sample, criterion = sample_of(state), state["criterion"]
        output = sample.output if self.of == "output" else sample.rival
        if output is None:  # no rival, no score of it
            return {"scores": {}}
        messages = self.rendered(state)
        form = rating_form(criterion) if self.reply == "form" else rating_text(criterion.scale, criterion.name)
        slots = {"": Slot(criterion.scale, () if self.reply == "form" else None, name=criterion.name)}
        settings: dict[str, Any] = {"temperature": self.temperature}
        rating = await rate(self.judge, messages, form, slots, self.reader, **settings)
        about: dict[str, Any] = {"agent": self.name, "stage": self.stage, "of": self.of, "scale": criterion.scale}
        answer = rating.answers[""].fields(*left_out_examples(criterion, sample))
        return {"scores": keyed(Score(criterion=criterion.name, **about, **answer))}

    def rendered(self, state: Case) -> Rendered:
        """What a score of the response is asked for with."""
        sample, criterion = sample_of(state), state["criterion"]
        return prompts.load(self.prompt).render(
            task=self.task, criterion=bare(criterion),
            guideline=guideline_for(criterion, state.get("guidelines")),
            **prompts.material(sample, (criterion,))
            | {"output": sample.output if self.of == "output" else sample.rival or ""},
        )  # fmt: skip


@lru_cache(maxsize=1024)
def rating_form(criterion: Criterion) -> Form[Any]:
    """A reason, then a value of the criterion's scale or null."""

    def read(data: Any) -> Any:
        answer_of(data, criterion.scale, criterion.name)
        return data

    return Form("rating", rating_schema(criterion), read)


def rating_text(scale: Scale, name: str = "") -> Form[Any]:
    """A plain reply that holds one rating on the scale; without one the judge is asked again, unless it abstains."""

    def read(text: str) -> str:
        from judgegraph.replies.free_text import text_reading  # many expressions: no part of an import

        reading = text_reading(text, scale, name=name)
        if reading.status == "refused":
            raise ReplyError("the model declined to score", "refused", text)
        if reading.status == "unreadable":
            raise ValueError(f"no rating on the scale {scale} in the reply ({reading.rule})")
        return text

    return Form("rating", None, read, tokens=TEXT_TOKENS, again=bare_schema(scale))


# One criterion in one call: what is asked for, in a form or in text, and how it is read.


BARE, EXPLAINED = 160, 600  # tokens of a score in free text: alone, with some words around it, and with a reason

ReplyKind: TypeAlias = Literal["form", "text"]
Explain: TypeAlias = Literal["never", "after", "before"]


async def ask_score(
    judge: JudgeLike, messages: Rendered, criterion: Criterion, reader: Reader, *,
    reply: ReplyKind, explain: Explain, **settings: Any,
) -> Rated:  # fmt: skip
    """Ask for one score; never raises for a bad reply.

    Args:
        reply: "form" is JSON, "text" is read by `judgegraph.read_rating`.
        explain: where the form has its reason. "after" the score it cannot move it; "before" it is a chain of
            thought. Of a text reply the prompt decides.
    """
    text = reply == "text"
    form = (
        text_form(criterion.scale, BARE if explain == "never" else EXPLAINED, criterion.name)
        if text
        else score_form(criterion, explain)
    )
    slot = Slot(criterion.scale, None if text else (), reader.first_digit, criterion.name)
    rating = await rate(judge, messages, form, {"score": slot}, reader, **settings)
    return rating.answers["score"]


def named(prompt: Prompt, criterion: Criterion) -> dict[str, str]:
    """The criterion's name, for a template that has a field for it.

    Ours have none: a name that a model wrote may quote judged text, and stands within a section alone.
    """
    return {"name": criterion.name} if "name" in prompt.fields else {}


@lru_cache(maxsize=256)
def score_form(criterion: Criterion, explain: Explain) -> Form[Any]:
    """One score in JSON; null where the criterion cannot be judged."""
    scale = criterion.scale
    answer = {answer_key(scale): answer_schema(scale)}
    reason = {"reason": STRING}
    order = {"never": answer, "after": answer | reason, "before": reason | answer}[explain]

    def read(data: Any) -> Any:
        answer_of(data, scale, criterion.name)
        return data

    return Form("rating", record(order, title=criterion.name), read)


@lru_cache(maxsize=256)
def text_form(scale: Scale, tokens: int = EXPLAINED, name: str = "") -> Form[str]:
    """One score in free text; a reply without one is asked for again, unless it refuses or abstains."""

    def read(text: Any) -> str:
        from judgegraph.replies.free_text import text_reading  # as above

        reading = text_reading(str(text), scale, name=name)
        if reading.status == "unreadable":
            raise Incomplete(f"expected one value of the scale {scale}: {reading.rule}", text, 0)
        return str(text)

    return Form("rating", None, read, tokens=tokens, again=bare_schema(scale))


# A chain of aspects as a judge lists it: read from text or a form, tidied, never padded.


FIVE = Scale(low=1, high=5)
LONGEST = 200  # characters of a name, as in Criterion
_MARK = re.compile(r"(?:\(?\d{1,3}[.)\]:](?!\d)|[-*\u2022\u2013](?=\s))\s*")
_LABEL = re.compile(r"(?:name|aspect|definition|description)\s*:\s*", re.I)
_PLAIN_WORDS = 8  # a line without a mark is prose where more words stand before its colon


def aspect_stage(target: str) -> str:
    """The stage of an aspect's score: it names the target, so that two chains may share an aspect."""
    return f"aspects:{target}"


def chain_key(target: str, chains: str = "") -> str:
    """The key of a target's chain in `aspects`: it names whose chains these are, where they have a name."""
    return key_of(target, chains) if chains else target


def chains_of(aspects: Mapping[str, Sequence[Criterion]], chains: str = "") -> dict[str, Sequence[Criterion]]:
    """Target -> its chain, of the chains that have this name; without a name all that there are."""
    if not chains:
        return dict(aspects)
    end = key_of("", chains)
    own = {key.removesuffix(end): chain for key, chain in aspects.items() if key.endswith(end)}
    return {target.replace("%2F", "/").replace("%25", "%"): chain for target, chain in own.items()}


def read_aspects(text: str, target: str, m: int, scale: Scale = FIVE) -> tuple[list[Criterion], tuple[str, ...]]:
    """The aspects in a reply of lines such as "1. Name: definition".

    Only the first colon divides, so a definition may hold others; it may also stand on the line below its
    name. Where some lines are numbered or bulleted, other lines are no aspects; where none is, one line alone is
    prose ("Sorry: ..."), not a list. A name without a definition (a preamble, a heading) is no aspect.

    Args:
        text: the reply. target: name of the target aspect, which is no aspect of its own chain.
        m: aspects wanted, 1 or more. scale: that each will be scored on.

    Returns:
        (aspects, notes): at most m in the order of the text, no two of one name; and what was left out.
    """
    return tidy_aspects(_pairs(text), target, m, scale)


def tidy_aspects(
    pairs: Iterable[tuple[str, str]], target: str, m: int, scale: Scale = FIVE
) -> tuple[list[Criterion], tuple[str, ...]]:
    """(name, definition) pairs as a chain; names lose list marks and bold, and are compared as forms tell them apart.

    Case, white space and punctuation make no other name: "1. **COHERENCE**." is Coherence.
    """
    found: dict[str, Criterion] = {}
    twice = own = bare = 0
    for raw_name, raw_definition in pairs:
        name, definition = _name(raw_name), " ".join(raw_definition.split())
        key = same_key(name)
        if not key or not definition or len(name) > LONGEST:
            bare += 1
        elif key == same_key(target):
            own += 1
        elif key in found:
            twice += 1
        else:
            found[key] = Criterion(name=name, definition=definition, scale=scale)
    chain = list(found.values())[:m]
    out = {"named twice": twice, "the target itself": own, "without a definition": bare}
    out["beyond that number"] = len(found) - len(chain)
    why = ", ".join(f"{count} {what}" for what, count in out.items() if count)
    short = f"{len(chain)} of {counted(m, 'aspect')}" + (f" ({why})" if why else "")
    return chain, (short,) if len(chain) < m or why else ()


def _pairs(text: str) -> list[tuple[str, str]]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not any(_MARK.match(line) for line in lines):
        plain = [(name, said) for name, said in map(_divided, lines) if said and len(name.split()) <= _PLAIN_WORDS]
        return plain if len(plain) > 1 else []
    return _listed(lines)


def _listed(lines: list[str]) -> list[tuple[str, str]]:
    """Marked lines are aspects; a name alone takes its definition from the next line."""
    pairs: list[tuple[str, str]] = []
    for line in lines:
        mark = _MARK.match(line)
        waiting = bool(pairs) and not pairs[-1][1]
        if waiting and not (mark and mark[0][0].isdigit()):
            pairs[-1] = (pairs[-1][0], _LABEL.sub("", _bare(line[mark.end() :] if mark else line), count=1))
        elif mark:
            pairs.append(_divided(line[mark.end() :]))
    return pairs


def _divided(line: str) -> tuple[str, str]:
    """Name and definition on either side of the first colon."""
    name, _, definition = _LABEL.sub("", _bare(line), count=1).partition(":")
    return name.strip(" \"'\u201c\u201d"), definition.strip()


def _name(text: str) -> str:
    """A name without its list mark, bold, quotes and colon."""
    name = " ".join(_bare(text).split())
    return _bare(_MARK.sub("", name, count=1) if _MARK.match(name) else name).strip(" :\"'\u201c\u201d")


def _bare(line: str) -> str:
    """Without Markdown's bold and code marks."""
    return re.sub(r"\*\*|__|`", "", line).strip()


# The rater: one sample, all aspects of a chain in one call.


class ChainRead(TypedDict):  # what a rater reads
    sample: Sample
    aspects: dict[str, list[Criterion]]  # target, target/chains -> its chain


class AspectScores(TypedDict):  # what it writes
    scores: Scores


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Rater:
    """Scores every aspect of a chain at once, one call per chain; the target is not in view.

    Source: CoAScore section 3.3, eq. 3. What is missing in the reply, or off its scale, is asked for in a second call
    with just that; what then is still missing is "unreadable".

    Attributes:
        judge: who answers. task: one sentence that says what kind of text is judged.
        reasons: ask for a reason before each score; the paper asks for scores alone.
        reader: how scores are read; the paper's is the stated number at temperature 0.
        chains: the name of the chains that it rates; "" for those without one.
    """

    judge: JudgeLike = "embedded"
    task: str = "a generated text"
    prompt: str = "rate"
    reasons: bool = False
    reader: Reader = STATED
    name: str = "rater"
    chains: str = ""

    async def __call__(self, state: ChainRead) -> AspectScores:
        chains = {target: chain for target, chain in chains_of(state["aspects"], self.chains).items() if chain}
        rated = await asyncio.gather(*(self._rated(sample_of(state), chain) for chain in chains.values()))
        scores = [
            self._score(target, aspect, answer)
            for target, answers in zip(chains, rated, strict=True)
            for aspect, answer in answers
        ]
        return {"scores": keyed(*scores)}

    async def _rated(self, sample: Sample, chain: Sequence[Criterion]) -> list[tuple[Criterion, Rated]]:
        """Aspect by aspect, in the order of the chain."""
        asked = slugs(chain)
        came, answers = await self._asked(sample, asked, again=False)
        missing = {key: asked[key] for key, answer in answers.items() if answer.status == "unreadable"}
        if came and missing:
            answers |= (await self._asked(sample, missing, again=True))[1]
        return [(asked[key], answer) for key, answer in answers.items()]

    async def _asked(
        self, sample: Sample, asked: Mapping[str, Criterion], *, again: bool
    ) -> tuple[bool, dict[str, Rated]]:
        """Whether any reply could be read at all, and the answers."""
        messages = prompts.load(self.prompt).render(
            task=self.task, aspects=criteria_text(asked),
            **prompts.material(sample),
        )  # fmt: skip
        form = aspect_scores_form(asked, reasons=self.reasons, lenient=not again)
        slots = {key: Slot(aspect.scale, (key,)) for key, aspect in asked.items()}
        rating = await rate(self.judge, messages, form, slots, self.reader, temperature=0.0)
        return rating.value is not None, rating.answers

    def _score(self, target: str, aspect: Criterion, answer: Rated) -> Score:
        stage = aspect_stage(target)
        return Score(criterion=aspect.name, agent=self.name, stage=stage, scale=aspect.scale, **answer.fields())


def aspect_scores_form(
    aspects: Mapping[str, Criterion], *, reasons: bool = False, lenient: bool = False
) -> Form[dict[str, Any]]:
    """One entry per aspect: its score, with `reasons` a reason before it; lenient: any entry will do."""
    if reasons:
        schema = ratings_form(aspects).schema
    else:
        entry = {k: _entry(a) for k, a in aspects.items()}
        schema = record(entry)

    def read(data: Any) -> dict[str, Any]:
        try:
            return read_entries(data, aspects)
        except Incomplete as error:
            if lenient and error.got:
                return dict(error.value)
            raise

    return Form("ratings", schema, read)


def _entry(aspect: Criterion) -> dict[str, Any]:
    return record({answer_key(aspect.scale): answer_schema(aspect.scale)}, title=aspect.name)
