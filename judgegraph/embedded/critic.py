"""The critic's part: gaps in the criteria; a score changes only where other evidence speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from judgegraph.embedded.evidence import judged
from judgegraph.embedded.evidence_forms import forced, personal, unnamed
from judgegraph.embedded.evidence_prose import counted, loaded, percent, quoted, repetition
from judgegraph.embedded.families import families_of
from judgegraph.embedded.leaves import At, Leaf, among, bounds, kind_of, number, pick, scoring, sentence
from judgegraph.embedded.prompt_view import Case, Seen, Survey, same_questions, slug
from judgegraph.embedded.text import slips_of, words_of

# What the criteria of a prompt leave out and a sample calls for: each with what was seen, strongest first.


_PRIVACY = re.compile(r"\b(?:anonym\w+|confiden\w+|privacy|data protection|not (?:be )?shared?|only reported)\b", re.I)
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
    if asked and not any(_PRIVACY.search(h) for h in held.headings):
        seen = f"question {asked[0]} asks for personal data, and no heading says what becomes of the answers"
        wish = "Personal data is asked for only where it is needed, and the form says who will see it."
        yield Gap("Privacy", wish, seen, min(1.0, 0.5 + 0.15 * len(asked)))
    bound = forced(held)
    closed = sum(bool(_CHOICE.search(q.kind)) for q in held.questions)
    graded = re.search(r"\b(?:quiz|test|exam)\b", " ".join([case.query[:500], *held.headings[:2]]), re.I)
    if len(bound) > 2 and 3 * len(bound) > 2 * closed and not graded:
        seen = (
            f'{len(bound)} of {closed} questions of choice leave no way out such as "other", first question {bound[0]}'
        )
        wish = "Whoever is asked finds an option that is true of them, or may say that none is."
        yield Gap("Answerability", wish, seen, 0.8 * len(bound) / closed)
    lead = [h for h in held.headings[1:2] if len(words_of(h)) > 7]
    if not lead:
        wish = "The form says at its start what the answers are for and how long it takes."
        yield Gap("Stated purpose", wish, "its description is too short to say what the answers are for", 0.6)


def _build(held: Survey) -> Iterator[Gap]:
    """How the form is put together."""
    questions, n = held.questions, len(held.questions)
    plain = [q for q in questions if {o.lower() for o in q.options} == {"yes", "no"}]
    if 2 * len(plain) >= n:
        wish = "Questions let the person who answers say how much, how often or why, and not only yes or no."
        yield Gap("Depth of answers", wish, f"{len(plain)} of {n} questions can be answered by yes or no alone", 0.7)
    if n > 2 and not any(q.open for q in questions):
        wish = "There is a place where those who answer can say what no question asked."
        yield Gap("Room for comment", wish, "none of its questions is open", 0.65)
    if n > 3 and questions[0].open and not questions[-1].open:
        wish = "It begins with what is easy to answer, and what takes writing or thought comes later."
        yield Gap("Question order", wish, "it opens with a question to be written out and ends with a choice", 0.55)
    words = sum(len(words_of(s)) for s in held.strings)
    if words > 215 or n > 14:
        wish = "It asks no more than people will answer at one sitting."
        yield Gap(
            "Appropriate length", wish, f"it holds {n} questions and {words} words to read", min(1.0, words / 430)
        )
    if numbers := unnamed(held):
        wish = "Every scale says what its ends stand for."
        yield Gap("Scale labels", wish, f"no word names the ends of the scale in question {numbers[0]}", 0.75)
    if pairs := same_questions(held):
        seen = f"questions {pairs[0][0] + 1} and {pairs[0][1] + 1} ask nearly the same"
        yield Gap("Redundancy", "Nothing is asked twice, in the same or in other words.", seen, 0.9)


def _prose(case: Case) -> Iterator[Gap]:
    """What a running text calls for."""
    overlap, slips = repetition(case.text), slips_of(case.text)
    if overlap > 0.6:
        seen = f"its two nearest sentences share {percent(overlap)} of their words"
        yield Gap("Redundancy", "Nothing is said twice, in the same or in other words.", seen, overlap)
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
        wish = "No group of people is slighted, and no answer is pressed on the reader."
        found.append(Gap("Fairness", wish, f"it uses {counted(len(words), 'loaded word')}: {quoted(words)}", 0.85))
    return sorted(found, key=lambda gap: -gap.weight)


_VALUES = ("score", "value", "label")
MARGIN = 0.25  # of the scale: the critic's evidence must differ by more before a score is changed
OWN = 0.4  # the same where the score is one's own: who gave it holds on to it
NEAR, FAR = 0.15, 0.35  # the same for a critic with a role: in the field of the role, and out of it
STEP = 1 / 3  # and the score then goes this part of the way
PART = 0.35  # of the scale: where both kinds of evidence differ by more, the definition leaves something open
_ANY = "name the words or parts of the text that show it"
_AGAINST = {
    "accuracy": "where no source is given, only what the request itself states is held against it",
    "consistency": "where no source is given, only contradictions within the text count",
    "groundedness": "where no fact is given, the criterion does not apply",
    "relevance": "where no request is given, the text's own title or opening sets the theme",
}
_BOTH = {
    "relevance": "headings and the opening count as much as the rest",
    "completeness": "what is named only in passing counts for half",
    "diversity": "questions or sentences that open alike count as near repeats",
    "coherence": "an opening that names the topic counts as much as the order of what follows",
    "engagement": "how the wording speaks to the reader counts as much as length and variety",
    "understandability": "hard words count as much as long sentences",
    "fluency": "uneven style counts as well as outright mistakes",
    "naturalness": "a telegram style counts as well as outright mistakes",
    "fairness": "sweeping and harsh words count as well as loaded ones",
    "groundedness": "names and numbers of the fact count more than common words",
    "consistency": "a turned meaning counts more than wording of one's own",
    "accuracy": "answer options that do not fit their question count as errors",
    "overall": "a fault in one respect is not made good by another",
}


def is_rectification(properties: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    """An object that asks to keep or change a score, and leaves room for either."""
    verdict = pick(properties.get("verdict", {}), root, null=False, depth=0)
    reason = pick(properties.get("reason", {}), root, null=False, depth=0)
    values = [scoring(properties[k], root) for k in _VALUES if k in properties]
    keeps = {"keep", "agree", "same"} & {str(v) for v in verdict.get("enum", [])}
    sound = values and values[0] is not None and kind_of(values[0]) != "boolean"
    return bool(keeps and sound and kind_of(reason) == "string" and not {"minLength", "maxLength"} & set(reason))


def _draft(at: At) -> Seen | None:
    name = at.criterion.name if at.criterion else at.key
    return at.prompt.drafts.get(slug(name)) or at.prompt.drafts.get(slug(at.key))


def _span(schema: Mapping[str, Any]) -> tuple[float, float]:
    if kind_of(schema) == "enum":
        held = [v for v in schema["enum"] if isinstance(v, int | float)]
        return (float(min(held)), float(max(held))) if held else (1.0, 5.0)
    return bounds(schema)


def _verdicts(schema: Any, at: At) -> list[str]:
    held = pick(schema, at.root, null=False, depth=0)
    return [v for v in held.get("enum", ["keep", "raise", "lower"]) if isinstance(v, str)]


def _word(verdicts: list[str], move: int) -> str:
    wished = {
        0: ("keep", "agree", "same"),
        1: ("raise", "up", "increase", "change"),
        -1: ("lower", "down", "decrease", "change"),
    }
    return next((w for w in wished[move] if w in verdicts), verdicts[0] if verdicts else "keep")


def rectification(properties: Mapping[str, Any], at: At) -> dict[str, Any]:
    """Verdict, value and reason for one criterion, in the order the form has them."""
    value_key = next(k for k in _VALUES if k in properties)
    schema = scoring(properties[value_key], at.root)
    draft = _draft(at)
    if schema is None or (schema.get("enum") and isinstance(schema["enum"][0], str)):
        move, value, reason = _label_change(schema, draft, at)
    else:
        move, value, reason = _weighed(schema, draft, at)
    if value is None and kind_of(pick(properties[value_key], at.root, null=True, depth=0)) not in ("null", "const"):
        value = number(schema or {}, None)
    reply = {"verdict": _word(_verdicts(properties["verdict"], at), move), value_key: value, "reason": sentence(reason)}
    return case_against(at, move) | reply if "case_against" in properties else reply


def _label_change(schema: dict[str, Any] | None, draft: Seen | None, at: At) -> tuple[int, Any, str]:
    labels = [v for v in (schema or {}).get("enum", []) if isinstance(v, str)]
    if draft and draft.label in labels:
        return 0, draft.label, "no other evidence on a label than the evaluator's words"
    found = at.tone(labels)
    if not found:
        return 0, None, "no evidence: the draft holds no label and none of my features gives one"
    return 0, labels[max(range(len(labels)), key=lambda i: found[0][i])], found[1]


def _weighed(schema: dict[str, Any], draft: Seen | None, at: At) -> tuple[int, Any, str]:
    criterion = at.criterion or Seen(at.key.replace("_", " "))
    low, high = _span(schema)
    other = judged(at.case, criterion.name, criterion.definition, view=1)
    first = None
    if draft is not None and draft.value is not None:
        first = min(1.0, max(0.0, (draft.value - low) / (high - low)))
    elif draft is None and (own := at.evidence()):
        first = own.quality
    if first is None:
        return 0, None, "no evidence: there is no draft score to weigh"
    idle = other is not None and other.quality > first and not other.raises
    if other is None or idle or abs(other.quality - first) <= margin(at, criterion):
        why = f"other evidence does not speak against it: {other.note}" if other else "no other evidence on it"
        return 0, _at_quality(schema, first), why
    goal = first + STEP * (other.quality - first)
    move = 1 if goal > first else -1
    return move, _at_quality(schema, goal), f"other evidence speaks for {'more' if move > 0 else 'less'}: {other.note}"


def margin(at: At, criterion: Seen) -> float:
    """How far other evidence must differ, as a share of the scale, from where the prompt puts the critic."""
    sections = at.prompt.sections
    if "own_scores" in sections and "scores" not in sections:
        return OWN
    field = families_of("", sections.get("role", ""))
    if not field:
        return MARGIN
    return NEAR if set(field) & set(families_of(criterion.name, criterion.definition)) else FAR


def case_against(at: At, move: int) -> dict[str, str]:
    """The best that can be said against a draft score, and what answers it."""
    criterion, draft = at.criterion or Seen(at.key.replace("_", " ")), _draft(at)
    other = judged(at.case, criterion.name, criterion.definition, view=1)
    if draft is None or draft.value is None or other is None:
        case = "nothing was measured that speaks against it" if draft else "there is no score to argue against"
        return {"case_against": sentence(case), "answer": sentence("no case was made, so none has to be answered")}
    low, high = (criterion.low, criterion.high) if criterion.low is not None and criterion.high is not None else (1, 5)
    gap = other.quality - (draft.value - low) / (high - low)
    case = f"it may be too {'low' if gap > 0 else 'high'}: {other.note}"
    ends = "too little to change it" if abs(gap) <= margin(at, criterion) else "but no fault found is no merit shown"
    answer = f"that is {abs(gap):.2f} of the scale away, {'too far to stand' if move else ends}"
    return {"case_against": sentence(case), "answer": sentence(answer)}


def _at_quality(schema: dict[str, Any], quality: float) -> Leaf:
    if kind_of(schema) == "enum":
        return among([v for v in schema["enum"] if isinstance(v, int | float)], quality)
    return number(schema, quality)


def definitions(at: At, names: list[str], most: int) -> list[dict[str, str]]:
    """Changed definitions, for criteria where nothing could be measured or the two kinds of evidence part."""
    found = []
    for criterion in at.prompt.criteria:
        if names and criterion.name not in names:
            continue
        one = judged(at.case, criterion.name, criterion.definition)
        two = judged(at.case, criterion.name, criterion.definition, view=1)
        definition = criterion.definition.rstrip(".") or f"How far {criterion.name.lower()} shows"
        family = next(iter(families_of(criterion.name, criterion.definition)), "")
        if one is None and not criterion.labels:
            more = _AGAINST.get(family, _ANY)
            why = (
                "Nothing in this sample could be measured for it; the definition does not say what to hold it against."
            )
            weight = 1.0
        elif one and two and (two.raises or two.quality < one.quality) and abs(one.quality - two.quality) > PART:
            more = _BOTH.get(family, _ANY)
            why = f"Two kinds of evidence part here: {one.note}; yet {two.note}."
            weight = abs(one.quality - two.quality)
        else:
            continue
        if more not in definition:  # it was suggested before, and taken
            found.append((weight, criterion.name, f"{definition}; {more}.", why))
    found.sort(key=lambda row: -row[0])
    return [dict(zip(("criterion", "definition", "reason"), row[1:], strict=True)) for row in found[:most]]


def new_criteria(at: At, most: int) -> list[dict[str, str]]:
    """Criteria that the prompt lacks and this sample calls for, strongest evidence first; none without evidence."""
    known = {slug(c.name) for c in at.prompt.criteria}
    found = [gap for gap in gaps(at.case) if slug(gap.name) not in known]
    return [{"name": g.name, "definition": g.definition, "reason": sentence(g.seen)} for g in found[:most]]
