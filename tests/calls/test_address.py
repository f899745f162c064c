"""An address covers all that a reply depends on, and keeps its parts apart."""

import asyncio
import json
from dataclasses import replace
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI

from judgegraph import prompts
from judgegraph.calls.asking import STRING, record
from judgegraph.calls.types import Call, _message, _numbers, _plain, _who, address_of
from judgegraph.models.judges import Endpoint, Judge, resolve
from judgegraph.testing import scripted

CALL = Call(
    messages=(SystemMessage("You judge."), HumanMessage("ab")), schema={"type": "object"}, form="ratings",
    tools=({"type": "function", "function": {"name": "rouge"}},), settings={"temperature": 0.0, "seed": 7},
)  # fmt: skip

BROKEN = {"name": "f", "args": "{", "id": "1", "error": "e", "type": "invalid_tool_call"}
ODD = [
    HumanMessage("x", name="a"), HumanMessage("x", name="b"), ChatMessage("x", role="a"), ChatMessage("x", role="b"),
    AIMessage("x"), AIMessage("x", invalid_tool_calls=[BROKEN]),
    AIMessage("x", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
]  # fmt: skip


def judge(model="openai:m", **settings):
    return Judge(model, None, Endpoint(model=model, **settings), speaks_openai=True)


@pytest.mark.parametrize(
    "other",
    [
        replace(CALL, messages=(SystemMessage("You judge."), HumanMessage("ac"))),
        replace(CALL, messages=(HumanMessage("You judge."), HumanMessage("ab"))),
        replace(CALL, messages=(SystemMessage("You judge.a"), HumanMessage("b"))),
        replace(CALL, messages=(*CALL.messages, AIMessage("", tool_calls=[{"name": "x", "args": {}, "id": "1"}]))),
        replace(CALL, messages=(*CALL.messages, ToolMessage("3", tool_call_id="1"))),
        *(replace(CALL, messages=(*CALL.messages, one)) for one in ODD),
        replace(CALL, schema={"type": "array"}),
        replace(CALL, schema=None),
        replace(CALL, form="critique"),
        replace(CALL, tools=()),
        replace(CALL, tools=({"type": "function", "function": {"name": "rouge", "description": "x"}},)),
        replace(CALL, tools=(*CALL.tools, {"type": "function", "function": {"name": "chrf"}})),
        replace(CALL, messages=(SystemMessage("You judge."), HumanMessage("ab "))),
        replace(CALL, messages=CALL.messages[::-1]),
        replace(CALL, settings={"temperature": 0.0, "seed": 7, "top_p": 0.5}),
        replace(CALL, settings={"temperature": 0.0, "seed": "7"}),
        replace(CALL, settings={"temperature": 1.0, "seed": 7}),
        replace(CALL, settings={"temperature": 0.0, "seed": 8}),
        replace(CALL, settings={"seed": 7}),
        replace(CALL, n=20),
        replace(CALL, logprobs=True),
        replace(CALL, repeat=1),
    ],
)
def test_a_change_in_any_part_is_another_address(other):
    assert address_of(judge(), other) != address_of(judge(), CALL)


@pytest.mark.parametrize("other", [judge("openai:n"), judge(base_url="http://a/v1"), judge("embedded-not")])
def test_another_judge_is_another_address(other):
    assert address_of(other, CALL) != address_of(judge(), CALL)


@pytest.mark.parametrize("same", [judge(timeout=5), judge(attempts=1), judge(api_key_env="OTHER"), judge(asks=1)])
def test_what_no_reply_depends_on_is_no_part_of_it(same):
    assert address_of(same, CALL) == address_of(judge(), CALL)


def test_a_login_in_an_address_is_no_part_of_it():
    one, two = (judge(base_url=f"http://{login}@host/v1") for login in ("a:b", "c:d"))
    assert address_of(one, CALL) == address_of(two, CALL)


@given(st.lists(st.text(), min_size=1, max_size=4), st.lists(st.text(), min_size=1, max_size=4))
def test_fields_joined_differently_never_meet(one, two):
    first, second = (address_of(judge(), Call(tuple(map(HumanMessage, texts)))) for texts in (one, two))
    assert (first == second) == (one == two)


parts = st.tuples(*[st.text(max_size=4)] * 6)


def spread(model, address, system, user, form, setting):
    """An address of a call with these texts in its parts, side by side."""
    messages = (SystemMessage(system), HumanMessage(user))
    one = judge(f"openai:{model}", base_url=f"http://h/{address.encode().hex()}")
    return address_of(one, Call(messages, {"title": setting}, form, settings={"stop": setting}))


@given(parts, parts)
def test_parts_of_different_kinds_never_meet(one, two):
    assert (spread(*one) == spread(*two)) == (one == two)


@given(parts, st.integers(0, 4), st.text(min_size=1, max_size=3))
def test_a_text_that_moves_over_the_boundary_of_two_parts_is_another_call(one, place, moved):
    left, right = list(one), list(one)
    left[place] += moved
    right[place + 1] = moved + right[place + 1]
    assert spread(*left) != spread(*right)


def test_pairs_that_differ_in_where_their_fields_end_are_two_calls(shared):
    rows = map(json.loads, (shared / "hostile/inputs.jsonl").read_text().splitlines())
    cases = [row["sample"] for row in rows if "distinct_cache_keys" in row["expect"]["checks"]]
    assert cases
    for samples in cases:
        met = set()
        for sample in samples:
            fields = {key: sample.get(key) or "" for key in ("query", "source", "output")}
            rendered = prompts.load("evaluate").render(task="t", criteria="c", **fields)
            met.add(address_of(judge(), Call(tuple(as_messages(rendered)))))
        assert len(met) == len(samples)


def as_messages(rendered):
    kinds = {"system": SystemMessage, "user": HumanMessage}
    return [kinds[role](text) for role, text in rendered.messages]


async def test_two_chat_models_of_ones_own_with_other_settings_differ():
    one, two = scripted("a"), scripted("b")
    assert address_of(resolve(one), CALL) != address_of(resolve(two), CALL)


def test_messages_that_are_sent_otherwise_are_other_calls():
    assert len({address_of(judge(), Call((one,))) for one in (HumanMessage("x"), *ODD)}) == len(ODD) + 1


def at(url):
    return address_of(judge(base_url=url), CALL)


@pytest.mark.parametrize("same", ["http://a/v1/", "HTTP://A/v1", "http://a:80/v1", "http://u:p@a/v1", "http://a/v1#x"])
def test_one_server_has_one_address_however_it_is_spelt(same):
    assert at(same) == at("http://a/v1")


@pytest.mark.parametrize(
    "other", ["https://a/v1", "http://a:81/v1", "http://a/V1", "http://a/v1?deployment=x", "http://b/v1"]
)
def test_another_server_or_query_is_another_address(other):
    assert len({at(other), at("http://a/v1"), at("http://a/v1?deployment=y")}) == 3


def test_the_providers_own_server_may_be_named():
    assert at("https://api.openai.com/v1") == at("https://API.openai.com:443/v1/") == at(None)


@pytest.mark.parametrize("transport", ["fast", "langchain"])
def test_the_server_is_the_one_that_is_asked_also_where_the_environment_names_it(monkeypatch, transport):
    async def found(base_url=None):
        endpoint = Endpoint(model="openai:m", base_url=base_url, transport=transport)
        return address_of(resolve(endpoint), CALL), address_of(resolve(ChatOpenAI(model="m", base_url=base_url)), CALL)

    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    own = asyncio.run(found())
    assert own == asyncio.run(found("https://api.openai.com/v1"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://a.example/v1")
    first = asyncio.run(found())
    planned = address_of(judge(), CALL)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://b.example/v1")
    second = asyncio.run(found())
    assert len({*own, *first, *second}) == 6
    assert first == asyncio.run(found("http://a.example/v1"))
    assert planned == first[0]


def test_a_whole_number_is_one_number_however_it_is_written():
    one, same = (replace(CALL, settings={"temperature": number}) for number in (1, 1.0))
    assert address_of(judge(), one) == address_of(judge(), same)
    assert address_of(judge(), replace(CALL, settings={"temperature": True})) != address_of(judge(), one)


def by_the_rule(judge: Judge, call: Call) -> bytes:
    """The address as version 2 of the rule says it: one JSON list of all parts."""
    parts = [
        2, _who(judge), [_message(m) for m in call.messages], call.schema, call.form, list(call.tools),
        _numbers(call.settings), call.n, call.logprobs, call.repeat,
    ]  # fmt: skip
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


SCHEMAS = [
    None,
    {},
    {"type": "object"},
    record({"score": {"enum": [2, 1.0]}, "reason": STRING}, title='An "odd" näme\u2028'),
]


@given(
    texts=st.lists(st.text(st.characters())), form=st.text(), at=st.integers(0, len(SCHEMAS) - 1), n=st.integers(1, 9),
    logprobs=st.booleans(), settings=st.dictionaries(st.text(), st.floats(allow_nan=False) | st.integers()),
)  # fmt: skip
def test_replies_paid_for_before_are_found_again(texts, form, at, n, logprobs, settings):
    call = Call(
        tuple(map(HumanMessage, texts)), schema=SCHEMAS[at], form=form, settings=settings, n=n, logprobs=logprobs
    )
    assert address_of(judge(), call) == by_the_rule(judge(), call)


@pytest.mark.parametrize("odd", ODD, ids=lambda message: message.type)
def test_so_are_those_of_messages_with_more_to_say(odd):
    call = replace(
        CALL, messages=(SystemMessage('"\\\n\u2028é\x7f'), odd, HumanMessage([{"type": "text", "text": "é"}]))
    )
    assert address_of(judge(), call) == by_the_rule(judge(), call)
