"""What a writer of criteria is asked to return: a list of names and definitions, as a form or as numbered lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from judgegraph.calls.form import STRING, Form, record
from judgegraph.prompts.criteria_file import same_key
from judgegraph.types import Criterion

LONGEST = 200  # characters of a name, as Criterion has it

_ENUMERATOR = re.compile(r"\s*(?:[*_]{0,2}\(?\d{1,2}[.):](?:\s+|[*_]{1,2}\s*)|[-*•]\s+)")
_NAMED = re.compile(r"[*_\s]*(?P<name>[^:：]{1,60}?)[*_\s]*[:：](?!\d|//)[*_\s]*(?P<definition>\S.*)", re.S)


def criteria_form(count: int) -> Form[list[Criterion]]:
    """`count` criteria, each with a name and a definition; what comes is read, however many it is."""
    item = record({"name": STRING, "definition": STRING})
    listed = {"type": "array", "items": item, "minItems": count, "maxItems": count}

    def read(data: Any) -> list[Criterion]:
        items = data.get("criteria") if isinstance(data, Mapping) else None
        return _some(filter(None, map(_of_item, items if isinstance(items, list) else ())))

    return Form("criteria", record({"criteria": listed}), read)


CRITERIA_TEXT: Form[list[Criterion]] = Form("criteria", None, lambda text: _some(criteria_in(text)))


def _some(found: Iterable[Criterion]) -> list[Criterion]:
    criteria = list(found)
    if not criteria:
        raise ValueError("no criterion with a name in it")
    return criteria


def _of_item(item: Any) -> Criterion | None:
    if not isinstance(item, Mapping):
        return None
    name, definition = (" ".join(str(item.get(key) or "").split()) for key in ("name", "definition"))
    name = unnumbered(name).strip(" *_:")
    return Criterion(name=_short(name), definition=definition) if name else None


def unnumbered(line: str) -> str:
    """A line without its leading list mark; numbers within it stay ("1. Runs on Python 3.10")."""
    return _ENUMERATOR.sub("", line, count=1).strip()


def criteria_in(text: str) -> list[Criterion]:
    """The criteria of a plain reply: its numbered or bulleted lines; without any, lines like "Name: definition".

    Lines that follow such a line directly belong to it. Source: Fennec's parser keeps lines that start with digits and
    a full stop, else all, and strips "1." to "10." anywhere; ours strips a leading mark only.
    """
    lines = text.splitlines()
    marked = any(_ENUMERATOR.match(line) for line in lines)
    items: list[str] = []
    open_item = False
    for line in lines:
        if _ENUMERATOR.match(line) if marked else _NAMED.fullmatch(line.strip()):
            items.append(unnumbered(line))
            open_item = True
        elif open_item and line.strip():
            items[-1] += " " + line.strip()
        else:
            open_item = False
    return [_of_line(item) for item in items if item.strip(" *_:")]


def _of_line(line: str) -> Criterion:
    """Name and definition of one line; a line without a colon (a question, say) is a name, if it is not too long."""
    named = _NAMED.fullmatch(line)
    if named:
        return Criterion(name=named["name"].strip(), definition=named["definition"].strip())
    plain = line.strip(" *_:")
    return Criterion(name=_short(plain), definition=plain if len(plain) > LONGEST else "")


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"


def distinct(criteria: Iterable[Criterion]) -> list[Criterion]:
    """Without those whose name, case and punctuation aside, has come before."""
    found: dict[str, Criterion] = {}
    for criterion in criteria:
        found.setdefault(same_key(criterion.name), criterion)
    return list(found.values())
