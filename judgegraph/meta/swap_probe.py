"""Does a pairwise verdict depend on what stands first? Each pair judged as it is, and with its two sides exchanged."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from judgegraph.agents.pairwise_form import SWAPPED as BACK
from judgegraph.meta.copies import SWAPPED, Seen
from judgegraph.meta.measured import Drawing, Measured
from judgegraph.stats.arrays import Codes


@dataclass(frozen=True)
class Swapped:
    """What exchanging output and rival did.

    Attributes:
        flips: share of pairs whose verdict, mapped back, is another one; a tie beside a winner counts.
        reversed: share of pairs whose winner becomes the loser.
        first: of a pair's verdicts for one side, in both runs, the share for what stands as `output`; the mean
            over pairs, 0.5 for a judge that does not care. A method that prints the rival first: what it prints last.
        n: pairs with both verdicts. unread: pairs without one of them: it could not be read, or the pair or its copy
            was not judged. note: why there is nothing.
    """

    flips: Measured
    reversed: Measured
    first: Measured
    n: int
    unread: int
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        numbers = {name: getattr(self, name).to_dict() for name in ("flips", "reversed", "first")}
        return {**numbers, "n": self.n, "unread": self.unread, "note": self.note}


def swapped(
    seen: Sequence[dict[str, Seen]], made: Sequence[Collection[str]], units: Codes | None, drawing: Drawing,
    original: str,
) -> Swapped:  # fmt: skip
    """Of the samples with an exchanged copy; `made`: words of each sample's copies, judged or not."""
    pairs = sum(SWAPPED in words for words in made)
    known = [(i, one[original], one[SWAPPED]) for i, one in enumerate(seen) if original in one and SWAPPED in one]
    read = [(i, a.verdict, b.verdict) for i, a, b in known if a.verdict is not None and b.verdict is not None]
    mine = _units(units, [i for i, *_ in read])
    flips = drawing.share([BACK[b] != a for _, a, b in read], mine)
    turned = drawing.share([a == b != "tie" for _, a, b in read], mine)
    sides = [(i, [verdict == "A" for verdict in (a, b) if verdict != "tie"]) for i, a, b in read]
    decided = [(i, sum(wins) / len(wins)) for i, wins in sides if wins]
    first = drawing.share([part for _, part in decided], _units(units, [i for i, _ in decided]))
    return Swapped(flips, turned, first, len(read), pairs - len(read), "" if read else _why(seen, pairs))


def _why(seen: Sequence[dict[str, Seen]], pairs: int) -> str:
    """Why no pair has both verdicts."""
    if not any(seen):
        return "nothing to say: no sample was judged"
    if pairs:
        return "nothing to say: no pair has a verdict in both orders"
    return "not applicable: the method gives no verdict on pairs, or there are no pairs"


def _units(units: Codes | None, places: Sequence[int]) -> Codes | None:
    return units[list(places)] if units is not None and places else None
