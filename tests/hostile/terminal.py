"""What would drive a terminal, and a method whose every name and text is of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BAD = "evil\x1b[2J\x1b]0;owned\x07\x9b31m\r\x08\x7f\u202edrawkcab\u2066[bold]x[/bold][link=//x]y[/link]"
DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
FACTORY = """
from langgraph.graph import END, START, StateGraph
from judgegraph.types import (
    Comparison, Correction, Criterion, EvalState, Finding, Note, Rectification, Sample, Scale, Score, Suggestion, keyed,
)

BAD = {bad!r}
SCALE, LABELS = Scale(low=1, high=5), Scale(labels=(BAD, "other"))


async def judge(state: EvalState) -> EvalState:
    "What it is for: {escaped}"
    if "fails" in state["sample"].id:
        raise RuntimeError(BAD)
    value = 1.0 + len(state["sample"].output) % 4
    one = dict(agent=BAD, reason=BAD, reader=BAD, notes=(BAD,))
    draft = Score(criterion=BAD, stage="draft", value=value, scale=SCALE, **one)
    final = Score(criterion=BAD, value=value + 0.5, scale=SCALE, draft=draft.key, **one)
    label = Score(criterion=BAD + "2", label=BAD, scale=LABELS, raw=BAD, **one)
    lost = Score(criterion=BAD + "3", agent=BAD, status="unreadable", reason=BAD, raw=BAD)
    said = Rectification(criterion=BAD, agent=BAD, action="change", direction="up", value=value + 0.5, reason=BAD)
    new = [Suggestion(kind=kind, criterion=BAD + kind, definition=BAD, reason=BAD, agent=BAD)
           for kind in ("criterion", "definition")]
    pair = Comparison(criterion=BAD, agent=BAD, verdict="A", order="both", reason=BAD, notes=(BAD,))
    bad_pair = Comparison(criterion=BAD + "2", agent=BAD, status="refused", reason=BAD)
    better = Correction(agent=BAD, text=BAD, original=BAD + "x", criteria=(BAD,), rule=BAD, by=(final,))
    return {{
        "scores": keyed(draft, final, label, lost), "rectifications": keyed(said), "suggestions": new,
        "comparisons": keyed(pair, bad_pair), "corrections": keyed(better), "overall": value, "verdict": "A",
        "findings": {{BAD: Finding(assistant=BAD, value=BAD), "n": Finding(assistant="n", value=value, reason=BAD)}},
        "notes": keyed(Note(agent=BAD, text=BAD, status="refused")),
    }}


def bad(kind="node"):
    "What builds it: {escaped}"
    if kind == "raises":
        raise RuntimeError(BAD)
    made = StateGraph(EvalState)
    made.add_node(BAD, judge)
    made.add_edge(START, BAD)
    made.add_edge(BAD, END)
    if kind == "loose":
        made.add_node(BAD + "2", judge)
    return made.compile(name=BAD)
"""


def controls(text: str) -> set[str]:
    """The characters of a text that may do something to a terminal."""
    return {c for c in text if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f" or c in DIRECTIONS}


def factory(folder: Path) -> str:
    """METHOD for the command line; what it makes has a bad name, a bad node, and says nothing good."""
    path = folder / "bad.py"
    path.write_text(FACTORY.format(bad=BAD, escaped=BAD.encode("unicode_escape").decode()))
    return f"{path}:bad"


def rows(count: int = 6) -> list[dict[str, Any]]:
    """Samples whose every text is bad, with a judgement of people; every third fails."""
    systems = (BAD, f"{BAD}2")
    return [
        {
            "id": f"{BAD}{n}{'fails' if n % 3 == 2 else ''}", "query": BAD, "source": BAD, "output": BAD + "x" * n,
            "rival": BAD, "human": {BAD: 1 + n % 4, f"{BAD}2": BAD, "overall": "A"},
            "meta": {"system": systems[n % 2], "rival_system": systems[(n + 1) % 2], "group": f"{BAD}{n // 2}"},
        }
        for n in range(count)
    ]  # fmt: skip


def dataset(folder: Path) -> Path:
    """The rows, and a line that is none."""
    path = folder / "bad.jsonl"
    lines = [json.dumps(row) for row in rows()]
    path.write_text("\n".join([*lines, json.dumps({"id": f"{BAD}last", BAD: BAD})]) + "\n")
    return path
