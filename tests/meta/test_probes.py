"""Judges with a bias that is known, judges without one, and what the probes say of them."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph
from scipy.stats import binomtest

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fennec, llm_score
from judgegraph.meta.copies import copies
from judgegraph.meta.measured import Drawing
from judgegraph.meta.padding import KINDS, padded
from judgegraph.meta.probes import probe
from judgegraph.registry import METHODS
from judgegraph.testing.answering import Answering
from judgegraph.types import EvalState, Sample, Score, keyed

CRITERIA = [jg.Criterion(name="Clarity", guideline="1: dark. 5: clear.")]
TEXTS = ["Short.", "A text of some more words.", "Two. Sentences here.", "One more text that goes on for a while."]
SINGLE = [Sample(id=f"s{i}", query="q", output=text) for i, text in enumerate(TEXTS)]
PAIRS = [Sample(id=f"p{i}", query="q", output=text, rival=f"Rival {i}. It is longer.") for i, text in enumerate(TEXTS)]
_SECTION = re.compile(r"<(output|rival)\b[^>]*>(.*?)</\1", re.S)


def shown(messages):
    """(name, text) of the judged sections, in the order in which they are printed."""
    return _SECTION.findall(messages[-1].content)


def judge(score):
    """Judges every text by itself: `score(text, place)`, place 0 for what is printed first."""

    def answer(messages):
        points = {name: float(score(text.strip(), place)) for place, (name, text) in enumerate(shown(messages))}
        if "rival" not in points:
            return {"reason": "r", "score": points["output"]}
        return {
            "explanation_a": "a", "score_a": points["output"], "explanation_b": "b", "score_b": points["rival"],
            "comparison": "c",
        }  # fmt: skip

    return Answering(answer=answer)


def pairwise(score, **settings):
    return fennec(judge(score), criteria=CRITERIA, correct="off", **settings)


def single(score):
    return llm_score(judge(score), criteria=CRITERIA)


def first(text, place):
    return 5 if place == 0 else 1


def length(text, place):
    return 1 + 4 * min(len(text), 1000) / 1000


def content(text, place):
    """The first word alone, which neither place nor padding changes."""
    return 1 + len(text.split()[0]) % 5


def test_a_judge_that_prefers_what_stands_first_flips_every_verdict():
    found = probe(pairwise(first), PAIRS, ("swap",)).swap
    assert (found.flips.value, found.reversed.value, found.first.value, found.n) == (1.0, 1.0, 1.0, 4)
    assert 0.3 < found.flips.low < 0.7  # four pairs are few
    assert found.flips.high == 1.0


def test_a_judge_of_content_flips_none():
    found = probe(pairwise(content), PAIRS, ("swap",)).swap
    assert (found.flips.value, found.reversed.value, found.unread) == (0.0, 0.0, 0)
    assert found.first.value == 0.5


def test_both_orders_cure_a_judge_that_prefers_what_stands_first():
    found = probe(pairwise(first, orders="both"), PAIRS, ("swap",)).swap
    assert (found.flips.value, found.first.n) == (0.0, 0)  # ties, in either order


def test_a_tie_that_becomes_a_win_is_a_flip_and_no_reversal():
    def sometimes(text, place):
        return 3 if place == 0 or text.startswith("Rival") else 4  # A wins as printed second, ties as first

    found = probe(pairwise(sometimes), PAIRS, ("swap",)).swap
    assert (found.flips.value, found.reversed.value) == (1.0, 0.0)


def test_a_judge_that_loves_length_raises_every_padded_copy():
    found = probe(single(length), SINGLE, ("padded",)).padded
    assert {change.kind for change in found.changes} == set(KINDS)
    for change in found.changes:
        assert (change.raised.value, change.lowered.value, change.n) == (1.0, 0.0, 4)
        assert change.mean.value > 0
        assert change.mean.low > 0
    assert found.wins == {}


def test_a_judge_of_content_raises_none():
    for change in probe(single(content), SINGLE, ("padded",)).padded.changes:
        assert (change.raised.value, change.lowered.value, change.mean.value) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("score", "share"), [(length, 1.0), (content, 0.5), (first, 0.5)])
def test_a_padded_copy_beside_its_original_wins_by_length_alone(score, share):
    found = probe(pairwise(score), PAIRS, ("padded",)).padded
    assert {kind: won.value for kind, won in found.wins.items()} == dict.fromkeys(KINDS, share)
    assert found.changes == ()


def test_a_reply_that_cannot_be_read_is_left_out_and_counted():
    def broken(text, place):
        return 9 if text.startswith("Short") else 5 - place

    found = probe(pairwise(broken), PAIRS, ("swap",)).swap
    assert (found.n, found.unread) == (3, 1)


def test_what_cannot_be_said_is_said():
    found = probe(single(content), PAIRS, ("swap", "padded", "self"))
    assert "not applicable" in found.swap.note
    assert "not applicable" in found.own.note
    assert found.copies == 4 * len(KINDS)  # what is no pair to the method is judged alone
    assert "not applicable" in probe(pairwise(content), SINGLE, ("swap",)).swap.note


def favours(mine, bonus):
    """A graph whose judge gives its own model's outputs more than people do."""

    async def node(state: EvalState) -> EvalState:
        sample = state["sample"]
        value = min(5.0, sample.meta["truth"] + bonus * (sample.meta["system"] == mine))
        return {"scores": keyed(Score(criterion="Clarity", agent="a", value=value, scale="1-5"))}

    made = StateGraph(EvalState)
    made.add_node("judge", node)
    made.add_edge(START, "judge")
    made.add_edge("judge", END)
    return made.compile(name="favours")


