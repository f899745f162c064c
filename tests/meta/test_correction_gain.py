"""What corrections gained, by another judge: unchanged ones apart, no label of the original along, none by chance."""

import json
import math
from dataclasses import replace

import pytest

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError
from judgegraph.graphs import fennec, llm_score
from judgegraph.meta.corrected import correction_gain, corrections_of, gain_of, outcomes
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

CRITERIA = [Criterion(name=name, definition=f"{name}.", guideline="1: none. 5: all.") for name in ("Depth", "Tone")]


class Other(type(scripted())):  # type: ignore[misc]  # a judge of another name than the one that corrects
    pass


def run_of(count=8, unchanged=2, depth=1.0, **settings):
    """A run of Fennec whose judge scores Depth low, and corrects all texts but the first `unchanged`."""

    def answer(messages):
        text = str(messages[-1].content)
        if "<judgements-" in text:
            (n,) = [n for n in range(count) if f"text {n}." in text]
            return {"response": f"text {n}." if n < unchanged else f"better {n}."}
        return {"reason": "so", "score": depth if "## Depth" in text else 4}

    human = {"Depth": 1}
    samples = [
        Sample(id=f"s{n}", query=f"Why {n}?", output=f"text {n}.", human=human, meta={"label": "bad"})
        for n in range(count)
    ]
    return jg.evaluate(fennec(scripted(*[answer] * 200), criteria=CRITERIA), samples, **settings)


def grader(before, after, broken=()):
    """Scores originals and corrections of Depth by these; Tone is worse by one when corrected."""

    def answer(messages):
        text = str(messages[-1].content)
        if any(f"better {n}." in text for n in broken):
            return {"reason": "no word of it", "score": None}
        if "## Tone" in text:
            return {"reason": "so", "score": 3 if "better" in text else 4}
        return {"reason": "so", "score": after if "better" in text else before}

    return Other(script=[answer] * 400)


def test_the_gain_overall_and_per_criterion_with_interval_and_sign_test():
    found = correction_gain(run_of(), grader(1, 4))
    by = {one.criterion: one for one in (found.overall, found.low, found.others, *found.criteria) if one}
    assert [*by] == ["overall", "low", "others", "Depth", "Tone"]
    assert found.responses == {"ok": 6, "unchanged": 2}
    means = {"overall": (2.5, 3.5), "low": (1, 4), "Depth": (1, 4), "Tone": (4, 3), "others": (4, 3)}
    for name, (before, after) in means.items():
        one = by[name]
        assert (one.n, one.queries, one.unread) == (6, 6, 0)
        assert (one.before, one.after, one.gain.value) == (before, after, after - before), name
        assert one.gain.low <= one.gain.value <= one.gain.high
        assert (one.raised, one.lowered) == ((6, 0) if after > before else (0, 6))
        assert one.p == pytest.approx(2 / 2**6)
    assert by["Depth"].p_holm == pytest.approx(2 * 2 / 2**6)
    assert math.isnan(by["overall"].p_holm)
    assert found.is_shown
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["overall"]["p_holm"] is None


def test_one_query_of_several_sources_is_several_queries():
    def of(source):
        run = run_of(unchanged=0)
        items = [
            item.model_copy(
                update={
                    "sample": item.sample.model_copy(
                        update={"query": "Sum it up.", "source": f"Article {item.place if source else 0}"}
                    )
                }
            )
            for item in run.items
        ]
        found = correction_gain(replace(run, held=tuple(items)), grader(1, 4)).overall
        return found.queries if found else 0

    assert (of(True), of(False)) == (8, 1)


def test_few_queries_show_no_gain_however_large():
    found = correction_gain(run_of(count=4, unchanged=0), grader(1, 5))
    assert found.overall is not None
    assert (found.overall.gain.value > 0, found.overall.gain.low > 0, found.is_shown) == (True, True, False)


def test_a_correction_without_both_scores_counts_nowhere_and_is_told():
    found = correction_gain(run_of(), grader(1, 4, broken=(2, 3)))
    assert found.overall is not None
    assert (found.overall.n, found.overall.unread) == (4, 2)


def test_no_label_of_the_original_travels_along_and_the_judge_sees_one_text_alone():
    run, judge = run_of(), grader(1, 4)
    samples = corrections_of(run)
    assert {(sample.human == {}, *sample.meta) for sample in samples} == {(True, "corrected")}
    correction_gain(run, judge)
    for call in judge.calls:
        text = str(call[-1].content)
        assert ("better" in text) != ("text " in text)
        assert "corrected" not in text
        assert "1: none. 5: all." in text, "by the guideline that the original was judged by"


@pytest.mark.parametrize(
    ("run", "said"),
    [(lambda: run_of(count=2), "2 unchanged"), (lambda: run_of(depth=4.0), "no response scored low"),
     (lambda: jg.evaluate(llm_score(criteria=CRITERIA), [Sample(id="s", output="x")]), "no response scored low")],
    ids=["equal to their originals", "nothing low", "a run that corrects nothing"],
)  # fmt: skip
def test_a_run_without_corrections_is_told(run, said):
    with pytest.raises(ConfigError, match=f"no correction to judge: {said}"):
        correction_gain(run(), grader(1, 4))


def test_the_judge_that_corrected_is_refused_or_the_result_says_so():
    run, same = run_of(), scripted(*[{"reason": "so", "score": 3}] * 40)
    with pytest.raises(ConfigError, match="corrected these texts: it would judge its own work"):
        correction_gain(run, same)
    assert same.calls == []
    assert correction_gain(run, same, same_judge=True).same_judge
    assert not correction_gain(run, grader(1, 4)).same_judge


def test_a_judge_whose_low_scores_picked_the_texts_is_told_apart():
    def better(messages):
        return {"response": "Another text, that says why it is so."}

    samples = [Sample(id="s", query="Why is the sky blue?", output="No idea.")]
    settings = {"threshold": 5.0, "correct": "at-most", "corrector_judge": scripted(better)}
    run = jg.evaluate(fennec(criteria=CRITERIA, **settings), samples)
    assert any("low scores picked these texts" in note for note in correction_gain(run, "embedded").notes)
    assert correction_gain(run, grader(1, 4)).notes == ()


def test_the_same_call_goes_on_and_another_run_is_no_grading(tmp_path):
    run = run_of(out=tmp_path / "run")
    first = correction_gain(run, grader(1, 4), out=tmp_path / "gain")
    again = correction_gain(jg.Run.load(tmp_path / "run"), Other(script=[]), out=tmp_path / "gain")
    assert (again.overall, again.criteria) == (first.overall, first.criteria)
    assert json.loads((tmp_path / "gain/gain.json").read_text())["overall"]["n"] == 6
    assert outcomes(run) == {"ok": 6, "unchanged": 2}
    with pytest.raises(DataError, match="a run of fennec; expected one of regrade"):
        gain_of(run, run)
