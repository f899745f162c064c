"""A panel of critics: what most of those who could be read say counts, and who did not agree is told."""

import asyncio
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.errors import GraphInterrupt
from langgraph.graph import END, START, StateGraph
from review_cases import ABSTAINED, CLARITY, SAMPLE, THREE, TONE, WARM, asked_of, schema_of

import judgegraph as jg
from judgegraph.agents.critics import SelfReflection
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.panel import ROLES, CriticPanel, joined_advice, reconciled
from judgegraph.agents.sage import Sage
from judgegraph.agents.under_review import Critique, Reviewed
from judgegraph.calls import Reader
from judgegraph.errors import AuthError, ConfigError, ReplyError
from judgegraph.prompts.criteria import criteria_set
from judgegraph.testing import scripted
from judgegraph.types import Note, Rectification, Suggestion, keyed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
REFUSED = AIMessage("", additional_kwargs={"refusal": "no"})
STATE = {"sample": SAMPLE, "scores": keyed(THREE)}
A, B, C, D = "a", "b", "c", "d"
THREE_ROLES = {A: "looks at words.", B: "looks at order.", C: "looks at the reader."}


def said(answer, criterion="Clarity", old=3.0, **more):
    """A critic's verdict: a number or label it changes to, "keep", or the name of a status."""
    if answer is None:
        return None
    if answer == "keep":
        return Rectification(criterion=criterion, agent="x", reason="fine", **more)
    if answer in ("refused", "unreadable", "timeout"):
        return Rectification(criterion=criterion, agent="x", status=answer, reason="why")
    if isinstance(answer, str):
        return Rectification(criterion=criterion, agent="x", action="change", label=answer, reason="tone")
    way = more.pop("direction", "up" if answer > old else "down")
    return Rectification(criterion=criterion, agent="x", action="change", value=answer, direction=way, reason="seen")


def settled(*answers, criterion=CLARITY, draft=THREE):
    verdicts = {name: said(answer, criterion.name) for name, answer in zip("abcdefg", answers, strict=False)}
    return reconciled("panel", criterion, draft, verdicts)


@pytest.mark.parametrize(
    ("answers", "value", "notes"),
    [
        (["keep", "keep", "keep"], None, ()),
        ([2.0, 2.0, 2.0], 2.0, ()),
        ([2.0, 1.0, "keep"], 2.0, ("not agreed: c (keep)",)),
        ([1.0, 1.0, 5.0], 1.0, ("not agreed: c (raise to 5)",)),
        ([5.0, 4.0, 4.5], 4.5, ()),
        ([2.0, "keep", "keep"], None, ("not agreed: a (lower to 2)",)),
        ([2.0, "keep"], None, ("equally many critics say 'keep' and 'lower'; the score stands",
                               "not agreed: a (lower to 2)")),
        ([2.0, 4.0, "keep"], None, ("equally many critics say 'keep' and 'lower' and 'raise'; the score stands",
                                    "not agreed: a (lower to 2), b (raise to 4)")),
        ([2.0, 1.0, 4.0, "keep"], None, ("no more than half of the critics say one verdict; the score stands",
                                         "not agreed: a (lower to 2), b (lower to 1), c (raise to 4)")),
        ([1.0, 2.0, "refused"], 1.5, ("c was left out: refused: why",)),
        ([1.0, "refused", "timeout"], 1.0, ("b was left out: refused: why", "c was left out: timeout: why")),
        ([1.0, "keep", None], None, ("equally many critics say 'keep' and 'lower'; the score stands",
                                     "not agreed: a (lower to 1)", "c was left out: said nothing of this criterion")),
        ([9.0, 2.0, 2.0], 2.0, ("a was left out: 9.0 is not on the scale 1-5",)),
        ([3.0, 3.0, 1.0], None, ("not agreed: c (lower to 1)",)),
    ],
)  # fmt: skip
def test_a_score_changes_where_more_than_half_move_it_one_way_and_the_value_is_the_median(answers, value, notes):
    one = settled(*answers)
    assert (one.status, one.value, one.action) == ("ok", value, "change" if value else "keep")
    assert one.direction == ("none" if value is None else "up" if value > 3 else "down")
    assert one.notes == notes


