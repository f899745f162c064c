"""What a user installs: the wheel built from the sdist, in an empty environment, used from another folder."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("agents", "graphs", "tools", "prompts")


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "-o", folder, ROOT, cwd=folder)
    return folder


@pytest.mark.long
def test_the_links_of_the_top_level_are_in_neither_sdist_nor_wheel(built: Path):
    (sdist,), (wheel,) = built.glob("*.tar.gz"), built.glob("*.whl")
    with tarfile.open(sdist) as archive:
        in_sdist = {Path(name).parts[1] for name in archive.getnames() if len(Path(name).parts) > 1}
    in_wheel = {Path(name).parts[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert not in_sdist & set(ROOMS)
    assert {n for n in in_wheel if not n.endswith(".dist-info")} == {"judgegraph"}


def test_the_wheel_carries_prompts_criteria_and_types(built: Path):
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"judgegraph/prompts/evaluate.md", "judgegraph/prompts/criteria/forms.yaml", "judgegraph/py.typed"} <= names
    assert {f"judgegraph/report/page/{name}" for name in ("head.html", "sample.html", "page.css")} <= names


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_wheel_runs_in_an_empty_environment_from_another_folder(built: Path, tmp_path: Path):
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    run(tmp_path / "venv/bin/python", "-m", "pip", "install", "-q", wheel, cwd=tmp_path)
    judgegraph = tmp_path / "venv/bin/judgegraph"
    assert "sageval" in run(judgegraph, "methods", cwd=tmp_path)
    data = ROOT / "examples" / "forms.jsonl"
    assert "Fairness" in run(judgegraph, "run", "sageval", data, "--limit", "2", cwd=tmp_path)
