"""`judgegraph diff`, as it is called: what it prints, its exit codes, and that nothing judged drives the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from judgegraph.cli import main
from judgegraph.runs.item import Item
from judgegraph.types import Comparison, Sample, Scale, Score

HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold red]x[/]\u202e\r\x9b31m"
SIGNATURE = "one|judge:m"
TABLE = {
    "nodes.judge": "Judge", "nodes.judge.prompt": "judge@1", "nodes.judge.judge": "m",
    "nodes.judge.options.name": "judge", "edges": ["START -> judge", "judge -> END"],
}  # fmt: skip


def call(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["diff", *map(str, arguments)])


def score(value: float, criterion: str = "Clarity", reason: str = "") -> Score:
    return Score(criterion=criterion, agent="judge", value=value, scale=Scale.of("1-5"), reason=reason)


def item(id: str, *scores: Score, place: int = 0, **more: Any) -> Item:
    return Item(sample=Sample(id=id, output="o"), scores=scores, place=place, **more)


def folder(path: Path, *items: Item, table: dict[str, Any] | None = None, calls: int = 2) -> Path:
    """A run's folder, as far as it is read."""
    path.mkdir()
    spent = {"calls": calls, "prompt_tokens": 10, "completion_tokens": 5, "usd": 0.5, "unpriced": 0}
    manifest = {
        "judgegraph": "1", "signature": SIGNATURE, "configuration": TABLE | (table or {}), "spent": spent,
        "state": "finished",
    }  # fmt: skip
    (path / "manifest.json").write_text(json.dumps(manifest))
    (path / "items.jsonl").write_text("".join(one.line() + "\n" for one in items))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Another prompt, and three of four samples that moved."""
    a = [item(f"s{i}", score(3, reason="before"), place=i) for i in range(4)]
    b = [item(f"s{i}", score(3 + i / 2, reason="after"), place=i) for i in range(4)]
    return folder(tmp_path / "a", *a), folder(tmp_path / "b", *b, table={"nodes.judge.prompt": "judge@2"}, calls=3)


def test_it_says_what_changed_what_moved_and_why(runs: tuple[Path, Path]):
    done = call(*runs)
    assert done.exit_code == 0
    for said in (
        "prompt    nodes.judge.prompt: judge@1 -> judge@2",
        "4 samples in both, 3 with a score that moved, came or went",
        "why: 3 scores: the prompt changed",
        "Clarity: 3.00 -> 4.50 (+1.50, 38 % of the scale)  prompt",
        "A: before",
        "B: after",
        "difference +1 call, +0 tokens, +$0.00",
    ):
        assert said in " ".join(done.output.split()) or said in done.output, said
    assert done.output.index("  s3") < done.output.index("  s2") < done.output.index("  s1")


def test_a_handful_of_samples_has_a_mean_and_no_interval(runs: tuple[Path, Path]):
    said = call(*runs).output
    assert "no interval for 1 of 1: fewer than 5 samples" in said
    assert "95 %" not in said


ENDS = [
    ({"state": "finished"}, ""),
    ({"state": "stopped", "samples": {"done": 4, "over_budget": 0, "total": 9}}, "unfinished: 4 of 9 samples done"),
    ({"state": "running"}, "unfinished after 4 samples; its process is gone"),
]


@pytest.mark.parametrize(("manifest", "said"), ENDS)
def test_a_run_that_did_not_come_to_its_end_says_so(runs: tuple[Path, Path], manifest: dict[str, Any], said: str):
    path = runs[1] / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | manifest))
    done = call(*runs)
    assert f"note: run B is {said}\n" in done.output if said else "unfinished" not in done.output
    assert "run A is" not in done.output
    assert json.loads(call(*runs, "--json").output)["notes"] == ([f"run B is {said}"] if said else [])


def test_equal_runs_have_no_score_that_moved(runs: tuple[Path, Path]):
    done = call(runs[0], runs[0])
    assert (done.exit_code, "no score moved" in done.output, "most moved" in done.output) == (0, True, False)


def test_the_list_is_as_long_as_it_is_asked_for(runs: tuple[Path, Path]):
    short, whole = call(*runs, "--limit", 1), call(*runs, "--limit", 1, "--all")
    assert "and 2 more samples; --all lists them" in short.output
    assert "  s1" not in short.output
    assert "  s1" in whole.output
    assert " more " not in whole.output


def test_json_has_the_same(runs: tuple[Path, Path]):
    found = json.loads(call(*runs, "--json").output)
    assert found["samples"] == {"both": 4, "only_a": 0, "only_b": 0, "data": 0, "labels": 0, "moved": 3}
    assert found["causes"] == {"prompt": 3}
    (row,) = found["criteria"]
    assert row["difference"]["mean"] == 0.75
    assert (row["difference"]["low"], row["difference"]["high"]) == (None, None)  # 4 samples are too few
    assert (row["mean_a"], row["mean_b"], row["n"]) == (3.0, 3.75, 4)
    assert found["cost"]["difference"] == {"calls": 1, "prompt_tokens": 0, "completion_tokens": 0, "usd": 0.0}


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("nowhere", 1, "DataError: "),
        ("others", 1, "DataError: no sample is in both runs (4 in A, 1 in B): samples are matched by id"),
    ],
)
def test_what_cannot_be_compared_is_an_error(runs: tuple[Path, Path], name: str, code: int, said: str):
    folder(runs[0].with_name("others"), item("t", score(3)))
    done = call(runs[0], runs[0].with_name(name))
    assert (done.exit_code, done.output.startswith(said)) == (code, True), done.output
    assert done.output.count("\n") == 1


def test_an_unknown_criterion_names_those_that_are_there(runs: tuple[Path, Path]):
    done = call(*runs, "--criterion", "Clarty")
    assert (done.exit_code, done.output) == (1, "ConfigError: no score by criterion 'Clarty'; there are: Clarity\n")


def test_moves_without_a_cause_are_noise_with_its_size(runs: tuple[Path, Path]):
    b = folder(runs[0].with_name("again"), item("s0", score(4)))
    done = call(runs[0], b)
    assert "nothing changed in the configurations" in done.output
    assert "noise: nothing changed that 1 move could come from, on average by 25.0 % of the scale" in done.output
    assert "3 only in A" in done.output


def test_changes_that_come_together_ask_for_one_at_a_time(runs: tuple[Path, Path]):
    table = {"nodes.judge.prompt": "judge@2", "nodes.judge.judge": "n"}
    done = call(runs[0], folder(runs[0].with_name("both"), item("s0", score(4)), table=table))
    assert "why: 1 score: the prompt or the model changed" in done.output
    assert "change one at a time" in done.output


def test_a_verdict_that_flips_is_told(tmp_path: Path):
    sides = [
        folder(tmp_path / v, item("p", comparisons=(Comparison(criterion="C", agent="judge", verdict=v),), verdict=v))
        for v in ("A", "B")
    ]
    done = call(*sides)
    assert "flips" in done.output
    assert "C (verdict): A -> B" in done.output
    assert "verdict over all: A -> B" in done.output


def test_nothing_judged_drives_the_terminal(tmp_path: Path):
    name = f"C{HOSTILE}"
    sides = [
        folder(
            tmp_path / str(value), item(f"s{HOSTILE}", score(value, name, f"{value} {HOSTILE}")),
            table={"nodes.judge.prompt": f"{value}{HOSTILE}", f"nodes.{HOSTILE}": HOSTILE, f"criteria.{name}": HOSTILE},
        )
        for value in (2.0, 4.0)
    ]  # fmt: skip
    for more in ([], ["--all"], ["--criterion", "no" + HOSTILE]):
        done = call(*sides, *more)
        assert not set("\x1b\x07\u202e\r\x9b") & set(done.output)
        assert "[bold red]x[/]" in done.output
    assert json.loads(call(*sides, "--json").output)["most_moved"][0]["id"] == f"s{HOSTILE}"