@pytest.mark.parametrize(
    ("answers", "label"),
    [
        (["keep", "cold", "keep"], None),
        (["cold", "cold", "keep"], "cold"),
        (["cold", "flat", "keep"], None),
        (["cold", "flat", "cold", "flat"], "cold"),
        (["cold", "keep", "refused"], None),
        (["cold", "green", "green"], "cold"),
        (["warm", "warm", "warm"], None),
    ],
    ids=["one", "most", "none has most", "a tie by name", "a tie with the draft", "off the scale", "the same"],
)
def test_labels_go_by_vote(answers, label):
    one = settled(*answers, criterion=TONE, draft=WARM)
    assert (one.status, one.label) == ("ok", label)


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        (["refused", "refused", "timeout"], "refused"),
        (["timeout", "unreadable", "refused"], "refused"),
        ([9.0, 9.0, "timeout"], "unreadable"),
        ([None], "skipped"),
    ],
    ids=["most", "of equals the first by name", "off the scale", "silent"],
)
def test_where_all_failed_so_did_the_panel(answers, status):
    one = settled(*answers)
    assert (one.status, one.value, one.action) == (status, None, "keep")
    assert "a was left out: " in one.reason


def test_a_value_against_its_direction_counts_as_keep():
    verdicts = {A: said(2.0, direction="up"), B: said(2.0), C: said(2.0)}
    one = reconciled("panel", CLARITY, THREE, verdicts)
    assert (one.value, one.distribution) == (2.0, {"2": 2 / 3, "3": 1 / 3})
    assert one.notes[0] == "a said 'raise' but gave 2; counted as 'keep'"


def test_what_was_abstained_is_left():
    one = settled(5.0, 5.0, 5.0, draft=ABSTAINED)
    assert (one.action, one.status, one.notes) == ("keep", "ok", ())


ANSWERS = st.sampled_from(["keep", "refused", "timeout", None, 1.0, 2.0, 2.5, 4.0, 4.2, 5.0, 9.0])


@given(st.lists(ANSWERS, min_size=1, max_size=7), st.randoms(use_true_random=False))
def test_the_order_of_critics_changes_nothing(answers, random):
    verdicts = [(name, said(answer)) for name, answer in zip("abcdefg", answers, strict=False)]
    mixed = random.sample(verdicts, len(verdicts))
    assert reconciled("panel", CLARITY, THREE, dict(verdicts)) == reconciled("panel", CLARITY, THREE, dict(mixed))


@given(st.lists(ANSWERS, min_size=1, max_size=7))
def test_names_of_critics_change_only_words_where_nothing_is_tied(answers):
    one, other = settled(*answers), settled(*reversed(answers))
    assert (one.action, one.value, one.direction, one.status) == (
        other.action,
        other.value,
        other.direction,
        other.status,
    )
    assert one.distribution == other.distribution


@given(st.integers(1, 7))
def test_critics_that_agree_with_everything_change_nothing(count):
    one = settled(*["keep"] * count)
    assert (one.action, one.value, one.notes) == ("keep", None, ())


def advice(kind, name, words, reason="r"):
    return Suggestion(kind=kind, criterion=name, definition=words, reason=reason, agent="x")


def test_suggestions_are_joined_each_once_with_the_names_of_who_gave_it():
    given = {
        B: [advice("criterion", "depth", "other words"), advice("definition", "Clarity", "one reading")],
        A: [advice("criterion", "Depth", "how deep"), advice("definition", "Clarity", "One  reading.")],
        C: [advice("definition", "Clarity", "plain words", reason="")],
    }
    found = joined_advice("panel", given)
    assert [(s.kind, s.criterion, s.definition, s.reason) for s in found] == [
        ("criterion", "Depth", "how deep", "a, b: r"),
        ("definition", "Clarity", "One  reading.", "a, b: r"),
        ("definition", "Clarity", "plain words", "c"),
    ]
    assert {s.agent for s in found} == {"panel"}


def entry(verdict, value):
    return {
        "rectifications": {"clarity": {"reason": "looked", "verdict": verdict, "score": value}},
        "definitions": [],
        "new_criteria": [{"name": "Depth", "definition": "How deep.", "reason": "missing"}],
    }


