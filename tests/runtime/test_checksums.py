"""A line of items.jsonl that is not what was written is named by whoever reads it, and its sample is judged again."""

import json
import os
import re

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph.cli.main import main
from judgegraph.graphs import sageval
from judgegraph.runs.lines import DamagedLine, item_of_line, sealed

COUNT, CHANGED = 6, 3  # samples; the one whose line is changed
NAMED = re.compile(r"items\.jsonl, line (\d+): sample 's3' is not what was written")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished run whose samples have people's scores."""
    work = tmp_path_factory.mktemp("made")
    rows = [
        {
            "id": f"s{n}", "query": "Why?", "output": f"Because of {n} reäsons. " + "A long story, but clear. " * n,
            "human": {"Clarity": n % 5 + 1}, "meta": {"system": "ab"[n % 2], "group": n // 2},
        }
        for n in range(COUNT)
    ]  # fmt: skip
    (work / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (work / "criteria.yaml").write_text("name: one\ncriteria:\n- name: Clarity\n  definition: Is it clear?\n")
    done = command(work, *RUN)
    assert done.exit_code == 0, done.output
    return work


RUN = ("run", "sageval", "data.jsonl", "--criteria", "criteria.yaml", "--out", "run", "--concurrency", "1")


@pytest.fixture
def work(made, tmp_path):
    for path in made.rglob("*"):
        to = tmp_path / path.relative_to(made)
        if path.is_dir():
            to.mkdir()
        else:
            to.write_bytes(path.read_bytes())
            os.utime(to, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    return tmp_path


def command(work, *words):
    before = os.getcwd()
    os.chdir(work)
    try:
        return CliRunner().invoke(main, list(words))
    finally:
        os.chdir(before)


def lines(work):
    return (work / "run/items.jsonl").read_bytes().splitlines(keepends=True)


def falsified(work, change):
    """Change the line of one sample, and leave the file's time as it was."""
    path = work / "run/items.jsonl"
    about, found = path.stat(), lines(work)
    new = change(found[CHANGED])
    assert new != found[CHANGED]
    found[CHANGED] = new
    path.write_bytes(b"".join(found))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))


def digit(line):
    """The first score, one digit off: still a score on its scale."""
    return re.sub(rb'("value":)(\d)', lambda m: m[1] + (b"1" if m[2] != b"1" else b"2"), line, count=1)


def words_of(line):
    return line.replace(b"long story", b"lung story", 1)


def its_checksum(line):
    return line[:-4] + (b"0" if line[-4:-3] != b"0" else b"1") + line[-3:]


def rewritten(line, **changes):
    """As `jq` and its like write it."""
    return json.dumps(json.loads(line) | changes).encode() + b"\n"


def without(line):
    found = json.loads(line)
    del found["checksum"]
    return json.dumps(found).encode() + b"\n"


DAMAGES = {
    "a digit": digit, "a word of what was judged": words_of, "its checksum": its_checksum,
    "rewritten with a change": lambda line: rewritten(line, overall=4.5), "cut within": lambda line: line[:-40] + b"\n",
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_changed_line_is_named_and_its_sample_judged_again_from_the_ledger(damage, work):
    before = jg.Run.load(work / "run")
    before.export(work / "before.jsonl")
    falsified(work, damage)
    run = jg.Run.load(work / "run")
    assert [item.id for item in run.items] == [f"s{n}" for n in range(COUNT) if n != CHANGED]
    (note,) = [note for note in run.summary().notes if "items.jsonl" in note]
    assert note.startswith("left out: ")
    assert f"line {CHANGED + 1}: sample 's3'" in note
    for turn in range(2):
        done = command(work, *RUN, "--json")
        assert done.exit_code == 0, done.output
        assert ("judged again: run/items.jsonl, line 4: sample 's3'" in done.stderr) is (turn == 0)
        assert json.loads(done.stdout)["calls"]["ledger"]["paid"] == 2 * COUNT  # by the first run
        assert len(lines(work)) == COUNT
    jg.Run.load(work / "run").export(work / "after.jsonl")
    assert (work / "after.jsonl").read_bytes() == (work / "before.jsonl").read_bytes()


@pytest.mark.parametrize("form", [rewritten, without, lambda line: line[:-1] + b"\r\n"], ids=["jq", "old", "CRLF"])
def test_a_line_in_another_form_and_one_of_an_older_version_are_read_as_they_are(form, work):
    expected = [item_of_line(line, "") for line in lines(work)]
    if form is without:
        of_an_older_version(work)
    (work / "run/items.jsonl").write_bytes(b"".join(form(line) for line in lines(work)))
    run = jg.Run.load(work / "run")
    assert list(run.items) == expected
    assert not run.folder.left_out
    done = command(work, *RUN, "--json")
    assert (done.exit_code, done.stderr.count("judged again")) == (0, 0)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("place", range(0, 400, 7))
def test_no_flipped_byte_of_a_line_becomes_another_item(made, place):
    line = lines(made)[CHANGED]
    at = place * len(line) // 400
    if line[at : at + 1] == b"\n":
        return
    with pytest.raises(DamagedLine, match=r"items, line 4: "):
        item_of_line(line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :], "items, line 4")


READERS = {
    "export": ("export", "run", "-o", "out.csv"),
    "export of items": ("export", "run", "-o", "out.jsonl"),
    "report": ("report", "run", "-o", "out.html"),
    "meta": ("meta", "run"),
    "meta --json": ("meta", "run", "--json"),
    "rank": ("rank", "run"),
    "trace": ("trace", "run"),
    "trace of it": ("trace", "run", "--sample", "s3"),
    "diff": ("diff", "run", "whole"),
    "diff --json": ("diff", "whole", "run", "--json"),
}


@pytest.mark.parametrize("words", READERS.values(), ids=READERS)
def test_every_command_names_file_line_and_sample(words, made, work):
    (work / "whole").symlink_to(made / "run")
    assert command(work, *words).stderr == ""
    falsified(work, digit)
    done = command(work, *words)
    assert (done.exit_code != 0) is (words[-1] == "s3"), done.output
    assert NAMED.search(done.stderr)[1] == str(CHANGED + 1), done.output
    shown = {"report": "out.html", "diff": None}.get(words[0], "")
    if shown != "":  # the page and the difference have it themselves
        text = (work / shown).read_text() if shown else done.stdout.replace("\n", " ")
        assert re.search(r"items\.jsonl,\s+line\s+4", text)


def test_a_redacted_page_says_where_and_not_of_which_sample(work):
    falsified(work, digit)
    command(work, "report", "run", "-o", "out.html", "--redact", "texts")
    text = (work / "out.html").read_text()
    assert "items.jsonl, line 4" in text
    assert "line 4: sample" not in text


def test_a_sample_that_was_judged_twice_has_no_result_where_its_last_line_is_damaged(tmp_path):
    graph, samples = sageval(criteria=[jg.Criterion(name="Clarity")]), [jg.Sample(id="s", output="Some text is here.")]
    jg.evaluate(graph, samples, out=tmp_path / "run")
    path = tmp_path / "run/items.jsonl"
    (line,) = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(line + digit(line))
    (tmp_path / "run/journal.sqlite").unlink()
    assert list(jg.Run.load(tmp_path / "run").items) == []
    run = jg.evaluate(graph, samples, out=tmp_path / "run")
    assert [item.id for item in run.items] == ["s"]
    assert path.read_bytes().count(b"\n") == 1


def copied(found):
    return [*found, found[CHANGED]]


def foreign(found):
    """A sound line of the sample that nobody wrote: its checksum is its own."""
    item = item_of_line(without(digit(found[CHANGED])), "")
    return [*found, sealed(item.line())]


def deleted(found):
    return found[:CHANGED] + found[CHANGED + 1 :]


def unverified(found):
    return [*found[:CHANGED], without(found[CHANGED]), *found[CHANGED + 1 :]]


ODD = {  # change of the lines -> what is told of it, samples that are counted
    "copied": (copied, f"counted once: {{}}, line {COUNT + 1}: sample 's3' is there a second time", COUNT),
    "foreign": (foreign, f"left out: {{}}, line {COUNT + 1}: sample 's3' has an earlier line", COUNT),
    "deleted": (deleted, f"missing: {{}}: 1 finished sample (number {CHANGED + 1} of the data) has no line", COUNT - 1),
    "last deleted": (lambda found: found[:-1], f"missing: {{}}: 1 finished sample (number {COUNT} of", COUNT - 1),
    "unverified": (unverified, f"not verified: {{}}, line {CHANGED + 1}: sample 's3' has no checksum", COUNT),
}  # fmt: skip


def written(work, change):
    path = work / "run/items.jsonl"
    path.write_bytes(b"".join(change(lines(work))))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("words", [(*READERS.values(),)[n] for n in (0, 1, 2, 3, 6, 7, 8)], ids=lambda words: words[0])
@pytest.mark.parametrize("odd", ODD)
def test_every_command_tells_of_sound_lines_that_no_run_wrote_so(odd, words, made, work):
    change, told, _ = ODD[odd]
    (work / "whole").symlink_to(made / "run")
    written(work, change)
    done = command(work, *words)
    assert told.format("run/items.jsonl") in done.stderr, done.output
    assert done.stderr.count("items.jsonl") == 1


@pytest.mark.parametrize("odd", ODD)
def test_a_sample_counts_once_and_the_same_command_mends_the_folder(odd, made, work):
    change, told, count = ODD[odd]
    before = list(jg.Run.load(made / "run").items)
    written(work, change)
    run = jg.Run.load(work / "run")
    kept = [item for item in before if odd not in ("deleted", "last deleted") or item.id in {i.id for i in run.items}]
    assert list(run.items) == kept
    assert len(kept) == count
    assert len(run.scores()) == sum(len(item.scores) for item in kept)
    found = command(work, "repair", "run")
    assert found.exit_code == 1
    assert told.partition(": ")[2].removeprefix("{}").lstrip(",: ") in found.stdout
    done = command(work, *RUN, "--json")
    assert done.exit_code == 0, done.output
    assert told.format("run/items.jsonl") in done.stderr
    assert json.loads(done.stdout)["calls"]["ledger"]["paid"] == 2 * COUNT  # by the first run
    after = sorted(jg.Run.load(work / "run").items, key=lambda item: item.place)
    assert [item.model_copy(update={"ms": 0.0}) for item in after] == [
        item.model_copy(update={"ms": 0.0}) for item in sorted(before, key=lambda item: item.place)
    ]


@pytest.mark.parametrize("odd", ODD)
def test_repair_in_place_leaves_a_folder_that_is_sound_and_goes_on(odd, work):
    written(work, ODD[odd][0])
    assert command(work, "repair", "run", "--in-place").exit_code == 0
    assert command(work, "repair", "run").stdout.endswith("all is sound; nothing was written\n")
    done = command(work, *RUN, "--json")
    assert (done.exit_code, done.stderr.count("items.jsonl")) == (0, 0), done.output
    assert len(lines(work)) == COUNT


@pytest.mark.parametrize("words", [(*READERS.values(),)[n] for n in (0, 1, 2, 3, 6, 7, 8)], ids=lambda words: words[0])
def test_every_command_tells_where_all_checksums_were_taken_away(words, made, work):
    (work / "whole").symlink_to(made / "run")
    unsealed(work)
    done = command(work, *words)
    assert f"not verified: run/items.jsonl, line {CHANGED + 1}: sample 's3' has no checksum" in done.stderr, done.output
    assert f"not verified: run/items.jsonl: {COUNT - 5} more line of this kind" in done.stderr


def test_a_folder_without_any_checksum_is_told_of_by_a_rerun_and_mended_by_repair(work):
    unsealed(work)
    assert command(work, *RUN).stderr.count("has no checksum, though the run wrote one") == 5
    found = command(work, "repair", "run")
    assert found.exit_code == 1
    assert f"items.jsonl: damaged; 0 of {COUNT} lines are sound\n" in found.stdout
    assert command(work, "repair", "run", "--in-place").exit_code == 0
    done = command(work, *RUN, "--json")
    assert (done.exit_code, done.stderr.count("items.jsonl")) == (0, 0), done.output
    assert len(lines(work)) == COUNT


def test_a_folder_of_an_older_version_has_no_checksums_and_nothing_is_told(work):
    of_an_older_version(work)
    unsealed(work)
    for _ in range(2):  # a run that goes on there wrote none of its lines
        done = command(work, *RUN)
        assert (done.exit_code, done.stderr.count("checksum")) == (0, 0), done.output


def test_repair_counts_the_lines_that_are_there_and_those_that_are_gone(work):
    written(work, lambda found: [found[0], digit(found[1]), *found[3:-1]])
    found = command(work, "repair", "run")
    assert "items.jsonl: damaged; 3 of 4 lines are sound, 2 lines are gone\n" in found.stdout


def of_an_older_version(work):
    manifest = json.loads((work / "run/manifest.json").read_text())
    assert manifest.pop("checksums") is True
    (work / "run/manifest.json").write_text(json.dumps(manifest))


def unsealed(work):
    """Every checksum taken away, and a digit changed."""
    taken = re.compile(rb',"checksum":"[0-9a-f]{16}"\}')
    written(work, lambda found: [digit(taken.sub(b"}", line)) if n == CHANGED else taken.sub(b"}", line)
                                 for n, line in enumerate(found)])  # fmt: skip


def test_without_a_journal_the_manifest_says_how_many_lines_are_missing(work):
    written(work, deleted)
    (work / "run/journal.sqlite").unlink()
    assert "missing: run/items.jsonl: 1 finished sample has no line" in command(work, "trace", "run").stderr


def test_a_copy_in_the_place_of_another_sample_is_found_where_size_and_time_are_as_they_were(tmp_path):
    graph = sageval(criteria=[jg.Criterion(name="Clarity")])
    samples = [jg.Sample(id=f"s{n}", output="Some text is here.") for n in range(40)]
    jg.evaluate(graph, samples, out=tmp_path / "run")
    path = tmp_path / "run/items.jsonl"
    about, found = path.stat(), path.read_bytes().splitlines(keepends=True)
    by_length = {}
    for line in found:
        by_length.setdefault(len(line), []).append(line)
    one, other = next(same for same in by_length.values() if len(same) > 1)[:2]
    found[found.index(other)] = one
    path.write_bytes(b"".join(found))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    run = jg.evaluate(graph, samples, out=tmp_path / "run")
    assert len(list(run.items)) == 40
    assert len([what for what in run.summary().notes if what.startswith(("counted once", "missing"))]) == 2
