"""What each node of a graph asked for and paid: so that what one agent costs can be told apart from the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class NodeBill:
    """The calls of one node.

    Attributes:
        calls: paid for. found: asked for and not paid for: the ledger had the reply, or another sample was asking.
        prompt_tokens, completion_tokens, usd: of the calls paid for. unpriced: of these, whose price is not known.
    """

    calls: int = 0
    found: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0

    def pay(self, prompt: int, completion: int, usd: float | None) -> None:
        """One more call was paid for."""
        self.calls += 1
        self.prompt_tokens += prompt
        self.completion_tokens += completion
        self.usd += usd or 0.0
        self.unpriced += usd is None


@dataclass
class NodeBills:
    """Node -> its bill, an inner node as "weigh/judge"; "" stands for what no node asked."""

    of: dict[str, NodeBill] = field(default_factory=dict)

    def here(self) -> NodeBill:
        """Of the node that is running."""
        return self.of.setdefault(node_at_work(), NodeBill())

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """As JSON values."""
        return {node: dict(vars(bill)) for node, bill in self.of.items()}


def node_at_work() -> str:
    """The node that is running, subgraphs before it: "weigh/judge"; "" outside of a graph."""
    from langchain_core.runnables.config import var_child_runnable_config

    config = var_child_runnable_config.get() or {}
    place = str((config.get("metadata") or {}).get("langgraph_checkpoint_ns") or "")
    return "/".join(step.partition(":")[0] for step in place.split("|"))
