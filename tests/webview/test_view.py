"""`judgegraph view`: samples are found, sorted, shown and marked; nobody else may ask, and nothing acts."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from html import escape
from pathlib import Path

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.cli import main
from judgegraph.errors import DataError
from judgegraph.graphs import fennec, llm_score, sageval
from judgegraph.runs.item import Item
from judgegraph.runs.labels import LabelledRun, Labels
from judgegraph.types import Criterion, Score
from judgegraph.webview.app import View, judgements
from judgegraph.webview.index import Pause, Query, SampleIndex

pytest.importorskip("starlette", reason="skipped: no starlette (the extra 'view')")
from starlette.testclient import TestClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MANY = 12
HOST = "http://127.0.0.1:8730"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Articles judged by SAGEval; one more sample that failed, as a server did not answer."""
    path = tmp_path_factory.mktemp("view") / "articles"
    samples = [*jg.load(EXAMPLES / "articles.jsonl", limit=MANY)]
    jg.evaluate(sageval(criteria="summary"), samples, out=path)
    lost = Item(
        sample=jg.Sample(id="lost/1 &?", output="<script>window.pwned=1</script> zebra"), status="timeout",
        reason="no reply in 5 s <b>x</b>", place=MANY,
    )  # fmt: skip
    with (path / "items.jsonl").open("ab") as file:
        file.write(lost.line().encode() + b"\n")
    return path


@pytest.fixture
def view(folder: Path, tmp_path: Path) -> Iterator[View]:
    found = View([folder], labels=tmp_path / "mine.jsonl")
    found.start()
    found.wait()
    yield found
    found.close()


@pytest.fixture
def client(view: View) -> TestClient:
    return TestClient(view.guarded, base_url=HOST, follow_redirects=False)


@pytest.fixture
def index(folder: Path) -> Iterator[SampleIndex]:
    found = SampleIndex(jg.Run.load(folder))
    found.fill()
    yield found
    found.close()


def ids(index: SampleIndex, **asked) -> list[str]:
    return [row["id"] for row in index.listed(Query(**asked)).rows]


def test_samples_stand_in_the_order_of_the_data_or_in_another_with_those_without_a_score_last(index: SampleIndex):
    items = sorted(jg.Run.load(index.path).items, key=lambda item: item.place)
    assert ids(index) == [item.id for item in items]
    scores = {row["id"]: row["score"] for row in index.listed(Query()).rows}
    least = ids(index, order="least")
    judged = [scores[id] for id in least if scores[id] is not None]
    assert judged == sorted(judged)
    assert least[-1] == "lost/1 &?" == ids(index, order="best")[-1]
    assert ids(index, order="failed")[0] == "lost/1 &?"


def test_a_search_finds_words_of_texts_reasons_and_ids_and_the_beginning_of_the_last(index: SampleIndex):
    first = next(iter(jg.load(EXAMPLES / "articles.jsonl", limit=1)))
    assert ids(index, text="zebra") == ["lost/1 &?"] == ids(index, text="script zeb")
    assert first.id in ids(index, text=str(first.output).split()[0])
    assert ids(index, text="zebra nosuchword") == []
    assert ids(index, text='zebra" OR "a') == []  # words, never an expression
    assert ids(index, text="&?") == ["lost/1 &?"]


def test_filters_by_status_criterion_and_bounds_are_of_the_answers(index: SampleIndex):
    assert ids(index, status="timeout") == ["lost/1 &?"] == ids(index, status="unanswered")
    run = jg.Run.load(index.path)
    low = {row["id"] for row in run.scores() if row["role"] == "answer" and row["criterion"] == "Coherence"
           and row["value"] is not None and row["value"] <= 3}  # fmt: skip
    assert set(ids(index, criterion="Coherence", high=3.0)) == low
    assert 0 < len(low) < MANY
    assert index.criteria() == sorted({row["criterion"] for row in run.scores()})


def test_pages_hold_each_sample_once_and_a_sample_knows_its_neighbours(index: SampleIndex):
    pages = [[row["id"] for row in index.listed(Query(page=page), size=5).rows] for page in (1, 2, 3, 4)]
    assert [id for page in pages for id in page] == ids(index)
    asked = Query(order="least")
    order = ids(index, order="least")
    assert index.neighbours(asked, order[0]) == (None, order[1])
    assert index.neighbours(asked, order[3]) == (order[2], order[4])


def test_what_comes_later_is_read_and_a_retry_takes_the_place_of_its_sample(tmp_path: Path):
    run = jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), [jg.Sample(id="a", output="one two three")],
                      out=tmp_path / "run")  # fmt: skip
    index = SampleIndex(jg.Run.load(tmp_path / "run"))
    index.fill()
    (item,) = run.items
    score = Score(criterion="Clarity", agent="scorer", value=5, scale=jg.Scale.of("1-5"))
    with (tmp_path / "run/items.jsonl").open("ab") as file:
        for one in (item.model_copy(update={"scores": (score,)}), Item(sample=jg.Sample(id="b", output="t"), place=1)):
            file.write(one.line().encode() + b"\n")
        file.write(b'{"torn')
    index.fill()
    listed = index.listed(Query())
    assert [(row["id"], listed.answers[row["id"]]) for row in listed.rows] == [("a", {"Clarity": "5.00"}), ("b", {})]
    assert index.item("a").scores == (score,)
    index.close()


