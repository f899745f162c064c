"""No key in any file, on the terminal or in an error: faulty runs whose keys are canaries, all they leave is read."""

import asyncio
import base64
import json
import logging
import os
import sqlite3
import stat
import subprocess
import sys
import traceback
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from langchain_openai import ChatOpenAI

import judgegraph as jg
from judgegraph.calls import Endpoint
from judgegraph.cli import main
from judgegraph.cli.main import COMMANDS
from judgegraph.errors import JudgegraphError
from judgegraph.graphs import fusion_eval, sageval
from judgegraph.types import Criterion, Sample

ENV, OBJECT, HEADER = "canary-env-0123456789", "canary-object-0123456789", "canary-header-0123456789"
NAMED, QUERY = "canary-named-0123456789", "canary-query-0123456789"
LOGIN = "canary-user:canary-word"
CANARIES = ("canary", base64.b64encode(LOGIN.encode()).decode())
FAULTS = "500,ok,truncated,half,400,ok,reset,length,content_filter,refusal,plain-200,ok,null-logprobs,ok"
SAMPLES = [Sample(id=f"s{n}", output=f"text number {n}") for n in range(8)]
CRITERIA = [Criterion(name="Clarity")]


def with_login(url):
    return url.replace("http://", f"http://{LOGIN}@")


def with_query(url):
    return f"{url}?api_key={QUERY}"


def judges(site):
    headers = {"X-Team": HEADER, "Authorization-Extra": HEADER}
    return {
        "key in the environment": Endpoint(model="openai:stub", base_url=site.url, attempts=2, timeout=5),
        "key in a variable of its own": Endpoint(
            model="openai:stub", base_url=site.url, api_key_env="TEAM_KEY", attempts=2, timeout=5
        ),
        "key in the query of the address": Endpoint(
            model="openai:stub", base_url=with_query(site.url), attempts=2, timeout=5
        ),
        "login in the address": Endpoint(model="openai:stub", base_url=with_login(site.url), attempts=2, timeout=5),
        "object with key and headers": ChatOpenAI(
            model="stub", base_url=site.url, api_key=OBJECT, default_headers=headers, max_retries=0
        ),
        "object with a login": ChatOpenAI(model="stub", base_url=with_login(site.url), api_key=OBJECT, max_retries=0),
    }


KINDS = (
    "key in the environment", "login in the address", "object with key and headers", "object with a login",
    "key in a variable of its own", "key in the query of the address",
)  # fmt: skip
READ = {  # what prints or writes a run that is there, as far as there is such a command
    "meta": "meta {run} --json",
    "export": "export {run} -o {out}.csv",
    "corrected": "corrected {run} -o {out}.jsonl",
    "trace": "trace {run} --sample s0 --full --json",
    "report": "report {run} -o {out}.html",
    "diff": "diff {run} {run}",
}


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", ENV)
    monkeypatch.setenv("TEAM_KEY", NAMED)


def check_nothing_told(*texts):
    for text in texts:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        for canary in CANARIES:
            place = data.find(canary.encode())
            assert place < 0, data[max(0, place - 200) : place + 100]


