"""Whatever a name, a text or an error holds, no command drives a terminal: neither in words nor as JSON."""

import csv
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from terminal import BAD, controls, dataset, factory

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.cli.main import COMMANDS


def call(*arguments: object, **more) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], **more)


def check(done: Result, *codes: int, told: str = "evil") -> None:
    assert done.exit_code in (codes or (0,)), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert not controls(done.output), ascii(done.output)
    assert told in done.output, "nothing bad was to be printed: this shows nothing"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("terminal")


@pytest.fixture(scope="module")
def method(folder: Path) -> str:
    return factory(folder)


@pytest.fixture(scope="module")
def run(folder: Path, method: str) -> Path:
    done = call("run", method, dataset(folder), "-o", folder / "run")
    check(done)
    assert "[bold]x[/bold]" in done.output, "markup is text"
    return folder / "run"


OF_METHOD = ["init {d}", "run {m} {d} --json", "plan {m} {d}", "plan {m} {d} --json", "check {m}", "check {m} --json",
             "check {m} -s kind=loose", "show {m}", "show {m} --json", "probe {m} {d}", "probe {m} {d} --json",
             "show {m} --as text", "show {m} --as svg", "review sageval {d} -n 1"]  # fmt: skip
OF_RUN = ["suggestions {r}", "suggestions {r} --json", "suggestions {r} --worth", "meta {r}", "meta {r} --json",
          "rank {r}", "rank {r} --json", "meta {r} --stage draft",
          "meta {r} --assistants", "trace {r}", "trace {r} --json", "trace {r} --sample {i} --full",
          "trace {r} --sample {i} --json", "trace {r} --sample {b}", "trace {r} --criterion {b}2",
          "report {r} -o {b}.html", "diff {r} {r}", "diff {r} {r} --json", "compare {r} {c}",
          "compare {r} {c} --json", "compare {r} {c} --as latex"]  # fmt: skip
OF_DAMAGE = ["repair {r}", "repair {r} --json", "meta {r}", "trace {r}", "trace {r} --sample {i}", "export {r} -o {o}",
             "diff {r} {r} --json"]  # fmt: skip
OTHERS = {
    "export",
    "bridge",
    "corrected",
    "criteria",
    "prompts",
    "agents",
    "tools",
    "methods",
    "schema",
    "new",
    "bench",
    "doctor",
    "prices",
    "view",
}
WRONG = ["run {m} {d} -s kind=raises", "run {m} {d} -s {b}=1", "run {b}.py:x {d}", "run {b} {d}",
         "run sageval {d} -c {b}", "run sageval {d} --critic {b}", "run sageval {d} --judge {b}", "check {b}.yaml",
         "criteria {b}", "meta {r} --stage {b}", "rank {r} --system {b}", "run {m} {d} --strict", "{b}",
         "run {m} {d} --{b}", "run {m} {d} --limit {b}", "meta {b}", "rank {b}", "export {r} -o {b}.xlsx",
         "corrected {r} -o {b}.csv", "new critic {b}", "bench {b}", "bench summeval --data {b}", "run {m} {b}",
         "schema --example {b}", "show {b}", "doctor --judge {b}", "bridge {d} --as {b}", "bridge {d} --label {b}",
         "bridge {d} --scale {b}", "bridge {d} -f {b}=x", "bridge {d} --shares {b}", "bridge --branching {r}",
         "corrected {r} -j {b}"]  # fmt: skip


def filled(line: str, folder: Path, run: Path, method: str) -> list[str]:
    copy = run.with_name(run.name + BAD.replace("/", ""))
    if "{c}" in line and not copy.exists():
        shutil.copytree(run, copy)
    places = {"c": str(copy), "m": method, "d": str(folder / "bad.jsonl"), "r": str(run), "b": BAD, "i": f"{BAD}0"}
    return [word.format(**places) for word in line.split()]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", [line for line in [*OF_METHOD, *OF_RUN] if line.split()[0] in COMMANDS])
def test_a_command_on_bad_names_and_texts(line: str, folder: Path, run: Path, method: str):
    check(call(*filled(line, folder, run, method)), 0, 1, 130)  # nobody answers a review


def test_every_command_is_tried_here():
    assert set(COMMANDS) <= {line.split()[0] for line in [*OF_METHOD, *OF_RUN, *OF_DAMAGE]} | OTHERS


