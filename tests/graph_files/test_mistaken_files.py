"""Graph files as people would get them wrong: each is refused with the line and the key, and runs once it is mended."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_files import written

import judgegraph as jg
from judgegraph.cli.main import main
from judgegraph.graph_files.read import GraphFileError

RIGHT = """\
name: mine
criteria: summary
nodes:
  evaluate: evaluator
  second: {use: evaluator, with: {name: second, prompt: mine.md}}
  metrics: rouge-l
  jury: {use: panel, with: {judges: [embedded, g-eval]}}
  critique: {use: critique, with: {critic: sage, of: second, when: {low: {below: 3}}}}
  fixed: {use: corrector, with: {scored_by: [jury], threshold: 3}}
  last: {use: critique, with: {critic: devils-advocate, stage: final, of: jury, when: disagree}}
edges:
  - start -> evaluate -> second -> critique
  - start -> metrics, jury
  - critique, metrics, jury -> fixed
  - from: fixed
    to: last
    when: {low: {below: 4, stage: final, agent: jury}}
  - last -> end
"""
HEAD = "---\nversion: 1\nsource: ours\n---\n# user\n$task\n"
TEMPLATE = HEAD + "<criteria>$criteria</criteria>\n<query?>$query</query>\n"
WHOLE = TEMPLATE + "<source?>$source</source>\n<output>$output</output>\n"
MISTAKES = {  # what is wrong -> (what is replaced, by what, line, what its message names)
    "an unknown part": ("evaluate: evaluator", "evaluate: evaluater", 4, "did you mean 'evaluator'"),
    "an unknown metric": ("metrics: rouge-l", "metrics: rogue-l", 6, "did you mean 'rouge-l'"),
    "an unknown critic": ("critic: sage,", "critic: sgae,", 8, "did you mean 'sage'"),
    "an unknown member": ("[embedded, g-eval]", "[embedded, g-evall]", 7, "did you mean 'g-eval'"),
    "a judge for a critic": ("critic: sage,", "critic: g-eval,", 8, "is no critic"),
    "an unknown setting": ("judges: [", "jugdes: [", 7, "did you mean 'judges'"),
    "an unknown node": ("jury -> fixed", "jury -> fixd", 14, "did you mean 'fixed'"),
    "a metric for each criterion": (
        "metrics: rouge-l", "metrics: {use: rouge-l, each: criteria}", 6, "judges by no criterion",
    ),
    "a panel of metrics": ("[embedded, g-eval]", "[rouge-l, chrf]", 7, "judges by no criterion"),
    "one judge as two members": ("[embedded, g-eval]", "[embedded, embedded]", 7, "name another judge"),
    "a node that is not reached": ("  - start -> metrics, jury\n", "  - start -> jury\n", 6, "no way leads here"),
    "a condition that is none": ("when: disagree", "when: disagre", 10, "did you mean 'disagree'"),
    "a threshold off the scale": ("{low: {below: 3}}", "{low: {below: 7}}", 8, "'Coherence' is judged on 1-5"),
    "a threshold of an edge off the scale": ("below: 4,", "below: 40,", 9, "'Coherence' is judged on 1-5"),
    "a critic on another scale": (
        "{use: critique, with: {critic: sage,", "{use: critique, criteria: dialogue, with: {critic: sage,", 8,
        "give both the same criteria",
    ),
    "an unknown agent under review": ("of: second", "of: secnd", 8, "did you mean 'second'"),
    "an unknown stage under review": ("stage: final, of: jury", "stage: finale", 10, "did you mean 'final'"),
    "an unknown agent of an edge": ("agent: jury}", "agent: jurry}", 9, "did you mean 'jury'"),
    "an unknown agent of a corrector": ("scored_by: [jury]", "scored_by: [jurry]", 9, "did you mean 'jury'"),
    "a corrector off its scale": ("threshold: 3", "threshold: 30", 9, "not on the scale 1-5"),
    "two agents of one name": ("name: second, ", "", 5, "give one of them another name"),
    "a critic that nobody hears": (
        "{use: critique, with: {critic: sage, of: second, when: {low: {below: 3}}}}", "sage", 8, "add Rectify",
    ),
    "a template that is not there": ("prompt: mine.md", "prompt: mien.md", 5, "no prompt"),
    "a review of votes": ("stage: final, of: jury", "stage: ballot", 10, "review what the panel came to"),
    "a misspelt stage": ("{name: second,", "{name: second, stage: drafft,", 5, "did you mean 'draft'"),
    "a circle": ("  - last -> end", "  - last -> end\n  - critique -> second", 19, "goes round without end"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _template(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text(WHOLE, encoding="utf-8")


def test_the_file_that_was_meant_is_run(tmp_path: Path):
    made = jg.load_graph(written(tmp_path, RIGHT))
    assert jg.check(made).findings == ()
    (item,) = jg.evaluate(made, [jg.Sample(id="1", source="The bridge is shut.", output="It is shut.")]).items
    assert item.status == "ok"


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistaken_file_is_refused_by_line_and_cure(name: str, tmp_path: Path):
    old, new, line, said = MISTAKES[name]
    assert RIGHT.count(old) == 1
    with pytest.raises(GraphFileError) as refused:
        jg.load_graph(written(tmp_path, RIGHT.replace(old, new)))
    told = [one for one in str(refused.value).splitlines() if f"line {line}" in one and said in one]
    assert told != [], str(refused.value)


def test_a_template_without_a_field_is_told_by_its_line(tmp_path: Path):
    (tmp_path / "mine.md").write_text(TEMPLATE, encoding="utf-8")
    with pytest.raises(GraphFileError, match=r"line 5, 'nodes.second': .* lacks \$output"):
        jg.load_graph(written(tmp_path, RIGHT))


@pytest.mark.parametrize("command", ["check", "run"])
def test_the_command_line_refuses_it_before_anything_is_asked(command: str, tmp_path: Path):
    path = written(tmp_path, RIGHT.replace("below: 3}", "below: 7}"))
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "1", "output": "It is shut."}\n', encoding="utf-8")
    given = [str(data), "--out", str(tmp_path / "run")] if command == "run" else []
    done = CliRunner().invoke(main, [command, str(path), *given])
    assert done.exit_code not in (0, None)
    assert "line 8, 'nodes.critique'" in done.output + done.stderr
    assert not (tmp_path / "run").exists()


def test_all_faults_of_a_file_are_told_in_one_go_whatever_stands_before_them(tmp_path):
    """Wrong names of keys, parts, judges, criteria, conditions, nodes and results, each in a line of its own."""
    lines = [
        "name: mine", "critera: general", "nodes:", "  a: {use: llm-scor, jugde: embedded}",
        "  b: {use: llm-score, with: {stag: x}}", "  c: {use: evaluator, judge: nobody}",
        "  d: {use: llmscore, judge: nobody}", "  e: {use: llmscore, criteria: gneral}", "  f: {use: llm-scor}",
        "edges:", "  - start -> a -> x", "  - b -> end", "  - {from: c, to: b, when: lwo}", "outputs: [scroes]",
    ]  # fmt: skip
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(jg.ConfigError) as error:
        jg.load_graph(path)
    told = [re.search(r"line (\d+), '([^']*)'", line).groups() for line in str(error.value).splitlines()]
    assert told == [
        ("2", "critera"), ("4", "nodes.a.jugde"), ("4", "nodes.a.use"), ("5", "nodes.b.with.stag"),
        ("6", "nodes.c.judge"),
        ("7", "nodes.d.use"), ("7", "nodes.d.judge"), ("8", "nodes.e.use"), ("8", "nodes.e.criteria"),
        ("9", "nodes.f.use"), ("11", "edges.1"), ("13", "edges.3.when"), ("14", "outputs.1"),
    ]  # fmt: skip
