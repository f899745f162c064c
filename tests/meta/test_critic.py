"""What a critic did to a run's scores, what it was worth, and what that cost."""

import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.graphs import sageval
from judgegraph.meta.agreement import agreement
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import CriticWorth, Gain, Pair, critic_worth, gains, mean_gain, point_of, repeats
from judgegraph.prompts.criteria import criteria_set
from judgegraph.report.findings import rectification
from judgegraph.runs.evaluate import critic_nodes
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.stats.agreement import cohen_kappa
from judgegraph.types import Rectification, Sample, Scale, Score, Suggestion
from judgegraph.views.blocks import grids
from judgegraph.views.critic import critic_worth as laid_out
from judgegraph.views.terminal import show

pytestmark = pytest.mark.slow

FAST = Conventions(resamples=200, permutations=200)
SCALE, TONES = Scale.of("1-5"), Scale.of(["calm", "angry"])
CLARITY = jg.Criterion(name="Clarity")
SUMMARIES = [
    Sample(
        id=f"s{i}", output=f"{text} {i}.", source="The cat sat on the mat. It was red and it liked fish.",
        human={"coherence": i % 4 + 1}, meta={"group": f"g{i // 3}", "system": f"m{i % 3}"},
    )
    for i, text in enumerate(["The cat sat.", "A red cat liked fish, and it sat there.", "Dogs.", "It. It. It."] * 3)
]  # fmt: skip


def pair(draft, final, criterion="Clarity", reason="said", *, critic="sage", scale=SCALE, notes=(), status="ok"):
    """A draft and its final."""
    kind = "label" if isinstance(draft, str) else "value"
    first = Score(
        criterion=criterion, agent="evaluator", stage="draft", scale=scale, reason="a b c d e", **{kind: draft}
    )
    about = {
        "criterion": criterion,
        "agent": critic,
        "scale": scale,
        "draft": first.key,
        "reason": reason,
        "notes": notes,
    }
    last = Score(**about, status=status) if final is None else Score(**about, **{kind: final})
    return [first, last]


def run_of(*scores, human=(), suggestions=(), manifest=None, rectifications=()):
    """A run in memory; the n-th sample has the n-th list of scores and the n-th human labels."""
    items = [
        Item(
            sample=Sample(id=f"s{i}", output="o", human=human[i] if i < len(human) else {}), scores=tuple(found),
            suggestions=tuple(suggestions[i]) if i < len(suggestions) else (), rectifications=tuple(rectifications),
        )
        for i, found in enumerate(scores)
    ]  # fmt: skip
    return Run({"signature": "x", **(manifest or {})}, items)


def only(worth: CriticWorth | None) -> dict:
    assert worth is not None
    (critic,) = json.loads(json.dumps(worth.to_dict()))["critics"]
    return critic


def test_a_run_without_a_critic_has_nothing_to_tell():
    assert critic_worth(run_of([Score(criterion="Clarity", agent="a", value=3)])) is None


def test_moves_are_counted_as_in_the_table_of_the_paper():
    moves = [(4, 2), (4, 3), (3, 3), (2, 5), (5, 5)]
    advice = [Suggestion(kind="definition", criterion="clarity", definition="d", agent="sage")]
    row = only(critic_worth(run_of(*(pair(*move) for move in moves), suggestions=[advice, advice * 2])))["criteria"][0]
    assert (row["n"], row["down"], row["up"], row["changed"], row["relabelled"]) == (5, 2, 1, 3, 0)
    assert (row["mean_down"], row["mean_up"], row["changed_share"]) == (1.5, 3.0, 0.6)
    assert row["echo_share"] == 0.4
    assert row["definitions"] == 2  # samples, however often one of them says it


def test_the_distribution_before_and_after_is_the_figure_of_the_paper():
    found = only(critic_worth(run_of(pair(4.4, 3), pair(4.5, 2.4), pair(5, 5))))["distribution"]
    assert [(row["point"], row["draft"], row["final"]) for row in found] == [
        ("1", 0, 0), ("2", 0, 1), ("3", 0, 1), ("4", 1, 0), ("5", 2, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "scale", "point"),
    [
        (1, "1-5", "1"), (5, "1-5", "5"), (4.5, "1-5", "5"), (-0.4, "-1-1", "0"), (0.95, "0-1 any", "0.8 to 1"),
        (0, "0-100", "0 to 20"), (100, "0-100", "80 to 100"), ("calm", ["calm", "angry"], "calm"),
    ],
)  # fmt: skip
def test_an_answer_is_counted_at_a_point_of_its_scale(answer, scale, point):
    assert point_of(answer, Scale.of(scale)) == point