def by_role(**replies):
    """A judge that answers by the role in the prompt, whoever asks first."""

    def scene(messages):
        role = str(messages[1].content).rpartition("<role-")[2].split("\n")[1][0]
        return replies[role]

    return scripted(*[scene] * 12)


def panel(judge, roles=THREE_ROLES, **settings):
    return CriticPanel(judge=judge, criteria=[CLARITY], roles=roles, reader=Reader("weighted"), **settings)


async def test_each_role_is_asked_once_and_all_share_what_stands_before_the_role():
    judge = by_role(a=entry("lower", 2), b=entry("lower", 1), c=entry("keep", 3))
    written = await panel(judge)(STATE)
    (one,) = written["rectifications"].values()
    assert (one.key, one.value, one.reason) == ("Clarity/critic-panel", 2.0, "a: looked")
    assert one.notes == ("not agreed: c (keep)",)
    assert [(s.criterion, s.reason, s.agent) for s in written["suggestions"]] == [
        ("Depth", "a, b, c: missing", "critic-panel")
    ]
    texts = [asked_of(judge, call) for call in range(3)]
    assert len({system for system, _ in texts}) == 1
    assert len({user.partition("<role-")[0] for _, user in texts}) == 1
    assert sorted(user.rpartition("<role-")[2].split("\n")[1] for _, user in texts) == [
        "a: looks at words.", "b: looks at order.", "c: looks at the reader.",
    ]  # fmt: skip
    assert list(schema_of(judge)["properties"]) == ["rectifications", "definitions", "new_criteria"]


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (REFUSED, "refused"),
        ("no JSON here", "unreadable"),
        (AIMessage("{", response_metadata={"finish_reason": "length"}), "truncated"),
        ({"rectifications": {}, "definitions": [], "new_criteria": []}, "unreadable"),
    ],
    ids=["refused", "broken", "cut off", "no entry"],
)
async def test_a_role_that_fails_is_left_out_and_noted(reply, status):
    written = await panel(by_role(a=entry("lower", 2), b=reply, c=entry("lower", 1)))(STATE)
    (one,) = written["rectifications"].values()
    assert (one.status, one.value) == ("ok", 1.5)
    assert any(note.startswith(f"b was left out: {status}") for note in one.notes)
    (note,) = written["notes"].values()
    assert (note.agent, note.status) == ("critic-panel", status)
    assert note.text.startswith("b was left out for 1 of 1 criterion")


async def test_a_panel_that_fails_leaves_no_final_score():
    written = await panel(by_role(a=REFUSED, b=REFUSED, c="no JSON here"))(STATE)
    (one,) = written["rectifications"].values()
    assert (one.status, one.value, written["suggestions"]) == ("refused", None, [])


async def test_the_order_of_roles_changes_nothing():
    replies = {A: entry("lower", 2), B: entry("lower", 1), C: REFUSED}
    written = [await panel(by_role(**replies), roles=dict(order))(STATE) for order in permutations(THREE_ROLES.items())]
    assert all(one == written[0] for one in written)


class Fixed:
    """A critic of a name that always says the same."""

    def __init__(self, name, answer, notes=(), suggestions=()):
        self.name, self.answer, self.notes, self.suggestions = name, answer, notes, suggestions

    async def __call__(self, state: Reviewed) -> Critique:
        if isinstance(self.answer, BaseException):
            raise self.answer
        await asyncio.sleep(0)
        verdict = said(self.answer)
        written = {"rectifications": {"any key": verdict} if verdict else {}, "suggestions": list(self.suggestions)}
        return {**written, "notes": keyed(*self.notes)} if self.notes else written


def of_critics(*critics, **settings):
    return CriticPanel(criteria=[CLARITY], critics=critics, **settings)


