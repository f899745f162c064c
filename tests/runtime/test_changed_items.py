"""Somebody sorted, edited or damaged items.jsonl: what is finished stays, and what is no item is told."""

import pytest
from small import Judged, ids, samples

import judgegraph as jg
from judgegraph.errors import DataError
from judgegraph.graphs import sageval
from judgegraph.runs import lines as read_items
from judgegraph.runs.folder import Folder
from judgegraph.runs.lines import Journal


def run(judged, count, out, **settings):
    return jg.evaluate(judged.graph, samples(count), out=out, concurrency=1, **settings)


@pytest.fixture
def begun(tmp_path):
    """Twelve samples, every third of which failed."""
    run(Judged("s0", "s3", "s6", "s9"), 12, tmp_path / "run")
    return tmp_path / "run"


def lines(out):
    return (out / "items.jsonl").read_bytes().splitlines(keepends=True)


def forget_stamp(out):
    """As an unclean exit leaves it."""
    journal = Journal(out / "journal.sqlite")
    journal.saw()
    journal.close()


def statuses(out):
    return {item.id: item.scores[0].status for item in jg.Run.load(out).items}


FINE = {f"s{i}": "ok" for i in range(12)}


@pytest.mark.parametrize("stamped", [True, False], ids=["after an end in order", "after a kill"])
def test_a_sorted_file_loses_nothing_in_a_retry(stamped, begun):
    if not stamped:
        forget_stamp(begun)
    (begun / "items.jsonl").write_bytes(b"".join(sorted(lines(begun), reverse=True)))
    judged = Judged()
    run(judged, 12, begun, retry_failed=True)
    assert sorted(judged.seen) == ["s0", "s3", "s6", "s9"]
    assert statuses(begun) == FINE
    assert len(lines(begun)) == 12


def test_lines_that_were_moved_beneath_an_open_journal_are_not_dropped(begun):
    """What the looks at the start cannot see, the end must."""
    folder = Folder(begun)
    folder.open(1)
    (begun / "items.jsonl").write_bytes(b"".join(sorted(lines(begun), reverse=True)))
    folder.journal.note(superseded=True)
    folder.settle()
    folder.begun()
    folder.close()
    assert sorted(ids(jg.Run.load(begun).items)) == sorted(FINE)
    judged = Judged()
    run(judged, 12, begun)
    assert judged.seen == []


def test_of_several_lines_the_last_one_stays_where_the_file_was_sorted(begun):
    good = lines(begun)
    (begun / "items.jsonl").write_bytes(b"".join([*good[6:], *good]))
    judged = Judged()
    run(judged, 12, begun)
    assert judged.seen == []
    assert len(lines(begun)) == 12


def flip(text, at):
    return text[:at] + bytes([text[at] ^ 0x01]) + text[at + 1 :]


def garbled(out, how):
    found = lines(out)
    if how == "garbage":
        found.insert(3, b"not an item\n")
        damaged, again = 1, []
    elif how == "a flipped byte":
        found[4] = flip(found[4], 12)  # a key's name
        damaged, again = 1, ["s4"]
    elif how == "blank lines":
        found.insert(3, b"\n  \n")
        damaged, again = 0, []
    else:
        found = [line.replace(b"\n", b"\r\n") for line in found]
        damaged, again = 0, []
    (out / "items.jsonl").write_bytes(b"".join(found))
    return damaged, again


@pytest.mark.parametrize("how", ["garbage", "a flipped byte", "blank lines", "CRLF"])
def test_a_line_that_is_no_item_is_left_out_and_its_sample_judged_again(how, begun):
    damaged, again = garbled(begun, how)
    before = jg.Run.load(begun)
    assert len(list(before.items)) == 12 - len(again)
    assert before.damaged == damaged
    assert sum("is no finished sample" in note for note in before.summary().notes) == damaged
    before.export(begun / "export.jsonl")
    for _ in range(2):
        judged = Judged()
        after = run(judged, 12, begun)
        assert judged.seen == again
        assert after.manifest["damaged_lines"] == after.damaged == damaged
        assert sorted(ids(after.items)) == sorted(FINE)
        again = []


def test_a_damaged_line_stays_where_lines_are_taken_out(begun):
    damaged, _ = garbled(begun, "a flipped byte")
    text = lines(begun)[4]
    run(Judged(), 12, begun)
    run(Judged(), 12, begun, retry_failed=True)
    assert text in lines(begun)
    assert statuses(begun) == FINE
    assert jg.Run.load(begun).damaged == damaged
    judged = Judged()
    run(judged, 12, begun)
    assert judged.seen == []


def test_an_export_reads_one_file_whatever_takes_its_place_meanwhile(begun, monkeypatch):
    run(Judged(), 12, begun)
    expected = [item.id for item in Folder(begun).items_in_order()]
    real = read_items._places

    def replaced(*given):
        (begun / "other").write_bytes(b"".join(lines(begun)[::-1]) + b"x\n")
        (begun / "other").replace(begun / "items.jsonl")
        return real(*given)

    monkeypatch.setattr(read_items, "_places", replaced)
    assert [item.id for item in Folder(begun).items_in_order()] == expected


def labelled(value, count=4):
    return [sample.model_copy(update={"human": {"Clarity": [float(value)]}}) for sample in samples(count)]


def test_people_may_judge_otherwise_later_and_nothing_is_judged_again(tmp_path):
    judged, data = Judged(), tmp_path / "data.jsonl"

    def run_with(value, **settings):
        data.write_text("".join(sample.model_dump_json() + "\n" for sample in labelled(value)))
        return jg.evaluate(judged.graph, jg.load(data), out=tmp_path / "run", **settings)

    run_with(2)
    again = run_with(4)
    assert len(judged.seen) == 4
    assert [item.sample.human for item in again.items] == [{"Clarity": [4.0]}] * 4
    assert [note for note in again.summary().notes if "4 samples have other human labels" in note]
    assert len(lines(tmp_path / "run")) == 4
    third = run_with(4)
    assert not [note for note in third.summary().notes if "human labels" in note]
    assert len(judged.seen) == 4


def test_labels_of_samples_in_memory_are_taken_too_and_other_changes_are_not(tmp_path):
    judged = Judged()
    jg.evaluate(judged.graph, labelled(2), out=tmp_path / "run")
    jg.evaluate(judged.graph, samples(4), out=tmp_path / "run")
    assert [item.sample.human for item in jg.Run.load(tmp_path / "run").items] == [{}] * 4
    assert jg.plan(judged.graph, labelled(5), out=tmp_path / "run").samples == 0
    changed = [sample.model_copy(update={"output": "another"}) for sample in labelled(3)]
    with pytest.raises(DataError, match="is not what it was"):
        jg.evaluate(judged.graph, changed, out=tmp_path / "run")
    assert len(judged.seen) == 4


def test_a_label_off_the_scale_is_noted_of_the_new_labels_alone(tmp_path):
    graph = sageval(criteria=[jg.Criterion(name="Clarity")])
    jg.evaluate(graph, labelled(9), out=tmp_path / "run")
    run = jg.evaluate(graph, labelled(3), out=tmp_path / "run")
    assert not run.summary().notices
