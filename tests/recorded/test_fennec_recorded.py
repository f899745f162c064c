"""Fennec on recordings of real judges: the paper's worked example, and LLMBar's generated metrics."""

import gzip
import json
import re
from pathlib import Path

import pytest

from judgegraph.agents.criteria import CriteriaWriter
from judgegraph.agents.pairwise import Comparer
from judgegraph.graphs.fennec import fennec
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

LLMBAR = Path(__file__).resolve().parents[3] / "shared" / "data" / "llmbar"
RUNS = sorted(path.parent for path in LLMBAR.glob("**/evaluators/*/Metrics*/result.json.gz"))
ABSENT = [LLMBAR]  # a test without parameters would not say why it is skipped


def cells(text, label):
    """Cells of the paper's tables 10-16 by their label, in the order of print, continued lines included."""
    tables = text[text.index("Table 9: Evaluation prompts") :]
    pattern = rf"^{label}\t(.*?)(?=^\S[^\t\n]*\t|^Table \d)"
    return [cell.strip() for cell in re.findall(pattern, tables, re.M | re.S)]


class Gatsby:
    """The paper's replies, found by the section each step asks with."""

    def __init__(self, text):
        self.query, self.a, self.b = (cells(text, x)[0] for x in ("User Query", "AI Response A", "AI Response B"))
        self.criteria = cells(text, "Criteria")
        self.guidelines, self.judgements = cells(text, "Scoring Guidelines"), cells(text, "Judgement")
        self.corrections = {of: cells(text, f"Response {of} Correction")[0] for of in "AB"}
        self.asked: list[str] = []

    def reply(self, messages):
        text = str(messages[1].content)
        if "<judgements-" in text:
            self.asked.append(text)
            return self.corrections["A" if self.a in text else "B"]
        if "<criterion-" not in text:
            return "\n".join(f"{i}. {line}" for i, line in enumerate(self.criteria, 1))
        name = text.partition("## ")[2].partition("\n")[0]
        (at,) = [i for i, line in enumerate(self.criteria) if line.startswith(name)]
        return self.judgements[at] if "<response_a-" in text else self.guidelines[at]

    async def run(self, **settings):
        judge = scripted(*[self.reply] * 40)
        sample = Sample(id="gatsby", query=self.query, output=self.a, rival=self.b)
        return await fennec(judge, reply="text", **settings).ainvoke({"sample": sample})


@pytest.fixture
def gatsby(shared):
    return Gatsby((shared / "papers" / "fennec.txt").read_text(encoding="utf-8"))


async def test_the_worked_example_is_read_as_it_is_printed(gatsby):
    final = await gatsby.run()
    criteria = final["branches"].values()
    assert [c.name for c in criteria] == [
        "Accuracy", "Comprehensiveness", "Coherence", "Contextuality", "Conciseness",
    ]  # fmt: skip
    assert all(c.definition for c in criteria)
    assert list(final["guidelines"]) == [c.name for c in criteria]
    by_side = {of: [s.value for s in final["scores"].values() if s.of == of] for of in ("output", "rival")}
    assert by_side == {"output": [1, 1, 1, 1, 1], "rival": [4, 3, 4, None, 5]}  # one judgement is cut off in print
    merged = final["comparisons"]["overall/merge/AB"]
    assert (final["verdict"], merged.score_a, merged.score_b) == ("B", 4.0, 16.0)
    assert merged.notes == ("Contextuality: left out of both sums (unreadable)",)


@pytest.mark.parametrize(
    ("correct", "corrected"),
    [("below", {"output": 5}), ("at-most", {"output": 5, "rival": 1}), ("off", {})],
    ids=["the paper's rule corrects A alone", "the code's rule corrects both", "off corrects none"],
)
async def test_the_worked_example_is_corrected(gatsby, correct, corrected):
    done = (await gatsby.run(correct=correct)).get("corrections", {})
    assert {of: len(correction.criteria) for of, correction in done.items()} == corrected
    assert all(done[of].text == gatsby.corrections[label] for of, label in zip(done, "AB", strict=False))
    if "rival" in corrected:
        assert done["rival"].criteria == ("Comprehensiveness",)
        assert "mildly" in gatsby.asked[1]
        assert "Response A failed" not in gatsby.asked[1]  # A's judgement is not B's evidence


