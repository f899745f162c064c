"""What `tests/conftest.py` makes of tables: no row is passed over, and each that fails is named."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CASES = """
import pytest

@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_rows(n):
    assert n % 2

@pytest.mark.parametrize("n", [1, 2, 3, 4])
async def test_awaited_rows(n):
    assert n

@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_with_a_folder(n, tmp_path):
    assert not list(tmp_path.iterdir())

@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_sampled(n):
    assert n
"""
MARKS = """
[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
markers =
    sampled(n)
    soak
"""


def ended(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60).stdout


def test_a_table_that_asks_for_nothing_is_one_case_of_all_its_rows(tmp_path: Path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text(MARKS)
    (tmp_path / "test_cases.py").write_text(CASES)
    told = ended(tmp_path, "-m", "not soak")
    assert "2 of 4 rows: 2, 4" in told
    assert "1 failed, 7 passed, 2 deselected" in told  # rows 1 and awaited 1, with a folder 4, sampled 2
    assert "2 failed, 12 passed, 2 deselected" in ended(tmp_path, "-m", "not soak", "--each-row")
    assert "2 passed, 8 deselected" in ended(tmp_path, "-m", "soak")
