"""Packages of other people: a folder with a module, METADATA and entry points, as an installer would leave them."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from click.testing import CliRunner, Result

from judgegraph.cli import main
from judgegraph.registry.lookup import REGISTERED
from judgegraph.registry.shipped import LOADED, installed
from judgegraph.tools import catalogue

CRITIC = '''
"""A critic."""
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from judgegraph.types import Criterion, Rectification, Sample, Scores, Suggestion, keyed


class Reviewed(TypedDict):
    sample: Sample
    scores: Scores
    criteria: NotRequired[list[Criterion]]


class Critique(TypedDict):
    rectifications: dict[str, Rectification]
    suggestions: list[Suggestion]


@dataclass(frozen=True, kw_only=True)
class Strict:
    """Takes a point from every score above one."""

    judge: object = "embedded"
    criteria: object = ()
    name: str = "strict"
    stage: str = "draft"

    async def __call__(self, state: Reviewed) -> Critique:
        drafts = [s for s in state["scores"].values() if s.stage == self.stage and s.value is not None]
        down = {"agent": self.name, "action": "change", "direction": "down", "reason": "strict"}
        said = [Rectification(criterion=s.criterion, value=max(1.0, s.value - 1), **down) for s in drafts]
        return {"rectifications": keyed(*said), "suggestions": []}
'''


@dataclass
class Packages:
    """A folder on the path."""

    site: Path
    code: ClassVar[str] = CRITIC

    def add(self, name: str, points: str = "", *, version: str = "1.0", **modules: str) -> None:
        """A package with entry points and modules of its own; then nothing of what was read before is known."""
        folder = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (folder / "entry_points.txt").write_text(points)
        for module, code in modules.items():
            (self.site / f"{module}.py").write_text(code)
        forget()

    def critic(self, name: str, called: str, module: str = "", code: str = CRITIC, attribute: str = "Strict") -> str:
        """A package with one critic; gives its module's name."""
        module = module or f"{name.replace('-', '_')}_part"
        self.add(name, f"[judgegraph.critics]\n{called} = {module}:{attribute}\n", **{module: code})
        return module

    def call(self, *arguments: object) -> Result:
        """`judgegraph ARGUMENTS` in this process, which is quicker; 80 columns wide."""
        return CliRunner().invoke(main, list(map(str, arguments)), env={"COLUMNS": "80"})

    def run(self, *arguments: object, code: str = "") -> subprocess.CompletedProcess[str]:
        """`judgegraph ARGUMENTS`, or a script, in a process of its own that sees these packages."""
        command = [sys.executable, "-c", code] if code else [sys.executable, "-m", "judgegraph", *map(str, arguments)]
        path = os.pathsep.join([str(self.site), str(Path(__file__).resolve().parents[2])])
        env = {**os.environ, "PYTHONPATH": path, "COLUMNS": "80"}
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)


def forget() -> None:
    importlib.invalidate_caches()
    installed.cache_clear()
    LOADED.clear()
    catalogue._made.clear()


@pytest.fixture(autouse=True)
def _own_registry() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = {key: dict(parts) for key, parts in REGISTERED.items()}
    yield
    REGISTERED.clear()
    REGISTERED.update(before)
    forget()


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    forget()
    yield Packages(site)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(site)):
            del sys.modules[name]
