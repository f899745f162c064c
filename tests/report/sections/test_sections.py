"""Sections of a report: every number is the one that can be counted by hand, or that `jg` gives of the run."""

import xml.etree.ElementTree as ET

import pytest
from langgraph.graph import END, START, StateGraph
from section_runs import SCALE, advice, compared, item, labelled, reviewed, run_of, sections_of

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.graphs import fennec, g_eval, sageval
from judgegraph.meta.conventions import Conventions
from judgegraph.report.answers import agreement, biases, mean_intervals, pairs, scores
from judgegraph.report.findings import rectification, suggestions
from judgegraph.report.sections_run import failures, notes, tally_of
from judgegraph.stats.correlation import coefficient
from judgegraph.types import Note, Score
from judgegraph.views.blocks import Fold, Grid, Para, Picture, signed

ENGAGEMENT = (
    [reviewed("Engagement", 4.0, 3.0)] * 5 + [reviewed("Engagement", 3.0, 5.0)] + [reviewed("Engagement", 4.0, 4.0)] * 4
)


def blocks(section, kind):
    """All of a kind, folded ones too."""
    found = []
    for block in section.blocks:
        found += blocks(block, kind) if isinstance(block, Fold) else [block] if isinstance(block, kind) else []
    return found


def said(section) -> str:
    return "\n".join(block.text for block in blocks(section, Para))


def rows(section, caption: str) -> list[dict[str, str]]:
    grid = next(grid for grid in blocks(section, Grid) if grid.caption.startswith(caption))
    return [dict(zip(grid.head, row, strict=True)) for row in grid.rows]


def test_the_rectification_table_counts_what_the_critic_lowered_raised_and_kept():
    run = run_of([item(k, pair, suggestions=(advice("engagement", "definition"),) * (k == 0)) for k, pair in
                  enumerate(ENGAGEMENT)])  # fmt: skip
    (row,) = rows(rectification(run), "sage over evaluator/draft")
    assert row == {
        "criterion": "Engagement", "n": "10", "down": "5", "up": "1", "kept": "40 %", "change": "-0.30",
        "mean down": "-1.00", "mean up": "+2.00", "definitions": "1",
    }  # fmt: skip
    assert "Of 6 scores that it moved, 5 (83 %) went down." in said(rectification(run))


def test_labels_are_relabelled_and_scores_that_failed_are_told_apart():
    found = [
        item(0, [*reviewed("Tone", "calm", "angry"), *reviewed("Depth", 3.0, None, "timeout")]),
        item(1, [*reviewed("Tone", "calm", "calm"), *reviewed("Depth", 3.0, 2.0)]),
    ]
    section = rectification(run_of(found))
    tone, depth, total = rows(section, "sage over")
    assert (tone["relabelled"], tone["kept"], tone["change"]) == ("1", "50 %", "")
    assert (depth["n"], depth["down"]) == ("1", "1")
    assert (total["criterion"], total["n"], total["kept"]) == ("all", "3", "33 %")
    assert "1 score (failed) counts nowhere above" in said(section)


def test_agreement_is_that_of_the_run():
    run = run_of(labelled())
    section = agreement(run)
    c = Conventions(coefficients=("spearman", "kendall-b"))
    expected = jg.agreement(run, c, tests=False)
    for row in rows(section, "agreement with people"):
        for name in c.coefficients:
            one = expected.row(name, criterion=row["criterion"])
            low, high = one.interval
            assert row[name] == f"{one.value:.3f} [{low:.3f}, {high:.3f}]"
            assert row["n"] == "60"
    assert "1,000 resamples" in said(section)
    assert "Dataset level" in said(section)


