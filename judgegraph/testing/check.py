"""The check of an agent: judges that answer well, badly or never, hostile texts, cancellation."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from judgegraph.errors import ConfigError
from judgegraph.testing.conformance import (
    CODES,
    SAMPLES,
    Breach,
    Conformance,
    Trial,
    Watched,
    called,
    left_behind,
    scores_of,
    with_judge,
)
from judgegraph.testing.rules import (
    Hung,
    Runs,
    advice,
    agent_of,
    assistant_checked,
    assistant_of,
    claims,
    declared,
    differences,
    error_line,
    incomplete,
    leaves,
    misshapen,
    name_of,
    open_sections,
    reviews,
    scale_of,
    sections,
    shows,
    statuses,
    unreviewed,
    values_in,
)
from judgegraph.testing.scripted import FAILURES, REPLIES, TEXTS, Answering, ProviderError, answered_by, closing, ended
from judgegraph.types import Note, Rectification, Sample, Score, Value

# An agent whose judge answers well, off the scale, or not at all.


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
        where = f"{key}[{name!r}]" if name else key
        yield Breach("failure-vanishes", f"{where} is there after good replies alone, and nothing says why", trial.case)


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
            change = (
                f"{value.key}: the judge said a number above the scale, the {type(value).__name__} says {value.value:g}"
            )
            yield Breach("clamped", change, trial.case)


def _swallowed(trial: Trial) -> Iterator[Breach]:
    """What nothing can mend must end a run, so an agent lets it out, in a group of errors too."""
    if not trial.asked or trial.hung:
        return
    if trial.error is None:
        yield Breach("config-swallowed", "the endpoint refused the key, and it went on", trial.case)
    elif not any(isinstance(error, ConfigError | ProviderError) for error in leaves(trial.error)):
        yield Breach("config-swallowed", f"jg.AuthError became {error_line(trial.error)}", trial.case)


# An agent whose judged text, or whose judge, writes what would be more than a text.


async def attacks(runs: Runs) -> None:
    """Hostile texts in place of what is judged, and in replies."""
    if "sample" in (runs.keys.reads or {}):
        await _texts(runs)
    for where, state in runs.states():
        trial = await runs.tried(state, runs.judge("marked"), f"{where}, a hostile reply")
        runs.report.add(*open_sections(trial, "what a judge said stands"))


async def _texts(runs: Runs) -> None:
    seen: set[tuple[str, str]] = set()
    shown = asked = False
    for name, text in TEXTS.items():
        for trial in await _attack(runs, text, name):
            seen |= sections(trial)
            shown, asked = shown or shows(trial), asked or bool(trial.asked)
    await _attack(runs, closing(sorted(seen)), "codes of before")
    if asked and not shown:
        runs.report.note(["no prompt shows the judged text"])


async def _attack(runs: Runs, text: str, name: str) -> list[Trial]:
    whole = _hostile(runs, text)
    states = [whole, runs.bare(whole)] if runs.works_bare else [whole]
    trials = [await runs.tried(state, runs.judge(), f"hostile: {name}") for state in states]
    runs.report.add(*(breach for trial in trials for breach in open_sections(trial)))
    return trials


def _hostile(runs: Runs, text: str) -> dict[str, Any]:
    sample = runs.samples[0].model_copy(update={"output": text, "rival": text, "source": text, "query": text})
    state = runs.state(sample)
    if "sample" not in runs.own and "scores" in state and "scores" not in runs.own:
        state["scores"] = scores_of(runs.agent, reason=text)
    return {**state, "sample": sample}


# An agent that is cancelled while its judge is silent.


PROMPTLY = 2.0  # seconds that it may use or spend idle


async def cancelling(runs: Runs) -> None:
    """One more run, which is cancelled."""
    runs.report.runs += 1
    runs.report.add(*await _cancelled(runs.agent, runs.state(), runs.judge("hangs")))


async def _cancelled(agent: Any, state: dict[str, Any], silent: Answering) -> list[Breach]:
    """What is wrong with its end; nothing for plain functions, and for agents that ask nobody.

    Args:
        silent: a judge that never answers.
    """
    if not inspect.iscoroutinefunction(agent if inspect.isroutine(agent) else type(agent).__call__):
        return []
    known = asyncio.all_tasks()
    with answered_by(silent):
        task = asyncio.ensure_future(called(with_judge(agent, silent), Watched(state)))
        waits = asyncio.ensure_future(silent.reached.wait())
        await ended({task, waits}, PROMPTLY, first=True)
        waits.cancel()
        if not silent.reached.is_set():
            await left_behind(known)
            return []
        task.cancel()
        await ended({task}, PROMPTLY)
        found = list(_end(task))
        leaked = await left_behind(known) - (not task.done())
    if leaked > 0:
        found.append(Breach("leaked-task", f"{leaked} tasks go on after it was cancelled", "cancelled"))
    return found


def _end(task: asyncio.Task[Any]) -> Iterator[Breach]:
    if not task.done():
        yield Breach("cancellation", f"it goes on for over {PROMPTLY:g} s", "cancelled")
    elif not task.cancelled():
        error = task.exception()
        how = f"raised {type(error).__name__}" if error is not None else "returned a result"
        yield Breach("cancellation", f"it {how} instead of CancelledError", "cancelled")


def check_agent(
    agent: Any, *, state: Mapping[str, Any] | None = None, samples: Sequence[Sample] | None = None, rounds: int = 3,
    answer: Callable[[list[Any]], Any] | None = None, ignore: Collection[str] = (),
) -> Conformance:  # fmt: skip
    """Call an agent in many states with many judges, and say where it breaks the contract of agents.

    Its states are invented from its annotations. Its judge, and every judge that it asks through `judgegraph.calls`, is
    one of ours: it answers well, off the scale, with rubbish, not at all, or never. Nothing is sent anywhere. The agent
    is called some 80 to 150 times, so what else it does (a page that it fetches, a file that it writes) it does as
    often. An assistant is called some 40 times, with samples that lack what it reads and with hostile texts.

    Not looked for: prompts whose order hangs on that of a set, or that tell the time; code that blocks the loop, as
    time.sleep does; threads and processes that are left behind; requests past `judgegraph.calls`; whether it judges
    well.

    Args:
        agent: an agent or an assistant, its class where all settings have defaults, or its registered name.
        state: values of keys, before invented ones.
        samples: what is judged in place of ours. rounds: well-formed replies drawn per sample, 1 or more.
        answer: messages -> text, or a mapping sent as JSON: a good reply, where ours cannot be read by the agent.
        ignore: codes of findings to leave out; `judgegraph.testing.conformance.CODES` lists them.

    Raises:
        ConfigError: the agent needs settings, is a method or a graph, or reads a key that no value can be invented for;
            there is no such name; an assistant is given a `state` or an `answer`.
    """
    with ThreadPoolExecutor(1) as pool:  # in a loop of its own, where every task is the agent's
        checked = _checked(agent, state or {}, tuple(samples or SAMPLES), max(1, rounds), answer, tuple(ignore))
        return pool.submit(asyncio.run, checked).result()


async def acheck_agent(agent: Any, **settings: Any) -> Conformance:
    """As `check_agent`, where a loop is running."""
    return await asyncio.to_thread(check_agent, agent, **settings)


async def _checked(
    agent: Any, state: Mapping[str, Any], samples: tuple[Sample, ...], rounds: int,
    answer: Callable[[list[Any]], Any] | None, ignore: tuple[str, ...],
) -> Conformance:  # fmt: skip
    if unknown := set(ignore) - set(CODES):
        raise ConfigError(f"check_agent: no code {', '.join(sorted(unknown))}; known: {', '.join(CODES)}")
    if (assistant := assistant_of(agent)) is not None:
        if state or answer:
            raise ConfigError("check_agent: an assistant reads no state and has no judge of ours; give samples=")
        return await assistant_checked(assistant, samples, ignore)
    agent = agent_of(agent)
    keys, report = declared(agent), Conformance(name_of(agent), ignored=ignore)
    report.add(*misshapen(agent, keys))
    report.note(advice(agent, keys))
    if callable(agent) and keys.reads is not None:
        runs = Runs(agent, keys, report, state, samples, rounds, answer)
        with suppress(Hung):
            for part in (incomplete, answers, attacks, reviews, cancelling):
                await part(runs)
    return report


def assert_conforms(agent: Any, **settings: Any) -> Conformance:
    """For a test: the report of `check_agent`, settings as there.

    Raises:
        AssertionError: something was found; it lists what.
    """
    report = check_agent(agent, **settings)
    if not report.ok:
        raise AssertionError(str(report))
    return report
