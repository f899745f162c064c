"""What this package brings along, by kind and name; nothing is imported before it is wanted."""

from __future__ import annotations

METHODS: dict[str, str] = {  # name -> "module:factory"
    "sageval": "judgegraph.graphs.sageval:sageval",
    "coascore": "judgegraph.graphs.coascore:coascore",
    "fennec": "judgegraph.graphs.fennec:fennec",
    "fusion-eval": "judgegraph.graphs.fusion_eval:fusion_eval",
    "g-eval": "judgegraph.graphs.g_eval:g_eval",
    "llm-score": "judgegraph.graphs.llm_score:llm_score",
}

ABOUT: dict[str, str] = {  # one line each, so that a list of methods imports none of them
    "sageval": "Evaluator scores every criterion, a critic rectifies (Ghosh et al. 2024)",
    "coascore": "Score a chain of relevant aspects first, then the target (Gong & Mao 2023)",
    "fennec": "Branch into criteria, judge by guidelines, merge, correct (single or pairwise)",
    "fusion-eval": "Plan the use of assistant evaluators, consult them, fuse (Shu et al. 2023)",
    "g-eval": "One probability-weighted score per criterion (Liu et al. 2023); a baseline",
    "llm-score": "One stated score per criterion, with or without chain of thought; a baseline",
}

AGENTS: dict[str, str] = {  # name -> "module:class"; what makes a node of settings
    "evaluator": "judgegraph.agents.evaluator:Evaluator",
    "scorer": "judgegraph.agents.scorer:Scorer",
    "rectify": "judgegraph.agents.rectify:Rectify",
    "proposer": "judgegraph.agents.proposer:Proposer",
    "rater": "judgegraph.agents.rater:Rater",
    "fuser": "judgegraph.agents.fuser:Fuser",
    "criteria-writer": "judgegraph.agents.criteria_writer:CriteriaWriter",
    "merge": "judgegraph.agents.merge:Merge",
    "corrector": "judgegraph.agents.corrector:Corrector",
}

CRITICS: dict[str, str] = {
    "sage": "judgegraph.agents.sage:Sage",
}

ASSISTANTS: dict[str, str] = {  # name -> "module:factory"
    "rouge-1": "judgegraph.tools.rouge:rouge_1",
    "rouge-2": "judgegraph.tools.rouge:rouge_2",
    "rouge-l": "judgegraph.tools.rouge:rouge_l",
    "chrf": "judgegraph.tools.chrf:chrf",
    "coverage": "judgegraph.tools.fragments:coverage",
    "density": "judgegraph.tools.fragments:density",
    "novelty": "judgegraph.tools.novelty:novelty",
    "length-ratio": "judgegraph.tools.length_ratio:length_ratio",
}

SHIPPED: dict[str, dict[str, str]] = {
    "method": METHODS, "agent": AGENTS, "critic": CRITICS, "assistant": ASSISTANTS,
}  # fmt: skip