@pytest.mark.parametrize("groups", [0, 6])
def test_of_a_pair_both_sides_have_the_intervals_that_each_would_have_alone(groups):
    """Their means on the page, and how many are at the top."""
    items, other = labelled(seed=1), labelled(seed=2)
    metas = [{"meta": {"group": f"g{one.place % groups}"}} if groups else {} for one in items]
    pairs = [
        item(one.place, [*one.scores, *(s.model_copy(update={"of": "rival"}) for s in rival.scores)], rival="x", **meta)
        for one, rival, meta in zip(items, other, metas, strict=True)
    ]
    alone = [
        mean_intervals(tally_of(run_of([item(x.place, x.scores, **m) for x, m in zip(side, metas, strict=True)])))
        for side in (items, other)
    ]
    both = mean_intervals(tally_of(run_of(pairs)))
    for of, mine in zip(("output", "rival"), alone, strict=True):
        assert {key[:2]: ends for key, ends in both.items() if key[2] == of} == {k[:2]: e for k, e in mine.items()}
    (scores,) = [one for one in sections_of(run_of(pairs)) if one.key == "scores"]
    assert all(row["95 % interval"] for row in rows(scores, ""))


def test_the_critics_worth_is_the_difference_of_agreement_before_and_after():
    items = labelled()
    section = rectification(run_of(items))
    found = rows(section, "sage over evaluator/draft, against people")
    for row in [row for row in found if row["statistic"] == "spearman"][:2]:
        name = row["criterion"]
        human = [one.sample.human[name] for one in items]
        draft, final = (
            coefficient(
                "spearman",
                human,
                [s.value for one in items for s in one.scores if (s.criterion, s.stage) == (name, stage)],
            )
            for stage in ("draft", "final")
        )
        assert (row["before"], row["after"]) == (f"{draft:.3f}", f"{final:.3f}")
        assert row["difference"] == signed(final - draft, 3)
        assert row["95 % interval"].startswith("[")
        assert row["n"] == "60"


def test_the_more_labels_the_fewer_resamples_and_the_section_says_so():
    one = labelled(1)[0]
    items = [
        one.model_copy(update={"sample": one.sample.model_copy(update={"id": f"s{k}"}), "place": k})
        for k in range(1600)
    ]
    assert "from 500 resamples" in said(agreement(run_of(items)))


def test_scores_give_n_means_and_bounds_and_one_chart_with_draft_and_final():
    found = [item(k, pair) for k, pair in enumerate(ENGAGEMENT)]
    found.append(item(10, reviewed("Engagement", 2.0, None, "refused")))
    section = scores(run_of(found))
    draft, final = rows(section, "all scores")
    assert (draft["n ok"], draft["score"]) == ("11/11", "3.73")
    assert (final["n ok"], final["score"], final["not ok"]) == ("10/11", "3.60", "refused 1")
    assert final["if missing"] == "[3.36, 3.73]"
    (chart,) = blocks(section, Picture)
    assert chart.alt == (
        "Engagement: draft (evaluator) (n 11): 2 1, 3 1, 4 9; final (sage) (n 10): 3 5, 4 4, 5 1"
    )  # fmt: skip
    assert "a half at the upper" in said(section)


def test_labels_that_are_not_named_are_counted():
    tones = jg.Scale(labels=("calm", "angry", "formal", "flat", "warm"))
    met = ["calm"] * 3 + ["angry"] * 2 + ["formal", "flat", "warm"]
    found = [item(k, [Score(criterion="Tone", agent="judge", scale=tones, label=x)]) for k, x in enumerate(met)]
    (tone,) = rows(scores(run_of(found)), "all scores")
    assert tone["labels"] == "calm 3, angry 2, formal 1, and 2 more"
    (few,) = rows(scores(run_of(found[:6])), "all scores")
    assert few["labels"] == "calm 3, angry 2, formal 1"


def test_a_mean_stands_where_a_small_screen_shows_it():
    (grid, *_) = blocks(scores(run_of([item(0, reviewed("Depth", 3.0, 2.0))])), Grid)
    assert grid.head == ("criterion", "scale", "n ok", "draft", "score", "critic")
    assert grid.numeric == {1, 2, 3, 4}


