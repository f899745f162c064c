"""What doctor finds at servers that differ from OpenAI's; a run afterwards does not fail to learn it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from langchain_openai import ChatOpenAI

import judgegraph as jg
from judgegraph.calls import Endpoint, Reader, Slot, ask, rate, replies
from judgegraph.calls.asking import ratings_form
from judgegraph.cli import main
from judgegraph.doctor import examine
from judgegraph.errors import AuthError, ConfigError, ReplyError
from judgegraph.models.judges import Support, cache_folder, keep, known_support, resolve
from judgegraph.prompts.template import slugs
from judgegraph.types import Criterion, Sample, Scale

pytestmark = pytest.mark.slow

KEY = "canary-key-0123456789"
FORM = ratings_form(slugs([Criterion(name="Clarity")]))
SLOTS = {"clarity": Slot(Scale(low=1, high=5), ("clarity",))}
TOOL = {
    "type": "function",
    "function": {"name": "rouge", "description": "d", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture(autouse=True)
def _soon(no_backoff):
    pass


async def found_at(site, name, **settings):
    diagnosis = await examine(site.judge(), **settings)
    return diagnosis, next(probe for probe in diagnosis.probes if probe.name == name)


async def weighted(judge):
    return (await rate(judge, [("user", "Judge this.")], FORM, SLOTS, Reader("weighted", samples=3))).answers["clarity"]


async def test_of_a_server_that_does_all_nothing_is_named_but_what_it_lacks(server):
    site = server(f"need-key={KEY}")
    diagnosis = await examine(site.judge())
    assert diagnosis.deviations == ()
    assert {probe.ok for probe in diagnosis.probes} == {True}
    assert (diagnosis.requests, diagnosis.prompt_tokens > 0) == (site.count, True)
    assert site.count <= 20
    support = diagnosis.support
    assert (support.json_schema, support.logprobs, support.top_logprobs, support.n) == (True, True, 20, True)
    assert (support.tools, support.max_tokens, support.refused) == (True, "max_completion_tokens", set())


@pytest.mark.parametrize(
    ("script", "name", "found", "means"),
    [
        ("null-logprobs", "log-probabilities", "null", "samples instead of log-probabilities"),
        ("no-logprobs", "log-probabilities", "refused", "samples instead of log-probabilities"),
        ("few-logprobs", "log-probabilities", "up to 5 a token", "5 of a scale's points"),
        ("null-beside-schema", "log-probabilities", "not beside json_schema", "samples instead"),
        ("lone-logprobs", "log-probabilities", "given, but without alternatives", "samples instead"),
        ("five-likely", "log-probabilities", "are no distribution: its alternatives hold 4.52", "samples instead"),
        (
            "likely-beside-schema",
            "log-probabilities",
            "beside json_schema the log-probabilities are no",
            "samples instead",
        ),
        ("one-choice", "n", "1 choice for n=3, without an error", "n requests"),
        ("no-n", "n", "refused", "n requests"),
        ("prose", "json_schema", "ignored: free text", "put into words"),
        ("rambling", "json_schema", "ignored: free text", "put into words"),
        ("no-schema", "json_schema", "refused", "put into words"),
        ("schema-500", "json_schema", "refused", "put into words"),
        ("schema-loose", "strict values", "4.5", "asked again"),
        ("tool-choice-ignored", "tools", "offered: called, forced: not called", "without calling"),
        ("tools-ignored", "tools", "offered: not called, forced: not called", "calls no assistant"),
        ("no-tools", "tools", "offered: refused", "calls no assistant"),
        ("max-ignored", "max tokens", "ignored under either name", "as long as the endpoint likes"),
        ("max-older", "max tokens", "heeded as max_tokens", "sent as max_tokens"),
        ("no-max", "max tokens", "heeded as max_tokens", "sent as max_tokens"),
        ("no-temperature", "settings", "takes no temperature", "left out"),
        ("moody", "repeatable", "differ", "ledger"),
        ("no-usage", "usage", "not told", "estimates"),
        ("plain-400", "errors", "answered 400, as plain text", "shape"),
        ("detail-400", "errors", "answered 400, under `detail`", "shape"),
        ("bad-500", "errors", "answered 500", "before it fails"),
        ("lax", "errors", "answered 200", "ignored without a word"),
        ("ok", "authentication", "accepts any key", "not noticed"),
        (f"cool-down={KEY}", "authentication", "401, then 429", "will not go away"),
    ],
)
@pytest.mark.sampled(9)
async def test_each_deviation_is_noticed_and_named(server, script, name, found, means):
    diagnosis, probe = await found_at(server(script), name)
    assert probe.ok is False
    assert found in probe.found
    assert means in probe.deviation
    others = {p.name for p in diagnosis.deviations} - {name}
    assert others <= {"authentication"}


@pytest.mark.parametrize(
    ("script", "rung"),
    [
        ("null-logprobs", "samples"),
        ("lone-logprobs", "samples"),
        ("five-likely", "samples"),
        ("few-logprobs", "logprobs"),
    ],
)
async def test_a_run_makes_no_first_try_that_doctor_saw_fail(server, script, rung):
    site = server(script)
    await examine(site.judge())
    before = site.count
    answer = await weighted(site.judge(seed=1))  # another judge: it knows what was kept alone
    assert (answer.status, answer.reader, site.count - before) == ("ok", rung, 1)


@pytest.mark.parametrize("script", ["prose", "rambling", "no-schema", "schema-500"])
@pytest.mark.sampled(2)
async def test_a_schema_that_doctor_saw_ignored_goes_in_words_at_once(server, script):
    site = server(script)
    await examine(site.judge())
    before = site.count
    assert (await ask(site.judge(seed=1), "Judge this.", FORM))["clarity"]["score"] == 4
    assert site.count == before + 1
    assert "response_format" not in site.seen[-1]["body"]


@pytest.mark.parametrize("transport", ["fast", "langchain"])
@pytest.mark.parametrize(
    ("script", "name", "other"),
    [("max-older", "max_tokens", "max_completion_tokens"), ("ok", "max_completion_tokens", "max_tokens")],
)
@pytest.mark.sampled(2)
async def test_a_limit_is_sent_under_the_name_that_is_heeded(server, transport, script, name, other):
    site = server(script)
    await examine(site.judge(transport=transport))
    await ask(site.judge(seed=1, max_tokens=50, transport=transport), "Judge this.")
    last = site.seen[-1]["body"]
    assert last[name] == 50
    assert other not in last


async def test_samples_are_single_requests_at_once_where_doctor_saw_n_ignored(server):
    site = server("one-choice")
    await examine(site.judge())
    before = site.count
    assert len(await replies(site.judge(seed=1), "Judge this.", FORM, n=3)) == 3
    assert site.sent("n")[before:] == [None] * 3


async def test_tools_and_settings_that_are_refused_are_left_out_and_noted(server):
    site = server("no-tools")
    await examine(site.judge())
    before = site.count
    (reply,) = await replies(site.judge(seed=1), "Judge this.", tools=[TOOL])
    assert (reply.tool_calls, reply.notes, site.count - before) == ((), ("the judge takes no tools",), 1)


@pytest.mark.long
async def test_a_server_that_changed_is_believed_over_what_was_kept(server):
    site = server(",".join(["ok"] * 30 + ["null-logprobs"]))
    await examine(site.judge())
    for _ in range(30 - site.count):
        await ask(site.judge(), "Judge this.")
    judge = site.judge(seed=1)
    assert (await weighted(judge)).reader == "samples"
    assert resolve(judge).support.logprobs is False


def test_a_run_after_doctor_on_the_command_line_uses_what_it_found(server):
    site = server("null-logprobs")
    done = CliRunner().invoke(main, ["doctor", "-j", "openai:stub", "--base-url", site.url])
    assert done.exit_code == 0, done.output
    before = site.count
    assert f"{before} requests" in done.output
    assert "log-probabilities: weighted scores are read from samples" in done.output
    samples = [Sample(id=f"s{i}", query="q", output=f"text {i}") for i in range(3)]
    from judgegraph.graphs import sageval

    run = jg.evaluate(sageval(site.judge(seed=1), criteria=[Criterion(name="Clarity")], critic=None), samples)
    assert {item.status for item in run.items} == {"ok"}
    assert site.sent("logprobs")[before:] == [None] * (site.count - before)


@pytest.mark.parametrize(
    ("script", "error", "said"),
    [
        ("401", AuthError, "no such key"),
        ("need-key=another", AuthError, "no such key"),
        ("500", ConfigError, "cannot be used"),
        ("429=0", ConfigError, "cannot be used"),
        ("empty", ConfigError, "cannot be used"),
        ("hang", ConfigError, "no answer within 0.3 s"),
        ("plain-200", ConfigError, "cannot be used"),
    ],
)
async def test_an_endpoint_that_cannot_be_used_is_said_so_in_one_line(server, script, error, said):
    site = server(script)
    with pytest.raises(error) as caught:
        await examine(site.judge(), timeout=0.3)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert known_support(site.judge()) is None
    assert site.count <= 2


async def test_a_limit_of_requests_is_not_taken_for_a_lack(server):
    site = server("ok,429=0")
    diagnosis = await examine(site.judge())
    assert {probe.ok for probe in diagnosis.probes[2:]} <= {None, False}
    assert [probe.name for probe in diagnosis.deviations] == ["authentication"]
    assert (diagnosis.support.json_schema, diagnosis.support.logprobs, diagnosis.support.n) == (None, None, None)


async def test_no_key_is_kept(server):
    site = server("ok")  # the key of these tests begins with "canary" too
    await examine(site.judge())
    login = server("ok").url.replace("://", "://canary-user:canary-word@")
    await examine(Endpoint(model="openai:stub", base_url=login))
    files = [path for path in cache_folder().rglob("*") if path.is_file()]
    assert files
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)
    assert not [path for path in files if "canary" in path.read_text()]


async def test_what_is_not_to_be_kept_is_not(server):
    site = server("ok")
    diagnosis = await examine(site.judge(), save=False)
    assert (diagnosis.saved, known_support(site.judge())) == (None, None)


async def test_a_chat_model_object_is_examined_and_remembers(server):
    site = server("null-logprobs")
    model = ChatOpenAI(model="stub", base_url=site.url, api_key="k")
    diagnosis = await examine(model)
    assert resolve(model).support.logprobs is False
    assert {p.name for p in diagnosis.probes if p.ok is None} == {"errors", "authentication"}
    assert diagnosis.unsaved == "there is no address to remember it by"


def test_all_that_was_found_comes_as_json(server):
    site = server("ok")
    done = CliRunner().invoke(main, ["doctor", "-j", "openai:stub", "--base-url", site.url, "--json"])
    found = json.loads(done.output)
    assert found["support"]["json_schema"] is True
    assert {"name", "ok", "found", "deviation"} == set(found["probes"][0])
    assert found["requests"] == site.count


async def test_the_shared_stub_can_be_used(stub_url):
    diagnosis = await examine(Endpoint(model="openai:stub", base_url=stub_url))
    support = diagnosis.support
    assert (support.json_schema, support.logprobs, support.n, support.tools) == (True, True, True, True)
    assert {probe.name for probe in diagnosis.deviations} == {"max tokens", "errors", "authentication"}


async def test_what_the_calls_cost_is_told_where_the_price_is_known(server):
    assert (await examine("embedded")).usd == 0
    assert (await examine(server("ok").judge())).usd is None


SCRIPTS = [
    "ok", "null-logprobs", "no-logprobs", "few-logprobs", "null-beside-schema", "one-choice", "no-n", "prose",
    "rambling", "no-schema", "schema-500", "schema-loose", "tool-choice-ignored", "tools-ignored", "no-tools",
    "max-ignored",
    "max-older", "no-max", "no-temperature", "moody", "no-usage", "plain-400", "detail-400", "bad-500", "lax",
]  # fmt: skip


async def small_run(site):
    """How many requests a run sends that asks for all that methods ask for."""
    judge, before = site.judge(seed=1, max_tokens=5000), site.count
    for number in range(4):
        text = f"Judge text {number}."
        await ask(judge, text, FORM)
        await rate(judge, [("user", f"{text} Weigh it.")], FORM, SLOTS, Reader("weighted", samples=3))
        await replies(judge, f"{text} Thrice.", FORM, n=3, temperature=0.7)
        await replies(judge, f"{text} Use a tool.", tools=[TOOL])
    return site.count - before


@pytest.mark.long
@pytest.mark.parametrize(
    "script", [pytest.param(name, marks=() if n % 4 == 0 else pytest.mark.long) for n, name in enumerate(SCRIPTS)]
)
async def test_a_run_after_doctor_sends_no_more_requests_than_one_without(server, script):
    plain, site = server(script), server(script)
    without = await small_run(plain)
    await examine(site.judge())
    assert await small_run(site) <= without


@pytest.mark.long
@pytest.mark.parametrize("script", ["prose", "rambling", "no-schema"])
async def test_a_schema_that_doctor_saw_fail_is_not_sent_in_a_whole_run(server, script):
    site = server(script)
    await examine(site.judge())
    before = site.count
    for number in range(5):
        await ask(site.judge(seed=1), f"Judge text {number}.", FORM)
    assert site.sent("response_format")[before:] == [None] * 5


LIMITS = ("max_tokens", "max_completion_tokens")


@pytest.mark.parametrize("transport", ["fast", "langchain"])
@pytest.mark.parametrize(("stale", "heeded"), [LIMITS, LIMITS[::-1]])
async def test_a_name_of_the_limit_that_is_refused_by_now_gives_way_to_the_other(server, transport, stale, heeded):
    site = server("newer" if heeded == "max_completion_tokens" else "no-max")
    judge = site.judge(max_tokens=50, transport=transport)
    keep(judge, Support(max_tokens=stale))
    for _ in range(2):
        await ask(judge, "Judge this.")
    assert [LIMITS[0] in one["body"] for one in site.seen] == [stale == LIMITS[0]] + [heeded == LIMITS[0]] * 2


async def test_a_server_that_takes_no_limit_at_all_ends_the_call(server):
    site = server("no-limit")
    with pytest.raises(ReplyError, match="not supported"):
        await ask(site.judge(max_tokens=50), "Judge this.")
    assert site.count == 2


async def test_what_was_found_refused_is_tried_once_more_after_a_week(server):
    site = server("ok")
    keep(site.judge(), Support(n=False, tools=False, logprobs=False, refused={"temperature"}), now=days_ago(8))
    for number in range(2):
        await replies(site.judge(), f"Judge text {number}.", FORM, n=3, temperature=0.7)
    assert (site.sent("n"), site.sent("temperature")) == ([3, 3], [0.7, 0.7])


def days_ago(days):
    return datetime.now(UTC) - timedelta(days=days)
