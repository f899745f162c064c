"""Recorded replies of PandaLM's, Auto-J's, Prometheus' and LLMBar's judges through their forms, to published figures.

Where the authors kept a label and its reason apart (PandaLM, Prometheus), or the label alone (Auto-J's pairs), the
reply is put together again in the grammar of their form; nothing else is made up.
"""

import gzip
import json
from collections import Counter
from functools import cache
from itertools import combinations
from statistics import fmean

import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

import judgegraph as jg
from judgegraph.agents.judge_form import messages_of, values_of
from judgegraph.agents.orders import exchanged
from judgegraph.bench import autoj, pandalm
from judgegraph.forms.readers import read_reply
from judgegraph.forms.shipped import FORMS
from judgegraph.forms.templates import template_of
from judgegraph.testing import scripted
from judgegraph.types import Criterion

PAIR = "Request: {query}\nFirst: {A}\nSecond: {B}\n"  # words of ours: a replay reads no template
WORDS = {"autoj-pair": PAIR, "pandalm": f"Given:\n{{input}}\n\n{PAIR}"}


@cache
def rows(path):
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines()] if ".jsonl" in path.name else json.loads(text)


def read(form, texts):
    return [read_reply(text, FORMS[form]) for text in texts]


def asked(form, sample):
    """What the form asks of a sample in the order in which it stands."""
    template = template_of(FORMS[form], WORDS[form])
    values = values_of(sample, Criterion(name="overall"), FORMS[form], "")
    return messages_of(FORMS[form], template, values).messages[-1][1]


def replayed(form, samples, replies, **settings):
    """A run of the form whose judge says what was recorded; replies by what was asked."""

    def reply(messages):
        return replies[messages[-1].content]

    count = len(samples) * (2 if settings.get("orders") == "both" else 1)
    graph = jg.judge_form(form, template=WORDS[form], judge=scripted(*[reply] * count), **settings)
    return jg.evaluate(graph, samples)


def test_auto_js_critiques_and_the_comparisons_of_them_are_all_read(shared):
    held = rows(shared / "data/autoj/critiques.jsonl")
    own, chatgpt = (
        read("autoj-single", [row[key]["output"] for row in held]) for key in ("autoj_critique", "chatgpt_critique")
    )
    assert Counter((one.status, one.step) for one in own) == {("ok", "exact"): 116}
    assert Counter((one.status, one.step) for one in chatgpt) == {("ok", "exact"): 106, ("ok", "marks"): 10}
    verdicts = read("autoj-critiques", [row["gpt4_comparison"]["output"] for row in held])
    assert Counter(one.verdict for one in verdicts) == {"A": 48, "B": 66, "tie": 2}


def test_prometheus_set_gives_its_three_runs_agreement_from_the_replies(shared):
    held = rows(shared / "data/prometheus/vicuna_eval.json.gz")
    runs = []
    for run in range(3):
        texts = [f"{row['gpt4_feedback'][run]} [RESULT] {row['gpt4_score'][run]:.0f}" for row in held]
        readings = read("prometheus2-absolute", texts)
        assert {(one.status, one.step, one.other) for one in readings} == {("ok", "exact", "")}
        runs.append([one.value for one in readings])
    found = [fmean(f(a, b)[0] for a, b in combinations(runs, 2)) for f in (pearsonr, spearmanr, kendalltau)]
    assert [round(value, 3) for value in found] == [0.809, 0.723, 0.699]


LLMBAR = [  # strategy, subset, accuracy (mean of both orders), consistency, as published in percent
    ("Vanilla_NoRules", "Natural", 93.5, 97.0), ("Vanilla_NoRules", "Adversarial/Neighbor", 64.2, 89.6),
    ("Vanilla_NoRules", "Adversarial/Manual", 75.0, 89.1), ("Vanilla_NoRules", "Processed/MT-Bench", 81.0, 87.0),
    ("Metrics_Reference", "Natural", 96.0, 96.0), ("Metrics_Reference", "Adversarial/Neighbor", 85.4, 94.8),
    ("Metrics_Reference", "Adversarial/Manual", 83.7, 84.8), ("Metrics_Reference", "Processed/MT-Bench", 81.0, 84.0),
]  # fmt: skip
SWAP = {"A": "B", "B": "A", None: None}


def by_order(held):
    """Verdicts of the recorded replies in the given order and in the exchanged one, mapped back."""
    first, second = (
        [row["results"][-1][order]["completion"][0] for row in held] for order in ("swap = False", "swap = True")
    )
    return [one.verdict for one in read("llmbar", first)], [SWAP[one.verdict] for one in read("llmbar", second)]


