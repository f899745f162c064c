"""A lexicon of aspects that texts are judged by, each with the kinds of text it suits; worded for this package."""

from __future__ import annotations

import re
from typing import NamedTuple

from judgegraph.models.embedded.blocks import slug
from judgegraph.models.embedded.families import families_of


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
