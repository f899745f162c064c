"""Small graphs and samples, for tests of runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph

from judgegraph.types import EvalState, Sample, Score, keyed

HEAD = """
import os, sys, time
sys.path.insert(0, {here!r})
import judgegraph as jg
from small import fine, graph_of, samples
"""


def samples(count: int, start: int = 0) -> list[Sample]:
    return [Sample(id=f"s{i}", query="q", output=f"text {i}") for i in range(start, count)]


def graph_of(node: Any) -> Any:
    made = StateGraph(EvalState)
    made.add_node("judge", node)
    made.add_edge(START, "judge")
    made.add_edge("judge", END)
    return made.compile(name="one-node")


async def fine(state: EvalState) -> EvalState:
    return {"scores": keyed(Score(criterion="Clarity", agent="a", value=3))}


class Judged:
    """A node that keeps which samples it saw; `fails` have a status instead of a score."""

    def __init__(self, *fails: str, status: str = "unreadable") -> None:
        self.fails, self.status, self.seen = set(fails), status, []

    @property
    def graph(self) -> Any:
        async def judge(state: EvalState) -> EvalState:
            id = state["sample"].id
            self.seen.append(id)
            if id in self.fails:
                return {"scores": keyed(Score(criterion="Clarity", agent="a", status=self.status))}
            return await fine(state)

        return graph_of(judge)


def ids(items: Iterable[Any]) -> list[str]:
    return [item.id for item in items]


def process(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A process of its own that runs some code; `HEAD` brings it this module."""
    script = HEAD.format(here=str(Path(__file__).parent)) + code
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], env=environment, **pipes)
