"""What a critic did to the scores of a run: drafts beside the finals that name them, counted as they are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from judgegraph.answers import UNTOUCHED
from judgegraph.data.samples import ABSENT, value_at
from judgegraph.meta.cells import MISSING, NOTHING, Answer, is_given
from judgegraph.runs.item import Item
from judgegraph.types import Sample, Scale, Score, key_of

REPEATS = 0.8  # share of a reason's words that stand in the draft's reason, from which on it repeats it
DIGITS = 9  # a value that moves by less does not move: as where rounds of a critic are compared
MOST_POINTS, PARTS = 11, 5  # of a scale that are counted one by one; into how many parts a finer one is cut
_WORD = re.compile(r"\w+")


class Pair(NamedTuple):
    """A draft and what the critic made of it; None where it could not be read.

    human: people's cells as they stand in the sample. sample: its id, "" where unknown; place: in the dataset.
    """

    human: tuple[Any, ...]
    draft: Answer | None
    final: Answer | None
    group: str | None
    system: str | None
    sample: str = ""
    place: int = 0


@dataclass
class Review:
    """One criterion by one critic.

    Attributes:
        critic: agent of the finals. reviewed: agent and stage of the drafts ("evaluator/draft"). of: side of a pair.
        n: drafts that the critic looked at, both sides readable. changed, up, down: of these; what changed and went
            neither up nor down is a label.
        size_up, size_down: sums of the moves, in the units of the scale, both 0 or more.
        not_asked: drafts that a condition kept from the critic. failed: readable drafts whose final is not.
        unread: drafts that could not be read.
        reasons: finals with a reason of the critic's own. repeated: of these, the ones that repeat the draft's.
        definitions: samples for which the critic wants the criterion's definition changed.
        before, after: point of the scale or label -> count, over the n.
        pairs: of samples with a human label, for agreement.
    """

    critic: str
    reviewed: str
    criterion: str
    of: str
    scale: Scale | None = None
    n: int = 0
    changed: int = 0
    up: int = 0
    down: int = 0
    size_up: float = 0.0
    size_down: float = 0.0
    not_asked: int = 0
    failed: int = 0
    unread: int = 0
    reasons: int = 0
    repeated: int = 0
    definitions: int = 0
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)
    pairs: list[Pair] = field(default_factory=list)

    def add(self, draft: Score, final: Score, reason: str) -> None:
        """Count one draft with its final; `reason` is what the critic said itself."""
        self.scale = self.scale or final.scale or draft.scale
        if draft.answer is None:
            self.unread += 1
        elif any(note in UNTOUCHED for note in final.notes):
            self.not_asked += 1
        elif final.answer is None:
            self.failed += 1
        else:
            self._compare(draft, final)
            self.reasons += bool(_words(reason))
            self.repeated += repeats(reason, draft.reason)

    def _compare(self, draft: Score, final: Score) -> None:
        self.n += 1
        self.before[point_of(draft.answer, self.scale)] += 1
        self.after[point_of(final.answer, self.scale)] += 1
        if draft.value is None or final.value is None:
            self.changed += draft.answer != final.answer
            return
        move = round(final.value - draft.value, DIGITS)
        self.changed += move != 0
        self.up += move > 0
        self.down += move < 0
        self.size_up += max(0.0, move)
        self.size_down += max(0.0, -move)


@dataclass
class Critiques:
    """All critics of a run.

    Attributes:
        reviews: (critic, reviewed, criterion, of) -> what it did there. samples: critic -> samples it has finals in.
        new_criteria: critic -> name of a criterion it suggests -> samples.
        rounds: critic -> number of a round -> [scores in it, scores that it changed]; of critics asked repeatedly.
    """

    reviews: dict[tuple[str, ...], Review] = field(default_factory=dict)
    samples: Counter[str] = field(default_factory=Counter)
    new_criteria: dict[str, Counter[str]] = field(default_factory=dict)
    rounds: dict[str, dict[int, list[int]]] = field(default_factory=dict)

    def add(self, item: Item, group: str, system: str) -> None:
        """Count the finals of one sample that name a draft."""
        scores = {score.key: score for score in item.scores}
        reasons = {r.key: r.reason for r in item.rectifications}
        critics: dict[str, list[Review]] = {}
        for final in item.scores:
            draft = scores.get(final.draft or "")
            if draft is None:
                continue
            if final.stage == "final":
                review = self._review(draft, final)
                reason = reasons.get(key_of(final.criterion, final.agent), final.reason)
                review.add(draft, final, reason)
                if (human := labels_of(item.sample, final.criterion)) and final.of == "output":
                    places = _places(item.sample, group, system)
                    pair = Pair(human, draft.answer, final.answer, *places, item.sample.id, item.place)
                    review.pairs.append(pair)
                critics.setdefault(final.agent, []).append(review)
            elif (number := _round_of(final.stage)) and final.status == draft.status == "ok":
                counts = self.rounds.setdefault(final.agent, {}).setdefault(number, [0, 0])
                counts[0] += 1
                counts[1] += final.answer != draft.answer
        self.samples.update(critics.keys())
        self._advice(item, critics)

    def _review(self, draft: Score, final: Score) -> Review:
        key = final.agent, f"{draft.agent}/{draft.stage}", final.criterion, final.of
        return self.reviews.setdefault(key, Review(*key))

    def _advice(self, item: Item, critics: dict[str, list[Review]]) -> None:
        """Definitions and new criteria, each once a sample; advice of nobody's name is that of a single critic."""
        alone = next(iter(critics)) if len(critics) == 1 else ""
        found = {(s.agent if s.agent in critics else alone, s.kind, s.criterion) for s in item.suggestions}
        for critic, kind, criterion in found:
            if kind == "criterion" and critic:
                self.new_criteria.setdefault(critic, Counter())[criterion] += 1
            for review in critics.get(critic, ()):
                review.definitions += kind == "definition" and review.criterion.casefold() == criterion.casefold()


