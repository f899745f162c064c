"""Packages as an installer would leave them, without one."""

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judgegraph.registry.shipped import GROUPS, LOADED, installed
from judgegraph.tools import catalogue


def forget() -> None:
    installed.cache_clear()
    LOADED.clear()
    catalogue._made.clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Puts a package's folder on the path, and what its pyproject.toml says of it where Python looks for that."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    folders = [site]

    def put(folder: Path) -> None:
        about = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        name, version = about["name"], about["version"]
        at = site / f"{name.replace('-', '_')}-{version}.dist-info"
        at.mkdir()
        (at / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        points = {group: listed for group, listed in about["entry-points"].items() if group in GROUPS}
        lines = [
            f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in listed.items()) for group, listed in points.items()
        ]
        (at / "entry_points.txt").write_text("".join(lines))
        monkeypatch.syspath_prepend(str(folder.resolve()))
        folders.append(folder.resolve())
        forget()

    forget()
    yield put
    forget()
    for name, module in list(sys.modules.items()):
        if any(str(getattr(module, "__file__", None) or "").startswith(f"{folder}/") for folder in folders):
            del sys.modules[name]
