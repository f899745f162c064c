"""Samples as plain mappings, and factories in files that import what lies beside them."""

import subprocess
import sys
from typing import get_type_hints

import pytest

import judgegraph as jg
from judgegraph.errors import DataError
from judgegraph.graphs import llm_score
from judgegraph.registry.lookup import factory

DEPTH = jg.Criterion(name="Depth")
ROWS = [{"id": "1", "query": "Why?", "output": "So.", "team": "blue"}, {"id": "2", "output": {"a": 1}}]


def test_a_mapping_of_fields_is_a_sample():
    run = jg.evaluate(llm_score(criteria=[DEPTH]), ROWS)
    assert [(item.sample.id, item.sample.meta) for item in run.items] == [("1", {"team": "blue"}), ("2", {})]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"id": "1", "output": 5.5}], "sample 1: output: .*write Sample"),
        ([ROWS[0], {"id": "2"}], "sample 2: output"),
        ([ROWS[0], ROWS[0]], "samples 1 and 2 have the same id"),
        ([{"id": "1", "ouput": "So."}], "sample 1: output: .*'ouput': did you mean 'output'?"),
        ([ROWS[0], ROWS[1] | {"qurey": "Why?"}], "sample 2: 'qurey' is no field of a sample: did you mean 'query'?"),
        ([ROWS[1] | {"context": ["So it is."]}], "did you mean 'contexts'?.* write it into meta"),
        ([5], "samples hold a int where a Sample should be"),
    ],
)
def test_what_is_none_is_told_with_its_number(rows, why):
    with pytest.raises(DataError, match=why):
        jg.evaluate(llm_score(criteria=[DEPTH]), rows)


async def test_a_graph_takes_no_misspelt_field_and_a_meta_that_says_so_is_the_callers_own():
    graph = llm_score(criteria=[DEPTH])
    with pytest.raises(DataError, match=r"'Rivall' is no field of a sample: did you mean 'rival'\?"):
        await graph.ainvoke({"sample": ROWS[1] | {"Rivall": "No."}})
    for own in ({"meta": {"qurey": 1}}, {"query": "Why?", "qurey": "x"}, {"queries": 3}):
        assert next(iter((await jg.aevaluate(graph, [ROWS[1] | own])).items)).status == "ok"


@pytest.mark.slow
def test_a_file_imports_its_neighbours_from_anywhere(tmp_path):
    (tmp_path / "wordings_of_ours.py").write_text('WORDS = "You look for what is missing."\n')
    (tmp_path / "mine.py").write_text(
        "import judgegraph as jg\nfrom wordings_of_ours import WORDS\n\n\n"
        "def factory():\n    return jg.jury({'a': WORDS, 'b': 'You look for what helps.'}, criteria='general')\n"
    )
    command = [sys.executable, "-m", "judgegraph", "check", f"{tmp_path / 'mine.py'}:factory"]
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60)
    assert (done.returncode, "jury: wired" in done.stdout) == (0, True), done.stderr


def test_two_files_have_neighbours_of_their_own_though_they_share_a_name(tmp_path):
    """Modules and packages, imported at once or when a function runs; what only one folder has is not the other's."""
    found = {}
    for folder in ("one", "other"):
        (tmp_path / folder / "pack_of_ours" / "inner").mkdir(parents=True)
        for place in ("namesake_of_ours.py", "late_of_ours.py", "pack_of_ours/__init__.py", "pack_of_ours/inner/x.py"):
            (tmp_path / folder / place).write_text(f"NAME = {folder!r}\n")
        (tmp_path / folder / f"only_of_{folder}.py").write_text("")
        (tmp_path / folder / "mine.py").write_text(
            "import pack_of_ours.inner.x as inner\nfrom namesake_of_ours import NAME\nimport pack_of_ours as pack\n\n\n"
            "class State:\n    pass\n\n\ndef factory():\n    import late_of_ours\n"
            "    return NAME, pack.NAME, inner.NAME, late_of_ours.NAME\n\n\n"
            "def reads(state: 'State'):\n    pass\n\n\ndef others():\n    import only_of_one\n"
        )
        found[folder] = factory(f"{tmp_path / folder / 'mine.py'}:factory")
    for folder in ("one", "other", "one"):
        assert found[folder]() == (folder,) * 4
    both = [get_type_hints(made.__globals__["reads"])["state"] for made in found.values()]
    assert both == [made.__globals__["State"] for made in found.values()]
    with pytest.raises(ModuleNotFoundError):
        found["other"].__globals__["others"]()


def test_a_file_that_fails_is_told_by_its_path_with_what_to_do(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("VALUE = 3\n")
    with pytest.raises(jg.ConfigError, match=r"mine\.py has no function 'VALUE'"):
        factory(f"{path}:VALUE")
    path.write_text("from .beside import WORDS\n")
    with pytest.raises(jg.ConfigError, match=r"write 'import b' for 'from \. import b'"):
        factory(f"{path}:factory")