def test_samples_of_which_only_drafts_could_be_read_are_said_to_be_so():
    found = [item(0, reviewed("Depth", 3.0, None, "truncated")), item(1, reviewed("Depth", 3.0, 2.0))]
    assert "2 samples, 1 with a final score or verdict that could be read, and 1 with drafts alone." in said(
        scores(run_of(found))
    )


def test_labels_and_fine_scales_are_drawn_too():
    fine = jg.Scale.of("0-100")
    found = [
        item(
            k,
            [*reviewed("Tone", "calm", "angry"), Score(criterion="Points", agent="judge", scale=fine, value=k * 25.0)],
        )
        for k in range(5)
    ]
    tone, points = blocks(scores(run_of(found)), Picture)
    assert tone.alt == "Tone: draft (evaluator) (n 5): calm 5; final (sage) (n 5): angry 5"
    assert "0 to 20 1, 20 to 40 1, 40 to 60 1, 60 to 80 1, 80 to 100 1" in points.alt


def test_suggestions_are_grouped_by_topic_the_most_frequent_first():
    found = [
        item(0, suggestions=(advice("Length"), advice("Creativity", reason="first"))),
        item(1, suggestions=(advice("creativity", reason="second"),)),
        item(2, suggestions=(advice("CREATIVITY"), advice("Tone", "definition"))),
        item(3),
    ]
    section = suggestions(run_of(found))
    first, second = rows(section, "New criteria suggested")
    assert (first["topic"], first["samples"], first["suggestions"]) == ("Creativity", "3 (75 %)", "3")
    assert "Creativity: how far Creativity goes Reason: first" in said(section)
    assert (second["topic"], second["samples"]) == ("Length", "1 (25 %)")
    (changed,) = rows(section, "Definitions to change")
    assert (changed["topic"], changed["definition of most"]) == ("Tone", "how far Tone goes")
    assert said(section).startswith("3 samples of 4 brought a suggestion.")


VERDICTS = [("A", "A"), ("A", "B"), ("B", "B"), ("tie", "A"), ("A", None), ("tie", "tie")]


def test_order_bias_is_the_share_of_pairs_whose_verdict_flips_with_an_interval():
    found = [compared(k, *both) for k, both in enumerate(VERDICTS)]
    flips, first = blocks(biases(run_of(found)), Picture)
    assert flips.alt.endswith("all criteria, merged 40 % [12 %, 77 %], n 5")
    # decided: A A -> half; A first, B first -> 1; B B -> half; tie, A second -> 0; two ties are left out
    assert "all criteria, merged 50 % [" in first.alt
    assert first.alt.endswith("n 4")


def test_pairs_tell_verdicts_consistency_and_who_wins_against_whom():
    found = [
        compared(k, *both, meta={"system": "new", "rival_system": "old"}) for k, both in enumerate(VERDICTS[:4])
    ] + [compared(9, "B", "B", meta={"system": "old", "rival_system": "new"})]
    section = pairs(run_of(found))
    assert said(section).count("same verdict in both orders: 3 of 5 (60 %)") == 1
    split, graph = blocks(section, Picture)
    assert split.alt == "Verdicts on pairs: A 1, tie 2, B 2; n 5"
    # new: A wins once, two ties, loses once, wins the turned pair
    assert graph.alt == "Who wins against whom: new wins 60 % of 5 against old"
    (row,) = rows(section, "Each two systems")
    assert row == {"system": "new", "against": "old", "won, ties half": "60 %", "n": "5"}
    ranked = rows(section, "overall, by merge")
    assert [(one["system"], one["place"]) for one in ranked] == [("new", "1"), ("old", "2")]


def test_a_ranking_is_that_of_the_run():
    meta = {"system": "new", "rival_system": "old"}
    run = run_of([compared(k, *both, meta=meta) for k, both in enumerate(VERDICTS * 3)])
    expected = {row.system: row for row in jg.rank_systems(run)[0].systems}
    for row in rows(pairs(run), "overall, by merge"):
        assert row["strength"].startswith(f"{expected[row['system']].strength:.2f}")
        assert row["met"] == f"{expected[row['system']].met:.0f}"


