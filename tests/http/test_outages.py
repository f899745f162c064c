"""A server that is out for a while, refuses one text, or sends us on: told by real servers that stop and start."""

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path

import pytest
from langchain_openai import ChatOpenAI

import judgegraph as jg
from judgegraph.calls import Endpoint, ask
from judgegraph.calls.limits import Limits
from judgegraph.errors import AuthError, ReplyError
from judgegraph.graphs import fennec, g_eval, llm_score
from judgegraph.runs.summary import covered

pytestmark = pytest.mark.slow

_spec = spec_from_file_location("outages_server", Path(__file__).with_name("server.py"))
served = module_from_spec(_spec)
_spec.loader.exec_module(served)
SEEN = served.SEEN
CRITERIA = [jg.Criterion(name="Clarity")]


class Switched:
    """A server in this process that can be stopped, its connections with it, and started again at the same address."""

    def __init__(self, port=0):
        self.port = port
        self.start()

    def start(self):
        self.open = []
        site = self

        class Own(served.Server):
            def process_request(self, request, client_address):
                site.open.append(request)
                super().process_request(request, client_address)

        self.server = Own(("127.0.0.1", self.port), served.Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        for one in self.open:
            with suppress(OSError):  # it was closed
                one.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)

    def url(self, script, name):
        return f"http://127.0.0.1:{self.port}/{script}/{name}/v1"


@pytest.fixture
def switched():
    SEEN.clear()
    site = Switched()
    yield site
    site.stop()


def samples(count, **texts):
    return [jg.Sample(id=str(n), output=texts.get(f"s{n}", f"text {n}")) for n in range(count)]


def graph_of(url, **settings):
    return llm_score(Endpoint(model="openai:stub", base_url=url, timeout=5, **settings), criteria=CRITERIA)


def states(run):
    return Counter(item.scores[0].status if item.scores else item.status for item in run.items)


@pytest.mark.parametrize(
    ("seconds", "count"),
    [(2.5, 300), pytest.param(20, 2000, marks=pytest.mark.long)],
)
def test_an_outage_fails_no_sample_and_stops_their_clocks(switched, monkeypatch, seconds, count):
    monkeypatch.setattr("judgegraph.calls.limits.LONGEST", 0.5)
    done, told = [], []

    def on_item(item):
        done.append(item)
        if len(done) == 20:
            switched.stop()
            threading.Timer(seconds, switched.start).start()

    run = jg.evaluate(
        graph_of(switched.url("slow=0.05", "a")), samples(count), timeout=min(seconds, 5) * 0.9 + 0.5,
        on_item=on_item, on_progress=told.append, concurrency=32,
    )  # fmt: skip
    assert states(run) == {"ok": count}
    assert run.manifest["unreachable"] == ""
    paused = [now.outages for now in told if now.outages]
    assert {what for one in paused for what, _ in one.values()} == {"no connection"}
    assert all("openai:stub at http://127.0.0.1" in judge for one in paused for judge in one)


def test_after_an_outage_there_is_no_rush(server):
    """The first request that is answered is alone; then each answer makes room for one more."""
    site = server("out=1.2")
    run = jg.evaluate(graph_of(site.url, attempts=1), samples(40), limits=Limits(patience=60), concurrency=16)
    assert states(run) == {"ok": 40}
    at, start = sorted(one["at"] for one in site.seen), min(one["at"] for one in site.seen)
    looks = [t for t in at if start + 0.15 < t < start + 1.2]
    assert len(at) - len(looks) - 40 <= 16  # all that were under way when it began
    assert len(looks) <= 4
    assert all(later - earlier > 0.2 for earlier, later in pairwise(looks))


@pytest.mark.parametrize("transport", ["fast", "langchain"])
def test_a_judge_that_never_answered_is_not_waited_for_long_and_the_run_ends(unused_port, monkeypatch, transport):
    monkeypatch.setattr("judgegraph.calls.limits.COLD", 0.6)
    url, told = f"http://127.0.0.1:{unused_port}/v1", []
    run = jg.evaluate(graph_of(url, transport=transport), samples(50), concurrency=4, on_progress=told.append)
    found = list(run.items)
    assert len(found) <= 4
    assert states(run) == {"provider_error": len(found)}
    assert "no connection for 1 s, and never an answer: check its address" in found[0].scores[0].reason
    assert "check its address" in run.manifest["unreachable"]
    assert "--patience SECONDS (jg.Limits) waits longer" in run.manifest["unreachable"]
    assert run.manifest["state"] == "stopped"


def test_a_server_that_says_at_the_start_that_it_is_out_is_there_and_waited_for(server, monkeypatch):
    monkeypatch.setattr("judgegraph.calls.limits.COLD", 0.3)
    run = jg.evaluate(graph_of(server("out=1.2").url), samples(6), concurrency=4)
    assert states(run) == {"ok": 6}


