"""Several runs over the same samples: what differs for sure, on which samples, and what was left out."""

import json
import random
import re

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.cli.export import _refused
from judgegraph.cli.main import main
from judgegraph.errors import ConfigError, DataError
from judgegraph.report.answers import mean_intervals
from judgegraph.report.sections_run import tally_of
from judgegraph.runs.item import Item
from judgegraph.types import Note, keyed
from judgegraph.views.blocks import Grid, Para, grids
from judgegraph.views.comparison import as_text, comparison, verdict_on_two

FIVE = jg.Scale.of("1-5")
MANY = 40


def judged(
    at: int, value: float | None, human: float | None = None, *, scale=FIVE, output="text", query="", **meta
) -> Item:
    score = jg.Score(criterion="Clarity", agent="judge", value=value, scale=scale, status="ok" if value else "refused")
    known = {} if human is None else {"Clarity": human}
    sample = jg.Sample(id=f"s{at}", query=query, output=f"{output} {at}", human=known, meta=meta)
    return Item(sample=sample, scores=(score,), place=at, ms=20.0)


def run(method: str, items, **manifest) -> jg.Run:
    return jg.Run({"signature": f"{method}|v:1", "method": method, "state": "finished", **manifest}, tuple(items))


def values(seed: int) -> list[float]:
    rng = random.Random(seed)
    return [float(rng.randint(1, 4)) for _ in range(MANY)]


def test_a_mean_that_really_differs_is_told_and_one_that_does_not_is_not():
    low = values(1)
    same = [value + (0.5 if at % 2 else -0.5) for at, value in enumerate(low)]
    high = [value + 1 for value in low]
    found = jg.compare([run(name, (judged(at, v) for at, v in enumerate(each)))
                        for name, each in (("low", low), ("same", same), ("high", high))])  # fmt: skip
    by = {(one.a, one.b): one for one in found.differences}
    assert (by["low", "high"].difference, by["low", "high"].is_real) == (pytest.approx(-1), True)
    assert not by["low", "same"].is_real
    assert by["low", "same"].low < 0 < by["low", "same"].high
    assert by["low", "high"].corrected >= by["low", "high"].p
    mean = found.mean("high", "Clarity")
    assert (mean.mean, mean.n, mean.scale) == (pytest.approx(sum(high) / MANY), MANY, "1-5")
    assert mean.low < mean.mean < mean.high
    assert found.worse() == []
    turned = jg.compare([run("high", map(judged, range(MANY), high)), run("low", map(judged, range(MANY), low))])
    assert [one.b for one in turned.worse()] == ["low"]


def grouped(groups: int, by: float, name: str) -> jg.Run:
    return run(name, (judged(at, low + by, group=f"d{at % groups}") for at, low in enumerate(values(1))))


def test_a_test_that_swaps_groups_says_how_many_and_what_they_can_show():
    few = jg.compare({"low": grouped(5, 0, "low"), "high": grouped(5, 1, "high")})
    (one,) = few.differences
    assert (one.unit, one.units, one.least_p) == ("group", 5, 2 / 2**5)
    told = "; ".join(verdict_on_two(few))
    assert "unit: 5 groups (meta.group), each swapped whole; no p below 0.062 is possible: so few groups cannot" in told
    assert few.untested() == ["high"]
    assert few.to_dict()["differences"][0]["least_p"] == 2 / 2**5
    many = jg.compare({"low": grouped(20, 0, "low"), "high": grouped(20, 1, "high")})
    assert "unit: 20 groups (meta.group), each swapped whole" in verdict_on_two(many)
    assert many.untested() == []
    single = jg.compare([run(name, (judged(at, v + by) for at, v in enumerate(values(1)))) for name, by in
                         (("low", 0), ("high", 1))])  # fmt: skip
    assert not [line for line in verdict_on_two(single) if "unit" in line]


