"""What a run prints: a table that fits its terminal, and no list that is cut in silence."""

import io

import pytest
from rich.console import Console

from judgegraph.data.samples import Rejection
from judgegraph.errors import status_text
from judgegraph.runs.item import Item, Notice
from judgegraph.runs.run import Run
from judgegraph.runs.summary import summarise
from judgegraph.types import Comparison, Sample, Scale, Score
from judgegraph.views.run import LINES, answers_grid, print_run
from judgegraph.views.terminal import show

FIVE = Scale(low=1, high=5)
MANIFEST = {"signature": "sig", "calls": {"prompt_tokens": 0, "completion_tokens": 0, "replies": 0}}


def score(value, criterion="Coherence", **fields):
    return Score(criterion=criterion, agent="a", value=value, scale=FIVE, **fields)


def item(*scores, id="s", **fields):
    return Item(sample=Sample(id=id, output="t"), scores=scores, **fields)


def printed(items, capsys):
    run = Run(MANIFEST, items)
    print_run(run, run.summary())
    return capsys.readouterr().out


def table(items, width):
    summary = summarise(items, "sig")
    console = Console(width=width, file=io.StringIO())
    finals = [x for x in summary.lines.values() if x.stage == "final"]
    show([answers_grid(summary, finals, {})], console)
    return console.file.getvalue().splitlines()


def drafted(draft, final, **fields):
    one = score(draft, stage="draft", **fields)
    return item(one, score(final, draft=one.key, **fields))


def by(agent, draft, final):
    one = Score(criterion="Coherence", agent=f"{agent}-evaluator", stage="draft", value=draft, scale=FIVE)
    last = Score(criterion="Coherence", agent=f"{agent}-sage", value=final, scale=FIVE, draft=one.key)
    return one, last


def test_the_table_has_the_mean_before_and_after_the_critic():
    head, row = table([drafted(4, 2), drafted(4, 4)], 100)
    assert head.split() == ["criterion", "scale", "n", "ok", "draft", "score", "sd", "critic"]
    assert row.split() == ["Coherence", "1-5", "2/2", "4.00", "3.00", "1.41", "1", "down"]


def test_the_second_of_a_pair_has_its_own_draft():
    _, _, rival = table([item(score(5, stage="draft"), score(5), *drafted(2, 1, of="rival").scores)], 100)
    assert rival.split()[:5] == ["Coherence", "(rival)", "1-5", "1/1", "2.00"]


@pytest.mark.parametrize(
    ("width", "head"),
    [
        (100, "criterion scale n ok draft score sd critic"),
        (56, "criterion scale n ok draft score sd critic"),
        (55, "criterion scale n ok draft score critic"),
        (49, "criterion n ok draft score critic"),
        (42, "criterion n ok draft score"),
        (34, "criterion n ok score"),
    ],
)
def test_a_narrow_terminal_loses_columns_before_names(width, head):
    lines = table([drafted(4, 2, criterion="Information use"), drafted(5, 5, criterion="Information use")], width)
    assert " ".join(lines[0].split()) == head
    assert lines[1].startswith("Information use")
    assert max(map(len, lines)) <= width


def test_more_criteria_than_are_shown_are_counted(capsys):
    said = printed([item(*(score(3, f"C{i}") for i in range(LINES + 3)))], capsys)
    assert "and 3 more criteria; --json has them all" in said
    assert f"and {LINES + 3 - 12} more scores" in said


def test_other_lists_that_are_cut_say_so_too(capsys):
    failed = [item(id=f"f{i}", status="agent_error", reason="r" * (i + 1)) for i in range(20)]
    assert "and 8 more kinds of failure" in printed(failed, capsys)


def test_a_sample_that_failed_as_a_whole_is_told_once_and_counts_in_the_table(capsys):
    said = printed([item(score(3)), item(id="f", status="timeout", reason="no result within 40 s")], capsys)
    assert "1/2" in said
    assert "[2.00, 4.00]" in said
    assert "if missing: the score if all that are missing" in said
    assert said.count("timeout") == 2  # the first line counts, a later one says why
    assert "1 sample ended early (timeout): no result within 40 s" in said


LOST = ("unreadable", "too_large", "provider_error", "timeout", "filtered", "refused", "truncated", "agent_error")


@pytest.mark.parametrize("status", LOST)
def test_why_scores_of_a_sample_failed_is_told_once_with_the_number_of_its_samples(capsys, status):
    why = [f"try {n}: the server said so" for n in range(3)]
    lost = [item(*(score(None, f"C{i}", status=status, reason=why[n]) for i in (1, 2)), id=f"s{n}") for n in range(3)]
    said = printed([item(score(3)), *lost], capsys)
    assert f"Scores failed ({status_text(status)}) on 3 of 4 samples: try 0: the server said so (sample 's0')" in said
    assert said.count("the server said so") == 1


def test_who_fails_for_anothers_reason_and_a_sample_that_failed_as_a_whole_are_told_once(capsys):
    lost = [score(None, "A", status="provider_error", reason="no aspect has a score: HTTP 403"),
            score(None, "B", status="provider_error", reason="HTTP 403"),
            score(None, "C", status="abstained", reason="cannot say")]  # fmt: skip
    late = item(score(None, "A", status="timeout", reason="no time"), id="late", status="timeout", reason="no time")
    said = printed([item(*lost), late], capsys)
    assert said.count("Scores failed (provider error) on 1 of 2 samples: HTTP 403 (sample 's')") == 1
    assert said.count("failed (") + said.count("ended early (") == 2
    assert "1 sample ended early (timeout): no time (sample 'late')" in said


