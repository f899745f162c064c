"""What a judge's tokens cost: a table that comes with the package, and a user's own before it.

A row's name is a judge's ("openai:gpt-4.1-mini"), wherever it is served, or with "@HOST/PATH" behind it that of one
server. The built-in rows name the provider's own: a server of one's own may call its model as it likes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from judgegraph.models.resolve import Judge
from judgegraph.models.secrets import bare

BUILT_IN = Path(__file__).with_name("prices.yaml")
OPENAI = "https://api.openai.com/v1"
HEAD = """\
# USD per million tokens. Prices change: look at your provider's page before you trust a sum.
# A name holds wherever a model of that name is served; with @HOST/PATH behind it, for that server alone.
# "*" stands for any text; the longest name that fits wins. Save, edit, and give this file as --prices FILE.
"""


@dataclass(frozen=True)
class Price:
    """USD per million tokens of the prompt and of the completion."""

    prompt: float
    completion: float

    def usd(self, prompt: int, completion: int) -> float:
        """What so many tokens cost, in USD."""
        return (prompt * self.prompt + completion * self.completion) / 1_000_000


Rows = Mapping[str, Price]


@dataclass(frozen=True)
class Prices:
    """Rows of a user's file, which come first, and built-in ones.

    Attributes:
        as_of: when they held, as the user's file says, else as the built-in one says.
    """

    own: Rows
    built_in: Rows
    as_of: str
    _known: dict[tuple[str, str], Price | None] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def load(path: str | os.PathLike[str] | None = None) -> Prices:
        """The built-in prices, behind those of a file.

        Raises:
            ConfigError: the file cannot be read or is malformed; names file, line and key.
        """
        from judgegraph.models.price_file import read_prices  # brings a YAML reader

        rows, as_of = _built_in()
        if path is None:
            return Prices({}, rows, as_of)
        found = read_prices(Path(path))
        return Prices(found.prices, rows, found.as_of or as_of)

    def price_of(self, judge: Judge) -> Price | None:
        """A judge's price, None where no row fits it."""
        key = (judge.name, server_of(judge))
        if key not in self._known:
            names = _names(judge)
            self._known[key] = _found(self.own, names, key[1]) or _found(self.built_in, names, key[1])
        return self._known[key]

    @property
    def table(self) -> Rows:
        """All rows that can be met: without the built-in ones that a row of the user's own always comes before."""
        left = {key: price for key, price in self.built_in.items() if _found(self.own, *_split(key)) is None}
        return {**self.own, **left}

    def text(self) -> str:
        """The table as YAML, in the shape of a user's file."""
        rows = [
            f"  {json.dumps(key, ensure_ascii=False)}: {{prompt: {one.prompt:.10g}, completion: {one.completion:.10g}}}"
            for key, one in self.table.items()
        ]
        return "\n".join([f"{HEAD}as_of: {json.dumps(self.as_of, ensure_ascii=False)}", "prices:", *rows]) + "\n"


def server_of(judge: Judge) -> str:
    """Host, port and path of where a judge's calls go ("localhost:8000/v1"); "" where that is not known."""
    client = getattr(judge.model, "root_async_client", None)
    url = getattr(client, "base_url", None) or judge.endpoint.base_url or getattr(judge.model, "base_url", None)
    if not url and judge.name.startswith("openai:"):
        url = os.environ.get("OPENAI_BASE_URL") or OPENAI
    parts = urlsplit(bare(str(url or "")))
    return parts.netloc.lower() + parts.path.rstrip("/")


@lru_cache(maxsize=1)
def _built_in() -> tuple[Rows, str]:
    from judgegraph.models.price_file import read_prices

    found = read_prices(BUILT_IN)
    return found.prices, found.as_of


def _names(judge: Judge) -> tuple[str, ...]:
    """What a table may call it: a chat model object by its class and name, or as "PROVIDER:NAME" like any other."""
    if judge.model._llm_type == "judgegraph-embedded":
        return ("embedded",)
    if not judge.given:
        return (judge.name,)
    told = judge.model._get_ls_params()
    provider, name = told.get("ls_provider"), told.get("ls_model_name")
    provider = "openai" if provider == "fastopenai" else provider  # our own class, named as LangChain names them
    return (judge.name, f"{provider}:{name}") if provider and name else (judge.name,)


def row_name(judge: Judge) -> str:
    """The name of a row of its own for this judge, with its server where that is not the provider's own."""
    server = server_of(judge)
    return f"{judge.name}@{server}" if server and server != OPENAI.removeprefix("https://") else judge.name


def _split(key: str) -> tuple[tuple[str, ...], str]:
    name, _, server = key.partition("@")
    return (name,), server


def _found(rows: Rows, names: tuple[str, ...], server: str) -> Price | None:
    """The price of the row that fits best: one that names the server, then the longest, "*" not counted."""
    addressed = [f"{name}@{server}" for name in names] if server else []
    best: tuple[bool, int] = (False, -1)
    price = None
    for key, row in rows.items():
        fits = re.compile(re.escape(key).replace(r"\*", ".*"))
        plain = any(map(fits.fullmatch, names))
        if plain or any(map(fits.fullmatch, addressed)):
            rank = (not plain, len(key) - key.count("*"))
            if rank > best:
                best, price = rank, row
    return price
