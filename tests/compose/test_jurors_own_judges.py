"""Judges of a jury that are given in words, each with a judge of its own."""

from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.compiled import judges_of
from judgegraph.errors import ConfigError, JudgegraphError

MINI, LARGE, OTHER = "openai:gpt-4o-mini", "openai:gpt-4o", "openai:gpt-4.1"
FILE = """
name: mine
judges: {large: "openai:gpt-4o"}
nodes:
  jury:
    use: jury
    criteria: summary
    with:
      jurors:
        strict: {prompt: You look for what is missing., judge: "openai:gpt-4o-mini"}
        kind: {prompt: You look for what is good., judge: large}
      chair: {prompt: Look yourself., judge: "openai:gpt-4.1"}
edges: [start -> jury -> end]
"""


def judges(graph: object) -> list[str]:
    return sorted(map(str, judges_of(graph)))


def test_each_is_asked_of_its_own_judge():
    strict = {"prompt": "You look for what is missing.", "judge": MINI}
    graph = jg.jury({"strict": strict, "kind": "You look for what is good."}, judge=LARGE, criteria="summary")
    assert judges(graph) == [LARGE, MINI]


def test_a_file_says_so_too(tmp_path: Path):
    (tmp_path / "mine.yaml").write_text(FILE)
    assert judges(jg.load_graph(tmp_path / "mine.yaml")) == sorted([MINI, LARGE, OTHER])


def test_the_same_words_of_two_models_are_two_opinions():
    same = {"prompt": "You judge."}
    graph = jg.jury({"a": same | {"judge": MINI}, "b": same | {"judge": LARGE}}, criteria="summary")
    assert judges(graph) == [LARGE, MINI]


def test_a_judge_for_nobody_is_refused():
    one, two = {"prompt": "You a.", "judge": MINI}, {"prompt": "You b.", "judge": LARGE}
    with pytest.raises(ConfigError, match="each has a judge of its own"):
        jg.jury({"a": one, "b": two}, judge=OTHER, criteria="summary")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("{prompt: You., juge: large}", "got the keys prompt, juge"),
        ("{prompt: You., judge: nobody}", "line 11, 'nodes.jury.with.jurors.kind.judge': no judge 'nobody'"),
        ("5", "line 11, 'nodes.jury.with.jurors.kind': expected text, got a number"),
    ],
)
def test_what_a_file_gets_wrong_is_refused_with_what_to_write(tmp_path: Path, wrong: str, said: str):
    line = "kind: {prompt: You look for what is good., judge: large}"
    (tmp_path / "mine.yaml").write_text(FILE.replace(line, f"kind: {wrong}"))
    with pytest.raises(JudgegraphError, match=said):
        jg.load_graph(tmp_path / "mine.yaml")
