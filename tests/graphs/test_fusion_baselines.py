"""Fusion-Eval's rows beside the method: what each asks, what alone it changes, and what it needs to be told."""

import json
import re
import sys

import pytest
from drawing import arrows, figure

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graphs import fusion_eval, g_eval, llm_score
from judgegraph.registry import VARIANTS, factory
from judgegraph.runs.identity import configuration, signature
from judgegraph.testing import scripted
from judgegraph.tools import Metric
from judgegraph.types import Criterion, Plan, Sample

BASELINE = (sys.modules["judgegraph.graphs.fusion_eval"].__doc__ or "").split("By default")[1]
SAMPLE = Sample(id="s1", source="The bridge is shut until spring.", output="The bridge is shut.")
CRITERIA = [Criterion(name="Clarity", definition="One reading only."), Criterion(name="Depth")]
WEIGHTS = {c: {"a": 3, "b": 1, "llm-score": 4, "g-eval": 4} for c in ("Clarity", "Depth")}
NAMES = [name for name, variant in VARIANTS.items() if variant.method == "fusion-eval"]
NEEDED = {name: {"weights": WEIGHTS} if "corrw" in name else {} for name in NAMES}
OURS = {c: {"rouge-l": 1, "chrf": 2, "llm-score": 1} for c in ("Coherence", "Consistency", "Fluency", "Relevance")}


def offered(log=None, about="Range: 0 to 1; higher = better"):
    """a gives 1, b gives 0; the log is who was run."""

    def giving(name, value):
        def measure(sample):
            if log is not None:
                log.append(name)
            return value

        return Metric(name=name, about=f"about {name}. {about}", measure=measure)

    return [giving("a", 1), giving("b", 0)]


def plan(**alignment):
    return {"plan": "Weigh them.", "alignment": alignment, "usage": {"a": "", "b": ""}}


def rated(value):
    return {"score": value, "reason": "r"}


async def evaluated(*replies, state=None, log=None, build=fusion_eval, **settings):
    judge = scripted(*replies)
    graph = build(judge, criteria=CRITERIA, assistants=offered(log), **settings)
    return await graph.ainvoke({"sample": SAMPLE, **(state or {})}), judge


def finals(state):
    return {s.criterion: s.value for s in state["scores"].values() if s.stage == "final"}


def asked(judge):
    return [[str(m.content) for m in call] for call in judge.calls]


async def test_an_average_asks_no_model_and_all_assistants():
    log = []
    handed = Plan(text="t", alignment={"Clarity": ("a",)})
    state, judge = await evaluated(fuse="average", log=log, state={"plan": handed})
    assert (finals(state), state["overall"]) == ({"Clarity": 3, "Depth": 3}, 3)
    assert (sorted(log), judge.calls) == (["a", "b"], [])
    assert "plan" not in state


async def test_the_selected_ask_for_the_methods_own_plan_and_for_those_that_it_names():
    log = []
    state, judge = await evaluated(plan(clarity=["a"], depth=["a"]), fuse="selected", log=log)
    assert (finals(state), log) == ({"Clarity": 5, "Depth": 5}, ["a"])
    judged = {c: {"reason": "", "score": 3} for c in ("clarity", "depth", "overall")}
    _, whole = await evaluated(plan(clarity=["a"], depth=["a"]), [judged] * 8, consult="all")
    assert asked(judge) == asked(whole)[:1]


async def test_a_plan_that_selects_none_for_a_criterion_leaves_it_undefined():
    state, _ = await evaluated(plan(clarity=["a", "b"], depth=[]), fuse="selected")
    assert (finals(state), state["overall"]) == ({"Clarity": 3, "Depth": None}, None)


async def test_the_selected_take_a_plan_that_is_handed_in():
    handed = Plan(text="t", alignment={"Clarity": ("a",), "Depth": ("b",)})
    state, judge = await evaluated(fuse="selected", plan=False, state={"plan": handed})
    assert (finals(state), judge.calls) == ({"Clarity": 5, "Depth": 1}, [])


