"""Packages of other people: found by entry point, loaded when asked for, never the end of anything but themselves."""

import json
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import judgegraph as jg
from judgegraph import registry
from judgegraph.errors import ConfigError
from judgegraph.graphs import fusion_eval, sageval
from judgegraph.runs.identity import configuration, signature
from judgegraph.tools import DEFAULTS
from judgegraph.types import Criterion, Sample

SHIPPED_FILES = sorted(Path(str(files("judgegraph.graph_files").joinpath("shipped"))).iterdir())
SAMPLE = Sample(id="s", query="Say when it opens.", source="It opens in May.", output="The bridge opens in May.")


def told(kind, name):
    with pytest.raises(ConfigError) as error:
        registry.load(kind, name)
    assert "\n" not in str(error.value)
    return str(error.value)


async def test_a_packages_critic_is_swapped_in_by_its_name(packages):
    packages.critic("strict-critic", "strict")
    graph = sageval(criteria=[Criterion(name="Clarity")], critic="strict")
    state = await graph.ainvoke({"sample": SAMPLE})
    scores = {s.stage: s for s in state["scores"].values()}
    assert scores["final"].agent == "strict"
    assert scores["final"].value == pytest.approx(max(1.0, scores["draft"].value - 1))


def test_names_are_known_before_anything_is_imported(packages):
    module = packages.critic("strict-critic", "strict")
    assert "strict" in registry.names("critic")
    assert registry.part_of("critic", "strict").brought_by == "strict-critic 1.0"
    assert module not in sys.modules
    assert registry.load("critic", "strict").__name__ == "Strict"
    assert module in sys.modules


