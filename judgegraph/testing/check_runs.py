"""The runs of a check: each state with each judge, and what each shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from judgegraph.testing.answering import FAILURES, Answering
from judgegraph.testing.check_cancelling import cancelled
from judgegraph.testing.check_prompts import open_sections, sections, shows
from judgegraph.testing.check_same import differences
from judgegraph.testing.check_shape import Declared, name_of
from judgegraph.testing.check_written import claims, values_in, written_badly
from judgegraph.testing.conformance import Breach, Conformance
from judgegraph.testing.hostile_texts import REPLIES, TEXTS, closing
from judgegraph.testing.invented_state import demand, scores_of, state_of
from judgegraph.testing.trial import Trial, tried
from judgegraph.types import Rectification, Sample, Score


class Hung(Exception):
    """A run did not end, so that no other is tried."""


@dataclass
class Runs:
    """Every run of one check; findings go to the report."""

    agent: Any
    keys: Declared
    report: Conformance
    own: Mapping[str, Any]
    samples: tuple[Sample, ...]
    rounds: int
    answer: Callable[[list[Any]], Any] | None
    works_bare: bool = True

    async def all(self) -> None:
        """One kind after another."""
        demand(name_of(self.agent), self.keys.needs, self._state(self.samples[0]))
        await self._incomplete()
        await self._answered()
        await self._failed()
        await self._attacked()
        self.report.runs += 1
        self.report.add(*await cancelled(self.agent, self._state(self.samples[0]), self._judge("hangs")))

    def _state(self, sample: Sample) -> dict[str, Any]:
        return state_of(self.agent, self.keys.reads or {}, sample, self.own)

    def _states(self, sample: Sample) -> Iterator[tuple[str, dict[str, Any]]]:
        """(what it is, state): with all that may be there, and with no more than must be."""
        whole = self._state(sample)
        yield f"sample '{sample.id}'", whole
        bare = self._bare(whole)
        if self.works_bare and bare.keys() != whole.keys():
            yield f"sample '{sample.id}' alone", bare

    def _bare(self, whole: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in whole.items() if key in self.keys.needs}

    def _judge(self, way: str = "drawn", **settings: Any) -> Answering:
        return Answering(way=way, answer=self.answer, **settings)

    async def _tried(self, state: dict[str, Any], model: Answering, case: str) -> Trial:
        trial = await tried(self.agent, state, model, case)
        self.report.runs += 1
        self.report.add(*self._common(trial))
        if trial.hung:  # the others would take as long
            raise Hung
        return trial

    def _common(self, trial: Trial) -> Iterator[Breach]:
        """What holds whatever the state and the judge."""
        if trial.hung:
            yield Breach("hangs", "it did not end", trial.case)
        elif trial.error is not None and trial.case not in self._may_raise():
            yield Breach("raises", f"{type(trial.error).__name__}: {trial.error}", trial.case)
        elif trial.error is None and trial.result is not trial.written:
            yield Breach("undeclared-write", f"it returned a {type(trial.result).__name__}, no mapping", trial.case)
        for key in sorted(trial.touched - set(self.keys.reads or ())):
            yield Breach("undeclared-read", f"it asks the state for '{key}'", trial.case)
        for key in sorted(map(str, set(trial.written) - (self.keys.writes or set(trial.written)))):
            yield Breach("undeclared-write", f"it writes '{key}'", trial.case)
        if trial.state_changed:
            yield Breach("mutates-state", "the state is another afterwards", trial.case)
        if trial.itself_changed:
            yield Breach("mutates-itself", "the agent is another afterwards", trial.case)
        if trial.leaked:
            yield Breach("leaked-task", f"{trial.leaked} tasks go on after it has ended", trial.case)
        yield from written_badly(trial)
        yield from self._strangers(trial)

    def _may_raise(self) -> set[str]:
        return {*(f"without '{key}'" for key in self.keys.needs), "without optional keys"}

    def _strangers(self, trial: Trial) -> Iterator[Breach]:
        """Rectifications of what nobody scored."""
        scores = trial.state.get("scores")
        if scores is None:
            return
        known = {score.criterion for score in values_in(scores) if isinstance(score, Score)}
        for value in values_in(trial.written):
            if isinstance(value, Rectification) and value.criterion not in known:
                yield Breach("unknown-criterion", f"it rectifies {value.criterion!r}, which has no score", trial.case)

    async def _answered(self) -> None:
        """Judges that answer, each twice."""
        answered = False
        for where, state in chain(*map(self._states, self.samples)):
            for way, seed in [("sparing", 0), ("demanding", 0), *(("drawn", seed) for seed in range(self.rounds))]:
                case = f"{where}, a good reply ({way} {seed})"
                first = await self._tried(state, self._judge(way, seed=seed), case)
                again = await self._tried(state, self._judge(way, seed=seed), case)
                self.report.add(*differences(first, again))
                answered = answered or not first.asked or any(claims(first)) or not _statuses(first)
            await self._tried(state, self._judge("off the scale"), f"{where}, off the scale")
        if not answered:
            self.report.note(["no reply of ours could be read by it; give answer=, or good replies stay unchecked"])

    async def _failed(self) -> None:
        """Judges that give no answer: nothing that is written may look like one."""
        for where, state in chain(*map(self._states, self.samples)):
            for way in FAILURES:
                trial = await self._tried(state, self._judge(way), f"{where}, {way}")
                self.report.add(*(claims(trial) if trial.asked else ()))
            for name, text in REPLIES.items():
                trial = await self._tried(state, self._judge("says", text=text), f"{where}, the reply is {name}")
                formal = all("response_format" in asked.settings for asked in trial.asked)
                self.report.add(*(claims(trial) if trial.asked and formal else ()))

    async def _attacked(self) -> None:
        """Hostile texts in place of what is judged."""
        if "sample" not in (self.keys.reads or {}):
            return
        seen: set[tuple[str, str]] = set()
        shown = asked = False
        for name, text in TEXTS.items():
            for trial in await self._attack(text, name):
                seen |= sections(trial)
                shown, asked = shown or shows(trial), asked or bool(trial.asked)
        await self._attack(closing(sorted(seen)), "codes of before")
        if asked and not shown:
            self.report.note(["no prompt shows the judged text"])

    async def _attack(self, text: str, name: str) -> list[Trial]:
        whole = self._hostile(text)
        states = [whole, self._bare(whole)] if self.works_bare else [whole]
        trials = [await self._tried(state, self._judge(), f"hostile: {name}") for state in states]
        self.report.add(*(breach for trial in trials for breach in open_sections(trial)))
        return trials

    def _hostile(self, text: str) -> dict[str, Any]:
        sample = self.samples[0].model_copy(update={"output": text, "rival": text, "source": text, "query": text})
        state = self._state(sample)
        if "sample" not in self.own and "scores" in state and "scores" not in self.own:
            state["scores"] = scores_of(self.agent, reason=text)
        return {**state, "sample": sample}

    async def _incomplete(self) -> None:
        """States without optional keys, and without each that is required."""
        whole = self._state(self.samples[0])
        trial = await self._tried(self._bare(whole), self._judge(), "without optional keys")
        if trial.error is not None:
            self.works_bare = False
            said = f"{type(trial.error).__name__}: {trial.error}"
            self.report.add(Breach("missing-optional", said, trial.case))
        for key in self.keys.needs:
            rest = {name: value for name, value in whole.items() if name != key}
            trial = await self._tried(rest, self._judge(), f"without '{key}'")
            if trial.error is None and not trial.hung:
                self.report.note([f"it works without '{key}', which its state's annotation requires: NotRequired?"])
            elif trial.error is not None and key not in str(trial.error):
                said = f"without '{key}' it raises {type(trial.error).__name__}: {trial.error}"
                self.report.add(Breach("missing-required", said))


def _statuses(trial: Trial) -> list[str]:
    found = [getattr(value, "status", "ok") for value in values_in(trial.written)]
    return [status for status in found if status != "ok"]
