"""Published figures on real data, from coefficients at their levels."""

import json

import numpy as np
import pytest

from judgegraph.stats.bootstrap import bootstrap, correlate

TOPICAL_CHAT = {  # Pearson, Spearman, Kendall of UniEval, dataset level
    "naturalness": (0.443666, 0.513986, 0.373973),
    "coherence": (0.595143, 0.612942, 0.465915),
    "engagingness": (0.556510, 0.604739, 0.455941),
    "groundedness": (0.536209, 0.574954, 0.451533),
    "understandability": (0.380038, 0.467807, 0.360741),
    "overall": (0.632796, 0.662583, 0.487272),
}
THREE = ("pearson", "spearman", "kendall-b")


@pytest.mark.parametrize("criterion", TOPICAL_CHAT)
def test_unieval_on_topical_chat(shared, criterion):
    items = json.loads((shared / "data/topical_chat/topical_chat_result.json").read_text())
    human, metric = (np.array([item[key][criterion] for item in items]) for key in ("scores", "predict_scores"))
    found = [correlate(human, metric, coefficient=name).value for name in THREE]
    assert found == pytest.approx(TOPICAL_CHAT[criterion], abs=6e-7)


def test_chatgpt_on_stories_over_all_items_and_per_prompt(shared):
    prompts = json.loads((shared / "data/openmeva/openmeva.json").read_text())
    rows = [(g, one["score"]) for g, item in enumerate(prompts) for one in item["gen"].values()]
    group, (human, metric) = np.array([g for g, _ in rows]), np.array([[s["human"], s["chatgpt"]] for _, s in rows]).T
    over_all = [correlate(human, metric, coefficient=name).value for name in THREE]
    per_prompt = [correlate(human, metric, coefficient=name, level="group", group=group) for name in THREE]
    assert over_all == pytest.approx((0.430, 0.412, 0.342), abs=6e-4)
    assert [one.value for one in per_prompt] == pytest.approx((0.466, 0.456, 0.411), abs=6e-4)
    assert [(one.n, one.units, one.skipped) for one in per_prompt] == [(500, 87, 13)] * 3
    found = bootstrap(human, [metric], coefficients=THREE, level="group", unit="group", group=group, resamples=300)
    for c in range(3):
        assert found.interval(0, c).low < per_prompt[c].value < found.interval(0, c).high
