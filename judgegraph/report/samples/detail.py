"""How much is told of a sample: each step down says less of all its texts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Detail:
    """Attributes: text: characters of a judged text, a message or a reply. reason: of a reason. rows, steps: how many.

    traced, charts: whether its steps, and its distributions, are shown at all.
    """

    text: int
    reason: int
    rows: int
    steps: int
    traced: bool = True
    charts: bool = True


WHOLE = (  # of the samples of the lists, whole trace behind a click
    Detail(12_000, 2_000, 200, 400),
    Detail(4_000, 1_000, 100, 200),
    Detail(2_000, 600, 60, 100),
    Detail(1_000, 400, 40, 80),
    Detail(500, 300, 30, 60),
    Detail(300, 200, 24, 40, charts=False),
    Detail(200, 160, 20, 30, charts=False),
    Detail(120, 100, 8, 0, False, False),
)
SHORT = tuple(  # of all samples: no texts, no steps
    Detail(0, reason, rows, 0, traced=False, charts=False)
    for reason, rows in ((240, 24), (160, 16), (110, 12), (75, 10), (45, 8))
)
