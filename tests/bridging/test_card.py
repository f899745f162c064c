"""The folder of a training set: its card says what stands in its files, and it is written whole or not at all."""

import json

import pytest
import yaml
from foreign import pair, single

import judgegraph as jg
from judgegraph.bridging.bridge import SEQUENCE, Branched, bridge, gather, write
from judgegraph.bridging.records import read_records
from judgegraph.errors import ConfigError
from judgegraph.graphs import fennec
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample


def lines(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def cells(card, name):
    """A table's row, by its first cell."""
    return next(line for line in card.splitlines() if line.startswith(f"| {name} |")).strip("| ").split(" | ")


def test_the_card_says_what_the_files_hold(bridged, tmp_path):
    long = "holds: " + "why " * (5 * SEQUENCE)
    rows = [pair(f"holds: why {n}?", reason="One\u2028two\x85three.") for n in range(20)]
    found = bridged(
        *rows, single("holds: how?", 4), pair("flips: who?"), pair("other: x?"), pair(long), shares=(0.2, 0.2)
    )
    folder = write(found.training_set, tmp_path / "made", found.signature)
    card = (folder / "README.md").read_text()
    head = yaml.safe_load(card.split("---")[1])
    named = {file["path"] for config in head["configs"] for file in config["data_files"]}
    assert named == {str(path.relative_to(folder)) for path in folder.glob("*/*.jsonl")}
    held = {path: lines(folder / path) for path in named}
    assert sum(len(rows) for path, rows in held.items() if path.startswith("sft")) == found.training_set.size == 43
    for split in ("train", "validation", "test"):
        _, queries, *tasks, preferences = cells(card, split)
        rows = held.get(f"sft/{split}.jsonl", [])
        assert list(map(int, tasks)) == [0, 0, len(rows), 0]
        assert int(preferences) == len(held.get(f"dpo/{split}.jsonl", []))
        asked = {row["prompt"][1]["content"].split("</query")[0] for rows in held.values() for row in rows}
        assert len(asked) == sum(found.training_set.queries.values()) > int(queries) > 0
    for rows in held.values():
        for row in rows:
            assert [message["role"] for message in row["prompt"]] == ["system", "user"]
            replies = [row[key] for key in ("completion", "chosen", "rejected") if key in row]
            assert all(len(reply) == 1 and reply[0]["role"] == "assistant" for reply in replies)
    assert [one["kind"] for one in lines(folder / "rejects.jsonl")] == ["order", "verdict"]
    assert cells(card, "the verdict changes with the order of the responses")[1] == "1"
    assert "About 2 rows are longer than 2,048 tokens" in card
    assert cells(card, "rows.jsonl")[1:] == ["bridging", "24", "2", "Scripted", "not stated"]
    assert found.signature in card
    assert (folder / "counts.json").exists()


def test_licences_stand_as_they_were_given_and_what_lacks_one_is_named(file, bridged, tmp_path):
    gathered = gather([read_records(file(pair("holds: why?")), origin="Mine | CC0 <b>\n# x")])
    criterion = Criterion(name="Depth", guideline="1 to 5")
    replies = [{"reason": "Low.", "score": 1}, {"response": "Better."}]
    run = jg.evaluate(fennec(scripted(*replies), criteria=[criterion]), [Sample(id="s", query="Q?", output="Bad.")])
    found = bridge(gathered, None, branching=[Branched("own", run), Branched("known", run, "Ours, MIT")])
    card = (write(found.training_set, tmp_path / "made") / "README.md").read_text()
    assert cells(card, "own")[-1] == "not stated"
    assert cells(card, "known")[-1] == "Ours, MIT"
    assert "Of own no licence is stated" in card
    assert (found.read, found.unjudged) == (1, 1)


def test_a_folder_is_new_and_nothing_is_left_of_one_that_was_not_written(bridged, tmp_path):
    found = bridged(pair("holds: why?"))
    (tmp_path / "empty").mkdir()
    assert write(found.training_set, tmp_path / "empty").is_dir()
    with pytest.raises(ConfigError, match="is there already and is not empty"):
        write(found.training_set, tmp_path / "empty")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ConfigError, match="no row to write"):
        write(bridged(pair("other: why?")).training_set, tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError):
        write(found.training_set, tmp_path / "file" / "under")
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "file"])
