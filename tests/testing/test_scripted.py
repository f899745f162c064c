"""The scripted judge: for tests of graphs and agents, ours and yours."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from judgegraph.testing import scripted

MESSAGES = [HumanMessage("Judge.")]


async def test_it_answers_call_by_call_and_keeps_what_it_was_asked():
    judge = scripted("text", {"a": 1}, AIMessage("message"), lambda messages: messages[0].content)
    said = [(await judge.ainvoke(MESSAGES, seed=i)).content for i in range(4)]
    assert said == ["text", '{"a": 1}', "message", "Judge."]
    assert [asked["seed"] for asked in judge.asked] == [0, 1, 2, 3]
    assert judge.calls[0] == MESSAGES


async def test_an_exception_in_the_script_is_raised():
    with pytest.raises(ConnectionError):
        await scripted(ConnectionError("gone")).ainvoke(MESSAGES)


async def test_one_call_more_than_the_script_is_an_error_of_the_test():
    judge = scripted("one")
    await judge.ainvoke(MESSAGES)
    with pytest.raises(AssertionError, match="the script has 1 reply, call 2 came"):
        await judge.ainvoke(MESSAGES)


@pytest.mark.parametrize(("scene", "texts"), [(["a", "b"], ["a", "b"]), ("a", ["a", "a"])])
async def test_a_list_is_the_choices_of_one_call(scene, texts):
    result = await scripted(scene).agenerate([MESSAGES], n=2)
    assert [choice.text for choice in result.generations[0]] == texts


async def test_tools_are_offered_and_the_script_decides():
    judge = scripted("no tool")
    await judge.bind_tools([{"type": "function"}]).ainvoke(MESSAGES)
    assert judge.asked == [{"tools": [{"type": "function"}]}]
