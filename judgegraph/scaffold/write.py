"""Writes a new package from the templates of its kind."""

from __future__ import annotations

from pathlib import Path

from judgegraph import __version__
from judgegraph.errors import ConfigError, one_line
from judgegraph.scaffold.package_name import PackageName

HERE = Path(__file__).parent
KINDS = ("critic",)  # each a folder of templates beside this file
SUFFIX = ".txt"  # of every template: none is imported, checked or collected where it lies


def write(kind: str, name: PackageName, into: Path) -> Path:
    """The folder that was written: a package with its own tests.

    Raises:
        ConfigError: there is something of that name already, or it cannot be written.
    """
    folder = into / name.name
    try:
        into.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
        for path, text in files(kind, name).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
    except FileExistsError as error:
        there = one_line(error.filename or folder)
        raise ConfigError(f"{there} is there already and stays as it is; choose another name, or --into DIR") from None
    except OSError as error:
        raise ConfigError(f"{one_line(folder)} cannot be written: {error.strerror}") from None
    return folder


def files(kind: str, name: PackageName) -> dict[str, str]:
    """Path in the package -> text."""
    held = HERE / kind
    words = {"__NAME__": name.name, "__MODULE__": name.module, "__CLASS__": name.class_name, "__VERSION__": __version__}
    found = {}
    for template in sorted(held.rglob(f"*{SUFFIX}")):
        path = template.relative_to(held).as_posix().removesuffix(SUFFIX).replace("MODULE", name.module)
        text = template.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        found[path] = text
    return found
