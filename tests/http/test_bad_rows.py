"""Bad rows under a run: named with line, id, field and reason, their neighbours scored; strict stops before a call."""

import json

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main

GOOD = [{"id": f"good-{n}", "output": f"text number {n}"} for n in range(4)]
BAD = [
    ('{"id": "no-output"}', "no-output", "output"),
    ('{"id": "list", "output": 7}', "list", "output"),
    ('{"id": "good-0", "output": "again"}', "good-0", "id"),
    ('{"id": "cut", "output": "x', None, ""),
]


@pytest.fixture
def data(tmp_path):
    """A good row before each bad one, so that line 2, 4, 6 and 8 are bad."""
    pairs = zip(GOOD, BAD, strict=True)
    lines = [line for good, (bad, *_) in pairs for line in (json.dumps(good), bad)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(site, data, out, *more):
    judge = ["--judge", "openai:stub", "--base-url", site.url, "-c", "summary", "-s", "samples=1"]
    return CliRunner().invoke(main, ["run", "sageval", str(data), "-o", str(out), *judge, *more])


def test_the_neighbours_of_bad_rows_are_scored_and_each_bad_row_is_named(server, data, tmp_path):
    site = server("ok")
    done = run(site, data, tmp_path / "run")
    assert done.exit_code == 0, done.output
    items = list(jg.Run.load(tmp_path / "run").items)
    assert sorted(item.id for item in items) == [row["id"] for row in GOOD]
    assert all(score.status == "ok" for item in items for score in item.scores)
    assert site.count == 2 * len(GOOD)
    rejected = json.loads((tmp_path / "run/rejected.json").read_text())
    assert [(r["line"], r["id"], r["field"]) for r in rejected] == [
        (2 * place, id, field) for place, (_, id, field) in enumerate(BAD, 1)
    ]
    assert all(row["reason"] and row["reason"].isprintable() for row in rejected)


@pytest.mark.parametrize("bad", range(len(BAD)))
def test_strict_stops_before_the_first_paid_call_wherever_the_bad_row_stands(server, tmp_path, bad):
    site, data = server("ok"), tmp_path / "rows.jsonl"
    data.write_text("\n".join([*map(json.dumps, GOOD), BAD[bad][0]]) + "\n")
    done = run(site, data, tmp_path / "run", "--strict")
    assert done.exit_code == 1
    assert "line 5" in done.output
    assert site.count == 0
    assert not (tmp_path / "run").exists()
