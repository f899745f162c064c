"""The floors of the embedded judge on human judgements, through its own probabilities on 1-5, and its speed."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmarks" / "embedded.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_embedded", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_embedded"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "criterion", "level", "floor"),
    [
        ("summeval", "coherence", "per group", 0.37),
        ("summeval", "consistency", "per group", 0.41),
        ("summeval", "fluency", "per group", 0.32),
        ("summeval", "relevance", "per group", 0.30),
        ("qags_cnndm", "consistency", "pooled", 0.58),
        ("topical_chat", "overall", "pooled", 0.42),
        ("topical_chat", "groundedness", "pooled", 0.44),
    ],
)
@pytest.mark.long
def test_agreement_with_people_holds_its_floor(
    bench: ModuleType, shared: Path, name: str, criterion: str, level: str, floor: float
) -> None:
    items = list(bench.COLLECTIONS[name](shared / "data"))
    assert bench.agreement(items, criterion)[level] >= floor


def test_recorded_judges_are_read_as_published(bench: ModuleType, shared: Path) -> None:
    items = list(bench.summeval(shared / "data"))
    for label, criterion, published in (("GPT-4", "coherence", 0.448), ("ChatGPT", "consistency", 0.423)):
        held = [(i.others[label][criterion], i.human[criterion]) for i in items if criterion in i.others.get(label, {})]
        assert bench.spearman(*map(list, zip(*held, strict=True))) == pytest.approx(published, abs=0.02)


@pytest.mark.long
def test_it_judges_250_samples_a_second(bench: ModuleType, shared: Path) -> None:
    items = list(bench.summeval(shared / "data"))[:400]
    assert bench.speed(items, lambda _: None) > 250