def test_why_a_judge_abstained_stands_beside_the_count(capsys):
    def of(reason):
        return item(score(None, status="abstained", reason=reason))

    assert "Coherence (a, final): 2 abstained (No source.)\n" in printed([of("No source."), of("No source.")], capsys)
    assert "3 abstained (such as: No 1.)\n" in printed([of("No 1."), of("No 2."), of("Else.")], capsys)


def test_what_is_one_samples_is_an_example_of_many():
    assert "on 2 of 3 samples: for example 1 score, read" in Notice(
        "read-by-samples", "a", "1 score, read", "ok", "s", samples=2).line(3)  # fmt: skip
    assert "on 1 of 3 samples: 1 score, read" in Notice(
        "read-by-samples", "a", "1 score, read", "ok", "s", samples=1).line(3)  # fmt: skip
    assert "on 2 of 3 samples: rouge-l" in Notice("skip", "a", "rouge-l", "ok", "s", samples=2).line(3)


def test_many_reasons_are_cut_with_their_number(capsys):
    lost = [item(score(None, status="unreadable", reason="r" * (i + 1)), id=f"s{i}") for i in range(20)]
    said = printed(lost, capsys)
    assert (said.count("Scores failed (unreadable)"), "and 8 more reasons; --json has them all" in said) == (12, True)


def test_rows_of_several_agents_are_told_apart_and_meet_their_own_drafts():
    rows = [" ".join(row.split()) for row in table([item(*by("a", 4, 4), *by("b", 2, 3), score(5, "Wit"))], 120)]
    assert rows[1:] == [
        "Coherence (a-sage) 1-5 1/1 4.00 4.00 kept all",
        "Coherence (b-sage) 1-5 1/1 2.00 3.00 1 up",
        "Wit 1-5 1/1 5.00",
    ]


def test_the_printed_sample_tells_agents_apart_and_pairs_them_with_their_drafts(capsys):
    said = printed([item(*by("a", 4, 4), *by("b", 2, 3), score(5, "Wit"))], capsys)
    rows = [" ".join(row.split()) for row in said.partition("criterion    ")[2].partition("\n\n")[2].splitlines()]
    assert "Coherence (a-sage) 4" in rows
    assert "Coherence (b-sage) 2 -> 3" in rows
    assert "Wit 5" in rows


def test_the_printed_sample_is_the_one_whose_own_critic_moved_it_most(capsys):
    calm, moved = item(*by("a", 5, 5), *by("b", 1, 1), id="calm"), item(*by("a", 4, 2), id="moved")
    assert "\nmoved (moved most): 2 on 1-5\n" in printed([calm, moved], capsys)


def failing(draft, final):
    one = score(draft, stage="draft")
    return item(one, score(final, status="ok" if final else "timeout", draft=one.key))


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([failing(4, 4), failing(3, 3)], "kept all"),
        ([failing(4, 4), failing(3, None)], "kept 1"),
        ([failing(3, None)], ""),
        ([failing(4, 4), item(id="f", status="timeout", reason="r")], "kept 1"),
    ],
    ids=["all", "one unread", "none read", "one failed"],
)
def test_a_critic_kept_no_more_than_it_reviewed(items, said):
    _, row = table(items, 100)
    assert "".join(row.partition("kept")[1:]).strip() == said


def both_orders(names):
    def one(name, of, order):
        repeat, value = int(order == "BA"), 4.0 if order == "AB" else 3.0
        return Score(criterion=name, agent="comparer", of=of, repeat=repeat, value=value, scale=FIVE, reason="r")

    orders = ("AB", "BA")
    scores = [one(name, of, order) for name in names for order in orders for of in ("output", "rival")]
    comparisons = [
        Comparison(criterion=name, agent="comparer", verdict="A", score_a=4, score_b=3, order=order)
        for name in names for order in orders
    ]  # fmt: skip
    return Item(sample=Sample(id="p", output="t", rival="u"), scores=scores, comparisons=comparisons)


def test_both_orders_of_a_pair_stand_on_one_row(capsys):
    said = printed([both_orders(["Clarity", "Wit"])], capsys)
    table = [" ".join(row.split()) for row in said.splitlines()]
    assert "criterion A first B first" in table
    assert "Wit A (4 : 3) A (4 : 3)" in table


def test_repeats_crowd_out_no_other_scores(capsys):
    said = printed([both_orders([f"C{i}" for i in range(6)])], capsys)
    assert "C5 A (4 : 3) A (4 : 3)" in [" ".join(row.split()) for row in said.splitlines()]
    assert "more" not in said


def test_troubles_tell_the_side_of_a_pair(capsys):
    said = printed([item(score(3), score(None, of="rival", status="timeout"))], capsys)
    assert "Coherence (rival) (a, final): 1 timeout" in said


def test_one_is_no_plural(capsys):
    run = Run({**MANIFEST, "calls": {"prompt_tokens": 1, "completion_tokens": 0, "replies": 1}})
    more = [Comparison(criterion=f"C{i}", agent="comparer", verdict="A") for i in range(13)]
    run = Run(run.manifest, [item(*(score(3, f"C{i}") for i in range(13)), comparisons=more)])
    print_run(run, run.summary(), [Rejection(file="rows.csv", line=1, reason="no output")])
    said = capsys.readouterr().out
    for line in ("1 sample, 1 call, 1 token", "the first 12 of 13\n", "1 row rejected:"):
        assert line in said