@pytest.mark.parametrize("line", OF_DAMAGE)
def test_a_damaged_line_of_a_bad_name(line: str, folder: Path, run: Path, method: str, tmp_path: Path):
    shutil.copytree(run, tmp_path / "run")
    items = tmp_path / "run/items.jsonl"
    items.write_bytes(items.read_bytes().replace(b'"ms":', b'"ms":1'))
    words = [word.replace("{o}", str(tmp_path / "out.csv")) for word in line.split()]
    check(call(*filled(" ".join(words), folder, tmp_path / "run", method)), 0, 1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("line", WRONG)
def test_a_command_that_is_told_something_wrong(line: str, folder: Path, run: Path, method: str):
    check(call(*filled(line, folder, run, method)), 1, 2)


def test_what_goes_to_a_file_of_a_bad_name(run: Path, folder: Path):
    for ending in (".csv", ".jsonl"):
        check(call("export", run, "-o", folder / f"{BAD.replace('/', '')}{ending}"))
    check(call("corrected", run, "-o", folder / f"{BAD.replace('/', '')}c.jsonl"))


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_bad_judgements_of_others_and_bad_corrections(more, run: Path, tmp_path: Path):
    pair = {"id": BAD, "query": BAD, "output": f"{BAD} one", "rival": BAD, "reason": BAD, "criterion": BAD}
    rows = [{**pair, "verdict": "A"}, {**pair, "id": f"{BAD}2", "verdict": BAD}, {**pair, "id": "3", "scale": BAD}]
    data = tmp_path / f"{BAD.replace('/', '')}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    check(call("bridge", data, "--origin", BAD, "--to", tmp_path / "evil", "--yes", "--all", *more), 0, 1)
    check(call("bridge", data, "--dry-run", *more))
    check(call("corrected", run, "-j", "embedded", "--to", tmp_path / "gain", *more), 0, 1)


@pytest.mark.parametrize(
    "bad", [{"definition": BAD, "steps": [BAD], "guideline": BAD}, {"name": BAD}, {"scale": [BAD, "other"]}, {BAD: 1}]
)
def test_a_set_of_criteria_as_text_and_as_json(bad, tmp_path: Path):
    one = {"name": "evil", "definition": "d", **bad}
    path = tmp_path / "set.yaml"
    path.write_text(yaml.safe_dump({"name": "one", "task": BAD, "criteria": [one]}))
    for more in ((), ("--json",)):
        done = call("criteria", path, *more)
        check(done, 0, 1, told="criteria file" if done.exit_code else "evil")


def test_a_person_is_asked_about_bad_suggestions():
    from judgegraph.cli import review
    from judgegraph.types import Suggestion

    suggestion = Suggestion(kind="criterion", criterion=BAD, definition=BAD, reason=BAD).model_dump()
    asked = []

    @click.command()
    def asking() -> None:
        asked.append(review._answer(1, suggestion))

    done = CliRunner().invoke(asking, input="e\n\n\n")
    check(done)
    assert asked == [{"definition": BAD, "name": BAD}], "what is kept is what was suggested"


@pytest.mark.parametrize("command", ["meta", "rank"])
def test_a_table_with_bad_cells_and_columns(command: str, tmp_path: Path):
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", BAD, f"m{BAD}", "system", "criterion", "group"])
        for n in range(8):
            table.writerow([f"{BAD}{n}", 1 + n % 3, 1 + n % 4, f"{BAD}{n % 2}", BAD, f"{BAD}{n // 2}"])
    how = ["--human", BAD, "--metric", f"m{BAD}", "--criterion", "criterion", "--system", "system", "--group", "group"]
    check(call(command, path, *how))
    check(call(command, path, *how, "--json"))
    check(call(command, path, "--human", "criterion", "--metric", f"m{BAD}"), 0, 1)
    check(call(command, path), 1)


def test_a_plug_in_with_bad_names_and_docstrings():
    from judgegraph.registry.lookup import REGISTERED

    before = {key: dict(parts) for key, parts in REGISTERED.items()}
    try:

        @jg.agent("bad-agent")
        async def judge(state: jg.EvalState) -> jg.EvalState:
            return {}

        @jg.assistant("bad-tool")
        def tool(sample: jg.Sample) -> float:
            return 0.0

        judge.__doc__ = tool.__doc__ = BAD
        for command in ("agents", "tools", "methods"):
            for more in ((), ("--json",)):
                check(call(command, *more), told="bad-" if command != "methods" else "sageval")
    finally:
        REGISTERED.clear()
        REGISTERED.update(before)


@pytest.mark.parametrize(
    "text",
    [
        f"name: {json.dumps(BAD)}\nnodes: {{{json.dumps(BAD)}: {{use: judgegraph:rouge-l}}}}\nedges: [start -> end]\n",
        f"{json.dumps(BAD)}: 1\n",
        f"name: a\nnodes: {{a: {{use: {json.dumps(BAD)}}}}}\nedges: [start -> a -> end]\n",
        f"name: a\nnodes: {{a: {{use: judgegraph:rouge-l, with: {{{json.dumps(BAD)}: 1}}}}}}\nedges: [start -> a]\n",
        f"name: a\nnodes: {{a: {{use: judgegraph:rouge-l}}}}\nedges: [{json.dumps('start -> ' + BAD)}]\n",
        f"name: a\nnodes: [{BAD}\n",
        BAD,
    ],
)
@pytest.mark.parametrize("command", ["check", "show"])
def test_a_graph_file_with_bad_names(command: str, text: str, tmp_path: Path):
    (tmp_path / "evil.yaml").write_text(text)
    check(call(command, tmp_path / "evil.yaml"), 0, 1)


class Rude(http.server.BaseHTTPRequestHandler):
    """Answers with an error of bad words."""

    status = 500

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        said = json.dumps({"error": {"message": BAD, "type": BAD, "code": BAD}}, ensure_ascii=False).encode()
        self.send_response(int(self.path.split("/")[1]))
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def rude() -> Iterator[str]:
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Rude)
    thread = threading.Thread(target=site.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{site.server_address[1]}"
    site.shutdown()
    site.server_close()
    thread.join(5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("status", [400, 401, 404, 500])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_server_that_answers_with_bad_words(status, more, rude, folder, run, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr("judgegraph.calls.call._backoff", lambda _: 0.0)
    judge = ("-j", "openai:m", "--base-url", f"{rude}/{status}/v1")
    done = call("run", "llm-score", folder / "bad.jsonl", "-c", "summary", "-n", "2", *judge, *more)
    check(done, 0, 1, told="nothing was judged" if more and status in (400, 500) else "evil")
    check(call("doctor", *judge, "--no-save", *more), 0, 1)
