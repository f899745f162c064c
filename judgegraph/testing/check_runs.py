"""The runs of a check: an agent in a state with a judge; and states that lack a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from judgegraph.testing.answering import Answering
from judgegraph.testing.check_shape import Declared, name_of
from judgegraph.testing.check_trial import breaches
from judgegraph.testing.conformance import Breach, Conformance
from judgegraph.testing.error_leaves import told
from judgegraph.testing.invented_state import demand, state_of
from judgegraph.testing.trial import Trial, tried
from judgegraph.types import Sample


class Hung(Exception):
    """A run did not end, so that no other is tried."""


@dataclass
class Runs:
    """What the runs of one check share; findings go to the report."""

    agent: Any
    keys: Declared
    report: Conformance
    own: Mapping[str, Any]
    samples: tuple[Sample, ...]
    rounds: int
    answer: Callable[[list[Any]], Any] | None
    works_bare: bool = True

    def state(self, sample: Sample | None = None) -> dict[str, Any]:
        """With all that may be there, of the first sample where none is given."""
        return state_of(self.agent, self.keys.reads or {}, sample or self.samples[0], self.own)

    def states(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """(what it is, state) of each sample: with all that may be there, and with no more than must be."""
        return chain.from_iterable(map(self._states, self.samples))

    def _states(self, sample: Sample) -> Iterator[tuple[str, dict[str, Any]]]:
        whole = self.state(sample)
        yield f"sample '{sample.id}'", whole
        bare = self.bare(whole)
        if self.works_bare and bare.keys() != whole.keys():
            yield f"sample '{sample.id}' alone", bare

    def bare(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        """Without what it can miss."""
        return {key: value for key, value in whole.items() if key in self.keys.needs}

    def judge(self, way: str = "drawn", **settings: Any) -> Answering:
        """One that answers in this way."""
        return Answering(way=way, answer=self.answer, **settings)

    async def tried(self, state: dict[str, Any], model: Answering, case: str, *, may_raise: bool = False) -> Trial:
        """Call the agent once, and report what that shows by itself.

        Raises:
            Hung: it did not end.
        """
        trial = await tried(self.agent, state, model, case)
        self.report.runs += 1
        self.report.add(*breaches(trial, self.keys, may_raise))
        if trial.hung:  # the others would take as long
            raise Hung
        return trial


async def incomplete(runs: Runs) -> None:
    """States without optional keys, and without each that is required."""
    whole = runs.state()
    demand(name_of(runs.agent), runs.keys.needs, whole)
    trial = await runs.tried(runs.bare(whole), runs.judge(), "without optional keys", may_raise=True)
    if trial.error is not None:
        runs.works_bare = False
        runs.report.add(Breach("missing-optional", told(trial.error), trial.case))
    for key in runs.keys.needs:
        rest = {name: value for name, value in whole.items() if name != key}
        trial = await runs.tried(rest, runs.judge(), f"without '{key}'", may_raise=True)
        if trial.error is None:
            runs.report.note([f"it works without '{key}', which its state's annotation requires: NotRequired?"])
        elif key not in told(trial.error):
            runs.report.add(Breach("missing-required", f"without '{key}' it raises {told(trial.error)}"))
