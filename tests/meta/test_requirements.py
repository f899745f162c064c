"""Requirements of a run: read before anything is paid for, told by the end of an interval, with an exit code."""

import json
import re

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.cli.main import NOT_MET, OVER_BUDGET
from judgegraph.errors import ConfigError
from judgegraph.meta.requirements import Requirement, outcomes, unfit
from judgegraph.runs.item import Item
from judgegraph.types import EvalState, Score, keyed

SCALE = jg.Scale.of("1-5")
TONES = jg.Scale.of(["warm", "cold"])


def judged(values, *, tone=None, group=None):
    """A run whose samples have these values of Clarity; None: no answer."""

    async def score(state: EvalState) -> EvalState:
        value = state["sample"].meta["value"]
        about = {"criterion": "Clarity", "agent": "a", "stage": "final", "scale": SCALE}
        status = {"status": "unreadable"} if value is None else {"value": value}
        told = Score(criterion="Tone", agent="a", stage="final", scale=TONES, label=tone or "warm")
        return {"scores": keyed(Score(**about, **status), told)}

    graph = StateGraph(EvalState)
    graph.add_node("score", score)
    graph.add_edge(START, "score")
    graph.add_edge("score", END)
    meta = [{"value": v} | ({"group": group(n)} if group else {}) for n, v in enumerate(values)]
    samples = [jg.Sample(id=str(n), output=f"text {n}", meta=one) for n, one in enumerate(meta)]
    return jg.evaluate(graph.compile(), samples)


def outcome(values, text, **settings):
    (found,) = jg.require(judged(values, **settings), text)
    return found


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("Clarity >= 4", True), ("clarity>=4.35", False), ("Clarity < 4.9", True), ("Clarity <= 4.4", False),
        ("share(Clarity >= 4) >= 0.9", True), ("share(Clarity >= 4) >= 99%", False),
        ("share(Clarity >= 5) <= 60 %", True), ("share(Tone = warm) >= 0.9", True), ("share(Tone == cold) < 0.1", True),
    ],
)  # fmt: skip
def test_the_end_of_the_interval_decides(text, met):
    found = outcome([4.0] * 60 + [5.0] * 40, text)
    assert found.met is met
    assert found.low <= found.value <= found.high
    assert bool(found.why) is not met


FAIR = jg.Criterion(
    name="Tone", definition="How warm it is.", scale={"labels": ["cold", "fair", "warm"], "values": [1, 3, 5]}
)


def test_an_ordered_label_stands_for_its_value_and_the_outcome_says_so():
    def item(n, label):
        score = Score(criterion="Tone", agent="a", stage="final", scale=FAIR.scale, label=label)
        return Item(sample=jg.Sample(id=str(n), output="t"), scores=(score,))

    run = jg.Run({"state": "finished"}, [item(n, "warm" if n % 4 else "fair") for n in range(40)])
    mean, share, cold = jg.require(run, "Tone >= Fair", "share(Tone >= warm) >= 90%", "Tone < cold")
    assert (mean.met, mean.value, mean.text) == (True, 4.5, "Tone >= Fair (3)")
    assert (share.met, share.value, share.text) == (False, 0.75, "share(Tone >= warm (5)) >= 90%")
    assert str(share).startswith("required: share(Tone >= warm (5)) >= 90%: not met, 75% [")
    assert (cold.met, cold.text) == (False, "Tone < cold (1)")
    wider = FAIR.model_copy(update={"scale": jg.Scale(labels=("cold", "fair", "warm"), values=(0, 50, 100))})
    items = list(run.items)
    odd = tuple(score.model_copy(update={"scale": wider.scale}) for score in items[0].scores)
    mixed = jg.Run({"state": "finished"}, (*items, Item(sample=items[0].sample, scores=odd)))
    (several,) = jg.require(mixed, "Tone >= fair")
    assert (several.met, several.why) == (False, "its answers stand on 2 scales, so 'fair' has no one value")
    (other,) = jg.require(run, "Tone >= tepid")
    assert (other.met, other.why) == (False, f"'tepid' is no label of Tone, which is on {FAIR.scale}")
    fits = [unfit([Requirement.of(text)], [FAIR]) for text in ("Tone >= fair", "share(Tone >= fair) >= 0.9")]
    assert fits == ["", ""]
    assert "'tepid' is no label of Tone" in unfit([Requirement.of("Tone >= tepid")], [FAIR])
    bare = FAIR.model_copy(update={"scale": TONES})
    assert "have no numbers; write share(Tone = warm) >= 0.9" in unfit([Requirement.of("Tone >= warm")], [bare])


