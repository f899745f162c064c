"""A graph has one answer per sample and criterion, whoever else scored on the way; every view gives its number."""

import json
from pathlib import Path
from statistics import fmean

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.answers import answer_keys, answers_of, lead_of, roles_of
from judgegraph.cli.main import main
from judgegraph.graphs import fennec, g_eval, sageval
from judgegraph.meta.cells import Judgements
from judgegraph.meta.judgements import read_run
from judgegraph.report.findings import _order
from judgegraph.report.sections_run import tally_of
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.runs.summary import coverage, summarise
from judgegraph.traces.read import ranked_sample
from judgegraph.types import EvalState, Rectification, Scale, Score, Scores, keyed
from judgegraph.views.run import answers

ARTICLES = list(jg.load("examples/articles.jsonl", limit=4))
PAIRS = list(jg.load("examples/pairs.jsonl", limit=4))
SUMMARY = jg.criteria_set("summary").criteria
METHODS = ("g-eval", "llm-score", "coascore", "sageval", "fusion-eval", "fennec")


def line(**nodes):
    """Nodes one after the other."""
    return wired(nodes, list(zip((START, *nodes), (*nodes, END), strict=True)))


def wired(nodes, edges):
    g = StateGraph(jg.EvalState)
    for name, node in nodes.items():
        g.add_node(name, node)
    for source, target in edges:
        g.add_edge(source, target)
    return g.compile(name="mine")


def beside(*nodes, then=None):
    """Nodes side by side, and one behind all of them."""
    named = {f"n{i}": node for i, node in enumerate(nodes)}
    edges = [(START, name) for name in named] + [(name, "then" if then else END) for name in named]
    if then is None:
        return wired(named, edges)
    return wired({**named, "then": then}, [*edges, ("then", END)])


class Read(TypedDict):
    scores: Scores


class Heard(TypedDict):
    rectifications: dict[str, Rectification]


def joined(state: Read) -> Read:
    """A user's own join: it says nothing of what it joined but that it read the scores."""
    by: dict[str, list[float]] = {}
    for score in state["scores"].values():
        by.setdefault(score.criterion, []).append(score.value or 0.0)
    made = (Score(criterion=c, agent="my-join", value=fmean(vs), scale="1-5") for c, vs in by.items())
    return {"scores": keyed(*made)}


def panel(**settings):
    return jg.panel("embedded", "g-eval", "coascore", "sageval", criteria="summary", **settings)


def critic(below: float = 3.4, **settings):
    when = {"stage": "final", "of": "panel", **settings}
    return jg.critique("devils-advocate", when=jg.low(below=below), criteria="summary", **when)


