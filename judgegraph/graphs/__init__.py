"""One method per file; each factory returns a compiled LangGraph."""

import langgraph.graph  # noqa: F401  # first: from deep within our own imports it costs some 10 ms more

from judgegraph.graphs.bridging import bridging
from judgegraph.graphs.bsm import bsm
from judgegraph.graphs.chateval import chateval
from judgegraph.graphs.checkeval import checkeval
from judgegraph.graphs.coascore import coascore
from judgegraph.graphs.fennec import fennec
from judgegraph.graphs.find_fault import find_fault
from judgegraph.graphs.fusion_eval import fusion_eval
from judgegraph.graphs.g_eval import g_eval
from judgegraph.graphs.judge_form import judge_form
from judgegraph.graphs.llm_score import llm_score
from judgegraph.graphs.mateval import mateval
from judgegraph.graphs.poll import poll
from judgegraph.graphs.sageval import sageval
from judgegraph.graphs.trajectory import trajectory

__all__ = [
    "bridging", "bsm", "chateval", "checkeval", "coascore", "fennec", "find_fault", "fusion_eval", "g_eval",
    "judge_form", "llm_score", "mateval", "poll", "sageval", "trajectory",
]  # fmt: skip
