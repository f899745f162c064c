"""Which scores moved between two runs, and what the moves are put to."""

import itertools
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.calls import Reader
from judgegraph.errors import ConfigError, DataError
from judgegraph.graphs import fennec, g_eval, sageval
from judgegraph.meta.diff_moves import Line, Upstream, changes, pairs
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.stats.bootstrap import MEAN_DRAWN
from judgegraph.testing import scripted
from judgegraph.testing.scripted import Scripted
from judgegraph.types import Comparison, Criterion, EvalState, Sample, Scale, Score

ROOT = Path(__file__).resolve().parents[2]
CLARITY = Criterion(name="Clarity", definition="One reading only.")
TONE = Criterion(name="Tone", scale=Scale(labels=("warm", "cold")))
NARROW = Criterion(name="Clarity", definition="No word too many.")
SAMPLE = Sample(id="s1", query="A survey on lunch.", output="Are you hungry?")
STATED = Reader(kind="stated")
SCALE = Scale.of("1-5")


_names = itertools.count()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kept(graph: Any, samples: list[Sample]) -> Run:
    """A run in a folder, whose manifest tells its configuration."""
    return jg.evaluate(graph, samples, out=f"run-{next(_names)}")


class OtherJudge(Scripted):
    """A judge of another name."""


def draft(score=4, label="warm", reason="fine"):
    return {"clarity": {"reason": reason, "score": score}, "tone": {"reason": "kind words", "label": label}}


def review(score=4, verdict="keep"):
    said = {
        "clarity": {"reason": "looked again", "verdict": verdict, "score": score},
        "tone": {"reason": "looked again", "verdict": "keep", "label": "warm"},
    }
    return {"rectifications": said, "definitions": [], "new_criteria": []}


def judged(
    *replies, judge=scripted, critic=True, criteria=(CLARITY, TONE), prompt="evaluate", sample=SAMPLE, critic_task=""
) -> Run:  # fmt: skip
    """A run of one sample; the script answers the evaluator, then the critic."""
    model = judge(*replies)
    graph = StateGraph(EvalState)
    stage = "draft" if critic else "final"
    graph.add_node("evaluate", Evaluator(judge=model, criteria=criteria, prompt=prompt, reader=STATED, stage=stage))
    graph.add_edge(START, "evaluate")
    if critic:
        about = {"task": critic_task} if critic_task else {}
        graph.add_node("critique", Sage(judge=model, criteria=criteria, reader=STATED, **about))
        graph.add_node("rectify", Rectify())
        graph.add_edge("evaluate", "critique")
        graph.add_edge("critique", "rectify")
    graph.add_edge("rectify" if critic else "evaluate", END)
    return kept(graph.compile(name="small"), [sample])


def other_judge(*replies: Any) -> OtherJudge:
    return OtherJudge(script=list(replies))


@pytest.fixture
def prompt(tmp_path: Path) -> str:
    """The evaluator's template, with another word."""
    path = tmp_path / "evaluate_mine.md"
    path.write_text((ROOT / "judgegraph/prompts/evaluate.md").read_text().replace("# user", "Be brief.\n\n# user", 1))
    return str(path)


def moves(a: Run, b: Run) -> dict[str, tuple[str, str]]:
    """Criterion -> (cause, where the move enters)."""
    found = jg.diff_runs(a, b, limit=None)
    return {move.criterion: (move.cause, move.at) for sample in found.most for move in sample.moves}


