"""The values that travel through a graph: frozen, JSON both ways, unknown fields refused."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, Strict, ValidationError, model_validator
from typing_extensions import TypedDict

from judgegraph.errors import DataError, ScaleError, StateError, ValueRefused, given_as, one_line
from judgegraph.errors import Value as Value
from judgegraph.evidence import (
    Image,
    Passage,
    Turn,
    contexts_text,
    empty,
    facts_of,
    facts_text,
    images_of,
    images_text,
    passages_of,
    references_text,
    turns_of,
    turns_text,
    without_images,
)
from judgegraph.evidence import Json as Json
from judgegraph.evidence import text_of as text_of

Status = Literal[
    "ok", "abstained", "refused", "filtered", "truncated", "unreadable",
    "timeout", "provider_error", "agent_error", "over_budget", "too_large", "skipped",
]  # fmt: skip
Side = Literal["output", "rival"]
Verdict = Literal["A", "B", "tie"]


SAY_NOTHING = frozenset(("", "nan", "na", "n/a", "null", "none", "-"))  # of people: no judgement, unless it is a label
MEANT_AS_NUMBER = re.compile(r"[+-]?\d{1,9}([.,]\d{1,9})?\s?(%|/\s?\d{1,9}|)")  # of people, such as 1,5 and 4/5
MOST_WORDS = 20_000  # of one text: a text of 1 MB ends in seconds
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Thai, Lao, Kana, Han: written without spaces
_WORD = rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}_])\w)+(?:['’](?:(?![{_UNSPACED}_])\w)+)*"


def words(text: str) -> list[str]:
    """Words of any script, case folded, without punctuation, at most 20,000.

    A character of a script that is written without spaces counts as a word.
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    return re.findall(_WORD, folded)[:MOST_WORDS]


def has_word(text: str) -> bool:
    """Whether `words` finds any in a text, without looking for all of them."""
    return re.search(_WORD, text) is not None


