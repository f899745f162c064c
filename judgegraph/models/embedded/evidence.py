"""The judgement: criterion -> families -> measures of this kind of sample -> one quality with its note."""

from __future__ import annotations

from dataclasses import replace

from judgegraph.models.embedded import answers, dialogue_again, forms_again, prose, slots, summary
from judgegraph.models.embedded.assistants import assistant_families, goodness
from judgegraph.models.embedded.blocks import Seen, slug
from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.families import families_of, kindred, serving
from judgegraph.models.embedded.kinds import Kind
from judgegraph.models.embedded.measure import Evidence, Views, counted, mean
from judgegraph.models.embedded.sections import Prompt

_PLAIN: Views = prose.VIEWS | {k: answers.VIEWS[k] for k in ("coherence", "fluency", "naturalness", "overall")}
KINDS: dict[Kind, Views] = {
    "summary": summary.VIEWS, "dialogue": dialogue_again.VIEWS, "data": slots.VIEWS, "form": forms_again.VIEWS,
    "story": answers.VIEWS, "answer": answers.VIEWS, "plain": _PLAIN,
}  # fmt: skip
_PARTS = ("coherence", "consistency", "fluency", "relevance", "engagement", "understandability")
OWN, OTHERS = 2 / 3, 1 / 3  # weights of own evidence and of what assistants or aspects say, in a fused score

BOTTOM = 0.01


def _whole(case: Case, views: Views, view: int) -> Evidence | None:
    """Overall quality where a kind has no measure of its own: the mean of the main families it has."""
    held = [e for p in _PARTS[:4] if p in views and (e := views[p][view](case))]
    if not held:
        return None
    worst = min(held, key=lambda e: e.quality)
    return Evidence(mean(e.quality for e in held), f"the mean of {len(held)} qualities, lowest: {worst.note}")


def _measured(case: Case, family: str, view: int) -> Evidence | None:
    views = KINDS[case.kind]
    family = serving(family, views)
    if family in views:
        return views[family][view](case)
    return _whole(case, views, view) if family == "overall" else None


def _guarded(case: Case, found: Evidence) -> Evidence:
    """Guards that hold for every criterion: stubs, repeats of whole sentences, words to the grader."""
    sentences = case.text.sentences
    quality, note = found.quality, found.note
    if case.kind == "summary" and len(case.text.words) < 5:
        quality, note = quality * 0.2, note + f"; it has only {counted(len(case.text.words), 'word')}"
    echoed = 1 - len(set(sentences)) / len(sentences)
    if echoed > 0.2 and case.kind != "form":
        quality, note = quality * (1 - 0.6 * echoed), note + "; it repeats whole sentences"
    if case.text.orders:
        quality = max(0.0, quality - 0.04 * min(2, case.text.orders))
        note += "; words that speak to a grader were set aside"
    return replace(found, quality=quality, note=note)


def judged(case: Case, name: str, definition: str = "", view: int = 0) -> Evidence | None:
    """Quality of a case by a criterion; view 0 is the evaluator's evidence, view 1 the critic's.

    Returns:
        None where no measure fits the criterion and this kind of sample: no evidence.
    """
    families = families_of(name, definition)
    if not families:
        return None
    if case.figures:
        return None
    if case.empty:
        return Evidence(BOTTOM, case.hollow)
    if case.script:
        return None
    held = [e for f in families if (e := _measured(case, f, view))]
    if not held:
        return None
    notes = "; ".join(e.note for e in held)
    joined = Evidence(mean(e.quality for e in held), notes, all(e.raises for e in held))
    return _guarded(case, joined)


def lack(case: Case, name: str, definition: str = "") -> str:
    """Why nothing could be measured, for a reason."""
    families = families_of(name, definition)
    if not case.output.strip():
        return "no evidence: no tagged section holds a text to judge"
    if case.figures:
        return "no evidence: the text holds figures and no word, and my features look at words"
    if case.script:
        return f"no evidence: my features read English; this {case.script} is in another script"
    if not families:
        return f"no evidence: none of my text features belongs to {name or 'what is asked'}"
    missing = (
        "a source or fact to compare with"
        if "consistency" in families or "groundedness" in families or "accuracy" in families
        else "a request to compare with"
    )
    return f"no evidence: for {families[0]} I need {missing}"


def _outside(prompt: Prompt, criterion: Seen) -> list[float]:
    """What aspects and assistants say of this criterion, each drawn to 0-1."""
    said = []
    for key, draft in prompt.drafts.items():
        if key != slug(criterion.name) and draft.value is not None:
            shown = prompt.named(draft.name)
            low, high = (
                (shown.low, shown.high) if shown and shown.low is not None and shown.high is not None else (1.0, 5.0)
            )
            said.append(min(1.0, max(0.0, (draft.value - low) / (high - low))))
    wanted = kindred(families_of(criterion.name, criterion.definition))
    for name, value in prompt.findings.items():
        about = prompt.assistants.get(name, "")
        share = goodness(value, about)
        if share is not None and (wanted & set(assistant_families(name, about)) or "overall" in wanted):
            said.append(share**0.6)  # overlap with a whole source is small even for a good text
    return said


def _planned(prompt: Prompt, criterion: Seen) -> list[float]:
    """The values of assistants that a plan aligns with this criterion, each drawn to 0-1."""
    names = prompt.planned(criterion.name)
    held = [(value, prompt.assistants.get(name, "")) for name, value in prompt.findings.items() if name in names]
    return [share**0.6 for value, about in held if (share := goodness(value, about)) is not None]


def fused(case: Case, prompt: Prompt, criterion: Seen, view: int = 0) -> Evidence | None:
    """`judged`, drawn a third of the way to what <scores> of other criteria and <findings> say.

    Without evidence of its own it says nothing, unless a plan names assistants for this very criterion: scores of
    other criteria tell nothing of one that none of the features knows.
    """
    own = judged(case, criterion.name, criterion.definition, view)
    if own is None and (given := _planned(prompt, criterion)) and not case.empty:
        return Evidence(mean(given), f"the mean of {len(given)} values that the plan names; own features say nothing")
    said = _outside(prompt, criterion)
    if own is None or not said or case.empty:
        return own
    other = mean(said)
    note = f"{own.note}; with the mean of {len(said)} given values ({other:.2f} of 1)"
    return Evidence(OWN * own.quality + OTHERS * other, note)
