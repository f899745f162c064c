"""How long replies may be where nobody says, what refuses it, and what becomes of a reply that is cut off."""

import asyncio
import contextlib
from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_openai import ChatOpenAI

from judgegraph.agents.corrector import FORMS
from judgegraph.agents.judge import text_form
from judgegraph.calls import Reader, Slot, ask, rate, replies
from judgegraph.calls.asking import EXCERPT, ratings_form
from judgegraph.calls.call import send
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Ledger
from judgegraph.calls.limits import limiter_of
from judgegraph.calls.send import in_words
from judgegraph.calls.types import SHORTER, SLACK, TEXTS, THINKING, TIGHT, Call
from judgegraph.errors import ReplyError
from judgegraph.models.judges import Support, resolve
from judgegraph.prompts.template import section, slugs
from judgegraph.types import Criterion, Scale

MESSAGES = [("user", "Judge this.")]
FORM = ratings_form(slugs([Criterion(name="Clarity")]))
FIVE = Scale(low=1, high=5)
CAP = "max_completion_tokens"


def reason_of(request):
    """The schema of a reason as it was sent."""
    schema = request["body"]["response_format"]["json_schema"]["schema"]
    return schema["properties"]["clarity"]["properties"]["reason"]


async def test_a_limit_goes_with_every_call_and_with_the_texts_of_its_form(server):
    site = server("ok")
    await ask(site.judge(), MESSAGES, FORM)
    assert 500 < site.sent(CAP)[0] < 2000
    assert reason_of(site.seen[0]) == {"type": "string", "maxLength": TEXTS["reason"]}


@pytest.mark.parametrize(("given", "sent"), [(0, None), (77, 77)])
async def test_the_judges_limit_comes_first_and_zero_sends_none(server, given, sent):
    site = server("ok")
    await ask(site.judge(max_tokens=given), MESSAGES, FORM)
    await ask(site.judge(), MESSAGES, FORM, max_tokens=given)
    assert site.sent(CAP) == [sent, sent]


async def test_a_model_that_thinks_by_its_name_has_room_for_it(server):
    site = server("ok")
    await ask(replace(site.judge(), model="openai:o4-mini"), MESSAGES, FORM)
    assert site.sent(CAP)[0] > THINKING


async def test_a_model_that_is_cut_off_while_it_thinks_has_room_for_it_from_then_on(server):
    site = server("thinking,ok")
    for _ in range(2):
        assert (await ask(site.judge(), MESSAGES, FORM))["clarity"]["score"] == 4
    first, again, next_one = site.sent(CAP)
    assert first < THINKING < next_one <= again
    assert again - next_one == SLACK - TIGHT  # the reply kept to its schema: no room for words around it


async def test_bounds_of_texts_that_are_refused_are_left_out_and_the_schema_stays(server):
    site = server("no-max-length")
    for _ in range(2):
        assert (await ask(site.judge(), MESSAGES, FORM))["clarity"]["score"] == 4
    assert site.count == 3
    assert [reason_of(request) for request in site.seen[1:]] == [{"type": "string"}] * 2


async def test_a_limit_that_is_refused_under_both_names_is_sent_no_more(server):
    site = server("no-limit")
    for _ in range(2):
        assert (await ask(site.judge(), MESSAGES, FORM))["clarity"]["score"] == 4
    assert [one["body"].get("max_tokens") or one["body"].get(CAP) for one in site.seen[-2:]] == [None, None]


async def test_a_limit_that_is_too_long_beside_one_prompt_goes_with_the_next_one_again(server):
    site = server("small-context,ok")
    for _ in range(2):
        assert (await ask(site.judge(), MESSAGES, FORM))["clarity"]["score"] == 4
    first, without, after = site.sent(CAP)
    assert (without, after) == (None, first - SLACK + TIGHT)  # a reply kept to its schema


