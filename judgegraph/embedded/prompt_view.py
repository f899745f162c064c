"""A prompt as the judge reads it: its sections and blocks, the sample in them and its kind."""

from __future__ import annotations

import itertools
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

from judgegraph.embedded.families import families_of, stated_direction, stated_range
from judgegraph.embedded.text import (
    Alignment,
    Source,
    Text,
    align,
    clean,
    content,
    read_output,
    read_source,
    source_of,
    words_of,
)

_KIN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"rouge|chrf|(?<!self-)bleu|overlap(?!s)|coverage|bleurt|similar", ("relevance", "consistency", "groundedness")),
    (r"nli|entail|copied|novel", ("consistency", "groundedness")),
    (r"prob|perplex|likelihood", ("fluency", "naturalness", "understandability")),
    (r"length", ("conciseness", "relevance")),
)


def assistant_families(name: str, description: str = "") -> tuple[str, ...]:
    """Families an assistant evaluator serves, by its name and description."""
    found = [*families_of(name), *families_of("", description)]
    for words, families in _KIN:
        if re.search(words, f"{name} {description}", re.I):
            found += families
    return tuple(dict.fromkeys(found))


def direction(description: str) -> int:
    """1 where a higher value is better (also where nothing is said), -1 where a lower one is, 0 where neither is."""
    stated = stated_direction(description)
    return 1 if stated is None else stated


def goodness(value: float, description: str = "") -> float | None:
    """A value as a share of what is best, 0-1; None where it has no direction or lies off its range."""
    way = direction(description)
    low, high = stated_range(description) or (0.0, 100.0 if 1 < value <= 100 else 1.0)
    if not way or not low <= value <= high:
        return None
    share = (value - low) / (high - low)
    return share if way > 0 else 1 - share


# The blocks ("## Name ...") in a prompt's sections: criteria, and scores given to them.


_SCALE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.)\s*(-?\d+(?:\.\d+)?)\s*(any)?")
_FIELD = re.compile(
    r"^(key|scale|definition|steps(?:, in this order)?|guideline|score|label|status|reason)\s*:\s*(.*)$", re.I
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE]-?\d+)?")


@dataclass(frozen=True)
class Seen:
    """A criterion as a prompt shows it, with a draft score where one stands."""

    name: str
    key: str = ""  # of a form, where the prompt says it
    definition: str = ""
    low: float | None = None
    high: float | None = None
    whole: bool = True
    labels: tuple[str, ...] = ()
    value: float | None = None
    label: str = ""
    reason: str = ""


def slug(name: str) -> str:
    """A name in any script as a key: two names are one where they differ in case and marks alone."""
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_")


def _fields(block: str) -> dict[str, str]:
    held: dict[str, str] = {}
    current = ""
    for line in block.splitlines():
        match = _FIELD.match(line)
        if match and match[1].lower() not in held:
            current = match[1].lower()
            held[current] = match[2]
        elif current:
            held[current] += "\n" + line
        elif line.strip():
            held["definition"] = (held.get("definition", "") + " " + line).strip()
    return held


def _seen(name: str, block: str) -> Seen:
    held = _fields(block)
    scale = held.get("scale", "").strip()
    match = _SCALE.fullmatch(scale)
    low, high = (float(match[1]), float(match[2])) if match else (None, None)
    labels = tuple(p.strip() for p in re.split(r"\s*[/|]\s*", scale) if p.strip()) if scale and not match else ()
    number = NUMBER.search(held.get("score", ""))
    whole = not (match and (match[3] or "." in match[1] + match[2]))
    return Seen(
        name=name.strip(), key=held.get("key", "").strip(), definition=" ".join(held.get("definition", "").split()),
        low=low, high=high, whole=whole,
        labels=labels, value=float(number[0]) if number else None, label=held.get("label", "").strip(),
        reason=" ".join(held.get("reason", "").split()),
    )  # fmt: skip


def blocks(text: str) -> Iterator[Seen]:
    """Criteria or scores in a section; a section without "## " headings is one, or one per "name: text" line."""
    if not text.strip():
        return
    parts = re.split(r"^##\s+(.+)$", text, flags=re.M)
    if len(parts) > 2:
        for name, block in zip(parts[1::2], parts[2::2], strict=False):
            yield _seen(name, block)
        return
    lines = [re.sub(r"^\s*(?:[-*]|\d+[.)])\s*", "", line) for line in text.splitlines() if line.strip()]
    named = [line.partition(":") for line in lines]
    if len(lines) > 1 and all(colon and len(name) < 80 for name, colon, _ in named):
        for name, _, rest in named:
            yield _seen(name, "Definition: " + rest.strip())
        return
    name, colon, rest = lines[0].partition(":")
    short = bool(colon) and len(name) < 80
    yield _seen(
        name if short else lines[0][:80], "Definition: " + " ".join([rest.strip() if short else lines[0], *lines[1:]])
    )


