"""One finished sample: what the graph made of it as one line of JSON, and what was skipped or dropped in it.

It hides what a graph's last state may look like, how a failure is told in words, and which kinds of notices there are:
the rest of a run sees an `Item` with a status and notes, counted by kind.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from pydantic import BaseModel, Field

from judgegraph.answers import (
    ANSWERING,
    Precedence,
    answer_keys,
    answers_of,
    drafts_alone,
    drafts_that_stand,
    has_answer,
    is_escalation,
    is_helper,
)
from judgegraph.calls.ratings import CONTRARY, GAINSAID, RECANTED, SEVERAL, fallback_reason
from judgegraph.compiled import WAITS, waits
from judgegraph.data.samples import short_text_notes
from judgegraph.errors import ScaleError, StateError, commonest, counted, in_words, one_line, status_text
from judgegraph.prompts.template import SHOWING_EXAMPLES
from judgegraph.replies.reply import MENDED, RETAKEN
from judgegraph.types import (
    MEANT_AS_NUMBER,
    SAY_NOTHING,
    Comparison,
    Correction,
    Criterion,
    Finding,
    Note,
    Plan,
    Rectification,
    Sample,
    Score,
    Status,
    Suggestion,
    Value,
    Verdict,
)

FINE = ("ok", "abstained", "skipped")  # all other statuses are failures, which a retry takes up
FAILED = ("scores", "rectifications", "findings", "comparisons", "corrections")  # parts of an item that have a reason
LISTED = (*FAILED, "notes")
CHECKSUMS = "checksums"  # in a manifest: every line of its items was written with one
STRIKE, THIRD = 3, 1  # what an unclean exit counts for a sample that was in flight, in thirds


class Item(Value):
    """A line of `items.jsonl`.

    Attributes:
        sample: as it was read. status: "ok" when the graph came to its end, else why not, with `reason`.
        other: keys of a graph of yours that are not in the shared vocabulary.
        answers: keys of the scores that are the graph's answer, where its wiring tells more than the scores do; empty:
            as they tell (`judgegraph.answers`), also in runs that were written before this was.
        place: the sample's number in the dataset, from 0. ms: milliseconds from start to end.
    """

    sample: Sample
    status: Status = "ok"
    reason: str = ""
    scores: tuple[Score, ...] = ()
    rectifications: tuple[Rectification, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    aspects: dict[str, tuple[Criterion, ...]] = Field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()
    branches: dict[str, Criterion] = Field(default_factory=dict)
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    corrections: tuple[Correction, ...] = ()
    overall: float | None = None
    verdict: Verdict | None = None
    notes: tuple[Note, ...] = ()
    other: dict[str, Any] = Field(default_factory=dict)
    answers: tuple[str, ...] = ()
    place: int = 0
    ms: float = 0.0

    @property
    def id(self) -> str:
        """The sample's id."""
        return self.sample.id

    @property
    def judged(self) -> bool:
        """Whether an answer, a draft, a comparison or an answer over all could be read; helpers' scores are none."""
        return has_answer(self)

    def written(self, given: Collection[str]) -> set[str]:
        """Names of the criteria that were written for its sample: what the run was given is no sample's own."""
        return {criterion.name for criterion in self.branches.values() if criterion.name not in given}

    def line(self) -> str:
        """As JSON without what is empty; one line, strict JSON."""
        return self.model_dump_json(exclude_defaults=True)


def failures(item: Item) -> int:
    """How much of an item failed: itself, and each of its scores and other parts; an abstention is no failure."""
    parts = [part for name in LISTED for part in getattr(item, name)]
    parts += [item.plan] if item.plan is not None else []
    return sum(getattr(part, "status", "ok") not in FINE for part in [item, *parts])


def taken_again(status: str, failed: bool, retry: bool) -> bool:
    """Whether a finished sample is judged again: one that a budget kept from its end, in a retry every failed one."""
    return failed if retry else status == "over_budget"


NOTHING = Note(agent="graph", text="the graph wrote nothing", status="skipped", kind="nothing-written")
UNANSWERED = Note(
    agent="graph", text="the graph wrote no score, comparison, overall or verdict", status="skipped",
    kind="nothing-written",
)  # fmt: skip
OFF_SCALE, NO_NUMBER = "labels-off-scale", "labels-no-number"
OF_LABELS = (OFF_SCALE, NO_NUMBER)  # told by their column
OFF_CURE = "judge on people's scale, by a criteria set that has it (-c FILE), or leave empty what they did not judge"
MERGED = "overall"  # the criterion of what is compared over all
FOUND = frozenset(Item.model_fields) - {"sample", "place", "ms", "answers"}  # keys of a state that an item keeps


