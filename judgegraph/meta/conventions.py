"""Every choice that moves a number of agreement, and the papers' choices by name."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from judgegraph.errors import ConfigError, one_line
from judgegraph.stats.correlation import COEFFICIENTS, Coefficient, Constant, Level, Unit

Unreadable = Literal["drop", "zero", "tie"]
Orders = Literal["apart", "agree"]
Duplicates = Literal["refuse", "last", "first", "mean"]
Correction = Literal["holm", "bh", "none"]


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """How agreement is counted.

    Attributes:
        level: "dataset": one coefficient over all items; "group": one per document, then the mean; "system": over
            the systems' means.
        levels: coefficients that have another level than `level`, with theirs.
        coefficients: which are printed.
        unreadable: an answer that could not be read is left out, counts as 0 (a label or verdict: as wrong), or, of
            verdicts, as a tie; numbers and labels have no tie and are left out then.
        constant: a group in which either side is constant is left out, or counts as 0.
        duplicates: of records with one id (and system): refuse the table, take the last or the first, or the mean.
        annotators: several of them count by their "mean", "median" or "majority" (without one: a tie), or only the
            n-th does (1, 2, ...). Labels have no mean and no median: they go by the majority then.
        unit: what the bootstrap draws; None: groups where there are some, else items; at system level both.
        resamples, permutations: how many. confidence: of intervals, 0 to 1. seed: of both.
        correction: of p values for many comparisons.
        orders: of a pair that was asked for in both orders the verdict of the first, with that of the exchanged one
            beside it ("apart"); or one verdict ("agree"): what both say, a tie where they differ, none where one of
            them could not be read (MT-Bench, arXiv:2306.05685, section 3.4).
        unread_equal: a pair that could be read in neither order counts as judged alike in both.
    """

    level: Level = "dataset"
    levels: tuple[tuple[Coefficient, Level], ...] = ()
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
    unread_equal: bool = False
    orders: Orders = "apart"

    def __post_init__(self) -> None:
        for name, words in _WORDS.items():
            _known(name, getattr(self, name), words)
        for coefficient in self.coefficients:
            _known("coefficients", coefficient, COEFFICIENTS)
        if not self.coefficients:
            raise ConfigError("coefficients: expected at least one")
        for coefficient, level in self.levels:
            _known("levels", coefficient, COEFFICIENTS)
            _known("levels", level, get_args(Level))
        if self.unit is not None:
            _known("unit", self.unit, get_args(Unit))
        if isinstance(self.annotators, bool) or (isinstance(self.annotators, int) and self.annotators < 1):
            raise ConfigError(f"annotators: expected mean, median, majority, or 1, 2, ...; got {self.annotators}")
        if not isinstance(self.annotators, int):
            _known("annotators", self.annotators, ("mean", "median", "majority"))
        _whole("resamples", self.resamples, 0, MOST_DRAWS)
        _whole("permutations", self.permutations, 1, MOST_DRAWS)
        _whole("seed", self.seed, 0, 2**63 - 1)
        if not 0 < self.confidence < 1 or not math.isfinite(self.confidence):
            raise ConfigError(f"confidence: expected more than 0 and less than 1, got {self.confidence}")

    def level_of(self, coefficient: Coefficient) -> Level:
        """The level at which a coefficient is taken."""
        return dict(self.levels).get(coefficient, self.level)

    def replaced(self, **choices: Any) -> Conventions:
        """With other choices; a level that is chosen anew holds for all coefficients, unless `levels` is chosen too.

        Raises:
            ConfigError: no such choice, or a value that it does not take.
        """
        known = [field.name for field in fields(self)]
        for name in choices:
            _known("a choice", name, tuple(known))
        if "level" in choices:
            choices = {"levels": (), **choices}
        if isinstance(coefficients := choices.get("coefficients"), list):
            choices["coefficients"] = tuple(coefficients)
        if isinstance(levels := choices.get("levels"), dict):
            choices["levels"] = tuple(levels.items())
        return replace(self, **choices)


MOST_DRAWS = 1_000_000
_WORDS = {
    "level": get_args(Level), "unreadable": get_args(Unreadable), "constant": get_args(Constant),
    "duplicates": get_args(Duplicates), "correction": get_args(Correction), "orders": get_args(Orders),
}  # fmt: skip


def _known(name: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        near = difflib.get_close_matches(str(value), words, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise ConfigError(f"{name}: expected {', '.join(words)}; got '{one_line(value, 60)}'{hint}")


def _whole(name: str, value: object, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ConfigError(f"{name}: expected a whole number from {least:,} to {most:,}, got {one_line(value, 60)}")


def chosen(preset: str | None = None, **choices: Any) -> Conventions:
    """The choices of a preset, or the defaults, with these ones instead.

    Raises:
        ConfigError: no such preset, no such choice, or a value that it does not take.
    """
    if preset is None:
        return Conventions().replaced(**choices)
    if preset not in PRESETS:
        near = difflib.get_close_matches(preset, PRESETS, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise ConfigError(f"no preset '{one_line(preset, 60)}'{hint}; known: {', '.join(PRESETS)}")
    return PRESETS[preset][0].replaced(**choices)


# Name -> the choices, and where they are from. A preset says what a paper does; the rest are the defaults above.
PRESETS: dict[str, tuple[Conventions, str]] = {
    "g-eval": (
        Conventions(level="group", unreadable="zero"),
        "G-Eval (arXiv:2303.16634) and its code: a coefficient per document, constant documents skipped, then the "
        "mean; a reply without a number counts as 0",
    ),
    "sageval": (
        Conventions(coefficients=("spearman", "kendall-b"), level="dataset"),
        "SAGEval (arXiv:2411.16077), table 2: Spearman and Kendall; the paper names no level, ours is over all items",
    ),
    "unieval": (
        Conventions(level="dataset"),
        "UniEval (arXiv:2210.07197) and its code, dialogue and data-to-text: Pearson, Spearman and Kendall over all "
        "items",
    ),
    "coascore": (
        Conventions(level="dataset"),
        "CoAScore (arXiv:2312.10355) and its code: Pearson, Spearman and Kendall over all outputs",
    ),
    "fusion-eval-summeval": (
        Conventions(level="system", coefficients=("kendall-b",)),
        "Fusion-Eval (arXiv:2311.09204), SummEval: Kendall over the systems' means",
    ),
    "fusion-eval-topicalchat": (
        Conventions(level="dataset", coefficients=("spearman",)),
        "Fusion-Eval (arXiv:2311.09204), TopicalChat: Spearman over all turns",
    ),
    "closer-look": (
        Conventions(
            level="dataset", levels=(("kendall-b", "group"),), coefficients=("pearson", "kendall-b")
        ),
        "Chiang & Lee 2023 (arXiv:2310.05657) and its results: Pearson over all items, Kendall per dialogue or "
        "document, then the mean; unparsed samples left out",
    ),
    "summeval-llm": (
        Conventions(level="dataset", duplicates="last"),
        "Shen et al. 2023 (arXiv:2305.13091) and its results: over all items; of doubled records the last counts",
    ),
    "auto-j": (
        Conventions(unreadable="zero"),
        "Auto-J (arXiv:2310.05470) and its code: agreement is right in both orders, consistency the same verdict in "
        "both; what cannot be read is wrong",
    ),
    "fennec": (
        Conventions(unreadable="zero", annotators=1),
        "Fennec (arXiv:2405.12163) and its code: agreement and consistency over both orders; of PandaLM's annotators "
        "the first",
    ),
    "pandalm": (
        Conventions(unreadable="tie", annotators="majority"),
        "PandaLM (arXiv:2306.05087) and its data: against the majority of three, macro averages over three classes; "
        "'garbage' counts as a tie",
    ),
    "mateval": (
        Conventions(coefficients=("spearman", "kendall-b"), unreadable="zero"),
        "MATEval (arXiv:2403.19305), README: Spearman and Kendall over all stories; a question without its score "
        "line counts as no points off, which gives the figures of three kinds of error of five",
    ),
    "prometheus": (
        Conventions(),
        "Prometheus (arXiv:2310.08491): Pearson, Spearman and Kendall over all items, with GPT-4's mean score",
    ),
    "whoandwhen": (
        Conventions(unreadable="zero"),
        "Who&When (arXiv:2505.00212): the share of logs whose agent, and whose step, is named; what cannot be read is "
        "wrong",
    ),
    "llmbar": (
        Conventions(unreadable="zero", unread_equal=True),
        "LLMBar (arXiv:2310.07641) and its statistics: accuracy is the mean of both orders, consistency the same "
        "verdict in both, two unread ones among them; what cannot be read is wrong",
    ),
}  # fmt: skip
