"""Examples drawn from what people judged: spread over the scale, and never the judged text itself."""

import pytest

import judgegraph as jg
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
