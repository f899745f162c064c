"""ROUGE: the values of rouge-score."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgegraph.errors import ConfigError
from judgegraph.tools import Unmeasurable, assistant
from judgegraph.tools.metrics import bleu, rouge_1, rouge_2, rouge_l, rouge_l_sum
from judgegraph.types import Sample

PAIRS = [
    ("The cat sat on the mat.", "The cat lay on a mat."),
    ("the the the the", "the cat the"),
    ("Nothing alike here", "quite other words"),
    ("one", "one"),
    ("b a", "a b"),
    ("", "some words"),
    ("The council shut the 1824 bridge; cars go round.", "The old bridge, built in 1824, is shut to all cars."),
]


def by_package(name, output, target):
    from rouge_score.rouge_scorer import RougeScorer

    kind = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}[name]
    return RougeScorer([kind]).score(target, output)[kind].fmeasure


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", ["rouge-1", "rouge-2", "rouge-l"])
@pytest.mark.parametrize(("output", "target"), PAIRS)
def test_the_value_is_that_of_the_package(name, output, target):
    sample = Sample(id="s", output=output, reference=target, source="another text")
    assert assistant(name)(sample) == pytest.approx(by_package(name, output, target), abs=1e-12)


@settings(max_examples=60)
@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), min_size=1, max_size=30))
def test_the_longest_common_subsequence_is_that_of_the_package(output, target):
    output, target = " ".join(output), " ".join(target)
    sample = Sample(id="s", output=output, source=target)
    assert assistant("rouge-l")(sample) == pytest.approx(by_package("rouge-l", output, target), abs=1e-12)


LINES = st.lists(st.text("abc ", min_size=1, max_size=9).filter(str.strip), min_size=2, max_size=5).map("\n".join)


@settings(max_examples=60, deadline=None)
@given(LINES, LINES)
def test_of_lines_the_summary_level_is_that_of_the_package(output, target):
    from rouge_score.rouge_scorer import RougeScorer

    for stem in (False, True):
        expected = RougeScorer(["rougeLsum"], use_stemmer=stem).score(target, output)["rougeLsum"].fmeasure
        found = rouge_l_sum(stem=stem)(Sample(id="s", output=output, reference=target))
        assert found == pytest.approx(expected, abs=1e-12)


def test_a_text_in_one_line_is_split_into_sentences_for_the_summary_level():
    sentences, turned = ["The bridge is shut.", "Cars go round."], ["Cars go round.", "The bridge is shut."]
    found, plain = (
        [make()(Sample(id="s", output=sep.join(sentences), reference=sep.join(turned))) for sep in (" ", "\n")]
        for make in (rouge_l_sum, rouge_l)
    )
    assert found == [1.0, 1.0]
    assert max(plain) < 0.6
    with pytest.raises(Unmeasurable, match="compares every two words; 3,000 by 3,000 take too long"):
        rouge_l_sum()(Sample(id="s", output="a b " * 1500, reference="a c " * 1500))


def test_without_a_reference_it_is_measured_against_the_source():
    with_both = Sample(id="s", output="a b c", reference="a b c", source="x y z")
    source_only = Sample(id="s", output="a b c", source="x y z")
    rouge = assistant("rouge-1")
    assert (rouge(with_both), rouge.detail(with_both)) == (1.0, "against the reference")
    assert (rouge(source_only), rouge.detail(source_only)) == (0.0, "against the source")


@pytest.mark.parametrize(
    ("output", "source", "said"),
    [
        ("Мост закрыт до весны", "The bridge is shut", "most of the output is written otherwise"),
        ("The bridge is shut", "大桥关闭了", "most of the source is written otherwise"),
        ("The bridge is shut", "...", "the source holds no word"),
    ],
)
def test_a_script_that_rouge_cannot_read_is_absent_not_zero(output, source, said):
    with pytest.raises(Unmeasurable, match=said):
        assistant("rouge-l")(Sample(id="s", output=output, source=source))


def test_of_several_references_the_best_counts_or_their_mean():
    from rouge_score.rouge_scorer import RougeScorer

    texts = ("the bridges were shut", "cats sleep", "a bridge is shutting down")
    sample = Sample(id="s", output="the bridge is shut", references=texts)
    for stem in (False, True):
        package = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stem)
        for make, kind in ((rouge_1, "rouge1"), (rouge_2, "rouge2"), (rouge_l, "rougeL")):
            each = [package.score(text, sample.output)[kind].fmeasure for text in texts]
            assert make(stem=stem)(sample) == pytest.approx(package.score_multi(texts, sample.output)[kind].fmeasure)
            assert make(stem=stem, over="mean")(sample) == pytest.approx(sum(each) / 3)
    assert rouge_1().detail(sample) == "against the 3 references"


def test_settings_that_change_the_number_change_the_name_that_signatures_hold():
    made = (rouge_1(), rouge_1(stem=True), rouge_1(stem=True, over="mean"), bleu(), bleu(lowercase=True))
    assert [metric.name for metric in made] == [
        "rouge-1",
        "rouge-1-stem",
        "rouge-1-stem-mean",
        "bleu",
        "bleu-lowercase",
    ]
    assert rouge_l_sum(stem=True, over="mean").name == "rouge-l-sum-stem-mean"
    with pytest.raises(ConfigError, match="over is 'max' or 'mean', got 'min'"):
        rouge_1(over="min")


def test_bleu_chrf_ter_and_meteor_read_every_reference_as_their_libraries_do():
    from sacrebleu.metrics import BLEU, CHRF, TER

    texts = ["the bridges were shut", "cats sleep", "a bridge is shut down"]
    sample = Sample(id="s", output="the bridge is shut", references=tuple(texts))
    assert assistant("chrf")(sample) == CHRF().sentence_score(sample.output, texts).score
    assert assistant("bleu")(sample) == BLEU(effective_order=True).sentence_score(sample.output, texts).score
    assert assistant("ter")(sample) == TER().sentence_score(sample.output, texts).score
    best = max(assistant("meteor")(Sample(id="s", output=sample.output, reference=text)) for text in texts)
    assert assistant("meteor")(sample) == best > 0
    assert bleu(lowercase=True)(sample.model_copy(update={"output": "THE bridge is shut"})) == assistant("bleu")(sample)
