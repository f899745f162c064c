"""What others put into a folder is left alone, and a refused start leaves nothing behind."""

import json
import re

import pytest
from small import Judged, fine, graph_of, samples

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError
from judgegraph.graphs import llm_score
from judgegraph.testing import scripted


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("manifest.json", '{"name": "my web app"}'),
        ("manifest.json", "[]"),
        ("manifest.json", "{}"),
        ("manifest.json", "{torn"),
        ("manifest.json", ""),
        ("manifest.json", "[" * 100_000),
        ("rejected.json", "[1, 2]"),
        ("items.jsonl", "notes\n"),
        ("ledger.sqlite", "notes, and no database at all" * 99),
        ("journal.sqlite", "notes, and no database at all" * 99),
    ],
    ids=["a web app's", "a list", "empty", "torn", "no text", "deep", "another's", "notes", "no ledger", "no journal"],
)
def test_a_file_of_others_is_refused_and_nothing_is_added(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    judged = Judged()
    with pytest.raises(ConfigError, match=name) as raised:
        jg.evaluate(judged.graph, samples(2), out=tmp_path)
    assert "\n" not in str(raised.value)
    assert judged.seen == []
    assert content(tmp_path) == {name: text.encode()}


def test_a_refusal_leaves_no_folder_where_none_was(tmp_path):
    (tmp_path / "ledger").write_text("notes, and no database at all" * 99)
    with pytest.raises(ConfigError, match="no ledger"):
        jg.evaluate(graph_of(fine), samples(1), out=tmp_path / "a/b", ledger=tmp_path / "ledger")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger"]


def test_a_run_that_lost_its_manifest_is_told_how_to_save_what_was_paid(tmp_path):
    judge = scripted(*[{"reason": "r", "score": 4}] * 9)
    graph = llm_score(judge, criteria=[jg.Criterion(name="Clarity")])
    out, new = tmp_path / "run", tmp_path / "new"
    jg.evaluate(graph, samples(3), out=out)
    for text in (None, "{torn"):
        (out / "manifest.json").unlink() if text is None else (out / "manifest.json").write_text(text)
        before = content(out)
        with pytest.raises(ConfigError, match=r"--ledger \S+ledger\.sqlite") as raised:
            jg.evaluate(graph, samples(3), out=out)
        assert str(out / "ledger.sqlite") in str(raised.value)
        assert content(out) == before
    jg.evaluate(graph, samples(3), out=new, ledger=out / "ledger.sqlite")
    assert len(judge.calls) == 3


OWN = ["items.jsonl", "manifest.json", "rejected.json", "journal.sqlite", "ledger.sqlite", ".lock", "../mine.sqlite"]


@pytest.mark.parametrize("name", OWN)
def test_an_export_takes_no_file_of_the_runs_own(name, tmp_path):
    jg.evaluate(graph_of(fine), samples(2), out=tmp_path / "run", ledger=tmp_path / "mine.sqlite")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    before = content(tmp_path / "run")
    for folder in ("run", "link"):
        with pytest.raises(ConfigError, match="a file of the run itself"):
            jg.Run.load(tmp_path / "run").export(
                tmp_path / folder / name if name in before else tmp_path / "mine.sqlite"
            )
    assert content(tmp_path / "run") == before
    jg.Run.load(tmp_path / "run").export(tmp_path / "run/export.jsonl")
    assert (tmp_path / "run/export.jsonl").read_text().count("\n") == 2


@pytest.mark.parametrize("text", ["{}", "[]", "null", "[" * 100_000, '{"judgegraph": "1"}', "\ud800", "1"])
def test_what_is_no_manifest_is_no_run(text, tmp_path):
    (tmp_path / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DataError, match="is no run's folder"):
        jg.Run.load(tmp_path)


def test_an_export_of_a_folder_without_items_is_refused(tmp_path):
    jg.evaluate(graph_of(fine), samples(2), out=tmp_path / "run")
    (tmp_path / "run/items.jsonl").unlink()
    with pytest.raises(DataError, match=r"items\.jsonl: No such file"):
        jg.Run.load(tmp_path / "run").export(tmp_path / "export.jsonl")
    assert not list(tmp_path.glob("*export*"))


def test_the_manifest_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    import os

    told = []
    real, replace = os.fsync, type(tmp_path).replace
    monkeypatch.setattr(os, "fsync", lambda handle: (told.append(os.readlink(f"/proc/self/fd/{handle}")), real(handle)))
    monkeypatch.setattr(
        type(tmp_path), "replace", lambda self, to: (told.append(f"to {to.name}"), replace(self, to))[1]
    )
    jg.evaluate(graph_of(fine), samples(2), out=tmp_path / "run")
    names = [name.rpartition("/")[2] for name in told]
    at = names.index("to manifest.json")
    assert re.fullmatch(r"\.manifest\.json\.\w+\.new", names[at - 1])
    assert "items.jsonl" in names
    assert json.loads((tmp_path / "run/manifest.json").read_text())["state"] == "finished"
