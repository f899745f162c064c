"""Each surface assistant has the value of its reference library; those without one that of the definition, in words."""

import random
import statistics
from itertools import pairwise

import pytest

from judgegraph.bench.files import present
from judgegraph.tools import assistant, measure
from judgegraph.tools.prose import grade
from judgegraph.types import Sample

WORDS = ["the", "old", "bridge", "is", "shut", "until", "spring", "so", "cars", "and", "buses", "take", "any", "road"]


def written(seed):
    """A text of invented sentences, sometimes with a repeat."""
    rng = random.Random(seed)
    sentences = [
        " ".join(rng.choices(WORDS, k=rng.randint(3, 14))).capitalize() + "." for _ in range(rng.randint(1, 6))
    ]
    return " ".join(sentences + sentences[: rng.randint(0, 1)])


def invented(n):
    texts = [(written(i), written(1000 + i)) for i in range(n)]
    return [Sample(id=str(i), output=a, source=b + " " + a[:20], reference=b) for i, (a, b) in enumerate(texts)]


def by_libraries(sample):
    """Name -> value, each by a fresh scorer of the package, or by the formula of the paper."""
    from nltk.translate.meteor_score import single_meteor_score
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU, CHRF, TER

    from judgegraph.types import words

    class NoSynonyms:
        def synsets(self, word):
            return []

    output, reference = sample.output, sample.reference
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"]).score(reference, output)
    found = words(output)
    fours = list(zip(found, found[1:], found[2:], found[3:], strict=False))
    return {
        "chrf": CHRF().sentence_score(output, [reference]).score,
        "bleu": BLEU(effective_order=True).sentence_score(output, [reference]).score,
        "ter": TER().sentence_score(output, [reference]).score,
        "meteor": single_meteor_score(words(reference), found, wordnet=NoSynonyms()),
        "rouge-1": rouge["rouge1"].fmeasure, "rouge-2": rouge["rouge2"].fmeasure, "rouge-l": rouge["rougeL"].fmeasure,
        "coverage": sum(copied(words(sample.source), found)) / len(found),
        "density": sum(n * n for n in copied(words(sample.source), found)) / len(found),
        "novelty": statistics.fmean(p not in set(pairwise(words(sample.source))) for p in set(pairwise(found))),
        "length-ratio": len(found) / len(words(reference)),
        "word-count": len(found),
        "repetition": 1 - len(set(fours)) / len(fours) if fours else None,
        "distinct-1": len(set(found)) / len(found),
        "distinct-2": len(set(pairwise(found))) / (len(found) - 1),
    }  # fmt: skip


def copied(source, output):
    """Lengths of the runs that the output shares with its source, longest first come: the paper's figure 2, slowly."""
    runs, at = [], 0
    while at < len(output):
        longest = 0
        for start in range(len(source)):
            n = 0
            while at + n < len(output) and start + n < len(source) and source[start + n] == output[at + n]:
                n += 1
            longest = max(longest, n)
        runs += [longest] * (longest > 0)
        at += max(longest, 1)
    return runs


def differences(samples):
    wrong = []
    for sample in samples:
        for name, expected in by_libraries(sample).items():
            finding = measure(name, sample.output, source=sample.source, reference=sample.reference)
            if finding.value is None or expected is None:
                wrong += [] if finding.value is expected else [(sample.id, name, finding, expected)]
            elif abs(finding.value - expected) > 1e-9:
                wrong.append((sample.id, name, finding.value, expected))
    return wrong


@pytest.mark.slow
def test_values_are_those_of_the_libraries():
    assert differences(invented(12)) == []


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_values_are_those_of_the_libraries_on_summaries(shared):
    from judgegraph.bench.summeval import COLLECTION

    folder = shared / "data" / "summeval"
    if not present(folder / COLLECTION.files[0]):
        pytest.skip("skipped: no ../shared")
    samples = [s for i, s in enumerate(COLLECTION.samples(folder)) if i % 8 == 0]
    assert len(samples) == 200
    assert differences(samples) == []


@pytest.mark.parametrize("seed", range(5))
def test_the_reading_level_is_the_formula_of_the_paper(seed):
    text = written(seed)
    words, letters = len(text.split()), sum(map(str.isalpha, text))
    assert grade(text) == pytest.approx(4.71 * letters / words + 0.5 * words / text.count(".") - 21.43)


def test_a_harder_text_has_a_higher_grade_and_another_script_has_none():
    easy, hard = (
        "The cat sat. It was big.",
        "Administrative simplification necessitates interdepartmental coordination.",
    )
    assert assistant("readability")(Sample(id="s", output=easy)) < 3 < 20 < grade(hard)
    assert "another script" in measure("readability", "Мост закрыт до весны").reason


def test_a_missing_input_is_named_and_no_number():
    for name, said in (("bleu", "no reference"), ("ter", "no reference"), ("coverage", "no source")):
        finding = measure(name, "Some words here.")
        assert (finding.value, finding.status) == (None, "skipped")
        assert said in finding.reason
    assert "up to 1,000 words" in measure("ter", "a b " * 600, reference="a c").reason
