"""`judgegraph view`: samples are found, sorted, shown and marked; nobody else may ask, and nothing acts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.errors import DataError
from judgegraph.graphs import fennec, llm_score, sageval
from judgegraph.runs.item import Item
from judgegraph.runs.labels import LabelledRun, Labels
from judgegraph.types import Criterion, Score
from judgegraph.webview.app import View, judgements
from judgegraph.webview.index import Query, SampleIndex

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
    assert [(row["id"], listed.answers[row["id"]]) for row in listed.rows] == [("a", {"Clarity": "5"}), ("b", {})]
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
    assert "no such sample" in client.get("/runs/0/sample?id=nobody").text
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
        said = client.post("/runs/0/label", data=form).headers["location"]
        assert "wrong=Fluency" in said
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


@pytest.mark.parametrize(
    ("line", "said"),
    [("{", "line 1: expected"), ('{"id": 3, "human": {}}', "line 1: expected"),
     ('{"id": "a", "human": {"x": [1]}}', "is no number and no text")],
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


def test_a_pair_shows_both_outputs_and_its_verdict(tmp_path: Path):
    jg.evaluate(fennec(branches=1), [*jg.load(EXAMPLES / "pairs.jsonl", limit=2)], out=tmp_path / "pairs")
    view = View([tmp_path / "pairs"])
    view.start()
    view.wait()
    client = TestClient(view.guarded, base_url=HOST)
    table = client.get("/runs/0").text
    assert re.search(r"A is better|B is better|tie", table)
    name = next(iter(jg.Run.load(tmp_path / "pairs").items)).id
    page = client.get("/runs/0/sample", params={"id": name}).text
    assert "<h3>output</h3>" in page
    assert "<h3>rival</h3>" in page
    view.close()


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