def named(run):
    return "-".join(run.relative_to(LLMBAR).parts) or "absent"


def recorded(run):
    """Items with the generated metrics and the judge's replies in both orders, empty where it gave none."""
    for number, item in enumerate(json.loads(gzip.decompress((run / "result.json.gz").read_bytes()))):
        sample = Sample(id=str(number), query=item["input"], output=item["output_1"], rival=item["output_2"])
        said = [item["results"][-1][f"swap = {swapped}"]["completion"][0] for swapped in (False, True)]
        yield sample, item["results"][0][0], said, "AB"[item["label"] - 1]


def first_printed(messages):
    text = str(messages[1].content)
    return text.partition("<response_a-")[2].partition("\n")[2].partition("\n</response_a-")[0].strip()


async def verdicts(sample, metrics, said):
    """The pairwise judge's verdicts in both orders, all metrics as one criterion, labels by position."""

    def reply(messages):
        return said[first_printed(messages) != sample.output.strip()]

    comparer = Comparer(judge=scripted(*[reply] * 6), orders="both", labels="position", reply="text")
    criterion = Criterion(name="metrics", definition=metrics, guideline="-")
    written = await comparer({"sample": sample, "criterion": criterion})
    return [comparison.verdict for comparison in written["comparisons"].values()]


@pytest.mark.parametrize("run", RUNS or ABSENT, ids=named)
@pytest.mark.sampled(3)
async def test_accuracy_and_agreement_of_the_orders_are_the_published_ones(shared, run):
    right, equal, items = [0, 0], 0, 0
    for sample, metrics, said, label in recorded(run):
        found = await verdicts(sample, metrics, said)
        right = [count + (verdict == label) for count, verdict in zip(right, found, strict=True)]
        equal += found[0] == found[1]  # as published: two missing verdicts count as equal
        items += 1
    published = json.loads((run / "statistics.json").read_text())
    counts = {key: int(published[key].split()[0]) for key in ("correct_False", "correct_True", "equal")}
    assert counts == {"correct_False": right[0], "correct_True": right[1], "equal": equal}
    assert float(published["correct_average"][:-1]) == pytest.approx(50 * sum(right) / items)


@pytest.mark.skipif(not RUNS, reason="skipped: no ../shared")
def test_all_recorded_runs_are_there():
    assert len(RUNS) == 21


async def test_a_recorded_pair_goes_through_the_whole_graph(shared):
    run = LLMBAR / "Natural" / "evaluators" / "GPT-4" / "Metrics"
    sample, metrics, said, label = next(recorded(run))

    def reply(messages):
        return said[first_printed(messages) != sample.output.strip()]

    given = [Criterion(name="metrics", definition=metrics, guideline="-")]
    settings = {"orders": "both", "labels": "position", "reply": "text", "merge": "votes", "criteria": given}
    final = await fennec(scripted(*[reply] * 6), **settings).ainvoke({"sample": sample})
    assert final["verdict"] == label
    assert final["comparisons"]["overall/merge/both"].notes[0].startswith("the orders agree")
    assert (final["scores"], final["overall"], final["corrections"]) == ({}, None, {})


@pytest.mark.parametrize(
    "run", [run for run in RUNS if run.name == "Metrics"] or ABSENT, ids=lambda run: "-".join(run.parts[-4:])
)
async def test_generated_metrics_are_read_as_criteria_each_once(shared, run):
    for sample, metrics, _, _ in recorded(run):
        writer = CriteriaWriter(judge=scripted(*[metrics] * 3), reply="text", count=10)
        written = await writer({"sample": sample})
        lines = [re.sub(r"^\d+\. ", "", line).strip() for line in metrics.splitlines() if line.strip()]
        found = [(c.definition or c.name).rpartition(": ")[2] for c in written["criteria"]]
        assert found == list(dict.fromkeys(line.rpartition(": ")[2] for line in lines))
