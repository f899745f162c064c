"""What the page says of scores, critics and unfinished runs is so."""

import json
import re
from pathlib import Path

import pytest
from langgraph.graph import END, START, StateGraph
from report_runs import one_node

import judgegraph as jg
from judgegraph.errors import DataError
from judgegraph.graphs import llm_score, sageval
from judgegraph.meta.agreement import THIN as THIN_WORDS
from judgegraph.meta.critic import CriticOf, MeanGain, critic_worth
from judgegraph.report.answers import mean_intervals
from judgegraph.report.page import facts
from judgegraph.report.samples import WHOLE
from judgegraph.report.sections_run import tally_of
from judgegraph.runs.item import Item
from judgegraph.runs.summary import LowestScores, headlines
from judgegraph.traces.read import ranked_sample, top
from judgegraph.types import Note
from judgegraph.views.critic import split_verdict
from judgegraph.views.run import answers_grid
from judgegraph.views.trace import rows_of

SCALE = jg.Scale.of("1-5")


def score(criterion: str, agent: str, value: float | None, draft: jg.Score | None = None, **about) -> jg.Score:
    stage, key = ("draft", None) if draft is None else ("final", draft.key)
    status = "ok" if value is not None else "unreadable"
    return jg.Score(criterion=criterion, agent=agent, stage=stage, value=value, scale=SCALE, draft=key, status=status,
                    **about)  # fmt: skip


def said(agent: str, criterion: str = "Depth") -> jg.Rectification:
    return jg.Rectification(criterion=criterion, agent=agent, reason=f"{agent} on {criterion}")


J1, J2 = score("Depth", "j1", 4), score("Depth", "j2", 2)
F1, F2 = score("Depth", "c1", 1, J1), score("Depth", "c2", 2, J2)


@pytest.mark.parametrize(
    ("scores", "critics", "want"),
    [
        ([J1, J2, F1, F2], ["c1", "c2"], [["c1 on Depth"], ["c2 on Depth"]]),
        ([J1, F1], ["c1"], [["c1 on Depth"]]),
        ([J1, F1], ["warm", "strict", "c1"], [["warm on Depth", "strict on Depth", "c1 on Depth"]]),  # a panel
        ([J1, J2, F1, F2], ["panel"], [[], []]),
        ([J1, F1, score("Depth", "c2", 3, F1)], ["c1", "c2"], [["c1 on Depth", "c2 on Depth"], ["c1 on Depth"]]),
        ([J1, F1, J2], ["c1"], [["c1 on Depth"], []]),  # a draft that nobody reviewed
    ],
)
def test_a_critics_reason_stands_at_the_score_it_speaks_of(scores: list, critics: list[str], want: list[list[str]]):
    item = Item(sample=jg.Sample(id="s", output="o"), scores=tuple(scores),
                rectifications=(*map(said, critics), said("c1", "Tone")))  # fmt: skip
    assert [[text.text for _, text in row.why] for row in rows_of(item, WHOLE[0])[0]] == want


def reviewed_run(folder: Path) -> jg.Run:
    async def judge(state: jg.EvalState) -> jg.EvalState:
        draft = score("Depth", "evaluator", 4, reason="It goes deep.")
        kept = said("sage").model_copy(update={"reason": "That is so."})
        final = draft.model_copy(update={"stage": "final", "agent": "sage", "draft": draft.key})
        return {"scores": {s.key: s for s in (draft, final)}, "rectifications": {kept.key: kept}}

    return jg.evaluate(one_node("judge", judge), [jg.Sample(id=str(n), output="o") for n in range(3)], out=folder)


def test_all_samples_tell_the_evaluators_reason_before_the_critics(tmp_path: Path):
    page = jg.write_report(reviewed_run(tmp_path / "run"), tmp_path / "run.html").read_text()
    every = re.sub(r"<[^>]+>", "", page[page.index('id="list-all"') :])
    assert every.count("evaluator: It goes deep.; sage keeps it: That is so.") == 3