PLAIN = (draft(4), review(4))
MOVED = (draft(2), review(2))
CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any], dict[str, tuple[str, str]]]] = {
    "nothing moved": (PLAIN, {}, {}),
    "nothing but noise": (MOVED, {}, {"Clarity": ("noise", "draft")}),
    "model": (MOVED, {"judge": other_judge}, {"Clarity": ("model", "draft")}),
    "a definition": (MOVED, {"criteria": (NARROW, TONE)}, {"Clarity": ("criteria", "draft")}),
    "the definition of another criterion": (
        (draft(4, "cold"), review(4)), {"criteria": (NARROW, TONE)}, {"Tone": ("other criteria or noise", "draft")},
    ),
    "the critic's task": ((draft(4), review(2, "lower")), {"critic_task": "a joke"}, {"Clarity": ("critic", "critic")}),
    "noise of the critic": ((draft(4), review(2, "lower")), {}, {"Clarity": ("noise", "critic")}),
    "the sample": (MOVED, {"sample": SAMPLE.model_copy(update={"output": "Hungry?"})}, {"Clarity": ("data", "draft")}),
    "the sample's labels": (MOVED, {"sample": SAMPLE.model_copy(update={"human": {"Clarity": 1.0}})}, {
        "Clarity": ("noise", "draft"),
    }),
    "model and definition": (MOVED, {"judge": other_judge, "criteria": (NARROW, TONE)}, {
        "Clarity": ("model or criteria", "draft"),
    }),
    "noise of the draft under another critic": ((draft(2), review(1, "lower")), {"critic_task": "a joke"}, {
        "Clarity": ("critic or noise", "draft"),
    }),
    "another critic that keeps every draft": (MOVED, {"critic_task": "a joke"}, {"Clarity": ("noise", "draft")}),
    "a label": ((draft(4, "cold"), review(4)), {"judge": other_judge}, {"Tone": ("model", "draft")}),
    "a critic that went": ((draft(4),), {"critic": False}, {}),
}  # fmt: skip


@pytest.mark.parametrize(("replies", "settings", "expected"), CASES.values(), ids=CASES.keys())
def test_a_move_is_put_to_what_changed(replies, settings, expected):
    assert moves(judged(*PLAIN), judged(*replies, **settings)) == expected


def test_another_prompt_is_a_cause_alone_and_beside_another_judge(prompt: str):
    assert moves(judged(*PLAIN), judged(*MOVED, prompt=prompt)) == {"Clarity": ("prompt", "draft")}
    both = jg.diff_runs(judged(*PLAIN), judged(*MOVED, prompt=prompt, judge=other_judge))
    assert (dict(both.causes), both.mixed) == ({"prompt or model": 1}, True)


def test_a_critic_that_was_added_moves_what_it_changes():
    a, b = judged(draft(4), critic=False), judged(draft(4), review(2, "lower"))
    found = jg.diff_runs(a, b)
    assert moves(a, b) == {"Clarity": ("critic", "critic")}
    assert found.most[0].moves[0].agent == "evaluator -> sage"
    assert {change.cause for change in found.changes if not change.weak} == {"critic"}


def test_an_equal_draft_with_another_reason_is_no_proof_against_the_prompt(prompt: str):
    a = judged(*PLAIN)
    b = judged(draft(4, reason="it says otherwise"), review(2, "lower"), prompt=prompt)
    assert moves(a, b) == {"Clarity": ("prompt", "critic")}


def test_a_move_says_how_far_in_units_and_of_the_scale():
    found = jg.diff_runs(judged(*PLAIN), judged(*MOVED))
    (move,) = found.most[0].moves
    assert (move.a, move.b, move.change, move.share, move.kind) == (4.0, 2.0, -2.0, -0.5, "value")
    line = next(line for line in found.lines.values() if line.criterion == "Clarity")
    assert (line.n, line.moved, line.up, line.down, line.mean) == (1, 1, 0, 1, -2.0)


@pytest.mark.parametrize(
    "settings", [{"critic": "self-reflection"}, {"cot": True}], ids=["another critic", "another prompt everywhere"]
)
def test_real_runs_of_the_embedded_judge_have_the_one_cause_that_changed(settings: dict[str, Any]):
    texts = ["Captain Ahab hunts the whale, and dies.", "A book. A book.", "It is a famous book about whales."]
    samples = [Sample(id=str(i), query="Summarise the plot.", output=text) for i, text in enumerate(texts)]
    a, b = (kept(sageval(**more), samples) for more in ({}, settings))
    found = jg.diff_runs(a, b)
    assert found.samples == 3
    assert set(found.causes) <= {"critic" if "critic" in settings else "prompt"}
    assert found.moved == (1 if "critic" in settings else 0)
    again = jg.diff_runs(a, kept(sageval(), samples))
    assert (again.moved, again.changes, again.compared) == (0, (), 24)


