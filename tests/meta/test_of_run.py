"""What a run says, beside what people said of the same samples."""

from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError
from judgegraph.meta.cells import Unjudged
from judgegraph.meta.judgements import of_run, read_run
from judgegraph.runs.item import Item
from judgegraph.types import Comparison, Finding, Sample, Scale, Score


def score(value=None, criterion="Clarity", agent="judge", stage="final", **more) -> Score:
    return Score(criterion=criterion, agent=agent, stage=stage, value=value, **more)


def run(*items: Item) -> jg.Run:
    return jg.Run({"signature": "mine|v:1"}, items)


def item(id: str, human: dict, *scores: Score, meta: dict | None = None, **more) -> Item:
    return Item(sample=Sample(id=id, output="text", human=human, meta=meta or {}), scores=scores, **more)


def test_agents_are_metrics_and_criteria_are_met_whatever_their_case():
    found = read_run(
        run(
            item("1", {"CLARITY": [1.0, 2.0]}, score(1.0), score(4.0, stage="draft"), score(3.0, agent="other")),
            item("2", {"CLARITY": 2.0}, score(status="refused"), score(5.0, criterion="Tone")),
            item("3", {}, score(3.0)),
            Item(sample=Sample(id="4", output="x", human={"clarity": 4.0}), status="timeout"),
        )
    )  # fmt: skip
    (one,) = found.judgements
    assert (one.criterion, one.kind, one.ids) == ("CLARITY", "number", ("1", "2", "3", "4"))
    assert one.human == ((1.0, 2.0), (2.0,), (), (4.0,))
    assert one.metrics == {"judge": (1.0, None, 3.0, None), "other": (3.0, None, None, None)}
    assert one.statuses["judge"] == ("ok", "refused", "ok", "timeout")
    assert one.statuses["other"] == ("ok", "missing", "missing", "timeout")
    assert found.notes == ("not judged by people: Tone",)


def test_drafts_are_metrics_of_their_own_where_they_are_asked_for():
    (one,) = of_run(run(item("1", {"Clarity": 1.0}, score(1.0), score(4.0, stage="draft"))), stages=("draft", "final"))
    assert one.metrics == {"judge": (1.0,), "judge (draft)": (4.0,)}


def test_agents_may_be_chosen_and_repeats_count_by_their_mean():
    scores = (score(1.0), score(4.0, repeat=1), score(3.0, agent="other"))
    (one,) = of_run(run(item("1", {"Clarity": 1.0}, *scores)), agents=("judge",))
    assert one.metrics == {"judge": (2.5,)}


def test_groups_and_systems_are_read_from_meta():
    meta = {"group": "d1", "system": 7, "by": {"name": "x"}}
    (one,) = of_run(run(item("1", {"Clarity": 1.0}, score(1.0), meta=meta)))
    assert (one.groups, one.systems) == (("d1",), ("7",))
    (one,) = of_run(run(item("1", {"Clarity": 1.0}, score(1.0), meta=meta)), system="by.name")
    assert one.systems == ("x",)
    with pytest.raises(ConfigError, match=r"sample '1': expected text in meta\.doc; its meta has group, system, by"):
        of_run(run(item("1", {"Clarity": 1.0}, score(1.0), meta=meta)), group="doc")


def test_groups_that_some_samples_lack_are_noted():
    some = run(
        item("1", {"Clarity": 1.0}, score(1.0), meta={"group": "d1", "system": "s"}),
        item("2", {"Clarity": 1.0}, score(1.0), meta={"group": "", "system": "s"}),
    )  # fmt: skip
    found = read_run(some)
    assert found.judgements[0].groups is None
    assert found.judgements[0].systems == ("s", "s")
    assert found.notes == (
        "1 of 2 samples without meta.group ('2' first): no groups, the bootstrap draws items (unit:item)",
    )
    assert read_run(run(item("1", {"Clarity": 1.0}, score(1.0)))).notes == ()


def test_an_agent_who_is_not_there_is_refused_with_the_one_who_may_be_meant():
    known = run(item("1", {"Clarity": 1.0}, score(1.0), score(1.0, agent="writer", stage="draft")))
    with pytest.raises(ConfigError, match=r"no agent 'juge'; did you mean 'judge'\? There are judge, writer") as raised:
        of_run(known, agents=("judge", "juge"))
    assert type(raised.value) is ConfigError
    with pytest.raises(Unjudged, match="these agents give no answer by it, only scores of stage draft"):
        of_run(known, agents=("writer",))


