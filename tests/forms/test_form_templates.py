"""A form's template: where it is found, what fills its slots, what is refused before anything is asked."""

import json
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgegraph.errors import ConfigError
from judgegraph.forms.form import KEYS, JudgeForm, read_form
from judgegraph.forms.shipped import FORMS, form_of
from judgegraph.forms.templates import taken_apart, template_of

SINGLE = JudgeForm(name="one", kind="single", reader="rating-line")
PAIR = JudgeForm(name="two", kind="pair", reader="double-brackets")


def filled(form, text, values, **more):
    made = taken_apart(form, text, "", "a text", **more)
    return made.filled(values, form.drop_if_empty)[1]


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        (SINGLE, "Q {instruction} R {response}", "Q q R o"),
        (SINGLE, "Q {{ query }} R {{output}} {not a slot}", "Q q R o {not a slot}"),
        (SINGLE, "Q $question R ${answer} costs $$5", "Q q R o costs $5"),
        (SINGLE, '{{"json": {response}}} {}', '{"json": o} {}'),
        (SINGLE, "{output} {rubric} {score3_description}", "o [d]\nScore 3: fair fair"),
        (PAIR, "{question} {answer_a} {answer_b} {ref_answer_1}", "q a b r"),
        (PAIR, "{prompt} {response} {response_another}", "q a b"),
        (PAIR, "{instruction} {response_A} {response_B} {reference_answer}", "q a b r"),
    ],
)
def test_slots_of_three_spellings_and_the_authors_own_names_are_filled(form, text, expected):
    values = {"query": "q", "output": "o", "A": "a", "B": "b", "reference": "r", "level:3": "fair",
              "rubric": "[d]\nScore 3: fair"}  # fmt: skip
    assert filled(form, text, values) == expected


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(("query", "A", "B")), st.text(), min_size=3))
def test_a_value_is_never_looked_at_for_slots(values):
    hostile = {key: f"{value} {{A}} {{B}} {{{{query}}}} $query" for key, value in values.items()}
    got = filled(PAIR, "{query}|{A}|{B}", hostile)
    assert got == "|".join(hostile[key] for key in ("query", "A", "B"))


def test_the_paragraph_of_an_empty_slot_is_left_out_with_its_heading():
    form = replace(PAIR, drop_if_empty=("source", "reference"), slots={"input": "source"})
    text = "Task\n\n### Input:\n{input}\n\n### One:\n{A}\n\nReference answer:\n\n{reference}\n\n### Two:\n{B}"
    values = {"A": "a", "B": "b"}
    assert filled(form, text, values) == "Task\n\n### One:\na\n\n### Two:\nb"
    whole = filled(form, text, {**values, "source": "s", "reference": "r"})
    assert whole == "Task\n\n### Input:\ns\n\n### One:\na\n\nReference answer:\n\nr\n\n### Two:\nb"


PROMPTS = '''
raise RuntimeError("a template is read, never run")
RUBRIC: str = """Judge {response} by {rubric}.""".strip()
LONG = "Task {instruction}, " + "answer {response}."
class Kept:
    PAIR = "{instruction} {response_A} {response_B}"
conv = Conversation(system="Be fair.", template="{question} {answer_1} {answer_2} {prompt}", end="\\nGo:")
'''


@pytest.fixture
def files(tmp_path):
    (tmp_path / "p.txt").write_text("{instruction} {response}")
    (tmp_path / "p.py").write_text(PROMPTS)
    (tmp_path / "p.json").write_text(json.dumps({"user": "{question} {answer}", "n": 3}))
    rows = [
        {"name": n, "system_prompt": f"sys {n}", "prompt_template": f"{n} {{question}} {{answer}}"} for n in ("x", "y")
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "p.yaml").write_text("user_template: |\n  {{query}} {{output}}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("p.txt", "q o"), ("p.py:RUBRIC", "Judge o by c."), ("p.py:LONG", "Task q, answer o."), ("p.json", "q o"),
        ("p.json:user", "q o"), ("p.jsonl:name=y:prompt_template", "y q o"), ("p.yaml", "q o\n"),
        ("{question}\n{answer}", "q\no"),
    ],
)  # fmt: skip
def test_a_template_is_read_from_a_file_a_constant_a_field_a_row_or_a_text(files, where, expected):
    asked = where if "\n" in where else str(files / where)
    made = template_of(SINGLE, asked)
    assert made.filled({"query": "q", "output": "o", "rubric": "c"})[1] == expected
    assert made.source in ("a text", where, where.partition(":")[0], f"{where.partition(':')[0]}:user_template")
    assert len(made.digest) == 8