def test_what_an_outage_left_is_judged_by_the_same_command(switched, tmp_path, monkeypatch):
    def on_item(_):
        if switched.open:
            switched.stop()

    out, told = tmp_path / "run", {"limits": Limits(patience=0.5), "concurrency": 4}
    graph = graph_of(switched.url("ok", "b"))
    run = jg.evaluate(graph, samples(40), out=out, on_item=on_item, **told)
    failed = [item.scores[0] for item in run.items if item.scores[0].status != "ok"]
    assert run.manifest["state"] == "stopped"
    assert len(failed) <= 4
    assert all("no connection for 1 s, longer than it is waited for" in score.reason for score in failed)
    switched.start()
    jg.evaluate(graph, samples(40), out=out, **told)
    run = jg.evaluate(graph, samples(40), out=out, retry_failed=True, **told)
    assert states(run) == {"ok": 40}


@pytest.mark.parametrize("others", [12, 0], ids=["beside others", "alone"])
def test_a_text_that_crashes_its_server_holds_up_nobody_for_long(server, no_backoff, others):
    site = server("crash")
    texts = samples(others + 1, s0="forbidden")
    run = jg.evaluate(graph_of(site.url, attempts=3, patience=None if others else 0.5), texts, concurrency=4)
    assert {item.id: item.scores[0].status for item in run.items}["0"] == "provider_error"
    assert states(run)["ok"] == others


@pytest.mark.long
def test_a_stop_during_an_outage_is_obeyed_at_once_and_nothing_is_lost(switched, tmp_path):
    stop, out, paused = threading.Event(), tmp_path / "run", []
    graph = graph_of(switched.url("ok", "c"))

    def on_item(_):
        if switched.open:
            switched.stop()

    def on_progress(now):
        if now.outages:
            paused.append(now)
            stop.set()

    run = jg.evaluate(graph, samples(40), out=out, stop=stop, on_item=on_item, on_progress=on_progress, concurrency=4)
    assert paused
    assert paused[-1].outages
    assert max(seconds for _, seconds in paused[-1].outages.values()) < 60  # of the 600 that it would have waited
    assert run.manifest["state"] == "stopped"
    assert set(states(run)) <= {"ok"}
    switched.start()
    assert states(jg.evaluate(graph, samples(40), out=out)) == {"ok": 40}


@pytest.mark.long
def test_the_command_line_says_at_once_that_it_is_paused(unused_port, tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps({"id": str(n), "output": "text"}) + "\n" for n in range(3)))
    url = f"http://127.0.0.1:{unused_port}/v1"
    told = ["-c", "summary", "-j", "openai:m", "--base-url", url, "--patience", "2"]
    command = [sys.executable, "-m", "judgegraph", "run", "llm-score", str(data), *told]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"paused: openai:m at {url}: no connection" in done.stderr
    assert "ended by an outage: openai:m: no connection for 2 s" in " ".join(done.stdout.split())


@pytest.mark.parametrize("first", [True, False], ids=["the first text", "a later one"])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_firewall_that_refuses_one_text_fails_that_sample(server, tmp_path, first, concurrency):
    site, place = server("firewall"), 0 if first else 5
    texts = samples(40, **{f"s{place}": "forbidden", "s7": "forbidden too"})
    run = jg.evaluate(graph_of(site.url), texts, out=tmp_path / "run", concurrency=concurrency)
    assert states(run) == {"ok": 38, "provider_error": 2}
    reason = {item.id: item for item in run.items}[str(place)].scores[0].reason
    assert f"openai:stub at {site.url.removesuffix('/')}" in reason
    assert "blocked by the firewall" in reason
    assert "it refuses this text: ask another judge (--judge), or leave the sample out" in reason
    (told,) = run.summary().unread.values()
    assert (told.samples, told.sample in (str(place), "7"), told.text) == (2, True, reason)
    assert run.manifest["state"] == "finished"


@pytest.mark.parametrize("rival", [None, "The bridge is open."])
def test_a_sample_of_which_nothing_was_judged_as_its_criteria_were_refused_is_no_ok_one(server, tmp_path, rival):
    judge = Endpoint(model="openai:stub", base_url=server("firewall").url)
    texts = [jg.Sample(id=q, query=q, output="The bridge is shut.", rival=rival) for q in ("When?", "forbidden")]
    run = jg.evaluate(fennec(judge, correct="off"), texts, out=tmp_path / "run", concurrency=1)
    good, bad = run.items
    assert (good.status, bad.status) == ("ok", "provider_error")
    assert "no criteria" in bad.reason
    assert "blocked by the firewall" in bad.reason
    assert covered(run.summary()).share == pytest.approx(0.5)


