"""The recording of a run: every journey is whole, says what was done, and changes nothing that comes of it."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from small import fine, samples

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.panel import CriticPanel
from judgegraph.agents.sage import Rectify
from judgegraph.errors import DataError
from judgegraph.graphs import coascore, fennec, fusion_eval, g_eval, llm_score, sageval
from judgegraph.runs.run import Run
from judgegraph.trace.record import SPANS, RecordedTrace, line_at, lines, recorded_trace, recorded_traces
from judgegraph.traces.read import node_times, ranked_samples
from judgegraph.types import Criterion, EvalState, Sample, Score, keyed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SLACK = 0.003  # milliseconds: times are rounded to the microsecond
CRITERIA = [Criterion(name="Clarity", definition="It is clear."), Criterion(name="Depth", definition="It is deep.")]


def line(**nodes: Any) -> Any:
    """A graph of nodes one after the other."""
    made = StateGraph(EvalState)
    for name, node in nodes.items():
        made.add_node(name, node)
    for before, after in zip([START, *nodes], [*nodes, END], strict=True):
        made.add_edge(before, after)
    return made.compile(name="line")


def composed() -> Any:
    pair = jg.panel("embedded", "llm-score", criteria=CRITERIA)
    return line(
        panel=pair, gate=jg.gate(jg.metric_node("novelty"), jg.low(below=5, stage="final")),
        escalate=jg.escalate("embedded", "embedded", when=jg.low(below=5), criteria=CRITERIA),
        each=jg.each(Evaluator(name="alone"), criteria=CRITERIA),
        refine=jg.refine("devils-advocate", rounds=2, criteria=CRITERIA, of="alone"),
    )  # fmt: skip


def critics() -> Any:
    panel = CriticPanel(critics=("sage", "devils-advocate"), criteria=CRITERIA)
    return line(evaluate=Evaluator(criteria=CRITERIA), critique=panel, rectify=Rectify())


def assisted() -> Any:
    asked = jg.as_assistant(llm_score(criteria=CRITERIA), about="From 1 to 5; high is good", name="inner")
    return line(metrics=jg.metric_node(asked, "length-ratio"))


METHODS = {
    "fusion-eval": (lambda: fusion_eval(), "articles.jsonl"),
    "fennec": (lambda: fennec(), "pairs.jsonl"),
    "coascore": (lambda: coascore(), "articles.jsonl"),
    "sageval": (lambda: sageval(criteria="forms"), "forms.jsonl"),
    "g-eval": (lambda: g_eval(criteria="summary"), "articles.jsonl"),
    "llm-score": (lambda: llm_score(criteria="summary"), "articles.jsonl"),
}
GRAPHS = METHODS | {
    "composed": (composed, "articles.jsonl"),
    "critic panel": (critics, "articles.jsonl"),
    "graph assistant": (assisted, "articles.jsonl"),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Each graph over two samples."""
    found = {}
    for name, (build, data) in GRAPHS.items():
        given = list(jg.load(EXAMPLES / data))[:2]
        found[name] = jg.evaluate(build(), given, out=tmp_path_factory.mktemp("runs") / "run")
    return found


def told(run: Run | Path) -> list[RecordedTrace]:
    path = run if isinstance(run, Path) else run.folder.path
    return list(recorded_traces(path / SPANS))


@pytest.mark.parametrize("name", GRAPHS)
def test_every_item_has_a_journey_that_ended_as_it_did(runs: dict[str, Run], name: str):
    statuses = {item.id: item.status for item in runs[name].items}
    assert {one.sample: one.spans[0].status for one in told(runs[name])} == statuses
    assert set(statuses.values()) == {"ok"}


@pytest.mark.parametrize("name", GRAPHS)
def test_what_was_done_for_another_lies_within_it(runs: dict[str, Run], name: str):
    for one in told(runs[name]):
        for span in one.spans[1:]:
            around = one.spans[span.parent]
            assert span.start >= around.start - SLACK
            assert span.start + span.ms <= around.start + around.ms + SLACK, (span, around)


@pytest.mark.parametrize("name", METHODS)
def test_what_the_nodes_wrote_is_what_the_item_holds(runs: dict[str, Run], name: str):
    for item in runs[name].items:
        root = runs[name].trace(item.id).root
        wrote = {score.key for step in root.walk() if step.kind == "node" for score in step.scores}
        assert wrote == {score.key for score in item.scores}
        assert wrote or name == "fennec"


