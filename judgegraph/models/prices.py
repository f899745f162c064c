"""What a judge's tokens cost and what its model takes: a user's price file first, then what genai-prices brings along.

A row's name is a judge's ("openai:gpt-4.1-mini"), wherever it is served, or with "@HOST/PATH" behind it that of one
server. Published prices hold at the provider's own address alone: a server of one's own may call its model as it likes.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

import yaml

from judgegraph.errors import ConfigError, CriteriaError, ReplyError, one_line, settings_checked
from judgegraph.models.judges import OPENAI, Judge, home_of
from judgegraph.prompts.criteria import MarkedFile, kind_of, line_of, shown

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, TieredPrices

HEAD = """\
# USD per million tokens. Prices change: look at your provider's page before you trust a sum.
# A name holds wherever a model of that name is served; with @HOST/PATH behind it, for that server alone.
# "*" stands for any text; the longest name that fits wins. Save, edit, and give this file as --prices FILE.
# Not printed, but known by genai-prices: models of other providers, at their own addresses.
"""


@dataclass(frozen=True)
class Price:
    """USD per million tokens of the prompt and of the completion, and the model's window in tokens, None if unknown."""

    prompt: float
    completion: float
    window: int | None = field(default=None, compare=False)

    def usd(self, prompt: int, completion: int) -> float:
        """What so many tokens cost, in USD."""
        return (prompt * self.prompt + completion * self.completion) / 1_000_000


Rows = Mapping[str, Price]


