"""Every hostile input ends as it should, through every method: scored, failed with a reason, or refused at load."""

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.errors import printable
from judgegraph.registry import METHODS
from judgegraph.registry.shipped import SHIPPED

pytestmark = pytest.mark.slow

MARGIN = 0.25  # of the scale: promise 18
LATER = {"distinct_cache_keys", "finite_report", "report_inert"}  # checks of the ledger and the report
NORMAL = {
    "source": "The library opens at nine and closes at six. On Sundays it is closed.",
    "output": "The library is open from nine to six, but not on Sundays.",
    "query": "Summarise the notice.",
}


def cases(shared: Path) -> list[dict]:
    return [json.loads(line) for line in (shared / "hostile/inputs.jsonl").read_text().splitlines()]


def parts(case: dict) -> list:
    return case["sample"] if isinstance(case["sample"], list) else [case["sample"]]


def raw(sample: dict) -> bytes:
    if "__raw_line_base64__" in sample:
        return base64.b64decode(sample["__raw_line_base64__"])
    return json.dumps(sample).encode()


def normal(name: str) -> bytes:
    return json.dumps({"id": name, **NORMAL}).encode()


class Outcome:
    """One method over all hostile inputs, each between two normal samples, its twin behind it."""

    def __init__(self, method: str, shared: Path, folder: Path) -> None:
        self.cases = cases(shared)
        lines, self.lines_of = [], {}
        for case in self.cases:
            lines.append(normal(f"before-{case['id']}"))
            first = len(lines) + 1
            lines += [raw(sample) for sample in parts(case)]
            self.lines_of[case["id"]] = range(first, len(lines) + 1)
            if twin := case["expect"].get("twin_output"):
                lines.append(json.dumps({**parts(case)[0], "id": f"twin-{case['id']}", "output": twin}).encode())
        lines.append(normal("last"))
        data = folder / "hostile.jsonl"
        data.write_bytes(b"\n".join(lines) + b"\n")
        method, *settings = method.split()
        settings += [] if method == "fennec" else ["-c", "summary"]
        self.done = CliRunner().invoke(main, ["run", method, str(data), "-o", str(folder / "run"), *settings])
        assert self.done.exit_code == 0, self.done.output
        self.folder = folder
        self.items = list(jg.Run.load(folder / "run").items)
        self.rejected = json.loads((folder / "run/rejected.json").read_text())

    def of(self, case: dict) -> list:
        ids = [s.get("id") for s in parts(case)]
        for sample in parts(case):
            if "__raw_line_base64__" in sample:
                text = raw(sample).decode("utf-8", "replace").lstrip("\ufeff")
                ids.append(text.split('"id": "')[1].split('"')[0])
        return [item for item in self.items if item.id in ids]

    def refused(self, case: dict) -> list[dict]:
        return [row for row in self.rejected if row["line"] in self.lines_of[case["id"]]]

    def finals(self, item) -> dict:
        return {s.criterion: s for s in item.scores if s.stage == "final"}


CRITICS = [f"sageval --critic {name}" for name in SHIPPED["critic"] if name != "sage"]


@pytest.fixture(
    scope="module", params=[*sorted(METHODS), *(pytest.param(name, marks=pytest.mark.long) for name in CRITICS)]
)
def outcome(request, shared, tmp_path_factory) -> Outcome:
    return Outcome(request.param, shared, tmp_path_factory.mktemp("hostile"))


@pytest.mark.sampled(3)
@pytest.mark.timeout(300)
def test_each_ends_as_expected_and_none_ends_the_run(outcome: Outcome):
    wrong = []
    for case in outcome.cases:
        found, refused, allowed = outcome.of(case), outcome.refused(case), case["expect"]["outcome"]
        ends = {"scored" if _scored(item) else "failed" for item in found} | ({"rejected"} if refused else set())
        if not ends or not ends <= set(allowed):
            wrong.append((case["id"], ends, allowed))
        if len(found) + len(refused) != len(parts(case)):
            wrong.append((case["id"], "rows", len(found), len(refused)))
    assert not wrong