async def test_what_was_asked_for_is_refused_as_it_was(server):
    with pytest.raises(ReplyError, match="maximum context length"):
        await ask(server("small-context").judge(max_tokens=800), MESSAGES, FORM)


async def test_a_reply_that_is_cut_off_is_asked_for_once_more_and_shorter(server):
    site = server("length,ok")
    assert (await ask(site.judge(), MESSAGES, FORM))["clarity"]["score"] == 4
    again = site.seen[1]
    assert reason_of(again)["maxLength"] == SHORTER["reason"] < TEXTS["reason"]
    assert "shorter" in again["body"]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("settings", "limit"),
    [({"max_tokens": 20}, "at the limit of 20 tokens"), ({"max_tokens": 0}, "by the server, at a limit of its own"),
     ({}, r"by the server after \d+ characters, before the limit of")],
)  # fmt: skip
async def test_a_reply_that_is_cut_off_twice_names_its_limit(server, settings, limit):
    site = server("length")
    with pytest.raises(ReplyError, match=limit) as caught:
        await ask(site.judge(**settings), MESSAGES, FORM)
    assert (caught.value.status, site.count) == ("truncated", 2)
    assert ("--max-tokens" in str(caught.value)) is (settings == {"max_tokens": 20})


async def test_a_reply_that_an_sdk_cut_off_with_an_error_of_its_own_is_asked_for_once_more(server, monkeypatch):
    """LangChain's parser raises on a reply that was cut off, and keeps its text: there is nothing to quote."""
    monkeypatch.setenv("JUDGEGRAPH_TRANSPORT", "langchain")
    site = server("length,ok")
    model = ChatOpenAI(model="stub", base_url=site.url, api_key="k", max_retries=0)
    assert (await ask(model, MESSAGES, FORM))["clarity"]["score"] == 4
    assert (site.count, "shorter" in site.seen[1]["body"]["messages"][-1]["content"]) == (2, True)


async def test_a_judge_that_often_runs_on_has_shorter_texts_from_the_beginning(server):
    site = server("length,length,length,length,ok")
    for number in range(3):
        with contextlib.suppress(ReplyError):
            await ask(site.judge(), [("user", f"Judge {number}.")], FORM)
    assert [len(one["body"]["messages"]) for one in site.seen] == [1, 3, 1, 3, 1]
    first, last = site.seen[0], site.seen[-1]
    assert reason_of(last)["maxLength"] == SHORTER["reason"] < reason_of(first)["maxLength"]
    assert last["body"][CAP] == first["body"][CAP]


async def test_so_has_one_whose_texts_go_on_to_their_bounds_in_that_form_alone(server):
    site = server("ok,endless")
    await ask(site.judge(), [("user", "Judge.")], FORM)
    for number in range(4):
        await ask(site.judge(), [("user", f"Judge {number}.")], FORM)
    bounds = [reason_of(one)["maxLength"] for one in site.seen]
    assert bounds == [TEXTS["reason"]] * 3 + [SHORTER["reason"]] * 2
    assert site.sent(CAP)[3] < site.sent(CAP)[0]
    other = replace(ratings_form(slugs([Criterion(name="Clarity")]), thoughts=True), name="another")
    await ask(site.judge(), MESSAGES, other)
    assert reason_of(site.seen[-1])["maxLength"] == TEXTS["reason"]


async def test_so_has_one_whose_replies_do_not_come_in_their_time(server):
    site = server("hang,hang,ok")
    for number in range(3):
        with contextlib.suppress(ReplyError):
            await ask(site.judge(timeout=0.3, attempts=1), [("user", f"Judge {number}.")], FORM)
    bounds = [reason_of(one)["maxLength"] for one in site.seen]
    assert bounds == [TEXTS["reason"]] * 2 + [SHORTER["reason"]]
    assert len(set(site.sent(CAP))) == 1  # whether it heeds these bounds is not known