class PublishedPrices(Mapping[str, Price]):
    """Prices of genai-prices, which lie in the installed library: nothing is fetched.

    As a mapping it holds the rows of OpenAI's own address; `price_of` knows those of all providers.
    """

    def price_of(self, names: tuple[str, ...], server: str) -> Price | None:
        """The price of a model at its provider's own address, None where the library does not know both."""
        from genai_prices.data_snapshot import get_snapshot

        if names == ("embedded",):
            return Price(0.0, 0.0)
        for name in names:
            model_name = name.partition(":")[2] or name
            try:
                found = get_snapshot().find_provider_model(model_name, None, None, f"https://{server}")
            except LookupError:
                continue
            provider, model = found
            if _is_own_address(provider.api_pattern, server):
                return _published_price(model)
        return None

    @cached_property
    def _rows(self) -> Rows:
        from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

        provider = find_provider_by_id(get_snapshot().providers, "openai")
        priced = ((model.id, _published_price(model)) for model in (provider.models if provider else ()))
        server = OPENAI.removeprefix("https://")
        rows = {f"openai:{name}@{server}": price for name, price in priced if price is not None}
        return {"embedded": Price(0.0, 0.0), **rows}

    def __getitem__(self, key: str) -> Price:
        return self._rows[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _is_own_address(pattern: str, server: str) -> bool:
    """Whether the provider's pattern fits the whole host: "api.openai.com.example.org" only begins alike."""
    end = "" if pattern.endswith(r"\.") else r"(?![\w:-]|\.\w)"
    return re.match(f"(?:{pattern}){end}", f"https://{server}") is not None


def _published_price(model: ModelInfo) -> Price | None:
    """Of today, for prompts below the first tier; None where more than tokens is paid for, or a price is missing."""
    prices = model.get_prices(datetime.now(UTC))
    if prices.requests_kcount is not None or prices.input_mtok is None or prices.output_mtok is None:
        return None
    return Price(_base(prices.input_mtok), _base(prices.output_mtok), model.context_window)


def _base(price: Decimal | TieredPrices) -> float:
    return float(price if isinstance(price, Decimal) else price.base)


@dataclass(frozen=True)
class Prices:
    """Rows of a user's file, which come first, and built-in ones.

    Attributes:
        as_of: when they held, as the user's file says, else the version of genai-prices.
    """

    own: Rows
    built_in: Rows
    as_of: str
    _known: dict[tuple[str, str], Price | None] = field(default_factory=dict, repr=False, compare=False)
    _asked: set[tuple[tuple[str, ...], str]] = field(default_factory=set, repr=False, compare=False)  # names and server

    @staticmethod
    @settings_checked
    def load(path: str | os.PathLike[str] | None = None) -> Prices:
        """The built-in prices, behind those of a file.

        Raises:
            ConfigError: the file cannot be read or is malformed; names file, line and key.
        """
        found = read_prices(Path(path)) if path is not None else Found("", {})
        return Prices(found.prices, PublishedPrices(), found.as_of or f"genai-prices {version('genai-prices')}")

    def price_of(self, judge: Judge) -> Price | None:
        """A judge's price, None where no row fits it."""
        server = server_of(judge)
        key = (judge.name, server)
        if key not in self._known:
            names, published = _names(judge), self.built_in
            self._asked.add((names, server))
            price = _found(self.own, names, server)
            if price is None:
                if isinstance(published, PublishedPrices):
                    price = published.price_of(names, server)
                else:
                    price = _found(published, names, server)
            self._known[key] = price
        return self._known[key]

    def unfit(self) -> dict[str, str]:
        """Own rows that fit none of the judges that a price was asked of -> the name of the judge that is nearest.

        Rows as `judgegraph prices` prints them are left out: a whole table may be given back.
        """
        judges = [f"{name}@{server}" if server else name for name, server in self._known]
        found: dict[str, str] = {}
        for key, price in self.own.items() if judges else ():
            fits = any(_found({key: price}, names, server) is not None for names, server in self._asked)
            if not fits and self.built_in.get(key) != price:
                found[key] = difflib.get_close_matches(key, judges, 1, 0)[0]
        return found

    @property
    def table(self) -> Rows:
        """All rows that can be met: without the built-in ones that a row of the user's own always comes before."""
        left = {key: price for key, price in self.built_in.items() if _found(self.own, *_split(key)) is None}
        return {**self.own, **left}

    def text(self) -> str:
        """The table as YAML, in the shape of a user's file."""
        rows = [
            f"  {json.dumps(key, ensure_ascii=False)}: {{prompt: {one.prompt:.10g}, completion: {one.completion:.10g}"
            + (f", window: {one.window}}}" if one.window else "}")
            for key, one in self.table.items()
        ]
        return "\n".join([f"{HEAD}as_of: {json.dumps(self.as_of, ensure_ascii=False)}", "prices:", *rows]) + "\n"


def server_of(judge: Judge) -> str:
    """Host, port and path of where a judge's calls go ("localhost:8000/v1"); "" where that is not known."""
    client = getattr(judge.model, "root_async_client", None)
    url = getattr(client, "base_url", None) or judge.endpoint.base_url or getattr(judge.model, "base_url", None)
    if not url and judge.name.startswith("openai:"):
        url = os.environ.get("OPENAI_BASE_URL") or OPENAI
    if not url and not judge.given:
        url = home_of(judge.name)
    parts = urlsplit(str(url or ""))
    return parts.netloc.rpartition("@")[2].lower() + parts.path.rstrip("/")


def _names(judge: Judge) -> tuple[str, ...]:
    """What a table may call it: a chat model object by its class and name, or as "PROVIDER:NAME" like any other."""
    if judge.model._llm_type == "judgegraph-embedded":
        return ("embedded",)
    if not judge.given:
        return (judge.name,)
    params = judge.model._get_ls_params()
    provider, name = params.get("ls_provider"), params.get("ls_model_name")
    provider = "openai" if provider == "fastopenai" else provider  # our own class, named as LangChain names them
    return (judge.name, f"{provider}:{name}") if provider and name else (judge.name,)


def row_name(judge: Judge) -> str:
    """The name of a row of its own for this judge, with its server where that is not the provider's own."""
    server = server_of(judge)
    own = (OPENAI, home_of(judge.name) or OPENAI)
    return f"{judge.name}@{server}" if server and f"https://{server}" not in own else judge.name


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


# A file of prices, YAML or JSON: its shape, and what each key may hold.


MOST = 5_000  # rows
SHAPE = 'as in "openai:gpt-4.1-mini": {prompt: 0.40, completion: 1.60}'


class PriceFile(MarkedFile):
    """A marked file whose faults are those of a price file."""

    def fail(self, line: int, key: str, reason: str) -> NoReturn:
        """Raise ConfigError, naming the file, the line and the key ("" for none)."""
        where = f", '{key}'" if key else ""
        raise ConfigError(f"price file {one_line(self.path)}, line {line}{where}: {reason}")

    def _text(self) -> str:
        try:
            return super()._text()
        except CriteriaError as error:  # it cannot be opened, or is too large
            raise ConfigError(str(error).replace("criteria", "price", 1)) from None

    def rows(self, node: yaml.Node) -> dict[str, Price]:
        """A mapping of judges' names to prices, which may be empty."""
        self._refuse_tag(node, "prices")
        if not isinstance(node, yaml.MappingNode):
            self.fail(line_of(node), "prices", f"expected a mapping of judges to prices, {SHAPE}, got {shown(node)}")
        if len(node.value) > MOST:
            self.fail(line_of(node), "prices", f"expected at most {MOST:,} prices, got {len(node.value):,}")
        found: dict[str, Price] = {}
        for key, value in node.value:
            name = self.filled(key, "prices", node)
            if one_line(name) != name:
                self.fail(line_of(key), one_line(name, 60), "expected a judge's name, one line, at most 200 characters")
            name = re.sub(r"@https?://", "@", name).rstrip("/")
            if name in found:
                self.fail(line_of(key), name, "given twice")
            found[name] = _price(self, name, key, value)
        return found


@dataclass(frozen=True)
class Found:
    """A file's content; as_of is "" where it has none."""

    as_of: str
    prices: dict[str, Price]


def read_prices(path: Path) -> Found:
    """Read a file of the shape

        as_of: 2026-04                                            # any text; may be left out
        prices:                                                   # USD per million tokens
          "openai:gpt-4.1-mini": {prompt: 0.40, completion: 1.60}  # wherever a model of that name is served
          "openai:mine": {prompt: 0, completion: 0, window: 8192}  # tokens of prompt and reply; may be left out
          "openai:*@localhost:8000/v1": {prompt: 0, completion: 0}

    Raises:
        ConfigError: unreadable, malformed, too large, or not of this shape; names file, line and key.
    """
    file = PriceFile(path)
    root = file.root()
    keys = file.mapping(root, ("as_of", "prices"), "a price file")
    if "prices" not in keys:
        file.fail(line_of(root), "prices", "missing; expected a mapping of judges to prices")
    as_of = keys.get("as_of")
    if as_of is not None and (not isinstance(as_of, yaml.ScalarNode) or one_line(as_of.value, 60) != as_of.value):
        file.fail(line_of(as_of), "as_of", f"expected one line of at most 60 characters, got {shown(as_of)}")
    return Found(as_of.value if as_of is not None else "", file.rows(keys["prices"]))


def _price(file: MarkedFile, name: str, key: yaml.Node, node: yaml.Node) -> Price:
    if not isinstance(node, yaml.MappingNode):
        file.fail(line_of(node), name, f"expected a price, {SHAPE}, got {shown(node)}")
    parts = file.mapping(node, ("prompt", "completion", "window"), f"the price of {name}")
    for part in ("prompt", "completion"):
        if part not in parts:
            file.fail(line_of(key), name, f"{part} is missing; expected USD per million tokens, {SHAPE}")
    window = _window(file, parts["window"]) if "window" in parts else None
    return Price(_usd(file, "prompt", parts["prompt"]), _usd(file, "completion", parts["completion"]), window)


def _window(file: MarkedFile, node: yaml.Node) -> int:
    text = node.value if isinstance(node, yaml.ScalarNode) else ""
    if re.fullmatch(r"[1-9][0-9]{0,9}", text):
        return int(text)
    return file.fail(line_of(node), "window", f"expected tokens, a whole number of 1 or more, got {shown(node)}")


def _usd(file: MarkedFile, key: str, node: yaml.Node) -> float:
    plain = isinstance(node, yaml.ScalarNode) and node.style is None
    if plain and kind_of(node) in ("a number", "text"):  # 1e-1 is a text to YAML, a number to JSON
        try:
            usd = float(node.value)
        except ValueError:
            usd = math.nan
        if 0 <= usd < math.inf:
            return usd
    return file.fail(line_of(node), key, f"expected USD per million tokens, a number of 0 or more, got {shown(node)}")


# What a judge's model can take: how long a prompt, and whether pictures.


SMALLEST = 1_000  # tokens of the smallest window of any judge: no shorter prompt is looked at
DENSE = 0.8  # a prompt's tokens are at least so much of a quarter of its bytes: English takes 4 to 5 bytes a token
_BLIND = re.compile(  # models known to take text alone, by name
    r"(?:^|[:/])(?:gpt-3\.5|gpt-4(?:-0\d{3})?$|o1-mini|o3-mini|deepseek-(?:chat|reasoner|v\d|r\d)|text-|davinci)", re.I
)


def window_of(judge: Judge, prices: Prices | None = None) -> int | None:
    """Tokens that a prompt and its reply may have together; None where nobody says.

    What the endpoint says comes first, then the price file, then what its model object or genai-prices knows.
    """
    if judge.endpoint.window is not None or judge.endpoint.model == "embedded":
        return judge.endpoint.window
    price = (prices or _published()).price_of(judge)
    if price is not None and price.window:
        return price.window
    told = _profile(judge.model).get("max_input_tokens")
    return told if isinstance(told, int) and told > 0 else None


@lru_cache(maxsize=1)
def _published() -> Prices:
    return Prices.load()


def _profile(model: Any) -> dict[str, Any]:
    """What a LangChain chat model says of itself, {} where it says nothing."""
    found = getattr(model, "profile", None)
    return dict(found) if isinstance(found, dict) else {}


def refuse_beyond_window(judge: Judge, tokens: int, prices: Prices | None = None) -> None:
    """Before anything is looked up or paid for: a prompt that is surely longer than the judge's window.

    Args:
        tokens: of the prompt, by its length (four bytes to a token). What may fit is sent: the server counts exactly.

    Raises:
        ReplyError: "too_large".
    """
    window = window_of(judge, prices)
    if window is not None and tokens * DENSE > window:
        raise ReplyError(
            f"the prompt has about {tokens:,} tokens, and the window of {judge.name} is {window:,}; shorten the "
            "sample, leave evidence out (--no-contexts, --no-turns), name a judge with a longer window, or say what it "
            "is: Endpoint(window=N)",
            "too_large",
        )


def sees(judge: Judge) -> bool | None:
    """Whether a judge takes pictures; None where nobody says, and it is found out by asking."""
    if judge.endpoint.vision is not None:
        return judge.endpoint.vision
    if judge.endpoint.model == "embedded" or str(getattr(judge.model, "_llm_type", "")) == "judgegraph-embedded":
        return False
    told = _profile(judge.model).get("image_inputs")
    if isinstance(told, bool):
        return told
    return False if _BLIND.search(judge.name) else None
