"""The log-probability of an output given its source, from a server on loopback that echoes its prompt's."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgegraph.calls import Endpoint
from judgegraph.errors import ConfigError
from judgegraph.tools import measure
from judgegraph.tools.likelihood import Likelihood


class Echo(BaseHTTPRequestHandler):
    """Words for tokens; a word that stood before has the log-probability -0.5, a new one -3."""

    asked: list = []
    mute = False

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, told))
        offsets, values, seen, at = [], [], set(), 0
        for word in (told["prompt"] + " END").split(" "):
            offsets.append(at)
            values.append(None if at == 0 else -0.5 if word.strip() in seen else -3.0)
            seen |= set(word.split())
            at += len(word) + 1
        logprobs = {
            "tokens": ["x"] * len(values),
            "token_logprobs": values,
            "text_offset": offsets,
            "top_logprobs": None,
        }
        choice = {
            "text": told["prompt"],
            "index": 0,
            "finish_reason": "length",
            "logprobs": None if self.mute else logprobs,
        }
        reply = {"id": "c", "object": "text_completion", "created": 0, "model": told["model"], "choices": [choice]}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        Echo.asked, Echo.mute = [], False
        yield Likelihood(
            endpoint=Endpoint(model="openai:small", base_url=f"http://127.0.0.1:{found.server_address[1]}/v1")
        )
        found.shutdown()


def test_it_is_the_mean_over_the_tokens_of_the_output_alone(server):
    found = measure(server, "bridge was shut", source="The bridge is shut")
    assert found.value == pytest.approx((-0.5 - 3.0 - 0.5) / 3, abs=1.0)
    assert found.reason.endswith("nats together")
    path, told = Echo.asked[0]
    assert path == "/v1/completions"
    assert (told["model"], told["echo"], told["prompt"]) == ("small", True, "The bridge is shut\n\nbridge was shut")


def test_a_likelier_output_has_a_higher_value(server):
    near = measure(server, "x The bridge is shut", source="The bridge is shut").value
    assert near > measure(server, "x Octopuses have three hearts", source="The bridge is shut").value


def test_a_server_that_echoes_nothing_ends_a_run_with_what_to_name_in_its_place(server):
    Echo.mute = True
    with pytest.raises(
        ConfigError, match=r"gives no log-probabilities of a prompt.*Likelihood\(model='FILE\.gguf'\)"
    ) as told:
        measure(server, "A text.", source="A source.")
    assert told.value.ends_run


def test_without_a_server_or_a_source_it_says_what_to_do():
    with pytest.raises(ConfigError, match=r"likelihood: name a model on this machine, .*, or a server"):
        measure("likelihood", "A text.", source="A source.")
    assert measure("likelihood", "A text.").reason == "the sample has no source and no query"
