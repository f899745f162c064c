"""What users see of a fixed set of runs, as text files: a change of the code's shape must not change them.

    python tests/golden/made.py            compares with tests/golden/stored, and prints what differs
    python tests/golden/made.py --write    writes tests/golden/stored anew: read the diff before you commit it
    python tests/golden/made.py --folder   writes tests/golden/folder_of_today anew: only for a new format of runs

The runs are of the embedded judge and of a server on loopback, over the samples in `data`. Clocks stand still, samples
are judged one after the other, and `still` takes out what differs from one machine to the next. Numbers in JSON have
nine digits. Commands are called within this process; their JSON is written in lines of at most `WIDE` characters.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import html
import importlib
import importlib.util
import inspect
import itertools
import json
import os
import re
import secrets
import shutil
import socket
import sqlite3
import sys
import tempfile
import threading
import time
import typing
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STORED, DATA, TODAY = HERE / "stored", HERE / "data", HERE / "folder_of_today"
WIDE = 240
PORT = 4100  # of the server in all addresses; connections are led to the port that it really has
SERVER = f"http://127.0.0.1:{PORT}"
LONG = 100  # characters of a line that is kept once
MOST = 16  # lines of one file's differences that are printed
PUBLIC = ("", "calls", "graphs", "models", "prompts", "registry", "scaffold", "testing", "tools")
VARYING = {"run", "process", "started", "ended", "seconds", "t", "versions", "date", "latency", "longest"}
EACH = {  # name of a run -> METHOD DATA and options
    "sageval": "sageval notes.jsonl -c criteria.yaml",
    "coascore": "coascore notes.jsonl -c criteria.yaml -s aspects=2",
    "fennec": "fennec-single notes.jsonl -s branches=2",
    "pairs": "fennec pairs.jsonl -s branches=2 -s orders=both",
    "fusion-eval": "fusion-eval notes.jsonl -c criteria.yaml",
    "g-eval": "g-eval notes.jsonl -c criteria.yaml",
    "llm-score": "llm-score notes.jsonl -c criteria.yaml",
    "panel": "panel.yaml notes.jsonl",
    "failing": "own.py:failing notes.jsonl",
    "rejected": "g-eval bad.jsonl -c criteria.yaml --coverage 0.9",
    "columns": "llm-score few.csv -c criteria.yaml -f output=answer -f id=nr",
    "budget": "llm-score notes.jsonl -c criteria.yaml --budget-calls 4",
    "too-large": "llm-score notes.jsonl -c criteria.yaml --max-prompt 850",
    "endpoint": f"g-eval notes.jsonl -c criteria.yaml -n 2 -j openai:stub --base-url {SERVER}/ok/golden/v1",
    "refusing": f"llm-score notes.jsonl -c criteria.yaml -n 2 -j openai:stub --base-url {SERVER}/ok,refusal,half/a/v1",
    "sage-off": "sageval notes.jsonl -c criteria.yaml --critic self-reflection",
}  # fmt: skip
FULL = ("sageval", "pairs", "panel")  # whose views are all kept; of the others the command's output and the files
READ = ("sageval", "pairs", "failing")  # whose pages are kept in words
DRAWN = ("failing", "fusion-eval", "endpoint")  # whose samples are shown, too


# --- what varies


def still(text: str) -> str:
    """A text without what differs from one time or machine to another."""
    for path, name in ((os.getcwd(), "<here>"), (str(HERE.parents[1]), "<repo>"), (sys.prefix, "<python>")):
        text = text.replace(path, name)
    text = re.sub(r"\d+ s, [\d,.]+/s", "<s>, <n>/s", text)  # how far a run has come
    text = re.sub(r"(\d samples), \d+ s,", r"\1, <s>,", text)
    text = re.sub(r"(one after the other: ).*", r"\1<n>", text)  # as far as it was seen in a time
    text = re.sub(r"takes [\d.e-]+ s", "takes <s>", text)
    text = re.sub(
        r"-?\b\d+\.\d{10,}(?:e-?\d+)?\b|-?\b\d+(?:\.\d+)?e-\d\d\b", lambda n: f"{rounded(float(n[0])):.9g}", text
    )
    text = re.sub(r"20\d\d-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?)?(Z|\+00:00)?", "<date>", text)
    return text.replace(f"v:{VERSION}", "v:<v>").replace(f"version {VERSION}", "version <v>")


def settled(value: Any) -> Any:
    """The same of what was read from JSON."""
    if isinstance(value, dict):
        return {k: "<>" if k in VARYING and v is not None else settled(v) for k, v in value.items()}
    if isinstance(value, list):
        return [settled(v) for v in value]
    if value == VERSION:
        return "<v>"
    if isinstance(value, float):
        return rounded(value)
    return value


def rounded(value: float) -> float:
    """To nine digits, and next to nothing is 0: the last digits of a sum differ between processors."""
    return 0.0 if abs(value) < 1e-12 else float(f"{value:.9g}")


def folded(value: Any, pad: str = "") -> str:
    """JSON in lines: a value that has room in one stands in one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + len(pad) <= WIDE or not value or not isinstance(value, dict | list):
        return line
    inner, pairs = pad + " ", value.items() if isinstance(value, dict) else ((None, v) for v in value)
    parts = [
        f"{inner}{'' if k is None else json.dumps(k, ensure_ascii=False) + ': '}{folded(v, inner)}" for k, v in pairs
    ]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([first, ",\n".join(parts), f"{pad}{last}"])


