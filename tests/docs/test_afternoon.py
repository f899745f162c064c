"""A stranger's afternoon: a panel of three judges, a gate, and a critic from a package of its own.

It is written in under 60 lines of Python and again as YAML, in examples/afternoon, and both give the same scores over
items that people judged.
"""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main

ROOT = Path(__file__).resolve().parents[2]
AFTERNOON, PLUGIN = ROOT / "examples/afternoon", ROOT / "examples/plugin_critic"
DATA = "data/fact/qags_cnndm_result.json"
COLUMNS = ("-f", "id=doc_id", "-f", "output=system_output", "-f", "human.Consistency=scores.consistency")
JUDGES = ("jury-llm-score", "jury-g-eval", "jury-coascore")


@pytest.fixture
def plugin(install: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The example package, installed; gives the name of its critic. What is run works in a folder of its own."""
    install(PLUGIN)
    monkeypatch.chdir(tmp_path)
    return "evidence-critic"


def judged(graph: str, data: Path, out: str, limit: int) -> jg.Run:
    done = CliRunner().invoke(main, ["run", graph, str(data), *COLUMNS, "-n", str(limit), "-o", out])
    assert done.exit_code == 0, done.output
    assert f"{limit} samples" in done.output
    return jg.Run.load(out)


def scores(run: jg.Run) -> dict[str, list[dict]]:
    """Sample -> every score in full."""
    return {item.id: [json.loads(score.model_dump_json()) for score in item.scores] for item in run.items}


@pytest.mark.long
@pytest.mark.parametrize("limit", [30, pytest.param(200, marks=pytest.mark.long)])
def test_python_and_yaml_give_the_same_scores(plugin: str, shared: Path, limit: int):
    in_python = judged(f"{AFTERNOON / 'panel.py'}:panel", shared / DATA, "python", limit)
    in_yaml = judged(str(AFTERNOON / "panel.yaml"), shared / DATA, "yaml", limit)
    assert scores(in_python) == scores(in_yaml)
    assert in_python.signature == in_yaml.signature
    assert len(scores(in_yaml)) == limit
    assert {item.status for item in in_yaml.items} == {"ok"}
    for item in in_yaml.items:
        held_by_stage(item, plugin)
    cast = {judge: ballots(in_yaml, judge) for judge in JUDGES}
    assert len(set(cast.values())) == 3  # three judges, not one three times
    notes = [{note for s in item.scores if s.agent == plugin for note in s.notes} for item in in_yaml.items]
    asked = sum(any(note.startswith("the critic was asked: 3 judges") for note in said) for said in notes)
    assert 0 < asked < limit  # the gate opens for some and stays closed for others


def ballots(run: jg.Run, judge: str) -> tuple:
    given = [
        (item.place, s.criterion, s.value)
        for item in run.items
        for s in item.scores
        if (s.agent, s.stage) == (judge, "ballot")
    ]
    return tuple(sorted(given))


def held_by_stage(item, critic: str) -> None:
    """Three different judges, their mean, and a final score beside it, for each criterion."""
    by = {(s.agent, s.stage, s.criterion): s for s in item.scores}
    for name in ("Consistency", "Fluency"):
        cast = [by[judge, "ballot", name].value for judge in JUDGES]
        assert by["jury", "draft", name].value == pytest.approx(sum(cast) / 3)
        assert by[critic, "final", name].draft == by["jury", "draft", name].key


@pytest.mark.long
def test_the_script_says_how_far_each_agrees_with_people(
    plugin: str, shared: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "argv", ["panel.py", str(shared / DATA)])
    runpy.run_path(str(AFTERNOON / "panel.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "panel is wired"
    assert [line.split()[0] for line in lines[1:6]] == [*JUDGES, "jury", plugin]
    assert all(" n 200, Spearman 0." in line for line in lines[1:6])
    assert "of 200 samples" in lines[6]


def test_it_takes_under_sixty_lines():
    assert len((AFTERNOON / "panel.py").read_text().splitlines()) < 60
    assert len((AFTERNOON / "panel.yaml").read_text().splitlines()) < 30


@pytest.mark.long
def test_both_are_wired(plugin: str):
    for graph in (f"{AFTERNOON / 'panel.py'}:panel", str(AFTERNOON / "panel.yaml")):
        done = CliRunner().invoke(main, ["check", graph])
        assert done.exit_code == 0, done.output
        assert "wired" in done.output
