"""Whatever is wrong with a graph file is told by file, line and key, with what was expected, all of it at once."""

import re

import pytest
from small_files import FILE, written

import judgegraph as jg
from judgegraph.errors import ConfigError
from judgegraph.graph_files.read import GraphFileError

PARTS = "evaluator, escalate, g-eval-auto-cot and "
KNOWN_FILE = "Known: name, about, criteria, task, judge, judges, nodes, edges, outputs"
EDGE = "  - critique -> rectify -> end\n"
SAGE = "{use: sage, with: {calls: three}}"

BROKEN = {  # what is wrong -> (what is replaced, by what, lines of the message without the file)
    "a misspelt key": (
        "criteria:", "criterea:",
        ["line 2, 'criterea': unknown key of a graph file; did you mean 'criteria'? " + KNOWN_FILE],
    ),
    "no name": ("name: small\n", "", ["line 1, 'name': missing in a graph file"]),
    "a name with a space": (
        "name: small", "name: my graph",
        ["line 1, 'name': expected a name of letters, digits, - and _ that starts with a letter, 60 signs at most, "
         "got text (my graph)"],
    ),
    "a name that YAML takes for a switch": (
        "name: small", "name: no", ["line 1, 'name': expected text, got true or false (no); put it in quotes"],
    ),
    "no such criteria": (
        "criteria: forms", "criteria: form",
        ["line 2, 'criteria': no criteria set 'form'; did you mean 'forms'? Known: data-to-text, dialogue, forms, "
         "general, rubric, story, story-errors, summary, trajectory, or the path of a .yaml o"],
    ),
    "a criterion without a definition": (
        "criteria: forms", "criteria:\n  - {name: Clarity}",
        ["line 3, 'definition': missing or empty; expected text"],
    ),
    "no criteria at all": (
        "criteria: forms\n", "",
        ["line 5, 'nodes.evaluate': evaluator judges by criteria, and none are named: criteria: NAME",
         "line 6, 'nodes.critique.use': sage judges by criteria, and none are named: criteria: NAME"],
    ),
    "a key given twice": ("nodes:", "name: again\nnodes:", ["line 5, 'name': given twice, first in line 1"]),
    "a node given twice": (
        "  rectify: rectify", "  evaluate: rectify",
        ["line 8, 'evaluate': given twice, first in line 6",
         "line 11, 'edges.2': no node 'rectify'. Nodes: evaluate, critique"],
    ),
    "an unknown part, and an edge to nowhere": (
        "evaluate: evaluator", "evaluate: evalator",
        ["line 6, 'nodes.evaluate': nothing is called 'evalator'; did you mean 'evaluator'? Known: " + PARTS],
    ),
    "an unknown setting": (
        "{calls: three}", "{cals: three}",
        ["line 7, 'nodes.critique.with.cals': sage has no such setting; did you mean 'calls'? "
         "Known: task, calls, prompt, cot, duty_prompts, reader, name, stage"],
    ),
    "a setting off its values": (
        "calls: three", "calls: four",
        ["line 7, 'nodes.critique.with.calls': expected 'one' or 'three', got text (four)"],
    ),
    "a setting of the wrong kind": (
        "calls: three", "prompt: 5", ["line 7, 'nodes.critique.with.prompt': expected text, got a number (5)"],
    ),
    "a setting within a setting": (
        "calls: three", "reader: {kind: weighed}",
        ["line 7, 'nodes.critique.with.reader.kind': expected 'weighted', 'mean' or 'stated', got text (weighed)"],
    ),
    "a setting of a method off its range": (
        "rectify: rectify", "rectify: {use: g-eval, with: {samples: 0}}",
        ["line 8, 'nodes.rectify.with.samples': expected a whole number, 1 or more, got a number (0)"],
    ),
    "a judge among the settings": (
        "calls: three", "judge: embedded",
        ["line 7, 'nodes.critique.with.judge': stands beside 'use', not in 'with': judge: ..."],
    ),
    "a misspelt judge": (
        SAGE, "{use: sage, judge: strang}",
        ["line 7, 'nodes.critique.judge': no judge 'strang'; did you mean 'strong'? This file's judges: strong; or "
         "write 'embedded', 'openai:MODEL' or 'PROVIDER:MODEL'"],
    ),
    "a misspelt setting of a judge": (
        "base_url:", "baseurl:",
        ["line 4, 'judges.strong.baseurl': unknown key of a judge; did you mean 'base_url'? Known: model, base_url, "
         "api_key_env, temperature, top_p, max_tokens, seed, timeout, attempts, asks, rpm, tpm, in_flight, "
         "transport, patience"],
    ),
    "a judge for what asks none": (
        "rectify: rectify", "rectify: {use: rectify, judge: strong}",
        ["line 8, 'nodes.rectify.judge': rectify takes no judge"],
    ),
    "an edge to an unknown node": (
        EDGE, "  - critique -> rectfy -> end\n",
        ["line 11, 'edges.2': no node 'rectfy'; did you mean 'rectify'? Nodes: evaluate, critique, rectify"],
    ),
    "an edge without an arrow": (
        EDGE, "  - critique rectify\n",
        ["line 11, 'edges.2': expected an edge such as 'a -> b' or 'a, b -> c -> end', got text (critique rectify)"],
    ),
    "an edge from the end": (
        EDGE, EDGE + "  - end -> rectify\n", ["line 12, 'edges.3': 'end' stands only where a graph ends"],
    ),
    "an edge given twice": (
        EDGE, EDGE + "  - critique -> rectify\n",
        ["line 12, 'edges.3': critique -> rectify is given twice, first in line 11"],
    ),
    "brackets that YAML takes for a list": (
        EDGE, "  - [critique, evaluate] -> rectify\n",
        ["line 11: several nodes of an edge stand without brackets: a, b -> c"],
    ),
    "a circle": (
        EDGE, EDGE + "  - rectify -> critique\n",
        ["line 11, 'edges.2': goes round without end: critique -> rectify -> critique; use: refine has a bound"],
    ),
    "a node that nothing leads to": (
        "  rectify: rectify", "  rectify: rectify\n  more: rouge-l",
        ["line 9, 'nodes.more': no way leads here from 'start'; add an edge to it"],
    ),
    "a node that leads nowhere": (
        EDGE, "  - evaluate -> rectify -> end\n", ["line 7, 'nodes.critique': leads nowhere; write critique -> end"],
    ),
    "no edge from the start": (
        "start -> evaluate", "evaluate",
        ["line 9, 'edges': no edge begins at 'start'; write start -> NODE"],
    ),
    "a misspelt condition": (
        EDGE, "  - {from: critique, to: rectify, when: wyde}\n  - rectify -> end\n",
        ["line 11, 'edges.2.when': no condition 'wyde'; did you mean 'wide'? "
         "Known: wide, disagree, low, failed, either, or file.py:name"],
    ),
    "a misspelt setting of a condition": (
        EDGE, "  - {from: critique, to: rectify, when: {wide: {abov: 0.2}}}\n  - rectify -> end\n",
        ["line 11, 'edges.2.when.wide.abov': condition 'wide' has no such setting; did you mean 'above'? "
         "Known: stage, agent, above, unknown"],
    ),
    "an edge with and without when": (
        EDGE, EDGE + "  - {from: critique, to: end, when: wide}\n",
        ["line 12, 'edges.3': 'critique' has an edge without 'when' too; write where it goes otherwise as its 'else'"],
    ),
    "an else that comes too early": (
        EDGE,
        "  - {from: critique, to: rectify, when: wide, else: end}\n  - {from: critique, to: end, when: failed}\n"
        "  - rectify -> end\n",
        ["line 12, 'edges.3': 'critique' goes on by 'else' in line 11; this comes too late"],
    ),
    "an else without when": (
        EDGE, "  - {from: critique, to: rectify, else: end}\n  - rectify -> end\n",
        ["line 11, 'edges.2.else': stands only beside a 'when': it is where a run goes that does not meet it"],
    ),
    "a critic that reads what nobody wrote": (
        "start -> evaluate -> critique", "start -> critique\n  - start -> evaluate -> end",
        ["line 7, 'nodes.critique': node 'critique' reads 'scores', which "],
    ),
    "a panel of nothing": (
        "evaluate: evaluator", "evaluate: {use: panel, with: {judges: []}}",
        ["line 6, 'nodes.evaluate.with.judges': expected a list or a mapping of 1 to 50 judges and nodes, got a list"],
    ),
    "a panel with an unknown member": (
        "evaluate: evaluator", "evaluate: {use: panel, with: {judges: [strong, g-evil], combine: avg}}",
        ["line 6, 'nodes.evaluate.with.judges.2': no judge and no node 'g-evil'; did you mean 'g-eval'? Names: "
         "g-eval, g-eval-20, sageval and ",
         "line 6, 'nodes.evaluate.with.combine': expected 'mean', 'median' or 'vote', got text (avg)"],
    ),
    "a gate without a node": (
        "rectify: rectify", "rectify: {use: gate, with: {when: wide}}",
        ["line 8, 'nodes.rectify.use': gate needs a setting: with: {node: ...}"],
    ),
    "an output that nobody writes": (
        "nodes:", "outputs: [scores, scors]\nnodes:",
        ["line 5, 'outputs.2': no node writes 'scors'; did you mean 'scores'? "
         "Written: scores, rectifications, suggestions, notes"],
    ),
    "a file that is not there": (
        "rectify: rectify", "rectify: ./inner.yaml",
        ["line 8, 'nodes.rectify': graph file {folder}/inner.yaml: there is no such file"],
    ),
    "a file within itself": (
        "rectify: rectify", "rectify: small.yaml",
        ["line 8, 'nodes.rectify': graph file {folder}/small.yaml: stands within itself: small.yaml"],
    ),
    "code from elsewhere": (
        "rectify: rectify", "rectify: ../mine.py:tidy",
        ["line 8, 'nodes.rectify': code lies beside the graph file or in a folder below it, not at ../mine.py"],
    ),
    "code that is not there": (
        "rectify: rectify", "rectify: mine.py:tidy", ["line 8, 'nodes.rectify': no file {folder}/mine.py"],
    ),
    "a node named as an end": (
        "  rectify: rectify", "  rectify: rectify\n  end: rectify",
        ["line 9, 'nodes.end': 'end' is where a graph ends; rename it"],
    ),
    "no nodes": ("nodes:\n", "nodes: {}\nx:\n", ["line 5, 'nodes': expected 1 or more entries, got 0"]),
}  # fmt: skip


