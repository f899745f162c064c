"""`run.plot`: charts of a run as SVG that stands alone, with the numbers of the run."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from report_runs import scored_run

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graphs import llm_score, sageval
from judgegraph.runs.item import Item
from judgegraph.types import Criterion, Score

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> jg.Run:
    folder = tmp_path_factory.mktemp("plots")
    return jg.evaluate(
        sageval(criteria="summary"), [*jg.load(EXAMPLES / "articles.jsonl", limit=14)], out=folder / "run"
    )


def words(svg: str) -> list[str]:
    return [one.text or "" for one in ET.fromstring(svg).iter() if one.tag.endswith("}text")]


def test_scores_are_counted_as_the_run_holds_them(run: jg.Run):
    said = str(run.plot.scores())
    for criterion in ("Coherence", "Fluency"):
        values = [row["value"] for row in run.scores() if row["role"] == "answer" and row["criterion"] == criterion]
        part = next(line for line in said.splitlines() if line.startswith(criterion)).split("final (sage)")[1]
        counts = {int(point): int(count) for point, count in re.findall(r"(\d) (\d+)", part)}
        assert sum(counts.values()) == 14
        assert counts == {point: n for point in range(1, 6) if (n := sum(int(v + 0.5) == point for v in values))}


def test_a_critics_changes_are_those_that_the_run_holds(run: jg.Run):
    held = {(item.id, s.key): s for item in run.items for s in item.scores}
    changed: dict[str, list[bool]] = {}
    for (id, _), score in held.items():
        if score.stage == "final" and score.draft:
            changed.setdefault(score.criterion, []).append(held[id, score.draft].value != score.value)
    said = str(run.plot.critic())
    for criterion, moved in changed.items():
        assert f"{criterion} {round(100 * sum(moved) / 14)} % [" in said
        assert len(moved) == 14


def test_overlap_has_a_square_for_each_two_criteria(run: jg.Run):
    svg = run.plot.overlap().svg
    assert svg.count("<rect") == 6
    assert "Coherence and Consistency" in svg


def test_cost_is_in_tokens_of_paid_calls_where_nothing_has_a_price(run: jg.Run):
    svg = run.plot.cost().svg
    total = run.manifest["calls"]["prompt_tokens"] + run.manifest["calls"]["completion_tokens"]
    assert f"of {total:,}" in svg


def test_agreement_is_that_of_the_run(tmp_path: Path):
    labelled = scored_run(tmp_path / "run", 40)
    found = {(row.criterion, round(row.value, 2)) for row in jg.agreement(labelled).rows if row.statistic == "spearman"}
    said = str(labelled.plot.agreement())
    assert found
    assert all(f"{criterion} {value:.2f}" in said for criterion, value in found)


ATTACKS = ("</svg><script>window.pwned=1</script>", '"><img src=x onerror="window.pwned=1">', "&#60;b&#62; \u202e")


def attacked() -> jg.Run:
    """Criteria and agents of bad names, with drafts, finals and judgements of people, in memory."""
    scale, items = jg.Scale.of("1-5"), []
    for at in range(14):
        scores = []
        for place, name in enumerate(ATTACKS):
            about = {"criterion": name, "scale": scale}
            draft = Score(agent=f"judge {name}", stage="draft", value=1 + (at + place) % 4, **about)
            scores += [draft, Score(agent=f"critic {name}", value=1 + (at * (place + 1)) % 5, draft=draft.key, **about)]
        human = dict.fromkeys(ATTACKS, 1 + at % 5)
        items.append(Item(sample=jg.Sample(id=f"s{at}", output="text", human=human), scores=tuple(scores), place=at))
    return jg.Run({"signature": "s", "method": "m"}, items)


@pytest.mark.parametrize("name", ["scores", "critic", "agreement", "overlap"])
def test_a_plot_stands_alone_and_nothing_in_it_acts(name: str, tmp_path: Path):
    plot = getattr(attacked().plot, name)()
    root = ET.parse(plot.save(tmp_path / "plot.svg")).getroot()
    tags = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert tags <= {"svg", "title", "desc", "text", "rect", "line", "circle", "path", "g"}
    assert not [
        key for one in root.iter() for key in one.attrib if key.startswith("on") or "href" in key or key == "style"
    ]
    assert any("window.pwned" in word or "<b>" in word or "&#60" in word for word in [str(plot)])
    assert "<script" not in plot.svg
    assert "\u202e" not in plot.svg


def test_several_charts_are_one_file_one_below_the_other(run: jg.Run):
    root = ET.fromstring(run.plot.scores().svg)
    inner = [one for one in root if one.tag.endswith("}svg")]
    assert len(inner) == 4
    tops = [float(one.attrib["y"]) for one in inner]
    ends = [top + float(one.attrib["height"]) for top, one in zip(tops, inner, strict=True)]
    assert all(end < top for end, top in zip(ends, tops[1:], strict=False))
    assert ends[-1] == float(root.attrib["height"])


def test_what_cannot_be_drawn_says_why(tmp_path: Path):
    run = jg.evaluate(llm_score(criteria=[Criterion(name="Clarity")]), [jg.Sample(id="a", output="one two three four")])
    for name, why in (("critic", "no critic"), ("agreement", "human.CRITERION"), ("overlap", "two criteria"),
                      ("cost", "no spans")):  # fmt: skip
        with pytest.raises(ConfigError, match=why):
            getattr(run.plot, name)()
    with pytest.raises(ConfigError, match=r"written as \.svg"):
        run.plot.scores().save(tmp_path / "x.png")


def test_what_a_chart_does_not_hold_is_told():
    scale = jg.Scale.of("1-5")
    items = [
        Item(sample=jg.Sample(id=f"s{at}", output="t"), place=at, scores=tuple(
            Score(criterion=f"C{k:02}", agent="judge", value=1 + (at + k) % 5, scale=scale) for k in range(26)))
        for at in range(12)
    ]  # fmt: skip
    plot = jg.Run({"signature": "s", "method": "m"}, items).plot
    assert str(plot.scores()).endswith("the first 24 of 26 lines are drawn")
    assert plot.overlap().note == "the first 12 of 26 criteria are drawn"
    assert "of 26 criteria" in plot.overlap()._repr_html_()