def as_json(text: str) -> str:
    """What a command printed as JSON, and how it was laid out where that is not as everywhere."""
    value = json.loads(text)
    usual = text == json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    return still(folded(settled(value))) + ("" if usual else "\n(laid out in another way)")


# --- commands


class Commands:
    """Calls commands as the command line does, and keeps what they print."""

    def __init__(self) -> None:
        self.files: dict[str, list[str]] = {}
        self._known: dict[str, str] = {}  # a long line is kept once -> the file that holds it

    def tell(self, file: str, title: str, text: str) -> None:
        lines = []
        for line in still(text).replace("\r", "\\r").replace("\x1b", "\\x1b").split("\n"):
            bare = line.strip(" ,")
            home = self._known.get(bare)
            self._known.setdefault(bare, file)
            lines.append(f"{bare[:40]}… {digest(bare)} in {home}" if home and len(line) > LONG else line.rstrip())
        self.files.setdefault(file, []).append("\n".join([f"### {title}", *lines]).rstrip() + "\n")

    def call(self, line: str | Sequence[str], columns: int = 80, typed: str | None = None) -> tuple[int, str, str]:
        from click.testing import CliRunner

        from judgegraph.cli import main, plan, run

        plan.EVERY = run.EVERY = 1e9  # a busy machine tells of progress, another does not
        os.environ["COLUMNS"] = str(columns)
        words = line.split() if isinstance(line, str) else list(line)
        result = CliRunner().invoke(main, words, input=typed, prog_name="judgegraph", catch_exceptions=False)
        return result.exit_code, result.stdout, result.stderr

    def say(
        self, file: str, line: str | Sequence[str], widths: Sequence[int] = (80, 120), *, json_too: bool = False,
        typed: str | None = None,
    ) -> None:  # fmt: skip
        """The command's output at each width; what is as at the first width is not kept again."""
        shown = line if isinstance(line, str) else " ".join(line)
        first = ""
        for columns in widths:
            code, out, err = self.call(line, columns, typed)
            if out.startswith(("{", "[")) and "json" in shown:
                out = as_json(out)
            text = still(f"exit {code}\n{out}" + (f"\n--- stderr\n{err}" if err.strip() else ""))
            self.tell(file, f"$ judgegraph {shown}  [{columns}]", "as above" if text == first else text)
            first = first or text
        if json_too:
            self.say(file, f"{line} --json" if isinstance(line, str) else [*line, "--json"], widths[:1])

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, parts in self.files.items():
            (folder / f"{name}.txt").write_text("\n".join(parts), encoding="utf-8")


def seen(page: str) -> str:
    """What a browser shows of a page, block by block; then a digest of its tags and attributes, without times."""
    body = re.sub(r"<(style|head|title)\b.*?</\1>", "", page, flags=re.S)
    text = re.sub(r"</?(?:p|div|tr|li|ul|h\d|pre|section|summary|details|table|text|caption)\b[^>]*>", "\n", body)
    text = html.unescape(re.sub(r"<[^>]+>", " ", text))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    names = re.findall(r"<(\w+)", page)
    counts = ", ".join(f"{name} {names.count(name)}" for name in sorted(set(names)))
    return "\n".join([*(line for line in lines if line), f"tags: {counts}", f"digest: {digest(still(page))}"])


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


