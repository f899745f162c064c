"""`judgegraph bench`: a method or recorded judges beside published figures, from a folder of the user's own."""

import gzip
import itertools
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgegraph.bench.shelf import COLLECTIONS, collection
from judgegraph.cli import main

ARTICLE = "The council met on Monday. It voted to close the old bridge for a year. Traffic will use the ring road."
SUMMARIES = (
    "The council voted to close the old bridge for a year.",
    "The council met on Monday. Traffic will use the ring road.",
    "The mayor resigned on Friday after a scandal about money.",
    "The bridge the the closed year.",
)


def run(*command: object):
    return CliRunner().invoke(main, ["bench", *map(str, command)])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """QAGS as its file is laid out, with eight made-up summaries."""
    rows = [
        {
            "doc_id": str(n), "source": f"{ARTICLE} Item {n}.", "system_output": SUMMARIES[n % 4],
            "scores": {"consistency": (1.0, 0.9, 0.0, 0.3)[n % 4]}, "predict_scores": {"consistency": 1 / (n + 1)},
        }
        for n in range(8)
    ]  # fmt: skip
    (tmp_path / "data/fact").mkdir(parents=True)
    (tmp_path / "data/fact/qags_cnndm_result.json").write_text(json.dumps(rows))
    return tmp_path / "data"


def test_without_a_name_every_collection_is_listed_with_its_origin_and_licence():
    done = run()
    assert done.exit_code == 0
    listed = json.loads(run("--json").stdout)
    assert [one["name"] for one in listed] == list(COLLECTIONS)
    for one in listed:
        assert one["name"] in done.stdout
        assert "licence stated" in one["origin"] or "MIT" in one["origin"] or "Apache-2.0" in one["origin"]


@pytest.mark.parametrize("name", COLLECTIONS)
def test_a_collection_is_called_by_its_own_name_and_its_preset_is_known(name):
    from judgegraph.bench.judged import criteria_of
    from judgegraph.meta.conventions import PRESETS
    from judgegraph.registry import METHODS

    found = collection(name.upper().replace("_", "-"))
    assert (found.name, found.preset in PRESETS, found.method in METHODS) == (name, True, True)
    assert criteria_of(found, []).criteria
    assert found.items


@pytest.mark.parametrize("below", ["", "fact"])
def test_the_folder_is_that_of_all_collections_or_the_collection_s_own(data: Path, below):
    done = run("qags", "--data", data / below, "--recorded", "--resamples", 0)
    assert done.exit_code == 0, done.output
    assert "QAGS-CNNDM" in done.stdout
    assert "(.681681)" in done.stdout  # of the whole file; eight rows give another


def test_a_gzipped_file_is_found_too(data: Path):
    path = data / "fact/qags_cnndm_result.json"
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert run("qags", "--data", data, "--recorded", "--resamples", 0).exit_code == 0


def test_a_run_stands_beside_the_published_figures_with_interval_signature_and_cost(data: Path, tmp_path: Path):
    command = ("qags", "--data", data, "-m", "llm-score", "--out", tmp_path / "run", "--resamples", 50)
    done = run(*command)
    assert done.exit_code == 0, done.output
    for part in (
        "llm-score (this run)",
        "UniEval [1]",
        "(.662255)",
        "[",
        "llm-score|v:",
        "8 samples, 8 calls",
        "tokens",
    ):
        assert part in done.stdout, part
    told = json.loads(run(*command, "--json").stdout)  # goes on: nothing is asked again
    cells = {(c["judge"], c["statistic"]): c for c in told["cells"]}
    ours = cells["llm-score", "spearman"]
    assert (ours["ours"], ours["n"], ours["judged"], ours["published"]) == (True, 8, 8, None)
    assert -1 <= ours["interval"][0] <= ours["value"] <= ours["interval"][1] <= 1
    assert cells["UniEval", "spearman"]["value"] is None
    assert (told["state"], told["run"].partition("|")[0], told["coverage"]["share"]) == ("finished", "llm-score", 1.0)


def test_only_the_criteria_that_people_judged_are_asked(data: Path):
    told = json.loads(run("qags", "--data", data, "-m", "llm-score", "-n", 3, "--resamples", 0, "--json").stdout)
    assert told["spent"]["calls"] == 3
    four = json.loads(
        run("qags", "--data", data, "-m", "llm-score", "-n", 3, "-c", "summary", "--resamples", 0, "--json").stdout
    )
    assert four["spent"]["calls"] == 12


def test_criteria_that_meet_no_human_score_leave_the_published_figures_alone(data: Path):
    done = run("qags", "--data", data, "-m", "llm-score", "-n", 3, "-c", "forms", "--resamples", 0)
    assert "UniEval [1]" in done.stdout
    assert "(this run)" not in done.stdout
    assert (done.exit_code, "nothing that people judged can be compared" in done.output) == (1, True)


