"""What the page tells of samples: nothing is kept that was never read, lists keep their rank, orders are named."""

import re
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.graphs import sageval
from judgegraph.report.page import Templates
from judgegraph.report.samples import SHORT, WHOLE, Groups, cause, group_of, listings, short
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.trace.record import Step
from judgegraph.views.blocks import Grid, ScoreRow, Section
from judgegraph.views.trace import FEW, WORDS, Detail, Views, head_of, pair_table, reading, rows_of, view_of

ROOT = Path(__file__).resolve().parents[2]
SCALE = jg.Scale.of("1-5")
LOST = "the reply was cut off"


def score(stage: str, value: float | None, draft: jg.Score | None = None, **about) -> jg.Score:
    told = {"agent": "sage" if draft else "evaluator", "status": "ok" if value is not None else "truncated"} | about
    return jg.Score(
        criterion="Depth", stage=stage, value=value, scale=SCALE, draft=draft.key if draft else None, **told
    )


def item(*scores: jg.Score, place: int = 0, **about) -> Item:
    sample = jg.Sample(id=f"s{place}", output="o", rival=about.pop("rival", None))
    return Item(sample=sample, place=place, scores=scores, **about)


def plain(html: object) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", str(html)).split())


def reviewed(draft: float | None, final: float | None, **about) -> Item:
    first = score("draft", draft, reason="It goes deep." if draft else LOST)
    said = jg.Rectification(criterion="Depth", agent="sage", **({"action": "keep", "reason": "So it is."} | about))
    return item(first, score("final", final, first, reason=first.reason), rectifications=(said,))


@pytest.mark.parametrize(
    ("draft", "final", "shown"),
    [
        (None, None, "Depth truncated on 1-5"),
        (None, 2.0, "Depth 2 draft truncated on 1-5"),
        (4.0, None, "Depth truncated draft 4 on 1-5"),
        (4.0, 4.0, "Depth 4 kept on 1-5"),
    ],
)
def test_only_a_draft_that_was_read_is_kept(draft: float | None, final: float | None, shown: str):
    (row,) = rows_of(one := reviewed(draft, final), WHOLE[0])[0]
    assert row.is_unchanged is (draft == final == 4.0)
    assert shown in plain(Templates().sample(view_of(one, WHOLE[0], ""), 0))


@pytest.mark.parametrize("reason", ["the reply is no JSON", LOST])
def test_two_agents_that_failed_each_say_their_own_error(reason: str):
    (row,) = rows_of(reviewed(None, None, status="unreadable", reason=reason), WHOLE[0])[0]
    assert [(who, text.text) for who, text in row.why] == [("evaluator truncated", LOST), ("sage unreadable", reason)]


def test_a_critic_keeps_nothing_where_there_was_no_draft():
    (row,) = rows_of(reviewed(None, None), WHOLE[0])[0]
    assert [who for who, _ in row.why] == ["evaluator truncated", "sage had no draft to keep"]


@pytest.mark.parametrize(
    ("one", "head", "group"),
    [
        (reviewed(None, None), "no final score could be read", "no final score that could be read"),
        (reviewed(4.0, None), "no final score could be read, 1 draft could", "no final score that could be read"),
        (item(score("draft", None)), "no score could be read", "no score that could be read"),
        (item(), "nothing judged", "no final score"),
        (reviewed(4.0, 4.0), "4 on 1-5", "score 4 of 1 to 5"),
    ],
)
def test_the_head_of_a_sample_says_when_nothing_could_be_read(one: Item, head: str, group: str):
    assert head_of(one) == head
    assert group_of(one, SCALE)[1] == group


def test_a_failed_sample_says_of_what_it_failed():
    one = reviewed(None, None, status="unreadable", reason="no JSON")
    assert cause(one) == f"3 failed parts, 2 of them truncated: {LOST}"
    early = item(score("draft", None, reason=LOST), status="provider_error", reason="500\n" + 300 * "x ")
    assert cause(early).startswith("2 failed parts, 1 of them provider error: 500 x x")
    assert len(cause(early)) < 220
    assert cause(item(score("draft", 2.0))) == ""
    run = Run({}, [reviewed(4.0, 4.0), one.model_copy(update={"sample": jg.Sample(id="bad", output="o"), "place": 1})])
    (failed,) = [listing for listing in listings(run, 5) if listing.key == "failed"]
    assert failed.samples == (("bad", cause(one)),)


def page_of(items: list[Item], folder: Path) -> str:
    run = Run({"method": "by hand", "signature": "s"}, items)
    return jg.write_report(run, folder / "run.html").read_text()