def test_failures_are_counted_by_status_criterion_and_reason():
    found = [
        item(0, reviewed("Depth", 3.0, 3.0)),
        item(1, reviewed("Depth", 3.0, None, "timeout")),
        item(2, status="provider_error", reason="no such model"),
        item(3, status="provider_error", reason="no such model"),
    ]
    section = failures(run_of(found))
    assert "2 of 4 samples ended early: provider error 2." in said(section)
    early, lost = rows(section, "By cause")
    assert early == {
        "status": "provider error", "agent": "(the whole sample)", "samples": "2", "scores missing": "",
        "reason (the first one's words)": "no such model", "such as": "s2, s3",
    }  # fmt: skip
    assert (lost["status"], lost["scores missing"], lost["such as"]) == ("timeout", "1 of Depth", "s1")
    draft, final = rows(section, "Scores that are missing")
    assert (draft["without a score"], draft["statuses"]) == ("2 of 4 (50 %)", "provider error 2")
    assert (final["without a score"], final["statuses"]) == ("3 of 4 (75 %)", "provider error 2, timeout 1")


def test_reasons_that_differ_in_what_they_quote_are_one_cause():
    found = [item(k, status="agent_error", reason=f"ValueError: no key '{k}x' at line {k}") for k in range(9)]
    (row,) = rows(failures(run_of(found)), "By cause")
    assert (row["samples"], row["such as"]) == ("9", "s0, s1, s2 …")


def test_notes_are_listed_by_frequency():
    many, once = Note(agent="merge", text="left out"), Note(agent="sample", text="the output has fewer than 8 words")
    found = [item(0, notes=(many, once)), item(1, notes=(many,)), item(2)]
    assert [(row["note"], row["count (n 3 samples)"]) for row in rows(notes(run_of(found)), "Notes")] == [
        ("left out", "2 (67 %)"), ("the output has fewer than 8 words", "1 (33 %)"),
    ]  # fmt: skip
    assert "Fewer than 8 words, or none: 1 output, of 3 samples." in said(biases(run_of(found)))


def test_length_and_ceiling_effects_have_intervals_and_the_missing_probes_their_commands():
    found = [
        item(k, [Score(criterion="Depth", agent="judge", scale=SCALE, value=1 + k % 5)], output="x" * (k % 5 * 10 + 10))
        for k in range(30)
    ]
    section = biases(run_of(found))
    (chart,) = blocks(section, Picture)
    assert chart.alt == "Score and length: Depth, judge 1.00 [1.00, 1.00], n 30"
    (row,) = rows(section, "Leniency")
    assert row["share, 95 % interval (Wilson)"] == "20 % [10 %, 37 %]"
    assert "judgegraph probe sageval DATA -p padded" in said(section)
    assert "-p swap" not in said(section), "there are no pairs to exchange"


def test_a_run_without_critics_labels_pairs_and_failures_has_no_such_sections():
    run = run_of([item(k, [Score(criterion="Depth", agent="judge", scale=SCALE, value=3)]) for k in range(3)])
    for section in (rectification, agreement, suggestions, pairs, failures, notes):
        assert section(run) is None, section.__name__
    assert [one.key for one in sections_of(run)] == ["scores", "biases"]


def test_a_run_without_items_has_no_sections():
    (only,) = sections_of(run_of([]))
    assert "The run wrote no scores and no verdicts." in said(only)