@pytest.mark.parametrize("text", ["Clarity >= 4", "share(Clarity >= 4) >= 0.9"])
def test_of_a_run_that_judged_nothing_a_requirement_is_not_known(text):
    items = [
        Item(sample=jg.Sample(id=str(n), output="t"), scores=(Score(criterion="Clarity", agent="a", status="timeout"),))
        for n in range(9)
    ]
    (found,) = jg.require(jg.Run({}, items), text)
    assert (found.met, str(found)) == (False, f"required: {text}: not known: nothing was judged")


def test_a_mean_of_a_criterion_without_any_answer_is_not_known():
    found = outcome([None] * 9, "Clarity >= 4")
    assert str(found) == "required: Clarity >= 4: not known: no sample has an answer by it that could be read"
    assert outcome([None] * 9, "share(Clarity >= 4) >= 0.9").value == 0


def test_a_mean_above_the_bound_is_not_enough():
    found = outcome([3.0, 5.0] * 5 + [5.0], "Clarity >= 4")
    assert found.value > 4 > found.low
    assert not found.met
    assert str(found).endswith(f"the lower end of its interval, {found.low:.3g}, is not >= 4")


def test_a_sample_without_an_answer_is_left_out_of_a_mean_and_counts_against_a_share():
    values = [5.0] * 40 + [None] * 10
    mean, share = outcome(values, "Clarity >= 4"), outcome(values, "share(Clarity >= 4) >= 0.9")
    assert (mean.met, mean.samples, mean.without) == (True, 40, 10)
    assert (share.met, share.samples, share.without, share.value) == (False, 50, 10, 0.8)
    assert " over 40 of 50 samples, 10 without an answer, left out" in str(mean)
    assert "10 without an answer, counted against it" in str(share)


