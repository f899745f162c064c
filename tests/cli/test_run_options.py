"""`judgegraph run`: what it may cost, how fast it goes, how it ends."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.calls.budget import Budget
from judgegraph.calls.limits import Limits
from judgegraph.cli import main
from judgegraph.cli.options import GROUPS


def call(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_every_option_stands_in_the_help_once_under_its_heading():
    said = call("run", "--help").output
    headings = [*GROUPS, "How it ends"]
    places = [said.index(f"{heading}:") for heading in headings]
    assert places == sorted(places)
    assert said.index("--rpm") > said.index("How fast:") > said.index("--ledger")
    for name in ("--rpm", "--tpm", "--budget-calls", "--budget-tokens", "--budget-usd", "--prices", "--coverage",
                 "--retry-failed", "--strict", "--json", "--out", "--criteria"):  # fmt: skip
        assert sum(line.startswith((f"  {name} ", f"  -{name[2]}, {name} ")) for line in said.splitlines()) == 1, name
    joined = " ".join(said.split())
    assert "A folder for the run; the same command goes on where it was stopped." in joined
    assert "Samples, and calls per judge, in flight at once." in joined


@pytest.mark.parametrize("command", [("--help",), ("run", "--help")])
def test_exit_codes_are_told(command):
    said = " ".join(call(*command).output.split())
    codes = ("1 failure or nothing judged", "2 usage", "3 the budget ended", "4 coverage below the gate", "130 or 143")
    assert [said.index(code) for code in codes] == sorted(said.index(code) for code in codes)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rpm", "0"], "0 is not in the range x>=1"),
        (["--tpm", "many"], "'many' is not a valid integer"),
        (["--budget-calls", "-1"], "-1 is not in the range"),
        (["--budget-usd", "0"], "0.0 is not in the range x>0"),
        (["--budget-usd", "nan"], "nan is no finite number"),
        (["--coverage", "98"], "98.0 is not in the range 0<=x<=1"),
        (["--prices", "nowhere.yaml"], "'nowhere.yaml' does not exist"),
        (["--retry-failed"], "name its folder with --out"),
        (["--retry-failed", "-o", "nowhere"], "nowhere holds none"),
    ],
)
def test_a_wrong_option_is_a_mistake_of_usage(arguments, said, data):
    done = call("run", "sageval", data, *arguments)
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output


def test_options_arrive_where_the_run_is_made(data, tmp_path, monkeypatch):
    given = {}

    def evaluate(graph, samples, **settings):
        given.update(settings)
        raise KeyboardInterrupt

    monkeypatch.setattr("judgegraph.runs.evaluate.evaluate", evaluate)
    (tmp_path / "prices.yaml").write_text("prices: {m: {prompt: 1, completion: 1}}")
    (tmp_path / "run").mkdir()
    (tmp_path / "run/manifest.json").write_text("{}")
    done = call(
        "run", "sageval", data, "--rpm", 60, "--tpm", 9000, "--budget-calls", 5, "--budget-tokens", 6, "--budget-usd",
        0.5, "--prices", tmp_path / "prices.yaml", "--out", tmp_path / "run", "--retry-failed", "--concurrency", 3,
        "--timeout", 7, "--ledger", tmp_path / "l.sqlite",
    )  # fmt: skip
    assert done.exit_code == 130
    assert callable(given.pop("on_progress"))
    assert given == {
        "out": str(tmp_path / "run"), "ledger": str(tmp_path / "l.sqlite"), "concurrency": 3, "timeout": 7.0,
        "prices": str(tmp_path / "prices.yaml"), "retry_failed": True, "reference": True, "grace": 10.0,
        "limits": Limits(rpm=60, tpm=9000),
        "budget": Budget(calls=5, tokens=6, usd=0.5), "trace": True, "redact": (),
    }  # fmt: skip
    assert call("run", "sageval", data, "--no-trace", "--redact", "texts").exit_code == 130
    assert (given["trace"], given["redact"]) == (False, ("texts",))
    assert (given["budget"], given["limits"], given["prices"], given["retry_failed"]) == (None, None, None, False)


def test_a_budget_ends_a_run_and_a_larger_one_goes_on(site, tmp_path):
    ok = site("ok")
    done = call(*ok.command("--out", tmp_path / "run", "--budget-calls", 4, "--concurrency", 1))
    assert done.exit_code == 3, done.output
    assert ok.count == 4
    said = " ".join(done.stdout.split())
    assert "stopped by the budget: 4 of 4 calls; 5 samples are over it; the same command with --budget-calls " in said
    assert "9 samples, 4 calls, 60 tokens" in said
    done = call(*ok.command("--out", tmp_path / "run", "--budget-calls", 20, "--concurrency", 1))
    assert done.exit_code == 0, done.output
    assert ok.count == 9
    assert "9 samples, 9 calls" in done.stdout


def test_the_budget_is_told_as_json_too(site):
    done = call(*site("ok").command("--budget-calls", 4, "--concurrency", 1, "--json"))
    assert done.exit_code == 3
    whole = json.loads(done.stdout)
    assert (whole["state"], whole["spent"]["calls"], whole["budget"]["calls"]) == ("over_budget", 4, 4)
    assert whole["calls"]["requests"] == 4
    assert whole["coverage"]["share"] == pytest.approx(4 / 9)


def test_money_is_counted_by_a_table_of_ones_own(site, tmp_path):
    (tmp_path / "prices.yaml").write_text('prices:\n  "openai:stub": {prompt: 1000.0, completion: 2000.0}\n')
    done = call(*site("ok").command("--prices", tmp_path / "prices.yaml"))
    assert done.exit_code == 0, done.output
    assert "9 samples, 9 calls, 135 tokens, " in done.stdout
    assert ", $0.18" in done.stdout  # 9 * (10 * 1000 + 5 * 2000) / 1e6
    done = call(*site("ok").command())
    assert "135 tokens, " in done.stdout
    assert ", price unknown" in done.stdout


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [("0.9", 4, "coverage 0.889 (Clarity), below 0.9"), ("0.88", 0, "coverage 0.889 (Clarity): 8 of 9 scores\n")],
)
def test_coverage_is_a_gate(gate, code, said, site):
    refusing = site("refusal,ok")
    done = call(*refusing.command("--coverage", gate, "--concurrency", 1))
    assert done.exit_code == code, done.output
    assert said in done.stdout
    as_json = json.loads(call(*refusing.command("--coverage", gate, "--json")).stdout)
    assert as_json["coverage"]["gate"] == float(gate)
    assert as_json["state"] == "finished"


def test_rejected_rows_are_missing_from_the_coverage(site, data):
    data.write_text(data.read_text() + '{"id": "s9"}\n')
    done = call(*site("ok").command("--coverage", 0.95))
    assert done.exit_code == 4
    assert "coverage 0.900 (Clarity), below 0.95" in done.stdout
    assert "judging 10 samples" in done.stderr
    assert "9 of 9 samples" in done.stderr


def test_rows_behind_a_quote_that_never_closes_are_missing_from_the_coverage(site, data, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("id,output\n" + "".join(f"n{at},{'' if at != 9 else chr(34)}a text\n" for at in range(90)))
    command = [str(table) if one == str(data) else one for one in site("ok").command("--coverage", 0.8)]
    done = call(*command)
    assert done.exit_code == 4, done.output
    assert "coverage 0.100 (Clarity), below 0.8: 9 of 90" in done.stdout
    assert "80 rows of these could not be read and are estimated" in done.stdout
    assert "81 lines were not read" in " ".join(done.stdout.split())


def test_no_gate_is_passed_where_a_file_ends_in_the_middle(site, data):
    data.write_text(data.read_text() + '{"id": "s9", "outp')
    done = call(*site("ok").command("--coverage", 0.5))
    assert done.exit_code == 4, done.output
    assert "nobody knows how many rows it lacks, so no gate is passed" in done.stderr


def test_strict_stops_before_the_first_paid_call(site, data, tmp_path):
    data.write_text(data.read_text() + '{"id": "s9"}\n')
    ok = site("ok")
    done = call(*ok.command("--strict", "--out", tmp_path / "run"))
    assert (done.exit_code, ok.count) == (1, 0)
    assert "line 10" in done.stderr


def test_what_failed_is_taken_up_again_and_nothing_else(site, tmp_path):
    faulty = site("ok,ok,400,400,ok")
    command = faulty.command("--out", tmp_path / "run", "--concurrency", 1)
    first = call(*command)
    assert first.exit_code == 0, first.output
    assert faulty.count == 9
    done = call(*command, "--retry-failed", "--coverage", 1)
    assert done.exit_code == 0, done.output
    assert faulty.count == 11
    assert "coverage 1.000" in done.stdout


def test_a_narrow_rate_is_kept(site):
    ok = site("ok")
    assert call(*ok.command("--rpm", 6000, "--tpm", 10_000_000)).exit_code == 0
    assert ok.count == 9


CRITERIA = """
criteria:
  - {name: Fluency, definition: It reads well., scale: 1-5}
  - {name: Tone, definition: It is friendly., scale: 1-5}
