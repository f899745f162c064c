"""The example plug-in as a stranger has it: installed, listed, run, its own tests passed, from another folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def run(site: Path, cwd: Path, *command: object) -> str:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]), "NO_COLOR": "1", "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example and a package that the command has just written, installed where nothing else is."""
    folder = tmp_path_factory.mktemp("plugins")
    shutil.copytree(ROOT / "examples/plugin_critic", folder / "example", ignore=shutil.ignore_patterns("__pycache__"))
    run(folder, folder, "-m", "judgegraph", "new", "critic", "strict-tone")
    install = ("-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--target")
    for package in ("example", "strict-tone"):
        run(folder, folder, *install, folder / "site", folder / package)
    return folder / "site"


@pytest.mark.parametrize("name", ["evidence-critic", "strict-tone"])
def test_it_is_listed_with_its_package(name, site, tmp_path):
    lines = run(site, tmp_path, "-m", "judgegraph", "agents").splitlines()
    at = lines.index(f"{name} 0.1.0")
    assert lines[at + 1].split()[:2] == [name, "critic:"]


@pytest.mark.parametrize("name", ["evidence-critic", "strict-tone"])
def test_a_method_is_run_with_it_by_name(name, site, tmp_path):
    data = ROOT / "examples/forms.jsonl"
    run(site, tmp_path, "-m", "judgegraph", "run", "sageval", data, "--limit", "3", "--critic", name, "-o", "out")
    kept = (tmp_path / "out/items.jsonl").read_text()
    assert kept.count("\n") >= 3
    assert f'"agent":"{name}"' in kept.replace('": "', '":"')
    manifest = (tmp_path / "out/manifest.json").read_text()
    assert f"{name.replace('-', '_')}:critique.md@" in manifest
    assert str(site) not in manifest, "what says how it was judged names no folder of this machine"


@pytest.mark.parametrize(("package", "passed"), [("example", "6 passed"), ("strict-tone", "6 passed")])
def test_its_own_tests_pass(package, passed, site, tmp_path):
    shutil.copytree(site.parent / package / "tests", tmp_path / "tests")
    said = run(site, tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", "tests")
    assert passed in said
