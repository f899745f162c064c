"""The average: a target's score is the mean of its aspects' scores; plain code, no model."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.judge import (
    FIVE,
    AspectScores,
    ChainRead,
    aspect_stage,
    chain_key,
    chains_of,
    read_aspects,
    tidy_aspects,
)
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.calls.asking import STRING, record
from judgegraph.calls.ratings import mean_of
from judgegraph.errors import ReplyError, counted, settings_checked
from judgegraph.prompts.criteria import same_key
from judgegraph.prompts.template import criterion_text
from judgegraph.replies.reply import refuses
from judgegraph.types import (
    Criterion,
    Note,
    Notes,
    Sample,
    Scale,
    Score,
    Scores,
    Status,
    given_criteria,
    keyed,
    sample_of,
)

# A target's chain of aspects with what they scored: what speaks for it, and what is said where nothing does.


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
        said = f"{len(lost)} of {counted(len(self.aspects), 'aspect')} without a score, left out: {', '.join(lost)}"
        return (said,) if lost else ()

    def unrated(self, agent: str) -> list[Note]:
        """The same as a note of the sample."""
        about: dict[str, Any] = {"agent": agent, "status": "skipped", "kind": "aspects-unscored"}
        return [Note(text=f"{self.target.name}: {text}", **about) for text in self.left_out]

    def unscored(self, agent: str, stage: str, notes: Notes) -> tuple[Score, list[Note]]:
        """The score of a target that no aspect speaks for: a status, with a note where no proposer left one."""
        target, chain = self.target, self.aspects
        if not chain and (told := _empty_chain_note(target.name, notes)):
            return _without(target, agent, stage, told.status, told.text.removeprefix(f"{target.name}: ")), []
        status, reason = _lost(chain, self.rated)
        why = f"none of its {counted(len(chain), 'aspect')} has a score"
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


def _empty_chain_note(target: str, notes: Notes) -> Note | None:
    """The note that its proposer left of an empty chain."""
    return next((n for n in notes.values() if n.status != "ok" and n.text.startswith(f"{target}: ")), None)


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Average:
    """Gives each target the mean of its chain's scores, in the units of the target's scale.

    Source: CoAScore section 4.6 and table 6, the ablation "average". The paper's scales are all 1-5; ours: on another
    one the same share of its range. As with the fuser an aspect without a score is left out and noted, and a
    target that no aspect speaks for has the status of what failed. A target with labels has no mean: it is skipped.

    Attributes:
        criteria: the targets, where the state brings none. chains: the name of the chains that it reads, "" for none.
    """

    criteria: Sequence[Criterion] = ()
    name: str = "average"
    stage: str = "final"
    chains: str = ""

    def __call__(self, state: Chained) -> Fused:
        done = [self._averaged(state, target) for target in given_criteria(state) or self.criteria]
        return {
            "scores": keyed(*(score for score, _ in done)),
            "notes": keyed(*(note for _, notes in done for note in notes)),
        }

    def _averaged(self, state: Chained, target: Criterion) -> tuple[Score, list[Note]]:
        if target.scale.labels:
            return self._score(target, status="skipped", reason="labels have no mean"), []
        chain = Chain.of(state, target, self.chains)
        given = [chain.rated[aspect.name] for aspect in chain.known]
        values = [moved(s.value, s.scale, target.scale) for s in given if s.value is not None and s.scale is not None]
        if not values:
            return chain.unscored(self.name, self.stage, state.get("notes") or {})
        each = counted(len(values), "aspect's score", "aspects' scores")
        why = f"the mean of {each}"
        score = self._score(target, value=mean_of(values), reader="mean", reason=why, notes=chain.left_out)
        return score, chain.unrated(self.name)

    def _score(self, target: Criterion, **fields: Any) -> Score:
        return Score(criterion=target.name, agent=self.name, stage=self.stage, scale=target.scale, **fields)


def moved(value: float, scale: Scale, to: Scale) -> float:
    """A value at the same share of another scale's range; neither scale has labels."""
    if scale.low is None or scale.high is None or to.low is None or to.high is None or scale == to:
        return value
    share = (value - scale.low) / (scale.high - scale.low)
    return to.low + share * (to.high - to.low)


# The proposer: names the aspects that help to judge a target, before any text is seen.


ProposedChain = tuple[list[Criterion], tuple[str, ...]]


class Targets(TypedDict):  # what a proposer reads: no sample
    criteria: NotRequired[list[Criterion]]  # else its own