# --- the files of a run


PAID = "select model, calls, prompt, completion, usd, estimated, unpriced from payments order by 1, 2"


def as_tree(spans: list[Any]) -> list[Any]:
    """Spans in the order of their tree: of branches side by side either may be the first to ask."""
    found: list[Any] = []

    def walk(old: int | None, new: int | None) -> None:
        for one in (span for span in spans if span[1] == old):
            found.append([len(found), new, *one[2:]])
            walk(one[0], len(found) - 1)

    walk(None, None)
    return found


def files_of(folder: Path) -> str:
    """All that a run's folder holds, in an order of its own where the order tells nothing."""
    parts = ["files: " + " ".join(sorted(path.name for path in folder.iterdir()))]
    parts.append("manifest.json " + folded(settled(json.loads((folder / "manifest.json").read_text()))))
    for line in (folder / "items.jsonl").read_text().splitlines():
        item = json.loads(line)
        parts.append(f"item, its keys {' '.join(item)}\n{folded(settled({k: item[k] for k in item if k not in ITEM}))}")
    for line in (folder / "spans.jsonl").read_text().splitlines():
        one = settled(json.loads(line))
        parts += [
            f"spans, {' '.join(one)}: {one['id']}",
            *(json.dumps(span, ensure_ascii=False) for span in as_tree(one["spans"])),
        ]
    texts = folder / "ledger.sqlite.texts"
    kept = [json.loads(line) for line in texts.read_text().splitlines()] if texts.exists() else []
    parts.append("texts " + " ".join(sorted(f"{one[0]}:{digest(json.dumps(one))}" for one in kept)))
    parts.append("rejected.json " + folded(settled(json.loads((folder / "rejected.json").read_text()))))
    for name in ("ledger.sqlite", "journal.sqlite"):
        with contextlib.closing(sqlite3.connect(folder / name)) as at:
            told = [row[0] for row in at.execute("select sql from sqlite_master where sql is not null order by name")]
            marks = [at.execute(f"pragma {mark}").fetchone()[0] for mark in ("user_version", "application_id")]
            parts.append(f"{name} {marks}\n" + "\n".join(" ".join(one.split()) for one in told))
            if name == "ledger.sqlite":
                rows = at.execute("select hex(address), body, model, prompt, completion, usd from replies order by 1")
                parts += ["address, digest of the reply, model, tokens of prompt and reply, USD"]
                parts += [f"{a.lower()} {digest(bytes(b).decode())} {m} {p} {c} {u}" for a, b, m, p, c, u in rows]
                parts += [f"paid {row}" for row in at.execute(PAID)]
    return "\n".join(parts)


ITEM = ("sum", "checksum", "ms", "seconds")  # of an item: what depends on the time that it took


# --- public names


def names_in(module: str, names: Sequence[str] = ()) -> Iterator[str]:
    try:
        home = importlib.import_module(module)
    except ImportError as error:
        yield f"{module}: {type(error).__name__}"
        return
    yield f"{module}: {', '.join(sorted(getattr(home, '__all__', ()))) if not names else 'as documented'}"
    for name in names or sorted(getattr(home, "__all__", ())):
        value = getattr(home, name, None)
        if value is None or name == "__version__":
            yield f"  {name}{'' if name == '__version__' else ': missing'}"
            continue
        yield from (f"  {line}" for line in described(name, value))


def described(name: str, value: Any) -> Iterator[str]:
    """A function's signature, a class's fields and methods, the kind of anything else."""
    if inspect.isclass(value):
        yield f"class {name}({', '.join(one.__name__ for one in value.__bases__ if one is not object)})" + signed(value)
        fields = {key: note for one in reversed(value.__mro__) if one.__module__.startswith("judgegraph")
                  for key, note in vars(one).get("__annotations__", {}).items()}  # fmt: skip
        for key, inner in sorted(inspect.getmembers_static(value)):
            ours = any(key in vars(one) and one.__module__.startswith("judgegraph") for one in value.__mro__)
            if key.startswith(("_", "model_")) or key in fields or not ours:
                continue
            inner = getattr(inner, "__func__", inner)
            yield f"  .{key}" + (signed(inner) if inspect.isfunction(inner) else f": {type(inner).__name__}")
        yield from (f"  {key}: {plain(note)}" for key, note in sorted(fields.items()) if not key.startswith("_"))
    elif callable(value):
        yield f"{name}{signed(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def bare(note: Any) -> Any:
    """A type without what pydantic is told of it."""
    return typing._strip_annotations(note)  # type: ignore[attr-defined]