def test_labels_of_something_else_are_left_out_and_named():
    scale = Scale(labels=("poor", "good"))
    scores = (score(label="good", scale=scale), score(label="en", agent="language"))
    found = read_run(run(item("1", {"Clarity": "poor"}, *scores)))
    assert found.judgements[0].metrics == {"judge": ("good",)}
    assert found.notes == ("Clarity: language never says one of people's labels (poor, good), but 'en', left out",)


def test_findings_of_assistants_count_where_they_are_asked_for():
    found = run(item("1", {"Clarity": 1.0}, score(1.0), findings=(Finding(assistant="rouge", value=0.5),)))
    assert of_run(found)[0].metrics.keys() == {"judge"}
    assert of_run(found, assistants=True)[0].metrics["rouge"] == (0.5,)


def pair(id: str, human: dict, first: str | None, second: str | None, criterion: str = "overall") -> Item:
    sides = [Comparison(criterion=criterion, agent="merge", verdict=v, order=o, status="ok" if v else "unreadable")
             for v, o in ((first, "AB"), (second, "BA"))]  # fmt: skip
    sample = Sample(id=id, output="a", rival="b", human=human)
    return Item(sample=sample, comparisons=tuple(sides), verdict=first)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["overall", "Verdict", "winner"])
@pytest.mark.parametrize("words", [("A", "tie"), ("first", "tie"), (1.0, "tie")])
def test_verdicts_are_held_against_what_people_call_the_winner(name: str, words: tuple):
    found = read_run(run(pair("1", {name: words[0]}, "A", "B"), pair("2", {name: words[1]}, None, "tie")))
    (one,) = found.judgements
    assert (one.kind, one.human) == ("verdict", (("A",), ("tie",)))
    assert one.metrics == {"merge": ("A", None)}
    assert one.exchanged == {"merge": ("B", "tie")}
    assert one.statuses == {"merge": ("ok", "unreadable")}
    assert found.notes == ()


def test_numbers_for_verdicts_must_be_said():
    found = run(pair("1", {"winner": 0.0}, "A", "A"), pair("2", {"winner": 1.0}, "B", "B"))
    with pytest.raises(ConfigError, match="say which is which"):
        of_run(found)
    (one,) = of_run(found, verdicts={"0": "A", "1": "B"})
    assert one.human == (("A",), ("B",))


def test_labels_take_their_order_from_the_scale():
    scale = Scale(labels=("poor", "fair", "good"))
    scores = score(label="fair", scale=scale)
    (one,) = of_run(run(item("1", {"clarity": "Good"}, scores)))
    assert (one.kind, one.human, one.metrics["judge"]) == ("label", (("good",),), ("fair",))
    assert one.label_order == ("poor", "fair", "good")


def test_a_scale_of_labels_a_and_b_holds_no_verdicts():
    scores = score(label="A", scale=Scale(labels=("A", "B", "C")))
    (one,) = of_run(run(item("1", {"clarity": "C"}, scores)))
    assert (one.kind, one.human) == ("label", (("C",),))


def test_what_speaks_another_language_is_left_out_and_named():
    found = read_run(run(item("1", {"Clarity": 2.0}, score(1.0), score(label="good", agent="other"))))
    assert found.judgements[0].metrics.keys() == {"judge"}
    assert found.notes == ("Clarity: other gave labels where people gave numbers, left out",)


WITHOUT = [
    (item("1", {}, score(1.0)), "no sample of the run holds people's judgements; give them as columns human.CRITERION"),
    (
        item("1", {"Tone": 1.0}, score(1.0)),
        "people judged it, and no criterion of the run has that name; name its column human.CRITERION of .* .Clarity.",
    ),
    (
        item("1", {"Clarity": 1.0}, score(1.0, stage="look")),
        "the run gives no answer by it, only scores of stage look: --stage takes these",
    ),
]


@pytest.mark.parametrize(("only", "said"), WITHOUT)
def test_a_run_with_nothing_to_compare_says_what_is_missing(only: Item, said: str):
    with pytest.raises(ConfigError, match=said):
        of_run(run(only))


