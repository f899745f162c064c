"""Whether a judge calls a tool that it is offered, and one that it is made to call."""

from __future__ import annotations

from judgegraph.runtime.probe import Bench, Heard, Probe, unmeasured

TOOL = "count_vowels"
REQUEST = f"Use the tool {TOOL} on the word 'lagoon'. Do not answer without it."
OFFER = {
    "type": "function",
    "function": {
        "name": TOOL, "description": "Counts the vowels of a word.",
        "parameters": {
            "type": "object", "properties": {"word": {"type": "string"}},
            "required": ["word"], "additionalProperties": False,
        },
    },
}  # fmt: skip


async def tools(bench: Bench) -> Probe:
    """A tool that is offered and asked for in words, then one that is forced."""
    offered = await bench.ask(REQUEST, tools=(OFFER,))
    choice = {"type": "function", "function": {"name": TOOL}}
    forced = await bench.ask("Name one animal, in one word.", tools=(OFFER,), settings={"tool_choice": choice})
    if offered.unclear or (forced.unclear and not _called(offered)):
        return unmeasured("tools", offered.failure or forced.failure)
    said = [f"{kind}: {_outcome(heard)}" for kind, heard in (("offered", offered), ("forced", forced))]
    bench.found.tools = _called(offered) or _called(forced)
    if not bench.found.tools:
        means = "a judge calls no assistant by itself; what the plan names is called instead"
        return Probe("tools", False, ", ".join(said), means)
    bad = forced if _called(offered) else offered
    means = "" if _called(bad) or bad.unclear else "a judge may answer without calling an assistant"
    return Probe("tools", not means, ", ".join(said), means)


def _called(heard: Heard) -> bool:
    return any(call.get("name") == TOOL for call in heard.choice.tool_calls)


def _outcome(heard: Heard) -> str:
    if heard.unclear:
        return "not measured"
    return "called" if _called(heard) else "refused" if heard.failure or heard.support.tools is False else "not called"