def test_a_link_to_a_sample_leads_into_its_fold(tmp_path: Path):
    page = jg.write_report(reviewed_run(tmp_path / "run"), tmp_path / "run.html").read_text()
    assert '<div class="within" id="s0">' in page
    assert 'href="#s0"' in page
    assert "all 3 samples are folded until they are opened" in page


def test_draft_and_final_are_means_of_the_same_samples(tmp_path: Path):
    drafts, finals = [4, 2, 5, None], [3, 2, None, 1]

    async def judge(state: jg.EvalState) -> jg.EvalState:
        place = int(state["sample"].id)
        draft = score("Depth", "evaluator", drafts[place])
        return {"scores": {s.key: s for s in (draft, score("Depth", "sage", finals[place], draft))}}

    run = jg.evaluate(one_node("judge", judge), [jg.Sample(id=str(n), output="o") for n in range(4)])
    summary = run.summary()
    grid = answers_grid(summary, summary.shown, {})
    told = dict(zip(grid.head, grid.rows[0], strict=True))
    assert (told["draft"], told["score"], told["n ok"]) == ("3.00 > 2.50 (n 2)", "2.00", "3/4")


@pytest.mark.parametrize("state", ["running", "stopped", "over_budget"])
def test_an_unfinished_run_is_not_told_as_a_whole_one(tmp_path: Path, state: str):
    run = jg.evaluate(sageval(criteria="forms"),
                      list(jg.load(Path(__file__).resolve().parents[2] / "examples/forms.jsonl"))[:2],
                      out=tmp_path / "run")  # fmt: skip
    whole, path = dict(facts(run, run.summary(), 0)), tmp_path / "run/manifest.json"
    assert "State" not in whole
    told = json.loads(path.read_text()) | {"state": state}
    told["samples"] |= {"total": 5}
    if state == "running":
        told |= {"spent": {}, "calls": {}}
    path.write_text(json.dumps(told))
    run = jg.Run.load(tmp_path / "run")
    found = dict(facts(run, run.summary(), 0))
    why = {"running": "; its process is gone", "stopped": "", "over_budget": "; its budget is spent"}[state]
    assert found["State"] == f"unfinished: 2 of 5 samples done{why}"
    assert found["Samples"] == "2 judged of 5"
    old = jg.Run({**run.manifest, "samples": {}}, (), run.folder)
    assert dict(facts(old, run.summary(), 0))["Samples"] == "2 judged of 2 that came to an end"
    assert found["Coverage"] == f"{whole['Coverage']}, of those that came to an end"
    for name in ("Cost", "Model calls", "Tokens"):
        assert found[name] == (f"at least {whole[name]}" if state == "running" else whole[name])


def test_who_is_uncertain_is_named():
    scores = [jg.Score(criterion=name, agent="a", value=3, scale=SCALE, distribution=shares)
              for name, shares in (("Sure", {"3": 1.0}), ("Torn", {"1": 0.5, "5": 0.5}))]  # fmt: skip
    found = ranked_sample(Item(sample=jg.Sample(id="s", output="o"), scores=tuple(scores)))
    assert (found.doubt, found.doubt_criterion) == (1.0, "Torn")


def test_two_critics_of_one_graph_keep_their_reasons(tmp_path: Path):
    """As a run has it: who reviews whom is told by the scores alone."""

    def node(*written: object):
        async def write(state: jg.EvalState) -> jg.EvalState:
            found = {"scores": {}, "rectifications": {}}
            for one in written:
                found["scores" if isinstance(one, jg.Score) else "rectifications"][one.key] = one
            return found

        return write

    graph = StateGraph(jg.EvalState)
    for name, parts in (("judges", (J1, J2)), ("critics", (F1, F2, said("c1"), said("c2")))):
        graph.add_node(name, node(*parts))
    graph.add_edge(START, "judges")
    graph.add_edge("judges", "critics")
    graph.add_edge("critics", END)
    run = jg.evaluate(graph.compile(name="two"), [jg.Sample(id="s", output="o")], out=tmp_path / "run")
    page = re.sub(r"<[^>]+>", "", jg.write_report(run, tmp_path / "run.html").read_text())
    every = page[page.index("All samples") :]
    assert re.search(r"Depth \(c1\) 4 → 1 ▼ +c1 keeps it: c1 on Depth\n", every)
    assert re.search(r"Depth \(c2\) 2 +c2 keeps it: c2 on Depth\n", every)


