"""Nothing is emptied in silence: what was skipped, dropped or not applied is counted by kind and told everywhere."""

import json

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.agents.corrector import Corrector
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.fusion import FusionJudge
from judgegraph.agents.panel import Consensus
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.cli import main
from judgegraph.graphs import fennec, fusion_eval
from judgegraph.meta.judgements import read_run
from judgegraph.report.page import write_report
from judgegraph.runs.item import MOST_KINDS, TITLES, Item, title
from judgegraph.runs.run import Run
from judgegraph.runs.summary import coverage, summarise
from judgegraph.testing import scripted
from judgegraph.tools.catalogue import Unmeasurable
from judgegraph.types import Correction, Criterion, EvalState, Note, Plan, Rectification, Sample, Scale, Score, keyed
from judgegraph.views.run import print_run

CRITERIA = [Criterion(name="Clarity", definition="One reading only."), Criterion(name="Wit")]
FIVE = Scale.of("1-5")
OUTPUT = "The library opens at nine in the morning, and it closes at six."
BARE = [Sample(id=f"s{n}", query="When does it open?", output=f"{OUTPUT} It has {n} rooms.") for n in range(3)]


def row(*nodes):
    """Nodes one after the other."""
    graph = StateGraph(EvalState)
    names = [f"n{n}" for n in range(len(nodes))]
    for name, before, node in zip(names, (START, *names), nodes, strict=False):
        graph.add_node(name, node)
        graph.add_edge(before, name)
    graph.add_edge(names[-1], END)
    return graph.compile()


def scoring(*scores, **more):
    async def scored(state: EvalState) -> EvalState:
        return {"scores": keyed(*scores), **more}

    return scored


def score(criterion, value=3.0, agent="mine", stage="final", scale=FIVE):
    return Score(criterion=criterion, agent=agent, stage=stage, value=value, scale=scale)


def judged(name):
    return Evaluator(criteria=CRITERIA, name=name, stage="ballot")


EVALUATOR, SAGE = Evaluator(criteria=CRITERIA), Sage(criteria=CRITERIA)


class NeedsReference:
    name, about = "needs-reference", "How near it is to a reference, 0 to 1."

    def __call__(self, sample):
        raise Unmeasurable("the sample has no reference")


class Blank(NeedsReference):
    name = "blank"


def planned(**alignment):
    async def plan(state: EvalState) -> EvalState:
        return {"plan": Plan(text="Ask them.", alignment=alignment)}

    return plan


