"""What a critic's calls cost, as a run's manifest has it, and what a point of agreement came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from judgegraph.calls.node_bill import NodeBill

POINT = 0.01  # of a coefficient


@dataclass(frozen=True)
class Cost:
    """The calls of one critic.

    Attributes:
        nodes: of the graph, that are the critic. calls: it asked for, found: those of them that cost nothing here, as a
            ledger had the reply or another sample was asking for the same; what the run itself had paid for before it
            was stopped counts once.
        prompt_tokens, completion_tokens, usd: of all calls: those of the paid ones, and as much again for each found
            one as a paid one took on average. None where none was paid for, or of usd no price is known.
        share: of the run's calls that were paid for, 0 to 1; None where none was.
    """

    nodes: tuple[str, ...]
    calls: int
    found: int
    prompt_tokens: float | None
    completion_tokens: float | None
    usd: float | None
    share: float | None

    def per(self, points: float) -> dict[str, float | None]:
        """What one of so many points came to."""
        amounts = {name: getattr(self, name) for name in ("calls", "prompt_tokens", "completion_tokens", "usd")}
        return {name: None if amount is None else amount / points for name, amount in amounts.items()}

    @property
    def spent(self) -> Cost:
        """What was paid here alone, without what the found calls would have cost."""
        part = 1 - self.found / self.calls if self.calls else 0.0
        prompt, completion, usd = (
            None if amount is None else amount * part
            for amount in (self.prompt_tokens, self.completion_tokens, self.usd)
        )
        return replace(
            self, calls=self.calls - self.found, found=0, prompt_tokens=prompt, completion_tokens=completion, usd=usd
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "nodes": list(self.nodes)}


def cost_of(manifest: Mapping[str, Any], critic: str) -> Cost | None:
    """Of the critic behind the finals of an agent; None where the manifest does not tell."""
    nodes = _told(manifest, "critics").get(critic)
    calls = manifest.get("calls")
    bills = _told(calls, "by_node") if isinstance(calls, Mapping) else {}
    if not isinstance(nodes, list) or not nodes or not bills:
        return None
    known = {node: _bill(bill) for node, bill in bills.items() if isinstance(bill, Mapping)}
    mine = [bill for node, bill in known.items() if any(node == n or node.startswith(f"{n}/") for n in nodes)]
    paid, found = sum(bill.calls for bill in mine), sum(bill.found for bill in mine)
    unpriced, every = sum(bill.unpriced for bill in mine), sum(bill.calls for bill in known.values())
    times = (paid + found) / paid if paid else 0.0
    amounts = {
        name: sum(getattr(bill, name) for bill in mine) * times if paid else None
        for name in ("prompt_tokens", "completion_tokens", "usd")
    }
    if unpriced:
        amounts["usd"] = None
    return Cost(tuple(map(str, nodes)), paid + found, found, share=paid / every if every else None, **amounts)


def _told(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    held = data.get(name)
    return held if isinstance(held, Mapping) else {}


def _bill(told: Mapping[str, Any]) -> NodeBill:
    """What a manifest says of a node; what is no number is 0."""
    names = [field.name for field in fields(NodeBill)]
    return NodeBill(
        **{n: told[n] for n in names if isinstance(told.get(n), int | float) and 0 <= told[n] < float("inf")}
    )
