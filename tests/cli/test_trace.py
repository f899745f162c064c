"""`judgegraph trace`: samples in a list, one as a tree, and nothing judged that drives a terminal."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from terminal import controls, dataset, factory

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.graphs import fennec, sageval
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.types import Comparison, Rectification, Sample, Scale, Score
from judgegraph.views.blocks import number

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
    rows = [line for line in output.split("\n\n")[0].splitlines() if " no answer: " not in line][1:]
    return [line.removeprefix("x ").split()[0] for line in rows]


def test_samples_are_listed_by_what_the_critic_changed_and_the_first_can_be_opened(run: Path):
    done = call("trace", run)
    head, first, *_ = done.output.splitlines()
    assert head.split() == ["sample", "score", "1-5", "change", "doubt"], "before an id is folded a column goes"
    assert re.match(r"gym-cancellation +3\.98 +Relevancy 4\.73 -> 3\.95 +0\.71", first)
    assert "conference-registration " in done.output
    hint = done.output.splitlines()[-1]
    assert hint.startswith("judgegraph trace ")
    assert call(*hint.split()[1:]).output.startswith("gym-cancellation: mean 3.98 on 1-5\n")


@pytest.mark.parametrize("order", ["score", "change", "doubt", "cost", "time", "failures"])
def test_an_order_and_a_limit_are_kept(run: Path, order: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "160")  # long times, as of a busy machine, would fold an id
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
        assert "did you mean 'Fairness'?" in call("trace", run, "--criterion", "fairness", *more, code=1).output


def test_a_status_alone(run: Path):
    said = "no samples that ended as timeout, or have an answer that did\n"
    assert call("trace", run, "--status", "timeout").output == said
    assert len(json.loads(call("trace", run, "--status", "ok", "--json").output)) == 16


def test_a_sample_is_told_whole(run: Path):
    said = call("trace", run, "--sample", "gym-cancellation").output
    for expected in (
        "gym-cancellation: mean 3.98 on 1-5\n", "query: Short survey for members", "Relevancy  ", "4.73 -> 3.95",
        "1▁▁▂▆▂5  4: 71 %", "weighted by token probabilities", "evaluator: It names 64 % of the request's themes.",
        "sage changes it down to 3.95: Other evidence speaks for less", "graph sageval", "├── node evaluate",
        "agent Evaluator", "judge: embedded", "model embedded", "paid  1,103 + 105 tokens  $0.00",
        "reads: sample, scores (8)", "writes: rectifications (8)", "asked (system): You are an evaluator of generated",
        'reply: {"accuracy"', "└── node rectify", "\nsageval|v:",
    ):  # fmt: skip
        assert expected in said
    assert max(len(line) for line in said.splitlines() if not line.startswith("sageval|")) <= 80
    assert said.index("Relevancy  ") < said.index("query: ") < said.index("graph sageval"), "what came of it first"


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
    jg.evaluate(fennec(orders="both"), list(jg.load(EXAMPLES / "pairs.jsonl"))[:2], out=tmp_path / "run")
    done = call("trace", tmp_path / "run")
    head, *rows = done.output.split("\n\n")[0].splitlines()
    assert head.split()[:3] == ["sample", "verdict", "score"]
    assert {row.split()[1] for row in rows} <= {"A", "B", "tie"}
    assert sorted(row.split()[2] for row in rows) == [row.split()[2] for row in rows]
    assert "the least mean score of both outputs first" in done.output
    said = call("trace", tmp_path / "run", "--sample", "explain-tides").output
    (item,) = (one for one in Run.load(tmp_path / "run").items if one.id == "explain-tides")
    totals = next(c for c in item.comparisons if c.order == "both")
    flat = " ".join(said.split())
    for side, total in (("A (output)", totals.score_a), ("B (rival)", totals.score_b)):
        assert f"overall of {side}: {number(total / 5)}; " in flat
    assert f"explain-tides: {item.verdict} is better\n" in said
    assert re.search(r"^criterion +A first +B first +both orders", said, re.M)
    for name in ("Coverage (AB)", "Coverage (rival, AB)", "Coverage (BA)", "Coverage (rival, BA)"):
        assert len(re.findall(rf"^{re.escape(name)}  ", said, re.M)) == 1
    assert "scores on 1-5, read from the reply's own number" in said
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
    assert "asked (system): You are an evaluator" in said
    told = json.loads(call("trace", tmp_path, "--sample", "gym-cancellation", "--json", "--redact", "texts").output)
    assert "You are an evaluator" not in json.dumps(told)
    assert "did you mean 'gym-cancellation'?" in call("trace", tmp_path, "--sample", "gym-cancelation", code=1).output
    assert "its journeys have no scores" in call("trace", tmp_path, "--by", "change", code=2).output


def test_what_is_wrong_is_said_with_the_usual_codes(run: Path, tmp_path: Path):
    assert "no sample 'gym'; did you mean 'gym-cancellation'?" in call("trace", run, "--sample", "gym", code=1).output
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
    assert "asked (system)" not in said
    for path in run.glob("ledger.sqlite*"):
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"judge", b"fudge"))
    said = call("trace", tmp_path, "--sample", "gym-cancellation").output
    assert "fudge" not in said
    assert "asked (system)" not in said


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


FIVE = Scale(low=1, high=5)
TOO_LONG, NO_JSON = "the prompt is too long", "the reply is no JSON"


def item(id: str, *scores: Score, place: int = 0, **more: Any) -> Item:
    return Item(sample=Sample(id=id, output="o"), scores=scores, place=place, **more)


def score(value: float | None = None, criterion: str = "Clarity", **more: Any) -> Score:
    return Score(**{"criterion": criterion, "agent": "evaluator", "scale": FIVE, "value": value, **more})


def reviewed(draft: Score, agent: str = "sage", **final: Any) -> tuple[Score, Score]:
    """A draft and its final score, which is the critic's own where `final` says something."""
    draft = draft.model_copy(update={"stage": "draft"})
    about = {"stage": "final", "agent": agent, "raw": None, "draft": draft.key}
    return draft, Score(**(draft.model_dump() | about | final))


