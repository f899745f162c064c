"""Names in this process: what is shipped loads, what is decorated is known, and what is asked for wrongly is told."""

import functools
import re
import sys
from typing import NotRequired

import pytest
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.sage import Sage
from judgegraph.compose.nodes import as_node
from judgegraph.errors import ConfigError
from judgegraph.registry.shipped import SHIPPED
from judgegraph.tools import Metric, assistant, assistants, find
from judgegraph.types import Sample

ROWS = [(kind, name) for kind, rows in SHIPPED.items() for name in rows]


def test_every_row_loads_and_has_a_name_of_one_kind_that_can_be_asked_for():
    for kind, name in ROWS:
        thing = registry.load(kind, name)
        assert callable(thing), name
        assert registry.load(kind, f"judgegraph:{name}") is thing
        assert re.fullmatch(r"[a-z0-9-]{1,64}", name)
        assert registry.find(f"{kind}/{name}") == registry.find(name) == (kind, name)


def defined(decorator, name, qualname="Mine", module=__name__):
    @decorator(name)
    class Mine:
        async def __call__(self, state): ...

    return Mine


@pytest.mark.parametrize("kind", ["critic", "agent", "assistant", "method"])
def test_a_decorated_class_is_known_and_comes_back_as_it_is(kind):
    thing = defined(getattr(jg, kind), "my-part")
    assert registry.load(kind, "my-part") is thing
    assert "my-part" in registry.names(kind)
    assert thing.__name__ == "Mine"


def test_the_same_class_again_takes_the_place_of_the_former():
    old, new = defined(jg.critic, "again"), defined(jg.critic, "again")
    assert old is not new
    assert registry.load("critic", "again") is new


def test_in_a_notebook_a_renamed_class_takes_the_place_of_the_former():
    old, new = type("Old", (), {"__call__": len}), type("New", (), {"__call__": len})
    old.__module__ = new.__module__ = "__main__"
    jg.critic("note")(old)
    assert registry.load("critic", "note") is old
    jg.critic("note")(new)
    assert registry.load("critic", "note") is new


def test_two_classes_of_one_name_from_two_modules_clash():
    one, two = (type("Mine", (), {"__module__": module, "__call__": len}) for module in ("alpha.x", "beta.x"))
    jg.critic("shared")(one)
    jg.critic("shared")(two)
    with pytest.raises(ConfigError, match=r"alpha \(alpha.x:Mine\) and beta \(beta.x:Mine\)"):
        registry.load("critic", "shared")
    assert registry.load("critic", "beta:shared") is two


def test_two_classes_of_one_name_in_one_module_must_be_renamed():
    for name in ("One", "Two"):
        jg.critic("shared")(type(name, (), {"__module__": "alpha", "__call__": len}))
    with pytest.raises(ConfigError, match=r"2 critics are called 'shared': .*; one must be renamed"):
        registry.load("critic", "shared")


@pytest.mark.parametrize("name", ["", "two words", "a:b", "a/b", "file.yaml", "\x1b[31m", "x" * 65, "é", 3, None])
def test_what_cannot_be_a_name_is_refused_where_it_is_given(name):
    with pytest.raises(ConfigError, match="a name is 1 to 64 letters, digits"):
        jg.critic(name)


