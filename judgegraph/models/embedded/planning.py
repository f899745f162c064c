"""Plans: which assistant evaluators serve which criterion, and which tools to call."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.models.embedded.assistants import assistant_families, direction
from judgegraph.models.embedded.blocks import Seen
from judgegraph.models.embedded.families import families_of, kindred
from judgegraph.models.embedded.sections import Prompt


def serves(name: str, description: str, criterion: Seen) -> bool:
    """An assistant's words and a criterion's words meet in a family of evidence."""
    wanted = kindred(families_of(criterion.name, criterion.definition))
    return bool(wanted & set(assistant_families(name, description)))


def aligned(prompt: Prompt, criterion: Seen, names: Sequence[str]) -> list[str]:
    """The assistants, of those offered, that serve a criterion; all of them for overall quality."""
    if families_of(criterion.name) == ("overall",):
        return list(names)
    return [n for n in names if serves(n, prompt.assistants.get(n, ""), criterion)]


def usage_text(prompt: Prompt, name: str) -> str:
    """How to read one assistant, in a sentence or two."""
    way = direction(prompt.assistants.get(name, ""))
    held = [c.name for c in prompt.criteria if name in aligned(prompt, c, [name])]
    if not way:
        return "No value of it is better or worse by itself: it describes the text and moves no score alone."
    said = ", ".join(held) or "no criterion in particular"
    return f"{'High' if way > 0 else 'Low'} values speak for {said}; where it is absent, judge without it."


def plan_text(prompt: Prompt) -> str:
    """The order of work: consult, read by alignment, judge."""
    lines = ["1. Consult each assistant once; take an absent value as absent, never as nought."]
    for criterion in prompt.criteria:
        held = aligned(prompt, criterion, list(prompt.assistants))
        by = ", ".join(held) if held else "no assistant; judge it from the text alone"
        lines.append(f"{len(lines) + 1}. {criterion.name}: by {by}.")
    lines.append(f"{len(lines) + 1}. Read the text yourself, weigh both, state a value on the scale and why.")
    return "\n".join(lines)


def worth_calling(name: str, description: str, prompt: Prompt) -> bool:
    """A tool fits one of the prompt's criteria; without criteria every tool does."""
    return not prompt.criteria or any(
        serves(name, description, c) or families_of(c.name) == ("overall",) for c in prompt.criteria
    )