# What kind of sample the sections hold, told by their shape, and where its source, request and fact stand.


Kind: TypeAlias = Literal["summary", "dialogue", "data", "form", "story", "answer", "plain"]

OUTPUT = ("output", "response", "summary", "answer", "candidate", "hypothesis", "reply", "completion", "story", "text",
          "form", "survey", "submission", "draft", "response_a", "output_a")  # fmt: skip
SOURCE = ("source", "article", "document", "passage", "premise", "input", "data", "context")
QUERY = ("query", "question", "request", "prompt", "instruction", "user_request")
RIVAL = ("rival", "response_b", "output_b", "second", "other")
HISTORY = ("history", "dialogue", "conversation", "dialog", "turns", "messages")
FACT = ("fact", "facts", "knowledge", "context")

_MEANING = re.compile(r"^\s*\??[\w-]+\s*\([^()]*\)|^\s*\w[\w ]*\[[^\]]*\](?:\s*,\s*\w[\w ]*\[[^\]]*\])*")
_TURN = re.compile(r"^\s*([A-Z][\w .]{0,20}|[a-z]+ ?\d?)\s*:\s+\S")
_SPEAKER = re.compile(r"[a-d]|(?:speaker|person|user|agent|human|assistant|bot|system|customer)(?: \w+)?")
_FACT_LINE = re.compile(r"^\s*(?:fact|knowledge|context)\s*:\s*", re.I)
_CRITERIA = ("task", "criterion", "criteria", "target")


def first_of(sections: Mapping[str, str], names: tuple[str, ...]) -> str:
    """The first of these sections that holds anything."""
    return next((sections[n] for n in names if sections.get(n, "").strip()), "")