def message(folder, text):
    with pytest.raises(GraphFileError) as raised:
        jg.load_graph(written(folder, text))
    assert isinstance(raised.value, ConfigError)
    return str(raised.value).splitlines()


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_told_by_line_and_key(what, tmp_path):
    old, new, said = BROKEN[what]
    assert FILE.count(old) >= 1
    lines = message(tmp_path, FILE.replace(old, new, 1))
    expected = [f"graph file {tmp_path}/small.yaml, {line.replace('{folder}', str(tmp_path))}" for line in said]
    for line, wanted in zip(lines, expected, strict=False):
        assert line[: len(wanted)] == wanted
    if what != "no nodes":
        assert len(lines) == len(expected)


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines(tmp_path):
    text = FILE
    for old, new in [
        ("base_url:", "baseurl:"), ("evaluator", "evalator"), ("calls: three", "calls: four"), ("-> end", "-> ende"),
    ]:  # fmt: skip
        text = text.replace(old, new)
    found = [int(re.search(r", line (\d+)", line)[1]) for line in message(tmp_path, text)]
    assert found == [4, 6, 7, 11]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: is empty"),
        ("- a\n", "line 1: expected a mapping, got a list"),
        ("name: [a\n", "line 2: is not well-formed"),
        ("name: a\n---\nname: b\n", "line 2: is not well-formed"),
        ("a: &x [1]\nb: *x\n", "line 2: is not well-formed: an alias (*name) is refused; write it out"),
        ("a: &x [*x]\n", "line 1: is not well-formed: an alias (*name) is refused; write it out"),
        ("a: " + "[" * 40 + "]" * 40, "line 1: is not well-formed: over 30 levels deep"),
        ("{" + '"a":{' * 40, "line 1: is not well-formed: over 30 levels deep"),
        ("name: !!python/object/apply:os.system [ls]\n", "line 1, 'name': the tag !!python/object/apply:os.system is"),
        ("name: !own x\n", "line 1, 'name': the tag !own is refused"),
        ("? [a]\n: b\n", "line 1, 'a list': expected text as a key, got a list"),
        ("yes: b\n", "line 1, 'yes': expected text as a key, got true or false (yes); put it in quotes"),
        ("<<: {a: b}\n", "line 1"),
        ("name: 'a\x07b'\n", "line 1: holds the character 0x7"),
        ("#" * 100_001, "is larger than 100,000 bytes"),
    ],
)
def test_a_hostile_file_is_refused_in_one_line_or_a_few(text, said, tmp_path):
    lines = message(tmp_path, text)
    assert any(said in line for line in lines)
    assert all(line.isprintable() for line in lines)


