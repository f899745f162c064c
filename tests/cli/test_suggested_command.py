"""The command that `trace` and the report suggest opens the sample, whatever its name and folder are."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import sageval
from judgegraph.views.trace import command

ODD = "\u200bit's\x1b[31m $(touch here)"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_it_can_be_pasted_into_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    folder = "run\u202e \x07"
    samples = [jg.Sample(id=ODD, query="Summarise the plot.", output="Captain Ahab hunts the whale.")]
    jg.evaluate(sageval(), samples, out=folder)
    suggested = CliRunner().invoke(main, ["trace", folder]).output.rstrip("\n").split("\n")[-1]
    assert suggested == command(folder, ODD)
    assert "\ufffd" not in suggested
    python = suggested.replace("judgegraph", f"'{sys.executable}' -m judgegraph", 1)
    done = subprocess.run(["bash", "-c", f"{python} --json"], capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "touch here" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == [folder]
