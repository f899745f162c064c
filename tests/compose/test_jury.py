"""Judges in one's own words: alone, in a debate, before a chair; who heard whom, and whose score is the answer."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from langgraph.graph import END, START, StateGraph

import judgegraph as jg
from judgegraph.cli import main
from judgegraph.prompts.template import watched
from judgegraph.testing import scripted

CLARITY = (jg.Criterion(name="Clarity", definition="Is it easy to follow?"),)
SAMPLE = jg.Sample(id="1", query="What are tides?", output="The moon pulls the sea, and the earth turns below it.")
WORDS = {"strict": "You look for what is missing.", "kind": "You look for what serves the reader."}


def said(score, reason="because"):
    return json.dumps({"clarity": {"reason": reason, "score": score}})


def judged(graph):
    """(run, [(instructions, statements)] of each call)."""
    seen = []
    token = watched.set(lambda prompt, texts: seen.append((texts["instructions"], texts["statements"])))
    try:
        return jg.evaluate(graph, [SAMPLE]), seen
    finally:
        watched.reset(token)


def rows(run):
    return {(row["agent"], row["stage"]): (row["value"], row["role"]) for row in run.scores()}


def two(first, second, **settings):
    strict = jg.judge_agent("strict", WORDS["strict"], judge=scripted(*first))
    kind = jg.judge_agent("kind", WORDS["kind"], judge=scripted(*second))
    return jg.jury(strict, kind, criteria=CLARITY, **settings)


def test_without_a_chair_the_last_round_is_combined_and_earlier_rounds_are_drafts():
    run, seen = judged(two((said(2, "no cause"), said(3)), (said(5, "plain"), said(4)), debate=1))
    assert rows(run) == {
        ("strict", "round-1"): (2, "draft"), ("kind", "round-1"): (5, "draft"),
        ("strict", "ballot"): (3, "vote"), ("kind", "ballot"): (4, "vote"), ("jury", "final"): (3.5, "answer"),
    }  # fmt: skip
    assert [statements for _, statements in seen[:2]] == ["", ""]
    for _, statements in seen[2:]:  # all have heard all
        assert "Score: 2\nReason: no cause" in statements
        assert "Score: 5\nReason: plain" in statements
    assert ["# strict (you)" in statements for words, statements in seen[2:]] == [
        words == WORDS["strict"] for words, _ in seen[2:]
    ]


def test_a_chair_decides_by_the_last_round_alone():
    chair = jg.judge_agent("chair", "You decide.", judge=scripted(said(1)))
    run, seen = judged(two((said(2, "first"), said(3, "second")), (said(5, "first"), said(4, "second")),
                           debate=1, chair=chair))  # fmt: skip
    answers = {row["agent"]: row["value"] for row in run.scores() if row["role"] == "answer"}
    assert answers == {"chair": 1}
    assert "second" in seen[-1][1]
    assert "first" not in seen[-1][1]
    held = next(iter(run.items))
    (own,) = [score for score in held.scores if score.agent == "chair"]
    assert set(own.votes) == {"Clarity/strict/ballot/0", "Clarity/kind/ballot/0"}


def test_what_could_not_be_read_is_left_out_and_told():
    chair = jg.judge_agent("chair", "You decide.", judge=scripted(said(3)))
    run, seen = judged(two(("I cannot say.",) * 3, (said(5),), chair=chair))
    assert "# strict\n## Clarity\nStatus: " in seen[-1][1]
    assert [note.text for item in run.items for note in item.notes] == ["heard no score of strict"]
    assert rows(run)["chair", "final"] == (3, "answer")


def test_a_debate_has_two_rounds_at_least():
    a, b = (jg.judge_agent(name, words) for name, words in WORDS.items())
    assert len(jg.check(jg.debate(a, b, rounds=3, criteria=CLARITY)).nodes) == 8  # brief, 3 x 2, consensus
    with pytest.raises(jg.ConfigError, match="nobody would hear anybody"):
        jg.debate(a, b, rounds=1)


@pytest.mark.parametrize(
    ("jurors", "settings", "why"),
    [
        (({"strict": "You ..."},), {}, "two judges or more"),
        (({"a": "You look.", "b": "You look."},), {}, "differ in their names alone"),
        (({"a": "You look.", "b": " "},), {}, "'b' has no words"),
        (({"scores": "You look.", "b": "You see."},), {}, "no judge can be called 'scores'"),
        ((WORDS,), {"debate": 11}, "0 to 10 rounds"),
        ((WORDS,), {"chair": "You decide.", "combine": "vote"}, "would do nothing where a chair decides"),
        ((WORDS,), {"chair": jg.judge_agent("kind", "You decide.")}, "both called 'kind'"),
        (("g-eval", "sageval"), {}, "see jg.panel"),
        ((None,), {}, "a judge is None, so nothing says who judges: give jg.judge_agent"),
        (({"a": None, "b": "You see."},), {}, "'a' is None, so nothing says who judges"),
        (({"a": {"prompt": None}, "b": "You see."},), {}, "the prompt of 'a' is None: write who it is"),
        ((WORDS,), {"chair": 3}, "jury: chair: expected text"),
        (
            (jg.judge_agent("a", "You look."), jg.judge_agent("b", "You see.")),
            {"judge": "openai:m"},
            "do nothing: it is",
        ),
    ],
)
def test_what_makes_no_jury_is_refused(jurors, settings, why):
    with pytest.raises(jg.ConfigError, match=why):
        jg.jury(*jurors, criteria=CLARITY, **settings)


@pytest.mark.parametrize(("name", "prompt"), [(None, "You look."), (3, "You look."), ("a", None), ("a", ["You"])])
def test_a_judge_in_words_has_texts_for_its_name_and_prompt(name, prompt):
    with pytest.raises(jg.ConfigError, match=r"judge_agent: .* text, got "):
        jg.judge_agent(name, prompt, scores=CLARITY)


def test_a_judge_that_hears_is_a_node_and_check_knows_whom():
    def graph(hears):
        g = StateGraph(jg.EvalState)
        g.add_node("first", jg.judge_agent("first", "You look.", scores=CLARITY, stage="draft"))
        g.add_node("second", jg.judge_agent("second", "You decide.", scores=CLARITY, hears=hears))
        for edge in ((START, "first"), ("first", "second"), ("second", END)):
            g.add_edge(*edge)
        return g.compile()

    for hears in ("all", "first"):
        run, _ = judged(graph(hears))
        assert [row["agent"] for row in run.scores() if row["role"] == "answer"] == ["second"]
    with pytest.raises(jg.WiringError, match=r"by 'fist'.*did you mean 'first'"):
        jg.check(graph("fist"))


def test_a_judge_is_shown_what_it_reads_and_the_output_and_the_signature_says_so():
    seen = []
    full = SAMPLE.model_copy(update={"source": "a book", "reference": "The moon.", "facts": {"tier": "gold"}})
    agent = jg.judge_agent("plain", "You judge.", reads=["facts", "query"], scores=CLARITY, judge=scripted(said(3)))
    graph = StateGraph(jg.EvalState)
    graph.add_node("plain", agent)
    graph.add_edge(START, "plain")
    token = watched.set(lambda _, texts: seen.append({name for name, text in texts.items() if text}))
    try:
        run = jg.evaluate(graph.compile(name="mine"), [full])
    finally:
        watched.reset(token)
    assert {"query", "facts", "output"} <= seen[0]
    assert not {"source", "reference"} & seen[0]
    assert "plain.reads:query,facts" in run.signature
    with pytest.raises(jg.ConfigError, match="no sample has 'refrence'; besides the output"):
        jg.judge_agent("plain", "You judge.", reads="refrence")


def test_a_sample_whose_images_nobody_reads_is_judged():
    seen = jg.Sample(**{**SAMPLE.model_dump(), "images": ["https://example.org/a.png"]})
    words, pictures = (
        jg.jury(
            *(jg.judge_agent(name, WORDS[name], reads=reads) for name in WORDS),
            criteria=CLARITY,
        )
        for reads in (["query"], ["query", "images"])
    )
    assert [next(iter(jg.evaluate(graph, [seen]).items)).status for graph in (words, pictures)] == ["ok", "skipped"]


def test_in_a_file_it_is_the_same_graph(tmp_path):
    (tmp_path / "jury.yaml").write_text(
        "name: jury\ncriteria: summary\nnodes:\n  jury:\n    use: jury\n    with:\n      jurors:\n"
        + "".join(f"        {name}: {words}\n" for name, words in WORDS.items())
        + "      debate: 1\n      chair: Look at the text.\nedges: [start -> jury -> end]\n"
    )
    data = tmp_path / "data.jsonl"
    data.write_text(SAMPLE.model_dump_json() + "\n")
    shown = CliRunner().invoke(main, ["run", str(tmp_path / "jury.yaml"), str(data), "-o", str(tmp_path / "run")])
    assert shown.exit_code == 0, shown.output
    mine = jg.evaluate(jg.jury(WORDS, debate=1, chair="Look at the text.", criteria="summary"), [SAMPLE])
    there = jg.Run.load(tmp_path / "run")
    assert [row["value"] for row in there.scores()] == [row["value"] for row in mine.scores()]
    assert there.signature.partition("jurors:")[2].split("|")[0] == mine.signature.partition("jurors:")[2].split("|")[0]


def test_a_field_in_braces_in_a_judge_s_words_is_warned_of():
    def told(words):
        made = StateGraph(jg.EvalState)
        made.add_node("judge", jg.judge_agent("judge", words, scores="summary"))
        made.add_edge(START, "judge")
        made.add_edge("judge", END)
        return [str(one) for one in jg.check(made).findings]

    (said,) = told("Judge {outptu} please.")
    assert (
        "node 'judge': its words hold '{outptu}', and nothing is put in there: leave it out: the output stands" in said
    )
    assert told("Judge the output, and reply with {braces} of your own.") == []


def test_the_page_has_a_jury_of_three_with_a_debate_and_a_chair_in_15_lines_of_python_and_of_yaml(tmp_path):
    page = (Path(__file__).parents[2] / "docs/compose.md").read_text(encoding="utf-8")
    (python,) = re.findall(r"```python\n(jury = jg\.jury\(\n.*?\n\)\n)", page, re.S)
    (yaml,) = re.findall(r"<!-- file: jury.yaml -->\n```yaml\n(.*?)```", page, re.S)
    python = "import judgegraph as jg\n" + python
    assert (len(python.splitlines()), len(yaml.splitlines())) == (11, 13)  # as the page says
    assert "11 lines of Python" in page
    assert "13 of YAML" in page
    names: dict = {}
    exec(python, names)
    (tmp_path / "jury.yaml").write_text(yaml, encoding="utf-8")
    criteria = {one.name for one in jg.criteria_set("summary").criteria}
    sample = jg.Sample(id="1", source="The bridge is shut for a year of repairs.", output="The bridge is shut.")
    for graph in (names["jury"], jg.load_graph(tmp_path / "jury.yaml")):
        checked = jg.check(graph)
        assert checked.ok
        assert str(checked.calls.per_sample) == "7"
        run = jg.evaluate(graph, [sample])
        answers = [row for row in run.scores() if row["role"] == "answer"]
        assert sorted(row["criterion"] for row in answers) == sorted(criteria)
        assert {(row["agent"], row["status"]) for row in answers} == {("chair", "ok")}
        heard = {(row["agent"], row["stage"]) for row in run.scores()} - {("chair", "final")}
        assert heard == {(who, stage) for who in ("strict", "reader", "expert") for stage in ("round-1", "ballot")}