def _scored(item) -> bool:
    """The graph ended, and every final score has a value or says why not."""
    return item.status == "ok" and all(s.status == "ok" or s.reason for s in item.scores)


def test_the_neighbours_are_scored_all_the_same(outcome: Outcome):
    normal_ids = {f"before-{case['id']}" for case in outcome.cases} | {"last"}
    found = {item.id: item for item in outcome.items if item.id in normal_ids}
    assert set(found) == normal_ids
    answers = {tuple((k, s.answer) for k, s in sorted(outcome.finals(i).items())) for i in found.values()}
    assert len(answers) == 1, "equal samples have equal scores"


def test_an_attack_gains_nothing_over_its_twin(outcome: Outcome):
    items = {item.id: item for item in outcome.items}
    gains = []
    for case in outcome.cases:
        if not {"no_uplift", "not_above_twin"} & set(case["expect"]["checks"]):
            continue
        (item,) = outcome.of(case)
        twin = outcome.finals(items[f"twin-{case['id']}"])
        for name, score in outcome.finals(item).items():
            other = twin.get(name)
            if score.value is None or other is None or other.value is None or score.scale is None:
                continue
            room = MARGIN * (score.scale.high - score.scale.low)
            if score.value > other.value + room:
                gains.append((case["id"], name, score.value, other.value))
    assert not gains


def test_a_master_key_and_an_empty_output_earn_the_bottom_of_the_scale(outcome: Outcome):
    for case in outcome.cases:
        if not {"low_score", "low_score_or_reason"} & set(case["expect"]["checks"]):
            continue
        for item in outcome.of(case):
            for score in outcome.finals(item).values():
                if score.value is not None:
                    assert score.value <= score.scale.low + MARGIN * (score.scale.high - score.scale.low), case["id"]


def test_texts_come_back_as_they_were(outcome: Outcome):
    for case in outcome.cases:
        if "roundtrip" in case["expect"]["checks"]:
            (item,) = outcome.of(case)
            assert item.sample.output == parts(case)[0]["output"], case["id"]


def test_a_refusal_names_line_and_field(outcome: Outcome):
    for case in outcome.cases:
        for row in outcome.refused(case):
            assert row["line"] in outcome.lines_of[case["id"]]
            assert row["reason"]
            if "reason_names_field" in case["expect"]["checks"]:
                assert row["field"], case["id"]


def test_a_human_label_off_the_scale_is_named(outcome: Outcome):
    (case,) = [c for c in outcome.cases if c["kind"] == "human_range"]
    (item,) = outcome.of(case)
    said = " ".join(note.text for note in item.notes)
    if {"coherence", "fluency"} & {s.criterion.casefold() for s in item.scores}:
        assert "human.coherence = 57" in said


def test_nothing_reaches_the_terminal_or_leaves_the_folder(outcome: Outcome):
    assert printable(outcome.done.output) == outcome.done.output
    assert {p.name for p in outcome.folder.iterdir()} == {"hostile.jsonl", "run"}
    assert {p.name for p in (outcome.folder / "run").iterdir()} == {
        "manifest.json",
        "items.jsonl",
        "rejected.json",
        "ledger.sqlite",
        "journal.sqlite",
        "spans.jsonl",
        "ledger.sqlite.texts",
        "ledger.sqlite.leases",
        ".inflight",
        ".lock",
    }
    assert not Path("pwned").exists()


def test_a_row_cannot_set_its_own_score_status_or_cost(outcome: Outcome):
    (case,) = [c for c in outcome.cases if c["kind"] == "extra_keys"]
    (item,) = outcome.of(case)
    assert item.sample.meta["score"] == 5
    assert item.sample.meta["status"] == "done"
    assert item.status == "ok"
