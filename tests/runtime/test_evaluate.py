"""A run: every sample ends in one item, whatever happens to it, and the folder says what was run."""

import asyncio
import json
import re

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.data.samples import COLUMNS
from judgegraph.errors import AuthError, ConfigError, DataError
from judgegraph.graphs import sageval
from judgegraph.runs.item import Item, item_of
from judgegraph.runs.summary import summarise
from judgegraph.testing import scripted
from judgegraph.types import Criterion, EvalState, Sample, Scale, Score, keyed

CLARITY = Criterion(name="Clarity")


def samples(count):
    return [Sample(id=f"s{i}", query="q", output=f"text {i}") for i in range(count)]


def graph_of(node):
    graph = StateGraph(EvalState)
    graph.add_node("judge", node)
    graph.add_edge(START, "judge")
    graph.add_edge("judge", END)
    return graph.compile(name="one-node")


async def fine(state: EvalState) -> EvalState:
    score = Score(criterion="Clarity", agent="a", value=3, scale=Scale(low=1, high=5))
    return {"scores": keyed(score)}


async def poisoned(state: EvalState) -> EvalState:
    if state["sample"].id == "s1":
        raise RecursionError("a poison sample")
    return await fine(state)


def test_a_poison_sample_harms_only_itself():
    run = jg.evaluate(graph_of(poisoned), samples(4))
    assert {i.id: i.status for i in run.items} == {"s0": "ok", "s1": "agent_error", "s2": "ok", "s3": "ok"}
    assert [i.reason for i in run.items if i.status != "ok"] == ["RecursionError: a poison sample (node 'judge')"]


def test_a_sample_that_takes_too_long_times_out():
    async def slow(state: EvalState) -> EvalState:
        await asyncio.sleep(60 if state["sample"].id == "s0" else 0)
        return await fine(state)

    run = jg.evaluate(graph_of(slow), samples(2), timeout=0.2)
    assert {i.id: i.status for i in run.items} == {"s0": "timeout", "s1": "ok"}
    (reason,) = [i.reason for i in run.items if i.status != "ok"]
    assert reason.startswith("no result within 0.2 s; give a sample longer (--timeout SECONDS), ask less at once")


def test_a_timeout_of_a_nodes_own_says_what_the_node_said():
    async def impatient(state: EvalState) -> EvalState:
        raise TimeoutError("the archive did not answer")

    (item,) = jg.evaluate(graph_of(impatient), samples(1)).items
    assert (item.status, item.reason) == ("timeout", "TimeoutError: the archive did not answer (node 'judge')")


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        ("sageval", "a graph is a compiled LangGraph, such as judgegraph.graphs.sageval(); got str"),
        (sageval, "got function"),
        (StateGraph(EvalState), "compile it: graph.compile(); got StateGraph"),
    ],
    ids=["a name", "a factory", "not compiled"],
)
def test_what_is_no_graph_is_told_what_one_is(graph, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        jg.evaluate(graph, samples(1))


@pytest.mark.parametrize("setting", [{"timeout": 0}, {"timeout": -5}, {"timeout": float("nan")}, {"concurrency": 0}])
def test_limits_that_allow_nothing_are_refused(setting):
    with pytest.raises(ConfigError, match=next(iter(setting))):
        jg.evaluate(graph_of(fine), samples(1), **setting)


def test_what_is_no_sample_is_told_where_samples_come_from():
    with pytest.raises(DataError, match=r"judgegraph\.load\(PATH\)"):
        jg.evaluate(graph_of(fine), "forms.jsonl")


def test_the_second_of_two_samples_with_one_id_is_refused_before_it_is_judged():
    judged = []

    async def noting(state: EvalState) -> EvalState:
        judged.append(state["sample"].output)
        return await fine(state)

    twice = [*samples(3), Sample(id="s1", output="another")]
    with pytest.raises(DataError, match="samples 2 and 4 have the same id 's1'"):
        jg.evaluate(graph_of(noting), iter(twice), concurrency=1)
    assert judged == ["text 0", "text 1", "text 2"]


@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(3)], ids=["an error", "an exit"])
def test_what_on_item_raises_ends_the_run_as_itself(error, tmp_path):
    def on_item(item):
        if item.id == "s1":
            raise error

    with pytest.raises(type(error)) as raised:
        jg.evaluate(graph_of(fine), samples(9), out=tmp_path / "run", on_item=on_item, concurrency=1)
    assert raised.value is error
    assert [i.id for i in jg.Run.load(tmp_path / "run").items] == ["s0", "s1"]
    assert jg.Run.load(tmp_path / "run").manifest["state"] == "stopped"
    assert len(list(jg.evaluate(graph_of(fine), samples(2)).items)) == 2  # the loop lives on


def test_a_refused_key_ends_the_run_with_its_own_error(tmp_path):
    async def locked(state: EvalState) -> EvalState:
        raise AuthError("judge openai:x: 401")

    with pytest.raises(AuthError, match="401"):
        jg.evaluate(graph_of(locked), samples(50), out=tmp_path / "run")
    assert json.loads((tmp_path / "run/manifest.json").read_text())["state"] == "stopped"


