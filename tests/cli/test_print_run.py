"""What a run prints: a table that fits its terminal, and no list that is cut in silence."""

import io

import pytest
from rich.console import Console

from judgegraph.cli.print_run import LINES, print_run
from judgegraph.cli.table import score_table
from judgegraph.runtime.item import Item
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import summarise
from judgegraph.types import Sample, Scale, Score

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
    console.print(score_table(summary, finals, width))
    return console.file.getvalue().splitlines()


def drafted(draft, final, **fields):
    return item(score(draft, stage="draft", **fields), score(final, **fields))


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
    failed = [item(id=f"f{i}", status="agent_error", reason=f"r{i}") for i in range(20)]
    assert "and 8 more kinds of failure" in printed(failed, capsys)


def test_a_sample_that_failed_as_a_whole_is_told_once_and_counts_in_the_table(capsys):
    said = printed([item(score(3)), item(id="f", status="timeout", reason="no result within 40 s")], capsys)
    assert "1/2" in said
    assert "3.00 [2.00, 4.00]" in said
    assert said.count("timeout") == 1
    assert "1 samples ended with timeout: no result within 40 s" in said
