"""What a run corrected, as samples of their own that can be judged for what was gained."""

import json

import pytest
from langgraph.graph import START, StateGraph

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graphs import fennec
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

DEPTH = Criterion(name="Depth", guideline="how to grade")
PAIR = Sample(
    id="p1", query="Why is the sky blue?", source="A page.", reference="Scattering.", output="It reflects the sea.",
    rival={"answer": "dunno"}, human={"Depth": 2}, meta={"system": "m1"},
)  # fmt: skip
ROWS = [PAIR, PAIR.model_copy(update={"id": "p2"}), PAIR.model_copy(update={"id": "p3"})]


def judge(*corrections, scores=(2, 1)):
    """Scores every pair alike, and corrects by these replies, in the order of asking."""
    left = list(corrections)

    def answer(messages):
        if "<judgements-" in str(messages):
            return left.pop(0)
        a, b = scores
        said = {"explanation_a": "shallow", "score_a": a, "explanation_b": "empty", "score_b": b}
        return {**said, "comparison": "both are poor"}

    return scripted(*[answer] * 100)


def run(*corrections, samples=ROWS[:1], scores=(2, 1), **settings):
    graph = fennec(judge(*corrections, scores=scores), criteria=[DEPTH])
    return jg.evaluate(graph, samples, concurrency=1, **settings)


def better(text):
    return {"response": text}


def test_a_correction_stands_beside_its_original_with_what_it_was_corrected_by():
    first, second = run(better("It scatters light."), better("It is the air.")).corrected()
    assert (first.id, first.output, first.rival) == ("p1:output", "It scatters light.", "It reflects the sea.")
    assert (second.id, second.output, second.rival) == ("p1:rival", "It is the air.", {"answer": "dunno"})
    for sample in (first, second):
        assert (sample.query, sample.source, sample.reference) == (PAIR.query, PAIR.source, PAIR.reference)
        assert sample.human == {}  # they are of the original
        assert sample.meta["system"] == "m1"
    about = first.meta["corrected"]
    assert (about["id"], about["of"], about["criteria"], about["rule"]) == ("p1", "output", ["Depth"], "below 3 on 1-5")
    assert about["by"] == [{"criterion": "Depth", "value": 2.0, "agent": "comparer", "reason": "shallow"}]
    assert about["run"].startswith("fennec|v:")
    assert second.meta["corrected"]["by"][0]["reason"] == "empty"


def test_two_methods_corrections_of_one_output_are_samples_of_their_own(tmp_path):
    graph = StateGraph(jg.EvalState)
    for name in "pq":
        graph.add_node(name, fennec(judge(*map(better, (f"{name} 1", f"{name} 2"))), criteria=[DEPTH], name=name))
        graph.add_edge(START, name)
    run = jg.evaluate(graph.compile(), ROWS[:1], out=tmp_path / "run")
    found = {sample.id: sample for sample in jg.Run.load(tmp_path / "run").corrected()}
    assert list(run.corrected()) == list(found.values())
    ids = [f"p1:{of}:{name}-corrector" for name in "pq" for of in ("output", "rival")]
    assert sorted(found) == sorted(ids)
    for sample in found.values():
        assert sample.meta["corrected"]["agent"] == sample.id.rpartition(":")[2] == f"{sample.output[0]}-corrector"


def test_what_was_not_corrected_is_left_out():
    broken = [{"response": ""}] * 3
    assert [s.id for s in run(better("It scatters."), *broken).corrected()] == ["p1:output"]
    assert list(run(scores=(5, 5)).corrected()) == []
    assert list(jg.evaluate(fennec(criteria=[DEPTH], correct="off"), ROWS[:1]).corrected()) == []


@pytest.mark.parametrize("saved", [True, False], ids=["of a folder", "held"])
def test_a_file_of_them_is_loaded_as_it_was_in_the_order_of_the_dataset(saved, tmp_path):
    replies = [better(f"Text {i}.") for i in range(6)]
    made = run(*replies, samples=ROWS, **({"out": tmp_path / "run"} if saved else {}))
    assert made.export_corrected(tmp_path / "corrected.jsonl") == 6
    samples = list(jg.load(tmp_path / "corrected.jsonl"))
    assert samples == list(made.corrected())
    assert [s.id for s in samples] == [f"p{i}:{of}" for i in (1, 2, 3) for of in ("output", "rival")]
    if saved:
        assert list(jg.Run.load(tmp_path / "run").corrected()) == samples


def test_the_runs_own_files_are_not_written_over(tmp_path):
    made = run(better("a"), better("b"), out=tmp_path / "run")
    before = (tmp_path / "run/items.jsonl").read_bytes()
    with pytest.raises(ConfigError, match="is a file of the run itself"):
        made.export_corrected(tmp_path / "run/items.jsonl")
    assert (tmp_path / "run/items.jsonl").read_bytes() == before


@pytest.mark.parametrize("mode", ["pair", "apart", "single"])
def test_corrections_are_judged_again(mode, tmp_path):
    run(better("It scatters light."), better("It is the air.")).export_corrected(tmp_path / "c.jsonl")
    scores = {"It scatters light.": 5, "It is the air.": 4, "It reflects the sea.": 2, "dunno": 1}

    def answer(messages):
        values = [value for text, value in scores.items() if text in str(messages[1].content)]
        if mode == "pair":
            said = {"explanation_a": "", "score_a": values[0], "explanation_b": "", "score_b": values[1]}
            return {**said, "comparison": ""}
        return {"reason": "", "score": values[0]}

    graph = fennec(scripted(*[answer] * 10), criteria=[DEPTH], mode=mode, correct="off")
    items = list(jg.evaluate(graph, jg.load(tmp_path / "c.jsonl")).items)
    assert sorted(item.overall for item in items) == [4, 5]
    assert {item.verdict for item in items} == ({None} if mode == "single" else {"A"})


def test_without_a_key_the_round_is_closed(tmp_path):
    path = tmp_path / "c.jsonl"
    made = jg.evaluate(fennec(mode="pair", correct="at-most"), ROWS[:1])
    assert made.export_corrected(path) > 0
    again = jg.evaluate(fennec(mode="pair", orders="both"), jg.load(path))
    assert {item.status for item in again.items} == {"ok"}
    assert all(json.loads(line)["meta"]["corrected"]["id"] == "p1" for line in path.read_text().splitlines())
