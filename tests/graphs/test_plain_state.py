"""A state that came as JSON: every method and helper takes a plain mapping for the sample, or says what is wrong."""

from typing import Any

import pytest

import judgegraph as jg
from judgegraph import registry
from judgegraph.errors import ConfigError
from judgegraph.registry import METHODS
from judgegraph.types import Criterion, Sample

CLARITY = Criterion(name="Clarity", definition="How easily it is understood.")
PAIR = {"id": "1", "query": "Say when it opens.", "source": "The library opens at nine and closes at six o'clock.",
        "output": "The library opens at nine, and it closes at six.", "rival": "It never opens at all, they say.",
        "system": "a field of no sample"}  # fmt: skip


def panel() -> Any:
    return jg.panel({"a": "embedded", "b": "llm-score"}, criteria=[CLARITY])


def escalate() -> Any:
    return jg.escalate("embedded", "embedded", criteria=[CLARITY])


HELPERS = {"panel": panel, "escalate": escalate}
GRAPHS = {**{name: (lambda name=name: registry.factory(name)()) for name in METHODS}, **HELPERS}
FOUND = ("scores", "rectifications", "comparisons", "findings", "overall", "verdict")


@pytest.mark.parametrize("name", GRAPHS)
async def test_a_plain_mapping_is_taken_for_the_sample_that_it_is(name: str):
    states: list[dict[str, Any]] = [{"sample": Sample.of_row(PAIR)}, {"sample": PAIR}]
    found = [await GRAPHS[name]().ainvoke(state) for state in states]
    told = [{key: state.get(key) for key in FOUND} for state in found]
    assert told[0] == told[1]
    assert any(told[0].values())


@pytest.mark.parametrize("name", sorted(METHODS))
async def test_criteria_may_be_plain_too(name: str):
    sample = Sample.of_row(PAIR)
    given = [{"sample": sample, "criteria": [CLARITY]}, {"sample": PAIR, "criteria": [CLARITY.model_dump()]}]
    found = [await GRAPHS[name]().ainvoke(state) for state in given]
    assert found[0].get("scores") == found[1].get("scores")
    assert found[0].get("comparisons") == found[1].get("comparisons")


WRONG: list[tuple[Any, str]] = [
    ({"id": "1"}, "the state's sample: output: Field required; write Sample("),
    ({"id": "", "output": "o"}, "the state's sample: id: String should have at least 1 character"),
    ({"id": "1", "output": 4}, "the state's sample: output: Value error, expected text"),
    ("a text", "the state's sample is a str; write Sample("),
    (None, "the state's sample is missing; write Sample("),
]


@pytest.mark.parametrize(("sample", "said"), WRONG, ids=range(len(WRONG)))
@pytest.mark.parametrize("name", sorted(METHODS))
async def test_what_is_no_sample_is_refused_with_what_to_write(name: str, sample: Any, said: str):
    with pytest.raises(ConfigError) as caught:
        await GRAPHS[name]().ainvoke({"sample": sample})
    assert str(caught.value).startswith(said)