# Runs in memory, whose items are written here.


def run_of(*items: Item, **manifest: Any) -> Run:
    table = {"nodes.judge": "Judge", "nodes.judge.options.name": "judge", "edges": ["START -> judge"]}
    return Run({"signature": "x", "judgegraph": "1", "configuration": table, **manifest}, items)


def item(id: str, *values: float | str | Score, place: int = 0, **more: Any) -> Item:
    scores = [v if isinstance(v, Score) else score(v, f"C{i}") for i, v in enumerate(values)]
    return Item(sample=Sample(id=id, output="o"), scores=tuple(scores), place=place, **more)


def score(value: float | str, criterion: str = "C0", **more: Any) -> Score:
    about: dict[str, Any] = {"criterion": criterion, "agent": "judge", "scale": SCALE, **more}
    return Score(**about, status=value) if isinstance(value, str) else Score(**about, value=value)


def test_samples_of_one_run_alone_are_counted_whatever_the_order():
    a = run_of(*(item(f"s{i}", 3.0, place=i) for i in range(6)))
    b = run_of(*(item(f"s{i}", 4.0, place=9 - i) for i in range(2, 9)))
    found = jg.diff_runs(a, b)
    assert (found.samples, found.only_a, found.only_b, found.moved) == (4, 2, 3, 4)
    assert sorted(sample.id for sample in found.most) == ["s2", "s3", "s4", "s5"]


@pytest.mark.parametrize(
    ("after", "lost", "cause"),
    [
        (item("s", "unreadable"), 1, "noise"),
        (item("s", "timeout"), 1, "failure"),
        (item("s", status="over_budget", reason="spent"), 1, "failure"),
        (item("s", status="agent_error", reason="KeyError: 'x'"), 1, "failure"),
        (item("s"), 0, None),
    ],
    ids=["unreadable", "timeout", "a sample over budget", "a sample that failed", "a score that is not there"],
)
def test_what_cannot_be_read_any_more_is_a_status_and_no_number(after: Item, lost: int, cause: str | None):
    found = jg.diff_runs(run_of(item("s", 3.0)), run_of(after))
    (line,) = found.lines.values()
    assert (line.lost, line.n, line.only_a) == (lost, 0, 1 - lost)
    assert list(found.causes) == ([cause] if cause else [])


def pair(verdict: str, order: str = "AB") -> Comparison:
    return Comparison(criterion="Clarity", agent="judge", verdict=verdict, order=order, reason=f"{verdict} is better")


@pytest.mark.parametrize(
    ("before", "after", "changed", "flips"), [("A", "B", 1, 1), ("A", "tie", 1, 0), ("A", "A", 0, 0)]
)
def test_a_flip_is_a_winner_that_became_the_loser(before: str, after: str, changed: int, flips: int):
    a, b = (run_of(item("s", comparisons=(pair(v),), verdict=v)) for v in (before, after))
    found = jg.diff_runs(a, b)
    assert [(line.n, line.changed, line.flips) for line in found.lines.values()] == [(1, changed, flips)] * 2
    assert [line.criterion for line in found.lines.values()] == ["Clarity", ""]


def test_real_pairs_have_verdicts_and_the_scores_of_both_sides():
    samples = [Sample(id="p", query="Why?", output="Ice broke two of its piers.", rival="It is shut.")]
    turned = [samples[0].model_copy(update={"output": samples[0].rival, "rival": samples[0].output})]
    found = jg.diff_runs(*(kept(fennec(mode="pair"), data) for data in (samples, turned)))
    assert found.data == 1
    assert {move.cause for sample in found.most for move in sample.moves} == {"data"}
    assert any(line.flips for line in found.lines.values())
    assert {line.of for line in found.lines.values()} == {"output", "rival"}