def critiques(items: Iterable[Item], group: str = "group", system: str = "system") -> Critiques:
    """Read items once; `group` and `system` are names in a sample's `meta`."""
    found = Critiques()
    for item in items:
        found.add(item, group, system)
    return found


def repeats(reason: str, earlier: str) -> bool:
    """Whether at least four in five of its words stand in the earlier one, each as often as it stands there."""
    words, known = Counter(_words(reason)), Counter(_words(earlier))
    return bool(words) and (words & known).total() >= REPEATS * words.total()


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def point_of(answer: Any, scale: Scale | None) -> str:
    """The point of the scale next to an answer (halves go up), a fifth of a scale with too many, or a label."""
    if isinstance(answer, str):
        return answer
    if scale is None or scale.low is None or scale.high is None:
        return f"{answer:g}"
    if 0 < len(scale.points) <= MOST_POINTS:
        return f"{int(min(max(answer + 0.5, scale.low), scale.high) // 1)}"
    width = (scale.high - scale.low) / PARTS
    part = min(PARTS - 1, int((answer - scale.low) / width))
    return f"{scale.low + part * width:g} to {scale.low + (part + 1) * width:g}"


def judged_by_people(item: Item) -> bool:
    """Whether people said anything of a sample, readable or not; NA and the like say nothing (`meta.cells`)."""
    scales = {score.criterion.casefold(): score.scale for score in item.scores if score.scale is not None}
    for name in item.sample.human:
        scale = scales.get(name.casefold())
        words = MISSING - NOTHING if scale is None else {label.casefold() for label in scale.labels}
        if any(is_given(cell, words) for cell in labels_of(item.sample, name)):
            return True
    return False


def labels_of(sample: Sample, criterion: str) -> tuple[Any, ...]:
    """People's cells by a criterion, whatever the case of its name; () where there are none."""
    held = next((v for k, v in sample.human.items() if k.casefold() == criterion.casefold()), None)
    if held is None:
        return ()
    return tuple(held) if isinstance(held, list) else (held,)


def _places(sample: Sample, group: str, system: str) -> tuple[str | None, str | None]:
    known = [value_at(sample.meta, name) for name in (group, system)]
    first, second = (None if value in (None, ABSENT) else str(value) for value in known)
    return first, second


def _round_of(stage: str) -> int:
    word, _, number = stage.rpartition("-")
    return int(number) if word == "round" and number.isdecimal() else 0
