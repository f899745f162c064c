"""What a graph's calls will take, before any is made: tokens of a call, and calls of a graph.

It hides that calls are counted by running the graph with invented replies that fit what is asked for, in several
manners, until nothing more is asked.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha1, sha256
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, Literal
from weakref import WeakKeyDictionary

from judgegraph.calls.budget import BudgetTracker
from judgegraph.calls.context import CallContext, Doubted, context
from judgegraph.calls.send import as_sent
from judgegraph.calls.types import BYTES, COMPLAINT, FRAME, Call, Choice, Token, address_of, sized, utf8_size
from judgegraph.compiled import node_at_work, run_sync, without_checkpointer
from judgegraph.errors import ConfigError, one_line
from judgegraph.evidence import Turn, content_text
from judgegraph.models.judges import Judge, trying
from judgegraph.models.prices import Price, Prices
from judgegraph.prompts.template import Prompt, watched
from judgegraph.types import Criterion, Sample

APPROXIMATION = "about 4 characters a token"
PIECE = 10_000  # characters at a time: a tokenizer's regular expressions give up on a million spaces


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens.

    Attributes:
        basis: how, in words to print beside a figure: "tokenizer o200k_base" or "about 4 characters a token".
    """

    basis: str = APPROXIMATION
    _encoding: Any = field(default=None, repr=False)

    def count(self, text: str) -> int:
        """Tokens of a text. A long one is counted in pieces, each of which may add one."""
        if self._encoding is None:
            return -(-utf8_size(text) // BYTES)
        pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces)

    def prompt(self, call: Call) -> int:
        """Tokens of a call's messages, form and tools; how a provider words the latter two is not public."""
        contents = [message.content for message in call.messages]
        texts = [content if isinstance(content, str) else sized(content) for content in contents]
        texts += [json.dumps(part, ensure_ascii=False, default=str) for part in (call.schema, *call.tools) if part]
        return sum(map(self.count, texts)) + FRAME * len(contents)


def counter_for(model_name: str) -> TokenCounter:
    """The best counter there is for a judge ("openai:gpt-4.1-mini") without fetching anything.

    The first of a kind reads its vocabulary, which takes about half a second.
    """

    _, colon, name = model_name.partition(":")
    encoding = encoding_of(name if colon else model_name)
    return TokenCounter() if encoding is None else TokenCounter(f"tokenizer {encoding.name}", encoding)


# A tokenizer's vocabulary, where it is on this machine already: `tiktoken` downloads one that is missing or damaged.


FOLDERS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")  # environment variables, in tiktoken's order
ENCODINGS = {"o200k_base": "o200k_base", "o200k_harmony": "o200k_base", "cl100k_base": "cl100k_base"}
"""tiktoken's name -> one with the same words: they differ in special tokens, which no judged text may hold."""
VOCABULARIES = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""An encoding's name -> the SHA-256 of its file."""
VOCABULARY_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def encoding_of(model: str) -> Any:
    """The tiktoken encoding of a model ("gpt-4.1-mini"), None where it has none or its vocabulary is not at hand."""
    try:
        from tiktoken import get_encoding
        from tiktoken.model import encoding_name_for_model

        name = ENCODINGS.get(encoding_name_for_model(model))
        return get_encoding(name) if name and _is_cached(name) else None
    except (ImportError, KeyError, ValueError, OSError):  # an estimate will do
        return None


def _is_cached(name: str) -> bool:
    """Whether tiktoken finds a whole vocabulary in its folder: under the SHA-1 of its address."""
    default = str(Path(tempfile.gettempdir(), "data-gym-cache"))
    folder = next((os.environ[one] for one in FOLDERS if one in os.environ), default)
    if not folder:  # it was told to keep none
        return False
    data = Path(folder, sha1(VOCABULARY_ADDRESS.format(name).encode()).hexdigest()).read_bytes()
    return sha256(data).hexdigest() == VOCABULARIES[name]


# Invented values that fit a JSON schema or a text form, as one manner of answering has them.