def item_of(
    sample: Sample, state: Mapping[str, Any] | None, ms: float, place: int = 0, wired: Sequence[Precedence] = ()
) -> Item:  # fmt: skip
    """From a graph's final state; noted are human labels off a score's scale, a text too thin to be judged, and what
    was emptied and only the whole result shows (`unnoticed`).

    Where the graph stopped to wait for a person, nothing was judged to its end: the sample failed. LangGraph gives
    None where no key of its result was written, as on a way from the start to the end. `wired` is what the graph's
    wiring tells of whose scores are the answer.
    """
    if state is None:
        return Item(sample=sample, notes=(NOTHING, *short_text_notes(sample)), place=place, ms=ms)
    if waits(state):
        return failed_item(sample, "agent_error", WAITS, ms, place)
    known = {key: value for key, value in state.items() if key in FOUND}
    for key in LISTED:
        if (value := known.get(key)) is not None and (type(value) is dict or isinstance(value, Mapping)):
            known[key] = tuple(value.values())
    other = {k: _plain(v) for k, v in state.items() if k not in known and k not in ("sample", "task")}
    if known.get("verdict") is None and (lone := _lone(known.get("comparisons", ()))) is not None:
        known["verdict"] = lone.verdict
    scores = known.get("scores", ())
    if any(score.label is not None for score in scores):
        scores = known["scores"] = tuple(map(_spelt, scores))
    over_all = known.get("overall") is not None or known.get("verdict") is not None
    found = bool(scores or known.get("comparisons")) or over_all
    empty = () if found else (UNANSWERED,)
    if found and scores and not answer_keys(scores, wired):
        stages = ", ".join(f"'{one_line(stage, 40)}'" for stage in dict.fromkeys(score.stage for score in scores))
        text = f"no score is an answer: they have stage {stages}; an answer has stage='final'"
        empty = (Note(agent="graph", text=text, status="skipped", kind="no-answer"),)
    known["notes"] = (
        *known.get("notes", ()),
        *empty,
        *_off_scale(sample, scores),
        *_unnoticed(known),
        *_unjoined(known),
        *_doubtful_overall(known),
        *short_text_notes(sample),
    )
    status, reason = _why_not_judged(known)
    return Item(
        sample=sample, status=status, reason=reason, other=other, place=place, ms=ms, answers=_answers(scores, wired),
        **known,
    )  # fmt: skip


def _lone(comparisons: Sequence[Comparison]) -> Comparison | None:
    """What is the verdict of a pair by its comparisons alone: the one of both orders, or over all, or the only one."""
    over_all = [one for one in comparisons if one.criterion == MERGED]
    some = [one for one in over_all if one.order == "both"] or over_all or comparisons
    return some[0] if len(some) == 1 else None


def _unjoined(known: Mapping[str, Any]) -> list[Note]:
    """A note where verdicts were given and none is the pair's, or the pair's is another than the only one over all."""
    comparisons, verdict = known.get("comparisons", ()), known.get("verdict")
    if not comparisons:
        return []
    lone = _lone(comparisons)
    if verdict is not None:
        if lone is None or lone.criterion != MERGED or lone.verdict in (None, verdict):
            return []
        text = f"the graph wrote verdict = '{verdict}', and '{one_line(lone.agent, 80)}' says {lone.verdict} over all"
        cure = "write both alike, or give the comparison the name of a criterion"
        return [Note(agent=lone.agent, text=f"{text}: {cure}", status="skipped", kind="verdict-differs")]
    if lone is not None or not any(one.verdict for one in comparisons):
        return []
    some = [one for one in comparisons if one.criterion == MERGED] or comparisons
    agents = list(dict.fromkeys(one.agent for one in some))
    if len(agents) > 1:
        text, cure = f"{names(agents)} say who is better, and no node joins them", "write verdict from theirs"
    elif len({one.criterion for one in some}) > 1:
        text, cure = f"{names(agents)} compares by several criteria, and not over all", "write verdict"
    else:
        text = f"{names(agents)} compares in both orders, and no node joins them"
        cure = "write verdict, or a Comparison(order='both'), or give one order alone and wrap it, jg.orders(...)"
    return [Note(agent=agents[0], text=f"{text}: {cure}", status="skipped", kind="verdict-missing")]


def _spelt(score: Score) -> Score:
    """Its label as its scale spells it: "Good" and "good" are one label, counted together."""
    if score.label is not None and score.scale is not None and score.label not in score.scale.labels:
        with suppress(ScaleError):
            return score.model_copy(update={"label": score.scale.check_label(score.label)})
    return score


def _why_not_judged(known: Mapping[str, Any]) -> tuple[Status, str]:
    """("ok", ""), but where nothing was judged as a call before had failed: that call's status and why.

    Such as where no criteria could be had: what is "skipped" for it was due all the same.
    """
    if known.get("overall") is not None or known.get("verdict") is not None:
        return "ok", ""
    for part in (*known.get("scores", ()), *known.get("comparisons", ())):
        if part.status != "skipped":
            return "ok", ""
    failed = [note for note in known["notes"] if note.status not in FINE]
    return (failed[0].status, one_line(f"{failed[0].agent}: {failed[0].text}")) if failed else ("ok", "")


def relabelled(item: Item, sample: Sample) -> Item:
    """The item with people's labels as they are now: they are no part of what was asked."""
    kept = [note for note in item.notes if not (note.agent == "human" and note.kind in OF_LABELS)]
    notes = (*kept, *_off_scale(sample, item.scores))
    return item.model_copy(update={"sample": sample, "notes": notes})