def test_labels_that_change_go_neither_up_nor_down():
    found = only(
        critic_worth(run_of(pair("calm", "angry", "Tone", scale=TONES), pair("calm", "calm", "Tone", scale=TONES)))
    )
    row = found["criteria"][0]
    assert (row["n"], row["relabelled"], row["up"], row["down"]) == (2, 1, 0, 0)
    assert [(d["point"], d["draft"], d["final"]) for d in found["distribution"]] == [("angry", 0, 1), ("calm", 2, 1)]


@pytest.mark.parametrize(
    ("reason", "same"),
    [("A b, c D!", True), ("a b c d x", True), ("a b c x y", False), ("a a a a a", False), ("", False)],
)
def test_a_reason_repeats_the_draft_where_four_in_five_of_its_words_stand_there(reason, same):
    assert repeats(reason, "a b c d e") is same


def test_what_the_critic_said_itself_is_held_against_the_draft_not_what_the_final_took_over():
    scores = pair(3, 3, reason="a b c d e")  # a kept final without words of the critic has the draft's
    silent = Rectification(criterion="Clarity", agent="sage", action="keep", reason="")
    row = only(critic_worth(run_of(scores, rectifications=[silent])))["criteria"][0]
    assert (row["echo_share"], row["reasons"], row["repeated_share"]) == (1.0, 0, None)
    spoken = only(critic_worth(run_of(scores)))["criteria"][0]
    assert (spoken["reasons"], spoken["repeated_share"]) == (1, 1.0)


def test_what_the_critic_did_not_see_or_failed_at_is_no_echo():
    note = ("the critic was not asked: nothing was in doubt",)
    unread = Score(criterion="Clarity", agent="evaluator", stage="draft", status="refused")
    lost = [unread, unread.model_copy(update={"agent": "sage", "stage": "final", "draft": unread.key})]
    row = only(critic_worth(run_of(pair(3, 3, notes=note), pair(3, None, status="timeout"), lost, pair(4, 3))))[
        "criteria"
    ][0]
    assert (row["n"], row["changed"], row["not_asked"], row["failed"], row["unread_drafts"]) == (1, 1, 1, 1, 1)


def test_new_criteria_are_counted_by_sample_under_their_critic():
    new = Suggestion(kind="criterion", criterion="Creativity", definition="d", agent="sage")
    found = only(critic_worth(run_of(pair(3, 3), pair(3, 2), pair(3, 2), suggestions=[[new, new], [], [new]])))
    assert found["new_criteria"] == {"Creativity": 2}


