"""One run of a graph for one sample, with replies of one manner in the place of its judges'."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgegraph.calls.address import address_of
from judgegraph.calls.budget import Purse
from judgegraph.calls.context import CallContext, Doubted, context
from judgegraph.calls.estimate import completion_tokens
from judgegraph.calls.exchange import Call, Choice, unpacked
from judgegraph.calls.features import as_sent
from judgegraph.calls.invented import Manner
from judgegraph.calls.node_bill import node_at_work
from judgegraph.models.resolve import Judge, trying
from judgegraph.runtime.amount import Asked
from judgegraph.runtime.stand_in import Turns, complains, invented

if TYPE_CHECKING:
    from collections.abc import Generator

    from judgegraph.runtime.rehearsal import Rehearsal

MOST = 1000  # questions of a sample; asking again and several replies to one question are not counted


class Endless(Exception):
    """Ends a run of the graph that asks on and on."""

    ends_run = True  # a panel takes it for no member's failure

    def __init__(self) -> None:
        super().__init__(f"no end was found: it asks more than {MOST:,} questions")


@dataclass
class Play:
    """One run of the graph for one sample: what it asked, and whether a reply had to be invented."""

    about: Rehearsal
    manner: Manner
    asked: dict[bytes, Asked] = field(default_factory=dict)
    turns: Turns = field(default_factory=Turns)
    invents: bool = False
    last: str = ""
    questions: int = 0

    def answer(self, judge: Judge, call: Call) -> list[Choice]:
        """In place of a judge."""
        address = address_of(judge, call)
        row = self.about.row(address)
        self._count(call)
        if address not in self.asked:
            self.asked[address] = self._told(judge, as_sent(judge, call), address, row is not None)
        if row is not None:
            return unpacked(row.body)
        self.invents = True
        last = self.turns.before(call) >= judge.endpoint.asks - 1
        return invented(self.manner, as_sent(judge, call), address, last)

    def doubted(self) -> Doubted:
        """What conditions find, where a reply was invented: of what they look at it says nothing."""
        return self.manner.doubts if self.invents else None

    def _count(self, call: Call) -> None:
        """Graphs of ours end; what one with code of the caller's own does is not known."""
        self.last = node_at_work()
        self.questions += not (call.repeat or complains(call))
        if self.about.own and self.questions > MOST:
            raise Endless

    def _told(self, judge: Judge, call: Call, address: bytes, kept: bool) -> Asked:
        about, node = self.about, self.last
        price = about.prices.price_of(judge)
        if price is None and not kept:
            about.unpriced.add(judge.name)
        each = about.completion.get(node)
        tokens = completion_tokens(call) / call.n if each is None else each
        prompt = 0 if kept else about.prompt(judge, call, address)
        again = self.manner.stubborn and complains(call)
        return Asked(node, kept, prompt, tokens, call.n, self._most(call), again, price)

    def _most(self, call: Call) -> int:
        """Of several choices each may need a call; where the first form is ignored, all of them once more."""
        if call.n == 1 or not self.manner.stubborn:
            return 1
        again = call.schema is not None and not complains(call)
        return call.n * (1 + again)


@contextmanager
def standing_in(play: Play, judges: dict[Any, Judge]) -> Generator[None]:
    purse = Purse(prices=play.about.prices)  # which an assistant's own budget is counted by
    here = CallContext(purse=purse, stand_in=play.answer, kept=play.about.row, doubted=play.doubted,
                       limits=play.about.limits)  # fmt: skip
    calls, tried = context.set(here), trying.set(judges)
    try:
        yield
    finally:
        trying.reset(tried)
        context.reset(calls)
