"""A critic is told to look both ways: what it finds of too high and too low scores is what it was asked to measure."""

import re

import pytest

from judgegraph.agents.panel import ROLES
from judgegraph.prompts.template import known, load

DIRECTED = re.compile(  # says in which direction evaluators err, or which of two errors to look for
    r"lenien|harsh|generous|strict|sever|inflat|forgiv|optimis|pessimis|impress|praise|flatter|over-?\s?(?:rat|scor|estim)"
    r"|under-?\s?(?:rat|scor|estim)|\b(?:tend|often|usually|likely)\b",
    re.I,
)


def critics() -> list[str]:
    """Prompts that show an evaluator's scores and ask for a verdict on each, or for one of a critic's other duties."""
    found = [
        name for name in known() if "scores" in load(name).fields and text(name).count("evaluator") + reflects(name)
    ]
    assert {"critique", "critique_cot", "critique_scores", "critique_scores_cot", "panel_critique"} <= set(found)
    return found


def text(name: str) -> str:
    return "\n".join(body for _, body in load(name).parts)


def reflects(name: str) -> bool:
    return '"raise" or "lower"' in text(name)


def test_no_role_of_the_panel_does():
    assert [DIRECTED.findall(f"{name} {role}") for name, role in ROLES.items()] == [[]] * len(ROLES)


@pytest.mark.parametrize("name", critics())
def test_no_critic_prompt_says_in_which_direction_evaluators_err(name):
    assert DIRECTED.findall(text(name)) == []


@pytest.mark.parametrize("name", [name for name in critics() if reflects(name)])
def test_a_prompt_that_asks_for_a_verdict_names_both_directions_alike(name):
    words = re.findall(r"\w+", text(name).lower())
    for one, other in (("raise", "lower"), ("high", "low")):
        assert words.count(one) == words.count(other), name