def test_a_decorator_without_its_name_says_how_it_is_written():
    with pytest.raises(ConfigError, match=r"write @jg.critic\('some-name'\)"):
        jg.critic(Sage)
    with pytest.raises(ConfigError, match="critic 'number': an object of type int cannot be called"):
        jg.critic("number")(3)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: registry.load("critic", "sagee"), "no critic 'sagee'; did you mean 'sage'? known: sage, "),
        (lambda: registry.load("critic", "nobody:sage"), "no critic 'nobody:sage'; did you mean 'sage'? known: "),
        (lambda: registry.load("critic", "zzz"), "no critic 'zzz'; known: sage, "),
        (lambda: registry.load("critic", "\x1b[31m"), r"no critic '\x1b[31m'; known: "),
        (lambda: registry.factory("sagevall"), "no method 'sagevall'; did you mean 'sageval'"),
        (lambda: registry.factory("zzz"), "bsm, poll, graph.yaml, or file.py:factory"),
        (lambda: registry.factory("nowhere.py:x"), "no file nowhere.py"),
        (
            lambda: registry.find("sagee"),
            "no agent, critic, method or assistant 'sagee'; did you mean 'sage' or 'sageval'? ",
        ),
        (lambda: registry.find_agent("critic/merge"), "no critic 'merge'; "),
        (lambda: assistants("nosuch"), "no assistant 'nosuch'; known: rouge-1"),
    ],
)
def test_a_name_that_nothing_has_is_told_with_the_close_ones_and_all(ask, said):
    with pytest.raises(ConfigError) as error:
        ask()
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["graph.yaml", "graph.yml", "a/b.json", "GRAPH.YAML"])
def test_a_graph_file_is_read_by_the_room_of_graph_files(name, monkeypatch):
    reader = type(sys)("judgegraph.graph_files.build")
    reader.graph_factory = lambda path: ("read", path)
    monkeypatch.setitem(sys.modules, "judgegraph.graph_files.build", reader)
    assert registry.factory(name) == ("read", name)
    assert registry.find(name) == ("method", name)


def test_a_file_of_ones_own_stands_wherever_an_agent_is_named(tmp_path):
    (tmp_path / "mine.py").write_text("def build():\n    return 3\n")
    kind, build = registry.find_agent(f"{tmp_path}/mine.py:build")
    assert (kind, build()) == ("method", 3)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys\nsys.exit(0)", "SystemExit: 0"),
        ("raise SystemExit", "SystemExit"),
        ("1 / 0", "ZeroDivisionError: "),
        ("class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", "E"),
    ],
)
def test_a_file_that_ends_or_fails_at_its_import_is_told_and_forgotten(tmp_path, code, why):
    (tmp_path / "ends.py").write_text(f"def build():\n    return 3\n{code}\n")
    with pytest.raises(ConfigError, match=rf"ends\.py fails to import: {why}") as error:
        registry.factory(f"{tmp_path}/ends.py:build")
    assert "\n" not in str(error.value)
    assert "judgegraph_user_ends" not in sys.modules


def test_a_stop_at_a_files_import_stops(tmp_path):
    (tmp_path / "slow.py").write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        registry.factory(f"{tmp_path}/slow.py:build")
    assert "judgegraph_user_slow" not in sys.modules


class Reads(TypedDict):
    sample: Sample
    criteria: NotRequired[list[str]]


class Writes(TypedDict, total=False):
    notes: dict[str, str]


async def plain(state: Reads) -> Writes:
    return {}


def sync(state: Reads) -> Writes:
    return {}


def untyped(state):
    return {}


class Agent:
    """An agent."""

    def __init__(self, judge="embedded", name="x"):
        self.judge, self.name = judge, name

    async def __call__(self, state: Reads) -> Writes:
        return {}


def builds(*judges, judge="embedded", **more):
    return Agent(judge=(judge, more))


GRAPH = StateGraph(jg.EvalState, input_schema=Reads, output_schema=Writes)
GRAPH.add_node("one", plain)
GRAPH.add_edge(START, "one")


@pytest.mark.parametrize(
    "node", [plain, sync, untyped, Agent(), GRAPH.compile()], ids=["async", "sync", "untyped", "object", "graph"]
)
def test_what_is_an_agent_already_is_passed_through(node):
    jg.agent("node")(node)
    assert registry.make("agent", "node", judge="openai:m") is node
    assert registry.make("agent", node) is node
    with pytest.raises(ConfigError, match="agent 'node' has no setting judge; known: none"):
        registry.make("agent", "node", {"judge": "openai:m"})