def test_a_criterion_without_the_annotator_is_left_out_and_named():
    both = [
        item(str(i), {"Clarity": [1.0 * (i % 2), 1.0 * (i % 3)], "Tone": 1.0 * i}, score(1.0 * i),
             score(2.0 * i, criterion="Tone")) for i in range(6)
    ]  # fmt: skip
    found = jg.agreement(run(*both), annotators=2, resamples=0)
    assert {row.criterion for row in found.rows} == {"Clarity"}
    assert found.notes == ("Tone: the annotator 2 is wanted, and there is one, left out",)
    with pytest.raises(ConfigError, match="annotators: Clarity: the annotator 3 is wanted, and there are 2; Tone: "):
        jg.agreement(run(*both), annotators=3)


def test_agreement_takes_a_run_as_it_is(tmp_path: Path):
    items = [item(str(i), {"Clarity": float(i % 4)}, score(float(i % 3), criterion="clarity")) for i in range(12)]
    found = jg.agreement(run(*items, item("x", {}, score(2.0))), resamples=100)
    assert found.source == "mine|v:1"
    assert found.row("spearman", "judge", "Clarity").n == 12
    assert found.notes == ("Clarity: 1 item without a judgement of people, left out",)


def test_metrics_that_are_the_same_on_every_item_are_not_tested_against_each_other():
    both = [
        item(str(at), {"overall": at}, score(value, "overall"), score(6.0 - value, "overall", "other"),
             score(value, "overall", "twin"))
        for at, value in enumerate((1.0, 4.0, 2.0, 5.0))
    ]  # fmt: skip
    found = jg.agreement(run(*both), resamples=20)
    assert {(d.a, d.b) for d in found.differences} == {("judge", "other"), ("other", "twin")}
    assert "overall: judge and twin are the same on every item: not tested against each other" in found.notes
    compared = [
        item(str(at), {"overall": said}, comparisons=tuple(
            Comparison(criterion="overall", agent="merge", order=order, verdict=verdict)
            for order in ("AB", "BA", "both")
        ))
        for at, (said, verdict) in enumerate([("A", "A"), ("B", "A"), ("A", "tie"), ("B", "B")])
    ]  # fmt: skip
    found = jg.agreement(run(*compared), resamples=20)
    assert not found.differences
    assert [note for note in found.notes if "merge and merge (both orders) are the same on every item" in note]


def test_what_is_said_over_all_is_no_second_answer_beside_a_criterion_of_this_name():
    items = [
        item(str(at), {"Overall": at}, score(value, "Overall"), overall=value) for at, value in enumerate((1.0, 4.0))
    ]
    found = jg.agreement(run(*items), resamples=20)
    assert {row.metric for row in found.rows} == {"judge"}
    assert [one.samples for one in jg.require(run(*items), "overall >= 1")] == [2]
    without = jg.agreement(run(*(one.model_copy(update={"scores": ()}) for one in items)), resamples=20)
    assert {row.metric for row in without.rows} == {"overall"}


def test_intervals_do_not_depend_on_which_sample_finished_first():
    def both(at: int) -> tuple[Score, ...]:
        draft = score(float(at * 7 % 5), agent="judge", stage="draft")
        return draft, score(float(at * 3 % 5), draft=draft.key)

    items = [item(str(at), {"Clarity": float(at * 5 % 4)}, *both(at), place=at) for at in range(20)]
    found = [
        (
            [(row.value, row.interval) for row in jg.agreement(one).rows],
            [(gain.low, gain.high) for gain in worth.critics[0].gains],
        )
        for one in (run(*items), run(*items[::-1]), run(*items[1::2], *items[::2]))
        if (worth := jg.critic_worth(one)) is not None
    ]
    assert found[0] == found[1] == found[2]


def test_judgements_off_the_scale_are_told_and_those_on_another_scale_are_not():
    def of(*values: float) -> tuple[str, ...]:
        items = [item(str(at), {"Clarity": value}, score(3.0)) for at, value in enumerate(values)]
        return read_run(jg.Run({"signature": "s", "criteria": [{"name": "Clarity", "scale": "1-5"}]}, items)).notes

    (told,) = of(-1, 4, 5, 2)
    assert "off the scale 1-5: 1 of 4 judgements of people (-1 of sample '0' first)" in told
    assert of(90, 40, 70) == of(1, 5, 3) == ()


def test_two_judgements_under_names_of_one_criterion_are_refused_where_they_differ():
    assert read_run(run(item("1", {"Clarity": 2.0, "clarity": 2.0}, score(1.0)))).judgements[0].human == ((2.0,),)
    with pytest.raises(DataError, match=r"sample '1': human.Clarity and human.clarity are one criterion"):
        read_run(run(item("1", {"Clarity": 2.0, "clarity": 4.0}, score(1.0))))