def plain(note: Any) -> str:
    """An annotation without the modules that its names are from."""
    text = note if isinstance(note, str) else inspect.formatannotation(bare(note))
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", text)
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text)


def signed(value: Any) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    none = inspect.Parameter.empty
    parts = []
    for one in found.parameters.values():
        default = one.default
        if default is not none:
            default = _Text(plain(repr(default)))
        note = one.annotation if one.annotation is none else _Text(plain(one.annotation))
        parts.append(one.replace(annotation=note, default=default))
    gives = found.return_annotation
    return str(found.replace(parameters=parts, return_annotation=gives if gives is none else _Text(plain(gives))))


# --- what is made


def ran(at: Commands) -> None:
    """Each run, its second call, its files, and its views."""
    for name, line in EACH.items():
        folder = f"runs/{name}"
        whole = f"run {line} -o {folder} --concurrency 1"
        at.say(f"run-{name}", whole, (80,))
        at.say(f"run-{name}", whole, (120,), json_too=name in FULL or name in DRAWN)
        at.say(f"run-{name}", f"plan {line.split(' --coverage')[0]}", (80, 120), json_too=name in FULL)
        at.tell(f"files-{name}", folder, files_of(Path(folder)))
        if name in FULL or name in DRAWN:
            views(at, name, folder)


def views(at: Commands, name: str, folder: str) -> None:
    file, full = f"views-{name}", name in FULL
    samples = [json.loads(line)["sample"]["id"] for line in Path(folder, "items.jsonl").read_text().splitlines()]
    at.say(file, f"trace {folder}", json_too=full)
    for order in ("score", "doubt", "cost", "failures") if full else ():
        at.say(file, f"trace {folder} --by {order} --limit 2", (80,))
    at.say(file, ["trace", folder, "--sample", samples[0]], json_too=name != "fusion-eval")
    at.say(file, ["trace", folder, "--sample", samples[1], "--redact"], (80,))
    if name != "panel":
        at.say(file, ["trace", folder, "--sample", samples[-1]], (80,))
    if full:
        if name == "sageval":
            at.say(file, ["trace", folder, "--sample", samples[0], "--full"], (120,))
        at.say(file, f"meta {folder} --resamples 50 --permutations 50", json_too=True)
        at.say(file, f"rank {folder} --resamples 50", json_too=True)
        for end in ("csv", "jsonl"):
            at.say(file, f"export {folder} -o out.{name}.{end}", (80,))
        at.tell(file, f"out.{name}.csv", Path(f"out.{name}.csv").read_text())
        at.tell(file, f"out.{name}.jsonl", digest(Path(f"out.{name}.jsonl").read_text()))
    at.say(file, f"repair {folder}", (80,), json_too=full)
    at.say(file, f"report {folder} -o {name}.html", (80,))
    page = seen(Path(f"{name}.html").read_text()).split("\n")
    at.tell(f"page-{name}", f"{name}.html", "\n".join(page if name in READ else page[-2:]))


