"""What each node of a graph asked for and paid: so that what one agent costs can be told apart from the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass
class NodeBill:
    """The calls of one node.

    Attributes:
        calls: paid for. found: asked for and not paid for: the ledger had the reply, or another sample was asking. Of
            samples that came to their end: who is judged again finds what it paid for before, and asked for it once.
        open: paid for by samples that have not come to their end; when they are judged again they find it.
        prompt_tokens, completion_tokens, usd: of the calls paid for. unpriced: of these, whose price is not known.
    """

    calls: int = 0
    found: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    open: int = 0

    def pay(self, prompt: int, completion: int, usd: float | None) -> None:
        """One more call was paid for."""
        self.calls += 1
        self.prompt_tokens += prompt
        self.completion_tokens += completion
        self.usd += usd or 0.0
        self.unpriced += usd is None


Asked: TypeAlias = dict[str, list[int]]  # node -> calls that a sample paid for, and that it found


@dataclass
class NodeBills:
    """Node -> its bill, an inner node as "weigh/judge"; "" stands for what no node asked.

    Attributes:
        carried: node -> calls that samples paid for in earlier processes of the run, which did not end there.
    """

    of: dict[str, NodeBill] = field(default_factory=dict)
    carried: dict[str, int] = field(default_factory=dict)

    def carry(self, earlier: Any) -> None:
        """What earlier processes left open, by a manifest's `by_node`."""
        for node, bill in earlier.items() if isinstance(earlier, Mapping) else ():
            left = bill.get("open") if isinstance(bill, Mapping) else None
            if isinstance(left, int) and left > 0:
                self.carried[str(node)] = left

    def paid(self, asked: Asked | None, prompt: int, completion: int, usd: float | None) -> None:
        """The node at work paid for a call, for a sample that `asked`, None where none waits for its end."""
        node = node_at_work()
        bill = self.of.setdefault(node, NodeBill())
        bill.pay(prompt, completion, usd)
        if asked is not None:
            bill.open += 1
            asked.setdefault(node, [0, 0])[0] += 1

    def found(self, asked: Asked | None) -> None:
        """The node at work had a reply that it did not pay for."""
        node = node_at_work()
        if asked is None:
            self._find(node, 1)
        else:
            asked.setdefault(node, [0, 0])[1] += 1

    def ended(self, asked: Asked, *, again: bool = False) -> None:
        """A sample came to its end. again: it had come to one before, and what it finds now was counted then."""
        for node, (paid, found) in asked.items():
            self.of.setdefault(node, NodeBill()).open -= paid
            if not again:
                self._find(node, found)

    def _find(self, node: str, count: int) -> None:
        """What is open from before is found by those who paid for it, when they are judged again."""
        bill, known = self.of.setdefault(node, NodeBill()), min(count, self.carried.get(node, 0))
        if known:
            self.carried[node] -= known
            bill.open -= known
        bill.found += count - known

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """As JSON values."""
        return {node: dict(vars(bill)) for node, bill in self.of.items()}


def node_at_work() -> str:
    """The node that is running, subgraphs before it: "weigh/judge"; "" outside of a graph."""
    from langchain_core.runnables.config import var_child_runnable_config

    config = var_child_runnable_config.get() or {}
    place = str((config.get("metadata") or {}).get("langgraph_checkpoint_ns") or "")
    return "/".join(step.partition(":")[0] for step in place.split("|"))