async def test_weights_decide_how_much_each_counts():
    state, judge = await evaluated(fuse="weighted", weights=WEIGHTS)
    assert (finals(state), judge.calls) == ({"Clarity": 4, "Depth": 4}, [])


@pytest.mark.parametrize(
    ("settings", "replies", "expected"),
    [
        ({"fuse": "average"}, [], 1 + 4 * (1 + 0 + 0.5) / 3),
        ({"fuse": "selected"}, [plan(clarity=["a"], depth=["a"])], 4),
        ({"fuse": "weighted", "weights": WEIGHTS}, [], 1 + 4 * (3 + 0 + 2) / 8),
    ],
    ids=["average", "selected", "weighted"],
)
async def test_a_direct_score_is_asked_for_as_llm_score_does_and_joins_the_mean(settings, replies, expected):
    def answer(messages):
        return replies[0] if "assistant evaluators" in str(messages) else rated(3)

    state, judge = await evaluated(*[answer] * 3, direct="llm-score", **settings)
    assert finals(state) == pytest.approx({"Clarity": expected, "Depth": expected})
    direct = [s for s in state["scores"].values() if s.stage == "direct"]
    assert [(s.agent, s.value) for s in direct] == [("llm-score", 3), ("llm-score", 3)]
    alone = scripted(rated(3), rated(3))
    await llm_score(alone, criteria=CRITERIA).ainvoke({"sample": SAMPLE})
    assert sorted(asked(alone)) == sorted(call for call in asked(judge) if "assistant evaluators" not in str(call))


async def test_or_as_g_eval_does():
    state, judge = await evaluated(*["3"] * 8, fuse="average", direct="g-eval")
    alone = scripted(*["3"] * 8)
    await g_eval(alone, criteria=CRITERIA).ainvoke({"sample": SAMPLE})
    assert sorted(asked(judge)) == sorted(asked(alone))
    assert sorted(map(str, judge.asked)) == sorted(map(str, alone.asked))
    assert finals(state)["Clarity"] == pytest.approx(3)  # of 5, 1 and 3


def test_what_llm_score_asked_is_paid_for(tmp_path):
    ledger = tmp_path / "calls.sqlite"
    jg.evaluate(llm_score(), [SAMPLE], ledger=ledger)
    again = jg.evaluate(fusion_eval(fuse="average", direct="llm-score"), [SAMPLE], ledger=ledger)
    assert again.manifest["calls"]["replies"] == 0


async def test_an_assistant_that_fails_is_left_out_and_noted():
    assistants = [*offered(), Metric(name="broken", about="Range: 0 to 1; 1 is best", measure=lambda s: 1 / 0)]
    state = await fusion_eval(fuse="average", assistants=assistants, criteria=CRITERIA).ainvoke({"sample": SAMPLE})
    score = state["scores"]["Clarity/blend/final/0"]
    assert score.value == 3
    assert score.notes == ("broken: left out of the mean (agent_error: ZeroDivisionError: division by zero)",)


async def test_a_direct_judge_that_fails_leaves_the_assistants():
    state, _ = await evaluated(*["no score"] * 6, fuse="average", direct="llm-score")
    score = state["scores"]["Clarity/blend/final/0"]
    assert score.value == 3
    assert re.match(r"llm-score: left out of the mean \(unreadable: ", score.notes[0])


async def test_two_of_them_stand_in_one_graph_by_their_names():
    one, two = (fusion_eval(fuse="average", direct="llm-score", assistants=offered(), name=n) for n in ("x", "y"))
    keys = [set((await graph.ainvoke({"sample": SAMPLE}))["scores"]) for graph in (one, two)]
    assert not keys[0] & keys[1]
    assert {"Coherence/x-blend/final/0", "Coherence/x-llm-score/direct/0"} <= keys[0]


