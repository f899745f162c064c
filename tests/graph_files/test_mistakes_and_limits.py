"""What a graph file may not do, and where a mistake of one of its parts is told."""

import json

import pytest
import yaml
from click.testing import CliRunner
from small_files import FILE, graph, written

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.compiled import agents_of
from judgegraph.errors import ConfigError
from judgegraph.graph_files.build import json_schema
from judgegraph.graph_files.read import hint
from judgegraph.runs.identity import configuration, differences, signature
from judgegraph.types import Sample

SAGE = "{use: sage, with: {calls: three}}"
LAST = "  - critique -> rectify -> end\n"
PANEL = "evaluate: {use: panel, with: {judges: [MEMBER]}}"
SAMPLE = Sample(id="s", query="A form.", output="Where do you live?")


def said(folder, text):
    with pytest.raises(ConfigError) as raised:
        jg.load_graph(written(folder, text))
    return [line.partition("small.yaml, ")[2] for line in str(raised.value).splitlines()]


def choice(when):
    return FILE.replace(LAST, f"  - {{from: critique, to: rectify, when: {when}}}\n  - rectify -> end\n")


ONE_LINE = {  # what is wrong -> (what is replaced, by what, the message)
    "a number of rounds": (SAGE, "\n    use: refine\n    with:\n      critic: sage\n      rounds: 99",
        "line 11, 'nodes.critique.with.rounds': refine: rounds: expected a whole number from 1 to 20, got 99"),
    "a prompt that is not there": ("calls: three", "prompt: mine.md",
        "line 7, 'nodes.critique.with.prompt': no prompt '"),
    "criteria of nothing": ("criteria: forms", "criteria: null",
        "line 6, 'nodes.evaluate': evaluator judges by criteria, and none are named: criteria: NAME"),
    "a judge called as the built-in one": ("  strong:", "  embedded:",
        "line 4, 'judges.embedded': 'embedded' is a judge already; give it a name of its own"),
    "a key for the name of a variable": ('model: "openai:m",', 'model: "openai:m", api_key_env: sk-123456,',
        "line 4, 'judges.strong.api_key_env': expected the name of an environment variable, such as OPENAI_API_KEY; "
        "a key stands in no file"),
    "an address that is none": ("http://host:8000/v1", "not a url",
        "line 4, 'judges.strong.base_url': expected an address that begins with http:// or https://"),
    "an address with half a bracket": ("http://host:8000/v1", "http://[host:8000/v1",
        "line 4, 'judges.strong.base_url': expected an address that begins with http:// or https://"),
    "an empty name": ("calls: three", "name: ''", "line 7, 'nodes.critique.with.name': expected a name without '/'"),
    "a name with a slash": ("calls: three", "name: a/b", "line 7, 'nodes.critique.with.name': expected a name without"),
    "an empty stage": ("calls: three", "stage: ''", "line 7, 'nodes.critique.with.stage': expected a name without"),
    "a number that YAML writes otherwise": ("calls: three", "reader: {kind: mean, samples: 0x10}",
        "line 7, 'nodes.critique.with.reader.samples': expected a plain number such as 10 or 0.5"),
    "a merge": ("  rectify: rectify", "  rectify: rectify\n  <<: {a: b}",
        "line 9, '<<': expected text as a key, got a tagged value (<<); write out what it would merge"),
    "a number for a name": ("name: small", "name: 1e3", "line 1, 'name': expected text, got a number (1e3)"),
    "two conditions in one": (LAST, "  - {from: critique, to: rectify, when: {low: 1, wide: 2}}\n  - rectify -> end\n",
        "line 11, 'edges.2.when': expected one entry"),
    "a switch for a word": ("rectify: rectify", "rectify: {use: fennec, with: {correct: off}}",
        "line 8, 'nodes.rectify.with.correct': expected 'below', 'at-most' or 'off', got true or false (off); "
        "put it in quotes"),
}  # fmt: skip


@pytest.mark.parametrize("what", ONE_LINE)
def test_a_mistake_is_told_in_one_line_where_it_stands(what, tmp_path):
    old, new, message = ONE_LINE[what]
    assert FILE.count(old) >= 1
    lines = said(tmp_path, FILE.replace(old, new, 1))
    assert lines[0].startswith(message)
    assert len(lines) == 1 or what == "criteria of nothing"
    assert "sk-123456" not in "".join(lines)


@pytest.mark.parametrize("key", ["1", "yes", "[a]"])
def test_a_key_that_is_no_text_says_nothing_of_how_many_nodes_there_are(key, tmp_path):
    text = f"name: x\ncriteria: forms\nnodes: {{? {key} : evaluator}}\nedges: [start -> end]\n"
    assert [line.partition("got")[0] for line in said(tmp_path, text)] == [
        f"line 3, '{'a list' if key == '[a]' else key}': expected text as a key, "
    ]


