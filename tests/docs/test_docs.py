"""docs/ is true: every block is run, in order, in one module for each `##` section, and what it prints is compared.

A page whose sections go on where the one before stopped (`WALKED`) is run as a whole.

    ```python     is run; what it prints stands in the ```text block behind it
    ```console    lines that begin with "$ judgegraph" are run; what they print stands below them. "$ pip install -e
                  FOLDER" puts that package where Python finds it
    ```yaml       is written to a file; a graph file is loaded and checked
    ```text       what the block before it prints; "..." stands for anything
    ```mermaid    is a drawing, and not run

What stands before the first `##` is run before each section. Examples are in the folder `examples`. A comment before a
block says more: `<!-- file: NAME -->` writes it to a file, `<!-- exit: 1 -->` is a command's exit code, `<!-- input: a
-->` what is typed, `<!-- refused -->` a graph file that is wrong on purpose, and `<!-- not run: WHY -->` leaves it out.
"""

import contextlib
import io
import linecache
import re
import shlex
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.compose.conditions import CONDITIONS
from judgegraph.graph_files.build import HELPERS
from judgegraph.graph_files.read import EdgeSpec, HeadSpec, JudgeSpec, NodeSpec
from judgegraph.registry.lookup import REGISTERED

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
WALKED = ("concepts.md", "start.md")
FILES = tuple(sorted(path.name for path in (ROOT / "docs").glob("*.md")))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
MARK = re.compile(r"<!-- (file|exit|input|refused|not run)(?:: ([^<>]*))? -->\n\Z")
LANGUAGES = {"python", "console", "yaml", "text", "toml", "markdown", "mermaid"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    where: str
    language: str
    code: str
    marks: dict[str, str] = field(default_factory=dict)


def sections(file: str) -> dict[str, list[Block]]:
    """Title -> blocks, those before the first title in front of each."""
    text = (ROOT / "docs" / file).read_text()
    fenced = [(m.start(), m.end()) for m in FENCE.finditer(text)]
    heads = [m for m in re.finditer(r"^## (.*)$", text, re.M) if not any(a < m.start() < b for a, b in fenced)]
    found: dict[str, list[Block]] = {"": []}
    for m in FENCE.finditer(text):
        title = next((head[1] for head in reversed(heads) if head.start() < m.start()), "")
        where = f"docs/{file}:{text.count(chr(10), 0, m.start()) + 1}"
        before, marks = text[: m.start()], {}
        while mark := MARK.search(before):
            marks[mark[1]], before = mark[2] or "", before[: mark.start()]
        found.setdefault(title, []).append(Block(where, m[1], m[2], marks))
    first = found.pop("")
    return {title: [*first, *blocks] for title, blocks in found.items()}


def sections_text(file: str) -> dict[str, str]:
    """Title -> its text."""
    parts = re.split(r"^## (.*)$", (ROOT / "docs" / file).read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


CASES = [(file, title) for file in FILES if file not in WALKED for title in sections(file)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where a reader works: the examples are there, and nothing else; what is registered is gone afterwards."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for command in ("plan", "run"):  # a busy machine tells of progress, another does not
        monkeypatch.setattr(import_module(f"judgegraph.cli.{command}"), "EVERY", 1e9)
    before = {key: dict(parts) for key, parts in REGISTERED.items()}
    yield tmp_path
    REGISTERED.clear()
    REGISTERED.update(before)


def agrees(expected: str, printed: str, where: str) -> None:
    """What was printed is what the document says; "..." stands for anything."""
    want, got = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (expected, printed))
    pattern = re.escape(want).replace("\\\n\\.\\.\\.\\\n", "\\\n(?:.*?\\\n)?").replace(r"\.\.\.", ".*?")
    assert re.fullmatch(pattern, got, re.S), f"{where} should print\n{want}\n--- and prints\n{got}"


def run_python(block: Block, module: types.ModuleType) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        lines = block.code.splitlines(keepends=True)
        linecache.cache[block.where] = (len(block.code), None, lines, block.where)  # as a notebook does with its cells
        exec(compile(block.code, block.where, "exec"), module.__dict__)
    return printed.getvalue()


def run_console(block: Block, install: Callable[[Path], None]) -> None:
    commands = re.split(r"^\$ ", block.code, flags=re.M)
    assert not commands[0].strip(), f"{block.where}: a command begins with '$ '"
    for text in commands[1:]:
        command, _, output = text.partition("\n")
        program, *arguments = shlex.split(command, comments=True)
        if (program, *arguments[:2]) == ("pip", "install", "-e"):
            install(Path(arguments[2]))
            continue
        assert program == "judgegraph", f"{block.where}: only judgegraph is run here: {command}"
        done = CliRunner().invoke(main, arguments, input="\n".join(block.marks.get("input", "").split()))
        assert done.exit_code == int(block.marks.get("exit", 0)), f"{block.where}: {command}\n{done.output}"
        agrees(output if output.strip() else "...", done.output, f"{block.where}: {command}")


def read_yaml(block: Block) -> None:
    if "refused" in block.marks:
        return  # a command behind it shows how
    if "nodes" in yaml.safe_load(block.code):
        jg.check(jg.load_graph(block.marks["file"]))
    else:
        jg.criteria_set(block.marks["file"])


@pytest.fixture
def do(folder: Path, install: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> Callable[[list[Block]], None]:
    """Runs blocks, one after the other, in one module and one folder."""
    module = types.ModuleType("docs_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return lambda blocks: run_blocks(blocks, module, folder, install)


def run_blocks(blocks: list[Block], module: types.ModuleType, folder: Path, install: Callable[[Path], None]) -> None:
    printed = ""  # by the block before
    for block in blocks:
        assert block.language == "text" or not printed.strip(), f"before {block.where}: it prints what no block shows"
        if "file" in block.marks:
            path = folder / block.marks["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code)
        if "not run" in block.marks:
            continue
        if block.language == "text":
            agrees(block.code, printed, block.where)
            printed = ""
        elif block.language == "python" and "file" not in block.marks:
            printed = run_python(block, module)
        elif block.language == "console":
            run_console(block, install)
        elif block.language == "yaml":
            read_yaml(block)
    assert not printed.strip(), f"the last block, {blocks[-1].where}: it prints what no block shows"


@pytest.mark.parametrize(("file", "title"), CASES, ids=[f"{file}: {title}" for file, title in CASES])
def test_a_section_does_what_it_says(file: str, title: str, do: Callable[[list[Block]], None]):
    do(sections(file)[title])


@pytest.mark.parametrize("file", WALKED)
def test_a_page_can_be_walked_from_top_to_bottom(file: str, do: Callable[[list[Block]], None]):
    do([block for blocks in sections(file).values() for block in blocks])


@pytest.mark.parametrize("file", FILES)
def test_no_block_is_passed_over(file: str):
    text = (ROOT / "docs" / file).read_text()
    assert text.count("\n```") == 2 * len(FENCE.findall(text)), "a fence that is not closed, or is indented"
    blocks = [block for listed in sections(file).values() for block in listed]
    known = {block.where: len(block.marks) for block in blocks}
    assert text.count("<!--") == sum(known.values()), "a comment that says nothing here, or stands before no block"
    assert {block.language for block in blocks} <= LANGUAGES
    for block in blocks:
        if "not run" in block.marks:
            assert len(block.marks["not run"]) > 10, f"{block.where}: say why it is not run"
        elif block.language in ("yaml", "toml", "markdown"):
            assert "file" in block.marks, f"{block.where}: which file is it?"
        else:
            assert block.language in ("python", "console", "text", "mermaid"), f"{block.where}: nothing runs it"


def test_every_finding_of_check_is_explained():
    modules = (ROOT / "judgegraph/wiring").glob("*.py")
    codes = {code for m in modules for code in re.findall(r'Finding\(\s*"([a-z-]+)"', m.read_text())}
    text = (ROOT / "docs/check.md").read_text()
    assert len(codes) > 10
    assert {code for code in codes if f"**{code}**" not in text and f"`{code}`" not in text} == set()


def test_the_language_of_graph_files_is_described_whole():
    text = sections_text("graph-files.md")["The file and its keys"]
    specs = (HeadSpec, NodeSpec, EdgeSpec, JudgeSpec)
    words = (
        {one.alias or name for spec in specs for name, one in spec.model_fields.items()} | {*CONDITIONS} | {*HELPERS}
    )
    assert {word for word in words if not re.search(rf"`[^`]*\b{word}\b[^`]*`", text)} == set()


def test_the_checks_of_this_file_can_fail(tmp_path: Path):
    agrees("a ... c", "a b\nb c", "here")
    for expected, printed in (("a", "b"), ("a ...", "b a c"), ("", "a")):
        with pytest.raises(AssertionError):
            agrees(expected, printed, "here")
