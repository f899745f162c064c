"""Forms that ask by raw text, over loopback: what goes to /completions, and what comes back."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import judgegraph as jg
from judgegraph.calls import Endpoint

PAIR = jg.Sample(id="1", query="Q", output="first words", rival="second words")
TWO = "{question}\n1: {answer_1}\n2: {answer_2}\n"


class Completions(BaseHTTPRequestHandler):
    """Goes on with a text by the server's own reply."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, body))
        said = json.dumps(self.server.answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with HTTPServer(("127.0.0.1", 0), Completions) as made:
        made.seen, made.answer = [], {}
        thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join(timeout=5)


def judge(server, **settings):
    url = f"http://127.0.0.1:{server.server_port}/v1"
    return Endpoint(model="openai:panda", base_url=url, attempts=1, timeout=5.0, **settings)


def test_a_form_of_raw_text_goes_to_completions_as_one_prompt_with_its_settings(server, tmp_path):
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    server.answer = {"choices": [{"text": "2\n\n### Reason: so", "finish_reason": "stop"}], "usage": usage}
    graph = jg.judge_form("pandalm", judge=judge(server), template=TWO)
    run = jg.evaluate(graph, [PAIR], out=tmp_path / "run")
    assert next(iter(run.items)).verdict == "B"
    ((path, body),) = server.seen
    assert path == "/v1/completions"
    assert body["prompt"] == "Q\n1: first words\n2: second words\n"
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("panda", 0.0, 512)
    assert not {"messages", "raw_text", "max_completion_tokens"} & body.keys()
    again = jg.evaluate(graph, [PAIR], out=tmp_path / "again", ledger=tmp_path / "run/ledger.sqlite")
    assert next(iter(again.items)).verdict == "B"
    assert len(server.seen) == 1  # paid once


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"choices": [{"text": "2", "finish_reason": "length"}]}, "truncated"),
        ({"choices": [{"text": "", "finish_reason": "stop"}]}, "unreadable"),
        ({"choices": [{"words": "2"}]}, "provider_error"),
        ({"error": {"message": "no such model"}}, "provider_error"),
    ],
)
def test_a_completion_that_is_none_is_a_status_and_no_verdict(server, answer, status):
    server.answer = answer
    run = jg.evaluate(jg.judge_form("pandalm", judge=judge(server), template=TWO), [PAIR])
    (item,) = run.items
    assert (item.verdict, [c.status for c in item.comparisons]) == (None, [status])


def test_a_judge_that_takes_messages_alone_is_refused_with_the_cure(server):
    graph = jg.judge_form("pandalm", judge=judge(server, transport="langchain"), template=TWO)
    with pytest.raises(jg.ConfigError, match="asks by raw text"):
        jg.evaluate(graph, [PAIR])
    assert not server.seen