@pytest.mark.parametrize(
    ("method", "data", "keys"),
    [
        (lambda: sageval(criteria="forms"), "forms", {"scores", "rectification", "biases", "suggestions"}),
        (fennec, "pairs", {"scores", "pairs", "biases"}),
    ],
    ids=["sageval", "fennec"],
)
def test_a_real_run_has_its_sections_with_well_formed_charts(method, data, keys):
    run = jg.evaluate(method(), jg.load(f"examples/{data}.jsonl", limit=6))
    tally = tally_of(run)
    found = sections_of(run, tally)
    assert keys <= {one.key for one in found}
    for section in found:
        for picture in blocks(section, Picture):
            ET.fromstring(picture.svg)
        for grid in blocks(section, Grid):
            assert all(len(row) == len(grid.head) for row in grid.rows)
    assert found == sections_of(run), "the same run gives the same sections"
    if data == "forms":
        by_hand = {}
        for one in run.items:
            drafts = {s.key: s for s in one.scores}
            for s in one.scores:
                if s.draft in drafts and s.value is not None and drafts[s.draft].value is not None:
                    counts = by_hand.setdefault(s.criterion, [0, 0])
                    counts[0] += round(s.value - drafts[s.draft].value, 9) < 0
                    counts[1] += round(s.value - drafts[s.draft].value, 9) > 0
        table = {row["criterion"]: row for row in rows(rectification(run, tally), "sage over")}
        for name, counts in by_hand.items():
            assert [int(table[name][way].split()[0]) for way in ("down", "up")] == counts


@pytest.mark.slow
def test_the_report_of_a_probe_tells_what_the_probe_found(tmp_path):
    samples = list(jg.load("examples/pairs.jsonl", limit=6))
    found = jg.probe(fennec(), samples, out=tmp_path / "run", resamples=300)
    section = biases(jg.Run.load(tmp_path / "run"))
    exchanged = {row["what"]: row for row in rows(section, "each pair exchanged")}
    assert exchanged["the verdict changes"]["share"] == f"{100 * found.swap.flips.value:.0f} %"
    assert exchanged["the verdict changes"]["n"] == str(found.swap.n)
    padded = {row["padding"]: row for row in rows(section, "padded copies, each against its original")}
    for kind, won in found.padded.wins.items():
        assert padded[kind]["copy wins"] == f"{100 * won.value:.0f} %"
        assert padded[kind]["95 % interval"] == f"[{100 * won.low:.0f} %, {100 * won.high:.0f} %]"
    assert f"This run is a probe: {found.copies} copies" in said(section)
    assert "-p padded" not in said(section)


def test_the_probe_of_scores_tells_how_far_padding_moves_them(tmp_path):
    samples = list(jg.load("examples/articles.jsonl", limit=4))
    found = jg.probe(g_eval(), samples, out=tmp_path / "run", resamples=300)
    table = rows(biases(jg.Run.load(tmp_path / "run")), "padded copies: longer")
    assert len(table) == len(found.padded.changes)
    for row, change in zip(table, found.padded.changes, strict=True):
        assert row["padding"] == change.kind
        assert row["n"].split(",")[0] == str(change.n)
        if change.mean is not None and change.mean.n:
            assert float(row["mean change"]) == pytest.approx(change.mean.value, abs=0.006)


def test_failures_are_told_by_node_where_the_run_was_traced(tmp_path):
    class Broken(Evaluator):
        async def __call__(self, state):
            raise ValueError("no")

    graph = StateGraph(jg.EvalState)
    graph.add_node("evaluate", Broken(judge="embedded"))
    graph.add_edge(START, "evaluate")
    graph.add_edge("evaluate", END)
    samples = list(jg.load("examples/articles.jsonl", limit=3))
    run = jg.evaluate(graph.compile(), samples, out=tmp_path / "run")
    (row,) = rows(failures(run), "Failures by node")
    assert row == {
        "node": "evaluate", "visits that failed": "3 of 3", "calls that failed": "0 of 0",
        "statuses of visits": "agent error 3",
    }  # fmt: skip
    (why,) = rows(failures(run), "By cause")
    assert (why["samples"], "no" in why["reason (the first one's words)"]) == ("3", True)