def kept(path: Path, *items: Item, **manifest: Any) -> Path:
    """A run's folder, as far as it is read."""
    path.mkdir()
    told = {"judgegraph": "1", "signature": "g", "state": "finished"} | manifest
    (path / "manifest.json").write_text(json.dumps(told))
    (path / "items.jsonl").write_text("".join(one.line() + "\n" for one in items))
    return path


LATE = score(status="provider_error", reason=TOO_LONG)
SAID = Rectification(criterion="Clarity", agent="sage", status="unreadable", reason=NO_JSON)


def test_evaluator_and_critic_each_have_their_own_failure(tmp_path: Path):
    run = kept(tmp_path / "run", item("both", *reviewed(LATE), rectifications=(SAID,)))
    said = call("trace", run, "--sample", "both").output
    assert f"    evaluator provider error: {TOO_LONG}\n    sage unreadable: {NO_JSON}\n" in said
    assert f"sage: {TOO_LONG}" not in said
    hidden = call("trace", run, "--sample", "both", "--redact", "texts").output
    assert f" unreadable: [redacted, {len(NO_JSON)} characters]\n" in hidden
    assert "JSON" not in hidden


def test_who_failed_alike_is_told_apart_and_nobody_twice(tmp_path: Path):
    both = item("both", *reviewed(LATE), rectifications=(SAID.model_copy(update={"reason": TOO_LONG}),))
    final = reviewed(score(3, reason="clear"), value=None, status="unreadable", reason=NO_JSON)
    run = kept(tmp_path / "run", both, item("critic", *final, rectifications=(SAID,), place=1))
    told = f"evaluator provider error: {TOO_LONG}\n    sage unreadable: {TOO_LONG}\n"
    assert told in call("trace", run, "--sample", "both").output
    said = call("trace", run, "--sample", "critic").output
    assert f"3 -> unreadable  on 1-5\n    evaluator: clear\n    sage unreadable: {NO_JSON}\n" in said