@pytest.mark.parametrize("redact", [(), ("texts",)])
def test_a_page_grouped_by_a_column_has_the_intervals_of_one_whose_samples_call_it_group(redact, tmp_path: Path):
    def page(key: str, group: str | None) -> str:
        data = [
            jg.Sample(
                id=str(n), source="The bridge is shut.", output="It is shut. " * (n + 1), meta={key: f"d{n // 3}"}
            )
            for n in range(12)
        ]
        run = jg.evaluate(llm_score(criteria="summary"), data, out=tmp_path / f"{key}-{group}")
        return jg.write_report(run, tmp_path / "p.html", redact=redact, group=group).read_text()

    def intervals(text: str) -> list[str]:
        return re.findall(r"\[-?\d\.\d\d, -?\d\.\d\d\]", text)

    named, plain, chosen = page("group", None), page("document", None), page("document", "document")
    assert intervals(named) == intervals(chosen) != intervals(plain)
    assert "meta.document of each sample (--group)" in chosen
    assert "(--group): drawn" not in named
    with pytest.raises(DataError, match=r"sample '0' has no 'doc' in its meta, to group by; known: document"):
        jg.write_report(tmp_path / "document-None", tmp_path / "q.html", group="doc")


def plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def page(items: list[Item], folder: Path, **manifest) -> str:
    run = jg.Run({"signature": "m", "state": "finished", "method": "m", **manifest}, tuple(items))
    jg.write_report(run, folder / "page.html")
    return (folder / "page.html").read_text(encoding="utf-8")


def test_pairs_without_an_answer_stand_apart_from_those_that_are_alike(tmp_path: Path):
    def one(at: int) -> Item:
        sample = jg.Sample(id=f"p{at}", output="t " * 20, rival="u " * 20, human={"overall": "AB"[at % 2]})
        return Item(sample=sample, verdict="A" if at < 12 else None, place=at)

    html = page([one(at) for at in range(20)], tmp_path)
    assert "n 12; alike in 6 of 12 (50 %); 8 without an answer; " in html


THIN = (Note(agent="sample", text="the output is empty: no score of it can be trusted", kind="text-empty"),)


def test_what_gives_nothing_to_judge_is_left_out_alike_on_the_page_and_on_the_terminal(tmp_path: Path):
    def one(at: int) -> Item:
        sample = jg.Sample(id=f"s{at}", output="t " * 20, human={"Depth": at % 5 + 1})
        mine = score("Depth", "j", at % 5 + 1, J1).model_copy(update={"draft": None})
        return Item(sample=sample, scores=(mine,), place=at)

    items = [one(at) for at in range(15)]
    worst = one(15).model_copy(update={"notes": THIN, "scores": (score("Depth", "j", 1),)})
    told = plain(page([*items, worst], tmp_path))
    run = jg.Run({"signature": "m", "state": "finished"}, (*items, worst))
    (headline,) = headlines(run.summary())
    assert "without them" in headline
    assert headline in told
    (note,) = [note for note in jg.agreement(run, coefficients=("spearman", "kendall-b")).notes if THIN_WORDS in note]
    assert note in told
    assert THIN_WORDS not in plain(page(items, tmp_path))


def test_the_lowest_score_is_of_one_sample_on_the_page_and_in_the_list(tmp_path: Path):
    def pair(at: int, mine: float, other: float) -> Item:
        both = (score("Depth", "j", mine), score("Depth", "j", other).model_copy(update={"of": "rival"}))
        sample = jg.Sample(id=f"p{at}", output="t " * 20, rival="u " * 20)
        return Item(sample=sample, scores=both, verdict="A", place=at)

    pairs = [pair(0, 3, 5), pair(1, 4, 2), pair(2, 5, 5)]
    singles = [Item(sample=jg.Sample(id=f"s{at}", output="t " * 20), scores=(score("Depth", "j", value),), place=at,
                    notes=THIN if at == 0 else ()) for at, value in enumerate((1, 3, 2))]  # fmt: skip
    for items, first in ((pairs, "p1"), (singles, "s2")):
        run = jg.Run({"signature": "m", "state": "finished"}, tuple(items))
        low = LowestScores(3)
        for one in items:
            low.add(one)
        assert top(run, "score", 3)[0].id == low.found()[0].item.id == first


