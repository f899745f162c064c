"""A tokenizer's vocabulary, where it is on this machine already; nothing is ever fetched for it.

`tiktoken` keeps vocabularies in a folder, each under the SHA-1 of its address, and downloads what is missing or
damaged. We take from it what it knows of an encoding, and read the file ourselves.
"""

from __future__ import annotations

import base64
import builtins
import os
import tempfile
from functools import lru_cache
from hashlib import sha1, sha256
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

FOLDERS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")  # environment variables, in tiktoken's order
ENCODINGS = {"o200k_base": "o200k_base", "o200k_harmony": "o200k_base", "cl100k_base": "cl100k_base"}
"""tiktoken's name -> one with the same words: they differ in special tokens, which no judged text may hold."""


def encoding_of(model: str) -> Any:
    """The tiktoken encoding of a model ("gpt-4.1-mini"), None where it has none or its vocabulary is not at hand."""
    try:
        from tiktoken.model import encoding_name_for_model

        name = ENCODINGS.get(encoding_name_for_model(model))
    except (ImportError, KeyError):
        return None
    folder = _folder()
    return _loaded(name, folder) if name and folder else None


def _folder() -> str:
    """Where tiktoken keeps its files; "" where it was told to keep none."""
    for name in FOLDERS:
        if name in os.environ:
            return os.environ[name]
    return str(Path(tempfile.gettempdir(), "data-gym-cache"))


@lru_cache(maxsize=8)
def _loaded(name: str, folder: str) -> Any:
    def ranks(address: str, expected_hash: str) -> dict[bytes, int]:
        data = Path(folder, sha1(address.encode()).hexdigest()).read_bytes()
        if sha256(data).hexdigest() != expected_hash:
            raise ValueError("a damaged vocabulary")
        pairs = (line.split() for line in data.splitlines() if line)
        return {base64.b64decode(token): int(rank) for token, rank in pairs}

    try:
        import tiktoken

        known = vars(import_module("tiktoken_ext.openai_public"))
        # The encoding's own recipe, with our reader in place of the one that downloads, and nothing else in reach.
        texts = {key: value for key, value in known.items() if isinstance(value, str)}
        recipe = FunctionType(known[name].__code__, {**texts, "load_tiktoken_bpe": ranks, "__builtins__": builtins})
        return tiktoken.Encoding(**recipe())
    except Exception:  # not there, not readable, or another tiktoken than we know: an estimate will do
        return None
