"""Criteria sets: ours are sound, and a mistake in a user's file is named by file, line and key."""

import json
import time
from pathlib import Path

import pytest

from judgegraph.errors import CriteriaError
from judgegraph.prompts.criteria import CriteriaSet, criteria_set, known_sets, same_key
from judgegraph.types import Criterion, Scale

SCALES = {
    "forms": "1-5 1-5 1-5 1-5 1-5 1-5 1-5 positive/neutral/negative/formal/mixed",
    "summary": "1-5 1-5 1-5 1-5",
    "dialogue": "1-3 1-3 1-3 0-1 0-1 1-5",
    "story": "1-5 1-5 1-5 1-5 1-5 1-5",
    "data-to-text": "1-6 1-6 1-6",
    "general": "1-5 1-5 1-5 1-5 1-5 1-5",
    "rubric": "1-5",
    "story-errors": "-2-0 -2-0 -2-0 -2-0 -2-0",
    "trajectory": "1-5 1-5 1-5 1-5 1-5 1-5",
}


@pytest.mark.parametrize("name", SCALES)
def test_a_built_in_set_is_complete_and_on_its_papers_scales(name):
    found = criteria_set(name)
    assert found.name == name
    assert found.source
    assert found.task.startswith("The output is")
    assert " ".join(str(c.scale).replace(" / ", "/") for c in found.criteria) == SCALES[name]
    for criterion in found.criteria:
        assert 2 <= len(criterion.steps) <= 4, criterion.name
        assert criterion.definition.endswith("."), criterion.name
        assert criterion.definition.count(". ") < 2, criterion.name


def test_the_known_sets_are_the_files_we_ship():
    assert set(known_sets()) == set(SCALES)
    assert known_sets()["summary"] == "The output is a summary of the source text."


def test_sageval_aspects_keep_their_papers_order_and_tone_is_a_label():
    names = [c.name for c in criteria_set("forms").criteria]
    assert names == [
        "Accuracy", "Semantic Diversity", "Cohesion", "Relevancy",
        "Audience Understandability", "Audience Engagement", "Fairness", "Tone",
    ]  # fmt: skip
    assert criteria_set("forms").criteria[-1].scale.points == ()


def test_a_set_passes_through_and_criteria_make_one():
    summary = criteria_set("summary")
    assert criteria_set(summary) is summary
    custom = criteria_set([Criterion(name="Wit")])
    assert (custom.name, custom.criteria[0].name) == ("custom", "Wit")


def test_a_set_survives_json():
    forms = criteria_set("forms")
    assert CriteriaSet.model_validate_json(forms.model_dump_json()) == forms


def test_the_digest_follows_what_is_asked_and_nothing_else():
    one = CriteriaSet(name="a", task="T.", criteria=(Criterion(name="Wit"),))
    renamed = one.model_copy(update={"name": "b", "source": "elsewhere"})
    reworded = CriteriaSet(name="a", task="T.", criteria=(Criterion(name="Wit", definition="Fun."),))
    assert one.digest == renamed.digest != reworded.digest
    assert len(one.digest) == 8


@pytest.mark.parametrize(
    ("which", "said"),
    [
        ("sumary", "no criteria set 'sumary'; did you mean 'summary'? Known: data-to-text, dialogue, forms,"),
        ("nothing-like-it", "no criteria set 'nothing-like-it'. Known: "),
        ("absent.yaml", "criteria file absent.yaml: there is no such file"),
        ([], "one or more Criterion, got none at all"),
        (["Wit"], "one or more Criterion, got 'Wit'"),
        ([Criterion(name="Wit"), Criterion(name="wit!")], "share one name: 'Wit', 'wit!'"),
    ],
)
def test_what_is_no_set_is_refused_with_what_would_be(which, said):
    with pytest.raises(CriteriaError) as error:
        criteria_set(which)
    assert said in str(error.value)


def test_a_users_yaml_file_may_leave_out_what_has_a_default(tmp_path):
    path = tmp_path / "haiku.yaml"
    path.write_text("criteria:\n - name: Form\n   definition: It scans.\n")
    found = criteria_set(path)
    assert found.name == "haiku"
    assert found.task
    assert found.criteria == (Criterion(name="Form", definition="It scans.", scale=Scale(low=1, high=5)),)


@pytest.mark.parametrize("indent", [None, 2, "\t"], ids=["one line", "spaces", "tabs"])
def test_a_users_json_file_has_the_same_shape(tmp_path, indent):
    wit = {"name": "Freude 😀", "definition": "Fun.", "scale": "0-1 any"}
    kind = {"name": "Kind", "definition": "Which.", "scale": ["yes", "no"], "steps": ["Look/see.", "Say."]}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"name": "own", "task": "A joke.", "criteria": [wit, kind]}, indent=indent))
    found = criteria_set(str(path))
    assert (found.name, found.task) == ("own", "A joke.")
    assert found.criteria[0].name == "Freude 😀"
    assert found.criteria[0].scale == Scale(low=0, high=1, whole=False)
    assert found.criteria[1].scale.labels == ("yes", "no")


def test_names_in_any_script_are_distinct_names(tmp_path):
    path = tmp_path / "any.yaml"
    path.write_text("criteria:\n- {name: 一貫性, definition: x}\n- {name: 流暢さ, definition: y}\n", "utf-8")
    assert [c.name for c in criteria_set(path).criteria] == ["一貫性", "流暢さ"]
    assert same_key("Audience  Engagement") == same_key("audience-engagement")