@pytest.mark.parametrize("groups", [0, 8])
def test_a_mean_and_a_difference_have_one_interval_wherever_they_are_shown(groups):
    rng = random.Random(3)
    pairs = [(float(rng.randint(1, 5)), float(rng.randint(1, 5))) for _ in range(31)]

    def of(name: str, side: int, order: list[int]) -> jg.Run:
        meta = [{"group": f"g{at * 7 % groups}"} if groups else {} for at in range(31)]
        return run(name, (judged(at, pairs[at][side], **meta[at]) for at in order), name=name)

    forwards, backwards = list(range(31)), list(range(31))[::-1]
    a, b, again = of("a", 0, forwards), of("b", 1, forwards), of("b", 1, backwards)
    (there,), (back,) = jg.compare([a, b]).differences, jg.compare([again, a]).differences
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-12)
    (line,) = jg.diff_runs(a, b).lines.values()
    assert (line.low, line.high) == pytest.approx((-there.high, -there.low), abs=1e-12)
    assert ("groups drawn whole" in line.method) == bool(groups)
    means = {one.run: (one.low, one.high) for one in jg.compare([again, a]).means}
    assert means == {one.run: pytest.approx((one.low, one.high), abs=1e-12) for one in jg.compare([a, b]).means}
    (on_page,) = mean_intervals(tally_of(again)).values()
    assert on_page == pytest.approx(means["b"], abs=1e-12)
    (required,) = jg.require(again, "Clarity >= 1")
    assert (required.low, required.high) == pytest.approx(means["b"], abs=1e-12)


def test_a_run_that_judged_nothing_has_no_cost_beside_others():
    spent = {"spent": {"calls": 0, "usd": 0.0, "prompt_tokens": 0, "completion_tokens": 0}}
    nothing = run("none", (judged(at, None) for at in range(9)), **spent)
    found = comparison(jg.compare([run("all", (judged(at, 3.0) for at in range(9))), nothing]))
    (costs,) = (block for block in found if isinstance(block, Grid) and block.caption == "what they took")
    assert costs.rows[1][6] == "-"


def test_coverage_below_one_says_of_what_it_is():
    def said(value: float | None) -> list[str]:
        runs = [run(name, (judged(at, value if at else 3.0) for at in range(9))) for name in ("a", "b")]
        return [
            block.text for block in comparison(jg.compare(runs)) if isinstance(block, Para) and "coverage" in block.text
        ]

    assert said(None) == ["coverage: the share that could be read of what was answered least (Clarity)"]
    assert said(2.0) == []


def test_a_mapping_names_the_runs():
    one, other = (run("judge", map(judged, range(MANY), [3.0] * MANY)) for _ in range(2))
    found = jg.compare({"before": one, "after": other})
    assert [row.name for row in found.runs] == ["before", "after"]
    assert [row.name for row in jg.compare([one, other]).runs] != ["before", "after"]


def test_means_are_of_the_samples_that_every_run_answers():
    easy = run("easy", (judged(at, 5.0 if at < 10 else None) for at in range(20)))
    all_of_it = run("all", (judged(at, 5.0 if at < 10 else 1.0) for at in range(20)))
    found = jg.compare([easy, all_of_it])
    assert [(one.mean, one.n, one.alone) for one in found.means] == [(5.0, 10, 10), (5.0, 10, 20)]
    assert [one.coverage.share for one in found.runs] == [0.5, 1.0]


def test_samples_that_are_not_the_same_are_left_out_and_told():
    one = run("one", (judged(at, 3.0, query="q") for at in range(12)))
    other = run("other", (judged(at, 3.0, query="q" if at else "another") for at in range(8)))
    found = jg.compare([one, other])
    assert found.samples == 7
    assert "in all runs: 8 samples of up to 12 that one has; the others are left out" in found.notes
    assert "left out, as query, source or reference differ: 1 sample ('s0' first)" in found.notes
    with pytest.raises(ConfigError, match="no sample in common"):
        jg.compare([one, run("third", (judged(at, 3.0) for at in range(50, 60)))])


def test_two_versions_of_a_generator_are_compared_by_what_they_wrote():
    right = values(2)
    old = run("old", (judged(at, v + 1, v) for at, v in enumerate(right)))
    new = run("new", (judged(at, v, v, output="other" if at else "text") for at, v in enumerate(right)))
    found = jg.compare([old, new])
    assert (found.samples, found.same_outputs) == (MANY, 1)
    assert any(note.startswith("other outputs were judged on 39 of 40 samples") for note in found.notes)
    assert [one.b for one in found.worse()] == ["new"]
    assert max(row.n for row in found.agreement.rows) == 1  # people's judgements of other outputs are no common ones
    every = run("new", (judged(at, v, v, output="other") for at, v in enumerate(right)))
    assert jg.compare([old, every]).agreement is None
    assert verdict_on_two(jg.compare([old, every]))[0].startswith("other outputs were judged")