OWN = """
from pathlib import Path
from judgegraph.graphs import llm_score

times = Path(__file__).with_name("times")
times.write_text("x" + (times.read_text() if times.exists() else ""))

def mine():
    return llm_score(criteria="summary")
"""


def test_a_method_of_one_s_own_is_run_too_and_its_file_is_imported_once(data: Path, tmp_path: Path):
    (tmp_path / "own.py").write_text(OWN)
    done = run("qags", "--data", data, "-m", f"{tmp_path / 'own.py'}:mine", "-n", 4, "--resamples", 0)
    assert done.exit_code == 0, done.output
    assert "(this run)" in done.stdout
    assert (tmp_path / "times").read_text() == "x"


def test_a_budget_ends_the_run_with_its_own_exit_code(data: Path):
    done = run("qags", "--data", data, "-m", "llm-score", "--budget-calls", 2, "--concurrency", 1, "--resamples", 0)
    assert done.exit_code == 3, done.output


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("nope",), 1, "no collection 'nope'; known: summeval"),
        (("qags",), 2, "--data names the folder with qags_cnndm_result.json; the original is maszhongming/UniEval"),
        (("bagel", "--data", "DATA"), 1, "BAGEL (Mairesse et al. 2010): no bagel.json in"),
        (("qags", "--data", "DATA", "--recorded", "-j", "embedded"), 2, "asks no judge: leave --judge out"),
        (("qags", "--data", "DATA", "--preset", "unival"), 1, "did you mean 'unieval'?"),
        (("qags", "--data", "DATA", "-m", "llm-scoer"), 1, "llm-score"),
        (("qags", "--data", "DATA", "-m", "llm-score", "-s", "nope=1"), 1, "llm-score has no setting nope"),
    ],
)
def test_a_wrong_command_says_what_to_do(data: Path, command, code, said):
    done = run(*(str(data) if word == "DATA" else word for word in command))
    assert (done.exit_code, said in done.output) == (code, True), done.output


def test_a_broken_file_is_told_before_anything_is_asked(data: Path):
    (data / "fact/qags_cnndm_result.json").write_text('[{"doc_id": "1",\n "source": ]')
    done = run("qags", "--data", data)
    assert done.exit_code == 1
    assert "qags_cnndm_result.json, line 2, column 12: no JSON" in done.output


def test_nothing_of_a_file_drives_the_terminal(data: Path):
    path = data / "fact/qags_cnndm_result.json"
    path.write_text(
        json.dumps([{"doc_id": "1", "source": "a", "system_output": "b", "scores": {"consistency": "\x1b[31m"}}])
    )
    done = run("qags", "--data", data)
    assert done.exit_code == 1
    assert "\x1b" not in done.output


def test_a_collection_without_recorded_judges_says_so(tmp_path: Path):
    row = {
        "src": "a",
        "sys_summ": "b",
        "ref_summs": [],
        "scores": {"informativeness": 6, "naturalness": 5, "quality": 5},
    }
    (tmp_path / "bagel.json").write_text(json.dumps({"0": row}))
    done = run("bagel", "--data", tmp_path, "--recorded")
    assert done.exit_code == 1
    assert "nothing is recorded" in done.output


@pytest.mark.parametrize("name", ["summeval", "topical_chat", "openmeva", "bagel", "sfres", "qags"])
@pytest.mark.sampled(3)
def test_the_embedded_judge_goes_through_every_collection(shared: Path, name):
    done = run(name, "--data", shared / "data", "-m", "llm-score", "-n", 20, "--resamples", 20)
    assert done.exit_code == 0, done.output
    assert "(this run)" in done.stdout
    assert "20 samples" in done.stdout


def test_help_has_the_options_of_a_run_and_its_own_under_headings():
    told = run("--help").stdout
    heads = {head: told.index(head) for head in ("What is judged", "What it is held against", "Where it is kept")}
    assert (
        heads["What is judged"] < told.index("-d, --data ") < told.index("--method ") < heads["What it is held against"]
    )
    assert heads["What it is held against"] < told.index("--recorded ") < heads["Where it is kept"]
    assert "--field" not in told


def test_items_of_one_group_stand_together_so_that_a_part_holds_whole_groups(shared: Path):
    for name in ("summeval", "topical_chat", "openmeva", "bagel", "sfres"):
        known = collection(name)
        groups = [sample.meta["group"] for sample in known.samples(shared / "data" / (known.folder or name))]
        changes = sum(one != other for one, other in itertools.pairwise(groups))
        assert changes + 1 == len(set(groups)), name