def of_systems(count=80):
    rng = np.random.default_rng(5)
    truth = rng.uniform(1, 4, count)
    return [
        Sample(
            id=f"s{i}", output=f"o{i}", human={"clarity": float(t)},
            meta={"system": "mine" if i % 2 else "other", "truth": float(t)},
        )
        for i, t in enumerate(truth)
    ]  # fmt: skip


@pytest.mark.parametrize(("bonus", "low", "high"), [(0.0, 0.0, 0.0), (1.0, 0.5, 1.5)])
def test_a_judge_that_favours_its_own_model_is_found_out(bonus, low, high):
    found = probe(favours("mine", bonus), of_systems(), ("self",), own=["mine"]).own
    assert low <= found.advantage.value <= high
    assert (found.advantage.low > 0, found.rank.low > 0) == (bonus > 0, bonus > 0)
    assert (found.n_own, found.n_other) == (40, 40)


def test_ones_own_model_is_known_by_the_judges_name():
    samples = [Sample(id=f"s{i}", output=f"The cat {i}.", human={"Coherence": i % 3 + 1}, meta={"system": name})
               for i, name in enumerate(["Embedded", "gpt-4"] * 3)]  # fmt: skip
    assert probe("llm-score", samples, ("self",)).own.own == ("Embedded",)
    none = probe("llm-score", [s for s in samples if s.meta["system"] == "gpt-4"], ("self",)).own
    assert "own=" in none.note


@pytest.mark.parametrize("kind", KINDS)
def test_padding_adds_and_takes_nothing_away(kind):
    assert padded("One. Two!", kind).startswith("One. Two!")
    assert len(padded("One. Two!", kind)) > len("One. Two!")
    assert padded("  \n", kind) is None
    form = {"title": "A", "questions": [{"text": "How are you today?", "n": 1}], "none": None}
    longer = padded(form, kind)
    assert longer["questions"][0]["text"].startswith("How are you today?")
    assert {**longer, "questions": form["questions"]} == form
    assert padded([{"n": 1}], kind) is None
    assert form["questions"][0]["text"] == "How are you today?"  # the sample is left as it is


def test_the_ids_of_copies_are_those_of_no_other_copy():
    samples = [Sample(id=id, output="o", rival="r") for id in ("a", "a/probe/swapped", "a/probe", "a%2Fprobe")]
    ids = [copy.id for s in samples for _, copy in copies(s, ("swap", "padded"), tuple(KINDS), True)]
    assert len(set(ids)) == len(ids) == 4 * (1 + 2 * len(KINDS))


def test_copies_have_no_human_labels():
    sample = Sample(id="a", output="o", rival="r", human={"x": 1})
    assert all(copy.human == {} for _, copy in copies(sample, ("swap", "padded"), tuple(KINDS), True))