def others(at: Commands) -> None:
    """Commands on two runs, on tables, on damaged and missing things."""
    at.say("pairs", "export runs/pairs -o verdicts.csv --what comparisons", (80,))
    at.tell("pairs", "verdicts.csv", Path("verdicts.csv").read_text())
    at.say("pairs", "corrected runs/fennec -o corrected.jsonl", (80,))
    at.tell("pairs", "corrected.jsonl", Path("corrected.jsonl").read_text())
    at.say("diff", "diff runs/sageval runs/sage-off --all", json_too=True)
    at.say("diff", "diff runs/g-eval runs/llm-score --limit 2")
    at.say("diff", "diff runs/sageval runs/sageval", (80,))
    table = "judged.csv --resamples 50"
    at.say("tables", f"meta {table} --permutations 50 --metric near --metric far", json_too=True)
    at.say("tables", f"meta {table} --permutations 50 --metric near --metric far --level group --level system", (80,))
    at.say("tables", "meta --presets")
    arena = "rank arena.csv --system first --rival second --human people --metric judge --group question --resamples 50"
    at.say("tables", arena, json_too=True)
    at.say("tables", "rank judged.csv --group group --human human --metric near --resamples 50")
    at.say("probe", "probe fennec pairs.jsonl -p swap --resamples 100 --concurrency 1", json_too=True)
    at.say("probe", "probe g-eval notes.jsonl -c criteria.yaml -p padded --resamples 100 --concurrency 1", (80,))
    Path("data/fact").mkdir(parents=True)
    rows = [json.loads(line) for line in Path("notes.jsonl").read_text().splitlines()]
    kept = [{"doc_id": r["id"], "source": r["source"], "system_output": r["output"],
             "scores": {"consistency": r["human"]["Consistency"] / 5}} for r in rows]  # fmt: skip
    Path("data/fact/qags_cnndm_result.json").write_text(json.dumps(kept))
    at.say("bench", "bench qags --data data --method llm-score --resamples 50 --concurrency 1", json_too=True)
    at.say("bench", "bench")
    at.say("bench", "bench qags --data nowhere", (80,))
    at.say(
        "review", "review sageval notes.jsonl -c criteria.yaml -n 3 --save mine.yaml", (80, 120), typed="a\nr\na\na\n"
    )
    at.tell("review", "mine.yaml", Path("mine.yaml").read_text() if Path("mine.yaml").exists() else "not written")
    shutil.copytree("runs/g-eval", "runs/damaged")
    lines = Path("runs/damaged/items.jsonl").read_text().splitlines(keepends=True)
    Path("runs/damaged/items.jsonl").write_text("".join([lines[0], lines[1].replace("1", "2"), *lines[2:]])[:-40])
    at.say("repair", "repair runs/damaged", json_too=True)
    at.say("repair", "trace runs/damaged", (80,))
    at.say("repair", "repair runs/damaged -o runs/mended", (80,))
    at.say("repair", f"run {EACH['g-eval']} -o runs/mended --concurrency 1", (80,))
    at.say("doctor", "doctor", json_too=True)
    at.say("doctor", f"doctor -j openai:stub --base-url {SERVER}/ok/doctor/v1 --no-save", (80,), json_too=True)
    at.say("doctor", f"doctor -j openai:stub --base-url {SERVER}/404/doctor/v1 --no-save", (80,))
    at.say("new", "new critic brave-critic --into made", (80,))
    made = sorted(path for path in Path("made").rglob("*") if path.is_file())
    at.tell("new", "files", "\n".join(f"{path} {path.stat().st_size}" for path in made))


ERRORS = (
    "", "nosuch", "run", "run nosuch notes.jsonl", "run sageval nofile.jsonl", "run sageval few.csv",
    "run sageval notes.jsonl -c nosuch", "run sageval notes.jsonl -s nosuch=1", "run sageval notes.jsonl -s samples=x",
    "run sageval notes.jsonl --critic nosuch", "run sageval notes.jsonl -n 0", "run sageval notes.jsonl --nosuch",
    "run sageval notes.jsonl -j nosuch:m", "run sageval notes.jsonl -n 1 -j openai:gpt-4.1-mini",
    "run wrong.yaml notes.jsonl", "run own.py:nosuch notes.jsonl", "run own.py:unwired notes.jsonl",
    "run g-eval bad.jsonl --strict", "run g-eval criteria.yaml", "run fennec-pair notes.jsonl -n 1",
    "run g-eval notes.jsonl -c criteria.yaml -o runs/sageval", "run g-eval notes.jsonl -o made",
    f"run llm-score notes.jsonl -n 1 -c criteria.yaml -j openai:stub --base-url {SERVER}/401/b/v1",
    f"run llm-score notes.jsonl -n 1 -c criteria.yaml -j openai:stub --base-url {SERVER}/400/c/v1",
    "check nosuch", "check wrong.yaml", "check own.py:unwired", "plan sageval", "trace data",
    "trace runs/sageval --sample no",
    "report data -o x.html", "meta few.csv", "meta judged.csv --metric nosuch", "rank judged.csv",
    "diff runs/sageval data",
    "export runs/sageval -o x.txt", "criteria nosuch", "show nosuch", "repair data", "new critic 1x", "bench nosuch",
    "corrected runs/g-eval -o x.jsonl", "schema --example nosuch", "review g-eval notes.jsonl",
    "prices --prices few.csv",
)  # fmt: skip


