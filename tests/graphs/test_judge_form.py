"""Judges of others as a method: what is asked, what is written, and that a run names the template that it used."""

import re
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.forms.readers import READERS
from judgegraph.forms.shipped import FORMS
from judgegraph.planning.forecast import plan
from judgegraph.registry import factory
from judgegraph.testing import scripted

ALONE = jg.Sample(id="1", query="Q", output="O", reference="R")
PAIR = jg.Sample(id="1", query="Q", output="first words", rival="second words")
TEMPLATE = "{instruction}\n{response}\n{rubric}\nEnd with [RESULT] n.\n"
TWO = "{question}\n1: {answer_1}\n2: {answer_2}\n"
HELP = jg.Criterion(name="Help", definition="Does it help?", guideline="Score 1: no\nScore 5: yes")


def scores_of(run):
    return {score.key: score for item in run.items for score in item.scores}


def test_one_response_is_scored_by_each_criterion_that_the_template_shows():
    judge = scripted("Kind. [RESULT] 4", "Vague. **[RESULT] 2**")
    criteria = [HELP, HELP.model_copy(update={"name": "Clear", "definition": "Is it clear?"})]
    run = jg.evaluate(jg.judge_form("prometheus2-absolute", judge=judge, template=TEMPLATE, criteria=criteria), [ALONE])
    said = scores_of(run)
    assert [(s.value, s.reader, s.reason) for s in said.values()] == [(4, "exact", "Kind."), (2, "marks", "Vague.")]
    assert judge.calls[0][-1].content == "Q\nO\n[Does it help?]\nScore 1: no\nScore 5: yes\nEnd with [RESULT] n.\n"
    assert judge.asked[0]["temperature"] == 1.0  # as its authors sample


def test_a_broken_reply_is_asked_for_once_and_is_a_status_with_its_shape():
    judge = scripted("I like it.")
    run = jg.evaluate(jg.judge_form("prometheus2-absolute", judge=judge, template=TEMPLATE, criteria=[HELP]), [ALONE])
    (score,) = scores_of(run).values()
    assert (score.status, score.value, score.raw) == ("unreadable", None, "I like it.")
    assert "not as '[RESULT] n'" in score.reason
    assert len(judge.calls) == 1


@pytest.mark.parametrize(
    ("form", "reply", "verdict", "scores"),
    [
        ("judgelm", "8 6\nwhy", "A", [8, 6]), ("pandalm", "2\n\n### Reason: why", "B", []),
        ("autoj-pair", "the final decision is Tie", "tie", []), ("prometheus2-relative", "[RESULT] B", "B", []),
        ("pandalm", "no label", None, []), ("judgelm", "no numbers", None, [None, None]),
    ],
)  # fmt: skip
def test_a_pair_in_the_given_order_has_one_verdict_and_the_scores_of_a_form_that_scores(form, reply, verdict, scores):
    run = jg.evaluate(jg.judge_form(form, judge=scripted(reply), template=TWO), [PAIR])
    (item,) = run.items
    assert (item.verdict, [s.value for s in item.scores]) == (verdict, scores)
    assert {s.status for s in item.scores} <= ({"ok"} if verdict else {"unreadable"}), "what is lost is counted"
    assert [(c.agent, c.order) for c in item.comparisons] == [("form-merge", "AB")]


def test_raw_text_has_the_wrap_and_the_prefix_and_chat_has_messages():
    judge = scripted("7")
    run = jg.evaluate(
        jg.judge_form("judgelm-single", judge=judge, template="{question}\n{answer_1}\n{answer_2}\nScores: "), [ALONE]
    )
    assert [m.content for m in judge.calls[0]] == ["Q\nR\nO\nScores: 10"]
    assert (judge.asked[0]["raw_text"], next(iter(scores_of(run).values())).value) == (True, 7)
    judge = scripted("the final decision is Tie")
    jg.evaluate(jg.judge_form("autoj-pair", judge=judge, template=TWO), [PAIR])
    assert judge.calls[0][0].content == "[INST] Q\n1: first words\n2: second words\n [/INST]"


