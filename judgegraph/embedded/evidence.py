"""The judgement: criterion -> families -> measures of this kind of sample -> one quality."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from judgegraph.embedded import evidence_dialogue as dialogue_again
from judgegraph.embedded import evidence_forms as forms_again
from judgegraph.embedded import evidence_prose as prose
from judgegraph.embedded import evidence_summary as summary
from judgegraph.embedded import slots
from judgegraph.embedded.evidence_answers import VIEWS
from judgegraph.embedded.evidence_prose import Evidence, Views, counted, mean
from judgegraph.embedded.families import families_of, kindred, serving
from judgegraph.embedded.prompt_view import Case, Kind, Prompt, Seen, assistant_families, goodness, slug

_PLAIN: Views = prose.VIEWS | {k: VIEWS[k] for k in ("coherence", "fluency", "naturalness", "overall")}
KINDS: dict[Kind, Views] = {
    "summary": summary.VIEWS, "dialogue": dialogue_again.VIEWS, "data": slots.VIEWS, "form": forms_again.VIEWS,
    "story": VIEWS, "answer": VIEWS, "plain": _PLAIN,
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


FEATURELESS = "none of my text features belongs to"


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
        return f"no evidence: {FEATURELESS} {name or 'what is asked'}"
    missing = (
        "a source or fact to compare with"
        if "consistency" in families or "groundedness" in families or "accuracy" in families
        else "a request to compare with"
    )
    return f"no evidence: for {families[0]} I need {missing}"


def _outside(prompt: Prompt, criterion: Seen) -> list[float]:
    """What aspects and assistants say of this criterion, each drawn to 0-1."""
    notes = []
    for key, draft in prompt.drafts.items():
        if key != slug(criterion.name) and draft.value is not None:
            shown = prompt.named(draft.name)
            low, high = (
                (shown.low, shown.high) if shown and shown.low is not None and shown.high is not None else (1.0, 5.0)
            )
            notes.append(min(1.0, max(0.0, (draft.value - low) / (high - low))))
    wanted = kindred(families_of(criterion.name, criterion.definition))
    for name, value in prompt.findings.items():
        about = prompt.assistants.get(name, "")
        share = goodness(value, about)
        if share is not None and (wanted & set(assistant_families(name, about)) or "overall" in wanted):
            notes.append(share**0.6)  # overlap with a whole source is small even for a good text
    return notes


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
    notes = _outside(prompt, criterion)
    if own is None or not notes or case.empty:
        return own
    other = mean(notes)
    note = f"{own.note}; with the mean of {len(notes)} given values ({other:.2f} of 1)"
    return Evidence(OWN * own.quality + OTHERS * other, note)


# A lexicon of aspects that texts are judged by, each with the kinds of text it suits; worded for this package.


class Aspect(NamedTuple):
    """Name, definition, and letters of the kinds it suits best: s d t m f a as in `_KINDS`."""

    name: str
    definition: str
    kinds: str


_KINDS = {
    "s": r"summar|article|news", "d": r"dialog|conversation|chat|reply|turn", "t": r"stor|narrat|tale|plot",
    "m": r"data|meaning|slot|attribute|table", "f": r"form|survey|quiz|questionnaire",
    "a": r"answer|question|request|instruction|query|response|essay",
}  # fmt: skip

LEXICON = tuple(
    Aspect(*row)
    for row in (
        ("Coverage", "The main points of what was given or asked for are all there.", "smfa"),
        ("Logical flow", "Each sentence follows from the one before, and the order can be followed.", "sta"),
        ("Faithfulness", "Nothing is said that the given material does not bear out.", "sdm"),
        ("Grammar", "The sentences are well formed, with right endings, articles and marks.", "sdtmfa"),
        ("Clarity", "A reader understands each sentence at the first reading.", "sdtmfa"),
        ("Conciseness", "No word could be left out without a loss.", "sma"),
        ("Topic focus", "Every part keeps to the topic that was set.", "sdtfa"),
        ("Redundancy", "Nothing is said twice, in the same or in other words.", "sdtmfa"),
        ("Specific detail", "Names, numbers and examples stand where they help.", "dta"),
        ("Engagement", "The text holds the reader's interest and invites a reply.", "dtf"),
        ("Natural wording", "It reads as a person would have put it.", "dtm"),
        ("Structure", "Parts are set out in an order that helps the reader.", "sfta"),
        ("Factual accuracy", "Numbers, names and events are those of the material.", "sdma"),
        ("Completeness", "Each thing that was asked for is there.", "mfa"),
        ("Response to context", "It takes up what was said or asked just before.", "da"),
        ("Use of knowledge", "It draws on the fact or source at hand where that fits; grounded, not guessed.", "da"),
        ("Fairness", "No group of people is slighted, and no answer is pressed on the reader.", "fda"),
        ("Tone", "The mood of the wording fits the occasion.", "fda"),
        ("Readability", "Words and sentences are no harder than they need to be.", "sfta"),
        ("Fluency", "The wording runs smoothly from word to word.", "sdtma"),
        ("Plot continuity", "Events and persons stay the same from start to end.", "t"),
        ("Question variety", "Questions differ in what they ask and in how they can be answered.", "f"),
        ("Option quality", "The options of a question are correct: they do not overlap and leave no gap.", "f"),
        ("Informativeness", "A reader learns what matters from it.", "sdma"),
        ("Appropriate length", "It is as long as the occasion asks for.", "sdma"),
        ("Consistency", "No part of it contradicts another or the material.", "sdt"),
        ("Interest", "It says something that is neither bland nor expected.", "dt"),
        ("Politeness", "It is respectful to whoever reads it.", "dfa"),
        ("Key content", "The most important content comes first and in full.", "s"),
        ("Transitions", "Linking words and references lead from sentence to sentence.", "st"),
    )
)


def ranked(target: str, definition: str, task: str, known: set[str]) -> list[Aspect]:
    """Aspects for a target, nearest first; the target itself and what is known already are left out.

    Args:
        target: name of what is to be measured, "" for a task as a whole. task: what kind of text is judged.
        known: slugs of names not to offer.
    """
    wanted = families_of(target, definition)
    kinds = "".join(k for k, words in _KINDS.items() if re.search(words, f"{task} {definition}", re.I)) or "a"
    barred = known | {slug(target)}

    def distance(item: tuple[int, Aspect]) -> tuple[int, int, int]:
        place, aspect = item
        near = len(set(families_of(aspect.name, aspect.definition)) & set(wanted))
        return -near if "overall" not in wanted else 0, 0 if set(aspect.kinds) & set(kinds) else 1, place

    held = [(i, a) for i, a in enumerate(LEXICON) if slug(a.name) not in barred]
    return [a for _, a in sorted(held, key=distance)]
