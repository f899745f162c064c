"""`judgegraph prices` prints what can be saved, edited and given back."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.cli import main
from judgegraph.runs.run import Run


def call(*arguments):
    return CliRunner().invoke(main, ["prices", *map(str, arguments)])


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["YAML", "JSON"])
def test_what_is_printed_is_a_file_to_edit_and_give_back(more, tmp_path):
    mine = tmp_path / "mine.yaml"
    printed = call(*more).output
    mine.write_text(printed, encoding="utf-8")
    assert "openai:gpt-4.1-mini@api.openai.com/v1" in printed
    assert call("--prices", mine, *more).output == printed
    mine.write_text(printed.replace("gpt-4.1-mini", "my-model"), encoding="utf-8")
    again = call("--prices", mine, *more).output
    assert "openai:my-model@api.openai.com/v1" in again
    assert "openai:gpt-4.1-mini@api.openai.com/v1" in again  # the built-in one stays where no row comes before it


def test_as_json_it_is_one_object():
    done = json.loads(call("--json").output)
    assert done["prices"]["embedded"] == {"prompt": 0.0, "completion": 0.0}
    assert done["as_of"]


def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path):
    (tmp_path / "mine.yaml").write_text("prices:\n  'openai:m': 5\n")
    done = call("--prices", tmp_path / "mine.yaml")
    assert done.exit_code == 1
    assert "line 2, 'openai:m': expected a price" in done.output
    assert done.output.count("\n") == 1
    assert call("--prices", tmp_path / "none.yaml").exit_code == 1


def test_the_command_stands_in_the_list():
    assert "prices" in CliRunner().invoke(main, ["--help"]).output


def test_a_row_that_fits_no_judge_of_a_run_is_told_by_run_and_plan_and_not_where_it_is_as_printed(tmp_path):
    (tmp_path / "data.jsonl").write_text(json.dumps({"id": "a", "source": "An article.", "output": "A text of it."}))
    (tmp_path / "mine.yaml").write_text(
        "prices:\n  'openai:gpt-9': {prompt: 1, completion: 2}\n  'embed*': {prompt: 0, completion: 0}\n"
    )
    whole = call("--prices", tmp_path / "mine.yaml").stdout
    (tmp_path / "printed.yaml").write_text(whole.replace("openai:gpt-9", "embedded"))
    said = "Price rows that fit no judge of the run, so that they count for nothing: 'openai:gpt-9' (nearest: embedded)"
    for command in ("run", "plan"):
        for file, told in (("mine.yaml", True), ("printed.yaml", False)):
            given = [command, "llm-score", str(tmp_path / "data.jsonl"), "--prices", str(tmp_path / file)]
            done = CliRunner().invoke(main, given)
            assert done.exit_code == 0, done.output
            assert (said in " ".join(done.output.split())) is told, done.output


def test_the_json_of_a_run_gives_no_price_where_one_is_unknown(tmp_path):
    (tmp_path / "data.jsonl").write_text(json.dumps({"id": "a", "source": "An article.", "output": "A text of it."}))
    (tmp_path / "mine.py").write_text(
        "from judgegraph.graphs import llm_score\n"
        "from judgegraph.testing import scripted\n"
        "def made():\n"
        "    return llm_score(judge=scripted(*['{\"score\": 4}'] * 9), criteria='summary')\n"
    )
    for method, usd in ((f"{tmp_path / 'mine.py'}:made", None), ("llm-score", 0.0)):
        out = tmp_path / f"run-{usd}"
        done = CliRunner().invoke(main, ["run", method, str(tmp_path / "data.jsonl"), "--json", "-o", str(out)])
        spent = json.loads(done.stdout)["spent"]
        assert (spent["usd"], spent["unpriced"], spent.get("usd_at_least")) == (
            (None, 4, 0.0) if usd is None else (0.0, 0, None)
        )
        assert [one["usd"] for one in json.loads(done.stdout)["calls"]["by_node"].values()] == [usd]
        kept = json.loads((out / "manifest.json").read_text())
        assert (kept["spent"], kept["calls"]) == (spent, json.loads(done.stdout)["calls"])
        held = Run.load(out).manifest["spent"]  # in Python it is what is known
        assert (held["usd"], held["unpriced"], "usd_at_least" in held) == (0.0, spent["unpriced"], False)
        again = CliRunner().invoke(main, ["run", method, str(tmp_path / "data.jsonl"), "--json", "-o", str(out)])
        assert json.loads((out / "manifest.json").read_text())["spent"] == spent
        assert json.loads(again.stdout)["calls"]["by_node"] == kept["calls"]["by_node"]
    done = CliRunner().invoke(main, ["plan", f"{tmp_path / 'mine.py'}:made", str(tmp_path / "data.jsonl"), "--json"])
    ends = json.loads(done.stdout)["total"]["to_pay"].values()
    assert [(one["usd"], one["usd_at_least"]) for one in ends] == [(None, 0.0)] * 3
