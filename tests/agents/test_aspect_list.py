"""A chain of aspects read from a reply: what counts as an aspect, and what is never made up."""

import pytest

from judgegraph.agents.judge import aspect_stage, read_aspects, tidy_aspects


def names(text, target="Relevance", m=3):
    return [aspect.name for aspect in read_aspects(text, target, m)[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Coverage: All is there.\n2. Focus: No side issue.", ["Coverage", "Focus"]),
        ("Here are two aspects:\n\n1. Coverage: All is there.\n2. Focus: None.", ["Coverage", "Focus"]),
        ("Sure: two of them.\n1) Coverage: All.\n2) Focus: None.\nLet me know: I can go on.", ["Coverage", "Focus"]),
        ("- Coverage: All.\n* Focus: None.", ["Coverage", "Focus"]),
        ("1. **Coverage**: All.\n2. **Focus:** None.", ["Coverage", "Focus"]),
        ("1. Coverage:\n   All is there.\n2. Focus:\n   - Definition: None.", ["Coverage", "Focus"]),
        ("1. Name: Coverage: All.", ["Coverage"]),
        ("Coverage: All.\nFocus: None.", ["Coverage", "Focus"]),
        ("This is what one may look at in judging it: much.\nCoverage: All.\nFocus: None.", ["Coverage", "Focus"]),
        ("No evidence: nothing to read.", []),
        ("1. Inclusion of key information: All.\n2. Coherence and coherence: x.", None),
        ("1. Coverage", []),
        ("", []),
        ("I would rather not.", []),
    ],
    ids=[
        "numbered lines", "a preamble", "prose around it", "bullets", "bold names", "definitions below", "labelled",
        "no numbers", "a sentence before a colon", "one line of prose",
        "long names, a word said twice", "no definition", "nothing", "prose",
    ],
)  # fmt: skip
def test_a_line_with_name_and_definition_is_an_aspect(text, expected):
    expected = ["Inclusion of key information", "Coherence and coherence"] if expected is None else expected
    assert names(text) == expected


def test_a_second_colon_stays_in_the_definition():
    (aspect,), _ = read_aspects("1. Focus: one thing: the topic", "Relevance", 1)
    assert (aspect.name, aspect.definition, str(aspect.scale)) == ("Focus", "one thing: the topic", "1-5")


def test_a_definition_on_the_next_line_loses_its_label():
    (aspect,), _ = read_aspects("1. Focus\n  - Definition: no side issue", "Relevance", 1)
    assert aspect.definition == "no side issue"


@pytest.mark.parametrize(
    ("text", "m", "chain", "notes"),
    [
        ("1. A: x\n2. B: y", 2, ["A", "B"], ()),
        ("1. A: x\n2. a : y\n3. B  b: z\n4. b B: z", 4, ["A", "B b"], ("2 of 4 aspects (2 named twice)",)),
        ("1. RELEVANCE: x\n2. B: y", 2, ["B"], ("1 of 2 aspects (1 the target itself)",)),
        ("1. A: x\n2. B: y\n3. C: z", 2, ["A", "B"], ("2 of 2 aspects (1 beyond that number)",)),
        ("1. A: x\n2. B", 2, ["A"], ("1 of 2 aspects (1 without a definition)",)),
        ("1. A: x", 3, ["A"], ("1 of 3 aspects",)),
        ("1. **RELEVANCE.**: x\n2. B: y", 2, ["B"], ("1 of 2 aspects (1 the target itself)",)),
    ],
    ids=["as asked", "named twice", "the target", "too many", "no definition", "too few", "the target with marks"],
)
def test_a_shortfall_is_told_and_never_padded(text, m, chain, notes):
    found, said = read_aspects(text, "Relevance", m)
    assert [a.name for a in found] == chain
    assert said == notes


@pytest.mark.parametrize("name", ["1. Coherence", "COHERENCE.", "**Coherence**", "(2) *Coherence*:", "- coherence"])
def test_the_target_is_known_by_its_name_whatever_marks_stand_at_it(name):
    found, said = tidy_aspects([(name, "x"), ("3) **Focus**:", "y"), ("focus!", "z")], "Coherence", 2)
    assert [a.name for a in found] == ["Focus"]
    assert said == ("1 of 2 aspects (1 named twice, 1 the target itself)",)


@pytest.mark.parametrize("name", ["3D realism", "1.5 spacing", "Plot: part 1"])
def test_a_number_that_belongs_to_a_name_stays(name):
    assert tidy_aspects([(name, "x")], "Coherence", 1)[0][0].name == name


def test_a_name_too_long_for_a_criterion_is_left_out():
    assert names(f"1. {'x' * 201}: y\n2. B: y") == ["B"]


def test_the_stage_names_the_target():
    assert aspect_stage("Coherence") != aspect_stage("Relevance")
