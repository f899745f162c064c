"""One role per file: each agent is a frozen dataclass that is a node."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgegraph.agents.aspects import Average, Proposer
    from judgegraph.agents.corrector import Corrector
    from judgegraph.agents.criteria import CriteriaWriter, GuidelineWriter
    from judgegraph.agents.critics import DevilsAdvocate, SelfReflection
    from judgegraph.agents.evaluator import Evaluator
    from judgegraph.agents.fusion import Fuser, FusionJudge
    from judgegraph.agents.judge import Judge, Rater
    from judgegraph.agents.juror import Hearer, Juror
    from judgegraph.agents.merge import Merge
    from judgegraph.agents.pairwise import Comparer
    from judgegraph.agents.panel import Consensus, CriticPanel
    from judgegraph.agents.planner import Consultant, Planner
    from judgegraph.agents.sage import PARTS, Rectify, Sage, critique_form
    from judgegraph.agents.scorer import Scorer
    from judgegraph.agents.steps import StepsWriter
    from judgegraph.agents.under_review import Critique, Reviewed, UnderReview

_HOMES = {
    "Average": "judgegraph.agents.aspects",
    "Proposer": "judgegraph.agents.aspects",
    "Corrector": "judgegraph.agents.corrector",
    "CriteriaWriter": "judgegraph.agents.criteria",
    "GuidelineWriter": "judgegraph.agents.criteria",
    "DevilsAdvocate": "judgegraph.agents.critics",
    "SelfReflection": "judgegraph.agents.critics",
    "Evaluator": "judgegraph.agents.evaluator",
    "Fuser": "judgegraph.agents.fusion",
    "FusionJudge": "judgegraph.agents.fusion",
    "Judge": "judgegraph.agents.judge",
    "Rater": "judgegraph.agents.judge",
    "Hearer": "judgegraph.agents.juror",
    "Juror": "judgegraph.agents.juror",
    "Merge": "judgegraph.agents.merge",
    "Comparer": "judgegraph.agents.pairwise",
    "Consensus": "judgegraph.agents.panel",
    "CriticPanel": "judgegraph.agents.panel",
    "Consultant": "judgegraph.agents.planner",
    "Planner": "judgegraph.agents.planner",
    "Rectify": "judgegraph.agents.sage",
    "PARTS": "judgegraph.agents.sage",
    "Sage": "judgegraph.agents.sage",
    "critique_form": "judgegraph.agents.sage",
    "Scorer": "judgegraph.agents.scorer",
    "StepsWriter": "judgegraph.agents.steps",
    "Critique": "judgegraph.agents.under_review",
    "Reviewed": "judgegraph.agents.under_review",
    "UnderReview": "judgegraph.agents.under_review",
}

__all__ = [
    "PARTS",
    "Average",
    "Comparer",
    "Consensus",
    "Consultant",
    "Corrector",
    "CriteriaWriter",
    "CriticPanel",
    "Critique",
    "DevilsAdvocate",
    "Evaluator",
    "Fuser",
    "FusionJudge",
    "GuidelineWriter",
    "Hearer",
    "Judge",
    "Juror",
    "Merge",
    "Planner",
    "Proposer",
    "Rater",
    "Rectify",
    "Reviewed",
    "Sage",
    "Scorer",
    "SelfReflection",
    "StepsWriter",
    "UnderReview",
    "critique_form",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgegraph.agents' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