async def test_critics_of_any_kind_sit_on_a_panel():
    async def plain(state: Reviewed) -> Critique:
        return {"rectifications": keyed(said(2.0)), "suggestions": []}

    def without_await(state: Reviewed) -> Critique:
        return {"rectifications": keyed(said(1.0)), "suggestions": []}

    graph = StateGraph(jg.EvalState)
    graph.add_node("critique", Fixed("inner", 2.0))
    graph.add_edge(START, "critique")
    graph.add_edge("critique", END)
    nested = graph.compile(name="nested")
    written = await of_critics(plain, without_await, nested, Fixed("fourth", "keep"))(STATE)
    (one,) = written["rectifications"].values()
    assert (one.value, one.notes) == (2.0, ("not agreed: fourth (keep)",))


async def test_critics_by_name_get_the_panels_settings():
    held = of_critics("sage", "devils-advocate", task="a letter", stage="second", reader=Reader("stated"))
    assert list(held.members) == ["devils-advocate", "sage"]
    assert {(c.task, c.stage, c.reader.kind, tuple(c.criteria)) for c in held.members.values()} == {
        ("a letter", "second", "stated", (CLARITY,))
    }
    assert held.prompts == ("devils_advocate", "critique")


async def test_roles_and_critics_sit_side_by_side_where_both_are_given():
    held = of_critics("sage", roles={"editor": "edits."})
    assert list(held.members) == ["editor", "sage"]
    assert list(CriticPanel().members) == sorted(ROLES)


async def test_a_critic_that_raises_for_a_bad_reply_is_left_out():
    written = await of_critics(Fixed(A, 2.0), Fixed(B, ReplyError("late", "timeout")))(STATE)
    (one,) = written["rectifications"].values()
    assert (one.value, one.notes) == (2.0, ("b was left out: timeout: late",))


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("an error without words")


NO_CRITIQUE = {  # what a critic returns -> why it is left out
    "nothing": (None, "it wrote no rectifications"),
    "an empty table": ({}, "it wrote no rectifications"),
    "advice alone": ({"suggestions": []}, "it wrote no rectifications"),
    "a list": ({"rectifications": [], "suggestions": []}, "its rectifications are of type list"),
    "plain values": ({"rectifications": {"x": {"value": 2}}}, "one of its rectifications is of type dict"),
    "plain advice": ({"rectifications": {}, "suggestions": ["x"]}, "one of its suggestions is of type str"),
    "plain notes": ({"rectifications": {}, "notes": ["x"]}, "its notes are of type list"),
}


def returning(value):
    async def odd(state: Reviewed):
        return value

    return odd


@pytest.mark.parametrize(("written", "why"), NO_CRITIQUE.values(), ids=NO_CRITIQUE)
async def test_a_critic_that_writes_no_critique_is_left_out(written, why):
    found = await of_critics(Fixed(A, 2.0), returning(written))(STATE)
    (one,) = found["rectifications"].values()
    assert (one.status, one.value, one.notes) == ("ok", 2.0, (f"odd was left out: agent_error: {why}",))
    assert [(n.text, n.status) for n in found["notes"].values()] == [
        (f"odd was left out for 1 of 1 criterion: {why}", "agent_error")
    ]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (KeyError("bug"), "agent_error: KeyError: 'bug'"), (ConfigError("no such file"), "no such file"),
        (Mute(), "agent_error: Mute"), (ReplyError("odd", "no status"), "agent_error: ReplyError: odd"),
    ],
)  # fmt: skip
async def test_a_critic_that_raises_is_left_out(error, why):
    written = await of_critics(Fixed(A, 2.0), Fixed(B, error))(STATE)
    (one,) = written["rectifications"].values()
    assert (one.value, len(one.notes)) == (2.0, 1)
    assert one.notes[0].startswith("b was left out: agent_error: ")
    assert why in one.notes[0]


async def test_where_every_critic_raises_the_panel_has_their_status():
    written = await of_critics(Fixed(A, KeyError("bug")), Fixed(B, ReplyError("late", "timeout")), returning({}))(STATE)
    (one,) = written["rectifications"].values()
    assert (one.status, one.value) == ("agent_error", None)


def ending():
    error = ConfigError("no such judge")
    error.ends_run = True
    return error


@pytest.mark.parametrize("error", [ending(), AuthError("key refused"), asyncio.CancelledError(), GraphInterrupt(())])
async def test_what_ends_a_run_or_stops_it_is_not_hidden(error):
    with pytest.raises(type(error)):
        await of_critics(Fixed(A, 2.0), Fixed(B, error))(STATE)