def test_noise_is_held_against_the_spread_of_the_answers():
    wide, sharp = {"1": 0.5, "5": 0.5}, {"3": 0.99, "4": 0.01}
    for spread, within in ((wide, 1), (sharp, 0)):
        sides = [run_of(item("s", score(value, distribution=spread, reader="logprobs"))) for value in (2.0, 4.0)]
        found = jg.diff_runs(*sides).noise
        assert (found.moves, found.spread, found.within, found.mean_share) == (1, 1, within, 0.5)


def test_samples_of_one_answer_narrow_the_spread():
    def side(value: float) -> Run:
        table = {"nodes.j": "J", "nodes.j.options.name": "judge", "nodes.j.reader": "weighted:16@t1", "edges": []}
        answer = score(value, distribution={"2": 0.5, "4": 0.5}, reader="samples")
        return run_of(item("s", answer), configuration=table)

    (move,) = jg.diff_runs(side(2.0), side(4.0)).most[0].moves
    assert move.spread == pytest.approx((2 * 1 / 16) ** 0.5)
    assert move.within is False


def test_another_scale_is_compared_by_its_width():
    a, b = run_of(item("s", 3.0)), run_of(item("s", score(3.0, scale=Scale.of("1-9"))))
    found = jg.diff_runs(a, b)
    (move,), (line,) = found.most[0].moves, found.lines.values()
    assert (move.change, move.share, line.unit, line.mean) == (None, -0.25, "share", -0.25)


@pytest.mark.parametrize(("low", "high"), [(-3.7, 11.9), (1.0, 10.0)])
def test_what_stands_at_the_same_place_of_another_scale_did_not_move(low: float, high: float):
    values = [1 + 4 * i / 29 for i in range(30)]
    scale = Scale(low=low, high=high, whole=False)
    there = [score(low + (high - low) * ((value - 1) / 4), scale=scale) for value in values]
    assert any((one.value - low) / (high - low) != (value - 1) / 4 for one, value in zip(there, values, strict=True))
    found = jg.diff_runs(*(run_of(*(item(str(i), v) for i, v in enumerate(of))) for of in (values, there)))
    (line,) = found.lines.values()
    assert (found.moved, found.most, dict(found.causes)) == (0, (), {})
    assert (line.n, line.moved, line.up, line.down, line.unit, line.mean) == (30, 0, 0, 0, "share", 0.0)


def test_a_mean_over_another_scale_is_of_all_samples_in_shares():
    wider = [score(value, scale=Scale.of("1-9")) for value in (5.0, 9.0, 5.0, 1.0)]
    a, b = (run_of(*(item(str(i), v) for i, v in enumerate(of))) for of in ([3.0] * 4, wider))
    found = jg.diff_runs(a, b)
    (line,) = found.lines.values()
    assert (line.moved, line.up, line.down, line.unit, line.mean) == (2, 1, 1, "share", 0.0)
    assert line.to_dict()["mean_a"] is None
    assert len(line.shares) == 4


def test_a_scale_that_takes_more_numbers_between_the_same_ends_is_of_the_same_unit():
    any_number = [score(value, scale=Scale.of("1-5 any")) for value in (3.0, 3.5)]
    found = jg.diff_runs(*(run_of(*(item(str(i), v) for i, v in enumerate(of))) for of in ([3.0, 3.0], any_number)))
    (line,) = found.lines.values()
    assert (line.moved, line.unit, line.mean) == (1, "points", 0.25)


