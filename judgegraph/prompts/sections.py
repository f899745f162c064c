"""Criteria, scores and findings as they stand in a section of a prompt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from judgegraph.errors import one_line
from judgegraph.types import Criterion, Finding, Score

MOST_SAID = 500  # characters of what an assistant said, or of why it said nothing
_LIKE_OURS = re.compile(r"#|(?:key|scale|definition|steps|guideline|score|label|status|reason)\s*:", re.I)


def slug(name: str) -> str:
    """A criterion's name as a key of a form: lower case, other characters to "_"."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "criterion"


def slugs(criteria: Iterable[Criterion]) -> dict[str, Criterion]:
    """Key of a form -> criterion; clashing keys are numbered."""
    found: dict[str, Criterion] = {}
    for criterion in criteria:
        key, number = slug(criterion.name), 2
        while key in found:
            key, number = f"{slug(criterion.name)}_{number}", number + 1
        found[key] = criterion
    return found


def criterion_text(criterion: Criterion, *, scale: bool = True) -> str:
    """Name, scale, definition, steps and guideline, whatever of them there is."""
    lines = [f"## {_line(criterion.name)}"]
    if scale:
        lines.append(f"Scale: {criterion.scale}")
    if criterion.definition:
        lines.append(f"Definition: {inset(criterion.definition)}")
    if criterion.steps:
        lines += ["Steps:", *(f"{i}. {inset(step)}" for i, step in enumerate(criterion.steps, 1))]
    if criterion.guideline:
        lines.append(f"Guideline: {inset(criterion.guideline)}")
    return "\n".join(lines)


def criteria_text(criteria: Iterable[Criterion] | Mapping[str, Criterion], *, scale: bool = True) -> str:
    """Several criteria, a blank line between them.

    Args:
        criteria: of a mapping (`slugs`), keys of a form that cannot be told from the names are written out: those of
            names in another script, and of names that differ in marks alone.
    """
    if not isinstance(criteria, Mapping):
        return "\n\n".join(criterion_text(c, scale=scale) for c in criteria)
    plain = Counter(slug(c.name) for c in criteria.values())
    texts = []
    for key, criterion in criteria.items():
        unclear = key != slug(criterion.name) or plain[key] > 1 or not criterion.name.isascii()
        head, line, rest = criterion_text(criterion, scale=scale).partition("\n")
        texts.append(f"{head}\nKey: {key}{line}{rest}" if unclear else f"{head}{line}{rest}")
    return "\n\n".join(texts)


def score_text(score: Score) -> str:
    """One score with its reason, as a critic or a fuser reads it."""
    if score.value is not None:
        answer = f"Score: {score.value:.4g}"
    else:
        answer = f"Label: {score.label}" if score.label else f"Status: {score.status}"
    return f"## {_line(score.criterion)}\n{answer}" + (f"\nReason: {_line(score.reason)}" if score.reason else "")


def scores_text(scores: Iterable[Score]) -> str:
    """Several scores, a blank line between them."""
    return "\n\n".join(map(score_text, scores))


def finding_text(finding: Finding) -> str:
    """One line of bounded length; a number stands as it came, a failure as absent."""
    name = one_line(finding.assistant, 80)
    if finding.value is None:
        return f"- {name}: absent ({one_line(finding.reason, MOST_SAID) or finding.status})"
    return f"- {name}: {one_line(finding.value, MOST_SAID)}"


def inset(text: str) -> str:
    """A text of several lines; those that look like a heading or a field of ours stand further in.

    A definition or guideline that a model wrote from judged text must not add a criterion or a scale.
    """
    first, *others = text.splitlines() or [""]
    return "\n".join([first, *(f"  {line}" if _LIKE_OURS.match(line.lstrip()) else line for line in others)])


def _line(text: str) -> str:
    """On one line: what a model said of judged text must not look like another criterion or finding."""
    return " ".join(text.split())