HEADS = [
    ((score(3),), "ok"),
    (reviewed(LATE), "ok, but no final score: 1 provider error"),
    ((*reviewed(LATE), score(status="abstained", criterion="Depth")),
     "ok, but no final score: 1 provider error, 1 abstained"),
    ((score(3), score(status="unreadable", criterion="Depth")), "ok, but of 2 final scores 1 unreadable"),
    ((score(3, stage="draft"), score(status="timeout", criterion="Depth", stage="draft")),
     "ok, but of 2 scores 1 timeout"),
]  # fmt: skip


@pytest.mark.parametrize(("scores", "head"), HEADS, ids=range(len(HEADS)))
def test_a_sample_says_what_its_answers_lack(scores: tuple[Score, ...], head: str, tmp_path: Path):
    run = kept(tmp_path / "run", item("s", *scores))
    said = call("trace", run, "--sample", "s").output
    assert (f"\nended: {head}; " in said) == (head != "ok")
    assert str(Run.load(run).trace("s")).splitlines()[0] == f"s: {head}"


def test_a_status_is_that_of_a_sample_or_of_an_answer_of_it(tmp_path: Path):
    lost = Comparison(criterion="overall", agent="m", status="provider_error")
    run = kept(
        tmp_path / "run", item("late", status="provider_error", reason="gone"), item("score", *reviewed(LATE), place=1),
        item("pair", comparisons=(lost,), place=2), item("draft", reviewed(LATE)[0], score(3), place=3),
    )  # fmt: skip
    rows = json.loads(call("trace", run, "--status", "provider_error", "--json").output)
    assert {row["id"] for row in rows} == {"late", "score", "pair"}
    said = call("trace", run, "--status", "provider_error").output
    assert "3 of 3 samples failed or have no answer: 3 provider error" in said.splitlines()[0]
    assert re.search(r"^x +score +provider error ", said, re.M)
    assert "3 samples that ended as provider error, or have an answer that did" in said


KEPT = [item(f"s{n}", *reviewed(score(4 - n)), place=n) for n in range(3)]
LABELS = Scale(labels=("bad", "good"))
TONES = [item(f"s{n}", score(label="good", scale=LABELS), place=n) for n in range(2)]
WIDE = score(3, "Depth", distribution={"1": 0.5, "5": 0.5})
ORDERED = [
    (KEPT, None, "the critic moved nothing: the least score first", "s2"),
    (KEPT, "change", "the critic moved nothing: the least score first", "s2"),
    (KEPT, "doubt", "no score has a distribution: the least score first", "s2"),
    (KEPT, "failures", "nothing failed: the least score first", "s2"),
    (KEPT, "cost", "no calls were recorded: the least score first", "s2"),
    (TONES, None, "in the order of the data", "s0"),
    (TONES, "change", "no score stands beside a draft: in the order of the data", "s0"),
    (TONES, "score", "no score is a number that could be read: in the order of the data", "s0"),
    ([*TONES, item("late", *reviewed(LATE), place=9)], None, "most failures first", "late"),
    ([*KEPT, item("wide", WIDE, place=9)], "doubt", "the most in doubt first", "wide"),
    ([item("sure", score(3, distribution={"3": 1.0}))], "doubt", "no score is in doubt: the least score first", "sure"),
]


@pytest.mark.parametrize(("items", "by", "about", "first"), ORDERED, ids=range(len(ORDERED)))
def test_an_order_that_says_nothing_is_told_and_gives_way(
    items: list[Item], by: str | None, about: str, first: str, tmp_path: Path
):
    run = kept(tmp_path / "run", *items)
    done = call("trace", run, *(["--by", by] if by else []))
    assert f"sample{'s' * (len(items) > 1)}, {about}\n" in done.output
    assert listed(done.output)[0] == first
    rows = json.loads(call("trace", run, *(["--by", by] if by else []), "--json").output)
    assert [row["id"] for row in rows] == listed(done.output)


