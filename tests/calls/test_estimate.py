"""Tokens before a call: by length, or by a vocabulary that is on this machine already; nothing is fetched."""

import base64
import random
import socket
from hashlib import sha1, sha256

import pytest
import tiktoken_ext.openai_public as public
from langchain_core.messages import HumanMessage, SystemMessage
from tiktoken import Encoding, registry
from tiktoken.load import load_tiktoken_bpe

from judgegraph.calls import estimate
from judgegraph.calls.context import Prefixes
from judgegraph.calls.estimate import TokenCounter, counter_for
from judgegraph.calls.types import Call, completion_tokens, prompt_tokens

ADDRESS = estimate.VOCABULARY_ADDRESS.format("o200k_base")
RANKS = [*(bytes([b]) for b in range(256)), b"th", b"the"]
SMALL = b"\n".join(base64.b64encode(token) + b" %d" % rank for rank, token in enumerate(RANKS))


def small():
    """A recipe as tiktoken writes them."""
    ranks = load_tiktoken_bpe(ADDRESS, expected_hash=sha256(SMALL).hexdigest())
    return {"name": "o200k_base", "pat_str": r"\w+|\W+", "mergeable_ranks": ranks, "special_tokens": {"<|end|>": 300}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder without a vocabulary, and no way out of this machine."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", {"o200k_base": small})
    monkeypatch.setitem(estimate.VOCABULARIES, "o200k_base", sha256(SMALL).hexdigest())

    def refuse(*_):
        raise AssertionError("something was sent")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return tmp_path


def put(folder, data):
    path = folder / sha1(ADDRESS.encode()).hexdigest()
    path.write_bytes(data)
    return path


def call(*texts, **more):
    return Call(tuple(map(HumanMessage, texts)), **more)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 4), ("a" * 400, 104), ("é" * 400, 204), ("字" * 400, 304), ("\ud800" * 4, 7), ("😀" * 4, 8)],
    ids=["nothing", "English", "accents", "Chinese", "half a character", "signs"],
)
def test_a_prompt_is_measured_by_its_bytes_four_to_a_token(text, tokens):
    assert prompt_tokens(call(text).messages) == tokens


def test_each_message_adds_its_frame():
    assert prompt_tokens((SystemMessage("a" * 8), HumanMessage("b" * 8))) == 4 + 8


def test_parts_of_a_message_count_as_they_are_written():
    assert prompt_tokens(call([{"type": "text", "text": "a" * 400}]).messages) >= 104


@pytest.mark.parametrize(
    ("n", "given", "tokens"),
    [(1, {}, 256), (3, {}, 768), (2, {"max_tokens": 10}, 20), (2, {"max_completion_tokens": 10}, 20)],
)
def test_a_reply_takes_what_it_may_for_each_of_its_choices(n, given, tokens):
    assert completion_tokens(call("q", n=n, settings=given)) == tokens


def test_without_a_vocabulary_the_count_says_that_it_is_an_approximation(folder):
    counter = counter_for("openai:gpt-4.1-mini")
    assert counter.basis == "about 4 characters a token"
    assert (counter.count(""), counter.count("word"), counter.count("words")) == (0, 1, 2)
    assert list(folder.iterdir()) == []


def test_a_vocabulary_on_this_machine_is_used_and_named(folder):
    put(folder, SMALL)
    counter = counter_for("openai:gpt-4.1-mini")
    assert counter.basis == "tokenizer o200k_base"
    assert counter.count("the thaw") == 1 + 1 + 3
    assert counter.count("<|end|>") == 7  # judged text is never a special token


@pytest.mark.parametrize("data", [SMALL + b"\nAA== 1000", b"not a vocabulary"])
def test_a_damaged_vocabulary_is_left_as_it_is_and_not_replaced(data, folder):
    path = put(folder, data)
    assert counter_for("openai:gpt-4.1-mini").basis == "about 4 characters a token"
    assert path.read_bytes() == data


@pytest.mark.parametrize("name", ["openai:llama-3.1-8b", "embedded", "openai:gpt2", "anthropic:claude", "", ":"])
def test_a_model_without_a_known_vocabulary_is_approximated(name, folder):
    put(folder, SMALL)
    assert counter_for(name).basis == "about 4 characters a token"


def test_where_tiktoken_keeps_no_files_there_is_no_vocabulary(folder, monkeypatch):
    put(folder, SMALL)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert counter_for("openai:gpt-4.1-mini").basis == "about 4 characters a token"


def test_the_older_variable_names_the_folder_too(folder, monkeypatch):
    put(folder, SMALL)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(folder))
    assert counter_for("ChatOpenAI:gpt-4.1").basis == "tokenizer o200k_base"


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_the_installed_tiktoken_looks_for_the_files_that_we_look_for(name, monkeypatch):
    """Of another address or another sum it would fetch the file. Any ranks stand in place of the real ones."""
    asked = []

    def load(address, expected_hash):
        asked.append((address, expected_hash))
        return {token: rank for rank, token in enumerate(RANKS)}

    monkeypatch.setattr(public, "load_tiktoken_bpe", load)
    counter = TokenCounter(name, Encoding(**getattr(public, name)()))
    assert asked == [(estimate.VOCABULARY_ADDRESS.format(name), estimate.VOCABULARIES[name])]
    assert counter.count("the") == 1
    assert counter.count(" " * 1_000_000) == 1_000_000  # at once it would be too much for the tokenizer


def test_a_counted_prompt_has_its_form_and_its_tools():
    counter = TokenCounter()
    plain = counter.prompt(call("a" * 400))
    formed = counter.prompt(call("a" * 400, schema={"type": "object"}, tools=({"name": "t" * 40},)))
    assert plain == 104
    assert formed == plain + 5 + 13


def test_the_share_of_prefixes_sent_before_is_counted_judge_by_judge():
    draw = random.Random(7)
    prompts = ["".join(draw.choices("ab", k=draw.randint(1, 12))) for _ in range(200)]
    prefixes, shared, before = Prefixes(), 0, []
    for text in prompts:
        call = Call((HumanMessage(text),))
        whole = f"human\0{text}"
        tokens = 1000 * len(whole)
        longest = max((n for other in before for n in range(len(whole) + 1) if other.startswith(whole[:n])), default=0)
        before.append(whole)
        prefixes.add("one", call, tokens)
        shared += 1000 * longest
    assert prefixes.shared == shared
    assert prefixes.share == shared / sum(1000 * len(text) for text in before)
    prefixes = Prefixes()
    prefixes.add("one", Call((HumanMessage("a text"),)), 10)
    prefixes.add("another", Call((HumanMessage("a text"),)), 10)  # whose provider never saw it
    assert prefixes.share == 0


def test_old_prompts_are_forgotten(monkeypatch):
    monkeypatch.setattr("judgegraph.calls.context.REMEMBERED", 100)
    prefixes = Prefixes()
    for text in ("a" * 60, "b" * 60, "a" * 60):
        prefixes.add("one", Call((HumanMessage(text),)), 66)
    assert prefixes.shared < 20
