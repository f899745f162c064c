"""Replies by the grammars of other people's judges: what is read, by which step, and what is nothing."""

import string
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgegraph.errors import ConfigError
from judgegraph.forms.form import JudgeForm
from judgegraph.forms.readers import READERS, read_reply, reader_of
from judgegraph.forms.shipped import FORMS
from judgegraph.types import Scale

READ = [  # form, reply, step, what it says
    ("pandalm", "1", "exact", "A"),
    ("mt-bench-single", "Rating: [[7]]\nActually, I'm lowering this to 5.", "exact", 5.0),
    ("mt-bench-single", "Rating: [[7]]\nWith sources I would raise it to 9.", "exact", 7.0),
    ("pandalm", "Tie\n\n### Reason: 1 is as good as 2", "exact", "tie"),
    ("pandalm", "### Evaluation:\n2\n### Reason: x", "exact", "B"),
    ("pandalm", "**Response 2**\nbecause", "marks", "B"),
    ("pandalm", "I weighed both.\nVerdict: 1", "line", "A"),
    ("pandalm", "Response 2 is better.", "words", "B"),
    ("verdict", "Verdict: A, since B has errors", "line", "A"),
    ("verdict", "Answer: A - it is more complete than B\nB has errors.", "line", "A"),
    ("judgelm", "8 6\nThe first ...", "exact", (8.0, 6.0)),
    ("judgelm", "8  6 ", "marks", (8.0, 6.0)),
    ("judgelm", "7.5, 7.5", "marks", (7.5, 7.5)),
    ("judgelm", "**9/10 7/10**", "marks", (9.0, 7.0)),
    ("judgelm", "Assistant 1: 8\nAssistant 2: 6", "line", (8.0, 6.0)),
    ("judgelm-single", "7\nIt lacks ...", "exact", 7.0),
    ("judgelm-single", "10 7\nIt lacks ...", "marks", 7.0),
    ("autoj-pair", "So, the final decision is Response 2. Good.", "exact", "B"),
    ("autoj-pair", "final decision is **Response 1**", "marks", "A"),
    ("autoj-pair", "the final decision is Tie", "exact", "tie"),
    ("autoj-single", "Fine.\nRating: [[5]]", "exact", 5.0),
    ("autoj-single", "Fine.\nRating: 7", "marks", 7.0),
    ("prometheus2-absolute", "Good. [RESULT] 4", "exact", 4.0),
    ("prometheus2-absolute", "**[RESULT] 4**", "marks", 4.0),
    ("prometheus2-absolute", "[RESULT] 4.", "marks", 4.0),
    ("prometheus2-absolute", "[RESULT] 4</s>", "marks", 4.0),
    ("prometheus2-absolute", "[RESULT] (4/5)\nI hope this helps.", "marks", 4.0),
    ("prometheus2-absolute", "Score: 4", "line", 4.0),
    ("prometheus2-absolute", "I give it four out of five.", "words", 4.0),
    ("prometheus2-relative", "Both fine. [RESULT] B", "exact", "B"),
    ("prometheus2-relative", "[RESULT] (A)", "marks", "A"),
    ("prometheus2-relative", '[RESULT] "Response B".\nDone', "marks", "B"),
    ("mt-bench-pair", "... [[C]]", "exact", "tie"),
    ("mt-bench-pair", "[[Assistant A]]", "marks", "A"),
    ("mt-bench-single", "As [1] and [2] say. Rating: [[7.5]]", "exact", 7.5),
    ("mt-bench-single", "As [1] says.\nRating: [6]", "line", 6.0),
    ("llmbar", "Output (a)", "exact", "A"),
    ("llmbar", "Output (b) is better.\nOutput (a) lacks a date.", "line", "B"),
    ("selene-absolute", "**Reasoning:** so\n\n**Result:** 4", "exact", 4.0),
    ("selene-pair", "Result: B", "marks", "B"),
    ("flow-judge", "<feedback>x</feedback>\n<score>\n3\n</score>", "exact", 3.0),
    ("glider", "<score>2.5</score>", "exact", 2.5),
    ("judgelrm", "hm 3 and 9</think><answer>7</answer><answer>3</answer>", "exact", (7.0, 3.0)),
    ("rm-r1", "<eval>[[A]]?</eval><answer>[[B]]</answer>", "exact", "B"),
    ("compassjudger", '{"Choice": "Model A"}', "exact", "A"),
]
UNREAD = [  # form, reply, what its shape says; each is a tie, a -1 or a 0.0 to the authors' own code, or read wrongly
    (
        "verdict",
        "Answer: B is worse than A",
        "the words behind the label do not say that it is better: is worse than A",
    ),
    ("verdict", "Verdict: A is worse.", "the words behind the label do not say that it is better: is worse."),
    ("verdict", "Answer: B loses", "the words behind the label do not say that it is better: loses"),
    (
        "verdict",
        "The answer A is wrong; B wins",
        "the words behind the label do not say that it is better: is wrong; B wins",
    ),
    ("verdict", "Answer: A/B", "two labels, and none is chosen"),
    ("mt-bench-pair", "[[A]] or [[B]]", "two labels, and none is chosen"),
    ("prometheus2-absolute", "Feedback: fine. [RESULT] 3-4", "two numbers, and none is chosen"),
    ("prometheus2-absolute", "Feedback: fine. [RESULT] 3 or 4", "two numbers, and none is chosen"),
    ("prometheus2-absolute", "Feedback: fine. [RESULT] 4\nScratch that.", "an answer that is taken back"),
    ("pandalm", "1. Response 2 is clearer.", "a label wanted"),
    ("verdict", "Answer: A\nNo, wait: B", "A, and then B"),
    ("prometheus2-relative", "Both will do. [RESULT] A or B", "two labels, and none is chosen"),
    ("pandalm", "Both have their points", "0 numbers in its first line"),
    ("pandalm", "1 2", "2 numbers in its first line"),
    ("judgelm", "8", "1 numbers in its first line, two numbers wanted"),
    ("judgelm", "-1 -1", "off the scale 1-10 any: -1, -1"),
    ("judgelm", "11 3", "off the scale"),
    ("autoj-single", "A good text.", "not as 'Rating: [[n]]'"),
    ("autoj-single", "Rating: [[0]]", "off the scale 1-10: 0"),
    ("autoj-pair", "the final decision is Response 3", "not as 'final decision is'"),
    ("prometheus2-absolute", "[RESULT] 7", "off the scale 1-5: 7"),
    ("prometheus2-absolute", "[RESULT] 4/10", "counted out of 10"),
    ("prometheus2-relative", "[RESULT] Tie", "none of the labels: Tie"),
    ("mt-bench-pair", "[[A, B]]", "none of the labels: A, B"),
    ("mt-bench-single", "[1] says it. [2] too.", "not as '[[n]]'"),
    ("flow-judge", "<feedback>fine</feedback>", "not as '<score>n</score>'"),
    ("judgelrm", "<answer>7</answer>", "not as two"),
    ("pandalm", "", "empty"),
    ("pandalm", "<think>1</think>", "all thought"),
]


