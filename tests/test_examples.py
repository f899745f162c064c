"""The example data is well-formed: rows load, ids are unique, twins name their original and one defect."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from judgegraph.types import Sample

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
CRITERIA = ROOT / "judgegraph" / "prompts" / "criteria"
NAMES = ("forms", "articles", "dialogues", "pairs")
FILES = [f"{name}{kind}.jsonl" for name in NAMES for kind in ("", ".twins")]
SETS = {"forms": "forms", "articles": "summary", "dialogues": "dialogue", "pairs": "general"}
DEFECTS = {
    "forms": {"duplicate question", "overlapping options", "off topic", "broken grammar", "unfair wording"},
    "articles": {"invented fact", "broken grammar", "off topic", "shuffled order"},
    "dialogues": {"invented fact", "broken grammar", "off topic"},
    "pairs": {"off topic", "broken grammar", "empty content"},
}


def rows(file: str) -> list[dict[str, Any]]:
    """The rows of an example file; NaN and Infinity are no JSON."""
    text = (EXAMPLES / file).read_text(encoding="utf-8")

    def refuse(constant: str) -> None:
        raise AssertionError(f"{file} holds {constant}")

    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def groups(name: str) -> Counter[str]:
    return Counter(row["meta"]["group"] for row in rows(f"{name}.jsonl"))


def names_in(criteria: str) -> set[str]:
    text = (CRITERIA / f"{criteria}.yaml").read_text(encoding="utf-8")
    return {criterion["name"] for criterion in yaml.safe_load(text)["criteria"]}


@pytest.mark.parametrize("file", FILES)
def test_every_line_is_a_sample(file: str) -> None:
    for row in rows(file):
        sample = Sample.of_row(row)
        assert sample.query
        assert sample.output
        assert sample.meta == row["meta"]
        assert Sample.model_validate_json(sample.model_dump_json()) == sample


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_unique_over_originals_and_twins(name: str) -> None:
    ids = Counter(row["id"] for kind in ("", ".twins") for row in rows(f"{name}{kind}.jsonl"))
    assert [i for i, n in ids.items() if n > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_differs_from_its_original_in_the_output_alone(name: str) -> None:
    originals = {row["id"]: row for row in rows(f"{name}.jsonl")}
    for twin in rows(f"{name}.twins.jsonl"):
        original = originals[twin["meta"]["twin_of"]]
        assert twin["output"] != original["output"], twin["id"]
        for field in ("query", "source", "rival"):
            assert twin.get(field) == original.get(field), (twin["id"], field)


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_names_a_known_defect_and_a_criterion_of_the_matching_set(name: str) -> None:
    known = names_in(SETS[name])
    twins = [row["meta"] for row in rows(f"{name}.twins.jsonl")]
    assert len(twins) >= 12
    assert {meta["criterion"] for meta in twins} <= known
    counted = Counter(meta["defect"] for meta in twins)
    assert set(counted) == DEFECTS[name]
    assert min(counted.values()) >= 2


def test_forms_are_whole() -> None:
    forms = rows("forms.jsonl")
    assert len(forms) >= 12
    for row in forms + rows("forms.twins.jsonl"):
        sections = row["output"]["sections"]
        questions = [question for section in sections for question in section["questions"]]
        assert [q["id"] for q in questions] == [f"q{n}" for n in range(1, len(questions) + 1)], row["id"]
        assert 6 <= len(questions) <= 12, row["id"]
        assert len(row["query"].split()) <= 50, row["id"]
        for question in questions:
            assert bool(question["options"]) == (question["type"] != "text"), (row["id"], question["id"])


def test_questions_of_a_form_and_options_of_a_question_are_not_repeated_in_originals() -> None:
    for row in rows("forms.jsonl"):
        questions = [q for section in row["output"]["sections"] for q in section["questions"]]
        texts = [q["text"].casefold() for q in questions]
        assert len(set(texts)) == len(texts), row["id"]
        assert all(len(set(q["options"])) == len(q["options"]) for q in questions), row["id"]


def test_articles_have_two_or_three_summaries_each() -> None:
    counted = groups("articles")
    assert len(counted) >= 12
    assert set(counted.values()) <= {2, 3}
    assert all(150 <= len(row["source"].split()) <= 260 for row in rows("articles.jsonl"))


def test_dialogues_have_a_history_and_a_fact() -> None:
    assert len(groups("dialogues")) >= 12
    for row in rows("dialogues.jsonl"):
        assert set(row["source"]) == {"history", "fact"}
        assert 3 <= len(row["source"]["history"]) <= 6
        assert all(turn["speaker"] in "AB" and turn["text"] for turn in row["source"]["history"])


def test_pairs_have_two_answers_and_the_better_one_is_not_always_the_first() -> None:
    pairs = rows("pairs.jsonl")
    assert len(pairs) >= 12
    better = Counter(row["meta"]["better"] for row in pairs)
    assert set(better) == {"A", "B", "tie"}
    assert abs(better["A"] - better["B"]) <= 2
    assert all(row["rival"] and row["rival"] != row["output"] for row in pairs)
