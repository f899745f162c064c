"""Every choice that moves a number of agreement, and the papers' choices by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judgegraph.stats.arrays import COEFFICIENTS, Coefficient, Constant, Level, Unit

Unreadable = Literal["drop", "zero", "tie"]
Duplicates = Literal["refuse", "last", "first", "mean"]
Correction = Literal["holm", "bh", "none"]


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How agreement is counted.

    Attributes:
        level: "dataset": one coefficient over all items; "group": one per document, then the mean; "system": over
            the systems' means.
        coefficients: which are printed.
        unreadable: an answer that could not be read is left out, counts as 0, or as a tie.
        constant: a group in which either side is constant is left out, or counts as 0.
        duplicates: of records with one id (and system): refuse the table, take the last or the first, or the mean.
        annotators: several of them count by their "mean", "median" or "majority" (without one: a tie), or only the
            n-th does (1, 2, ...).
        unit: what the bootstrap draws; None: groups where there are some, else items; at system level both.
        resamples, permutations: how many. confidence: of intervals, 0 to 1. seed: of both.
        correction: of p values for many comparisons.
    """

    level: Level = "dataset"
    coefficients: tuple[Coefficient, ...] = COEFFICIENTS[:3]
    unreadable: Unreadable = "drop"
    constant: Constant = "skip"
    duplicates: Duplicates = "refuse"
    annotators: Literal["mean", "median", "majority"] | int = "mean"
    unit: Unit | None = None
    resamples: int = 1000
    permutations: int = 2000
    confidence: float = 0.95
    correction: Correction = "holm"
    seed: int = 0


PRESETS: dict[str, tuple[Conventions, str]] = {}  # name -> the choices, and one line with their source
