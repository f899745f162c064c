"""Aggregates say how many scores they rest on, and what the missing ones could do."""

import pytest

from judgegraph.answers import UNTOUCHED
from judgegraph.runs.item import Item
from judgegraph.runs.summary import covered, moves_of, summarise
from judgegraph.types import Comparison, Criterion, Finding, Sample, Scale, Score

FIVE = Scale(low=1, high=5)


def item(*scores, **fields):
    return Item(sample=Sample(id="s", output="t"), scores=scores, **fields)


def score(value, stage="final", **fields):
    status = "ok" if value is not None else fields.pop("status", "unreadable")
    return Score(criterion="C", agent="a", stage=stage, value=value, status=status, scale=FIVE, **fields)


def test_a_mean_rests_on_what_could_be_read_and_says_what_the_rest_could_do():
    line = summarise([item(score(4)), item(score(2)), item(score(None)), item(score(None))], "sig").line("C")
    assert (line.n_ok, line.n, line.mean) == (2, 4, 3.0)
    assert line.bounds == ((6 + 2 * 1) / 4, (6 + 2 * 5) / 4)
    assert line.statuses == {"ok": 2, "unreadable": 2}


def test_without_missing_scores_the_bounds_are_the_mean():
    line = summarise([item(score(4)), item(score(2))], "sig").line("C")
    assert line.bounds == (3.0, 3.0)
    assert line.sd == pytest.approx(2**0.5)


def test_changes_are_counted_by_direction():
    pairs = [(4, 2), (4, 5), (3, 3), (None, None), (4, None)]
    line = summarise([item(score(a, "draft"), score(b, draft="C/a/draft/0")) for a, b in pairs], "sig").line("C")
    assert (line.changed, line.down, line.up, line.reviewed) == (2, 1, 1, 3)


def test_a_final_score_is_compared_with_the_draft_it_names_alone():
    def by(agent, draft, final):
        one = Score(criterion="C", agent=f"{agent}-e", stage="draft", value=draft, scale=FIVE)
        return one, Score(criterion="C", agent=f"{agent}-s", value=final, scale=FIVE, draft=one.key)

    found = summarise([item(*by("a", 4, 4), *by("b", 2, 3), score(5))], "sig")
    moves = {x.agent: (x.draft and x.draft[1], x.reviewed, x.changed, x.up) for x in found.lines.values()}
    assert moves["a-s"] == ("a-e", 1, 0, 0)
    assert moves["b-s"] == ("b-e", 1, 1, 1)
    assert moves["a"] == (None, 0, 0, 0)


@pytest.mark.parametrize("note", UNTOUCHED)
def test_a_critic_that_was_not_asked_kept_nothing(note):
    def told(*notes):
        rows = [item(score(4, "draft"), score(4, draft="C/a/draft/0", notes=own)) for own in notes]
        (row,) = (summary := summarise(rows, "sig")).to_dict()["answers"]
        return moves_of(next(iter(summary.answers.values())), whole=True), row["asked"]

    assert told((note,), (note,)) == ("not asked", 0)
    assert told((note,), (), ()) == ("asked 2 of 3, kept 2", 2)
    assert told((), ()) == ("kept all", 2)


def test_a_gate_that_stayed_closed_is_no_critic_that_kept_a_score():
    def by(agent, value, stage="final", **fields):
        return Score(criterion="C", agent=agent, stage=stage, value=value, scale=FIVE, **fields)

    opened = item(by("judge", 4, "draft"), by("sage", 4, draft="C/judge/draft/0"))
    found = summarise([opened, item(by("judge", 3, "draft")), item(by("judge", 2, "draft"))], "sig")
    (line,) = found.answers.values()
    assert moves_of(line, whole=True) == "asked 1 of 3, kept 1"
    assert found.to_dict()["answers"][0]["asked"] == 1


def test_labels_are_counted():
    tone = Scale(labels=("warm", "cold"))
    rows = [item(Score(criterion="T", agent="a", label=label, scale=tone)) for label in ("warm", "warm", "cold")]
    assert summarise(rows, "sig").line("T").labels == {"warm": 2, "cold": 1}