def same_text(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but how wide their white space is; of JSON, whether the values are equal."""
    if one.split() == other.split():
        return True
    if not (one.lstrip()[:1] and one.lstrip()[:1] in "{[" and other.lstrip()[:1] in ("{", "[")):
        return False
    try:
        return bool(json.loads(one) == json.loads(other))
    except (ValueError, RecursionError):
        return False


def _material(value: Any) -> Any:
    """Text, a JSON object, or a non-empty list of objects; a bare number or null is a mistake in the data."""
    listed = isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    if not (isinstance(value, str | dict) or listed):
        raise ValueError(f"expected text, a JSON object or a list of objects, got {type(value).__name__}")
    try:
        plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"no JSON value: {error}") from None
    plain.encode()  # a lone surrogate cannot be written to any file
    return value


def _blank(value: Any) -> Any:
    return "" if value is None else value


def _empty(value: Any) -> Any:
    return {} if value is None else value


Material = Annotated[Json, BeforeValidator(_material)]
Optional_ = Annotated[Json, BeforeValidator(lambda v: v if v is None else _material(v))]
Text = Annotated[str, BeforeValidator(_blank)]
Number: TypeAlias = Annotated[float, Strict()]  # no text that reads like one, and no truth value
MOST_EXEMPLARS, EXEMPLAR_CHARS, REASON_CHARS = 8, 4_000, 1_000  # of a criterion; characters of one, of its reason
Human: TypeAlias = dict[str, float | str | list[float | str]]
Passages = Annotated[tuple[Passage, ...], BeforeValidator(passages_of)]
References = Annotated[tuple[Material, ...], BeforeValidator(lambda given: () if given is None else given)]
Turns = Annotated[tuple[Turn, ...], BeforeValidator(turns_of)]
Images = Annotated[tuple[Image, ...], BeforeValidator(images_of)]
Facts = Annotated[dict[str, Json], BeforeValidator(facts_of)]


class Sample(Value):
    """What is judged.

    Attributes:
        id: unique in its dataset, at least one character.
        query: the request that the output answers; "" where there is none.
        source: what the output was made from (an article, a dialogue), text or JSON.
        output: what is judged, text or JSON.
        rival: the second output of a pair, for pairwise methods.
        reference: an answer written beforehand, by people or a better model, to compare the output with.
        references: several such answers, the first of which is `reference` too; a list of texts in `reference` is that.
        contexts: passages that were retrieved, with ids: texts, objects with id and text, or an object of id -> text.
        turns: messages with roles, calls of tools and their results, OpenAI-style, in their order.
        images: pictures, each by path, address or data; content parts that hold some in query, source or output are
            moved here.
        facts: what else is known about the case, by names of your own; judges are shown it.
        human: people's judgements: criterion -> value, label, or one per annotator.
        meta: whatever else the row held; nothing in it is ever read as a score or a status.
    """

    id: str = Field(min_length=1)
    query: Text = ""
    source: Annotated[Material, BeforeValidator(_blank)] = ""
    output: Material
    rival: Optional_ = None
    reference: Optional_ = None
    references: References = Field(default=(), exclude_if=empty)
    contexts: Passages = Field(default=(), exclude_if=empty)
    turns: Turns = Field(default=(), exclude_if=empty)
    images: Images = Field(default=(), exclude_if=empty)
    facts: Facts = Field(default_factory=dict, exclude_if=empty)
    human: Annotated[Human, BeforeValidator(_empty)] = Field(default_factory=dict)  # pydantic copies a {} slowly
    meta: Annotated[dict[str, Any], BeforeValidator(_empty)] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gathered(cls, given: Any) -> Any:
        """Several references find their field, and images in content parts theirs."""
        if not isinstance(given, Mapping):
            return given
        listed = any(isinstance(given.get(name), list) for name in ("query", "source", "output", "rival", "reference"))
        return _gathered(dict(given)) if listed or given.get("references") else given

    @model_validator(mode="after")
    def _writable(self) -> Self:
        if self.id.isascii() and self.query.isascii():  # as nearly all are
            return self
        for name in ("id", "query"):
            try:
                getattr(self, name).encode()
            except UnicodeEncodeError as error:
                raise ValueError(f"{name} holds a lone surrogate: {error.reason}") from None
        return self

    def without_reference(self) -> Self:
        """The same, as it is shown where references are left out."""
        return self.without("reference")

    def without(self, *names: str) -> Self:
        """The same, as it is shown where some of its evidence is left out: "reference", "contexts", "turns", ..."""
        given = {name for name in names if getattr(self, name)} | (
            {"references"} if "reference" in names and self.references else set()
        )
        return self.model_copy(update={name: _NOTHING[name] for name in given}) if given else self

    def shown_evidence(self) -> dict[str, str]:
        """What it has beside query, source, output and one reference, as texts for people: name -> text."""
        found = {"references": references_text(self.references)} if len(self.references) > 1 else {}
        found |= {"contexts": contexts_text(self.contexts)} if self.contexts else {}
        found |= {"turns": turns_text(self.turns)} if self.turns else {}
        found |= {"images": images_text(self.images)} if self.images else {}
        return found | ({"facts": facts_text(self.facts)} if self.facts else {})

    @property
    def all_references(self) -> tuple[Json, ...]:
        """The references: several, one, or none."""
        return self.references or (() if self.reference is None else (self.reference,))

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """From a data row: fields that are not a sample's go to `meta`."""
        known = {k: v for k, v in row.items() if k in cls.model_fields and k != "meta"}
        extra = {k: v for k, v in row.items() if k not in cls.model_fields}
        meta = row.get("meta")
        if isinstance(meta, Mapping):
            extra = {**meta, **extra}
        elif meta is not None:
            extra["meta"] = meta
        return cls(**known, meta=extra)


_NOTHING: Mapping[str, Any] = {
    "reference": None, "references": (), "contexts": (), "turns": (), "images": (), "facts": {},
}  # fmt: skip


def _gathered(given: dict[str, Any]) -> dict[str, Any]:
    for name in ("query", "source", "output", "rival"):
        left, taken = without_images(given.get(name))
        if taken:
            given[name] = left
            caption = {"caption": f"in the {name}"}
            given["images"] = [*images_of(given.get("images")), *({**one, **caption} for one in taken)]
    if given.get("reference") == []:
        given["reference"] = None
    single, several = given.get("reference"), given.get("references")
    if isinstance(single, list) and single and all(isinstance(one, str) for one in single):
        given["reference"], several = single[0], [*single, *(several or ())]
    if isinstance(several, str | dict):
        several = [several]
    if isinstance(several, list | tuple) and several:
        first = given.get("reference")
        given["references"] = tuple(several) if first is None or first in several else (first, *several)
        given["reference"] = given["references"][0]
    return given


MOST_POINTS = 100_000  # of a whole scale: they are listed at every reading
MOST_HALVES = 50  # width of a scale by halves
_RANGE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|\.\.|to)\s*(-?\d+(?:\.\d+)?)\s*(any|by halves)?\s*")


