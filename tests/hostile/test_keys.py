"""No name of a criterion, agent or stage can pass for another: keys keep apart what names would mix up."""

from itertools import combinations, permutations

import pytest

from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.panel import Consensus
from judgegraph.agents.sage import Rectify
from judgegraph.calls.ratings import STATED
from judgegraph.compose.panel import BALLOT
from judgegraph.prompts.template import slugs
from judgegraph.registry import make, names
from judgegraph.testing import scripted
from judgegraph.types import Comparison, Criterion, Note, Rectification, Sample, Score, keyed

NAMES = (
    "Tone", "tone", "TONE", "Tone ", " Tone", "To ne", "Tone\n", "Tone/judge", "Tone%2Fjudge", "Tone/judge/final/0",
    "Tone%", "Tone%25", "Tone/", "/Tone", "Tone\u200b", "T\u043ene", "Tone\x00", "Tone_2", "Tone 2", "overall",
    "\u89e3", "\u89e4",
)  # fmt: skip
SAMPLE = Sample(id="s", output="The library is open from nine to six.", source="It opens at nine and closes at six.")
CRITERIA = [Criterion(name=name, definition="How it sounds.") for name in NAMES]


def test_no_two_names_share_a_key():
    agents, stages = ("judge", "judge/final", "a%2Fb", "a/b"), ("final", "final/0", "draft")
    scores = [Score(criterion=c, agent=a, stage=s, value=1.0) for c in NAMES for a in agents for s in stages]
    assert len(keyed(*scores)) == len(scores)
    assert len(keyed(*(Rectification(criterion=c, agent=a) for c in NAMES for a in agents))) == len(NAMES) * len(agents)
    assert len(keyed(*(Comparison(criterion=c, agent=a) for c in NAMES for a in agents))) == len(NAMES) * len(agents)
    assert len(keyed(*(Note(agent=a, text=c) for c in NAMES for a in agents))) == len(NAMES) * len(agents)


def score(name: str, value: float, agent: str = "judge", stage: str = "draft") -> Score:
    return Score(criterion=name, agent=agent, stage=stage, value=value, scale=CRITERIA[0].scale)


def test_rectify_gives_each_name_its_own_verdict():
    drafts = keyed(*(score(name, 1 + i % 5) for i, name in enumerate(NAMES)))
    said = keyed(*(
        Rectification(criterion=name, agent="sage", action="change", direction="up", value=1 + (i + 2) % 5)
        for i, name in enumerate(NAMES)
    ))  # fmt: skip
    finals = {s.criterion: s.value for s in Rectify()({"scores": drafts, "rectifications": said})["scores"].values()}
    assert finals == {name: 1 + (i + 2) % 5 for i, name in enumerate(NAMES)}


def test_a_verdict_on_another_name_changes_nothing():
    for one, other in combinations(NAMES, 2):
        change = Rectification(criterion=other, agent="sage", action="change", direction="up", value=5)
        (final,) = Rectify()({"scores": keyed(score(one, 1)), "rectifications": keyed(change)})["scores"].values()
        assert (final.status, final.value) == ("skipped", None), (one, other)


async def test_a_consensus_counts_each_name_by_itself():
    cast = [score(n, 1 + (i + k) % 5, f"j{k}", BALLOT) for i, n in enumerate(NAMES) for k in (0, 1)]
    for criteria in (CRITERIA, []):
        found = await Consensus(members=("j0", "j1"))({"scores": keyed(*cast), "criteria": criteria})
        values = {s.criterion: s.value for s in found["scores"].values()}
        assert values == {n: ((1 + i % 5) + (1 + (i + 1) % 5)) / 2 for i, n in enumerate(NAMES)}


def test_a_member_cannot_vote_under_the_name_of_another():
    fake = Score(criterion="Tone/j0", agent="x", stage=BALLOT, value=5.0)
    assert fake.key != score("Tone", 5.0, "j0/x", BALLOT).key


async def test_an_evaluator_reads_each_answer_under_its_own_key():
    for few in permutations(("Tone", "tone", "Tone 2"), 3):
        criteria = [Criterion(name=name) for name in few]
        judge = scripted({key: {"reason": key, "score": i} for i, key in enumerate(slugs(criteria), 1)})
        found = (await Evaluator(judge=judge, criteria=criteria, reader=STATED)({"sample": SAMPLE}))["scores"].values()
        assert {s.criterion: s.value for s in found} == {name: i for i, name in enumerate(few, 1)}


async def test_keys_that_nobody_asked_for_are_no_scores():
    reply = {"tone": {"reason": "so", "score": 2}, "extra": {"reason": "so", "score": 5}, "Tone": {"score": 5},
             "tone/evaluator/final/0": {"score": 5}, "scores": {"tone": {"score": 5}}}  # fmt: skip
    judge = scripted(reply)
    found = (await Evaluator(judge=judge, criteria=CRITERIA[:1], reader=STATED)({"sample": SAMPLE}))["scores"]
    assert {key: s.value for key, s in found.items()} == {"Tone/evaluator/draft/0": 2.0}


@pytest.mark.parametrize("critic", names("critic"))
async def test_a_critic_speaks_of_each_name_once(critic: str):
    drafts = keyed(*(score(name, 3) for name in NAMES))
    said = await make("critic", critic)({"sample": SAMPLE, "criteria": CRITERIA, "scores": drafts})
    assert sorted(r.criterion for r in said["rectifications"].values()) == sorted(NAMES)


@pytest.mark.parametrize("name", ["panel", "escalate", "scorer", "evaluator"])
async def test_helpers_keep_them_apart(name: str):
    settings = {"judges": ["embedded", "g-eval"]} if name == "panel" else {}
    part, asked = make("agent", name, settings), {"sample": SAMPLE, "criteria": CRITERIA}
    state = await (part.ainvoke(asked) if hasattr(part, "ainvoke") else part(asked))
    stage = {"evaluator": "draft"}.get(name, "final")
    own = [s for s in state["scores"].values() if s.stage == stage and s.agent == name]
    assert sorted(s.criterion for s in own) == sorted(NAMES)
    assert {s.status for s in own} <= {"ok", "abstained"}
