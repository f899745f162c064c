"""Assistants by name: known, light, and true to their own description."""

import re
import subprocess
import sys
import time

import pytest

from judgegraph.errors import ConfigError
from judgegraph.tools import ASSISTANTS, DEFAULTS, FORM_DEFAULTS, Metric, assistant, assistants, find, measure
from judgegraph.types import Sample

LISTED = [assistant(name) for name in ASSISTANTS]
PLAIN = [a.name for a in LISTED if not a.about.extra]  # what works without an extra
COMPARED = [a.name for a in LISTED if {"source", "reference", "reference or source"} & set(a.about.inputs)]
CHOICE = {"text": "How old were you at the end of it?", "type": "choice", "options": ["18-25", "25-30"]}
FORM = {"questions": [CHOICE, {"question": "Why?"}]}
CUSTOM = Metric(name="mine", about="mine", measure=lambda s: 1.0)


@pytest.mark.parametrize("name", ASSISTANTS)
def test_an_assistant_has_its_name_and_its_example_is_true(name):
    found = assistant(name)
    assert found.name == name
    assert len(str(found.about)) < 1024  # what servers take for the description of a tool
    if found.about.example is not None and not found.about.extra:
        output, other, value = found.about.example
        sample = Sample(id="s", output=output, source=other, reference=other or None)
        assert found(sample) == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("name", ASSISTANTS)
def test_an_assistant_declares_what_people_choose_by(name):
    about = assistant(name).about
    fields = {"output", "source", "reference", "query", "reference or source", "source or query"}
    assert about.inputs[0] == "output"
    assert set(about.inputs) <= fields
    assert all((about.measures, about.reads, about.range, about.direction, about.cost, about.licence, about.source))
    assert measure(name, output="Words.").status == "skipped" or set(about.inputs) == {"output"}


def test_the_defaults_are_known_and_some_need_no_source():
    for defaults in (DEFAULTS, FORM_DEFAULTS):
        named = [assistant(name) for name in defaults]
        assert {a.name for a in named} <= set(PLAIN)
        assert sum(a.about.inputs == ("output",) for a in named) >= 3


def test_an_object_is_taken_as_it_is():
    assert assistant(CUSTOM) is CUSTOM
    assert [a.name for a in assistants(["chrf", CUSTOM])] == ["chrf", "mine"]
    assert [a.name for a in assistants("chrf")] == ["chrf"]


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("nosuch", "no assistant 'nosuch'; known: rouge-1, rouge-2, rouge-l, rouge-l-sum"),
        ([], "no assistants given; known: rouge-1"),
        (["chrf", "chrf"], "two assistants are called 'chrf'"),
        (lambda sample: 1.0, "a lambda has no name"),
        (object(), "an object with name, about and assistant(sample)"),
        (Metric(name="my metric", about="", measure=len), "letters, digits, '_' or '-'"),
        (["chrf", 3], "an object with name, about and assistant(sample)"),
    ],
    ids=["unknown", "none", "twice", "no name", "nothing", "no tool's name", "a number"],
)
def test_a_wrong_assistant_is_a_mistake_in_the_call(which, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        assistants(which)


@pytest.mark.slow
def test_the_catalogue_imports_nothing_heavy():
    heavy = "langgraph langchain_core rouge_score sacrebleu nltk numpy scipy onnxruntime tokenizers torch transformers"
    listed = "from judgegraph.cli.main import main; main(['tools', '--json'], standalone_mode=False)"
    for first in ("import judgegraph.tools", listed):
        metric = heavy if first is not listed else heavy.partition("rouge_score")[2]
        code = f"import sys; {first}; print([m for m in '{metric}'.split() if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]", first


TEXT = "The bridge is shut. The bridge is shut until spring."


@pytest.mark.parametrize("name", PLAIN)
async def test_an_assistant_opens_no_connection(name, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    output = FORM if "form" in assistant(name).about.reads else TEXT
    assert (await find(assistant(name), Sample(id="s", output=output, source=TEXT, reference=TEXT))).status == "ok"


@pytest.mark.parametrize("name", COMPARED)
async def test_without_anything_to_compare_with_an_assistant_is_absent(name):
    finding = await find(assistant(name), Sample(id="s", query="Say why.", output="It rains."))
    assert (finding.value, finding.status) == (None, "skipped")
    assert "source" in finding.reason or "reference" in finding.reason


@pytest.mark.parametrize("name", PLAIN)
async def test_an_output_without_a_word_is_far_off_or_absent_but_never_an_error(name):
    finding = await find(assistant(name), Sample(id="s", output=" \n", source=TEXT, reference=TEXT))
    assert finding.value == (100.0 if name == "ter" else 0.0) or finding.status == "skipped"


HUGE = {
    "two words": "x y " * 250_000,
    "one letter": "a" * 1_000_000,
    "unspaced": "中" * 400_000,
    "hyphens": "-a" * 500_000,
    "pattern": "a b a a b " * 100_000,
    "blank": "\n" * 1_000_000,
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("kind", HUGE)
@pytest.mark.sampled(4)
async def test_a_megabyte_ends_in_bounded_time(name, kind):
    start = time.monotonic()
    other = "a b a b b " * 100_000
    await find(assistant(name), Sample(id="s", output=HUGE[kind], source=other, reference=other))
    assert time.monotonic() - start < 10
