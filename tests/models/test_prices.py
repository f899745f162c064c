"""Prices: a table that comes with the package, a user's own before it, each for the servers that its rows name."""

import socket
from decimal import Decimal
from importlib.metadata import version

import pytest
from genai_prices.types import ClauseEquals, ModelInfo, ModelPrice, Tier, TieredPrices
from langchain_openai import ChatOpenAI

from judgegraph.embedded.model import EmbeddedJudge
from judgegraph.errors import ConfigError
from judgegraph.models.judges import Endpoint, resolve
from judgegraph.models.prices import Price, Prices, _published_price, row_name, server_of
from judgegraph.testing import scripted


@pytest.fixture(autouse=True)
def _keyed(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key-0123456789")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def table(tmp_path, *rows, name="prices.yaml"):
    path = tmp_path / name
    path.write_text("prices:\n" + "".join(f"  {row}\n" for row in rows))
    return Prices.load(path)


def at(model, base_url=None, transport="auto"):
    return resolve(Endpoint(model=model, base_url=base_url, transport=transport))


def test_a_price_is_in_usd_per_million_tokens():
    assert Price(2.0, 8.0).usd(1_000_000, 500_000) == 6.0
    assert Price(0.4, 1.6).usd(0, 0) == 0.0


@pytest.mark.parametrize("transport", ["fast", "langchain"])
@pytest.mark.parametrize(
    ("model", "base_url", "price"),
    [
        ("openai:gpt-4.1-mini", None, Price(0.4, 1.6)),
        ("openai:gpt-4o-mini-2024-07-18", "https://api.openai.com/v1/", Price(0.15, 0.6)),
        ("openai:gpt-4.1-mini", "http://localhost:8000/v1", None),
        ("openai:gpt-4.1-mini-of-mine", None, None),
        ("openai:gpt-4.1", "https://api.openai.com.example.org/v1", None),
        ("openai:gpt-4.1", "https://api.openai.com:8443/v1", None),
        ("openai:llama-3.1-8b-instant", "https://api.groq.com/openai/v1", Price(0.05, 0.08)),
        ("openai:llama-3.1-8b-of-mine", "https://api.groq.com/openai/v1", None),
    ],
    ids=[
        "a provider's own",
        "written out",
        "a server of one's own",
        "a name that begins alike",
        "a host that begins alike",
        "another port",
        "another provider",
        "a name unknown there",
    ],
)
async def test_built_in_prices_hold_at_the_providers_own_address_alone(model, base_url, price, transport):
    if transport == "fast":
        pytest.importorskip("aiohttp")
    assert Prices.load().price_of(at(model, base_url, transport)) == price


async def test_another_address_in_the_environment_counts_as_such(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@Localhost:8000/v1?key=abc")
    judge = at("openai:gpt-4.1-mini")
    assert server_of(judge) == "localhost:8000/v1"
    assert Prices.load().price_of(judge) is None


async def test_the_embedded_judge_costs_nothing():
    assert Prices.load().price_of(at("embedded")) == Price(0, 0)
    assert Prices.load().price_of(resolve(EmbeddedJudge())) == Price(0, 0)


def test_a_chat_model_object_is_priced_by_its_provider_and_name_or_by_its_class(tmp_path):
    own = ChatOpenAI(model="gpt-4.1", api_key="x")
    there = ChatOpenAI(model="gpt-4.1", api_key="x", base_url="http://localhost:8000/v1")
    assert Prices.load().price_of(resolve(own)) == Price(2, 8)
    assert Prices.load().price_of(resolve(there)) is None
    assert Prices.load().price_of(resolve(scripted())) is None
    prices = table(tmp_path, '"ChatOpenAI:gpt-4.1@localhost:8000/v1": {prompt: 7, completion: 9}')
    assert prices.price_of(resolve(there)) == Price(7, 9)
    assert prices.price_of(resolve(own)) == Price(2, 8)


@pytest.mark.parametrize(
    ("rows", "prompt"),
    [
        (['"openai:m": {prompt: 1, completion: 1}'], 1),
        (['"openai:*": {prompt: 1, completion: 1}', '"openai:m": {prompt: 2, completion: 1}'], 2),
        (['"openai:*": {prompt: 1, completion: 1}', '"*": {prompt: 2, completion: 1}'], 1),
        (['"openai:m": {prompt: 1, completion: 1}', '"openai:*@localhost:1/v1": {prompt: 2, completion: 1}'], 2),
        (['"openai:m@localhost:1/v1": {prompt: 1, completion: 1}', '"*@localhost:1/*": {prompt: 2, completion: 1}'], 1),
        (['"openai:m@http://localhost:1/v1/": {prompt: 3, completion: 1}'], 3),
        (['"openai:m@localhost:2/v1": {prompt: 1, completion: 1}'], None),
        (['"openai:M": {prompt: 1, completion: 1}', '"openai:[m]": {prompt: 1, completion: 1}'], None),
    ],
    ids=[
        "a name",
        "the longest",
        "the longest pattern",
        "a server",
        "the longest there",
        "as an address",
        "another",
        "M",
    ],
)
async def test_a_row_that_names_the_server_comes_first_and_then_the_longest(rows, prompt, tmp_path):
    price = table(tmp_path, *rows).price_of(at("openai:m", "http://localhost:1/v1"))
    assert (price.prompt if price else None) == prompt


async def test_a_users_rows_come_before_the_built_in_ones(tmp_path):
    prices = table(tmp_path, '"openai:gpt-*": {prompt: 5, completion: 5}')
    assert prices.price_of(at("openai:gpt-4.1")) == Price(5, 5)
    assert prices.price_of(at("openai:o4-mini")) == Price(1.1, 4.4)
    assert {"openai:gpt-*", "embedded", "openai:o4-mini@api.openai.com/v1"} <= set(prices.table)
    assert not [key for key in prices.table if key.startswith("openai:gpt-") and key != "openai:gpt-*"]


async def test_the_printed_table_read_again_is_the_same(tmp_path):
    prices = table(
        tmp_path, '"openai:ä*": {prompt: 0.000001234, completion: 1e-1}', '"a: \\"b": {prompt: 1, completion: 0}'
    )
    again = tmp_path / "again.yaml"
    again.write_text(prices.text(), encoding="utf-8")
    assert Prices.load(again).table == prices.table
    assert Prices.load(again).text() == prices.text()


def test_a_json_file_does_as_well(tmp_path):
    path = tmp_path / "p.json"
    path.write_text('{\n\t"as_of": "2026-05",\n\t"prices": {"openai:m": {"prompt": 1e-1, "completion": 2}}\n}')
    prices = Prices.load(path)
    assert prices.table["openai:m"] == Price(0.1, 2)
    assert prices.as_of == "2026-05"


async def test_the_row_to_add_names_the_server_where_it_is_not_the_providers_own():
    assert row_name(at("openai:m")) == "openai:m"
    assert row_name(at("openai:m", "http://user:secret@localhost:8000/v1")) == "openai:m@localhost:8000/v1"


ROW = '"openai:m": {prompt: 1, completion: 1}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: is empty"),
        ("as_of: 2026-04", "line 1, 'prices': missing"),
        ("prices: [1]", "line 1, 'prices': expected a mapping of judges to prices"),
        ("price:\n  x: 1", "did you mean 'prices'"),
        ("prices:\n  'openai:m': 5", "line 2, 'openai:m': expected a price, as in"),
        ("prices:\n  'openai:m': {prompt: 5}", "line 2, 'openai:m': completion is missing"),
        ("prices:\n  'openai:m': {input: 5, completion: 1}", "unknown key of the price of openai:m"),
        (
            "prices:\n  'openai:m':\n    prompt: -1\n    completion: 1",
            "line 3, 'prompt': expected USD per million tokens",
        ),
        ("prices:\n  m: {prompt: .inf, completion: 1}", "expected USD per million"),
        ("prices:\n  m: {prompt: .nan, completion: 1}", "expected USD per million"),
        ("prices:\n  m: {prompt: '5', completion: 1}", "expected USD per million"),
        ("prices:\n  m: {prompt: 5 dollars, completion: 1}", "got text (5 dollars)"),
        ("prices:\n  m: {prompt: true, completion: 1}", "got true or false (true)"),
        ("prices:\n  m: {prompt: [1], completion: 1}", "got a list"),
        (f"prices:\n  {ROW}\n  {ROW}", "line 3, 'openai:m': given twice"),
        ("prices:\n  4: {prompt: 1, completion: 1}", "expected text, got a number (4); put it in quotes"),
        ("prices:\n  *: {prompt: 1, completion: 1}", "is not well-formed"),
        ('prices:\n  "a\\nb": {prompt: 1, completion: 1}', "expected a judge's name, one line"),
        ("as_of: [1]\nprices: {}", "line 1, 'as_of': expected one line"),
        ("prices: !!python/object:os.system {}", "line 1, 'prices': the tag !!python/object:os.system is refused"),
    ],
)
def test_a_malformed_file_is_refused_by_file_line_and_key(text, said, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        Prices.load(path)
    assert str(error.value).startswith(f"price file {path}")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"price file .*none\.yaml: No such file"):
        Prices.load(tmp_path / "none.yaml")


