"""A run's folder: what is in it stays, what cannot be written is told, and only finished samples make it a run's."""

import json

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError
from judgegraph.graphs import llm_score
from judgegraph.runs.folder import Folder
from judgegraph.types import EvalState, Sample, Score, keyed


def samples(count):
    return [Sample(id=f"s{i}", query="q", output=f"text {i}") for i in range(count)]


async def fine(state: EvalState) -> EvalState:
    return {"scores": keyed(Score(criterion="Clarity", agent="a", value=3))}


@pytest.fixture
def graph():
    made = StateGraph(EvalState)
    made.add_node("judge", fine)
    made.add_edge(START, "judge")
    made.add_edge("judge", END)
    return made.compile(name="one-node")


def test_a_torn_last_line_is_left_out(graph, tmp_path):
    jg.evaluate(graph, samples(3), out=tmp_path / "run")
    lines = (tmp_path / "run/items.jsonl").read_text()
    (tmp_path / "run/items.jsonl").write_text(lines[:-20])
    assert len(list(jg.Run.load(tmp_path / "run").items)) == 2


def test_a_folder_that_holds_a_run_is_gone_on_with(graph, tmp_path):
    jg.evaluate(graph, samples(1), out=tmp_path)
    before = (tmp_path / "items.jsonl").read_bytes()
    jg.evaluate(graph, samples(2), out=tmp_path)
    after = (tmp_path / "items.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == 2


def test_what_is_no_run_is_refused_by_name(tmp_path):
    with pytest.raises(DataError, match="is no run's folder"):
        jg.Run.load(tmp_path)


def test_files_of_a_run_are_their_owners_alone(graph, tmp_path):
    jg.evaluate(graph, samples(1), out=tmp_path / "run")
    assert {p.stat().st_mode & 0o077 for p in (tmp_path / "run").iterdir()} == {0}


def test_an_empty_name_is_not_the_current_folder(graph, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="a run's folder has a name"):
        jg.evaluate(graph, samples(1), out="")
    assert list(tmp_path.iterdir()) == []


def unreadable(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    return jg.load(tmp_path / "empty.jsonl")


@pytest.mark.parametrize(
    ("judge", "given", "said"),
    [
        ("gpt-4", lambda _: samples(1), "no judge 'gpt-4'"),
        ("openai:m", lambda _: samples(1), "no key"),
        ("embedded", unreadable, "holds no rows"),
        ("embedded", lambda _: iter([None]), "samples hold a NoneType"),
    ],
    ids=["no such judge", "no key", "no rows", "no sample"],
)
def test_a_run_that_never_began_leaves_no_folder(judge, given, said, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match=said):
        jg.evaluate(llm_score(judge, criteria="general"), given(tmp_path), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_without_a_finished_sample_holds_no_run(graph, tmp_path):
    (tmp_path / "items.jsonl").touch()
    assert len(list(jg.evaluate(graph, samples(2), out=tmp_path).items)) == 2
    assert json.loads((tmp_path / "manifest.json").read_text())["state"] == "finished"


@pytest.mark.parametrize(
    ("make", "out", "said"),
    [
        (lambda at: (at / "manifest.json").mkdir(), "", "manifest.json"),
        (lambda at: (at / "rejected.json").mkdir(), "", "rejected.json"),
        (lambda at: (at / "items.jsonl").mkdir(), "", "items.jsonl: Is a directory"),
        (lambda at: (at / "a").touch(), "a", "File exists"),
        (lambda at: (at / "a").touch(), "a/b", "Not a directory"),
        (lambda at: None, "n" * 300, "File name too long"),
    ],
    ids=["the manifest is a folder", "so is another file", "so are the items", "a file", "below a file", "a long name"],
)
def test_what_cannot_be_written_is_told_in_one_line(make, out, said, graph, tmp_path):
    make(tmp_path)
    with pytest.raises(ConfigError, match=said) as raised:
        jg.evaluate(graph, samples(1), out=tmp_path / out)
    assert "\n" not in str(raised.value)
    assert not list(tmp_path.glob(".*.new"))


def test_items_that_cannot_be_added_end_the_run(graph, tmp_path, monkeypatch):
    def full(self, line):
        with self._writing():
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Folder, "_write", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        jg.evaluate(graph, samples(3), out=tmp_path / "run")
    assert jg.Run.load(tmp_path / "run").manifest["state"] == "stopped"


def test_a_line_that_is_no_item_is_left_out_and_named_in_the_summary(graph, tmp_path):
    jg.evaluate(graph, samples(1), out=tmp_path)
    with (tmp_path / "items.jsonl").open("a") as file:
        file.write("{}\n")
    run = jg.Run.load(tmp_path)
    assert len(list(run.items)) == run.damaged == 1
    (note,) = [note for note in run.summary().notes if "items.jsonl" in note]
    assert note.endswith("items.jsonl, line 2: is no finished sample")
