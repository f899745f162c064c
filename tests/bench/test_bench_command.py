"""`judgegraph bench`: a method or recorded judges beside published figures, from a folder of the user's own."""

import gzip
import itertools
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from judgegraph.bench.files import COLLECTIONS, collection, folder_of
from judgegraph.bench.table import part_of
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
    from judgegraph.meta.conventions import PRESETS
    from judgegraph.registry.shipped import FORM_METHODS, METHODS

    found = collection(name.upper().replace("_", "-"))
    assert (found.name, found.preset in PRESETS, found.method in {**METHODS, **FORM_METHODS}) == (name, True, True)
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
    assert done.output.splitlines() == [
        f"nothing is recorded in {tmp_path}; without --recorded a judge of yours is asked"
    ]


@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.sampled(4)
def test_the_embedded_judge_goes_through_every_collection(shared: Path, name):
    method, many = {"fennec": ("fennec-2", 8), "find-fault": ("find-fault", 20)}.get(
        collection(name).method, ("llm-score", 20)
    )
    done = run(name, "--data", shared / "data", "-m", method, "-n", many, "--resamples", 20)
    rubric = name == "prometheus"  # of each item's own: nothing that the embedded judge measures
    assert (done.exit_code, "nothing was judged" in done.output) == (int(rubric), rubric), done.output
    assert re.search(rf"^{method} +\(this", done.stdout, re.MULTILINE)  # wide tables fold the rest
    assert f"{many} samples" in done.stdout


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Auto-J as its file is laid out, with six made-up pairs in two groups, one group after the other."""
    rows = [
        {
            "row": n, "group": ("Code", "Mail")[n // 3], "scenario": "x", "label": n % 3,
            "prompt": f"Name {n} primes.", "response 1": "2, 3 and 5 are primes.", "response 2": f"I do not know {n}.",
        }
        for n in range(6)
    ]  # fmt: skip
    (tmp_path / "testdata_pairwise.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def asked(data: Path, *more: object):
    return json.loads(run("autoj", "--data", data, "--resamples", 0, "--json", *more).stdout)


def test_fennec_writes_its_criteria_where_people_judged_by_none(pairs: Path):
    one, three = (asked(pairs, "-s", f"branches={n}", "-s", "correct=off") for n in (1, 3))
    assert one["run"] != three["run"]
    assert "criteria:" not in one["run"]
    assert one["calls"]["by_node"]["branch"]["calls"] == 6
    assert one["spent"]["calls"] < three["spent"]["calls"]
    assert asked(pairs, "-m", "fennec-1", "-s", "correct=off")["calls"]["by_node"]["branch"]["calls"] == 6


def test_criteria_that_are_given_take_the_place_of_those_that_fennec_would_write(pairs: Path):
    given = asked(pairs, "-c", "general", "-n", 2)
    assert "branch" not in given["calls"]["by_node"]
    assert "criteria:" in given["run"]


def test_a_method_that_needs_criteria_has_the_collection_s_own(pairs: Path):
    from judgegraph.bench.table import criteria_of
    from judgegraph.registry import factory

    known = collection("autoj")
    samples = list(known.samples(pairs))
    for method, name in (("fennec", None), ("fennec-3", None), ("g-eval", "general"), ("sageval-cot", "general")):
        found = criteria_of(known, samples, factory(method))
        assert (found and found.name) == name, method


ONE_IN_BOTH_ORDERS = ("-m", "fennec-1", "-s", "orders=both")


def test_a_run_over_pairs_stands_beside_the_figures_over_all_sets(pairs: Path):
    told = asked(pairs, *ONE_IN_BOTH_ORDERS)
    ours = {cell["criterion"]: cell["n"] for cell in told["cells"] if cell["ours"] and cell["statistic"] == "agreement"}
    assert ours == {"overall": 6, "Code": 3, "Mail": 3}
    text = run("autoj", "--data", pairs, "--resamples", 0, *ONE_IN_BOTH_ORDERS).stdout
    over_all = re.search(r"^agreement\n.*?overall.*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert over_all
    assert re.search(r"^Fennec-bridging .*^fennec-1 \(this", over_all[0], re.MULTILINE | re.DOTALL)


def test_a_part_of_sets_has_some_of_each(pairs: Path):
    told = asked(pairs, *ONE_IN_BOTH_ORDERS, "-n", 4)
    ours = {cell["criterion"]: cell["n"] for cell in told["cells"] if cell["ours"] and cell["statistic"] == "agreement"}
    assert (ours, told["part"]) == ({"overall": 4, "Code": 2, "Mail": 2}, "4 of 6 items, in turn from Code, Mail")


@pytest.mark.parametrize(
    ("many", "said"),
    [
        (3, "3 of 202 items of 2 groups, the last with 1 of its 2"),
        (4, "4 of 202 items of 2 groups, all whole"),
        (202, ""),
        (None, ""),
    ],
)
def test_of_a_part_it_is_said_whether_its_last_group_is_cut(shared: Path, many, said):
    known = collection("bagel")
    assert part_of(known, known.samples(shared / "data/bagel"), many).told == said


@pytest.mark.parametrize("method", ["sageval-cot", "llm-score-cot", "llm-score"])
def test_a_row_is_called_as_the_method_was_asked_for(data: Path, method):
    done = run("qags", "--data", data, "-m", method, "-n", 3, "--resamples", 0)
    assert f"\n{method} (this run)" in done.stdout


def test_json_holds_null_where_there_is_no_number(shared: Path):
    def refuse(word: str) -> None:
        raise AssertionError(word)

    done = run("prometheus", "--data", shared / "data", "-n", 3, "--resamples", 0, "--json")
    assert '"kendall-b"' in done.stdout
    json.loads(done.stdout, parse_constant=refuse)


def test_where_people_s_range_is_not_the_criterion_s_it_is_said(shared: Path):
    from judgegraph.prompts.criteria import criteria_set

    for name in COLLECTIONS:
        known, apart = collection(name), []
        human: dict[str, set[float]] = {}
        for sample in known.samples(folder_of(shared / "data", known)):
            for key, value in sample.human.items():
                human.setdefault(key, set()).update(value if isinstance(value, list) else [value])
        for criterion in criteria_set(known.criteria).criteria:
            found, scale = human.get(criterion.name, {None}), criterion.scale
            apart += (
                [criterion.name] if found != {None} and not scale.low <= min(found) <= max(found) <= scale.high else []
            )
        assert {"qags": ["Consistency"], "mateval": ["Logical Inconsistency"]}.get(name, []) == apart
        assert len(known.notes) == len(apart)
        assert all(criterion.lower() in known.notes[0].lower() for criterion in apart)


def test_notes_of_a_collection_are_printed(data: Path):
    done = run("qags", "--data", data, "-m", "llm-score", "-n", 3, "--resamples", 0)
    assert "share from 0 to 1" in done.stdout


def test_the_list_names_the_files_of_each_collection():
    text = " ".join(run().stdout.split())
    for name in COLLECTIONS:
        known = collection(name)
        assert f"below DIR/{known.folder or name}: {known.files[0]}" in text, name


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
