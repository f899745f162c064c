"""`judgegraph agents|tools|methods`: what is there, whose it is, what it reads and writes, at 80 columns."""

import json
import os

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.registry.shipped import AGENTS, ASSISTANTS, CRITICS, FORM_METHODS, METHODS, PEER_METHODS, VARIANTS

NAMES = {
    "agents": {**CRITICS, **AGENTS},
    "tools": ASSISTANTS,
    "methods": {**METHODS, **FORM_METHODS, **PEER_METHODS, **VARIANTS},
}


def call(*arguments, columns=80):
    done = CliRunner().invoke(main, list(arguments), env={"COLUMNS": str(columns)})
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("command", NAMES)
def test_every_part_of_ours_is_listed_with_its_package_and_first_line(command):
    listed = {n: row for n, row in json.loads(call(command, "--json")).items() if row["package"] == "judgegraph"}
    assert set(listed) == set(NAMES[command])
    for row in listed.values():
        assert row["version"] == jg.__version__
        assert None not in (row["reads"], row["writes"])
        assert row["about"]
        assert row["disabled"] == ""


@pytest.mark.parametrize(
    ("command", "name", "reads", "writes"),
    [
        ("agents", "sage", ["sample", "scores", "criteria?"], ["rectifications", "suggestions", "notes?"]),
        ("agents", "evaluator", ["sample", "criteria?"], ["scores"]),
        ("methods", "sageval", ["sample", "criteria?", "task?"],
         ["scores", "rectifications", "suggestions", "notes"]),
        ("tools", "coverage", "the output and the source", "a number, 0 to 1 (1 = every word is the source's, "
         "low = many words of its own; says nothing of quality by itself)"),
    ],
)  # fmt: skip
def test_what_a_part_reads_and_writes_is_told(command, name, reads, writes):
    row = json.loads(call(command, "--json"))[name]
    assert (row["reads"], row["writes"]) == (reads, writes)


@pytest.mark.parametrize("name", ["gate", "panel"])
def test_of_what_needs_settings_it_is_said_that_they_decide(name):
    row = json.loads(call("agents", "--json"))[name]
    assert (row["reads"], row["writes"]) == ("what its settings say", "what its settings say")
    assert "reads what its settings say; writes what its settings say" in " ".join(call("agents").split())


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("command", [("agents",), ("tools",), ("methods",), ("methods", "-v")], ids=" ".join)
def test_no_line_is_wider_than_the_terminal(command, columns):
    lines = call(*command, columns=columns).splitlines()
    assert max(map(len, lines)) <= min(columns, 100)


def test_the_list_of_agents_reads_as_text():
    lines = call("agents").splitlines()
    assert lines[0] == f"judgegraph {jg.__version__}"
    assert lines[1].startswith("  sage ")
    assert "critic: A meta-evaluator with three separate duties." in lines[1]
    assert "reads sample, scores, criteria?; writes rectifications" in lines[2]


def test_a_plain_list_of_methods_is_one_a_line_as_long_as_they_are_all_ours():
    listed = [line.split()[0] for line in call("methods").splitlines()]
    assert listed == [*METHODS, *FORM_METHODS, *PEER_METHODS, "variants", *VARIANTS]
    assert "reads sample" in call("methods", "-v")


@pytest.mark.long
def test_a_package_stands_under_its_name_and_what_fails_with_its_reason(packages):
    packages.critic("strict-critic", "strict")
    packages.critic("broken", "broken", code="print('noise'); import nowhere_at_all")
    done = packages.run("agents")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    at = lines.index("strict-critic 1.0")
    assert " ".join(lines[at + 1].split()) == "strict critic: Takes a point from every score above one."
    assert lines[at + 2].strip() == "reads sample, scores, criteria?; writes rectifications,"
    at = lines.index("broken 1.0")
    said = " ".join(" ".join(lines[at + 1 : at + 4]).split())
    assert said.startswith("broken disabled: entry point 'broken_part:Strict': ModuleNotFoundError: No module named")
    assert "noise" in done.stderr
    assert max(map(len, lines)) <= 80
    rows = json.loads(packages.call("agents", "--json").stdout)
    assert rows["strict"]["reads"] == ["sample", "scores", "criteria?"]
    assert rows["broken"]["disabled"].startswith("entry point 'broken_part:Strict': ModuleNotFoundError")