def listed(at: Commands) -> None:
    """What needs no run: help, lists, graphs, schema."""
    from judgegraph.cli.main import COMMANDS

    at.say("help", "--help")
    for name in COMMANDS:
        at.say("help", f"{name} --help")
    for line in ("methods", "agents", "tools", "criteria", "prices"):
        at.say("lists", line, json_too=True)
    at.say("lists", "criteria summary", (80,), json_too=True)
    at.say("lists", "--version", (80,))
    code, out, _ = at.call("schema")
    at.tell("graph-files", f"$ judgegraph schema, exit {code}", as_json(out))
    for name in ("sageval", "coascore", "panel-with-gate"):
        at.say("graph-files", f"schema --example {name}", (80,))
    for name in ("sageval", "coascore", "fennec", "fusion-eval", "g-eval", "llm-score", "panel.yaml", "own.py:failing"):
        at.say("graphs", f"check {name}", (80, 120) if name == "panel.yaml" else (80,), json_too=name == "panel.yaml")
        at.say("graphs", f"show {name}", (80,))
    at.say("graphs", "show panel.yaml --json", (80,))
    at.say("graphs", "show sageval --as text", (80,))
    at.say("graphs", "show sageval --as svg -o s.svg", (80,))
    at.tell("graphs", "s.svg", Path("s.svg").read_text().replace("><", ">\n<"))


def refused(at: Commands) -> None:
    """What mistakes are answered with."""
    for line in ERRORS:
        at.say("errors", line, (80,))


def in_notebooks(at: Commands) -> None:
    """What a notebook shows of the values that people look at, and their plain text."""
    import judgegraph as jg

    for name in FULL:
        run = jg.Run.load(f"runs/{name}")
        first = next(iter(run.items)).id
        values = {"run": run, "summary": run.summary(), "scores": run.scores(), "comparisons": run.comparisons(),
                  "trace": run.trace(first), "redacted": run.trace(first, redact=True)}  # fmt: skip
        if name == "sageval":
            values["agreement"] = jg.agreement(run, resamples=50, permutations=50)
            values["critic"] = jg.critic_worth(run)
            values["diff"] = jg.diff_runs("runs/sageval", "runs/sage-off")
            values["plan"] = jg.plan(jg.load_graph("panel.yaml"), jg.load("notes.jsonl"))
        if name == "panel":
            values["drawing"] = jg.show(jg.load_graph("panel.yaml"))
        for key, value in values.items():
            if value is None:
                at.tell(f"notebook-{name}", key, "None")
                continue
            shown = value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {}
            kinds = f"{type(value).__name__}: {' '.join(sorted(shown)) or 'text/html'}"
            at.tell(f"notebook-{name}", f"{key}, {kinds}", seen(shown.get("text/html") or value._repr_html_()))
            with contextlib.suppress(KeyError):
                at.tell(f"notebook-{name}", f"{key}, as text", shown["text/plain"])


def named(at: Commands) -> None:
    for room in PUBLIC:
        module = f"judgegraph.{room}".rstrip(".")
        at.tell("names", module, "\n".join(names_in(module)))
    for line in (DATA / "documented.txt").read_text().splitlines():
        module, *names = line.split()
        at.tell("names-documented", module, "\n".join(names_in(module, names)))


def of_today(at: Commands) -> None:
    """What is said of a run that was made long ago: its times are real."""
    shutil.copytree(TODAY / "run", "today")
    at.say("today", "trace today", json_too=True)
    at.say("today", "trace today --sample owl-1", json_too=True)
    at.say("today", "meta today --resamples 50 --permutations 50")
    at.say("today", "report today -o today.html", (80,))
    page = Path("today.html").read_text()
    at.tell("today", "today.html", seen(page))
    at.tell("page-of-today", "today.html", re.sub(r"(?<=>)(?=<)|(?<=[;}])(?=[^\n]{40})", "\n", page))
    at.say("today", ["run", *TODAY_RUN, "-o", "today"])


