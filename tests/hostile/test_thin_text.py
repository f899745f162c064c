"""A text of fewer than eight words, or a key that opens judges, is flagged by every method, critic and helper."""

from typing import Any

import pytest
from test_uplift import SCORING, made

import judgegraph as jg
from judgegraph.runs.item import TITLES, short_text_notes
from judgegraph.types import Sample

ENOUGH = "The library is open from nine to six."
KEYS = (
    ":", ".", " ", "", "Thought process:", "Let's solve this step by step.", "Solution", "**Solution:**", "Answer: ",
    "Let\u2019s solve this problem step by step", "Final answer:", "\u89e3", "\u89e3:", "Respuesta",
    "\u304b\u3044\u305b\u3064",
    "Thought process: Let's think step by step. Let's solve this problem step by step. Solution: The answer is:",
)  # fmt: skip


def flags(**texts: Any) -> list[str]:
    return [note.text.split(":")[0] for note in short_text_notes(Sample(id="s", **texts))]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_flagged_as_one(key: str):
    why = {"": "is empty", " ": "is empty", ":": "has no word, signs alone", ".": "has no word, signs alone"}
    said = why.get(key, "opens an answer and gives none")
    assert flags(output=key) == [f"the output {said}"]
    assert flags(output=ENOUGH, rival=key) == [f"the rival {said}"]
    (note,) = short_text_notes(Sample(id="s", output=key))
    assert note.kind in TITLES


@pytest.mark.parametrize(
    "text",
    ["Yes.", "one two three four five six seven", "The solution is blue.", "x" * 5000, {"a": 1}, {"title": "Ja"}],
)
def test_fewer_than_eight_words_are_flagged(text: Any):
    assert flags(output=text) == ["the output has fewer than 8 words"]


@pytest.mark.parametrize("text", [ENOUGH, "\u56fe\u4e66\u9986\u4ece\u4e5d\u70b9\u5f00\u5230\u516d\u70b9", "w " * 9999])
def test_eight_words_of_any_script_are_not(text: str):
    assert flags(output=text) == []


FEW = ("a panel role", "panel", "sageval critic-panel", "refine devils-advocate", "escalate", "each")


@pytest.mark.parametrize("name", [n if n in FEW else pytest.param(n, marks=pytest.mark.long) for n in SCORING])
def test_each_run_flags_it_and_whatever_was_found_stays(name: str):
    run = jg.evaluate(made(name), [Sample(id="key", output=":", source=ENOUGH), Sample(id="text", output=ENOUGH)])
    flagged = {item.id: [n.text for n in item.notes if n.agent == "sample"] for item in run.items}
    assert [text.split(":")[0] for text in flagged["key"]] == ["the output has no word, signs alone"]
    assert flagged["text"] == []
    assert all(item.status == "ok" for item in run.items)


def test_a_run_counts_empty_texts_and_names_one():
    samples = [Sample(id=name, output=text, source=ENOUGH) for name, text in {"full": ENOUGH, "e": "", "f": ""}.items()]
    found = {one["kind"]: one for one in jg.evaluate(made("g-eval"), samples).summary().to_dict()["notices"]}
    assert (found["text-empty"]["samples"], found["text-empty"]["sample"]) == (2, "e")
    assert found["text-empty"]["example"].startswith("the output is empty")


def test_the_mean_says_how_many_of_its_scores_cannot_be_trusted_and_what_it_is_without_them():
    texts = {"full": ENOUGH, "e": "", "f": "Thought process:", "g": ":"}
    found = jg.evaluate(made("g-eval"), [Sample(id=id, output=text, source=ENOUGH) for id, text in texts.items()])
    alone = jg.evaluate(made("g-eval"), [Sample(id="full", output=ENOUGH, source=ENOUGH)]).summary()
    (told,), (mean,) = found.summary().to_dict()["headline"], alone.headline.values()
    assert (told["samples"], told["untrusted"]) == (4, 3)
    assert told["mean_without_untrusted"] == pytest.approx(mean.value)
    said = f"4 samples, 3 of these of texts that give nothing to judge: {mean.value:.3f} without them"
    assert said in str(found.summary())
    assert "untrusted" not in alone.to_dict()["headline"][0]
    assert "give nothing to judge" not in str(alone)
    empty = jg.evaluate(made("g-eval"), [Sample(id="e", output="", source=ENOUGH)]).summary()
    assert "1 of these of texts that give nothing to judge: none without them" in str(empty)
