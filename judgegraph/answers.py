"""Which scores of a sample are the graph's answer, what the others are (votes, drafts, a member's own), and their mean.

A graph has one answer per sample and criterion (of a pair per side). It is known from what the scores say of one
another: a final score names its draft, a panel's score its votes, and what a member of a panel wrote names the member.
What only the wiring tells, such as a join that a user wrote, is in `Precedence`; a run keeps what came of it in
`Item.answers`, so that no view needs the graph.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, NamedTuple, Protocol

from judgegraph.types import Scale, Score

Role = Literal["answer", "vote", "draft", "member", "aspect", "other"]
ANSWERING = ("final", "draft")  # stages that hold a graph's answers: the first of them that a criterion has
BALLOT, ROUND, ASPECTS = "ballot", "round-", "aspects:"
METRIC = "metric"  # the stage of what `metric_node` computes
UNTOUCHED = (  # notes of finals that a condition left as they were: nobody was asked
    "the critic was not asked: nothing was in doubt",
    "not escalated: nothing was in doubt",
)
ESCALATED = ("escalated:", "not escalated:")  # how notes of finals begin for which a stronger judge was there
Agents = frozenset[str]


@dataclass(frozen=True)
class Precedence:
    """Scores that stand in place of earlier ones by the wiring: their agent read the earlier ones and scored anew.

    Attributes:
        later, earlier: names of agents; None is whoever is not among `known`: a function says no name beforehand.
        known: names of all agents of the graph that have one.
    """

    later: Agents | None
    earlier: Agents | None
    known: Agents = frozenset()

    def replaces(self, later: Score, earlier: Score) -> bool:
        """Whether the one stands in place of the other."""
        return (
            self._among(self.later, later.agent)
            and self._among(self.earlier, earlier.agent)
            and not self._among(self.later, earlier.agent)
        )

    def _among(self, agents: Agents | None, agent: str) -> bool:
        return agent not in self.known if agents is None else agent in agents


class Judged(Protocol):
    """A sample with its scores, as `runs.item.Item`."""

    @property
    def scores(self) -> Sequence[Score]: ...
    @property
    def answers(self) -> Sequence[str]: ...


OVERALL = "overall"


class JudgedOverAll(Protocol):
    """A sample with its scores and what its method says over all of them, as `runs.item.Item`."""

    @property
    def scores(self) -> Sequence[Score]: ...
    @property
    def overall(self) -> float | None: ...


def over_all_of(item: JudgedOverAll) -> float | None:
    """What the method says over all; None where a criterion of this name was judged, as that is the answer then."""
    judged = item.overall is not None and any(score.criterion.casefold() == OVERALL for score in item.scores)
    return None if judged else item.overall


def answer_keys(scores: Iterable[Score], wired: Sequence[Precedence] = ()) -> tuple[str, ...]:
    """Keys of the scores that are the answer, in the order of the scores.

    Of each criterion and side: what no other score rectifies or was combined from, and no member of a panel wrote for
    itself. Final scores come first; where a criterion has none, as where a gate before its critic stayed closed, its
    drafts are the answer. A skipped final score replaces no draft that was scored: nobody reviewed it, so it stands. Of
    several agents that judged it side by side, and that nobody joined, each one's is.
    """
    held = {score.key: score for score in scores}
    if len(held) == 1:
        return tuple(key for key, s in held.items() if s.stage in ANSWERING and not s.member)
    unheard = {key: stood for key, score in held.items() if (stood := _stood(score, held)) is not None}
    gone = {
        key for own, s in held.items() for key in (s.draft, *s.votes)
        if key is not None and key != own and unheard.get(own) != key
    }  # fmt: skip
    gone |= {key for key, stood in unheard.items() if stood not in gone}
    places: dict[tuple[str, str], dict[str, Score]] = {}
    for key, score in held.items():
        if score.stage in ANSWERING and not score.member and key not in gone:
            places.setdefault((score.criterion, score.of), {})[key] = score
    kept: set[str] = set()
    for found in places.values():
        stage = "final" if any(s.stage == "final" for s in found.values()) else "draft"
        last = {key: s for key, s in found.items() if s.stage == stage}
        kept |= {k for k, s in last.items() if not any(w.replaces(o, s) for w in wired for o in last.values())}
    return tuple(key for key in held if key in kept)


def _stood(score: Score, held: Mapping[str, Score]) -> str | None:
    """The scored draft that a skipped score leaves as it was, through others that were skipped; None where none is."""
    known = {score.key}
    while score.status == "skipped" and (draft := score.draft) is not None and draft in held and draft not in known:
        known.add(draft)
        score = held[draft]
        if score.status == "ok":
            return score.key
    return None


def drafts_that_stand(scores: Iterable[Score]) -> list[tuple[Score, Score]]:
    """(skipped final score, the draft that is the answer in its place) of a sample."""
    scores = [*scores]
    if not any(score.status == "skipped" and score.draft is not None for score in scores):
        return []
    held = {score.key: score for score in scores}
    answers = set(answer_keys(held.values()))
    found = [(score, _stood(score, held)) for score in held.values() if score.stage == "final"]
    return [(score, held[stood]) for score, stood in found if stood in answers]


# id -> the scores themselves, the keys of those that are the answer, and these
_known: dict[int, tuple[Sequence[Score], tuple[str, ...], tuple[Score, ...]]] = {}
KNOWN = 64  # samples of which it is known: a page asks a dozen times of each, one after the other


def _own(scores: Sequence[Score]) -> tuple[tuple[str, ...], tuple[Score, ...]]:
    """`answer_keys` and their scores; of a tuple, which stays as it is, they are worked out once."""
    held = _known.get(id(scores))
    if held is not None and held[0] is scores:
        return held[1:]
    keys = answer_keys(scores)
    found = tuple(score for score in scores if score.key in keys)
    if isinstance(scores, tuple):
        if len(_known) >= KNOWN:
            _known.clear()
        _known[id(scores)] = (scores, keys, found)
    return keys, found


def answers_of(item: Judged) -> list[Score]:
    """The scores that are the graph's answer for a sample; empty where it wrote none, as a graph of metrics alone."""
    if not item.answers:
        return [*_own(item.scores)[1]]
    keys = set(item.answers)
    return [score for score in item.scores if score.key in keys]


