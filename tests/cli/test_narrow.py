"""No number is lost where the terminal is narrow: tables are printed in parts, and COLUMNS is obeyed."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from judgegraph.cli import main

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "articles"
    data = tmp_path_factory.mktemp("data") / "articles.csv"
    rows = ["id,source,output,human.Coherence,human.Informational coverage,system,doc"]
    for n in range(12):
        text = "The ferry was late. " * (n + 1)
        rows.append(f"{n},{text},{text if n % 3 else 'Ferry late.'},{1 + n % 5},{1 + n % 4},s{n % 3},{n // 3}")
    data.write_text("\n".join(rows))
    criteria = data.with_name("criteria.yaml")
    one = "  - {{name: {}, definition: The facts stand in order., scale: 1-5}}\n"
    listed = "".join(one.format(name) for name in ("Coherence", "Informational coverage"))
    criteria.write_text(f"task: A summary.\ncriteria:\n{listed}")
    done = CliRunner().invoke(main, ["run", "sageval", str(data), "-c", str(criteria), "-o", str(out)])
    assert done.exit_code == 0, done.output
    return out


def numbers(output):
    """What is printed of figures, but for the signatures, which are folded anywhere."""
    lines = [line for line in output.splitlines() if "|" not in line]
    return {found for line in lines for found in re.findall(r"(?<![\w.@=])[-+]?\d*\.?\d+(?![\w@=])", line)}


COMMANDS = {
    "meta": ("meta", "{folder}", "--resamples", "50", "--stage", "draft", "--stage", "final"),
    "meta by system": ("meta", "{folder}", "--resamples", "50", "--group", "doc", "--system", "system"),
    "rank": ("rank", "{folder}", "--group", "doc", "--system", "system", "--resamples", "50"),
    "plan": ("plan", "fennec", str(EXAMPLES / "articles.jsonl"), "-n", "3"),
    "bench": ("bench", "topical-chat", "--recorded", "-d", str(SHARED), "--resamples", "20"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("columns", ["80", "120"])
def test_every_number_of_a_wide_screen_stands_on_a_narrow_one(folder, name, columns):
    if name == "bench" and not SHARED.exists():
        pytest.skip("skipped: no ../shared")
    arguments = [part.format(folder=folder) for part in COMMANDS[name]]
    arguments += ["--wide"] if name.startswith("meta") else []  # else columns are left out, and said to be
    shown = {width: CliRunner().invoke(main, arguments, env={"COLUMNS": width}) for width in ("300", columns)}
    assert shown["300"].exit_code == 0, shown["300"].output
    assert max(len(line) for line in shown[columns].stdout.split("\n") if "|" not in line) <= int(columns)
    assert len(numbers(shown["300"].stdout)) > 5
    assert not numbers(shown["300"].stdout) - numbers(shown[columns].stdout)
    assert "…" not in shown[columns].stdout


def on_a_terminal(arguments, columns):
    """What a command prints on a terminal of so many columns that no variable tells of."""
    held = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    own, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "judgegraph", *arguments]
    with subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=held | {"TERM": "xterm"}) as process:
        os.close(other)
        found = b""
        with suppress(OSError):  # how Linux says that the other side is closed
            while part := os.read(own, 65536):
                found += part
    os.close(own)
    assert process.returncode == 0, found.decode()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", found.decode()).replace("\r\n", "\n")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["check", "plan", "bench", "meta", "compare"])
@pytest.mark.parametrize("columns", [80, 120])
def test_no_line_is_wider_than_the_terminal_and_no_cell_is_cropped(folder, name, columns, tmp_path):
    again = shutil.copytree(folder, tmp_path / "again") if name == "compare" else folder
    others = {"check": ("check", "fennec"), "bench": ("bench",), "compare": ("compare", "{folder}", "{again}")}
    commands = COMMANDS | others
    shown = on_a_terminal([part.format(folder=folder, again=again) for part in commands[name]], columns)
    lines = [line.rpartition("\r")[2] for line in shown.split("\n") if "|" not in line]
    assert len(lines) > 5
    assert max(cell_len(line.rstrip()) for line in lines) <= columns
    assert "…" not in shown