def _doubtful_overall(known: Mapping[str, Any]) -> list[Note]:
    """A note on an answer over all that is a number of no scale of the scores, nor a share."""
    overall = known.get("overall")
    scales = [s.scale for s in known.get("scores", ()) if s.scale is not None] if overall is not None else []
    ends = [(scale.low, scale.high) for scale in scales if scale.low is not None and scale.high is not None]
    if not ends or any(low <= overall <= high for low, high in [*ends, (0.0, 1.0)]):
        return []
    if min(low for low, _ in ends) <= overall <= max(high for _, high in ends):
        return []
    many = ", ".join(dict.fromkeys(map(str, scales)))
    text = f"overall = {overall:.6g}, and the scores' scales are {one_line(many, 80)}: write it on one, or from 0 to 1"
    return [Note(agent="graph", text=text, status="skipped", kind="overall-off-scale")]


def _answers(scores: Sequence[Score], wired: Sequence[Precedence]) -> tuple[str, ...]:
    """What the wiring tells beyond the scores; nothing where it tells no more."""
    if not wired:
        return ()
    found = answer_keys(scores, wired)
    return found if found != answer_keys(scores) else ()


def failed_item(sample: Sample, status: Status, why: str | BaseException, ms: float, place: int = 0) -> Item:
    """For a sample whose graph did not come to its end."""
    if isinstance(why, StateError):  # it names node, key and cure, which takes more than others have
        return Item(sample=sample, status=status, reason=one_line(why, 500), place=place, ms=ms)
    if isinstance(why, BaseException):
        why = _in_words(why)
    return Item(sample=sample, status=status, reason=one_line(why), place=place, ms=ms)


def _unnoticed(known: Mapping[str, Any]) -> list[Note]:
    compared = [c.criterion for c in known.get("comparisons", ())]
    criteria = known.get("criteria") or (known.get("branches") or {}).values()
    return unnoticed(
        known.get("scores", ()), known.get("rectifications", ()), criteria, compared, known.get("notes", ())
    )


_TASK = re.compile(r"During task with name '([^']*)'")  # as LangGraph notes it


def node_of(error: BaseException) -> str:
    """The node in which an error was raised, as LangGraph notes it; of nested ones the innermost."""
    found = [match[1] for note in getattr(error, "__notes__", ()) if (match := _TASK.search(note))]
    return "/".join(reversed(found))


def _in_words(error: BaseException) -> str:
    """An error with the node that raised it."""
    node = "" if isinstance(error, StateError) else node_of(error)
    return f"{in_words(error)} (node '{node}')" if node else in_words(error)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _off_scale(sample: Sample, scores: tuple[Score, ...]) -> list[Note]:
    if not sample.human:
        return []
    answers = set(answer_keys(scores))
    ranked = sorted(scores, key=lambda s: s.key in answers)  # an aspect may share a criterion's name, not its scale
    scales = {s.criterion.casefold(): s.scale for s in ranked if s.scale is not None and not s.scale.labels}
    found = []
    for name, label in sample.human.items():
        scale = scales.get(name.casefold())
        values = label if isinstance(label, list) else [label]
        for value in values if scale else ():
            if isinstance(value, int | float) and not scale.low <= value <= scale.high:  # type: ignore
                text = f"human.{name} = {value:g} is not on the scale {scale}"
                found.append(Note(agent="human", text=text, kind=OFF_SCALE))
            elif isinstance(value, str) and _no_number(value, sample):
                text = f"human.{name} = {one_line(repr(value), 30)} is no number: write a plain one, such as 1.5 or 4"
                found.append(Note(agent="human", text=text, kind=NO_NUMBER))
    return found


def _no_number(given: str, sample: Sample) -> bool:
    """Whether a word stands where a number is compared; of a pair it may be a verdict, and some words say nothing."""
    word = given.strip().casefold()
    if MEANT_AS_NUMBER.fullmatch(word):
        return True
    return sample.rival is None and word != "" and word not in SAY_NOTHING


# What a sample has to show: how it ended, and how its final answers did; of a run that judged nothing, why.


OTHERS = ("rectifications", "suggestions", "aspects", "branches", "plan", "findings", "corrections", "notes")
KINDS = 1000  # of reasons that are told apart


_OWN = re.compile(r"'[^']*('|$)|\"[^\"]*(\"|$)|\d+")  # what a reason may hold of the sample at hand


def without_own(reason: str) -> str:
    """A reason without what it may hold of one sample alone, so that those of one kind are alike."""
    return _OWN.sub("*", reason)


def answers(item: Item) -> list[Score | Comparison]:
    """The scores that are its answer, and its comparisons."""
    return [*answers_of(item), *item.comparisons]


def has_status(item: Item, status: str, criterion: str | None = None) -> bool:
    """Whether it ended so, or one of its final scores or comparisons did; of a criterion alone, these of it."""
    given = [one for one in answers(item) if criterion in (None, one.criterion)]
    if criterion is not None and given:
        return any(one.status == status for one in given)
    return item.status == status or any(one.status == status for one in given)


def overalls(item: Item) -> str:
    """Its answer over all; of a pair those of both, A's and B's, as far as B's can be told from its comparisons."""
    if item.overall is None:
        return ""
    said = f"{item.overall:.4g}"
    if item.sample.rival is None:
        return said
    rival = rival_overall(item)
    return f"A {said}" if rival is None else f"A {said}, B {rival:.4g}"


