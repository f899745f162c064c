"""A plan as a planner is asked for it, and as those who follow it read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judgegraph.calls.form import STRING, Form, enum_of, record
from judgegraph.errors import one_line
from judgegraph.prompts.sections import inset, slug
from judgegraph.types import Criterion, Plan

Read = tuple[Plan, tuple[str, ...]]  # the plan, and what of it was mended, in words


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

    return Form("plan", record({"plan": STRING, "alignment": served, "usage": used}), read)


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
