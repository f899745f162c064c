"""The house has one way up: rooms import rooms below their own, and files of a room make no ring."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from judgegraph.moved import MOVED

PACKAGE = Path(__file__).resolve().parents[1] / "judgegraph"
LAYERS = (  # from the ground up; what stands on one line may use only what stands on lines above it
    "errors moved", "shown", "evidence", "types", "answers compiled stats prompts replies", "embedded forms trace",
    "models registry", "calls", "tools", "agents", "compose", "wiring", "graphs", "graph_files testing", "agent_runs",
    "data", "runs traces", "planning doctor", "meta", "bench", "bridging", "views", "report", "webview",
    "cli studio", "__main__",
)  # fmt: skip
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms.split()}
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports(module: str) -> Iterator[str]:
    """Modules of ours that one imports, inside functions and for type checkers too."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & set(MODULES)
            yield from inner - {module}
            if len(inner) < len(node.names) and node.module != module:
                yield node.module


@cache
def graph() -> dict[str, list[str]]:
    """Each module of ours -> those that it imports."""
    return {module: sorted(set(imports(module)) - {"judgegraph"}) for module in MODULES if module != "judgegraph"}


def test_a_room_imports_only_rooms_below_its_own():
    rooms = {room(module) for module in graph()}
    assert rooms == set(LEVEL)
    wrong = {
        f"{module} imports {other}"
        for module, others in graph().items()
        for other in others
        if room(other) != room(module) and not below(room(other), room(module))
    }
    assert not wrong, "\n".join(sorted(wrong))


def below(lower: str, upper: str) -> bool:
    """Runs show their traces, and traces are read from runs: these two stand side by side."""
    return LEVEL[lower] < LEVEL[upper] or {lower, upper} == {"runs", "traces"}


def test_no_files_import_each_other_in_a_ring():
    TopologicalSorter(graph()).prepare()  # raises CycleError, which names the ring


def test_names_of_earlier_modules_import_with_a_warning():
    for old, new in MOVED.items():
        assert old not in MODULES
        if not new:
            continue
        sys.modules.pop(old, None)
        with pytest.warns(DeprecationWarning, match=f"{old} is {new} now"):
            assert importlib.import_module(old) is importlib.import_module(new)


def test_the_top_level_links_show_the_four_rooms():
    for name in ("agents", "graphs", "tools", "prompts"):
        link = PACKAGE.parent / name
        plain = link.is_file() and not link.is_symlink()  # a checkout without links holds their text
        assert link.read_text().strip() == f"judgegraph/{name}" if plain else link.resolve() == PACKAGE / name


def test_files_that_the_guides_name_are_there_and_the_first_is_two_screens():
    root = PACKAGE.parent
    first = (root / "CONTRIBUTING.md").read_text()
    assert first.count("\n") <= 95
    for text in (first, (root / "docs/internals.md").read_text()):
        for name in re.findall(r"`((?:\w+/)+\w+\.(?:py|md|json))`", text):
            assert name.endswith("NAME.md") or any((base / name).is_file() for base in (root, PACKAGE)), name
    for front in re.findall(r"`(\w+(?:\.\w+)+)`", first.partition("## The ten fronts")[2].partition("\n## ")[0]):
        module, _, name = front.rpartition(".")
        assert hasattr(importlib.import_module(f"judgegraph.{module}"), name), front


def test_no_module_is_ignored_by_git():
    """A rule for run folders once hid the room of the same name."""
    if not (PACKAGE.parent / ".git").exists():
        pytest.skip("skipped: no checkout")
    named = "\n".join(str(path.relative_to(PACKAGE.parent)) for path in MODULES.values())
    command = ["git", "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(command, cwd=PACKAGE.parent, input=named, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")
