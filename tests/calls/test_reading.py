"""Ratings in free text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgegraph.replies.free_text import read_rating
from judgegraph.types import Scale

ANSWERS = [
    ("2", "1-5", 2),
    ("2.", "1-5", 2),
    ("2\n", "1-5", 2),
    ("\n2", "1-5", 2),
    (" 4", "1-5", 4),
    ("- 2", "1-3", 2),
    ("4.5", "1-5", 4.5),
    ("10", "1-10", 10),
    ("Score: 10", "1-10", 10),
    ("0.85", "0-1 any", 0.85),
    ("Score: .5", "0-1 any", 0.5),
    ("Four", "1-5", 4),
    ("**4**", "1-5", 4),
    ("2. Somewhat dull", "1-3", 2),
    ("Somewhat dull (2)", "1-3", 2),
    ("4\n\nIt names all 3 causes.", "1-5", 4),
    ("It drops the goal in minute 7. 3", "1-5", 3),
    ("Final score: 4.", "1-5", 4),
    ("**Score:** 4", "1-5", 4),
    ("**Score**: 4", "1-5", 4),
    ("Score - 4", "1-5", 4),
    ("Response Score: 4", "1-5", 4),
    ("Score (1-5): 4", "1-5", 4),
    ('{"score": 4}', "1-5", 4),
    ("Rating: 2\nOne point each for 3 reasons.", "1-3", 2),
    ("Analysis: 3 errors in 2 lines.\nRating: 1", "1-3", 1),
    ("Clarity score: 3. Depth score: 4. Overall: 5", "1-5", 5),
    ("Therefore the score is: 5", "1-5", 5),
    ("Rating: 2\nReason: to get a rating: 3 it lacks facts.", "1-5", 2),
    ("Score: 2. On reflection, score: 3.", "1-5", 3),
    ("Score: 5\n\nThe date is made up, so I'm lowering this to a 3.", "1-5", 3),
    ("Score: 4. The second source is dead, which drops it to 2.", "1-5", 2),
    ("Score: 5\n\nAfter checking the proof, the score becomes 3.", "1-5", 3),
    ("Score: 3. Upgrading to 4 because the code does run.", "1-5", 4),
    ("Extracted answer: 7\nReference answer: 7\nScore: 10", "1-10", 10),
    (r"The student's answer is \boxed{3}, as it should be. Score: 5", "1-5", 5),
    ("1. I would rate this a 4.", "1-5", 4),
    ("I rate Response 1 as 4.", "1-5", 4),
    ("Examples are needed for a score of 5; here there are none. Score of 3.", "1-5", 3),
    ("1 - dull\n2 - fine\n3 - gripping\n\nMy rating: 2", "1-3", 2),
    ("4<|im_end|>\n<|im_start|>user\nAnd this?<|im_end|>\n<|im_start|>assistant\n2", "1-5", 4),
    ("Rating: 4\nUser: Now rate this one.\nAssistant: Rating: 2", "1-5", 4),
    ("Since parts are missing, I can't justify the top score; 3 feels right.", "1-5", 3),
    ("Weighing all of this, I'd put it at a 3.", "1-5", 3),
    ("A generous 4.", "1-5", 4),
    ("La respuesta merece un 4.", "1-5", 4),
    ("La note est de 3.", "1-5", 3),
    ("Das verdient eine 2.", "1-5", 2),
    ("我给这个回答打2分。", "1-5", 2),
    ("評価は4です。", "1-5", 4),
    ("Score: 3½", "1-5", 3.5),
    ("Score: 4<|endoftext|>Score: 2", "1-5", 4),
    ("Length: 120/200\nClarity: 4/5", "1-5", 4),
    ("Score: 4\n\nHmm, I think 3 is fairer.", "1-5", 3),
    ("A point was taken from the base score of 5. So the final score for the story was 4.", "1-5", 4),
    (r"It holds.\nScore: 3", "1-5", 3),
    ("Coherence: 3", "1-5", 3),
    ("Score for this question: -1", "-2-0", -1),
    ("[[5]]", "1-10", 5),
    ("Rating: [[5]]", "1-10", 5),
    ("Feedback: it is 4 lines long. [RESULT] 3", "1-5", 3),
    ("<score>4</score>", "1-5", 4),
    (r"so \boxed{4}", "1-5", 4),
    ("3/5", "1-5", 3),
    ("It scores 1 point.", "1-5", 1),
    ("it scores 1 point", "1-5", 1),
    ("I give it 2 points, as it rambles.", "1-5", 2),
    ("The summary scores 1 point out of 5", "1-5", 1),
    ("It gets 3 stars out of 5.", "1-5", 3),
    ("It gets 2/5 from me.", "1-5", 2),
    ("four out of five", "1-5", 4),
    ("4 out of 5", "1-5", 4),
    ("That makes it four out of five for flow.", "1-5", 4),
    ("Four stars. The plot holds.", "1-5", 4),
    ("It flows, hence a score of four", "1-5", 4),
    ("I would rate this a 4", "1-5", 4),
    ("I give it a 3, as two facts are missing.", "1-5", 3),
    ("The text does not flow and earns a 2.", "1-5", 2),
    ("The dialogue is a 4 because it stays on topic", "1-5", 4),
    ("80%", "0-1 any", 0.8),
    ("85%", "0-100", 85),
    ("4/5", "0-1 any", 0.8),
    ("Score: three and a half", "1-5", 3.5),
    ("Score: 3 and a half", "1-5", 3.5),
    ("Rating: 3 1/2", "1-5", 3.5),
    ("I rate it two and a quarter.", "1-5", 2.25),
    ("Score: 3 and a half-hearted end", "1-5", 3),
    ("Score: 4 - 2 errors", "1-5", 4),
    ("Step 1 -> 2 is missing.\nScore: 4", "1-5", 4),
    ("Rating: 2 -> 3\nFinal rating: 3", "1-5", 3),
    ("Rating: **2** → **3**", "1-5", 3),
    ("Score: 2/5 => 3/5", "1-5", 3),
    ("Note : 3,5 / 5", "1-5", 3.5),
    ("Je donne 3,5 sur 5.", "1-5", 3.5),
    ("6,5", "1-10", 6.5),
    ("Score = 4,0", "1-5", 4),
    ("Insgesamt: 3,5 Punkte", "1-5", 3.5),
    ("★★★½", "1-5", 3.5),
    ("0.8 (80%)", "0-1 any", 0.8),
    ("4 = Good", "1-5", 4),
    ("It cannot be rated higher: 2", "1-5", 2),
    ("Score: 4 - it is short", "1-5", 4),
]
ECHOES = [
    ("On a scale of 1-5: 4", 4),
    ("Score [1, 5]: 3", 3),
    ("Score (1, 5): 3", 3),
    ("Score [1,5]: 3", 3),
    ("Score [1-5]: 3", 3),
    ("Rating [1 to 5]: **3**", 3),
    ("On [1, 5]: four", 4),
    ("from 1 to 5, I give 3", 3),
    ("Between 1 and 5, this is a 2", 2),
    ("With 1 (poor) to 5 (great) in mind, I say a 3.", 3),
    ("On the 5-point scale it gets a 2.", 2),
    ("Where 1 = poor and 5 = great, the score is 4.", 4),
    ("A score of 5 would need an ending; it earns a 3.", 3),
    ("It is a 4 out of 5, as it doesn't quite reach a full 5 out of 5.", 4),
    ("I cannot give it a 5; I give it a 3.", 3),
    ("1. It rambles.\n2. It stops.\n\n4", 4),
    ("1. It rambles.\n2. It stops.\nScore: 3", 3),
    ("1. 2", 2),
    ("In 2019 there were 40 of them. Rating: 3", 3),
    ("Summary 2 is dull, so it gets a 1", 1),
]
NO_ANSWER = [
    "",
    "(1-5)",
    "Rate it on a scale of 1 to 5.",
    "This is about a 5-point scale.",
    "7",
    "0",
    "Score: 7",
    "Score: -1",
    "8/10",
    "80%",
    "Score: 3-4",
    "Score: 4 - 5",
    "4 - 5",
    "Score: **4 – 5**.",
    "Score: 4 - 5 out of 5",
    "Score: [4, 5]",
    "Score: (4, 5)",
    "Score: 5 and a half",
    "Score: three quarters",
    "3 or 4",
    "It has 3 errors.",
    "In 1999 they met.",
    "1. It rambles.\n2. It stops.",
    "1. 2\n2. 3\n3. 2",
    "Coherence: 3\nFluency: 4",
    "Clarity score: 3. Depth score: 4.",
    "Score 1: no plot\nScore 2: some plot\nScore 3: a plot",
    "Errors: 3",
    "It keeps 2 of 5 facts.",
    "It scores 2 on flow and 4 on facts.",
    "It scores 1 point for style and 2 points for facts",
    "It scores 1 point less than that.",
    "It cannot get a score out of 5",
    "Yes",
    "cannot be rated: 2",
    "This text can't be scored: 2",
    "Not rated: 2",
    "It is at least 3.",
    "gpt-4 wrote it",
    "[[4]], or [[2]]",
    "4 unless style matters, then 2",
    "4, or perhaps 2",
    "4, alternatively 2",
    "4 (or 2)",
    "Score: 4 (strict) / 2 (lenient)",
    "4 (strict) 5 (lenient)",
    "**4**, but **2** for style",
    "4 vs 2",
    "Score: 4 vs. 2",
    "[[4]] or [[2]]",
    "Rating: [[4]], [[2]]",
]
REFUSALS = [
    "I'm sorry, but I cannot rate this text.",
    "As an AI, I don't have opinions about 5 stories.",
    "I can't help with that.",
    "I am unable to judge it without a source.",
]


@pytest.mark.parametrize(("text", "scale", "value"), ANSWERS)
def test_a_stated_rating_is_read(text, scale, value):
    reading = read_rating(text, Scale.of(scale))
    assert (reading.value, reading.status) == (value, "ok")


@pytest.mark.parametrize(("text", "value"), ECHOES)
def test_the_scale_s_own_numbers_and_list_marks_are_no_answer(text, value):
    assert read_rating(text, "1-5").value == value


@pytest.mark.parametrize("text", NO_ANSWER)
def test_what_is_no_clear_rating_on_the_scale_is_unreadable(text):
    reading = read_rating(text, "1-5")
    assert (reading.value, reading.status, reading.span) == (None, "unreadable", None)
    assert reading.rule


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_without_a_rating_is_refused(text):
    assert read_rating(text, "1-5").status == "refused"


ABSTENTIONS = [
    "N/A",
    "**n/a**",
    "null",
    "I abstain.",
    "Score: N/A",
    "**Response Score:** N/A\nExplanation: it has 3 parts",
    "Coherence: not applicable",
    "Not applicable to poems, of which there are 3.",
    "No evidence: none of my 3 text features belongs to Rhyme.",
    "It has 3 parts and no plot. Score: N/A",
]


@pytest.mark.parametrize("text", ABSTENTIONS)
def test_an_abstention_is_no_number_whatever_stands_beside_it(text):
    reading = read_rating(text, "1-5")
    assert (reading.value, reading.status, reading.span) == (None, "abstained", None)


@pytest.mark.parametrize(
    "text", ["No evidence of jumps. Score: 4", "Null pointers are handled. Score: 4", "Score: 4. Its author: N/A"]
)
def test_what_only_looks_like_an_abstention_is_read(text):
    assert read_rating(text, "1-5").value == 4


def test_a_rating_after_an_apology_counts():
    assert read_rating("I'm sorry, but it is weak. Score: 2", "1-5").value == 2


@pytest.mark.parametrize(
    ("text", "token"), [("Final score: 4.", "4"), ("A score of four.", "four"), ("x " * 9000 + "Score: 3", "3")]
)
def test_the_span_holds_the_value(text, token):
    start, end = read_rating(text, "1-5").span
    assert text[start:end] == token


def test_a_label_scale_reads_a_label():
    assert read_rating("The tone is positive.", Scale.of(["positive", "negative"])).value == "positive"


def test_a_long_reply_is_read_at_both_ends():
    filler = "the plot goes on and on " * 2000
    assert read_rating(f"Score: 4\n{filler}", "1-5").value == 4
    assert read_rating(f"{filler}\nScore: 4", "1-5").value == 4


@given(st.text(max_size=400), st.sampled_from(["1-5", "1-10", "0-1", "0-1 any", "-2-0"]))
def test_any_text_gives_a_value_on_the_scale_or_none(text, scale):
    scale = Scale.of(scale)
    reading = read_rating(text, scale)
    assert (reading.value is None) == (reading.status != "ok")
    assert reading.value is None or scale.low <= reading.value <= scale.high


WORDS = """score rating of is a 4 7 1-5 / out 5 : [[ ]] . 1. not I sorry two % - stars **"""


@given(st.lists(st.sampled_from([*WORDS.split(" "), "\n"]), max_size=30))
def test_any_mixture_of_a_judge_s_words_is_read_or_not(words):
    reading = read_rating(" ".join(words), "1-5")
    assert reading.value is None or 1 <= reading.value <= 5


@given(st.integers(-20, 20), st.integers(1, 20), st.data())
def test_a_named_point_of_any_whole_scale_is_read(low, width, data):
    scale = Scale(low=low, high=low + width)
    value = data.draw(st.integers(low, low + width))
    assert read_rating(f"Score: {value}", scale).value == value


@given(st.floats(0, 1))
def test_a_named_number_of_an_any_scale_is_read(value):
    assert read_rating(f"Score: {value}", "0-1 any").value == value


HOSTILE = [
    "a",
    "1",
    "1-",
    "[[",
    "[[1",
    "(",
    "score of ",
    "1 ",
    "1 to ",
    "1. ",
    "\n1. ",
    "is a ",
    " ",
    "score(",
    "not ",
    "1/",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bit", [*HOSTILE, "score: ", "* ", "[1, ", "4 - "])
def test_hostile_text_costs_little(bit):
    text = (bit * 60_000)[:60_000]

    def cost() -> float:
        start = time.process_time()
        read_rating(text, "1-5")
        return time.process_time() - start

    assert min(cost() for _ in range(3)) < 1  # what is quadratic takes minutes; how fast it is, benchmarks say


@pytest.mark.parametrize(
    "text", ["Error 3: model overloaded", "HTTP 5", "[1, 2, 3, 4, 5]", "2\n5", "null 3", "status 4", "3, 4"]
)
def test_numbers_that_nobody_gave_as_a_rating_are_none(text):
    assert read_rating(text, "1-5").value is None


@pytest.mark.parametrize(
    "text",
    [
        "3,5 out of five", "Rating: 2 point 5",
        "three point five out of 5", "Score: 3'5", "Score: 4 000 points",
        '{"score": 4, "score": 2}', "{'score': 4, 'score': 2}", '{"score": 4, "rating": 2}', '{"scores": [4, 2, 3]}',
        '{"score": 4 | 5}', "<score>4</score><score>2</score>",
        "Coherence: 4. Fluency: 2.", "Coherence - 4/5; Fluency - 2/5", "Coherence=4 Fluency=2", "A: 4\nB: 2",
        "Response A: 4/5; Response B: 2/5", "Coherence (4/5), Fluency (2/5)", "I give coherence a 4 and fluency a 2.",
        "It scores 4 on coherence, 2 on fluency.", "Clarity rating is 4 whereas depth rating is 2.",
        "Score: 5. Hmm, I misread it, one lower.", "Score: 5. On second thought I'm not sure.", "Score: 5 minus one",
        "Score: 5. Deduct 2 for the errors.", "Score: 5. I mixed up the responses, ignore this.",
        "Score: 5\nWait, I misread the rubric; it should be lower.", "Score: 5. Or so the text says.",
        "{score: 4, overall: 2}", "Score: 4 (out of 10)", "Score: 4 on a scale of 10", "Score: 4 on a 1-10 scale",
        "Score: 4 on a 10-point scale", "Score: 3 3/4", r"\boxed{4} \boxed{2}", "Score: 5, minus 2 for errors",
        "With sources 5. Without 2. It has none.", "Score: three (4)",
        "Cannot be rated; default 3", "I was not able to score it, so 1", "No score possible. 3", "Default score: 3",
        "Score: 3 (default)", "Fallback: 3", "Unable to score. 1", "★★★☆", "4分钟",
        "Score: 4. It should probably be lower.", "Expected answer: 2. Given answer: 2.",
        "Score: 4. I'm lowering the score for the missing date.", "Score: 5. I should take a point off.",
        "If the user is a beginner, 4; if expert, 2.", "Score: 4 if citations are optional, 2 if required.",
        "Strictly read, 2; leniently read, 4.", "The score is 1, else 4.", "For children: 5. For adults: 2.",
        "Response 1:\nRating: 4\nResponse 2:\nRating: 2", "I rate Response 1 as 4 and Response 2 as 2.",
        "**Instruction following:** 4/5\n**Accuracy:** 2/5", "Select a score: 1, 2, 3, 4, or 5",
        "1 - Poor\n2 - Fair\n3 - Good\n4 - Great\n5 - Perfect",
        "Score: 5, although a 2 would be fairer.", "Score: 4. Wait, that is too high.", "Score: 4. Hmm, not sure.",
    ],
)  # fmt: skip
def test_a_number_of_several_or_one_that_is_taken_back_is_no_rating(text):
    assert read_rating(text, "1-5").value is None


@pytest.mark.parametrize(
    "text",
    [
        "Score: 4. Actually, two of the dates are right.", "Score: 4\nI deducted 1 point for the typo.",
        "Overall: 4. Note: 2 facts were not checked.", "4 of the 5 facts are right, so 4 of 5.", "'4'", "Rating: '4'.",
        '{"score": 4, "max": 5}', '{"score": 4, "total": 5}', '{"reason": "score: 3 at first", "score": 4}',
        "Score: 4 plus a note", "Score: 4. Sorry, the text does not say more.", "Clarity: 4; Depth: 4; Overall: 4",
        '{"score": 4, "verdict": true}', '{"score": 4, "result": false}', '{"answer": 7, "score": 4}',
        '{"score": 4, "answer": 3}', '{score: 4, reason: "2 errors"}', "Score: 4\nDeduct one point for grammar.",
        "Rating: 4/5. Minus one point for verbosity.", "Score: 4. Wait, this is not too high given the errors.",
        "Score: 4\nReason: No, it is too high-level.", "Rating: 4. Or so the source says.",
        "Score: 4\n\nActually the source says that two more people died, and it is unsure why.",
        "Rating: 4\n\nNo, it is not a 5: the summary is one point lower for its omission.",
        "Rating: 4\n\nI got the two wrong dates noted.", "Score: 4. I've had the text checked for wrong dates",
        "Score: 4\n- Sorry, the summary is not sure", "Score: 4 (out of 5)", "Score: 4 on a scale of 1 to 5",
        "评分：4分", "4分", "★★★★☆", "⭐⭐⭐⭐", "Rating: ★★★★☆", "٤", "Score: ４", "四分之三\n4", "4 (four)",
        "Оценка: 4",
        "Score: 4. The default 3 would be unfair.", "I could not score it higher. Score: 4",
        "Score: 4 on a scale of 1 (worst) to 5 (best)", "Score: 4 2/3 of it is fine",
    ],
)  # fmt: skip
def test_words_beside_a_rating_that_take_nothing_back_leave_it(text):
    assert read_rating(text, "1-5").value == 4


@pytest.mark.parametrize(
    "text",
    [
        "Score: 1\n\nThe answer is wrong.", "Score: 1. This is wrong.", "[[1]] The answer is wrong.",
        "Rating: 1/5. The answer is wrong because Canberra is the capital.", "1\n\nThe answer is incorrect.",
        "Score: 1 (the answer is wrong)", "Correctness: 1\n\nIt is wrong since 2+2=4.",
    ],
)  # fmt: skip
def test_a_low_score_is_not_taken_back_by_its_reason(text):
    assert read_rating(text, "1-5").value == 1
    assert read_rating(text.replace("1", "5", 1), "1-5").value is None


@pytest.mark.parametrize(
    "text",
    [
        "I'd normally give 4, with the errors: 2.", "Usually this would be a 5. Here it rambles.",
        "A 5 is out of the question.", "a 5 would be undeserved",
    ],
)  # fmt: skip
def test_what_would_be_given_elsewhere_or_cannot_be_is_no_rating(text):
    assert read_rating(text, "1-5").value is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Score out of 5: 3", 3), ("My score out of 5 is 3.", 3), ("**4**/5", 4), ("Score: 4. Correct it to 5 May.", 4),
        ("Score: 4\nThe rating drops to 2 if we count style.", 4),
        ("Score: 4\nThe rating moves to 5 with citations.", 4),
        ("I'd love to give a 5, but it's 3.", 3), ("If not for the typo I'd give a 5. As is, 4.", 4),
        ("But for the typo I'd give a 5. So 4.", 4), ("I'd have given a 5, but 4 it is.", 4),
        ("It would be a 5, but the error makes it a 3.", 3), ("I hesitate to give it a 5, so 4.", 4),
    ],
)  # fmt: skip
def test_what_is_wished_for_or_supposed_is_no_rating(text, value):
    assert read_rating(text, "1-5").value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Overall: 3\nHelpfulness: 5", 5), ("Helpfulness: 4/5\nOverall: 2/5", 4), ("Helpfulness: 5\nTone: 2", 5),
        ("Helpfulness: 5\nFinal score: 3", 3), ("Helpfulness: 5\nHelpfulness: 4\nTone: 2", None), ("Overall: 3", 3),
    ],
)  # fmt: skip
def test_a_criterion_s_own_rating_counts_before_others_and_one_over_all(text, value):
    assert read_rating(text, "1-5", "Helpfulness").value == value


@pytest.mark.parametrize(
    "text",
    [
        "dp[0][1] holds 2, and f(4) is never called.", "It lacks the depth required by a score of 5.",
        "Answer: 4 is wrong.",
        "It reads O(2) where O(1) is meant.", "The response gives 3 as the answer.",
        "Extracted answer: 3\nVerdict: match",
        "Not every fluent response deserves a 5.", r"The reference has \boxed{3}. The student's answer is \boxed{4}.",
        "Tokens used: 4", "Minimum score: 1", "Baseline: 3", "Sample 5", "A typical answer gets a 3.",
        "The reference would get 5.", "- Clarity 4/5\n- Detail 2/5",
    ],
)  # fmt: skip
def test_numbers_of_other_things_are_no_rating(text):
    assert read_rating(text, "1-5", "Helpfulness").value is None


RECKONED = [
    ("Base 5, -1, -1 = 3", 3),
    ("Base score: 5\n- No conclusion: -1\n- Slips: -0.5\n= 3.5", 3.5),
    ("Accuracy 3 + depth 4 + style 5 = 12 / 3 = 4", 4),
    ("Clarity 4, accuracy 3, tone 5 → mean 4.0", 4),
    ("Mean of 4, 3 and 5: 4", 4),
    ("It earns 3 points for facts, 1 point for style, for a total of 4 points.", 4),
    ("| Aspect | Weight | Score |\n|---|---|---|\n| Facts | 50% | 4 |\n| **Total** | 100% | **3** |", 3),
    ("Base score: 5\n- No conclusion: -1", None),
    ("The student wrote:\n2 + 2 = 4\nThis is right.", None),
    ("Scores: 4,3", None),
]


@pytest.mark.parametrize(("text", "value"), RECKONED)
def test_what_a_judge_reckons_out_is_read_by_its_result(text, value):
    assert read_rating(text, "1-5").value == value


SETTLED = [
    ("5? No. 4? No. 3? Yes.", 3),
    ("Is it a 5? Not quite. Is it a 4? Yes, I think so.", 4),
    ("Does it cite 3 sources? Yes.", None),
    ("Is it a 5? Yes, but only for style.", None),
    ("From 2 to 3; let's say 3.", 3),
    ("I'll stay with my earlier score of 4.", 4),
    ("This is, without question, a five.", 5),
    ("First reviewer: 4. Second reviewer: 2. My own view: 3.", 3),
    ("It was rated 5 by the prompt's example, but mine is 2.", 2),
    ("This is, as the author says, a 5.", None),
    ("4 if we're generous, but strictly it is a 3.", None),
    ("The factual part deserves 4, the style 2.", None),
]


@pytest.mark.parametrize(("text", "value"), SETTLED)
def test_what_a_judge_settles_on_is_read_and_what_it_leaves_open_is_not(text, value):
    assert read_rating(text, "1-5").value == value


ELSEWHERE = [
    ("Le daría un 4, pero hay errores: 3.", 3),
    ("Ich würde hier eine 4 geben, da aber zwei Fakten erfunden sind, vergebe ich am Ende nur 2 Punkte.", 2),
    ("Auf einer Skala von 1 bis 5 bekommt dieser Text von mir eine glatte 2.", 2),
    ("Assegno un punteggio di 3 perché mancano due fatti.", 3),
    ("Ce n'est pas un 5. C'est un 3.", 3),
    ("我认为可以打4分，不过考虑到有两处错误，最终给2分。", 2),
    ("10点中7点とします。", None),
    ("Si tuviera que elegir, le daría un 4.", 4),
    ("Si citara fuentes, le daría un 5.", None),
    ("Ich würde 5 geben, wenn Quellen da wären.", None),
    ("El autor dice que merece un 5.", None),
    ("Der Text verdient höchstens eine 3.", None),
    ("Le film obtient 4 étoiles.", None),
    ("4, voire 5", None),
    ("字数：4", None),
]


@pytest.mark.parametrize(("text", "value"), ELSEWHERE)
def test_ratings_of_other_languages_are_read_and_what_they_only_suppose_is_not(text, value):
    assert read_rating(text, "1-5").value == value


@given(
    st.integers(1, 5),
    st.sampled_from(
        ["连贯性：{}\n流畅性：5", "Cohérence : {}\nClarté : 5", "**Kohärenz** (1-5): {} – klar\n**Klarheit** (1-5): 5"]
    ),
)
def test_a_criterion_s_line_is_read_in_any_language(point, lines):
    name = {"连": "连贯性", "C": "cohérence", "*": "Kohärenz"}[lines[0]]
    assert read_rating(lines.format(point), "1-5", name).value == point


@given(st.integers(10, 49))
def test_a_decimal_comma_reads_as_a_point_does(tenths):
    comma, value = f"{tenths // 10},{tenths % 10}", tenths / 10
    for said in ("{}", "Note : {}", "{} von 5", "Score: {} points", "Je donne une note de {}."):
        assert read_rating(said.format(comma), "1-5").value == pytest.approx(value)


def test_a_number_in_json_may_have_any_blank_beside_it():
    assert read_rating('{"": "0\\u001f"} Score: 3', "1-5").value == 3