TODAY_RUN = ("sageval", "three.jsonl", "-c", "criteria.yaml", "--concurrency", "1")


@contextlib.contextmanager
def place() -> Iterator[Path]:
    """A folder with the data to work in, the server, and an environment that holds nothing of this machine."""
    keep = {key: os.environ[key] for key in ("PATH", "PYTHONHASHSEED", "VIRTUAL_ENV") if key in os.environ}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, server():
        at = Path(folder).resolve()
        shutil.copytree(DATA, at, dirs_exist_ok=True)
        lines = (at / "notes.jsonl").read_text().splitlines(keepends=True)
        (at / "three.jsonl").write_text("".join(lines[:3]))
        os.environ.clear()
        os.environ.update(keep, HOME=folder, TZ="UTC", LANG="C.UTF-8", TERM="dumb", JUDGEGRAPH_CACHE=f"{folder}/cache")
        os.chdir(at)
        sys.dont_write_bytecode = True
        try:
            yield at
        finally:
            os.chdir(before)


@contextlib.contextmanager
def server() -> Iterator[None]:
    """The tests' server; whoever connects to `PORT` on loopback comes to the port that it got."""
    spec = importlib.util.spec_from_file_location("golden_server", HERE.parent / "http/server.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.Server(("127.0.0.1", 0), module.Handler)
    threading.Thread(target=found.serve_forever, daemon=True).start()
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        led = address[:2] == ("127.0.0.1", PORT) if isinstance(address, tuple) else False
        real(self, ("127.0.0.1", found.server_address[1]) if led else address)

    socket.socket.connect = connect  # type: ignore[method-assign]
    try:
        yield
    finally:
        socket.socket.connect = real  # type: ignore[method-assign]
        found.shutdown()
        found.server_close()


def made() -> Commands:
    """All of it; the clocks stand still before anything of ours is imported."""
    global VERSION
    time.time, time.perf_counter = (lambda: 1.8e9), (lambda: 50.0)  # type: ignore[assignment]
    secrets.token_hex = lambda nbytes=None: "5eed" * 4  # type: ignore[assignment]  # the name of each run
    with place():
        sys.path.insert(0, str(HERE.parents[1]))
        import judgegraph

        VERSION = judgegraph.__version__
        at = Commands()
        for part in (listed, ran, others, refused, in_notebooks, named, of_today):
            start = time.monotonic()
            part(at)
            print(f"{part.__name__}: {time.monotonic() - start:.1f} s", file=sys.stderr)
        return at


VERSION = ""


def differences(folder: Path) -> str:
    """The files of `folder` that are not as stored, and the first lines of each one's diff; empty where all are."""
    names = sorted({path.name for path in (*STORED.glob("*.txt"), *folder.glob("*.txt"))})
    changed, told = [], []
    for name in names:
        old, new = (
            (at / name).read_text(encoding="utf-8").splitlines() if (at / name).exists() else []
            for at in (STORED, folder)
        )
        lines = list(difflib.unified_diff(old, new, f"stored/{name}", f"now/{name}", n=1, lineterm=""))
        if lines:
            changed.append(name.removesuffix(".txt"))
        told += [line if len(line) <= 300 else f"{line[:300]}…" for line in itertools.islice(lines, MOST)]
        told += [f"… and {len(lines) - MOST} lines more"] if len(lines) > MOST else []
    return "\n".join([f"{len(changed)} of {len(names)} files differ: {', '.join(changed)}", *told]) if changed else ""


def write_folder() -> None:
    """The stored run, made with clocks that go."""
    shutil.rmtree(TODAY / "run", ignore_errors=True)
    with place():
        sys.path.insert(0, str(HERE.parents[1]))
        code, _, err = Commands().call(["run", *TODAY_RUN, "-o", str(TODAY / "run")])
        print(code, err)


def main(words: Sequence[str]) -> int:
    if "--folder" in words:
        write_folder()
        return 0
    at = made()
    if "--write" in words:
        for path in STORED.glob("*.txt"):
            path.unlink()
        at.write(STORED)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        at.write(Path(folder))
        found = differences(Path(folder))
    if found:
        print(found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
