"""LLMScore: CoAScore's last step without the aspects, with or without a chain of thought."""

import sys

import pytest
from drawing import arrows, figure

from judgegraph import prompts
from judgegraph.graphs.llm_score import llm_score
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

MODULE = sys.modules["judgegraph.graphs.llm_score"]
SAMPLE = Sample(id="s1", source="The source.", output="The output.")
CLARITY = Criterion(name="Clarity", definition="One reading only.", steps=("Read it twice.",))


async def scored(*replies, **settings):
    judge = scripted(*replies)
    final = await llm_score(judge, criteria=[CLARITY], **settings).ainvoke({"sample": SAMPLE})
    return judge, final["scores"]["Clarity/llm-score/final/0"]


def test_the_graph_is_the_figure_of_its_docstring():
    assert arrows(llm_score()) == figure(MODULE.__doc__)


def test_its_prompt_is_the_fusers_without_the_aspects():
    plain, fused = (dict(prompts.load(name).parts) for name in ("llm_score", "fuse"))
    own = [block for block in fused["user"].split("\n\n") if "aspects" not in block and "scores" not in block]
    assert sorted(own) == sorted(plain["user"].split("\n\n"))  # the criterion comes last: calls share the material
    assert fused["system"].startswith(plain["system"].split("\n\n")[0])


@pytest.mark.parametrize(
    ("cot", "keys", "cue"), [(False, ["score", "reason"], False), (True, ["reason", "score"], True)]
)
async def test_a_chain_of_thought_comes_before_the_score(cot, keys, cue):
    judge, score = await scored({"score": 4, "reason": "so"}, cot=cot)
    assert list(judge.asked[0]["response_format"]["json_schema"]["schema"]["properties"]) == keys
    assert ("Work it out in steps" in str(judge.calls[0])) is cue
    assert (score.value, score.reader, judge.asked[0]["temperature"]) == (4.0, "stated", 0.0)


async def test_steps_are_not_shown():
    judge, _ = await scored({"score": 4, "reason": "so"})
    assert "Read it twice." not in str(judge.calls[0])


@pytest.mark.parametrize(
    ("reply", "value", "reason"),
    [
        ("4\nClear throughout.", 4.0, "Clear throughout."),
        ("First, it is short. Then, 2 jumps.\nScore: 3", 3.0, "First, it is short. Then, 2 jumps.\nScore: 3"),
    ],
)
async def test_text_is_read_as_free_text(reply, value, reason):
    judge, score = await scored(reply, reply="text", cot=True)
    assert (score.value, score.reason) == (value, reason)
    assert "response_format" not in judge.asked[0]


async def test_the_embedded_judge_scores_every_criterion():
    sample = Sample(id="s1", source="The bridge closed on Monday. Repairs take a year.", output="The bridge is closed.")
    final = await llm_score().ainvoke({"sample": sample})
    assert [s.status for s in final["scores"].values()] == ["ok"] * 4
