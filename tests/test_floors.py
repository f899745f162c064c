"""The house has one way up: a module imports floors below its own, never beside or above."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "judgegraph"
FLOORS = {
    "errors": 0, "types": 1, "answers": 2, "stats": 2, "prompts": 2, "trace": 2, "models": 3, "registry": 3, "calls": 4,
    "agents": 5, "tools": 5, "compose": 6, "wiring": 6, "graphs": 7, "graph_files": 8, "testing": 8, "runtime": 9,
    "meta": 10, "bench": 11, "report": 12, "scaffold": 12, "cli": 13, "studio": 13, "__main__": 14,
}  # fmt: skip
MODULES = sorted(PACKAGE.rglob("*.py"))


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def runtime_imports(tree: ast.AST) -> Iterator[str]:
    """Modules imported, inside functions too; what stands under TYPE_CHECKING is for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "judgegraph":
                yield from (f"judgegraph.{alias.name}" for alias in node.names)
        yield from runtime_imports(node)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_floors_below_its_own(path: Path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own == "__init__":
        return  # the public face; its lazy exports are tested in test_face.py
    for name in runtime_imports(ast.parse(path.read_text())):
        if not name.startswith("judgegraph.") or room(name) in ("", "__version__") or room(name) == own:
            continue
        assert FLOORS[room(name)] < FLOORS[own], f"{own} imports {name}"


def test_every_room_has_a_floor():
    rooms = {p.relative_to(PACKAGE).parts[0].removesuffix(".py") for p in MODULES} - {"__init__"}
    assert rooms <= set(FLOORS)


def test_the_top_level_links_show_the_four_rooms():
    for name in ("agents", "graphs", "tools", "prompts"):
        link = PACKAGE.parent / name
        assert link.is_symlink()
        assert link.resolve() == PACKAGE / name
