"""TopicalChat by the path of `judgegraph bench topical_chat`: UniEval to six digits, GPT-3.5 with 20 samples."""

import gzip
import json
from pathlib import Path

import pytest

from judgegraph.bench.topical_chat import COLLECTION

UNIEVAL = {  # Pearson, Spearman, Kendall over all items (../shared/data/README.md)
    "Naturalness": (0.443666, 0.513986, 0.373973),
    "Coherence": (0.595143, 0.612942, 0.465915),
    "Engagingness": (0.556510, 0.604739, 0.455941),
    "Groundedness": (0.536209, 0.574954, 0.451533),
    "Understandability": (0.380038, 0.467807, 0.360741),
    "Overall": (0.632796, 0.662583, 0.487272),
}
SAMPLED = {  # prompt -> r over all items and tau per dialogue: coherence, engagingness
    "geval": ((0.468, 0.391), (0.549, 0.513)),
    "geval_no_auto_cot": ((0.443, 0.404), (0.557, 0.535)),
    "llm_eval_no_cot": ((0.524, 0.426), (0.611, 0.557)),
    "rate_explain_auto_cot": (None, (0.613, 0.566)),
    "analyze_rate": ((0.477, 0.416), (0.567, 0.524)),
}


@pytest.fixture(scope="module")
def by_authors(shared: Path, recorded):
    return recorded(shared / "data", "topical-chat", "--reading", "authors")


@pytest.mark.parametrize("criterion", UNIEVAL)
def test_unieval_s_figures_come_out_to_six_digits(by_authors, criterion):
    cells = [by_authors["UniEval", criterion, name, "dataset"] for name in ("pearson", "spearman", "kendall-b")]
    assert tuple(round(cell["value"], 6) for cell in cells) == UNIEVAL[criterion]
    assert [(cell["n"], cell["equal"]) for cell in cells] == [(360, True)] * 3


@pytest.mark.parametrize("prompt", SAMPLED)
def test_twenty_samples_give_r_over_all_items_and_tau_per_dialogue_as_published(by_authors, prompt):
    for criterion, figures in zip(("Coherence", "Engagingness"), SAMPLED[prompt], strict=True):
        judge = f"gpt-3.5 {prompt}"
        r, tau = by_authors[judge, criterion, "pearson", "dataset"], by_authors[judge, criterion, "kendall-b", "group"]
        if figures is not None:
            assert (round(r["value"], 3), round(tau["value"], 3)) == figures
            assert (r["equal"], tau["equal"]) == (True, True)


def test_analyze_rate_s_r_per_dialogue_is_the_paper_s_second_row(by_authors):
    for criterion, figure in (("Coherence", 0.486), ("Engagingness", 0.628)):
        cell = by_authors["gpt-3.5 analyze_rate", criterion, "pearson", "group"]
        assert (round(cell["value"], 3), cell["equal"]) == (figure, True)


def test_nothing_published_differs_by_the_authors_reading(by_authors):
    assert by_authors.unequal == {}
    assert len(by_authors.equal) == 18 + 18 + 2


def test_a_request_that_failed_is_no_unreadable_reply(by_authors):
    cell = by_authors["gpt-3.5 geval", "Coherence", "pearson", "dataset"]
    assert (cell["n"], cell["judged"], cell["unread"]) == (359, 360, {"provider_error": 1})


@pytest.mark.long
def test_our_own_reading_keeps_halves_and_so_differs_in_the_third_digit(shared: Path, recorded):
    """A sample of "2.5" is 2.5; the authors' figures come out where it is 2."""
    apart = {key: abs(one - other) for key, (one, other) in recorded(shared / "data", "topical_chat").unequal.items()}
    assert 0 < max(apart.values()) < 0.0075
    assert all(key[0].startswith("gpt-3.5") for key in apart)


def test_samples_hold_the_dialogue_as_turns_and_the_fact_as_source(shared: Path):
    samples = list(COLLECTION.samples(shared / "data/topical_chat"))
    assert len(samples) == len({s.id for s in samples}) == 360
    assert len({s.meta["group"] for s in samples}) == 60
    assert len({s.meta["system"] for s in samples}) == 6
    assert all(s.query.startswith("A: ") for s in samples)


def test_replies_are_joined_by_dialogue_and_system_not_by_place(tmp_path: Path):
    scores = dict.fromkeys(
        ("naturalness", "coherence", "engagingness", "groundedness", "understandability", "overall"), 1
    )
    rows = [
        {"source": "hi", "context": "f", "system_id": name, "system_output": name, "scores": scores,
         "predict_scores": scores}
        for name in "abc"
    ]  # fmt: skip
    (tmp_path / "topical_chat_result.json").write_text(json.dumps(rows))
    (tmp_path / "gpt-3.5").mkdir()
    answered = [{**rows[2], "all_responses": ["3", "2.5"]}, {**rows[0], "all_responses": ["1", "none"]}]
    (tmp_path / "gpt-3.5/gpt3.5_coh_geval.json.gz").write_bytes(gzip.compress(json.dumps(answered).encode()))
    for read, third in ((COLLECTION.recorded, 2.75), (COLLECTION.authors, 2.5)):
        found = {one.criterion: one for one in read(tmp_path)[""]}["Coherence"]
        assert found.metrics["gpt-3.5 geval"] == (1.0, None, third)
        assert found.statuses["gpt-3.5 geval"] == ("ok", "provider_error", "ok")
