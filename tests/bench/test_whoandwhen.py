"""Who&When: logs as samples, who and which step is held to be at fault, and judges that look at nothing."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.bench.whoandwhen import baselines, chance, samples
from judgegraph.cli import main
from judgegraph.errors import DataError

LOGS = {
    "algorithm-generated": {
        "log": "1", "is_correct": False, "question": "How many?", "ground_truth": "8", "mistake_agent": "Planner",
        "mistake_step": "0", "mistake_reason": "It counts the wrong rows.",
        "history": [{"role": "assistant", "name": "Planner", "content": "Count the rows."},
                    {"role": "user", "name": "Coder", "content": "There are 7."},
                    {"role": "user", "name": "Planner", "content": "So 7."}],
    },
    "hand-crafted": {
        "log": "2", "is_corrected": False, "question": "Who?", "ground_truth": "Ann", "mistake_agent": "websurfer",
        "mistake_step": "2", "mistake_reason": "It opens the wrong page.",
        "history": [{"role": "human", "content": "Who?"}, {"role": "Orchestrator (-> WebSurfer)", "content": "Look."},
                    {"role": "WebSurfer", "content": "It was Bob."},
                    {"role": "Orchestrator (thought)", "content": "Bob."}],
    },
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name, row in LOGS.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


def test_steps_are_counted_from_one_and_agents_are_called_as_the_steps_call_them(folder):
    first, second = samples(folder)
    assert first.human == {"Decisive step": "step 1", "Agent at fault": "Planner"}
    assert second.human == {"Decisive step": "step 3", "Agent at fault": "WebSurfer"}
    assert [turn.agent for turn in second.turns] == ["", "Orchestrator", "WebSurfer", "Orchestrator"]
    assert second.turns[0].role == "user"


def test_judges_that_look_at_nothing(folder):
    found = [*samples(folder)]
    given = baselines(found)
    assert given["Decisive step"]["the last step"] == {"algorithm-generated/1": "step 3", "hand-crafted/2": "step 4"}
    assert given["Agent at fault"]["the first step"] == {
        "algorithm-generated/1": "Planner", "hand-crafted/2": "Orchestrator",
    }  # fmt: skip
    assert "algorithm-generated: 50.0% of agents, 33.3% of steps" in chance(found)


@pytest.mark.parametrize("search", ["at-once", "by-halves"])
def test_the_command_prints_both_accuracies_beside_them(folder, search):
    done = CliRunner().invoke(
        main, ["bench", "whoandwhen", "-d", str(folder), "-s", f"search={search}"], env={"COLUMNS": "140"}
    )
    assert done.exit_code == 0, done.output
    for words in ("Decisive step", "Agent at fault", "the last step", "Chance reaches", "hand-crafted: accuracy"):
        assert words in done.output
    assert "the last step (this run)" not in done.output


def test_a_step_that_is_not_there_is_named(folder):
    row = {**LOGS["hand-crafted"], "mistake_step": "9"}
    (folder / "hand-crafted.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=r"line 1, key 'mistake_step': expected the number of one of 4 steps, got '9'"):
        list(samples(folder))