@pytest.mark.parametrize("name", GRAPHS)
def test_every_call_that_was_paid_for_has_a_span_with_what_was_asked_and_answered(runs: dict[str, Run], name: str):
    steps = [step for item in runs[name].items for step in runs[name].trace(item.id).root.walk()]
    calls = [step for step in steps if step.kind == "model"]
    assert sum(step.about["from"] == "paid" for step in calls) == runs[name].manifest["calls"]["ledger"]["paid"]
    for step in calls:
        roles = [role for role, text in step.messages if text]
        assert roles in (["system", "user"], ["user"], ["system", "user", "assistant", "user"])
        assert [bool(text) for text in step.replies] == [True] * step.about.get("n", 1)
        assert step.about["place"]


PLACES = {
    "fusion-eval": {"plan", "consult", "consult/ask", "consult/call", "judge"},
    "coascore": {"chain", "chain/propose", "chain/rate", "chain/fuse"},
    "fennec": {"branch", "weigh", "weigh/guide", "weigh/compare", "merge"},
    "composed": {
        "panel",
        "gate",
        "escalate",
        "each",
        "refine",
        "panel/panel-1",
        "panel/panel-llm-score",
        "panel/consensus",
    },
    "graph assistant": {"metrics", "metrics/score"},
}


@pytest.mark.parametrize("name", PLACES)
def test_nodes_within_nodes_are_told_with_their_place(runs: dict[str, Run], name: str):
    one = told(runs[name])[0]
    assert {one.node_path(span) for span in one.spans if span.kind == "node"} >= PLACES[name]


def test_a_fan_out_has_a_span_for_each_branch(runs: dict[str, Run]):
    one = told(runs["fennec"])[0]
    weighs = [span for span in one.spans if span.kind == "node" and span.name == "weigh"]
    guides = {span.parent for span in one.spans if span.kind == "node" and span.name == "guide"}
    assert len(weighs) == 5
    assert guides == {span.id for span in weighs}


def test_an_agent_stands_below_its_node_with_its_judge_prompt_and_reader(runs: dict[str, Run]):
    root = runs["sageval"].trace(next(runs["sageval"].items).id).root
    node = root.steps[0]
    (agent,) = node.steps
    assert (node.kind, agent.kind, agent.name) == ("node", "agent", "Evaluator")
    assert agent.about["judge"] == "embedded"
    assert agent.about["prompt"].startswith("evaluate@")
    assert agent.about["reader"].startswith("weighted")
    assert [call.kind for call in agent.steps] == ["model"]


def test_the_critics_of_a_panel_are_told_apart(runs: dict[str, Run]):
    one = told(runs["critic panel"])[0]
    agents = {span.name: span for span in one.spans if span.kind == "agent"}
    assert len(agents) == 2
    below = Counter(span.parent for span in one.spans if span.kind == "model")
    assert all(below[span.id] == 1 and one.node_path(span) == "critique" for span in agents.values())


def test_assistants_are_told_with_their_values_and_a_graph_with_its_nodes(runs: dict[str, Run]):
    run = runs["graph assistant"]
    item = next(run.items)
    tools = {step.name: step for step in run.trace(item.id).root.walk() if step.kind == "tool"}
    assert {name: step.about["value"] for name, step in tools.items()} == {f.assistant: f.value for f in item.findings}
    assert [step.kind for step in tools["inner"].walk()].count("model") == len(CRITERIA)
    assert tools["length-ratio"].steps == ()


@pytest.mark.parametrize("name", METHODS)
def test_results_are_the_same_to_the_byte_with_and_without_spans(runs: dict[str, Run], name: str, tmp_path: Path):
    build, data = GRAPHS[name]
    plain = jg.evaluate(build(), list(jg.load(EXAMPLES / data))[:2], out=tmp_path / "plain", trace=False)
    runs[name].export(tmp_path / "with.jsonl")
    plain.export(tmp_path / "without.jsonl")
    assert (tmp_path / "with.jsonl").read_bytes() == (tmp_path / "without.jsonl").read_bytes()
    assert not (tmp_path / "plain" / SPANS).exists()
    assert plain.trace(next(plain.items).id).root is None


def test_the_file_is_its_owners_alone(runs: dict[str, Run]):
    assert os.stat(runs["sageval"].folder.path / SPANS).st_mode & 0o777 == 0o600


