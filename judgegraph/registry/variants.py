"""Rows of the papers by a name each: a method with settings of its own, which a setting given by hand overrides."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

COASCORE = "Gong & Mao 2023, arXiv:2312.10355"
FENNEC = "Liang et al. 2024, arXiv:2405.12163"
FUSION = "Shu et al. 2023, arXiv:2311.09204, tables 2 and 3"
SAGEVAL = "Ghosh et al. 2024, arXiv:2411.16077"


@dataclass(frozen=True)
class Variant:
    """A method under settings of its own: nothing else tells the two apart.

    Attributes:
        method: its name in METHODS. settings: as its builder takes them.
        about: one line that says what is different. source: paper, section, table or figure that names it.
    """

    method: str
    settings: Mapping[str, Any] = field(hash=False)
    about: str
    source: str


OF_SAGEVAL: dict[str, Variant] = {
    "sageval-sr": Variant(
        "sageval", {"critic": "self-reflection"}, "The evaluator reviews its own scores; no SAGE",
        f"{SAGEVAL}, section 6 names SR, and does not say how it was asked",
    ),
    "sageval-cot": Variant(
        "sageval", {"cot": True}, "Both agents think step by step before each reason",
        f"{SAGEVAL}, section 6 names CoT, and does not say how it was asked",
    ),
}  # fmt: skip

OF_COASCORE: dict[str, Variant] = {
    **{
        f"coascore-{m}": Variant(
            "coascore", {"aspects": m}, f"Chains of {m} aspects",
            f"{COASCORE}, section 4.6, figure 4; tables 2 to 4: m = {m}",
        )
        for m in (5, 10, 20)
    },
    "coascore-inter": Variant(
        "coascore", {"chain": "inter"}, "A target's aspects are the other criteria of its set",
        f"{COASCORE}, section 4.6, table 5: inter, aspects of the data set",
    ),
    "coascore-no-scores": Variant(
        "coascore", {"scores": "none"}, "The aspects' definitions alone in view, no scores",
        f"{COASCORE}, section 4.6, figure 2: w/o score",
    ),
    "coascore-random": Variant(
        "coascore", {"scores": "random"}, "Aspects' scores drawn at random, not asked for",
        f"{COASCORE}, section 4.6, figure 2: random",
    ),
    "coascore-average": Variant(
        "coascore", {"fuse": "average"}, "The mean of the aspects' scores is the target's",
        f"{COASCORE}, section 4.6, table 6: average",
    ),
}  # fmt: skip

OF_LLM_SCORE: dict[str, Variant] = {
    "llm-score-cot": Variant(
        "llm-score", {"cot": True}, "Think step by step, then the score", f"{COASCORE}, section 4.2: LLMScore-CoT"
    ),
}

OF_G_EVAL: dict[str, Variant] = {
    "g-eval-20": Variant(
        "g-eval", {"logprobs": False, "samples": 20, "temperature": 1.0, "top_p": 1.0},
        "The mean of 20 samples, never log-probabilities",
        "Liu et al. 2023, arXiv:2303.16634, section 3: 20 samples stand for the probabilities",
    ),
}  # fmt: skip

OF_FENNEC: dict[str, Variant] = {
    **{
        f"fennec-{n}": Variant("fennec", {"branches": n}, f"{n} criteria for a query" if n > 1 else "One criterion",
                               f"{FENNEC}, section 6.1, figure 3, figures 5 and 6: {n} of 1 to 5 branches")
        for n in (1, 2, 3, 4, 5)
    },
    "fennec-10": Variant(
        "fennec", {"branches": 10}, "10 criteria for a query", f"{FENNEC}: the code's most branches of a pair"
    ),
    "fennec-single": Variant(
        "fennec", {"mode": "single"}, "The output is scored alone, also where it has a rival",
        f"{FENNEC}, section 3.1: single-eval; section 6.3, figure 4: systems ranked by it",
    ),
    "fennec-pair": Variant(
        "fennec", {"mode": "pair"}, "Output and rival side by side, or nothing",
        f"{FENNEC}, section 3.1: pairwise-eval; table 3",
    ),
    "fennec-both": Variant(
        "fennec", {"mode": "pair", "orders": "both"}, "A pair in both orders, for agreement and consistency",
        f"{FENNEC}, section 5.1, table 2: agreement and consistency",
    ),
    "fennec-apart": Variant(
        "fennec", {"mode": "apart"}, "Output and rival each scored alone; the sums decide",
        f"{FENNEC}, section 5.2, table 3: pairs by single-eval",
    ),
    "fennec-votes": Variant(
        "fennec", {"mode": "pair", "merge": "votes"}, "A vote per criterion decides a pair, not the sums",
        "ours, for judges that give verdicts without scores",
    ),
}  # fmt: skip

_BASELINES: dict[str, tuple[str, str, str, str]] = {  # name -> fuse, what it is, its name and more in the paper
    "avg": ("average", "No judge: the mean of the assistants", "AVG", ""),
    "llmsel": ("selected", "No judge: the mean of the plan's assistants", "LLMSel", ", table 4"),
    "corrw": ("weighted", "No judge: assistants weighted by agreement with people", "CorrW", ""),
}

OF_FUSION_EVAL: dict[str, Variant] = {
    "fusion-eval-no-plan": Variant(
        "fusion-eval", {"plan": False}, "No plan: the judge sees what all assistants said", f"{FUSION}: FE-NoPlan"
    ),
    **{
        f"fusion-{name}{side}": Variant(
            "fusion-eval", {"fuse": fuse, **direct}, f"{called} with a direct score as one more" if direct else about,
            f"{FUSION}: {called}(AE, DE)" if direct else f"{FUSION}: {called}(AE){more}",
        )
        for name, (fuse, about, called, more) in _BASELINES.items()
        for side, direct in (("", {}), ("-direct", {"direct": "llm-score"}))
    },
}  # fmt: skip

VARIANTS: dict[str, Variant] = {
    **OF_SAGEVAL, **OF_COASCORE, **OF_FENNEC, **OF_FUSION_EVAL, **OF_G_EVAL, **OF_LLM_SCORE,
}  # fmt: skip


@functools.cache
def preset(name: str, build: Callable[..., Any]) -> Callable[..., Any]:
    """The method's factory with a variant's settings in it, `.preset`; what it is called with comes before them."""
    settings = dict(VARIANTS[name].settings)

    @functools.wraps(build)
    def variant(*args: Any, **given: Any) -> Any:
        return build(*args, **{**settings, **given})

    variant.preset = settings  # type: ignore[attr-defined]
    return variant