ENDLESS = 5  # items of a list without an upper bound, where the most are given
LONG = 240  # characters of a long text
FREE = "text"  # the form of `ask` without a form
NAMES = ("name", "title", "label", "criterion", "id", "key")  # properties that hold a few words
CONSTANT = "Something else"
SHORT = ("Yes.", "No.", "5", "[RESULT] 5", "")  # drawn for a prompt of one's own; "" is a text as elsewhere
_SCALE = re.compile(r"^Scale: (.+)$", re.M)
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)(?: any)?")
_COUNT = re.compile(r"\b(\d{1,3}) (?:criteria|aspects)\b")

Numbers = Literal["none", "high", "low", "drawn"]


@dataclass(frozen=True)
class ReplyPolicy:
    """One way to answer every call.

    Attributes:
        numbers: "none" abstains where that is allowed, else gives the highest.
        most: lists as long as their schema allows, and the last of several options; else the shortest, and the first.
        alike: one text for everything; else each call has its own.
        tools: how often offered tools are called.
        settled: log-probabilities decide the answer; else they say nothing of it.
        stubborn: no reply can be read before the last that is asked for.
        doubts: conditions find everything in doubt, the first criterion alone, or nothing; None: what they find.
    """

    name: str
    numbers: Numbers
    most: bool = False
    alike: bool = True
    tools: Literal["never", "once", "always"] = "never"
    settled: bool = True
    stubborn: bool = False
    doubts: bool | Literal["first"] | None = None


