"""Does a judge pay for length? Outputs against padded copies of themselves, scored alone or side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from judgegraph.meta.copies import Line, Seen, pads
from judgegraph.meta.measured import Drawing, Measured
from judgegraph.stats.arrays import Codes
from judgegraph.types import Scale

EVEN = 1e-9  # a score that moves by less does not move


@dataclass(frozen=True)
class Change:
    """What one kind of padding did to one criterion's scores.

    Attributes:
        agent: who scored; "" for the answer over all criteria. scale: of the scores, None where it is not said.
        n: samples scored with and without the padding. unread: samples that lack one of the two scores.
        mean: change of the score, in the units of the scale; None of labels.
        raised, lowered: shares of samples; None of labels. relabelled: share with another label; None of numbers.
    """

    kind: str
    criterion: str
    agent: str
    n: int
    scale: Scale | None = None
    mean: Measured | None = None
    raised: Measured | None = None
    lowered: Measured | None = None
    relabelled: Measured | None = None
    unread: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        numbers = {name: getattr(self, name) for name in ("mean", "raised", "lowered", "relabelled")}
        about = {"kind": self.kind, "criterion": self.criterion, "agent": self.agent, "n": self.n}
        more = {"unread": self.unread, "scale": str(self.scale) if self.scale else None}
        return {**about, **more, **{name: m.to_dict() for name, m in numbers.items() if m is not None}}


@dataclass(frozen=True)
class Padded:
    """What padding did.

    Attributes:
        changes: of scores, per kind and criterion.
        wins: kind -> share of comparisons that the padded copy wins against its own original, each pair asked for in
            both orders, a tie counts half: 0.5 for a judge that does not care.
        unread: kind -> pairs without a verdict in one of the orders, judged or not. note: why there is nothing.
    """

    changes: tuple[Change, ...]
    wins: dict[str, Measured]
    unread: dict[str, int]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        wins = {kind: won.to_dict() for kind, won in self.wins.items()}
        return {"changes": [c.to_dict() for c in self.changes], "wins": wins, "unread": self.unread, "note": self.note}


def padding(
    seen: Sequence[dict[str, Seen]], made: Sequence[Collection[str]], kinds: Sequence[str], units: Codes | None,
    drawing: Drawing, original: str,
) -> Padded:  # fmt: skip
    """Of the samples with padded copies; `made`: words of each sample's copies, judged or not."""
    changes = [change for kind in kinds for change in _changes(seen, made, kind, units, drawing, original)]
    wins: dict[str, Measured] = {}
    unread: dict[str, int] = {}
    for kind in kinds:
        first, second = pads(kind)
        pairs = sum(first in words for words in made)
        both = [(i, one[first].verdict, one[second].verdict) for i, one in enumerate(seen) if {first, second} <= {*one}]
        read = [(i, (_share(a, "A") + _share(b, "B")) / 2) for i, a, b in both if a is not None and b is not None]
        if pairs:
            unread[kind] = pairs - len(read)
            wins[kind] = drawing.share([won for _, won in read], _units(units, [i for i, _ in read]))
    note = "" if changes or any(won.n for won in wins.values()) else _why(seen, any(made))
    return Padded(tuple(changes), wins, unread, note)


def _why(seen: Sequence[dict[str, Seen]], made: bool) -> str:
    """Why there is no change and no comparison."""
    if not any(seen):
        return "nothing to say: no sample was judged"
    if made and not any(len(one) > 1 for one in seen):
        return "nothing to say: no padded copy was judged"
    if made and any(one.verdict is not None or one.answers for words in seen for one in words.values()):
        return "nothing to say: no padded copy has an answer beside its original's"
    return "not applicable: the method scores nothing that a padded copy could be scored by"


def _share(verdict: str, padded: str) -> float:
    """What the padded side has of a comparison."""
    return 0.5 if verdict == "tie" else float(verdict == padded)


def _changes(
    seen: Sequence[dict[str, Seen]], made: Sequence[Collection[str]], kind: str, units: Codes | None,
    drawing: Drawing, original: str,
) -> list[Change]:  # fmt: skip
    due = [i for i, words in enumerate(made) if kind in words]
    pairs = [(i, seen[i][original], seen[i][kind]) for i in due if {original, kind} <= {*seen[i]}]
    lines = dict.fromkeys(line for _, before, _ in pairs for line in before.answers)
    lost = len(due) - len(pairs)
    return [found for line in lines if (found := _change(pairs, lost, kind, line, units, drawing)) is not None]


def _change(
    pairs: Sequence[tuple[int, Seen, Seen]], lost: int, kind: str, line: Line, units: Codes | None, drawing: Drawing
) -> Change | None:
    both = [(i, a.answers[line], b.answers[line]) for i, a, b in pairs if line in a.answers and line in b.answers]
    if not both:
        return None
    mine = _units(units, [i for i, *_ in both])
    unread = lost + sum(line in a.answers or line in b.answers for _, a, b in pairs) - len(both)
    scale = next((a.scales[line] for _, a, _ in pairs if line in a.scales), None)
    if any(isinstance(answer, str) for _, *sides in both for answer in sides):
        relabelled = drawing.share([a != b for _, a, b in both], mine)
        return Change(kind, *line, len(both), scale, relabelled=relabelled, unread=unread)
    moves = [float(b) - float(a) for _, a, b in both]
    return Change(
        kind, *line, len(both), scale, mean=drawing.mean(moves, mine),
        raised=drawing.share([move > EVEN for move in moves], mine),
        lowered=drawing.share([move < -EVEN for move in moves], mine), unread=unread,
    )  # fmt: skip


def _units(units: Codes | None, places: Sequence[int]) -> Codes | None:
    return units[list(places)] if units is not None and places else None
