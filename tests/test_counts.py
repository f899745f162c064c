"""A count and its noun agree: "1 sample", "2 samples"."""

import ast
import re
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph.errors import counted
from judgegraph.graphs.g_eval import g_eval

PACKAGE = Path(jg.__file__).parent
AFTER_LEN = re.compile(r" (?:(?:more|labelled) )?(?:answers|calls|criteria|groups|items|nodes|pairs|records|"
                       r"replies|runs|samples|scores|steps|suggestions|units)\b")  # fmt: skip


@pytest.mark.parametrize(("count", "text"), [(0, "0 replies"), (1, "1 reply"), (2000, "2,000 replies")])
def test_a_noun_agrees_with_its_count(count: int, text: str):
    assert counted(count, "reply", "replies") == text


def test_a_graph_of_one_node_says_so():
    assert str(jg.check(g_eval())).startswith("g-eval: wired, 1 node\n")


def _guarded(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Within an `if` or an expression that asks how many there are."""
    while node in parents:
        node = parents[node]
        if isinstance(node, ast.IfExp | ast.If | ast.Raise):
            return True
    return False


def test_no_sentence_puts_a_plural_behind_a_length():
    """Where nothing asks first whether it is one. Raised errors are of limits, which are never 1."""
    wrong = []
    for code, path in [(path.read_text(), path) for path in sorted(PACKAGE.rglob("*.py"))]:
        if not re.search(r"\{\s*len\(", code):
            continue
        tree = ast.parse(code)
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for text in (node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)):
            for number, behind in zip(text.values, text.values[1:]):  # noqa: B905
                is_length = isinstance(number, ast.FormattedValue) and ast.unparse(number.value).startswith("len(")
                plural = isinstance(behind, ast.Constant) and AFTER_LEN.match(str(behind.value))
                if is_length and plural and not _guarded(text, parents):
                    wrong.append(f"{path.name}:{text.lineno}: {ast.unparse(text)[:100]}")
    assert not wrong, "\n".join(wrong)
