"""Evidence for a form, survey or quiz: questions, options, headings, wording; no source is needed."""

from __future__ import annotations

import re
from collections import Counter

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.defects import question_slips, rules_broken
from judgegraph.models.embedded.forms_topic import short, strays, survey
from judgegraph.models.embedded.measure import Evidence, between, counted, falling, logistic, mean, percent
from judgegraph.models.embedded.prose import loaded, quoted
from judgegraph.models.embedded.survey import Question, Survey, clashes, same_questions
from judgegraph.models.embedded.text import content, words_of
from judgegraph.models.embedded.words import LEADING_PHRASES, listed

_TWIN = re.compile(r"\b(?:and|or)\s+(?:how|what|do|did|are|is|was|were|would|the)\b[^,]*\?")
_TWICE = re.compile(r"\b([^\W\d_]{2,})\s+\1\b(?<!had had)(?<!that that)", re.I)
_NOTS = frozenset(("not", "never", "no", "none", "don't", "n't"))
_OUT = re.compile(
    r"\b(?:other|else|another|elsewhere|none|neither|nowhere|never|prefer not|not sure|don't know|do not know|"
    r"do not remember|not apply|not applicable|no special|partly|perhaps|maybe|sometimes|not at all|neutral)\b", re.I
)  # fmt: skip
_PERSONAL = frozenset(listed("personal"))


def nearness(held: Survey) -> float:
    """How near each question stands to its nearest fellow on average: shared part of their content words, 0-1."""
    stems = [q.stems for q in held.questions if q.stems]
    if len(stems) < 2:
        return 0.0
    return mean(max(len(a & b) / len(a | b) for j, b in enumerate(stems) if j != i) for i, a in enumerate(stems))


def diversity(case: Case) -> Evidence:
    held = survey(case)
    pairs, questions, near = same_questions(held), held.questions, nearness(held)
    note = f"none of its {len(questions)} questions repeats another, the nearest share {percent(near)} of their words"
    if pairs:
        note = f"questions {pairs[0][0] + 1} and {pairs[0][1] + 1} ask nearly the same"
    overlaps = [c for q in questions for c in clashes(q)]
    note = overlaps[0] if overlaps and not pairs else note
    few = 0.5 if len(questions) < 3 else 0.0
    kinds = Counter(q.kind for q in questions).most_common(1)[0][1] / len(questions)
    defects = len(pairs) + 0.8 * min(2, len(overlaps)) + few + 0.3 * max(0.0, kinds - 0.5)
    return Evidence(0.97 * falling(defects, 1.6) * (1 - 0.5 * min(0.3, near)), note)


def language(case: Case) -> list[str]:
    """Slips in headings, questions and options."""
    held = survey(case)
    found = rules_broken(tuple(held.strings))
    for question in held.questions:
        found += question_slips(question.text)
    for line in held.strings:
        found += ["a doubled word"] * len(_TWICE.findall(line))
    return [re.sub(r" in sentence \d+", "", f) for f in found]


def stubs(held: Survey) -> list[int]:
    """Questions (1-based) of fewer than four words before the note on their scale: no whole sentence."""
    cut = [words_of(re.split(r", (?:from|on a scale)\b|\(", q.text)[0]) for q in held.questions]
    return [i for i, words in enumerate(cut, 1) if len(words) < 4]


def fluency(case: Case) -> Evidence:
    found, held = language(case), survey(case)
    short_, n = stubs(held), len(held.questions)
    dense = mean(float(len(words_of(q.text)) > 16) for q in held.questions)
    note = f"{counted(len(found), 'slip')}, such as {found[0]}" if found else "no slip of grammar, spelling or marks"
    note += f"; {counted(len(short_), 'question')} not in a whole sentence" if short_ else ""
    note += f"; {percent(dense)} of its questions run long" if dense else ""
    return Evidence(0.97 * falling(len(found), 2.2) * (1 - 0.3 * len(short_) / n) * (1 - 0.12 * dense), note)


def unnamed(held: Survey) -> list[int]:
    """Questions (1-based) on a scale of bare numbers whose ends no word explains."""
    return [
        i
        for i, q in enumerate(held.questions, 1)
        if len(q.options) > 2 and all(o.strip().isdigit() for o in q.options) and "(" not in q.text
    ]


