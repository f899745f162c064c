"""The readers on recorded replies of real judges, against published figures (../shared/data/README.md).

Unread replies are left out of a correlation, and counted in what a failing test says.
"""

import gzip
import json
import re
from collections import Counter, defaultdict
from functools import cache
from math import isnan
from pathlib import Path
from statistics import fmean

import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from judgegraph.replies.choices import read_choice
from judgegraph.replies.free_text import read_rating

pytestmark = pytest.mark.slow

OUTPUTS = {"1": ("Output (a)",), "2": ("Output (b)",)}
GPT_4, GPT_35, LLAMA = "gpt-4-0314", "gpt-3.5-turbo-0301", "llama-2-70b-chat-hf"


@cache
def loaded(path: Path):
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()] if ".jsonl" in path.name else json.loads(text)


def experts(shared, aspect):
    rows = loaded(shared / "data/summeval/annotations_12systems.jsonl.gz")
    return {(r["system_id"], r["id"]): fmean(e[aspect] for e in r["expert_annotations"]) for r in rows}


def replies(shared, judge, aspect, prompt):
    """(system, item) -> reply; of an item recorded twice the last line counts."""
    rows = loaded(shared / f"data/summeval/judges/{judge}/{aspect}_{prompt}.jsonl")
    return {(r["system_id"], r["id"]): r["resp"] for r in rows}


def correlations(values, human):
    """Spearman, Pearson, Kendall over all items that could be read (dataset level)."""
    keys = [key for key, value in values.items() if value is not None]
    x, y = [values[key] for key in keys], [human[key] for key in keys]
    return tuple(float(f(x, y)[0]) for f in (spearmanr, pearsonr, kendalltau))


def story(got, unread):
    return f"got {[round(v, 4) for v in got]}, {len(unread)} unread: {[t[:120] for t in unread[:20]]}"


@pytest.mark.parametrize(
    ("aspect", "published"), [("coherence", (0.424, 0.416, 0.350)), ("consistency", (0.343, 0.487, 0.320))]
)
def test_summeval_letters_give_the_published_figures_to_three_digits(shared, aspect, published):
    given = replies(shared, GPT_35, aspect, "mcq")
    letters = {key: read_choice(text, list("ABCDE")).value for key, text in given.items()}
    values = {key: None if letter is None else "ABCDE".index(letter) + 1 for key, letter in letters.items()}
    unread = [given[key] for key, value in values.items() if value is None]
    got = correlations(values, experts(shared, aspect))
    assert (len(given), unread) == (1200, [])
    assert tuple(round(v, 3) for v in got) == published, story(got, unread)


RATED = [
    (GPT_4, "coherence", "rts", (0.448, 0.428, 0.373), 0),
    (GPT_4, "consistency", "rts", (0.556, 0.618, 0.522), 2),  # two replies state no score
    (GPT_35, "coherence", "rts", (0.444, 0.467, 0.349), 0),
    (GPT_35, "consistency", "rts", (0.423, 0.532, 0.378), 0),
    (GPT_35, "coherence", "stareval", (0.418, 0.417, 0.341), 0),
    (GPT_35, "consistency", "stareval", (0.297, 0.421, 0.264), 0),
    (LLAMA, "consistency", "rts", (0.357, 0.395, 0.319), 0),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("judge", "aspect", "prompt", "published", "silent"), RATED)
def test_summeval_ratings_give_the_published_figures_within_two_hundredths(
    shared, judge, aspect, prompt, published, silent
):
    given = replies(shared, judge, aspect, prompt)
    values = {key: read_rating(text, "1-5").value for key, text in given.items()}
    unread = [given[key] for key, value in values.items() if value is None]
    got = correlations(values, experts(shared, aspect))
    assert got == pytest.approx(published, abs=0.02), story(got, unread)
    assert len(unread) == silent, story(got, unread)