def test_the_built_in_prices_say_whose_they_are_and_to_look_them_up():
    assert Prices.load().as_of == f"genai-prices {version('genai-prices')}"
    assert "look at your provider's page" in Prices.load().text()


async def test_no_price_is_fetched(monkeypatch):
    def refuse(*_):
        raise AssertionError("something was sent")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    prices = Prices.load()
    assert prices.price_of(at("openai:gpt-4.1")) == Price(2, 8)
    assert prices.price_of(at("openai:of-mine")) is None
    assert len(prices.table) > 50


def model(**prices):
    whose = {key: value if isinstance(value, TieredPrices) else Decimal(value) for key, value in prices.items()}
    return ModelInfo(id="m", match=ClauseEquals(equals="m"), prices=ModelPrice(**whose))


@pytest.mark.parametrize(
    ("published", "price"),
    [
        (model(input_mtok=1, output_mtok=2, cache_read_mtok=0), Price(1, 2)),
        (model(input_mtok=TieredPrices(Decimal(1), [Tier(200_000, Decimal(3))]), output_mtok=2), Price(1, 2)),
        (model(input_mtok=1, output_mtok=2, requests_kcount=5), None),
        (model(input_mtok=1), None),
    ],
    ids=["tokens", "dearer where long", "each request too", "no completions"],
)
def test_a_published_price_that_two_figures_cannot_say_is_unknown(published, price):
    assert _published_price(published) == price
