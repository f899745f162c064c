"""How far a run is, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """A moment of a run.

    Attributes:
        done: samples that need nothing more; resumed: those among them that an earlier process finished.
        in_flight: samples that are being judged. again: failed samples of earlier processes that a retry takes up, as
            far as they are among its samples; None where it is none.
        left: samples that were in flight when a stop's grace was over; they are judged by the next run.
        held_back: seconds for which a server wants to be left alone, 0 where none does.
        waiting: calls that another process, which shares the ledger, is paying for just now.
        outages: a judge with its address -> (what is missing, such as "no connection", and for how many seconds), while
            a server is out and its return waited for.
        total: samples of the dataset, None where that is not known.
        by_status: an item's status -> how many of `done` have it.
        requests: sent by this process, retries included.
        calls: those that the run paid for and got a reply of use to. unanswered: requests beside these, that brought
            none. prompt_tokens, completion_tokens: of both. usd: what both cost, None where no price is known. saved:
            replies found in the ledger, or that another call was waiting for already. All these include the run's
            earlier processes, as the manifest's `spent` does.
        seconds: since this process began.
    """

    done: int
    resumed: int
    total: int | None = None
    by_status: Mapping[str, int] = field(default_factory=dict)
    requests: int = 0
    calls: int = 0
    saved: int = 0
    unanswered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0
    in_flight: int = 0
    again: int | None = None
    held_back: float = 0.0
    waiting: int = 0
    outages: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    left: int = 0
