"""What a move is put to where a cause could hide: behind another, behind noise, or behind a node."""

from pathlib import Path
from typing import Any

import pytest

import judgegraph as jg
from judgegraph.graphs import coascore, llm_score
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.types import Comparison, Sample, Scale, Score

SCALE = Scale.of("1-5")
EVALUATE, CRITIQUE = "nodes.evaluate", "nodes.critique"
HOUSE: dict[str, Any] = {
    EVALUATE: "Evaluator", f"{EVALUATE}.options.name": "evaluator", f"{EVALUATE}.judge": "m",
    f"{EVALUATE}.prompt": "evaluate@1", f"{EVALUATE}.criteria": ["Clarity", "Tone"],
    CRITIQUE: "Sage", f"{CRITIQUE}.options.name": "sage", f"{CRITIQUE}.judge": "m", f"{CRITIQUE}.prompt": "sage@1",
    f"{CRITIQUE}.criteria": ["Clarity", "Tone"], "criteria.Clarity": {"definition": "a"},
    "criteria.Tone": {"definition": "a"}, "edges": ["START -> evaluate", "evaluate -> critique", "critique -> END"],
}  # fmt: skip


def run(*items: Item, table: dict[str, Any] | None = None, **manifest: Any) -> Run:
    critics = {"sage": ["critique"]}
    return Run({"signature": "x", "judgegraph": "1", "configuration": HOUSE | (table or {}), "critics": critics,
                **manifest}, items)  # fmt: skip


def score(value: float, agent: str = "evaluator", **more: Any) -> Score:
    about: dict[str, Any] = {"criterion": "Clarity", "scale": SCALE, **more}
    return Score(agent=agent, value=value, **about)


def reviewed(first: float, last: float) -> Item:
    draft = score(first, stage="draft")
    return Item(sample=Sample(id="s", output="o"), scores=(draft, score(last, "sage", draft=draft.key)))


def alone(*scores: Score, id: str = "s", **more: Any) -> Item:
    return Item(sample=Sample(id=id, output="o", **more), scores=scores)


@pytest.mark.parametrize(
    ("table", "cause"),
    [
        ({f"{EVALUATE}.prompt": "mine@2", f"{CRITIQUE}.prompt": "yours@3"}, "prompt or critic"),
        ({f"{EVALUATE}.judge": "n", f"{CRITIQUE}.judge": "o"}, "model or critic"),
        ({f"{EVALUATE}.judge": "n", f"{CRITIQUE}.judge": "n"}, "model"),
    ],
    ids=["two prompts", "two judges", "one judge of both"],
)
def test_a_change_of_the_critic_hides_behind_none_of_the_evaluator(table: dict[str, Any], cause: str):
    found = jg.diff_runs(run(reviewed(4, 3)), run(reviewed(3, 5), table=table))
    assert (list(found.causes), found.mixed) == ([cause], " or " in cause)


def test_another_criterion_in_the_critics_prompt_is_no_plain_noise():
    found = jg.diff_runs(run(reviewed(4, 4)), run(reviewed(4, 2), table={"criteria.Tone": {"definition": "b"}}))
    assert list(found.causes) == ["other criteria or noise"]


@pytest.mark.parametrize(
    ("table", "cause"),
    [({}, "reader"), ({f"{EVALUATE}.judge": "n"}, "model"), ({f"{EVALUATE}.prompt": "mine@2"}, "prompt or reader")],
)
def test_another_rung_is_a_cause_unless_the_model_brought_it(table: dict[str, Any], cause: str):
    a, b = alone(score(3.4, reader="logprobs")), alone(score(3, reader="stated"))
    assert list(jg.diff_runs(run(a), run(b, table=table)).causes) == [cause]


def test_meta_that_a_node_may_read_is_no_plain_noise():
    found = jg.diff_runs(run(alone(score(3), meta={"v": 1})), run(alone(score(5), meta={"v": 2})))
    assert (list(found.causes), found.noise.moves) == (["meta or noise"], 0)


@pytest.mark.parametrize("agent", ["somebody", "evaluator"])
def test_what_may_stand_behind_a_score_is_no_sole_cause(agent: str):
    found = jg.diff_runs(run(alone(score(3, agent))), run(alone(score(5, agent)), table={f"{EVALUATE}.judge": "n"}))
    assert list(found.causes) == ["model or noise" if agent == "somebody" else "model"]


@pytest.mark.parametrize(
    ("prompt", "cause"), [("copy@1", "noise"), ("copy@2", "prompt"), ("evaluate@2", "prompt")],
)  # fmt: skip
def test_a_template_that_was_copied_is_no_other_prompt(prompt: str, cause: str):
    found = jg.diff_runs(run(alone(score(3))), run(alone(score(5)), table={f"{EVALUATE}.prompt": prompt}))
    assert list(found.causes) == [cause]


