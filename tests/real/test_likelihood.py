"""Log-probabilities by a model on this machine, beside those that llama.cpp has for the same file: `make real`."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from llama_server import KEY, served

from judgegraph.calls import Endpoint
from judgegraph.errors import ConfigError
from judgegraph.tools import measure
from judgegraph.tools.likelihood import Likelihood

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]
SOURCE = "The old bridge over the river is shut to cars until spring because its pillars are cracked."
OUTPUTS = ("No car may cross the old bridge before spring.", "Octopuses cracked the spring of three old hearts.")
EVERY = 60_000  # more than the model has tokens: the whole distribution


@pytest.fixture(scope="module")
def folder() -> Path:
    given = os.environ.get("JUDGEGRAPH_REAL")
    if not given:
        pytest.skip("skipped: JUDGEGRAPH_REAL names no folder with the server (make real)")
    return Path(given).resolve()


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


def asked(url: str, what: str, **body: Any) -> Any:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(url.removesuffix("/v1") + what, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=300) as reply:
        return json.load(reply)


def by_the_server(url: str, before: str, output: str) -> list[float]:
    """Of each token of the output, asked for one by one: the server echoes none of a prompt."""
    pieces = asked(url, "/tokenize", content=before + output, with_pieces=True)["tokens"]
    tokens, ends = [one["id"] for one in pieces], [*accumulate(len(one["piece"]) for one in pieces)]
    start = next(at for at, end in enumerate(ends) if end > len(before))
    found = []
    for at in range(start, len(tokens)):
        reply = asked(url, "/completion", prompt=tokens[:at], n_predict=1, n_probs=EVERY, temperature=1.0)
        listed = reply["completion_probabilities"][0]["top_logprobs"]
        found.append(next(one["logprob"] for one in listed if one["id"] == tokens[at]))
    return found


def test_the_value_is_that_of_llama_cpp_for_the_same_file(url: str, folder: Path) -> None:
    pytest.importorskip("transformers", reason="skipped: needs judgegraph[likelihood]")
    own = Likelihood(model=str(folder / "model.gguf"))
    values = []
    for output in OUTPUTS:
        theirs = by_the_server(url, SOURCE + "\n\n", output)
        found = measure(own, output, source=SOURCE)
        assert found.reason.startswith(f"{len(theirs)} tokens"), found
        # weights of eight bits are the same; llama.cpp multiplies in eight bits, transformers in 32
        assert found.value == pytest.approx(sum(theirs) / len(theirs), abs=0.05)
        values.append(found.value)
    assert values[0] > values[1] + 1


def test_a_server_that_echoes_no_prompt_says_what_to_name_in_its_place(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    asked_of = Likelihood(endpoint=Endpoint(model="openai:smollm2", base_url=url))
    with pytest.raises(
        ConfigError, match=r"its server gives no log-probabilities of a prompt.*name its file, Likelihood\(model="
    ):
        measure(asked_of, OUTPUTS[0], source=SOURCE)