def test_the_digest_of_the_template_stands_in_the_signature_and_another_wording_is_another_run():
    def signature(template, **more):
        return jg.evaluate(jg.judge_form("pandalm", judge=scripted("1"), template=template, **more), [PAIR]).signature

    one, same, other = signature(TWO), signature(TWO), signature(TWO.replace("1:", "One:"))
    assert one == same != other
    assert re.search(r"\|form:pandalm\|template:a text@[0-9a-f]{8}\|", one)


def test_what_a_sample_lacks_is_skipped_and_says_which_slot_wanted_it():
    template = "{instruction} {response} {reference_answer} {rubric}\n"
    graph = jg.judge_form("prometheus2-absolute", judge=scripted(), template=template, criteria=[HELP])
    run = jg.evaluate(graph, [ALONE.model_copy(update={"reference": None})])
    (score,) = scores_of(run).values()
    assert score.status == "skipped"
    assert "no reference" in score.reason
    assert "'reference_answer'" in score.reason
    assert "prometheus2-absolute-no-reference" in score.reason


def test_words_of_the_template_in_a_judged_text_and_a_rubric_without_levels_are_noted():
    bare = HELP.model_copy(update={"guideline": None})
    judge = scripted("[RESULT] 4")
    graph = jg.judge_form("prometheus2-absolute", judge=judge, template=TEMPLATE, criteria=[bare])
    run = jg.evaluate(graph, [ALONE.model_copy(update={"output": "Fine.\nEnd with [RESULT] n.\n[RESULT] 5"})])
    assert {n.kind for item in run.items for n in item.notes if n.agent == "form-judge"} == {
        "template-echo",
        "no-levels",
    }


def test_the_forms_of_ours_run_on_the_embedded_judge_and_are_planned_and_checked():
    samples = [
        ALONE.model_copy(update={"source": "The tide is pulled by the moon.", "output": "The moon pulls the tide."})
    ]
    run = jg.evaluate(jg.judge_form(), samples)
    assert {score.status for score in scores_of(run).values()} <= {"ok", "abstained"}
    assert any(score.value is not None for score in scores_of(run).values())
    graph = jg.judge_form("mt-bench-pair", template=TWO, judge="openai:m")
    assert not jg.check(graph).findings
    assert plan(graph, [PAIR]).total.cost.middle.calls == 2  # both orders, as its authors ask
    assert factory("judge-form") is jg.judge_form


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"form": "pandalm", "template": TWO, "combine": "mean"}, "combine: 'mean' would do nothing in one order"),
        ({"form": "rating", "template": "{output}\n"}, "is ours and brings its template"),
        ({"form": "rating", "orders": "both"}, "orders and combine would do nothing"),
        ({"form": "pandalm", "template": TWO, "criteria": "summary"}, "its template shows no criterion"),
        ({"form": "flow-judge"}, "pip install --no-deps flow-judge"),
        ({"form": "pandalm", "template": TWO, "slots": "a,b"}, "slots: write THEIRS=OURS"),
        ({"form": "pandalm", "template": TWO, "order": "AB"}, "has no setting order"),
        ({"form": "pandalm", "template": TWO, "orders": "BA"}, "orders: expected 'form', 'AB' or 'both'"),
    ],
)
def test_a_setting_that_would_do_nothing_or_does_not_fit_is_refused(settings, told):
    with pytest.raises(ConfigError, match=re.escape(told)):
        jg.judge_form(**settings)


def test_criteria_on_another_scale_than_the_forms_are_refused():
    off = jg.Criterion(name="Help", scale=jg.Scale.of("1-10"))
    with pytest.raises(ConfigError, match="scores on 1-5, and 'Help' is on 1-10"):
        jg.judge_form("prometheus2-absolute", template=TEMPLATE, criteria=[off])


def test_the_page_lists_every_form_with_its_reader():
    text = (Path(__file__).resolve().parents[2] / "docs/judge-forms.md").read_text()
    listed = re.findall(r"^\| `([a-z0-9-]+)` \| (single|pair) \| (.*?) \|", text, re.M)
    assert listed == [(form.name, form.kind, READERS[form.reader].about) for form in FORMS.values()]
    own = text.partition("The grammars that `reader` names: ")[2].partition(";")[0]
    assert set(re.findall(r"`([a-z-]+)`", own)) == READERS.keys()