def test_samples_without_an_answer_stand_first_with_why_and_scores_on_their_scale(tmp_path: Path):
    items = [item("a", *reviewed(score(2))), item("late", status="timeout", reason="no reply in 5 s", place=1),
             item("mute", score(status="refused", reason="I'm sorry"), place=2)]  # fmt: skip
    first, head, *rows = call("trace", kept(tmp_path / "run", *items)).output.splitlines()
    assert first == "2 of 3 samples failed or have no answer: 1 timeout, 1 refused"
    assert head.split()[:3] == ["sample", "score", "1-5"]
    told = [row.split()[:4] for row in rows[:3]]
    assert told == [
        ["x", "late", "timeout", "no"],
        ["x", "mute", "refused", "evaluator:"],
        ["a", "2.00", *rows[2].split()[2:4]],
    ]


PAID = [
    ({"a": None, "b": None}, "most tokens first: nothing has a price", "tokens"),
    ({"a": 0.0, "b": 0.0}, "most tokens first: nothing cost money", "tokens"),
    ({"a": 0.5, "b": 0.1}, "the dearest first", "cost"),
    ({}, "nothing was paid: the least score first", "score"),
]


@pytest.mark.parametrize(("paid", "about", "column"), PAID)
def test_what_costs_most_is_told_by_money_or_by_tokens(paid: dict[str, Any], about: str, column: str, tmp_path: Path):
    run = kept(tmp_path / "run", *(item(id, score(3), place=n) for n, id in enumerate("cba")))
    with (run / "spans.jsonl").open("w") as file:
        for id in "abc":
            more = {"prompt_tokens": 2000 if id == "a" else 9, "completion_tokens": 1, "usd": paid.get(id)}
            about_call = {"from": "paid", "requests": 1, **more} if id in paid else {"from": "ledger"}
            spans = [[0, None, "graph", "g", 0.0, 9.0, "ok", {}], [1, 0, "model", "m", 0.0, 1.0, "ok", about_call]]
            file.write(json.dumps({"id": id, "t": 1.0, "spans": spans}, separators=(",", ":")) + "\n")
    done = call("trace", run, "--by", "cost")
    assert f"3 samples, {about}\n" in done.output
    assert column in done.output.splitlines()[0].split()
    assert listed(done.output)[0] == ("a" if paid else "c")
    assert ("2,001" in done.output) == (column == "tokens")


def test_a_run_that_did_not_come_to_its_end_says_so(run: Path, tmp_path: Path):
    stopped = kept(tmp_path / "run", *KEPT, state="stopped", samples={"done": 3, "over_budget": 0, "total": 32})
    assert call("trace", stopped).output.startswith("unfinished: 3 of 32 samples done\n")
    assert "unfinished" not in call("trace", run).output


def test_names_that_nothing_is_like_are_counted(run: Path):
    said = call("trace", run, "--sample", "0%", code=1).output
    assert re.search(r"no sample '0%'; there are '[^']+', '[^']+', '[^']+' and 13 more\n", said)


def test_a_folder_of_traces_is_no_run_and_says_what_reads_it(run: Path, tmp_path: Path):
    (tmp_path / "spans.jsonl").write_bytes((run / "spans.jsonl").read_bytes())
    for asked in (("report", tmp_path, "-o", tmp_path / "page.html"), ("diff", tmp_path, run), ("diff", run, tmp_path)):
        said = call(*asked, code=1).output
        assert f"{tmp_path} holds traces and no run" in said
        assert f"`judgegraph trace {tmp_path}` shows them, `judgegraph export {tmp_path} --otlp URL` sends them" in said
    assert "is no run's folder" in call("report", EXAMPLES, "-o", tmp_path / "page.html", code=1).output


def test_what_failed_or_has_no_answer_stands_first_by_failures_and_a_status_is_of_the_criterion(tmp_path: Path):
    items = [
        item("a", score(4, criterion="A"), score(status="abstained", criterion="B")),
        item("b", score(status="abstained", criterion="A"), score(status="abstained", criterion="B"), place=1),
    ]
    run = kept(tmp_path / "run", *items)
    listed = call("trace", run, "--by", "failures", "--json")
    assert [row["id"] for row in json.loads(listed.output)] == ["b", "a"]
    assert "nothing failed" not in call("trace", run, "--by", "failures").output
    rows = json.loads(call("trace", run, "--criterion", "A", "--status", "abstained", "--json").output)
    assert [row["id"] for row in rows] == ["b"]
