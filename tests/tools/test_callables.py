"""A plain function, a LangChain tool, a graph and a judge are assistants: named, described, filled from the sample."""

import pytest
from langchain_core.tools import ToolException, tool

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graphs import fusion_eval, llm_score
from judgegraph.testing import scripted
from judgegraph.tools import assistant, measure
from judgegraph.types import Sample


def politeness(output: str, source: str = "") -> float:
    """How polite it is. Range: 0 to 1; higher = better."""
    return 1.0 if "please" in output else 0.25 if source else 0.5


async def grounded(output, source):
    """Share of the output that the source has. Range: 0 to 1; higher = better."""
    return {"score": float(output in source), "reason": "looked it up"}


def fields(output: dict) -> float:
    """Number of fields of a form."""
    return float(len(output))


def whole(sample: Sample) -> float:
    """Length of the identifier."""
    return float(len(sample.id))


@tool
def words_per_line(output: str, width: int = 80) -> float:
    """Lines of a width that the output fills."""
    return len(output) / width


@tool
def verdict(output: str, reference: str) -> str:
    """A verdict in JSON, beside the reference."""
    return '{"score": 0.75, "reason": "close"}' if output == reference else "no idea"


@tool
def failing(output: str) -> float:
    """Fails and says so itself."""
    raise ToolException("the index is gone")


failing.handle_tool_error = True


@pytest.mark.parametrize(
    ("which", "sample", "expected"),
    [
        (politeness, {"output": "Sit, please."}, (1.0, "ok", "")),
        (politeness, {"output": "Sit.", "source": "x"}, (0.25, "ok", "")),
        (grounded, {"output": "a", "source": "abc"}, (1.0, "ok", "looked it up")),
        (grounded, {"output": "a"}, (None, "skipped", "the sample has no source")),
        (fields, {"output": '{"a": 1, "b": 2}'}, (2.0, "ok", "")),
        (fields, {"output": "prose"}, (None, "skipped", "the output is no JSON")),
        (whole, {"output": "x"}, (4.0, "ok", "")),
        (words_per_line, {"output": "x" * 160}, (2.0, "ok", "")),
        (verdict, {"output": "x", "reference": "x"}, (0.75, "ok", "close")),
        (verdict, {"output": "x", "reference": "y"}, ("no idea", "ok", "")),
        (verdict, {"output": "x"}, (None, "skipped", "the sample has no reference")),
        (failing, {"output": "x"}, (None, "agent_error", "the index is gone")),
    ],
)
def test_arguments_are_filled_from_the_sample_and_what_is_given_is_read(which, sample, expected):
    found = measure(which, **sample)
    assert (found.value, found.status, found.reason) == expected


def no_docstring(output):
    return 1.0


def strange(output: str, temperature: float) -> float:
    """Takes what no sample has."""
    return temperature


def misspelt(ouput: str) -> float:
    """How long it is."""
    return float(len(ouput))


@tool
def strange_tool(output: str, index: str) -> float:
    """Takes what no sample has."""
    return 1.0


@pytest.mark.parametrize(
    ("which", "said"),
    [(no_docstring, "its docstring is what a planner is told"), (strange, "no sample has a field 'temperature'"),
     (strange_tool, "no sample has a field 'index'"), (misspelt, "no sample has a field 'ouput'")],
)  # fmt: skip
def test_what_cannot_be_filled_or_described_is_refused_before_anything_is_asked(which, said):
    with pytest.raises(ConfigError, match=said):
        assistant(which)


def test_a_registered_function_may_name_fields(monkeypatch):
    from judgegraph.registry import lookup

    monkeypatch.setattr(lookup, "REGISTERED", {})
    jg.assistant("polite")(politeness)
    assert measure("polite", "Sit, please.").value == 1.0


async def test_a_judge_and_a_graph_are_assistants_of_a_fusing_judge():
    judge = jg.as_assistant(scripted({"score": 4, "reason": "neat"}), about="How tidy it is, 1 to 5; high = good")
    graph = llm_score(criteria=[jg.Criterion(name="Wit")])
    plan = {"plan": "Ask.", "alignment": {"clarity": ["judge", "politeness"]}, "usage": {}}
    reply = {"clarity": {"reason": "r", "score": 3}, "overall": {"reason": "r", "score": 3}}
    fused = fusion_eval(
        scripted(plan, [reply] * 8), criteria=[jg.Criterion(name="Clarity")], consult="all",
        assistants=[judge, politeness, words_per_line, graph],
    )  # fmt: skip
    state = await fused.ainvoke({"sample": Sample(id="s", output="Sit, please.")})
    assert {name: f.value for name, f in state["findings"].items()} == {"judge": 4.0, "politeness": 1.0}
    assert assistant(graph).name == "llm-score"
    assert "embedded" not in str(state["notes"])