def roles_of(item: Judged) -> dict[str, Role]:
    """Key -> what each score of a sample is.

    "answer"; "vote": what an answer was combined from; "draft": what an answer rectifies, at however many removes, and
    what stands at that stage; "member": what a judge of a panel, or of two, wrote on its way to a vote; "aspect": of
    an aspect of a criterion; "other": of another stage, such as a metric's.
    """
    held = {score.key: score for score in item.scores}
    own, _ = _own(item.scores)
    answers = [key for key in held if key in set(item.answers or own)]
    drafts, votes = _behind(answers, held)
    replaced = set(own) - set(answers)  # by the wiring alone
    return {key: _role(key, score, answers, drafts, votes | replaced) for key, score in held.items()}


def _role(
    key: str, score: Score, answers: Collection[str], drafts: Collection[str], votes: Collection[str]
) -> Role:  # fmt: skip
    if key in answers:
        return "answer"
    if key in votes:
        return "vote"
    if key in drafts:
        return "draft"
    if score.member:
        return "member"
    if score.stage == BALLOT:
        return "vote"
    if score.stage.startswith(ASPECTS):
        return "aspect"
    if score.status == "skipped" and score.draft in answers:
        return "other"  # a review that did not take place
    return "draft" if score.stage in ANSWERING or score.stage.startswith(ROUND) else "other"


def _behind(answers: Iterable[str], held: Mapping[str, Score]) -> tuple[set[str], set[str]]:
    """(drafts of these scores and of their drafts, votes that any of these was combined from)."""
    drafts: set[str] = set()
    votes: set[str] = set()
    for key in answers:
        score: Score | None = held[key]
        while score is not None:
            votes.update(vote for vote in score.votes if vote in held)
            behind = score.draft
            if behind is None or behind in drafts or behind not in held:
                break
            drafts.add(behind)
            score = held[behind]
    return drafts, votes


def is_helper(score: Score) -> bool:
    """Whether a score only helps to find an answer: an aspect's, a ballot, a round's, a member's of a panel."""
    return bool(score.member) or score.stage == BALLOT or score.stage.startswith((ASPECTS, ROUND))


def has_answer(item: Any) -> bool:
    """Whether something was found in a run's item: an answer, a draft or a comparison that could be read."""
    if item.overall is not None or item.verdict is not None or any(c.status == "ok" for c in item.comparisons):
        return True
    read = [score for score in item.scores if score.status == "ok"]
    return any(not is_helper(score) for score in read) or (bool(read) and not answers_of(item))


def drafts_alone(item: Any) -> bool:
    """Whether no answer of a run's item could be read, nor anything else that comes of a sample."""
    found = [score.status for score in answers_of(item)]
    others = [comparison.status for comparison in item.comparisons]
    return bool(found) and "ok" not in found + others and item.overall is None and item.verdict is None


def is_escalation(final: Score, draft: Score | None) -> bool:
    """Whether a stronger judge stood behind a final score, and no critic."""
    before = () if draft is None else draft.notes
    return any(note.startswith(ESCALATED) for note in final.notes if note not in before)


