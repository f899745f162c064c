"""Hostile inputs as they leave a run: no cell is a formula, all is read back, and no terminal is driven."""

import base64
import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from terminal import controls

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.cli.main import COMMANDS
from judgegraph.data.load import csv_rows
from judgegraph.data.samples import COLUMNS
from judgegraph.runs.run import PICTURES

FORMULA = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff\"]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
PAYLOADS = (
    "=1+1",
    "-2+3",
    "+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "a;=1+1",
    "a\n=1+1",
    "\uff1d1",
    "'=1",
    '"=1',
    "\0=1",
)
ECHO = """
from langgraph.graph import END, START, StateGraph
from judgegraph.types import Comparison, EvalState, Note, Scale, Score, keyed, text_of

LABELS = ("=1+1", "-x")


async def judge(state: EvalState) -> EvalState:
    sample = state["sample"]
    said = text_of(sample.output)
    name = said[:60] or "nothing"
    value = Score(criterion=name, agent=sample.id, value=-0.5, reason=said, scale=Scale(low=-1, high=1))
    label = Score(criterion="=label", agent="@agent", label=LABELS[len(said) % 2], scale=Scale(labels=LABELS))
    lost = Score(criterion="lost", agent=said[-60:], stage="+stage", status="unreadable", reason=said[::-1][:500])
    pair = Comparison(criterion=name, agent=sample.id, status="skipped", reason=said)
    note = Note(agent=sample.id, text=said[:300])
    return {"scores": keyed(value, label, lost), "comparisons": keyed(pair), "notes": keyed(note), "overall": -0.5}


def echo():
    made = StateGraph(EvalState)
    made.add_node("judge", judge)
    made.add_edge(START, "judge")
    made.add_edge("judge", END)
    return made.compile(name="echo")
"""


def lines(shared: Path):
    """The corpus as lines of a dataset, and a sample for each way to begin a formula."""
    for line in (shared / "hostile/inputs.jsonl").read_text().splitlines():
        given = json.loads(line)["sample"]
        for sample in given if isinstance(given, list) else [given]:
            raw = sample.get("__raw_line_base64__")
            yield base64.b64decode(raw) if raw else json.dumps(sample).encode()
    for n, text in enumerate(PAYLOADS):
        yield json.dumps({"id": f"{text}{n}", "output": text, "human": {"overall": -n}}).encode()


def call(*arguments: object) -> str:
    done = CliRunner().invoke(main, [str(one) for one in arguments])
    assert done.exit_code in (0, 1), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert not controls(done.output), ascii(done.output[:2000])
    return done.output


@pytest.fixture(scope="module")
def folder(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    (folder / "echo.py").write_text(ECHO)
    (folder / "data.jsonl").write_bytes(b"\n".join(lines(shared)) + b"\n")
    said = call("run", f"{folder / 'echo.py'}:echo", folder / "data.jsonl", "-o", folder / "run")
    assert "rejected" in said, "the corpus has rows that are none"
    return folder


@pytest.fixture
def wide_fields() -> Iterator[None]:
    """As whoever reads a text of a megabyte by the csv module must allow it."""
    before = csv.field_size_limit(2**27)
    yield
    csv.field_size_limit(before)


@pytest.mark.usefixtures("wide_fields")
def test_no_cell_of_the_table_is_a_formula_and_each_comes_back(folder: Path):
    assert "scores" in call("export", folder / "run", "-o", folder / "scores.csv")
    data = (folder / "scores.csv").read_bytes().decode("utf-8-sig")
    run = jg.Run.load(folder / "run")
    items = sorted(run.items, key=lambda item: item.place)
    made = [(item.id, score) for item in items for score in item.scores]
    for separator in (",", ";", "\t"):
        cells = [cell for row in csv.reader(io.StringIO(data, newline=""), delimiter=separator) for cell in row]
        assert not [cell for cell in cells if FORMULA.match(cell) and not NUMBER.fullmatch(cell)]
    assert not re.search(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", data)  # nothing that drives a terminal
    assert "\u241b" in data
    read = [row for _, row in csv_rows(folder / "scores.csv", ",")]
    assert len(read) == len(made) > 3 * len(PAYLOADS)
    for row, (id, score) in zip(read, made, strict=True):
        told = {"id": id, "role": row["role"], **{name: getattr(score, name) for name in COLUMNS[1:] if name != "role"}}
        assert row == {name: "" if cell is None else str(cell).translate(PICTURES) for name, cell in told.items()}
    assert {row["value"] for row in read} == {"-0.5", ""}
    assert {row["role"] for row in read} <= {"answer", "draft", "other"}


def test_the_items_come_back_from_json_lines(folder: Path):
    call("export", folder / "run", "-o", folder / "items.jsonl")
    read = [json.loads(line) for line in (folder / "items.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
    items = sorted(jg.Run.load(folder / "run").items, key=lambda item: item.place)
    assert [(line["sample"]["id"], line["sample"]["output"]) for line in read] == [
        (item.id, item.sample.output) for item in items
    ]


LINES = ["run {m} {d} --json", "plan {m} {d}", "plan {m} {d} --json", "probe {m} {d} --json", "meta {r}",
            "meta {r} --json", "rank {r}", "corrected {r} -o {o}.jsonl", "check {m}", "run {m} {d} --strict",
            "trace {r}", "diff {r} {r}", "report {r} -o {o}.html"]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", [line for line in LINES if line.split()[0] in COMMANDS])
def test_a_command_on_the_corpus_drives_no_terminal(line: str, folder: Path):
    places = {"m": f"{folder / 'echo.py'}:echo", "d": folder / "data.jsonl", "r": folder / "run", "o": folder / "out"}
    assert call(*[word.format(**places) for word in line.split()])