def check_folder(folder):
    """Every file, whatever its name, as bytes, and every cell of a database, which may lie in pieces in its file."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"manifest.json", "items.jsonl", "ledger.sqlite"} <= {path.name for path in files}
    check_files(files)


def check_files(files):
    for path in files:
        data = path.read_bytes()
        check_nothing_told(data, path.name)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
        if data.startswith(b"SQLite format 3"):
            check_nothing_told(*cells(path))


def cells(path):
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in db.execute(f'SELECT * FROM "{name}"'):
                yield from (cell if isinstance(cell, bytes) else str(cell) for cell in row)


def told(error):
    """All that a traceback with its chain, a log or a debugger's print would show of an error."""
    seen = ["".join(traceback.format_exception(error))]
    while error is not None:
        seen += [str(error), repr(error), repr(vars(error)), *getattr(error, "__notes__", ())]
        error = error.__cause__ or error.__context__
    return "\n".join(seen)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("make", "script", "count"),
    [(sageval, FAULTS, 8), (fusion_eval, "500,truncated,half,400,ok,reset,length,refusal", 3), (sageval, "500", 1)],
    ids=["sageval", "fusion-eval", "always 500 with the key said back"],
)
@pytest.mark.sampled(3)
def test_a_run_with_faults_leaves_no_key(server, no_backoff, tmp_path, capfd, caplog, kind, make, script, count):
    caplog.set_level(logging.DEBUG)
    site = server(script)
    settings = {"samples": 2} if make is sageval else {"predictions": 2}
    graph = make(judges(site)[kind], criteria=CRITERIA, **settings)
    run = jg.evaluate(graph, SAMPLES[:count], out=tmp_path / "run", concurrency=2)
    assert site.count > count
    sent = json.dumps([one["headers"] for one in site.seen])
    assert any(canary in sent for canary in CANARIES), "the key was never used: this test would show nothing"
    check_folder(tmp_path / "run")
    check_files(path for path in Path(os.environ["JUDGEGRAPH_CACHE"]).rglob("*") if path.is_file())
    out, err = capfd.readouterr()
    ours = [
        "\n".join(map(str, (r.getMessage(), r.exc_text, r.exc_info)))
        for r in caplog.records
        if r.name.startswith("judgegraph") or r.levelno >= logging.WARNING
    ]
    check_nothing_told(out, err, *ours, repr(run), str(run.summary()), run.signature, json.dumps(run.manifest))
    statuses = {score.status for item in run.items for score in item.scores} | {item.status for item in run.items}
    assert statuses - {"ok"}, "no fault showed"
    check_what_leaves(run, tmp_path / "out")


def check_what_leaves(run, out):
    """Exports, and what commands say of a run and write."""
    out.mkdir()
    run.export(out / "items.jsonl")
    run.export_scores(out / "scores.csv")
    run.export_corrected(out / "corrected.jsonl")
    run.scores().to_csv(out / "table.csv")
    check_files(out.iterdir())
    for name, line in READ.items():
        if name in COMMANDS:
            words = [word.format(run=run.folder.path, out=out / f"by-{name}") for word in line.split()]
            done = CliRunner().invoke(main, words)
            assert done.exit_code in (0, 1), done.output
            assert done.exception is None or isinstance(done.exception, SystemExit), told(done.exception)
            check_nothing_told(done.output)
    for path in out.iterdir():
        check_nothing_told(path.read_bytes())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("script", ["401", "404", "quota"])
@pytest.mark.sampled(4)
def test_an_endpoint_that_says_the_key_back_ends_the_run_without_telling_it(server, tmp_path, capfd, kind, script):
    site = server(script)
    with pytest.raises(JudgegraphError) as caught:
        jg.evaluate(sageval(judges(site)[kind], criteria=CRITERIA), SAMPLES, out=tmp_path / "run")
    assert site.count >= 1
    check_nothing_told(told(caught.value), *capfd.readouterr())
    check_files((tmp_path / "run").rglob("*"))


@pytest.mark.parametrize("script", ["500,ok,half,ok,400,ok", "401"])
@pytest.mark.long
def test_nor_does_the_command_line(server, tmp_path, script):
    site, data = server(script), tmp_path / "rows.jsonl"
    data.write_text("".join(sample.model_dump_json() + "\n" for sample in SAMPLES[:4]))
    command = [sys.executable, "-m", "judgegraph", "run", "sageval", str(data), "-o", str(tmp_path / "run")]
    command += ["-c", "summary", "-j", "openai:stub", "--base-url", with_login(site.url), "-s", "samples=1"]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "OPENAI_API_KEY": ENV}, timeout=120)
    assert done.returncode == (1 if script == "401" else 0), done.stderr
    assert b"Traceback" not in done.stderr
    check_nothing_told(done.stdout, done.stderr)
    check_files((tmp_path / "run").rglob("*"))


def test_nor_does_a_traceback_of_a_stopped_run(server, tmp_path):
    site = server("ok")

    def broken(_):
        raise RuntimeError("a callback of the caller's")

    async def main():
        graph = sageval(judges(site)["object with key and headers"], criteria=CRITERIA)
        await jg.aevaluate(graph, SAMPLES, out=tmp_path / "run", on_item=broken)

    with pytest.raises(RuntimeError) as caught:
        asyncio.run(main())
    check_nothing_told(told(caught.value))
    check_folder(tmp_path / "run")