def rival_overall(item: Item) -> float | None:
    """B's mean over the very comparisons whose mean for A is the overall answer; None where they are none's."""
    for agent in dict.fromkeys(c.agent for c in item.comparisons) if item.overall is not None else ():
        found = [(c.score_a, c.score_b) for c in item.comparisons if c.agent == agent]
        both = [(a, b) for a, b in found if a is not None and b is not None]
        if both and math.isclose(fmean(a for a, _ in both), item.overall or 0.0, abs_tol=1e-9):
            return fmean(b for _, b in both)
    return None


def ending(item: Item) -> str:
    """Its status, and what its answers lack, such as "ok, but no final score: 3 abstained, 1 unreadable"."""
    found = answers(item)
    lost = Counter(one.status for one in found if one.status != "ok")
    if item.status != "ok" or not lost:
        return status_text(item.status)
    final = any(isinstance(one, Score) and one.stage == "final" for one in found)
    what = "comparison" if item.comparisons else "final score" if final else "score"
    said = ", ".join(f"{count} {status_text(status)}" for status, count in lost.most_common())
    if lost.total() == len(found):
        return f"ok, but no {what}: {said}"
    return f"ok, but of {len(found)} {what}s {said}"


@dataclass
class _Nothing:
    """What items without anything judged hold, counted.

    Attributes:
        failed: of samples whose graph did not come to its end, and reasons: of scores and comparisons without an
            answer, (status, reason without what is one sample's own) -> (count, the first reason).
        statuses: (status, "draft", "score" or "comparison") -> count. keys: of what was written beside them. own: keys
            of a graph's own.
        notes: their texts. silent: samples of which the graph wrote nothing at all.
    """

    samples: int = 0
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], str] = field(default_factory=dict)
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    silent: int = 0

    def add(self, item: Item) -> None:
        self.samples += 1
        if item.status != "ok":
            self._count(self.failed, item.status, item.reason)
            return
        scores = [score for score in item.scores if not is_helper(score)] or item.scores
        answers: list[Score | Comparison] = [*scores, *item.comparisons]
        for one in answers:
            what = "comparison" if isinstance(one, Comparison) else "draft" if one.stage == "draft" else "score"
            self.statuses[one.status, what] += 1
            if one.status != "ok":
                self._count(self.reasons, one.status, one.reason)
        notes = [note for note in item.notes if note.agent not in ("graph", "human", "sample")]
        found = [key for key in OTHERS if key != "notes" and getattr(item, key)] + (["notes"] if notes else [])
        self.keys.update(found)
        self.own.update(item.other.keys())
        self.notes.update(f"{note.agent}: {note.text}" for note in notes if len(self.notes) < KINDS)
        self.silent += not (found or item.other or item.scores or item.comparisons)

    def _count(self, counter: Counter[tuple[str, str]], status: str, reason: str) -> None:
        kind = status, without_own(reason)
        if kind in counter or len(counter) < KINDS:
            counter[kind] += 1
            self.first.setdefault(kind, reason)

    def in_words(self) -> str:
        told = [*self._failed(), *self._unread()]
        if self.silent:
            told.append(f"of {self._of(self.silent)} the graph wrote nothing")
        ended = self.samples - self.failed.total()
        if ended > self.silent and not self.statuses:
            wrote = ", ".join([*self.keys, *(f"{one_line(key, 40)} (its own)" for key in self.own)][:8])
            told.append(f"the graph wrote {wrote}, and no scores, comparisons, overall or verdict, which a run counts")
        if self.notes and not self.statuses:
            note, many = self.notes.most_common(1)[0]
            told.append(f"note ({many:,}): {one_line(note)}")
        return "; ".join(told)

    def _of(self, count: int) -> str:
        if count == self.samples:
            return "the one sample" if count == 1 else f"all {count:,} samples"
        return f"{count:,} of {counted(self.samples, 'sample')}"

    def _failed(self) -> Iterable[str]:
        if not self.failed:
            return
        ((status, _), many), *more = self.failed.most_common()
        kind = self.failed.most_common(1)[0][0]
        why = f"({status_text(status)})" + (f": {one_line(self.first[kind], 500)}" if self.first[kind] else "")
        others = f" ({self.failed.total() - many:,} failed for other reasons)" if more else ""
        yield f"{self._of(many)} ended early {why}{others}"

    def _unread(self) -> Iterable[str]:
        if not self.statuses:
            return
        whole = len({what for _, what in self.statuses}) == 1
        counts = ", ".join(
            f"{count:,} {status_text(status)}{'' if whole else f' {what}' if count == 1 else f' {what}s'}"
            for (status, what), count in self.statuses.most_common()
        )
        said = f"no score or comparison has an answer that counts ({counts})"
        given = {kind: count for kind, count in self.reasons.most_common() if kind[1]}
        kind = next(iter(given), None)
        none = "; whoever wrote them gives no reason: Score(status=..., reason=...)"
        yield said + (f"; {commonest(given.values(), 'reason')}: {one_line(self.first[kind], 300)}" if kind else none)