async def test_whose_first_replies_all_go_on_to_their_bounds_is_asked_for_less_in_other_forms_too(server):
    site = server("endless")
    for number in range(3):
        await ask(site.judge(), [("user", f"Judge {number}.")], FORM)
    other = replace(ratings_form(slugs([Criterion(name="Clarity")]), thoughts=True), name="another")
    await ask(site.judge(), MESSAGES, other)
    assert reason_of(site.seen[-1])["maxLength"] == SHORTER["reason"]


def test_of_choices_asked_for_together_the_longest_is_waited_for():
    habits = {"filled": {"form": (16, 2)}}  # two of sixteen replies went on to a bound
    assert Support(**habits, together={"form": 8}).fills("form")
    assert not Support(**habits).fills("form")
    assert not Support(**habits, together={"another": 8}).fills("form")
    assert not Support(filled={"form": (16, 1)}, together={"form": 8}).fills("form")
    assert Support(filled={"plan": (1, 1)}, endless={"plan": 1}).fills("form")  # cut off, then on to its bound
    assert not Support(filled={"plan": (2, 1)}, endless={"plan": 1}).fills("form")
    assert not Support(endless={"plan": 2}).fills("form")  # whether bounds are heeded is not known


async def test_an_endpoint_of_one_ask_is_asked_once(server):
    site = server("length")
    with pytest.raises(ReplyError, match="cut off"):
        await ask(site.judge(asks=1), MESSAGES, FORM)
    assert site.count == 1


async def test_samples_that_are_cut_off_are_asked_for_once_more(server):
    site = server("length,ok")
    assert len(await replies(site.judge(), MESSAGES, FORM, n=3)) == 3
    assert site.sent("n") == [3, 3]


async def test_of_a_bad_reply_no_more_is_sent_back_than_its_ends(server):
    site = server("rambling,ok")
    await ask(site.judge(), MESSAGES, FORM)
    said = site.seen[1]["body"]["messages"][1]["content"]
    assert len(said) < EXCERPT + 60
    assert "characters left out" in said


async def test_a_text_without_a_rating_is_asked_for_as_a_form_and_weighed(server):
    site = server("ok")
    form, slots = text_form(FIVE), {"score": Slot(FIVE)}
    before = (await rate(site.judge(), MESSAGES, form, slots)).answers["score"]
    assert (before.value, site.sent("response_format")) == (4.0, [None])
    site = server("max-older,ok")  # its first reply counts in words, as the prompt asks for it
    counting = [("user", "Count from one.")]
    found = (await rate(site.judge(), counting, form, slots, Reader("weighted"))).answers["score"]
    assert (found.status, found.reader, site.count) == ("ok", "logprobs", 2)
    assert list(site.seen[1]["body"]["response_format"]["json_schema"]["schema"]["properties"]) == ["score"]


async def test_replies_of_an_earlier_version_are_not_paid_for_again(server, tmp_path):
    """Limits are no part of an address, and what came of asking again with the whole reply is taken from the ledger."""
    site = server("rambling,ok")
    token = context.set(CallContext(ledger=Ledger(tmp_path / "ledger.sqlite")))
    try:
        judge = resolve(site.judge())
        call = Call((HumanMessage("Judge this."),), schema=FORM.schema, form=FORM.name)
        (bad,) = await send(judge, call)
        why = section("problem", "the reply is no JSON: Expecting value: line 1 column 1 (char 0)")
        words = f"Your reply could not be used:\n{why}\nReply again, in the form asked for and nothing else."
        said = (AIMessage(bad.text), HumanMessage(f"{words}\n{in_words(call)}"))
        await send(judge, Call((*call.messages, *said), schema=FORM.schema, form=FORM.name, repeat=1))
        assert (await ask(site.judge(), MESSAGES, FORM))["clarity"]["score"] == 4
    finally:
        context.get().ledger.close()
        context.reset(token)
    assert site.count == 2


