"""Evidence for a form, survey or quiz: questions, options, headings, wording; no source is needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain

from judgegraph.embedded.evidence_prose import (
    Evidence,
    Measure,
    Views,
    between,
    counted,
    falling,
    loaded,
    logistic,
    mean,
    percent,
    quoted,
)
from judgegraph.embedded.prompt_view import Case, Question, Survey, clashes, same_questions
from judgegraph.embedded.text import (
    FUNCTION_WORDS,
    LEADING_PHRASES,
    NEGATIVE,
    content,
    listed,
    question_slips,
    rules_broken,
    stemmed,
    words_of,
)

# What a form has to do with the request for it: themes, wishes, questions that stray.


_GENERAL = frozenset(map(stemmed, listed("general_questions")))
_ASKED = frozenset(map(stemmed, listed("asking_forms")))
_NUMBERS = dict(zip("three four five six seven eight nine ten twelve".split(), (*range(3, 11), 12), strict=True))
_COUNT = re.compile(r"\b(\d{1,2}|" + "|".join(_NUMBERS) + r")[\s-]+(?:\w+[\s-]+){0,2}questions?\b", re.I)
_WISHES = re.compile(r"[,;:.?!]|\band\b|\bor\b", re.I)


def survey(case: Case) -> Survey:
    """The survey of a case of kind "form"."""
    assert case.survey is not None
    return case.survey


def themes(case: Case) -> set[str]:
    """Content stems of the request without the words of asking."""
    return set(case.asked.content) - _ASKED


def short(stems: Iterable[str]) -> set[str]:
    """Stems cut to five letters, so that kindred words meet; "bugs" meets "bug"."""
    return {s[:3] if len(s) == 4 and s[3] == "s" != s[2] else s[:5] for s in stems}


_COMPANIONS = tuple(frozenset(short(map(stemmed, group.split()))) for group in sorted(listed("companions")))


def _company(stems: set[str]) -> set[int]:
    """Numbers of the groups of companions that these stems belong to."""
    return {i for i, group in enumerate(_COMPANIONS) if stems & group}


def _whole(texts: Iterable[str]) -> set[str]:
    return short(content(w for t in texts for w in words_of(t) if not w.isdigit()))


def strays(case: Case) -> list[int]:
    """Questions (1-based) that share no word with the request, the headings or any other question, nor a companion.

    Words of asking ("like", "want") tie nothing; a word that any form may ask by ("age", "overall") excuses all,
    and so does a question of words of asking alone.
    """
    held, idle = survey(case), short(_ASKED)
    wholes = [_whole((q.text, *q.options)) - idle for q in held.questions]
    known = (_whole(held.headings) | short(case.asked.content) | short(_GENERAL)) - idle
    company, found = _company(known), []
    for i, question in enumerate(held.questions):
        rest = set(chain.from_iterable(w for j, w in enumerate(wholes) if j != i))
        only = not short(question.stems) - idle
        if not (only or wholes[i] & known or short(question.stems) & rest or _company(wholes[i]) & company):
            found.append(i + 1)
    return found


def covered(case: Case) -> float:
    """Share of the request's themes that the form names, 0-1; 1 without themes."""
    wanted = short(themes(case))
    return len(wanted & short(case.text.content)) / len(wanted) if wanted else 1.0


def wishes(case: Case) -> tuple[int, list[str]]:
    """Single things the request lists (between commas and "and"), and those of which the form names nothing."""
    held = [(part.strip(), short(set(content(words_of(part))) - _ASKED)) for part in _WISHES.split(case.query[:2000])]
    listed_ = [(part, stems) for part, stems in held if stems]
    named = short(case.text.content)
    company = _company(named)
    return len(listed_), [part for part, stems in listed_ if not stems & named and not _company(stems) & company]


def relevance(case: Case) -> Evidence | None:
    if not case.query.strip():
        return None
    part, odd, n = covered(case), strays(case), len(survey(case).questions)
    quality = logistic(part, 0.22, 0.13) * (1 - 0.5 * len(odd) / n) * falling(len(odd), 4.5)
    note = f"it names {percent(part)} of the request's themes"
    return Evidence(0.97 * quality, note + (f"; question {odd[0]} has no tie to the request" if odd else ""))


def bare_choices(held: Survey) -> list[str]:
    """Questions of choice that offer none."""
    asks = re.compile(r"choice|select|radio|dropdown|checkbox")
    return [
        f"question {i} offers no choice"
        for i, q in enumerate(held.questions, 1)
        if asks.search(q.kind) and len(q.options) < 2
    ]


def accuracy(case: Case) -> Evidence:
    held, flaws = survey(case), bare_choices(survey(case))
    overlaps = sum(1 for q in held.questions for _ in clashes(q))
    asked = _COUNT.search(case.query)
    if asked:
        number = _NUMBERS.get(asked[1].lower()) or int(asked[1])
        if number != len(held.questions):
            flaws.append(f"{number} questions were asked for, {len(held.questions)} are there")
    total, lacking = wishes(case)
    theme = logistic(covered(case), 0.05, 0.1) if case.query.strip() else 0.9
    met = 1 - 0.25 * len(lacking) / total if total else 1.0
    note = "; ".join(flaws[:2]) or (
        f"it takes up {total - len(lacking)} of {total} wishes" if total else "no flaw found"
    )
    note += f' (not "{lacking[0][:40]}")' if lacking and not flaws else ""
    return Evidence(0.97 * falling(len(flaws) + 0.2 * min(2, overlaps), 1.7) * theme * met, note)


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
        options = {" ".join(words_of(o)) for o in q.options}
        if options and options <= {"male", "female", "man", "woman", "men", "women"}:
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
        private = {w for w in words_of(q.text) if w in _PERSONAL}
        return bool(private) and not short(content(private)) & wished and not _OUT.search(" ".join(q.options))

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


