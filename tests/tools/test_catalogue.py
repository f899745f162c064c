"""Assistants by name: known, light, and true to their own description."""

import re
import subprocess
import sys
import time

import pytest

from judgegraph.errors import ConfigError
from judgegraph.tools import ASSISTANTS, DEFAULTS, Metric, assistant, assistants, find
from judgegraph.types import Sample

CUSTOM = Metric(name="mine", about="mine", measure=lambda s: 1.0)


@pytest.mark.parametrize("name", ASSISTANTS)
def test_an_assistant_has_its_name_and_its_example_is_true(name):
    found = assistant(name)
    output, other, value = found.about.example
    assert found.name == name
    assert found(Sample(id="s", output=output, source=other)) == pytest.approx(value, abs=1e-4)
    assert len(str(found.about)) < 1024  # what servers take for the description of a tool


def test_the_defaults_are_known():
    assert {name.removeprefix("judgegraph:") for name in DEFAULTS} <= set(ASSISTANTS)


def test_an_object_is_taken_as_it_is():
    assert assistant(CUSTOM) is CUSTOM
    assert [a.name for a in assistants(["chrf", CUSTOM])] == ["chrf", "mine"]
    assert [a.name for a in assistants("chrf")] == ["chrf"]


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("bleurt", "no assistant 'bleurt'; known: rouge-1, rouge-2, rouge-l, chrf"),
        ([], "no assistants given; known: rouge-1"),
        (["chrf", "chrf"], "two assistants are called 'chrf'"),
        (lambda sample: 1.0, "an object with name, about and assistant(sample)"),
        (Metric(name="my metric", about="", measure=len), "letters, digits, '_' or '-'"),
        (["chrf", 3], "an object with name, about and assistant(sample)"),
    ],
    ids=["unknown", "none", "twice", "no name", "no tool's name", "a number"],
)
def test_a_wrong_assistant_is_a_mistake_in_the_call(which, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        assistants(which)


def test_the_catalogue_imports_nothing_heavy():
    heavy = "langgraph langchain_core rouge_score sacrebleu nltk numpy scipy"
    code = f"import sys, judgegraph.tools; print([m for m in '{heavy}'.split() if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TEXT = "The bridge is shut. The bridge is shut until spring."


@pytest.mark.parametrize("name", ASSISTANTS)
async def test_an_assistant_opens_no_connection(name, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    assert (await find(assistant(name), Sample(id="s", output=TEXT, source=TEXT))).status == "ok"


@pytest.mark.parametrize("name", ASSISTANTS)
async def test_without_anything_to_compare_with_an_assistant_is_absent(name):
    finding = await find(assistant(name), Sample(id="s", query="Say why.", output="It rains."))
    assert (finding.value, finding.status) == (None, "skipped")
    assert "source" in finding.reason


@pytest.mark.parametrize("name", ASSISTANTS)
async def test_an_output_without_a_word_is_zero_or_absent_but_never_an_error(name):
    finding = await find(assistant(name), Sample(id="s", output=" \n", source=TEXT))
    assert finding.value == 0.0 or (finding.status, finding.reason) == ("skipped", "the output holds no word")


HUGE = {
    "two words": "x y " * 250_000,
    "one letter": "a" * 1_000_000,
    "unspaced": "中" * 400_000,
    "hyphens": "-a" * 500_000,
    "pattern": "a b a a b " * 100_000,
    "blank": "\n" * 1_000_000,
}


@pytest.mark.parametrize("name", ASSISTANTS)
@pytest.mark.parametrize("kind", HUGE)
@pytest.mark.sampled(4)
async def test_a_megabyte_ends_in_bounded_time(name, kind):
    start = time.monotonic()
    await find(assistant(name), Sample(id="s", output=HUGE[kind], source="a b a b b " * 100_000))
    assert time.monotonic() - start < 10
