"""A package's name, and the names that follow from it."""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from judgegraph.errors import ConfigError, one_line
from judgegraph.registry import KINDS, parts
from judgegraph.registry.plugins import normal

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,62}[A-Za-z0-9]")


@dataclass(frozen=True)
class PackageName:
    """Such as "strict-tone": its module is strict_tone, its class StrictTone."""

    name: str

    @staticmethod
    def of(text: str) -> PackageName:
        """In the normal form of package indexes: small letters, and single hyphens between words.

        Raises:
            ConfigError: it is no package's name, a part is called so already, or its module would hide another.
        """
        if not _NAME.fullmatch(text):
            rule = "a name starts with a letter and has two or more letters, digits and hyphens, such as strict-tone"
            raise ConfigError(f"'{one_line(text, 60)}' is no name for a package: {rule}")
        found = PackageName(normal(text))
        if keyword.iskeyword(found.module) or found.module in (*sys.stdlib_module_names, "tests", "judgegraph"):
            raise ConfigError(f"'{found.name}' is no name for a package: Python has another use for {found.module}")
        if find_spec(found.module) is not None:
            raise ConfigError(f"a package {found.module} is installed already; choose another name")
        for part in (part for kind in KINDS for part in parts(kind) if normal(part.name) == found.name):
            raise ConfigError(
                f"'{found.name}' is taken: the {part.kind} of {part.brought_by} is called so; choose another name"
            )
        return found

    @property
    def module(self) -> str:
        """What is imported."""
        return self.name.replace("-", "_")

    @property
    def class_name(self) -> str:
        """Of the plug-in's class."""
        return "".join(word.capitalize() for word in self.name.split("-"))