CASES = {
    "assistants-skipped": (
        fusion_eval(criteria=CRITERIA, assistants=[NeedsReference(), Blank()], plan=False, predictions=1),
        "needs-reference, blank: the sample has no reference",
    ),
    "assistants-not-consulted": (
        row(planned(Clarity=("blank", "deaf")), FusionJudge(assistants={"blank": "B", "deaf": "D"}, criteria=CRITERIA)),
        "not consulted: blank, deaf; the plan names 2 assistants, 0 consulted",
    ),
    "assistants-unused": (
        row(planned(Clarity=()), FusionJudge(assistants={"blank": "B"}, criteria=CRITERIA)),
        "none of 1 assistants was consulted, and the plan names none",
    ),
    "verdicts-not-applied": (row(EVALUATOR, SAGE), "'sage' says of 'Clarity', 'Wit' changed no score"),
    "nothing-to-review": (
        row(EVALUATOR, jg.critique(criteria=CRITERIA, stage="final", of="evaluater")),
        "no score at stage 'final' by 'evaluater': nothing to review; scores stand at 'draft' by 'evaluator'",
    ),
    "panel-member-missing": (
        row(judged("a"), judged("b"), Consensus(members=("a", "bb"))),
        "'bb' cast no ballot at stage 'ballot'; ballots there are of: a, b",
    ),
    "panel-scales-differ": (
        row(scoring(
            score("Clarity", 3.0, "a", "ballot"), score("Clarity", 4.0, "b", "ballot"),
            score("Clarity", 80.0, "c", "ballot", Scale.of("0-100")),
        ), Consensus(members=("a", "b", "c"))),
        "'c' does not count on Clarity (on 0-100, not 1-5)",
    ),
    "threshold-off-scale": (
        row(EVALUATOR, jg.critique(criteria=CRITERIA, when=jg.low(below=30))),
        "low: everything on the scale 1-5 of 'Clarity' is below 30: every score is in doubt",
    ),
    "condition-blind": (
        row(EVALUATOR, jg.gate(SAGE, jg.disagree())), "no criterion has the answers of two judges",
    ),
    "criteria-dropped": (
        row(scoring(score("Clarity"), criteria=CRITERIA)),
        "2 criteria given, 1 scored by 'mine': no score of 'Wit'",
    ),
    "correction-unchanged": (
        row(scoring(score("Clarity", 1.0), criteria=CRITERIA), Corrector()), "output: nothing was changed",
    ),
    "nothing-to-correct": (row(EVALUATOR, Corrector()), "no score at stage 'final': nothing to correct by"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_each_kind_is_a_note_with_a_status_and_is_counted(kind):
    graph, text = CASES[kind]
    run = jg.evaluate(graph, BARE, check=False)  # `check` refuses some of these graphs beforehand
    found = [note for item in run.items for note in item.notes if note.kind == kind]
    assert len(found) == 3
    assert {note.status for note in found} == {"skipped"}
    assert text in found[0].text
    notice = run.summary().notices[kind]
    assert (notice.samples, notice.sample, notice.text) == (3, "s0", found[0].text)
    assert kind in TITLES


def test_criteria_of_an_empty_query_are_told():
    samples = [Sample(id="with", query="When?", output=OUTPUT), Sample(id="without", output=OUTPUT)]
    summary = jg.evaluate(fennec(), samples).summary()
    assert (summary.notices["query-empty"].samples, summary.notices["query-empty"].sample) == (1, "without")


async def test_each_tells_of_criteria_whose_run_gave_no_score():
    async def of_clarity(state: EvalState) -> EvalState:
        return {"scores": keyed(*(score(c.name) for c in state["criteria"] if c.name == "Clarity"))}

    final = await jg.each(of_clarity, criteria=CRITERIA).ainvoke({"sample": BARE[0]})
    assert [(n.kind, "no score of Wit" in n.text) for n in final["notes"].values()] == [("criteria-dropped", True)]


@pytest.mark.parametrize("critic", [SAGE, jg.critique(SAGE, criteria=CRITERIA)])
def test_verdicts_that_reach_a_score_are_no_notice(critic):
    nodes = [EVALUATOR, critic] + ([Rectify()] if critic is SAGE else [])
    assert "verdicts-not-applied" not in jg.evaluate(row(*nodes), BARE).summary().notices


@pytest.mark.parametrize(
    "nodes", [(SAGE, EVALUATOR, Rectify()), (EVALUATOR, SAGE, Rectify(stage="drafts")), (EVALUATOR, Rectify(), SAGE)]
)
def test_a_critic_in_the_wrong_place_is_told(nodes):
    kinds = jg.evaluate(row(*nodes), BARE, check=False).summary().notices
    assert {"verdicts-not-applied", "nothing-to-review"} & set(kinds)


def test_verdicts_on_what_a_stronger_judge_settled_are_no_notice():
    judges = jg.escalate("llm-score", "g-eval", when=jg.low(below=4.5), criteria=CRITERIA)
    run = jg.evaluate(row(judges, jg.critique("sage", stage="final", criteria=CRITERIA)), BARE)
    finals = [score for item in run.items for score in item.scores if score.agent == "sage"]
    assert finals
    assert "verdicts-not-applied" not in run.summary().notices


def test_one_reason_with_other_numbers_is_told_once_with_a_sample():
    items = [
        Item(sample=sample, status="agent_error", reason=f"ValueError: no place for 0.{number}7 of {number}")
        for number, sample in enumerate(BARE)
    ]
    summary = summarise(items, "sig")
    [(kind, count)] = summary.failures.items()
    assert (kind, count) == (("agent_error", "ValueError: no place for 0.07 of 0"), 3)
    assert summary.failed_first[kind] == "s0"


@pytest.fixture(scope="module")
def skipped(tmp_path_factory):
    """A run in a folder of which all assistants were skipped."""
    out = tmp_path_factory.mktemp("skipped") / "run"
    jg.evaluate(CASES["assistants-skipped"][0], BARE, out=out)
    return out


LINE = "All assistants were skipped on 3 of 3 samples: needs-reference, blank: the sample has no reference"


def test_one_line_stands_in_every_view(skipped, capsys):
    run = Run.load(skipped)
    summary = run.summary()
    print_run(run, summary)
    shown = capsys.readouterr().out
    assert f"{LINE} (see: judgegraph trace {skipped} --sample s0)" in shown
    assert shown.count("the sample has no reference") == 1, "a note of a kind is not told again among the notes"
    assert LINE in str(summary)
    assert LINE in summary._repr_html_()
    (told,) = [one for one in summary.to_dict()["notices"] if one["kind"] == "assistants-skipped"]
    assert (told["samples"], told["sample"], told["status"]) == (3, "s0", "skipped")
    json.dumps(summary.to_dict())
    write_report(run, skipped.parent / "page.html")
    page = (skipped.parent / "page.html").read_text()
    assert "All assistants were skipped" in page
    assert "needs-reference, blank: the sample has no reference" in page
    write_report(run, skipped.parent / "hidden.html", redact=("texts",))
    page = (skipped.parent / "hidden.html").read_text()
    assert "All assistants were skipped" in page
    assert "the sample has no reference" not in page


def test_a_correction_that_changes_nothing_is_called_one_nowhere(tmp_path):
    graph = row(scoring(score("Clarity", 1.0), criteria=CRITERIA), Corrector())
    run = jg.evaluate(graph, BARE, out=tmp_path / "run")
    correction = next(iter(run.items)).corrections[0]
    assert (correction.status, correction.text, correction.changed) == ("skipped", "", False)
    assert run.summary().corrections == {"unchanged": 3}
    assert list(run.corrected()) == []
    done = CliRunner().invoke(main, ["trace", str(tmp_path / "run"), "--sample", "s0"])
    assert "corrected output" not in done.output
    assert "output not corrected: nothing was changed" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("original", "text", "changed"),
    [
        ("It opens in May.", "It opens in  May.\n", False), ("It opens in May.", "It opened in May.", True),
        ("It opens , in May.", "It opens, in May.", True), ('{"a": [1, 2]}', '{"a":[1,2]}', False),
        ('{"a": [1, 2]}', '{"a":[2,1]}', True), ("", "New.", True), ("{", "[", True),
    ],
)  # fmt: skip
def test_a_folder_of_before_is_read_by_the_same_rule(original, text, changed):
    old = Correction.model_validate_json(Correction(text=text, original=original).model_dump_json())
    assert (old.changed, old.outcome) == (changed, "ok" if changed else "unchanged")


def test_kinds_of_anybody_s_own_are_counted_and_bounded():
    def own(state: EvalState) -> EvalState:
        listed = [Note(agent="x", text=f"t{n}", kind=f"own-kind-{n}") for n in range(MOST_KINDS + 50)]
        return {
            "scores": keyed(score("Clarity")),
            "notes": keyed(*listed, Note(agent="x", text="again", kind="own-kind-0")),
        }

    summary = jg.evaluate(row(own), BARE).summary()
    assert len(summary.notices) == MOST_KINDS
    assert summary.notices["own-kind-0"].samples == 3, "each sample once, however many such notes it has"
    assert title("own-kind-0") == "Own kind 0"


def test_one_criterion_on_two_scales_has_no_mean_and_says_so():
    scales = (Scale.of("1-5"), Scale.of("0-100"))
    given = zip(BARE, scales, strict=False)
    items = [Item(sample=sample, scores=(score("Wit", 3.0, "a", "final", scale),)) for sample, scale in given]
    summary = summarise(items, "x")
    (line,) = summary.answers.values()
    assert (line.n_ok, line.mean, line.bounds) == (2, None, None)
    assert "Wit on 1-5 and 0-100" in summary.notices["criterion-on-scales"].text


def test_what_has_no_mean_is_counted_by_samples_and_has_no_headline():
    """ "On 4 of 2 samples" stood there, above a mean of both scales."""

    async def mine(state: jg.EvalState) -> jg.EvalState:
        return {"scores": jg.keyed(*(
            jg.Score(criterion="Fit", agent="mine", value=4.0, scale=scale, repeat=at)
            for at, scale in enumerate(("1-5", "1-10"))
        ))}  # fmt: skip

    summary = jg.evaluate(row(mine), [jg.Sample(id=i, output="Some text.") for i in "ab"]).summary()
    assert summary.notices["criterion-on-scales"].samples == 2
    assert not summary.headline


def compared(*said, verdict=None):
    async def mine(state: jg.EvalState) -> jg.EvalState:
        found = [jg.Comparison(criterion=c, agent=a, order=o, verdict=v) for c, a, o, v in said]
        return {"comparisons": jg.keyed(*found)} | ({"verdict": verdict} if verdict else {})

    run = jg.evaluate(row(mine), [jg.Sample(id="p", output="One text.", rival="Another text.")])
    (item,) = run.items
    summary = run.summary()
    assert dict(summary.verdicts) == {item.verdict or "none": 1}
    kinds = [kind for kind in summary.notices if kind.startswith("verdict")]
    return item.verdict, kinds, " ".join(summary.notices[kind].text for kind in kinds)


def test_the_verdict_of_a_pair_is_known_from_what_a_judge_of_ones_own_compares():
    assert compared(("overall", "me", "AB", "B"))[:2] == ("B", [])
    both = [("overall", "me", "AB", "A"), ("overall", "me", "BA", "B"), ("overall", "me", "both", "tie")]
    assert compared(*both)[:2] == ("tie", [])
    assert compared(("Depth", "me", "AB", "A"))[:2] == ("A", [])
    assert compared(*both[:2], verdict="A")[:2] == ("A", [])


def test_a_pair_whose_verdict_nobody_wrote_says_so_and_what_to_do():
    for said, cure in (
        ([("overall", "me", "AB", "A"), ("overall", "me", "BA", "B")], "jg.orders(...)"),
        ([("overall", "me", "AB", "A"), ("overall", "you", "AB", "B")], "no node joins them"),
        ([("Depth", "me", "AB", "A"), ("Tone", "me", "AB", "B")], "not over all: write verdict"),
    ):
        verdict, kinds, text = compared(*said)
        assert (verdict, kinds) == (None, ["verdict-missing"])
        assert cure in text
    assert compared(("overall", "me", "AB", "A"), verdict="B")[:2] == ("B", ["verdict-differs"])


def test_meta_says_that_it_holds_single_orders_against_people():
    async def mine(state: jg.EvalState) -> jg.EvalState:
        orders = [jg.Comparison(criterion="overall", agent="me", order=o, verdict="A") for o in ("AB", "BA")]
        return {"comparisons": jg.keyed(*orders)}

    pairs = [jg.Sample(id=i, output="One text.", rival="Another.", human={"overall": v}) for i, v in ("xA", "yB")]
    notes = read_run(jg.evaluate(row(mine), pairs)).notes
    assert any(note.startswith("2 of 2 pairs were compared and have no verdict") for note in notes)


def test_an_answer_over_all_off_the_scores_scales_is_told():
    def told(overall):
        async def mine(state: jg.EvalState) -> jg.EvalState:
            return {
                "scores": jg.keyed(jg.Score(criterion="Fit", agent="me", value=4.0, scale="2-5")),
                "overall": overall,
            }

        notices = jg.evaluate(row(mine), [jg.Sample(id="a", output="Some text.")]).summary().notices
        return "overall-off-scale" in notices

    assert [told(overall) for overall in (80.0, -3.0, 3.0, 0.5)] == [True, True, False, False]


def test_samples_for_which_a_graph_wrote_nothing_miss_their_scores():
    items = [Item(sample=BARE[0], scores=(score("Wit"),)), Item(sample=BARE[1]), Item(sample=BARE[2])]
    summary = summarise(items, "x")
    (line,) = summary.answers.values()
    assert (line.n_ok, line.n, line.statuses["skipped"]) == (1, 3, 2)
    assert coverage(summary)[0] == 1 / 3


def read(notes, reader="stated"):
    return score("Clarity").model_copy(update={"notes": notes, "reader": reader})


@pytest.mark.parametrize(
    ("given", "kind", "example"),
    [
        (read(("the judge gives no log-probabilities",)), "read-as-stated", "1 score, the judge gives no"),
        (
            read(("the answer could not be found among the tokens",), "samples"),
            "read-by-samples",
            "1 score, the answer",
        ),
        (read(("prose around the JSON removed",), "logprobs"), "reply-mended", "1 score, prose around the JSON"),
        (read(("an earlier answer taken back (5)",)), "answer-taken-back", "1 score, an earlier answer taken back"),
    ],
)
def test_how_a_score_was_read_is_told_where_it_was_not_as_wanted(given, kind, example, tmp_path, capsys):
    graph = row(scoring(given))
    run = jg.evaluate(graph, BARE, out=tmp_path / "run")
    found = run.summary().notices
    assert {name: notice.samples for name, notice in found.items()} == {kind: 3}
    assert found[kind].text.startswith(example)
    assert [one["kind"] for one in run.summary().to_dict()["notices"]] == [kind]
    print_run(run, run.summary())
    assert f"{title(kind)} on 3 of 3 samples: for example 1 score" in capsys.readouterr().out
    write_report(run, tmp_path / "page.html")
    assert title(kind) in (tmp_path / "page.html").read_text()


def test_a_score_that_was_read_as_wanted_needs_no_word():
    assert not summarise([Item(sample=BARE[0], scores=(read(()), read((), "logprobs")))], "sig").notices


def test_a_real_step_down_is_told(tmp_path):
    judge = scripted(*[{"clarity": {"reason": "r", "score": 3}}] * 90)
    graph = row(Evaluator(judge=judge, criteria=[CRITERIA[0]]))
    found = jg.evaluate(graph, BARE).summary().notices
    assert {kind: notice.samples for kind, notice in found.items()} == {"read-by-samples": 3}


def test_a_criterion_that_nobody_gave_is_told_with_the_one_that_was_meant(tmp_path, capsys):
    async def shouting(state: EvalState) -> EvalState:
        return {"scores": keyed(*(score(c, 1.0) for c in ("CLARITY", "Warmth")))}

    judge = Evaluator(criteria=CRITERIA, stage="final")
    run = jg.evaluate(row(judge, shouting), BARE, out=tmp_path / "run")
    notice = run.summary().notices["criterion-unknown"]
    assert (notice.samples, "did you mean 'Clarity'?" in notice.text, "Warmth" in notice.text) == (3, True, False)
    print_run(run, run.summary())
    assert "of your own (2) and 2 of the graph's own" in capsys.readouterr().out.replace("criteria: ", "")
    assert "criterion-unknown" not in jg.evaluate(row(judge), BARE).summary().notices


def test_a_number_without_a_scale_is_told():
    run = jg.evaluate(row(scoring(score("Clarity", 80, scale=None))), BARE)
    notice = run.summary().notices["scale-missing"]
    assert (notice.samples, "gave 80 for 'Clarity'" in notice.text) == (3, True)
    assert not run.summary().headline
    assert "scale-missing" not in jg.evaluate(row(scoring(score("Clarity", 4))), BARE).summary().notices


def test_a_panel_that_counted_fewer_judges_than_it_has_is_told_once_for_a_sample():
    votes = [score(c, agent=a, stage="ballot") for a in "xy" for c in ("Clarity", "Wit")]
    votes[3] = votes[3].model_copy(update={"value": None, "status": "unreadable"})
    panel = Consensus(members=("x", "y"), criteria=CRITERIA)
    summary = jg.evaluate(row(scoring(*votes), panel), BARE).summary()
    notice = summary.notices["panel-fewer"]
    assert (notice.samples, notice.text) == (3, "'panel' counted 1 of 2 on Wit")
    lost = [v.model_copy(update={"value": None, "status": "unreadable"}) if v.agent == "y" else v for v in votes]
    kinds = jg.evaluate(row(scoring(*lost), panel), BARE).summary().notices
    assert "panel-member-silent" in kinds
    assert "panel-fewer" not in kinds  # what is told by another kind is told once


def test_members_say_of_how_many_and_the_headline_how_many_lack_a_criterion(capsys):
    def judged_by(*agents, wit=True):
        votes = [score("Clarity", agent=a, stage="ballot") for a in agents]
        answers = [score("Clarity", agent="panel").model_copy(update={"votes": tuple(v.key for v in votes)})]
        return [*votes, *answers, *([score("Wit", agent="panel")] if wit else [])]

    made = [judged_by("x", "y"), judged_by("x"), judged_by("x", wit=False)]
    items = [Item(sample=sample, scores=scores) for sample, scores in zip(BARE, made, strict=True)]
    run = Run({"signature": "sig", "calls": {"prompt_tokens": 0, "completion_tokens": 0, "replies": 0}}, items)
    summary = run.summary()
    assert summary.lacking == {"": 1}
    assert summary.to_dict()["headline"][0]["lacking"] == 1
    print_run(run, summary)
    said = capsys.readouterr().out
    assert "3 samples, 1 of these without some criterion" in said
    members = said.partition("members")[2]
    assert "3.00 (n 1)" in members
    assert "(n 3)" not in members


def test_drafts_that_a_critic_passed_over_are_told_of():
    second = Evaluator(criteria=CRITERIA, name="second", cot=True)
    for critic in ([jg.critique(criteria=CRITERIA)], [SAGE, Rectify()]):
        found = jg.evaluate(row(EVALUATOR, second, *critic), BARE).summary().notices["drafts-passed-over"]
        assert found.samples == 3
        assert found.text.startswith("'sage' reviewed what 'second' gave of 'Clarity', 'Wit', and what 'eval")
    joined = jg.panel(EVALUATOR, second, criteria=CRITERIA, stage="draft")
    run = jg.evaluate(row(joined, jg.critique(criteria=CRITERIA)), BARE)
    assert "drafts-passed-over" not in run.summary().notices


def test_a_line_says_for_how_many_samples_its_reason_holds():
    texts = ["no answer within 5 s", "no answer within 9 s", "the judge refused"]
    notes = [Note(agent="sage", text=text, status="skipped", kind="drafts-unread") for text in texts]
    items = [Item(sample=sample, notes=(note,)) for sample, note in zip(BARE, notes, strict=True)]
    line = summarise(items, "sig").notices["drafts-unread"].line(3)
    assert line.endswith("on 3 of 3 samples: no answer within 5 s (1 of them for other reasons)")


def test_a_verdict_against_its_own_score_is_told():
    def critic(state: EvalState) -> EvalState:
        said = Rectification(
            criterion="Clarity", agent="sage", notes=("said 'raise' but gave 2 for a score of 3; the score stands",)
        )
        return {"rectifications": {said.key: said}}

    drafts = scoring(score("Clarity", 3.0, "evaluator", "draft"), criteria=CRITERIA[:1])
    run = jg.evaluate(row(drafts, critic, Rectify()), BARE, check=False)
    assert "'sage' on 'Clarity': said 'raise' but gave 2" in run.summary().notices["critic-contrary"].text
    finals = [one for item in run.items for one in item.scores if one.stage == "final"]
    assert all("said 'raise' but gave 2" in one.notes[0] for one in finals)
