"""An agent whose judge answers well, off the scale, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgegraph.errors import ConfigError
from judgegraph.testing.answering import FAILURES, ProviderError
from judgegraph.testing.check_critic import unreviewed
from judgegraph.testing.check_runs import Runs
from judgegraph.testing.check_same import differences
from judgegraph.testing.check_written import claims, scale_of, statuses, values_in
from judgegraph.testing.conformance import Breach
from judgegraph.testing.error_leaves import leaves, told
from judgegraph.testing.hostile_texts import REPLIES
from judgegraph.testing.trial import Trial
from judgegraph.types import Note, Rectification, Score, Value

LOW = "demanding"  # the manner that gives the least numbers


async def answers(runs: Runs) -> None:
    """Every judge in every state."""
    read = False
    for where, state in runs.states():
        good = await _good(runs, where, state)
        read = read or any(not t.asked or any(claims(t)) or not statuses(t) for t in good.values())
        off = await runs.tried(state, runs.judge("off the scale"), f"{where}, off the scale")
        failed = [off, *await _failed(runs, where, state)]
        runs.report.add(*_clamped(off, good[LOW, 0]))
        runs.report.add(*(breach for trial in failed for breach in _vanished(trial, tuple(good.values()))))
        trial = await runs.tried(state, runs.judge("key refused"), f"{where}, the key is refused", may_raise=True)
        runs.report.add(*_swallowed(trial))
    if not read:
        runs.report.note(["no reply of ours could be read by it; give answer=, or good replies stay unchecked"])


async def _good(runs: Runs, where: str, state: dict[str, Any]) -> dict[tuple[str, int], Trial]:
    """(manner, seed) -> its trial, of judges that answer; each is asked twice."""
    found = {}
    for way, seed in [("sparing", 0), (LOW, 0), *(("drawn", seed) for seed in range(runs.rounds))]:
        case = f"{where}, a good reply ({way} {seed})"
        first = await runs.tried(state, runs.judge(way, seed=seed), case)
        again = await runs.tried(state, runs.judge(way, seed=seed), case)
        runs.report.add(*differences(first, again), *unreviewed(runs.agent, runs.keys, first))
        found[way, seed] = first
    return found


async def _failed(runs: Runs, where: str, state: dict[str, Any]) -> list[Trial]:
    """Judges that give no answer: nothing that is written may look like one."""
    found = [await runs.tried(state, runs.judge(way), f"{where}, {way}") for way in FAILURES]
    for trial in found:
        runs.report.add(*(claims(trial) if trial.asked else ()))
    for name, text in REPLIES.items():
        trial = await runs.tried(state, runs.judge("says", text=text), f"{where}, the reply is {name}")
        runs.report.add(*(claims(trial) if trial.asked and _formal(trial) else ()))
        found.append(trial)
    return found


def _formal(trial: Trial) -> bool:
    return all("response_format" in asked.settings for asked in trial.asked)


def _vanished(trial: Trial, good: Sequence[Trial]) -> Iterator[Breach]:
    """Entries that are there after every good reply, are not after this one, and nothing says why."""
    well = [_entries(t.written) for t in good if t.asked and t.error is None and not statuses(t)]
    if not well or not trial.asked or trial.error is not None or statuses(trial) or _notes(trial):
        return
    for key, name in sorted(set.intersection(*well) - _entries(trial.written)):
        said = f"{key}[{name!r}]" if name else key
        yield Breach("failure-vanishes", f"{said} is there after good replies alone, and nothing says why", trial.case)


def _entries(written: Mapping[str, Any]) -> set[tuple[str, str]]:
    """(key, name of an entry or "")."""
    held = {key: value for key, value in written.items() if key != "notes"}
    named = {(key, str(name)) for key, value in held.items() if isinstance(value, Mapping) for name in value}
    return named | {(key, "") for key, value in held.items() if isinstance(value, Value)}


def _notes(trial: Trial) -> bool:
    handed = [value for value in values_in(trial.state) if isinstance(value, Note)]
    return any(isinstance(value, Note) and value not in handed for value in values_in(trial.written))


def _clamped(trial: Trial, low: Trial) -> Iterator[Breach]:
    """The scale's highest value where every number of the reply was above it, and the least ones gave another."""
    if not trial.asked or not _formal(trial) or low.error is not None:
        return
    before = {(type(v), v.key): v.value for v in values_in(low.written) if isinstance(v, Score | Rectification)}
    for value in values_in(trial.written):
        if not isinstance(value, Score | Rectification) or value.status != "ok" or value.value is None:
            continue
        scale = scale_of(value, trial)
        judged = value.reader != "plain" and before.get((type(value), value.key)) != value.value
        if judged and scale is not None and value.value == scale.high:
            said = (
                f"{value.key}: the judge said a number above the scale, the {type(value).__name__} says {value.value:g}"
            )
            yield Breach("clamped", said, trial.case)


def _swallowed(trial: Trial) -> Iterator[Breach]:
    """What nothing can mend must end a run, so an agent lets it out, in a group of errors too."""
    if not trial.asked or trial.hung:
        return
    if trial.error is None:
        yield Breach("config-swallowed", "the endpoint refused the key, and it went on", trial.case)
    elif not any(isinstance(error, ConfigError | ProviderError) for error in leaves(trial.error)):
        yield Breach("config-swallowed", f"jg.AuthError became {told(trial.error)}", trial.case)