judges = [Evaluator(criteria=SUMMARY, stage="final", name=name) for name in ("a", "b", "c")]
GRAPHS = {
    "panel": (lambda: line(jury=panel()), {"panel"}),
    "panel, critic that acts": (lambda: line(jury=panel(), critique=critic()), {"devils-advocate"}),
    "panel, critic that never acts": (lambda: line(jury=panel(), critique=critic(1.001)), {"devils-advocate"}),
    "panel of drafts, nobody reviews": (lambda: line(jury=panel(stage="draft")), {"panel"}),
    "panel in a panel": (
        lambda: line(jury=jg.panel(panel(name="inner"), "g-eval", criteria="summary")), {"panel"}),
    "judges and a join of one's own": (lambda: beside(*judges, then=joined), {"my-join"}),
    "refine": (
        lambda: line(e=Evaluator(criteria=SUMMARY), r=jg.refine("devils-advocate", rounds=2, criteria="summary")),
        {"devils-advocate"}),
    "escalate to a method": (
        lambda: line(j=jg.escalate("g-eval", "sageval", when=jg.low(below=3.4), criteria="summary")), {"escalate"}),
    "each": (lambda: line(j=jg.each(Evaluator(stage="final"), criteria="summary")), {"evaluator"}),
    "drafts alone": (lambda: line(e=Evaluator(criteria=SUMMARY)), {"evaluator"}),
    "metrics beside a judge": (lambda: beside(judges[0], jg.metric_node("novelty")), {"a"}),
    "two methods side by side": (
        lambda: beside(g_eval(criteria="summary"), sageval(criteria="summary")),
        {"g-eval", "sage"}),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", GRAPHS)
def test_each_sample_and_criterion_has_one_answer_of_each_agent_that_answers(name, tmp_path):
    make, agents = GRAPHS[name]
    run = jg.evaluate(make(), ARTICLES, out=tmp_path / "run")
    for item in run.items:
        found = answers_of(item)
        assert {score.agent for score in found} == agents
        places = [(score.criterion, score.of, score.agent) for score in found]
        assert sorted(places) == sorted({(c.name, "output", agent) for c in SUMMARY for agent in agents})
    same_number_everywhere(run, tmp_path)


@pytest.mark.parametrize("method", METHODS)
def test_each_method_has_one_answer_per_criterion(method, tmp_path):
    run = jg.evaluate(registry.make("method", method, {}, criteria="summary"), ARTICLES, out=tmp_path / "run")
    for item in run.items:
        found = [score.criterion for score in answers_of(item) if score.criterion != "overall"]  # fusion-eval's own
        assert sorted(found) == sorted(c.name for c in SUMMARY)
    same_number_everywhere(run, tmp_path)


def same_number_everywhere(run, folder: Path):
    """The headline of the text, JSON, page, trace and meta, and each criterion's mean."""
    summary = run.summary()
    items = list(run.items)
    told = CliRunner().invoke(main, ["trace", str(folder / "run"), "--json"])
    listed = json.loads(told.stdout)
    text = " ".join(str(block) for block in answers(summary))
    for agent, mean in summary.headline.items():
        values = [one["by_agent"][agent] if one["by_agent"] else one["value"] for one in listed]
        assert mean.value == pytest.approx(fmean(values))
        assert f"{mean.value:.3f}" in str(summary)
        assert f"{mean.value:.3f}" in text
        assert {"agent": agent or None, "mean": mean.value, "samples": mean.samples} in summary.to_dict()["headline"]
    assert bool(summary.agents) == (len(summary.headline) > 1)
    judged = [
        item.model_copy(update={"sample": item.sample.model_copy(update={"human": {c.name: 3.0 for c in SUMMARY}})})
        for item in items
    ]
    read = read_run(Run(run.manifest, judged)).judgements
    for one in read:
        for agent, column in one.metrics.items():
            (found,) = [x for x in summary.answers.values() if (x.criterion, x.agent) == (one.criterion, agent)]
            assert found.mean == pytest.approx(fmean(float(v) for v in column))
    assert {one.criterion for one in read} == {c.name for c in SUMMARY}


def test_two_methods_that_nobody_joins_are_told_and_never_averaged(tmp_path):
    run = jg.evaluate(GRAPHS["two methods side by side"][0](), ARTICLES, out=tmp_path / "run")
    summary = run.summary()
    assert set(summary.agents) == set(summary.headline) == {"g-eval", "sage"}
    assert "2 agents answer" in str(summary)
    assert "no node joins" in " ".join(str(block) for block in answers(summary))


def test_a_panels_members_stand_as_votes_below_the_answers(tmp_path):
    graph = GRAPHS["panel, critic that acts"][0]()
    run = jg.evaluate(graph, ARTICLES, out=tmp_path / "run")
    assert len(run.summary().answers) == len(SUMMARY)
    assert {x.agent for x in run.summary().votes} == {"panel-1", "panel-g-eval", "panel-coascore", "panel-sageval"}
    rows = [row for row in run.scores() if row["id"] == ARTICLES[0].id and row["criterion"] == "Fluency"]
    assert [row["agent"] for row in rows if row["role"] == "answer"] == ["devils-advocate"]
    assert [row["agent"] for row in rows if row["role"] == "draft"] == ["panel"]
    assert {row["role"] for row in rows} == {"answer", "vote", "draft", "member"}


def test_where_a_gate_stays_closed_the_draft_is_the_answer_and_the_criterion_has_one_line():
    judge = Score(criterion="Tone", agent="judge", stage="draft", value=2.0, scale="1-5")
    last = Score(criterion="Tone", agent="critic", value=4.0, scale="1-5", draft=judge.key)
    items = [Item(sample=ARTICLES[0], scores=(judge, last)), Item(sample=ARTICLES[1], scores=(judge,), place=1)]
    summary = summarise(items, "s")
    (found,) = summary.answers.values()
    assert (found.agent, found.n, found.mean) == ("critic or judge", 2, 3.0)
    assert coverage(summary) == (1.0, "Tone")
    assert summary.agents == ()
    assert [ranked_sample(item).value for item in items] == [0.75, 0.25]


async def says_little(state: EvalState) -> Heard:
    """A critic that keeps one criterion and says nothing of the others."""
    return {"rectifications": keyed(Rectification(criterion="Fluency", agent="sage", reason="fine"))}


UNHEARD = {  # graph -> the answering agents of each criterion over the run
    "critic that skips criteria": (
        lambda: line(e=Evaluator(criteria=SUMMARY), c=says_little, r=Rectify()), {"Fluency": "sage", "": "evaluator"}),
    "a Rectify behind a gate": (
        lambda: line(
            e=Evaluator(criteria=SUMMARY), g=jg.gate(Sage(criteria=SUMMARY), jg.low(below=2.5)), r=Rectify()),
        {"": "evaluator or sage"}),
    "a critique behind a gate": (
        lambda: line(e=Evaluator(criteria=SUMMARY), g=jg.gate(critic(stage="draft", of=None), jg.low(below=2.5))),
        {"": "devils-advocate or evaluator"}),
}  # fmt: skip


@pytest.mark.parametrize("name", UNHEARD)
def test_a_skipped_final_replaces_no_scored_draft_and_all_views_agree(name, tmp_path):
    make, agents = UNHEARD[name]
    run = jg.evaluate(make(), ARTICLES, out=tmp_path / "run")
    summary = run.summary()
    assert {x.criterion: x.agent for x in summary.answers.values()} == {
        c.name: agents.get(c.name, agents[""]) for c in SUMMARY
    }
    assert all(x.n_ok == x.n == len(ARTICLES) for x in summary.answers.values())
    assert (summary.judged, summary.drafts, coverage(summary)[0]) == (len(ARTICLES), 0, 1.0)
    rows = [row for row in run.scores() if row["role"] == "answer"]
    assert {row["status"] for row in rows} == {"ok"}
    assert sorted((row["id"], row["criterion"]) for row in rows) == sorted(
        (a.id, c.name) for a in ARTICLES for c in SUMMARY
    )
    unheard = [row for row in run.scores() if row["status"] == "skipped"]
    assert {row["role"] for row in unheard} <= {"other"}
    assert ("drafts-stand" in summary.notices) == bool(unheard)
    same_number_everywhere(run, tmp_path)


def test_a_critique_behind_a_gate_is_asked_about_every_draft_and_knows_no_verdict_of_before():
    graph = line(
        e=Evaluator(criteria=SUMMARY), before=says_little,
        g=jg.gate(jg.critique(remembers, criteria="summary"), jg.low(below=3.4)),
    )  # fmt: skip
    for item in jg.evaluate(graph, ARTICLES[:1]).items:
        finals = [score for score in item.scores if score.stage == "final"]
        assert {score.criterion: score.reason for score in finals} == {c.name: "first" for c in SUMMARY}


async def remembers(state: EvalState) -> Heard:
    reason = "again" if state.get("rectifications") else "first"
    found = (s.criterion for s in state["scores"].values() if s.stage == "draft")
    return {"rectifications": keyed(*(Rectification(criterion=c, agent="remembers", reason=reason) for c in found))}


OLD = [  # of runs before votes and members were named: stages and drafts tell
    ([("a", "draft", None), ("sage", "final", 0)], [1]),
    ([("p", "ballot", None), ("q", "ballot", None), ("panel", "final", None)], [2]),
    ([("panel", "final", None), ("critic", "final", 0)], [1]),
    ([("a", "draft", None), ("c", "round-1", 0), ("c", "round-2", 1), ("c", "final", 0)], [3]),
    ([("a", "final", None), ("b", "final", None)], [0, 1]),
    ([("m", "metric", None)], []),
    ([("a", "draft", None), ("sage", "final skipped", 0)], [0]),
    ([("a", "draft failed", None), ("sage", "final skipped", 0)], [1]),
    ([("a", "draft", None), ("c", "final skipped", 0), ("d", "final skipped", 1)], [0]),
    ([("a", "draft", None), ("c", "final skipped", 0), ("d", "final", 0)], [1, 2]),  # both were to review it
    ([("panel", "final", None), ("critic", "final skipped", 0)], [0]),
    ([("a", "draft", None), ("sage", "final refused", 0)], [1]),
    ([("a", "final", 1), ("b", "final", 0)], []),  # each says that it rectifies the other: neither is told as the last
]


@pytest.mark.parametrize(("scores", "answers"), OLD)
def test_stages_and_drafts_alone_tell_the_answers_of_an_old_run(scores, answers):
    made: list[Score] = []
    for agent, stage, _ in scores:
        stage, _, status = stage.partition(" ")
        status = status.replace("failed", "unreadable") or "ok"
        value = 3.0 if status == "ok" else None
        made.append(Score(criterion="Tone", agent=agent, stage=stage, value=value, status=status, scale="1-5"))
    keys = [score.key for score in made]
    linked = [
        score.model_copy(update={"draft": None if draft is None else keys[draft]})
        for score, (_, _, draft) in zip(made, scores, strict=True)
    ]
    assert answer_keys(linked) == tuple(keys[at] for at in answers)
    item = Item.model_validate_json(Item(sample=ARTICLES[0], scores=tuple(linked)).line())
    assert [score.key for score in answers_of(item)] == [keys[at] for at in answers]
    assert set(roles_of(item)) == set(keys)


VALUES = st.lists(st.integers(1, 5), min_size=1, max_size=4)


@settings(max_examples=60)
@given(VALUES, VALUES, st.sampled_from(["final", "draft", "ballot", "own"]))
def test_a_members_rows_change_no_number_of_an_answer(answers, votes, stage):
    final = [
        Score(criterion=f"c{i}", agent="panel", value=float(v), scale="1-5", votes=(f"c{i}/m/{stage}/0",))
        for i, v in enumerate(answers)
    ]
    members = [
        Score(criterion=f"c{i}", agent="m", stage=stage, value=float(v), scale="1-5", member="m")
        for i, v in enumerate(votes)
    ]
    alone = Item(sample=ARTICLES[0], scores=tuple(final))
    whole = Item(sample=ARTICLES[0], scores=(*members, *final))
    one, other = (summarise([item], "s") for item in (alone, whole))
    assert one.headline == other.headline
    assert [(x.criterion, x.n, x.mean) for x in one.answers.values()] == [
        (x.criterion, x.n, x.mean) for x in other.answers.values()
    ]
    assert coverage(one) == coverage(other)
    assert ranked_sample(alone) == ranked_sample(whole)


def test_a_pair_has_one_verdict_of_both_orders_and_meta_can_count_it(tmp_path):
    data = tmp_path / "pairs.jsonl"
    rows = [json.loads(row) for row in Path("examples/pairs.jsonl").read_text().splitlines()[:6]]
    data.write_text("".join(json.dumps({**row, "human": {"overall": row["meta"]["better"]}}) + "\n" for row in rows))
    run = ["run", "fennec", str(data), "-s", "orders=both", "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(main, run).exit_code == 0
    for item in Run.load(tmp_path / "run").items:
        both = [c for c in item.comparisons if c.criterion == "overall" and c.order == "both"]
        assert [c.verdict for c in both] == [item.verdict]
    meta = ["meta", str(tmp_path / "run"), "--metric", "merge", "--orders", "agree", "--json"]
    found = CliRunner().invoke(main, meta)
    told = json.loads(found.stdout)["rows"]
    merged = [row for row in told if row["metric"] == "merge"]
    assert merged
    assert all("orders:agree, else tie" in row["signature"] for row in merged)
    assert not [row for row in merged if row["statistic"] in ("consistency", "accuracy-exchanged")]


AGREE = [("A", "A", "A"), ("A", "B", "tie"), ("A", "tie", "tie"), ("tie", "tie", "tie"), ("A", None, None)]


@pytest.mark.parametrize(("first", "second", "verdict"), AGREE)
def test_orders_that_differ_are_a_tie_and_one_unread_order_leaves_no_verdict(first, second, verdict):
    told = Judgements("overall", "verdict", ("1", "2"), (("A",), ("B",)), {"m": (first, "B")}, {"m": (second, "B")})
    assert told.in_one_verdict().metrics["m"] == (verdict, "B")
    assert not told.in_one_verdict().exchanged


def test_a_label_scale_on_which_nobody_answered_has_its_line():
    silent = Score(criterion="Tone", agent="a", status="abstained", scale=Scale.of(["warm", "cold"]))
    summary = summarise([Item(sample=ARTICLES[0], scores=(silent,))], "x")
    (line,) = summary.answers.values()
    assert (line.n_ok, line.n, str(line.scale)) == (0, 1, "warm / cold")


def test_of_pairs_the_verdict_is_the_answer_and_no_mean_stands_for_them():
    run = jg.evaluate(fennec(orders="both"), PAIRS[:2])
    summary = run.summary()
    assert sum(summary.verdicts.values()) == 2
    assert summary.headline == {}
    assert "mean of the answers" not in str(summary)


def avg_of_all(state: EvalState):
    return {"scores": _means(state["scores"])}


def avg_unannotated(state):
    found = state.get("scores") or {}
    return {"scores": _means(found)}


async def avg_said(state) -> EvalState:
    found = _means(state["scores"])
    return {"scores": found}


def _means(scores):
    return keyed(
        *(
            Score(criterion=c.name, agent="avg", stage="final", scale=c.scale,
                  value=fmean(s.value for s in scores.values() if s.criterion == c.name))
            for c in SUMMARY
        )
    )  # fmt: skip


@pytest.mark.parametrize("join", [avg_of_all, avg_unannotated, avg_said])
def test_a_join_that_says_little_is_the_answer_all_the_same(join):
    judges = {name: Evaluator(name=name, stage="final", criteria=SUMMARY) for name in ("one", "other")}
    summary = jg.evaluate(line(**judges, avg=join), ARTICLES).summary()
    assert {x.agent for x in summary.shown} == {"avg"}


@pytest.mark.parametrize("method", ["coascore", "checkeval", "sageval", "g-eval", "poll", "chateval"])
def test_a_method_that_reads_no_answer_judged_nothing(method, tmp_path):
    """A criterion of which the embedded judge knows no feature: aspects, ballots and drafts are no answers to it."""
    data = tmp_path / "d.jsonl"
    data.write_text('{"id": "a", "query": "When does it open?", "output": "The shop opens at nine every day."}\n')
    criteria = tmp_path / "c.yaml"
    criteria.write_text("name: own\ncriteria:\n- {name: QA, definition: Whether the desk was helped., scale: 1-5}\n")
    done = CliRunner().invoke(main, ["run", method, str(data), "-c", str(criteria)])
    read = "coverage 1.000" in done.stdout
    assert done.exit_code == (0 if read else 1), done.output
    assert ("nothing was judged: " in done.stderr) is not read


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_a_lead_is_told_by_an_exact_sign_test_of_wins_against_losses(a, b, ties):
    from scipy.stats import binomtest

    lead = lead_of({"A": a, "B": b, "tie": ties, "none": 3})
    if not a + b:
        assert lead is None
        return
    exact = binomtest(max(a, b), a + b)
    ends = exact.proportion_ci(method="wilson")
    assert lead.side == ("A" if a > b else "B" if b > a else "")
    assert (lead.won, lead.lost, lead.ties) == (max(a, b), min(a, b), ties)
    assert (lead.low, lead.high) == pytest.approx((ends.low, ends.high), abs=1e-6)
    assert lead.p == pytest.approx(exact.pvalue, rel=1e-6)


def test_a_run_of_pairs_says_which_side_is_ahead_and_rank_takes_the_sides_for_systems():
    rows = [("A", 18), ("B", 3), ("tie", 4)]
    items = [
        Item(sample=jg.Sample(id=f"{won}{at}", query="q", output="one", rival="two"), verdict=won)
        for won, many in rows for at in range(many)
    ]  # fmt: skip
    run = Run({"signature": "s", "state": "finished"}, items)
    said = "A (output) wins 18 of 21 pairs with a winner, 86 % [65 %, 95 %], sign test p 0.001; 4 ties apart"
    assert said in str(run.summary())
    assert "judged in one order alone" in str(run.summary())
    assert run.summary().to_dict()["pairs"]["lead"]["side"] == "A"
    assert said in " ".join(one.text for one in _order(tally_of(run)))
    ranked = jg.rank_systems(run, resamples=100)
    assert "A (output)" in str(ranked)
