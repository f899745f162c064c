"""One name given as a text is one name, never its letters."""

import pytest

import judgegraph as jg
from judgegraph.agents.corrector import Corrector
from judgegraph.agents.panel import Consensus
from judgegraph.errors import ConfigError
from judgegraph.graphs import llm_score
from judgegraph.meta.cells import Columns
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import read_run
from judgegraph.types import Sample, Score

TEXT = "It leaves at nine from the pier. The fare is four. Dogs ride free. Ask at the desk."
SAMPLES = [
    Sample(id=f"{name}{n}", source=TEXT, output=TEXT[: 20 + 9 * n], human={"Coherence": 1 + n % 5},
           meta={"system": name, "doc": str(n)})
    for n in range(6) for name in ("own", "other")
]  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return jg.evaluate(llm_score(criteria="summary"), SAMPLES)


def test_of_a_run(run):
    agent = next(run.items).scores[0].agent
    assert read_run(run, agents=agent, stages="final").judgements
    one, two = (jg.rank_systems(run, metrics=names, group="doc", resamples=20) for names in (agent, (agent,)))
    assert [ranking.to_dict() for ranking in one] == [ranking.to_dict() for ranking in two]


def test_of_a_table_and_of_agents():
    assert Columns(human="people", metrics="mine").named == ("people", "mine")
    assert Consensus(members="ab").members == ("ab",)
    corrector = Corrector(scored_by="ab")
    counted = [corrector._counts(Score(criterion="Tone", agent=name, value=2.0)) for name in ("ab", "a", "b")]
    assert counted == [True, False, False]


def test_of_a_probe_and_one_that_wrote_nothing_is_named():
    found = jg.probe(llm_score(criteria="summary"), SAMPLES, ("self",), own="own", resamples=20)
    assert found.own.own == ("own",)
    assert found.own.n_own > 0
    with pytest.raises(ConfigError, match="no system 'owm' wrote one of the samples; there are own, other"):
        jg.probe(llm_score(criteria="summary"), SAMPLES, ("self",), own="owm", resamples=20)


def test_conventions_may_be_named_one_by_one_when_systems_are_ranked(run):
    named = jg.rank_systems(run, group="doc", resamples=20, seed=3)
    given = jg.rank_systems(run, Conventions(resamples=20, seed=3), group="doc")
    assert [one.to_dict() for one in named] == [one.to_dict() for one in given]
    with pytest.raises(ConfigError, match="resamples"):
        jg.rank_systems(run, group="doc", resamples=-1)
