"""The public face: light to import, and every public name is what it says."""

import inspect
import json
import pkgutil
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgegraph as jg
from judgegraph import graphs, registry
from judgegraph.errors import JudgegraphError
from judgegraph.evidence import Value

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


MADE_BY_US = {"Drawing", "Prices", "Reading", "Run", "RunComparison", "RunDiff", "UnderReview", "Wiring"}  # results
ASKED_OFTEN = {"ask", "find", "find_all", "merged", "rate"}  # at every call: what they are given is looked at inside


def with_settings(front: str) -> list[tuple[str, Any, list[str]]]:
    """(name, what it is, its settings) of what a user calls with settings by name."""
    home, found = import_module(front), []
    for name in sorted({*home.__all__} - MADE_BY_US - ASKED_OFTEN):
        thing = getattr(home, name)
        if isinstance(thing, type) and issubclass(thing, Value):
            found.append((name, thing, [*thing.model_fields]))
        elif callable(thing) and not (isinstance(thing, type) and issubclass(thing, BaseException | dict)):
            kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            with suppress(ValueError):  # a name for an annotation
                takes = inspect.signature(thing).parameters.values()
                found.append((name, thing, [one.name for one in takes if one.kind in kinds]))
    return [one for one in found if one[2]]


async def make(thing: Any, **settings: Any) -> None:
    made = thing(**settings)
    if inspect.isawaitable(made):
        await made


@pytest.mark.parametrize("front", ["judgegraph", "judgegraph.agents", "judgegraph.graphs", "judgegraph.tools"])
async def test_a_misspelt_setting_of_anything_public_is_refused_with_the_name_that_was_meant(front):
    told = {}
    for name, thing, settings in with_settings(front):
        longest = max(settings, key=len)
        with pytest.raises(JudgegraphError) as refused:
            await make(thing, **{f"{longest}{longest[-1]}": 3})
        told[name] = str(refused.value)
    unsaid = {name for name, text in told.items() if "did you mean '" not in text}
    assert unsaid <= {"debate", "each", "measure", "orders"}  # what they lack comes first: they take settings of others
    assert len(told) > 5


@pytest.mark.parametrize("front", ["judgegraph", "judgegraph.agents", "judgegraph.graphs"])
async def test_what_no_setting_takes_is_refused_by_name_and_not_as_python_would(front):
    for name, thing, settings in with_settings(front):
        if name not in ("failed", "never_empty"):
            with pytest.raises(JudgegraphError):
                await make(thing, **dict.fromkeys(settings, object()))


def test_a_value_is_refused_in_one_sentence_without_an_address():
    wrong = {
        "Criterion has no field 'description'; did you mean 'definition'?": lambda: jg.Criterion(
            name="x", description="y"
        ),
        "Sample has no field 'ouput'; did you mean 'output'?": lambda: jg.Sample(id="1", ouput="x"),
        "Criterion: scale: a numeric scale needs low < high, got '5-1'": lambda: jg.Criterion(name="x", scale="5-1"),
        "Scale: a numeric scale needs low < high, got '5-1'": lambda: jg.Scale.of("5-1"),
        "Scale takes its fields by name (low=, high=, whole=, labels=, halves=, values=), or Scale.of('1-5')": (
            lambda: jg.Scale("1-5")
        ),
        "Score: value: Input should be a valid number, got 'good'": (
            lambda: jg.Score(criterion="x", agent="a", value="good")
        ),
    }
    for said, make in wrong.items():
        with pytest.raises(JudgegraphError) as refused:
            make()
        assert str(refused.value) == said


def test_what_can_be_gone_through_is_taken_where_a_list_is(tmp_path: Path):
    one, two = (jg.Criterion(name=name, scale="1-5", levels=zip([1, 5], ["low", "high"], strict=True)) for name in "ab")
    assert one.levels == (("1", "low"), ("5", "high"))
    for given in ([one, two], iter([one, two]), {"x": one, "y": two}.values(), (each for each in (one, two))):
        assert len(jg.criteria_set(given).criteria) == 2
    table = tmp_path / "scores.csv"
    table.write_text("id,h1,h2,m\n" + "".join(f"{n},{n % 5},{n % 4},{n % 5}\n" for n in range(12)))
    for names in (["h1", "h2"], ("h1", "h2"), np.array(["h1", "h2"])):
        found = jg.read_table(table, human=names, metrics=["m"])
        jg.agreement(found, coefficients=["pearson"], resamples=50)
    assert jg.Reader("mean", samples=np.int64(4)).samples == 4
    for wrong in (int, np.array([1, 2])):
        with pytest.raises(jg.ConfigError, match="samples"):
            jg.Reader("mean", samples=wrong)  # type: ignore[arg-type]
