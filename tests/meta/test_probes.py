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
from judgegraph.meta.probes import KINDS, Seen, copies, own_model, padded, padding, probe, swapped
from judgegraph.meta.result import Drawing
from judgegraph.registry import METHODS
from judgegraph.runs.item import Item
from judgegraph.testing.scripted import Answering
from judgegraph.types import EvalState, Sample, Score, keyed
from judgegraph.views.probes import probes as laid_out
from judgegraph.views.terminal import show

CRITERIA = [jg.Criterion(name="Clarity", guideline="1: dark. 5: clear.")]
TEXTS = ["Short.", "A text of some more words.", "Two. Sentences here.", "One more text that goes on for a while."]
SINGLE = [Sample(id=f"s{i}", query="q", output=text) for i, text in enumerate(TEXTS)]
PAIRS = [Sample(id=f"p{i}", query="q", output=text, rival=f"Rival {i}. It is longer.") for i, text in enumerate(TEXTS)]
_SECTION = re.compile(r"<(output|response_a|response_b)\b[^>]*>(.*?)</\1", re.S)


def shown(messages):
    """(name, text) of the judged sections, in the order in which they are printed."""
    return _SECTION.findall(messages[-1].content)


def judge(score):
    """Judges every text by itself: `score(text, place)`, place 0 for what is printed first."""

    def answer(messages):
        points = {name: float(score(text.strip(), place)) for place, (name, text) in enumerate(shown(messages))}
        if "output" in points:
            return {"reason": "r", "score": points["output"]}
        return {
            "explanation_a": "a", "score_a": points["response_a"],
            "explanation_b": "b", "score_b": points["response_b"], "comparison": "c",
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


def test_pairs_without_a_judged_copy_are_counted_and_not_called_inapplicable():
    seen = [{"original": Seen("A", {("C", "j"): 3.0})} for _ in range(9)]
    seen.append({"original": Seen("A"), "swapped": Seen("B")})
    made = [["swapped"]] * 10
    found = swapped(seen, made, None, Drawing(), "original")
    assert (found.n, found.unread, found.note) == (1, 9, "")
    none = swapped(seen[:9], made[:9], None, Drawing(), "original")
    assert (none.n, none.unread) == (0, 9)
    assert none.note == "nothing to say: no pair has a verdict in both orders"
    assert swapped([{}], [[]], None, Drawing(), "original").note == "nothing to say: no sample was judged"


def test_padded_copies_that_were_not_judged_are_counted():
    score = Seen(None, {("C", "j"): 3.0})
    seen = [{"original": score, "polite": score}, {"original": score}, {}]
    found = padding(seen, [["polite"]] * 3, ("polite",), None, Drawing(), "original")
    assert [(change.n, change.unread) for change in found.changes] == [(1, 2)]
    lost = padding(seen[1:], [["polite"]] * 2, ("polite",), None, Drawing(), "original")
    assert (lost.changes, lost.note) == ((), "nothing to say: no padded copy was judged")
    pair = {"original": Seen("A"), "polite-first": Seen("A"), "polite-second": Seen("A")}
    of_pairs = padding([pair, {"original": Seen("A")}], [["polite-first", "polite-second"]] * 2, ("polite",), None,
                       Drawing(), "original")  # fmt: skip
    assert (of_pairs.wins["polite"].n, of_pairs.unread) == (1, {"polite": 1})


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
    for one in (found.people_exact, found.judge_exact):
        assert low <= one.value <= high
        assert (one.low > 0) == (bonus > 0)
    assert found.biased == (bonus > 0)
    assert (found.n_own, found.n_other) == (40, 40)


def judged_by_noise(seed, *, own_is, bias=0.0, people=0.0, noise=1.0, count=120):
    """Own outputs that are truly better or worse, a noisy judge, and people who may be noisy too."""
    rng, samples, seen = np.random.default_rng(seed), [], []
    for i in range(count):
        mine = i % 3 == 0
        truth = rng.normal() + own_is * mine
        human, judged = truth + people * rng.normal(), truth + noise * rng.normal() + bias * mine
        about = {"system": "mine" if mine else f"s{i % 3}"}
        samples.append(Sample(id=str(i), output="o", human={"C": float(human)}, meta=about))
        seen.append(Seen(None, {("C", "j"): float(judged)}))
    return own_model(samples, seen, ["mine"], None, Drawing(resamples=100))


def excludes(found):
    return found.low > 0 or found.high < 0


@pytest.mark.long
@pytest.mark.parametrize("own_is", [-1.0, 1.0])
def test_a_noisy_judge_is_not_called_biased_whether_its_own_outputs_are_truly_better_or_worse(own_is):
    found = [judged_by_noise(seed, own_is=own_is) for seed in range(30)]
    assert sum(excludes(one.people_exact) for one in found) <= 5  # differences of z-scores: about half of them
    assert sum(one.biased for one in found) <= 3


def test_noise_of_people_is_not_taken_for_a_bias_either():
    found = [judged_by_noise(seed, own_is=-1.0, people=1.0, noise=0.3) for seed in range(15)]
    assert sum(excludes(one.people_exact) for one in found) > 8  # what docs warn of: the slope is attenuated
    assert sum(one.biased for one in found) <= 1


@pytest.mark.parametrize("own_is", [-1.0, 1.0])
def test_a_bias_beside_a_true_difference_is_found(own_is):
    found = [judged_by_noise(seed, own_is=own_is, bias=own_is * -1.5, noise=0.5, people=0.2) for seed in range(8)]
    assert sum(one.biased for one in found) >= 6
    assert all(one.people_exact.value * own_is < 0 for one in found)


def test_ones_own_model_is_known_by_the_judges_name():
    samples = [Sample(id=f"s{i}", output=f"The cat {i}.", human={"Coherence": i % 3 + 1}, meta={"system": name})
               for i, name in enumerate(["Embedded", "gpt-4"] * 3)]  # fmt: skip
    assert probe("llm-score", samples, ("self",)).own.own == ("Embedded",)
    others = [s for s in samples if s.meta["system"] == "gpt-4"]
    with pytest.raises(jg.ConfigError, match=r"nothing was paid.*own="):
        probe("llm-score", others, ("self",))
    assert "own=" in probe("llm-score", others, ("padded", "self")).own.note


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
    assert "judged" in found.padded.note


def test_a_budget_that_ends_amid_the_copies_is_no_method_without_verdicts(tmp_path, capsys):
    made = pairwise(content)
    found = probe(made, PAIRS, ("swap",), budget=jg.Budget(calls=5), concurrency=1)
    assert found.state == "over_budget"
    assert found.swap.n + found.swap.unread == 4
    assert found.swap.unread > 0
    assert "not applicable" not in found.swap.note
    show(laid_out(found))
    out = capsys.readouterr().out
    assert "the budget ended it" in out
    assert "left out" in out


def test_one_group_is_printed_without_an_interval_and_few_are_said_to_be_rough(capsys):
    for count, word in ((1, "no interval"), (2, "rough: an interval drawn from fewer than 6 is too narrow")):
        samples = [s.model_copy(update={"meta": {"group": str(i % count)}}) for i, s in enumerate(SINGLE)]
        show(laid_out(probe(single(length), samples, ("padded",), kinds=("polite",))))
        out = capsys.readouterr().out
        assert word in out
        assert "nan" not in out


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


def test_only_criteria_that_were_written_for_a_sample_have_no_line():
    scores = tuple(
        Score(criterion=name, agent="judge", value=4, scale=jg.Scale.of("1-5")) for name in ("Given", "Mine")
    )
    written = {name: jg.Criterion(name=name) for name in ("Given", "Mine")}
    item = Item(sample=Sample(id="a", output="text"), scores=scores, branches=written)
    assert [*Seen.of(item, ["Given"]).answers] == [("Given", "judge")]
    assert not Seen.of(item).answers


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
    assert (alone.units, together.units) == (100, 10)


def test_a_group_for_each_sample_is_none():
    assert Drawing().share([0.0] * 5, np.arange(5)) == Drawing().share([0.0] * 5)


def test_grouped_shares_of_none_and_all_are_not_known_exactly():
    groups = np.repeat(np.arange(4), 5)
    none, all_ = Drawing().share([0.0] * 20, groups), Drawing().share([1.0] * 20, groups)
    assert none.low == 0.0
    assert 0.4 < none.high < 1  # four groups, not twenty samples
    assert (all_.low, all_.high) == (pytest.approx(1 - none.high), 1.0)


@pytest.mark.parametrize("groups", [3, 5, 10, 20])
def test_the_interval_of_a_grouped_share_holds_the_truth_with_few_groups_too(groups):
    rng, held = np.random.default_rng(0), []
    for _ in range(400):
        hits = rng.random((groups, 10)) < rng.beta(2, 2, (groups, 1))
        found = Drawing().share(hits.ravel().astype(float), np.repeat(np.arange(groups), 10))
        held.append(found.low <= 0.5 <= found.high)
    assert np.mean(held) > 0.92


def test_one_group_and_one_sample_have_no_interval():
    for found in (Drawing().share([1, 0, 1], np.zeros(3, int)), Drawing().mean([1.0, 2.0], np.zeros(2, int)),
                  Drawing().mean([1.0])):  # fmt: skip
        assert (np.isnan(found.low), np.isnan(found.high)) == (True, True)
        assert not np.isnan(found.value)
        json.dumps(found.to_dict(), allow_nan=False)
    assert Drawing().share([1.0]).low < 0.3  # Wilson's says something of one sample too


def write(path, samples):
    path.write_text("".join(s.model_dump_json(exclude_defaults=True) + "\n" for s in samples))
    return str(path)


def test_the_command_prints_shares_with_intervals(tmp_path):
    data = write(tmp_path / "pairs.jsonl", PAIRS)
    done = CliRunner().invoke(main, ["probe", "fennec", data, "-n", "2", "-s", "branches=2"])
    assert done.exit_code == 0, done.output
    assert re.match(r"order: .*; the verdict changes in \d+ % of 2 pairs\nlength: .*\nown model: ", done.output)
    assert re.search(r"^the verdict changes +\d+ % +\[\d+ %, \d+ %\] +2", done.output, re.M)
    assert re.search(r"^polite +\d+ % +\[\d+ %, \d+ %\] +2", done.output, re.M)
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
    from judgegraph.cli.plan import NAMES, PADDINGS
    from judgegraph.meta.probes import PROBES

    assert (PROBES, tuple(KINDS)) == (NAMES, PADDINGS)
