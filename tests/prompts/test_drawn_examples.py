"""Examples drawn from what people judged: spread over the scale, and never the judged text itself."""

import json

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.prompts.template import material

CLARITY = jg.Criterion(name="Clarity", definition="It is clear.")
TONE = jg.Criterion(name="Tone", scale=jg.Scale(labels=("warm", "cold")))


def labelled(count=20):
    return [
        jg.Sample(id=str(n), output=f"Text number {n}.", human={"clarity": 1 + n % 5, "Tone": ["warm", "warm"]})
        for n in range(count)
    ]


def test_they_are_spread_over_the_values_that_people_gave():
    found = jg.with_examples([CLARITY, TONE], labelled(), count=3)
    clarity, tone = found.criteria
    assert sorted(one.score for one in clarity.examples) == [1, 3, 5]
    assert [one.score for one in tone.examples] == ["warm"] * 3
    assert len({one.output for one in tone.examples}) == 3
    assert jg.with_examples([CLARITY, TONE], labelled(), count=3) == found  # the same seed, the same draw
    assert jg.with_examples([CLARITY], labelled(), count=3, seed=1) != jg.with_examples([CLARITY], labelled(), count=3)


def test_the_judged_text_is_never_among_its_own_examples():
    found = jg.with_examples([CLARITY], labelled(3), count=3)
    for sample in labelled(3):
        assert sample.output not in str(material(sample, found.criteria)["examples"])


def test_what_is_off_the_scale_or_disagrees_is_no_example():
    samples = [
        jg.Sample(id="a", output="One.", human={"Clarity": 9}),
        jg.Sample(id="b", output="Two.", human={"Clarity": [2, 4]}),
        jg.Sample(id="c", output="Three.", human={"Tone": ["warm", "cold"]}), jg.Sample(id="d", output="Four."),
    ]  # fmt: skip
    (one,) = jg.with_examples([CLARITY], samples).criteria
    assert [(example.output, example.score) for example in one.examples] == [("Two.", 3.0)]
    with pytest.raises(jg.ConfigError, match="no sample has a judgement of people by Tone"):
        jg.with_examples([TONE], samples)
    with pytest.raises(jg.ConfigError, match="count is 1 to 8"):
        jg.with_examples([CLARITY], samples, count=9)


def test_the_command_line_draws_them_and_shows_none_beside_its_own_text(tmp_path):
    data, out = tmp_path / "data.jsonl", tmp_path / "run"
    rows = [{"id": str(n), "output": f"Text number {n}.", "human": {"Clarity": 1 + n % 5}} for n in range(5)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    criteria = tmp_path / "mine.yaml"
    criteria.write_text("name: mine\ntask: A text.\ncriteria:\n  - {name: Clarity, definition: It is clear.}\n")

    def called(command, *words):
        return CliRunner().invoke(main, [command, "sageval", *map(str, words)])

    given = ("-c", criteria, "--examples", data)
    shown = called("prompts", "--render", data, *given, "-n", "5", "--json")
    assert shown.exit_code == 0, shown.output
    asked = json.loads(shown.stdout)
    counts = []
    for row in rows:
        text = next(str(one) for one in asked if row["output"] in str(one).rpartition("<output-")[2])
        section = text.partition("<examples-")[2].partition("</examples-")[0]
        assert row["output"] not in section
        counts.append(sum(other["output"] in section for other in rows))
    assert sorted(counts) == [2, 2, 2, 3, 3]  # three were drawn: of these each sees the two others
    assert called("run", data, *given, "-o", out).exit_code == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert len(manifest["criteria"][0]["examples"]) == 3
    again = called("run", data, "-c", criteria, "-o", out)
    assert (again.exit_code, "criteria" in again.output) == (1, True)  # judged without them it is another run
    assert "name these too" in called("run", data, "--examples", data).output
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"id": "1", "output": "x"}\n')
    refused = called("plan", data, "-c", criteria, "--examples", bare)
    assert (refused.exit_code, "no sample has a judgement of people by Clarity" in refused.output) == (1, True)
