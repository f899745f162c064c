"""Corrections of a run as samples of their own, each beside what it corrected, so that the gain can be judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from judgegraph.runtime.item import Item
from judgegraph.types import Correction, Sample


def corrected(items: Iterable[Item], signature: str) -> Iterator[Sample]:
    """A sample per correction that changed a text: `output` is the correction, `rival` the original.

    Its id is the item's with ":output" or ":rival" behind it, whichever was corrected, and the corrector's name where
    it has one of its own. Query, source and reference stay; people's judgements do not, as they are of the original.
    `meta["corrected"]` says of what sample and side it is, by which criteria, rule and scores, and the signature of the
    run.
    """
    for item in items:
        for correction in item.corrections:
            if correction.changed:
                yield _sample(item.sample, correction, signature)


def _sample(judged: Sample, correction: Correction, signature: str) -> Sample:
    said = [
        {"criterion": s.criterion, "value": s.value, "agent": s.agent, "reason": s.reason} for s in correction.by
    ]  # fmt: skip
    about: dict[str, Any] = {"id": judged.id, "of": correction.of, "criteria": list(correction.criteria)}
    about |= {"rule": correction.rule, "by": said, "run": signature}
    about |= {"agent": correction.agent} if correction.agent else {}
    name = ":".join(filter(None, (judged.id, correction.of, correction.agent)))
    return Sample(
        id=name, query=judged.query, source=judged.source, reference=judged.reference,
        output=correction.text, rival=judged.output if correction.of == "output" else judged.rival,
        meta={**judged.meta, "corrected": about},
    )  # fmt: skip
