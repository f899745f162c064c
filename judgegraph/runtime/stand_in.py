"""Replies that nobody gave: what stands in for a judge while a plan is made, in several manners.

A run's calls depend on its replies. A plan therefore runs the graph with replies of several manners, from the most
sparing to the most demanding: what is asked under all of them depends on none, the others give the ends of a range.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from judgegraph.calls.exchange import Call, Choice
from judgegraph.calls.invented import Manner, Writer
from judgegraph.calls.tokens import Token

SPARING = Manner("sparing", "none", doubts=False)
PLEASED = Manner("pleased", "high", doubts="first")
DRAWN = Manner("drawn", "drawn", alike=False, tools="once")
DEMANDING = Manner(
    "demanding", "low", most=True, alike=False, tools="always", settled=False, stubborn=True, doubts=True
)
MANNERS = (DEMANDING, SPARING, PLEASED, DRAWN)

COMPLAINT = "Your reply could not be used:"  # how asking again begins; calls/asking.py
PARTIAL = "ratings"  # the form whose reader takes what is there, and may ask for the rest in a call of its own


def invented(manner: Manner, call: Call, address: bytes, last: bool) -> list[Choice]:
    """The choices of a reply, all that were asked for; the same for the same address.

    Args:
        last: it will not be asked again, should it be unreadable.
    """
    return [_choice(manner, call, f"{address.hex()}/{index}", last or not manner.stubborn) for index in range(call.n)]


def complains(call: Call) -> bool:
    """Whether it asks once more, as an earlier reply could not be used."""
    text = call.messages[-1].content if call.messages else ""
    return isinstance(text, str) and text.startswith(COMPLAINT)


@dataclass
class Turns:
    """How often each question was asked before, in vain: by the repeat index of the call.

    Several replies to one question have an index each, also where a judge is asked for them one at a time.
    """

    _wide: dict[int, int] = field(default_factory=dict)  # question -> replies wanted of it

    def before(self, call: Call) -> int:
        """Of this call."""
        again = complains(call)
        asked = call.messages[:-2] if again else call.messages
        question = hash((call.form, *((m.type, str(m.content)) for m in asked)))
        if not again:
            self._wide[question] = max(self._wide.get(question, 1), call.n, call.repeat + 1)
            return 0
        return call.repeat // max(call.n, self._wide.get(question, 1))


def _choice(manner: Manner, call: Call, seed: str, last: bool) -> Choice:
    writer = Writer(manner, seed)
    if call.tools and _calls_tools(manner, call):
        return _tool_call(writer, call, seed)
    if not last and not call.tools:
        text = f'{{"{writer.text()}' if call.schema is not None else ""
    elif call.schema is None:
        text = writer.plain(call.form, "\n".join(str(m.content) for m in call.messages))
    else:
        value = writer.value(call.schema, call.schema)
        if manner.stubborn and call.form == PARTIAL and isinstance(value, dict) and len(value) > 1:
            value.popitem()
        text = json.dumps(value)
    return Choice(text, "stop", tokens=_tokens(manner, text) if call.logprobs else None)


def _tokens(manner: Manner, text: str) -> tuple[Token, ...]:
    """One token that is sure of the whole text, or one in which no answer is found."""
    return (Token(text, {text: 0.0}),) if manner.settled else (Token("\0", {"\0": 0.0}),)


def _calls_tools(manner: Manner, call: Call) -> bool:
    answered = any(message.type == "tool" for message in call.messages)
    return manner.tools == "always" or (manner.tools == "once" and not answered)


def _tool_call(writer: Writer, call: Call, seed: str) -> Choice:
    """The first tool offered, again and again: while others are not called, more may be wanted."""
    tool = call.tools[0].get("function", call.tools[0])
    schema = tool.get("parameters") or {"type": "object"}
    called = {
        "name": str(tool["name"]), "args": writer.value(schema, schema), "id": f"call_{seed[:16]}",
        "type": "tool_call",
    }  # fmt: skip
    return Choice("", "tool_calls", tool_calls=(called,))