def test_edges_that_yaml_splits_at_commas_are_told_how_to_be_written(tmp_path):
    text = "name: x\ncriteria: forms\nnodes: {a: evaluator, b: rouge-l}\nedges: [start -> a, b -> end]\n"
    assert "a comma within [ ] ends an edge" in said(tmp_path, text)[0]
    quoted = text.replace("[start -> a, b -> end]", '["start -> a", "b -> end"]')
    assert "comma" not in "".join(said(tmp_path, quoted))


@pytest.mark.parametrize("when", ["[mine.py:first, mine.py:second]", "{either: [mine.py:first, mine.py:second]}"])
def test_every_function_of_a_choice_is_part_of_a_configuration(when, tmp_path):
    found = []
    for limit in (1, 2):
        code = f"def first(state):\n    return False\n\ndef second(state):\n    return len(state) > {limit}\n"
        written(tmp_path, code, "mine.py")
        found.append(configuration(jg.load_graph(written(tmp_path, choice(when)))))
    assert differences(*found)


ODD = ("null", "3", "[]", "{}", "x", "[null]", "true", "{a: null}")
GIVEN = {
    "panel": {"judges": "[embedded, g-eval]"}, "jury": {"jurors": "{a: You look., b: You see.}"},
    "gate": {"node": "sage", "when": "{low: {below: 3}}"}, "critique": {"critic": "sage"}, "refine": {"critic": "sage"},
    "escalate": {"cheap": "embedded", "strong": "g-eval", "when": "{low: {below: 3}}"}, "corrector": {"scored_by": "a"},
    "consensus": {"members": "[a, b]"}, "critic-panel": {"critics": "[sage, devils-advocate]"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("use", "setting"),
    [(use, setting) for use, given in GIVEN.items() for setting in sorted({*given, "judges", "chair"})],
)
def test_a_setting_of_another_kind_is_told_at_its_place_and_never_as_a_raw_error(use, setting, tmp_path):
    for odd in ODD:
        given = ", ".join(f"{key}: {value}" for key, value in {**GIVEN[use], setting: odd}.items())
        text = (
            f"name: x\ncriteria: summary\nnodes:\n  n: {{use: {use}, with: {{{given}}}}}\nedges: [start -> n -> end]\n"
        )
        done = CliRunner().invoke(main, ["check", str(written(tmp_path, text))])
        assert not isinstance(done.exception, Exception), (odd, done.exception)
        assert not [raw for raw in ("cannot be made", "NoneType", "expected no") if raw in done.stderr], (
            odd,
            done.stderr,
        )


async def test_a_sample_of_which_a_graph_writes_nothing_has_an_empty_result_and_a_note(tmp_path):
    written(tmp_path, "def never(state):\n    return False\n", "mine.py")
    made = graph(tmp_path, "a: evaluator", "{from: start, to: a, when: mine.py:never}\na -> end")
    assert await made.ainvoke({"sample": SAMPLE}) is None
    (item,) = jg.evaluate(made, [SAMPLE]).items
    assert (item.status, item.scores, [n.text for n in item.notes][:1]) == ("ok", (), ["the graph wrote nothing"])
    assert not item.judged


@pytest.mark.parametrize("form", ["NAME", "judgegraph:NAME", "{use: NAME}", "{use: 'judgegraph:NAME'}", "method/NAME"])
def test_a_member_is_called_the_same_in_whatever_form_it_is_named(form, tmp_path):
    member = PANEL.replace("[MEMBER]", f"[embedded, {form.replace('NAME', 'llm-score')}], stage: draft")
    made = jg.load_graph(written(tmp_path, FILE.replace("evaluate: evaluator", member)))
    names = {name: agent.name for name, agent in agents_of(made) if name.startswith("evaluate/evaluate-llm-score/ask")}
    assert set(names.values()) == {"evaluate-llm-score"}, dict(agents_of(made)).keys()


def test_a_critic_is_swapped_for_a_critic_alone(tmp_path):
    path = written(tmp_path)
    for name in ("nope", "g-eval", "rouge-l", "evaluator", "other.yaml", "agent/evaluator"):
        with pytest.raises(ConfigError) as raised:
            jg.load_graph(path, critic=name)
        assert str(raised.value).startswith("no critic '")
    for name in ("devils-advocate", "critic/devils-advocate", "judgegraph:devils-advocate"):
        agent = dict(agents_of(jg.load_graph(path, critic=name)))["critique"]
        assert type(agent).__name__ == "DevilsAdvocate"
    written(tmp_path, FILE.replace("evaluate: evaluator", "evaluate: evaluator\n  more: sage"))
    done = CliRunner().invoke(main, ["check", str(path), "--critic", "sage"])
    assert "has 2 critics (more, critique), and only one can be swapped" in done.stderr


def test_a_prompt_is_found_from_the_files_folder(tmp_path, monkeypatch):
    from importlib.resources import files

    text = files("judgegraph.prompts").joinpath("self_reflection.md").read_text()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "mine.md").write_text(text)
    monkeypatch.chdir(tmp_path)
    made = jg.load_graph(
        written(tmp_path / "in", FILE.replace(SAGE, "{use: self-reflection, with: {prompt: mine.md}}"))
    )
    assert dict(agents_of(made))["critique"].prompt == str(tmp_path / "in" / "mine.md")
    assert configuration(made)["nodes.critique.prompt"].startswith("mine.md@")


