"""The README is true: its code runs, its commands work, its criteria file is one."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.registry import METHODS

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text()
CODE = re.findall(r"```python\n(.*?)```", TEXT, re.S)
COMMANDS = [line.strip() for line in TEXT.splitlines() if re.match(r"    judgegraph (run|criteria)", line)]
SEEN = [
    line.strip()
    for line in TEXT.splitlines()
    if re.match(r"    judgegraph (trace|report|diff|compare|export|show)", line)
]


@pytest.mark.parametrize("code", CODE, ids=range(len(CODE)))
def test_its_python_runs(code: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    scope: dict = {}
    exec(compile(code, "README.md", "exec"), scope)
    assert {item.status for item in scope["run"].items} == {"ok"}


@pytest.mark.parametrize("command", [c for c in COMMANDS if "openai:" not in c])
def test_its_commands_run(command: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(main, [*shlex.split(command)[1:], "--limit", "2"])
    assert done.exit_code == 0, done.output
    assert "2 samples" in done.output


def test_a_run_is_seen_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for out in ("runs/forms", "runs/forms-2"):
        made = ["run", "sageval", str(ROOT / "examples/forms.jsonl"), "--limit", "2", "--out", out]
        assert CliRunner().invoke(main, made).exit_code == 0
    assert len(SEEN) == 7
    for command in SEEN:
        done = CliRunner().invoke(main, shlex.split(command, comments=True)[1:])
        assert done.exit_code == 0, (command, done.output)
        assert done.output, command
    assert {"forms.html", "scores.csv", "sageval.svg"} <= {path.name for path in tmp_path.iterdir()}


def test_what_it_shows_is_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (block,) = re.findall(r"```console\n(.*?)```", TEXT, re.S)
    shown = re.split(r"^\$ judgegraph (.*)\n", block, flags=re.M)[1:]
    for command, want in zip(shown[::2], shown[1::2], strict=True):
        done = CliRunner().invoke(main, shlex.split(command))
        pattern = ".*".join(map(re.escape, want.split("...")))
        printed = "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"
        assert re.fullmatch(pattern, printed, re.S), printed


def test_it_is_read_in_two_minutes():
    assert len(TEXT.encode()) < 9_000
    assert (ROOT / "docs/pictures/report.png").read_bytes()[:4] == b"\x89PNG"


def test_its_criteria_file_is_one(tmp_path: Path):
    (block,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.S)
    (tmp_path / "mine.yaml").write_text(block)
    assert [c.name for c in jg.criteria_set(tmp_path / "mine.yaml").criteria] == ["Clarity", "Audience"]


def test_its_two_commands_name_files_that_are_there():
    setups = [line.strip() for line in TEXT.splitlines() if line.startswith("    python3 -m venv")]
    assert len(setups) == 2
    assert "judgegraph run sageval examples/forms.jsonl" in setups[0]
    assert "requirements.lock" in setups[1]
    assert (ROOT / "examples/forms.jsonl").is_file()
    assert (ROOT / "requirements.lock").is_file()


def test_it_lists_every_method():
    assert set(re.findall(r"^\| `([a-z-]+)` \|", TEXT, re.M)) == set(METHODS)


def test_no_figure_is_left_to_be_filled_in():
    assert "EMBEDDED_FIGURES" not in TEXT
