"""Tokens before a call: by length, or by a vocabulary that is on this machine already; nothing is fetched."""

import base64
import socket
from hashlib import sha1, sha256

import pytest
import tiktoken_ext.openai_public as public
from langchain_core.messages import HumanMessage, SystemMessage

from judgegraph.calls import vocabulary
from judgegraph.calls.estimate import TokenCounter, completion_tokens, counter_for, prompt_tokens
from judgegraph.calls.exchange import Call

ADDRESS = "https://example.invalid/small.tiktoken"
RANKS = [*(bytes([b]) for b in range(256)), b"th", b"the"]
SMALL = b"\n".join(base64.b64encode(token) + b" %d" % rank for rank, token in enumerate(RANKS))


def small():
    """A recipe as tiktoken writes them: its loader is a global of its module."""
    ranks = load_tiktoken_bpe("https://example.invalid/small.tiktoken", expected_hash=EXPECTED)  # noqa: F821
    return {"name": "o200k_base", "pat_str": r"\w+|\W+", "mergeable_ranks": ranks, "special_tokens": {"<|end|>": 300}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder without a vocabulary, and no way out of this machine."""
    vocabulary._loaded.cache_clear()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(public, "o200k_base", small)
    monkeypatch.setattr(public, "EXPECTED", sha256(SMALL).hexdigest(), raising=False)

    def refuse(*_):
        raise AssertionError("something was sent")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield tmp_path
    vocabulary._loaded.cache_clear()


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
    assert prompt_tokens(call(text)) == tokens


def test_each_message_adds_its_frame():
    assert prompt_tokens(Call((SystemMessage("a" * 8), HumanMessage("b" * 8)))) == 4 + 8


def test_parts_of_a_message_count_as_they_are_written():
    assert prompt_tokens(call([{"type": "text", "text": "a" * 400}])) >= 104


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


def test_another_tiktoken_than_we_know_is_approximated(folder, monkeypatch):
    put(folder, SMALL)

    def newer():
        return read_file_cached(ADDRESS)  # noqa: F821

    monkeypatch.setattr(public, "o200k_base", newer)
    assert counter_for("openai:gpt-4.1-mini").basis == "about 4 characters a token"


def test_where_tiktoken_keeps_no_files_there_is_no_vocabulary(folder, monkeypatch):
    put(folder, SMALL)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert counter_for("openai:gpt-4.1-mini").basis == "about 4 characters a token"


def test_the_older_variable_names_the_folder_too(folder, monkeypatch):
    put(folder, SMALL)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(folder))
    assert counter_for("ChatOpenAI:gpt-4.1").basis == "tokenizer o200k_base"


def test_the_recipes_of_the_installed_tiktoken_are_understood(tmp_path, monkeypatch):
    """With any ranks in place of the real ones, which need not be on this machine."""
    monkeypatch.setattr(vocabulary, "sha256", lambda _: type("Any", (), {"hexdigest": lambda self: AnyText()})())
    monkeypatch.setattr(vocabulary.Path, "read_bytes", lambda _: SMALL)
    for name in ("o200k_base", "cl100k_base"):
        vocabulary._loaded.cache_clear()
        encoding = vocabulary._loaded(name, str(tmp_path))
        counter = TokenCounter(name, encoding)
        assert encoding is not None
        assert counter.count("the") == 1
        assert counter.count(" " * 1_000_000) == 1_000_000  # at once it would be too much for the tokenizer
    vocabulary._loaded.cache_clear()


class AnyText(str):
    def __eq__(self, _):
        return True

    def __ne__(self, _):
        return False

    __hash__ = str.__hash__


def test_a_counted_prompt_has_its_form_and_its_tools():
    counter = TokenCounter()
    plain = counter.prompt(call("a" * 400))
    formed = counter.prompt(call("a" * 400, schema={"type": "object"}, tools=({"name": "t" * 40},)))
    assert plain == 104
    assert formed == plain + 5 + 13