def test_a_mean_difference_has_an_interval_that_is_the_same_each_time():
    a = run_of(*(item(f"s{i}", 3.0, place=i) for i in range(40)))
    b = run_of(*(item(f"s{i}", 3.0 + i % 2, place=i) for i in range(40)))
    ends = [next(iter(jg.diff_runs(a, b).lines.values())) for _ in range(2)]
    assert ends[0].low == ends[1].low < 0.5 < ends[0].high
    assert ends[0].low > 0.3
    assert ends[0].mean == 0.5


def test_a_mean_difference_draws_whole_groups_as_the_comparison_of_runs_does():
    def side(by: float, meta: list[dict[str, str]]) -> Run:  # all samples of a group move alike
        found = [item(f"s{n:02}", 3.0 + by * (n % 7 > 4), place=n) for n in range(28)]
        samples = [x.sample.model_copy(update={"meta": m}) for x, m in zip(found, meta, strict=True)]
        return run_of(*(x.model_copy(update={"sample": y}) for x, y in zip(found, samples, strict=True)))

    whole = [{"group": f"g{n % 7}"} for n in range(28)]
    (alone,) = jg.diff_runs(side(0, [{}] * 28), side(1, [{}] * 28)).lines.values()
    (line,) = jg.diff_runs(side(0, whole), side(1, whole)).lines.values()
    (told,) = jg.compare({"a": side(0, whole), "b": side(1, whole)}).differences
    assert (line.low, line.high) == pytest.approx((-told.high, -told.low))
    assert line.method.endswith("groups drawn whole")
    assert line.low < alone.low < line.mean < alone.high < line.high


def test_many_differences_have_the_interval_of_student():
    drawn, counted = Line("C"), Line("C")
    for n, line in ((MEAN_DRAWN, drawn), (MEAN_DRAWN + 1, counted)):
        line.points.extend(float(i % 2) for i in range(n))
        line.settle()
    assert (drawn.method[:9], counted.method) == ("bootstrap", "Student's t")
    assert counted.low == pytest.approx(drawn.low, abs=1e-3)


@pytest.mark.parametrize(
    ("a", "b", "cause", "line"),
    [
        ({"judgegraph": "1"}, {"judgegraph": "2"}, "version", "judgegraph: 1 -> 2"),
        ({"versions": {"pydantic": "1"}}, {"versions": {"pydantic": "2"}}, "version or noise", "pydantic: 1 -> 2"),
        ({"configuration": {}}, {}, "unknown", None),
        ({"data": {"digest": "a"}}, {"data": {"digest": "b"}}, "noise", "data.digest: a -> b"),
    ],
    ids=["ours", "of a package", "no configuration", "another file with the same sample"],
)
def test_versions_and_data_are_told(a: dict, b: dict, cause: str, line: str | None):
    found = jg.diff_runs(run_of(item("s", 3.0), **a), run_of(item("s", 4.0), **b))
    assert list(found.causes) == [cause]
    assert line is None or line in [change.line for change in found.changes]


def test_nothing_in_common_is_refused_and_so_is_an_unknown_criterion(tmp_path: Path):
    a, b = run_of(item("s", 3.0)), run_of(item("t", 3.0))
    with pytest.raises(DataError, match=r"no sample is in both runs \(1 in A, 1 in B\)"):
        jg.diff_runs(a, b)
    with pytest.raises(ConfigError, match="there are: C0"):
        jg.diff_runs(a, a, criterion="Clarty")
    with pytest.raises(DataError, match="no run's folder"):
        jg.diff_runs(tmp_path, tmp_path)


def test_one_criterion_alone_can_be_asked_for():
    found = jg.diff_runs(run_of(item("s", 3.0, 3.0)), run_of(item("s", 4.0, 1.0)), criterion="C1")
    assert [line.criterion for line in found.lines.values()] == ["C1"]
    assert [move.criterion for move in found.most[0].moves] == ["C1"]