@pytest.mark.parametrize("about", ["Range: 0 or more", "how alike they are", "Range: 0 to 1"])
async def test_a_range_that_an_assistant_does_not_say_is_given_by_hand(about):
    with pytest.raises(
        ConfigError, match=r"the worst and the best value of 'a'.*lower = better.*ranges=\{'a': \[WORST, BEST\]\}"
    ):
        fusion_eval(fuse="average", assistants=offered(about=about))
    graph = fusion_eval(fuse="average", assistants=offered(about=about), ranges={"a": [2, 0], "b": (-1, 1)})
    assert (await graph.ainvoke({"sample": SAMPLE}))["overall"] == 3


def test_of_the_default_assistants_those_are_taken_whose_ends_are_known():
    taken = configuration(fusion_eval(fuse="average"))["nodes.consult.assistants"]
    assert list(taken) == ["rouge-l", "chrf"]
    more = configuration(fusion_eval(fuse="average", ranges={"length-ratio": [0, 1]}))["nodes.consult.assistants"]
    assert list(more) == ["rouge-l", "chrf", "length-ratio"]


def written(path, text):
    path.write_text(text)
    return path


def test_weights_of_a_file_are_those_of_a_mapping(tmp_path):
    settings = {"fuse": "weighted", "assistants": offered(), "criteria": CRITERIA}
    by_hand = fusion_eval(weights=WEIGHTS, **settings)
    for name in ("w.json", "w.yaml"):
        graph = fusion_eval(weights=str(written(tmp_path / name, json.dumps(WEIGHTS))), **settings)
        assert (configuration(graph), signature(graph)) == (configuration(by_hand), signature(by_hand))
    other = fusion_eval(weights=written(tmp_path / "w.json", json.dumps(WEIGHTS).replace("3", "2")), **settings)
    assert configuration(other) != configuration(by_hand)
    assert signature(other) != signature(by_hand)  # the content tells, not the name
    assert "weights:" in signature(other)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "line 1: expected criterion -> assistant -> weight, got a list"),
        ("Clarity: 3", "line 1: expected assistant -> weight, got a number (3)"),
        ("Clarity:\n  a: much", "line 2: expected a weight of 0 or more, got text (much)"),
        ("Clarity: {a: -1}", "Clarity: a: expected 0 or more, got -1.0"),
        ("Clarity: {a: .nan}", "line 1: expected a weight of 0 or more, got a number (.nan)"),
        (
            "Clarity: {a: 1, b: 1}",
            "weights: none for 'Depth'; there are for: 'Clarity'. Judge by these criteria alone (-c), or write "
            "`Depth: {}` for one that is to be skipped",
        ),
        (
            "Clarity: {a: 1, b: 1}\nDepth: {a: 1}\nClarity: {a: 2, b: 2}",
            "line 3, 'Clarity': given twice, first in line 1",
        ),
        ("Clarity: {a: 1, b: 1}\nclarity: {a: 2, b: 2}", "line 2, 'clarity': given twice, first in line 1"),
        ('{"Clarity": {"a": 1,\n"a": 2}}', "line 2, 'a': given twice, first in line 1"),
        ("[a, b]: {a: 1}", "line 1: expected criterion -> assistant -> weight, got a list for a name"),
        (f"Clarity: {{a: 1{'0' * 400}}}", "Clarity: a: expected 0 or more, got inf"),
        ("Clarity: {a: 1}\nDepth: {a: 1, b: 1}", "Clarity: no weight of 'b'; 0 leaves it out"),
        ("{", "is not well-formed"),
        ("", "is empty"),
    ],
)
def test_a_file_that_holds_no_weights_is_refused_with_the_place(text, said, tmp_path):
    path = written(tmp_path / "w.yaml", text)
    with pytest.raises(ConfigError) as error:
        fusion_eval(fuse="weighted", weights=path, assistants=offered(), criteria=CRITERIA)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"fuse": "weighted"}, "fuse='weighted' needs weights: criterion -> assistant -> 0 or more"),
        ({"fuse": "weighted", "weights": "nowhere.json"}, "weights file nowhere.json: No such file"),
        ({"fuse": "weighted", "weights": {"Clarity": 3}}, "Clarity: expected assistant -> weight, got 3"),
        ({"fuse": "weighted", "weights": {"Clarity": {"a": "x"}}}, "Clarity: a: expected 0 or more, got 'x'"),
        ({"fuse": "weighted", "weights": {"Clarity": {"a": True}}}, "Clarity: a: expected 0 or more, got True"),
        ({"fuse": "weighted", "weights": []}, "weights: expected criterion -> assistant -> weight, or a file"),
        ({"fuse": "weighted", "weights": 3}, "weights: expected criterion -> assistant -> weight, or a file"),
        ({"fuse": "weighted", "weights": {"Clarity": {"a": 10**400}}}, "Clarity: a: expected 0 or more, got 1000"),
        (
            {"fuse": "weighted", "weights": {"Clarity": {}, "clarity": {}}},
            "'clarity' is given twice, also as 'Clarity'",
        ),
        ({"fuse": "average", "weights": {}}, "weights goes with fuse='weighted', not with 'average'"),
        ({"direct": "llm-score"}, "direct goes with fuse='average', 'selected' or 'weighted', not with 'judge'"),
        ({"ranges": {"a": [0, 1]}}, "ranges goes with fuse='average', 'selected' or 'weighted', not with 'judge'"),
        ({"fuse": "average", "ranges": {"z": [0, 1]}}, "ranges: no assistant 'z'; here: a, b"),
        ({"fuse": "average", "ranges": {"a": [1, 1]}}, "ranges: a: expected [WORST, BEST], two different numbers"),
        ({"fuse": "average", "ranges": {"a": [1]}}, "ranges: a: expected [WORST, BEST]"),
        ({"fuse": "average", "ranges": {"a": "0-1"}}, "ranges: a: expected [WORST, BEST]"),
        ({"fuse": "average", "ranges": {"a": [0, float("inf")]}}, "ranges: a: expected [WORST, BEST]"),
        ({"fuse": "average", "ranges": {"a": [0, 10**400]}}, "ranges: a: expected [WORST, BEST]"),
        ({"fuse": "average", "ranges": {"a": [-1e308, 1e308]}}, "ranges: a: expected [WORST, BEST]"),
        ({"fuse": "average", "ranges": {"a": []}}, "ranges: a: expected [WORST, BEST], two different numbers, got []"),
        (
            {"fuse": "average", "ranges": {"a": None}},
            "ranges: a: expected [WORST, BEST], two different numbers, got None",
        ),
        ({"fuse": "average", "ranges": {3: [0, 1], "z": [0, 1]}}, "ranges: no assistant '3'; here: a, b"),
        ({"fuse": "average", "ranges": 3}, "ranges: expected assistant -> [WORST, BEST], got 3"),
        ({"fuse": "average", "ranges": []}, "ranges: expected assistant -> [WORST, BEST], got []"),
        ({"fuse": "average", "consult": "tools"}, "consult='tools' is the judge's"),
        ({"fuse": "mean"}, "fuse: expected 'judge', 'average', 'selected' or 'weighted', got 'mean'"),
        ({"fuse": "average", "direct": True}, "direct: expected 'llm-score', 'g-eval' or none, got True"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_wrong_setting_is_told_before_anything_is_asked(settings, said):
    with pytest.raises(ConfigError) as error:
        fusion_eval(scripted(), criteria=CRITERIA, assistants=offered(), **settings)
    assert said in str(error.value)


@pytest.mark.parametrize("ranges", [3, [], {"rouge-l": []}])
def test_wrong_ranges_beside_the_default_assistants_are_told_too(ranges):
    with pytest.raises(ConfigError, match=r"ranges: (rouge-l: )?expected"):
        fusion_eval(fuse="average", ranges=ranges)


async def test_a_criterion_with_no_weights_at_all_is_skipped_with_the_reason():
    weights = {"clarity": {"a": 1, "b": 0}, "depth": {}}
    state, _ = await evaluated(fuse="weighted", weights=weights)
    assert (finals(state), state["overall"]) == ({"Clarity": 5, "Depth": None}, None)
    assert state["scores"]["Depth/blend/final/0"].reason == "no weights are given for it"


@pytest.mark.parametrize("key", ["llm-score", "x-llm-score"])
async def test_a_direct_score_of_a_named_graph_is_weighted_by_either_name(key):
    weights = {c: {"a": 0, "b": 1, key: 1} for c in ("Clarity", "Depth")}
    state, _ = await evaluated(*[rated(3)] * 2, fuse="weighted", weights=weights, direct="llm-score", name="x")
    assert finals(state) == {"Clarity": 2, "Depth": 2}


@pytest.mark.parametrize("within", ["here", "."])
async def test_weights_of_a_graph_file_lie_beside_it(within, tmp_path, monkeypatch):
    folder = tmp_path / within
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path)
    written(folder / "w.json", json.dumps(OURS))
    node = "{use: fusion-corrw, with: {weights: w.json}}"
    path = written(folder / "g.yaml", f"name: mine\nnodes: {{a: {node}}}\nedges: [start -> a, a -> end]\n")
    state = await jg.load_graph(path).ainvoke({"sample": SAMPLE})
    assert finals(state)["Coherence"] is not None
    assert "weights:" in signature(jg.load_graph(path))
    (folder / "w.json").unlink()
    with pytest.raises(ConfigError, match=r"weights file .*w\.json: No such file"):
        jg.load_graph(path)


