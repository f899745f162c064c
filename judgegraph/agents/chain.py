"""A target's chain of aspects with what they scored: what speaks for it, and what is said where nothing does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from judgegraph.agents.aspect_list import FIVE, aspect_stage, chain_key
from judgegraph.prompts.criteria_file import same_key
from judgegraph.types import Criterion, Note, Notes, Sample, Score, Scores, Status


class Chained(TypedDict):  # what a fuser reads
    sample: Sample
    aspects: dict[str, list[Criterion]]  # target, target/chains -> its chain
    scores: Scores  # the aspects' among them
    criteria: NotRequired[list[Criterion]]  # the targets, else its own
    notes: NotRequired[Notes]  # why a chain is empty


class Fused(TypedDict):  # what it writes
    scores: Scores
    notes: Notes


@dataclass(frozen=True)
class Chain:
    """One target's chain.

    Attributes:
        aspects: of the chain, in its order. rated: aspect -> its score, whatever its status.
    """

    target: Criterion
    aspects: Sequence[Criterion]
    rated: Mapping[str, Score]

    @classmethod
    def of(cls, state: Chained, target: Criterion, chains: str = "") -> Chain:
        """What a state holds of a target, of the chains of this name."""
        stage = aspect_stage(target.name)
        rated = {s.criterion: s for s in state["scores"].values() if s.stage == stage}
        return cls(target, state["aspects"].get(chain_key(target.name, chains)) or [], rated)

    @property
    def known(self) -> list[Criterion]:
        """The aspects with a score."""
        return [a for a in self.aspects if (score := self.rated.get(a.name)) is not None and score.status == "ok"]

    @property
    def left_out(self) -> tuple[str, ...]:
        """A note on the aspects without a score; none where all have one."""
        known = self.known
        lost = [aspect.name for aspect in self.aspects if aspect not in known]
        said = f"{len(lost)} of {len(self.aspects)} aspects without a score, left out: {', '.join(lost)}"
        return (said,) if lost else ()

    def unrated(self, agent: str) -> list[Note]:
        """The same as a note of the sample."""
        about: dict[str, Any] = {"agent": agent, "status": "skipped", "kind": "aspects-unscored"}
        return [Note(text=f"{self.target.name}: {text}", **about) for text in self.left_out]

    def unscored(self, agent: str, stage: str, notes: Notes) -> tuple[Score, list[Note]]:
        """The score of a target that no aspect speaks for: a status, with a note where no proposer left one."""
        target, chain = self.target, self.aspects
        if not chain and (told := _told(target.name, notes)):
            return _without(target, agent, stage, told.status, told.text.removeprefix(f"{target.name}: ")), []
        status, reason = _lost(chain, self.rated)
        why = f"none of its {len(chain)} aspects has a score"
        note = Note(agent=agent, text=f"{target.name}: not scored, {why}", status=status, kind="target-unscored")
        return _without(target, agent, stage, status, f"{why}: {reason}"), [note]


def chain_of(target: Criterion, criteria: Sequence[Criterion]) -> list[Criterion]:
    """The other criteria of a set as a target's aspects, as a proposer would name them: a name, a definition, 1-5.

    What has labels is no aspect: it knows no better and worse.
    """
    own = same_key(target.name)
    others = [c for c in criteria if same_key(c.name) != own and not c.scale.labels]
    return [Criterion(name=c.name, definition=c.definition, scale=FIVE) for c in others]


def _without(target: Criterion, agent: str, stage: str, status: Status, reason: str) -> Score:
    return Score(
        criterion=target.name, agent=agent, stage=stage, scale=target.scale, status=status, reason=reason
    )  # fmt: skip


def _lost(chain: Sequence[Criterion], rated: Mapping[str, Score]) -> tuple[Status, str]:
    """The most frequent status of aspects without a score, and the reason of the first of them."""
    if not chain:
        return "skipped", "its chain holds no aspect"
    statuses: list[Status] = [rated[a.name].status if a.name in rated else "skipped" for a in chain]
    status = Counter(statuses).most_common(1)[0][0]
    first = rated.get(chain[statuses.index(status)].name)
    return status, (first.reason if first else "") or status


def _told(target: str, notes: Notes) -> Note | None:
    """The note that its proposer left of an empty chain."""
    return next((n for n in notes.values() if n.status != "ok" and n.text.startswith(f"{target}: ")), None)