def test_the_table_says_what_failed_and_leads_to_each_sample(client: TestClient):
    page = client.get("/runs/0?order=failed").text
    assert "13 samples" in page
    assert "no reply in 5 s &lt;b&gt;x&lt;/b&gt;" in page
    assert 'href="/runs/0/sample?id=lost%2F1+%26%3F&amp;order=failed"' in page
    assert "1 failed or without an answer" in page
    assert client.get("/").headers["location"] == "/runs/0"


def test_a_sample_shows_its_texts_its_scores_with_reasons_and_its_trace(client: TestClient, folder: Path):
    item = next(iter(jg.Run.load(folder).items))
    page = client.get("/runs/0/sample", params={"id": item.id}).text
    assert escape(str(item.sample.output)[:40], quote=True).replace("&#x27;", "&#39;") in page
    for score in item.scores:
        assert score.criterion in page
    assert "evaluate" in page.split("<h2>Trace")[1]
    lost = client.get("/runs/0/sample", params={"id": "lost/1 &?"}).text
    assert "<script" not in lost
    assert "&lt;script&gt;window.pwned=1" in lost


def test_an_unknown_sample_or_run_is_not_found(client: TestClient):
    unknown = client.get("/runs/0/sample?id=nobody")
    assert (unknown.status_code, "no such sample" in unknown.text) == (404, True)
    assert (client.get("/runs/7").status_code, client.get("/nowhere").status_code) == (404, 404)
    assert client.get("/runs/0?page=99999999999&low=x&order=; DROP&status=' OR 1").status_code == 200


