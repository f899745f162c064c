"""Settings and factories from the command line: what is wrong is told in a line, what is right arrives as its type."""

import re
from typing import Any

import pytest
from click.testing import CliRunner

from judgegraph.calls import Endpoint
from judgegraph.cli import main
from judgegraph.cli.options import graph_of, judge_of, value_of
from judgegraph.compiled import agents_of
from judgegraph.errors import ConfigError
from judgegraph.graphs.settings import Samples, Temperature


def built(method, *settings, criteria=None, judge=None):
    return graph_of(method, criteria=criteria, judge=judge, settings=settings)


def told(*arguments, **more):
    with pytest.raises(ConfigError) as error:
        built(*arguments, **more)
    return str(error.value)


@pytest.mark.parametrize(
    ("method", "setting", "said"),
    [
        ("sageval", "critic_calls=four", "expected 'one' or 'three', got 'four'"),
        ("sageval", "critic-calls=", "expected 'one' or 'three', got ''"),
        ("sageval", "each=1", "expected true or false, got '1'"),
        ("sageval", "each=on", "expected true or false, got 'on'"),
        ("sageval", "each=2.5", "expected true or false, got '2.5'"),
        ("sageval", "samples=2.5", "expected a whole number, 1 or more, got '2.5'"),
        ("sageval", "samples=1e3", "expected a whole number, 1 or more, got '1e3'"),
        ("sageval", "samples=true", "expected a whole number, 1 or more, got 'true'"),
        ("sageval", "samples=[3]", "expected a whole number, 1 or more, got '[3]'"),
        ("sageval", "samples=0", "expected a whole number, 1 or more, got 0"),
        ("sageval", "critic=zzz", "no critic 'zzz'; known: sage, self-reflection, devils-advocate, critic-panel"),
        ("sageval", "critic_judge=3", "no judge '3'; write 'embedded', 'openai:MODEL' or 'PROVIDER:MODEL'"),
        ("sageval", "judge=3", "it has an option of its own, -j/--judge"),
        ("sageval", "criteria=forms", "it has an option of its own, -c/--criteria"),
        ("coascore", "aspects=101", "expected a whole number from 1 to 100, got 101"),
        ("coascore", "reasons=null", "expected true or false, got 'null'"),
        ("g-eval", "temperature=nan", "expected a number, 0 or more, got 'nan'"),
        ("g-eval", "temperature=1e400", "expected a number, 0 or more, got inf"),
        ("g-eval", "temperature=-1", "expected a number, 0 or more, got -1.0"),
        ("fennec", "mode=pairs", "expected 'auto', 'single', 'pair' or 'apart', got 'pairs'"),
        ("fennec", "temperature=warm", "expected a number, 0 or more, or none, got 'warm'"),
        ("fusion-eval", "consult=some", "expected 'tools', 'all' or none, got 'some'"),
    ],
)
def test_a_wrong_setting_is_told_in_a_line(method, setting, said):
    name = setting.partition("=")[0].replace("-", "_")
    assert told(method, setting) == f"{method}: {name}: {said}"


def test_each_mistake_has_its_line():
    lines = told("sageval", "judge=3", "aspects=5", "samples=3", "samples=4", "each=1").splitlines()
    assert lines == [
        "sageval: judge: it has an option of its own, -j/--judge",
        "sageval has no setting aspects; known: cot, critic, critic_calls, critic_judge, each, name, prompts, samples",
        "sageval: samples: given twice",
        "sageval: each: expected true or false, got '1'",
    ]
    assert len(told("sageval", "samples=x", "each=x").splitlines()) == 2


@pytest.mark.parametrize(
    ("method", "setting", "node", "field", "value"),
    [
        ("fennec", "correct=at-most", "correct", "rule", "at-most"),
        ("fennec", "temperature=none", "branch", "temperature", None),
        ("fennec", "temperature=0.5", "branch", "temperature", 0.5),
        ("fennec", "task=3", "branch", "task", "3"),
        ("fennec", "name=yes", "branch", "name", "yes-criteria-writer"),
        ("llm-score", "cot=YES", "score", "explain", "before"),
        ("llm-score", "cot=no", "score", "explain", "after"),
        ("sageval", "critic_judge=openai:m", "critique", "judge", "openai:m"),
        ("sageval", "critic-judge=null", "critique", "judge", "embedded"),
        ("coascore", "aspects=5", "chain/propose", "count", 5),
    ],
)
def test_a_right_setting_arrives_as_its_type(method, setting, node, field, value):
    assert getattr(dict(agents_of(built(method, setting)))[node], field) == value


