"""Which column of a file is meant for which field: by the names that collections give them."""

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgegraph.cli.main import main
from judgegraph.cli.new import proposed_mapping
from judgegraph.data.load import load
from judgegraph.data.samples import likely_column
from judgegraph.errors import DataError
from judgegraph.meta.cells import before_a_run
from judgegraph.prompts.criteria import criteria_set

TEXT = "The bridge is shut for a year, as two of its arches are cracked."
FILES = [
    ({"question": "q", "response": TEXT}, {"query": "question", "output": "response"}),
    ({"Prompt": "q", "Response A": TEXT, "Response B": "u", "human_preference": "A"},
     {"query": "Prompt", "output": "Response A", "rival": "Response B", "human.preference": "human_preference"}),
    ({"prompt": "q", "chosen": TEXT, "rejected": "u"}, {"query": "prompt", "output": "chosen", "rival": "rejected"}),
    ({"doc_id": 3, "article": TEXT, "model_output": TEXT, "highlights": "t", "expert_fluency": 4, "rating_tone": 2},
     {"id": "doc_id", "source": "article", "output": "model_output", "reference": "highlights",
      "human.fluency": "expert_fluency", "human.tone": "rating_tone"}),
    ({"id": "a", "output": TEXT, "source": "s", "human": {"Clarity": 3}},
     {"id": "a", "output": "output", "source": "source"} | {"id": "id"}),
    ({"ticket": "r1", "note": TEXT, "words": 12}, {"output": "note"}),
    ({"answer": TEXT, "score": 3, "human_comment": TEXT}, {"output": "answer", "human.score": "score"}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "fields"), FILES, ids=range(len(FILES)))
def test_columns_are_found_by_their_names_and_what_they_hold(row: dict, fields: dict[str, str], tmp_path: Path):
    (tmp_path / "d.jsonl").write_text("\n".join(json.dumps(row) for _ in range(3)))
    found = proposed_mapping(tmp_path / "d.jsonl")
    assert found.fields == fields
    assert found.guessed.keys() == ({"output"} if fields["output"] == "note" else set())