def test_a_run_that_cannot_be_tested_against_the_first_is_not_passed_by_a_gate():
    few = [run(name, (judged(at, 3.0) for at in range(4))) for name in "ab"]
    assert (jg.compare(few).worse(), jg.compare(few).untested()) == ([], ["b"])
    many = [run(name, (judged(at, 3.0) for at in range(9))) for name in "ab"]
    assert jg.compare(many).untested() == []


def test_rejected_rows_and_unknown_costs_are_not_told_as_none(tmp_path):
    rows = [{"id": "a", "output": "a text of a few words"}, {"id": "b"}]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = ["run", "llm-score", str(tmp_path / "d.jsonl"), "-o", str(tmp_path / "run")]
    CliRunner().invoke(main, words)
    sample = jg.Sample(id="a", output="a text of a few words")
    memory = run("memory", [judged(0, 3.0).model_copy(update={"sample": sample})])
    kept, held = jg.compare([tmp_path / "run", memory]).runs
    assert (kept.coverage.n, kept.samples) == (2, 1)
    assert (held.calls, held.tokens, held.usd) == (None, None, None)


def test_runs_on_several_scales_are_held_together_by_their_shares():
    ten = jg.Scale.of("1-10")
    found = jg.compare([run("five", (judged(at, 3.0) for at in range(9))),
                        run("ten", (judged(at, 5.5, scale=ten) for at in range(9)))])  # fmt: skip
    assert [one.mean for one in found.means] == [0.5, 0.5]
    assert any("several scales (1-10, 1-5)" in note for note in found.notes)


def test_agreement_with_people_counts_each_run_on_the_same_samples():
    right, rng = values(2), random.Random(5)
    good = run("good", (judged(at, v, v) for at, v in enumerate(right)))
    poor = run("poor", (judged(at, float(rng.randint(1, 5)), v) for at, v in enumerate(right)))
    found = jg.compare([good, poor])
    rows = {row.metric: row for row in found.agreement.rows}
    assert (rows["good"].value, rows["good"].n) == (pytest.approx(1), MANY)
    assert abs(rows["poor"].value) < 0.5
    assert found.agreement.differences[0].tests[0].corrected < 0.05
    row = next(row for row in found.table() if row["run"] == "good")
    assert (row["statistic"], row["agreement"]) == ("spearman", pytest.approx(1))
    assert jg.compare([run("a", [judged(0, 1.0)]), run("b", [judged(0, 2.0)])]).agreement is None


def test_pairs_are_compared_by_their_verdicts():
    def pairs(verdict: str) -> list[Item]:
        return [Item(sample=jg.Sample(id=f"p{at}", output="a", rival="b"), verdict=verdict) for at in range(10)]

    found = jg.compare([run("a", pairs("A")), run("b", pairs("tie"))])
    assert [(one.criterion, one.mean) for one in found.means] == [("verdict for A", 1.0), ("verdict for A", 0.5)]
    assert found.differences[0].is_real


def test_whole_groups_are_swapped_where_samples_name_theirs():
    def of(shift: float) -> list[Item]:
        return [judged(at, 2.0 + shift, group=f"g{at // 20}") for at in range(MANY)]

    (one,) = jg.compare([run("a", of(0)), run("b", of(1))]).differences
    assert (one.p, one.is_real) == (0.5, False)  # two groups can be swapped in four ways
    assert "2 units to swap" in one.note


def test_another_key_of_meta_may_name_the_groups_and_one_that_a_sample_lacks_is_refused():
    def of(shift: float) -> list[Item]:
        return [judged(at, 2.0 + shift, doc=f"g{at // 20}") for at in range(MANY)]

    (one,) = jg.compare([run("a", of(0)), run("b", of(1))], group="doc").differences
    assert (one.p, one.is_real) == (0.5, False)
    (alone,) = jg.compare([run("a", of(0)), run("b", of(1))]).differences
    assert alone.is_real
    with pytest.raises(DataError, match="sample 's0' has no 'page' in its meta, to group by"):
        jg.compare([run("a", of(0)), run("b", of(1))], group="page")


