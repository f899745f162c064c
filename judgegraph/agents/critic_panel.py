"""A panel of critics: several review the same scores side by side, and what most of them say counts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judgegraph import registry
from judgegraph.agents.heard import heard
from judgegraph.agents.panel_role import PanelRole
from judgegraph.agents.reconcile import joined_advice, reconciled
from judgegraph.agents.sage import WEIGHTED
from judgegraph.agents.under_review import Critic, Critique, Reviewed, UnderReview, informed
from judgegraph.calls import JudgeLike, Reader
from judgegraph.errors import ConfigError, one_line
from judgegraph.types import Criterion, Note, Rectification, keyed

ROLES: Mapping[str, str] = {
    "strict reader": "reads strictly: praise needs words of the text that earn it, and a small gap is still a gap.",
    "respondent": "is one of the people the text is for, and judges by how easy it is to understand and to use.",
    "editor": "edits for wording and fairness: slips, careless or loaded words, and whoever is left out by them.",
}


@dataclass(frozen=True, kw_only=True)
class CriticPanel:
    """Changes a score only where more than half of the critics that could be read move it the same way.

    Ours, against one critic's mood. A changed value is the median of all, in which "keep" counts as the draft's; labels
    go by vote. A critic that raises, or writes no critique, has failed: notes tell who did and who did not agree; where
    all failed, so did the panel. Suggestions are joined, each once. In which order the critics are given changes
    nothing.

    Attributes:
        roles: name -> one sentence on who reviews and what they look out for; each asks `judge` once. None is ROLES
            where no `critics` are given, else no roles.
        critics: other critics beside the roles, by registered name, as agents or as compiled graphs. A name gets this
            panel's judge, criteria, task, reader and stage; an agent has its own (the panel's criteria where it
            has none) and must review the same stage.
        judge, criteria, task, reader, stage: as SAGE's. prompt: of the roles; it has a field "role" as well.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    roles: Mapping[str, str] | None = None
    critics: Sequence[str | Critic] = ()
    prompt: str = "panel_critique"
    reader: Reader = WEIGHTED
    name: str = "critic-panel"
    stage: str = "draft"

    def __post_init__(self) -> None:
        if not self.members:
            raise ConfigError(f"{self.name}: a panel has a role or a critic at least; leave `roles` out for its own")

    @cached_property
    def members(self) -> Mapping[str, Critic]:
        """Name -> critic, by name.

        Raises:
            ConfigError: no such critic, two of one name, or something that is none.
        """
        common: dict[str, Any] = {
            "judge": self.judge, "criteria": self.criteria, "task": self.task, "reader": self.reader,
            "stage": self.stage,
        }  # fmt: skip
        given = self._roles()
        found: list[tuple[str, Critic]] = [
            (name, PanelRole(name=name, role=role, prompt=self.prompt, **common)) for name, role in given.items()
        ]
        for which in [self.critics] if isinstance(self.critics, str) else self.critics:
            critic = registry.make("critic", which, **common)
            if not (callable(critic) or hasattr(critic, "ainvoke")):
                raise ConfigError(f"{self.name}: critics: expected names or agents, got {type(critic).__name__}")
            found.append((_name(which), critic if isinstance(which, str) else informed(critic, self.criteria)))
        names = [name for name, _ in found]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigError(f"{self.name}: two critics named {', '.join(twice)}; give each a name of its own")
        return dict(sorted(found, key=lambda pair: pair[0]))

    def _roles(self) -> Mapping[str, str]:
        given = self.roles if self.roles is not None else {} if self.critics else ROLES
        if not isinstance(given, Mapping):
            raise ConfigError(f"{self.name}: roles: expected name -> sentence, got {type(given).__name__}")
        for pair in given.items():
            if not all(isinstance(text, str) and text.strip() for text in pair):
                raise ConfigError(f"{self.name}: a role is a name and a sentence, got {one_line(pair, 80)}")
        return given

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the templates that its critics ask by."""
        found = [getattr(c, "prompts", None) or (getattr(c, "prompt", ""),) for c in self.members.values()]
        return tuple(dict.fromkeys(name for names in found for name in names if name))

    @property
    def judges(self) -> tuple[JudgeLike, ...]:
        """Whom its critics ask, each once; of functions and graphs that is not known."""
        found: list[JudgeLike] = []
        for critic in self.members.values():
            own = getattr(critic, "judge", None)
            asked = getattr(critic, "judges", None) or ([own] if own is not None else [])
            found += [judge for judge in asked if judge not in found]
        return tuple(found)

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:
            return idle
        asked = held.asked.values()
        found = await asyncio.gather(*(heard(name, critic, state, asked) for name, critic in self.members.items()))
        said = dict(zip(self.members, found, strict=True))
        verdicts = [
            reconciled(self.name, c, held.drafts[c.name], {name: _of(one, c) for name, one in said.items()})
            for c in asked
        ]
        advice = joined_advice(self.name, {name: one.get("suggestions") or () for name, one in said.items()})
        notes = [note for name, one in said.items() for note in self._notes(name, one)]
        return {"rectifications": keyed(*verdicts), "suggestions": advice, "notes": keyed(*notes)}

    def _notes(self, name: str, said: Critique) -> list[Note]:
        """What one critic noted, and that it failed where it did."""
        inner = said.get("notes") or {}
        notes = [Note(agent=self.name, text=f"{name}: {n.text}", status=n.status, kind=n.kind) for n in inner.values()]
        lost = [r for r in said["rectifications"].values() if r.status != "ok"]
        if lost:
            why = one_line(lost[0].reason or lost[0].status)
            text = f"{name} was left out for {len(lost)} of {len(said['rectifications'])} criteria: {why}"
            notes.append(Note(agent=self.name, text=text, status=lost[0].status, kind="critic-left-out"))
        return notes


def _name(critic: Any) -> str:
    """What a panel calls a critic."""
    given = critic if isinstance(critic, str) else getattr(critic, "name", None) or getattr(critic, "__name__", None)
    return str(given or type(critic).__name__)


def _of(said: Critique, criterion: Criterion) -> Rectification | None:
    """A critic's verdict on one criterion, under whatever key it wrote it."""
    found = [r for r in said["rectifications"].values() if r.criterion == criterion.name]
    return found[-1] if found else None
