"""docs/commands.md is made of the commands: `make docs` writes it, and here it is held to them."""

import re
import sys
import tempfile
import types
from pathlib import Path

import click
import pytest
from commands_page import examples_of, page, write

from judgegraph.cli.main import BELOW_COVERAGE, COMMANDS, FAILURE, NOT_MET, OVER_BUDGET, STOPPED, USAGE, main

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/commands.md"
TEXT = PAGE.read_text()


def section(text: str, name: str) -> str:
    """From a command's title to the next one's."""
    return re.split(r"^## judgegraph (?=[a-z]+$)", text.partition(f"## judgegraph {name}\n")[2], flags=re.M)[0]


@pytest.mark.parametrize("columns", ["40", "100", "300"])
def test_the_page_is_what_the_commands_say_on_any_terminal(columns: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert page(examples_of(TEXT)) == TEXT, "stale: run `make docs`"


def test_writing_it_anew_changes_nothing_and_mends_all_but_the_examples(tmp_path: Path):
    path = tmp_path / "commands.md"
    path.write_text(TEXT.replace("Run METHOD over DATA", "Something else"))
    assert path.read_text() != TEXT
    assert write(path) == [name for name in COMMANDS if name not in examples_of(TEXT)]
    assert path.read_text() == TEXT
    assert write(tmp_path / "new.md") == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_stands_there_with_all_its_options_and_an_example(name: str):
    command = main.get_command(click.Context(main), name)
    assert command is not None
    told, _, example = section(TEXT, name).partition("\nFor example:\n")
    for option in (p for p in command.params if isinstance(p, click.Option)):
        for word in (*option.opts, *option.secondary_opts):
            assert re.search(rf"[`, /]{word}[`, ]", told), word
    assert re.search(r"^Exit codes: 0", told, re.M)
    shown = "    judgegraph" if name == "view" else "$ judgegraph"  # it serves until Ctrl-C: no block of it can be run
    assert f"\n{shown} {name}" in example, f"write one below 'For example:' in {PAGE.name}"


def test_it_names_every_exit_code():
    (line,) = [part for part in TEXT.partition("\n## ")[0].split("\n\n") if part.startswith("Exit codes: ")]
    codes = {int(code) for code in re.findall(r"\b\d+\b", line)}
    assert codes == {0, FAILURE, USAGE, OVER_BUDGET, BELOW_COVERAGE, NOT_MET, STOPPED, 143}


def test_nothing_in_it_is_of_one_machine():
    for folder in (str(ROOT), str(Path.home()), tempfile.gettempdir(), sys.prefix):
        assert folder not in TEXT, folder


def bars(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row))


def tables(text: str) -> list[list[str]]:
    found = re.findall(r"(?:^\|.*\n)+", text, re.M)
    return [rows.splitlines() for rows in found]


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    assert len(tables(TEXT)) > 2 * len(COMMANDS)
    for rows in tables(TEXT):
        assert len({bars(row) for row in rows}) == 1, rows


def test_what_means_something_to_markdown_is_escaped(monkeypatch: pytest.MonkeyPatch):
    @click.command()
    @click.argument("which", type=click.Choice(("a|b", "c")))
    @click.option("--at", metavar="<A|B>", type=click.IntRange(0, 9), default=3, show_default=True,
                  help="A | B, <b>not bold</b>, `x|y` and *this*.")  # fmt: skip
    def odd(which: str, at: int) -> None:
        """Takes <script>, *stars* and [links](here) for what they are, `a < b` too. Exit codes: 0, 7 odd.

        \b
        <as> it | is
        """

    module = types.ModuleType("odd_command")
    module.odd = odd  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "odd_command", module)
    monkeypatch.setitem(COMMANDS, "odd", ("odd_command", "Odd | <i>"))
    text = page({})
    told = section(text, "odd")
    assert "| [`odd`](#judgegraph-odd) | Odd \\| \\<i> |" in text
    assert "Takes \\<script>, \\*stars\\* and \\[links\\](here) for what they are, `a < b` too.\n" in told
    assert "\n    <as> it | is\n" in told
    assert "| `WHICH` | a\\|b or c |" in told
    assert "| `--at <A\\|B>` | A \\| B, \\<b>not bold\\</b>, `x\\|y` and \\*this\\*. | 3; `0<=x<=9` |" in told
    assert told.rstrip().endswith("Exit codes: 0, 7 odd.")
    assert all(len({bars(row) for row in rows}) == 1 for rows in tables(told))
