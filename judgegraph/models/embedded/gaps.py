"""What the criteria of a prompt leave out and a sample calls for: each with what was seen, strongest first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.defects import slips_of
from judgegraph.models.embedded.forms import forced, personal, unnamed
from judgegraph.models.embedded.measure import counted, percent
from judgegraph.models.embedded.prose import loaded, quoted, twice_said
from judgegraph.models.embedded.survey import Survey, same_questions
from judgegraph.models.embedded.text import words_of

_KEPT = re.compile(r"\b(?:anonym\w+|confiden\w+|privacy|data protection|not (?:be )?shared?|only reported)\b", re.I)
_CHOICE = re.compile(r"choice|select")


class Gap(NamedTuple):
    """A criterion nobody asked for: its name and definition, what was seen, and how strongly it speaks (0-1)."""

    name: str
    definition: str
    seen: str
    weight: float


def _whom(case: Case, held: Survey) -> Iterator[Gap]:
    """What the form does to the person who answers."""
    asked = personal(case, also_wished=True)
    if asked and not any(_KEPT.search(h) for h in held.headings):
        seen = f"question {asked[0]} asks for personal data, and no heading says what becomes of the answers"
        said = "Personal data is asked for only where it is needed, and the form says who will see it."
        yield Gap("Privacy", said, seen, min(1.0, 0.5 + 0.15 * len(asked)))
    bound = forced(held)
    closed = sum(bool(_CHOICE.search(q.kind)) for q in held.questions)
    graded = re.search(r"\b(?:quiz|test|exam)\b", " ".join([case.query[:500], *held.headings[:2]]), re.I)
    if len(bound) > 2 and 3 * len(bound) > 2 * closed and not graded:
        seen = (
            f'{len(bound)} of {closed} questions of choice leave no way out such as "other", first question {bound[0]}'
        )
        said = "Whoever is asked finds an option that is true of them, or may say that none is."
        yield Gap("Answerability", said, seen, 0.8 * len(bound) / closed)
    lead = [h for h in held.headings[1:2] if len(words_of(h)) > 7]
    if not lead:
        said = "The form says at its start what the answers are for and how long it takes."
        yield Gap("Stated purpose", said, "its description is too short to say what the answers are for", 0.6)


def _build(held: Survey) -> Iterator[Gap]:
    """How the form is put together."""
    questions, n = held.questions, len(held.questions)
    plain = [q for q in questions if {o.lower() for o in q.options} == {"yes", "no"}]
    if 2 * len(plain) >= n:
        said = "Questions let the person who answers say how much, how often or why, and not only yes or no."
        yield Gap("Depth of answers", said, f"{len(plain)} of {n} questions can be answered by yes or no alone", 0.7)
    if n > 2 and not any(q.open for q in questions):
        said = "There is a place where those who answer can say what no question asked."
        yield Gap("Room for comment", said, "none of its questions is open", 0.65)
    if n > 3 and questions[0].open and not questions[-1].open:
        said = "It begins with what is easy to answer, and what takes writing or thought comes later."
        yield Gap("Question order", said, "it opens with a question to be written out and ends with a choice", 0.55)
    words = sum(len(words_of(s)) for s in held.strings)
    if words > 215 or n > 14:
        said = "It asks no more than people will answer at one sitting."
        yield Gap(
            "Appropriate length", said, f"it holds {n} questions and {words} words to read", min(1.0, words / 430)
        )
    if numbers := unnamed(held):
        said = "Every scale says what its ends stand for."
        yield Gap("Scale labels", said, f"no word names the ends of the scale in question {numbers[0]}", 0.75)
    if pairs := same_questions(held):
        seen = f"questions {pairs[0][0] + 1} and {pairs[0][1] + 1} ask nearly the same"
        yield Gap("Redundancy", "Nothing is asked twice, in the same or in other words.", seen, 0.9)


def _prose(case: Case) -> Iterator[Gap]:
    """What a running text calls for."""
    said, slips = twice_said(case.text), slips_of(case.text)
    if said > 0.6:
        seen = f"its two nearest sentences share {percent(said)} of their words"
        yield Gap("Redundancy", "Nothing is said twice, in the same or in other words.", seen, said)
    if slips.long:
        seen = f"{percent(slips.long)} of its sentences hold more than forty words"
        yield Gap("Readability", "Words and sentences are no harder than they need to be.", seen, 0.5 + slips.long / 2)
    size, base = len(case.text.words), len(case.src.text.words)
    if case.kind == "summary" and size * 4 > 3 * base:
        seen = f"it has {size} words for the source's {base}"
        yield Gap("Conciseness", "No word could be left out without a loss.", seen, 0.7)


def gaps(case: Case) -> list[Gap]:
    """Criteria that this sample calls for, strongest first; none without evidence."""
    held = case.survey
    found = [*_whom(case, held), *_build(held)] if held is not None else [*_prose(case)] if case.text.raw else []
    if words := loaded(case.text):
        said = "No group of people is slighted, and no answer is pressed on the reader."
        found.append(Gap("Fairness", said, f"it uses {counted(len(words), 'loaded word')}: {quoted(words)}", 0.85))
    return sorted(found, key=lambda gap: -gap.weight)