def test_a_few_criteria_of_the_samples_own_have_a_row_each_and_many_are_counted_together(tmp_path: Path):
    def one(at: int, many: int) -> Item:
        own = {str(k): jg.Criterion(name=f"Own {(at + k) % many}") for k in range(3)}
        scores = tuple(score(each.name, "j", 3) for each in own.values())
        sample = jg.Sample(id=f"s{at}", output="t " * 20)
        return Item(sample=sample, branches=own, scores=scores, place=at)

    few = plain(page([one(at, 5) for at in range(30)], tmp_path))
    assert all(f"Own {k}" in few.split("Scores", 2)[2] for k in range(5))
    assert "(written for each sample)" not in few
    many = plain(page([one(at, 60) for at in range(60)], tmp_path))
    assert "taken together here: 180 scores of 60 samples, by each criterion of each sample" in many
    assert "95 % interval is from" not in many


def test_statistics_that_say_different_things_of_a_critic_are_told_together(tmp_path: Path):
    """By Pearson's r one far outlier decides; ranks do not see it."""

    def one(at: int) -> Item:
        people = float(at % 4 + 1)
        draft = score("Depth", "j", people)
        final = score("Depth", "c", people if at % 4 else 3.0 if at % 8 else people, draft)
        return Item(sample=jg.Sample(id=f"s{at}", output="t " * 20, human={"Depth": people}),
                    scores=(draft, final), place=at)  # fmt: skip

    run = jg.Run({"signature": "m", "state": "finished", "method": "m"}, tuple(one(at) for at in range(40)))
    here = jg.write_report(run, tmp_path / "page.html").read_text(encoding="utf-8")
    worth = critic_worth(run)
    assert worth is not None
    gains = {gain.statistic: gain for gain in worth.critics[0].gains}
    for name in ("pearson", "spearman"):  # the page draws what meta draws
        assert f"[{gains[name].low:+.3f}, {gains[name].high:+.3f}]".replace("-", "−") in here.replace("-", "−")
    assert '<th scope="col" class="n">p</th>' not in here  # one place has tests, and it is meta


@pytest.mark.parametrize(("means", "split"), [((0.1, 0.2), False), ((-0.1, 0.2), True)])
def test_a_split_verdict_is_told_only_where_statistics_differ(means, split):
    found = {name: MeanGain(value, value - 0.05, value + 0.05)
             for name, value in zip(("pearson", "spearman"), means, strict=True)}  # fmt: skip
    critic = CriticOf("c", "j/draft", 9, (), {}, {}, (), found, None)
    told = split_verdict(critic)
    assert (told is not None) == split
    if told:
        assert told == ("statistics differ: by Pearson's correlation (-0.100 [-0.150, -0.050]) it took them further; "
                        "by rank correlation (+0.200 [+0.150, +0.250]) it brought them closer")  # fmt: skip


def test_the_scores_of_both_orders_are_drawn_with_their_sample():
    """Else an interval of a pair's scores is too narrow: the two orders say nearly the same."""

    def one(at: int, orders: int) -> Item:
        mine = tuple(score("Depth", "j", at % 4 + 1).model_copy(update={"repeat": k}) for k in range(orders))
        sample = jg.Sample(id=f"p{at}", output="t " * 20, rival="u " * 20)
        return Item(sample=sample, scores=mine, verdict="A", place=at)

    once, twice = (
        mean_intervals(tally_of(jg.Run({"signature": "m"}, tuple(one(at, orders) for at in range(12)))))
        for orders in (1, 2)
    )
    assert once == twice
