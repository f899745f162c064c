"""`judgegraph trace`: samples in a list, one as a tree, and nothing judged that drives a terminal."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from terminal import controls, dataset, factory

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fennec, sageval
from judgegraph.runtime.run import Run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def call(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(main, [str(a) for a in arguments])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run"
    jg.evaluate(sageval(criteria="forms"), list(jg.load(EXAMPLES / "forms.jsonl")), out=out)
    return out


def listed(output: str) -> list[str]:
    return [line.split()[0] for line in output.split("\n\n")[0].splitlines()[1:]]


def test_samples_are_listed_by_what_the_critic_changed_and_the_first_can_be_opened(run: Path):
    done = call("trace", run)
    head, first, *_ = done.output.splitlines()
    assert head.split() == ["sample", "score", "change", "doubt", "time"]
    assert re.match(r"gym-cancellation +0\.73 +Relevancy 4\.73 -> 3\.95 +0\.86 +\d", first)
    hint = done.output.splitlines()[-1]
    assert hint.startswith("judgegraph trace ")
    assert call(*hint.split()[1:]).output.startswith("gym-cancellation: ok")


@pytest.mark.parametrize("order", ["score", "change", "doubt", "cost", "time", "failures"])
def test_an_order_and_a_limit_are_kept(run: Path, order: str):
    rows = json.loads(call("trace", run, "--by", order, "--json").output)
    done = call("trace", run, "--by", order, "--limit", "3")
    assert listed(done.output) == [row["id"] for row in rows[:3]]
    assert "3 of 16 samples" in done.output
    assert len(rows) == 16


def test_without_a_critic_the_lowest_score_stands_first(tmp_path: Path):
    jg.evaluate(
        jg.graphs.llm_score(criteria="forms"), list(jg.load(EXAMPLES / "forms.jsonl"))[:4], out=tmp_path / "run"
    )
    done = call("trace", tmp_path / "run")
    assert "the least score first" in done.output
    assert "change" not in done.output.splitlines()[0]


def test_a_criterion_alone(run: Path):
    rows = json.loads(call("trace", run, "--criterion", "Fairness", "--json").output)
    assert {row["changed_criterion"] for row in rows} <= {"Fairness", None}
    done = call("trace", run, "--sample", "gym-cancellation", "--criterion", "Fairness")
    assert "Fairness " in done.output
    assert "Cohesion  " not in done.output
    for more in ((), ("--sample", "gym-cancellation"), ("--sample", "gym-cancellation", "--json")):
        assert "there are 'Fairness'" in call("trace", run, "--criterion", "fairness", *more, code=1).output


def test_a_status_alone(run: Path):
    assert call("trace", run, "--status", "timeout").output == "no samples that ended with timeout\n"
    assert len(json.loads(call("trace", run, "--status", "ok", "--json").output)) == 16


def test_a_sample_is_told_whole(run: Path):
    said = call("trace", run, "--sample", "gym-cancellation").output
    for expected in (
        "gym-cancellation: ok\n", "sageval|v:", "query: Short survey for members", "Relevancy  ", "4.73 -> 3.95",
        "1▁▁▂▆▂5  4: 71 %", "by logprobs", "evaluator: It names 64 % of the request's themes.",
        "sage: Other evidence speaks for less", "graph sageval", "├── node evaluate", "agent Evaluator",
        "judge embedded", "model embedded", "paid  1,084+105 tokens  $0.0000", "read: sample, scores(8)",
        "wrote: rectifications(8)", "system: You are an evaluator of generated text.", 'reply: {"accuracy"',
        "└── node rectify",
    ):  # fmt: skip
        assert expected in said
    assert max(len(line) for line in said.splitlines()) <= 80


def test_texts_are_cut_and_full_shows_them_whole(run: Path):
    brief, full = (call("trace", run, "--sample", "gym-cancellation", *more).output for more in ((), ("--full",)))
    assert re.search(r"… \([\d,]+\s+characters\)", brief)
    assert "characters)" not in full
    assert len(full) > 2 * len(brief)


def test_redacted_texts_stand_nowhere(run: Path):
    item = next(item for item in Run.load(run).items if item.id == "gym-cancellation")
    for more in ((), ("--full",), ("--json",)):
        said = call("trace", run, "--sample", item.id, "--redact", "texts", *more).output
        assert "[redacted, " in said
        flat = " ".join(said.split())
        assert not [s.reason for s in item.scores if s.reason in flat]
        assert not [word for word in ("Short survey for", "You are an evaluator", "It names 64") if word in flat]
        assert "4.73 -> 3.95" in said or more == ("--json",)


def test_json_of_a_sample_is_its_item_and_its_steps(run: Path):
    told = json.loads(call("trace", run, "--sample", "gym-cancellation", "--json").output)
    assert told["attempts"] == 1
    assert told["item"]["sample"]["id"] == "gym-cancellation"
    assert [step["name"] for step in told["root"]["steps"]] == ["evaluate", "critique", "rectify"]
    call_ = told["root"]["steps"][0]["steps"][0]["steps"][0]
    assert (call_["kind"], call_["about"]["from"], call_["messages"][0]["role"]) == ("model", "paid", "system")


def test_a_run_without_spans_still_shows_its_scores(tmp_path: Path):
    jg.evaluate(
        sageval(criteria="forms"), list(jg.load(EXAMPLES / "forms.jsonl"))[:2], out=tmp_path / "run", trace=False
    )
    assert "paid/calls" not in call("trace", tmp_path / "run").output
    said = call("trace", tmp_path / "run", "--sample", "onboarding").output
    assert "No spans were recorded" in said
    assert "Accuracy  " in said
    assert json.loads(call("trace", tmp_path / "run", "--sample", "onboarding", "--json").output)["root"] is None


def test_pairs_are_told_with_their_verdicts(tmp_path: Path):
    jg.evaluate(fennec(), list(jg.load(EXAMPLES / "pairs.jsonl"))[:2], out=tmp_path / "run")
    done = call("trace", tmp_path / "run")
    assert set(re.findall(r" (A|B|tie) ", done.output)) <= {"A", "B", "tie"}
    said = call("trace", tmp_path / "run", "--sample", "explain-tides").output
    assert "overall: " in said
    assert "rival: " in said
    assert said.count("node guide") == 5


def test_a_folder_without_items_lists_its_journeys_and_shows_them(run: Path, tmp_path: Path):
    for path in (run / "spans.jsonl", *run.glob("ledger.sqlite*")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    done = call("trace", tmp_path, "--limit", "2")
    assert "2 of 16 samples, in the order of their ends" in done.output
    assert len(json.loads(call("trace", tmp_path, "--by", "time", "--json").output)) == 16
    said = call("trace", tmp_path, "--sample", "gym-cancellation").output
    assert "gym-cancellation: ok (journey " in said
    assert "system: You are an evaluator" in said
    told = json.loads(call("trace", tmp_path, "--sample", "gym-cancellation", "--json", "--redact", "texts").output)
    assert "You are an evaluator" not in json.dumps(told)
    assert "there are 'gym-cancellation'" in call("trace", tmp_path, "--sample", "gym-cancelation", code=1).output
    assert "its journeys have no scores" in call("trace", tmp_path, "--by", "change", code=2).output


def test_what_is_wrong_is_said_with_the_usual_codes(run: Path, tmp_path: Path):
    assert "no sample 'gym'; there are 'gym-cancellation'" in call("trace", run, "--sample", "gym", code=1).output
    assert "holds no trace" in call("trace", tmp_path, code=1).output
    call("trace", tmp_path / "none", code=2)
    call("trace", run, "--by", "luck", code=2)
    call("trace", run, "--limit", "0", code=2)
    call("trace", run, "--full", code=2)
    call("trace", run, "--sample", "gym-cancellation", "--by", "score", code=2)


def test_a_ledger_that_is_gone_or_damaged_costs_the_texts_alone(run: Path, tmp_path: Path):
    for name in ("manifest.json", "items.jsonl", "spans.jsonl"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    said = call("trace", tmp_path, "--sample", "gym-cancellation").output
    assert "model embedded" in said
    assert "system:" not in said
    for path in run.glob("ledger.sqlite*"):
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"judge", b"fudge"))
    said = call("trace", tmp_path, "--sample", "gym-cancellation").output
    assert "fudge" not in said
    assert "system:" not in said


@pytest.mark.parametrize("more", [(), ("--full",), ("--redact", "texts"), ("--json",)], ids=" ".join)
def test_hostile_names_and_texts_drive_no_terminal(more: tuple[str, ...], hostile: Path):
    if more != ("--full",):
        assert controls(call("trace", hostile, *[x for x in more if x not in ("--redact", "texts")]).output) == set()
    for item in Run.load(hostile).items:
        said = call("trace", hostile, "--sample", item.id, *more).output
        assert controls(said) == set()
        assert more == ("--json",) or "evil" in said


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    method, data = factory(folder), dataset(folder)
    done = CliRunner().invoke(main, ["run", method, str(data), "--out", str(folder / "run"), "--json"])
    assert (folder / "run/items.jsonl").exists(), done.output
    return folder / "run"


def test_calls_that_no_span_tells_of_are_counted_below_the_list(run: Path, tmp_path: Path):
    for name in ("manifest.json", "items.jsonl", "spans.jsonl"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    said = "{} paid for attempts that were cut off or not traced"
    assert said.format("") not in call("trace", run).output
    told = json.loads((run / "manifest.json").read_text())
    for more, words in ((1, "1 more call was"), (1200, "1,200 more calls were")):
        changed = {**told, "spent": {**told["spent"], "calls": told["spent"]["calls"] + more}}
        (tmp_path / "manifest.json").write_text(json.dumps(changed))
        assert said.format(words) in call("trace", tmp_path).output
        assert "more call" not in call("trace", tmp_path, "--criterion", "Fairness").output
    (tmp_path / "spans.jsonl").unlink()
    assert "more call" not in call("trace", tmp_path).output


def test_what_the_encoding_cannot_say_is_a_question_mark_and_no_error(run: Path):
    done = CliRunner(charset="ascii").invoke(main, ["trace", str(run), "--sample", "gym-cancellation"])
    assert done.exit_code == 0, done.exception
    assert done.output.isascii()
    assert "+-- node evaluate" in done.output
    assert "1__.+.5" in done.output


def test_no_colour_goes_to_a_file(run: Path, monkeypatch: pytest.MonkeyPatch):
    assert "\x1b" not in call("trace", run, "--sample", "gym-cancellation").output
