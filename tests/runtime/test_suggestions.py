"""What critics suggest, by topic: nothing is lost or counted twice, and what asks for the same stands together."""

import json
import random

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.errors import ConfigError, ExtraError
from judgegraph.graphs import sageval
from judgegraph.runs.item import Item
from judgegraph.runs.suggestions import EMBEDDINGS, LETTERS, Gathering, suggestions_of

WORDINGS = {
    "creativity": (
        ("Creativity", "The form has fresh ideas and does not only repeat what every form asks."),
        ("Creativity score", "How original and imaginative the questions are."),
        ("Creative wording", "Whether the wording of the questions is creative and original."),
    ),
    "content": (
        ("Content quality", "The content is useful, correct and complete."),
        ("Content Quality Score", "How good the content of the form is: useful, complete, correct."),
        ("Quality of content", "Whether the content is of good quality throughout."),
    ),
    "privacy": (
        ("Privacy", "Personal data is asked for only where it is needed."),
        ("Data privacy", "The form asks for no more personal data than needed and says who sees it."),
        ("Privacy and data protection", "Personal data is protected, and its use is explained."),
    ),
    "length": (
        ("Appropriate length", "The form asks no more than people will answer at one sitting."),
        ("Length", "How long the form is, and whether people will finish it."),
        ("Form length", "The number of questions is appropriate; people can answer it at one sitting."),
    ),
    "order": (
        ("Question order", "Questions begin with what is easy and go on to what takes thought."),
        ("Order of questions", "The order of the questions is logical, from easy to hard."),
        ("Logical flow", "The questions follow in a logical order."),
    ),
    "access": (
        ("Accessibility", "People with disabilities can fill in the form, also with a screen reader."),
        ("Accessible design", "The form is accessible to people with disabilities."),
        ("Accessibility for all", "Everyone can fill in the form, whatever disabilities they have."),
    ),
    "instructions": (
        ("Clear instructions", "The form says how each question is to be answered."),
        ("Instruction clarity", "Instructions on how to answer are clear."),
        ("Clarity of instructions", "Whether the instructions say how to answer each question."),
    ),
    "options": (
        ("Answer options", "The options of a question cover all answers and do not overlap."),
        ("Option coverage", "Answer options cover every case, without overlap."),
        ("Completeness of options", "Every person finds an option that is true of them."),
    ),
}


def item(place, *found):
    advice = [jg.Suggestion(kind=kind, criterion=name, definition=text) for kind, name, text in found]
    return Item(sample=jg.Sample(id=f"s{place}", output="o"), place=place, suggestions=advice)


def new(name, text="d"):
    return ("criterion", name, text)


ALL = [item(place, new(*one)) for place, one in enumerate(one for many in WORDINGS.values() for one in many)]


@pytest.mark.parametrize("by", ["letters", pytest.param("embeddings", marks=pytest.mark.slow)])
def test_wordings_of_one_criterion_are_one_topic_and_those_of_two_are_not(by):
    try:
        found = suggestions_of(ALL, by)
    except (ConfigError, ExtraError) as error:
        pytest.skip(f"skipped: {error}")
    whose = {name: topic for topic, many in WORDINGS.items() for name, _ in many}
    topics = [{whose[name] for one in topic.members for name in (one.name, *one.also)} for topic in found.topics]
    assert all(len(names) == 1 for names in topics), "no topic mixes two criteria"
    assert len(topics) <= len(WORDINGS) + 1
    assert found.by == {"letters": LETTERS, "embeddings": EMBEDDINGS}[by]


@given(st.lists(st.lists(st.sampled_from([
    new("Privacy"), new("privacy!"), new("Data privacy"), new("Length"), new("长度"), new("?"), new("\x1b[31m"),
    ("definition", "Tone", "how warm"), ("definition", "tone", "How  warm"), ("definition", "Tone", "other words"),
    ("definition", "Depth", "how warm"),
]), max_size=4), max_size=8))  # fmt: skip
def test_every_suggestion_is_in_one_topic_whatever_the_order_of_samples(samples):
    items = [item(place, *found) for place, found in enumerate(samples)]
    found = suggestions_of(items, "letters")
    assert found.samples == len(samples)
    assert found.advised == sum(map(bool, samples))
    assert sum(topic.count for topic in found.topics) + found.beyond == found.count == sum(map(len, samples))
    for topic in found.topics:
        assert sum(one.count for one in topic.members) == topic.count
        assert max(one.samples for one in topic.members) <= topic.samples <= topic.count
        assert topic.label in {one.name for one in topic.members}
        assert {one.name.casefold() for one in topic.members} == {topic.of.casefold()} or topic.kind == "criterion"
    random.Random(1).shuffle(items)
    again = suggestions_of(items, "letters")
    sizes = [sorted((t.kind, t.of.casefold(), t.count, t.samples) for t in one.topics) for one in (found, again)]
    assert sizes[0] == sizes[1]


def test_near_duplicates_are_one_suggestion_with_the_name_that_came_most_often():
    found = suggestions_of(
        [item(0, new("creativity")), item(1, new("Creativity"), new("Creativity")), item(2, new("Creativitys"))],
        "letters",
    )
    (topic,) = found.topics
    assert (topic.label, topic.count, topic.samples) == ("Creativity", 4, 3)
    assert topic.as_suggestion().criterion == "Creativity"


def test_names_beyond_the_bound_are_counted():
    gathered = Gathering(most=2)
    gathered.add(item(0, new("Privacy"), new("Length"), new("Depth"), new("Length")))
    found = gathered.found("letters")
    assert (found.count, found.beyond) == (4, 1)


def test_what_is_no_way_to_measure_is_refused():
    with pytest.raises(ConfigError, match="by: expected"):
        suggestions_of([], "meaning")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suggested") / "run"
    return jg.evaluate(sageval(), jg.load("examples/forms.jsonl"), out=folder)


@pytest.mark.slow
def test_the_command_tells_the_topics_of_a_run_the_conclusion_first(run):
    found = run.suggestions("letters")
    assert found.signature == run.signature
    printed = CliRunner().invoke(main, ["suggestions", str(run.folder.path), "--by", "letters"], prog_name="judgegraph")
    assert printed.exit_code == 0
    assert printed.stdout.startswith(f"{len(found.of_kind('criterion'))} topics of new criteria")
    assert all(topic.label in printed.stdout for topic in found.topics)
    as_json = CliRunner().invoke(main, ["suggestions", str(run.folder.path), "--by", "letters", "--json"])
    assert json.loads(as_json.stdout) == json.loads(json.dumps(found.to_dict()))
