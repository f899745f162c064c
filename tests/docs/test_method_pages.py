"""A page for each method: its drawing, tables and figures are the code's own. Its blocks are run by test_docs.py."""

import ast
import dataclasses
import inspect
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph import registry
from judgegraph.cli import main
from judgegraph.errors import expected, is_plain
from judgegraph.graphs.settings import hints_of
from judgegraph.registry import METHODS, factory, keys_of
from judgegraph.registry.shipped import VARIANTS

ROOT = Path(__file__).resolve().parents[2]
PAGES = {method: (ROOT / f"docs/{method}.md").read_text() for method in METHODS}
DRAWN: dict[str, list[dict[str, Any]]] = {"fusion-eval": [{}, {"fuse": "selected", "direct": "llm-score"}]}
Row = dict[str, str]


def table(method: str, first: str) -> list[Row]:
    """The rows of the one table of a page whose first column is called so: column -> cell."""
    text = PAGES[method]
    (found,) = re.findall(rf"^(\| {re.escape(first)} \|.*\n)\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    heads, *rows = ([cell.strip() for cell in line.strip("|\n ").split(" |")] for line in "".join(found).splitlines())
    return [dict(zip(heads, row, strict=True)) for row in rows]


def bare(cell: str) -> str:
    return cell.strip("`")


def agents(graph: Any, within: str = "") -> Iterator[tuple[str, Any]]:
    """Every node that is an agent, those of graphs within it too."""
    for name, spec in graph.builder.nodes.items():
        runs = spec.runnable
        if hasattr(runs, "builder"):
            yield from agents(runs, f"{within}{name}/")
            continue
        agent = runs.afunc
        while not dataclasses.is_dataclass(agent):  # an agent that is no coroutine runs in a thread
            agent = agent.args[-1]
        yield within + name, agent


def test_every_method_has_a_page_and_every_page_its_sections():
    needed = ["The graph", "Settings", "Variants", "What a run costs", "An example", "What the result holds", "Figures",
              "Limits and pitfalls"]  # fmt: skip
    for method, text in PAGES.items():
        titles = re.findall(r"^## (.*)$", text, re.M)
        assert [title for title in titles if title in needed] == needed, method
        assert re.search(r"arXiv:\d{4}\.\d{5}", text.partition("## ")[0]), f"{method}: which paper is it?"


@pytest.mark.parametrize("method", PAGES)
def test_the_drawing_is_the_graph_s_own(method: str):
    blocks = re.findall(r"^```mermaid\n(.*?)^```$", PAGES[method], re.M | re.S)
    graphs = [factory(method)(**settings) for settings in DRAWN.get(method, [{}])]
    assert blocks == [graph.get_graph(xray=True).draw_mermaid() for graph in graphs]


@pytest.mark.parametrize("method", PAGES)
def test_the_nodes_are_those_of_the_graph(method: str):
    found = {row["node"]: row for row in table(method, "node")}
    nodes = dict(agents(factory(method)()))
    assert list(found) == list(nodes)
    for name, agent in nodes.items():
        reads, writes = keys_of(agent)
        assert reads is not None
        assert writes is not None
        row = found[name]
        assert bare(row["agent"]) == type(agent).__name__
        assert (row["reads"], row["writes"]) == (", ".join(reads), ", ".join(writes))
        assert bare(row["prompt"]) == (getattr(agent, "prompt", "") or "-")
        if hasattr(agent, "reader"):
            assert row["scores read as"] == str(agent.reader)


@pytest.mark.parametrize("method", PAGES)
def test_the_settings_are_those_of_the_factory(method: str):
    build = factory(method)
    takes, _ = registry.settings_of(build)
    rows = table(method, "setting")
    assert [bare(row["setting"]) for row in rows] == list(takes)
    builder = vars(inspect.getmodule(build))["builder"]
    hints, signature = hints_of(builder), inspect.signature(builder)
    for row in rows:
        name = bare(row["setting"])
        default, real = ast.literal_eval(bare(row["default"])), signature.parameters[name].default
        assert (default, type(default)) == (real, type(real)), name
        if is_plain(hints[name]):
            assert row["takes"] == expected(hints[name]), name
        assert row["what for"], name


@pytest.mark.parametrize("method", PAGES)
def test_the_variants_are_those_of_the_registry(method: str):
    told = {bare(row["name"]): (row["settings"], row["what it is"]) for row in table(method, "name")}
    own = {name: variant for name, variant in VARIANTS.items() if variant.method == method}
    assert told == {name: (", ".join(map(setting, v.settings.items())), v.about) for name, v in own.items()}


def setting(pair: tuple[str, Any]) -> str:
    """As it is written on the command line."""
    name, value = pair
    return f"`{name}={value if isinstance(value, str) else json.dumps(value)}`"


COSTS = [(method, row) for method in PAGES for row in table(method, "method and settings")]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("method", "row"), COSTS, ids=[bare(row["method and settings"]) for _, row in COSTS])
def test_a_run_costs_what_the_page_says(method: str, row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    costs = PAGES[method].partition("## What a run costs")[2].partition("\n## ")[0]
    (data, given), *_ = re.findall(r"over `(examples/\S+)`(?: with `([^`]*)`)?", costs)
    monkeypatch.chdir(ROOT)
    asked = shlex.split(bare(row["method and settings"]))
    command = ["run", *asked, data, "-n", row["N"], *shlex.split(given), "-o", str(tmp_path / "run")]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    run = jg.Run.load(tmp_path / "run")
    calls = run.manifest["calls"]
    by_node = ", ".join(f"{node} {paid['calls']}" for node, paid in calls["by_node"].items())
    assert (row["calls"], row["of which"]) == (str(calls["replies"]), by_node or "none")
    letters = {name: int(number) for name, number in re.findall(r"\b([A-Z]) [^,.]*?\((\d+)\)", costs)}
    items = list(run.items)
    letters |= {"N": len(items), "Q": len({item.sample.query for item in items})}
    letters["K"] = sum(len(item.corrections) for item in items)
    assert eval(bare(row["formula"]), {"__builtins__": {}}, letters) == calls["replies"]


@pytest.mark.parametrize("method", PAGES)
def test_the_result_has_these_keys(method: str):
    told = [bare(row["key"]) for row in table(method, "key")]
    assert told == list(factory(method)().builder.output_schema.__annotations__)


@pytest.mark.parametrize("method", PAGES)
def test_what_was_measured_is_that_of_the_embedded_judge_s_page(method: str):
    readme = (ROOT / "docs/embedded.md").read_text().splitlines()
    head = "| method | Coherence | Consistency | Fluency | Relevance | calls |"
    at = PAGES[method].splitlines().index(head)
    rows = PAGES[method].splitlines()[at + 2 :]
    rows = rows[: rows.index("")]
    assert head in readme
    assert rows
    assert rows[0].startswith(f"| {method} |")
    assert [row for row in rows if row not in readme] == []


def test_the_sums_of_sageval_s_table_are_those_of_its_rows(shared: Path):
    paper = (shared / "papers/sageval.txt").read_text()
    rows = re.findall(r"^(?:[A-Z]\w+ )?(?:\w+ )?(\d+) (\d+) (\d+) (\d+)$", paper, re.M)
    down, up, changed, definitions = (sum(map(int, column)) for column in zip(*rows, strict=True))
    said = f"changed {changed} scores, {down} of them downwards, and proposed {definitions} changes of definitions"
    assert len(rows) == 8
    assert said in " ".join(PAGES["sageval"].split())
    assert f"lowers {100 * down / (down + up):.0f} %" in PAGES["sageval"]


FIGURES = [  # page, a row of its table, the row as the paper prints it
    ("sageval", "SAGEval", "SAGEval 0.63 0.56 0.65 0.57 0.41 0.50 0.48 0.48 0.44 0.46 0.49 0.46 0.44 0.45"),
    ("sageval", "G-Eval", "G-Eval 0.49 0.44 0.62 0.49 0.32 0.43 0.47 0.43 0.33 0.40 0.25 0.35 0.41 0.36"),
    ("fennec", "Fennec", "7B \\mathcal{D}_{Fennec} 56.63 86.32 70.67 87.89 55.24 86.15"),
    ("fennec", "Fennec, bridging", "7B $\\mathcal{D}_{Fennec-bridging}$ 57.40 87.00 72.17 89.69 55.65 86.73"),
    ("fennec", "GPT-4", "GPT-4 - - 62.28 86.28 65.45 79.63 56.31 85.52"),
    ("fennec", "Auto-J, 13B", "Auto-J 13B Auto-J 54.96 83.41 60.68 78.64 50.41 77.84"),
    ("fusion-eval", "PaLM2 alone (DE)", "DE-PaLM2 0.669 0.688 0.542 0.602 0.493 0.66"),
    ("fusion-eval", "AVG(AE)", "AVG(AE) 0.556 0.637 0.626 0.579 0.672 0.697"),
    ("fusion-eval", "CorrW(AE, DE-PaLM2)", "CorrW(AE, DE-PaLM2) 0.666 0.711 0.641 0.65 0.689 0.742"),
    ("fusion-eval", "without a plan, PaLM2", "FE-PaLM2-NoPlan 0.683 0.722 0.649 0.643 0.641 0.735"),
    ("fusion-eval", "Fusion-Eval, PaLM2", "FE-PaLM2 0.697 0.728 0.651 0.709 0.632 0.764"),
    ("fusion-eval", "Fusion-Eval, GPT-4", "FE-GPT-4 0.678 0.747 0.691 0.692 0.687 0.774"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "name", "printed"), FIGURES, ids=[f"{page}: {name}" for page, name, _ in FIGURES])
def test_a_published_figure_stands_in_the_paper(method: str, name: str, printed: str, shared: Path):
    paper = (shared / f"papers/{method.replace('-', '_')}.txt").read_text()
    assert printed in " ".join(paper.split())
    (row,) = re.findall(rf"^\| {re.escape(name)} \|(.*)\|$", PAGES[method], re.M)
    assert numbers(row) == numbers(printed)[-len(numbers(row)) :]


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d*\.\d+", text)]


def benched(*command: str) -> dict[str, Any]:
    done = CliRunner().invoke(main, ["bench", *command, "--resamples", "10", "--json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def value(found: dict[str, Any], judge: str, criterion: str, statistic: str) -> tuple[float, int]:
    """Of the whole collection."""
    (cell,) = [
        c for c in found["cells"]
        if (c["judge"], c["criterion"], c["statistic"]) == (judge, criterion, statistic)
        and c["level"] in ("dataset", "")
    ]  # fmt: skip
    return cell["value"], cell["n"]


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("column", "reading"), [("ours", ()), ("published", ("--reading", "authors"))])
def test_g_eval_s_recorded_replies_give_these_figures(column: str, reading: tuple[str, ...], shared: Path):
    found = benched("topical_chat", "--data", str(shared / "data"), "--recorded", *reading)
    rows = table("g-eval", "prompt")
    assert len(rows) == 4
    for row in rows:
        pearson, n = value(found, f"gpt-3.5 {bare(row['prompt'])}", row["criterion"], "pearson")
        assert (f"{pearson:.3f}".lstrip("0"), str(n)) == (row[column], row["n"])


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        pytest.param("`fennec`, embedded judge", (), marks=pytest.mark.soak),
        pytest.param("Auto-J", ("--recorded",), marks=pytest.mark.long),
    ],
)
def test_fennec_s_pairs_give_these_figures(name: str, options: tuple[str, ...], shared: Path):
    found = benched("autoj", "--data", str(shared / "data"), *options)
    (row,) = re.findall(rf"^\| {re.escape(name)} \| (\S+) \| (\S+) \| (.*) \|$", PAGES["fennec"], re.M)
    judge = "fennec" if not options else "Auto-J"
    measured = [value(found, judge, "overall", statistic)[0] for statistic in ("agreement", "consistency")]
    assert [f"{one:.3f}".removeprefix("0") for one in measured] == [*row[:2]]