def test_a_number_without_a_scale_moves_as_far_as_it_does():
    bare = [alone(score(value, scale=None)) for value in (1.0, 1.0001, 3.0)]
    sizes = [jg.diff_runs(run(bare[0]), run(b)).most[0].size for b in bare[1:]]
    assert sizes == [pytest.approx(1e-4, rel=0.01), pytest.approx(2 / 3)]


def test_numbers_that_code_draws_have_no_model_and_a_line_for_each_target(tmp_path: Path):
    samples = [Sample(id=str(i), output=f"text {i}", source="a text") for i in range(5)]
    a, b = (
        jg.evaluate(coascore(criteria="summary", scores="random", seed=seed), samples, out=tmp_path / str(seed))
        for seed in (0, 1)
    )
    found = jg.diff_runs(a, b)
    assert not any("model" in cause for cause in found.causes)
    assert found.causes
    assert max(line.n for line in found.lines.values()) == 5


def test_scores_of_one_criterion_at_two_stages_are_two_lines():
    both = [alone(score(v), score(v, stage="aspects:Tone"), id=str(i)) for i, v in enumerate((1.0, 2.0, 3.0))]
    stages = [one.model_copy(update={"scores": tuple(s.model_copy(update={"stage": f"aspects:{k}"})
              for k, s in enumerate(one.scores))}) for one in both]  # fmt: skip
    found = jg.diff_runs(run(*stages), run(*stages))
    assert [(line.stage, line.n) for line in found.lines.values()] == [("aspects:0", 3), ("aspects:1", 3)]


@pytest.mark.parametrize(("n", "method"), [(4, ""), (5, "bootstrap"), (20, "bootstrap")])
def test_few_samples_have_no_interval(n: int, method: str):
    sides = [run(*(alone(score(3 + k * (i % 2)), id=str(i)) for i in range(n))) for k in (0, 1)]
    (line,) = jg.diff_runs(*sides).lines.values()
    assert (line.method[: len(method)], bool(line.method)) == (method, n > 4)
    assert (line.low < line.mean < line.high) == (n > 4)


# Pairs.


def pair(said: str, id: str = "p", order: Any = "AB") -> Item:
    sample = Sample(id=id, output="x", rival="y")
    if said.startswith("agent"):
        return Item(sample=sample, status="agent_error", reason="broken")
    known = said in ("A", "B", "tie")
    about: Any = {"verdict": said} if known else {"status": said}
    one = Comparison(criterion="Q", agent="evaluator", order=order, **about)
    return Item(sample=sample, comparisons=(one,), verdict=said if known else None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "counts", "cause"),
    [
        ("A", "B", (1, 0, 0, 0), "noise"),
        ("unreadable", "unreadable", (0, 0, 0, 0), None),
        ("timeout", "unreadable", (0, 0, 0, 1), "failure"),
        ("A", "unreadable", (0, 1, 0, 0), "noise"),
        ("A", "agent_error", (0, 1, 0, 0), "failure"),
        ("agent_error", "B", (0, 0, 1, 0), "failure"),
    ],
)
def test_a_verdict_counts_where_both_can_be_read(before: str, after: str, counts: tuple[int, ...], cause: str | None):
    found = jg.diff_runs(run(pair(before)), run(pair(after)))
    line = next(line for line in found.lines.values() if line.criterion)
    assert (line.n, line.lost, line.gained, line.other) == counts
    assert set(found.causes) == ({cause} if cause else set())


def test_a_verdict_of_one_run_alone_is_told():
    found = jg.diff_runs(run(pair("A")), run(pair("A", order="BA")))
    told = {line.agent: (line.both, line.only_a, line.only_b) for line in found.lines.values() if line.criterion}
    assert told == {"evaluator (AB)": (0, 1, 0), "evaluator (BA)": (0, 0, 1)}


# Manifests that somebody else wrote.


@pytest.mark.parametrize("calls", [float("inf"), float("nan"), 10**400, "many", None])
def test_an_amount_that_is_none_is_not_told(calls: object):
    found = jg.diff_runs(run(alone(score(3))), run(alone(score(3)), spent={"calls": calls})).to_dict()
    assert found["cost"]["b"]["calls"] is None


def test_a_note_repeats_nothing_that_drives_a_terminal(tmp_path):
    samples = [
        Sample(id="\x1b[2J", output="It leaves at nine from the old pier."),
        Sample(id="s2", output="It leaves."),
    ]
    for name in "ab":
        jg.evaluate(llm_score(criteria="general"), samples, out=tmp_path / name)
    items = tmp_path / "b" / "items.jsonl"
    items.write_text(items.read_text().replace('"value":', '"value":1', 1))
    (note,) = jg.diff_runs(jg.Run.load(tmp_path / "a"), jg.Run.load(tmp_path / "b")).notes
    assert "items.jsonl" in note
    assert "\x1b" not in note
