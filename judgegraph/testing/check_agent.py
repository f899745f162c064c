"""Whether an agent of yours keeps the contract that graphs, runs and resumes rely on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from judgegraph.errors import ConfigError
from judgegraph.testing.check_answers import answers
from judgegraph.testing.check_assistant import assistant_checked
from judgegraph.testing.check_attacks import attacks
from judgegraph.testing.check_cancelling import cancelling
from judgegraph.testing.check_critic import reviews
from judgegraph.testing.check_runs import Hung, Runs, incomplete
from judgegraph.testing.check_shape import advice, declared, misshapen, name_of
from judgegraph.testing.checked_part import agent_of, assistant_of
from judgegraph.testing.conformance import CODES, Conformance
from judgegraph.testing.invented_state import SAMPLES
from judgegraph.types import Sample

__all__ = ["acheck_agent", "assert_conforms", "check_agent"]


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
