"""Notebooks do what they show: each runs without a key, a network or an error, and its stable outputs are fresh."""

import re
from pathlib import Path

import nbformat
import pytest
from executed import BOOKS, LABELLED, ROOT, SHARED, executed, faults, outputs, told
from nbformat.v4 import new_code_cell, new_notebook

MOST_BYTES = 80_000
FACTS = {  # notebook -> what its outputs say, and how often at least
    "01_sageval.ipynb": (
        ("<svg", 1), ("16/16", 8), ("run of sageval: 16 samples, 32 calls", 2), ("gym-cancellation, Relevancy", 1),
        ("read by logprobs", 1), ("plan for 16 samples", 2), ("self-reflection", 1),
    ),
    "02_coascore.ipynb": (
        ("<svg", 1), ("8/8", 4), ("Logical flow: ", 1), ("read as stated", 1), ("C + 2 * N * C = 68", 1),
        ("Coverage/rater/aspects:", 3),
    ),
    "03_fennec.ipynb": (
        ("<svg", 1), ("(rival)", 10), ("same verdict in both orders: ", 1), ("overall              both", 1),
        ("5: Logical flow is met fully.", 1), ("as the author: ", 5), ("overall ", 5), ("plan for 14 samples", 1),
    ),
    "04_fusion_eval.ipynb": (
        ("<svg", 1), ("20/20", 6), ("against the source", 5), ("read by samples", 6), ("'asks-back': 1.0", 1),
        ("0 calls", 1),
    ),
    "05_compose_a_graph.ipynb": (
        ("<svg", 1), ("jury: wired, ", 1), ("missing-writer: node 'critique'", 1), ("9/9", 4),
        ("the critic was asked: ", 3), ("jury is wired", 1),
    ),
    "06_write_and_publish_a_critic.ipynb": (
        ("longest sentence: ", 8), ("conforms", 2), ("failure-scored", 1), ("open-section", 1),
        ("run of sageval: 8 samples, 16 calls by ['fair-words']", 1),
        ('[project.entry-points."judgegraph.critics"]', 1),
    ),
    "07_meta_evaluation.ipynb": (
        ("spearman|level:group|n:", 1), ("dataset  Coherence: ", 1), ("system   Coherence: ", 1),
        ("critic sage over evaluator/draft", 1), ("words: spearman ", 1),
    ),
    "08_read_a_trace.ipynb": (
        ("run of sageval: 12 samples, 24 calls, kept in runs/08/before", 1), ("<details", 8), ("agent <b>Sage</b>", 1),
        ("├── node critique", 1), ("[redacted, ", 1), ("critic, the drafts are equal", 1),
        ("12 samples as JSON lines", 1),
    ),
    "09_a_better_judge.ipynb": (
        ("summaries", 1), ("three      Coherence", 1), ("weighted   Coherence", 1), ("Spearman with people", 1),
        ("critic sage over evaluator/draft", 1), ("5 runs on ", 1), ("Rank correlation of criteria", 1),
    ),
}  # fmt: skip
EVERY = pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.name)


def missing(path: Path, book: nbformat.NotebookNode) -> list[str]:
    said = told(book)
    return [text for text, least in FACTS[path.name] if said.count(text) < least]


@EVERY
def test_what_is_committed_is_whole_small_and_of_no_machine(path: Path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert faults(book) == []
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "make notebooks"
    assert path.stat().st_size < MOST_BYTES
    assert not re.search(r"(/tmp|/home|/root|/Users|/work|[A-Z]:\\\\)[/\\\\]", path.read_text())
    assert missing(path, book) == []
    assert book.metadata.kernelspec.name == "python3"  # the one that every Jupyter has


@EVERY
@pytest.mark.long
def test_a_notebook_runs_from_the_top_and_its_stable_outputs_are_fresh(path: Path, tmp_path: Path):
    labels = path.name in LABELLED
    if labels and not SHARED.is_dir():
        pytest.skip("skipped: no ../shared")
    committed, fresh = nbformat.read(path, as_version=4), executed(path, tmp_path, shared=labels)
    assert faults(fresh) == []
    assert missing(path, fresh) == []
    stable = 0
    for old, new in zip(committed.cells, fresh.cells, strict=True):
        if "stable" in old.metadata.get("tags", ()):
            stable += 1
            assert outputs(new) == outputs(old), f"stale; make notebooks:\n{old.source}"
    assert stable > 4


@pytest.mark.long
def test_without_human_judgements_the_examples_serve_and_it_is_said(tmp_path: Path):
    for name in LABELLED:
        path = ROOT / "notebooks" / name
        book = executed(path, tmp_path / name)
        assert faults(book) == []
        assert "32 example summaries, with one author's word for each" in told(book)
        assert [fact for fact in missing(path, book) if fact != "Spearman with people"] == []


def test_every_notebook_is_listed_and_has_its_facts():
    listed = re.findall(r"\]\((\d\d_\w+\.ipynb)\)", (ROOT / "notebooks/README.md").read_text())
    assert listed == [path.name for path in BOOKS] == list(FACTS)


def test_links_of_notebooks_lead_somewhere():
    for path in BOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            for link in re.findall(r"\]\(([^)#]+)[^)]*\)", cell.source if cell.cell_type == "markdown" else ""):
                assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_the_checks_of_this_file_can_fail(tmp_path: Path):
    wrong = ("import sys; print('warned', file=sys.stderr)", "1 / 0",
             "import urllib.request; urllib.request.urlopen('http://192.0.2.1')", "print(sys.executable)")  # fmt: skip
    path = tmp_path / "wrong.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in wrong]), path)
    book = executed(path, tmp_path / "run")
    found = faults(book)
    assert [text.split(":")[0].strip() for text in found] == ["warned", "ZeroDivisionError", "URLError"]
    assert "nothing but loopback" in found[2]
    assert "python" in told(book)
