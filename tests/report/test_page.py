"""The page of a run: inert, whole, true to the run, and within its size."""

import base64
import hashlib
import os
import random
import re
import tomllib
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from report_runs import ATTACKS, NAMES, hostile_run, one_node, samples_of, scored_run

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.compose.nodes import as_node
from judgegraph.graphs import fennec, sageval
from judgegraph.registry import METHODS
from judgegraph.report.drawing.figure import figure_of
from judgegraph.report.graph import run_figure
from judgegraph.runs.identity import configuration

ROOT = Path(__file__).resolve().parents[2]
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "p", "h1", "h2", "h3", "h4", "span", "time", "dl",
    "div", "dt", "dd", "details", "summary", "em", "strong", "nav", "ul", "ol", "li", "main", "section", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "bdi", "b", "code", "pre", "figure", "figcaption",
    "svg", "desc", "defs", "marker", "path", "rect", "circle", "g", "text", "line", "polygon",
}  # fmt: skip
VOID = {"meta", "path", "rect", "circle", "line", "polygon"}


class Page(HTMLParser):
    """Elements, attributes and texts of a page; fails where they are not closed in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.texts: list[str] = []
        self.headings: list[int] = []
        self._open: list[str] = []
        self.feed(self.source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.elements[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "style" not in self._open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def of(self, name: str) -> list[str]:
        return [value or "" for _, attribute, value in self.attributes if attribute == name]


def page_of(run: jg.Run, folder: Path, **settings: object) -> Page:
    return Page(jg.write_report(run, folder / "run.html", **settings))


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> jg.Run:
    samples = list(jg.load(ROOT / "examples/forms.jsonl"))[:6]
    return jg.evaluate(sageval(criteria="forms"), samples, out=tmp_path_factory.mktemp("forms") / "run")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> jg.Run:
    samples = list(jg.load(ROOT / "examples/pairs.jsonl"))[:4]
    return jg.evaluate(fennec(), samples, out=tmp_path_factory.mktemp("pairs") / "run")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> jg.Run:
    return hostile_run(tmp_path_factory.mktemp("hostile") / "run")


@pytest.fixture
def run(request: pytest.FixtureRequest) -> jg.Run:
    return request.getfixturevalue(request.param)


ALL = pytest.mark.parametrize("run", ["forms", "pairs", "hostile"], indirect=True)


@ALL
def test_the_page_holds_only_what_cannot_act(run: jg.Run, tmp_path: Path):
    page = page_of(run, tmp_path)
    assert set(page.elements) <= ELEMENTS
    names = {name for _, name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not names & {"style", "src", "srcdoc", "action", "formaction", "data", "xlink:href", "background", "ping"}
    assert all(re.fullmatch(r"#[a-z][a-z0-9-]*", value) for value in page.of("href"))
    urls = re.findall(r'="[^"]*url\(([^)]*)\)[^"]*"', re.sub(r"aria-label=\"[^\"]*\"", "", page.source))
    assert {url[0] for url in urls} <= {"#"}


@ALL
def test_the_policy_allows_its_own_style_and_nothing_else(run: jg.Run, tmp_path: Path):
    page = page_of(run, tmp_path)
    (style,) = re.findall(r"<style>(.*?)</style>", page.source, re.S)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [value for value in page.of("content") if "default-src" in value]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src 'none'; form-action 'none'; base-uri 'none'"
    )
    assert "no-referrer" in page.of("content")
    assert "@import" not in style
    assert "url(" not in style


@ALL
def test_anchors_are_ours_and_lead_somewhere(run: jg.Run, tmp_path: Path):
    page = page_of(run, tmp_path)
    ids = page.of("id")
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in ids)
    assert {href[1:] for href in page.of("href")} <= set(ids)
    assert page.headings[0] == 1
    assert all(after <= before + 1 for before, after in zip(page.headings, page.headings[1:], strict=False))


def test_an_attack_is_shown_as_its_text(hostile: jg.Run, tmp_path: Path):
    page = page_of(hostile, tmp_path)
    shown = "".join(page.texts)
    for attack in ATTACKS[:12]:
        assert attack in shown
    assert page.elements["title"] == page.source.count("<title")
    assert not [c for c in page.source if c != "\n" and c != "\t" and ord(c) < 32]
    assert not set(page.source) & set("\u202e\u2066\u2028\u2029\u200b\ufeff")


def test_a_reason_is_found_with_the_score_it_gave(forms: jg.Run, tmp_path: Path):
    text = page_of(forms, tmp_path).text
    for item in forms.items:
        assert item.id in text
        for score in item.scores:
            assert " ".join(score.reason.split())[:70] in text


def test_a_trace_shows_what_was_asked_and_replied(forms: jg.Run, tmp_path: Path):
    page = page_of(forms, tmp_path)
    shown = "".join(page.texts)
    item = next(iter(forms.items))
    steps = list(forms.trace(item.id).root.walk())
    assert {step.kind for step in steps} == {"graph", "node", "agent", "model"}
    for step in steps:
        for _, text in step.messages:
            assert text[:400] in shown
        for reply in step.replies:
            assert reply[:400] in shown
    assert "evaluate@" in page.text
    assert forms.signature in shown


def test_a_redacted_page_has_no_judged_or_generated_text(forms: jg.Run, tmp_path: Path):
    page = page_of(forms, tmp_path, redact=("texts",))
    for item in forms.items:
        assert item.id in page.text
        for text in (item.sample.query, *(s.reason for s in item.scores), *(s.definition for s in item.suggestions)):
            assert not text or " ".join(text.split())[:60] not in page.text
    assert "[redacted," in page.text
    assert "left out of this page" in page.text


@pytest.mark.long
def test_many_samples_fit_and_every_one_is_there(tmp_path: Path):
    run = scored_run(tmp_path / "run", 1000)
    page = page_of(run, tmp_path)
    assert len(page.source.encode()) < 10_000_000
    assert "1,000 of 1,000 samples" in page.text
    texts = [" ".join(str(item.sample.output).split())[:60] for item in run.items][::50]
    shown = page.text
    assert all(text in shown for text in texts), "what was judged stands beside the reasons of each"
    assert all(f"item-{n:05}" in page.source for n in range(1000))
    assert all(name in page.text for name in NAMES)


@pytest.mark.long
def test_more_than_fit_are_thinned_and_the_page_says_so(tmp_path: Path):
    run = scored_run(tmp_path / "run", 300)
    page = page_of(run, tmp_path, most_bytes=300_000, most=2)
    assert len(page.source.encode()) <= 300_000
    shown, step = re.search(r"([\d,]+) of 300 samples shown: every (\d+)", page.text).groups()
    assert int(shown) == len(range(0, 300, int(step)))
    assert page_of(run, tmp_path, most_bytes=300_000, most=2).source == page.source, "the same page again"


def test_groups_count_all_samples_by_what_came_of_them(tmp_path: Path):
    async def judge(state: jg.EvalState) -> jg.EvalState:
        number = int(state["sample"].id[-2:])
        if number == 3:
            raise ValueError("no")
        score = jg.Score(criterion="C", agent="a", value=2 if number < 6 else 4, scale=jg.Scale.of("1-5"), reason="why")
        return {"scores": {score.key: score}}

    run = jg.evaluate(one_node("judge", judge), samples_of(8, random.Random(1)), out=tmp_path / "run")
    text = page_of(run, tmp_path).text
    assert re.search(r"score 2 of 1 to 5\s+5", text)
    assert re.search(r"score 4 of 1 to 5\s+2", text)
    assert re.search(r"failed: agent error\s+1", text)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_graph_of_a_run_has_the_nodes_of_its_method(name: str):
    graph = as_node(f"method/{name}")
    drawn = run_figure({"method": name, "configuration": configuration(graph)})
    assert drawn is not None
    want = {f"{f.path}{n}" for f in figure_of(graph).everywhere() for n in f.nodes}
    assert {f"{f.path}{n}" for f in drawn.everywhere() for n in f.nodes} == want
    edges = {(f.path, e.source, e.target) for f in figure_of(graph).everywhere() for e in f.edges}
    assert {(f.path, e.source, e.target) for f in drawn.everywhere() for e in f.edges} == edges


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["START -> a/b", "a/b -> END"], {"__start__", "a/b", "__end__"}),
        (["START -> a -> b", "a -> b -> END", "nonsense"], {"__start__", "a -> b"}),
        ([], {"a or b"}),
    ],
)
def test_a_node_of_any_name_is_drawn(lines: list[str], names: set[str]):
    (name,) = names - {"__start__", "__end__"}
    drawn = run_figure({"configuration": {f"nodes.{name}": "x", f"nodes.{name}.judge": "y", "edges": lines}})
    assert drawn is not None
    assert set(drawn.nodes) == names


@pytest.mark.parametrize("told", [{}, {"configuration": None}, {"configuration": {"edges": ["a -> b"]}}])
def test_a_manifest_that_tells_no_graph_draws_none(told: dict):
    assert run_figure(told) is None


def test_a_run_without_spans_or_samples_has_a_page_too(tmp_path: Path):
    async def nothing(state: jg.EvalState) -> jg.EvalState:
        return {}

    graph = one_node("nothing", nothing)
    held = jg.evaluate(graph, [jg.Sample(id="a", output="b")])
    assert "nothing judged" in page_of(held, tmp_path).text
    plain = jg.evaluate(graph, [jg.Sample(id="a", output="b")], out=tmp_path / "run", trace=False)
    assert "not traced" in page_of(plain, tmp_path).text


def test_a_report_never_writes_over_the_run_and_is_its_owners_alone(forms: jg.Run, tmp_path: Path):
    for name in ("items.jsonl", "manifest.json", "spans.jsonl", "ledger.sqlite"):
        before = (forms.folder.path / name).read_bytes()
        with pytest.raises(jg.ConfigError, match="of the run itself"):
            jg.write_report(forms, forms.folder.path / name)
        assert (forms.folder.path / name).read_bytes() == before
    path = jg.write_report(forms.folder.path, tmp_path / "run.html")
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("wrong", [{"most": 0}, {"most_bytes": 10}, {"redact": "texts"}, {"redact": ("names",)}])
def test_a_wrong_argument_is_refused(forms: jg.Run, tmp_path: Path, wrong: dict):
    with pytest.raises(jg.ConfigError, match="report: "):
        jg.write_report(forms, tmp_path / "run.html", **wrong)
    assert not list(tmp_path.iterdir())


def test_the_command_writes_the_page(forms: jg.Run, tmp_path: Path):
    out = tmp_path / "run.html"
    done = CliRunner().invoke(
        main, ["report", str(forms.folder.path), "-o", str(out), "--most", "2", "--redact", "texts"]
    )
    assert done.exit_code == 0, done.output
    assert re.fullmatch(rf"All 6 samples were judged\.\n.*{re.escape(str(out))}: \d\.\d MB\n", done.output, re.S)
    assert "sageval" in Page(out).text
    assert CliRunner().invoke(main, ["report", str(forms.folder.path), "-o", str(tmp_path / "run.txt")]).exit_code == 2


def test_the_wheel_has_what_the_page_is_made_of():
    about = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert about["tool"]["hatch"]["build"]["only-include"] == ["judgegraph"]
    assert any(name.startswith("jinja2") for name in about["project"]["dependencies"])
    kept = {path.name for path in (ROOT / "judgegraph/report/page").iterdir()}
    assert {"page.css", "head.html", "blocks.html", "sample.html", "samples.html"} <= kept
