"""chrF: the values of sacrebleu."""

import pytest

from judgegraph.tools import Unmeasurable, assistant
from judgegraph.types import Sample


@pytest.mark.parametrize(
    ("output", "target"),
    [
        ("The cat sat.", "The cat lay."),
        ("Мост закрыт", "Мост открыт"),
        ("大桥关闭", "大桥开放"),
        ("", "some words"),
        ("x", "yy"),
    ],
)
def test_the_value_is_that_of_sacrebleu(output, target):
    from sacrebleu import sentence_chrf

    expected = sentence_chrf(output, [target]).score
    assert assistant("chrf")(Sample(id="s", output=output, reference=target)) == pytest.approx(expected)


def test_a_target_without_words_is_absent():
    with pytest.raises(Unmeasurable, match="the source holds no word"):
        assistant("chrf")(Sample(id="s", output="a", source="!?"))
