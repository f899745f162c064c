"""docs/concepts.md: what it lists is what the code has."""

import importlib
import re
import runpy
from pathlib import Path
from typing import get_args, get_type_hints

import judgegraph as jg
from judgegraph.graphs import llm_score
from judgegraph.runs.item import FINE
from judgegraph.types import Status

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/concepts.md").read_text()
LAYERS = runpy.run_path(str(ROOT / "tests/test_layers.py"))["LAYERS"]  # from the ground up


def rows(title: str) -> list[list[str]]:
    """The cells of a section's table, without its head."""
    lines = re.split(r"^## ", TEXT.partition(f"\n## {title}\n")[2], flags=re.M)[0].splitlines()
    table = [line for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[2:]]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_house_is_drawn_as_it_is_built_from_the_roof_down():
    drawn = re.findall(r"^    +(\d+)  (\w+(?:  \w+)*)$", TEXT.partition("## The house")[2], re.M)
    built = [(layer, rooms.split()) for layer, rooms in enumerate(LAYERS)]
    assert [(int(layer), rooms.split()) for layer, rooms in drawn] == built[::-1]


def test_every_room_is_described_with_its_front_in_the_order_of_the_layers():
    told = {names(first)[0]: names(front) for first, _, front in rows("The house")}
    assert list(told) == [room for rooms in LAYERS for room in rooms.split() if room != "__main__"]
    for room, fronts in told.items():
        assert fronts, room
        for front in fronts:  # a path of a name: `calls.ask`, `runs.evaluate.evaluate`, or a command
            module, _, name = front.rpartition(".")
            assert hasattr(importlib.import_module(f"judgegraph.{module}"), name), front
            assert front.split(".")[0] == room


def test_what_travels_is_the_state_with_its_joins():
    hints = get_type_hints(jg.EvalState, include_extras=True)
    joins = {key: next((f.__name__ for f in getattr(hint, "__metadata__", ())), "") for key, hint in hints.items()}
    assert {names(key)[0]: join for key, _, join in rows("What travels")} == joins


def test_every_status_is_explained_and_which_are_tried_again():
    told = [names(status)[0] for status, _ in rows("Status")]
    assert set(told) == set(get_args(Status))
    assert len(told) == len(get_args(Status))
    assert set(told[:3]) == set(FINE)
    assert "The first three need no second try." in TEXT


def test_every_file_of_a_run_is_explained(tmp_path: Path):
    sample = jg.Sample(id="a", source="The bridge is shut until spring.", output="The bridge is shut.")
    jg.evaluate(llm_score(criteria="summary"), [sample], out=tmp_path / "run")
    told = {name for first, _ in rows("A run is a folder") for name in names(first)}
    assert told == {path.name for path in (tmp_path / "run").iterdir()}
