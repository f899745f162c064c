"""Whether an agent of yours keeps the contract that graphs, runs and resumes rely on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from judgegraph.errors import ConfigError, one_line
from judgegraph.testing.check_runs import Hung, Runs
from judgegraph.testing.check_shape import advice, declared, misshapen, name_of
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
    one of ours: it answers well, off the scale, with rubbish, not at all, or never. Nothing is sent anywhere.

    Args:
        agent: an agent, or its class where all settings have defaults. state: values of keys, before invented ones.
        samples: what is judged in place of ours. rounds: well-formed replies drawn per sample, 1 or more.
        answer: messages -> text, or a mapping sent as JSON: a good reply, where ours cannot be read by the agent.
        ignore: codes of findings to leave out; `judgegraph.testing.conformance.CODES` lists them.

    Raises:
        ConfigError: the agent needs settings, is a compiled graph, or reads a key that no value can be invented for.
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
    agent = _made(agent)
    keys, report = declared(agent), Conformance(name_of(agent), ignored=ignore)
    report.add(*misshapen(agent, keys))
    report.note(advice(agent, keys))
    if callable(agent) and keys.reads is not None:
        with suppress(Hung):
            await Runs(agent, keys, report, state, samples, rounds, answer).all()
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


def _made(agent: Any) -> Any:
    if hasattr(agent, "builder"):
        raise ConfigError("check_agent: a compiled graph is checked by judgegraph.check; give one of its agents")
    if not isinstance(agent, type):
        return agent
    try:
        return agent()
    except Exception as error:
        why = f"{type(error).__name__}: {one_line(error)}"
        raise ConfigError(f"check_agent: {agent.__name__}() fails ({why}); give an agent with its settings") from error
