"""The public face: light to import, and every public name is what it says."""

import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph import graphs, registry

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("langgraph", "langchain_core", "langchain_openai", "openai", "scipy", "networkx", "sacrebleu", "pandas")


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import judgegraph",
        "import judgegraph; judgegraph.Sample(id='a', output='b'); judgegraph.read_rating('4', '1-5')",
        "from judgegraph.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass",
        "from judgegraph.cli import main\ntry: main(['methods'])\nexcept SystemExit: pass",
    ],
    ids=["import", "values and readers", "--help", "methods"],
)
def test_nothing_heavy_is_imported_by(code: str):
    assert not loaded_by(code) & set(HEAVY)


def test_a_method_compiles_no_expressions_that_only_free_text_needs():
    readers = {f"judgegraph.replies.{name}" for name in ("text", "free_text", "choices")}
    assert not loaded_by("from judgegraph.graphs import sageval; sageval()") & readers


def test_every_public_name_is_there_after_every_submodule_was_imported():
    for module in pkgutil.walk_packages(jg.__path__, "judgegraph."):
        import_module(module.name)
    for name in jg.__all__:
        assert getattr(jg, name) is not None
    for name in graphs.__all__:
        assert callable(getattr(graphs, name)), f"judgegraph.graphs.{name} is no factory"


def test_every_method_has_a_factory_a_line_and_an_entry_for_studio():
    assert {*registry.METHODS, *registry.shipped.FORM_METHODS, *registry.shipped.PEER_METHODS} == set(registry.ABOUT)
    listed = json.loads((ROOT / "langgraph.json").read_text())["graphs"]
    assert set(listed) == {*registry.METHODS, *registry.shipped.PEER_METHODS}
    for name in listed:
        assert registry.factory(name)().get_name() == name


async def test_langgraph_json_names_functions_without_arguments_that_build_a_graph():
    for name, target in json.loads((ROOT / "langgraph.json").read_text())["graphs"].items():
        path, _, function = target.partition(":")
        module = import_module(str(Path(path).with_suffix("")).replace("/", "."))
        graph = await getattr(module, function)()
        assert graph.get_name() == name
        assert graph.checkpointer is None


@pytest.mark.parametrize(
    ("then", "now"),
    [("agents.critique_form", "agents.sage"), ("runtime.standing", "traces.read"), ("runtime.run", "runs.run")],
)
def test_modules_that_pages_named_still_import_and_say_where_they_are_now(then, now):
    code = f"import judgegraph.{then} as old, judgegraph.{now} as new; assert old is new"
    done = subprocess.run([sys.executable, "-W", "default", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count(f"DeprecationWarning: judgegraph.{then} is judgegraph.{now} now")) == (
        0,
        1,
    )