def test_spans_hold_no_word_of_what_was_judged_or_said(runs: dict[str, Run]):
    for name in METHODS:
        spans = (runs[name].folder.path / SPANS).read_text()
        for item in runs[name].items:
            texts = [item.sample.query, item.sample.output, item.sample.source, *(s.reason for s in item.scores)]
            texts += [note.text for note in item.notes]
            for text in texts:
                said = text if isinstance(text, str) else json.dumps(text)
                pieces = [said[at : at + 24] for at in range(0, len(said) - 24, 24)]
                assert not [piece for piece in pieces if piece in spans]


async def test_a_run_in_memory_has_no_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    run = await jg.aevaluate(line(judge=fine), samples(1))
    (tmp_path / SPANS).write_text('{"id":"s0","t":1,"spans":[[0,null,"graph","another",0,1,"ok",{}]]}\n')
    found = run.trace("s0")
    assert (found.root, found.attempts, found.item.id) == (None, 0, "s0")
    assert str(found) == "s0: ok\nno spans were recorded"


# What a node may be


def plain(state: EvalState) -> EvalState:
    return {"scores": keyed(Score(criterion="Clarity", agent="plain", value=3))}


class Callable_:
    async def __call__(self, state: EvalState) -> EvalState:
        return await fine(state)


KINDS: dict[str, Any] = {
    "an async function": fine,
    "a plain function": plain,
    "an object": Callable_(),
    "a runnable": RunnableLambda(plain),
    "a chain of runnables": RunnableLambda(lambda state: state) | RunnableLambda(plain),
    "a graph": line(inner=fine),
    "a graph in a graph": line(middle=line(inner=plain)),
}


@pytest.mark.parametrize("node", KINDS.values(), ids=KINDS)
def test_whatever_a_node_is_it_runs_and_is_told(node: Any, tmp_path: Path):
    run = jg.evaluate(line(judge=node), samples(2), out=tmp_path / "run")
    assert [len(item.scores) for item in run.items] == [1, 1]
    for one in told(run):
        assert [span.status for span in one.spans] == ["ok"] * len(one.spans)
        outer = next(span for span in one.spans if span.kind == "node")
        assert (outer.name, outer.about["reads"]["sample"]) == ("judge", None)
        assert outer.about["writes"]["scores"] in (["Clarity/a/final/0"], ["Clarity/plain/final/0"])


def test_graphs_within_are_told_node_by_node(tmp_path: Path):
    run = jg.evaluate(line(judge=KINDS["a graph in a graph"]), samples(1), out=tmp_path / "run")
    one = told(run)[0]
    places = [one.node_path(span) for span in one.spans if span.kind == "node"]
    assert places == ["judge", "judge/middle", "judge/middle/inner"]


def test_a_member_that_raises_is_contained_and_told(tmp_path: Path):
    async def broken(state: EvalState) -> EvalState:
        raise RuntimeError("no")

    pair = jg.panel({"good": "embedded", "bad": line(inner=broken)}, criteria=CRITERIA)
    given = list(jg.load(EXAMPLES / "articles.jsonl"))[:1]
    run = jg.evaluate(line(panel=pair), given, out=tmp_path / "run")
    (one,) = told(run)
    failed = {one.node_path(span): span.status for span in one.spans if span.status != "ok"}
    assert {"/".join(place.split("/")[:2]) for place in failed} == {"panel/bad"}
    assert next(run.items).status == "ok"


# What goes wrong


def test_a_node_that_fails_is_told_with_its_error_and_a_graph_around_it_too(tmp_path: Path):
    async def broken(state: EvalState) -> EvalState:
        raise ValueError("a long\nstory")

    run = jg.evaluate(line(outer=line(inner=broken)), samples(1), out=tmp_path / "run")
    one = told(run)[0]
    assert [span.status for span in one.spans] == ["agent_error"] * 3
    assert one.spans[2].about["error"] == "ValueError: a long story"


def test_what_was_cut_off_by_the_clock_is_closed(tmp_path: Path):
    import asyncio

    async def slow(state: EvalState) -> EvalState:
        await asyncio.sleep(30)
        return {}

    run = jg.evaluate(line(outer=line(inner=slow)), samples(2), out=tmp_path / "run", timeout=0.2)
    for one in told(run):
        assert [span.status for span in one.spans] == ["timeout"] * 3
        assert all(150 < span.ms < 5000 for span in one.spans)


