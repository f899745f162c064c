"""Verdicts and letters in free text."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgegraph.replies.choices import read_choice

PAIR = ("A", "B", "tie")
OUTPUTS = ("Output (a)", "Output (b)")
NUMBERED = ("1", "2", "Tie")
LETTERS = ("A", "B", "C", "D", "E")
TONES = ("positive", "neutral", "negative")

VERDICTS = [
    ("D", LETTERS, "D"),
    ("d", LETTERS, "D"),
    ("D.", LETTERS, "D"),
    ("回答A更好，因为它更准确。", PAIR, "A"),
    ("我选择B。", PAIR, "B"),
    ("The latter is better.", PAIR, "B"),
    ("I cannot pass this: FAIL", ("pass", "fail"), "fail"),
    ("(b)", OUTPUTS, "Output (b)"),
    ("output a", OUTPUTS, "Output (a)"),
    ("**B**", PAIR, "B"),
    ("A.", PAIR, "A"),
    ("Tie", PAIR, "tie"),
    ("Option B", PAIR, "B"),
    ("2", NUMBERED, "2"),
    ("[[A]]", PAIR, "A"),
    ("Both do well, yet one is clearer. [[B]]", PAIR, "B"),
    ("Some thoughts on A and B. [RESULT] B", PAIR, "B"),
    ("B: Summary #2 hangs together.", PAIR, "B"),
    ("Output (a)\nas Output (b) is longer", OUTPUTS, "Output (a)"),
    ("A because it is short", PAIR, "A"),
    ("Answer: B", PAIR, "B"),
    ("**Answer:** B", PAIR, "B"),
    ("The answer is (a)", PAIR, "A"),
    ("So, the final decision is Response 1", NUMBERED, "1"),
    ("So, the final decision is Tie", NUMBERED, "Tie"),
    ("Output (a) is vivid. Output (b) is dry but right. Therefore, Output (b) is better.", OUTPUTS, "Output (b)"),
    (
        "Both Output (a) and Output (b) are fine, but overall I prefer Output (a) over Output (b).",
        OUTPUTS,
        "Output (a)",
    ),
    ("B is better than A.", PAIR, "B"),
    ("At first A is better, but in the end B is better.", PAIR, "B"),
    ("A wins", PAIR, "A"),
    ("The tone is positive.", TONES, "positive"),
    ("It is not positive but negative", TONES, "negative"),
    ("very good", ("good", "very good"), "very good"),
]
NO_VERDICT = [
    ("", PAIR),
    ("A good summary tells what matters.", PAIR),
    ("The answer is a good one.", PAIR),
    ("A or B", PAIR),
    ("A, B, C", PAIR),
    ("A wins unless the date is wrong.", PAIR),
    ("A is better if the date is right.", PAIR),
    ("Choose A, B, or C", ("A", "B", "C")),
    ("So, the final decision is Response 1 / Response 2 / Tie", NUMBERED),
    ("Output (a) and Output (b) are alike.", OUTPUTS),
    ("Neither A nor B is better.", PAIR),
    ("B is not better than A", PAIR),
    ("B is worse.", PAIR),
    ("It could be positive, it could be negative", TONES),
    ("Both have 2 faults.", NUMBERED),
    ("F", LETTERS),
]


@pytest.mark.parametrize(("text", "labels", "value"), VERDICTS)
def test_a_stated_verdict_is_read(text, labels, value):
    reading = read_choice(text, labels)
    assert (reading.value, reading.status) == (value, "ok")


@pytest.mark.parametrize(("text", "labels"), NO_VERDICT)
def test_what_is_no_clear_verdict_is_unreadable(text, labels):
    reading = read_choice(text, labels)
    assert (reading.value, reading.status) == (None, "unreadable")
    assert reading.rule


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        ("No evidence: none of my text features belongs to Rhyme.", None, "abstained"),
        ("N/A", None, "abstained"),
        ("Label: null", None, "abstained"),
        ("There is no plot in it.", None, "unreadable"),
        ("No plot holds it together.", None, "unreadable"),
        ("I find **no** fault.", None, "unreadable"),
        ("It has no plot, so yes.", "yes", "ok"),
        ("No, it lacks a plot.", "no", "ok"),
        ("I would say no because it lacks a plot.", "no", "ok"),
        ("I'd say no", "no", "ok"),
    ],
)
def test_neither_an_abstention_nor_a_no_before_a_noun_is_the_label_no(text, value, status):
    reading = read_choice(text, ("yes", "no"))
    assert (reading.value, reading.status) == (value, status)


def test_a_label_may_say_that_it_does_not_apply():
    assert read_choice("N/A", ("yes", "no", "N/A")).value == "N/A"


def test_a_refusal_is_refused():
    assert read_choice("As an AI, I cannot choose between A and B.", PAIR).status == "refused"


COMPARED = [  # as Arena-Hard's judges write, of two sides
    ("[[A>>B]]", "A"), ("[[A>B]]", "A"), ("[[B>A]]", "B"), ("[[B>>A]]", "B"), ("[[A=B]]", "tie"), ("[[B=A]]", "tie"),
    ("A>B", "A"), ("A > B", "A"), ("B<<A", "A"), ("A<B", "B"), ("A≈B", "tie"), ("A≫B", "A"), ("**A==B**", "tie"),
    ("Response A = Response B", "tie"), ("[[Response B > Response A]]", "B"), ("Verdict: B>A", "B"),
    ("Verdict: A=B", "tie"), ("A is good, B is better in style.\n\nMy final verdict is: [[A=B]]", "tie"),
    ("Both err. My verdict is Assistant B is slightly better: [[B>A]]", "B"), ("[[A]] or [[B]]? [[A=B]]", "tie"),
    ("[[A>=B]]", None), ("[[A>B=A]]", None), ("[[A or B]]", None), ("A is better. [[neither]]", None),
]  # fmt: skip
ALIKE = [
    ("[[C]]", "tie"), ("A is good. Response B is better in style. [[C]]", "tie"), ("[[Tie]]", "tie"), ("Tie.", "tie"),
    ("It's a draw", "tie"), ("Both are equally good.", "tie"), ("They are tied.", "tie"), ("A ties with B.", "tie"),
    ("Both A and B do well; it is a tie.", "tie"), ("The two are equal in quality.", "tie"),
    ("I would call it a tie.", "tie"), ("Verdict: tie\nA is concise.", "tie"),
    ("Final verdict: draw. A is short.", "tie"),
    ("A is better in style. Overall, both are equally good.", "tie"), ("It is nearly a tie, but A is better.", "A"),
    ("Both are equally correct, but B is better.", "B"), ("It is not a tie. B is better.", "B"),
    ("A is better in style, while both are equally accurate and equally good.", None),
    ("A is better than or equal to B.", None), ("Neither is better.", "tie"), ("The line they draw is good.", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), [*COMPARED, *ALIKE])
@pytest.mark.parametrize(
    "labels",
    [PAIR, {"A": (), "B": (), "tie": ("tie", "tied")}, ("A", "B"), ("A", "B", "C")],
    ids=["tie", "met", "AB", "ABC"],
)
def test_a_tie_is_the_tie_or_unreadable_and_never_a_side(text, value, labels):
    reading = read_choice(text, labels)
    if value == "tie" and "tie" not in labels:
        assert reading.value is None or (reading.value, "[[C]]" in text) == ("C", True)
    else:
        assert reading.value == value


@given(
    st.sampled_from(["1", "2"]),
    st.sampled_from([">", ">>", "=", "<", "<<"]),
    st.sampled_from(["{}", "[[{}]]", "Verdict: {}"]),
)
def test_a_comparison_says_the_same_from_either_side(first, sign, form):
    second, turned = ("2" if first == "1" else "1"), sign.translate(str.maketrans("<>", "><"))
    one, two = (
        read_choice(form.format(text), NUMBERED).value for text in (first + sign + second, second + turned + first)
    )
    assert one == two == ("Tie" if sign == "=" else first if ">" in sign else second)


@pytest.mark.parametrize(
    ("text", "value"), [("[[A]]", "A"), ("[[C]]", "tie"), ("Tie", "tie"), ("My verdict: C", "tie")]
)
def test_a_mapping_says_how_a_reply_calls_a_label(text, value):
    assert read_choice(text, {"A": (), "B": (), "tie": ("C", "tie")}).value == value


def test_a_label_with_aliases_is_met_only_by_them():
    swapped = {"B": ["Output (a)"], "A": ["Output (b)"]}
    assert read_choice("(a)", swapped).value == "B"


@pytest.mark.parametrize("labels", [(), ("A", ""), ("Output A", "Response a"), {"A": ["1"], "B": ["(1)"]}])
def test_labels_that_cannot_be_told_apart_are_refused(labels):
    with pytest.raises(ValueError, match=r"label"):
        read_choice("A", labels)


def test_the_span_holds_the_label():
    text = "Longer, hence **Answer:** (b)"
    start, end = read_choice(text, OUTPUTS).span
    assert text[start:end] == "b"


@given(st.text(max_size=400), st.sampled_from([PAIR, OUTPUTS, NUMBERED, TONES]))
def test_any_text_gives_a_label_or_none(text, labels):
    reading = read_choice(text, labels)
    assert (reading.value is None) == (reading.status != "ok")
    assert reading.value is None or reading.value in labels


@given(st.sampled_from(["{}", "{}.", "Answer: {}", "[[{}]]", "The final verdict is {}."]), st.data())
def test_every_label_is_read_where_a_verdict_stands(form, data):
    labels = data.draw(st.sampled_from([PAIR, OUTPUTS, NUMBERED, LETTERS, TONES]))
    label = data.draw(st.sampled_from(labels))
    assert read_choice(form.format(label), labels).value == label


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "bit",
    [
        "a",
        "a ",
        "A>",
        "A=B ",
        "A = ",
        "[[A=",
        "tie ",
        "A or ",
        "A, ",
        "(a)",
        "output ",
        "[[",
        "A is better ",
        " ",
        "the better ",
    ],
)
def test_hostile_text_costs_little(bit):
    def cost(size: int) -> float:
        start = time.process_time()
        read_choice((bit * size)[:size], PAIR)
        return time.process_time() - start

    short, long = (min(cost(size) for _ in range(3)) for size in (10_000, 60_000))
    assert long < max(0.2, 12 * short)  # in proportion; what is quadratic takes 36 times as long


@pytest.mark.parametrize(
    "text",
    [
        "[[A]]. Hmm, wait, I swapped the two in my head.", "[[A]] Sorry, I had the two reversed.",
        "[[A]]. Oh no, I mixed them up.", "[[A]] -- no, scratch that.", "[[A]] (wait, that's backwards)",
        "A is better. Wait, I meant the other one.", "Winner: A. Correction: the other one.",
        "A is better. Hmm, no, actually the second.", "[[A]] I take that back; they are equally bad.",
        "[[A]]\nOn second thought, I can't decide.", "B is the better one. Or so the text says.",
        "A wins on style, B wins on facts.", "My vote goes against A.", "Verdict: A (Response B)",
        "Had A cited sources, A would win.", "B is no better than A",
        "I'd not choose A", "It is false that A is better", "Anyone but A", "I disagree that A is better", "A, B",
        "I do not think A is better", "If true, A wins", "A is better on facts. B is better on style. Overall, not A.",
        "A would get my vote, but B is close",
    ],
)  # fmt: skip
def test_a_verdict_that_is_taken_back_or_is_half_a_one_is_none(text):
    assert read_choice(text, ("A", "B")).value is None


@pytest.mark.parametrize(
    "text",
    [
        "[[A]] (B is worse)", "A wins on facts.", "B wins on style, A wins on facts. Overall, A wins.",
        "[[A]] Actually, B is wrong about the date.", "Answer: A (first response)", "Answer: A (not B)",
        "[[A]]. B had it backwards.", "[[A]]\nNo, it is no close call: B is far worse than the other.",
        "[[A]]\n\nI misjudged B's length at first.", "A\n\nI swapped the order to check for bias.",
        "[[A]]\nSubtract one point from B for vagueness.", "A would be my choice", "A (better than B)", "A (over B)",
        "Assistant B is better at math; Assistant A is better at prose. Therefore, Assistant A.",
        "A is better on facts. B is better on style. Overall A.", "A wins in 3 aspects, B wins in 1. A.",
        "If I had to choose, A wins",
    ],
)  # fmt: skip
def test_words_beside_a_verdict_that_take_nothing_back_leave_it(text):
    assert read_choice(text, ("A", "B")).value == "A"


FOR_A = """Winner: A (B has errors)|Verdict: A (B hallucinates a date)|I prefer A (B is verbose).|Answer: A "B is wrong"
A outperforms B.|Response A outperforms Response B in every respect.|Assistant A clearly beats B.|I prefer A to B.
Response A edges out Response B.|Winner: A even though B is close.|I choose A while B is close.|I'd go with A here.
Winner: A by a small margin.|Final verdict: Response A by a narrow margin.|Verdict: A with a slight edge.
The better response is A due to its accuracy.|I choose A for its clarity.|I vote for A in this case.|A beats B.
I prefer Response A for its accuracy.|The answer is A with high confidence.|Assistant A performs better.
Overall, Assistant A provides a better answer.|A is better, if slightly wordy.|I would pick A if I had to choose.
I'd choose A if forced to.|I prefer A if pressed.|A is better if you ask me.|A is better as long as accuracy counts.
Response A is better, assuming the user wants a working solution. Response B does not compile.
I'm not convinced that B is better; A is.|B is better at first sight. On inspection A is.|A it is.
There is no doubt that A is better.|I conclude that A is better than B.|I can see why A is better.
B is not as good as A.
The claim that B is better is wrong. A is better.|I find Response A stronger.|Best: A|This is not a tie. A.
Antwort A ist besser.|La respuesta A es mejor que la B.
A is better. (B claims that B is better.)|Response A is better. Response B says B is better."""
FOR_NONE = """A wins unless brevity matters, then B wins.|[[A]] unless style matters, then [[B]]|Verdict: A vs B
A is better than B? No.|Verdict: A (or B)|Verdict: A unless style matters, then B|Response A works, Response B crashes.
Whether A is better is debatable.|It's hard to argue that A is better.|I'm not convinced that A is better.
The claim that A is better is false.|Assistant A argues that Output A is better.|How A is better I fail to see.
A is not as long as B.|Ob A besser ist, bleibt offen.
Few would say that A is better.|Antwort A ist nicht besser.|回答A不比B好
A contradicts the source.|A hallucinates.|Avoid A.|A is bad.|The problem with A is its length.|A votes for B.
Verdict: Response A loses|A is hardly better than B.|Both get an A|A+|Vitamin A is better explained
*Response A*: weak|A: weak|Answer A: the weaker one.|Response A - worse"""


def mirrored(text: str) -> str:
    """The same reply of a pair whose sides are exchanged."""
    return re.sub(r"\b[AB]\b", lambda side: {"A": "B", "B": "A"}[side[0]], text)


@pytest.mark.parametrize("text", re.split(r"[|\n]", FOR_A))
def test_a_side_is_read_like_the_other(text):
    assert (read_choice(text, PAIR).value, read_choice(mirrored(text), PAIR).value) == ("A", "B")


@pytest.mark.parametrize("text", re.split(r"[|\n]", FOR_NONE))
def test_neither_side_is_read_where_none_is_chosen(text):
    assert (read_choice(text, PAIR).value, read_choice(mirrored(text), PAIR).value) == (None, None)


@pytest.mark.parametrize("text", ["No. The answer is incorrect.", "No, that is incorrect.", "No, it is wrong."])
def test_a_no_is_not_taken_back_by_its_reason(text):
    assert read_choice(text, ("yes", "no")).value == "no"


@pytest.mark.parametrize(
    "text",
    ["I'm unable to find a difference. Tie.", "I can't decide between the two; tie.", "Sorry, but both fail. Tie."],
)
def test_who_cannot_decide_may_call_it_a_tie(text):
    assert read_choice(text, PAIR).value == "tie"


@pytest.mark.parametrize("text", ["A win for B.", "A better answer would cite sources.", "A clear victory for B."])
def test_an_article_before_a_thing_is_no_side(text):
    assert read_choice(text, PAIR).value in (None, "B")


@pytest.mark.parametrize(
    "text", ["One might think A is better, but B is.", "If A had cited sources A would be better. As it stands, B."]
)
def test_what_is_supposed_of_a_side_is_no_verdict(text):
    assert (read_choice(text, PAIR).value, read_choice(mirrored(text), PAIR).value) == ("B", "A")


@pytest.mark.parametrize("text", ["Both A and B: 3", "Grade: A", "Grade of both: B", "Response A: 4\nResponse B: N/A"])
def test_what_is_said_of_both_or_of_the_side_shown_first_is_no_verdict(text):
    assert read_choice(text, PAIR).value is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("[bad, ok, good] -> ok", "ok"), ("hardly good", None), ("far from good", None), ("It is ok", "ok"),
        ("I would not call it good", None), ("Ok. The tone is good.", None), ("ok, I will judge it.", None),
        ("I'd call it good", "good"),
    ],
)  # fmt: skip
def test_a_label_of_quality_is_read_in_its_sentence(text, label):
    assert read_choice(text, ("bad", "ok", "good")).value == label


TIES = [
    "Die Antworten sind gleich gut.",
    "Les deux réponses se valent.",
    "Las dos respuestas son igual de buenas.",
    "两个回答一样好。",
    "Égalité entre les deux.",
    "I can't decide; both are equally good in my eyes.",
    "A better answer would have cited the law; both fail to do so here, and badly. Tie.",
]
NO_TIES = [
    "Die Antworten sind nicht gleich gut.",
    "Las dos respuestas no son igual de buenas.",
    "两个回答不一样好。",
    "I can't say that they are equally good.",
]


@pytest.mark.parametrize(("text", "value"), [*((one, "tie") for one in TIES), *((one, None) for one in NO_TIES)])
def test_a_tie_in_words_of_any_language_is_read_and_a_denied_one_is_not(text, value):
    assert read_choice(text, PAIR).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Quality: Good. It would be excellent with sources.", "good"),
        ("Fluency: good\nCoherence: poor", None),
        ("Fluency: good\nCoherence: poor\nOverall: poor", "poor"),
        ("Quality: Good structure but poor facts.", None),
    ],
)
def test_a_label_behind_a_quality_s_name_is_read_where_nothing_is_rated_otherwise(text, value):
    assert read_choice(text, ("poor", "good", "excellent")).value == value


@pytest.mark.parametrize("text", ["Die {} Antwort ist besser.", "La {} respuesta es mejor."])
def test_sides_are_met_by_their_order_in_other_languages(text):
    for value, words in (("A", ("erste", "primera")), ("B", ("zweite", "segunda"))):
        word = words["respuesta" in text]
        assert read_choice(text.format(word), PAIR).value == value
        assert read_choice(text.format(word).replace("ist ", "ist nicht ").replace("es ", "no es "), PAIR).value is None


def test_a_reference_to_the_answer_hides_no_side():
    assert read_choice("La réponse A est meilleure que la réponse B.", PAIR).value == "A"
    assert read_choice("B is wrong on the date; A is right. So A.", PAIR).value == "A"
    assert read_choice("I strongly agree that it helps.", ("agree", "strongly agree")).value == "strongly agree"


@pytest.mark.parametrize(
    "text",
    [
        "两个回答不是平手，回答A更好。",
        "并非平局，B胜出。",
        "今回は引き分けではない。",
        "Es ist kein Unentschieden.",
        "No hay empate.",
        "Sprachlich sind beide gleich gut, insgesamt ist Antwort B besser.",
    ],
)
def test_a_tie_that_is_denied_or_not_the_last_word_is_none(text: str):
    assert read_choice(text, ["A", "B", "tie"]).value != "tie"