def test_two_of_one_name_are_listed_by_the_names_that_tell_them_apart(packages):
    packages.critic("alpha", "sage")
    packages.critic("beta", "evaluator")
    rows = json.loads(packages.call("agents", "--json").stdout)
    assert {"judgegraph:sage", "alpha:sage", "critic/evaluator", "agent/evaluator"} <= set(rows)
    assert "sage" not in rows


def test_one_package_that_has_a_name_twice_is_listed_twice(packages):
    points = "[judgegraph.critics]\nstrict = one_part:Strict\nstrict = two_part:Strict\nstrict = one_part:Strict\n"
    packages.add("alpha", points, one_part=packages.code, two_part=packages.code)
    rows = json.loads(packages.call("agents", "--json").stdout)
    theirs = {name for name, row in rows.items() if row["package"] == "alpha"}
    assert theirs == {"alpha:strict (one_part:Strict)", "alpha:strict (two_part:Strict)"}


def test_what_cannot_be_used_leaves_our_part_its_plain_name(packages):
    packages.add("broken", "[judgegraph.critics]\nsage = nowhere_at_all:X\n")
    rows = json.loads(packages.call("agents", "--json").stdout)
    assert rows["sage"]["package"] == "judgegraph"
    assert "nowhere_at_all" in rows["broken:sage"]["disabled"]
    assert packages.call("show", "sageval", "--critic", "sage").exit_code == 0


def test_a_compiled_graph_is_a_method_like_another(packages):
    code = "from judgegraph.graphs import llm_score\nready = llm_score()\n"
    packages.add("parts", "[judgegraph.methods]\nready = parts_of:ready\n", parts_of=code)
    row = json.loads(packages.call("methods", "--json").stdout)["ready"]
    assert (row["disabled"], row["reads"][0], row["writes"]) == ("", "sample", ["scores"])
    assert "disabled" not in packages.call("methods", "-v").stdout


def test_other_lists_name_packages_too(packages):
    packages.add(
        "parts", "[judgegraph.methods]\nmine = parts_of:mine\nbad = parts_of:bad\n"
        "[judgegraph.assistants]\nshout = parts_of:shout\nodd = parts_of:odd\n",
        parts_of="from judgegraph.graphs import llm_score as mine\n"
        "def bad():\n    'Bad.'\n    return {}['gone']\ndef shout(sample):\n    'Capitals.'\n    return 1.0\n"
        "def odd():\n    return 3\n",
    )  # fmt: skip
    methods = packages.call("methods").stdout
    assert f"judgegraph {jg.__version__}\n  sageval" in methods
    assert "parts 1.0\n" in methods
    rows = json.loads(packages.call("methods", "--json").stdout)
    assert rows["mine"]["writes"] == ["scores"]
    assert "raised KeyError: 'gone'" in rows["bad"]["disabled"]
    tools = json.loads(packages.call("tools", "--json").stdout)
    assert (tools["shout"]["about"], tools["shout"]["writes"]) == ("Capitals.", "a number")
    assert "made int" in tools["odd"]["disabled"]


@pytest.mark.long
def test_a_critic_of_a_package_is_swapped_from_the_command_line(packages, tmp_path):
    packages.critic("strict-critic", "strict")
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"id": "1", "query": "Why?", "output": "Because it rains."}) + os.linesep)
    by_option = packages.run("run", "sageval", data, "-c", "general", "--json", "--critic", "strict")
    assert by_option.returncode == 0, by_option.stderr
    by_setting, exact = ("-s", "critic=strict"), ("-s", "critic=strict-critic:strict")
    ways = [packages.call("run", "sageval", data, "-c", "general", "--json", *way) for way in (by_setting, exact)]
    one, two, three = (json.loads(done.stdout) for done in (by_option, *ways))
    assert one == two
    assert "critic:strict|" in str(one["signature"])
    assert one["scores"] == three["scores"]
    planned = packages.call("plan", "sageval", data, "-c", "general", "--critic", "strict")
    assert planned.exit_code == 0, planned.output