@pytest.mark.parametrize(("script", "fewer"), [("ok,ok,hang", True), ("hang,ok", False), ("hang", False)])
async def test_a_server_that_answers_a_few_while_most_wait_in_vain_gets_fewer_at_once(server, script, fewer):
    judge = resolve(server(script).judge(timeout=0.5, attempts=1))
    token = context.set(run := CallContext())
    try:
        asked = (ask(judge.endpoint, [("user", f"Judge {i}.")], FORM) for i in range(8))
        said = await asyncio.gather(*asked, return_exceptions=True)
    finally:
        context.reset(token)
    assert "timeout" in {getattr(one, "status", "ok") for one in said}
    limiter = limiter_of(judge, run.limits)
    waiting = [limiter.ticket(0) for _ in range(4)]
    assert all(place.enter() for place in waiting) is not fewer


async def test_a_correction_that_is_cut_off_is_not_wanted_shorter(server):
    site = server("length")
    with pytest.raises(ReplyError, match="cut off"):
        await ask(site.judge(), MESSAGES, FORMS["form"])
    assert site.count == 1


async def test_a_server_of_few_choices_at_once_is_asked_for_so_many_and_for_the_others_then(server):
    site = server("few-n")
    assert len(await replies(site.judge(), MESSAGES, FORM, n=6)) == 6
    assert site.sent("n") == [6, 4, 2]
    assert len(await replies(site.judge(), [("user", "Judge another.")], FORM, n=6)) == 6
    assert site.sent("n")[3:] == [4, 2]


@pytest.mark.parametrize(("script", "listed"), [("ok", False), ("llama-cpp", True), ("ollama", True)])
async def test_a_server_that_is_known_to_ignore_ranges_is_given_a_list_from_its_second_reply(server, script, listed):
    site = server(script)
    criteria = slugs([Criterion(name="Clarity", scale=Scale(low=1, high=5, whole=False))])
    for text in ("Judge this.", "Judge that."):
        await ask(site.judge(), [("user", text)], ratings_form(criteria))
    schemas = [one["body"]["response_format"]["json_schema"]["schema"] for one in site.seen]
    scores = [schema["properties"]["clarity"]["properties"]["score"]["anyOf"][0] for schema in schemas]
    assert ["enum" in score for score in scores] == [False, listed]


async def test_fewer_choices_are_asked_for_where_a_server_has_little_else_to_do(server):
    site = server("hang")
    judge = resolve(site.judge(timeout=0.3, attempts=1))
    with pytest.raises(ReplyError):
        await replies(judge.endpoint, MESSAGES, FORM, n=8)
    assert judge.support.most_n == 4


async def test_a_number_off_a_range_that_the_server_ignores_is_asked_for_as_one_of_a_list(server):
    site = server("half,ok")
    criteria = slugs([Criterion(name="Clarity", scale=Scale(low=1, high=5, whole=False))])
    await ask(site.judge(), MESSAGES, ratings_form(criteria))
    first, again = (one["body"]["response_format"]["json_schema"]["schema"] for one in site.seen)
    scores = [schema["properties"]["clarity"]["properties"]["score"]["anyOf"][0] for schema in (first, again)]
    assert scores[0] == {"type": "number", "minimum": 1.0, "maximum": 5.0}
    assert (scores[1]["enum"][:2], scores[1]["enum"][-1], len(scores[1]["enum"])) == ([1.0, 1.1], 5.0, 41)


async def test_once_a_number_lay_beyond_its_range_every_later_form_lists_it(server):
    site = server("beyond,ok")
    form = ratings_form(slugs([Criterion(name="Clarity", scale=Scale(low=1, high=5, whole=False))]))
    for number in range(2):
        await ask(site.judge(), [("user", f"Judge {number}.")], form)
    schemas = [one["body"]["response_format"]["json_schema"]["schema"] for one in site.seen]
    scores = [schema["properties"]["clarity"]["properties"]["score"]["anyOf"][0] for schema in schemas]
    assert ["enum" in score for score in scores] == [False, True, True]
