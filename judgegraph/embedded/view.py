"""Where in a form an answer is being written, and what is known there."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from judgegraph.embedded.evidence import fused, lack
from judgegraph.embedded.evidence_prose import Evidence, tone
from judgegraph.embedded.families import families_of
from judgegraph.embedded.leaves import kind_of
from judgegraph.embedded.prompt_view import Case, Prompt, Seen

SCORE_KEYS = frozenset(
    [
        "score",
        "value",
        "rating",
        "label",
        "grade",
        "points",
        "mark",
        "rank",
        "result",
        "verdict",
        "stars",
        "number",
        "answer",
    ]
)
_GENERIC = SCORE_KEYS | frozenset(
    [
        "ratings",
        "scores",
        "rectifications",
        "reason",
        "explanation",
        "evaluation",
        "evaluations",
        "results",
        "items",
        "judgement",
        "judgements",
        "assessment",
        "output",
        "response",
        "candidate",
        "form",
        "properties",
        "score_a",
        "score_b",
        "a",
        "b",
    ]
)
_SECOND = re.compile(r"(?:^|_)(?:b|2|rival|second)$")


@dataclass(frozen=True, eq=False)
class At:
    """A place in a form: `path` of keys, the criterion it speaks of, the text it judges."""

    prompt: Prompt
    case: Case
    rival: Case | None
    root: Mapping[str, Any]
    path: tuple[str, ...] = ()
    subject: Seen | None = None
    second: bool = False
    index: int = 0
    depth: int = 0

    @property
    def key(self) -> str:
        """The nearest key, "" at the top."""
        return self.path[-1] if self.path else ""

    def within(self, *keys: str) -> bool:
        """One of these keys stands in the path."""
        return any(k in self.path for k in keys)

    def into(self, key: str, schema: Any) -> At:
        """The place one property down; its title or key may name a criterion."""
        title = schema.get("title", "") if isinstance(schema, Mapping) else ""
        title = title if isinstance(title, str) else ""
        description = schema.get("description", "") if isinstance(schema, Mapping) else ""
        subject = self.prompt.named(title, key) if title else self.prompt.named(key)
        if subject is None and key.lower() not in _GENERIC and not _SECOND.search(key):
            name = title if title and (families_of(title) or not families_of(key)) else key.replace("_", " ")
            if families_of(name) or title or kind_of(schema) in ("object", "integer", "number"):
                subject = Seen(name=name, definition=description if isinstance(description, str) else "")
        second = self.second or bool(_SECOND.search(key.lower()) and self.rival is not None)
        return replace(
            self, path=(*self.path, key), subject=subject or self.subject, second=second, depth=self.depth + 1
        )

    def item(self, index: int) -> At:
        """The place of one item of a list."""
        return replace(self, index=index, depth=self.depth + 1)

    def about(self, subject: Seen) -> At:
        return replace(self, subject=subject)

    @property
    def judged_case(self) -> Case | None:
        """The text spoken of here; None for a second text that is not there."""
        return self.rival if self.second else self.case

    @property
    def criterion(self) -> Seen | None:
        """The criterion spoken of: of the form, of the prompt, or overall quality for a bare score."""
        held, single = self.subject, self.prompt.single
        if held is not None and (single is None or held in self.prompt.criteria or families_of(held.name)):
            return held
        if single is not None:
            return single
        bare = re.sub(r"_?(?:a|b|1|2)$", "", self.key.lower())
        return Seen(name="overall quality") if bare in SCORE_KEYS or not self.path else None

    def evidence(self) -> Evidence | None:
        """What is seen of the criterion here; None for no evidence."""
        criterion, case = self.criterion, self.judged_case
        if criterion is None or case is None or not _shown(case, self.prompt):
            return None
        return fused(case, self.prompt, criterion)

    def whole(self) -> float | None:
        """Mean quality over the prompt's criteria, for a yes or no that names none of them."""
        held = [e.quality for c in self.prompt.criteria if (e := self.about(c).evidence())]
        return math.fsum(held) / len(held) if held else None

    def tone(self, labels: list[str]) -> tuple[tuple[float, ...], str] | None:
        """Label probabilities by counted words, for a criterion of tone."""
        criterion, case = self.criterion, self.judged_case
        if criterion is None or case is None or case.empty or case.script == "text":
            return None
        return tone(case, labels) if "tone" in families_of(criterion.name, criterion.definition) else None

    def reason(self, labels: list[str] | None = None) -> str:
        """One sentence that names the evidence, or says that there is none."""
        criterion, case = self.criterion, self.judged_case
        found = self.tone(labels) if labels else None
        seen = self.evidence()
        if found:
            note = found[1]
        elif seen:
            note = seen.note
        elif case is None:
            note = "no evidence: there is no second text"
        else:
            note = lack(case, criterion.name if criterion else "", criterion.definition if criterion else "")
        return sentence(note)


def _shown(case: Case, prompt: Prompt) -> bool:
    """Some tagged section holds what is judged, even if it is empty."""
    return bool(case.output.strip()) or any(k in prompt.sections for k in ("output", "response", "summary", "answer"))


def sentence(note: str) -> str:
    """A clause as a sentence."""
    note = note.strip() or "no evidence"
    return note[:1].upper() + note[1:] + ("" if note.endswith((".", "!", "?")) else ".")