def test_columns_of_other_names_are_known_by_words_in_them_and_by_what_comes_again(tmp_path: Path):
    rows = [
        {"Ticket #": f"T{at}", "What was asked?": f"Question {at // 5}?",
         "KB article / grounds": TEXT + str(at // 5) * 90, "the reply (v2)": f"Reply {at}, in a few words.",
         "QA score, 0-100": 40 + at % 7, "words": at % 3}
        for at in range(30)
    ]  # fmt: skip
    (tmp_path / "d.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    found = proposed_mapping(tmp_path / "d.jsonl")
    assert found.fields == {
        "id": "Ticket #", "query": "What was asked?", "source": "KB article / grounds", "output": "the reply (v2)",
        "human.QA": "QA score, 0-100",
    }  # fmt: skip
    renamed = [
        dict(zip(("k", "q", "long", "short", "stars given", "words"), row.values(), strict=True)) for row in rows
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(json.dumps(row) for row in renamed))
    found = proposed_mapping(tmp_path / "d.jsonl")
    assert found.fields == {"id": "k", "source": "long", "output": "short", "human.stars given": "stars given"}
    assert found.guessed.keys() == {"id", "source", "output"}  # "stars" is a word for a rating


@pytest.mark.parametrize(("text", "said"), [("", "has no row"), ('{"n": 1}', "no column may be what is judged")])
def test_a_file_without_anything_to_judge_is_refused(text: str, said: str, tmp_path: Path):
    (tmp_path / "d.jsonl").write_text(text)
    with pytest.raises(DataError, match=said):
        proposed_mapping(tmp_path / "d.jsonl")


@pytest.mark.parametrize("row", [FILES[1][0], FILES[3][0]], ids=["pairs", "single"])
def test_the_command_that_is_proposed_runs(row: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("my data.jsonl").write_text("\n".join(json.dumps(row | {"doc_id": at}) for at in range(4)))
    done = CliRunner().invoke(main, ["init", "my data.jsonl", "-o", "mine.yaml"])
    assert done.exit_code == 0, done.output
    commands = [line for line in done.output.splitlines() if line.startswith("judgegraph ")]
    assert [shlex.split(line)[1] for line in commands] == ["run", "plan"]
    for line in commands:
        ran = CliRunner().invoke(main, shlex.split(line)[1:])
        assert ran.exit_code == 0, ran.output
    assert CliRunner().invoke(main, ["init", "my data.jsonl", "-o", "mine.yaml"]).exit_code == 2  # it is there


def test_a_missing_output_names_the_likely_column(tmp_path: Path):
    assert likely_column("output", ["x", "Model Response"]) == "Model Response"
    (tmp_path / "d.jsonl").write_text('{"question": "q", "completion": "t"}\n')
    done = CliRunner().invoke(main, ["run", "llm-score", str(tmp_path / "d.jsonl")])
    assert "perhaps it is 'completion': -f output=completion" in " ".join(done.output.split())


def init(*words: str) -> str:
    found = CliRunner().invoke(main, ["init", *words])
    assert found.exit_code == 0, found.output
    return found.output


def test_who_has_one_quality_in_mind_is_given_a_set_of_it(tmp_path: Path):
    data, file = str(tmp_path / "d.jsonl"), tmp_path / "c.yaml"
    rows = [{"id": f"a{at}", "query": "q", "output": TEXT, "politeness_score": at % 5 + 1} for at in range(9)]
    Path(data).write_text("\n".join(json.dumps(row) for row in rows))
    proposed = next(line for line in init(data).splitlines() if line.startswith("judgegraph init"))
    assert shlex.split(proposed) == ["judgegraph", "init", data, "-c", "politeness", "-o", "criteria.yaml"]
    said = init(data, "-c", "politeness", "-c", "clarity", "-c", "Clarity ", "-o", str(file))
    assert "criteria: politeness, Clarity (to be defined: politeness), in" in said.replace("\n", " ")
    made = criteria_set(str(file))
    assert [one.name for one in made.criteria] == ["politeness", "Clarity"]
    assert made.criteria[1] in criteria_set("general").criteria
    run = shlex.split(next(line for line in said.splitlines() if line.startswith("judgegraph run")))
    assert CliRunner().invoke(main, [*run[1:], "-o", str(tmp_path / "run")]).exit_code == 0
    refused = CliRunner().invoke(main, ["init", data, "-c", "politeness"])
    assert refused.exit_code == 2
    assert "-o FILE.yaml" in refused.output
    assert CliRunner().invoke(main, ["init", data, "-c", " ", "-o", str(tmp_path / "e.yaml")]).exit_code == 2


@pytest.mark.parametrize(
    ("column", "values", "scale"),
    [
        ("QA (0-100)", [92, 8, 55, 71], "0-100"), ("QA score", [92, 8, 55], "0-100"), ("QA score", [1, 3, 5], "1-5"),
        ("QA rating", [0, 1, 1, 0], "0-1"), ("QA rating", [9.5, 7, 2], "1-10"), ("QA (1-7)", [2, 4, 6], "1-7"),
        ("QA (1-3)", [40, 80], "0-100"), ("QA score", [-3, 2], "1-5"),
    ],
)  # fmt: skip
def test_a_criterion_of_a_column_of_peoples_is_on_their_scale(column: str, values: list, scale: str, tmp_path: Path):
    data, file = str(tmp_path / "d.jsonl"), tmp_path / "c.yaml"
    rows = [{"id": f"a{at}", "query": "q", "output": TEXT, column: values[at % len(values)]} for at in range(12)]
    Path(data).write_text("\n".join(json.dumps(row) for row in rows))
    said = init(data, "-c", "QA", "-o", str(file))
    (made,) = criteria_set(str(file)).criteria
    assert str(made.scale) == scale
    assert (f"on the scale of people's column: QA {scale}" in " ".join(said.split())) == (scale != "1-5")
    assert f"what a {scale.partition('-')[0]} and a {scale.partition('-')[2]} look like" in made.definition


def test_two_columns_of_texts_beside_a_winner_are_a_pair(tmp_path: Path):
    rows = [
        {
            "qid": f"q{at}",
            "question": f"How do I mend thing {at}?",
            "alpha": f"{TEXT} {at}",
            "beta": f"Ask for {TEXT} {at}.",
        }
        for at in range(9)
    ]
    pair = {"output": "alpha", "rival": "beta", "human.overall": "winner"}
    for words in (("A", "B", "tie"), ("alpha", "beta", "tie")):
        told = [row | {"winner": words[at % 3]} for at, row in enumerate(rows)]
        (tmp_path / "d.json").write_text(json.dumps(told))
        found = proposed_mapping(tmp_path / "d.json")
        assert found.is_of_pairs
        assert pair.items() <= found.fields.items()
    (tmp_path / "d.json").write_text(json.dumps([row | {"winner": f"Team {at}"} for at, row in enumerate(rows)]))
    assert not proposed_mapping(tmp_path / "d.json").is_of_pairs


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        (("accuracy_score",), ()),
        (("human.Helpfulness", "human_overall"), ()),
        (("human.Warmth", "human.Helpfulness"), ("Warmth", "Helpfulness")),
        (("human.Warmth", "human.Brevity"), ("Warmth", "Brevity")),
        (("rating",), ("rating",)),
        (("human.overall",), ("overall",)),
    ],
)
def test_criteria_are_proposed_that_peoples_labels_can_be_held_against(columns, asked, tmp_path, monkeypatch):
    """Whatever the labels are called, what is proposed is judged by at least one that they name."""
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "d.jsonl"
    rows = [{"id": f"a{at}", "query": "q", "output": TEXT} | dict.fromkeys(columns, at % 5 + 1) for at in range(9)]
    data.write_text("\n".join(json.dumps(row) for row in rows))
    lines = [shlex.split(line)[1:] for line in init(str(data)).splitlines() if line.startswith("judgegraph ")]
    if asked:
        assert lines[0] == ["init", str(data), *(w for name in asked for w in ("-c", name)), "-o", "criteria.yaml"]
        init(*lines.pop(0)[1:])
        init(str(data), "-o", "alike.yaml")
        assert [c.name for c in criteria_set("alike.yaml").criteria] == [
            c.name for c in criteria_set("criteria.yaml").criteria
        ]
    names = {one.name.casefold() for one in criteria_set(lines[0][lines[0].index("-c") + 1]).criteria}
    assert names & {column.partition(".")[2].casefold() or column.partition("_")[0] for column in columns}


def test_a_column_of_peoples_that_no_criterion_is_called_after_is_told_before_a_run(tmp_path: Path):
    data = tmp_path / "d.jsonl"
    people = {"QA": 4, "Coherense": 2, "fluency": 3, "overall": 1}
    rows = [{"id": str(at), "output": TEXT, "human": people} for at in range(3)]
    data.write_text("\n".join(json.dumps(row) for row in rows))
    told = before_a_run(load(data), criteria_set("summary").criteria)
    assert [line.partition(":")[0] for line in told] == ["human.QA", "human.Coherense"]
    assert "it judges by Coherence, " in told[0]
    assert "(the nearest: Coherence" in told[1]
    assert not before_a_run(load(data))
    data.write_text("\n".join(json.dumps(row | {"rival": "other"}) for row in rows))
    assert not before_a_run(load(data), criteria_set("summary").criteria)


def test_two_answers_are_a_pair_and_what_holds_mappings_is_no_text(tmp_path: Path):
    rows = [
        {"qid": f"q{at}", "Frage": f"Wie heißt Brücke {at}?", "owl_Antwort": f"{TEXT} {at % 4}",
         "fox_Antwort": f"So etwas steht in {TEXT} {at % 3}.", "meta": {"system": "owl" * 20}, "tags": [TEXT]}
        for at in range(9)
    ]  # fmt: skip
    (tmp_path / "d.json").write_text(json.dumps(rows))
    found = proposed_mapping(tmp_path / "d.json")
    pair = {"id": "qid", "query": "Frage", "output": "owl_Antwort", "rival": "fox_Antwort"}
    assert found.fields == pair
    assert found.guessed.keys() == {"id", "rival"}
    gold = [{"gold_answer" if name == "fox_Antwort" else name: text for name, text in row.items()} for row in rows]
    (tmp_path / "d.json").write_text(json.dumps(gold))
    assert not proposed_mapping(tmp_path / "d.json").is_of_pairs