def test_a_critic_that_changes_nothing_has_a_difference_of_exactly_nothing():
    rng = np.random.default_rng(3)
    drafts, human = rng.uniform(1, 5, 40), [{"clarity": float(x)} for x in rng.uniform(1, 5, 40)]
    for level in ("dataset", "group", "system"):
        run = run_of(*(pair(x, x) for x in drafts), human=human)
        for i, item in enumerate(run.items):
            item.sample.meta.update({"group": str(i // 4), "system": str(i % 8)})
        rows = only(critic_worth(run, Conventions(level=level, resamples=100, permutations=100)))["agreement"]
        assert len(rows) == 3
        for row in rows:
            assert (row["difference"], row["low"], row["high"], row["p"], row["p_corrected"]) == (0, 0, 0, 1, 1), level
    (table,) = [
        grid for grid in grids(laid_out(critic_worth(run, Conventions(resamples=100)))) if "statistic" in grid.head
    ]
    assert {"p", "corrected"}.isdisjoint(table.head), "a p of 1.000 reads like a test of something"
    assert {row[table.head.index("difference")] for row in table.rows} == {"unmoved"}


def test_a_critic_that_sees_what_people_see_is_worth_something_and_one_that_guesses_is_not():
    rng = np.random.default_rng(1)
    truth = rng.uniform(1, 5, 120)
    noisy = np.clip(truth + rng.normal(0, 1.5, 120), 1, 5)
    finals = {
        "Clarity": np.clip(truth + rng.normal(0, 0.2, 120), 1, 5),
        "Flow": np.clip(noisy + rng.normal(0, 0.1, 120), 1, 5),
    }
    scores = [[s for name, column in finals.items() for s in pair(noisy[i], column[i], name)] for i in range(120)]
    human = [{"Clarity": float(x), "flow": float(x)} for x in truth]
    rows = only(critic_worth(run_of(*scores, human=human), FAST))["agreement"]
    found = {(row["criterion"], row["statistic"]): row for row in rows}
    better, same = found["Clarity", "pearson"], found["Flow", "pearson"]
    assert better["after"] - better["before"] == pytest.approx(better["difference"])
    assert 0 < better["low"] < better["difference"] < better["high"]
    assert better["p"] < 0.02 < 0.05 < same["p"]
    assert better["p_corrected"] == pytest.approx(2 * better["p"])  # Holm over two criteria
    assert same["low"] < 0 < same["high"] or abs(same["difference"]) < 0.02
    assert better["before"] == pytest.approx(np.corrcoef(noisy, truth)[0, 1])


def test_of_labels_the_items_that_one_side_has_right_are_tested_exactly():
    right = [("calm", "angry")] * 1 + [("angry", "calm")] * 6 + [("calm", "calm")] * 3  # people say calm
    run = run_of(*(pair(*p, "Tone", scale=TONES) for p in right), human=[{"tone": ["calm", "calm", "angry"]}] * 10)
    accuracy, kappa = only(critic_worth(run, FAST))["agreement"]
    assert (accuracy["before"], accuracy["after"], accuracy["difference"]) == (0.4, 0.9, 0.5)
    assert accuracy["p"] == pytest.approx(2 * (1 + 7) / 2**7)  # McNemar, 6 against 1
    assert accuracy["low"] < 0.5 < accuracy["high"] <= 1.1  # of ten items: they may reach 0
    assert (kappa["statistic"], kappa["difference"], kappa["low"]) == ("kappa", 0, None)  # people say one label
    assert "all resamples are alike" in kappa["note"]


def test_kappa_has_an_interval_and_a_p_as_accuracy_has():
    sides = [("angry", "calm")] * 9 + [("calm", "angry")] * 2
    pairs = [Pair(("calm",), *side, None, None) for side in sides] + [
        Pair(("angry",), "angry", "angry", None, None)
    ] * 9
    accuracy, kappa = gains("Tone", pairs, FAST)
    said, drafts, finals = zip(*((p.human[0], p.draft, p.final) for p in pairs), strict=True)
    assert (kappa.before, kappa.after) == pytest.approx((cohen_kappa(said, drafts), cohen_kappa(said, finals)))
    assert kappa.low < kappa.difference < kappa.high
    assert kappa.p == pytest.approx(accuracy.p, abs=0.05)


@pytest.mark.parametrize(("unreadable", "n"), [("drop", 3), ("zero", 4)])
def test_what_the_critic_lost_counts_as_the_conventions_say(unreadable, n):
    run = run_of(
        pair(1, 2),
        pair(2, 4),
        pair(5, 3),
        pair(3, None, status="timeout"),
        human=[{"Clarity": i} for i in (1, 2, 3, 4)],
    )
    rows = only(critic_worth(run, Conventions(unreadable=unreadable, resamples=50)))["agreement"]
    assert {row["n"] for row in rows} == {n}


def test_a_level_that_the_samples_cannot_follow_is_said_and_no_number():
    run = run_of(pair(1, 2), pair(2, 4), pair(5, 3), human=[{"Clarity": i} for i in (1, 2, 3)])
    row = only(critic_worth(run, Conventions(level="group")))["agreement"][0]
    assert row["difference"] is None
    assert "meta.group" in row["note"]


@pytest.mark.parametrize(
    "critic", [None, "critic-panel", "devils-advocate", "self-reflection"], ids=lambda name: name or "sage"
)
def test_the_calls_of_each_critic_are_its_own(critic, tmp_path):
    run = jg.evaluate(sageval(criteria="summary", critic=critic), SUMMARIES[:4], out=tmp_path / "run")
    run = Run.load(tmp_path / "run")
    found = only(critic_worth(run, FAST))
    assert found["cost"]["nodes"] == ["critique"]
    bills = run.manifest["calls"]["by_node"]
    assert found["cost"]["calls"] == bills["critique"]["calls"] > 0
    assert sum(bill["calls"] for bill in bills.values()) == run.manifest["spent"]["calls"]
    for name in ("prompt_tokens", "completion_tokens"):
        assert sum(bill[name] for bill in bills.values()) == run.manifest["spent"][name]
        assert found["cost"][name] == bills["critique"][name]


def chain():
    """An evaluator, a critic in rounds, and a second critic over what came of them."""
    criteria = criteria_set("summary").criteria
    graph = StateGraph(jg.EvalState)
    graph.add_node("evaluate", Evaluator(criteria=criteria))
    graph.add_node("refine", jg.refine("sage", rounds=3, criteria="summary"))
    graph.add_node("second", jg.critique("critic-panel", criteria="summary", of="sage", stage="final"))
    for one, other in ((START, "evaluate"), ("evaluate", "refine"), ("refine", "second"), ("second", END)):
        graph.add_edge(one, other)
    return graph.compile(name="chain")


def test_critics_in_a_row_and_in_rounds_are_told_apart():
    graph = chain()
    assert critic_nodes(graph) == {"sage": ["refine/critic"], "critic-panel": ["second/critic"]}
    run = jg.evaluate(graph, SUMMARIES[:4])
    first, second = critic_worth(run, FAST).critics
    assert (first.critic, first.reviewed) == ("sage", "evaluator/draft")
    assert (second.critic, second.reviewed) == ("critic-panel", "sage/final")
    assert first.rounds[1][0] == 16
    assert all(changed <= n for n, changed in first.rounds.values())
    assert second.rounds == {}
    moved = Counter(s.criterion for item in run.items for s in item.scores if s.stage == "final" and s.agent == "sage")
    assert {r.criterion: r.n for r in first.reviews} == dict(moved)
    assert first.cost.calls == run.manifest["calls"]["by_node"]["refine/critic"]["calls"]


def test_replies_that_a_ledger_had_count_as_much_as_paid_ones_would(tmp_path):
    graph, ledger = sageval(criteria="summary"), tmp_path / "ledger"
    paid = only(critic_worth(jg.evaluate(graph, SUMMARIES, ledger=ledger), FAST))["cost"]
    again = only(critic_worth(jg.evaluate(graph, SUMMARIES, ledger=ledger), FAST))["cost"]
    assert (paid["calls"], paid["found"], again["calls"], again["found"]) == (12, 0, 12, 12)
    assert again["prompt_tokens"] is None  # nothing was paid for here, so nobody knows
    more = [*SUMMARIES, SUMMARIES[0].model_copy(update={"id": "new", "output": "A cat sat somewhere."})]
    run = jg.evaluate(graph, more, ledger=ledger)
    mixed = only(critic_worth(run, FAST))["cost"]
    assert (mixed["calls"], mixed["found"]) == (13, 12)
    assert mixed["prompt_tokens"] == run.manifest["calls"]["by_node"]["critique"]["prompt_tokens"] * 13


def test_a_run_that_goes_on_adds_up_what_its_processes_paid(tmp_path):
    graph = sageval(criteria="summary")
    jg.evaluate(graph, SUMMARIES[:2], out=tmp_path / "run")
    run = jg.evaluate(graph, SUMMARIES[:3], out=tmp_path / "run")
    bill = run.manifest["calls"]["by_node"]["critique"]
    assert (bill["calls"], bill["found"]) == (3, 0)


def test_money_is_told_where_the_price_is_known_and_only_there():
    table = {
        "by_node": {"critique": {"calls": 4, "prompt_tokens": 100, "completion_tokens": 20, "usd": 0.5, "unpriced": 0}}
    }
    manifest = {"critics": {"sage": ["critique"]}, "calls": table}
    scores = [pair(x, y) for x, y in ((1, 1), (4, 2), (2, 3), (3, 4), (5, 5))] * 8
    human = [{"Clarity": x} for x in (1, 2, 3, 4, 5)] * 8
    found = only(critic_worth(run_of(*scores, human=human, manifest=manifest), FAST))
    gained = found["mean_gain"]["pearson"]["value"]
    assert found["per_point"]["pearson"]["usd"] == pytest.approx(0.5 / (gained / 0.01))
    assert found["per_point"]["pearson"]["calls"] == pytest.approx(4 / (gained * 100))
    table["by_node"]["critique"]["unpriced"] = 1
    assert only(critic_worth(run_of(*scores, human=human, manifest=manifest), FAST))["cost"]["usd"] is None


@pytest.mark.parametrize(
    "manifest",
    [{}, {"critics": {}}, {"critics": [], "calls": 3}, {"critics": {"sage": ["c"]}, "calls": {"by_node": "x"}}],
)
def test_a_manifest_that_does_not_tell_costs_is_no_error(manifest):
    assert only(critic_worth(run_of(pair(3, 4), manifest=manifest)))["cost"] is None


def test_the_section_is_printed_inert_and_says_what_there_is_to_say(capsys):
    rich = [pair(1, 2, "Cla\x1b[31mrity[bold]"), pair(4, 3, "Cla\x1b[31mrity[bold]"), pair(5, None, status="timeout")]
    labels = [{"Cla\x1b[31mrity[bold]": 2}, {"Cla\x1b[31mrity[bold]": 3}]
    show(laid_out(critic_worth(run_of(*rich, human=labels), FAST)))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "1 score (failed) counts nowhere above" in out
    assert "does not tell" in out
    show(laid_out(critic_worth(jg.evaluate(sageval(criteria="summary"), SUMMARIES), FAST)))
    out = capsys.readouterr().out
    assert "critic sage over evaluator/draft, 12 samples" in out
    assert "12 calls" in out
    assert "50 % of the run's paid calls" in out
    assert "mean gain, pearson" in out
    assert "intervals draw whole groups" in out
    assert re.search(r"mean gain, pearson: [-+]?[\d.]+ \[.*\]; (not told from 0|a point)", out)


def test_a_number_that_is_undefined_is_null_and_not_nan():
    run = run_of(pair(3, 3), pair(3, 3), human=[{"Clarity": 1}, {"Clarity": 2}])
    text = json.dumps(critic_worth(run).to_dict(), allow_nan=False)
    assert not math.isnan(json.loads(text)["critics"][0]["agreement"][0]["n"])


def test_what_was_not_escalated_is_no_echo_of_the_strong_judge():
    criteria = criteria_set("summary").criteria
    graph = jg.escalate("embedded", "embedded", criteria=criteria, when=jg.low(1.5))
    finals = [s for item in jg.evaluate(graph, SUMMARIES[:4]).items for s in item.scores if s.stage == "final"]
    (critic,) = critic_worth(jg.evaluate(graph, SUMMARIES[:4]), FAST).critics
    assert critic.reviewed == "escalate-cheap/draft"
    assert (critic.to_dict()["critic"], critic.to_dict()["stronger_judge"]) == (None, critic.critic)
    kept = sum(any(note.startswith("not escalated") for note in s.notes) for s in finals)
    assert sum(r.not_asked for r in critic.reviews) == kept > 0
    assert sum(r.n for r in critic.reviews) == len(finals) - kept


def of_effects(rng, count=25):
    """Groups that the critic makes better or worse as a whole, by the toss of a coin: on average it does nothing."""
    for group in range(count):
        moved = ("angry", "calm") if rng.random() < 0.5 else ("calm", "angry")
        for _ in range(8):
            yield Pair(("calm",), *(moved if rng.random() < 0.5 else ("calm", "calm")), str(group), None)
            yield Pair(("angry",), "angry", "angry", str(group), None)


def test_labels_of_whole_groups_are_swapped_together_so_that_chance_is_not_taken_for_a_gain():
    conventions = Conventions(resamples=60, permutations=200)
    found = [gains("Tone", list(of_effects(np.random.default_rng(seed))), conventions) for seed in range(60)]
    for place in (0, 1):  # accuracy, kappa
        assert sum(pair[place].p < 0.05 for pair in found) <= 8  # McNemar's by items: about 19
        assert {(pair[place].units, pair[place].unit) for pair in found} == {(25, "group")}


def test_a_group_of_one_sample_each_is_tested_as_single_samples_are():
    sides = [("angry", "calm")] * 9 + [("calm", "angry")] * 2
    alone, grouped = (
        gains("Tone", [Pair(("calm",), *side, name and str(i), None) for i, side in enumerate(sides)], FAST)[0].p
        for name in (None, "group")
    )
    assert grouped == pytest.approx(alone, abs=0.05)


@pytest.mark.parametrize("labels", [True, False])
def test_one_group_has_no_interval_and_p_says_why_it_is_one(labels, capsys):
    kind = {1: "calm", 2: "angry", 3: "sad"} if labels else {1: 1, 2: 2, 3: 3}
    rows = [(1, 1, 2), (2, 1, 2), (1, 2, 1), (3, 1, 3)] * 3
    scale = Scale.of(["calm", "angry", "sad"]) if labels else SCALE
    run = run_of(
        *(pair(kind[draft], kind[final], "Tone", scale=scale) for _, draft, final in rows),
        human=[{"Tone": kind[said]} for said, *_ in rows],
    )
    for item in run.items:
        item.sample.meta["group"] = "one"
    worth = critic_worth(run, FAST)
    for row in only(worth)["agreement"]:
        assert (row["low"], row["high"], row["p"]) == (None, None, 1.0)
        assert "no interval" in row["note"]
        assert "p cannot fall below 1" in row["note"]
    show(laid_out(worth))
    out = " ".join(capsys.readouterr().out.split())
    assert "p cannot fall below 1" in out
    assert "no interval" in out


def test_few_groups_are_said_to_be_few():
    run = run_of(*(pair(i % 4 + 1, (i + i // 7) % 4 + 1) for i in range(20)),
                 human=[{"Clarity": i % 4 + 1} for i in range(20)])  # fmt: skip
    for i, item in enumerate(run.items):
        item.sample.meta["group"] = str(i % 4)
    note = only(critic_worth(run, FAST))["agreement"][0]["note"]
    assert "4 groups" in note
    assert "p cannot fall below 0.125" in note


def test_at_group_level_only_groups_with_both_sides_are_compared():
    rng, pairs = np.random.default_rng(0), []
    for group in range(20):
        for _ in range(5):
            said = int(rng.integers(1, 6))
            noisy = int(np.clip(said + rng.integers(-2, 3), 1, 5))
            draft, final = (said, said) if group < 4 else (3, noisy)  # drafts are constant in 16 groups
            pairs.append(Pair((said,), draft, final, str(group), None))
    (found,) = gains("Clarity", pairs, Conventions(level="group", coefficients=("pearson",), resamples=200))
    assert (found.difference, found.p, found.units, found.n) == (0.0, 1.0, 4, 20)
    assert "groups compared: 4 of 20" in found.note
    as_zero = Conventions(level="group", constant="zero", coefficients=("pearson",), resamples=200)
    assert gains("Clarity", pairs, as_zero)[0].units == 20  # a constant group is 0 then, and compares


def test_a_critic_over_two_judges_is_paid_for_once(capsys):
    def both(i):
        drafts = [Score(criterion="Clarity", agent=name, stage="draft", value=i * 2 % 5 + 1) for name in ("a", "b")]
        finals = [
            Score(criterion="Clarity", agent="sage", stage="final", value=i % 5 + 1, draft=d.key, repeat=r)
            for r, d in enumerate(drafts)
        ]
        return [*drafts, *finals]

    bill = {"calls": 40, "prompt_tokens": 4000, "completion_tokens": 400, "usd": 1.0}
    manifest = {"critics": {"sage": ["critique"]}, "calls": {"by_node": {"critique": bill}}}
    run = run_of(*map(both, range(20)), human=[{"Clarity": i % 5 + 1} for i in range(20)], manifest=manifest)
    worth = critic_worth(run, FAST)
    first, second = worth.to_dict()["critics"]
    assert (first["cost"]["calls"], second["cost"]) == (40, None)
    assert first["cost_together"] == second["cost_together"] == ["a/draft", "b/draft"]
    assert (first["per_point"], second["per_point"]) == ({}, {})
    show(laid_out(worth))
    out = capsys.readouterr().out
    assert out.count("40 calls") == 1
    assert "over a/draft and b/draft together" in out


@pytest.mark.parametrize("shared", [False, True])
def test_a_run_that_goes_on_after_its_budget_costs_what_one_in_one_go_does(shared, tmp_path):
    samples = [s.model_copy(update={"output": "The same."}) if shared and i > 7 else s for i, s in enumerate(SUMMARIES)]
    graph = sageval(criteria="summary", critic="critic-panel")  # several calls a sample: it is stopped amid them
    whole = critic_worth(jg.evaluate(graph, samples, out=tmp_path / "whole"), FAST)
    states = []
    for calls in (16, 21, 31, None):
        budget = jg.Budget(calls=calls) if calls else None
        run = jg.evaluate(graph, samples, out=tmp_path / "parts", budget=budget)
        states.append(run.manifest["state"])
    assert states == ["over_budget"] * 3 + ["finished"]
    assert only(critic_worth(run, FAST))["cost"] == only(whole)["cost"]
    assert {bill["open"] for bill in run.manifest["calls"]["by_node"].values()} == {0}


def test_noise_has_no_price():
    rng = np.random.default_rng(4)
    bill = {"calls": 4, "prompt_tokens": 100, "completion_tokens": 20, "usd": 0.5}
    manifest = {"critics": {"sage": ["critique"]}, "calls": {"by_node": {"critique": bill}}}
    truth, found = rng.uniform(1, 5, 30), []
    for _ in range(6):
        sides = [np.clip(truth + rng.normal(0, 1, 30), 1, 5) for _ in range(2)]
        scores = [pair(float(a), float(b)) for a, b in zip(*sides, strict=True)]
        run = run_of(*scores, human=[{"Clarity": float(t)} for t in truth], manifest=manifest)
        found.append(only(critic_worth(run, Conventions(coefficients=("pearson",), resamples=200, permutations=50))))
    assert any(one["mean_gain"]["pearson"]["value"] > 0 for one in found)
    for one in found:
        mean = one["mean_gain"]["pearson"]
        assert mean["low"] < mean["value"] < mean["high"]
        assert ("pearson" in one["per_point"]) == (mean["low"] > 0)
    assert sum("pearson" in one["per_point"] for one in found) <= 1


def test_the_mean_gain_of_criteria_drawn_together_is_narrower_than_the_mean_of_their_intervals():
    rng = np.random.default_rng(0)
    draws = rng.normal(0, 1, (2, 4000))
    ends = {"low": -2.0, "high": 2.0, "difference": 0.0}
    both = [Gain("C", "pearson", "dataset", 50, draws=one, basis=(50, "item"), **ends) for one in draws]
    together = mean_gain(both, 0.95)
    assert together.high == pytest.approx(1.96 / math.sqrt(2), rel=0.1)
    both[1].basis = (50, "group")
    assert (mean_gain(both, 0.95).low, mean_gain(both, 0.95).high) == (-2.0, 2.0)
    assert mean_gain([Gain("C", "pearson", "dataset", 0)], 0.95) is None


@pytest.mark.parametrize("nothing", ["n/a", "NA", "-", "none", ["n/a", ""]])
def test_a_word_for_no_answer_among_peoples_numbers_is_none(nothing):
    scores = [pair(float(i % 5 + 1), float(i * 3 % 5 + 1)) for i in range(12)]
    human = [{"Clarity": 20 * (i * 3 % 5)} for i in range(12)]
    (without,) = critic_worth(run_of(*scores, human=[*human[:11], {}]), FAST).critics
    (with_one,) = critic_worth(run_of(*scores, human=[*human[:11], {"Clarity": nothing}]), FAST).critics
    assert [g.to_dict() for g in with_one.gains] == [g.to_dict() for g in without.gains]
    assert {(g.statistic, g.n) for g in with_one.gains} == {("pearson", 11), ("spearman", 11), ("kendall-b", 11)}
    told = agreement(run_of(*scores, human=[*human[:11], {"Clarity": nothing}])).rows
    assert {(row.statistic, row.n) for row in told} == {("pearson", 11), ("spearman", 11), ("kendall-b", 11)}


def test_numbers_of_a_critic_are_not_held_against_labels_of_people():
    scores = [pair(float(i % 5 + 1), float(i % 4 + 1)) for i in range(8)]
    human = [{"Clarity": "good" if i % 2 else "poor"} for i in range(8)]
    (gain,) = critic_worth(run_of(*scores, human=human)).critics[0].gains
    assert gain.n == 0
    assert "gave numbers where people gave labels" in gain.note


def test_a_critic_that_makes_it_worse_is_said_to(capsys):
    truth = [float(i % 5 + 1) for i in range(30)]
    drafts, finals = truth, [6 - t if i % 3 else t for i, t in enumerate(truth)]
    scores = [pair(*sides) for sides in zip(drafts, finals, strict=True)]
    run = run_of(*scores, human=[{"Clarity": t} for t in truth])
    worth = critic_worth(run, FAST)
    mean = only(worth)["mean_gain"]["spearman"]
    assert mean["high"] < 0
    assert mean["note"] == "the critic makes it worse"
    show(laid_out(worth))
    out = " ".join(capsys.readouterr().out.split())
    assert "the critic makes it worse, so a point has no price" in out
    assert "not told from 0" not in out
    assert "the critic makes it worse" in " ".join(str(block) for block in rectification(run).blocks)
