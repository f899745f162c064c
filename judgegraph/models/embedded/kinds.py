"""What kind of sample the sections hold, told by their shape, and where its source, request and fact stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from judgegraph.models.embedded.survey import survey_of

Kind: TypeAlias = Literal["summary", "dialogue", "data", "form", "story", "answer", "plain"]

OUTPUT = ("output", "response", "summary", "answer", "candidate", "hypothesis", "reply", "completion", "story", "text",
          "form", "survey", "submission", "draft")  # fmt: skip
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


def _turns(value: Any) -> list[str]:
    """Turns in a list of strings or of objects with a text."""
    if not isinstance(value, list):
        return [str(value)] if value else []
    keys = ("text", "content", "utterance", "message")
    return [str(next((t[k] for k in keys if k in t), "")) if isinstance(t, dict) else str(t) for t in value]


def _json_talk(text: str) -> tuple[str, str] | None:
    """History and fact of a dialogue written as JSON."""
    held = loads(text)
    if isinstance(held, list) and held and all(isinstance(t, dict) and {"text", "content"} & set(t) for t in held):
        return "\n".join(_turns(held)), ""
    if isinstance(held, dict) and (key := next((k for k in HISTORY if k in held), None)):
        return "\n".join(_turns(held[key])), "\n".join(strings([held[k] for k in FACT if k in held]))
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


def _talks(sections: Mapping[str, str], source: str, query: str, said: str) -> bool:
    if first_of(sections, HISTORY) or any(_json_talk(t) for t in (source, query)):
        return True
    task = sections.get("task", "").lower()
    if "summar" in (task or said):
        return False
    named = bool(re.search(r"\b(?:dialog|conversation)", said)) and not _MEANING.match(source)
    return named or any(is_talk(t) for t in (source, query))


def parts(sections: Mapping[str, str], output: str, source: str, query: str) -> tuple[Kind, str, str, str]:
    """Kind, source, query (of a dialogue: its history) and fact."""
    held = loads(output)
    if isinstance(held, dict | list) and survey_of(held) is not None:
        return "form", source, query, ""
    said = " ".join([*(sections.get(k, "") for k in _CRITERIA), query[:300]]).lower()
    if _talks(sections, source, query, said):
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
    story = re.search(r"\b(?:story|stories|narrat\w+|tale)\b", said)
    return ("story" if story else "answer"), "", query, ""
