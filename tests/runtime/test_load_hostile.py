"""Each hostile input loads or is rejected as it should be, between two neighbours that load."""

import base64
import json
import time
from pathlib import Path

import pytest

from judgegraph.data.load import load
from judgegraph.errors import DataError

INPUTS = Path(__file__).resolve().parents[3] / "shared" / "hostile" / "inputs.jsonl"
NEIGHBOURS = [{"id": f"normal-{n}", "source": "A town.", "output": "A town."} for n in (1, 2)]


def cases():
    if not INPUTS.is_file():
        return [pytest.param(None, marks=pytest.mark.skip("skipped: no ../shared"), id="none")]
    rows = map(json.loads, INPUTS.read_text("utf-8").splitlines())
    return [pytest.param(row, id=row["id"]) for row in rows]


def raw_lines(case):
    samples = case["sample"] if isinstance(case["sample"], list) else [case["sample"]]
    for sample in samples:
        encoded = sample.get("__raw_line_base64__")
        yield base64.b64decode(encoded) if encoded else json.dumps(sample).encode()


@pytest.fixture
def loaded(request, tmp_path):
    """The case, its lines, the samples of the file, those that loaded (neighbours first and last), seconds."""
    case = request.param
    lines = list(raw_lines(case))
    neighbours = [json.dumps(row).encode() for row in NEIGHBOURS]
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(b"\n".join([neighbours[0], *lines, neighbours[1]]) + b"\n")
    start = time.monotonic()
    samples = load(path, strict=False)
    found = list(samples)
    return case, lines, samples, found, time.monotonic() - start


@pytest.mark.sampled(5)
@pytest.mark.parametrize("loaded", cases(), indirect=True)
def test_a_hostile_row_harms_only_itself(loaded):
    case, lines, samples, found, seconds = loaded
    assert [found[0].id, found[-1].id] == ["normal-1", "normal-2"]
    assert len(found) - 2 + len(samples.rejected) == len(lines)
    assert seconds < 30
    outcome = set(case["expect"]["outcome"])
    if len(found) > 2:
        assert outcome & {"scored", "failed"}
    if samples.rejected:
        assert "rejected" in outcome, samples.rejected


@pytest.mark.sampled(5)
@pytest.mark.parametrize("loaded", cases(), indirect=True)
def test_a_rejection_names_line_and_field_on_one_printable_line(loaded):
    case, _, samples, found, _ = loaded
    loaded_lines = {2 + i for i in range(len(list(raw_lines(case))))} - {r.line for r in samples.rejected}
    assert len(loaded_lines) == len(found) - 2
    checks = case["expect"]["checks"]
    for rejection in samples.rejected:
        assert 2 <= rejection.line < 2 + len(list(raw_lines(case)))
        assert f"line {rejection.line}" in str(rejection)
        assert str(rejection).isprintable()
        assert rejection.reason
        if "reason_names_field" in checks:
            assert f"field {rejection.field}" in str(rejection)
            assert rejection.field


@pytest.mark.sampled(5)
@pytest.mark.parametrize("loaded", cases(), indirect=True)
def test_what_loads_is_what_was_written(loaded):
    _, lines, _, found, _ = loaded
    rows = []
    for line in lines:
        try:
            rows.append(json.loads(line.decode("utf-8-sig")))
        except ValueError:  # no UTF-8, cut off, a huge number: never loaded
            continue
    by_id = {(row["id"], json.dumps(row.get("output"))): row for row in rows}
    for sample in found[1:-1]:
        row = by_id[sample.id, json.dumps(sample.output)]
        assert (sample.source, sample.query) == (row["source"], row["query"] or "")
        assert sample.human == (row["human"] or {})
        assert set(sample.meta) == set(row) - {"id", "source", "output", "query", "human"}
        assert sample.model_validate_json(sample.model_dump_json()) == sample
        json.dumps(sample.model_dump(), allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("loaded", cases(), indirect=True)
def test_ids_are_distinct_as_they_are_written(loaded):
    _, _, _, found, _ = loaded
    assert len({sample.id for sample in found}) == len(found)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("loaded", cases(), indirect=True)
def test_strict_stops_at_the_first_bad_row(loaded, tmp_path):
    _, _, samples, found, _ = loaded
    strict = load(tmp_path / "hostile.jsonl")
    if samples.rejected:
        with pytest.raises(DataError, match=f"line {samples.rejected[0].line}"):
            strict.count()
    else:
        assert list(strict) == found


def expected(kind):
    """Which kinds our rules reject, and what they say; every other kind loads whole."""
    return {
        "lone_surrogate": ["field output: holds a lone surrogate (\\ud800), which is no character"],
        "missing_output": ["field output: missing; expected text, a JSON object or a list of objects;"],
        "wrong_type": [
            "field output: expected text, a JSON object or a list of objects, got a number",
            "field output: expected text, a JSON object or a list of objects, got null",
            "field output: expected text, a JSON object or a list of objects, got a list with something else",
        ],
        "human_nan": ["field human.coherence: nan is no number that JSON has"],
        "dup_id_same": ["field id: is the id of line 2 too; ids must be unique"],
        "bad_utf8": ["is not UTF-8 (byte 0xe9 at "],
        "bom_truncated": ["is not JSON: Unterminated string"],
        "huge_int": ["field human.coherence: is a whole number of over 308 digits"],
        "dup_keys": ["field output: the key is given twice in one object"],
    }.get(kind, [])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("loaded", cases(), indirect=True)
def test_each_kind_is_rejected_for_its_own_reason(loaded):
    case, _, samples, _, _ = loaded
    reasons = [str(rejection) for rejection in samples.rejected]
    assert len(reasons) == len(expected(case["kind"])), reasons
    for reason, said in zip(reasons, expected(case["kind"]), strict=True):
        assert said in reason