@pytest.mark.parametrize("script", ["401", "403", "404"])
@pytest.mark.parametrize("count", [1, 2, 100])
def test_a_judge_that_refuses_everybody_ends_the_run_with_one_line(server, tmp_path, script, count):
    site = server(script)
    with pytest.raises(AuthError, match=f"Error code: {script}") as caught:
        jg.evaluate(graph_of(site.url), samples(count), out=tmp_path / "run", concurrency=1)
    said = str(caught.value)
    assert "\n" not in said
    assert f"judge openai:stub at {site.url.removesuffix('/')}" in said
    assert re.search(
        r"it refused sample '\d+'( and \d+ more)?, and answered none; check the key, the model's name", said
    )
    assert "--base-url" in said
    assert ("or the server refuses these texts" in said) == (script == "403")
    assert site.count <= (20 if script == "403" else 3)
    assert not list(jg.Run.load(tmp_path / "run").items)  # the next run, with the right key, judges them all


def test_a_judge_that_refuses_everybody_is_asked_for_no_more_than_was_under_way(server):
    """40 samples with four calls each are begun at once."""
    site = server("slow-401=0.3")
    judge = Endpoint(model="openai:stub", base_url=site.url, timeout=5)
    with pytest.raises(AuthError, match="answered none; check the key"):
        jg.evaluate(g_eval(judge, criteria="summary"), samples(40), concurrency=40)
    assert site.count <= 64  # as many as may be in flight by default


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_firewall_that_refuses_the_first_texts_fails_those_samples(server, concurrency):
    """It refuses at once, and the model takes its time."""
    site = server("slow-firewall=0.3")
    texts = samples(16, **{f"s{n}": "forbidden" for n in range(10)})
    assert states(jg.evaluate(graph_of(site.url), texts, concurrency=concurrency)) == {"ok": 6, "provider_error": 10}


def test_of_many_refusals_at_once_none_ends_a_run_while_a_model_is_answering(server):
    texts = samples(64, **{f"s{n}": "forbidden" for n in range(1, 64)})
    run = jg.evaluate(graph_of(server("slow-firewall=1").url), texts, concurrency=64)
    assert states(run) == {"ok": 1, "provider_error": 63}


@pytest.mark.parametrize(("script", "status"), [("firewall", "provider_error"), ("filter-one-text", "filtered")])
def test_a_refused_text_is_sent_once_a_criterion_also_where_choices_are_asked_for_one_by_one(server, script, status):
    site = server(f"no-logprobs+no-n+{script}")
    judge = Endpoint(model="openai:stub", base_url=site.url)
    run = jg.evaluate(g_eval(judge, criteria=CRITERIA), samples(2, s1="forbidden"), concurrency=1)
    assert states(run) == {"ok": 1, status: 1}
    assert sum("forbidden" in str(one["body"]["messages"]) for one in site.seen) == 1


def test_a_folder_that_has_answers_of_a_judge_goes_on_though_it_refuses_every_text_now(server, tmp_path):
    texts = samples(30, **{f"s{n}": "forbidden" for n in range(1, 30)})
    graph, out = graph_of(server("firewall").url), tmp_path / "run"
    assert states(jg.evaluate(graph, texts[:1], out=out)) == {"ok": 1}
    run = jg.evaluate(graph, texts, out=out, concurrency=1)
    assert states(run) == {"ok": 1, "provider_error": 29}
    with pytest.raises(AuthError, match="answered none"):  # nobody has ever had an answer here
        jg.evaluate(graph, texts[1:], out=tmp_path / "other", concurrency=1)


def test_a_wait_longer_than_a_samples_clock_is_named(server):
    run = jg.evaluate(graph_of(server("429=900").url), samples(2), timeout=0.5, concurrency=1)
    for item in run.items:
        assert item.status == "timeout"
        assert "the server asked to wait 900 s (Retry-After), longer than a sample may take" in item.reason


@pytest.mark.parametrize("way", ["fast", "langchain", "a chat model"])
async def test_neither_key_nor_text_goes_where_a_server_sends_us(server, switched, monkeypatch, way):
    monkeypatch.setenv("JUDGEGRAPH_TRANSPORT", "fast" if way == "fast" else "langchain")
    site = server(f"redirect={switched.port}")
    judge = Endpoint(model="openai:stub", base_url=site.url)
    if way == "a chat model":
        judge = ChatOpenAI(model="stub", base_url=site.url, api_key="k", default_headers={"X-Own": "1"}, top_p=0.5)
    with pytest.raises((AuthError, ReplyError), match=f"sends us on to http://localhost:{switched.port}/ok/stolen"):
        await ask(judge, "the text")
    assert (site.count, SEEN.get("stolen")) == (1, None)


async def test_the_stolen_address_would_have_been_reached(switched):
    """Else the test above could not fail."""
    assert await asyncio.wait_for(
        ask(Endpoint(model="openai:stub", base_url=f"http://localhost:{switched.port}/ok/stolen/v1"), "x"), 20
    )
    assert len(SEEN["stolen"]) == 1
