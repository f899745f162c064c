"""Charts: what they count is what they were given, they are inert for any text, and the same every time."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

from judgegraph.report.charts import (
    CHART_CSS,
    DARK,
    LIGHT,
    Measure,
    Series,
    bars,
    fit,
    histogram,
    interval_plot,
    score_bar,
    split_bar,
    win_graph,
)
from judgegraph.types import Scale
from judgegraph.views.blocks import number_text, percent

NS = "{http://www.w3.org/2000/svg}"
SCALE = Scale.of("1-5")
HOSTILE = [
    "<script>alert(1)</script>", "]]>", "\"'><svg onload=alert(1)>", "\u202eevil\u202c", "a\0b", "x" * 10_000, "",
    "\ud800", "&#x3c;b&#x3e;", "-->", "\x1b[31m", "{{7*7}}", "javascript:alert(1)", "url(https://example.org)",
    "\u2028", "👩‍👩‍👧",
]  # fmt: skip
DRAFTS, FINALS = {"2": 3, "3": 10, "4": 45, "5": 38}, {"1": 1, "2": 13, "3": 40, "4": 32, "5": 10}


def charts_of(name: str):
    """Every chart with a text of others in each of its places."""
    labels = Scale(labels=("calm", "angry"))
    return [
        histogram(name, ["1", name], [Series(name, {"1": 2, name: 1}, 1.5), Series("final", {"1": 3})]),
        interval_plot(name, [Measure(name, 0.5, 0.4, 0.6, 9), Measure(name, math.nan, math.nan, math.nan, 0)]),
        bars(name, [(name, 3), ("other", 0)], 9),
        split_bar(name, [(name, 3), ("tie", 1)]),
        score_bar({name: 0.4, "3": 0.6}, SCALE, 3.0),
        score_bar({name: 0.4, "calm": 0.6}, labels, name),
        score_bar({name: 1.0}, None, name),
        win_graph(name, [name, "b", "c"], {(name, "b"): (0.7, 10), ("c", name): (0.5, 4)}),
    ]


def texts(picture) -> list[str]:
    return [node.text or "" for node in ET.fromstring(picture.svg).iter(f"{NS}text")]


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name)[:20])
def test_a_chart_is_inert_well_formed_xml_whatever_its_names_are(name):
    for picture in charts_of(name):
        root = ET.fromstring(picture.svg.encode())
        assert {node.tag.removeprefix(NS) for node in root.iter()} <= {
            "svg", "title", "desc", "text", "rect", "line", "circle", "path", "polygon",
        }  # fmt: skip
        attributes = {key for node in root.iter() for key in node.attrib}
        assert not attributes & {"style", "id", "href", "onload", "src"}
        values = " ".join(value for node in root.iter() for value in node.attrib.values())
        assert "url(" not in values
        assert "script" not in values
        assert "x" * 50 not in values
        assert all(c.isprintable() for c in "".join(root.itertext()) + picture.alt)
        assert len(picture.svg) < 9000


@pytest.mark.parametrize("picture", charts_of("Clarity"), ids=lambda picture: picture.alt[:20])
def test_a_chart_has_a_name_a_description_a_view_box_and_no_small_letters(picture):
    root = ET.fromstring(picture.svg)
    assert root.get("role") == "img"
    assert [child.tag for child in root][:2] == [f"{NS}title", f"{NS}desc"]
    assert root[0].text
    assert root[1].text
    assert picture.alt == f"{root[0].text}: {root[1].text}"
    _, _, wide, high = map(float, root.get("viewBox").split())
    assert wide <= 340, "as wide as a page of 390 pixels shows without shrinking it"
    assert high > 0
    assert all(float(node.get("font-size", 12)) >= 11 for node in root.iter())


def test_the_same_numbers_give_the_same_chart():
    assert [one.svg for one in charts_of("Clarity")] == [one.svg for one in charts_of("Clarity")]


def test_bars_of_a_histogram_are_shares_of_their_series_and_add_up_to_all_of_it():
    picture = histogram("Engagement", list("12345"), [Series("draft", DRAFTS, 4.2), Series("final", FINALS, 3.4)])
    for hollow, counts in ((True, DRAFTS), (False, FINALS)):
        rects = [
            r for r in ET.fromstring(picture.svg).iter(f"{NS}rect") if (r.get("fill-opacity") is not None) == hollow
        ]
        widths = [float(rect.get("width")) for rect in rects[1:]]  # the first is of the legend
        assert len(widths) == len(counts)
        whole = 150 / max(45 / 96, 40 / 96)  # pixels for a share of 1
        assert sum(widths) == pytest.approx(whole, rel=0.002)
        assert [w / whole * 96 for w in widths] == pytest.approx(list(counts.values()), rel=0.01)


def test_a_histogram_prints_n_mean_and_every_count():
    said = texts(histogram("E", list("12345"), [Series("draft", DRAFTS, 4.229), Series("final", FINALS)]))
    assert said[1:3] == ["draft: n 96, mean 4.23", "final: n 96"]
    counts = [int(found[0].replace(",", "")) for one in said[3:] if (found := re.match(r"[\d,]+(?= \()", one))]
    assert sum(counts) == 192
    assert "45 (47 %)" in said


def test_a_series_alone_is_drawn_by_itself():
    said = texts(histogram("Tone", ["calm", "angry"], [Series("final", {"calm": 1000, "angry": 1})]))
    assert said == ["Tone", "final: n 1,001", "calm", "1,000 (>99 %)", "angry", "1 (<1 %)"]


def test_an_interval_lies_where_its_numbers_are():
    picture = interval_plot("S", [Measure("a", 0.5, 0.0, 1.0, 30)])
    root = ET.fromstring(picture.svg)
    whisker = next(one for one in root.iter(f"{NS}line") if one.get("class") == "jg-whisker")
    assert (float(whisker.get("x1")), float(whisker.get("x2"))) == (170, 332)
    assert float(next(root.iter(f"{NS}circle")).get("cx")) == pytest.approx(251)
    assert "0.50 [0.00, 1.00], n 30" in texts(picture)


def test_a_number_that_is_none_has_no_mark():
    root = ET.fromstring(interval_plot("S", [Measure("a", math.nan, math.nan, math.nan, 2)]).svg)
    assert not list(root.iter(f"{NS}circle"))
    assert "-, n 2" in "".join(root.itertext())


def test_a_share_is_printed_as_percent():
    picture = interval_plot("Flips", [Measure("overall", 0.12, 0.05, 0.22, 60)], 0, 1, 0, shares=True)
    assert "12 % [5 %, 22 %], n 60" in texts(picture)


def test_bars_are_as_long_as_their_share_of_all():
    root = ET.fromstring(bars("New", [("Creativity", 48), ("Length", 12)], 96).svg)
    assert [float(r.get("width")) for r in root.iter(f"{NS}rect")] == pytest.approx([339 / 2, 339 / 8], rel=0.001)
    assert "48 of 96 (50 %)" in [*root.itertext()]


def test_a_split_bar_is_cut_by_its_counts():
    root = ET.fromstring(split_bar("Verdicts", [("A", 12), ("tie", 0), ("B", 4)]).svg)
    widths = [float(r.get("width")) for r in root.iter(f"{NS}rect") if r.get("height") == "16"]
    assert widths == pytest.approx([339 * 0.75, 339 * 0.25], rel=0.001)
    assert "tie: 0 (0 %)" in [*root.itertext()]


def test_a_score_bar_has_a_column_for_each_value_as_high_as_it_is_likely():
    root = ET.fromstring(score_bar({"3": 0.25, "4": 0.75, "5": 0.0}, SCALE, 3.75).svg)
    heights = [float(r.get("height")) for r in root.iter(f"{NS}rect")]
    assert len(heights) == 2
    assert sorted(heights)[1] == pytest.approx(3 * sorted(heights)[0], rel=0.01)
    assert root[0].text == "score 3.75 on 1-5"
    assert root[1].text == "4 75 %, 3 25 %"


def test_the_label_that_was_given_is_the_filled_one():
    root = ET.fromstring(score_bar({"calm": 0.4, "angry": 0.6}, Scale(labels=("calm", "angry")), "angry").svg)
    assert [r.get("fill-opacity") for r in root.iter(f"{NS}rect")] == [".12", None]


@pytest.mark.parametrize("value", [3.0, None, "odd"])
def test_a_score_without_a_distribution_still_has_its_scale(value):
    root = ET.fromstring(score_bar(None, SCALE, value).svg)
    assert root[1].text == "no distribution"
    assert len(list(root.iter(f"{NS}path"))) == (value is not None)


def test_a_small_bar_is_small():
    assert len(score_bar({str(k): 0.2 for k in range(1, 6)}, SCALE, 3.0).svg) < 1700


def test_an_arrow_leads_from_the_winner_to_the_loser_and_an_even_pair_has_none():
    root = ET.fromstring(win_graph("W", ["a", "b"], {("a", "b"): (0.25, 8)}).svg)
    (a, b) = [float(one.get("cx")) for one in root.iter(f"{NS}circle")]
    tip = float(next(root.iter(f"{NS}polygon")).get("points").split(",")[0])
    assert abs(tip - a) < abs(tip - b), "b beat a"
    assert "75 % of 8" in [*root.itertext()]
    assert not list(ET.fromstring(win_graph("W", ["a", "b"], {("a", "b"): (0.5, 8)}).svg).iter(f"{NS}polygon"))


def test_of_many_systems_eight_are_drawn():
    names = [f"s{k}" for k in range(20)]
    root = ET.fromstring(win_graph("W", names, {(a, b): (0.6, 3) for a in names for b in names if a < b}).svg)
    assert len(list(root.iter(f"{NS}circle"))) == 8


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (number_text(None), "-"), (number_text(math.nan), "-"), (number_text(-0.001), "0.00"),
        (number_text(2.345, 1), "2.3"),
        (percent(0, 0), ""), (percent(5, 1000), "<1 %"), (percent(995, 1000), ">99 %"),
        (percent(1, 1000), "<1 %"), (percent(999, 1000), ">99 %"), (percent(1, 3), "33 %"),
        (fit("a very long line indeed", 60), "a very l…"), (fit("short", 60), "short"),
    ],
)  # fmt: skip
def test_numbers_and_lines_are_printed_short(call, said):
    assert call == said


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    lit = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * lit[0] + 0.7152 * lit[1] + 0.0722 * lit[2]


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_and_marks_stand_out_from_their_ground(colours):
    for name in ("ink", "muted"):
        assert contrast(colours[name], colours["ground"]) >= 4.5
    for name in ("line", "c1", "c2", "c3"):  # those that charts here use; pale ones have an outline of ink
        assert contrast(colours[name], colours["ground"]) >= 3


def test_the_css_fetches_nothing():
    assert not re.search(r"url\(|@import|<|expression|http", CHART_CSS)