def test_a_table_for_a_paper_has_each_number_in_a_column_of_its_own():
    low = values(1)
    found = jg.compare({"a": run("a", (judged(at, v, human=v) for at, v in enumerate(low))),
                        "b": run("b", (judged(at, v + 1, human=v) for at, v in enumerate(low)))})  # fmt: skip
    head, _, first, second = as_text(found, "markdown").split("\n\n")[1].splitlines()
    assert head == "| criterion | run | mean | n | difference | p | with people | n of these | its difference | its p |"
    a, b = ([cell.strip() for cell in line.strip("|").split("|")] for line in (first, second))
    assert a[4:6] == ["", ""]
    (apart,) = found.differences
    assert b[4] == f"{-apart.difference:+.2f} [{-apart.high:.2f}, {-apart.low:.2f}]" or b[4].startswith("+1.00")
    assert b[3] == b[7] == str(MANY)
    bare = jg.compare({"a": run("a", (judged(at, v) for at, v in enumerate(low))),
                       "b": run("b", (judged(at, v + 1) for at, v in enumerate(low)))})  # fmt: skip
    assert r"criterion & run & mean & n & difference & p \\" in as_text(bare, "latex")


def test_a_star_means_the_same_on_a_terminal_and_in_a_paper():
    low = values(1)
    found = jg.compare({"low": run("a", (judged(at, v) for at, v in enumerate(low))),
                        "high": run("b", (judged(at, v + 1) for at, v in enumerate(low)))})  # fmt: skip
    told = [
        *(block.text for block in comparison(found) if isinstance(block, Para)),
        *as_text(found, "markdown").split("\n\n"),
    ]
    assert {line.partition(" (")[0] for line in told if line.startswith("* ")} == {
        "* really another mean than that of low"
    }
    (means,) = [grid for grid in grids(comparison(found)) if grid.caption.startswith("mean answer")]
    assert [row[0] for row in means.rows if any("*" in str(cell) for cell in row)] == ["high"]
    (line,) = [line for line in as_text(found, "latex").splitlines() if "*" in line and line.startswith("Clarity")]
    assert line.startswith("Clarity & high & ")


def test_a_table_for_a_paper_is_pasted_as_it_is():
    found = jg.compare({"[a]_1": run("a", (judged(at, v, human=v) for at, v in enumerate(values(1)))),
                        "b": run("b", (judged(at, v + 1, human=v) for at, v in enumerate(values(1))))})  # fmt: skip
    lines = as_text(found, "latex").splitlines()
    assert lines[0].startswith(r"\begin{table}")
    assert lines[2] == rf"\caption{{Mean answers of 2 runs on {found.samples} samples.}}"
    assert any(r"& {}[a]\_1 &" in line for line in lines)  # a bracket would be an option of the last row
    assert any("differences are from [a]" in line for line in lines)
    assert lines[-1] == r"\end{table}"


