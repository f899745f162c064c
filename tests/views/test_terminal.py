"""Blocks on a real pseudo-terminal of 80 and of 120 columns, and on a pipe of the width that it is told."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import judgegraph as jg
from judgegraph.graphs import g_eval, sageval
from judgegraph.shown import whole_tables
from judgegraph.views.blocks import Facts, Fold, Grid, Para, columns, grids, table_text
from judgegraph.views.terminal import show

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SECONDS = 60
COMMANDS = {
    "trace": ("trace", "{runs}/sageval"),
    "meta": ("meta", "{runs}/sageval", "--resamples", "50"),
    "compare": ("compare", "{runs}/sageval", "{runs}/g-eval"),
    "diff": ("diff", "{runs}/sageval", "{runs}/g-eval", "--limit", "2"),
    "suggestions": ("suggestions", "{runs}/sageval", "--by", "letters"),
}


def on_terminal(arguments: list[str], wide: int) -> list[str]:
    """What a command prints on a pseudo-terminal of so many columns, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, wide, 0, 0))
    surroundings = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")} | {
        "TERM": "xterm"
    }
    command = [sys.executable, "-m", "judgegraph", *arguments]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=surroundings, close_fds=True)
    os.close(theirs)
    found = b""
    try:
        while piece := os.read(ours, 65_536):
            found += piece
    except OSError:  # Linux says so where the other end is closed
        pass
    finally:
        os.close(ours)
        try:
            process.wait(SECONDS)
        finally:
            process.kill()
    text = found.decode()
    assert "\x1b[1m" in text, "a terminal gets bold text"
    return ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods over forms that a person judged."""
    folder = tmp_path_factory.mktemp("runs")
    told = {"bad": 1, "dull": 2, "fair": 3, "good": 4}
    samples = [
        one.model_copy(update={"human": {"Relevancy": 1.0 + told.get(str(one.meta.get("quality")), 2)}})
        for one in jg.load(Path(__file__).resolve().parents[2] / "examples" / "forms.jsonl")
    ]
    for name, graph in (("sageval", sageval(criteria="forms")), ("g-eval", g_eval(criteria="forms"))):
        jg.evaluate(graph, samples, out=folder / name)
    return folder


def numbers(lines: list[str]) -> set[str]:
    """Figures with a point, which a table could cut."""
    return {found for line in lines if "|" not in line for found in re.findall(r"(?<![\w.])[-+]?\d+\.\d+(?!\w)", line)}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_cut_or_lost_on_a_terminal_of_80_or_of_120_columns(runs: Path, name: str):
    arguments = [part.format(runs=runs) for part in COMMANDS[name]]
    narrow, wide = on_terminal([*arguments, "--wide"], 80), on_terminal(arguments, 120)
    for lines, most in ((narrow, 80), (wide, 120)):
        folded = [
            line for line in lines if "|" not in line and str(runs) not in line
        ]  # copied whole: signatures, paths
        told = [line for line in folded if not re.match(r"  (\w+ {2,}| {8})", line)]  # and what changed
        assert max(map(len, told)) <= most, (name, most)
    assert len(wide) > 5
    assert not numbers(wide) - numbers(narrow)
    short = on_terminal(arguments, 80)
    assert not numbers(narrow) - numbers(short) or any(line.startswith("no room for ") for line in short)


def test_a_table_that_is_too_wide_is_drawn_in_parts_with_its_names(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    cells = {"criterion": ["Coherence of it all", "B"], **{f"column {n}": [f"{n}.25", f"{n}.50"] for n in range(9)}}
    show([Para("before"), columns("a title", cells, most=1, rest=("criterion", "criteria"))])
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["before", "", "a title"]
    assert sum(line.startswith("criterion ") for line in lines) > 1
    assert all(f"{n}.25" in "\n".join(lines) for n in range(9))
    assert max(map(len, lines)) <= 60
    assert lines[-1] == "and 1 more criterion; --json has it"


def test_spare_columns_go_first_and_folds_are_open(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    grid = columns("", {"name": ["a"], "long one": ["1.00"], "spare": ["2.00 [1.00, 3.00]"]}, spare=("spare",))
    show([Fold("more of it", (grid,))])
    said = capsys.readouterr().out
    assert "more of it" in said
    assert "1.00" in said
    assert "spare" in said
    monkeypatch.setenv("COLUMNS", "24")
    show([grid])
    assert capsys.readouterr().out.split() == "name long one a 1.00 no room for spare; --wide draws it".split()
    before = whole_tables.set(True)
    show([grid])
    whole_tables.reset(before)
    assert "2.00 [1.00, 3.00]" in capsys.readouterr().out


def test_markup_and_control_signs_are_text_in_every_renderer(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    bad = "[bold]x[/bold]\x1b[2J\u202e | & \\ <b>"
    blocks = [Para(bad, "lead"), Grid(bad, (bad, "n"), ((bad, "1"),), frozenset({1})), Fold(bad, (Para(bad),))]
    show(blocks)
    said = capsys.readouterr().out
    assert "\x1b[2J" not in said
    assert "\u202e" not in said
    assert "[bold]x[/bold]" in said
    (grid,) = grids(blocks)
    assert "\\|" in table_text(grid, "markdown")
    assert "\\textbackslash{}" in table_text(grid, "latex")
    assert "\\&" in table_text(grid, "latex")
    from judgegraph.views.notebook import shown

    html = shown(blocks)
    assert "<b>x" not in html
    assert "&lt;b&gt;" in html
    assert "\u202e" not in html


@pytest.mark.parametrize("width", [20, 43, 100])
def test_a_text_is_folded_between_its_words_and_never_within_one(width: int):
    words = ["a", "signature|with|no|room:" + "x" * 30, "judgegraph", "trace", "runs/" + "y" * 120, "at", "last"]
    for block in (Para(" ".join(words)), Para(" ".join(words), "note"), Facts((("a", " ".join(words)),))):
        console = Console(file=StringIO(), width=width)
        show([block], console)
        lines = console.file.getvalue().splitlines()
        assert [word for line in lines for word in line.split()][-len(words) :][1:] == words[1:]
        assert all(len(line.rstrip()) <= width for line in lines if len(line.split()) > 1)
