"""Two responses that were scored apart, each without the other in view: what their scores say of the pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from judgegraph.agents.pairwise_form import greater
from judgegraph.types import Comparison, Score, Side, Status

NAMES: dict[Side, str] = {"output": "A", "rival": "B"}


def compared(scores: Iterable[Score]) -> list[Comparison]:
    """A comparison per criterion, in the order of judging: the greater of two single scores is the verdict.

    Source: Fennec, section 5.2 (table 3): pairs decided by single evaluation. A side without a number gives no
    verdict, but a status and the reason; the other side keeps its score.

    Args:
        scores: final scores of one agent, of `output` and of `rival`.
    """
    found: dict[str, dict[Side, Score]] = {}
    for score in scores:
        found.setdefault(score.criterion, {})[score.of] = score
    return [_compared(sides) for sides in found.values()]


def _compared(sides: Mapping[Side, Score]) -> Comparison:
    one = next(iter(sides.values()))
    values = {side: sides[side].value if side in sides else None for side in NAMES}
    lacking: list[tuple[Side, Score | None]] = [(side, sides.get(side)) for side in NAMES if values[side] is None]
    a, b = values["output"], values["rival"]
    status: Status = "ok"
    if lacking:
        status = next((s.status for _, s in lacking if s is not None and s.status != "ok"), "skipped")
    return Comparison(
        criterion=one.criterion, agent=one.agent, score_a=a, score_b=b, status=status,
        verdict=greater(a, b) if a is not None and b is not None else None,
        reason="each scored alone" if not lacking else "; ".join(_why(side, score) for side, score in lacking),
    )  # fmt: skip


def _why(side: Side, score: Score | None) -> str:
    if score is None or score.label is not None:
        return f"{NAMES[side]} has no score" if score is None else "a scale of labels has no scores to compare"
    return f"{NAMES[side]}: {score.status}" + (f" ({score.reason})" if score.reason else "")