async def test_critics_that_say_keep_with_another_value_are_told():
    kept = Rectification(criterion="Clarity", agent="x", value=5.0)
    one = reconciled("panel", CLARITY, THREE, {A: kept, B: said("keep")})
    assert (one.action, one.notes) == ("keep", ("a said 'keep' but gave 5; counted as 'keep'",))


async def test_a_member_without_criteria_has_the_panels_and_another_keeps_its_own():
    held = of_critics(Sage(), SelfReflection(criteria=[TONE]))
    assert [list(c.criteria) for c in held.members.values()] == [[CLARITY], [TONE]]


async def test_a_panel_names_whom_its_critics_ask_and_by_what():
    held = of_critics(Sage(judge="openai:a", calls="three"), SelfReflection(judge="openai:b"), returning({}))
    assert held.judges == ("openai:a", "openai:b")
    assert held.prompts == ("critique_scores", "critique_definitions", "critique_criteria", "self_reflection")


async def test_what_a_critic_noted_is_passed_on_with_its_name():
    note = Note(agent="inner", text="no advice on definitions", status="timeout")
    written = await of_critics(Fixed(A, "keep", notes=[note]))(STATE)
    assert [(n.agent, n.text, n.status) for n in written["notes"].values()] == [
        ("critic-panel", "a: no advice on definitions", "timeout")
    ]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"roles": {}}, "a role or a critic at least"),
        ({"critics": ["nobody"]}, "nobody"),
        ({"critics": ["sage", "sage"]}, "two critics named sage"),
        ({"critics": ["sage"], "roles": {"sage": "reads."}}, "two critics named sage"),
        ({"critics": [7]}, "expected names or agents, got 7"),
        ({"roles": {"": "reads."}}, "a role is a name and a sentence"),
        ({"roles": {"editor": " "}}, "a role is a name and a sentence"),
        ({"roles": ["editor"]}, "roles: expected none or a mapping"),
    ],
)
def test_a_panel_that_cannot_sit_is_refused_when_it_is_made(settings, says):
    with pytest.raises(ConfigError, match=says):
        CriticPanel(**settings)


async def test_nothing_to_review_asks_nobody():
    judge = scripted()
    written = await panel(judge)({"sample": SAMPLE, "scores": {}})
    assert (written["rectifications"], written["suggestions"]) == ({}, [])
    assert [note.kind for note in written["notes"].values()] == ["nothing-to-review"]
    assert judge.calls == []


async def test_the_embedded_judge_looks_closer_at_the_field_of_a_role_and_less_at_others():
    criteria = [c for c in criteria_set("forms").criteria if c.name in ("Relevancy", "Fairness", "Cohesion")]
    fives = [THREE.model_copy(update={"criterion": c.name, "value": 5.0}) for c in criteria]
    moved = {}
    for role in ("minds whether all of it is relevant to the request", "is strict", "minds how engaging it is"):
        seat = CriticPanel(criteria=criteria, roles={"seat": role})
        moved[role] = set()
        for sample in jg.load(EXAMPLES / "forms.twins.jsonl"):
            written = await seat({"sample": sample, "scores": keyed(*fives)})
            changed = [r for r in written["rectifications"].values() if r.action == "change"]
            moved[role] |= {(sample.id, r.criterion) for r in changed if r.criterion == "Relevancy"}
    near, plain, far = moved.values()
    assert near > plain > far


def test_critics_that_differ_in_their_names_alone_are_refused():
    with pytest.raises(ConfigError, match="critics 'sage' and 'one' differ in their names alone"):
        CriticPanel(critics=["sage", Sage(name="one")])
    assert CriticPanel(critics=["sage", Sage(name="one", judge="openai:m")])
    assert CriticPanel(critics=["sage", Sage(name="one", prompt="critique_cot")])
    assert CriticPanel(critics=["sage", Sage(name="one", stage="final")])


def test_a_judge_in_a_critics_place_is_refused():
    with pytest.raises(ConfigError, match="'evaluator' is no critic: it writes no rectifications"):
        CriticPanel(critics=[Evaluator()])