@pytest.mark.parametrize(
    "code",
    [
        "import judgegraph",
        "import judgegraph.cli, judgegraph.registry",
        pytest.param(
            "import judgegraph as jg; from judgegraph import registry; assert 'strict' in registry.names('critic')\n"
            "graph = registry.factory('sageval')(criteria='general')\n"
            "run = jg.evaluate(graph, [jg.Sample(id='s', query='q', output='A text.')]); assert run.items",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["import", "the command line", "a run with the default critic"],
)
def test_a_package_is_not_imported_by(packages, code):
    module = packages.critic("strict-critic", "strict")
    done = packages.run(code=f"{code}\nimport sys; assert {module!r} not in sys.modules")
    assert done.returncode == 0, done.stderr


def test_the_import_of_this_package_reads_no_entry_points(packages):
    done = packages.run(
        code="import judgegraph, sys; judgegraph.critic; assert 'importlib.metadata' not in sys.modules"
    )
    assert done.returncode == 0, done.stderr


FAILS = {
    "an import that is not there": ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    "an exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "a syntax error": ("def (", "SyntaxError: invalid syntax"),
    "an error of two lines": ("raise ValueError('one\\n\\x1b[31mtwo')", "ValueError: one \\x1b[31mtwo"),
    "an error without a message": (
        "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", "disabled: package broken 1.0",
    ),
    "no such attribute": ("", "AttributeError: module 'broken_part' has no attribute 'Strict'"),
    "nothing to call": ("Strict = 3", "it is an object of type int, which cannot be called"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "why"), FAILS.values(), ids=FAILS)
def test_a_package_that_fails_disables_itself_with_a_line(packages, code, why):
    packages.critic("broken", "broken", code=code)
    packages.critic("sound", "sound")
    said = told("critic", "broken")
    assert said.startswith("critic 'broken' is disabled: package broken 1.0, entry point 'broken_part:Strict': ")
    assert why in said
    assert told("critic", "broken") == said
    assert registry.load("critic", "sound")
    assert registry.load("critic", "sage")


def test_a_stop_at_a_packages_import_stops(packages):
    packages.critic("slow", "slow", code="raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        registry.load("critic", "slow")


def test_two_packages_of_one_name_are_both_named_with_the_cure(packages):
    packages.critic("alpha", "strict")
    packages.critic("beta", "strict")
    packages.critic("gamma", "mild")
    assert told("critic", "strict") == (
        "2 critics are called 'strict': alpha 1.0 (alpha_part:Strict) and beta 1.0 (beta_part:Strict); uninstall one, "
        "or write alpha:strict or beta:strict"
    )
    assert registry.load("critic", "alpha:strict").__module__ == "alpha_part"
    assert registry.load("critic", "Beta:strict").__module__ == "beta_part"
    assert registry.load("critic", "mild").__module__ == "gamma_part"
    assert "alpha_part" in registry.make("critic", "alpha:strict").__module__


def test_a_package_against_ours_clashes_only_where_the_name_is_asked_for(packages):
    packages.critic("alpha", "sage")
    said = told("critic", "sage")
    assert "judgegraph 0.1.0 (judgegraph.agents.sage:Sage) and alpha 1.0 (alpha_part:Strict)" in said
    assert "judgegraph:sage or alpha:sage" in said
    assert registry.load("critic", "judgegraph:sage").__name__ == "Sage"
    assert sageval(criteria=[Criterion(name="Clarity")])
    assert sageval(critic="judgegraph:sage")


def test_the_same_name_of_two_kinds_is_no_clash(packages):
    packages.critic("alpha", "evaluator")
    assert registry.load("critic", "evaluator").__name__ == "Strict"
    assert registry.load("agent", "evaluator").__name__ == "Evaluator"
    with pytest.raises(
        ConfigError,
        match=r"of an agent of judgegraph .* and of a critic of alpha 1.0: write agent/evaluator or critic/",
    ):
        registry.find_agent("evaluator")
    assert registry.find_agent("critic/evaluator")[0] == "critic"


BROKEN = "[judgegraph.{kind}s]\n{name} = nowhere_at_all:X\n"


@pytest.mark.parametrize(("kind", "name"), [("critic", "sage"), ("agent", "rectify"), ("assistant", "chrf")])
def test_a_package_that_cannot_be_imported_takes_no_name_away(packages, kind, name):
    packages.add("broken", BROKEN.format(kind=kind, name=name))
    assert registry.load(kind, name) is registry.load(kind, f"judgegraph:{name}")
    assert "is disabled: package broken 1.0" in told(kind, f"broken:{name}")


def test_a_package_that_cannot_be_imported_takes_no_name_of_another_kind_away(packages):
    packages.add("broken", BROKEN.format(kind="agent", name="sage"))
    assert registry.find("sage") == ("critic", "sage")
    assert registry.find("agent/sage") == ("agent", "sage")


def test_of_two_packages_that_cannot_be_imported_the_first_says_so(packages):
    packages.add("broken", BROKEN.format(kind="critic", name="strict"))
    packages.add("gone", BROKEN.format(kind="critic", name="strict") + BROKEN.format(kind="agent", name="strict"))
    assert "is disabled: package broken 1.0" in told("critic", "strict")
    assert registry.find("strict") == ("agent", "strict")


@pytest.mark.parametrize("where", ["", "_inner"], ids=["the same path", "another path"])
def test_a_decorator_on_what_the_entry_point_names_is_no_clash(packages, where):
    code = packages.code.replace(
        "@dataclass(frozen", "import judgegraph as jg\n@jg.critic('strict')\n@dataclass(frozen"
    )
    modules = {"alpha_part": "from alpha_inner import Strict", "alpha_inner": code} if where else {"alpha_part": code}
    packages.add("alpha", "[judgegraph.critics]\nstrict = alpha_part:Strict\n", **modules)
    for _ in range(2):  # before and after the decorator ran
        assert registry.load("critic", "strict").__name__ == "Strict"
    (part,) = [p for p in registry.parts("critic") if p.name == "strict"]
    assert part.brought_by == "alpha 1.0"


def test_a_decorator_of_ones_own_beside_a_package_is_a_clash(packages):
    packages.critic("alpha", "strict")

    @registry.register("critic", "strict")
    class Mine:
        async def __call__(self, state): ...

    said = told("critic", "strict")
    assert "alpha 1.0 (alpha_part:Strict)" in said
    assert "Mine)" in said
    assert registry.load("critic", "alpha:strict").__name__ == "Strict"


HOSTILE = "\x1b[31mred\x1b[0m"


def test_a_name_that_no_part_can_have_is_listed_and_never_asked_for(packages):
    packages.critic("hostile", HOSTILE)
    packages.critic("spaced", "two words")
    assert HOSTILE not in registry.names("critic")
    faults = {part.name: part.fault for part in registry.parts("critic") if part.fault}
    assert faults == dict.fromkeys((HOSTILE, "two words"), "a name is 1 to 64 letters, digits, '_' or '-'")
    said = told("critic", HOSTILE)
    assert "\x1b" not in said
    assert "is disabled" in said


def test_hostile_packages_drive_no_terminal(packages):
    packages.critic("hostile", HOSTILE)
    packages.add(f"evil{HOSTILE}", "[judgegraph.critics]\nevil = evil_part:Strict\n", evil_part="raise SystemExit")
    code = packages.code.replace("Takes a point", f"{HOSTILE.encode('unicode_escape').decode()} takes a point")
    packages.critic("doc", "doc", code=code)
    for command in (("agents",), ("agents", "--json"), ("show", "sageval", "--critic", "evil")):
        done = packages.call(*command)
        assert "\x1b" not in done.stdout + done.stderr
    assert "disabled: entry point 'evil_part:Strict': SystemExit" in packages.call("agents").stdout


@pytest.mark.parametrize(
    ("points", "fault"),
    [
        ("[judgegraph.critics]\nno equals sign\n", "its entry_points.txt cannot be read: "),
        ("[judgegraph.critics]\nhalf = module_only\n", "it does not say module:attribute"),
        ("[judgegraph.critics]\nodd = mod ule:x y z!\n", "it does not say module:attribute"),
        ("[judgegraph.critics]\nempty =\n", "it does not say module:attribute"),
    ],
)
def test_a_malformed_file_of_entry_points_harms_only_its_package(packages, points, fault):
    packages.add("odd", points)
    packages.critic("sound", "sound")
    assert registry.load("critic", "sound")
    (part,) = [part for part in registry.parts("critic") if part.package == "odd"]
    assert part.fault.startswith(fault)
    assert packages.call("methods").exit_code == 0


def test_a_package_without_metadata_is_told_by_a_question_mark(packages):
    packages.critic("bare", "bare", code="")
    (packages.site / "bare-1.0.dist-info/METADATA").unlink()
    assert "is disabled: package ?, entry point 'bare_part:Strict'" in told("critic", "bare")


def test_a_package_that_lies_on_the_path_twice_counts_once(packages, tmp_path, monkeypatch):
    packages.critic("alpha", "strict")
    second = tmp_path / "second"
    second.mkdir()
    monkeypatch.syspath_prepend(str(second))
    type(packages)(second).critic("alpha", "strict")
    assert registry.load("critic", "strict").__module__ == "alpha_part"


def test_methods_and_assistants_and_agents_of_packages_are_found_too(packages):
    code = (
        "from judgegraph.graphs import sageval\n"
        "def short(judge='embedded', samples: int = 1):\n    'Shorter.'\n    return sageval(judge, samples=samples)\n"
        "def shout(sample):\n    'Share of capitals.'\n    return sum(map(str.isupper, sample.output))\n"
    )
    groups = "[judgegraph.methods]\nshort = parts_of:short\n[judgegraph.assistants]\nshout = parts_of:shout [extra]\n"
    packages.add("parts", f"{groups}[judgegraph.agents]\nstrict = strict_part:Strict\n", parts_of=code,
                 strict_part=packages.code)  # fmt: skip
    from judgegraph.tools import assistant

    assert registry.factory("short")().get_name() == "sageval"
    assert registry.factory("parts:short") is registry.factory("short")
    assert (assistant("shout").name, assistant("shout").about) == ("shout", "Share of capitals.")
    assert assistant("shout")(Sample(id="s", output="ABc")) == 2
    assert registry.find_agent("strict")[0] == "agent"
    assert registry.find_agent("parts:short")[0] == "method"
    listed = json.loads(packages.call("methods", "--json").stdout)["short"]
    assert (listed["package"], listed["version"], listed["about"]) == ("parts", "1.0", "Shorter.")
    assert listed["reads"][0] == "sample"


OURS = {
    "critic": ("sage", "sageval"), "agent": ("evaluator", "rectify", "rater", "gate"),
    "method": ("llm-score",), "assistant": ("rouge-l", "chrf"),
}  # fmt: skip


def test_packages_with_our_names_leave_our_defaults_and_our_files_as_they_are(packages):
    packages.add("greedy", "".join(
        f"[judgegraph.{kind}s]\n" + "".join(f"{name} = greedy_part:Strict\n" for name in listed)
        for kind, listed in OURS.items()
    ), greedy_part=packages.code)  # fmt: skip
    made = {"critique": jg.critique(), "refine": jg.refine(), "fusion-eval": fusion_eval()}
    made |= {path.stem: jg.load_graph(path) for path in SHIPPED_FILES}
    assert {name for name, graph in made.items() if "greedy" in str(configuration(graph))} == set()


@pytest.mark.parametrize("path", SHIPPED_FILES, ids=lambda path: path.stem)
def test_a_shipped_file_is_configured_as_one_with_the_plain_names(path, tmp_path):
    plain = tmp_path / path.name
    plain.write_text(path.read_text().replace("judgegraph:", ""))
    assert "judgegraph:" in path.read_text()
    assert configuration(jg.load_graph(path)) == configuration(jg.load_graph(plain))
    assert signature(jg.load_graph(path)) == signature(jg.load_graph(plain))


@pytest.mark.parametrize("helper", [jg.critique, jg.refine])
def test_the_default_critic_is_configured_as_sage(helper):
    assert configuration(helper()) == configuration(helper("sage"))
    assert signature(helper()) == signature(helper("sage"))


def test_the_default_assistants_are_configured_as_those_of_their_names():
    named = fusion_eval(assistants=tuple(name.partition(":")[2] for name in DEFAULTS))
    assert configuration(fusion_eval()) == configuration(named)


def test_a_new_package_takes_no_name_that_a_package_has_given(packages, tmp_path):
    packages.critic("alpha", "strict")
    said = packages.call("new", "critic", "Strict", "--into", tmp_path / "new").output
    assert said == "ConfigError: 'strict' is taken: the critic of alpha 1.0 is called so; choose another name\n"