def nothing_judged(items: Iterable[Item], rejected: Sequence[Any] = (), state: str | None = None) -> str:
    """Why a run judged nothing, in a line; "" where it judged anything.

    Args:
        rejected: rows of the data that are no samples. state: how the run ended, by its manifest.
    """
    found = _Nothing()
    for item in items:
        if item.judged and not drafts_alone(item):
            return ""
        found.add(item)
    if found.samples:
        return found.in_words()
    if state == "stopped":
        return "it was stopped before a sample was finished"
    if not rejected:
        return "the data holds no samples"
    rows = "the one row of the data was" if len(rejected) == 1 else f"all {len(rejected):,} rows of the data were"
    return f"{rows} rejected{'' if len(rejected) == 1 else '; the first'}: {one_line(rejected[0], 300)}"


# What was skipped, dropped or not applied: found in a whole sample, and counted by kind over a run.


MOST_KINDS = 200  # that are told apart: ours are fewer, another package's agent may write a kind per sample
NAMED = 5  # names in a note
LONGEST = 600  # characters of a line's reason: what a server said, and what to do
LEFT_OUT = " left out: "  # behind a judge's name, in a note of a panel's score

TITLES: Mapping[str, str] = {  # kind -> what happened, the start of its line
    "advice-missing": "A critic's advice could not be had",
    "answer-taken-back": "A judge took an earlier answer back within its reply",
    "answers-differ": "A reply gave different answers, of which the last counts",
    "aspects-failed": "No aspects could be had for a target",
    "aspects-fewer": "Fewer aspects came than were asked for",
    "aspects-unscored": "Aspects without a score were left out",
    "assistants-failed": "No assistant gave a value",
    "assistants-off-range": "An assistant's value lies off the range that it declares",
    "assistants-not-consulted": "Assistants that the plan names were not consulted",
    "assistants-skipped": "All assistants were skipped",
    "assistants-unused": "No assistant was consulted",
    "condition-blind": "A condition had nothing to look at and could not open",
    "consultation-capped": "Consulting stopped at its cap on rounds",
    "consultation-failed": "The model called no assistants, those of the plan were called",
    "correction-unchanged": "A correction changed nothing",
    "criteria-doubled": "Criteria whose name had come before were left out",
    "criteria-dropped": "Criteria were given that got no score",
    "criteria-failed": "No criteria could be had",
    "criteria-fewer": "Another number of criteria came than was asked for",
    "critic-contrary": "A critic's verdict went against its own score and changed nothing",
    "critic-left-out": "A critic of a panel was left out",
    "doubt-unknown": "A condition names a criterion that is not there",
    "drafts-passed-over": "A critic reviewed the last of several judges' drafts, and the others count nowhere",
    "drafts-stand": "A critic was not heard, and drafts are the answer",
    "drafts-unread": "No draft could be read, and no critic was asked",
    "escalation-unanswered": "A stronger judge was asked and gave no answer",
    "gate-closed": "A gate stayed closed",
    "guideline-failed": "A criterion was judged without its guideline",
    "judgements-left-out": "Judgements without a score were left out",
    "labels-no-number": "People's labels are no numbers",
    "labels-off-scale": "People's labels lie off the scale",
    "no-criteria": "Nothing was asked for lack of criteria",
    "no-rival": "A pair had no rival",
    "nothing-to-combine": "A panel had nothing to combine",
    "nothing-to-correct": "A corrector found no score to go by",
    "nothing-to-decide": "Neither of two judges gave a score",
    "nothing-to-review": "A critic found no score to review",
    "nothing-written": "The graph wrote nothing",
    "panel-member-failed": "A judge of a panel failed",
    "panel-member-missing": "A panel lost a member",
    "panel-member-silent": "A judge of a panel gave no answer",
    "criterion-unknown": "Scores of a criterion that nobody gave count",
    "reason-contrary": "A score stands whose own reason gives another answer",
    "scale-missing": "Numbers came without a scale",
    "criterion-on-scales": "One criterion was scored on several scales, so neither it nor the answers have a mean",
    "overall-off-scale": "The answer over all lies off the scores' scales",
    "verdict-differs": "The verdict is another than the comparison over all",
    "verdict-missing": "Pairs were compared and have no verdict",
    "no-answer": "No score is the graph's answer",
    "panel-fewer": "A panel counted fewer judges than it has",
    "panel-scales-differ": "A panel left out a judge whose scale differs",
    "plan-failed": "No plan could be had, all assistants were asked",
    "plan-mended": "A plan was mended",
    "query-empty": "Criteria were asked for a query that is empty",
    "read-as-stated": "Scores were read as the stated number, not by log-probabilities or samples",
    "read-by-samples": "Scores were read from samples, not by log-probabilities",
    "reply-mended": "Scores were read from a reply that was not the JSON asked for",
    "runs-differ": "What several runs wrote differently was left out",
    "scales-differ": "Criteria have different scales, and there is no overall score",
    "suggestions-dropped": "Suggestions that could not be used were left out",
    "suggestions-idle": "Suggestions were not shown to a person",
    "target-unscored": "A target was not scored, as no aspect speaks for it",
    "text-empty": "A judged text is empty or has no word",
    "text-opening": "A judged text opens an answer and gives none",
    "threshold-off-scale": "A threshold lies off the scale",
    "verdict-contrary": "A stated verdict was another than the reply's scores gave, which count",
    "verdicts-not-applied": "A critic's verdicts reached no score",
}  # fmt: skip