def comparison(verdict, order="AB", **fields):
    status = "ok" if verdict else "skipped"
    return Comparison(
        **{"criterion": "overall", "agent": "merge", "verdict": verdict, "order": order, "status": status, **fields}
    )


def failed(status="timeout", **fields):
    return Item(sample=Sample(id="f", output="t", **fields), status=status, reason="no result within 40 s")


def test_pairs_count_verdicts_and_agreement_of_the_orders():
    def pair(ab, ba, verdict):
        return item(comparisons=(comparison(ab), comparison(ba, "BA")), verdict=verdict)

    found = summarise([pair("A", "A", "A"), pair("A", "B", "tie"), pair("B", None, None)], "sig")
    assert found.verdicts == {"A": 1, "tie": 1, "none": 1}
    assert (found.consistent, found.both) == (1, 2)


def test_a_criterion_named_overall_is_no_merged_verdict():
    by_criterion = [comparison("B", agent="comparer"), comparison("A", "BA", agent="comparer")]
    merged = [comparison("A", agent="first-merge"), comparison("A", "BA", agent="first-merge")]
    for comparisons in ([*by_criterion, *merged], [*merged, *by_criterion]):
        found = summarise([item(comparisons=tuple(comparisons), verdict="A")], "sig")
        assert (found.consistent, found.both) == (1, 1)


def test_samples_that_failed_as_a_whole_count_as_missing_in_every_line():
    ok = [item(score(4, "draft"), score(3)) for _ in range(30)]
    found = summarise([failed(), *ok, failed("agent_error")], "sig")
    for stage, mean in (("draft", 4), ("final", 3)):
        line = found.line("C", stage)
        assert (line.n_ok, line.n, line.mean) == (30, 32, mean)
        assert line.bounds == pytest.approx(((30 * mean + 2 * 1) / 32, (30 * mean + 2 * 5) / 32))
        assert line.statuses == {"ok": 30, "timeout": 1, "agent_error": 1}
    assert "n 30/32" in str(found)


def test_a_failed_sample_is_missing_only_on_the_sides_it_has():
    pair = item(score(4), score(2, of="rival"), comparisons=(comparison("A"),), verdict="A")
    found = summarise([pair, failed(), failed(rival="u")], "sig")
    assert {line.of: line.n for line in found.lines.values()} == {"output": 3, "rival": 2}
    assert found.verdicts == {"A": 1, "none": 1}


def rated(criterion, stage="final", agent="a", **fields):
    return Score(criterion=criterion, agent=agent, stage=stage, value=3, scale=FIVE, **fields)


def of_pair(*scores, **fields):
    return Item(sample=Sample(id="p", output="t", rival="u"), scores=scores, **fields)


def test_a_failed_pair_misses_the_scores_of_both_orders():
    both = [rated("C", repeat=i, of=of) for i in (0, 1) for of in ("output", "rival")]
    found = summarise([of_pair(*both), of_pair(*both), failed(rival="u")], "sig")
    assert [(x.n_ok, x.n, x.statuses["timeout"], x.lost["timeout"]) for x in found.lines.values()] == [(4, 6, 2, 2)] * 2


def test_a_failed_sample_misses_only_what_its_kind_is_asked():
    single, pair = item(rated("C", agent="judge")), of_pair(rated("C", agent="comparer"))
    found = summarise([single, pair, failed(), failed(rival="u"), failed(rival="u")], "sig")
    assert {x.agent: x.n for x in found.lines.values()} == {"judge": 2, "comparer": 3}