def _scale_of(value: Any) -> Any:
    if isinstance(value, str):
        match = _RANGE.fullmatch(value)
        if not match:
            raise ValueError(f"a scale is '1-5', '1-5 by halves', '0-1 any' or a list of labels, got {value!r}")
        low, high, kind = match.groups()
        halves = {"halves": True} if kind == "by halves" else {}
        return {"low": float(low), "high": float(high), "whole": not kind and "." not in low + high, **halves}
    return {"labels": tuple(value)} if isinstance(value, list | tuple) else value


class Scale(Value):
    """The values a criterion can take: a numeric range, or a set of labels.

    Attributes:
        low: the least value, high: the greatest, both inclusive.
        whole: only whole numbers are points of the scale (a weighted score may lie between them).
        labels: two or more labels; then low and high are None.
        halves: the points are whole numbers and what lies half way between them.
        values: of labels, a number for each, in their order, so that they can be weighed and held against a bound.

    A string "1-5" is a whole scale, "1-5 by halves" has half steps, "1-5 any" takes any number, a list has labels.
    """

    low: float | None = None
    high: float | None = None
    whole: bool = True
    labels: tuple[str, ...] = ()
    halves: bool = Field(default=False, exclude_if=empty)
    values: tuple[float, ...] = Field(default=(), exclude_if=empty)

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return _scale_of(value)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.labels:
            if any(not label or label != label.strip() for label in self.labels):
                raise ValueError("a label is a text without space around it")
            if self.low is not None or self.high is not None:
                raise ValueError("a scale has either labels or a range, not both")
            if len({label.casefold() for label in self.labels}) != len(self.labels) or len(self.labels) < 2:
                raise ValueError("a label scale needs two or more labels, different in more than their case")
        elif self.low is None or self.high is None or self.low >= self.high:
            raise ValueError("a numeric scale needs low < high")
        elif self.whole and (self.low % 1 or self.high % 1):
            raise ValueError("a whole scale starts and ends at whole numbers")
        elif self.whole and self.high - self.low >= MOST_POINTS:
            raise ValueError(f"a whole scale of over {MOST_POINTS} points; write '{self} any'")
        if self.halves and (self.labels or self.whole or (self.low or 0) % 1 or (self.high or 0) % 1):
            raise ValueError("a scale by halves starts and ends at whole numbers, and has no labels")
        if self.halves and (self.high or 0) - (self.low or 0) > MOST_HALVES:
            raise ValueError(f"a scale by halves is at most {MOST_HALVES} wide")
        if self.values and (len(self.values) != len(self.labels) or len(set(self.values)) < 2):
            raise ValueError("values are numbers of labels, one for each, and not all alike")
        return self

    @classmethod
    def of(cls, value: Any) -> Self:
        """From "1-5", a list of labels, a mapping, or a Scale.

        Raises:
            ValueRefused: it is none of these.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise ValueRefused.of(error, cls.model_fields) from None

    @property
    def unit(self) -> str:
        """Its ends alone, such as "1-5", whatever steps it has, or its labels: numbers of one unit have a mean."""
        return str(self).removesuffix(" any").removesuffix(" by halves") if self.low is not None else str(self)

    @property
    def points(self) -> tuple[int, ...]:
        """The whole numbers on a whole scale, ascending; empty for other scales."""
        if self.low is None or self.high is None or not self.whole:
            return ()
        return tuple(range(int(self.low), int(self.high) + 1))

    @property
    def steps(self) -> tuple[float, ...]:
        """The points of a whole scale, or of one by halves; empty for other scales."""
        if not self.halves or self.low is None or self.high is None:
            return self.points
        return tuple(self.low + at / 2 for at in range(int(2 * (self.high - self.low)) + 1))

    def value_of(self, label: str) -> float | None:
        """The number of a label, None where labels have none."""
        return self.values[self.labels.index(label)] if self.values and label in self.labels else None

    def check(self, value: Any) -> float:
        """The number, if it lies on this numeric scale.

        A fraction between the points of a whole scale is kept as it is, neither refused nor rounded: a judge that
        says 4.5 means it. What reads a judge's reply notes it beside the answer.

        Raises:
            ScaleError: a label scale, no number, not finite, or out of range.
        """
        if self.low is None or self.high is None:
            raise ScaleError(f"{value!r} given on a scale of labels {self}")
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise ScaleError(f"{value!r:.40} is no number on the scale {self}")
        if not self.low <= value <= self.high:
            raise ScaleError(f"{value if abs(value) < 1e15 else 'a huge number'} is not on the scale {self}")
        return float(value)

    def check_label(self, label: Any) -> str:
        """The label as this scale spells it, whatever its case.

        Raises:
            ScaleError: a numeric scale, or none of its labels.
        """
        for known in self.labels:
            if isinstance(label, str) and label.strip().casefold() == known.casefold():
                return known
        raise ScaleError(f"{label!r} is none of {self}")

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return " / ".join(self.labels)
        return f"{self.low:g}-{self.high:g}" + (" by halves" if self.halves else "" if self.whole else " any")


class Exemplar(Value):
    """A text that was scored by one criterion, shown to those who score by it as an example of how its scale is used.

    Source: SAGEval section 4.2, exemplars for in-context learning.

    Attributes:
        output: the text, at most 4,000 characters. score: a number or label on the criterion's scale.
        reason: why it has that score, at most 1,000 characters.
    """

    output: str = Field(min_length=1, max_length=EXEMPLAR_CHARS, pattern=r"\S")
    score: Number | Annotated[str, Strict()]
    reason: str = Field(default="", max_length=REASON_CHARS)


def _levels(given: Any) -> Any:
    """(value or label, what it means) of a mapping, or of pairs."""
    pairs = given.items() if isinstance(given, Mapping) else given or ()
    pairs = tuple(pairs) if isinstance(pairs, Iterable) else (None,)
    if not all(isinstance(one, list | tuple) and len(one) == 2 for one in pairs):
        raise ValueError("levels are a mapping of each value or label to what it means")
    return tuple((_level_name(name), str(text)) for name, text in pairs)


def _level_name(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value).strip()


Levels = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_levels)]


class Criterion(Value):
    """What a sample is judged by.

    Attributes:
        name: unique in its set.
        definition: what it measures, one or two sentences.
        steps: how to judge it, in order (G-Eval's evaluation steps).
        scale: its values; 1-5 unless said.
        guideline: what each value means (Fennec's scoring guideline), None until written; that of `levels` where these
            are given alone.
        levels: (value or label, what it means), in the order in which they are shown; a mapping is taken.
        weight: in the overall score; points in HealthBench's sense, where a negative one counts against. Where any
            criterion of a run has another weight than 1, the run has a weighted overall score.
        threshold: the least value (of labels with values also a label) that is good enough; `--require thresholds`
            holds a run against it.
        examples: texts with their scores by it, at most 8; whoever scores by it is shown them.
        since: the version of its set that brought it as it is. Who asks for several criteria in one call asks for those
            of each version in a call of their own, so that what earlier versions asked stands in the ledger.
    """

    name: str = Field(min_length=1, max_length=200)
    definition: str = ""
    steps: tuple[str, ...] = ()
    scale: Scale = Scale(low=1, high=5)
    guideline: str | None = None
    examples: tuple[Exemplar, ...] = Field(default=(), max_length=MOST_EXEMPLARS)
    levels: Levels = Field(default=(), exclude_if=empty)
    weight: Number = Field(default=1.0, exclude_if=lambda weight: weight == 1.0, ge=-1000, le=1000)
    threshold: Number | Annotated[str, Strict()] | None = Field(default=None, exclude_if=lambda value: value is None)
    since: int = Field(default=1, ge=1, exclude_if=lambda since: since == 1)

    @model_validator(mode="before")
    @classmethod
    def _levels_are_a_guideline(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and given.get("levels") and not given.get("guideline"):
            levels = _levels(given["levels"])
            return {**given, "levels": levels, "guideline": levels_text(levels)}
        return given

    @model_validator(mode="after")
    def _on_scale(self) -> Self:
        for one in self.examples:
            _ = self.scale.check_label(one.score) if self.scale.labels else self.scale.check(one.score)
        for name, _text in self.levels:
            _ = self.scale.check_label(name) if self.scale.labels else self.scale.check(_number(name))
        if self.threshold is not None:
            if self.scale.labels and not self.scale.values:
                raise ValueError("a threshold needs an order: give the labels values, {poor: 0, good: 1}")
            labelled = isinstance(self.threshold, str)
            _ = self.scale.check_label(self.threshold) if labelled else self._bound(float(self.threshold))
        return self

    def _bound(self, threshold: float) -> float:
        return threshold if self.scale.values else self.scale.check(threshold)


def _number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        raise ScaleError(f"the level {name!r:.40} is no number") from None


def levels_text(levels: Iterable[tuple[str, str]]) -> str:
    """One line a level, "4: what it means"."""
    return "\n".join(f"{name}: {' '.join(text.split())}" for name, text in levels)


def number_of(score: Score) -> float | None:
    """A score's value, or the number of its label where its scale gives labels some; None without an answer."""
    if score.value is not None or score.label is None:
        return score.value
    return score.scale.value_of(score.label) if score.scale is not None else None


def weighted_overall(scores: Iterable[Score], criteria: Iterable[Criterion]) -> float | None:
    """Answers by weighted criteria as one number from 0 to 1.

    Each answer is a share of its scale, and counts by its weight; the sum is held against that of the positive weights
    and drawn into 0 to 1, as HealthBench does it (Arora et al. 2025, arXiv:2505.08775), so that with positive weights
    alone it is the weighted mean. Several answers by one criterion count by their mean.

    Returns:
        None where a criterion has no answer that is a number, or no weight is positive: what is missing is no zero.
    """
    shares: dict[str, list[float]] = {}
    for score in scores:
        if score.of == "output" and (share := _share(score)) is not None:
            shares.setdefault(score.criterion, []).append(share)
    total = most = 0.0
    for one in criteria:
        if not (found := shares.get(one.name)):
            return None
        total += one.weight * sum(found) / len(found)
        most += max(one.weight, 0.0)
    return min(1.0, max(0.0, total / most)) if most > 0 else None


def _share(score: Score) -> float | None:
    scale, value = score.scale, number_of(score)
    if scale is None or value is None:
        return None
    low, high = (min(scale.values), max(scale.values)) if scale.values else (scale.low, scale.high)
    return (value - low) / (high - low) if low is not None and high is not None else None


def names_of(given: str | Sequence[str]) -> tuple[str, ...]:
    """One name, or several, as a tuple: a text is one name, and never its letters."""
    return (given,) if isinstance(given, str) else tuple(given)


def key_of(*parts: object) -> str:
    """Parts joined by "/"; a "/" or "%" inside a part is escaped, so keys cannot collide."""
    return "/".join(str(part).replace("%", "%25").replace("/", "%2F") for part in parts)


class Score(Value):
    """One criterion of one sample by one agent at one stage.

    Attributes:
        criterion: name of the criterion. agent: who scored. stage: "draft", "final", or an agent's own word.
        repeat: 0, 1, ... for repeated or exchanged judgements. of: which output of a pair.
        value: in the units of `scale`; label: on a label scale; both None unless status is "ok".
        status: how the scoring ended. reason: the agent's, or what went wrong.
        distribution: scale point or label -> probability or share, sums to 1 over what was seen.
        unseen: probability, 0 to 1, that lay on no valid point.
        reader: the rung that read it: "logprobs", "samples", "stated", "mean", "text", "plain", "panel".
        raw: the reply as it came, kept where it could not be read.
        notes: repairs of the reply and other things worth knowing.
        draft: key of the score that this one rectifies; None where it rectifies none.
        votes: keys of the scores that it was combined from, as a panel's of its ballots; a critic that rectifies such a
            score passes them on.
        member: name of the panel's member that wrote it on its way to a vote; "" of all that nobody joins.
    """

    criterion: str
    agent: str
    stage: str = "final"
    repeat: int = Field(default=0, ge=0)
    of: Side = "output"
    value: Number | None = None
    label: str | None = None
    status: Status = "ok"
    reason: str = ""
    scale: Scale | None = None
    distribution: dict[str, float] | None = None
    unseen: float | None = Field(default=None, ge=0, le=1)
    reader: str = ""
    raw: str | None = None
    notes: tuple[str, ...] = ()
    draft: str | None = None
    votes: tuple[str, ...] = ()
    member: str = ""

    @model_validator(mode="after")
    def _honest(self) -> Self:
        given = (self.value is not None) + (self.label is not None)
        if self.status == "ok" and given != 1:
            raise ValueError("an ok score has a value or a label")
        if self.status != "ok" and given:
            raise ValueError(f"a score with status {self.status!r} has no value and no label")
        return self

    @property
    def key(self) -> str:
        """criterion/agent/stage/repeat, with "/rival" behind it for the second output of a pair."""
        plain = f"{self.criterion}/{self.agent}/{self.stage}/{self.repeat}"
        if self.of == "output" and plain.count("/") == 3 and "%" not in plain:
            return plain
        parts = (self.criterion, self.agent, self.stage, self.repeat)
        return key_of(*parts) if self.of == "output" else key_of(*parts, self.of)

    @property
    def answer(self) -> float | str | None:
        """The value or the label, None unless ok."""
        return self.label if self.value is None else self.value


class Rectification(Value):
    """What a critic says of one score: leave it, or change it, and why."""

    criterion: str
    agent: str
    action: Literal["keep", "change"] = "keep"
    direction: Literal["up", "down", "none"] = "none"
    value: float | None = None
    label: str | None = None
    reason: str = ""
    status: Status = "ok"
    distribution: dict[str, float] | None = None
    unseen: float | None = Field(default=None, ge=0, le=1)
    reader: str = ""
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """criterion/agent."""
        return key_of(self.criterion, self.agent)


class Suggestion(Value):
    """A changed definition of a criterion, or a new criterion; it changes no score of the same run."""

    kind: Literal["definition", "criterion"]
    criterion: str = Field(min_length=1)
    definition: str
    reason: str = ""
    agent: str = ""


class Plan(Value):
    """How to use the assistants: text for the judge, and which assistants serve which criterion."""

    text: str
    alignment: dict[str, tuple[str, ...]] = {}
    usage: dict[str, str] = {}
    status: Status = "ok"


class Finding(Value):
    """What an assistant evaluator said of one sample; a failure is said, never a zero."""

    assistant: str
    value: float | str | None = None
    status: Status = "ok"
    reason: str = ""


class Comparison(Value):
    """A pairwise verdict, by one criterion or merged over all.

    Attributes:
        criterion: its name; "overall" for the merged verdict. order: which response stood first.
        score_a, score_b: of `Sample.output` (A) and `Sample.rival` (B), whatever the order.
    """

    criterion: str
    agent: str
    verdict: Verdict | None = None
    score_a: float | None = None
    score_b: float | None = None
    order: Literal["AB", "BA", "both"] = "AB"
    status: Status = "ok"
    reason: str = ""
    raw: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """criterion/agent/order."""
        return key_of(self.criterion, self.agent, self.order)


class Correction(Value):
    """A response rewritten where criteria scored low; the original stays beside it, and what was said of it.

    Attributes:
        of: which output of a pair. text: as rewritten, "" unless status is "ok". original: as it was judged.
        agent: who rewrote, "" for a corrector without a name of its own.
        status: "skipped" where what came back is the original, or that is empty: nothing was changed, and `text` is "".
        criteria: names of those that scored low. rule: what low was, such as "below 3 on 1-5".
        by: their scores with their reasons, as the corrector was shown them.
    """

    of: Side = "output"
    agent: str = ""
    text: str = ""
    original: str = ""
    criteria: tuple[str, ...] = ()
    rule: str = ""
    by: tuple[Score, ...] = ()
    status: Status = "ok"
    reason: str = ""

    @property
    def key(self) -> str:
        """The side, with "/agent" behind it where there is one."""
        return key_of(self.of, self.agent) if self.agent else self.of

    @property
    def changed(self) -> bool:
        """Whether there is another text than the original: what came back as it was is no correction."""
        return self.status == "ok" and bool(self.text) and not same_text(self.text, self.original)

    @property
    def outcome(self) -> str:
        """ "ok" of a response that was changed, "unchanged" of one that came back as it was, else the status."""
        return "unchanged" if self.status in ("ok", "skipped") and not self.changed else self.status


class Note(Value):
    """Something a reader of the result should know: a shortfall, a fallback, a step that failed.

    Attributes:
        kind: a short fixed word for what happened ("assistants-skipped"), so that samples with the same trouble are
            counted together however their texts differ; "" where the text alone says it.
    """

    agent: str
    text: str
    status: Status = "ok"
    kind: str = ""

    @property
    def key(self) -> str:
        """agent/text."""
        return key_of(self.agent, self.text)


Scores: TypeAlias = dict[str, Score]
Comparisons: TypeAlias = dict[str, Comparison]
Notes: TypeAlias = dict[str, Note]


def merged(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> dict[str, Any]:
    """Join two mappings by key, the newer wins: the reducer where branches meet.

    `operator.add` on lists doubles what passes through a subgraph; a mapping does not.
    """
    return {**(old or {}), **(new or {})}


def joined(old: Sequence[Suggestion] | None, new: Sequence[Suggestion] | None) -> list[Suggestion]:
    """Join two lists of suggestions: the reducer where critics meet.

    The same advice of the same agent (kind, criterion, definition) stands once, so nothing doubles through a subgraph.
    """
    return list({(s.kind, s.criterion, s.definition, s.agent): s for s in (*(old or ()), *(new or ()))}.values())


def latest(old: Any, new: Any) -> Any:
    """The newer of two values: the reducer of keys that hold one answer.

    Of nodes that end in one step, LangGraph applies what they wrote in a fixed order, whichever was quicker: nodes
    by name, what was sent (`Send`) as it was dispatched. So the last of these stands.
    """
    return new


def keyed(*values: Any) -> dict[str, Any]:
    """Values by their own key, to write into a merged key of the state.

    Raises:
        StateError: two scores have one key and differ: the first would be lost.
    """
    found: dict[str, Any] = {}
    for value in values:
        if (key := getattr(value, "key", None)) is None:
            raise StateError(f"keyed takes values such as Score, each by itself, keyed(*scores); got {given_as(value)}")
        before = found.setdefault(key, value)
        if before is value:
            continue
        if isinstance(value, Score) and before != value:
            raise StateError(
                f"two scores of one key, '{one_line(key, 80)}', differ, and the first would be lost: give each "
                "another criterion=, agent=, stage= or repeat="
            )
        found[key] = value
    return found


@lru_cache(maxsize=1)
def once() -> Any:
    """The channel of what a graph is given: as without a reducer, but equal values of one step are one value.

    A graph of one's own hands back its whole state, the sample among it; so several stand side by side. It is made
    where LangGraph reads the state's annotations, as importing this file brings no LangGraph.
    """
    from langgraph.channels import LastValue

    class Once(LastValue[Any]):
        def update(self, values: Sequence[Any]) -> bool:
            first = values[:1]
            try:
                alike = all(one is first[0] or one == first[0] for one in values)
            except ValueError:  # arrays tell no one truth of all their cells
                alike = False
            return super().update(first if alike else values)

    return Once


class Asked(TypedDict, total=False):
    """What a method reads of a state, and no more: what other methods wrote before it cannot change its scores."""

    sample: Annotated[Sample, once()]
    criteria: Annotated[list[Criterion], once()]  # what to judge by, else its own; methods leave it as it is
    task: Annotated[str, once()]  # one sentence: what kind of text is judged, for prompts


class Result(TypedDict, total=False):
    """What agents write: the output of a graph of one's own that is to be a node of others.

    `StateGraph(jg.EvalState, output_schema=jg.Result)` hands back what its nodes wrote, and not the sample that it was
    given. In a graph with a state of its own (`sample: jg.Sample`), such graphs alone stand side by side.
    """

    scores: Annotated[Scores, merged]
    rectifications: Annotated[dict[str, Rectification], merged]  # criterion/agent -> what the critic says
    suggestions: Annotated[list[Suggestion], joined]
    aspects: Annotated[dict[str, list[Criterion]], merged]  # target, target/name -> its chain (CoAScore)
    branches: Annotated[dict[str, Criterion], merged]  # criterion/agent -> as it was written for the sample (Fennec)
    plan: Annotated[Plan, latest]
    findings: Annotated[dict[str, Finding], merged]  # assistant -> what it said
    comparisons: Annotated[Comparisons, merged]
    corrections: Annotated[dict[str, Correction], merged]  # side, side/agent -> rewritten
    overall: Annotated[float | None, latest]
    verdict: Annotated[Verdict | None, latest]
    notes: Annotated[Notes, merged]


class EvalState(Asked, Result, total=False):
    """The shared vocabulary of states: agents of different methods fit together because they use it.

    Methods may stand side by side in one graph. Mappings are joined by key and suggestions as a list, so all of them
    are kept; of `plan`, `overall` and `verdict`, which hold one answer, the later one stands (`latest`). What each
    method said for itself is in its scores and comparisons, under its agents' names.
    """


MEANT = (  # fields whose misspelt names are told
    "query", "source", "output", "rival", "reference", "references", "contexts", "turns", "images", "facts", "human",
)  # fmt: skip
ALIKE = 0.8  # of 1


@lru_cache(maxsize=4096)
def meant(key: str) -> str:
    """The field that a column's name is nearly spelt as, "" for none: "qurey", "rivall", "Output", "humna.Fluency"."""
    head, dot, name = key.partition(".")
    folded = head.strip().casefold()
    if not folded.isalpha() or head in MEANT:
        return ""
    for near in get_close_matches(folded, MEANT, 2, ALIKE):
        if (near[0] == folded[0] or sorted(near) == sorted(folded)) and (not dot or near == "human"):
            return near + dot + name
    return ""


def misspelt(sample: Sample) -> dict[str, str]:
    """Key of a sample's `meta` -> the field that it may have been meant for, of fields that the sample lacks."""
    found = {key: near for key in sample.meta if (near := meant(key))}
    return {key: near for key, near in found.items() if not getattr(sample, near.partition(".")[0])}


def sample_of(state: Mapping[str, Any]) -> Sample:
    """The sample of a state, also where it came as a plain mapping, such as JSON; a field of no sample goes to `meta`,
    but for one that is nearly spelt as a field that it lacks.

    Raises:
        DataError: there is none, or it cannot be made one; the message says what is wrong with which field.
    """
    given = state.get("sample")
    if isinstance(given, Sample):
        return given
    if isinstance(given, Mapping):
        row = {str(name): value for name, value in given.items()}
        own = "".join(f"; '{one_line(key, 60)}': did you mean '{near}'?" for key in row if (near := meant(key)))
        try:
            found = Sample.of_row(row)
        except ValueRefused as error:
            raise DataError(f"the state's sample: {_faults(error)}{own}; {_CURE}") from None
        for key, near in misspelt(found).items():
            if key in row:
                said = f"'{one_line(key, 60)}' is no field of a sample: did you mean '{one_line(near, 60)}'?"
                raise DataError(f"the state's sample: {said} If not, write it into meta: {{...}}")
        return found
    what = "missing" if given is None else f"a {type(given).__name__}"
    raise DataError(f"the state's sample is {what}; {_CURE}")


def given_criteria(state: Mapping[str, Any]) -> list[Criterion]:
    """The criteria of a state, also where they came as plain mappings; none where it has none.

    Raises:
        DataError: one cannot be made of what is given.
    """
    given = state.get("criteria")
    if not given:
        return []
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        raise DataError(f"the state's criteria are a {type(given).__name__}; write a list, [Criterion(name=...)]")
    try:
        return [one if isinstance(one, Criterion) else Criterion.model_validate(one) for one in given]
    except ValidationError as error:
        raise DataError(f"the state's criteria: {_faults(error)}; write [Criterion(name=...)]") from None


_CURE = 'write Sample(id="1", output="what is judged"), or a mapping of its fields'


def _faults(error: ValidationError | ValueRefused) -> str:
    found = (f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.errors(include_url=False)[:5])
    return one_line("; ".join(found), 300)
