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
    "sageval": "An evaluator scores, a critic rectifies (Ghosh et al. 2024)",
    "coascore": "Score relevant aspects first, then the target (Gong & Mao 2023)",
    "fennec": "Branch into criteria, judge by guideline, merge, correct; pairs too",
    "fusion-eval": "Plan, consult assistant evaluators, fuse (Shu et al. 2023)",
    "g-eval": "One probability-weighted score per criterion; a baseline",
    "llm-score": "One stated score per criterion, chain of thought or not; a baseline",
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
    "critique": "judgegraph.compose.critique:critique",
    "escalate": "judgegraph.compose.escalate:escalate",
    "gate": "judgegraph.compose.gate:gate",
    "refine": "judgegraph.compose.refine:refine",
    "consensus": "judgegraph.agents.consensus:Consensus",
    "panel": "judgegraph.compose.panel:panel_of",
}

CRITICS: dict[str, str] = {
    "sage": "judgegraph.agents.sage:Sage",
    "self-reflection": "judgegraph.agents.self_reflection:SelfReflection",
    "devils-advocate": "judgegraph.agents.devils_advocate:DevilsAdvocate",
    "critic-panel": "judgegraph.agents.critic_panel:CriticPanel",
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
