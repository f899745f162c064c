"""What a run's results depend on changes its configuration, by exactly the lines that say so; nothing else does."""

import json
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from pydantic import SecretStr

from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Sage
from judgegraph.calls import Endpoint
from judgegraph.data.load import load
from judgegraph.data.samples import data_of
from judgegraph.errors import DataError
from judgegraph.graphs import coascore, fennec, fusion_eval, g_eval, llm_score, sageval
from judgegraph.registry import METHODS, factory
from judgegraph.runs.identity import configuration, differences
from judgegraph.testing import scripted
from judgegraph.tools import assistant
from judgegraph.tools.catalogue import Metric, Panel
from judgegraph.types import Criterion, EvalState, Sample

CLARITY = Criterion(name="Clarity", definition="It is clear.", steps=("Read it.",))
URL = "http://host:8000/v1"


def lines(old, new):
    return differences(configuration(old), configuration(new))


def one(**settings):
    return llm_score(**{"criteria": [CLARITY], **settings})


def endpoint(**settings):
    return Endpoint(**{"model": "openai:m", "base_url": URL, **settings})


@pytest.fixture(autouse=True)
def _no_address(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.parametrize(
    ("settings", "before", "after"),
    [
        ({"model": "openai:n"}, "openai:m@t0@host:8000/v1", "openai:n@t0@host:8000/v1"),
        ({"seed": 7}, "openai:m@t0@host:8000/v1", "openai:m@t0@seed7@host:8000/v1"),
        ({"top_p": 0.5}, "openai:m@t0@host:8000/v1", "openai:m@t0@p0.5@host:8000/v1"),
        ({"max_tokens": 99}, "openai:m@t0@host:8000/v1", "openai:m@t0@max99@host:8000/v1"),
        ({"base_url": "http://host:8000/v2"}, "openai:m@t0@host:8000/v1", "openai:m@t0@host:8000/v2"),
        ({"base_url": None}, "openai:m@t0@host:8000/v1", "openai:m@t0"),
    ],
)
def test_a_change_of_the_judge_is_one_line(settings, before, after):
    assert lines(one(judge=endpoint()), one(judge=endpoint(**settings))) == [f"nodes.score.judge: {before} -> {after}"]


def test_an_agent_without_a_temperature_of_its_own_has_its_judges():
    old, new = (sageval(endpoint(temperature=t), criteria=[CLARITY]) for t in (0.0, 0.5))
    assert lines(old, new) == [
        f"nodes.{node}.judge: openai:m@t0@host:8000/v1 -> openai:m@t0.5@host:8000/v1"
        for node in ("evaluate", "critique")
    ]


@pytest.mark.parametrize("same", [{"timeout": 1.0}, {"attempts": 1}, {"asks": 1}, {"api_key_env": "OTHER"}])
def test_how_patiently_a_judge_is_asked_is_no_part_of_it(same):
    assert lines(one(judge=endpoint()), one(judge=endpoint(**same))) == []


@pytest.mark.parametrize("same", [{"max_retries": 9}, {"timeout": 3}, {"api_key": "other-key"}, {"verbose": True}])
def test_nor_how_a_chat_model_object_is(same):
    def chat(**more):
        return ChatOpenAI(**{"model": "m", "base_url": URL, "api_key": "key-12345", **more})

    assert lines(one(judge=chat()), one(judge=chat(**same))) == []
    assert len(lines(one(judge=chat()), one(judge=chat(reasoning_effort="low")))) == 1


RUBRIC = CLARITY.model_copy(update={"definition": "It is " + "very " * 30 + "clear."})


@pytest.mark.parametrize(
    ("old", "change", "said"),
    [
        (CLARITY, {"definition": "One reads it once."}, "definition: It is clear. -> One reads it once."),
        (CLARITY, {"definition": ""}, "definition: It is clear. -> not there"),
        (CLARITY, {"scale": {"low": 1, "high": 7}}, "scale: 1-5 -> 1-7"),
        (CLARITY, {"scale": {"low": 1, "high": 5, "whole": False}}, "scale: 1-5 -> 1-5 any"),
        (CLARITY, {"scale": ["good", "bad"]}, "scale: 1-5 -> good / bad"),
        (CLARITY, {"steps": ["Read it.", "Think."]}, "steps: Read it. -> Read it., Think."),
        (CLARITY, {"guideline": "5: clear"}, "guideline: not there -> 5: clear"),
        (
            RUBRIC,
            {"definition": RUBRIC.definition + "\n!"},
            "definition: …ery very very clear. -> …ery very very clear. !",
        ),
    ],
    ids=lambda v: next(iter(v)) if isinstance(v, dict) else "",
)
def test_of_a_criterion_the_field_is_named(old, change, said):
    new = Criterion.model_validate({**old.model_dump(), **change})
    assert lines(one(criteria=[old]), one(criteria=[new])) == [f"criteria.Clarity.{said}"]


def test_a_criterion_that_comes_or_goes_is_one_line_beside_its_agents():
    both = one(criteria=[CLARITY, Criterion(name="Order")])
    assert lines(one(), both) == [
        "nodes.score.criteria: Clarity -> Clarity, Order",
        'criteria.Order: not there -> {"scale": "1-5"}',
    ]
    assert lines(both, one(criteria=[Criterion(name="Order"), CLARITY])) == [
        "nodes.score.criteria: Clarity, Order -> Order, Clarity"
    ]


def test_criteria_of_one_name_in_two_nodes_are_told_apart():
    other = CLARITY.model_copy(update={"definition": "Another."})
    graph = outer(a=Evaluator(criteria=[CLARITY], name="a"), b=Evaluator(criteria=[other], name="b"))
    found = configuration(graph)
    assert (found["nodes.a.criteria"], found["nodes.b.criteria"]) == (["Clarity"], ["Clarity (2)"])
    assert found["criteria.Clarity (2)"]["definition"] == "Another."


def paths(make, **settings):
    return {line.split(":")[0] for line in lines(make(), make(**settings))}


COT = ("options.cot", "prompt")
PAIRED = {"nodes.merge.options.mode", "nodes.branch.options.pairs_only"}
APART = ("nodes.weigh/compare", "nodes.weigh/judge_rival")
WEIGHTS = {name: {"rouge-l": 1, "chrf": 2} for name in ("Coherence", "Consistency", "Fluency", "Relevance")}


@pytest.mark.parametrize(
    ("make", "settings", "changed"),
    [
        (sageval, {"each": True}, {"edges", "nodes.evaluate.prompt"}),
        (sageval, {"critic_calls": "three"}, {"nodes.critique.options.calls", "nodes.critique.prompt"}),
        (sageval, {"cot": True}, {f"nodes.{n}.{k}" for n in ("evaluate", "critique") for k in COT}),
        (sageval, {"samples": 3}, {"nodes.evaluate.reader", "nodes.critique.reader"}),
        (sageval, {"critic_judge": "openai:m"}, {"nodes.critique.judge"}),
        (sageval, {"name": "a"}, {f"nodes.{n}.options.name" for n in ("evaluate", "critique", "rectify")}),
        (coascore, {"aspects": 5}, {"nodes.chain/propose.options.count"}),
        (coascore, {"reasons": True}, {"nodes.chain/rate.options.reasons"}),
        (coascore, {"proposer_judge": "openai:m"}, {"nodes.chain/propose.judge"}),
        (coascore, {"reply": "text"}, None),
        (coascore, {"chain": "inter"}, {"nodes.chain/propose", "edges"}),
        (coascore, {"scores": "none"}, {"nodes.chain/rate", "nodes.chain/fuse", "nodes.chain/fuse.prompt", "edges"}),
        (coascore, {"scores": "random", "seed": 1}, None),
        (coascore, {"fuse": "average"}, None),
        (fennec, {"branches": 3}, {"nodes.branch.options.count"}),
        (fennec, {"orders": "both"}, {"nodes.weigh/compare.options.orders"}),
        (fennec, {"labels": "response"}, {"nodes.weigh/compare.options.labels"}),
        (fennec, {"merge": "votes"}, {"nodes.merge.options.rule"}),
        (fennec, {"correct": "at-most"}, {"nodes.correct.options.rule"}),
        (fennec, {"correct": "off"}, {"nodes.correct", "edges"}),
        (fennec, {"threshold": 2.0}, {"nodes.correct.options.threshold"}),
        (fennec, {"mode": "pair"}, {*PAIRED, "nodes.weigh/judge", "edges"}),
        (fennec, {"mode": "apart"}, {*APART, *PAIRED, "edges"}),
        (fennec, {"writer_judge": "openai:m"}, {"nodes.branch.judge", "nodes.weigh/guide.judge"}),
        (fennec, {"corrector_judge": "openai:m"}, {"nodes.correct.judge"}),
        (fusion_eval, {"rounds": 2}, {"nodes.consult/ask.options.rounds"}),
        (fusion_eval, {"predictions": 3}, {"nodes.judge.reader"}),
        (fusion_eval, {"temperature": 0.5}, {"nodes.judge.reader"}),
        (fusion_eval, {"planner_judge": "openai:m"}, {"nodes.plan.judge", "nodes.consult/ask.judge"}),
        (g_eval, {"samples": 3}, {"nodes.score.reader"}),
        (g_eval, {"temperature": 2.0}, {"nodes.score.reader"}),
        (g_eval, {"top_p": 0.9}, {"nodes.score.reader"}),
        (g_eval, {"logprobs": False}, {"nodes.score.reader"}),
        (g_eval, {"role": "system"}, {"nodes.score.options.role"}),
        (g_eval, {"first_digit": True}, {"nodes.score.reader"}),
        (g_eval, {"reply": "form"}, {"nodes.score.options.reply"}),
        (g_eval, {"steps": "all"}, None),
        (llm_score, {"cot": True}, None),
        (llm_score, {"reply": "text"}, {"nodes.score.options.reply"}),
        (fennec, {"task": "a poem"}, None),
        (fennec, {"temperature": 0.5}, None),
        (fennec, {"reply": "text"}, None),
        (fusion_eval, {"plan": False}, None),
        (fusion_eval, {"consult": "all"}, None),
        (fusion_eval, {"fuse": "average"}, None),
        (fusion_eval, {"fuse": "average", "direct": "g-eval"}, None),
        (fusion_eval, {"fuse": "average", "ranges": {"chrf": (0, 50)}}, None),
        (fusion_eval, {"fuse": "weighted", "weights": WEIGHTS}, None),
    ],
    ids=lambda v: str(v) if isinstance(v, dict) else getattr(v, "__name__", ""),
)  # fmt: skip
def test_every_setting_of_a_method_changes_its_own_lines(make, settings, changed):
    found = paths(make, **settings)
    assert found == changed if changed else found


def test_every_setting_of_every_method_is_in_the_table_above():
    import inspect
    from importlib import import_module

    table = next(m for m in test_every_setting_of_a_method_changes_its_own_lines.pytestmark if m.name == "parametrize")
    tried = {(make, name) for make, settings, _ in table.args[1] for name in settings}
    elsewhere = {"judge", "criteria", "assistants", "critic", "name", "prompts"}  # have tests of their own
    for path in METHODS.values():
        module, _, name = path.partition(":")
        known = set(inspect.signature(import_module(module).builder).parameters) - elsewhere
        assert known == {s for make, s in tried if make.__name__ == name} - elsewhere, name


def test_an_assistant_that_goes_is_named_wherever_it_is_told_of():
    found = lines(fusion_eval(assistants=["chrf", "novelty"]), fusion_eval(assistants=["chrf"]))
    where = (
        "plan.assistants",
        "consult/ask.assistants",
        "consult/ask.tools",
        "consult/call.assistants",
        "consult/call_all.assistants",
        "judge.assistants",
    )
    assert [line.partition(": ")[0] for line in found] == [f"nodes.{w}.novelty" for w in where]
    assert all(line.endswith("… -> not there") for line in found)


def test_the_order_of_assistants_counts():
    two = ["chrf", "novelty"]
    found = lines(fusion_eval(assistants=two), fusion_eval(assistants=two[::-1]))
    assert found[0] == "nodes.plan.assistants, in order: chrf, novelty -> novelty, chrf"


def test_the_code_of_an_assistant_of_ones_own_counts():
    def metric(measure):
        return outer(panel=Panel(assistants=[replace(assistant("chrf"), measure=measure)]))

    first, second = metric(lambda s: 1.0), metric(lambda s: 2.0)
    assert isinstance(assistant("chrf"), Metric)
    (line,) = lines(first, second)
    assert line.startswith("nodes.panel.assistants.chrf: …")
    assert "(code " in line
    assert lines(first, first) == []


PROMPT = "---\nversion: 1\n---\n# user\n{}$task $criteria $query $source $output\n"


def test_a_changed_template_is_named_with_both_digests_and_not_its_folder(tmp_path):
    digests, graphs = [], []
    for folder, text in (("a", "Judge. "), ("b", "Judge well. "), ("c", "Judge. ")):
        path = tmp_path / folder / "mine.md"
        path.parent.mkdir()
        path.write_text(PROMPT.format(text))
        digests.append(blake2b(path.read_bytes(), digest_size=4).hexdigest())
        graphs.append(outer(e=Evaluator(criteria=[CLARITY], prompt=str(path))))
    assert lines(graphs[0], graphs[1]) == [f"nodes.e.prompt: mine.md@{digests[0]} -> mine.md@{digests[1]}"]
    assert lines(graphs[0], graphs[2]) == []


def test_a_template_that_only_a_setting_brings_in_counts(monkeypatch):
    from judgegraph import prompts

    old = configuration(outer(c=Sage(calls="three")))
    real = prompts.load
    monkeypatch.setattr(
        prompts, "load", lambda name: replace(real(name), digest="0" * 8) if name == "critique_criteria" else real(name)
    )
    (line,) = differences(old, configuration(outer(c=Sage(calls="three"))))
    assert line == f"nodes.c.prompt.critique_criteria: {real('critique_criteria').digest} -> 00000000"


def total(old, new):
    return old + new


def greatest(old, new):
    return max(old, new)


class Counted(TypedDict, total=False):
    sample: Sample
    count: Annotated[int, total]


def outer(schema: Any = EvalState, **nodes):
    graph = StateGraph(schema)
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph.compile(name="outer")


FACTOR = 2


def helped(value):
    return value * FACTOR


def plain(state: EvalState) -> EvalState:
    return {"overall": helped(1.0)}


def scaled(factor):
    def node(state: EvalState) -> EvalState:
        return {"overall": factor}

    return node


def counting(state):
    return {}


async def stepped(state: EvalState) -> EvalState:
    return {}


@dataclass(frozen=True, kw_only=True)
class Own:
    judge: Any = "embedded"
    prompt: str = "evaluate"
    strict: bool = False
    concurrency: int = 4
    request_timeout: float = 3.0
    api_key: str = "canary-own-key"
    password: Any = None
    headers: Any = None
    home: str = "https://canary-user:canary-word@host/x?key=canary-query"

    async def __call__(self, state: EvalState) -> EvalState:
        return {}


@dataclass(frozen=True, kw_only=True)
class Owner(Own):
    async def __call__(self, state: EvalState) -> EvalState:
        return {"overall": 1.0}


def test_a_plain_function_is_told_by_its_code():
    found = configuration(outer(foo=plain))
    assert found["nodes.foo"] == "function plain"
    assert len(found["nodes.foo.code"]) == 8
    assert configuration(outer(foo=plain)) == found
    assert lines(outer(foo=scaled(1)), outer(foo=scaled(1))) == []
    (line,) = lines(outer(foo=scaled(1)), outer(foo=scaled(2)))
    assert line.startswith("nodes.foo.code: ")


@pytest.mark.parametrize(
    ("name", "value"), [("FACTOR", 3), ("helped", scaled)], ids=["a constant", "a function of its module"]
)
def test_what_a_function_uses_of_its_module_counts(monkeypatch, name, value):
    old = configuration(outer(foo=plain))
    monkeypatch.setattr(sys.modules[__name__], name, value)
    (line,) = differences(old, configuration(outer(foo=plain)))
    assert line.startswith("nodes.foo.code: ")


def test_an_agent_of_ones_own_has_settings_and_code_and_a_subclass_another():
    found = configuration(outer(a=Own()))
    assert {k: v for k, v in found.items() if k.startswith("nodes.a.options")} == {
        "nodes.a.options.strict": False, "nodes.a.options.home": "https://host/x",
    }  # fmt: skip
    assert lines(outer(a=Own()), outer(a=Own(strict=True))) == ["nodes.a.options.strict: false -> true"]
    assert (
        lines(outer(a=Own()), outer(a=Own(concurrency=1, request_timeout=1.0, api_key="x", headers={"a": "b"}))) == []
    )
    was, code = lines(outer(a=Own()), outer(a=Owner()))
    assert was == "nodes.a: Own -> Owner"
    assert code.startswith("nodes.a.code: ")


def test_a_chain_of_langchain_is_told_by_its_steps():
    graphs = [outer(a=RunnableLambda(scaled(n)) | RunnableLambda(stepped)) for n in (1, 1, 2)]
    assert lines(graphs[0], graphs[1]) == []
    assert len(lines(graphs[0], graphs[2])) == 1


def branching(choose, ends=("a", "b"), schema=EvalState):
    graph = StateGraph(schema)
    for name in ("a", "b"):
        graph.add_node(name, plain)
        graph.add_edge(name, END)
    graph.add_conditional_edges(START, choose, list(ends))
    return graph.compile(name="g")


def test_edges_that_come_and_go_are_lines_of_their_own():
    def chain(*more):
        graph = StateGraph(EvalState)
        graph.add_node("a", plain)
        graph.add_node("b", plain)
        for source, to in [(START, "a"), ("a", "b"), ("b", END), *more]:
            graph.add_edge(source, to)
        return graph.compile(name="g")

    assert lines(chain(), chain((START, "b"))) == ["edges: new: START -> b"]
    assert lines(chain((["a", "b"], END)), chain()) == ["edges: no more: a and b -> END"]
    deeper = [outer(inner=graph) for graph in (chain(), chain((START, "b")))]
    assert lines(*deeper) == ["edges: new: inner/START -> inner/b"]


def test_a_choice_is_told_by_its_function_and_its_ends():
    first, second = branching(scaled("a")), branching(scaled("b"))
    gone, new = lines(first, second)
    assert gone.startswith("edges: no more: START -> a or b by node@")
    assert new.startswith("edges: new: START -> a or b by node@")
    assert gone[-8:] != new[-8:]
    assert len(lines(first, branching(scaled("a"), ends=("a", "b", END)))) == 2


def test_a_node_that_comes_is_named_by_what_it_is():
    assert lines(outer(a=plain), outer(a=plain, extra=Evaluator())) == [
        "edges: new: START -> extra", "edges: new: extra -> END", "nodes.extra: not there -> Evaluator",
    ]  # fmt: skip


def test_how_a_state_is_joined_counts():
    class Greatest(TypedDict, total=False):
        sample: Sample
        count: Annotated[int, greatest]

    gone, new = lines(outer(Counted, a=counting), outer(Greatest, a=counting))
    assert gone.startswith("state: no more: count: total@")
    assert new.startswith("state: new: count: greatest@")


def test_the_version_counts(monkeypatch):
    old = configuration(one())
    monkeypatch.setattr("judgegraph.runs.identity.__version__", "9.9")
    assert differences(old, configuration(one())) == [f"version: {old['version']} -> 9.9"]


@pytest.mark.parametrize("method", METHODS)
def test_it_is_json_always_the_same_and_takes_no_time(method):
    first = configuration(factory(method)())
    assert differences(json.loads(json.dumps(first, allow_nan=False)), configuration(factory(method)())) == []
    graph, times = factory(method)(), []
    for _ in range(5):
        start = time.perf_counter()
        configuration(graph)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.2


@pytest.mark.long
def test_it_is_the_same_in_another_process(tmp_path):
    (tmp_path / "mine.py").write_text(
        textwrap.dedent("""
        import json
        from langgraph.graph import END, START, StateGraph
        from judgegraph.types import EvalState
        from judgegraph.runs.identity import configuration

        WORDS = {"one", "two", "three", "four"}

        def node(state: EvalState) -> EvalState:
            return {"overall": 1.0 if "one" in WORDS and "x" in {"x", "y", "z"} else None}

        def made():
            graph = StateGraph(EvalState)
            graph.add_node("n", node)
            graph.add_edge(START, "n")
            return graph.compile(name="mine")
        """)
    )
    code = "import mine, json; print(json.dumps(mine.configuration(mine.made())))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(seen) == 1


def test_no_key_is_in_it(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary-env-key-123")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://canary-user:canary-word@elsewhere/v1?key=canary-query")
    chat = ChatOpenAI(
        model="m", base_url="http://canary-user:canary-word@host/v1", api_key="canary-object-key",
        default_headers={"X-Team": "canary-header"}, default_query={"sig": "canary-query"},
    )  # fmt: skip
    judges = ["openai:m", endpoint(base_url="http://canary-user:canary-word@host/v1?key=canary-query"), chat]
    told = scripted("reply")
    for judge in (*judges, told):
        graph = outer(
            a=Own(judge=judge, headers={"X-Key": "canary-header"}, password=SecretStr("canary")),
            b=sageval(judge),
            c=fusion_eval(judge),
        )
        text = json.dumps(configuration(graph))
        assert "canary" not in text
        assert '"nodes.a": "Own"' in text
        assert "canary" not in "\n".join(differences({}, configuration(graph)))
    with_task = outer(a=Evaluator(judge=chat, task="the key is canary-object-key"))
    assert "canary" not in json.dumps(configuration(with_task))


def test_lines_are_short_and_printable():
    old = one(criteria=[Criterion(name="Clarity", definition="x" * 5000)])
    new = one(criteria=[Criterion(name="Clarity", definition="y\x1b[31m\u202e" * 5000)])
    (line,) = lines(old, new)
    assert line.isprintable()
    assert len(line) < 300
    assert lines(new, new) == []


def test_a_data_file_is_told_by_its_bytes_and_its_name_alone(tmp_path):
    content = b'{"id": "a", "text": "x"}\n'
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    found = data_of(load(path, fields={"output": "text"}, limit=3))
    assert found == {
        "file": "rows.jsonl", "size": len(content), "digest": blake2b(content, digest_size=8).hexdigest(),
        "fields": {"output": "text"}, "format": "jsonl",
    }  # fmt: skip
    path.write_bytes(content.replace(b"x", b"y"))
    assert [line.split(":")[0] for line in differences(found, data_of(load(path, fields={"output": "text"})))] == [
        "digest"
    ]


def test_a_json_file_of_lines_is_told_so_and_a_list_of_samples_is_no_file(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('{"output": "x"}\n')
    assert data_of(load(path))["format"] == "jsonl"
    assert data_of([Sample(id="a", output="x")]) is None
    assert data_of(iter(())) is None


def test_a_data_file_that_went_away_is_named(tmp_path):
    path: Path = tmp_path / "rows.jsonl"
    path.write_text('{"output": "x"}\n')
    samples = load(path)
    path.unlink()
    with pytest.raises(DataError, match=r"rows\.jsonl: No such file"):
        data_of(samples)
