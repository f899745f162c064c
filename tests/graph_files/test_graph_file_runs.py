"""A graph file is a METHOD: run, plan, show and check take it, and a run's folder says what it was."""

import json

import pytest
import yaml
from click.testing import CliRunner
from small_files import FILE, written

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.errors import ConfigError
from judgegraph.runs.identity import configuration, differences, signature

ROWS = [{"id": f"s{i}", "query": "A form for a trip.", "output": f"Where do you live? {i}"} for i in range(2)]


def cli(*args, code=0):
    done = CliRunner().invoke(main, [str(a) for a in args])
    assert done.exit_code == code, (done.output, done.stderr, done.exception)
    assert "Traceback" not in done.output + done.stderr
    return done.stdout if code == 0 else done.stderr


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    return path


def test_the_commands_take_a_file_and_options_come_before_it(tmp_path, data):
    path = written(tmp_path)
    out = tmp_path / "run"
    assert json.loads(cli("run", path, data, "-o", out, "-c", "summary", "--json"))["samples"]["ok"] == 2
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["signature"].startswith("small|")
    plan = json.loads(cli("plan", path, data, "--json"))
    assert [node["node"] for node in plan["nodes"]] == ["evaluate", "critique"]
    assert "evaluate --> critique;" in cli("show", path)
    assert cli("check", path).startswith("small: wired, 3 nodes")
    said = cli("run", path, data, "-j", "openai:m", "--critic", "devils-advocate", "--json", "-s", "x=1", code=1)
    assert said.strip().endswith(f"{path} has no setting x; known: critic")


def test_a_broken_file_is_told_before_anything_is_asked(tmp_path, data):
    path = written(tmp_path, FILE.replace("evaluator", "evalator"))
    for command in (["run", path, data], ["plan", path, data], ["show", path], ["check", path]):
        assert "GraphFileError: graph file" in cli(*command, code=1)
        assert "line 6, 'nodes.evaluate': nothing is called 'evalator'" in cli(*command, code=1)
    assert "there is no such file" in cli("show", tmp_path / "none.yaml", code=1)


def test_schema_prints_the_schema_or_a_file_to_copy(tmp_path, data):
    assert json.loads(cli("schema"))["title"] == "A judgegraph graph file"
    text = cli("schema", "--example", "sageval")
    assert yaml.safe_load(text)["name"] == "sageval"
    assert json.loads(cli("run", written(tmp_path, text), data, "--json"))["samples"]["ok"] == 2
    assert "'sageval', 'coascore', 'panel-with-gate'" in cli("schema", "--example", "other", code=2)


CHOICE = FILE.replace("  - critique -> rectify -> end\n", "") + (
    "  - {from: critique, to: rectify, when: {wide: {above: 0.2}}}\n  - rectify -> end\n"
)
OWN = CHOICE.replace("{wide: {above: 0.2}}", "mine.py:doubtful")


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (FILE, "calls: three", "calls: one", "nodes.critique.options.calls: three -> one"),
        (FILE, "evaluate: evaluator", "evaluate: {use: evaluator, judge: strong}", "nodes.evaluate.judge: embedded"),
        (FILE, "criteria: forms", "criteria: [{name: Tone, definition: d}]", "nodes.evaluate.criteria"),
        (FILE, "name: small", "name: other", "method: small -> other"),
        (FILE, "criteria: forms", "criteria: forms\ntask: A poem.", "nodes.evaluate.options.task"),
        (CHOICE, "above: 0.2", "above: 0.3", "edges: "),
        (CHOICE, "wide: {above: 0.2}", "failed: {}", "edges: "),
    ],
)
def test_a_changed_setting_is_seen_by_a_resume(text, old, new, said, tmp_path):
    before = configuration(jg.load_graph(written(tmp_path, text)))
    assert text.count(old) == 1
    after = configuration(jg.load_graph(written(tmp_path, text.replace(old, new))))
    assert any(line.startswith(said) for line in differences(before, after)), differences(before, after)
    assert before == configuration(jg.load_graph(written(tmp_path, text)))


def test_code_of_a_condition_is_part_of_a_configuration(tmp_path):
    found = []
    for limit in (1, 2, 2):
        written(tmp_path, f"def doubtful(state):\n    return len(state['scores']) > {limit}\n", "mine.py")
        found.append(configuration(jg.load_graph(written(tmp_path, OWN))))
    assert {line.partition(":")[0] for line in differences(found[0], found[1])} == {"edges"}
    assert found[1] == found[2]


def test_a_run_does_not_go_on_under_another_file(tmp_path, data):
    out = tmp_path / "run"
    jg.evaluate(jg.load_graph(written(tmp_path)), jg.load(data), out=out)
    other = jg.load_graph(written(tmp_path, FILE.replace("calls: three", "calls: one")))
    with pytest.raises(ConfigError, match=r"critique\.options\.calls"):
        jg.evaluate(other, jg.load(data), out=out)


def test_the_signature_shows_the_judge_the_criteria_and_what_was_set(tmp_path):
    said = signature(jg.load_graph(written(tmp_path)))
    assert said.startswith("small|v:")
    assert "|judge:embedded|" in said
    assert "|critique.calls:three|" in said
    chosen = signature(jg.load_graph(written(tmp_path, CHOICE)))
    assert "|critique.when:wide(stage=draft, above=0.2): rectify|" in chosen
    assert "|criteria:fc6f4efd|scale:1-5,positive/neutral/negative/formal/mixed" in said