def test_nothing_is_paid_twice(tmp_path):
    made = llm_score(criteria="summary")
    first_run = probe(made, SINGLE, ("padded",), out=tmp_path / "run")
    again = probe(made, SINGLE, ("padded",), out=tmp_path / "run")
    assert again.spent == first_run.spent
    assert again.to_dict() == first_run.to_dict()
    other = probe(made, SINGLE, ("padded",), ledger=tmp_path / "run" / "ledger.sqlite")
    assert other.spent["calls"] == 0
    assert other.padded == first_run.padded


def test_a_budget_ends_it_and_says_so():
    found = probe(llm_score(criteria="summary"), SINGLE, ("padded",), budget=jg.Budget(calls=2), concurrency=1)
    assert found.state == "over_budget"
    assert found.spent["calls"] == 2


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"probes": ("swop",)}, "probes"), ({"probes": ()}, "probes"), ({"probes": "swap"}, "probes"),
        ({"kinds": ("long",)}, "kinds"), ({"confidence": 1.0}, "confidence"), ({"resamples": 0}, "resamples"),
        ({"retry_failed": True}, "retry_failed"),
    ],
)  # fmt: skip
def test_wrong_settings_are_told_before_anything_is_judged(settings, what):
    with pytest.raises(jg.ConfigError, match=what):
        probe("llm-score", SINGLE, **settings)


def test_no_samples_are_no_probe():
    with pytest.raises(jg.JudgegraphError, match="no sample"):
        probe("llm-score", [])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.sampled(3)
def test_every_method_can_be_probed(method):
    found = probe(method, PAIRS[:2], ("swap", "padded", "self"), kinds=("polite",))
    assert found.judged == found.samples + found.copies
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert bool(found.swap.note) == (method != "fennec"), text
    assert found.padded.note == ""


@pytest.mark.parametrize(("hits", "n"), [(0, 4), (4, 4), (1, 7), (30, 90)])
def test_a_share_has_the_interval_of_scipy(hits, n):
    found, known = Drawing().share([i < hits for i in range(n)]), binomtest(hits, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5])
def test_the_interval_of_a_flip_rate_holds_the_truth_as_often_as_it_says(rate):
    rng, drawing, n, times = np.random.default_rng(7), Drawing(), 100, 2000
    hits = rng.binomial(n, rate, times)
    known = {k: drawing.share([i < k for i in range(n)]) for k in {*hits.tolist()}}
    held = np.mean([known[k].low <= rate <= known[k].high for k in hits.tolist()])
    assert 0.93 <= held <= 0.975  # a count of 100 takes few values: Wilson's coverage is 95 % on average over rates


def test_samples_that_hang_together_make_the_interval_wider():
    hits, groups = [i // 10 % 2 == 0 for i in range(100)], np.arange(100) // 10
    alone, together = Drawing().share(hits), Drawing().share(hits, groups)
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert (alone.method, together.method) == ("wilson", "bootstrap")


def write(path, samples):
    path.write_text("".join(s.model_dump_json(exclude_defaults=True) + "\n" for s in samples))
    return str(path)


def test_the_command_prints_shares_with_intervals(tmp_path):
    data = write(tmp_path / "pairs.jsonl", PAIRS)
    done = CliRunner().invoke(main, ["probe", "fennec", data, "-n", "2", "-s", "branches=2"])
    assert done.exit_code == 0, done.output
    assert re.search(r"verdict changes +\d+ % \[\d+, \d+\] \(n 2\)", done.output)
    assert re.search(r"polite: wins against its original \d+ % \[\d+, \d+\] \(n 2\)", done.output)
    assert "no sample says in meta.system" in done.output


def test_the_command_gives_json_and_its_exit_code_tells_of_the_budget(tmp_path):
    data = write(tmp_path / "single.jsonl", SINGLE)
    command = ["probe", "llm-score", data, "-p", "padded", "--padding", "polite", "--json", "-c", "summary"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["samples"], found["copies"], found["state"]) == (4, 4, "finished")
    assert "swap" not in found
    assert {change["criterion"] for change in found["padded"]["changes"]} >= {"Coherence", "Fluency"}
    assert CliRunner().invoke(main, [*command, "--budget-calls", "1"]).exit_code == 3


def test_the_command_knows_every_probe_and_padding():
    from judgegraph.cli.probe import NAMES, PADDINGS
    from judgegraph.meta.probes import PROBES

    assert (PROBES, tuple(KINDS)) == (NAMES, PADDINGS)
