"""Notebooks, executed as a reader would, in a folder of their own: nothing is written into the checkout.

As a program it rewrites the outputs of the notebooks that are named, or of all: `make notebooks`.
"""

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
BOOKS = tuple(sorted((ROOT / "notebooks").glob("*.ipynb")))
SHARED = ROOT.parent / "shared"
LABELLED = ("07_meta_evaluation.ipynb", "09_a_better_judge.ipynb")  # of human judgements that lie beside the checkout
SECONDS = 120  # a cell
INWARD = """
import socket

plain = socket.socket.connect


def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1"):
        raise OSError(f"a notebook asks for {address[0]}, and nothing but loopback is there")
    return plain(self, address)


socket.socket.connect = connect
"""  # of every Python that a notebook starts
KERNEL = "as-tested"  # this interpreter, under a name that no other kernel has


def executed(path: Path, folder: Path, *, shared: bool = False) -> nbformat.NotebookNode:
    """The notebook with fresh outputs; `shared`: human judgements lie beside the checkout, as far as they are there."""
    where = _laid_out(folder, shared)
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory(prefix="jg") as short:  # of sockets: their paths may have 107 characters
        asyncio.run(_execute(book, where, Path(short)))
    return _settled(book)


def _laid_out(folder: Path, shared: bool) -> Path:
    """A checkout as far as a notebook sees it."""
    where = folder / "checkout" / "notebooks"
    where.mkdir(parents=True)
    for name in ("examples", "docs"):
        (where.parent / name).symlink_to(ROOT / name)
    if shared:
        (folder / "shared").symlink_to(SHARED)
    return where


async def _execute(book: nbformat.NotebookNode, where: Path, jupyter: Path) -> None:
    manager = _manager(jupyter)
    client = NotebookClient(
        book, km=manager, timeout=SECONDS, record_timing=False, coalesce_streams=True, allow_errors=True,
        resources={"metadata": {"path": str(where)}},
    )  # fmt: skip
    try:
        await client.async_execute(env=_environment(jupyter), cleanup_kc=True)
    finally:
        if manager.has_kernel:
            await manager.shutdown_kernel(now=True)


def _manager(jupyter: Path) -> AsyncKernelManager:
    spec = jupyter / "kernels" / KERNEL / "kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": KERNEL, "language": "python"}))
    known = KernelSpecManager(kernel_dirs=[str(spec.parents[1])], ensure_native_kernel=False)
    connection = {"transport": "ipc", "ip": str(jupyter / "s"), "connection_file": str(jupyter / "connection.json")}
    return AsyncKernelManager(kernel_name=KERNEL, kernel_spec_manager=known, **connection)


def _environment(jupyter: Path) -> dict[str, str]:
    """No key, no colours, nothing of this machine's Jupyter."""
    kept = {k: v for k, v in os.environ.items() if not re.search(r"KEY|TOKEN|SECRET|^PYTEST|^JUPYTER|^IPYTHON", k)}
    folders = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    own = dict.fromkeys(folders, str(jupyter))
    (jupyter / "sitecustomize.py").write_text(INWARD)
    own["PYTHONPATH"] = os.pathsep.join((str(jupyter), *filter(None, (kept.get("PYTHONPATH"),))))
    return kept | own | {"NO_COLOR": "1", "COLUMNS": "100", "JUDGEGRAPH_CACHE": str(jupyter / "cache")}


def _settled(book: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without what differs between machines and nobody reads."""
    book.metadata = nbformat.from_dict({
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    })  # fmt: skip
    for cell in book.cells:
        cell.metadata = nbformat.from_dict({k: v for k, v in cell.metadata.items() if k == "tags"})
    return book


def outputs(cell: nbformat.NotebookNode) -> list[dict[str, Any]]:
    """What a cell gave, as plain values that can be compared."""
    found: list[dict[str, Any]] = json.loads(json.dumps(cell.get("outputs", [])))
    for one in found:
        one.pop("execution_count", None)
    return found


def told(book: nbformat.NotebookNode) -> str:
    """All that its outputs say, plain text and HTML."""
    texts = []
    for cell in book.cells:
        for one in cell.get("outputs", []):
            texts += [one.get("text", ""), *map(str, one.get("data", {}).values()), *one.get("traceback", [])]
    return "\n".join(texts)


def faults(book: nbformat.NotebookNode) -> list[str]:
    """Errors, and whatever was written to stderr."""
    found = []
    for cell in book.cells:
        for one in cell.get("outputs", []):
            if one.output_type == "error":
                found.append(f"{one.ename}: {one.evalue}")
            elif one.get("name") == "stderr":
                found.append(one.text)
    return found


def main(names: list[str]) -> None:
    """Rewrite the outputs."""
    for path in BOOKS:
        if names and not any(path.name.startswith(name) for name in names):
            continue
        if path.name in LABELLED and not SHARED.is_dir():
            print(f"{path.name}: left as it is, no ../shared")
            continue
        folder = Path(tempfile.mkdtemp())
        try:
            book = executed(path, folder, shared=path.name in LABELLED)
        finally:
            shutil.rmtree(folder)
        nbformat.write(book, path)
        print(f"{path.name}: {path.stat().st_size:,} bytes", *faults(book), sep="\n  ")


if __name__ == "__main__":
    main(sys.argv[1:])