def several(answers: Iterable[Score]) -> tuple[str, ...]:
    """Agents that answer one criterion of one sample side by side; none where each criterion has one answer."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for score in answers:
        places.setdefault((score.criterion, score.of), {})[score.agent] = None
    return tuple(dict.fromkeys(agent for agents in places.values() if len(agents) > 1 for agent in agents))


# How far answers moved, where they stand on their scales, how sure they are, and their mean: all from 0 to 1.


def moved_by(draft: Score | None, final: Score) -> float | None:
    """How far a score moved, 0 to 1 of its scale's width; a changed label is 1. None where that cannot be said."""
    if draft is None or draft.answer is None or final.answer is None:
        return None
    scale = final.scale or draft.scale
    if isinstance(final.answer, str) or isinstance(draft.answer, str):
        return float(final.answer != draft.answer)
    width = width_of(scale)
    return abs(final.answer - draft.answer) / width if width else None


def width_of(scale: Scale | None) -> float | None:
    return scale.high - scale.low if scale is not None and scale.high is not None and scale.low is not None else None


def scaled(score: Score) -> float | None:
    width = width_of(score.scale)
    if score.value is None or score.scale is None or score.scale.low is None or not width:
        return None
    return (score.value - score.scale.low) / width


class Mean(NamedTuple):
    """Of samples: each one's answers that are numbers, scaled so that their scale is 0 to 1, count by their mean."""

    value: float
    samples: int

    def with_one(self, value: float) -> Mean:
        """With one more sample."""
        samples = self.samples + 1
        return Mean(self.value + (value - self.value) / samples, samples)


def means_of(answers: Iterable[Score]) -> dict[str, float]:
    """Agent -> mean of its answers for the output that are numbers, on a scale of 0 to 1; under "" that of all."""
    by: dict[str, list[float]] = {}
    for score in answers:
        if score.of == "output" and (value := scaled(score)) is not None:
            by.setdefault("", []).append(value)
            by.setdefault(score.agent, []).append(value)
    return {agent: fmean(values) for agent, values in by.items()}


def distribution_width(score: Score) -> float | None:
    """Width of a score's distribution, 0 to 1; None where there is none, or no range to measure it by."""
    shares, scale = score.distribution, score.scale
    total = math.fsum((shares or {}).values())
    if not shares or total <= 0:
        return None
    if score.label is not None:
        return max(0.0, 1 - max(shares.values()) / total)
    if scale is None or scale.low is None or scale.high is None:
        return None
    try:
        points = [(float(point), share / total) for point, share in shares.items()]
    except ValueError:  # of another agent's making
        return None
    mean = math.fsum(point * share for point, share in points)
    return math.sqrt(math.fsum(share * (point - mean) ** 2 for point, share in points)) / (scale.high - scale.low)


def doubt(score: Score) -> float | None:
    """The width of its distribution, as `jg.wide` measures it, over the largest that its scale allows: 0 to 1.

    Of a number that is the standard deviation over half the range; of a label what the likeliest one leaves to the
    others, over 1 - 1/count. Both tell how far an answer lies from the one that was given: few chances elsewhere weigh
    little, as they do not in an entropy. None without a distribution, or a range.
    """
    width = distribution_width(score) if score.status == "ok" else None
    if width is None:
        return None
    if score.label is None:
        return min(1.0, width / 0.5)
    count = len(score.scale.labels) if score.scale is not None else len(score.distribution or ())
    return min(1.0, width / (1 - 1 / count)) if count > 1 else 0.0


# Which of two outputs is ahead, by verdicts over all.


class Lead(NamedTuple):
    """Which of two outputs wins more often: of the pairs with a winner, ties apart.

    Attributes:
        side: "A" (the output) or "B" (its rival), "" where neither is ahead. won, lost: its pairs. ties: the others.
        low, high: 95 % interval of its share of the pairs with a winner (Wilson). p: exact sign test, two-sided.
    """

    side: str
    won: int
    lost: int
    ties: int
    low: float
    high: float
    p: float

    @property
    def is_real(self) -> bool:
        """Whether it is told from chance."""
        return self.p < 0.05


def lead_of(verdicts: Mapping[str, int]) -> Lead | None:
    """Of verdicts over all, by their count; None where no pair has a winner."""
    a, b = verdicts.get("A", 0), verdicts.get("B", 0)
    won, lost, n = max(a, b), min(a, b), a + b
    if not n:
        return None
    from scipy.stats import binomtest  # where pairs were judged alone: it takes a while to load

    test = binomtest(won, n)
    ends = test.proportion_ci(method="wilson")
    side, ties = "" if a == b else "A" if a > b else "B", verdicts.get("tie", 0)
    return Lead(side, won, lost, ties, float(ends.low), float(ends.high), float(test.pvalue))
