"""`judgegraph new`: what it writes is a package whose tests pass; what it will not write it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgegraph.cli import main
from judgegraph.cli.new import PACKAGE_KINDS, PackageName, files, write
from judgegraph.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "plugin_critic"


def new(*args: str):
    return CliRunner().invoke(main, ["new", *args])


CACHES = {"__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache"}


def tree(folder: Path) -> dict[str, str]:
    kept = [p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc" and not CACHES & set(p.parts)]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in kept}


def test_the_example_is_what_the_command_writes(tmp_path):
    example = PackageName("evidence-critic")  # the example may be installed, and its name refused
    assert tree(write("critic", example, tmp_path)) == tree(EXAMPLE)
    assert new("critic", "strict-tone", "--into", str(tmp_path)).exit_code == 0
    assert tree(tmp_path / "strict-tone") == files("critic", PackageName("strict-tone"))


@pytest.mark.long
@pytest.mark.parametrize("kind", PACKAGE_KINDS)
def test_a_written_package_passes_a_strict_type_checker(kind, tmp_path):
    pytest.importorskip("mypy", reason="skipped: no mypy")
    folder = write(kind, PackageName("strict-tone"), tmp_path)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", PACKAGE_KINDS)
def test_no_word_of_a_template_is_left_unfilled(kind):
    for path, text in files(kind, PackageName.of("strict-tone")).items():
        assert "__" not in path.replace("__init__.py", "")
        assert not re.search(r"__[A-Z]+__|\bMODULE\b", text)
        assert "evidence" not in path


def test_it_says_what_to_do_next(tmp_path):
    said = new("critic", "strict-tone", "--into", str(tmp_path)).output
    for step in (
        "pip install -e '.[dev]'",
        "judgegraph show sageval --critic strict-tone",
        "python -m pytest",
        "judgegraph agents",
        "--critic strict-tone",
    ):
        assert step in said
    for kind, command in {"agent": "agents", "assistant": "tools", "method": "methods"}.items():
        assert f"  judgegraph {command}\n" in new(kind, f"strict-{kind}", "--into", str(tmp_path)).output


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "count"), [("critic", 6), ("agent", 3), ("assistant", 5), ("method", 3), ("graph", 2)]
)
def test_a_written_package_passes_its_own_tests(kind, count, tmp_path):
    assert new(kind, "strict-tone", "--into", str(tmp_path)).exit_code == 0
    folder = tmp_path / "strict-tone"
    paths = os.pathsep.join([str(folder), str(ROOT)])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio"]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} passed" in done.stdout


def test_what_is_there_already_stays_as_it_is(tmp_path):
    (tmp_path / "strict-tone").mkdir()
    (tmp_path / "strict-tone" / "notes.txt").write_text("mine")
    done = new("critic", "strict-tone", "--into", str(tmp_path))
    assert done.exit_code == 1
    assert "is there already and stays as it is; choose another name, or --into DIR" in done.output
    assert tree(tmp_path) == {"strict-tone/notes.txt": "mine"}


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    done = new("critic", "strict-tone", "--into", str(tmp_path / "file" / "below"))
    assert done.exit_code == 1
    assert "Not a directory" in done.output
    assert done.output.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "name", "module", "class_name"),
    [
        ("tone", "tone", "tone", "Tone"),
        ("Strict_Tone", "strict-tone", "strict_tone", "StrictTone"),
        ("a..b--c_d", "a-b-c-d", "a_b_c_d", "ABCD"),
        ("tone2", "tone2", "tone2", "Tone2"),
    ],
)
def test_a_name_is_brought_to_its_normal_form(text, name, module, class_name):
    found = PackageName.of(text)
    assert (found.name, found.module, found.class_name) == (name, module, class_name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no name for a package"),
        ("x", "has two or more letters"),
        ("sage", "'sage' is taken: the critic of judgegraph [0-9.]+ is called so; choose another name"),
        ("Self_Reflection", "'self-reflection' is taken: the critic"),
        ("evaluator", "'evaluator' is taken: the agent"),
        ("g-eval", "'g-eval' is taken: the method"),
        ("rouge_l", "'rouge-l' is taken: the assistant"),
        ("2tone", "a name starts with a letter"),
        ("-tone", "a name starts with a letter"),
        ("tone-", "a name starts with a letter"),
        ("../tone", "a name starts with a letter"),
        ("tone tone", "a name starts with a letter"),
        ("t\u00f6ne", "a name starts with a letter"),
        ("x" * 200, "a name starts with a letter"),
        ("\x1b[2Jtone", "a name starts with a letter"),
        ("class", "Python has another use for class"),
        ("json", "Python has another use for json"),
        ("tests", "Python has another use for tests"),
        ("judgegraph", "Python has another use for judgegraph"),
        ("langgraph", "a package langgraph is installed already"),
    ],
)
def test_a_name_that_would_do_harm_is_refused(text, said, tmp_path):
    with pytest.raises(ConfigError, match=said) as caught:
        PackageName.of(text)
    assert "\x1b" not in str(caught.value)
    assert new("critic", "--into", str(tmp_path), "--", text).exit_code == 1
    assert not list(tmp_path.iterdir())


def test_a_kind_that_there_is_not_is_a_usage_error():
    assert new("criticism", "tone").exit_code == 2