def understandability(case: Case) -> Evidence:
    held = survey(case)
    texts = [words_of(q.text) for q in held.questions]
    per, long = mean(map(len, texts)), sum(len(t) > 28 for t in texts)
    twin = sum(bool(_TWIN.search(q.text)) and bool(q.options) for q in held.questions)
    nots = sum(len(_NOTS & set(t)) > 1 for t in texts)
    flaws = long + twin + nots + 0.2 * len(language(case)) + 0.7 * len(unnamed(held))
    ease = 1 - 0.15 * min(1.0, abs(per - 9) / 9)  # about nine words can be read at one glance
    quality = 0.97 * between(per, 3, 16, 10) * falling(flaws, 3.5) * ease
    extra = f", {counted(twin, 'question')} of two things at once" if twin else ""
    extra += f", {counted(len(unnamed(held)), 'scale')} without named ends" if unnamed(held) else ""
    return Evidence(quality, f"{per:.1f} words a question{extra}")


def engagement(case: Case) -> Evidence:
    held = survey(case)
    n, kinds = len(held.questions), len({(q.kind, bool(q.options)) for q in held.questions})
    openly = sum(q.open for q in held.questions)
    ways = mean(min(5, len(q.options)) / 5 for q in held.questions if q.options)
    quality = 0.3 * between(n, 5, 11, 5) + 0.25 * min(1.0, kinds / 4) + 0.15 * ways
    quality += 0.15 * (1 - min(1.0, abs(openly / n - 0.2) / 0.5)) * (0 < openly < n) + 0.12 * (len(held.headings) > 2)
    note = f"{counted(n, 'question')} of {counted(kinds, 'kind')}, {openly} of them open"
    return Evidence(quality * falling(len(same_questions(held)), 6), note)


def unfair(case: Case) -> list[str]:
    """Loaded words, leading phrases, and a gender question with two answers only."""
    found = loaded(case.text)
    for q in survey(case).questions:
        line = " " + " ".join(words_of(q.text)) + " "
        found += [p for p in LEADING_PHRASES if f" {p} " in line]
        kept = {" ".join(words_of(o)) for o in q.options}
        if kept and kept <= {"male", "female", "man", "woman", "men", "women"}:
            found.append("male or female only")
    return found


def forced(held: Survey) -> list[int]:
    """Questions (1-based) of choice that leave no way out such as "other", "none" or "not sure"."""
    return [
        i
        for i, q in enumerate(held.questions, 1)
        if len(q.options) > 1 and re.search(r"choice|select", q.kind) and not _OUT.search(" ".join(q.options))
    ]


def personal(case: Case, also_wished: bool = False) -> list[int]:
    """Questions (1-based) for personal data; those that the request asks for only with `also_wished`."""
    wished = set() if also_wished else short(case.asked.content)

    def exposes(q: Question) -> bool:
        kept = {w for w in words_of(q.text) if w in _PERSONAL}
        return bool(kept) and not short(content(kept)) & wished and not _OUT.search(" ".join(q.options))

    return [i for i, q in enumerate(survey(case).questions, 1) if exposes(q)]


def fairness(case: Case) -> Evidence:
    found, held = unfair(case), survey(case)
    n, bound, bare = len(held.questions), forced(held), personal(case)
    note = f"it uses {quoted(found)}" if found else "no loaded word and no leading question found"
    note += f"; question {bare[0]} asks for personal data unasked" if bare else ""
    note += f"; {counted(len(bound), 'question')} without a way out" if bound else ""
    grade = (1 - 0.15 * len(bound) / n) * (1 - 0.5 * len(bare) / n)
    return Evidence(0.97 * falling(len(found), 1.3) * grade, note)


def coherence(case: Case) -> Evidence:
    heads, odd = survey(case).headings, len(strays(case))
    quality = 0.55 + 0.1 * min(3, len(heads)) + (0.07 if survey(case).questions[-1].open else 0)
    return Evidence(quality * falling(odd, 5), f"{counted(len(heads), 'heading')}, {counted(odd, 'stray question')}")


def length(case: Case) -> Evidence:
    n = len(survey(case).questions)
    return Evidence(0.92 * between(n, 4, 14, 8), counted(n, "question"))


def specificity(case: Case) -> Evidence:
    rate = len(set(case.text.content)) / len(survey(case).questions)
    return Evidence(logistic(rate, 4.5, 2), f"{rate:.0f} different content words a question")