@dataclass
class Notice:
    """One kind of note over a run, or one reason why parts of its samples failed.

    Attributes:
        kind: as of `Note.kind`, or which parts they are, of `FAILED`. samples: how many samples have such a note.
        agent, text, status: of the first such note. sample: id of the sample that has it. others: samples whose
            text is another one, not in numbers and what it quotes alone.
    """

    kind: str
    agent: str
    text: str
    status: Status
    sample: str
    samples: int = 0
    others: int = 0

    def count(self, text: str) -> None:
        """One more sample with such a note."""
        self.samples += 1
        self.others += without_details(text) != without_details(self.text)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "kind": self.kind, "samples": self.samples, "status": self.status, "agent": self.agent,
            "example": self.text, "sample": self.sample,
        }  # fmt: skip

    def line(self, samples: int) -> str:
        """Such as "All assistants were skipped on 150 of 150 samples: rouge-l, chrf: no reference"."""
        plural = "" if samples == 1 else "s"
        said = title(self.kind)
        if self.kind in FAILED:
            said = f"{self.kind.capitalize()} failed ({status_text(self.status)})"
        other = f" ({self.others:,} of them for other reasons)" if self.others else ""
        cure = f"; {OFF_CURE}" if self.kind == OFF_SCALE and "is not on the scale" in self.text else ""
        example = "for example " if self.samples > 1 and self.text[:1].isdecimal() else ""  # its number is one sample's
        text = f"{example}{one_line(self.text, LONGEST)}{other}{cure}"
        return f"{said} on {self.samples:,} of {samples:,} sample{plural}: {text}"


NUMBERS = r"(?<!HTTP )(?<!code: )(?<!code )(?<!\d)\d+(?:[.,]\d+)*"  # a status of HTTP tells kinds apart
_DETAILS = re.compile(rf"'[^']{{0,200}}'|\"[^\"]{{0,200}}\"|{NUMBERS}")


def without_details(reason: str) -> str:
    """A reason without numbers and without what it quotes: those that are alike then are one reason."""
    return _DETAILS.sub("#", reason)


def title(kind: str) -> str:
    """What happened, in words; of a kind that is not ours its own words."""
    return TITLES.get(kind) or one_line(kind.replace("-", " "), 60).capitalize()


def count_kinds(notices: dict[str, Notice], sample: str, notes: Iterable[Note]) -> None:
    """Count one sample's notes: each kind once, however many it has of it; labels off the scale by their column."""
    first: dict[str, Note] = {}
    for note in notes:
        if note.kind:
            column = f" {note.text.partition(' = ')[0]}" if note.kind in OF_LABELS else ""
            first.setdefault(f"{note.kind}{column}", note)
    for place, note in first.items():
        if place not in notices and len(notices) >= MOST_KINDS:
            continue
        notices.setdefault(place, Notice(note.kind, note.agent, note.text, note.status, sample)).count(note.text)


def by_count(notices: Mapping[Any, Notice]) -> list[Notice]:
    """The most frequent first, equal ones by kind."""
    return sorted(notices.values(), key=lambda one: (-one.samples, one.kind))


def unnoticed(
    scores: Sequence[Score], rectifications: Sequence[Rectification], criteria: Iterable[Criterion],
    compared: Iterable[str] = (), notes: Iterable[Note] = (),
) -> list[Note]:  # fmt: skip
    """What only a sample's whole result shows: verdicts that reached no score, drafts that stand, criteria without any.

    Args:
        criteria: that the sample was judged by, as far as its state says. compared: criteria of its comparisons.
        notes: of the sample.
    """
    if not rectifications and all(s.draft is None and s.scale is not None and s.reader != "panel" for s in scores):
        return _dropped(scores, criteria, compared)  # none of the others can say anything: as for nearly all samples
    return [
        *_not_applied(scores, rectifications), *_gainsaid(rectifications), *_unreviewed(scores), *_passed_over(scores),
        *_dropped(scores, criteria, compared), *_fewer(scores, notes), *_unscaled(scores),
    ]  # fmt: skip


TOLD_OF_PANELS = ("panel-member-failed", "panel-member-missing", "panel-member-silent", "panel-scales-differ")


def _fewer(scores: Sequence[Score], notes: Iterable[Note]) -> list[Note]:
    """A note for each panel that counted fewer judges than it has on some criteria, where no other note says so."""
    if not any(score.reader == "panel" for score in scores):
        return []
    told = {note.agent for note in notes if note.kind in (*TOLD_OF_PANELS, "criteria-dropped")}
    by_key = {score.key: score for score in scores}
    found: dict[str, list[str]] = {}
    for score in scores:
        if score.reader != "panel" or score.status != "ok" or score.draft is not None or score.agent in told:
            continue
        cast = {by_key[vote].agent for vote in score.votes if vote in by_key}
        lost = {note.partition(LEFT_OUT)[0] for note in score.notes if LEFT_OUT in note}
        if lost and (cast | lost) - lost:
            many = f"{len((cast | lost) - lost)} of {len(cast | lost)}"
            found.setdefault(score.agent, []).append(f"{many} on {one_line(score.criterion, 60)}")
    return [
        Note(agent=agent, status="skipped", kind="panel-fewer", text=f"'{one_line(agent, 80)}' counted {_few(said)}")
        for agent, said in found.items()
    ]