def test_a_file_that_is_not_there_and_one_that_is_no_utf8(tmp_path):
    with pytest.raises(GraphFileError, match="there is no such file"):
        jg.load_graph(tmp_path / "none.yaml")
    with pytest.raises(GraphFileError, match="there is no such file"):
        jg.load_graph("x" * 5000 + ".yaml")
    (tmp_path / "bad.yaml").write_bytes(b"name: \xff\n")
    with pytest.raises(GraphFileError, match="line 1: is not UTF-8"):
        jg.load_graph(tmp_path / "bad.yaml")


def test_a_key_in_a_file_is_refused_and_not_repeated(tmp_path):
    lines = message(tmp_path, FILE.replace('model: "openai:m"', 'model: "openai:m", api_key: sk-abc123'))
    assert lines == [
        f"graph file {tmp_path}/small.yaml, line 4, 'judges.strong.api_key': a key stands in no file; name the "
        "environment variable that holds it: api_key_env: NAME"
    ]


def test_a_mistake_in_an_inner_file_has_the_lines_of_both(tmp_path):
    written(tmp_path, FILE.replace("calls: three", "calls: four"), "inner.yaml")
    text = FILE.replace("  rectify: rectify", "  rectify: inner.yaml")
    assert message(tmp_path, text) == [
        f"graph file {tmp_path}/small.yaml, line 8, 'nodes.rectify': graph file {tmp_path}/inner.yaml, line 7, "
        "'nodes.critique.with.calls': expected 'one' or 'three', got text (four)"
    ]


def test_files_within_files_have_an_end(tmp_path):
    for number in range(12):
        text = FILE.replace("evaluate: evaluator", f"evaluate: f{number + 1}.yaml").replace("small", f"f{number}")
        written(tmp_path, text, f"f{number}.yaml")
    with pytest.raises(GraphFileError, match="is over 8 files deep"):
        jg.load_graph(tmp_path / "f0.yaml")


@pytest.mark.slow
def test_a_few_small_files_do_not_make_a_huge_graph(tmp_path):
    head = "name: x\ncriteria: forms\nnodes:\n"
    for number in range(4):
        nodes = "".join(f"  n{i}: f{number + 1}.yaml\n" for i in range(20))
        drawn = ", ".join(f"n{i}" for i in range(20))
        written(tmp_path, f"{head}{nodes}edges:\n  - start -> {drawn} -> end\n", f"f{number}.yaml")
    written(tmp_path, f"{head}  n: evaluator\nedges:\n  - start -> n -> end\n", "f4.yaml")
    with pytest.raises(GraphFileError, match="over 200 nodes"):
        jg.load_graph(tmp_path / "f0.yaml")