"""


@pytest.mark.parametrize("command", ["run", "plan"])
def test_what_is_odd_in_the_data_is_told_before_anything_is_judged(command, tmp_path):
    labels = [75, 80, "75,5", "four", "n/a", 60]
    rows = [{"output": "A text.", "qurey": "Q?", "human": {"Fluency": label, "Tone": "warm"}} for label in labels]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "c.yaml").write_text(CRITERIA)
    done = CliRunner().invoke(main, [command, "llm-score", str(tmp_path / "d.jsonl"), "-c", str(tmp_path / "c.yaml")])
    said = [line for line in done.stderr.splitlines() if "did you mean" in line or "human." in line]
    assert said == [
        "'qurey' (line 1 and 5 more) is no field of a sample and is left in meta: did you mean 'query'?",
        "human.Fluency: '75,5' in line 3, 'four' in line 4 are no numbers, where others are, and judgegraph meta "
        "refuses that: mend the data",
    ]
    assert "judging" not in done.stderr.partition("human.Fluency")[0]


@pytest.mark.parametrize(("looked", "said"), [(6, False), (5, True)])
def test_rows_whose_labels_were_not_looked_at_are_told(looked, said, tmp_path, monkeypatch):
    monkeypatch.setattr("judgegraph.meta.cells.LOOKED", looked)
    rows = [{"output": "A text.", "human": {"Fluency": 4}} for _ in range(6)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = CliRunner().invoke(main, ["plan", "llm-score", str(tmp_path / "d.jsonl")])
    assert (f"people's labels were looked at in the first {looked} rows alone" in done.stderr) is said


@pytest.mark.parametrize(("column", "told"), [("QA", True), ("fluency", False), ("overall", False)])
def test_a_column_of_people_that_no_criterion_has_is_told_before_anything_is_paid_for(tmp_path, column, told):
    (tmp_path / "d.jsonl").write_text(json.dumps({"id": "a", "output": "Some words to judge.", "human": {column: 3}}))
    (tmp_path / "c.yaml").write_text(CRITERIA)
    done = CliRunner().invoke(main, ["run", "llm-score", str(tmp_path / "d.jsonl"), "-c", str(tmp_path / "c.yaml")])
    assert (f"human.{column}: no criterion of this run is called so" in done.stderr) == told, done.stderr


def test_the_manifest_names_misspelt_columns(tmp_path):
    (tmp_path / "d.jsonl").write_text(json.dumps({"output": "A text.", "sorce": "S."}))
    assert call("run", "llm-score", tmp_path / "d.jsonl", "-o", tmp_path / "run").exit_code == 0
    (told,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["misspelt"]
    assert (told["key"], told["meant"], told["rows"]) == ("sorce", "source", 1)


def test_two_columns_for_one_field_are_refused_with_what_to_do(tmp_path):
    (tmp_path / "a.csv").write_text("id,output,first,second\n1,A text of some words.,4,2\n")
    twice = ["-f", "human.Clarity=first", "-f", "human.Clarity=second"]
    done = CliRunner().invoke(main, ["run", "llm-score", str(tmp_path / "a.csv"), *twice])
    assert done.exit_code == 2
    assert "two columns for human.Clarity: 'first' and 'second'" in done.output
    assert "a list in one column" in " ".join(done.output.split())