def test_evaluate_works_inside_a_running_loop():
    async def inside():
        return jg.evaluate(graph_of(fine), samples(2))

    assert len(list(asyncio.run(inside()).items)) == 2


def test_a_run_is_read_back_from_its_folder(tmp_path):
    ran = jg.evaluate(graph_of(fine), samples(3), out=tmp_path / "run")
    again = jg.Run.load(tmp_path / "run")
    assert list(again.items) == list(ran.items)
    assert again.signature == ran.signature
    assert again.summary().to_dict() == ran.summary().to_dict()


def test_scores_come_as_a_table_with_a_row_each():
    run = jg.evaluate(graph_of(fine), samples(3))
    assert len(run.scores()) == 3
    frame = run.scores().to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["value"].mean() == 3


def test_the_manifest_says_who_judged_by_what_and_what_it_cost():
    draft = {"clarity": {"reason": "r", "score": 4}}
    kept = {"clarity": {"reason": "r", "verdict": "keep", "score": 4}}
    judge = scripted(draft, {"rectifications": kept, "definitions": [], "new_criteria": []})
    run = jg.evaluate(sageval(judge, criteria=[CLARITY], samples=1), samples(1))
    assert run.manifest["nodes"]["critique"]["agent"] == "Sage"
    assert run.manifest["criteria"] == [{"name": "Clarity"}]
    assert (run.manifest["calls"]["requests"], run.manifest["calls"]["replies"]) == (2, 2)
    assert run.signature.startswith("sageval|v:0.1.0|judge:Scripted|prompts:evaluate@")


def test_a_human_label_off_the_scale_is_named():
    sample = Sample(id="s", output="one two three four five six seven eight", human={"clarity": 57, "other": 99})
    (item,) = jg.evaluate(graph_of(fine), [sample]).items
    assert [n.text for n in item.notes] == ["human.clarity = 57 is not on the scale 1-5"]


def test_labels_off_the_scale_have_a_line_for_each_column_with_the_count_and_the_cure():
    def score(name: str) -> Score:
        return Score(criterion=name, agent="mine", value=3, scale=Scale.of("1-5"))

    samples = [Sample(id=f"s{at}", output="x", human={"Clarity": 50 + at, "Tone": [4, 90 + at]}) for at in range(22)]
    items = [item_of(one, {"scores": (score("Clarity"), score("Tone"))}, 1.0) for one in samples]
    lines = [one.line(22) for one in summarise(items, "mine").notices.values() if one.kind == "labels-off-scale"]
    assert [line.partition(";")[0] for line in lines] == [
        f"People's labels lie off the scale on 22 of 22 samples: human.{column} is not on the scale 1-5"
        for column in ("Clarity = 50", "Tone = 90")
    ]
    assert all("by a criteria set that has it (-c FILE)" in line for line in lines)


def test_labels_that_are_no_numbers_are_counted_and_called_so():
    def of(label: float | str, **about: str) -> Item:
        sample = Sample(id="s", output="x", human={"Clarity": label}, **about)
        score = Score(criterion="Clarity", agent="mine", value=3, scale=Scale.of("1-5"))
        return item_of(sample, {"scores": (score,)}, 1.0)

    items = [*map(of, (4, "4,5", "3/5", "good", "n/a")), of("A", rival="y")]
    (line,) = [one.line(6) for one in summarise(items, "mine").notices.values() if one.agent == "human"]
    assert line == (
        "People's labels are no numbers on 3 of 6 samples: human.Clarity = '4,5' is no number: "
        "write a plain one, such as 1.5 or 4"
    )


@pytest.mark.parametrize("given", ["90,5", "80 %", "4/5"])
def test_a_figure_that_is_no_number_is_told_and_refused_by_meta(given):
    people = [given, "k. A."] if given == "90,5" else [given]
    told = [Sample(id=str(at), output="words", human={"Clarity": one}) for at, one in enumerate([*people, f"1{given}"])]
    run = jg.evaluate(graph_of(fine), told)
    assert any("is no number: write a plain one" in note.text for item in run.items for note in item.notes)
    with pytest.raises(ConfigError, match="which is no number; write plain ones"):
        jg.agreement(run)


def test_no_more_samples_are_in_flight_than_asked_for():
    most = now = 0

    async def counting(state: EvalState) -> EvalState:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return await fine(state)

    jg.evaluate(graph_of(counting), samples(20), concurrency=3)
    assert most == 3


def test_keys_outside_the_vocabulary_are_kept_as_plain_values():
    class Own(EvalState, total=False):
        mine: object

    async def node(state: Own) -> Own:
        return {"mine": {"c": CLARITY, "f": print, "l": (1, None)}}

    graph = StateGraph(Own)
    graph.add_node("judge", node)
    graph.add_edge(START, "judge")
    (item,) = jg.evaluate(graph.compile(), samples(1)).items
    assert item.other["mine"]["c"]["name"] == "Clarity"
    assert item.other["mine"]["l"] == [1, None]
    assert type(item).model_validate_json(item.line()) == item