@pytest.mark.parametrize(("strategy", "subset", "accuracy", "consistency"), LLMBAR)
def test_llmbars_figures_come_from_what_its_judges_wrote(shared, strategy, subset, accuracy, consistency):
    held = rows(shared / f"data/llmbar/{subset}/evaluators/GPT-4/{strategy}/result.json.gz")
    labels = ["AB"[int(row["label"]) - 1] for row in held]
    first, second = by_order(held)
    right = fmean((a == label) + (b == label) for a, b, label in zip(first, second, labels, strict=True)) / 2
    same = fmean(a == b for a, b in zip(first, second, strict=True))
    assert (round(100 * right, 1), round(100 * same, 1)) == (accuracy, consistency)


@pytest.mark.soak
def test_of_all_llmbars_replies_104_hold_no_verdict_and_89_are_another_than_was_stored(shared):
    """One of the 104 says that (b) is better and, two sentences on, that therefore (a) is. The 89 begin with the one
    output's victory and go on with a line on the other one, by which it was stored."""
    found = Counter()
    for path in sorted((shared / "data/llmbar").glob("**/result.json.gz")):
        if path.parent.name.startswith("Rating"):
            continue
        held = rows(path)
        for verdicts, order in zip(by_order(held), ("swap = False", "swap = True"), strict=True):
            stored = [{"1": "A", "2": "B", "None": None}[str(row["results"][-1][order]["winner"])] for row in held]
            found.update(
                "unread" if one is None else "same" if one == other else "another"
                for one, other in zip(verdicts, stored, strict=True)
            )
    assert found == {"same": 17_887, "unread": 104, "another": 89}


def auto_j(shared, group):
    """Samples of a group, and what Auto-J said of each order, as a reply to what was asked."""
    folder = shared / "data/autoj"
    samples = list(autoj.COLLECTION.samples(folder))
    given, back = (rows(folder / name) for name in (autoj.GIVEN, autoj.EXCHANGED))
    words = ("Response 1", "Response 2", "Tie")
    chosen = [(s, a, b) for s, a, b in zip(samples, given, back, strict=True) if s.meta["group"] == group]
    replies = {}
    for sample, first, second in chosen:
        replies[asked("autoj-pair", sample)] = f"So, the final decision is {words[first['output']]}."
        replies[asked("autoj-pair", exchanged(sample))] = f"So, the final decision is {words[second['output']]}."
    return [sample for sample, *_ in chosen], replies


GROUPS = [
    pytest.param("Summarization", 45.83, 73.61, 56.94, marks=pytest.mark.slow),
    pytest.param("Code", 47.50, 75.83, 54.17, marks=pytest.mark.soak),
    pytest.param("Creative Writing", 59.72, 87.04, 63.43, marks=pytest.mark.soak),
    pytest.param("General Communication", 55.21, 92.36, 57.29, marks=pytest.mark.soak),
]


@pytest.mark.parametrize(("group", "agrees", "same", "accurate"), GROUPS)
def test_auto_js_pairs_in_both_orders_give_the_leaderboards_figures(shared, group, agrees, same, accurate):
    samples, replies = auto_j(shared, group)
    run = replayed("autoj-pair", samples, replies, orders="both")
    found = jg.agreement(run, preset="auto-j", resamples=0, tests=False)
    values = [found.row(name, "form-merge").value for name in ("agreement", "consistency", "accuracy")]
    assert [round(100 * value, 2) for value in values] == [agrees, same, accurate]
    summary = run.summary()
    assert round(100 * summary.consistent / summary.both, 2) == same


def panda_lm(shared, count=None):
    folder = shared / "data/pandalm"
    held = list(pandalm.COLLECTION.samples(folder))[:count]  # two items are the same, and were judged differently
    samples = [sample.model_copy(update={"query": f"{sample.query} ({sample.id})"}) for sample in held]
    replies = {
        asked(
            "pandalm", sample
        ): f"{row['gpt_result']}\n\n### Reason: {row['gpt_reason']}\n\n### Reference: {row['gpt_reference']}"
        for sample, row in zip(samples, rows(folder / pandalm.JUDGE), strict=False)
    }
    return samples, replies


def test_a_run_of_pandalms_form_says_what_was_recorded(shared):
    samples, replies = panda_lm(shared, 40)
    run = replayed("pandalm", samples, replies)
    stored = {"1": "A", "2": "B", "Tie": "tie"}
    said = [stored.get(replies[asked("pandalm", sample)].partition("\n")[0]) for sample in samples]
    assert [item.verdict for item in run.items] == said


@pytest.mark.soak
def test_pandalms_table_has_974_verdicts_and_gives_the_published_figures(shared):
    samples, replies = panda_lm(shared)
    run = replayed("pandalm", samples, replies)
    assert Counter(item.verdict for item in run.items) == {"A": 460, "B": 476, "tie": 38, None: 25}
    found = jg.agreement(run, preset="pandalm", resamples=0, tests=False)
    names = ("accuracy", "macro-precision", "macro-recall", "macro-f1")
    assert [round(found.row(name).value, 4) for name in names] == [0.7107, 0.5879, 0.5736, 0.5755]