@pytest.mark.parametrize("op", [">=", "<="])
@pytest.mark.parametrize("grouped", [False, True])
def test_what_is_not_known_never_helps_a_share_to_be_met(op, grouped):
    bound, group = {">=": "0.8", "<=": "0.2"}[op], (lambda n: str(n // 2)) if grouped else None
    text, values = f"share(Clarity {op} 3) {op} {bound}", [5.0 if op == ">=" else 4.0] * 40
    whole, part = outcome(values, text, group=group), outcome(values + [None] * 20, text, group=group)
    items = judged(values, group=group).items
    (cut,) = outcomes(items, [Requirement.of(text)], absent=20)
    assert (whole.met, part.met, cut.met) == (True, False, False)
    assert part.value == cut.value == pytest.approx(2 / 3 if op == ">=" else 1 / 3)
    assert "20 without an answer (20 of them rejected rows or not judged), counted against it" in str(cut)


@pytest.mark.parametrize("state", ["over_budget", "stopped", "running"])
def test_a_run_that_did_not_come_to_its_end_meets_nothing(state):
    whole = judged([5.0] * 20)
    whole = jg.Run(whole.manifest, [*whole.items])
    about = {"state": state, "samples": {"done": 20, "over_budget": 0, "total": 40}}
    part = jg.Run(whole.manifest | about, [*whole.items])
    for text in ("Clarity >= 2", "share(Clarity >= 4) >= 60%"):
        assert jg.require(whole, text)[0].met
        (found,) = jg.require(part, text)
        assert not found.met
        assert "not met, " in str(found)
        assert "unfinished: 20 of 40 samples done" in str(found)


def test_a_run_that_its_budget_ended_is_told_as_not_met_by_the_command(tmp_path):
    data = tmp_path / "d.jsonl"
    data.write_text("".join(json.dumps({"id": str(n), "output": f"The shop opens at {n}."}) + "\n" for n in range(12)))
    run = ["run", "llm-score", str(data), "-c", "summary", "--budget-calls", "8", "--require", "Fluency >= 1"]
    printed, told = (CliRunner().invoke(main, [*run, *more]) for more in ((), ("--json",)))
    assert printed.exit_code == told.exit_code == OVER_BUDGET
    assert "required: Fluency >= 1: not met, " in printed.stdout
    assert json.loads(told.stdout)["required"][0]["met"] is False


@pytest.mark.parametrize(
    ("bound", "said"),
    [("60", "60 is above 1, and no share is; write 0.6 or 60%"), ("600", "600 is above 1"), ("160 %", "above 100%")],
)
def test_a_share_above_one_is_refused_with_what_was_meant(bound, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        Requirement.of(f"share(Clarity >= 4) >= {bound}")


def test_a_requirement_is_told_in_the_unit_that_it_was_written_in():
    values = [5.0] * 30 + [1.0] * 30
    percent, fraction = (
        str(outcome(values, "share(Clarity >= 4) >= 60%")),
        str(outcome(values, "share(Clarity >= 4) >= .6")),
    )
    assert " 50% [37.7%, 62.3%] over 60 samples: 50% is not >= 60%" in percent
    assert " 0.50 [0.38, 0.62] over 60 samples: 0.5 is not >= 0.6" in fraction
    assert str(outcome(values, "share(Clarity >= 4) >= 45%")).endswith("end of its interval, 37.7%, is not >= 45%")


def test_samples_of_a_group_are_drawn_together():
    values = [5.0] * 30 + [4.0] * 30
    alone, grouped = (outcome(values, "Clarity >= 4", group=g) for g in (None, lambda n: n // 30))
    assert grouped.high - grouped.low > alone.high - alone.low


@pytest.mark.parametrize(
    ("values", "text", "why"),
    [
        ([5.0] * 4, "Clarity >= 4", "fewer than 5 samples"),
        ([5.0] * 9, "Depth >= 4", "no sample has an answer by it; judged by: Clarity, Tone"),
    ],
)
def test_what_cannot_be_told_is_not_met(values, text, why):
    found = outcome(values, text)
    assert not found.met
    assert why in found.why


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Clarity",
        "Clarity >= 4 or more",
        "share(Clarity) > 0.5",
        "share(Clarity > 4) > 1.2.3",
        "Clarity == 4",
    ],
)
def test_what_is_no_requirement_is_refused(text):
    with pytest.raises(ConfigError, match="is no requirement; write one such as"):
        Requirement.of(text)


def test_the_command_ends_with_a_code_of_its_own(tmp_path):
    data = tmp_path / "d.jsonl"
    texts = ["The library opens at nine every day, and closes at six on weekdays.", "Nine it opens, so they says."]
    rows = [{"id": str(n), "source": texts[0], "output": texts[n % 2]} for n in range(12)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = ["run", "llm-score", str(data), "-c", "summary"]
    met, not_met, odd, wrong = (
        CliRunner().invoke(main, [*run, "--require", text])
        for text in ("Fluency >= 1", "share(Fluency >= 1) > 0.99", "Fluncy >= 3", "Fluency of 3")
    )
    assert met.exit_code == 0, met.output
    assert "required: Fluency >= 1: met, " in met.stdout
    assert not_met.exit_code == NOT_MET
    assert "the lower end of its interval" in not_met.stdout
    assert odd.exit_code == 2
    assert "did you mean 'Fluency'?" in odd.stderr
    assert wrong.exit_code == 1
    told = json.loads(CliRunner().invoke(main, [*run, "--require", "Fluency >= 1", "--json"]).stdout)
    assert told["required"][0]["met"] is True
    data.write_text(data.read_text() + '{"id": "bad"}\n{\n')
    of = [*run, "-o", str(tmp_path / "run"), "--require", "share(Fluency >= 1) >= 0.1"]
    told = json.loads(CliRunner().invoke(main, [*of, "--json"]).stdout)
    (share,) = jg.require(jg.Run.load(tmp_path / "run"), "share(Fluency >= 1) >= 0.1")
    assert told["coverage"]["n"] == told["required"][0]["samples"] == share.samples == 14, "one rule for all"
    assert told["coverage"]["absent"] == told["required"][0]["absent"] == share.absent == 2


CLARITY = jg.Criterion(name="Clarity")
TONE = jg.Criterion(name="Tone", scale=jg.Scale.of(["warm", "cold"]))
GRADE = jg.Criterion(name="Grade", scale=jg.Scale(labels=("poor", "good"), values=(0, 1)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Clarity >= 9", "9 is not on the scale of Clarity, 1-5"),
        ("share(Clarity >= 0) >= 0.9", "0 is not on the scale of Clarity, 1-5"),
        ("share(Tone = warn) >= 0.9", "'warn' is no label of Tone"),
        ("share(Clarity = warm) >= 0.9", "'warm' is no label of Clarity"),
        ("Tone >= 3", "the labels of Tone have no numbers; write share(Tone = warm) >= 0.9"),
        ("Grade >= 2", "2 is not on the scale of Grade"),
        ("Clarity >= 4.5", ""), ("share(clarity > 1) > 0", ""), ("share(Tone = Warm) >= 90%", ""), ("Grade > 0.5", ""),
        ("overall >= 0.5", ""),
    ],
)  # fmt: skip
def test_a_bound_that_no_answer_can_be_held_against_is_told_before_a_run(text, said):
    told = unfit([Requirement.of(text)], [CLARITY, TONE, GRADE])
    assert (told.startswith(f"'{text}': {said}"), bool(told)) == (True, True) if said else told == ""


def test_of_criteria_of_two_scales_one_is_enough():
    assert not unfit(
        [Requirement.of("Clarity >= 9")], [CLARITY, CLARITY.model_copy(update={"scale": jg.Scale.of("1-10")})]
    )
