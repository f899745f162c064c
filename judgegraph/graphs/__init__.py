"""One method per file; each factory returns a compiled LangGraph. A file is read when its method is asked for."""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import langgraph.graph  # noqa: F401  # first: from deep within our own imports it costs some 10 ms more

if TYPE_CHECKING:
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


class _Methods(ModuleType):
    """A method and its file have one name here, which is the method's, also when its file was imported first."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_file = name in __all__ and isinstance(value, ModuleType)
        super().__setattr__(name, getattr(value, name) if is_file else value)


sys.modules[__name__].__class__ = _Methods


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'judgegraph.graphs' has no attribute {name!r}")
    importlib.import_module(f"judgegraph.graphs.{name}")
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)