def test_keys_of_your_own_are_counted_and_not_named(tmp_path: Path):
    class Own(EvalState, total=False):
        mine: dict[str, str]

    async def judge(state: Own) -> Own:
        return {"mine": {"a secret text": "x"}, "overall": 2.5, "notes": keyed(jg.types.Note(agent="a", text="secret"))}

    made = StateGraph(Own)
    made.add_node("judge", judge)
    made.add_edge(START, "judge")
    made.add_edge("judge", END)
    run = jg.evaluate(made.compile(name="own"), samples(1), out=tmp_path / "run")
    assert told(run)[0].spans[1].about["writes"] == {"mine": 1, "overall": 2.5, "notes": 1}
    assert "secret" not in (tmp_path / "run" / SPANS).read_text()


def test_an_unknown_sample_is_refused_with_what_is_near(runs: dict[str, Run]):
    with pytest.raises(
        DataError, match=r"no sample 'mill-bridge.s'; did you mean 'mill-bridge.s2' or 'mill-bridge.s1'\?"
    ):
        runs["coascore"].trace("mill-bridge.s")


# The file


def test_a_torn_last_line_is_dropped_wherever_it_broke(runs: dict[str, Run], tmp_path: Path):
    whole = (runs["graph assistant"].folder.path / SPANS).read_bytes()
    first = whole.index(b"\n") + 1
    for end in range(first, len(whole)):
        (tmp_path / SPANS).write_bytes(whole[:end])
        assert len(list(recorded_traces(tmp_path / SPANS))) == 1
    (tmp_path / SPANS).write_bytes(whole)
    assert len(list(recorded_traces(tmp_path / SPANS))) == 2


BAD_LINES = [
    b"{}", b"[]", b"null", b"\xff\xfe", b'{"id":"s1","t":1,"spans":[]}', b"[" * 100_000,
    b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"ok"]]}',
    b'{"id":"s1","t":1,"spans":[[0,null,"none","g",0,1,"ok",{}]]}',
    b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"ok",{}],[1,1,"node","n",0,1,"ok",{}]]}',
    b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"ok",{}],[2,0,"node","n",0,1,"ok",{}]]}',
    b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"ok",{}],[1,null,"node","n",0,1,"ok",{}]]}',
    b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1e999,"ok",{}]]}',
    b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"ok",{"item_ms":NaN}]]}',
    b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,["ok"],{}]]}',
    *(b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"ok",{}],[1,0,"model","m",0,1,"ok",{%s}]]}' % about
      for about in (b'"prompt_tokens":1' + b"0" * 29, b'"requests":"2"', b'"completion_tokens":-1', b'"usd":"3"',
                    b'"n":[2]')),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_damaged_line_is_passed_over(bad: bytes, tmp_path: Path):
    good = b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"ok",{}]]}'
    (tmp_path / SPANS).write_bytes(b"\n".join([good, bad, good, b""]))
    assert [one.sample for one in recorded_traces(tmp_path / SPANS)] == ["s1", "s1"]


def test_a_run_that_goes_on_closes_a_torn_line_and_adds_behind_it(tmp_path: Path):
    jg.evaluate(line(judge=fine), samples(2), out=tmp_path / "run")
    with (tmp_path / "run" / SPANS).open("ab") as file:
        file.write(b'{"id":"s9","t":1,"sp')
    run = jg.evaluate(line(judge=fine), samples(4), out=tmp_path / "run")
    assert {one.sample for one in told(run)} == {f"s{n}" for n in range(4)}


class Moody:
    """Fails for some samples, until it is told better."""

    def __init__(self) -> None:
        self.fails: set[str] = set()
        self.worse: set[str] = set()

    @property
    def graph(self) -> Any:
        async def judge(state: EvalState) -> EvalState:
            id = state["sample"].id
            if id in self.fails:
                raise ValueError(f"failed {sorted(self.fails)}")
            if id in self.worse:
                return {"scores": keyed(Score(criterion="Clarity", agent="a", status="unreadable"))}
            return await fine(state)

        return line(judge=judge)


