"""What a plan counts: calls that are certain, the ends of a range for the others, each address once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgegraph.runtime.amount import NOTHING, Amount, Asked

CERTAIN = 1 << 7  # in `Tally.seen`: asked whatever is replied
Run = Mapping[bytes, Asked]  # address -> call, of one sample with one manner of replies


@dataclass
class NodeCount:
    """Of one node.

    Attributes:
        exact: calls that are made whatever is replied, each once. kept: calls whose reply is in the ledger.
        certain: what those of `exact` cost that are not. lowest, highest: what the other calls cost; `readable` is
            the highest where every reply can be read, and holds all the choices that were asked for.
    """

    exact: int = 0
    kept: int = 0
    certain: Amount = NOTHING
    lowest: Amount = NOTHING
    readable: Amount = NOTHING
    highest: Amount = NOTHING


@dataclass
class Tally:
    """Counts of a dataset, sample by sample.

    Attributes:
        seen: address -> the manners it was asked with, as bits; 16 bytes of digest each.
    """

    nodes: dict[str, NodeCount] = field(default_factory=dict)
    seen: dict[bytes, int] = field(default_factory=dict)

    @property
    def exact(self) -> set[bytes]:
        """Addresses of the calls that are made whatever is replied."""
        return {address for address, bits in self.seen.items() if bits & CERTAIN}

    def add(self, runs: Mapping[int, Run]) -> None:
        """One sample, run with replies of several manners.

        What is asked in all of them, and was asked by no sample before, depends on no reply. Of the rest the ends are
        taken per sample and node, as replies to different samples may be of different manners.

        Args:
            runs: bit of a manner, or several where they cannot differ -> its calls.
        """
        first = next(iter(runs.values()))
        common = set(first).intersection(*runs.values())
        new = {address for address in common if address not in self.seen}
        for address in first:
            if address in new:
                self._certain(first[address])
                self.seen[address] = CERTAIN
        rests = [self._rest(bits, run, new) for bits, run in runs.items()]
        for node in dict.fromkeys(node for rest in rests for node in rest):
            each = [rest.get(node, _Rest()) for rest in rests]
            count = self._node(node)
            count.kept += min(rest.kept for rest in each)
            count.lowest = count.lowest.plus(Amount.least(rest.paid for rest in each))
            least = Amount.least(rest.paid for rest in each)  # above it where only unreadable replies are known
            count.readable = count.readable.plus(Amount.most((least, *(rest.readable for rest in each))))
            count.highest = count.highest.plus(Amount.most(rest.paid for rest in each))

    def _node(self, name: str) -> NodeCount:
        return self.nodes.setdefault(name, NodeCount())

    def _certain(self, asked: Asked) -> None:
        count = self._node(asked.node)
        count.exact += 1
        if asked.kept:
            count.kept += 1
        else:
            count.certain = count.certain.plus(asked.costs())

    def _rest(self, bits: int, run: Run, certain: set[bytes]) -> dict[str, _Rest]:
        """Node -> what it asks with replies of one manner, beside the certain calls."""
        rest: dict[str, _Rest] = {}
        for address, asked in run.items():
            known = self.seen.get(address, 0)
            if address not in certain and known & (bits | CERTAIN):
                continue
            own = rest.setdefault(asked.node, _Rest())
            if address not in certain:
                self.seen[address] = known | bits
                own.kept += asked.kept
                own.add(NOTHING if asked.kept else asked.costs(), asked.again)
            if not asked.kept:
                own.add(asked.may_add(), again=True)
        return rest


@dataclass
class _Rest:
    """Of one sample, node and manner: calls in the ledger, what the others cost, and without asking again."""

    kept: int = 0
    paid: Amount = NOTHING
    readable: Amount = NOTHING

    def add(self, amount: Amount, again: bool) -> None:
        self.paid = self.paid.plus(amount)
        self.readable = self.readable if again else self.readable.plus(amount)
