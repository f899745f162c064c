"""Whatever stands in a graph file, the reader ends soon, with a graph or with a ConfigError; it never runs a tag."""

import copy
import json
import time

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_files import FILE, written

import judgegraph as jg
from judgegraph.errors import ConfigError

VALID = (
    FILE
    + """\
  - {from: start, to: panel, when: {either: [wide, {low: {below: 3}}]}}
  - panel, one -> end
outputs: [scores, notes]
about: all constructs
task: A text.
"""
)
VALID = VALID.replace("  - start -> evaluate -> critique\n", "  - evaluate -> critique\n").replace(
    "to: panel", "to: [panel, one, evaluate]"
)
VALID = VALID.replace(
    "edges:",
    """\
  panel: {use: panel, with: {judges: [embedded, strong, {use: g-eval, with: {samples: 2}}], combine: mean}}
  one: {use: scorer, each: criteria, criteria: [{name: Tone, definition: d, scale: "1-3"}], with: {name: one}}
edges:""",
)
WORDS = [
    "start", "end", "evaluate", "a -> b", "->", ", ->", "embedded", "openai:", ":", "sage", "panel", "gate", "wide", "",
    "small.yaml", "x.json", "../x.py:f", "x.py:f", "critic/", "/", "forms", "\u202eevil", "a\x1b[2J", "NaN", "each",
    "é" * 70, "__start__", "criteria", "agent/evaluator", "rouge-l", "either", "my:part", "\ud800",
]  # fmt: skip
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**25), 10**25), st.floats(), st.sampled_from(WORDS), st.text(max_size=8)
)
KEYS = st.sampled_from(WORDS) | st.text(max_size=4)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


def loads(path):
    """A graph, or a ConfigError; any other exception fails the test."""
    before = time.monotonic()
    try:
        found = jg.load_graph(path).get_name()
    except ConfigError as error:
        found = str(error)
        assert all(line.isprintable() for line in found.splitlines())
        assert len(found) < 40_000
    assert time.monotonic() - before < 10
    return found


def places(data, path=()):
    yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*path, key))


def changed(data, path, how, value, key):
    """A copy with one place replaced, taken away, doubled or renamed."""
    data = copy.deepcopy(data)
    inner = data
    for part in path[:-1]:
        inner = inner[part]
    if not path:
        return value
    last = path[-1]
    if how == "replace":
        inner[last] = value
    elif how == "remove":
        del inner[last]
    elif isinstance(inner, list):
        inner.insert(last, copy.deepcopy(inner[last]))
    else:
        inner[key] = inner.pop(last) if how == "rename" else copy.deepcopy(inner[last])
    return data


def test_the_file_that_is_changed_is_sound(tmp_path):
    assert loads(written(tmp_path, VALID)) == "small"


@pytest.mark.long
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_changed_file_gives_a_graph_or_says_what_is_wrong(tmp_path, data):
    made = yaml.safe_load(VALID)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(made))))
        how = data.draw(st.sampled_from(["replace", "remove", "double", "rename"]))
        made = changed(made, path, how, data.draw(VALUES), data.draw(st.sampled_from(WORDS)))
        if not isinstance(made, dict):
            break
    loads(written(tmp_path, json.dumps(made), "small.json"))


@pytest.mark.slow
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_changed_text_gives_a_graph_or_says_what_is_wrong(tmp_path, data):
    text = VALID
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        stop = data.draw(st.integers(start, min(len(text), start + 12)))
        put = st.text(alphabet="{}[]:,-&*!?|>'\"#%@`\n\t ab01é\x00\u2028", max_size=6)
        text = text[:start] + data.draw(put) + text[stop:]
    loads(written(tmp_path, text))


CHOICE = "  - {{from: n{0}, to: n{1}, when: wide, else: n{2}}}\n"


def many(count):
    """A file with so many nodes, up to its edges."""
    return "name: x\ncriteria: forms\nnodes:\n" + "".join(f"  n{i}: evaluator\n" for i in range(count)) + "edges:\n"


EVERY_WAY = " -> ".join(", ".join(f"n{i}" for i in range(a, a + 40)) for a in (0, 40))
CHOICES = "".join(map(CHOICE.format, range(60), range(1, 61), range(2, 62)))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 99_000,
        "a: " * 30_000,
        "{a: 1, " * 14_000,
        "name: " + "x" * 99_000,
        FILE + "  - start" + " -> evaluate" * 7_000 + "\n",
        FILE + "  - start -> " + "evaluate, " * 9_000 + "rectify -> end\n",
        f"{many(100)}  - start -> {EVERY_WAY} -> end\n",
        f"{many(62)}  - start -> n0\n{CHOICES}  - n61 -> end\n",
    ],
    ids=["brackets", "keys", "braces", "one long text", "a long chain", "many names", "every way", "many choices"],
)  # fmt: skip
def test_a_file_made_to_take_long_ends_soon(text, tmp_path):
    assert loads(written(tmp_path, text))