def said(form: str, reply: str):
    reading = read_reply(reply, FORMS[form], Scale.of("0-5"))
    return reading, reading.value if reading.value is not None else reading.values or reading.verdict


@pytest.mark.parametrize(("form", "reply", "step", "expected"), READ)
def test_a_reply_is_read_by_the_first_step_that_finds_a_verdict(form, reply, step, expected):
    reading, got = said(form, reply)
    assert (reading.status, reading.step, got) == ("ok", step, expected)


@pytest.mark.parametrize(("form", "reply", "shape"), UNREAD)
def test_a_broken_reply_is_unreadable_with_its_shape_and_never_a_verdict(form, reply, shape):
    reading, got = said(form, reply)
    assert (reading.status, got, reading.step) == ("unreadable", None, "")
    assert shape in reading.shape


def test_every_shipped_form_is_read_by_a_reader_of_its_kind_and_every_reader_serves_a_form():
    assert {reader_of(form).name for form in FORMS.values()} == set(READERS)
    assert {form for form, *_ in READ} | {"rating", "verdict", "prometheus", "autoj-critiques"} >= {
        name for name in FORMS if not name.endswith("-reference")
    }


def test_of_two_different_marks_the_last_counts_and_the_other_is_told():
    for form, reply, other in (
        ("mt-bench-pair", "I first thought [[A]], but [[B]]", "A"),
        ("prometheus2-absolute", "[RESULT] 3 is too low. [RESULT] 4", "3"),
        ("autoj-single", "Rating: [[2]] no\nRating: [[6]]", "2"),
    ):
        reading, _ = said(form, reply)
        assert (reading.status, reading.other) == ("ok", other), reply


def test_equal_scores_are_a_tie_and_scores_decide_by_position():
    assert [said("judgelm", reply)[0].verdict for reply in ("8 6", "6 8", "7 7")] == ["A", "B", "tie"]


MARKS = (
    "[[A]]",
    "[[B]]",
    "1",
    "2",
    "tie",
    "8 6",
    "[RESULT] 2",
    "Rating: [[1]]",
    "<score>1</score>",
    "final decision is",
)
WRAPS = ("<think>{}</think>\n", "<reasoning>{}</reasoning>", "[THINK]{}[/THINK]\n", "{}</think>")
THOUGHTS = st.lists(st.one_of(st.sampled_from(MARKS), st.text(string.ascii_letters + " .,\n", max_size=30))).map(
    " ".join
)


@settings(max_examples=60)
@given(row=st.sampled_from([row[:2] for row in READ + UNREAD if "think" not in row[1] and row[1]]), thought=THOUGHTS,
       wrap=st.sampled_from(WRAPS))  # fmt: skip
def test_what_is_wrapped_around_a_reply_as_thought_changes_nothing(row, thought, wrap):
    form, reply = row
    assert said(form, wrap.format(f"so {thought} ") + reply) == said(form, reply)


DRESS = st.sampled_from(("**{}**", "`{}`", "{}</s>", "{}\n", "\n\n{}", "{}<|im_end|>"))


@settings(max_examples=60)
@given(row=st.sampled_from([row for row in READ if row[2] == "exact" and "\n" not in row[1] and "{" not in row[1]]),
       dress=DRESS)  # fmt: skip
def test_markdown_and_tokens_around_a_reply_change_its_step_and_never_its_verdict(row, dress):
    form, reply, _, expected = row
    reading, got = said(form, dress.format(reply))
    assert (reading.status, got) == ("ok", expected)


def test_a_form_of_another_kind_than_its_reader_or_of_no_reader_is_refused():
    with pytest.raises(ConfigError, match="no reader 'psychic'; known: answer-label"):
        reader_of(JudgeForm(name="mine", kind="single", reader="psychic"))
    with pytest.raises(ConfigError, match="of kind 'single', and its reader 'double-brackets' gives a verdict"):
        reader_of(replace(FORMS["verdict"], kind="single"))