class Proposed(TypedDict):  # what it writes
    aspects: dict[str, list[Criterion]]  # target, target/chains -> its chain, empty where the call failed
    notes: Notes


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Proposer:
    """Asks for a chain of relevant aspects, one call per target.

    Source: CoAScore section 3.2, eq. 2: task description and target aspect in, m names with definitions out. No
    sample is read, so a chain depends on task and target alone and is the same for a whole dataset.

    Attributes:
        judge: who answers. criteria: the targets, where the state brings none.
        task: one sentence that says what kind of text is judged.
        count: aspects wanted, 1 or more (5, 10, 20 in the paper); fewer are noted, never padded.
        reply: "form" asks for JSON; "text" for lines "1. Name: definition", with the prompt `propose_text`.
        prompt: None is the one that goes with `reply`. scale: that each aspect will be scored on; the paper's.
        numbers_only: a target with labels is not asked for and gets no chain: for a mean, which labels have not.
        chains: a name for the chains, which stands in their keys; for two proposers in one state.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    count: int = 10
    reply: Literal["form", "text"] = "form"
    prompt: str = "propose"
    scale: Scale = FIVE
    name: str = "proposer"
    numbers_only: bool = field(default=False, compare=False)  # what it names, it names alike
    chains: str = ""

    async def __call__(self, state: Targets) -> Proposed:
        targets = [t for t in given_criteria(state) or self.criteria if not (self.numbers_only and t.scale.labels)]
        chains = await asyncio.gather(*map(self._chain, targets))
        keys = [chain_key(target.name, self.chains) for target in targets]
        notes = [note for _, said in chains for note in said]
        return {"aspects": {k: c for k, (c, _) in zip(keys, chains, strict=True)}, "notes": keyed(*notes)}

    async def _chain(self, target: Criterion) -> tuple[list[Criterion], list[Note]]:
        """The chain of one target and what to know of it; a failed call gives none, and its status."""
        plain = target.model_copy(update={"steps": (), "guideline": None})
        messages = prompts.load(self.prompt).render(
            task=self.task, target=criterion_text(plain, scale=False), count=str(self.count)
        )
        form = aspects_form(target.name, self.count, self.scale, self.reply)
        try:
            aspects, said = await ask(self.judge, messages, form, temperature=0.0)
        except ReplyError as error:
            status: Any = error.status
            text = f"{target.name}: no aspects: {error}"
            return [], [Note(agent=self.name, text=text, status=status, kind="aspects-failed")]
        return aspects, [Note(agent=self.name, text=f"{target.name}: {text}", kind="aspects-fewer") for text in said]


def aspects_form(
    target: str, m: int, scale: Scale = FIVE, reply: Literal["form", "text"] = "form"
) -> Form[ProposedChain]:
    """Asks for m aspects; read as `read_aspects` reads them. A reply without any is asked for again."""

    def read(data: Any) -> ProposedChain:
        chain = (
            read_aspects(data, target, m, scale) if reply == "text" else tidy_aspects(_entries(data), target, m, scale)
        )
        if not chain[0] and reply == "text" and refuses(data):
            raise ReplyError("the model declined to name aspects", "refused", data)
        if not chain[0]:
            raise ValueError("no aspect with a name and a definition, other than the target itself")
        return chain

    item = record({"name": STRING, "definition": STRING})
    listed = {"type": "array", "items": item, "minItems": m, "maxItems": m}
    return Form("aspects", record({"aspects": listed}) if reply == "form" else None, read)


def _entries(data: Any) -> list[tuple[str, str]]:
    """The entries of the form, those that are no objects as nameless."""
    listed = data.get("aspects") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError("expected an object with a list 'aspects'")
    entries = [item if isinstance(item, Mapping) else {} for item in listed]
    return [(str(e.get("name") or ""), str(e.get("definition") or "")) for e in entries]


# The random rater: draws every aspect's score; plain code, no model.


@settings_checked
@dataclass(frozen=True, kw_only=True)
class RandomRater:
    """Draws a score for every aspect of a chain, all points of its scale alike.

    Source: CoAScore section 4.6 and figure 2, the ablation "random". What is drawn follows from the seed, the sample's
    id, the target and the aspect alone: a rerun draws the same, in whatever order, and asks the fuser the same.

    Attributes:
        seed: another one draws others.
        chains: the name of the chains that it rates; "" for those without one.
    """

    seed: int = 0
    name: str = "random-rater"
    chains: str = ""

    def __call__(self, state: ChainRead) -> AspectScores:
        sample = sample_of(state).id
        chains = chains_of(state["aspects"], self.chains).items()
        return {"scores": keyed(*(self._drawn(sample, target, one) for target, chain in chains for one in chain))}

    def _drawn(self, sample: str, target: str, aspect: Criterion) -> Score:
        words = json.dumps([self.seed, sample, target, aspect.name]).encode()  # ASCII: the same on every Python
        draw = Random(int.from_bytes(blake2b(words, digest_size=8).digest()))
        return Score(
            criterion=aspect.name, agent=self.name, stage=aspect_stage(target), scale=aspect.scale, reader="random",
            notes=("drawn at random: nobody judged it",), **_any_of(aspect.scale, draw),
        )  # fmt: skip


def _any_of(scale: Scale, draw: Random) -> dict[str, Any]:
    """A value or a label, as a score has it."""
    if scale.labels:
        return {"label": draw.choice(scale.labels)}
    points = scale.points
    return {"value": float(draw.choice(points)) if points else draw.uniform(scale.low or 0.0, scale.high or 0.0)}
