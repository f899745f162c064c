"""The structure of a form, survey or quiz: questions that repeat one another, options that overlap, no way out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from statistics import fmean
from typing import Any

from judgegraph.embedded.evidence_forms import bare_choices, forced
from judgegraph.embedded.prompt_view import Survey, clashes, same_questions, survey_of
from judgegraph.errors import ConfigError, counted
from judgegraph.tools.catalogue import About, Metric, Unmeasurable
from judgegraph.tools.metrics import CODE, MOST_CHARS, OURS, SACREBLEU
from judgegraph.tools.prose import grade, parsed
from judgegraph.types import Finding, Json, Sample

READS = "the output, a form or survey as JSON with its questions"
LOWER = "0 = none, lower = better"
Flaws = tuple[list[int], str]  # questions (1-based) with the flaw, and what was seen


def form_of(sample: Sample) -> Survey:
    """The questions of an output that is a form: JSON of any layout, an object or the text of one.

    Raises:
        Unmeasurable: it is no JSON, or holds no question.
    """
    held = parsed(sample.output)
    found = None if held is None else survey_of(held)
    if found is None:
        why = "it is no JSON" if held is None else "no question was found in its JSON"
        raise Unmeasurable(f"the output is no form: {why}")
    return found


def duplicates() -> Metric:
    """Share of the questions whose content words are nearly those of an earlier one (Jaccard 0.6 or more).

    Source: SAGEval, arXiv:2411.16077, appendix A, asks of semantic diversity that no question be there twice; how near
    two questions may stand is ours.
    """
    return _flaw_metric(
        "form-duplicates", "share of a form's questions that ask nearly what an earlier one asks, its duplicates",
        _duplicates,
    )  # fmt: skip


def overlaps() -> Metric:
    """Share of the questions with two equal options, or with number ranges that overlap ("18-25", "25-34")."""
    return _flaw_metric(
        "form-overlaps", "share of a form's questions of choice whose options clash or stand twice: not precise",
        _overlaps,
    )  # fmt: skip


def exits() -> Metric:
    """Share of the questions of choice that leave no way out, such as "other", "none" or "prefer not to say"."""
    return _flaw_metric(
        "form-exits", "share of a form's questions of choice without a way out ('other', 'prefer not to say'): unfair",
        _exits,
    )  # fmt: skip


def _flaw_metric(name: str, measures: str, flaws: Callable[[Survey], tuple[Flaws, int]]) -> Metric:
    def measure(sample: Sample) -> Finding:
        (found, seen), total = flaws(form_of(sample))
        if not total:
            raise Unmeasurable("the form has no question of choice")
        reason = f"{len(found)} of {counted(total, 'question')}" + (f": {seen}" if seen else "")
        return Finding(assistant=name, value=len(found) / total, reason=reason)

    about = About(
        measures=measures, reads=READS, range="0 to 1", direction=LOWER, cost=CODE, licence=OURS,
        source="SAGEval, arXiv:2411.16077, appendix A; the rule is ours",
    )  # fmt: skip
    return Metric(name=name, about=about, measure=measure)


def _duplicates(held: Survey) -> tuple[Flaws, int]:
    pairs = same_questions(held)
    later = sorted({j + 1 for _, j in pairs})
    return (later, "; ".join(f"{j + 1} asks what {i + 1} asks" for i, j in pairs[:3])), len(held.questions)


def _overlaps(held: Survey) -> tuple[Flaws, int]:
    found = {i: said for i, q in enumerate(held.questions, 1) if (said := next(clashes(q), ""))}
    shown = "; ".join(f"{i}: {said}" for i, said in list(found.items())[:3])
    return (list(found), shown), sum(len(q.options) > 1 for q in held.questions)


def _exits(held: Survey) -> tuple[Flaws, int]:
    found = forced(held)
    choices = sum(len(q.options) > 1 and bool(_CHOICE.search(q.kind)) for q in held.questions)
    return (found, ", ".join(map(str, found[:8]))), choices


_CHOICE = re.compile(r"choice|select")


def reading_level() -> Metric:
    """The hardest question's automated readability index, a US school grade; a question counts as a sentence.

    Source: as `judgegraph.tools.prose.readability`, of each question of five words or more with its options left out.
    """
    about = About(
        measures="school grade that the hardest question of a form takes to understand, by length of words and "
        "sentences (ARI)", reads=READS, range="-10 to 40, of usual forms",
        direction="high = hard for its audience, 6 = a form for everyone; says nothing of quality by itself",
        cost=CODE, licence=OURS, source="Senter and Smith 1967, AMRL-TR-66-220, question by question",
    )  # fmt: skip
    return Metric(name="form-reading-level", about=about, measure=_hardest)


SHORTEST = 5  # words: the index of a shorter question is that of its longest word


def _hardest(sample: Sample) -> Finding:
    held = form_of(sample)
    asked = [(i, q.text) for i, q in enumerate(held.questions, 1) if len(q.text.split()) >= SHORTEST]
    grades = [(grade(text), i) for i, text in asked]
    if not grades:
        raise Unmeasurable(f"no question of the form has {SHORTEST} words")
    hardest, at = max(grades)
    mean = fmean(value for value, _ in grades)
    return Finding(assistant="form-reading-level", value=hardest, reason=f"question {at}; the mean is {mean:.1f}")


def schema(against: Mapping[str, Any] | None = None) -> Metric:
    """Share of the questions whose structure is sound, 0 to 1; with a JSON Schema, 1 where the form meets it, else 0.

    Sound is a question with a text, an `id` that no other has (where ids are given), and, where it is one of choice,
    two options or more.

    Args:
        against: a JSON Schema that the output must meet; it needs the package jsonschema.
    """
    about = About(
        measures="share of a form's questions with a sound structure: a text, an id of its own, options to choose from",
        reads=READS, range="0 to 1", direction="1 = a valid form, higher = better, lower = errors in its structure",
        cost=CODE, licence=OURS, source="ours; with a schema JSON Schema 2020-12, by jsonschema (MIT)",
    )  # fmt: skip

    def measure(sample: Sample) -> Finding:
        return _valid(sample) if against is None else _meets(sample, against)

    return Metric(name="form-schema", about=about, measure=measure)


def _valid(sample: Sample) -> Finding:
    held = form_of(sample)
    faults = [*bare_choices(held), *_same_ids(parsed(sample.output))]
    total = len(held.questions)
    flawed = min(total, len(faults))
    return Finding(
        assistant="form-schema", value=1 - flawed / total, reason="; ".join(faults[:3]) or f"{total} sound questions"
    )


def _same_ids(value: Json | None) -> list[str]:
    """Ids that two questions share."""
    seen: set[str] = set()
    twice: list[str] = []
    for found in _ids(value, 0):
        if found in seen:
            twice.append(f"the id {found[:40]!r} stands twice")
        seen.add(found)
    return twice


def _ids(value: Json | None, depth: int) -> Iterable[str]:
    if depth > 12:
        return
    if isinstance(value, dict):
        if isinstance(value.get("id"), str | int):
            yield str(value["id"])
        for inner in value.values():
            yield from _ids(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _ids(inner, depth + 1)


def _meets(sample: Sample, against: Mapping[str, Any]) -> Finding:
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        raise ConfigError("form-schema: a JSON Schema is checked by jsonschema: pip install jsonschema") from None
    held = parsed(sample.output)
    if held is None:
        return Finding(assistant="form-schema", value=0.0, reason="the output is no JSON")
    wrong = next(Draft202012Validator(dict(against)).iter_errors(held), None)
    if wrong is None:
        return Finding(assistant="form-schema", value=1.0, reason="it meets the schema")
    at = "/".join(map(str, wrong.absolute_path)) or "the whole"
    return Finding(assistant="form-schema", value=0.0, reason=f"{at}: {wrong.message}"[:300])


def self_bleu() -> Metric:
    """Mean over the questions of a form of the BLEU of one (with its options) beside all others, 0 to 100.

    Source: Zhu et al. 2018, "Texygen", arXiv:1802.01886, section 3.2: low values are diversity. SAGEval
    (arXiv:2411.16077) names semantic diversity a criterion of forms. BLEU as `bleu`; the first 120 questions.
    """
    about = About(
        measures="how much a form's questions repeat one another's words, one beside all others: low is "
        "diversity", reads=READS, range="0 to 100",
        direction="lower = more different questions; says nothing of quality by itself",
        cost="plain code; milliseconds, grows with the square of the questions", licence=SACREBLEU,
        source="Zhu et al. 2018, arXiv:1802.01886",
    )  # fmt: skip
    return Metric(name="self-bleu", about=about, measure=_self_bleu)


def _self_bleu(sample: Sample) -> float:
    from sacrebleu.metrics.bleu import BLEU

    items = [" ".join((q.text, *q.options))[:MOST_CHARS] for q in form_of(sample).questions]
    if len(items) < 2:
        raise Unmeasurable("the form has one question; self-BLEU compares several")
    bleu = BLEU(effective_order=True)
    return fmean(bleu.sentence_score(one, items[:i] + items[i + 1 :]).score for i, one in enumerate(items))
