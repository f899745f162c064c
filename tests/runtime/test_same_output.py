"""The same input gives the same export, whatever the concurrency and on another Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.graphs import sageval
from judgegraph.runs.run import Run

ROOT = Path(__file__).resolve().parents[2]
FORMS = ROOT / "examples/forms.jsonl"
OTHERS = [f"python3.{minor}" for minor in (12, 13, 14, 11) if (3, minor) != sys.version_info[:2]]
EXPORT = """
import sys
import judgegraph as jg
from judgegraph.graphs import sageval
jg.evaluate(sageval(), jg.load(sys.argv[1]), out=sys.argv[2]).export(sys.argv[3])
"""


def export(folder: Path, concurrency: int) -> bytes:
    jg.evaluate(sageval(), jg.load(FORMS), out=folder, concurrency=concurrency)
    Run.load(folder).export(folder / "export.jsonl")
    return (folder / "export.jsonl").read_bytes()


@pytest.mark.long
def test_the_export_is_the_same_at_concurrency_1_and_32(tmp_path):
    assert export(tmp_path / "one", 1) == export(tmp_path / "many", 32)


def other_python() -> str:
    """An interpreter of another version that starts; the test skips where there is none."""
    homes = sorted(Path.home().glob(".pyenv/versions/3.1[1-9]*/bin/python"), reverse=True)
    for found in [*map(shutil.which, OTHERS), *map(str, homes)]:
        ask = [str(found), "-c", "import sys; print(sys.version_info[:2])"]
        told = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip() if found else ""
        if told and told != str(sys.version_info[:2]) and told >= "(3, 11)":
            return str(found)
    pytest.skip("skipped: no other Python of version 3.11 or newer")


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_export_is_the_same_on_another_python(tmp_path):
    environment = tmp_path / "venv"
    subprocess.run([other_python(), "-m", "venv", environment], check=True, timeout=120)
    python = environment / "bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT)], check=True, timeout=400)
    there = [tmp_path / "there", tmp_path / "there.jsonl"]
    subprocess.run([python, "-c", EXPORT, FORMS, *there], check=True, timeout=120, cwd=tmp_path)
    assert there[1].read_bytes() == export(tmp_path / "here", 8)
