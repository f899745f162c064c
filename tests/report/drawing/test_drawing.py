"""`jg.show`: what a notebook, a terminal and a file get."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from drawn_graphs import built, graph
from langgraph.graph import END, START

import judgegraph as jg


@pytest.fixture
def uncompiled() -> Any:
    return graph("ab", (START, "a"), ("a", "b"), ("b", END))


def test_a_name_a_graph_file_and_a_graph_may_be_shown(uncompiled: Any, tmp_path: Path):
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ncriteria: summary\nnodes: {one: evaluator}\nedges: [start -> one -> end]\n"
    )
    assert "evaluate -> critique" in jg.show("sageval").text
    assert "one -> END" in jg.show(str(tmp_path / "mine.yaml")).text
    assert "a -> b" in jg.show(uncompiled).text
    assert "a -> b" in jg.show(uncompiled.compile(name="x")).text


def test_it_prints_as_text_and_shows_as_a_picture_of_its_own():
    drawing = jg.show("fennec")
    assert str(drawing) == drawing.text
    html = drawing._repr_html_()
    assert html.startswith('<div class="jg-wide" tabindex="0"')
    ElementTree.fromstring(html)
    assert html == jg.show("fennec")._repr_html_()
    assert 'id="' in html
    assert not {f'id="{i}"' in jg.show("sageval")._repr_html_() for i in ids(html)} & {True}


def ids(html: str) -> list[str]:
    return [e.attrib["id"] for e in ElementTree.fromstring(html).iter() if "id" in e.attrib]


@pytest.mark.parametrize(("suffix", "form"), [(".svg", "svg"), (".mmd", "mermaid"), (".txt", "text")])
def test_it_is_saved_in_the_form_of_its_suffix(suffix: str, form: str, tmp_path: Path):
    drawing = jg.show("g-eval")
    path = drawing.save(tmp_path / f"graph{suffix}")
    assert path.read_text(encoding="utf-8") == getattr(drawing, form)
    assert "score" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "told"), [("graph.png", ".svg, .mmd, .txt"), ("none/graph.svg", "cannot be written")])
def test_what_cannot_be_saved_is_said(name: str, told: str, tmp_path: Path):
    with pytest.raises(jg.ConfigError, match=told):
        jg.show("g-eval").save(tmp_path / name)


def test_hostile_names_do_not_reach_the_mermaid_text():
    assert not {c for c in jg.show(built("hostile")).mermaid if c != "\n" and not c.isprintable()}


@pytest.mark.parametrize("thing", ["no-such-method", 7, None, jg.Sample])
def test_what_is_no_graph_is_refused_at_once(thing: object):
    with pytest.raises(jg.ConfigError):
        jg.show(thing)


def test_a_graph_that_leads_nowhere_is_refused_with_what_is_wrong():
    with pytest.raises(jg.ConfigError, match="cannot be compiled: Graph must have an entrypoint"):
        jg.show(graph("a", ("a", END)))