def test_every_list_keeps_its_rank(tmp_path: Path):
    def one(place: int, to: float, ms: float) -> Item:
        draft = score("draft", 5.0)
        return item(draft, score("final", to, draft), place=place, ms=ms)

    page = page_of([one(0, 1.0, 10.0), one(1, 5.0, 99.0), one(2, 3.0, 50.0), one(3, 5.0, 20.0)], tmp_path)
    slow = page[page.index('id="list-dearest"') : page.index('id="list-all"')]
    assert re.findall(r'class="id">(s\d)<', slow) == ["s1", "s2", "s3", "s0"]
    assert re.findall(r'<li class="again"><a href="#s\d+"><bdi class="id">(s\d)</bdi></a>', slow) == [
        "s1",
        "s2",
        "s3",
        "s0",
    ]
    assert "50 ms · told above" in plain(slow)


@pytest.mark.parametrize("level", [SHORT[0], SHORT[-1]])
def test_all_samples_say_where_their_reasons_are_cut(level: Detail):
    one = item(score("final", 3.0, reason="because " * 90))
    groups = Groups(1)
    groups.counts[0.0, "all"] += 1
    groups.items[0.0, "all"] = [one]
    templates = Templates()

    def write(found: Item, detail: Detail) -> str:
        return templates.short(view_of(found, detail, ""), None)

    shown = short(groups, write, int(1.05 * len(write(one, level).encode()) + 2))
    assert shown.detail == level
    page = plain(templates.samples([], {}, {}, shown, WHOLE[0]))
    told = f"its first {level.rows} scores stand here, without texts, with reasons cut at {level.reason} characters"
    if level.text:
        told = (f"what was judged stands beside its first {level.rows} scores, with texts cut at {level.text:,} "
                f"characters and reasons at {level.reason}")  # fmt: skip
    assert told in page
    assert ("because " * 90)[: level.reason].strip() in page
    assert "because " * (level.reason // 8 + 1) not in page


def compared(agent: str, order: str, a: float, b: float, criterion: str = "Depth") -> jg.Comparison:
    return jg.Comparison(criterion=criterion, agent=agent, order=order, score_a=a, score_b=b, verdict="B")


def pair(orders: str, repeats: tuple[int, ...]) -> Item:
    scores = [score("final", 4.0, agent="comparer", repeat=n, of=of) for n in repeats for of in ("output", "rival")]
    found = [compared("comparer", order, 4.0, 5.0) for order in orders.split()]
    found.append(compared("merge", "both", 8.0, 10.0, "overall"))
    return item(*scores, rival="r", comparisons=tuple(found), overall=4.0, verdict="B")


@pytest.mark.parametrize(
    ("orders", "repeats", "names"),
    [
        ("AB BA", (0, 1), ["Depth (AB)", "Depth (rival, AB)", "Depth (BA)", "Depth (rival, BA)"]),
        ("BA", (1,), ["Depth (BA)", "Depth (rival, BA)"]),
        ("AB", (0,), ["Depth", "Depth (rival)"]),
    ],
)
def test_the_orders_of_a_pair_are_told_apart(orders: str, repeats: tuple[int, ...], names: list[str]):
    assert [row.name for row in rows_of(pair(orders, repeats), WHOLE[0])[0]] == names


def test_repeats_without_an_order_are_numbered():
    rows = rows_of(item(score("final", 4.0), score("final", 3.0, repeat=1)), WHOLE[0])[0]
    assert [row.name for row in rows] == ["Depth", "Depth (repeat 2)"]


def test_both_overalls_of_a_pair_say_whose_they_are():
    facts = view_of(pair("AB BA", (0, 1)), WHOLE[0], "").facts
    assert facts[2:] == (
        ("overall of A (output)", "4"), ("overall of B (rival)", "5"), ("verdict", "B is better (rival)")
    )  # fmt: skip
    other = pair("AB BA", (0, 1)).model_copy(update={"overall": 3.0})  # of none of these comparisons
    assert [name for name, _ in view_of(other, WHOLE[0], "").facts[2:]] == ["overall of A (output)", "verdict"]
    alone = item(score("final", 4.0), overall=4.0)
    assert view_of(alone, WHOLE[0], "").facts[2:] == (("overall", "4"),)


def test_how_a_score_was_read_is_told_in_words():
    def facts(reader: str, **about) -> tuple[str, ...]:
        rows: list[ScoreRow] = rows_of(item(score("final", 4.0, reader=reader, **about)), WHOLE[0])[0]
        return rows[0].facts

    assert facts("stated") == ("read from the reply's own number",)
    assert facts("logprobs") == ("weighted by token probabilities",)
    assert facts("mine") == ("reader: mine",)
    label = jg.Score(criterion="Tone", agent="a", label="calm", scale=jg.Scale.of(["calm", "angry"]), reader="stated")
    assert reading(label) == "read from the reply's own label"
    assert not [words for words in WORDS.values() if " by stated" in words]


def steps(*below: Step, kind: str = "node") -> Step:
    return Step(kind, "x", 0.0, 1.0, "ok", {}, steps=below)


def test_the_way_to_a_call_stands_open_and_the_call_shows_what_was_asked_and_said():
    call = Step("model", "m", 0.0, 1.0, "ok", {}, messages=(("user", "Asked?"),), replies=("Said.",))
    root = steps(steps(steps(call, kind="agent")), steps(*[call] * (FEW + 1)), kind="graph")
    view = Views(WHOLE[0]).of(root)
    chain, wide = view.steps
    assert [view.opened, chain.opened, chain.steps[0].opened, chain.steps[0].steps[0].opened] == [True] * 3 + [False]
    assert not wide.opened


def test_a_call_is_two_clicks_from_its_opened_sample(tmp_path: Path):
    """The trace, then the call: all above it, and the texts in it, stand open."""
    run = jg.evaluate(
        sageval(criteria="forms"), [next(iter(jg.load(ROOT / "examples/forms.jsonl")))], out=tmp_path / "a"
    )
    page = jg.write_report(run, tmp_path / "run.html", most=1).read_text()
    told = page[page.index('<details class="trace">') : page.index('id="list-all"')]
    stands = re.findall(r'<details class="(?:step k-)?(graph|node|agent|model|text)"( open)?>', told)
    assert {what for what, opened in stands if opened} == {"graph", "node", "agent", "text"}
    assert [what for what, opened in stands if not opened] == ["model", "model", "agent"]  # the last asks nobody


def test_a_long_note_of_a_table_is_wide_enough_to_be_read():
    grid = Grid("T", ("a", "n", "note", "some", "short"), (("x", "1", "y" * 41, "7 down, 6 up", "z"),), frozenset({1}))
    html = Templates().sections([Section("t", "T", (grid,))])[0]
    found = re.findall(r'<td(?: data-head="[^"]*")?([^>]*)>', html)
    assert found == [' class="n"', ' class="t"', ' class="m"', ""]


def test_what_is_furthest_from_certain_is_told_of_numbers_and_of_labels():
    tone = jg.Scale.of(["calm", "angry"])
    shared = {"agent": "a", "reason": "r"}
    items = [
        item(jg.Score(criterion="Tone", label="calm", scale=tone, distribution={"calm": 0.5, "angry": 0.5}, **shared)),
        item(jg.Score(criterion="D", value=3, scale=SCALE, distribution={"1": 0.5, "5": 0.5}, **shared), place=1),
        item(jg.Score(criterion="D", value=3, scale=SCALE, distribution={"3": 1.0}, **shared), place=2),
    ]
    (doubted,) = [listing for listing in listings(Run({}, items), 5) if listing.key == "uncertain"]
    assert doubted.samples == (("s0", "Tone 100 % uncertain"), ("s1", "D 100 % uncertain"))
    assert "100 % where a number's halves lie at both ends, or all labels are as likely" in doubted.about


def test_a_pair_is_a_table_of_its_criteria_and_orders():
    found = [compared("comparer", order, a, b) for order, a, b in (("AB", 4.0, 5.0), ("BA", 3.0, 5.0))]
    merged = jg.Comparison(criterion="overall", agent="merge", order="both", verdict="B")
    lost = jg.Comparison(criterion="Tone", agent="comparer", order="AB", status="unreadable")
    sample = jg.Sample(id="p", output="a", rival="b")
    table = pair_table(Item(sample=sample, comparisons=(*found, lost, merged), verdict="B"), 10)
    assert table is not None
    assert table.head == ("criterion", "A first", "B first", "both orders")
    assert table.rows == (
        ("Depth", "B (4 : 5)", "B (3 : 5)", ""), ("Tone", "unreadable", "", ""), ("overall", "", "", "B")
    )  # fmt: skip
    assert pair_table(Item(sample=sample), 10) is None


def test_agents_side_by_side_without_a_number_are_grouped_by_what_has_one():
    """Two judges gave a label each that nobody joined, and their numbers were: the page could not be written."""
    tone = jg.Scale.of(["bad", "good"])
    labels = [jg.Score(criterion="Tone", agent=agent, label="good", scale=tone) for agent in ("one", "two")]
    joined = jg.Score(criterion="Depth", agent="join", value=5.0, scale=jg.Scale.of("1-5"))
    sample = jg.Sample(id="s", output="A text.")
    assert group_of(Item(sample=sample, scores=(*labels, joined)), joined.scale) == (5.0, "score 5 of 1 to 5")
    assert group_of(Item(sample=sample, scores=tuple(labels)), None)[1] == "good"