def _few(said: Sequence[str]) -> str:
    return ", ".join(said[:NAMED]) + (f" and {len(said) - NAMED} more" if len(said) > NAMED else "")


def _unscaled(scores: Sequence[Score]) -> list[Note]:
    """A note on answers that are numbers on no known scale: no mean of the answers holds them."""
    found = [
        s for s in scores
        if s.stage in ANSWERING and not s.member and s.status == "ok" and s.value is not None and s.scale is None
    ]  # fmt: skip
    if not found:
        return []
    many = names(list(dict.fromkeys(s.criterion for s in found)))
    text = (
        f"'{one_line(found[0].agent, 80)}' gave {found[0].value:.6g} for {many}, and nobody knows of how many: it "
        "counts in no mean of the answers; give the score a scale, such as Score(..., scale='0-100')"
    )
    return [Note(agent=found[0].agent, text=text, status="skipped", kind="scale-missing")]


def _unreviewed(scores: Sequence[Score]) -> list[Note]:
    """A note for each critic that said nothing of some drafts, which stand as the answer."""
    lost: dict[str, list[str]] = {}
    for final, draft in drafts_that_stand(scores):
        lost.setdefault(final.agent, []).append(draft.criterion)
    return [
        Note(
            agent=agent, status="skipped", kind="drafts-stand",
            text=f"'{one_line(agent, 80)}' said nothing of {names(list(dict.fromkeys(found)))}: what it was to review "
            "is the answer",
        )
        for agent, found in lost.items()
    ]  # fmt: skip


def _passed_over(scores: Sequence[Score]) -> list[Note]:
    """A note for each critic before which several judges gave drafts of one criterion: it reviewed the last of them."""
    if not any(s.draft for s in scores):
        return []
    by_key = {s.key: s for s in scores}
    used = {key for s in scores for key in (s.draft, *s.votes)}
    lost: dict[tuple[str, str, str], list[str]] = {}
    for final in scores:
        draft = by_key.get(final.draft or "")
        if draft is None or draft.stage != "draft" or final.stage != "final" or final.member:
            continue
        for one in scores:
            same = (one.criterion, one.of, one.stage) == (draft.criterion, draft.of, draft.stage)
            if same and one.agent != draft.agent and one.key not in used and not one.member:
                lost.setdefault((final.agent, draft.agent, one.agent), []).append(one.criterion)
    return [
        Note(
            agent=critic, status="skipped", kind="drafts-passed-over",
            text=f"'{one_line(critic, 80)}' reviewed what '{one_line(judge, 80)}' gave of {names(found)}, and what "
            f"'{one_line(other, 80)}' gave counts nowhere: name one by of=, or join them, jg.panel(..., stage='draft')",
        )
        for (critic, judge, other), found in lost.items()
    ]  # fmt: skip


def _not_applied(scores: Sequence[Score], verdicts: Sequence[Rectification]) -> list[Note]:
    """A note for each critic whose readable verdicts stand beside scores that they did not touch."""
    if not verdicts:
        return []
    by_key = {s.key: s for s in scores}
    applied: dict[str, set[str]] = {}  # criterion -> agents of scores that rectify a draft
    for score in scores:
        if score.draft is not None and _rectifies(score, by_key.get(score.draft)):
            applied.setdefault(score.criterion, set()).add(score.agent)
    lost: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.status == "ok" and not _reached(verdict, verdicts, applied.get(verdict.criterion, set())):
            lost.setdefault(verdict.agent, []).append(verdict.criterion)
    return [_unapplied(agent, names) for agent, names in lost.items()]


def _gainsaid(verdicts: Sequence[Rectification]) -> list[Note]:
    """A note for each critic some of whose verdicts go against the score beside them, and so changed nothing."""
    lost: dict[str, list[Rectification]] = {}
    for verdict in verdicts:
        if verdict.action == "keep" and any(GAINSAID in note for note in verdict.notes):
            lost.setdefault(verdict.agent, []).append(verdict)
    return [
        Note(
            agent=agent, status="skipped", kind="critic-contrary",
            text=f"'{one_line(agent, 80)}' on {names([one.criterion for one in found])}: "
            f"{next(note for note in found[0].notes if GAINSAID in note)}",
        )
        for agent, found in lost.items()
    ]  # fmt: skip


def _unapplied(agent: str, criteria: Sequence[str]) -> Note:
    text = (
        f"what '{one_line(agent, 80)}' says of {names(criteria)} changed no score: no Rectify(name=...) of its name "
        f"stands behind it, at the stage that it reviewed; or put it in as one node with jg.critique"
    )
    return Note(agent=agent, text=text, status="skipped", kind="verdicts-not-applied")