def test_of_a_retried_sample_the_last_journey_that_was_kept_stands(tmp_path: Path):
    moody = Moody()
    moody.worse = {"s1"}
    jg.evaluate(moody.graph, samples(2), out=tmp_path / "run")
    moody.fails = {"s1"}
    run = jg.evaluate(moody.graph, samples(2), out=tmp_path / "run", retry_failed=True)
    worse = run.trace("s1")
    assert (worse.attempts, worse.root.status, worse.item.status) == (2, "ok", "ok")
    moody.fails, moody.worse = set(), set()
    run = jg.evaluate(moody.graph, samples(2), out=tmp_path / "run", retry_failed=True)
    better = run.trace("s1")
    assert (better.attempts, [score.value for score in better.root.steps[0].scores]) == (3, [3.0])
    assert run.trace("s0").attempts == 1


def test_a_status_that_is_none_of_ours_is_an_error_of_the_agent():
    line = b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"the judged text",{}]]}'
    assert recorded_trace(line).spans[0].status == "agent_error"


NO_LINES = {
    "a start too large": '[0,null,"graph","g",1%s,1,"ok",{}]' % ("0" * 400),
    "a start near the end of time": '[0,null,"graph","g",1e300,1,"ok",{}]',
    "ms that are a text": '[0,null,"graph","g",0,"nan","ok",{}]',
    "ms below 0": '[0,null,"graph","g",0,-5,"ok",{}]',
    "a start that is a truth": '[0,null,"graph","g",true,1,"ok",{}]',
    "writes that are a list": '[0,null,"graph","g",0,1,"ok",{"writes":[1]}]',
    "names that are none": '[0,null,"graph","g",0,1,"ok",{"writes":{"scores":[{}]}}]',
    "names in lists": '[0,null,"graph","g",0,1,"ok",{"writes":{"scores":[["a"]]}}]',
}


@pytest.mark.parametrize("kind", NO_LINES)
def test_a_line_that_no_view_could_show_holds_no_journey(kind: str):
    assert recorded_trace(f'{{"id":"s1","t":1,"spans":[{NO_LINES[kind]}]}}'.encode()) is None


@pytest.mark.parametrize("began", ["1e300", '"inf"', "1" + "0" * 400, "-1", "null"])
def test_a_journey_that_began_at_no_time_is_none(began: str):
    row = '[0,null,"graph","g",0,1,"ok",{}]'
    assert recorded_trace(f'{{"id":"s1","t":{began},"spans":[{row}]}}'.encode()) is None
    assert recorded_trace(f'{{"id":"s1","t":1.5,"spans":[{row}]}}'.encode()) is not None


def test_a_line_without_an_end_in_sight_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("judgegraph.trace.record.LONGEST", 200)
    good = b'{"id":"s1","t":1,"spans":[[0,null,"graph","g",0,1,"ok",{}]]}\n'
    (tmp_path / SPANS).write_bytes(good + b"x" * 1000 + good + good)
    found = list(lines(tmp_path / SPANS))
    assert found == [(0, good), (1000 + 2 * len(good), good)]
    assert line_at(tmp_path / SPANS, found[1][0]) == good


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "link to nothing"])
def test_spans_that_are_no_regular_file_are_refused_in_a_line(kind: str, tmp_path: Path):
    run = jg.evaluate(line(judge=fine), samples(1), out=tmp_path / "run")
    path = tmp_path / "run" / SPANS
    path.unlink()
    {
        "folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "device": lambda: path.symlink_to("/dev/zero"),
        "link to nothing": lambda: path.symlink_to(tmp_path / "nothing"),
    }[kind]()  # fmt: skip
    said = "cannot be read: No such file" if kind == "link to nothing" else "is not a regular file"
    for read in (lambda: run.trace("s0"), lambda: list(ranked_samples(run)), lambda: node_times(run)):
        with pytest.raises(DataError, match=said):
            read()
    if kind != "link to nothing":
        with pytest.raises(jg.ConfigError, match=r"directory|not a regular file"):
            jg.evaluate(line(judge=fine), samples(2), out=tmp_path / "run")


# An attempt without spans


def test_a_journey_of_an_earlier_attempt_is_not_told_of_a_later_items_scores(tmp_path: Path):
    moody = Moody()
    moody.worse = {"s0", "s1"}
    jg.evaluate(moody.graph, samples(2), out=tmp_path / "run")
    moody.worse = {"s0"}
    run = jg.evaluate(moody.graph, samples(2), out=tmp_path / "run", retry_failed=True, trace=False)
    found = run.trace("s1")
    assert (found.root, found.attempts, found.item.scores[0].value) == (None, 1, 3.0)
    assert found.untraced == found.to_dict()["untraced"] == "the last attempt was not recorded"
    assert "the last attempt was not recorded" in str(found)
    assert "The last attempt was not recorded" in found._repr_html_()
    moody.worse = set()
    run = jg.evaluate(moody.graph, samples(2), out=tmp_path / "run", retry_failed=True)
    assert run.trace("s0").root.steps[0].scores[0].value == 3.0