def test_off_is_a_word_and_no_switch():
    assert "correct" not in dict(agents_of(built("fennec", "correct=off")))


@pytest.mark.parametrize("text", ["rouge-l,chrf", "[rouge-l, chrf]", " rouge-l , chrf "])
def test_assistants_are_a_list_of_names(text):
    agents = dict(agents_of(built("fusion-eval", f"assistants={text}")))
    assert list(agents["plan"].assistants) == ["rouge-l", "chrf"]
    assert "no assistant 'nosuch'" in told("fusion-eval", "assistants=nosuch")


@pytest.mark.parametrize(
    ("text", "hint", "value"),
    [
        ("3", Samples, 3), ("+3", int, 3), ("3", Temperature, 3.0), (".5", float, 0.5), ("1e-3", float, 0.001),
        ("3", str, "3"), ("true", str, "true"), ("null", str, "null"), ("", str | None, None), ("a: 1", Any, {"a": 1}),
        ("[1, 2]", list[int], [1, 2]), ("a,b", list[str], ["a", "b"]), ("{a: 1}", dict[str, int], {"a": 1}),
        ("9" * 5000, int, "9" * 5000),
    ],
    ids=lambda v: str(v)[:20],
)  # fmt: skip
def test_text_is_read_as_its_annotation_says(text, hint, value):
    assert value_of(text, hint) == value


