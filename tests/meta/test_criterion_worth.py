"""Whether a criterion earns its place: what it adds to agreement with people, and how far others say the same."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.errors import ConfigError
from judgegraph.meta import criterion_worth
from judgegraph.meta.criterion_worth import combined, criteria_worth
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run

SCALE = jg.Scale(low=-9, high=9, whole=False)


def run_of(columns, human=None, group=None):
    """A run in memory: criterion -> scores, people's criterion -> what they said."""
    count = len(next(iter(columns.values())))
    items = []
    for at in range(count):
        said = {name: float(values[at]) for name, values in (human or {}).items() if not math.isnan(values[at])}
        meta = {"group": str(group[at])} if group is not None else {}
        scores = [
            jg.Score(criterion=name, agent="judge", value=float(values[at]), scale=SCALE)
            for name, values in columns.items()
            if not math.isnan(values[at])
        ]
        items.append(Item(sample=jg.Sample(id=f"s{at}", output="o", human=said, meta=meta), place=at, scores=scores))
    return Run({"signature": "made"}, items)


def made(n, seed=0):
    """Scores by two criteria, a third that says something new, and people who go by all three."""
    rng = np.random.default_rng(seed)
    one, two, three = np.clip(rng.normal(size=(3, n)), -4, 4)
    people = one + two + three + 0.4 * rng.normal(size=n)
    return {"One": one, "Two": two, "Three": three}, people


def worth(run, name, **more):
    (found,) = criteria_worth(run, [name], resamples=300, permutations=300, **more).criteria
    return found


def test_a_criterion_that_people_go_by_and_no_other_says_has_earned_its_place():
    columns, people = made(60)
    found = worth(run_of(columns, {"overall": people}), "Three")
    assert found.verdict == "earned"
    assert found.n == 60
    (gain, rank) = found.gains
    assert gain.with_it - gain.without == pytest.approx(gain.gain)
    assert gain.gain > 0.1 < rank.gain
    assert 0 < gain.low < gain.gain < gain.high
    assert gain.p == gain.p_holm < 0.05


def test_a_copy_is_redundant_and_noise_is_not_shown():
    columns, people = made(60)
    rng = np.random.default_rng(3)
    columns |= {"Copy": columns["One"] + 0.05 * rng.normal(size=60), "Noise": rng.normal(size=60)}
    run = run_of(columns, {"overall": people})
    assert worth(run, "Copy").verdict == "redundant with One"
    assert worth(run, "Copy").alike[0].criterion == "One"
    assert worth(run, "Noise").verdict == "not shown"
    assert worth(run, "Noise").explained < 0.2


def test_without_labels_nothing_is_earned_and_what_others_say_together_is_redundant():
    columns, _ = made(60)
    columns["Sum"] = sum(columns.values()) / 3
    found = criteria_worth(run_of(columns))
    verdicts = {one.criterion: one.verdict for one in found.criteria}
    assert verdicts["Sum"] == "redundant with the others together"
    assert "earned" not in verdicts.values()
    assert (found.target, found.labelled) == ("", 0)
    assert all(one.gains == () for one in found.criteria)


def test_nothing_is_fitted_on_the_samples_it_is_held_against():
    """Labels that are noise cannot be predicted: a fit that saw them would agree with them."""
    rng = np.random.default_rng(1)
    found = []
    for seed in range(30):
        scores, people = rng.normal(size=(40, 6)), rng.normal(size=40)
        found.append(np.corrcoef(combined(scores, people, seed=seed), people)[0, 1])
    assert np.mean(found) < 0.1


def test_samples_of_a_group_are_never_on_both_sides(monkeypatch):
    group, rng, masks = np.repeat(np.arange(12), 3), np.random.default_rng(0), []
    real = criterion_worth._predicted
    monkeypatch.setattr(criterion_worth, "_predicted", lambda s, p, held: masks.append(held) or real(s, p, held))
    combined(rng.normal(size=(36, 2)), rng.normal(size=36), group)
    assert masks
    assert all(len(set(held[group == one])) == 1 for held in masks for one in range(12))
    assert (np.sum(masks, axis=0) == criterion_worth.REPEATS).all(), "each sample is predicted once a round"


def test_what_is_left_out_is_told():
    columns, people = made(40)
    columns["Three"][:5] = math.nan
    people[30:] = math.nan
    found = criteria_worth(run_of(columns, {"overall": people}), ["Three"], resamples=200, permutations=200)
    assert (found.labelled, found.criteria[0].n) == (30, 25)
    assert any("5 of 30 labelled samples left out: no score" in note for note in found.notes)
    assert any("25 labels are few" in note for note in found.notes)
    assert any("2602.05125" in note for note in found.notes)
    assert "plain mean" in found.fitted


def test_too_few_labels_are_told_and_no_number_is_made_up():
    columns, people = made(40)
    people[6:] = math.nan
    found = worth(run_of(columns, {"overall": people}), "Three")
    assert (found.gains, found.n) == ((), 0)
    assert found.why == "6 samples with labels and all scores; 10 are needed"


def test_several_criteria_of_people_count_by_their_standardised_mean_and_a_target_may_be_named():
    columns, people = made(40)
    run = run_of(columns, {"Clarity": people, "Depth": 10 * columns["One"]})
    assert criteria_worth(run, ["Three"], resamples=200, permutations=200).target.startswith("the mean of 2 criteria")
    assert criteria_worth(run, ["Three"], target="clarity", resamples=200, permutations=200).target == "Clarity"
    with pytest.raises(ConfigError, match="people gave no numbers by 'Tone'; they gave: Clarity, Depth"):
        criteria_worth(run, ["Three"], target="Tone")


def test_what_the_run_has_no_scores_by_is_refused():
    columns, people = made(12)
    with pytest.raises(ConfigError, match=r"no numbers by 'Four'; there are: One, Two, Three.*judgegraph review"):
        criteria_worth(run_of(columns, {"overall": people}), ["Four"])
    with pytest.raises(ConfigError, match="held beside others"):
        criteria_worth(run_of({"One": columns["One"]}))


@pytest.mark.slow
def test_the_command_tells_it_from_a_labels_file_the_verdict_first(tmp_path):
    columns, people = made(40)

    async def judge(state: jg.EvalState) -> jg.EvalState:
        at = int(state["sample"].id)
        return {"scores": {s.key: s for s in (
            jg.Score(criterion=name, agent="judge", value=float(values[at]), scale=SCALE)
            for name, values in columns.items()
        )}}  # fmt: skip

    graph = StateGraph(jg.EvalState)
    graph.add_node("judge", judge)
    graph.add_edge(START, "judge")
    graph.add_edge("judge", END)
    jg.evaluate(graph.compile(), [jg.Sample(id=str(at), output="o") for at in range(40)], out=tmp_path / "run")
    lines = [json.dumps({"id": str(at), "human": {"overall": value}}) for at, value in enumerate(people)]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines))
    words = ["suggestions", str(tmp_path / "run"), "--labels", str(tmp_path / "labels.jsonl")]
    done = CliRunner().invoke(main, words, prog_name="judgegraph")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("earned: One, Two, Three. Agreement is with people, by overall.")
    told = json.loads(CliRunner().invoke(main, [*words, "--json", "--criterion", "Three"]).stdout)
    assert [one["verdict"] for one in told["criteria"]] == ["earned"]