def test_check_prints_json_of_a_file_whose_wiring_is_wrong(tmp_path):
    wrong = FILE.replace("start -> evaluate -> critique", "start -> critique\n  - start -> evaluate -> end")
    done = CliRunner().invoke(main, ["check", str(written(tmp_path, wrong)), "--json"])
    found = json.loads(done.stdout)
    assert (done.exit_code, found["name"], found["wired"]) == (1, "small", False)
    assert "scores" in [finding["key"] for finding in found["findings"]]
    plain = CliRunner().invoke(main, ["check", str(tmp_path / "small.yaml")])
    assert "line 7, 'nodes.critique'" in plain.stderr


CRITIC = """
from judgegraph.types import EvalState

class Loud:
    name = "own"
    async def __call__(self, state: EvalState) -> EvalState:
        return {"rectifications": {}}

class Quiet(Loud):
    async def __call__(self, state: EvalState) -> EvalState:
        return {"rectifications": {} or {}}
"""


def test_a_signature_tells_two_critics_without_prompts_apart(tmp_path):
    written(tmp_path, CRITIC, "mine.py")
    told = [
        signature(jg.load_graph(written(tmp_path, FILE.replace(SAGE, f"mine.py:{name}")))) for name in ("Loud", "Quiet")
    ]
    assert told[0] != told[1]
    assert "|critique.code:Loud@" in told[0]


@pytest.mark.parametrize("link", [False, True])
def test_code_outside_the_folder_does_not_run_by_way_of_another_file_or_a_link(link, tmp_path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "out.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\ndef deco():\n    pass\n")
    inner = "name: inner\ncriteria: forms\nnodes: {a: out.py:deco}\nedges: [start -> a -> end]\n"
    if link:
        (inside / "out.py").symlink_to(outside / "out.py")
        use = "out.py:deco"
    else:
        written(outside, inner, "inner.yaml")
        use = "../outside/inner.yaml"
    with pytest.raises(ConfigError, match=r"out\.py leads out of the folder of the graph file that is run"):
        jg.load_graph(written(inside, FILE.replace("rectify: rectify", f"rectify: {use}")))
    assert not (tmp_path / "ran").exists()


FITS = {
    "a list of conditions": choice("[wide, failed]"),
    "a list of conditions of a critique": FILE.replace(SAGE, "{use: critique, with: {when: [wide, failed]}}").replace(
        LAST, "  - critique -> end\n"
    ).replace("  rectify: rectify\n", ""),
    "no criteria and no judge": FILE.replace("criteria: forms", "criteria: null\njudge: null").replace(
        "evaluate: evaluator", "evaluate: {use: evaluator, criteria: forms}"
    ).replace(SAGE, "{use: sage, criteria: forms}"),
    "one value for a condition": choice("{low: 3}"),
}  # fmt: skip
FAULTY = {
    "a setting beside a kind": FILE.replace("use: sage, with: {calls: three}", "use: critic/sage, with: {foo: 1}"),
    "a setting of an assistant": FILE.replace("rectify: rectify", "rectify: {use: rouge-l, with: {foo: 1}}"),
    "a misspelt setting of a condition": choice("{low: {blow: 3}}"),
    "a panel without judges": FILE.replace("evaluate: evaluator", "evaluate: panel"),
    "a panel with other settings alone": FILE.replace("evaluator", "{use: panel, with: {combine: vote}}"),
    "a gate without a condition": FILE.replace("rectify: rectify", "rectify: {use: gate, with: {node: sage}}"),
}


@pytest.mark.parametrize("what", [*FITS, *FAULTY])
def test_schema_and_reader_are_of_one_mind(what, tmp_path):
    text = FITS.get(what) or FAULTY[what]
    validators = pytest.importorskip("jsonschema_rs")
    found = [str(error) for error in validators.validator_for(json_schema()).iter_errors(yaml.safe_load(text))]
    assert bool(found) == (what in FAULTY), found
    if what in FITS:
        assert jg.load_graph(written(tmp_path, text)).get_name() == "small"
    else:
        said(tmp_path, text)


def test_of_many_names_the_nearest_are_listed():
    told = hint("n7", [f"n{at}" for at in range(90)])
    assert told.startswith("; did you mean 'n7'? Known: n7, n")
    assert told.endswith(" and 87 more")
    assert hint("zzz", ["a", "b"]) == ". Known: a, b"
