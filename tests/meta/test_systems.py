"""Systems ranked from scores, from pairs and from runs; hostile names; the command."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.bench.pandalm import COLLECTION
from judgegraph.cli.main import main
from judgegraph.errors import ConfigError, DataError
from judgegraph.graphs import fennec, g_eval, llm_score
from judgegraph.meta.cells import Judgements
from judgegraph.meta.conventions import Conventions, chosen
from judgegraph.meta.judgements import read_run
from judgegraph.meta.ranking import Entrants, contests, of_run, of_table
from judgegraph.stats.bootstrap import interval, p_of_zero
from judgegraph.views.agreement import table as table_of
from judgegraph.views.blocks import table_text

QUICK = Conventions(resamples=40)
SCORES = [  # document, system, people, metric: people say x > y > z, the metric has x and y the other way
    ("d1", "x", 5, 3), ("d1", "y", 4, 5), ("d1", "z", 1, 1),
    ("d2", "x", 4, 4), ("d2", "y", 4, 5), ("d2", "z", 2, 2),
    ("d3", "x", 2, 4), ("d3", "y", 1, 2), ("d3", "z", 3, ""),
]  # fmt: skip
PAIRS = [
    ("x", "y", "A", "A"),
    ("y", "z", "A", "tie"),
    ("z", "x", "B", "B"),
    ("x", "y", "tie", "B"),
    ("z", "y", "A", ""),
]


@pytest.fixture
def table(tmp_path):
    return _csv(tmp_path / "scores.csv", "doc,sys,human,metric", SCORES)


@pytest.fixture
def pairs(tmp_path):
    return _csv(tmp_path / "pairs.csv", "first,second,human,judge", PAIRS)


def _csv(path, header, rows):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


COLUMNS = {"system": "sys", "group": "doc", "human": ("human",), "metrics": ("metric",)}


def _won(ranking):
    return {row.system: row.won for row in ranking.systems}


def test_scores_are_compared_within_their_document(table):
    people, metric = jg.rank_systems(table, QUICK, **COLUMNS)
    assert _won(people) == {"x": 4.5 / 6, "y": 2.5 / 6, "z": 2 / 6}
    assert _won(metric) == {"y": 4 / 5, "x": 3 / 5, "z": 0}
    assert [row.score for row in people.systems] == pytest.approx([11 / 3, 3, 2])
    assert (people.comparisons, people.units, people.unread) == (9, 3, 0)
    assert (metric.comparisons, metric.units, metric.unread) == (7, 3, 1)


def test_a_metrics_order_is_held_against_peoples(table):
    _, metric = jg.rank_systems(table, QUICK, **COLUMNS)
    for by in metric.against:
        assert (by.alike, by.pairs, by.kendall, by.spearman) == (2, 3, pytest.approx(1 / 3), pytest.approx(0.5)), by.by
    assert [by.by for by in metric.against] == ["score", "strength", "elo"]


def test_a_lead_that_no_resample_denies_has_a_bound_for_its_p(tmp_path):
    rows = [("x", "y", verdict, verdict) for verdict in ["A"] * 22 + ["B"]]
    file = _csv(tmp_path / "pairs.csv", "first,second,human,judge", rows)
    for resamples in (40, 400):
        _, metric = jg.rank_systems(
            file, Conventions(resamples=resamples), system="first", rival="second", human=("human",), metrics=("judge",)
        )
        ahead = metric.systems[0]
        least = p_of_zero(np.ones(resamples), units=len(rows))
        assert ahead.p_is_least, "more resamples would say less"
        assert ahead.p_next == least
        assert f"< {math.ceil(1000 * least) / 1000:.3f}" in table_text(table_of(metric), "markdown")


def test_items_that_people_did_not_judge_are_said_to_count_for_the_judge_alone(tmp_path):
    rows = [("d1", "x", 5, 1), ("d1", "y", "", 2), ("d2", "x", 4, 2), ("d2", "y", 1, 1)]
    people, metric = jg.rank_systems(_csv(tmp_path / "t.csv", "doc,sys,human,metric", rows), QUICK, **COLUMNS)
    told = "1 of 4 items that metric answered without a judgement of people: counted for its ranking"
    assert any(note.startswith(told) for note in metric.notes)
    assert not any("judgement of people" in note for note in people.notes)


def test_it_is_said_that_a_system_which_never_won_was_lent_wins(table):
    people, metric = jg.rank_systems(table, QUICK, **COLUMNS)
    assert not any(note.startswith("wins do not lead") for note in people.notes)
    assert any("each pair was lent 0.1 wins either way" in note for note in metric.notes)
    assert "lent:0.1" in metric.signature
    assert math.isfinite(metric.systems[-1].strength)


def test_items_of_one_id_are_one_document_where_none_is_named(table):
    named = {**COLUMNS, "group": None}
    assert (
        jg.rank_systems(table, QUICK, **COLUMNS)[0].systems
        == jg.rank_systems(table, QUICK, id="doc", **named)[0].systems
    )


def test_an_unread_score_can_count_as_zero(table):
    metric = jg.rank_systems(table, QUICK.replaced(unreadable="zero"), **COLUMNS)[1]
    assert metric.comparisons == 9
    assert _won(metric)["z"] == 0


def test_verdicts_on_pairs_rank_and_their_circles_are_named(pairs):
    people, judge = jg.rank_systems(pairs, QUICK, system="first", rival="second", human=("human",), metrics=("judge",))
    assert _won(people) == {"x": 2.5 / 3, "y": 1.5 / 4, "z": 1 / 3}
    assert people.cycles.knots == ()
    assert (judge.comparisons, judge.unread) == (4, 1)


def test_an_unread_verdict_can_be_a_tie(pairs):
    named = {"system": "first", "rival": "second", "human": ("human",), "metrics": ("judge",)}
    judge = jg.rank_systems(pairs, QUICK.replaced(unreadable="tie"), **named)[1]
    assert (judge.comparisons, judge.unread) == (5, 1)
    assert _won(judge) == {"x": 2 / 3, "y": (0 + 0.5 + 1 + 0.5) / 4, "z": (0.5 + 0 + 0.5) / 3}


def test_a_circle_of_preferences_is_reported(tmp_path):
    table = _csv(tmp_path / "circle.csv", "a,b,judge", [("x", "y", "A"), ("y", "z", "A"), ("z", "x", "A")])
    (only,) = jg.rank_systems(table, QUICK, system="a", rival="b", metrics=("judge",))
    assert only.cycles.found == (("x", "y", "z"),)
    assert {row.place for row in only.systems} == {1}
    assert only.judge == "judge"
    assert only.against == ()


def test_both_orders_of_a_pair_are_two_comparisons_of_one_unit(tmp_path):
    rows = [("x", "y", "A", "A"), ("y", "x", "A", "B"), ("x", "y", "B", "")]
    table = _csv(tmp_path / "orders.csv", "a,b,judge,swapped", rows)
    named = {"system": "a", "rival": "b", "metrics": ("judge",), "exchanged": {"judge": "swapped"}}
    (only,) = jg.rank_systems(table, QUICK, **named)
    assert (only.comparisons, only.units, only.unread) == (5, 3, 1)
    assert _won(only) == {"x": 3 / 5, "y": 2 / 5}


def test_several_annotators_count_by_their_majority(tmp_path):
    rows = [("x", "y", "A", "A", "B"), ("y", "x", "A", "B", "tie")]
    table = _csv(tmp_path / "three.csv", "a,b,h1,h2,h3", rows)
    (people,) = jg.rank_systems(table, QUICK, system="a", rival="b", human=("h1", "h2", "h3"))
    assert _won(people) == {"x": 0.75, "y": 0.25}
    assert "annotators:majority of 3" in people.signature


def test_a_pair_of_a_system_with_itself_is_left_out_and_counted(tmp_path):
    table = _csv(tmp_path / "self.csv", "a,b,judge", [("x", "x", "A"), ("x", "y", "A"), ("y", "x", "A")])
    (only,) = jg.rank_systems(table, QUICK, system="a", rival="b", metrics=("judge",))
    assert only.comparisons == 2
    assert "1 pair of a system with itself, left out" in only.notes


@pytest.mark.parametrize(
    ("rows", "named", "error", "said"),
    [
        (SCORES, {"group": "doc", "metrics": ("metric",)}, ConfigError, "--system"),
        (SCORES, {**COLUMNS, "system": "syss"}, DataError, "no column 'syss'; did you mean 'sys'"),
        ([("d1", "x", 5, 3), ("d2", "y", 4, 5)], COLUMNS, ConfigError, "no two systems were compared"),
        ([("d1", "x", 5, 3), ("d1", "x", 4, 5)], {**COLUMNS, "group": None, "id": "doc"}, DataError, "2 times"),
    ],
)
def test_what_cannot_be_ranked_is_refused(tmp_path, rows, named, error, said):
    table = _csv(tmp_path / "t.csv", "doc,sys,human,metric", rows)
    with pytest.raises(error, match=said):
        jg.rank_systems(table, QUICK, **named)


def test_very_many_systems_are_refused_before_anything_is_drawn(tmp_path):
    rows = [("d", f"s{k}", k, k) for k in range(301)]
    table = _csv(tmp_path / "t.csv", "doc,sys,human,metric", rows)
    with pytest.raises(ConfigError, match="301 systems"):
        jg.rank_systems(table, QUICK, **COLUMNS)


def test_a_run_of_scores_ranks_the_systems_in_its_meta():
    texts = {"x": "The river rose after the rain and the town was flooded.", "y": "Rain rain rain.", "z": "Bananas."}
    samples = [
        jg.Sample(id=f"{doc}/{name}", source="After heavy rain the river rose and flooded the town.", output=text,
                  meta={"group": doc, "system": name})
        for doc in ("d1", "d2")
        for name, text in texts.items()
    ]  # fmt: skip
    run = jg.evaluate(g_eval(criteria="summary"), samples)
    rankings = jg.rank_systems(run, QUICK)
    assert rankings
    for one in rankings:
        assert {row.system for row in one.systems} == {"x", "y", "z"}
        assert (one.comparisons, one.units) == (6, 2)


def _paired(**meta):
    return jg.Sample(
        id="1", query="Why is the sky blue?", output="Air scatters blue light more than red.", rival="Because.",
        human={"overall": "A"}, meta=meta,
    )  # fmt: skip


def test_a_run_of_pairs_ranks_by_verdicts_and_by_people():
    run = jg.evaluate(fennec(criteria="general", orders="both"), [_paired(system="x", rival_system="y")])
    (entrants,) = [one for one in of_run(run) if one.judged.criterion == "overall"]
    assert entrants.rivals == ("y",)
    judges = [contest.judge for contest in contests(entrants, QUICK)]
    assert judges[0] == "people"
    assert len(judges) > 1


def _of_pairs(count, rival="Because.", **human):
    """Pairs of x and y, or samples of x alone."""
    texts = {"query": "Why is the sky blue?", "output": "Air scatters blue light more than red."}
    meta = {"system": "x", "rival_system": "y"} if rival else {"system": "x"}
    return [jg.Sample(id=f"{rival}{k}", **texts, rival=rival, human=human, meta=meta) for k in range(count)]


def test_samples_without_a_rival_among_pairs_are_left_out_and_counted():
    run = jg.evaluate(fennec(criteria="general"), [*_of_pairs(3), *_of_pairs(1, rival=None)])
    rankings = jg.rank_systems(run, QUICK)
    assert [one.comparisons for one in rankings if one.criterion == "overall"] == [3]
    assert "1 sample has no rival: left out" in rankings[0].notes
    assert not any("judge" in one.judge for one in rankings)  # who scored that sample
    assert not any("left out" in note for one in rankings[1:] for note in one.notes)


@pytest.mark.parametrize("name", ["overall", "Verdict", "preference", "winner", "label"])
def test_verdicts_of_people_on_a_run_of_pairs_have_the_names_that_meta_knows(name):
    run = jg.evaluate(fennec(criteria="general"), _of_pairs(3, **{name: "A"}))
    assert next(r.judge for r in jg.rank_systems(run, QUICK) if r.criterion == "overall") == "people"
    assert [one.criterion for one in read_run(run).judgements] == [name]


def test_of_two_names_of_peoples_verdicts_one_counts_and_both_are_named():
    run = jg.evaluate(fennec(criteria="general"), _of_pairs(3, winner="B", overall="A"))
    people = next(one for one in jg.rank_systems(run, QUICK) if one.judge == "people")
    assert [(row.system, row.won) for row in people.systems] == [("x", 1), ("y", 0)]
    assert "people are ranked by human.overall, not by human.winner" in people.notes


@pytest.mark.parametrize(
    ("rival", "human", "said"),
    [
        ("Because.", {"tone": "A"}, "(human.tone) nothing is a verdict by "),
        (None, {"overall": "good"}, "(human.overall) nothing is a number by "),
    ],
)
def test_where_no_judgement_of_people_can_be_used_it_is_said_once(rival, human, said):
    samples = _of_pairs(4, rival, **human)
    samples = [one.model_copy(update={"meta": one.meta | {"group": "d"} | (
        {} if rival else {"system": "xy"[at % 2]}
    )}) for at, one in enumerate(samples)]  # fmt: skip
    rankings = jg.rank_systems(jg.evaluate(fennec(criteria="general"), samples), QUICK)
    notes = [note for one in rankings for note in one.notes if "people are not ranked" in note]
    assert len(notes) == 1
    assert said in notes[0]
    assert "people" not in {one.judge for one in rankings}


def test_pairs_among_more_samples_without_a_rival_are_left_out_and_counted():
    run = jg.evaluate(fennec(criteria="general"), [*_of_pairs(1), *_of_pairs(2, rival=None)])
    assert {one.left_out for one in of_run(run)} == {("1 sample has a rival: left out",)}


@pytest.mark.parametrize(
    ("meta", "keys", "said"),
    [
        ({"system": "x", "other": "y"}, {}, r"no name in meta.rival_system, its meta has system, other; --rival KEY"),
        ({"system": "x", "rival_system": "y"}, {"group": "doc"}, r"no name in meta.doc, .* --group KEY"),
        ({"system": ["x"]}, {}, r"no name in meta.system"),
    ],
)
def test_a_sample_without_its_system_is_named(meta, keys, said):
    run = jg.evaluate(fennec(criteria="general", mode="pair"), [_paired(**meta)])
    with pytest.raises(ConfigError, match=said):
        of_run(run, **keys)


def test_systems_are_ranked_within_their_questions_where_these_were_read_as_query():
    samples = [
        jg.Sample(id=f"{system}{at}", query=f"q{at}", output=text, meta={"system": system})
        for at in range(4) for system, text in (("x", "Because it is so."), ("y", "No."))
    ]  # fmt: skip
    run = jg.evaluate(llm_score(criteria="general"), samples)
    by_query = jg.rank_systems(run, QUICK, group="query")
    named = [one.model_copy(update={"meta": {**one.meta, "group": one.query}}) for one in samples]
    by_group = jg.rank_systems(jg.evaluate(llm_score(criteria="general"), named), QUICK)
    assert [one.systems for one in by_query] == [one.systems for one in by_group]


def test_systems_of_pandalm_are_ranked_as_people_rank_them_but_for_one_pair(shared):
    samples = list(COLLECTION.samples(shared / "data/pandalm"))
    (judged,) = COLLECTION.recorded(shared / "data/pandalm")[""]
    entrants = Entrants(
        replace(judged, systems=tuple(s.meta["system"] for s in samples)),
        tuple(s.meta["rival_system"] for s in samples),
    )
    people, judge = jg.rank_systems([entrants], chosen("pandalm", resamples=40))
    assert [row.system for row in people.systems][::4] == ["llama-7b", "cerebras-gpt-6.7B"]
    assert people.cycles.found == judge.cycles.found == ()
    assert [(by.alike, by.pairs) for by in judge.against] == [(9, 10), (9, 10)]


HOSTILE = ("[red]x[/red]", "y\x1b[31m\x07", "\u202ez", "=cmd()")


def test_hostile_names_of_systems_reach_no_terminal(tmp_path):
    rows = [(a, b, "A") for at, a in enumerate(HOSTILE) for b in HOSTILE[at + 1 :]] + [
        (HOSTILE[2], HOSTILE[0], "A")
    ] * 2
    table = _csv(tmp_path / "t.csv", "a,b,judge", rows)
    found = CliRunner().invoke(
        main, ["rank", str(table), *["--system", "a", "--rival", "b", "--metric", "judge", "--resamples", "20"]]
    )
    assert found.exit_code == 0, found.output
    assert "[red]x[/red]" in found.output
    assert "preferences run in circles" in found.output
    assert not set("\x1b\x07\u202e") & set(found.output)


def test_the_command_prints_json(table):
    arguments = [
        *[
            "--system",
            "sys",
            "--group",
            "doc",
            "--human",
            "human",
            "--metric",
            "metric",
            "--resamples",
            "20",
            "--elo-k",
            "8",
            "--json",
        ]
    ]
    found = CliRunner().invoke(main, ["rank", str(table), *arguments])
    assert found.exit_code == 0, found.output
    people, metric = json.loads(found.output)
    assert [row["place"] for row in people["systems"]] == [1, 2, 3]
    assert metric["against"][0]["by"] == "score"
    assert "elo:k=8,scale=400,start=1000" in people["signature"]


def test_the_command_prints_a_table_for_people(table):
    arguments = ["--system", "sys", "--group", "doc", "--human", "human", "--metric", "metric", "--resamples", "20"]
    found = CliRunner().invoke(main, ["rank", str(table), *arguments])
    assert found.exit_code == 0, found.output
    for said in ("by people: 9 comparisons in 3 units", "pairs ranked alike", "2 of 3", "1 answer missing"):
        assert said in found.output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere.csv"], 1, "no such file"),
        ([".", "--human", "h"], 2, "--human names a column of a table"),
        (["nowhere.csv", "--annotators", "some"], 1, "annotators"),
        (["nowhere.csv", "--elo-k", "0"], 2, "--elo-k"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, code, said):
    found = CliRunner().invoke(main, ["rank", *arguments])
    assert found.exit_code == code
    assert said in found.output


def test_of_a_table_people_or_metrics_may_be_missing(table):
    (people,) = of_table(table, system="sys", group="doc", human=("human",))
    (metric,) = of_table(table, system="sys", group="doc", metrics=("metric",))
    assert people.judged.metrics == {}
    assert not any(metric.judged.human)
    assert isinstance(metric.judged, Judgements)


def test_of_one_document_no_interval_is_told(tmp_path):
    table = _csv(tmp_path / "one.csv", "doc,sys,human,metric", SCORES[:3])
    for one in jg.rank_systems(table, QUICK, **COLUMNS):
        assert all(math.isnan(row.strength_interval[0]) and math.isnan(row.elo_interval[0]) for row in one.systems)
        assert all(math.isnan(by.kendall_interval[0]) for by in one.against)
        assert any("no interval can be told" in note for note in one.notes)


def test_few_documents_are_said_to_be_few(table):
    assert all("3 units: intervals are rough" in one.notes for one in jg.rank_systems(table, QUICK, **COLUMNS))


@pytest.mark.parametrize("lost", [0, 29], ids=["first", "last"])
def test_a_metric_that_is_people_but_for_one_document_is_sure_to_agree(tmp_path, lost):
    rng = np.random.default_rng(3)
    scores = [(d, s, round(0.4 * k + rng.normal() * 2, 2)) for d in range(30) for k, s in enumerate("abcde")]
    rows = [(d, s, x, "" if d == lost else x) for d, s, x in scores]
    table = _csv(tmp_path / "t.csv", "doc,sys,human,metric", rows)
    _, metric = jg.rank_systems(table, Conventions(resamples=300), **COLUMNS)
    low, high = next(by.kendall_interval for by in metric.against if by.by == "strength")
    assert low > 0.5
    assert high == 1


def _noisy(documents=12):
    """Rows of people and two metrics, by document."""
    rng = np.random.default_rng(5)
    return [
        (f"d{d}", s, *(round(k + rng.normal(), 2) for _ in range(3)))
        for d in range(documents)
        for k, s in enumerate("xyz")
    ]


def _without(rows, column, documents):
    """The same rows; one column is empty there."""
    return [(*row[:column], "" if row[0] in documents else row[column], *row[column + 1 :]) for row in rows]


@pytest.mark.slow
def test_peoples_intervals_do_not_hang_on_what_else_is_in_the_table(tmp_path):
    gaps = _without(_noisy(), 2, ("d0", "d5"))
    alone = None
    for rows, metrics in (
        (gaps, ()), (gaps, ("a",)), (gaps, ("a", "b")), (_without(gaps, 3, ("d1", "d5")), ("a", "b")),
        (sorted(gaps, key=lambda row: row[2] != ""), ("b",)), (_without(gaps, 3, [f"d{d}" for d in range(12)]), ("a",)),
    ):  # fmt: skip
        table = _csv(tmp_path / "t.csv", "doc,sys,human,a,b", rows)
        people = jg.rank_systems(table, QUICK, **(COLUMNS | {"metrics": metrics}))[0]
        assert people.units == 10
        assert "bootstrap:10 units" in people.signature
        alone = alone or people.systems
        assert people.systems == alone


def test_the_interval_of_tau_is_of_the_units_that_either_judged(tmp_path, monkeypatch):
    rows = _without(_without(_noisy(6), 2, ("d0", "d1")), 3, ("d4", "d5"))
    table = _csv(tmp_path / "t.csv", "doc,sys,human,a,b", rows)
    widened = []

    def counted(values, confidence, *, units):
        widened.append(units)
        return interval(values, confidence, units=units)

    monkeypatch.setattr("judgegraph.meta.ranking.interval", counted)
    people, metric = jg.rank_systems(table, QUICK, **(COLUMNS | {"metrics": ("a",)}))
    assert "|bootstrap:4 units," in metric.signature
    assert "|tau-bootstrap:6 units|" in metric.signature
    assert "tau-bootstrap" not in people.signature
    assert set(widened) == {4, 6}


def test_verdicts_of_people_have_the_same_intervals_beside_any_judge(tmp_path):
    rng = np.random.default_rng(2)
    rows = [(a, b, *rng.choice(["A", "B", "tie"], 2)) for _ in range(8) for a, b in ("xy", "yz", "zx")]
    gaps = [(*row[:2], "" if at in (0, 7, 8) else row[2], row[3]) for at, row in enumerate(rows)]
    table = _csv(tmp_path / "t.csv", "first,second,human,judge", gaps)
    alone, beside = (jg.rank_systems(table, QUICK, **(OF_PAIRS | {"metrics": m}))[0] for m in ((), ("judge",)))
    assert alone.systems == beside.systems


def test_neighbours_are_tested_on_the_same_resamples(tmp_path):
    rows = [(d, s, q + k * 10, 0) for d, q in enumerate((1, 2, 3, 1, 2, 3, 1, 2)) for k, s in enumerate("xyz")]
    near = [(d, s, (d * 7 + k * 3) % 5, 0) for d in range(12) for k, s in enumerate("xy")]
    (far,) = jg.rank_systems(_csv(tmp_path / "f.csv", "doc,sys,human,m", rows), **(COLUMNS | {"metrics": ()}))
    assert [row.system for row in far.systems] == ["z", "y", "x"]
    assert all(row.p_next < row.p_next_corrected < 0.05 for row in far.systems[:-1])
    assert math.isnan(far.systems[-1].p_next)
    assert far.to_dict()["systems"][-1]["p_next"] is None
    assert "p-next:strength,paired bootstrap,two-sided,correction:holm" in far.signature
    (even,) = jg.rank_systems(_csv(tmp_path / "n.csv", "doc,sys,human,m", near), **(COLUMNS | {"metrics": ()}))
    assert even.systems[0].p_next > 0.2


def test_neighbours_are_tested_within_a_part_and_where_something_was_drawn(tmp_path):
    table = _csv(tmp_path / "t.csv", "first,second,human,judge", PARTS)
    people, _ = jg.rank_systems(table, QUICK, **OF_PAIRS)
    assert [math.isnan(row.p_next) for row in people.systems] == [False, True, False, True]
    undrawn, _ = jg.rank_systems(table, Conventions(resamples=0), **OF_PAIRS)
    assert all(math.isnan(row.p_next) for row in undrawn.systems)


def test_the_table_says_whether_a_lead_could_be_chance(table):
    command = f"rank {table} --system sys --group doc --human human --resamples"
    drawn, undrawn = (CliRunner().invoke(main, f"{command} {n}".split()).output for n in (20, 0))
    assert "p next: could the lead over the system below be chance?" in drawn
    assert "corrected for all neighbours within each table" in " ".join(drawn.split())
    assert "p next" not in undrawn


PARTS = [("a", "b", "A", "A"), ("b", "a", "A", "A"), ("a", "b", "A", "A"), ("x", "y", "A", "B"), ("y", "x", "B", "A")]
OF_PAIRS = {"system": "first", "rival": "second", "human": ("human",), "metrics": ("judge",)}


def test_places_are_within_the_systems_that_were_compared(tmp_path):
    table = _csv(tmp_path / "t.csv", "first,second,human,judge", [*PARTS, ("z", "z", "A", "A")])
    people, judge = jg.rank_systems(table, QUICK, **OF_PAIRS)
    assert [(row.system, row.part, row.place) for row in people.systems] == [
        ("a", 1, 1), ("b", 1, 2), ("x", 2, 1), ("y", 2, 2), ("z", None, None),
    ]  # fmt: skip
    assert people.to_dict()["systems"][-1]["strength"] is None
    assert any("2 parts that nobody compared (a, b; x, y)" in note for note in people.notes)
    assert [(by.alike, by.pairs) for by in judge.against] == [(1, 2), (1, 2)]
    printed = CliRunner().invoke(
        main, f"rank {table} --system first --rival second --human human --resamples 20".split()
    )
    assert printed.output.splitlines()[1].split()[:3] == ["system", "part", "place"]


@pytest.mark.parametrize(
    ("unreadable", "rows", "header", "named"),
    [("zero", PAIRS, "first,second,human,judge", OF_PAIRS), ("tie", SCORES, "doc,sys,human,metric", COLUMNS)],
)
def test_what_a_missing_answer_cannot_be_is_refused(tmp_path, unreadable, rows, header, named):
    table = _csv(tmp_path / "t.csv", header, rows)
    with pytest.raises(ConfigError, match=f"unreadable: .*{unreadable} is of"):
        jg.rank_systems(table, QUICK.replaced(unreadable=unreadable), **named)


def test_an_agent_that_the_run_lacks_is_refused_with_those_there_are():
    run = jg.evaluate(fennec(criteria="general", mode="pair"), [_paired(system="x", rival_system="y")])
    with pytest.raises(ConfigError, match=r"no agent 'nope' in the run\. It has .+"):
        of_run(run, metrics=("nope",))


def test_a_name_of_two_lines_is_one_line_in_every_list(tmp_path):
    forged = '"x\n1  best  99 %"'
    table = _csv(tmp_path / "t.csv", "a,b,judge", [(forged, "y", "A"), ("y", "z", "A"), ("z", forged, "A")])
    found = CliRunner().invoke(main, f"rank {table} --system a --rival b --metric judge --resamples 20".split())
    assert found.exit_code == 0, found.output
    assert "x 1 best 99 % > y > z" in found.output
    assert not any(line.lstrip().startswith("1  best") for line in found.output.splitlines())


def test_ratings_on_a_small_scale_are_printed_with_their_digits(table):
    line = f"rank {table} --system sys --group doc --human human --resamples 20 --elo-scale 1 --elo-k 0.04"
    found = CliRunner().invoke(main, line.split())
    assert "1000.0" in found.output


def test_a_document_of_absurdly_many_outputs_is_refused(tmp_path):
    table = _csv(tmp_path / "t.csv", "doc,sys,human,metric", [("d", f"s{k % 9}", k, k) for k in range(3300)])
    with pytest.raises(ConfigError, match="5,443,350 comparisons"):
        jg.rank_systems(table, QUICK, system="sys", group="doc", human=("human",), metrics=("metric",))


def _pairwise(tmp_path, rows):
    table = _csv(tmp_path / "t.csv", "first,second,human,judge", rows)
    return table, jg.rank_systems(table, QUICK, **OF_PAIRS)


@pytest.mark.parametrize(("verdict", "why"), [("A", "have no bounds, and no intervals"), ("tie", "of strength: all")])
def test_resamples_that_are_all_alike_make_no_interval(tmp_path, verdict, why):
    table, (people, judge) = _pairwise(tmp_path, [("x", "y", verdict, verdict)] * 30)
    for one in (people, judge):
        for row in one.to_dict()["systems"]:
            assert row["strength"] is not None
            assert row["strength_interval"] == row["elo_interval"] == [None, None]
        assert any(why in note for note in one.notes)
        assert sum("interval of Elo: " in note for note in one.notes) == 1
    assert all(math.isnan(by.kendall_interval[0]) for by in judge.against)
    printed = CliRunner().invoke(main, f"rank {table} --system first --rival second --human human".split()).output
    assert "[" not in printed.partition("won")[2]


def test_what_others_won_and_lost_keeps_its_interval(tmp_path):
    rows = [("x", "y", "A", "A"), ("y", "z", "A", "A"), ("z", "y", "A", "A"), ("x", "z", "A", "A")] * 3
    _, (people, _) = _pairwise(tmp_path, rows)
    assert [math.isnan(row.elo_interval[0]) for row in people.systems] == [True, False, False]
    assert all(math.isnan(row.strength_interval[0]) for row in people.systems)  # of which the mean is 0
    assert any("no interval of Elo of x: " in note for note in people.notes)


def test_agreement_that_is_undefined_or_always_the_same_has_no_interval(tmp_path):
    rows = [(a, b, "AB"[at % 4 == 0], v) for at in range(16) for a, b in ("xy", "yx") for v in ("tie",)]
    _, (_, judge) = _pairwise(tmp_path, rows)
    assert all(math.isnan(by.kendall) and math.isnan(by.kendall_interval[0]) for by in judge.against)
    assert any(
        "no agreement with people by strength, elo: one of the two rankings has only draws" in n for n in judge.notes
    )
    _, (_, judge) = _pairwise(tmp_path, [("x", "y", "AAB"[at % 3], "AAB"[at % 3]) for at in range(90)])
    assert judge.against[0].kendall == 1
    assert math.isnan(judge.against[0].kendall_interval[0])
    assert "no interval of Kendall tau-b against people: all resamples are alike" in judge.notes


@pytest.mark.parametrize(("units", "said"), [(1, False), (2, True), (5, True), (6, False)])
def test_it_is_said_where_p_cannot_be_small(tmp_path, units, said):
    rows = [("x", "y", "A", "A")] * units
    table = _csv(tmp_path / "t.csv", "first,second,human,judge", rows)
    for one in jg.rank_systems(table, Conventions(resamples=1000), **OF_PAIRS):
        notes = [note for note in one.notes if "or more, however clear the lead" in note]
        assert len(notes) == said
        if said:
            assert f"p next is {one.systems[0].p_next:.3f} or more" in notes[0]