def test_every_answer_forbids_scripts_frames_and_other_sites(client: TestClient):
    for path in ("/", "/runs/0", "/runs/0/sample?id=x", "/style.css", "/nowhere", "/runs/0/report"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith(
            "default-src 'none'; style-src 'self'" if "report" not in path else "default-src 'none'"
        )
        assert "script-src" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert not re.search(r"<script|\son\w+=|style=", answer.text) or path in ("/style.css", "/runs/0/report")


def test_a_page_of_another_site_cannot_ask_and_cannot_write(client: TestClient, view: View, tmp_path: Path):
    assert client.get("/runs/0", headers={"host": "evil.example:8730"}).status_code == 421
    item = next(iter(jg.Run.load(view.runs[0].index.path).items))
    form = {"id": item.id, "score:Coherence": "4"}
    assert client.post("/runs/0/label", data=form).status_code == 403
    form["secret"] = view.secret
    assert client.post("/runs/0/label", data=form, headers={"origin": "http://evil.example"}).status_code == 403
    assert not (tmp_path / "mine.jsonl").exists()
    assert client.post("/runs/0/label", data=form, headers={"origin": HOST}).status_code == 303
    assert json.loads((tmp_path / "mine.jsonl").read_text()) == {"id": item.id, "human": {"Coherence": 4.0}}


def test_where_it_listens_to_others_a_token_is_asked_for(folder: Path, tmp_path: Path):
    view = View([folder], labels=tmp_path / "mine.jsonl", token="secret-token")
    client = TestClient(view.guarded, base_url="http://10.1.1.1:8730", follow_redirects=False)
    assert client.get("/runs/0").status_code == 401
    assert client.get("/runs/0?token=wrong").status_code == 401
    opened = client.get("/runs/0?token=secret-token")
    assert opened.status_code == 303
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.get("/runs/0").status_code == 200  # by its cookie
    view.close()


def test_marks_are_checked_kept_taken_back_and_read_by_meta(
    client: TestClient, view: View, folder: Path, tmp_path: Path
):
    items = [item for item in jg.Run.load(folder).items if item.status == "ok"]
    for at, item in enumerate(items):
        form = {"secret": view.secret, "id": item.id, "score:Coherence": str(1 + at % 5), "score:Fluency": "9"}
        told = client.get(client.post("/runs/0/label", data=form).headers["location"]).text
        assert "1 written to" in told
        assert "is no number on 1-5, such as 3" in told
        assert 'value="9"' in told, "what was typed is not lost"
    page = client.get("/runs/0/sample", params={"id": items[2].id}).text
    assert 'value="3"' in page
    client.post("/runs/0/label", data={"secret": view.secret, "id": items[0].id, "score:Coherence": ""})
    labels = Labels.load(tmp_path / "mine.jsonl")
    assert labels.given[items[0].id] == {}
    assert labels.given[items[2].id] == {"Coherence": 3.0}
    human = {item.id: item.sample.human.get("Coherence") for item in LabelledRun.of(jg.Run.load(folder), labels).items}
    assert human[items[2].id] == 3.0
    done = CliRunner().invoke(main, ["meta", str(folder), "--labels", str(tmp_path / "mine.jsonl"), "--json"])
    assert done.exit_code == 0, done.output
    rows = [row for row in json.loads(done.stdout)["rows"] if row["criterion"] == "Coherence"]
    assert {row["n"] for row in rows} == {len(items) - 1}


def test_where_people_judged_on_another_scale_marks_are_on_theirs_and_two_scales_are_not_mixed(tmp_path: Path):
    samples = [
        sample.model_copy(update={"human": {"Coherence": 40.0 + 5 * at}})
        for at, sample in enumerate(jg.load(EXAMPLES / "articles.jsonl", limit=6))
    ]
    run = jg.evaluate(sageval(criteria="summary"), samples, out=tmp_path / "run")
    view = View([tmp_path / "run"], labels=tmp_path / "mine.jsonl")
    view.start()
    view.wait()
    client = TestClient(view.guarded, base_url=HOST, follow_redirects=False)
    assert "people&#39;s, 40 to 65" in client.get("/runs/0/sample", params={"id": samples[0].id}).text
    form = {"secret": view.secret, "id": samples[0].id, "score:Coherence": "90", "score:Fluency": "9"}
    told = client.get(client.post("/runs/0/label", data=form).headers["location"]).text
    assert "Fluency: &#39;9&#39; is no number on 1-5" in told
    view.close()
    assert LabelledRun.of(run, Labels.load(tmp_path / "mine.jsonl")).scores("human").rows[0]["human"] is not None
    judges = Labels(tmp_path / "other.jsonl", {samples[0].id: {"Coherence": 5.0}})
    with pytest.raises(DataError, match="marked on 1-5, and the data's judgements of it go from 40 to 65"):
        LabelledRun.of(run, judges)


@pytest.mark.parametrize(
    ("line", "said"),
    [("{", "line 1: expected"), ('{"id": 3, "human": {}}', "line 1: expected"),
     ('{"id": "a", "human": {"x": [1]}}', "is no number and no text"),
     ('{"id": "a", "human": {"x": NaN}}', "is no number and no text")],
)  # fmt: skip
def test_a_labels_file_that_is_none_is_refused_with_its_line(tmp_path: Path, line: str, said: str):
    (tmp_path / "l.jsonl").write_text(f"{line}\n")
    with pytest.raises(DataError, match=said):
        Labels.load(tmp_path / "l.jsonl")


def test_labels_of_another_run_are_refused(folder: Path, tmp_path: Path):
    labels = Labels(tmp_path / "l.jsonl", {"nobody": {"Coherence": 3}})
    with pytest.raises(DataError, match="no label is of a sample"):
        LabelledRun.of(jg.Run.load(folder), labels)


def test_marks_are_of_the_scale():
    five, kinds = jg.Scale.of("1-5"), jg.Scale.of(["bad", "good"])
    assert judgements({"score:A": "4.5", "score:B": "good"}, {"A": five, "B": kinds}) == ({"A": 4.5, "B": "good"}, "")
    found, wrong = judgements({"score:A": "nan", "score:B": "great"}, {"A": five, "B": kinds})
    assert found == {}
    assert "'nan' is no number on 1-5" in wrong
    assert "'great' is none of bad, good" in wrong


def test_two_runs_stand_beside_one_another(folder: Path, tmp_path: Path):
    other = tmp_path / "other"
    jg.evaluate(llm_score(criteria="summary"), [*jg.load(EXAMPLES / "articles.jsonl", limit=3)], out=other)
    view = View([folder, other], labels=tmp_path / "mine.jsonl")
    view.start()
    view.wait()
    client = TestClient(view.guarded, base_url=HOST)
    assert "other" in client.get("/").text
    name = next(iter(jg.Run.load(other).items)).id
    page = client.get("/runs/0/sample", params={"id": name, "beside": "1"}).text
    assert page.count('class="scores"') == 2
    absent = client.get("/runs/0/sample", params={"id": "lost/1 &?", "beside": "1"}).text
    assert "no such sample" in absent
    view.close()


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Two runs of three samples that both have, and one each that only one has."""
    root = tmp_path_factory.mktemp("beside")
    given = {"first": {"a": 2, "b": 4, "c": 3, "x": 1}, "second": {"c": 3, "b": 1, "a": 4, "y": 5}}
    kinds = {"first": "bad", "second": "good"}
    for name, values in given.items():
        items = [
            Item(sample=jg.Sample(id=id, output="t zebra" if id == "b" else "t"), place=place, scores=(
                Score(criterion="Clarity", agent="judge", value=value, scale=jg.Scale.of("1-5")),
                Score(criterion="Kind", agent="judge", label="bad" if id == "c" else kinds[name],
                      scale=jg.Scale.of(["bad", "good"])),
            )) for place, (id, value) in enumerate(values.items())
        ]  # fmt: skip
        jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), [jg.Sample(id="z", output="t")], out=root / name)
        (root / name / "items.jsonl").write_bytes(b"".join(item.line().encode() + b"\n" for item in items))
    view = View([root / "first", root / "second"])
    view.start()
    view.wait()
    yield TestClient(view.guarded, base_url=HOST)
    view.close()


def cells(page: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", page, re.S)
    return [[" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)]
            for row in rows]  # fmt: skip


@pytest.mark.parametrize(("order", "ids"), [("apart", "bac"), ("rose", "acb"), ("fell", "bca"), ("data", "abc")])
def test_samples_of_two_runs_stand_side_by_side_and_are_sorted_by_their_difference(beside, order, ids):
    page = beside.get("/runs/0", params={"beside": 1, "criterion": "Clarity", "order": order}).text
    rows = {
        "a": ["a", "2.00", "4.00", "+2.00"],
        "b": ["b", "4.00", "1.00", "-3.00"],
        "c": ["c", "3.00", "3.00", "0.00"],
    }
    assert cells(page) == [rows[id] for id in ids]
    assert "3 samples that" in re.sub("<[^>]*>", "", page)


def test_two_runs_without_a_criterion_are_told_apart_by_means_and_labels_by_whether_they_are_the_same(beside):
    page = beside.get("/runs/0", params={"beside": 1, "order": "apart"}).text
    assert cells(page)[0] == ["b", "0.75", "0.00", "-0.75", "4.00 → 1.00", "bad → good"]
    kinds = cells(beside.get("/runs/0", params={"beside": 1, "criterion": "Kind", "order": "apart"}).text)
    assert kinds == [["a", "bad", "good", "other label"], ["b", "bad", "good", "other label"],
                     ["c", "bad", "bad", "same label"]]  # fmt: skip


def test_beside_another_run_search_goes_on_and_a_sample_keeps_its_neighbours(beside):
    assert [row[0] for row in cells(beside.get("/runs/0?beside=1&q=zebra").text)] == ["b"]
    asked = {"beside": 1, "criterion": "Clarity", "order": "apart"}
    page = beside.get("/runs/0", params=asked).text
    assert "/runs/0/sample?id=b&amp;criterion=Clarity&amp;order=apart&amp;beside=1" in page
    sample = beside.get("/runs/0/sample", params={"id": "a", **asked}).text
    assert re.findall(
        r'rel="(?:prev|next)" href="/runs/0/sample\?id=(.)&amp;criterion=Clarity&amp;order=apart', sample
    ) == ["b", "c"]
    assert sample.count('class="scores"') == 2
    assert "there is no order" in beside.get("/runs/0?order=apart").text
    assert 'name="beside"' not in beside.get("/runs/0?beside=7").text


def test_a_pair_shows_both_outputs_and_its_verdict_and_takes_one_of_a_person(tmp_path: Path):
    jg.evaluate(fennec(branches=1), [*jg.load(EXAMPLES / "pairs.jsonl", limit=8)], out=tmp_path / "pairs")
    view = View([tmp_path / "pairs"], labels=tmp_path / "mine.jsonl")
    view.start()
    view.wait()
    client = TestClient(view.guarded, base_url=HOST)
    table = client.get("/runs/0").text
    assert re.search(r"A is better|B is better|tie", table)
    name = next(iter(jg.Run.load(tmp_path / "pairs").items)).id
    page = client.get("/runs/0/sample", params={"id": name}).text
    assert "<h3>output</h3>" in page
    assert "<h3>rival</h3>" in page
    assert 'inputmode="decimal" size="6"' not in page, "numbers of one side nobody can compare"
    for at, item in enumerate(jg.Run.load(tmp_path / "pairs").items):
        form = {"secret": view.secret, "id": item.id, "score:overall": "AB"[at % 2]}
        assert "1 written to" in client.post("/runs/0/label", data=form).text
    view.close()
    labels = ["--labels", str(tmp_path / "mine.jsonl"), "--json"]
    done = CliRunner().invoke(main, ["meta", str(tmp_path / "pairs"), *labels])
    assert done.exit_code == 0, done.output
    assert {row["judged"] for row in json.loads(done.stdout)["rows"] if row["statistic"] == "accuracy"} == {8}


def test_a_run_under_way_is_looked_at_again(tmp_path: Path):
    jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), [jg.Sample(id="a", output="one two three")],
                out=tmp_path / "run")  # fmt: skip
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    (tmp_path / "run/manifest.json").write_text(json.dumps({**manifest, "state": "running"}))
    view = View([tmp_path / "run"])
    view.start()
    view.wait()
    client = TestClient(view.guarded, base_url=HOST)
    assert 'http-equiv="refresh"' in client.get("/runs/0").text
    item = Item(sample=jg.Sample(id="later", output="t"), place=1)
    with (tmp_path / "run/items.jsonl").open("ab") as file:
        file.write(item.line().encode() + b"\n")
    end = time.monotonic() + 20
    while "later" not in client.get("/runs/0").text and time.monotonic() < end:
        time.sleep(0.1)
    assert "later" in client.get("/runs/0").text
    view.close()


def test_the_command_listens_prints_its_address_and_refuses_what_is_no_run(tmp_path: Path):
    done = CliRunner().invoke(main, ["view", str(tmp_path)])
    assert done.exit_code == 1
    assert "manifest" in done.output or "no run" in done.output


def test_what_makes_no_sense_is_told_and_a_comma_is_a_point(client: TestClient):
    assert "&#39;abc&#39; is no number: not applied" in client.get("/runs/0?low=abc").text
    assert "there is no status &#39;nonsense&#39;" in client.get("/runs/0?status=nonsense").text
    assert "no sample was judged by &#39;Nope&#39;" in client.get("/runs/0?criterion=Nope").text
    assert "there is no order &#39;bogus&#39;" in client.get("/runs/0?order=bogus").text
    assert client.get("/runs/0?low=0,5").text.count("<tr") == client.get("/runs/0?low=0.5").text.count("<tr") < MANY
    assert "There is no such page" in client.get("/runs/0?page=7").text
    forged = client.get("/runs/0/sample", params={"id": "lost/1 &?", "marked": "9", "wrong": "Pay me"}).text
    assert "Pay me" not in forged


def test_an_order_that_no_sample_can_be_put_in_says_so(tmp_path: Path):
    kinds = Criterion(name="Tone", scale=jg.Scale.of(["plain", "warm"]))
    jg.evaluate(llm_score(criteria=[kinds]), [jg.Sample(id="a", output="one two three four")], out=tmp_path / "run")
    index = SampleIndex(jg.Run.load(tmp_path / "run"))
    index.fill()
    assert index.listed(Query(criterion="Tone", order="least")).unordered == "no number to sort by"
    assert index.listed(Query(order="moved")).unordered == "no critic moved a score"
    assert index.listed(Query(order="time")).unordered == ""
    index.close()


def test_orders_and_statuses_of_a_criterion_are_of_its_own_answers(tmp_path: Path):
    def score(criterion: str, value: float | None, draft: float | None = None) -> list[Score]:
        about = {"criterion": criterion, "scale": jg.Scale.of("1-5")}
        first = [Score(agent="e", stage="draft", value=draft, **about)] if draft else []
        key = first[0].key if first else None
        status = "ok" if value else "abstained"
        return [*first, Score(agent="c", stage="final", value=value, status=status, draft=key, **about)]

    (tmp_path / "run").mkdir()
    run = jg.evaluate(llm_score(criteria=[Criterion(name="X")]), [jg.Sample(id="z", output="t")], out=tmp_path / "run")
    assert run.manifest
    items = [
        Item(sample=jg.Sample(id="a", output="t"), scores=(*score("A", 3, 2), *score("B", 5, 1)), place=0),
        Item(sample=jg.Sample(id="b", output="t"), scores=(*score("A", 5, 2), *score("B", None)), place=1),
        Item(sample=jg.Sample(id="c", output="t"), scores=(*score("A", None), *score("B", None)), place=2),
    ]
    (tmp_path / "run/items.jsonl").write_bytes(b"".join(item.line().encode() + b"\n" for item in items))
    index = SampleIndex(jg.Run.load(tmp_path / "run"))
    index.fill()
    assert ids(index, order="moved")[0] == "a"
    moved = index.listed(Query(criterion="A", order="moved")).rows
    assert [(row["id"], row["changed"]) for row in moved] == [("b", "A 2.00 → 5.00"), ("a", "A 2.00 → 3.00"), ("c", "")]
    assert ids(index, status="abstained") == ["b", "c"]
    assert ids(index, status="abstained", criterion="A") == ["c"] == ids(index, status="unanswered", criterion="A")
    assert ids(index, order="failed")[0] == "c"
    index.close()


def test_a_sample_that_failed_has_no_answer_by_a_criterion_either(index: SampleIndex):
    assert ids(index, status="unanswered", criterion="Coherence") == ["lost/1 &?"]
    assert ids(index, status="unanswered", criterion="Coherence", order="least") == ["lost/1 &?"]


def test_ids_of_any_signs_and_scripts_without_blanks_are_found_and_marked(tmp_path: Path):
    samples = [jg.Sample(id="two\nlines", output="これは日本語の返事です。"), jg.Sample(id="b", output="")]
    jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), samples, out=tmp_path / "run")
    view = View([tmp_path / "run"], labels=tmp_path / "mine.jsonl")
    view.start()
    view.wait()
    index = view.runs[0].index
    assert ids(index, text="日本語") == ["two\nlines"] == ids(index, text="返事")
    client = TestClient(view.guarded, base_url=HOST)
    page = client.get("/runs/0/sample", params={"id": "two\nlines"}).text
    name = re.search(r'name="id" value="([^"]*)"', page)
    assert name is not None
    sent = {"secret": view.secret, "id": name[1].replace("\n", "\r\n"), "score:Clarity": "2"}
    assert "1 written to" in client.post("/runs/0/label", data=sent).text
    assert json.loads((tmp_path / "mine.jsonl").read_text())["id"] == "two\nlines"
    assert (tmp_path / "mine.jsonl").stat().st_mode & 0o777 == 0o600
    assert '<h3>output</h3><p class="none">empty</p>' in client.get("/runs/0/sample", params={"id": "b"}).text
    assert client.post("/runs/0/label", data={**sent, "id": "nobody"}).status_code == 404
    view.close()


def test_the_command_refuses_a_run_given_twice(folder: Path):
    done = CliRunner().invoke(main, ["view", str(folder), str(folder.parent / "articles")])
    assert (done.exit_code, "given twice" in done.output) == (2, True)


def test_a_run_whose_items_were_written_again_is_read_anew(tmp_path: Path):
    samples = [jg.Sample(id=name, output="one two three four") for name in "abc"]
    jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), samples, out=tmp_path / "run")
    index = SampleIndex(jg.Run.load(tmp_path / "run"))
    index.fill()
    assert not index.changed()
    path = tmp_path / "run/items.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "new").write_bytes(lines[2] + lines[0])
    (tmp_path / "new").replace(path)
    assert index.changed()
    with pytest.raises(DataError, match="written again just now"):
        index.item("a")  # another sample lies at its place now
    index.fill()
    assert (ids(index), index.item("c").id) == (["a", "c"], "c")
    with (tmp_path / "run/spans.jsonl").open("ab") as file:
        file.write(b'{"id":"a"}\n')
    assert index.changed(), "a trace came later"
    index.close()


def test_a_reading_that_fails_is_told_on_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), [jg.Sample(id="a", output="t")], out=tmp_path / "run")

    def full(self: SampleIndex) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(SampleIndex, "fill", full)
    view = View([tmp_path / "run"])
    view.start()
    client, end = TestClient(view.guarded, base_url=HOST), time.monotonic() + 20
    while "cannot be read" not in (page := client.get("/runs/0").text) and time.monotonic() < end:
        view.wait(0.1)
    assert "it cannot be read: No space left on device" in page
    view.close()


def test_two_runs_of_one_name_are_told_apart_and_share_a_labels_file(tmp_path: Path):
    for parent in "ab":
        (tmp_path / parent).mkdir()
        jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), [jg.Sample(id="s", output="one two three")],
                    out=tmp_path / parent / "run")  # fmt: skip
    view = View([tmp_path / "a/run", tmp_path / "b/run"], labels=tmp_path / "mine.jsonl", hosts=("127.0.0.2",))
    view.start()
    view.wait()
    client = TestClient(view.guarded, base_url="http://127.0.0.2:1")
    page = client.get("/").text
    assert "a/run" in page
    assert "b/run" in page
    client.post("/runs/0/label", data={"secret": view.secret, "id": "s", "score:Clarity": "2"})
    assert 'value="2"' in client.get("/runs/1/sample?id=s").text
    view.close()


def test_labels_of_no_sample_are_counted_and_line_ends_of_other_scripts_are_text(folder: Path, tmp_path: Path):
    items = [item for item in jg.Run.load(folder).items if item.status == "ok"]
    labels = Labels(tmp_path / "l.jsonl")
    for at, item in enumerate(items):
        labels.add(item.id, {"Coherence": 1 + at % 5})
    labels.add("gone\u2028by", {"Coherence": 3})
    assert set(Labels.load(tmp_path / "l.jsonl").given) == {*(item.id for item in items), "gone\u2028by"}
    done = CliRunner().invoke(main, ["meta", str(folder), "--labels", str(tmp_path / "l.jsonl"), "--json"])
    assert "labels of 1 sample that the run has not: left out" in done.stderr
    assert LabelledRun.of(jg.Run.load(folder), labels).scores("human").rows[0]["human"] is not None


def test_a_sample_lights_up_the_way_that_it_took(tmp_path: Path):
    graph = StateGraph(jg.EvalState)
    graph.add_node("evaluate", Evaluator(criteria=jg.criteria_set("summary").criteria))
    graph.add_node("gate", jg.gate(jg.metric_node("rouge-l"), jg.low(below=3.3)))
    for source, target in ((START, "evaluate"), ("evaluate", "gate"), ("gate", END)):
        graph.add_edge(source, target)
    out = tmp_path / "gated"
    jg.evaluate(graph.compile(name="gated"), jg.load(EXAMPLES / "articles.jsonl", limit=MANY), out=out)
    found = View([out])
    found.start()
    found.wait()
    try:
        client = TestClient(found.guarded, base_url=HOST)
        pages = [client.get("/runs/0/sample", params={"id": s.id}).text
                 for s in jg.load(EXAMPLES / "articles.jsonl", limit=MANY)]  # fmt: skip
    finally:
        found.close()
    assert all(">1 call<" in page and "This sample ran evaluate, gate" in page for page in pages)
    dimmed = [page for page in pages if "Dimmed, as the sample did not come there: gate/ask." in page]
    assert 0 < len(dimmed) < len(pages)  # the metric was asked about some alone
    assert all('data-mark="idle"' in page for page in dimmed)


# What critics suggest, decided on in a browser.


BAD = "<script>window.pwned=1</script>"


@pytest.fixture
def advised(tmp_path: Path) -> Iterator[tuple[TestClient, Path]]:
    """A run whose critic suggests three new criteria, one of them hostile, and another definition."""
    path = tmp_path / "runs" / "advised"
    jg.evaluate(sageval(criteria="summary"), jg.load(EXAMPLES / "articles.jsonl", limit=3), out=path)
    lines = [json.loads(line) for line in (path / "items.jsonl").read_text().splitlines()]
    names = ["Creativity", "Politeness", BAD, "Coherence"]
    kinds = ["criterion", "criterion", "criterion", "definition"]
    for line in lines:
        line.pop("sum", None)
        line["suggestions"] = [
            {"kind": kind, "criterion": name, "definition": f"How far {name} goes.", "reason": "so", "agent": "sage"}
            for kind, name in zip(kinds, names, strict=True)
        ]
    items = [Item.model_validate({k: v for k, v in line.items() if k in Item.model_fields}) for line in lines]
    (path / "items.jsonl").write_bytes(b"".join(item.line().encode() + b"\n" for item in items))
    found = View([path])
    found.start()
    found.wait()
    yield TestClient(found.guarded, base_url=HOST), path
    found.close()


def form_of(page: str) -> tuple[dict[str, str], dict[str, int]]:
    """The hidden fields and definitions of the form, and the place of each topic."""
    given = {
        re.search(r'name="([^"]+)"', tag)[1]: re.search(r'value="([^"]*)"', tag)[1]
        for tag in re.findall(r'<input type="hidden"[^>]*>', page)
    }
    texts = re.findall(r'<textarea [^>]*name="(definition:\d+)"[^>]*>([^<]*)</textarea>', page)
    legends = re.findall(r"<legend><bdi>(.*?)</bdi>", page)
    return given | dict(texts), {name: at for at, name in enumerate(legends)}


def test_suggestions_are_accepted_edited_and_rejected_and_make_a_new_version(advised: tuple[TestClient, Path]):
    client, path = advised
    assert 'href="/runs/0/suggestions"' in client.get("/runs/0").text
    given, places = form_of(client.get("/runs/0/suggestions").text)
    assert set(places) == {"Creativity", "Politeness", "Coherence", escape(BAD)}
    choices = {"Creativity": "accept", "Politeness": "reject", "Coherence": "accept"}
    chosen = {f"choice:{places[name]}": choice for name, choice in choices.items()}
    edited = {f"definition:{places['Coherence']}": "Each sentence follows from the one before."}
    page = client.post("/runs/0/suggestions", data=given | chosen | edited).text
    made = path.parent / "advised.criteria.yaml"
    assert str(made) in page
    assert f"--criteria {made}" in page
    found = jg.criteria_set(str(made))
    assert found.version == 2
    by = {one.name: one.definition for one in found.criteria}
    assert by["Creativity"] == "How far Creativity goes."
    assert by["Coherence"] == "Each sentence follows from the one before."
    assert "Politeness" not in by
    assert made.stat().st_mode & 0o777 == 0o600
    client.post("/runs/0/suggestions", data=given | chosen)
    assert (path.parent / "advised.criteria-2.yaml").exists(), "what was written before stays as it is"


def test_decisions_on_other_suggestions_or_from_another_page_write_nothing(advised: tuple[TestClient, Path]):
    client, path = advised
    page = client.get("/runs/0/suggestions").text
    assert "<script" not in page
    given, _ = form_of(page)
    assert (
        "decide once more" in client.post("/runs/0/suggestions", data=given | {"choice:0": "accept", "state": "x"}).text
    )
    assert "neither accept nor reject" in client.post("/runs/0/suggestions", data=given | {"choice:0": "all"}).text
    assert "Nothing was accepted" in client.post("/runs/0/suggestions", data=given | {"choice:0": "reject"}).text
    assert client.post("/runs/0/suggestions", data={**given, "secret": "guessed"}).status_code == 403
    empty = client.post("/runs/0/suggestions", data=given | {"choice:0": "accept", "definition:0": "x" * 5000}).text
    assert "at most 4,000 characters" in empty
    assert not [*path.parent.glob("*.yaml")]


def test_a_run_without_suggestions_says_so(tmp_path: Path):
    jg.evaluate(llm_score(criteria="summary"), jg.load(EXAMPLES / "articles.jsonl", limit=1), out=tmp_path / "run")
    found = View([tmp_path / "run"])
    found.start()
    found.wait()
    client = TestClient(found.guarded, base_url=HOST)
    assert "suggestions" not in client.get("/runs/0").text
    assert "No critic of this run suggests anything." in client.get("/runs/0/suggestions").text
    found.close()


@pytest.fixture
def large(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The run in a folder of its own, as one of which the index is kept."""
    monkeypatch.setattr("judgegraph.webview.index.KEPT_FROM", 0)
    shutil.copytree(folder, tmp_path / "runs/large")
    return tmp_path / "runs/large"


def looked_through(run: Path) -> tuple[SampleIndex, int]:
    """(an index that was filled and closed, samples that it knew before it was filled)."""
    index = SampleIndex(jg.Run.load(run))
    known = index.read
    index.fill()
    assert ids(index, text="zebra") == ["lost/1 &?"]
    assert index.item("lost/1 &?").status == "timeout"
    assert len(ids(index)) == index.read
    criteria = index.criteria()
    index.close()
    assert "Coherence" in criteria
    return index, known


def test_the_index_of_a_large_run_is_kept_beside_it_and_goes_on_where_it_ended(large: Path):
    index, known = looked_through(large)
    kept = large.parent / ".large.view.sqlite"
    assert (index.file.path, known) == (kept, 0)
    assert [path.name for path in large.parent.iterdir() if path.name != "large"] == [kept.name]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert looked_through(large)[1] == MANY + 1  # without reading
    with (large / "items.jsonl").open("ab") as file:
        file.write(Item(sample=jg.Sample(id="more", output="an okapi"), place=99).line().encode() + b"\n")
    index = SampleIndex(jg.Run.load(large))
    assert index.read == MANY + 1
    index.fill()
    assert ids(index, text="okapi") == ["more"]
    other = SampleIndex(jg.Run.load(large))  # another view at the same time has one of its own
    assert not other.file.kept
    other.close()
    index.close()


def changed_in_place(run: Path, kept: Path) -> None:
    data = (run / "items.jsonl").read_bytes()
    (run / "items.jsonl").write_bytes(data)
    os.utime(run / "items.jsonl", ns=(1, 1))


def written_again(run: Path, kept: Path) -> None:
    (run / "items.jsonl").rename(run / "old")
    shutil.copy(run / "old", run / "items.jsonl")


def with_a_trigger(run: Path, kept: Path) -> None:
    with closing(sqlite3.connect(kept)) as db:
        db.execute("CREATE TRIGGER t AFTER DELETE ON samples BEGIN DELETE FROM answers; END")
        db.commit()


def with_a_view_in_place_of_a_table(run: Path, kept: Path) -> None:
    with closing(sqlite3.connect(kept)) as db:
        db.executescript("DROP TABLE traces; CREATE VIEW traces AS SELECT 'a' AS id, 1 AS at;")


def of_another_version(run: Path, kept: Path) -> None:
    with closing(sqlite3.connect(kept)) as db:
        db.execute("UPDATE state SET known = replace(known, '\"format\": ', '\"format\": 9')")
        db.commit()


def of_noise(run: Path, kept: Path) -> None:
    kept.write_bytes(b"no database" * 1000)


def with_a_state_of_nonsense(run: Path, kept: Path) -> None:
    with closing(sqlite3.connect(kept)) as db:
        db.execute("UPDATE state SET known = ?", (json.dumps({"format": 1, "items": [1, "x", None, {}]}),))
        db.commit()


@pytest.mark.parametrize("change", [
    changed_in_place, written_again, with_a_trigger, with_a_view_in_place_of_a_table, of_another_version, of_noise,
    with_a_state_of_nonsense,
])  # fmt: skip
def test_a_kept_index_that_is_not_of_this_run_or_not_ours_is_made_anew(change, large: Path):
    looked_through(large)
    change(large, large.parent / ".large.view.sqlite")
    index, known = looked_through(large)
    assert (index.file.kept, known) == (True, 0)
    assert looked_through(large)[1] == MANY + 1


@pytest.mark.parametrize("how", ["link", "hard link", "open to others", "folder"])
def test_what_lies_in_the_place_of_the_index_and_is_not_its_own_stays_as_it_is(how, large: Path, tmp_path: Path):
    kept, other = large.parent / ".large.view.sqlite", tmp_path / "other"
    other.write_text("mine")
    other.chmod(0o600)
    if how == "link":
        kept.symlink_to(other)
    elif how == "hard link":
        kept.hardlink_to(other)
    elif how == "folder":
        kept.mkdir()
    else:
        kept.write_text("mine")
        kept.chmod(0o644)
    assert not looked_through(large)[0].file.kept
    assert other.read_text() == "mine"
    assert how != "open to others" or kept.read_text() == "mine"


def test_a_kept_index_with_damaged_pages_is_said_to_be_and_made_anew(large: Path):
    looked_through(large)
    index = SampleIndex(jg.Run.load(large))
    assert index.read == MANY + 1
    with index.file.path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(8192)
        file.write(b"\xff" * (size - 8192))
    with pytest.raises(DataError, match="damaged and is read anew"):
        index.listed(Query(order="least"))
    assert not index.done
    index.fill()
    assert ids(index, text="zebra") == ["lost/1 &?"]
    assert index.read == MANY + 1
    index.close()


def test_words_of_a_sample_that_was_judged_again_are_found_no_more(tmp_path: Path):
    run = jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), [jg.Sample(id="a", output="an okapi")],
                      out=tmp_path / "run")  # fmt: skip
    index = SampleIndex(run)
    index.fill()
    assert ids(index, text="ok") == ["a"]
    with (tmp_path / "run/items.jsonl").open("ab") as file:
        file.write(Item(sample=jg.Sample(id="a", output="a zebra")).line().encode() + b"\n")
    index.fill()
    assert (ids(index, text="ok"), index.listed(Query(text="ok")).total, ids(index, text="ze")) == ([], 0, ["a"])
    index.close()


def test_the_reading_waits_for_pages_that_are_asked_for_but_not_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("judgegraph.webview.index.LET_GO", 0.2)
    pause = Pause()
    read: list[float] = []

    def reading() -> None:
        pause.wait()
        read.append(time.monotonic())

    with pause.page():
        began = time.monotonic()
        reader = threading.Thread(target=reading)
        reader.start()
        time.sleep(0.05)
        assert not read
        reader.join(5)
        assert read[0] - began >= 0.15
    pause.wait()  # no page is asked for
