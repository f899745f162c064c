"""docs/start.md is a path that can be walked: tests/docs/test_docs.py runs it as a whole; here is what it must hold."""

import re
from pathlib import Path

import judgegraph as jg
from judgegraph.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/start.md").read_text()
BEFORE, _, SHOWN = TEXT.partition("\n## See it\n")


def test_all_but_its_end_is_run():
    assert SHOWN
    assert "<!-- not run" not in BEFORE


def test_what_it_leaves_to_the_reader_needs_a_server_or_a_shell():
    outside = ("python3 -m venv", ".venv/bin/pip install", ". .venv/bin/activate", "export OPENAI_API_KEY")
    apart = re.findall(r"^    (.*)$", re.sub(r"^```.*?^```$", "", BEFORE, flags=re.M | re.S), re.M)
    assert len(apart) >= 6
    for line in apart:
        assert line.startswith(outside) or " -j openai:" in line, line


def test_every_command_and_public_name_in_it_is_there():
    told = set(re.findall(r"judgegraph ([a-z]+)\b", " ".join(re.findall(r"`[^`\n]*`|^    .*|^\$ .*", BEFORE, re.M))))
    assert told >= {"run", "plan", "doctor", "prices", "criteria", "review"}
    assert told <= set(COMMANDS)
    assert set(re.findall(r"\bjg\.([A-Za-z_]+)", TEXT)) <= set(jg.__all__)