def test_a_failed_sample_misses_no_criteria_that_are_other_samples_own():
    def written(*names):
        return item(*map(rated, names), branches={name: Criterion(name=name) for name in names})

    found = summarise([written("All", "One"), written("All", "Two"), failed()], "sig")
    assert {x.criterion: x.n for x in found.lines.values()} == {"All": 2, "One": 1, "Two": 1}
    shared = summarise([*(written("All", str(k % 2)) for k in range(5)), failed(), failed()], "sig")
    assert {x.criterion: x.n for x in shared.lines.values()} == {"All": 7, "0": 3, "1": 2}
    assert covered(shared)[2:4] == (10, 14), "each sample that failed misses two scores, and none of them twice"
    chains = [item(rated("Fluency"), rated(name, "aspects:Fluency")) for name in ("One", "Two")]
    found = summarise([*chains, failed()], "sig")
    assert {x.criterion: x.n for x in found.lines.values()} == {"Fluency": 3, "One": 1, "Two": 1}


@pytest.mark.parametrize("far", [0.0, 1e9])
def test_the_spread_of_values_does_not_depend_on_how_far_they_lie_from_zero(far):
    wide = Scale(low=0, high=2e9, whole=False)
    rows = [item(Score(criterion="C", agent="a", value=far + v, scale=wide)) for v in (4.0, 7.0, 13.0, 16.0)]
    line = summarise(rows, "sig").line("C")
    assert line.mean == far + 10
    assert line.sd == pytest.approx(30**0.5)


def test_equal_values_have_no_spread():
    line = summarise([item(score(3.3)) for _ in range(1000)], "sig").line("C")
    assert (line.mean, line.sd) == (3.3, 0.0)


DRAFTED = score(4, "draft")


def reviewed(status, agent="critic"):
    value = 4 if status == "ok" else None
    return Score(criterion="C", agent=agent, value=value, status=status, scale=FIVE, draft=DRAFTED.key)


@pytest.mark.parametrize(
    ("found", "judged"),
    [
        (item(score(3)), True),
        (item(score(None), score(3)), True),
        (item(score(None, status="provider_error")), False),
        (item(comparisons=(comparison("tie"),)), True),
        (item(comparisons=(comparison(None),)), False),
        (item(overall=2.5), True),
        (item(DRAFTED, reviewed("skipped")), True),
        (item(DRAFTED, reviewed("skipped"), reviewed("skipped", "other")), True),
        (item(DRAFTED, reviewed("skipped"), reviewed("ok", "other")), True),
        (item(DRAFTED, reviewed("skipped"), score(3)), True),
        (item(), False),
        (failed(), False),
    ],
)
def test_an_item_is_judged_where_something_could_be_read(found, judged):
    assert summarise([found], "sig").judged == judged


def test_a_sample_that_was_cut_in_its_middle_is_counted_once_in_the_coverage_of_own_criteria():
    def written(*names, **more):
        return item(*map(rated, names), branches={name: Criterion(name=name) for name in names}, **more)

    whole = [written("One", "Two"), written("One", "Three")]
    cut = written("One", "Two", status="over_budget", reason="no budget")
    part = covered(summarise([*whole, cut, failed()], "sig"))
    assert (part.ok, part.n) == (6, 8)  # of four samples with two criteria each, one of which was never judged


def test_findings_of_metrics_are_counted():
    read = [Finding(assistant="rouge-l", value=0.5), Finding(assistant="chrf", status="skipped", reason="no reference")]
    summary = summarise([item(findings=tuple(read)), item(findings=tuple(read[:1]))], "sig")
    assert summary.findings == {"rouge-l": (2, 2), "chrf": (0, 1)}
    assert "findings read: rouge-l 2 of 2, chrf 0 of 1" in str(summary)
    assert summary.to_dict()["findings"]["chrf"] == {"n": 1, "ok": 0}


def test_among_pairs_the_mean_of_the_answers_says_whose_it_is():
    """Of a pair the verdict is the answer, so that only rows without a rival have a mean."""
    score = Score(criterion="Clarity", agent="judge", value=3, scale=Scale.of("1-5"))
    alone = Item(sample=Sample(id="a", output="t"), scores=(score,))
    pair = Item(sample=Sample(id="b", output="t", rival="u"), scores=(score,), verdict="A")
    said = " without a rival (of a pair the verdict is the answer)"
    assert str(summarise([alone, pair], "mine")).count(f"1 sample{said}") == 1
    assert said not in str(summarise([alone], "mine"))
