"""What a judge does with each thing that a run may ask of it, one small call or two for each."""

from __future__ import annotations

import re
from typing import Any

from judgegraph.errors import AuthError, ConfigError
from judgegraph.models.resolve import Support
from judgegraph.runtime.probe import Bench, Heard, Probe, unmeasured

LIMIT = 5  # tokens; a word is one token at least
CHOICES = 3
THOUGHTS = 64  # tokens for one word: most of them were thoughts
COUNT = "Count from one to sixty in words, separated by spaces, and write nothing else."
ONE_ANIMAL = "Name one animal, in one word."
NAMES: tuple[Any, ...] = ("max_completion_tokens", "max_tokens")


async def text(bench: Bench) -> Probe:
    """A plain question.

    Raises:
        ConfigError: it is not answered; nothing else can be tried then. AuthError: the key or the model is refused.
    """
    heard = await bench.ask("Reply with the one word: ready")
    if heard.fatal:
        raise AuthError(heard.failure)
    if heard.failure:
        address = bench.judge.endpoint.address
        raise ConfigError(f"{f'the endpoint {address}' if address else 'the judge'} cannot be used: {heard.failure}")
    said = heard.choice.text.strip()
    if not said:
        return Probe("text", False, "an empty reply", "free text may come empty; it is asked for again")
    return Probe("text", True, f"answers: {said}")


async def usage(bench: Bench) -> Probe:
    """Tokens told with the reply to the plain question."""
    asked, said = bench.run.prompt_tokens, bench.run.completion_tokens
    if said > THOUGHTS:
        bench.found.thinks = True
    if asked and said:
        return Probe("usage", True, f"told: {asked} + {said} tokens")
    return Probe("usage", False, "not told", "tokens and money of a run are estimates")


async def max_tokens(bench: Bench) -> Probe:
    """A limit under the name that OpenAI's SDK sends, else under the older one."""
    name = "max tokens"
    for parameter in NAMES if bench.judge.speaks_openai else (None,):
        heard = await bench.ask(COUNT, support=Support(max_tokens=parameter), settings={"max_tokens": LIMIT})
        if heard.unclear:
            return unmeasured(name, heard.failure)
        kept = _cut(heard)
        if kept is None:
            return unmeasured(name, "the reply was short by itself")
        if kept:
            bench.found.max_tokens, bench.limited = parameter, True
            return _limit(name, heard, parameter)
    said = f"a limit of {LIMIT} is " + ("refused" if heard.failure else "ignored under either name")
    return Probe(name, False, said, "replies can be as long as the endpoint likes; only the timeout ends them")


def _limit(name: str, heard: Heard, parameter: str | None) -> Probe:
    if parameter == "max_tokens":
        means = "limits are sent as max_tokens"
        return Probe(name, False, "heeded as max_tokens, not as max_completion_tokens", means)
    if heard.choices and heard.choice.finish not in ("length", "max_tokens"):
        said = f"heeded, but the reply says it ended with '{heard.choice.finish}'"
        return Probe(name, False, said, "a reply that was cut off may be taken for a whole one")
    return Probe(name, True, f"heeded as {parameter}" if parameter else "heeded")


def _cut(heard: Heard) -> bool | None:
    """The reply was cut off at the limit; None where it is too short to tell."""
    if heard.failure:  # some answer a reply that is cut off while the model still thinks with a 400
        return bool(re.search(r"limit was reached|max_(?:completion_)?tokens was reached", heard.failure))
    if heard.choice.finish in ("length", "max_tokens"):
        return True
    words = heard.choice.text.split()
    if len(words) > LIMIT:
        return False
    return True if re.match(r"(?i)\W*(?:one|1)\W+(?:two|2)\b", heard.choice.text) else None


async def several(bench: Bench) -> Probe:
    """Three choices in one reply."""
    heard = await bench.ask(ONE_ANIMAL, n=CHOICES)
    if heard.unclear:
        return unmeasured("n", heard.failure)
    bench.found.n = len(heard.choices) == CHOICES
    if bench.found.n:
        return Probe("n", True, f"{CHOICES} choices for n={CHOICES}")
    refused = heard.failure or heard.support.n is False
    said = "refused" if refused else f"{len(heard.choices)} choice for n={CHOICES}, without an error"
    return Probe("n", False, said, "n samples are n requests, and the prompt is paid for n times")


async def settings(bench: Bench) -> Probe:
    """Temperature, top_p and seed: together, then each alone where that fails."""
    given: dict[str, Any] = {"temperature": 0.5, "top_p": 0.9, "seed": 7}
    heard = await bench.ask(ONE_ANIMAL, settings=given)
    if heard.unclear:
        return unmeasured("settings", heard.failure)
    refused = set(heard.support.refused)
    if heard.failure:
        alone = {name: await bench.ask(ONE_ANIMAL, settings={name: value}) for name, value in given.items()}
        refused = {n for n, one in alone.items() if n in one.support.refused or (one.failure and not one.unclear)}
    bench.found.refused |= refused
    if not refused and not heard.failure:
        return Probe("settings", True, "takes temperature, top_p and seed")
    if not refused:
        return Probe("settings", False, f"refused together: {heard.failure}", "set only one of temperature and top_p")
    names = ", ".join(sorted(refused))
    return Probe("settings", False, f"takes no {names}", f"{names}: left out, and noted with each score")


async def repeatable(bench: Bench) -> Probe:
    """The same question twice, with temperature 0 and a seed."""
    said = []
    for _ in range(2):
        support = bench.fresh()
        support.refused = set(bench.found.refused)
        request = "Name three animals and a colour for each, in one line."
        heard = await bench.ask(request, support=support, settings={"temperature": 0, "seed": 7})
        if heard.failure:
            return unmeasured("repeatable", heard.failure)
        said.append(heard.choice.text)
    if said[0] == said[1]:
        return Probe("repeatable", True, "two equal replies at temperature 0 with one seed")
    means = "only the ledger makes a rerun equal: without it, scores move from run to run"
    return Probe("repeatable", False, "two replies at temperature 0 with one seed differ", means)