def test_the_baseline_is_the_figure_of_the_docstring():
    assert arrows(fusion_eval(fuse="selected", direct="llm-score")) == figure(BASELINE)
    without = {arrow for arrow in figure(BASELINE) if "plan" not in arrow and "direct" not in arrow}
    assert arrows(fusion_eval(fuse="average")) == without | {"__start__ > consult"}


@pytest.mark.parametrize("name", NAMES)
async def test_each_row_is_wired_and_scores_without_a_key(name):
    weights = {"weights": OURS} if "corrw" in name else {}
    graph = factory(name)(**weights)
    found = jg.check(graph)
    assert (found.ok, list(found.findings)) == (True, [])
    state = await graph.ainvoke({"sample": SAMPLE})
    values = {c: v for c, v in finals(state).items() if v is not None}
    assert {"Coherence", "Consistency", "Relevance"} <= set(values)
    assert all(1 <= value <= 5 for value in values.values())


@pytest.mark.parametrize("name", NAMES)
def test_a_row_is_the_method_with_its_settings_and_no_other(name):
    more = {"criteria": CRITERIA, "assistants": offered(), **NEEDED[name]}
    by_name, by_hand = factory(name)(**more), fusion_eval(**VARIANTS[name].settings, **more)
    assert (configuration(by_name), signature(by_name)) == (configuration(by_hand), signature(by_hand))
    assert configuration(by_name) != configuration(fusion_eval(criteria=CRITERIA, assistants=offered()))


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_a_row_holds(name):
    graph = factory(name)(criteria=CRITERIA, assistants=offered(), **NEEDED[name])
    samples = [SAMPLE, SAMPLE.model_copy(update={"id": "s2", "output": "It is closed."})]
    forecast, run = jg.plan(graph, samples), jg.evaluate(graph, samples)
    lowest, _, highest = forecast.total.rest
    made = run.manifest["calls"]["replies"]
    assert forecast.total.exact + lowest <= made <= forecast.total.exact + highest
    assert forecast.own_code == ()


def test_settings_are_read_from_the_command_line(tmp_path):
    from click.testing import CliRunner

    from judgegraph.cli import main

    path = written(tmp_path / "w.json", json.dumps(OURS))
    done = CliRunner().invoke(main, ["check", "fusion-corrw", "-s", f"weights={path}"])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["check", "fusion-avg", "-s", "ranges={length-ratio: [0, 1]}"])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["check", "fusion-corrw"])
    assert done.exit_code == 1
    assert "judgegraph meta RUN --assistants --weights-out weights.json" in done.output