def test_llama_s_coherence_ratings_agree_more_with_people_than_published(shared):
    """Half of these replies rate "4 out of 5" and then explain. The published figures (.234 / .254 / .186) come
    out within .02 if, without "Score: 4", the last digit of the reply is taken, which is mostly the five."""
    given, human = replies(shared, LLAMA, "coherence", "rts"), experts(shared, "coherence")
    values = {key: read_rating(text, "1-5").value for key, text in given.items()}
    got = correlations(values, human)
    assert None not in values.values()
    assert got == pytest.approx((0.2815, 0.2988, 0.2242), abs=0.002), story(got, [])

    def last_digit(text):
        named = re.search(r"[Ss]core: ?([1-5])", text)
        digits = [named[1]] if named else re.findall("[1-5]", text)
        return float(digits[-1]) if digits else None

    theirs = correlations({key: last_digit(text) for key, text in given.items()}, human)
    assert theirs == pytest.approx((0.234, 0.254, 0.186), abs=0.02)


def test_the_prompts_head_to_head_are_read_by_their_letter(shared):
    for aspect in ("coherence", "consistency"):
        rows = loaded(shared / f"data/summeval/judges/{GPT_35}/{aspect}_h2h.jsonl")
        wrong = [r["resp"] for r in rows if read_choice(r["resp"], list("ABC")).value != r["resp"][0]]
        assert not wrong, wrong[:5]


def whole(text):
    """The authors' rule for bare ratings: the first digit on the scale ("2.5" is 2, "1. 2" is 1)."""
    digit = re.search("[1-3]", text)
    return float(digit[0]) if digit else None


def agreement(items, aspect, read):
    """Pearson over all items, Kendall as mean over dialogues, and samples without a reading."""
    x, y, dialogues, unread = [], [], defaultdict(list), []
    for item in items:
        values = [(read(text), text) for text in item["all_responses"]]
        unread += [text for value, text in values if value is None]
        mean, human = fmean(v for v, _ in values if v is not None), item["scores"][aspect]
        x.append(mean)
        y.append(human)
        dialogues[item["source"]].append((mean, human))
    varied = [pairs for pairs in dialogues.values() if all(len(set(side)) > 1 for side in zip(*pairs, strict=True))]
    taus = [float(kendalltau(*zip(*pairs, strict=True))[0]) for pairs in varied]
    return (float(pearsonr(x, y)[0]), fmean(tau for tau in taus if not isnan(tau))), unread


@cache
def rating_1_to_3(text):
    return read_rating(text, "1-3").value


SAMPLED = [  # prompt, aspect, published r and tau, ours, samples without a rating
    ("geval", "coherence", (0.468, 0.391), (0.468, 0.391), 0),
    ("geval", "engagingness", (0.549, 0.513), (0.551, 0.515), 0),
    ("geval_no_auto_cot", "coherence", (0.443, 0.404), (0.443, 0.402), 3),
    ("geval_no_auto_cot", "engagingness", (0.557, 0.535), (0.564, 0.534), 4),
    ("llm_eval_no_cot", "coherence", (0.524, 0.426), (0.524, 0.424), 10),
    ("llm_eval_no_cot", "engagingness", (0.611, 0.557), (0.612, 0.560), 3),
    ("rate_explain_auto_cot", "engagingness", (0.613, 0.566), (0.613, 0.566), 0),
    ("analyze_rate", "coherence", (0.477, 0.416), (0.477, 0.415), 17),
    ("analyze_rate", "engagingness", (0.567, 0.524), (0.567, 0.521), 16),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("prompt", "aspect", "published", "ours", "silent"), SAMPLED)
def test_topicalchat_samples_give_the_published_figures(shared, prompt, aspect, published, ours, silent):
    """Ours differs where samples say "2.5", which they cut to 2, or "1. Engagingness: 2", which they read as 1."""
    items = loaded(shared / f"data/topical_chat/gpt-3.5/gpt3.5_{aspect[:3]}_{prompt}.json.gz")
    got, unread = agreement(items, aspect, rating_1_to_3)
    assert got == pytest.approx(published, abs=0.0075), story(got, unread)
    assert got == pytest.approx(ours, abs=0.00051), story(got, unread)
    assert len(unread) == silent, story(got, unread)


