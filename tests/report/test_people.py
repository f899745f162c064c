"""People's judgements beside the answers: on the page and in a notebook, with the numbers of the run."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli.main import main
from judgegraph.errors import ConfigError
from judgegraph.graphs import llm_score
from judgegraph.report.answers import agreement, pairs, scores
from judgegraph.runs.item import Item
from judgegraph.types import Scale, Score
from judgegraph.views.blocks import Picture, Section

sys.path.insert(0, str(Path(__file__).parent / "sections"))
from section_runs import SCALE, TONES, compared, item, labelled, reviewed, run_of


def charts_in(section: Section | None, word: str) -> list[str]:
    """What the section's charts say, of those whose words hold one."""
    assert section is not None
    return [block.alt for block in section.blocks if isinstance(block, Picture) and word in block.alt]


def test_people_and_answers_are_counted_on_the_same_samples():
    items = labelled(30)
    run = run_of([*items, item(40, reviewed("Clarity", 5, 5))])  # nobody judged the last one
    told = charts_in(scores(run), "Clarity:")
    people, draft, answers = re.findall(r"n (\d+)\): ([\d, ]+)", told[0])
    counts = {int(point): int(n) for point, n in re.findall(r"(\d) (\d+)", people[1])}
    assert (people[0], draft[0], answers[0]) == ("30", "31", "31")
    assert counts == {p: n for p in range(1, 6) if (n := sum(one.sample.human["Clarity"] == p for one in items))}


def test_points_show_every_sample_and_the_numbers_of_the_table():
    run = run_of(labelled(30))
    row = next(row for row in jg.agreement(run).rows if row.criterion == "Depth" and row.statistic == "spearman")
    (met,) = charts_in(agreement(run), "Depth, sage: people and answers met")
    assert f"spearman {row.value:.2f} [{row.interval[0]:.2f}, {row.interval[1]:.2f}]" in met
    assert f"n {row.n}" in met


def test_few_values_stand_in_a_table_whose_cells_are_all_samples():
    rows = [(1, 1), (1, 2), (2, 2), (2, 2), (3, 3), (3, None)]
    items = [
        item(at, [Score(criterion="Depth", agent="judge", scale=SCALE, value=said, status="ok" if said else "refused")],
             human={"Depth": human})
        for at, (human, said) in enumerate(rows)
    ]  # fmt: skip
    (met,) = charts_in(agreement(run_of(items)), "people and answers met")
    assert "alike in 4 of 5 (80 %); 1 without an answer" in met
    assert "people 1, answer 2: 1" in met
    assert "people 3, answer none: 1" in met
    assert sum(int(n) for n in re.findall(r"answer \w+: (\d+)", met)) == 6


def test_rare_labels_are_taken_together_and_their_number_is_kept():
    names = tuple(f"kind{k}" for k in range(9))
    scale = Scale(labels=names)
    items = [
        item(at, [Score(criterion="Kind", agent="judge", scale=scale, label=names[at % 9])],
             human={"Kind": names[(at % 9) if at % 4 else 0]})
        for at in range(36)
    ]  # fmt: skip
    (met,) = charts_in(agreement(run_of(items)), "people and answers met")
    assert "others" in met
    assert sum(int(n) for n in re.findall(r"answer \w+: (\d+)", met)) == 36


def test_where_people_have_a_scale_of_their_own_each_stands_alone():
    items = [item(at, reviewed("Clarity", 3, 1 + at % 5), human={"Clarity": 10 * (at % 9)}) for at in range(20)]
    told = charts_in(agreement(run_of(items)), "Clarity, sage")
    assert ["on a scale of their own" in one for one in told] == [True, False, False]
    one_off = [item(at, reviewed("Clarity", 3, 1 + at % 5), human={"Clarity": 9 if at == 3 else 2}) for at in range(20)]
    (first,) = charts_in(scores(run_of(one_off)), "Clarity:")
    assert "off the scale 1" in first


def test_verdicts_stand_beside_peoples_in_the_part_on_pairs_alone():
    said = [("A", "A", "A"), ("A", "B", "tie"), ("B", "B", "B"), ("B", "B", "A"), ("tie", "tie", "tie")]
    items = [compared(at, one, two, human={"overall": human}) for at, (one, two, human) in enumerate(said)]
    (met,) = charts_in(pairs(run_of(items)), "people and answers met")
    assert "alike in 3 of 5 (60 %)" in met  # in the given order, as agreement counts them
    assert "accuracy 0.60" in met
    assert "people tie, answer A: 1" in met
    assert not charts_in(agreement(run_of(items)), "people and answers met")


def test_without_people_there_is_nothing_beside_the_answers():
    assert agreement(run_of([item(at, reviewed("Clarity", 3, 4)) for at in range(5)])) is None
    assert not charts_in(pairs(run_of([compared(at, "A", "B") for at in range(5)])), "people")
    with pytest.raises(ConfigError, match=r"human\.CRITERION"):
        run_of([item(0, reviewed("Clarity", 3, 4))]).plot.people()


def test_the_plot_is_the_pages_and_nothing_in_it_acts(tmp_path: Path):
    bad = '</svg><script>window.pwned=1</script>"\u202e!'
    scale = Scale(labels=(*TONES.labels, bad))
    items = []
    for at in range(20):
        scores = (
            Score(criterion=bad, agent=bad, scale=scale, label=scale.labels[at % 4]),
            Score(criterion="Clarity", agent=bad, scale=SCALE, value=1 + at * 7 % 11 / 3),
        )
        human = {bad: bad if at % 2 else "calm", "Clarity": 1 + at % 5}
        items.append(Item(sample=jg.Sample(id=f"s{at}", output="t", human=human), scores=scores, place=at))
    run = run_of(items)
    plot = run.plot.people()
    drawn = [block.svg for block in agreement(run).blocks if isinstance(block, Picture)]
    assert {one.svg for one in plot.pictures} <= set(drawn)
    root = ET.parse(plot.save(tmp_path / "plot.svg")).getroot()
    assert {one.tag.rpartition("}")[2] for one in root.iter()} <= {
        "svg",
        "title",
        "desc",
        "text",
        "rect",
        "line",
        "circle",
    }
    assert "<script" not in plot.svg
    assert "\u202e" not in plot.svg


def test_a_file_of_labels_counts_on_the_page(tmp_path: Path):
    samples = [jg.Sample(id=f"s{at}", output="words " * (3 + at)) for at in range(6)]
    run = jg.evaluate(llm_score(criteria=[jg.Criterion(name="Clarity")]), samples, out=tmp_path / "run")
    labels = tmp_path / "mine.jsonl"
    lines = [json.dumps({"id": item.id, "human": {"Clarity": 1 + at % 5}}) for at, item in enumerate(run.items)]
    labels.write_text("\n".join([*lines, json.dumps({"id": "elsewhere", "human": {"Clarity": 1}})]))
    pages = []
    for more in ([], ["--labels", str(labels)], ["--labels", str(labels), "--redact", "texts"]):
        out = tmp_path / f"{len(pages)}.html"
        done = CliRunner().invoke(main, ["report", str(tmp_path / "run"), "-o", str(out), *more])
        assert done.exit_code == 0, done.output
        pages.append(out.read_text())
    assert ["people and answers met" in page for page in pages] == [False, True, True]
    assert "labels of 1 sample that the run has not" in done.output