@dataclass
class Writer:
    """Invents what one choice of one reply says; the same seed says the same."""

    manner: ReplyPolicy
    seed: str

    @cached_property
    def _draw(self) -> Random:
        return Random(self.seed)

    def value(self, schema: Mapping[str, Any], root: Mapping[str, Any], name: str = "", depth: int = 0) -> Any:
        """A value that fits a schema; recursive ones end."""
        if "$ref" in schema:
            target: Any = root
            for part in filter(None, str(schema["$ref"]).lstrip("#").split("/")):
                target = target[part]
            return self.value(target, root, name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._one_of(list(schema["enum"]))
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return self._option(options, root, name, depth)
        if "allOf" in schema:
            joined = {key: value for part in schema["allOf"] for key, value in part.items()}
            return self.value({**joined, **{k: v for k, v in schema.items() if k != "allOf"}}, root, name, depth + 1)
        return self._of_kind(schema, root, name, depth)

    def _of_kind(self, schema: Mapping[str, Any], root: Mapping[str, Any], name: str, depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            return self._option([{**schema, "type": one} for one in kind], root, name, depth)
        if kind == "object":
            held = schema.get("properties", {})
            return {key: self.value(inner, root, key, depth + 1) for key, inner in held.items()}
        if kind == "array":
            return self._list(schema, root, name, depth)
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        if kind == "boolean":
            return self._one_of([self.manner.numbers == "high", True])
        return None if kind == "null" else self.text(name)[: schema.get("maxLength", LONG)]

    def _option(self, options: Sequence[Any], root: Mapping[str, Any], name: str, depth: int) -> Any:
        some = [option for option in options if option.get("type") != "null"]
        silent = self.manner.numbers == "none" or (self.manner.numbers == "drawn" and self._draw.random() < 0.1)
        if not some or (len(some) < len(options) and (silent or depth > 8)):
            return None
        return self.value(self._one_of(some), root, name, depth + 1)

    def _one_of(self, options: list[Any]) -> Any:
        if all(isinstance(o, int | float) and not isinstance(o, bool) for o in options):
            options = sorted(options, reverse=self.manner.numbers in ("none", "high"))
            return self._draw.choice(options) if self.manner.numbers == "drawn" else options[0]
        if self.manner.numbers == "drawn":
            return self._draw.choice(options)
        return options[-1] if self.manner.most else options[0]

    def _list(self, schema: Mapping[str, Any], root: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        items = schema.get("items", {})
        least = int(schema.get("minItems", 0))
        listed = list(items.get("enum", ())) if isinstance(items, Mapping) else []
        most = int(schema.get("maxItems", max(least, len(listed) or ENDLESS)))
        count = most if self.manner.most and depth <= 8 else least
        if self.manner.numbers == "drawn" and depth <= 8:
            count = self._draw.randint(least, most)
        if listed:
            return [listed[i % len(listed)] for i in range(count)]
        return [self.value(items, root, name, depth + 1) for _ in range(count)]

    def _number(self, schema: Mapping[str, Any], whole: bool) -> float | int:
        step = 1 if whole else 0
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0 if whole else -0.01) + (step or 0.01))
        high = schema.get("maximum", schema.get("exclusiveMaximum", max(low, 5) + (step or 0.01)) - (step or 0.01))
        return self._between(low, high, whole)

    def _between(self, low: float, high: float, whole: bool) -> float | int:
        at = {"none": high, "high": high, "low": low}.get(self.manner.numbers)
        if at is None:
            return self._draw.randint(round(low), round(high)) if whole else round(self._draw.uniform(low, high), 2)
        return round(at) if whole else at

    def text(self, name: str = "") -> str:
        """Words: a few for what names a thing, else as many as the manner has."""
        if self.manner.alike:
            return CONSTANT
        own = f"text {self._draw.getrandbits(64):x}"
        return own if name in NAMES else f"{own} " + "as was said before " * ((LONG - len(own)) // 19)

    def plain(self, form: str, asked: str) -> str:
        """A reply without a schema, such as the text forms of ours read it.

        Args:
            form: its name. asked: the prompt, for the scale or the number of lines it names.
        """
        if form == "rating":
            return f"Final score: {self._answer(asked)}"
        if form == "pairwise":
            a, b = self._answer(asked), self._answer(asked)
            return f"Response A Score: {a}\nResponse B Score: {b}\nComparison: {self.text()}"
        if form in ("criteria", "aspects"):
            found = _COUNT.findall(asked)
            count = max(map(int, found), default=ENDLESS) if self.manner.most else 1
            return "\n".join(f"{i}. {self.text('name')}: {self.text('name')}" for i in range(1, count + 1))
        drawn = form == FREE and self.manner.numbers == "drawn"
        return (self._draw.choice(SHORT) if drawn else "") or f"{self.text()}."

    def _answer(self, asked: str) -> str:
        """On the first scale that the prompt shows."""
        if self.manner.numbers == "none":
            return "N/A"
        scale = _SCALE.search(asked)
        labels = scale[1].split(" / ") if scale else []
        if len(labels) > 1:
            return str(self._one_of(labels))
        ends = _RANGE.fullmatch(scale[1].strip()) if scale else None
        low, high = (float(ends[1]), float(ends[2])) if ends else (1.0, 5.0)
        return f"{self._between(low, high, whole=True):g}"


# Replies that nobody gave: what stands in for a judge while a plan is made, in several manners.
#
# A run's calls depend on its replies. A plan therefore runs the graph with replies of several manners, from the most
# sparing to the most demanding: what is asked under all of them depends on none, the others give the ends of a range.


SPARING = ReplyPolicy("sparing", "none", doubts=False)
PLEASED = ReplyPolicy("pleased", "high", doubts="first")
DRAWN = ReplyPolicy("drawn", "drawn", alike=False, tools="once")
DEMANDING = ReplyPolicy(
    "demanding", "low", most=True, alike=False, tools="always", settled=False, stubborn=True, doubts=True
)
MANNERS = (DEMANDING, SPARING, PLEASED, DRAWN)

PARTIAL = "ratings"  # the form whose reader takes what is there, and may ask for the rest in a call of its own


def simulated_choices(manner: ReplyPolicy, call: Call, address: bytes, last: bool) -> list[Choice]:
    """The choices of a reply, all that were asked for; the same for the same address.

    Args:
        last: it will not be asked again, should it be unreadable.
    """
    return [_choice(manner, call, f"{address.hex()}/{index}", last or not manner.stubborn) for index in range(call.n)]


def complains(call: Call) -> bool:
    """Whether it asks once more, as an earlier reply could not be used."""
    text = call.messages[-1].content if call.messages else ""
    return isinstance(text, str) and text.startswith(COMPLAINT)


@dataclass
class AskCounts:
    """How often each question was asked before, in vain: by the repeat index of the call.

    Several replies to one question have an index each, also where a judge is asked for them one at a time.
    """

    _wide: dict[int, int] = field(default_factory=dict)  # question -> replies wanted of it

    def before(self, call: Call) -> int:
        """Of this call."""
        again = complains(call)
        asked = call.messages[:-2] if again else call.messages
        question = hash((call.form, *((m.type, str(m.content)) for m in asked)))
        if not again:
            self._wide[question] = max(self._wide.get(question, 1), call.n, call.repeat + 1)
            return 0
        return call.repeat // max(call.n, self._wide.get(question, 1))


def _choice(manner: ReplyPolicy, call: Call, seed: str, last: bool) -> Choice:
    writer = Writer(manner, seed)
    if call.tools and _calls_tools(manner, call):
        return _tool_call(writer, call, seed)
    if not last and not call.tools:
        text = f'{{"{writer.text()}' if call.schema is not None else ""
    elif call.schema is None:
        text = writer.plain(call.form, "\n".join(content_text(m.content) for m in call.messages))
    else:
        value = writer.value(call.schema, call.schema)
        if manner.stubborn and call.form == PARTIAL and isinstance(value, dict) and len(value) > 1:
            value.popitem()
        text = json.dumps(value)
    return Choice(text, "stop", tokens=_tokens(manner, text) if call.logprobs else None)


def _tokens(manner: ReplyPolicy, text: str) -> tuple[Token, ...]:
    """One token that is sure of the whole text, or one in which no answer is found."""
    return (Token(text, {text: 0.0}),) if manner.settled else (Token("\0", {"\0": 0.0}),)


def _calls_tools(manner: ReplyPolicy, call: Call) -> bool:
    answered = any(message.type == "tool" for message in call.messages)
    return manner.tools == "always" or (manner.tools == "once" and not answered)


def _tool_call(writer: Writer, call: Call, seed: str) -> Choice:
    """The first tool offered, again and again: while others are not called, more may be wanted."""
    tool = call.tools[0].get("function", call.tools[0])
    schema = tool.get("parameters") or {"type": "object"}
    called = {
        "name": str(tool["name"]), "args": writer.value(schema, schema), "id": f"call_{seed[:16]}",
        "type": "tool_call",
    }  # fmt: skip
    return Choice("", "tool_calls", tool_calls=(called,))


# Whether a loop's threads are at work for somebody: what they will ask next is not known yet.


LOOKS = 1000  # at threads that are still at work, in all: one may itself wait for an answer, or never end
_here: ContextVar[InThreads | None] = ContextVar("judgegraph_in_threads", default=None)
_counting: WeakKeyDictionary[asyncio.AbstractEventLoop, _Counting] = WeakKeyDictionary()
_NAME = "run_in_executor"


class InThreads:
    """Counts the work in threads that is begun within `counted`, and in tasks made there.

    A loop has no public word for it, so its `run_in_executor`, through which `asyncio.to_thread` and LangGraph's nodes
    of plain functions go, is another as long as anybody counts there.
    """

    def __init__(self) -> None:
        self.under_way = 0
        self._looks = LOOKS

    def at_work(self) -> bool:
        """Whether it is worth waiting for a thread; not for ever: each yes is one look of `LOOKS`."""
        if not self.under_way or not self._looks:
            return False
        self._looks -= 1
        return True

    @contextmanager
    def counted(self) -> Generator[None]:
        """On the loop that runs here; on one without attributes of its own, as uvloop's, nothing is counted."""
        loop = asyncio.get_running_loop()
        token = _here.set(self)
        with suppress(TypeError):
            _counting.setdefault(loop, _Counting(loop)).begin()
        try:
            yield
        finally:
            _here.reset(token)
            if (there := _counting.get(loop)) is not None and there.end():
                del _counting[loop]

    def done(self, _: asyncio.Future[Any]) -> None:
        """One of them came to its end."""
        self.under_way -= 1


class _Counting:
    """What stands in a loop while somebody counts there."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._attributes, self._run = vars(loop), _run_of(loop)
        self._before = self._attributes.get(_NAME)
        self._users = 0

    def begin(self) -> None:
        if not self._users:
            self._attributes[_NAME] = self._run
        self._users += 1

    def end(self) -> bool:
        """Whether nobody counts there any more; what stood there before stands there again."""
        self._users -= 1
        if not self._users and self._attributes.get(_NAME) is self._run:
            del self._attributes[_NAME]
            if self._before is not None:
                self._attributes[_NAME] = self._before
        return not self._users


def _run_of(loop: asyncio.AbstractEventLoop) -> Callable[..., Any]:
    before = loop.run_in_executor

    def run_in_executor(executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        begun, counts = before(executor, func, *args), _here.get()
        if counts is not None:
            counts.under_way += 1
            begun.add_done_callback(counts.done)
        return begun

    return run_in_executor


# A graph run once with invented replies, round by round: what is asked at one moment is answered at one moment.


READABLE = (  # the ends of what readable replies make a graph ask, and one between: some criteria are in doubt
    ReplyPolicy("content", "high", most=True, alike=False, doubts=False),
    ReplyPolicy("doubtful", "low", most=True, alike=False, tools="once", doubts=True),
    ReplyPolicy("partly", "low", most=True, alike=False, tools="once", doubts="first"),
)
IDLE = (40, 0.006)  # turns of the event loop, and seconds, in which nothing more was asked
GUESS = Price(1.0, 4.0)  # USD per million tokens, where an assistant has a budget in USD and a judge no known price
PATIENCE, MOST = 30.0, 500  # seconds, and rounds, after which a graph is taken to have no end


@dataclass
class Trial:
    """What one run asked.

    Attributes:
        asked: address -> the node that asked. rounds: of questions, each waiting for the answers of the one before.
        texts: (node, prompt, field) -> what was filled in. failed: why it did not come to its end, "" if it did.
        doubtful: what was asked hangs on a condition, or on a budget of a part. threads: at work for it.
    """

    manner: ReplyPolicy
    asked: dict[bytes, str] = field(default_factory=dict)
    texts: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    rounds: int = 0
    failed: str = ""
    doubtful: bool = False
    threads: InThreads = field(default_factory=InThreads)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def answer(self, judge: Judge, call: Call) -> list[Choice]:
        """In place of a judge, when the round is over."""
        address = address_of(judge, call)
        self.asked.setdefault(address, node_at_work())
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        await mine
        return simulated_choices(self.manner, as_sent(judge, call), address, last=True)

    def doubted(self) -> Doubted:
        """What conditions find."""
        self.doubtful = True
        return self.manner.doubts

    def rendered(self, prompt: Prompt, texts: Mapping[str, str]) -> None:
        """A template was filled in."""
        node = node_at_work()
        for name, text in texts.items():
            self.texts.setdefault((node, prompt.name, name), set()).add(text)

    async def conduct(self, work: asyncio.Task[Any]) -> None:
        """Answer round by round until the work is done."""
        end = time.monotonic() + PATIENCE
        while not work.done():
            await self._idle(work)
            if time.monotonic() > end or self.rounds > MOST:
                self.failed = f"no end was found within {MOST} rounds or {PATIENCE:g} s"
                work.cancel()
                return
            if self._waiting:
                self.rounds += 1
                while self._waiting:
                    _tell(self._waiting.pop(0))

    async def _idle(self, work: asyncio.Task[Any]) -> None:
        """Until nothing more has been asked for a while, and no thread is at work that may ask."""
        turns, seconds = IDLE
        count, since, turn = len(self._waiting), time.monotonic(), 0
        while not work.done() and (turn < turns or time.monotonic() - since < seconds or self._waits_for_threads()):
            await asyncio.sleep(0 if turn < turns else 0.001)
            turn += 1
            if len(self._waiting) != count:
                count, since, turn = len(self._waiting), time.monotonic(), 0

    def _waits_for_threads(self) -> bool:
        return bool(self._waiting) and self.threads.at_work()


def _tell(asked: asyncio.Future[None]) -> None:
    """That its round is over; a plain function's thread may ask from a loop of its own, which may be gone."""

    def tell() -> None:
        if not asked.done():
            asked.set_result(None)

    with suppress(RuntimeError):
        asked.get_loop().call_soon_threadsafe(tell)


async def tried(
    graph: Any, state: Mapping[str, Any], manner: ReplyPolicy, threads: InThreads | None = None
) -> Trial:  # fmt: skip
    """Run a graph once with replies of one manner, without its checkpointer.

    Args:
        threads: what is known of the graph's threads by other trials of it.

    Raises:
        ConfigError: a judge cannot be made.
    """
    trial = Trial(manner, threads=threads or InThreads())
    here = CallContext(
        purse=BudgetTracker(prices=Guessed()), stand_in=trial.answer, kept=_nothing, doubted=trial.doubted
    )
    tokens = context.set(here), trying.set({}), watched.set(trial.rendered)
    try:
        with trial.threads.counted():
            work = asyncio.ensure_future(without_checkpointer(graph).ainvoke(dict(state)))
            await trial.conduct(work)
            with suppress(asyncio.CancelledError):
                await work
    except ConfigError:
        raise
    except Exception as error:
        said = str(error).partition(" For further information visit ")[0]  # as pydantic ends its errors
        trial.failed = one_line(f"a node failed on a sample that was made up: {type(error).__name__}: {said}")
    finally:
        context.reset(tokens[0])
        trying.reset(tokens[1])
        watched.reset(tokens[2])
    return trial


class Guessed(Prices):
    """A price for every judge: a count is no run, and need not know what a user's price file will say.

    The tables are read when the first price is asked for: a graph of judges alone asks for none.
    """

    def __init__(self) -> None:
        super().__init__({}, {}, "")

    @cached_property
    def _read(self) -> Prices:
        return Prices.load()

    def price_of(self, judge: Judge) -> Price:
        return self._read.price_of(judge) or GUESS


def _nothing(_address: bytes) -> None:
    """What the ledger holds."""


# How many model calls a graph makes for a sample, which of them are shared, and how many wait for one another.


GIVEN = (1, 2, 3, 4)  # numbers of criteria that a formula is read from
LETTER = "C"
SAMPLES = (  # two that differ in every field but images, which some judges do not see, and in what metrics find
    Sample(
        id="1", query="Why is it shut?", source="The bridge is shut until spring.", output="It is shut for repairs.",
        reference="The bridge stays shut until spring.", contexts=("Repairs began in May.",), facts={"place": "mill"},
        turns=(Turn(role="user", content="Why?"), Turn(role="assistant", content="It is shut for repairs."))),
    Sample(
        id="2", query="Who came to the fair?", source="Over two hundred farmers came to the fair on Monday.",
        output="Over two hundred farmers came, and nobody else had the time for it.", reference="Farmers came.",
        contexts=("The fair is held in Kirkby.",), facts={"place": "fair"},
        turns=(Turn(role="user", content="Who came?"), Turn(role="assistant", content="Over two hundred farmers."))),
)  # fmt: skip

Span = tuple[int, int]  # least and most, by what judges reply


@dataclass(frozen=True)
class NodeCalls:
    """The calls of one node.

    Attributes:
        node: such as "weigh/judge". prompts: names of the templates it asks by.
        own: fields of theirs that differ from sample to sample: each makes a call of its own. shared: the others.
        per_sample, per_dataset: calls made anew for every sample, and once for all: "C", "2C + 1", "1 to 3".
    """

    node: str
    prompts: tuple[str, ...]
    own: tuple[str, ...]
    shared: tuple[str, ...]
    per_sample: str
    per_dataset: str

    def __str__(self) -> str:
        what = [f"{count} {when}" for count, when in ((self.per_sample, "for a sample"), (self.per_dataset, "for all"))
                if count != "0"]  # fmt: skip
        by = f", anew by {', '.join(self.own)}" if self.own else ""
        shared = f"; shared: {', '.join(self.shared)}" if self.shared else ""
        return f"{self.node}: {' and '.join(what) or 'none where criteria are given'}{by}{shared}"


@dataclass(frozen=True)
class CallCounts:
    """The calls of a graph, as counted with invented replies that can all be read.

    A formula is in C, the number of criteria; where no criteria can be given, or the numbers lie on no line, it is a
    number. What an unreadable reply, a retry, or a judge that gives one reply at a time adds is in none of them:
    `judgegraph.plan` counts for a judge and a dataset.

    Attributes:
        nodes: in the order of asking. per_sample, per_dataset: formulas. longest: the most calls of which each waits
            for the one before it, likewise.
        plain: (per_sample, per_dataset, longest) in numbers, as the graph is, without criteria from outside.
        failed: why the graph could not be run to its end, "" if it could.
    """

    nodes: tuple[NodeCalls, ...]
    per_sample: str
    per_dataset: str
    longest: str
    plain: tuple[str, str, str]
    failed: str = ""

    def __str__(self) -> str:
        if self.failed:
            return f"model calls could not be counted: {self.failed}"
        sample, dataset, longest = self.plain
        lines = [
            f"model calls for a sample: {_both(self.per_sample, sample)}",
            f"once for all samples: {_both(self.per_dataset, dataset)}",
            f"one after the other: {_both(self.longest, longest)}",
        ]
        if LETTER in f"{self.per_sample}{self.per_dataset}{self.longest}":
            lines.append(f"{LETTER} is the number of criteria that a sample is judged by")
        if any("step" in node.own for node in self.nodes):
            lines.append("counted for a run of one step; each further step is a call more where steps are judged")
        return "\n".join([*lines, *(f"  {node}" for node in self.nodes)])


def count_calls(graph: Any, samples: Sequence[Sample] = SAMPLES) -> CallCounts:
    """Count a graph's calls; nothing is sent. Arguments as `acount_calls`."""
    return run_sync(acount_calls(graph, samples))


async def acount_calls(graph: Any, samples: Sequence[Sample] = SAMPLES) -> CallCounts:
    """Count a graph's calls by running it with invented replies; nothing is sent.

    Args:
        graph: a compiled LangGraph that reads "sample". samples: two that differ in every field.
    """
    threads = InThreads()
    plain = await _trials(graph, samples, None, threads)
    if failed := next((t.failed for t in plain if t.failed), ""):
        return CallCounts((), "", "", "", ("", "", ""), failed)
    takes = "criteria" in graph.get_input_jsonschema().get("properties", {})
    given = await _given(graph, samples, threads) if takes else []
    nodes = dict.fromkeys(node for t in plain for node in t.asked.values())
    nodes |= dict.fromkeys(node for trials in given for t in trials for node in t.asked.values())
    sample, dataset, longest = _figures(plain, None)
    plainly = (_span_text(sample), _span_text(dataset), _span_text(longest))
    figures = [_figures(trials, None) for trials in given]
    return CallCounts(
        nodes=tuple(_node_in_anatomy(name, plain, given) for name in nodes),
        per_sample=_formula([f[0] for f in figures], sample),
        per_dataset=_formula([f[1] for f in figures], dataset),
        longest=_formula([f[2] for f in figures], longest),
        plain=plainly,
    )


async def _given(graph: Any, samples: Sequence[Sample], threads: InThreads) -> list[list[Trial]]:
    """Trials by as many criteria as `GIVEN` says; none where one failed."""
    found = []
    for number in GIVEN:
        found.append(await _trials(graph, samples, number, threads))
        if found[-1][-1].failed:
            return []
    return found


async def _trials(
    graph: Any, samples: Sequence[Sample], criteria: int | None, threads: InThreads
) -> list[Trial]:  # fmt: skip
    """For every manner of replying a run with each sample, up to the first that fails."""
    state: dict[str, Any] = {}
    if criteria is not None:
        state["criteria"] = [Criterion(name=f"Criterion {i}", definition=f"Side {i}.") for i in range(1, criteria + 1)]
    found: list[Trial] = []
    for manner in READABLE:
        if manner.doubts != "first" or any(trial.doubtful for trial in found):
            for sample in samples:
                found.append(await tried(graph, {**state, "sample": sample}, manner, threads))
                if found[-1].failed:
                    return found
    return found


def _figures(trials: Sequence[Trial], node: str | None) -> tuple[Span, Span, Span]:
    """Calls of the first sample's own, calls it shares with the second, and the longest path; least and most."""
    own, shared, longest = [], [], []
    for first, second in zip(trials[::2], trials[1::2], strict=True):
        mine = {a for a, n in first.asked.items() if node in (None, n)}
        both = mine & set(second.asked)
        own.append(len(mine - both))
        shared.append(len(both))
        longest.append(first.rounds)
    return (min(own), max(own)), (min(shared), max(shared)), (min(longest), max(longest))


def _node_in_anatomy(name: str, plain: Sequence[Trial], given: Sequence[Sequence[Trial]]) -> NodeCalls:
    first = _figures(plain, name)
    sample, dataset = (_formula([_figures(trials, name)[i] for trials in given], first[i]) for i in range(2))
    trials = [*plain, *(t for some in given for t in some)]
    prompts = sorted({prompt for t in trials for node, prompt, _ in t.texts if node == name})
    own, every = set(), set()
    for one, other in zip(trials[::2], trials[1::2], strict=True):
        for key in {k for k in (*one.texts, *other.texts) if k[0] == name}:
            every.add(key[2])
            if one.texts.get(key) != other.texts.get(key):
                own.add(key[2])
    return NodeCalls(name, tuple(prompts), tuple(sorted(own)), tuple(sorted(every - own)), sample, dataset)


def _formula(spans: Sequence[Span], plain: Span) -> str:
    """Of what was found for the numbers of criteria in `GIVEN`; where there is no line through it, as it is plain."""
    if not spans:
        return _span_text(plain)
    ends = [_line([span[i] for span in spans]) for i in (0, 1)]
    if None in ends:
        return _span_text(plain)
    low, high = ends
    return str(low) if low == high else f"{low} to {high}"


def _line(counts: Sequence[int]) -> str | None:
    slope = counts[1] - counts[0]
    if any(b - a != slope for a, b in pairwise(counts)):
        return None
    start = counts[0] - slope * GIVEN[0]
    if not slope:
        return str(start)
    times = LETTER if slope == 1 else f"{slope}{LETTER}"
    return f"{times} + {start}" if start > 0 else f"{times} - {-start}" if start else times


def _span_text(span: Span) -> str:
    return str(span[0]) if span[0] == span[1] else f"{span[0]} to {span[1]}"


def _both(formula: str, number: str) -> str:
    return formula if formula == number else f"{formula} (here {number})"


def to_dict(counts: CallCounts) -> dict[str, Any]:
    """As values that JSON can hold."""
    nodes = [{"node": n.node, "prompts": [*n.prompts], "own": [*n.own], "shared": [*n.shared],
              "per_sample": n.per_sample, "per_dataset": n.per_dataset} for n in counts.nodes]  # fmt: skip
    plain = dict(zip(("per_sample", "per_dataset", "longest"), counts.plain, strict=True))
    formulas = {"per_sample": counts.per_sample, "per_dataset": counts.per_dataset, "longest": counts.longest}
    return {**formulas, "plain": plain, "nodes": nodes, "failed": counts.failed}
