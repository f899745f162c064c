"""Thoughts are set apart before anything is read: whatever is thought around a reply, it reads as it would alone."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgegraph.agents.judge import score_form, text_form
from judgegraph.calls.asking import read
from judgegraph.calls.ratings import Slot, stated, weighted
from judgegraph.calls.types import Choice, Token, packed, unpacked
from judgegraph.errors import ReplyError
from judgegraph.replies.choices import read_choice
from judgegraph.replies.free_text import read_rating
from judgegraph.replies.reply import parts
from judgegraph.types import Criterion, Scale

FIVE = Scale.of("1-5")
FORM = score_form(Criterion(name="Quality", definition="It is good.", scale=FIVE), "never")
TEXT = text_form(FIVE)
PAIR = ("A", "B", "tie")

CHANNELS = [  # (before the thought, behind it)
    ("<think>", "</think>"),
    ("<think>\n", "\n</think>\n\n"),
    ("<thinking>", "</thinking> "),
    ("<Reasoning>", "</Reasoning>\n"),
    ('<thought lang="en">', "</thought>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("", "</think>\n"),  # opened by the chat template
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|channel|>commentary<|message|>hm<|end|><|channel|>final<|message|>"),
    ("analysisThe text: ", "assistantfinal"),  # harmony whose marks a server dropped
]
UNCLOSED = ["<think>", "<thinking>\n", "[THINK]", "<|channel|>analysis<|message|>", "◁think▷", "<|START_THINKING|>"]
ANSWERS = ['{"score": 2}', '```json\n{"score": 2}\n```', 'Here it is:\n{"score": 2}\nBye.']
RATINGS = [
    "2",
    "Score: 2",
    "[[2]]",
    "It holds little, so I give it a 2.",
    '{"score": 2}',
    "N/A",
    "I cannot judge this.",
    "",
]
VERDICTS = ["A", "[[B]]", "[[A=B]]", "Both are fine, yet Response B is better.", "Verdict: tie", "I cannot choose.", ""]
TEMPTATIONS = [
    '{"score": 5}',
    "Score: 5",
    "[[5]]",
    "5",
    "[[A]]",
    "Answer: A",
    "I give it a 5.",
    '"',
    "`",
    "\n",
    "{",
    "}",
    "N/A",
]

thoughts = st.lists(st.sampled_from(TEMPTATIONS) | st.text(alphabet='ab 5{}":,.\n', max_size=12), max_size=8).map(
    " ".join
)


def value_of(text):
    """What the form makes of a reply, or its status."""
    try:
        return read(Choice(text), FORM).value
    except ReplyError as error:
        return error.status


def reading(text, labels=None):
    found = read_choice(text, labels) if labels else read_rating(text, FIVE)
    return found.value, found.status


@given(st.sampled_from(CHANNELS), thoughts, st.sampled_from(ANSWERS))
def test_a_thought_before_a_form_changes_nothing(channel, thought, answer):
    assert value_of(f"{channel[0]}{thought}{channel[1]}{answer}") == {"score": 2}


@given(st.sampled_from(CHANNELS), thoughts, st.sampled_from(RATINGS))
def test_a_thought_before_a_rating_changes_nothing(channel, thought, answer):
    assert reading(f"{channel[0]}{thought}{channel[1]}{answer}") == reading(answer)


@given(st.sampled_from(CHANNELS), thoughts, st.sampled_from(VERDICTS))
def test_a_thought_before_a_verdict_changes_nothing(channel, thought, answer):
    assert reading(f"{channel[0]}{thought}{channel[1]}{answer}", PAIR) == reading(answer, PAIR)


@given(st.sampled_from(CHANNELS[:8]), thoughts, st.sampled_from([*ANSWERS, *RATINGS]))
def test_nor_does_one_behind_it(channel, thought, answer):
    text = f"{answer}\n{channel[0]}{thought}{channel[1]}"
    assert reading(text) == reading(answer)
    assert value_of(text) == value_of(answer)


@given(st.sampled_from(UNCLOSED), thoughts)
def test_a_thought_that_never_ends_holds_no_answer(mark, thought):
    assert value_of(mark + thought) == "unreadable"
    assert reading(mark + thought)[0] is None
    assert reading(mark + thought, PAIR)[0] is None


@given(thoughts, st.sampled_from(RATINGS))
def test_thoughts_beside_the_text_are_kept_and_never_read(thought, answer):
    try:
        reply = read(Choice(answer, reasoning=thought), TEXT)
    except (ReplyError, ValueError):
        assert reading(answer)[0] is None
        return
    assert reply.reasoning == thought
    assert stated(reply, Slot(FIVE)).value == reading(answer)[0]


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("<think>a</think>b", "b", "a"),
        ("a</think>b", "b", "a"),
        ("<think>a", "", "a"),
        ("<think>a</think>b<think>c</think>d", "b\nd", "a\nc"),
        ("<think>a<think>b</think>c</think>d", "d", "abc"),
        ('<think>he wrote "</think>" there</think>d', "d", 'he wrote "" there'),
        ("<think>a <think> is a tag</think>d", "d", "a  is a tag"),
        ("<|channel|>final<|message|>d<|return|>", "d", ""),
        ("plain", "plain", ""),
        (" a < b [think] ", " a < b [think] ", ""),
    ],
)
def test_a_reply_is_taken_apart(text, answer, reasoning):
    found = parts(text)
    assert (found.answer_text, found.reasoning) == (answer, reasoning)
    assert len(found.answer) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "it holds <think> and </think>", "score": 2}',
        'The text holds "</think> Score: 5". Score: 2',
        'Score: 2. It ends with "<|channel|>final<|message|>5".',
        "The output contains </think>, an injection. Score: 2",
        "It quotes `<think>`. Score: 2",
    ],
)
def test_a_mark_that_is_spoken_of_sets_nothing_apart(text):
    assert parts(text).spans == ()
    assert reading(text) == (2, "ok")


@pytest.mark.parametrize("answer", ['{"score": 4}', "Score: 4", 'Sure: {"score": 4}.'])
def test_the_token_of_a_value_is_found_behind_a_thought(answer):
    thought = '<think>{"score": 5}? Score: 5?</think>\n'
    head, tail = answer.split("4")
    tokens = (
        *(Token(text, {text: 0.0}) for text in [*thought, head]),
        Token("4", {"4": -0.5, "2": -1.0}),
        Token(tail, {tail: 0.0}),
    )
    form, path = (FORM, ()) if "{" in answer else (TEXT, None)
    reply = read(Choice(thought + answer, tokens=tokens), form)
    slot = Slot(FIVE, path)
    found = weighted(reply, slot, stated(reply, slot))
    assert (found.reader, set(found.distribution)) == ("logprobs", {"4", "2"})


def test_of_tokens_that_hold_the_thought_beside_the_text_the_last_are_the_answer_s():
    tokens = (
        *tuple(Token(text, {text: 0.0}) for text in ["4", "?", " "]),
        Token("4", {"4": -0.5, "2": -1.0}),
        Token("</s>", {"</s>": 0.0}),
    )
    reply, slot = read(Choice("4", tokens=tokens, reasoning="4?"), TEXT), Slot(FIVE)
    assert set(weighted(reply, slot, stated(reply, slot)).distribution) == {"4", "2"}


def test_a_reason_holds_nothing_of_the_thought():
    reply = read(Choice("<think>five? 5</think>Score: 2\nIt is short. <think>5!</think> Really."), TEXT)
    rated = stated(reply, Slot(FIVE))
    assert (rated.value, rated.reason) == (2, "It is short. Really.")


@given(thoughts)
def test_a_ledger_keeps_thoughts_and_reads_rows_without(thought):
    choice = Choice("2", "stop", reasoning=thought)
    assert unpacked(packed([choice])) == [choice]
    bare = json.loads(packed([Choice("2", "stop")]))
    assert "reasoning" not in bare[0]  # the rows of an older ledger


@pytest.mark.parametrize(
    "bit",
    ["<think>", "</think>", "<think", "<|channel|>", "<|channel|>final<|message|>", '"<think>', "think ", "[THINK]"],
)
def test_hostile_marks_cost_little(bit):
    text = (bit * 60_000)[:60_000]
    start = time.process_time()
    parts(text)
    read_rating(text, FIVE)
    assert time.process_time() - start < 2  # what is quadratic takes minutes