def _rectifies(final: Score, draft: Score | None) -> bool:
    """Whether it is a critic's: no stronger judge's, and none that waited for a verdict in vain."""
    unheard = final.status == "skipped" and draft is not None and draft.status == "ok"
    return not unheard and not is_escalation(final, draft)


def _reached(verdict: Rectification, verdicts: Sequence[Rectification], agents: set[str]) -> bool:
    """Whether a score was rectified by it; who rectifies without a critic of its own name takes the last one's."""
    if verdict.agent in agents:
        return True
    said = [r for r in verdicts if r.criterion == verdict.criterion]
    return said[-1] is verdict and bool(agents - {r.agent for r in verdicts})


def _dropped(scores: Sequence[Score], criteria: Iterable[Criterion], compared: Iterable[str]) -> list[Note]:
    """A note on criteria without any score, where others have some."""
    asked = [c.name for c in criteria]
    known = {s.criterion for s in scores} | set(compared)
    lost = [name for name in asked if name not in known]
    if not lost or len(lost) == len(asked):  # where nothing at all was scored the sample itself says so
        return []
    agents = names(list(dict.fromkeys(s.agent for s in scores if s.criterion in asked)))
    given = counted(len(asked), "criterion given", "criteria given")
    text = f"{given}, {len(asked) - len(lost)} scored by {agents or 'nobody'}: no score of "
    return [Note(agent="graph", text=text + names(lost), status="skipped", kind="criteria-dropped")]


def fallbacks(scores: Iterable[Score]) -> list[Note]:
    """A note for each way in which scores of a sample were read worse than its agents wanted, as their notes say."""
    found: dict[str, list[tuple[Score, str]]] = {}
    for score in scores:
        if score.status != "ok" or not score.notes:  # notes say all of it
            continue
        if (why := fallback_reason(score.notes)) and score.reader in ("samples", "stated"):
            found.setdefault(f"read-{'by-samples' if score.reader == 'samples' else 'as-stated'}", []).append(
                (score, why)
            )
        if why := next((note for note in score.notes if note in MENDED), ""):
            found.setdefault("reply-mended", []).append((score, why))
        if any(note.startswith(RETAKEN) for note in score.notes):
            found.setdefault("answer-taken-back", []).append((score, RETAKEN))
        if why := next((note for note in score.notes if note.startswith(SEVERAL)), ""):
            found.setdefault("answers-differ", []).append((score, why))
        if why := next((note for note in score.notes if CONTRARY in note), ""):
            found.setdefault("verdict-contrary", []).append((score, why))
        if why := next((note for note in score.notes if note.startswith(RECANTED)), ""):
            found.setdefault("reason-contrary", []).append((score, why))
    return [
        Note(agent=some[0][0].agent, text=f"{len(some)} score{'' if len(some) == 1 else 's'}, {some[0][1]}", kind=kind)
        for kind, some in found.items()
    ]


LACKS: Mapping[str, str] = {  # what the manifest counts, by judge or prompt -> what that lacks, and what came of it
    "in_words": "Replies to a form that was told in words, as the judge takes no JSON schema or was seen to ignore it",
    "further": "Further calls for choices that the judge did not give at once, as n asked for",
    "unshown": "Prompts without a section for what their sample has, so that the judge was not shown it",
    "blind": "Prompts with images that were not sent, as the judge sees none: its scores there are skipped",
}


def lacks_of(manifest: Mapping[str, Any]) -> list[str]:
    """What judges cannot do and prompts leave out, a line each, with how many replies or calls that took."""
    calls = manifest.get("calls") or {}
    named = {
        title: ", ".join(f"{one_line(judge, 80)} ({count:,})" for judge, count in (calls.get(key) or {}).items())
        for key, title in LACKS.items()
    }
    lines = [f"{title}: {said}" for title, said in named.items() if said]
    lines += [unfit_prices(rows)] if (rows := manifest.get("unfit_prices")) else []
    return lines + ([UNSHOWN_EXAMPLES] if _examples_unshown(manifest) else [])


def unfit_prices(rows: Mapping[str, str]) -> str:
    """Rows of a price file that fit no judge of a run, such as "'openai:gpt-9' (nearest: openai:gpt-4.1)"."""
    some = [f"'{one_line(row, 80)}' (nearest: {one_line(judge, 120)})" for row, judge in rows.items()]
    return f"Price rows that fit no judge of the run, so that they count for nothing: {_few(some)}"


UNSHOWN_EXAMPLES = "Examples of criteria were shown to nobody: no judge of this graph has a place for them"


def _examples_unshown(manifest: Mapping[str, Any]) -> bool:
    listed, nodes = manifest.get("criteria"), manifest.get("nodes")
    given = any(isinstance(one, Mapping) and one.get("examples") for one in listed or ())
    about = nodes.values() if isinstance(nodes, Mapping) else ()
    agents = {str(one.get("agent")) for one in about if isinstance(one, Mapping)}
    return given and bool(agents) and not agents & SHOWING_EXAMPLES


def names(listed: Sequence[str]) -> str:
    """A few names in a sentence."""
    shown = ", ".join(f"'{one_line(name, 60)}'" for name in listed[:NAMED])
    return f"{shown} and {len(listed) - NAMED} more" if len(listed) > NAMED else shown
