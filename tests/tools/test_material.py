"""The texts that metrics read."""

import pytest

from judgegraph.tools import Unmeasurable
from judgegraph.tools.metrics import MOST_CHARS, MOST_WORDS, capped, source_text, target_name, target_text, words
from judgegraph.types import Sample


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Cat's mat.", ["the", "cat's", "mat"]),
        ("3,100 cars-a-day", ["3", "100", "cars", "a", "day"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("cafe\u0301 caf\u00e9", ["caf\u00e9", "caf\u00e9"]),
        ("Мост закрыт", ["мост", "закрыт"]),
        ("大桥 is 关闭", ["大", "桥", "is", "关", "闭"]),
        ("snake_case ...", ["snake", "case"]),
        ("", []),
    ],
)
def test_words_are_folded_and_of_any_script(text, expected):
    assert words(text) == expected


def test_a_text_is_capped_by_words_and_by_characters():
    assert len(capped("a " * 100_000).split()) == MOST_WORDS
    assert len(capped("a" * 1_000_000)) == MOST_CHARS
    assert capped("as\n it  stands") == "as\n it  stands"
    assert len(words("中" * 100_000)) == MOST_WORDS


@pytest.mark.parametrize(
    ("reference", "source", "name"),
    [("ref", "src", "reference"), (None, "src", "source"), ("", "src", "source"), ({"a": "ref"}, "", "reference")],
)
def test_the_reference_comes_before_the_source(reference, source, name):
    sample = Sample(id="s", output="out", reference=reference, source=source)
    assert target_name(sample) == name
    assert ("ref" if name == "reference" else "src") in target_text(sample)


def test_neither_reference_nor_source_says_so():
    with pytest.raises(Unmeasurable, match="neither a reference nor a source"):
        target_text(Sample(id="s", output="out"))
    with pytest.raises(Unmeasurable, match="no source"):
        source_text(Sample(id="s", output="out", reference="ref"))


def test_a_json_source_is_read_as_its_text():
    sample = Sample(id="s", output="out", source={"fact": "Rain falls."})
    assert words(source_text(sample)) == ["fact", "rain", "falls"]