def test_the_journey_that_an_item_came_of_stands_though_a_later_one_was_written(tmp_path: Path):
    run = jg.evaluate(line(judge=fine), samples(1), out=tmp_path / "run")
    path = tmp_path / "run" / SPANS
    told = json.loads(path.read_text())
    told["spans"][0][7]["item_ms"] += 1  # of a process that was killed before it wrote its item
    told["spans"][0][3] = "later"
    with path.open("a") as file:
        file.write(json.dumps(told, separators=(",", ":")) + "\n")
    found = run.trace("s0")
    assert (found.root.name, found.attempts) == ("line", 2)


@pytest.mark.parametrize(("status", "wrote", "fits"), [
    ("ok", ["Clarity/a/final/0"], True), ("ok", ["Depth/a/final/0"], False), ("timeout", [], False),
])  # fmt: skip
def test_an_older_journey_fits_an_item_that_ended_so_and_holds_what_it_wrote(
    status: str, wrote: list[str], fits: bool, tmp_path: Path
):
    run = jg.evaluate(line(judge=fine), samples(1), out=tmp_path / "run")
    spans = [
        [0, None, "graph", "line", 0, 1, status, {}],
        [1, 0, "node", "n", 0, 1, "ok", {"writes": {"scores": wrote}}],
    ]
    (tmp_path / "run" / SPANS).write_text(
        json.dumps({"id": "s0", "t": 1, "spans": spans}, separators=(",", ":")) + "\n"
    )
    assert (run.trace("s0").root is not None) == fits


# Redaction


def test_a_redacted_run_keeps_no_prompt_and_no_error(tmp_path: Path):
    async def judge(state: EvalState) -> EvalState:
        await jg.ask("embedded", f"Is this good? {state['sample'].output}")
        raise ValueError(state["sample"].output)

    given = [Sample(id="s1", output="a canary sings in the morning")]
    run = jg.evaluate(line(judge=judge), given, out=tmp_path / "run", redact=("texts",))
    root = run.trace("s1").root
    (call,) = [step for step in root.walk() if step.kind == "model"]
    assert (call.messages, len(call.replies), "error" in root.steps[0].about) == ((), 1, False)
    assert b"canary" not in (tmp_path / "run" / SPANS).read_bytes()
    ledger = b"".join(path.read_bytes() for path in (tmp_path / "run").glob("ledger.sqlite*"))
    assert b"canary" not in ledger
    assert b"Is this good?" not in ledger


def test_without_redaction_the_prompt_is_kept(tmp_path: Path):
    async def judge(state: EvalState) -> EvalState:
        await jg.ask("embedded", f"Is this good? {state['sample'].output}")
        return {}

    run = jg.evaluate(line(judge=judge), [Sample(id="s1", output="a canary sings")], out=tmp_path / "run")
    (call,) = [step for step in run.trace("s1").root.walk() if step.kind == "model"]
    assert call.messages == (("user", "Is this good? a canary sings"),)


def test_a_redacted_view_hides_every_text_and_keeps_the_numbers(runs: dict[str, Run]):
    for name, run in runs.items():
        item = next(run.items)
        found = run.trace(item.id, redact=True)
        shown = json.dumps(found.to_dict(), ensure_ascii=False)
        bare = run.trace(item.id)
        texts = [text for step in bare.root.walk() for _, text in step.messages]
        texts += [text for step in bare.root.walk() for text in step.replies]
        texts += [score.reason for score in item.scores] + [note.text for note in item.notes]
        texts += [f"{value}" for value in (item.sample.query, item.sample.output, item.sample.source) if value]
        assert not [text for text in texts if len(text) > 12 and json.dumps(text, ensure_ascii=False)[1:-1] in shown]
        assert [s.value for s in found.item.scores] == [s.value for s in item.scores], name
        assert [step.ms for step in found.root.walk()] == [step.ms for step in bare.root.walk()]
        assert "[redacted, " in shown