# The critic's evidence for a form: other features than the evaluator's in `forms.py`, and the pairs of both.


_WARM = listed("warm")
_PRESSURE = re.compile(
    r"\b(?:always|never|everyone|everybody|nobody|no one|only|all (?:men|women|people))\b|\bwhy do(?:n't)? you\b", re.I
)


def openings(case: Case) -> Evidence:
    questions = survey(case).questions
    part = len({" ".join(words_of(q.text)[:3]) for q in questions}) / len(questions)
    return Evidence(0.3 + 0.65 * part, f"{percent(part)} of its questions open in their own way", raises=False)


def titled(case: Case) -> Evidence | None:
    if not case.query.strip():
        return None
    hit = len(themes(case) & set(content(w for h in survey(case).headings for w in words_of(h))))
    quality = 0.35 + 0.55 * (1 - falling(hit, 1.2))
    return Evidence(quality, f"its headings take up {counted(hit, 'theme')} of the request")


def _fits(q: Question) -> bool:
    if re.search(r"text|open|long|short_answer|comment", q.kind):
        return not q.options
    if re.search(r"choice|select|radio|dropdown|likert|rating|scale|checkbox", q.kind):
        bare = not q.options and bool(re.search(r"rating|scale", q.kind))
        return 2 <= len(q.options) <= 12 or bare
    return True


def typed(case: Case) -> Evidence:
    odd = [i for i, q in enumerate(survey(case).questions, 1) if not _fits(q)]
    note = f"the options of question {odd[0]} do not fit its type" if odd else "every question's options fit its type"
    return Evidence(0.9 * falling(len(odd), 2.5), note, raises=False)


def cased(case: Case) -> Evidence:
    questions = survey(case).questions
    uneven = sum(len({o[0].isupper() for o in q.options if o[:1].isalpha()}) > 1 for q in questions)
    uneven += sum(len({o.rstrip()[-1:] == "." for o in q.options}) > 1 for q in questions)
    return Evidence(0.92 * falling(uneven, 2.5), f"{counted(uneven, 'set')} of options written unevenly", raises=False)


def letters(case: Case) -> Evidence:
    size = mean(len(w) for w in case.text.words if w.isalpha())
    return Evidence(logistic(-size, -6.3, 0.6), f"{size:.1f} letters a word")


def warmth(case: Case) -> Evidence:
    rate = sum(w in _WARM for w in case.text.words) / (len(case.text.words) or 1)
    return Evidence(0.3 + 0.55 * (1 - falling(rate, 0.03)), f"{percent(rate)} of its words speak to the reader")


def pressure(case: Case) -> Evidence:
    questions = survey(case).questions
    found = sum(len(_PRESSURE.findall(q.text)) for q in questions)
    theme = set(case.asked.words)  # a form on repairs speaks of what is broken
    harsh = sum(w in NEGATIVE and w not in theme for q in questions for w in words_of(q.text))
    note = f"{counted(found, 'sweeping word')}, {counted(harsh, 'harsh word')} in its questions"
    return Evidence(0.92 * falling(found + 0.5 * harsh, 4), note, raises=False)


def small_words(case: Case) -> Evidence:
    part = sum(w in FUNCTION_WORDS for w in case.text.words) / (len(case.text.words) or 1)
    return Evidence(0.9 * between(part, 0.2, 0.55, 0.2), f"{percent(part)} function words", raises=False)


_MAIN: tuple[tuple[Measure, Measure], ...] = (
    (diversity, openings),
    (relevance, titled),
    (accuracy, typed),
    (fluency, cased),
    (understandability, letters),
    (fairness, pressure),
)


def _joined(case: Case, view: int) -> Evidence:
    held = [e for pair in _MAIN if (e := pair[view](case))]
    worst = min(held, key=lambda e: e.quality)
    return Evidence(0.7 * mean(e.quality for e in held) + 0.3 * worst.quality, f"lowest: {worst.note}")


def overall(case: Case) -> Evidence:
    return _joined(case, 0)


def middle(case: Case) -> Evidence:
    return _joined(case, 1)


VIEWS: Views = {
    "diversity": (diversity, openings),
    "relevance": (relevance, titled),
    "accuracy": (accuracy, typed),
    "consistency": (accuracy, typed),
    "fluency": (fluency, cased),
    "naturalness": (fluency, small_words),
    "understandability": (understandability, letters),
    "engagement": (engagement, warmth),
    "fairness": (fairness, pressure),
    "coherence": (coherence, openings),
    "conciseness": (length, small_words),
    "specificity": (specificity, letters),
    "overall": (overall, middle),
}