HEAD = "task: A joke.\ncriteria:\n- name: Wit\n  definition: Is it fun?\n"  # 4 lines


@pytest.mark.parametrize(
    ("text", "line", "key", "said"),
    [
        (HEAD + "  scael: 1-5\n", 5, "scael", "unknown key of a criterion; did you mean 'scale'?"),
        (HEAD + "extra: 1\n", 5, "extra", "unknown key of a criteria file. Known: name, task"),
        (HEAD + "  scale: 5\n", 5, "scale", 'such as "1-5", "1-5 by halves" or "0-1 any", a list'),
        (HEAD + "  scale: 5-1\n", 5, "scale", "got text (5-1)"),
        (HEAD + "  scale: 1-99999\n", 5, "scale", "over 1001 points"),
        (HEAD + "  scale: [good]\n", 5, "scale", "two or more different labels"),
        (HEAD + "  scale: [good, Good]\n", 5, "scale", "two or more different labels"),
        (HEAD + "  scale: [yes, no]\n", 5, "scale", "got true or false (yes); put it in quotes"),
        (HEAD + "  scale: {low: 1}\n", 5, "scale", "a label scale needs two or more labels"),
        (HEAD + "  steps: Read it.\n", 5, "steps", "expected a list of steps, got text"),
        (HEAD + "  steps:\n  - Read.\n  -\n", 7, "steps", "missing or empty"),
        (HEAD + "  guideline: [a]\n", 5, "guideline", "expected text, got a list"),
        (HEAD + "  name: Wit\n", 5, "name", "given twice, first in line 3"),
        (HEAD + "- definition: no name\n", 5, "name", "missing or empty"),
        (HEAD + "- name: Depth\n", 5, "definition", "missing or empty"),
        (HEAD + "- name: 7\n", 5, "name", "expected text, got a number (7); put it in quotes"),
        (HEAD + "- name: '?!'\n", 5, "name", "letters, digits and signs"),
        (HEAD + '- name: "a\\nb"\n', 5, "name", "one line"),
        (HEAD + '- name: "\\ud800"\n', 5, "name", "lone surrogate"),
        (HEAD + f"- name: {'long' * 60}\n", 5, "name", "at most 200"),
        (HEAD + "- name: WIT.\n  definition: x\n", 5, "name", "is taken by the criterion in line 3"),
        (HEAD + "- just text\n", 5, "a criterion", "expected a mapping with the keys name, definition"),
        ("criteria: []\n", 1, "criteria", "1 to 200 entries, got 0"),
        ("criteria: Wit\n", 1, "criteria", "expected a list of criteria, got text (Wit)"),
        ("task: x\n", 1, "criteria", "missing; expected a list"),
        ("- a\n", 1, "a criteria file", "expected a mapping with the keys name, task, source, criteria, version"),
        ("", 1, "", "is empty"),
        (HEAD + "  scale: [1, 2\n", 6, "", "is not well-formed"),
        (HEAD + "---\nmore: 1\n", 5, "", "is not well-formed"),
        (HEAD + "  scale: *none\n", 5, "", "undefined alias"),
        (HEAD + "# \x07\n", 5, "", "holds the character 0x7"),
        (HEAD + '- name: "\\UFFFFFFFF"\n', 1, "", "escape"),
        (b"task: caf\xe9\n", 1, "", "is not UTF-8"),
        ("[" * 20_000, 1, "", "nested too deeply"),
        ("x" * 250_001, 0, "", "larger than 250,000 bytes"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_users_file_is_named_by_file_line_and_key(tmp_path, text, line, key, said):
    path = tmp_path / "mine.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CriteriaError) as error:
        criteria_set(path)
    message = str(error.value)
    where = f"criteria file {path}" + (f", line {line}" if line else "") + (f", '{key}'" if key else "") + ": "
    assert message.startswith(where)
    assert said in message
    assert message.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "criteria: !!python/object/apply:os.system ['touch pwned']",
        "!!python/object/apply:os.system ['touch pwned']",
        "criteria:\n- !!python/object/new:type {name: a, definition: b}",
        "criteria:\n- name: !!python/name:os.system\n  definition: b",
        "criteria:\n- name: a\n  definition: !mine b",
        "criteria:\n- name: a\n  definition: b\n  scale: !!set {a, b}",
    ],
)
def test_a_tag_runs_nothing_and_is_refused(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(text)
    with pytest.raises(CriteriaError, match=r"line \d"):
        criteria_set("mine.yaml")
    assert not Path("pwned").exists()


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\ncriteria: *c\n",
        "criteria: &a [*a, *a]\n",
        "criteria:\n- &a {name: x, definition: y, steps: &s [*s]}\n",
        "criteria: [" + "{name: x, definition: &d y}, " * 300 + "]",
        "&a : 1\n? *a\n: 2\n",
    ],
    ids=["a bomb", "a circle", "a circle of steps", "too many", "an alias as a key"],
)
def test_aliases_are_bounded(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    start = time.monotonic()
    with pytest.raises(CriteriaError):
        criteria_set(path)
    assert time.monotonic() - start < 5


def test_an_alias_may_share_a_scale(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "criteria:\n- {name: A, definition: x, scale: &s [lo, hi]}\n- {name: B, definition: y, scale: *s}\n"
    )
    assert [c.scale.labels for c in criteria_set(path).criteria] == [("lo", "hi")] * 2


def test_a_file_with_another_ending_is_told_the_right_one(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("criteria: []")
    with pytest.raises(CriteriaError, match=r"ends in \.yaml, \.yml, \.json"):
        criteria_set(path)