def test_texts_that_give_nothing_to_judge_are_told_with_the_figures_without_them():
    def thin(one: Item) -> Item:
        note = Note(agent="sample", text="the output is empty", kind="text-empty")
        return one.model_copy(update={"notes": (note,)})

    right = values(2)

    def made(name: str, shift: float, mark) -> jg.Run:
        items = [judged(at, v + shift, v) for at, v in enumerate(right)]
        worst = judged(MANY, 1.0, 5.0)
        return run(name, [*items, mark(worst)])

    runs = {name: made(name, shift, thin) for name, shift in (("a", 0), ("b", 0.5))}
    told = [note for note in jg.compare(runs).notes if "nothing to judge" in note]
    assert [note.partition(" ")[0] for note in told] == ["Clarity:", "agreement,"]
    assert all("1 text gives nothing to judge" in note for note in told)
    (note,) = [note for note in jg.agreement(runs["a"]).notes if "nothing to judge" in note]
    assert "without it" in note
    assert "pearson 1.000" in note
    plain = {name: made(name, 0, lambda one: one) for name in "ab"}
    assert not any("nothing to judge" in note for note in jg.compare(plain).notes)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda a, b: [a], "two to 12 runs"), (lambda a, b: "runs", "expected a list or a mapping"),
        (lambda a, b: {"runs": [a, b], "criteria": ["Tone"]}, "no run judges by Tone; there are Clarity"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused(make, words):
    asked = make(run("a", [judged(0, 1.0)]), run("b", [judged(0, 2.0)]))
    with pytest.raises(ConfigError, match=words):
        jg.compare(**asked) if isinstance(asked, dict) else jg.compare(asked)


def test_what_stands_in_one_run_alone_and_labels_are_told():
    other = jg.Score(criterion="Tone", agent="judge", value=2.0, scale=FIVE)
    label = jg.Score(criterion="Kind", agent="judge", label="good", scale=jg.Scale.of(["bad", "good"]))
    items = [Item(sample=jg.Sample(id="s0", output="text 0"), scores=(*judged(0, 3.0).scores, other, label))]
    notes = jg.compare([run("a", items), run("b", [judged(0, 1.0)])]).notes
    assert "criteria of one run alone, left out: Tone (a)" in notes
    assert any(note.startswith("labels have no mean: Kind") for note in notes)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    at = tmp_path_factory.mktemp("compared")
    for name in ("llm-score", "g-eval"):
        words = ["run", name, "examples/articles.jsonl", "-n", "6", "-c", "summary", "-o", str(at / name)]
        assert CliRunner().invoke(main, words).exit_code == 0
    return at


def test_the_command_prints_it_and_writes_it(folders, tmp_path):
    names = [str(folders / name) for name in ("llm-score", "g-eval")]
    done = CliRunner().invoke(main, ["compare", *names, "--csv", str(tmp_path / "c.csv")])
    assert done.exit_code == 0, done.output
    assert "2 runs on 6 samples that all of them have" in done.output
    assert "mean answer on 1-5\n" in done.output
    assert "what they took" in done.output
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 1 + 2 * 4
    told = json.loads(CliRunner().invoke(main, ["compare", *names, "--json"]).output)
    assert [one["name"] for one in told["runs"]] == ["llm-score", "g-eval"]
    latex = CliRunner().invoke(main, ["compare", *names, "--as", "latex"]).output
    assert "\\toprule\ncriterion & run & mean & " in latex
    assert CliRunner().invoke(main, ["compare", names[0], names[0]]).exit_code == 1
    assert "<table" in jg.compare(names)._repr_html_()


@pytest.mark.parametrize(("order", "code"), [(("high", "low"), 4), (("low", "high"), 0)])
def test_a_gate_fails_where_a_run_is_really_below_the_first(tmp_path, order, code):
    for name, shift in (("low", 0.0), ("high", 1.0)):

        def write(state: jg.EvalState, shift=shift) -> jg.EvalState:
            value = 1.0 + shift + int(state["sample"].id) % 3
            return {"scores": keyed(jg.Score(criterion="Clarity", agent="mine", value=value, scale=FIVE))}

        graph = one_node(write)
        samples = [jg.Sample(id=str(at), output="a text of several words for the judge") for at in range(20)]
        jg.evaluate(graph, samples, out=tmp_path / name)
    done = CliRunner().invoke(main, ["compare", *(str(tmp_path / name) for name in order), "--not-worse"])
    assert done.exit_code == code, done.output
    assert ("gate: not passed: really below high: low by Clarity" in done.output) == bool(code)
    assert ("gate: passed: no run is really below" in done.output) != bool(code)


def test_runs_that_define_a_criterion_differently_are_told_apart():
    right = values(2)
    one, other, same = (run(name, (judged(at, v) for at, v in enumerate(right))) for name in ("one", "other", "same"))
    for of, definition in ((one, "Easy to read."), (other, "Free of jargon."), (same, " Easy  to read.")):
        of.manifest["criteria"] = [{"name": "Clarity", "definition": definition}]
    (note,) = [note for note in jg.compare([one, other, same]).notes if "defined differently" in note]
    assert note.startswith("Clarity is defined differently")
    assert "other: 'Free of jargon.'" in note
    assert not [note for note in jg.compare([one, same]).notes if "defined differently" in note]


def test_a_part_of_a_run_passes_no_gate():
    right = values(2)
    whole, part = (run(name, (judged(at, v) for at, v in enumerate(right))) for name in ("whole", "part"))
    assert not _refused(jg.compare([whole, part]))
    part.manifest.update(state="over_budget", samples={"done": len(right), "over_budget": 0, "total": 99})
    assert _refused(jg.compare([whole, part])).endswith("a part passes no gate")


def one_node(node):
    graph = StateGraph(jg.EvalState)
    graph.add_node("mine", node)
    graph.add_edge(START, "mine")
    graph.add_edge("mine", END)
    return graph.compile(name="mine")


def test_a_diff_begins_with_a_verdict():
    right, rng = values(2), random.Random(5)
    good = run("good", (judged(at, v, v) for at, v in enumerate(right)))
    poor = run("poor", (judged(at, float(rng.randint(1, 5)), v) for at, v in enumerate(right)))
    against_people, means = verdict_on_two(jg.compare([poor, good]))
    assert against_people.startswith("B is closer to people: Clarity by ")
    assert "below 0" not in against_people
    backwards = run("backwards", (judged(at, 6 - v, v) for at, v in enumerate(right)))
    mixed = run("mixed", (judged(at, 6 - v if at % 3 else v, v) for at, v in enumerate(right)))
    assert "; its own is below 0: -0." in verdict_on_two(jg.compare([backwards, mixed]))[0]
    assert means == "no mean differs for sure (of 1 criterion tested)"
    low = run("low", (judged(at, v) for at, v in enumerate(right)))
    high = run("high", (judged(at, v + 1) for at, v in enumerate(right)))
    means, nobody = verdict_on_two(jg.compare([low, high]))
    assert nobody == "which of them is closer to people is not known: people judged nothing that both runs judge"
    assert means == "means of B that differ for sure: Clarity +1.00 (of 1 tested)"
    again = run("again", (judged(at, v, v) for at, v in enumerate(right)))
    assert verdict_on_two(jg.compare([good, again]))[0] == (
        "neither is closer to people: they answer alike wherever people judged"
    )


def test_who_is_closer_is_said_only_where_the_interval_does_not_hold_0_and_with_its_p():
    truth, rng = values(3), random.Random(9)
    for noise in range(1, 5):
        first = run("first", (judged(at, v, v) for at, v in enumerate(truth)))
        other = run(
            "other", (judged(at, min(5.0, max(1.0, v + rng.randint(-noise, noise))), v) for at, v in enumerate(truth))
        )
        found = jg.compare([other, first])
        said = verdict_on_two(found)[0]
        for one in found.agreement.differences:
            low, high = one.interval
            assert not (low <= 0 <= high and f"({one.statistic}, p " in said), said
        assert said.startswith("neither") or re.search(r"\(\w+, p [<=]? ?\.?\d", said), said


def test_the_command_of_a_diff_prints_it(folders):
    names = [str(folders / name) for name in ("llm-score", "g-eval")]
    said = CliRunner().invoke(main, ["diff", *names]).output.splitlines()
    assert said[0] == "no mean differs for sure (of 4 criteria tested)"
    assert any(line.endswith("people judged nothing that both runs judge") for line in said)
    assert json.loads(CliRunner().invoke(main, ["diff", *names, "--json"]).output)["comparison"]["samples"] == 6


def test_people_whose_judgements_cannot_be_read_leave_means_and_the_gate_as_they_are():
    def kept(name: str, add: float):
        items = [judged(at, min(5, v + add), v) for at, v in enumerate(values(3))]
        odd = items[0].sample.model_copy(update={"human": {"Clarity": "good"}})
        return run(name, [items[0].model_copy(update={"sample": odd}), *items[1:]])

    found = jg.compare([kept("old", 1), kept("new", 0)])
    assert found.agreement is None
    assert any(note.startswith("agreement with people cannot be told: old:") for note in found.notes)
    assert [one.b for one in found.worse()] == ["new"]
    assert verdict_on_two(found)[0].startswith("agreement with people cannot be told")


def test_a_diff_of_runs_that_cannot_be_compared_says_why(folders):
    one = str(folders / "llm-score")
    said = CliRunner().invoke(main, ["diff", one, one]).output.splitlines()
    assert said[1].startswith("which of them is better is not told: ")


def test_what_a_run_took_tells_its_part_and_no_time_where_no_call_was_paid_for():
    lost = [Item(sample=jg.Sample(id=f"s{at}", output=f"text {at}"), status="over_budget", place=at, ms=0.1)
            for at in range(6, 9)]  # fmt: skip
    part = run("part", [*(judged(at, 3.0) for at in range(6)), *lost], spent={"calls": 6})
    kept = run("kept", (judged(at, 3.0) for at in range(9)), spent={"calls": 0})
    found = jg.compare([part, kept])
    assert [(one.finished, one.samples, one.seconds) for one in found.runs] == [(6, 9, 0.02), (9, 9, None)]
    took = next(grid for grid in grids(comparison(found)) if grid.caption == "what they took")
    assert [row[took.head.index("samples")] for row in took.rows] == ["6 of 9", "9"]


def test_a_run_that_a_ledger_answered_says_so_and_what_it_would_have_cost():
    paid = {"calls": 20, "prompt_tokens": 900, "completion_tokens": 100, "usd": 0.2}
    none = dict.fromkeys(paid, 0)
    found = {"calls": {"ledger": {"hits": 10}}, "ledger": "../whole/ledger.sqlite", "spent": none}
    whole = run("m", (judged(at, 3.0) for at in range(20)), spent=paid)
    part = run("m", (judged(at, 3.0) for at in range(10)), **found)
    said = shown(jg.compare({"whole": whole, "part": part}))
    assert "part: 10 replies came from a ledger, and cost nothing here" in said
    assert "by what whole paid a sample its 10 samples are about 10 calls, 500 tokens, $0.10" in said
    other = run("another", (judged(at, 3.0) for at in range(20)), spent=paid)
    assert "are about" not in shown(jg.compare({"other": other, "part": part})), "it asks for something else"
    own = run("m", (judged(at, 3.0) for at in range(10)), **found | {"ledger": "ledger.sqlite", "spent": paid})
    assert "came from a ledger" not in shown(jg.compare({"whole": whole, "own": own})), "paid for before it went on"


def shown(found: jg.RunComparison) -> str:
    return " ".join(block.text for block in comparison(found) if isinstance(block, Para))


def test_runs_are_compared_alike_in_whatever_order_they_ended_and_are_given():
    low = values(1)
    ended = random.Random(4).sample(range(MANY), MANY)
    a = run("a", (judged(at, low[at], human=low[at] % 3) for at in range(MANY)))
    b = run("b", (judged(at, low[at] + at % 2, human=low[at] % 3) for at in ended))
    found, turned = jg.compare({"a": a, "b": b}), jg.compare({"b": b, "a": a})
    assert [found.mean(name, "Clarity") for name in "ab"] == [turned.mean(name, "Clarity") for name in "ab"]
    assert found.differences[0].p == turned.differences[0].p
    people = [{(row.metric, row.interval) for row in one.agreement.rows} for one in (found, turned)]
    assert people[0] == people[1]


def test_ranges_that_end_alike_are_one_scale_and_each_agent_has_its_figure():
    finer, two = jg.Scale.of("1-5 any"), values(2)
    other = [
        one.model_copy(update={"scores": (*one.scores, one.scores[0].model_copy(update={"agent": "other"}))})
        for one in (judged(at, v, human=v, scale=finer) for at, v in enumerate(two))
    ]
    found = jg.compare({"one": run("one", (judged(at, v, human=v) for at, v in enumerate(two))),
                        "two": run("two", other)})  # fmt: skip
    assert {mean.scale for mean in found.means} == {"1-5"}
    assert not any("several scales" in note for note in found.notes)
    rows = [(row["run"], row["metric"], row["agreement_n"]) for row in found.table()]
    assert rows == [("one", None, MANY), ("two", "two: judge", MANY), ("two", "two: other", MANY)]
    assert all(f"| {name} |" in as_text(found, "markdown") for name in ("one", "two: judge", "two: other"))


def test_a_run_of_which_nothing_could_be_read_is_told():
    ok = run("ok", (judged(at, 3.0) for at in range(9)))
    lost = run("lost", (judged(at, None) for at in range(9)))
    found = jg.compare({"ok": ok, "lost": lost})
    assert "clarity: no answer of lost could be read (9 refused) to hold beside ok's" in found.notes
    assert not any("one run alone" in note for note in found.notes)


def test_a_run_that_reads_some_answers_is_no_run_of_which_nothing_could_be_read():
    some = [judged(at, None if at < 2 else 3.0) for at in range(9)]
    tone = some[-1].scores[0].model_copy(update={"criterion": "Tone"})
    other = run("other", (Item(sample=item.sample, scores=(tone,), place=item.place) for item in some))
    both = run("both", (Item(sample=item.sample, scores=(*item.scores, tone), place=item.place) for item in some))
    notes = jg.compare({"both": both, "other": other}).notes
    assert any("one run alone" in note for note in notes)
    assert not any("could be read" in note for note in notes)


def test_a_run_named_like_an_agent_of_another_is_none_of_its_agents():
    human = values(3)
    pair = {name: run(name, (judged(at, v, human=v) for at, v in enumerate(human))) for name in ("a", "b")}
    found = jg.compare({"a": pair["a"], "a: b": pair["b"]})
    assert [row.metric for row in found.with_people("a", "Clarity") if row] == ["a"]
    assert [row.metric for row in found.with_people("a: b", "Clarity") if row] == ["a: b"]