@pytest.mark.parametrize(
    ("aspect", "published", "apart"), [("coherence", (0.468, 0.391), 1), ("engagingness", (0.549, 0.513), 61)]
)
def test_g_eval_samples_cut_to_whole_numbers_give_the_published_figures_to_three_digits(
    shared, aspect, published, apart
):
    items = loaded(shared / f"data/topical_chat/gpt-3.5/gpt3.5_{aspect[:3]}_geval.json.gz")
    texts = [text for item in items for text in item["all_responses"]]
    differ = Counter(text for text in texts if rating_1_to_3(text) != whole(text))
    assert sum(differ.values()) == apart, differ
    assert all(re.fullmatch(r"[1-3]\.[ ]?(?:Engagingness: )?\d", text) for text in differ), differ  # "2.5", "1. 2"

    def read(text):
        return whole(text) if text in differ else rating_1_to_3(text)

    got, _ = agreement(items, aspect, read)
    assert tuple(round(v, 3) for v in got) == published, story(got, [])


def verdicts(shared, strategies):
    for path in sorted((shared / "data/llmbar").rglob("result.json.gz")):
        if re.fullmatch(strategies, path.parent.name):
            for item in loaded(path):
                for order, verdict in item["results"][-1].items():
                    yield path.parent, order, verdict


def winner(order, text):
    """Which output wins, in the original order."""
    first = read_choice(text, OUTPUTS).value
    return first if order == "swap = False" or first is None else {"1": "2", "2": "1"}[first]


def test_llmbar_verdicts_by_metrics_are_the_recorded_winners(shared):
    rows = list(verdicts(shared, "Metrics.*"))
    wrong = [
        (str(run), order, v["completion"][0], v["winner"])
        for run, order, v in rows
        if winner(order, v["completion"][0]) != v["winner"]
    ]
    assert len(rows) > 4000
    assert not wrong, f"{len(wrong)} of {len(rows)}: {wrong[:10]}"


def test_llmbar_verdicts_after_long_rationales_are_those_that_the_text_ends_with(shared):
    """91 of 5,040 are recorded otherwise than the reply says ("Output (b) is better"), or cut off before it."""
    rows = list(verdicts(shared, "CoT|Swap|Swap_CoT"))
    wrong = [
        (winner(order, v["completion"][0]), v["winner"], v["completion"][0])
        for _, order, v in rows
        if winner(order, v["completion"][0]) != v["winner"]
    ]
    assert len(wrong) <= 0.02 * len(rows), f"{len(wrong)} of {len(rows)}"
    assert all("is better" in text for got, _, text in wrong if got)
    assert all(text[-1].isalpha() for got, _, text in wrong if not got), "only a reply that was cut off gives none"


def test_llmbar_bare_ratings_are_read(shared):
    rows = [v for _, _, v in verdicts(shared, "Rating.*") if isinstance(v, list)]
    assert len(rows) > 3000
    given = {text: float(text) if text else None for text, _ in rows}
    assert given == {text: read_rating(text, "0-10").value for text in given}


def texts_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_of(inner)


def test_ratings_in_double_brackets_of_critiques_are_all_read(shared):
    rows = loaded(shared / "data/autoj/critiques.jsonl")
    kinds = ("critiques", "chatgpt_critique", "autoj_critique")
    marked = [(t, re.findall(r"\[\[(\d+)\]\]", t)) for r in rows for k in kinds for t in texts_of(r[k])]
    marked = [(text, marks) for text, marks in marked if marks]
    assert len(marked) > 300
    wrong = [text[-80:] for text, marks in marked if read_rating(text, "1-10").value != float(marks[-1])]
    assert not wrong, wrong[:5]


@pytest.mark.parametrize(
    ("name", "read", "silent", "off"),
    [("no_multi.json", 965, 27, 8), ("ROC_one_by_one+FB.json.gz", 985, 2, 13), ("ROC_COT+FB.json.gz", 994, 5, 1)],
)
def test_scores_of_mateval_s_questions_are_read_where_they_are_given(shared, name, read, silent, off):
    """A missing line is unread; "-3" and "1" are off the scale of -2 to 0."""
    found = Counter()
    for row in loaded(shared / "data/mateval/ROC/result" / name):
        for key, text in row.items():
            if key == "no_multi_agent" or key.endswith("agent_summary"):
                for block in text.split("Question:")[1:]:
                    reading = read_rating(block.split("Final Score")[0], "-2-0")
                    found["off" if "not one number" in reading.rule else reading.status] += 1
    assert (found["ok"], found["unreadable"] + found["refused"], found["off"]) == (read, silent, off), found