FILE = """
from dataclasses import dataclass
from typing import Any
from langgraph.graph import END, START, StateGraph
import judgegraph as jg
from judgegraph.graphs import sageval
from judgegraph.graphs.sageval import builder

def plain():
    return sageval(criteria="general")

def deep(depth: int = 1, judge="embedded"):
    return sageval(judge, samples=depth)

def open_to(**settings):
    return sageval(**settings)

def uncompiled():
    return builder(criteria="general")

def needs(size: int):
    return plain()

def raises():
    return {}["gone"]

def mistyped():
    return len(3)

def nothing():
    return None

def named(critic: str | None = None):
    return sageval(critic=critic)

def unsaid(critic=None):
    return sageval(critic=critic)

def broken():
    graph = StateGraph(jg.EvalState)
    graph.add_edge(START, "gone")
    return graph

async def later():
    return plain()

@dataclass
class Thing:
    x: int

def by_name(judge: str = "embedded"):
    return sageval(judge)

def by_name_or_none(judge: str | None = None):
    return sageval(judge or "embedded")

def takes(thing: Thing = None, anything=1, wild: "Unknown" = 2):
    return plain()
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "mine.py").write_text(FILE)
    return f"{tmp_path}/mine.py"


@pytest.mark.parametrize("name", ["deep", "by_name", "by_name_or_none"])
@pytest.mark.parametrize("more", [{"base_url": "http://localhost:8000/v1"}, {"temperature": 0.5}])
def test_a_judge_with_an_address_stands_where_its_name_may(file, name, more):
    judge = judge_of("openai:m", **{"base_url": None, **more})
    assert "evaluate" in built(f"{file}:{name}", judge=judge).get_graph().nodes


@pytest.mark.parametrize("name", ["plain", "deep", "open_to", "uncompiled", "takes"])
def test_a_factory_of_ones_own_needs_to_take_no_judge(file, name):
    assert "evaluate" in built(f"{file}:{name}").get_graph().nodes


def test_an_uncompiled_graph_is_compiled_under_its_factorys_name(file):
    assert built(f"{file}:uncompiled").get_name() == "uncompiled"


def test_it_runs_from_the_command_line_without_a_judge(file, tmp_path):
    (tmp_path / "data.jsonl").write_text('{"id": "1", "query": "Why?", "output": "Because it rains."}\n')
    done = CliRunner().invoke(main, ["run", f"{file}:plain", f"{tmp_path}/data.jsonl"])
    assert done.exit_code == 0, done.output
    assert "Helpfulness" in done.output


@pytest.mark.parametrize(
    ("name", "settings", "more", "said"),
    [
        ("plain", (), {"judge": "embedded"}, "takes no judge: leave -j/--judge out"),
        ("plain", (), {"criteria": "forms"}, "takes no criteria: leave -c/--criteria out"),
        ("plain", ("samples=3",), {}, "has no setting samples; known: none"),
        ("deep", ("depth=2.5",), {}, ":deep: depth: expected a whole number, got '2.5'"),
        ("deep", ("depth=0",), {}, "sageval: samples: expected a whole number, 1 or more, got 0"),
        ("open_to", ("aspects=3",), {}, "sageval has no setting aspects; known: "),
        ("needs", (), {}, "missing a required argument: 'size'"),
        ("raises", (), {}, r":raises raised KeyError: 'gone' \(.*mine.py, line 25\)"),
        ("mistyped", (), {}, r":mistyped raised TypeError: .* \(.*mine.py, line 28\)"),
        ("nothing", (), {}, ":nothing returned NoneType; expected a compiled LangGraph"),
        ("broken", (), {}, ":broken raised ValueError: "),
        ("later", (), {}, ":later returned coroutine; expected a compiled LangGraph"),
        ("takes", ("wild=x", "thing=3"), {}, None),
    ],
)
def test_a_factory_that_fails_is_named(file, name, settings, more, said):
    if said is None:  # an annotation that cannot be resolved says nothing of the others either
        assert built(f"{file}:{name}", *settings, **more)
        return
    assert re.search(said, told(f"{file}:{name}", *settings, **more))


@pytest.mark.parametrize("name", ["none", "null", "None", ""])
def test_none_is_a_critics_name_like_another(name):
    said = f"sageval: critic: no critic '{name}'; known: sage, "
    assert told("sageval", f"critic={name}").startswith(said)
    with pytest.raises(ConfigError, match=re.escape(said)):
        graph_of("sageval", criteria=None, judge=None, settings=(), critic=name)


@pytest.mark.parametrize("name", ["none", "null", ""])
def test_a_factory_of_ones_own_gets_the_critic_as_it_is_written(file, name):
    for factory in ("named", "unsaid"):
        with pytest.raises(ConfigError, match=f"no critic '{name}'"):
            graph_of(f"{file}:{factory}", criteria=None, judge=None, settings=(), critic=name)


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("at", ["import", "call"])
def test_a_file_that_exits_ends_no_command_as_if_all_were_well(tmp_path, command, at):
    code = {"import": "import sys\nsys.exit(0)\n", "call": "import sys\ndef build():\n    sys.exit(0)\n"}[at]
    (tmp_path / "exit.py").write_text(code)
    (tmp_path / "data.jsonl").write_text('{"id": "1", "query": "Why?", "output": "Because it rains."}\n')
    data = [f"{tmp_path}/data.jsonl"] if command == "run" else []
    done = CliRunner().invoke(main, [command, f"{tmp_path}/exit.py:build", *data])
    assert done.exit_code == 1
    assert "SystemExit: 0" in done.output


def test_a_judge_is_none_where_the_command_line_names_none():
    assert judge_of(None, None) is None
    assert judge_of("openai:m", None) == "openai:m"
    assert judge_of(None, None, 0.5) == Endpoint(model="embedded", temperature=0.5)
    assert judge_of("openai:m", "http://h/v1") == Endpoint(model="openai:m", base_url="http://h/v1")


def test_methods_keep_their_own_default_judge():
    assert dict(agents_of(built("sageval")))["evaluate"].judge == "embedded"
    assert dict(agents_of(built("sageval", judge="openai:m")))["evaluate"].judge == "openai:m"


@pytest.mark.parametrize("command", ["run", "plan", "check", "show", "review"])
def test_the_help_says_what_a_method_is(command):
    said = " ".join(CliRunner().invoke(main, [command, "--help"]).output.split())
    assert "METHOD is a name (see `judgegraph methods`), a graph file, or file.py:factory" in said
