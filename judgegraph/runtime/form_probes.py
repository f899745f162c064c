"""What a judge makes of a schema, and whether it gives log-probabilities beside it and without."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgegraph.calls.features import FEW
from judgegraph.calls.tokens import Token, unsound
from judgegraph.runtime.probe import Bench, Probe, unmeasured

KEY = "calmness_q7"  # nobody would write it unasked
FEELING = "How calm is the word 'lagoon', from 1 to 5? Answer in the form asked for."


def form_of(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """A strict schema of these properties."""
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


CHARACTERS = 40
LONG = "Write an essay of three hundred words on lighthouses, in the form asked for."
BRIEF = form_of(essay={"type": "string", "maxLength": CHARACTERS})
ENDLESS = "a reason can be as long as the endpoint likes; only the limit of the whole reply ends it"
ODD = form_of(**{KEY: {"type": "integer", "enum": [1, 2, 3, 4, 5]}})
KINDS = form_of(grade={"type": "integer", "enum": [3, 5, 7]}, tone={"type": "string", "enum": ["plum", "rust"]})


async def json_schema(bench: Bench) -> Probe:
    """A strict schema with a key that nobody would write unasked."""
    name = "json_schema"
    known = bench.fresh(json_schema=True)  # so that False is a refusal, and not what free text would teach
    heard = await bench.ask(FEELING, support=known, schema=ODD, form="calmness")
    if heard.unclear:
        return unmeasured(name, heard.failure)
    if heard.failure or heard.support.json_schema is False:
        bench.found.json_schema = False
        said = f"refused: {heard.failure}" if heard.failure else "refused"
        return Probe(name, False, said, "the schema is put into words in each prompt, and replies are mended")
    given = _json(heard.choice.text)
    if isinstance(given, dict) and set(given) == {KEY}:
        bench.found.json_schema = True
        return Probe(name, True, "heeded")
    if "{" in heard.choice.text and heard.choice.finish == "length":
        return unmeasured(name, "the reply was cut off")
    bench.found.json_schema = False
    said = "ignored: " + ("other keys" if isinstance(given, dict) else "free text")
    return Probe(name, False, said, "the schema is put into words in each prompt, and replies are mended")


async def strict_values(bench: Bench) -> Probe:
    """Integers and enums, where the prompt asks for other values."""
    name = "strict values"
    if not bench.found.json_schema:
        return unmeasured(name, "no schema is heeded")
    heard = await bench.ask("Give the grade 4.5 and the tone 'blue'.", schema=KINDS, form="graded")
    if heard.failure:
        return unmeasured(name, heard.failure)
    given = _json(heard.choice.text)
    kept = isinstance(given, dict) and given.get("grade") in (3, 5, 7) and given.get("tone") in ("plum", "rust")
    if kept and isinstance(given, dict) and isinstance(given["grade"], int):
        return Probe(name, True, "kept to the schema's")
    return Probe(name, False, f"beside the schema: {heard.choice.text}", "values off a scale come, and are asked again")


async def max_length(bench: Bench) -> Probe:
    """A text that may have few characters, where the prompt asks for many."""
    name = "text length"
    if not bench.found.json_schema:
        return unmeasured(name, "no schema is heeded")
    heard = await bench.ask(LONG, schema=BRIEF, form="essay")
    if heard.unclear:
        return unmeasured(name, heard.failure)
    if heard.failure or heard.support.json_schema is False:
        bench.found.max_length = False
        return Probe(name, False, "maxLength is refused", ENDLESS)
    given = _json(heard.choice.text)
    text = given.get("essay") if isinstance(given, dict) else None
    if not isinstance(text, str):
        return unmeasured(name, "the reply is no text in the form")
    bench.found.max_length = len(text) <= CHARACTERS
    if bench.found.max_length:
        return Probe(name, True, f"maxLength is heeded: {len(text)} of {CHARACTERS} characters")
    return Probe(name, False, f"maxLength is ignored: {len(text):,} characters for {CHARACTERS}", ENDLESS)


async def logprobs(bench: Bench) -> Probe:
    """Token log-probabilities, and of how many tokens: 20, else 5; also beside a schema, where runs need them."""
    name = "log-probabilities"
    heard = await bench.ask("Rate the word 'calm' from 1 to 5. Reply with one digit.", logprobs=True)
    if heard.failure and not heard.unclear:
        few = bench.fresh(top_logprobs=FEW)
        heard = await bench.ask("Rate the word 'calm' from 1 to 5. Reply with one digit.", support=few, logprobs=True)
    if heard.unclear:
        return unmeasured(name, heard.failure)
    if not (tokens := heard.choice.tokens):
        refused = bool(heard.failure) or heard.support.logprobs is False
        return _no_logprobs(bench, "refused" if refused else "null")
    if why := _unsound(tokens):
        return _no_logprobs(bench, why)
    if bench.found.json_schema:
        beside = await bench.ask(FEELING, schema=ODD, form="calmness", logprobs=True)
        if not beside.unclear and not beside.choice.tokens:
            return _no_logprobs(bench, "given, but not beside json_schema")
        if not beside.unclear and (why := _unsound(beside.choice.tokens or ())):
            return _no_logprobs(bench, f"given, but beside json_schema {why}")
    bench.found.logprobs, bench.found.top_logprobs = True, heard.support.top_logprobs
    most = max(len(token.top) for token in tokens)
    fewer = heard.support.top_logprobs <= FEW
    means = f"weighted scores see at most {FEW} of a scale's points at once" if fewer else ""
    return Probe(name, not fewer, f"given, up to {heard.support.top_logprobs} a token asked for, {most} seen", means)


def _unsound(tokens: Sequence[Token]) -> str:
    """Why a run would not weigh them, "" where it would: it looks at the place of the answer."""
    text = "".join(token.text for token in tokens)
    digits = list(re.finditer(r"\d", text))
    return unsound(tokens, digits[-1].span() if digits else (0, len(text)))


def _no_logprobs(bench: Bench, found: str) -> Probe:
    bench.found.logprobs = False
    means = "weighted scores are read from samples instead of log-probabilities; that costs several replies a score"
    return Probe("log-probabilities", False, found, means)


def _json(said: str) -> Any:
    try:
        return json.loads(said)
    except ValueError:
        return None
