"""Whether a foreign judgement holds under the criterion and guideline that were written for it: kept, or rejected.

It holds where a judge who sees the guideline, and not the judgement, says the same: of a pair the same verdict in both
orders, of a single response the same point of the scale. Whatever does not hold is a reject with its kind and reason.

Source: Fennec, section 3.2 (behaviourally inconsistent data is filtered out) and section 4.1 (exchanged orders filter
what is predicted inconsistently). The paper gives no rule for single responses, nor for guidelines that give the
verdict away: these are ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from judgegraph.agents.reverse import ForeignJudgement, carried_over, foreign_judgement
from judgegraph.bridging.records import MARKED, chat_mark
from judgegraph.data.samples import Rejection
from judgegraph.errors import one_line
from judgegraph.runs.item import Item
from judgegraph.types import Comparison, Criterion, Json, Sample, Score, Side, text_of, words

Kind: TypeAlias = Literal[
    "unreadable", "doubled", "contradicted", "failed", "no-criterion", "no-guideline", "gives-away", "not-judged",
    "order", "verdict", "score", "chat-mark",
]  # fmt: skip
Asked: TypeAlias = Literal["AB", "BA", "both"]
KINDS: Mapping[Kind, str] = {
    "unreadable": "the record could not be read",
    "doubled": "the same query and responses came before",
    "contradicted": "the same query and responses came with another judgement",
    "failed": "its graph failed",
    "no-criterion": "no criterion was written",
    "no-guideline": "no guideline was written",
    "gives-away": "criterion or guideline names or quotes a response",
    "not-judged": "there is no judgement made anew that could be read",
    "order": "the verdict changes with the order of the responses",
    "verdict": "another verdict when judged anew under the guideline",
    "score": "another score when judged anew under the guideline",
    "chat-mark": "a text holds a mark of chat templates",
}
QUOTED = 8  # words in a row that stand in a response and not in the query: a quotation
POINTS = 0.5  # of 1-5: a score that is no further off is the same point
_NUMBERED = re.compile(r"\b(?:response|answer|output|assistant|candidate)s?\s+\(?(?:1|2|one|two)\b", re.I)
_NAMES = re.compile(r"\b(?:response|answer|output|assistant|candidate)s?\s+\(?(?:A|B|1|2|one|two)\b", re.I)
_BY_PLACE = re.compile(r"\bthe (?:first|second|former|latter|other) (?:response|answer|output|one|candidate)\b", re.I)


@dataclass(frozen=True)
class Reject:
    """A judgement that makes no training data.

    Attributes:
        where: file and line, or folder and sample. id: of the record. kind: a key of KINDS. reason: one line.
    """

    where: str
    id: str
    kind: Kind
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {KINDS[self.kind]}: {self.reason}"

    def to_dict(self) -> dict[str, str]:
        """As JSON values."""
        return dict(vars(self))


@dataclass(frozen=True)
class Bridged:
    """A foreign judgement that holds, with what was written for it.

    Attributes:
        sample: query and responses. criterion: with its guideline. judgement: the foreign one.
        scores: of the judgement made anew, by order ("AB", "BA") and side; of a single response by "" and "output".
        comparisons: of a pair, by order.
    """

    sample: Sample
    criterion: Criterion
    judgement: ForeignJudgement
    scores: Mapping[tuple[str, Side], Score] = field(default_factory=dict)
    comparisons: Mapping[Asked, Comparison] = field(default_factory=dict)


@dataclass(frozen=True)
class Sifted:
    """What a run of `judgegraph.graphs.bridging` came to.

    Attributes:
        consistent: judgements that hold. rejects: those that do not.
        one_order: pairs whose verdict holds in one order alone: the right and the wrong reply to one question.
    """

    consistent: tuple[Bridged, ...]
    rejects: tuple[Reject, ...]
    one_order: tuple[Bridged, ...] = ()

    @property
    def kinds(self) -> Counter[Kind]:
        """Kind of a reject -> how many."""
        return Counter(one.kind for one in self.rejects)


def position_of(sample: Sample) -> str:
    """Where a record stands: "file.jsonl, line 7"."""
    about = sample.meta.get("record")
    if not isinstance(about, Mapping):
        return f"sample {one_line(sample.id, 60)}"
    return one_line(f"{about.get('of', '')}, {about.get('at', '')}", 160)


def of_rejections(rejected: Iterable[Rejection]) -> list[Reject]:
    """Rows that could not be read, or not be used, as rejects."""
    found = []
    for row in rejected:
        said = f"field {row.field}: {row.reason}" if row.field else row.reason
        kind: Kind = "chat-mark" if said.endswith(MARKED) else "unreadable"
        found.append(Reject(f"{Path(row.file).name}, {row.unit} {row.line}", row.id or "", kind, said))
    return found


def without_doubles(samples: Iterable[Sample]) -> tuple[list[Sample], list[Reject]]:
    """The first of records with the same query and responses, in either order; all of those that contradict another.

    White space tells no texts apart, nor does case queries and sources.
    """
    held: dict[tuple[str, ...], list[tuple[Sample, str]]] = {}
    for sample in samples:
        key, said = _content(sample)
        held.setdefault(key, []).append((sample, said))
    kept: list[Sample] = []
    rejects: list[Reject] = []
    for same in held.values():
        first, *others = same
        if len({said for _, said in same}) > 1:
            told = ", ".join(f"{position_of(one)} says {said}" for one, said in same[:3])
            rejects += [_reject(one, "contradicted", told) for one, _ in same]
            continue
        kept.append(first[0])
        rejects += [_reject(one, "doubled", position_of(first[0])) for one, _ in others]
    return kept, rejects


def _one_spaced(value: Json) -> str:
    return " ".join(text_of(value).split())


def _content(sample: Sample) -> tuple[tuple[str, ...], str]:
    """What is judged by what, and what is said of it; an exchanged pair is the same pair."""
    judgement = foreign_judgement(sample)
    by = judgement.criterion.model_dump_json() if judgement.criterion else ""
    about = (by, _one_spaced(sample.query).casefold(), _one_spaced(sample.source).casefold())
    output = _one_spaced(sample.output)
    if sample.rival is None:
        return (*about, output), f"{judgement.score:g} on {judgement.scale}"
    rival = _one_spaced(sample.rival)
    if output <= rival:
        return (*about, output, rival), str(judgement.verdict)
    return (*about, rival, output), {"A": "B", "B": "A"}.get(str(judgement.verdict), "tie")


def sifted(items: Iterable[Item], points: float = POINTS) -> Sifted:
    """The judgements of a run that hold, and the others with their reasons.

    Args:
        items: of a run of `judgegraph.graphs.bridging`; each sample brings its judgement.
        points: of 1-5, how far a single response's new score may lie from the foreign one, carried over.
    """
    consistent: list[Bridged] = []
    one_order: list[Bridged] = []
    rejects: list[Reject] = []
    for item in items:
        found = _bridged(item)
        if isinstance(found, Reject):
            rejects.append(found)
            continue
        why = _of_pair(found) if found.judgement.of_pair else _of_single(found, points)
        if why is None:
            consistent.append(found)
            continue
        rejects.append(why)
        if why.kind == "order" and found.judgement.verdict in {c.verdict for c in found.comparisons.values()}:
            one_order.append(found)
    return Sifted(tuple(consistent), tuple(rejects), tuple(one_order))


def _bridged(item: Item) -> Bridged | Reject:
    """What was written for a record, or why nothing can be made of it."""
    sample = item.sample
    noted = {note.kind: f"{note.status}: {note.text}" for note in item.notes}
    criterion = next(iter(item.branches.values()), None)
    if item.status != "ok" and "criteria-failed" not in noted:
        return _reject(sample, "failed", f"{item.status}: {one_line(item.reason, 160)}")
    if criterion is None:
        return _reject(sample, "no-criterion", noted.get("criteria-failed", "none came"))
    guideline = (item.other.get("guidelines") or {}).get(criterion.name)
    if not guideline:
        return _reject(sample, "no-guideline", noted.get("guideline-failed", "none came"))
    judgement = foreign_judgement(sample)
    brought = judgement.criterion.guideline if judgement.criterion else None
    if guideline != brought and (told := _given_away(criterion, guideline, sample)):
        return _reject(sample, "gives-away", told)
    if mark := chat_mark(f"{criterion.name}\n{criterion.definition}\n{guideline}"):
        return _reject(sample, "chat-mark", repr(mark))
    scores = {(_order(score, judgement), score.of): score for score in item.scores}
    said = [c for c in item.comparisons if c.criterion == criterion.name and c.agent.endswith("comparer")]
    comparisons = {c.order: c for c in said}
    replied = (*(score.reason for score in scores.values()), *(c.reason for c in said))
    if mark := next(filter(None, map(chat_mark, replied)), ""):
        return _reject(sample, "chat-mark", f"the judgement made anew: {mark!r}")
    criterion = criterion.model_copy(update={"guideline": guideline})
    return Bridged(sample, criterion, judgement, scores, comparisons)


def _order(score: Score, judgement: ForeignJudgement) -> str:
    return ("BA" if score.repeat else "AB") if judgement.of_pair else ""


def is_positional(text: str) -> bool:
    """Whether a text calls a response by its place, "the first", "Response 2", which is another in exchanged order."""
    return bool(_NUMBERED.search(text) or _BY_PLACE.search(text))


def _given_away(criterion: Criterion, guideline: str, sample: Sample) -> str:
    """How what was written tells a judge more of the responses than a criterion may, "" where it does not."""
    written = f"{criterion.name}. {criterion.definition}\n{guideline}"
    if named := _NAMES.search(written) or _BY_PLACE.search(written):
        return f"it speaks of {one_line(named[0], 40)!r}"
    held, asked = _runs_of(words(written)), _runs_of(words(f"{sample.query}\n{text_of(sample.source)}"))
    for side in (sample.output, sample.rival):
        shared = (held & _runs_of(words(text_of(side)))) - asked if side is not None else set()
        if shared:
            return f"it quotes a response: {one_line(' '.join(min(shared)), 80)!r}"
    return ""


def _runs_of(found: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(found[at : at + QUOTED]) for at in range(len(found) - QUOTED + 1)}


def _of_pair(found: Bridged) -> Reject | None:
    said = [found.comparisons.get("AB"), found.comparisons.get("BA")]
    verdicts = [one.verdict if one is not None else None for one in said]
    if lacking := unread(one for one in said if one is None or one.verdict is None):
        return _reject(found.sample, "not-judged", lacking)
    if told := unfit_score(found.scores.values()):
        return _reject(found.sample, "not-judged", told)
    if verdicts[0] != verdicts[1]:
        return _reject(found.sample, "order", f"AB says {verdicts[0]}, BA says {verdicts[1]}")
    if verdicts[0] != found.judgement.verdict:
        return _reject(found.sample, "verdict", f"was {found.judgement.verdict}, is {verdicts[0]} in both orders")
    return None


def _of_single(found: Bridged, points: float) -> Reject | None:
    score, judgement = found.scores.get(("", "output")), found.judgement
    if score is None or score.value is None:
        return _reject(found.sample, "not-judged", unread([score]))
    if told := unfit_score([score]):
        return _reject(found.sample, "not-judged", told)
    assert judgement.score is not None
    assert judgement.scale is not None
    was = carried_over(judgement.score, judgement.scale)
    now = carried_over(score.value, found.criterion.scale)
    if abs(was - now) > points + 1e-9:
        over = "" if judgement.scale == found.criterion.scale else f" ({was:.2f} on 1-5)"
        said = f"was {judgement.score:g} on {judgement.scale}{over}, is {score.value:g} on {found.criterion.scale}"
        return _reject(found.sample, "score", said)
    return None


def unread(said: Iterable[Score | Comparison | None]) -> str:
    """Why judgements could not be read, each reason once: "abstained", "provider_error: no answer"."""
    told = (("skipped", "") if one is None else (one.status, one.reason) for one in said)
    plain = ("abstained", "ok")  # what is said with these is about the texts
    found = (one_line(status if status in plain or not why else f"{status}: {why}", 160) for status, why in told)
    return ", ".join(dict.fromkeys(found))


def unfit_score(scores: Iterable[Score | None]) -> str:
    """Why a score can stand in no reply that a form asks for: none is there, or it is no value; "" where all can."""
    for score in scores:
        if score is None or score.value is None:
            return "a response has no score"
        if score.scale is not None and score.scale.whole and score.value != int(score.value):
            return f"{score.value:g} is no value of {score.scale}"
    return ""


def _reject(sample: Sample, kind: Kind, reason: str) -> Reject:
    return Reject(position_of(sample), sample.id, kind, reason)


def counted_kinds(rejects: Iterable[Reject]) -> dict[Kind, int]:
    """Kind -> how many, in the order in which they are looked for."""
    found = Counter(one.kind for one in rejects)
    return {kind: found[kind] for kind in KINDS if found[kind]}
