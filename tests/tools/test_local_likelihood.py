"""The log-probability of an output by a model on this machine: a tiny one, made with transformers."""

import shutil
import sys

import pytest
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.tools.likelihood import Likelihood, _local

WORDS = ["the", "old", "bridge", "is", "shut", "and", "cars", "go", "round", "until", "spring", "comes"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    tokenizers = pytest.importorskip("tokenizers")
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(["?", *WORDS])}, "?"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    torch.manual_seed(1)
    config = transformers.GPT2Config(vocab_size=1 + len(WORDS), n_positions=16, n_embd=8, n_layer=2, n_head=2)
    found = tmp_path_factory.mktemp("model")
    transformers.GPT2LMHeadModel(config).save_pretrained(found)
    transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="?").save_pretrained(found)
    return str(found)


@pytest.mark.slow
async def test_the_value_is_the_models_own_loss_over_the_outputs_tokens_alone(folder):
    import torch
    import transformers

    sample = jg.Sample(id="s", query="cars go round", source="the old bridge is shut", output="the bridge is shut")
    found = await Likelihood(model=folder)(sample)
    ids = [1 + WORDS.index(w) for w in f"{sample.query} {sample.source} {sample.output}".split()]
    labels = [-100] * 8 + ids[8:]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        loss = model(torch.tensor([ids]), labels=torch.tensor([labels])).loss
    assert found.value == pytest.approx(-float(loss), abs=1e-5)
    assert found.reason.startswith("4 tokens")
    assert _local.cache_info().currsize == 1


@pytest.mark.slow
def test_another_model_at_the_same_path_is_not_taken_from_the_ledger(folder, tmp_path):
    import torch
    import transformers

    where = tmp_path / "model"
    shutil.copytree(folder, where)
    sample = jg.Sample(id="s", source="the old bridge is shut", output="cars go round")

    def value(out):
        graph = StateGraph(jg.EvalState)
        graph.add_node("measure", jg.metric_node(Likelihood(model=str(where))))
        graph.add_edge(START, "measure")
        graph.add_edge("measure", END)
        run = jg.evaluate(graph.compile(), [sample], out=tmp_path / out, ledger=tmp_path / "ledger.sqlite")
        (item,) = run.items
        return item.findings[0].value

    first = value("one")
    assert value("two") == first
    torch.manual_seed(2)
    config = transformers.AutoConfig.from_pretrained(where)
    transformers.GPT2LMHeadModel(config).save_pretrained(where)  # same sizes, same names, other weights
    assert value("three") != first


@pytest.mark.slow
def test_a_text_beyond_the_models_window_has_no_value_and_says_so(folder):
    found = jg.tools.measure(Likelihood(model=folder), "the bridge is shut", source="the old bridge " * 5)
    assert (found.status, found.value) == ("skipped", None)
    assert "19 tokens; the model reads 16" in found.reason


def test_an_absent_library_gives_one_line_that_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r'pip install "judgegraph\[likelihood\]"'):
        jg.tools.measure(Likelihood(model="/nowhere"), "a text", source="another")
