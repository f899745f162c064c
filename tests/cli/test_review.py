"""A person decides at the terminal on what the critic suggests, and the run goes on by the new criteria."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgegraph.cli.main import main
from judgegraph.cli.review import Decisions
from judgegraph.errors import ConfigError
from judgegraph.prompts.criteria import criteria_set
from judgegraph.runs.run import Run

FORMS = str(Path(__file__).resolve().parents[2] / "examples/forms.jsonl")


@pytest.fixture
def form(tmp_path):
    """The one example whose critic suggests a criterion."""
    rows = [line for line in Path(FORMS).read_text().splitlines(True) if json.loads(line)["id"] == "school-trip"]
    path = tmp_path / "one.jsonl"
    path.write_text("".join(rows) + "".join(rows).replace("school-trip", "again"))
    return str(path)


def reviewed(*args, answers="", method="sageval"):
    return CliRunner().invoke(main, ["review", method, *args], input=answers)


def test_an_accepted_criterion_is_judged_by_and_saved(form, tmp_path):
    save = tmp_path / "mine.yaml"
    done = reviewed(form, "-n", "2", "--save", str(save), answers="a\nr\n")
    assert done.exit_code == 0, done.output
    assert done.output.count("new criterion Privacy") == 1  # it is known to the sample after it
    assert next(line for line in done.output.splitlines() if line.split()[:1] == ["Privacy"]).endswith("(new)")
    saved = criteria_set(str(save)).criteria
    assert [c.name for c in saved] == [*(c.name for c in criteria_set("forms").criteria), "Privacy"]
    assert saved[:-1] == criteria_set("forms").criteria


def test_a_rejected_one_changes_nothing(form):
    done = reviewed(form, answers="r\n")
    assert done.exit_code == 0
    assert "(new)" not in done.output
    assert "(was" not in done.output


def test_an_edited_one_has_the_name_and_definition_that_were_typed(form, tmp_path):
    save = tmp_path / "mine.yaml"
    done = reviewed(form, "--save", str(save), answers="e\nIt asks for no secret.\nDiscretion\n")
    assert done.exit_code == 0, done.output
    last = criteria_set(str(save)).criteria[-1]
    assert (last.name, last.definition) == ("Discretion", "It asks for no secret.")


def test_a_name_that_is_taken_is_asked_for_again(form):
    done = reviewed(form, answers="e\nx\nTone\nr\n")
    assert done.exit_code == 0, done.output
    assert "there is a criterion 'Tone' already" in done.output


def test_without_a_suggestion_nobody_is_asked():
    done = reviewed(FORMS)
    assert done.exit_code == 0
    assert "accept" not in done.output


def test_a_file_that_is_there_is_not_written_over(form, tmp_path):
    save = tmp_path / "mine.yaml"
    save.write_text("mine")
    done = reviewed(form, "--save", str(save))
    assert done.exit_code == 2
    assert "it exists already" in done.output
    assert save.read_text() == "mine"


@pytest.mark.parametrize("criteria", [None, "summary"])
def test_what_is_saved_has_the_methods_task(criteria, form, tmp_path):
    save = tmp_path / "mine.yaml"
    done = reviewed(form, *(["-c", criteria] if criteria else []), "--save", str(save), answers="r\n" * 9)
    assert done.exit_code == 0, done.output
    assert criteria_set(str(save)).task == criteria_set(criteria or "forms").task


@pytest.mark.parametrize("method", ["g-eval", "llm-score", "fennec", "coascore"])
def test_a_method_without_a_critic_is_refused(method, form, tmp_path):
    done = reviewed(form, "--save", str(tmp_path / "mine.yaml"), method=method)
    assert done.exit_code == 1
    assert done.output == (
        f"ConfigError: {method} has no critic that suggests criteria, so there is nothing to decide; review takes a "
        "method with one, such as sageval\n"
    )
    assert not (tmp_path / "mine.yaml").exists()


def test_a_critic_without_criteria_is_asked_for_them(form, tmp_path):
    (tmp_path / "bare.py").write_text(
        "import judgegraph as jg\nfrom judgegraph.agents.sage import Sage\nfrom langgraph.graph import END, START\n"
        "from langgraph.graph import StateGraph\n\n\ndef bare():\n    g = StateGraph(jg.EvalState)\n"
        "    g.add_node('sage', Sage())\n    g.add_edge(START, 'sage')\n    g.add_edge('sage', END)\n    return g\n"
    )
    done = reviewed(form, method=f"{tmp_path / 'bare.py'}:bare")
    assert done.exit_code == 1
    assert "no agent of the graph holds criteria; say by --criteria what it judges by" in done.output


def test_the_critic_is_swapped_by_name(form):
    done = reviewed(form, "--critic", "self-reflection")
    assert done.exit_code == 0, done.output
    assert "accept" not in done.output, "it suggests nothing"
    assert "no critic 'nobody'" in reviewed(form, "--critic", "nobody").output


def test_fields_are_read_from_the_columns_that_are_named(form, tmp_path):
    path = tmp_path / "renamed.jsonl"
    path.write_text(Path(form).read_text().replace('"output":', '"answer":'))
    assert reviewed(str(path), answers="r\n").exit_code == 1
    done = reviewed(str(path), "-f", "output=answer", answers="r\n")
    assert done.exit_code == 0, done.output
    assert "new criterion Privacy" in done.output


TWO = '''
from dataclasses import dataclass
from judgegraph.agents.under_review import Critique, Reviewed
from judgegraph.graphs import sageval
from judgegraph.types import Rectification, Suggestion, keyed


@dataclass(frozen=True, kw_only=True)
class Two:
    """Suggests two criteria, under names that hold the sample's."""

    name: str = "two"
    stage: str = "draft"

    async def __call__(self, state: Reviewed) -> Critique:
        said = [Rectification(criterion=s.criterion, agent=self.name) for s in state["scores"].values()]
        new = [f"{word} of {state['sample'].id}" for word in ("Length", "Warmth")]
        made = [Suggestion(kind="criterion", criterion=n, definition=n, agent=self.name) for n in new]
        return {"rectifications": keyed(*said), "suggestions": made}