def loads(text: str) -> Any:
    """JSON value of a text, None where it is none."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > 400_000:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_STEP_HEAD = re.compile(r"^\[\d+\] ?(?:id: [^\n]*)?", re.M)
_TOOL_LINE = re.compile(r"^\[\d+\] (?:tool\b|[^\n:]{1,200} calls )", re.M)


def with_evidence(sections: Mapping[str, str]) -> Mapping[str, str]:
    """Passages, and the steps of a run that used tools, as the source where there is none; heads are taken off."""
    held = dict(sections)
    steps = held.pop("turns", "")
    plain = re.sub(r"^ {4}", "", _STEP_HEAD.sub("", held.pop("contexts", "")), flags=re.M).strip()
    if steps and not _TOOL_LINE.search(steps):
        held["turns"] = _STEP_HEAD.sub("", steps)
    elif steps and not plain:
        plain = _STEP_HEAD.sub("", steps)
    if plain and not first_of(held, SOURCE):
        held["source"] = plain
    return held


def is_talk(text: str) -> bool:
    """Turns of a conversation: short lines with speakers, or short lines that all lack a capital."""
    lines = [line for line in text.strip().splitlines()[:60] if line.strip()]
    if not lines or any(len(line) > 900 for line in lines):
        return False
    speakers = [m[1].lower() for line in lines if (m := _TURN.match(line))]
    known = sum(bool(_SPEAKER.fullmatch(s)) for s in speakers)
    if max(known, len(speakers) - len(set(speakers))) * 2 >= len(lines):
        return True
    small = all(line.strip()[0].islower() and len(line.split()) > 2 for line in lines)
    return len(lines) > 1 and small and sum(line.rstrip()[-1] in ".?!" for line in lines) * 2 >= len(lines)


def strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text and number in a JSON value, in order."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
    elif depth < 12:
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from strings(item, depth + 1)


def _dialogue_lines(value: Any) -> list[str]:
    """Turns in a list of strings or of objects with a text."""
    if not isinstance(value, list):
        return [str(value)] if value else []
    keys = ("text", "content", "utterance", "message")
    return [str(next((t[k] for k in keys if k in t), "")) if isinstance(t, dict) else str(t) for t in value]


def _json_talk(text: str) -> tuple[str, str] | None:
    """History and fact of a dialogue written as JSON."""
    held = loads(text)
    if isinstance(held, list) and held and all(isinstance(t, dict) and {"text", "content"} & set(t) for t in held):
        return "\n".join(_dialogue_lines(held)), ""
    if isinstance(held, dict) and (key := next((k for k in HISTORY if k in held), None)):
        return "\n".join(_dialogue_lines(held[key])), "\n".join(strings([held[k] for k in FACT if k in held]))
    return None


def _talk(sections: Mapping[str, str], source: str, query: str) -> tuple[str, str]:
    """History and fact of a dialogue, wherever they stand."""
    for text in (source, query, first_of(sections, HISTORY)):
        if found := _json_talk(text):
            return found[0], found[1] or first_of(sections, FACT)
    history, fact = first_of(sections, HISTORY), first_of(sections, FACT)
    if not history:
        swap = bool(source.strip()) and ((is_talk(source) and not is_talk(query)) or not query.strip())
        history, other = (source, query) if swap else (query, source)
        fact = fact or (other if not swap or len(other) > 200 else "")
    elif not fact:
        fact = source if source != history else ""
    facts = [_FACT_LINE.sub("", line) for line in history.splitlines() if _FACT_LINE.match(line)]
    if facts and not fact:
        rest = [line for line in history.splitlines() if not _FACT_LINE.match(line)]
        history, fact = "\n".join(rest), "\n".join(facts)
    return history, fact


def _talks(sections: Mapping[str, str], source: str, query: str, words: str) -> bool:
    if first_of(sections, HISTORY) or any(_json_talk(t) for t in (source, query)):
        return True
    task = sections.get("task", "").lower()
    if "summar" in (task or words):
        return False
    named = bool(re.search(r"\b(?:dialog|conversation)", words)) and not _MEANING.match(source)
    return named or any(is_talk(t) for t in (source, query))


def parts(sections: Mapping[str, str], output: str, source: str, query: str) -> tuple[Kind, str, str, str]:
    """Kind, source, query (of a dialogue: its history) and fact."""
    held = loads(output)
    if isinstance(held, dict | list) and survey_of(held) is not None:
        return "form", source, query, ""
    words = " ".join([*(sections.get(k, "") for k in _CRITERIA), query[:300]]).lower()
    if _talks(sections, source, query, words):
        history, fact = _talk(sections, source, query)
        return "dialogue", source, history, fact
    table = loads(source)
    if isinstance(table, dict) and table and not any(len(t) > 120 for t in strings(table)):
        return "data", source, query, ""
    for text, other in ((source, query), (query, source)):
        if _MEANING.match(text) and len(text) < 1500:
            return "data", text, other, ""
    if source.strip():
        return "summary", "\n".join(strings(table)) if table is not None else source, query, ""
    if not query.strip():
        return "plain", "", "", ""
    story = re.search(r"\b(?:story|stories|narrat\w+|tale)\b", words)
    return ("story" if story else "answer"), "", query, ""


# One sample as its tagged sections show it, and what kind of sample it is.


_LOOKED_AT = 4000  # characters whose script is looked at
_LATIN = ("LATIN", "FULLWIDTH LATIN")


@dataclass(frozen=True, eq=False)
class Case:
    """What is judged: texts as they stand in their sections, cut up when first looked at."""

    kind: Kind
    output: str
    source: str
    query: str
    fact: str
    grounds: str  # everything an output may draw on, for corrections and names

    @cached_property
    def text(self) -> Text:
        if self.survey is not None:
            return read_output("\n".join(self.survey.strings))
        return read_output(self.output)

    @cached_property
    def src(self) -> Source:
        return source_of(self.source)

    @cached_property
    def asked(self) -> Text:
        return read_source(self.query)

    @cached_property
    def ground(self) -> Source:
        return source_of(self.grounds)

    @cached_property
    def alignment(self) -> Alignment:
        return align(self.text, self.src)

    @cached_property
    def survey(self) -> Survey | None:
        return survey_of(loads(self.output)) if self.kind == "form" else None

    @cached_property
    def figures(self) -> bool:
        """Figures without a word: a bare "4" may be right or wrong, and text features cannot tell."""
        return any(map(str.isdigit, self.output)) and not any(map(str.isalpha, self.output))

    @cached_property
    def script(self) -> str:
        """Which of the texts is of another script than Latin, "" for none: my word features read English."""
        read = "\n".join(self.survey.strings) if self.survey is not None else self.output
        other = ("source", self.source) if self.source.strip() else ("request", self.query)
        return next((name for name, text in (("text", read), other) if _foreign(text)), "")

    @property
    def empty(self) -> bool:
        """Nothing that could be judged."""
        return bool(self.hollow)

    @cached_property
    def hollow(self) -> str:
        """Why there is nothing to judge: no word, a lone label, or a promise of a solution without one; else ""."""
        words = self.text.words
        if not any(c.isalpha() for w in words for c in w):
            return "all of it speaks to a grader and was set aside" if self.text.orders else "it holds no word"
        bare, short = self.output.strip(), len(words) <= 9
        opener = r"(?:thought process|let'?s (?:solve|think)|(?:final )?(?:solution|answer)\W*$)"
        if short and (bare.endswith(":") or re.match(opener, bare, re.I)):
            return "it says nothing: it opens an answer, or is a label, and what it announces is missing"
        if len(words) < 5 and _foreign(bare) and self.query.isascii() and self.source.isascii():
            return "it says nothing: a few signs of another script than that of what was asked"
        return ""


def _foreign(text: str) -> bool:
    """Most letters of its beginning are of another script than Latin."""
    letters = [c for c in text[:_LOOKED_AT] if c.isalpha()] if not text.isascii() else []
    return sum(not unicodedata.name(c, "").startswith(_LATIN) for c in letters) * 2 > len(letters)


def case_of(sections: Mapping[str, str], output: str | None = None) -> Case:
    """The case in these sections; `output` puts another text in place of the judged one (a rival)."""
    if "contexts" in sections or "turns" in sections:
        sections = with_evidence(sections)
    judged = first_of(sections, OUTPUT) if output is None else output
    return _case(judged, *parts(sections, judged, first_of(sections, SOURCE), first_of(sections, QUERY)))


@lru_cache(maxsize=64)
def _case(output: str, kind: Kind, source: str, query: str, fact: str) -> Case:
    grounds = "\n".join(dict.fromkeys(t for t in (source, query, fact) if t.strip()))
    return Case(kind=kind, output=output, source=source, query=query, fact=fact, grounds=grounds)


# The tagged sections of a prompt, and what they hold.


_OPEN = re.compile(r"<([a-z][a-z0-9_-]{0,40}?)-([0-9a-zA-Z]{4,64})>")
_MOST_OPENERS = 400
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ASKED = re.compile(
    r"\b(\d{1,2}|" + "|".join(_NUMBERS) + r")\s+(?:\w+\s+){0,2}?(?:aspects|criteria|metrics|dimensions)\b", re.I
)


def read_sections(prompt: str) -> tuple[dict[str, str], str]:
    """Section name -> text, and the words outside the sections.

    A tag closes only by its own nonce; what stands inside opens nothing. A name that is there twice has its first text.
    """
    found: dict[str, str] = {}
    outside: list[str] = []
    at = tries = left = 0
    while tries < _MOST_OPENERS and (match := _OPEN.search(prompt, at)):
        tries += 1
        closer = f"</{match[1]}-{match[2]}>"
        end = prompt.find(closer, match.end())
        if end < 0:
            at = match.end()
            continue
        found.setdefault(match[1].replace("-", "_"), prompt[match.end() : end].strip("\n"))
        outside.append(prompt[left : match.start()])
        at = left = end + len(closer)
    return found, " ".join([*outside, prompt[left:]])


@dataclass(frozen=True, eq=False)
class Prompt:
    """What the message in force holds: its sections, what the blocks in them say, and a number of things asked for.

    `said` are the words outside the sections: of them nothing but that number is read.
    """

    sections: Mapping[str, str] = field(default_factory=dict)
    outside: str = ""

    @cached_property
    def count(self) -> int | None:
        """How many aspects or criteria the words outside the sections ask for, None where they name no number."""
        found = _ASKED.search(self.outside)
        if found is None:
            return None
        return int(found[1]) if found[1].isdigit() else _NUMBERS.index(found[1].lower()) + 1

    @cached_property
    def criteria(self) -> tuple[Seen, ...]:
        """Criteria in order of their sections: the one asked for first."""
        held: dict[str, Seen] = {}
        for name in ("criterion", "criteria", "target", "aspects", "aspect", "rubric"):
            for seen in blocks(self.sections.get(name, "")):
                held.setdefault(seen.key or slug(seen.name), seen)
        return tuple(held.values())

    @cached_property
    def single(self) -> Seen | None:
        """The criterion or target that the whole prompt is about."""
        for name in ("criterion", "target", "aspect", "rubric"):
            for seen in blocks(self.sections.get(name, "")):
                return seen
        return self.criteria[0] if len(self.criteria) == 1 else None

    @cached_property
    def drafts(self) -> dict[str, Seen]:
        """Slug of a criterion -> its draft score, by another judge or by itself."""
        shown = self.sections.get("scores") or self.sections.get("own_scores", "")
        return {slug(s.name): s for s in blocks(shown) if s.name}

    @cached_property
    def findings(self) -> dict[str, float]:
        """Assistant -> number it gave; absent ones and words are left out."""
        found = {}
        for line in self.sections.get("findings", "").splitlines():
            name, _, rest = line.strip().lstrip("-* ").partition(":")
            if re.fullmatch(NUMBER, rest.strip()):
                found[name.strip()] = float(rest)
        return found

    @cached_property
    def assistants(self) -> dict[str, str]:
        """Assistant -> what is said of it."""
        text = self.sections.get("assistants", "")
        parts = re.split(r"^##\s+(.+)$", text, flags=re.M)
        if len(parts) > 2:
            return {n.strip(): " ".join(b.split()) for n, b in zip(parts[1::2], parts[2::2], strict=False)}
        lines = (line.strip().lstrip("-* ").partition(":") for line in text.splitlines() if ":" in line)
        return {name.strip(): rest.strip() for name, _, rest in lines}

    def planned(self, criterion: str) -> frozenset[str]:
        """The assistants that the plan names for a criterion, in a line "- NAME: one, another"."""
        found: set[str] = set()
        for line in self.sections.get("plan", "").splitlines():
            name, _, rest = line.strip().lstrip("-* ").partition(":")
            if slug(name) == slug(criterion):
                found |= {one.strip() for one in rest.split(",")} & set(self.findings)
        return frozenset(found)

    def named(self, *names: str) -> Seen | None:
        """The criterion shown under one of these names or keys."""
        for name in names:
            for seen in self.criteria:
                if (seen.key or slug(seen.name)) == name or slug(seen.name) == slug(name):
                    return seen
        return None


# A form, survey or quiz read from JSON of any layout: its questions, options and headings.


_TEXT_KEYS = ("question", "text", "question_text", "prompt", "statement", "label", "title", "name")
_OPTION_KEYS = ("options", "choices", "answers", "answer_options", "values", "items", "scale")
_HEADINGS = ("title", "heading", "name", "description", "intro", "introduction", "subtitle")
_MOST = 120  # questions read, so that pairs stay few

_RANGE = re.compile(r"(\d+(?:[.,:]\d+)*)\s*(?:-|–|—|to|and)\s*(\d+(?:[.,:]\d+)*)")
_BELOW = re.compile(
    r"\b(?:under|below|less than|fewer than|younger than|up to|at most)\s*\D{0,2}(\d+(?:[.,:]\d+)*)", re.I
)
_ABOVE = re.compile(r"\b(?:over|above|more than|older than|at least)\s*\D{0,2}(\d+(?:[.,:]\d+)*)", re.I)
_PLUS = re.compile(r"(\d+(?:[.,:]\d+)*)\s*(?:\+|(?:\w+\s+)?(?:or|and) (?:more|over|older|above|longer|later))", re.I)


@dataclass(frozen=True)
class Question:
    """One question: its text, its type as written ("" where none), its options, and their cleaned words."""

    text: str
    kind: str = ""
    options: tuple[str, ...] = ()

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content(words_of(self.text)))

    @cached_property
    def open(self) -> bool:
        return not self.options


@dataclass(frozen=True)
class Survey:
    """Questions in order, and headings (titles, descriptions) of the whole and of its parts."""

    questions: tuple[Question, ...]
    headings: tuple[str, ...]

    @property
    def strings(self) -> list[str]:
        """Every text a responder reads, headings first."""
        return [*self.headings, *(s for q in self.questions for s in (q.text, *q.options))]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return clean(value, 80).strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _options(node: Mapping[str, Any]) -> tuple[str, ...] | None:
    for key in _OPTION_KEYS:
        value = node.get(key)
        if isinstance(value, list) and not any(isinstance(v, dict) and _options(v) for v in value):
            texts = [_text(next((v[k] for k in (*_TEXT_KEYS, "value") if k in v), "") if isinstance(v, dict) else v)
                     for v in value[:40]]  # fmt: skip
            return tuple(t for t in texts if t)
    return None


def _asks(item: Any) -> bool:
    """An item of a list that is itself a question, so that its holder is a section."""
    return isinstance(item, dict) and bool(set(item) & {"options", "question", "text", "type", "choices"})


def _question(node: Mapping[str, Any], inside: bool) -> Question | None:
    text = next((t for k in _TEXT_KEYS if (t := _text(node.get(k)))), "")
    options = _options(node)
    lists = (v for k, v in node.items() if isinstance(v, list) and (k not in _OPTION_KEYS or options is None))
    nested = any(_asks(item) for held in lists for item in held)
    asks = "question" in node or "type" in node or options is not None or inside
    if not text or not asks or nested:
        return None
    return Question(text, _text(node.get("type")).lower(), options or ())


def _walk(node: Any, questions: list[Question], headings: list[str], inside: bool, depth: int) -> None:
    if depth > 12 or len(questions) >= _MOST:
        return
    if isinstance(node, list):
        for item in node:
            if isinstance(item, str) and inside:
                questions.append(Question(_text(item)))
            else:
                _walk(item, questions, headings, inside, depth + 1)
    elif isinstance(node, dict):
        found = _question(node, inside)
        if found:
            questions.append(found)
            return
        headings += [t for k in _HEADINGS if (t := _text(node.get(k)))]
        for key, value in node.items():
            if isinstance(value, list | dict):
                _walk(value, questions, headings, "question" in str(key).lower(), depth + 1)


def survey_of(value: Any) -> Survey | None:
    """The survey in a JSON value; None where it holds no question."""
    questions: list[Question] = []
    headings: list[str] = []
    _walk(value, questions, headings, False, 0)
    return Survey(tuple(questions[:_MOST]), tuple(headings[:_MOST])) if questions else None


def same_questions(survey: Survey, at_least: float = 0.6) -> list[tuple[int, int]]:
    """Pairs of questions (0-based) whose content words are nearly the same (Jaccard `at_least` or more)."""
    stems = [q.stems for q in survey.questions]
    return [
        (i, j)
        for j in range(len(stems))
        for i in range(j)
        if stems[i] and stems[j] and len(stems[i] & stems[j]) >= at_least * len(stems[i] | stems[j])
    ]


def _number(text: str) -> float:
    hours, colon, minutes = text.replace(",", "").partition(":")
    try:
        return float(hours) + (float(minutes[:2]) / 60 if colon else 0.0)
    except ValueError:  # "1.2.3"
        return 0.0


def span(option: str) -> tuple[float, float, str] | None:
    """Least value, greatest value and unit of an option such as "18-25 years", None for other options."""
    low, high = -1e18, 1e18
    if match := _RANGE.search(option):
        low, high = _number(match[1]), _number(match[2])
    elif match := _BELOW.search(option):
        high = _number(match[1]) - (0 if re.search(r"up to|at most", option, re.I) else 1e-6)
    elif match := _PLUS.search(option):
        low = _number(match[1])
    elif match := _ABOVE.search(option):
        low = _number(match[1]) + (0 if "least" in option.lower() else 1e-6)
    else:
        return None
    units = [u for u in re.findall(r"[a-z]+|[$€£%]", option.lower()) if u not in _NO_UNIT]
    return (low, high, units[-1].rstrip("s") if units else "") if low <= high else None


_NO_UNIT = frozenset(
    [
        "to",
        "and",
        "or",
        "under",
        "below",
        "less",
        "fewer",
        "than",
        "younger",
        "up",
        "at",
        "most",
        "over",
        "above",
        "more",
        "older",
        "least",
        "longer",
        "later",
        "between",
    ]
)


def clashes(question: Question) -> Iterator[str]:
    """Options that stand twice, and number ranges that overlap."""
    seen: set[str] = set()
    for option in question.options:
        key = " ".join(words_of(option)) or option
        if key in seen:
            yield f'the option "{option[:40]}" stands twice'
        seen.add(key)
    spans = [(o, s) for o in dict.fromkeys(question.options) if (s := span(o))]
    for (one, a), (two, b) in itertools.pairwise(spans):
        if (a[2] == b[2] or not a[2] or not b[2]) and a[0] <= b[1] and b[0] <= a[1]:
            yield f'the options "{one[:30]}" and "{two[:30]}" overlap'