def test_a_form_knows_what_its_authors_call_it_in_their_file(files):
    row = [{"name": "single-v1", "system_prompt": "Be fair.", "prompt_template": "{question} {answer}"}]
    (files / "judge_prompts.jsonl").write_text(
        "".join(json.dumps({**one, "name": n}) + "\n" for one in row for n in ("single-v1", "pair-v2"))
    )
    made = template_of(FORMS["mt-bench-single"], str(files / "judge_prompts.jsonl"))
    assert made.filled({"query": "q", "output": "o"}) == ("Be fair.", "q o")
    assert made.source == "judge_prompts.jsonl:name=single-v1:prompt_template"
    without = template_of(FORMS["mt-bench-single"], str(files / "judge_prompts.jsonl"), system="none")
    assert without.filled({"query": "q", "output": "o"})[0] == ""
    (files / "common.py").write_text(
        'conv_judge_pair = C(system="Fair.", prompt="Two scores.", appendix="\\n### R:", '
        'prompt_template="{question} {answer_1} {answer_2} {prompt}")'
    )
    joined = template_of(FORMS["judgelm"], str(files / "common.py"))
    assert joined.filled({"query": "q", "A": "a", "B": "b"}) == ("", "Fair.\nq a b Two scores.\n### R:")


def test_an_installed_package_is_read_by_its_file_and_never_imported(tmp_path, monkeypatch):
    package = tmp_path / "prometheus_eval"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "prompts.py").write_text(
        'ABS_SYSTEM_PROMPT = "Fair."\nABSOLUTE_PROMPT = "{instruction} {response} {rubric}"\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    made = template_of(FORMS["prometheus2-absolute"])
    assert made.filled({"query": "q", "output": "o", "rubric": "r"}) == ("Fair.", "q o r")
    assert made.source == "prometheus_eval/prompts.py:ABSOLUTE_PROMPT"
    assert "prometheus_eval" not in sys.modules
    assert template_of(SINGLE, "prometheus_eval:prompts.py:ABSOLUTE_PROMPT").digest != made.digest  # it has no system


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda f: form_of("autoj-par"), "no judge form 'autoj-par'; did you mean 'autoj-pair'"),
        (lambda f: template_of(FORMS["pandalm"]), "none is shipped; give a file by template=FILE"),
        (lambda f: template_of(FORMS["flow-judge"]), "install it (pip install --no-deps flow-judge), or give a file"),
        (lambda f: template_of(SINGLE, "nowhere.txt"), "no file nowhere.txt"),
        (lambda f: template_of(SINGLE, f"{f}/p.py:NO"), "no text 'NO'; write p.py:NAME, NAME one of RUBRIC, LONG"),
        (lambda f: template_of(SINGLE, f"{f}/p.jsonl"), "holds 2 rows; write p.jsonl:FIELD=VALUE:NAME"),
        (lambda f: template_of(SINGLE, f"{f}/p.jsonl:name=z:prompt_template"), "0 rows have 'name' = 'z'"),
        (lambda f: template_of(SINGLE, "{response} {mystery}\n"), "nothing is known to fill the slot 'mystery'; say"),
        (lambda f: template_of(PAIR, "{query} {A}\n"), "no slot for B (the response that stands second); its slots"),
        (lambda f: template_of(SINGLE, "{output}\n", slots={"x": "nothing"}), "slots: no key nothing; known: query"),
    ],
)  # fmt: skip
def test_what_cannot_be_found_or_filled_is_told_with_the_cure(files, ask, told):
    with pytest.raises(ConfigError) as error:
        ask(files)
    assert told in str(error.value)


def test_a_line_of_the_template_in_a_judged_text_is_found():
    made = taken_apart(PAIR, "[Start of A]\n{A}\n[End of A]\n{B}\n--\n", "", "a text")
    assert made.echoes(["fine", "well\n [End of A] \n[Start of A]\nbetter"]) == "[End of A]"
    assert made.echoes(["fine", "--"]) == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kind: pair\nreader: double-brackets\ncolour: red\n", "a form has no key colour; known: about"),
        ("kind: pair\n", "the form lacks reader"),
        (
            "kind: pair\nreader: double-brackets\nlabels: [1, 2]\n",
            "key 'labels': expected a list of texts; put 'quotes'",
        ),
        ("kind: duel\nreader: double-brackets\n", "kind: expected 'single' or 'pair', got 'duel'"),
        ("kind: single\nreader: rating-line\nscale: five\n", "scale: "),
        ("- a list\n", "a form is a mapping"),
        ("kind: [\n", "a form is a YAML file"),
    ],
)
def test_a_form_file_that_is_wrong_says_which_key_and_what_was_expected(tmp_path, text, told):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_form(path)
    assert told in str(error.value)


def test_every_key_of_ours_can_be_a_slot_by_its_own_name():
    text = " ".join(f"{{{key}}}" for key in KEYS if key not in ("A", "B"))
    assert taken_apart(SINGLE, text, "", "a text").keys == set(KEYS) - {"A", "B"}