def two():
    return sageval(critic=Two())
'''


@pytest.fixture
def two(tmp_path):
    (tmp_path / "two.py").write_text(TWO)
    return f"{tmp_path / 'two.py'}:two"


@pytest.mark.parametrize(
    ("answers", "more"),
    [
        ("a\n", ["Length of school-trip"]),
        ("r\n", []),
        ("r\na\n", ["Warmth of school-trip"]),
        ("a\na\nr\na\n", ["Length of school-trip", "Warmth of school-trip", "Warmth of again"]),
        ("a\na\ne\n", ["Length of school-trip", "Warmth of school-trip"]),
        ("e\nx\nTone\n", None),
    ],
    ids=["one of two", "one rejected", "a sample", "two samples", "amid an edit", "a name that is taken"],
)
def test_what_was_decided_before_the_end_of_input_is_saved(answers, more, two, form, tmp_path):
    save, rows = tmp_path / "mine.yaml", tmp_path / "three.jsonl"
    rows.write_text(Path(form).read_text() + Path(form).read_text().splitlines(True)[0].replace("school-trip", "third"))
    done = reviewed(str(rows), "-n", "3", "--save", str(save), answers=answers, method=two)
    assert done.exit_code == 130, done.output
    if more is None:
        assert done.stderr == "stopped: nothing was decided\n"
        assert not save.exists()
        return
    forms = criteria_set("forms")
    assert [c.name for c in criteria_set(str(save)).criteria] == [*(c.name for c in forms.criteria), *more]
    assert criteria_set(str(save)).task == forms.task
    assert done.stderr == f"stopped: criteria: {len(forms.criteria) + len(more)}, in {save}\n"


def test_without_a_file_it_says_that_decisions_are_lost(two, form):
    done = reviewed(form, answers="a\n", method=two)
    assert done.exit_code == 130
    assert done.stderr == "stopped: what was decided is lost; --save FILE keeps it\n"


def test_ctrl_c_while_it_judges_again_loses_no_decision(form, tmp_path):
    (tmp_path / "two.py").write_text(
        TWO.replace("        said = ", "        if 'criteria' in state and len(state['criteria']) > 8:\n"
                    "            raise KeyboardInterrupt\n        said = ")
    )  # fmt: skip
    save = tmp_path / "mine.yaml"
    done = reviewed(form, "--save", str(save), answers="a\na\n", method=f"{tmp_path / 'two.py'}:two")
    assert done.exit_code == 130, done.output
    assert [c.name for c in criteria_set(str(save)).criteria][-2:] == ["Length of school-trip", "Warmth of school-trip"]


# The topics of a finished run.


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of the example forms, with one evaluator call for all criteria and with one for each."""
    folder = tmp_path_factory.mktemp("runs")
    for name, settings in (("one", ()), ("each", ("-s", "each=true"))):
        done = CliRunner().invoke(main, ["run", "sageval", FORMS, *settings, "-o", str(folder / name)])
        assert done.exit_code == 0, done.output
    return folder


def topics(run):
    return len(Run.load(run).suggestions().topics)


@pytest.mark.slow
def test_accepted_topics_of_a_run_make_a_version_that_says_what_it_came_from(runs, tmp_path):
    save, count = tmp_path / "mine.yaml", topics(runs / "one")
    answers = "a\n" + "e\nShorter.\nNo longer than needed\n" + "r\n" * (count - 2)
    words = ["review", str(runs / "one"), "--save", str(save)]
    done = CliRunner().invoke(main, words, input=answers)
    assert done.exit_code == 0, done.output
    forms, made = criteria_set("forms"), criteria_set(str(save))
    assert (made.version, made.task) == (2, forms.task)
    assert made.criteria[: len(forms.criteria)] == forms.criteria
    assert made.criteria[-1].name == "No longer than needed"
    assert made.criteria[-1].definition == "Shorter."
    run = Run.load(runs / "one")
    assert made.source.startswith(f"forms version 1 ({forms.digest}), 2 new and 0 changed")
    assert run.signature in made.source
    assert f"criteria: 10, version 2 ({made.digest})" in done.output
    assert "pays for 32 to 64 calls where every reply can be read (at worst " in done.output
    assert "asked for again); 16 are in the ledger" in done.output
    assert "every call of critique is new" in done.output
    assert [one.since for one in made.criteria[-3:]] == [1, 2, 2]


@pytest.mark.slow
@pytest.mark.parametrize(("which", "settings", "kept"), [("one", [], 16), ("each", ["-s", "each=true"], 128)])
def test_a_rerun_pays_what_was_told_and_for_what_is_new_alone(which, settings, kept, runs, tmp_path):
    """The scores of criteria that stayed are the ones of the run; the critic, who sees all criteria, is asked again."""
    save, count = tmp_path / "mine.yaml", topics(runs / which)
    ledger = shutil.copy(runs / which / "ledger.sqlite", tmp_path / "ledger.sqlite")
    words = ["review", str(runs / which), *settings, "--save", str(save), "--ledger", str(ledger)]
    done = CliRunner().invoke(main, words, input="a\n" + "r\n" * (count - 1))
    assert done.exit_code == 0, done.output
    assert f"; {kept} are in the ledger" in done.output
    assert "pays for 32 to 64 calls" in done.output
    assert "every call of critique is new" in done.output
    (command,) = [line for line in done.output.splitlines() if line.startswith("  judgegraph run sageval DATA ")]
    given = {"DATA": FORMS, "FOLDER": str(tmp_path / "again")}
    again = CliRunner().invoke(main, [given.get(word, word) for word in shlex.split(command)[1:]])
    assert f"32 calls ({kept} saved)" in again.output, again.output
    stayed, found = (
        {(row["id"], row["criterion"]): row["value"] for row in Run.load(one).scores() if row["stage"] == "draft"}
        for one in (runs / which, tmp_path / "again")
    )
    assert stayed.items() <= found.items()
    assert len(found) == len(stayed) * 9 // 8


@pytest.mark.slow
def test_a_review_of_a_run_that_is_stopped_keeps_what_was_decided(runs, tmp_path):
    save = tmp_path / "mine.yaml"
    done = CliRunner().invoke(main, ["review", str(runs / "one"), "--save", str(save)], input="a\n")
    assert done.exit_code != 0
    assert len(criteria_set(str(save)).criteria) == 9
    nothing = CliRunner().invoke(main, ["review", str(runs / "one"), "-n", "1"], input="r\n")
    assert "nothing was accepted: the criteria are as they were" in nothing.output


@pytest.mark.slow
def test_topics_are_adopted_in_code_as_at_the_terminal(runs):
    run = Run.load(runs / "one")
    found, before = run.suggestions(), run.criteria
    assert before.digest == criteria_set("forms").digest
    label = found.topics[0].label
    made = found.adopted(before, {label: "accept"}, "mine")
    assert (made.name, made.version, made.criteria[-1].name) == ("mine", 2, label)
    assert found.adopted(before, {}) == before, "nothing was accepted, so nothing is another version"
    with pytest.raises(ConfigError, match="no topic 'Wit'"):
        found.adopted(before, {"Wit": "accept"})


def test_what_is_no_run_is_refused(tmp_path):
    done = CliRunner().invoke(main, ["review", str(tmp_path / "none")])
    assert done.exit_code == 2
    assert "no folder of a run; METHOD takes DATA" in done.output


def test_steps_that_go_with_a_definition_are_told_with_what_writes_new_ones(tmp_path):
    decisions = Decisions(criteria_set("summary"))
    first, *others = decisions.before.criteria
    assert first.steps
    decisions.now = (first.model_copy(update={"definition": "Another.", "steps": ()}), *others)
    said = decisions.saved(tmp_path / "mine.yaml")
    assert f"the steps of {first.name} went with their definitions" in said
    assert f"judgegraph criteria {tmp_path / 'mine.yaml'} --steps writes new ones" in said
    decisions.now = decisions.before.criteria
    assert "went with" not in decisions.saved(tmp_path / "same.yaml")
