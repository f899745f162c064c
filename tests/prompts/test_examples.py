"""Examples of criteria: in a section of their own where they are given, in none and with no other digest where not."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgegraph as jg
from judgegraph.errors import ValueRefused
from judgegraph.graphs import (
    bsm,
    chateval,
    checkeval,
    coascore,
    fennec,
    fusion_eval,
    g_eval,
    judge_form,
    llm_score,
    mateval,
    poll,
    sageval,
    trajectory,
)
from judgegraph.prompts.criteria import as_yaml, criteria_set
from judgegraph.prompts.template import CALIBRATION, EXAMPLES, HERE, examples_text, known, load, watched
from judgegraph.runs.item import UNSHOWN_EXAMPLES, lacks_of

SAMPLE = jg.Sample(id="a", query="Ask about lunch.", output="Did you like lunch? Yes / No")
EXAMPLE = jg.Exemplar(output="What did you eat?\nSay it in a line.", score=4, reason="It can be answered.")
PLAIN = jg.Criterion(name="Clarity", definition="How clear it is.")
TAUGHT = PLAIN.model_copy(update={"examples": (EXAMPLE,)})


def run_of(build, criteria, sample=SAMPLE):
    """The run of one sample, and (prompt, fields, messages) of what was asked."""
    seen = []
    token = watched.set(lambda prompt, texts: seen.append((prompt.name, dict(texts))))
    try:
        return jg.evaluate(build(criteria=criteria), [sample]), seen
    finally:
        watched.reset(token)


def test_criteria_without_examples_have_the_digests_that_they_had():
    assert criteria_set("forms").digest == "fc6f4efd"
    assert criteria_set([PLAIN]).digest != criteria_set([TAUGHT]).digest


@pytest.mark.parametrize("name", [n for n in known() if {"criteria"} <= load(n).fields])
def test_a_prompt_without_examples_is_as_it_was_and_one_with_them_differs_by_their_section_alone(name):
    prompt = load(name)
    values = {field: f"what {field} holds" for field in prompt.fields}
    bare = prompt.render(**values)
    assert prompt.render(**values, examples="").messages == bare.messages
    shown = prompt.render(**values, examples="## Clarity\nExample 1")
    added = re.compile(rf"\n\n{re.escape(CALIBRATION)}\n\n<examples-(\w{{8}})>\n## Clarity\nExample 1\n</examples-\1>")
    stripped = [(role, added.sub("", text)) for role, text in shown.messages]
    assert stripped == list(bare.messages)
    assert sum(bool(added.search(text)) for _, text in shown.messages) == 1
    assert (shown.digest, shown.left_out) == (bare.digest, ())
    assert all((HERE / f"{n}.md").is_file() for n in (name,))


@given(st.lists(st.text(max_size=30) | st.sampled_from(
    ["</examples>", "## Extra\nScale: 1-9", "Score: 9\n\n## B", "$output", "\r\n## X", "Example 2\nText:", "\x85## Y"]
), min_size=1, max_size=4))  # fmt: skip
def test_no_text_of_an_example_looks_like_a_criterion_a_score_or_another_example(texts):
    shown = [jg.Exemplar(output=text, score=2, reason=text) for text in texts if re.search(r"\S", text)]
    if not shown:
        return
    told = examples_text([PLAIN.model_copy(update={"examples": tuple(shown)})], "another text")
    heads = [line for line in told.splitlines() if line and not line.startswith((" ", "Reason: "))]
    assert heads == ["## Clarity", *(w for at in range(len(shown)) for w in (f"Example {at + 1}", "Score: 2", "Text:"))]


def test_examples_are_shown_to_the_evaluator_and_the_critic():
    run, seen = run_of(sageval, [TAUGHT])
    assert [name for name, texts in seen if "What did you eat?" in texts.get(EXAMPLES, "")] == ["evaluate", "critique"]
    assert not any(UNSHOWN_EXAMPLES in line for line in lacks_of(run.manifest))
    bare, seen = run_of(sageval, [PLAIN])
    assert not any(EXAMPLES in texts for _, texts in seen)
    assert [s.value for s in next(iter(bare.items)).scores] == [s.value for s in next(iter(run.items)).scores], (
        "the embedded judge scores by what it sees of the text, not by examples"
    )


def test_who_shows_no_examples_says_so():
    run, seen = run_of(checkeval, [TAUGHT])
    assert not any("What did you eat?" in text for _, texts in seen for text in texts.values())
    assert UNSHOWN_EXAMPLES in lacks_of(run.manifest)


PAIR = SAMPLE.model_copy(update={"rival": "What was for lunch?"})
JURORS = {"strict": "You are strict.", "kind": "You are kind."}
RUN = jg.trajectory([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}], id="run")


@pytest.mark.parametrize(
    ("form", "prompt", "sample"),
    [
        (sageval, "evaluate", SAMPLE), (g_eval, "g_eval", SAMPLE), (llm_score, "llm_score", SAMPLE),
        (fennec, "judge_pair", PAIR), (partial(fennec, mode="single"), "judge_single", SAMPLE),
        (coascore, "fuse", SAMPLE), (fusion_eval, "fusion_judge", SAMPLE), (bsm, "judge_pair", PAIR),
        (poll, "juror", SAMPLE), (chateval, "juror", SAMPLE), (mateval, "juror", SAMPLE),
        (partial(mateval, reply="text"), "question_blocks", SAMPLE), (trajectory, "trajectory_whole", RUN),
        (judge_form, "form_rating", SAMPLE), (partial(jg.jury, JURORS), "juror", SAMPLE),
    ],
)  # fmt: skip
def test_every_judge_that_scores_by_a_criterion_is_shown_its_examples_and_nobody_is_shown_the_judged_text(
    form, prompt, sample
):
    run, seen = run_of(form, [TAUGHT], sample)
    assert {"What did you eat?" in texts.get(EXAMPLES, "") for name, texts in seen if name == prompt} == {True}
    assert not [one for one in jg.check(form(criteria=[TAUGHT])).findings if one.code == "unseen-examples"]
    assert not any(UNSHOWN_EXAMPLES in line for line in lacks_of(run.manifest))
    bare, _ = run_of(form, [PLAIN], sample)
    assert answers(bare) == answers(run), "the embedded judge scores by what it sees of the text, not by examples"
    for own in (sample.output, *filter(None, [sample.rival])):
        taught = PLAIN.model_copy(update={"examples": (jg.Exemplar(output=own, score=5),)})
        run, seen = run_of(form, [taught], sample)
        assert not any(EXAMPLES in texts for _, texts in seen)
        assert any("1 of 1 example not shown" in note for note in notes_of(run))


def answers(run):
    return [(score.key, score.answer) for item in run.items for score in item.scores]


def notes_of(run):
    (item,) = run.items
    return [note for one in (*item.scores, *item.comparisons) for note in one.notes]


@pytest.mark.parametrize("form", [checkeval, partial(coascore, fuse="average"), partial(judge_form, form="verdict")])
def test_check_names_before_a_run_a_judge_that_has_no_place_for_them(form):
    (warned,) = [one for one in jg.check(form(criteria=[TAUGHT])).findings if one.code == "unseen-examples"]
    assert warned.severity == "warning"
    run, seen = run_of(form, [TAUGHT], PAIR)
    assert not any("What did you eat?" in text for _, texts in seen for text in texts.values())
    assert any(UNSHOWN_EXAMPLES in line for line in lacks_of(run.manifest))
    assert not [one for one in jg.check(form(criteria=[PLAIN])).findings if one.code == "unseen-examples"]


def test_where_one_member_shows_examples_the_other_is_named():
    found = jg.check(jg.panel("g-eval", "checkeval", criteria=[TAUGHT])).findings
    assert [one.node for one in found if one.code == "unseen-examples"] == ["panel-checkeval/ask/chain/answer"]


def test_an_example_is_never_the_judged_text_itself():
    own = jg.Exemplar(output="did you  like lunch?\nYES / no", score=5)
    run, seen = run_of(sageval, [PLAIN.model_copy(update={"examples": (own, EXAMPLE)})])
    assert all("lunch" not in texts.get(EXAMPLES, "") for _, texts in seen)
    item = next(iter(run.items))
    (draft,) = (s for s in item.scores if s.stage == "draft")
    (said,) = item.rectifications
    note = "1 of 2 examples not shown: the judged text itself"
    assert note in draft.notes
    assert note in said.notes
    run, seen = run_of(sageval, [PLAIN.model_copy(update={"examples": (own,)})])
    assert not any(EXAMPLES in texts for _, texts in seen)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"output": "t", "score": 6}, "not on the scale 1-5"),
        ({"output": "t", "score": "good"}, "no number"),
        ({"output": "", "score": 4}, "at least 1 character"),
        ({"output": "t" * 4001, "score": 4}, "at most 4000 characters"),
        ({"output": "t", "score": 4, "reason": "r" * 1001}, "at most 1000 characters"),
    ],
)
def test_an_example_off_its_scale_or_too_long_is_refused(given, said):
    with pytest.raises(ValueRefused, match=said):
        jg.Criterion(name="Clarity", examples=[given])


def test_there_are_eight_at_most():
    with pytest.raises(ValueRefused, match="at most 8 items"):
        jg.Criterion(name="Clarity", examples=[EXAMPLE] * 9)


def test_a_file_of_criteria_with_examples_reads_as_it_was_written(tmp_path):
    tone = jg.Criterion(
        name="Tone", definition="d", scale=jg.Scale.of(["warm", "cold"]), examples=[{"output": "Hi!", "score": "warm"}]
    )
    made = jg.CriteriaSet(name="mine", criteria=(TAUGHT, tone, PLAIN.model_copy(update={"name": "Other"})), version=2)
    path = tmp_path / "mine.yaml"
    path.write_text(as_yaml(made))
    assert criteria_set(str(path)) == made
    path.write_text(path.read_text().replace("What did you eat?", "What did you drink?"))
    with pytest.raises(jg.ConfigError, match=rf"line 3, 'digest': {made.digest} is of other criteria.*raise version"):
        criteria_set(str(path))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("    - {output: t, score: 7}", r"line 5, 'score': expected a value on the scale 1-5, got a number \(7\)"),
        ("    - {output: t}", r"line 5, 'score': missing"),
        ("    - {score: 4}", r"line 5, 'output': missing or empty"),
        ("    - {output: t, score: 4, why: w}", r"line 5, 'why': unknown key of an example"),
        ("    - {output: " + "t" * 4001 + ", score: 4}", r"line 5, 'output': expected at most 4,000 characters"),
    ],
)
def test_a_mistaken_example_of_a_file_is_named_by_its_line(lines, said, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"criteria:\n- name: Clarity\n  definition: d\n  examples:\n{lines}\n")
    with pytest.raises(jg.ConfigError, match=said):
        criteria_set(str(path))
