"""docs/api.md is the one list of what is public, and no example needs another name.

`python tests/docs/test_api.py` writes the lists anew.
"""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/api.md"
IMPORT = re.compile(r"^ *from (judgegraph[\w.]*) import \(?([\w, ]+)", re.M)
SECTION = re.compile(r"^## `(judgegraph[\w.]*)`\n\n(.*?)\n\n((?:`[^`]+`[, .\n]*)+)", re.M | re.S)


def fronts(page: str) -> dict[str, list[str]]:
    """Module -> the names that the page lists."""
    return {module: re.findall(r"`([^`]+)`", names) for module, _, names in SECTION.findall(page)}


def public(module: str) -> list[str]:
    return sorted(name for name in importlib.import_module(module).__all__ if not name.startswith("_"))


def listed(names: list[str]) -> str:
    """Names in lines of at most 120 characters."""
    lines = [""]
    for word in [f"`{name}`{',' if name != names[-1] else '.'}" for name in names]:
        if len(lines[-1]) + len(word) > 118:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def test_the_page_lists_what_each_front_exports_and_each_name_is_there():
    found = fronts(PAGE.read_text(encoding="utf-8"))
    assert len(found) >= 12
    for module, names in found.items():
        assert names == public(module), f"{module}: run `python tests/docs/test_api.py`"
        home = importlib.import_module(module)
        assert all(getattr(home, name, None) is not None for name in names)


@pytest.mark.parametrize("folder", ["docs", "examples", "notebooks"])
def test_no_example_needs_a_name_that_is_not_public(folder):
    known = fronts(PAGE.read_text(encoding="utf-8"))
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".md", ".py") and path.name != "site.py":
            for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
                asked = {name.strip() for name in names.split(",") if name.strip()}
                if module == "judgegraph":  # `from judgegraph import prompts`
                    asked -= {front.rpartition(".")[2] for front in known}
                assert module in known, f"{path.name}: from {module} import {names}"
                lacks = sorted(asked - set(known[module]))
                assert not lacks, f"{path.name}: {module} lists no {lacks}"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    for module, about, names in SECTION.findall(text):
        head = f"## `{module}`\n\n{about}\n\n"
        text = text.replace(head + names, f"{head}{listed(public(module))}\n\n")
    PAGE.write_text(text.rstrip() + "\n", encoding="utf-8")
