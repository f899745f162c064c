"""`judgegraph bench NAME --recorded --json` as tests of collections call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judgegraph.cli import main

Key = tuple[str, str, str, str]  # judge, criterion, statistic, level


class Cells(dict[Key, dict[str, Any]]):
    """Every cell of a collection's table by what it is of."""

    @property
    def equal(self) -> list[Key]:
        """Those that are the published figures to the printed digits."""
        return [key for key, cell in self.items() if cell["equal"]]

    @property
    def unequal(self) -> dict[Key, tuple[float, float]]:
        """Ours and the published figure, where they differ in the printed digits."""
        return {
            key: (cell["value"], cell["published"]["value"]) for key, cell in self.items() if cell["equal"] is False
        }


def _recorded(data: Path, name: str, *more: str) -> Cells:
    command = ["bench", name, "--data", str(data), "--recorded", "--json", "--resamples", "0", *more]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    cells = json.loads(done.stdout)["cells"]
    found = Cells({(c["judge"], c["criterion"], c["statistic"], c["level"]): c for c in cells})
    assert len(found) == len(cells)
    return found


@pytest.fixture(scope="session")
def recorded() -> Callable[..., Cells]:
    """(folder of collections, name, more of the command) -> the table's cells."""
    return _recorded