def test_the_samples_that_moved_most_stand_first():
    a = run_of(*(item(f"s{i}", 1.0, place=i) for i in range(5)))
    b = run_of(*(item(f"s{i}", 1.0 + (i * 2) % 5, place=i) for i in range(5)))
    assert [sample.id for sample in jg.diff_runs(a, b, limit=2).most] == ["s2", "s4"]
    assert len(jg.diff_runs(a, b, limit=None).most) == 4
    assert jg.diff_runs(a, b, limit=0).most == ()


def test_the_whole_is_json():
    found = jg.diff_runs(judged(*PLAIN), judged(*MOVED)).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found


# What a score depends on.


def test_upstream_of_a_score_is_what_stands_before_its_node():
    side = Upstream(kept(fennec(), [SAMPLE]).manifest["configuration"])
    assert side.of("judge") == {"branch", "weigh/guide", "weigh/judge"}
    assert side.of("merge") >= {"branch", "weigh/guide", "weigh/judge", "weigh/compare", "merge"}
    assert "correct" not in side.of("merge")
    assert side.of("somebody") == side.nodes


def test_an_edge_that_cannot_be_read_makes_everything_upstream():
    table = {"nodes.a": "A", "nodes.a.options.name": "a", "nodes.b": "B", "edges": ["a -> nowhere"]}
    assert Upstream(table).of("a") == {"a", "b"}


def test_what_comes_after_a_score_moves_it_not():
    a, b = (kept(fennec(threshold=t), [SAMPLE]) for t in (3.0, 1.0))
    assert [change.node for change in changes(a.manifest, b.manifest)] == ["correct"]
    (last,) = b.items
    moved = last.model_copy(update={"scores": tuple(_up(s) for s in last.scores)})
    found = jg.diff_runs(a, Run(b.manifest, [moved]))
    assert found.moved == 1
    assert list(found.causes) == ["noise"]


def _up(one: Score) -> Score:
    return one if one.value is None else one.model_copy(update={"value": one.value / 2 + 0.5})


# Memory.


def folder(path: Path, items: Iterator[Item]) -> Path:
    path.mkdir()
    (path / "manifest.json").write_text(json.dumps({"judgegraph": "1", "signature": "x", "configuration": {}}))
    with (path / "items.jsonl").open("w") as file:
        file.writelines(one.line() + "\n" for one in items)
    return path


@pytest.mark.parametrize("step", [1, 7], ids=["in step", "in another order"])
def test_items_that_wait_do_so_on_disk_and_all_meet(tmp_path: Path, step: int):
    ids = range(60)
    a = folder(tmp_path / "a", (item(f"s{i}", 3.0, place=i) for i in ids))
    b = folder(tmp_path / "b", (item(f"s{i}", 3.0, place=i * step % 61) for i in ids))
    met = list(pairs(Run.load(a), Run.load(b)))
    assert len(met) == 60
    assert all(one is not None and other is not None and one.id == other.id for one, other in met)


@pytest.mark.long
@pytest.mark.parametrize("turned", [False, True], ids=["in step", "in another order"])
def test_memory_does_not_grow_with_the_runs(tmp_path: Path, turned: bool):
    count, text = 8_000, "word " * 600

    def items(value: float, back: bool) -> Iterator[Item]:
        for i in range(count):
            sample = Sample(id=f"s{i}", output=f"{text}{i}")
            yield Item(sample=sample, scores=(score(value, reason=text),), place=count - i if back else i)

    a, b = folder(tmp_path / "a", items(3.0, False)), folder(tmp_path / "b", items(4.0, turned))
    tracemalloc.start()
    try:
        found = jg.diff_runs(a, b)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.samples, found.moved) == (count, count)
    assert peak < 12 * 2**20, f"{peak / 2**20:.0f} MiB; the texts of one run are 24"


def test_a_method_against_another_has_no_score_in_common():
    a, b = (kept(method(criteria=[c]), [SAMPLE]) for method, c in ((g_eval, CLARITY), (sageval, TONE)))
    found = jg.diff_runs(a, b)
    assert (found.compared, found.moved, found.samples) == (0, 0, 1)