@pytest.mark.parametrize("part", [Agent, functools.partial(Agent, name="y")], ids=["class", "partial"])
def test_a_part_gets_what_it_takes_and_the_users_settings_come_first(part):
    jg.agent("node")(part)
    made = registry.make("agent", "node", {"name": "mine"}, judge="openai:m", name="offered", reader=3)
    assert (made.judge, made.name) == ("openai:m", "mine")
    with pytest.raises(ConfigError, match="agent 'node' has no setting tone; known: judge, name"):
        registry.make("agent", "node", {"tone": 1})


def test_a_builder_that_takes_any_setting_is_offered_those_it_names():
    jg.agent("node")(builds)
    assert registry.make("agent", "node", {"depth": 2}, judge="j", reader=3).judge == ("j", {"depth": 2})


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (lambda which: which, "agent 'node': missing a required argument: 'which'"),
        (lambda: {}["gone"], "cannot be built: KeyError: 'gone'"),
        (lambda: sys.exit(0), "cannot be built: SystemExit: 0"),
        (lambda: 3, "made int, which is no agent"),
    ],
)
def test_a_part_that_cannot_be_built_is_named(part, said):
    jg.agent("node")(part)
    with pytest.raises(ConfigError, match=re.escape(said)):
        registry.make("agent", "node")


@pytest.mark.parametrize("node", [plain, sync, Agent, Agent(), GRAPH.compile()])
def test_what_an_agent_reads_and_writes_is_told_by_its_annotations(node):
    reads, writes = registry.keys_of(node)
    assert reads == ("sample", "criteria?")
    assert [key.removesuffix("?") for key in writes] == ["notes"]


@pytest.mark.parametrize("node", [untyped, 3, lambda: 1, None, len])
def test_of_what_has_no_annotations_nothing_is_known(node):
    assert registry.keys_of(node) == (None, None)


CUSTOM = Metric(name="mine", about="mine", measure=lambda s: 1.0)


@pytest.mark.parametrize(
    "thing", [CUSTOM, lambda: CUSTOM, type("Made", (), {"__new__": lambda cls: CUSTOM})],
    ids=["object", "factory", "class"],
)  # fmt: skip
def test_a_registered_assistant_is_an_object_a_factory_or_a_class(thing):
    jg.assistant("mine")(thing)
    assert assistant("mine") is CUSTOM
    assert [a.name for a in assistants(["chrf", "mine"])] == ["chrf", "mine"]


def test_a_function_of_a_sample_is_an_assistant_itself():
    @jg.assistant("length")
    def length(sample):
        """Characters of the output.

        More.
        """
        return float(len(sample.output))

    assert assistant("length") is assistant("length")
    assert registry.is_made(length)
    assert as_node("length").assistants == (assistant("length"),)
    assert (assistant("length").name, assistant("length").about) == ("length", "Characters of the output.")
    assert assistant("length")(Sample(id="s", output="four")) == 4.0


async def test_an_async_function_of_a_sample_is_an_assistant_too():
    @jg.assistant("late")
    async def late(sample):
        """Characters of the output, later."""
        return float(len(sample.output))

    assert (await find(assistant("late"), Sample(id="s", output="four"))).value == 4.0
    assert as_node("late").assistants == (assistant("late"),)


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (lambda: 3, "made int, which is no agent"),
        (lambda: print, "expected an object with name, about and assistant"),
        (lambda: Metric(name="two words", about="", measure=len), "letters, digits, '_' or '-'"),
    ],
)
def test_a_registered_assistant_that_is_none_is_told(thing, said):
    jg.assistant("odd")(thing)
    with pytest.raises(ConfigError, match=re.escape(said)):
        assistant("odd")


@pytest.mark.parametrize("name", ["sageval", "judgegraph:sageval", "mine.yaml", "mine.py:build"])
def test_a_method_in_an_assistants_place_is_told_how_to_become_one(name):
    with pytest.raises(ConfigError, match=f"'{name}' is a method: jg.as_assistant makes an assistant of its graph$"):
        assistant(name)


def test_of_a_name_that_nothing_has_no_method_is_spoken():
    with pytest.raises(ConfigError) as caught:
        assistant("sagevil")
    assert "as_assistant" not in str(caught.value)
