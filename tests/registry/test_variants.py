"""A variant is its method with settings of its own: wherever a name stands, in a run's records, and in the docs."""

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import judgegraph as jg
from judgegraph import registry
from judgegraph.calls.ledger import Ledger
from judgegraph.cli import main
from judgegraph.compose.nodes import as_node
from judgegraph.errors import ConfigError
from judgegraph.registry import METHODS, VARIANTS, factory
from judgegraph.registry import shipped as table
from judgegraph.runs.identity import configuration, signature
from judgegraph.types import Sample

ROOT = Path(__file__).resolve().parents[2]
PLAIN = {**table.OF_SAGEVAL, **table.OF_COASCORE, **table.OF_LLM_SCORE, **table.OF_G_EVAL}  # need no more settings
SAMPLES = [Sample(id=f"s{i}", query="When does it open?", source="It opens in May.", output="In May.") for i in "12"]
FILES = {"sageval": "forms"}
DOCS = ROOT / "docs/variants.md"


def ledger_rows(path):
    with closing(Ledger(path)) as ledger:
        return ledger.count()


def call(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)), env={"COLUMNS": "80"})


def test_a_variant_has_a_name_of_its_own_a_method_and_a_source():
    for name, variant in VARIANTS.items():
        assert variant.method in {**METHODS, **table.PEER_METHODS}
        assert re.fullmatch(r"[a-z0-9-]{1,64}", name)
        assert all(name not in shipped for shipped in registry.shipped.SHIPPED.values())
        assert variant.about, name
        assert "\n" not in variant.about
        assert variant.source, name
        assert variant.settings, name
        assert registry.find(name) == ("method", name)


def test_it_is_its_method_with_the_settings_given_by_hand_and_not_as_it_is():
    """Ten aspects are CoAScore as it is."""
    plain = {method: configuration(factory(method)()) for method in {VARIANTS[name].method for name in PLAIN}}
    for name in PLAIN:
        variant = VARIANTS[name]
        by_name, by_hand = factory(name)(), factory(variant.method)(**variant.settings)
        assert configuration(by_name) == configuration(by_hand)
        assert signature(by_name) == signature(by_hand)
        assert (configuration(by_name) == plain[variant.method]) == (name == "coascore-10"), name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PLAIN)
def test_what_it_asked_is_in_the_ledger_for_the_settings_by_hand(name, tmp_path):
    ledger, variant = tmp_path / "calls.sqlite", VARIANTS[name]
    criteria = {"criteria": FILES.get(variant.method, "summary")}
    first = jg.evaluate(factory(name)(**criteria), SAMPLES, ledger=ledger)
    paid = ledger_rows(ledger)
    again = jg.evaluate(factory(variant.method)(**criteria, **variant.settings), SAMPLES, ledger=ledger)
    assert {item.status for item in first.items} == {"ok"}
    assert [dict(row) for row in first.scores()] == [dict(row) for row in again.scores()]
    assert ledger_rows(ledger) == paid > 0


def test_a_run_goes_on_under_the_settings_by_hand_and_under_no_others(tmp_path):
    jg.evaluate(factory("coascore-random")(), SAMPLES[:1], out=tmp_path / "run")
    run = jg.evaluate(factory("coascore")(scores="random"), SAMPLES, out=tmp_path / "run")
    assert [item.id for item in run.items] == ["s1", "s2"]
    with pytest.raises(jg.JudgegraphError, match="RandomRater -> not there"):
        jg.evaluate(factory("coascore-no-scores")(), SAMPLES, out=tmp_path / "run")


def test_a_setting_given_by_hand_comes_before_its_own():
    assert configuration(factory("coascore-5")(aspects=7)) == configuration(factory("coascore")(aspects=7))
    shown = call("run", "coascore-5", ROOT / "examples/articles.jsonl", "--limit", 1, "-s", "aspects=7", "--json")
    assert "aspects:7" in json.loads(shown.stdout)["signature"]
    assert "critic:sage" in signature(factory("sageval-sr")(critic="sage"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["coascore-5", "-s", "aspects=0"], "coascore-5: aspects: expected a whole number from 1 to 100, got 0"),
        (["coascore-5", "-s", "aspect=7"], "coascore-5 has no setting aspect; did you mean 'aspects'?"),
        (["coascore-6"], "no method 'coascore-6'; did you mean 'coascore-5'"),
        (["coascore-no-scores", "-s", "fuse=average"], "fuse: 'average' needs scores"),
        (["coascore-inter", "-s", "chain=other"], "expected 'generated' or 'inter', got 'other'"),
        (["g-eval-20", "-s", "top_p=2"], "top_p: expected a number from 0 to 1 or none, got 2.0"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_wrong_setting_is_told_by_the_variants_name(arguments, said):
    done = call("check", *arguments)
    assert done.exit_code == 1
    assert said in " ".join(f"{done.output} {done.exception}".split())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", PLAIN)
def test_it_is_run_checked_and_planned_by_its_name(name):
    data = ROOT / f"examples/{'forms' if VARIANTS[name].method == 'sageval' else 'articles'}.jsonl"
    ran = call("run", name, data, "--limit", 2, "--json")
    assert ran.exit_code == 0, ran.output
    means = [row["mean"] for row in json.loads(ran.stdout)["scores"] if row["mean"] is not None]
    assert means
    assert all(1 <= mean <= 5 for mean in means)
    for command in (("check", name), ("plan", name, data, "--limit", 2), ("show", name)):
        done = call(*command)
        assert done.exit_code == 0, done.output


def test_it_is_a_node_of_a_graph_file(tmp_path):
    text = """\
name: nested
criteria: general
nodes:
  five: {use: coascore-5, with: {fuse: average}}
  reflect: {use: judgegraph:sageval-sr, with: {samples: 1}}
edges:
  - start -> five -> end
  - start -> reflect -> end
"""
    (tmp_path / "nested.yaml").write_text(text)
    nested = configuration(jg.load_graph(tmp_path / "nested.yaml"))
    assert nested["nodes.five/chain/propose.options.count"] == 5
    assert nested["nodes.five/chain/fuse"] == "Average"
    assert nested["nodes.reflect/critique"] == "SelfReflection"
    (tmp_path / "nested.yaml").write_text(text.replace("fuse: average", "aspects: 0"))
    with pytest.raises(ConfigError, match=r"aspects': expected a whole number from 1 to 100"):
        jg.load_graph(tmp_path / "nested.yaml")


def test_what_is_offered_to_it_leaves_its_own_settings_alone():
    node = as_node("g-eval-20", samples=3, judge="embedded")
    assert configuration(node)["nodes.score.reader"] == "mean:20:p1@t1"
    assert configuration(as_node("g-eval-20", {"samples": 3}))["nodes.score.reader"] == "mean:3:p1@t1"
    assert configuration(as_node("g-eval", samples=3))["nodes.score.reader"] == "weighted:3@t1"


def test_it_sits_on_a_panel_under_its_name():
    panel = jg.panel("coascore-5", "llm-score-cot", criteria="general")
    assert jg.check(panel).ok
    assert {"panel-coascore-5", "panel-llm-score-cot"} <= {*panel.builder.nodes}


def test_a_package_with_a_method_of_its_name_is_told_apart_as_from_any_method_of_ours(packages):
    code = "from judgegraph.graphs import llm_score\ndef mine():\n    'Mine.'\n    return llm_score()\n"
    packages.add("alpha", "[judgegraph.methods]\ncoascore-5 = fives_part:mine\n", fives_part=code)
    with pytest.raises(ConfigError, match="write judgegraph:coascore-5 or alpha:coascore-5"):
        factory("coascore-5")
    assert factory("judgegraph:coascore-5")().get_name() == "coascore"
    assert factory("alpha:coascore-5")().get_name() == "llm-score"
    rows = json.loads(packages.call("methods", "--json").stdout)
    assert rows["judgegraph:coascore-5"]["settings"] == {"aspects": 5}
    assert rows["alpha:coascore-5"]["about"] == "Mine."


def test_a_package_that_cannot_be_used_leaves_it_its_plain_name(packages):
    packages.add("broken", "[judgegraph.methods]\ncoascore-5 = nowhere_at_all:X\n")
    assert factory("coascore-5")().get_name() == "coascore"


def test_the_list_says_what_each_is_of_which_method_and_where_it_is_from():
    rows = json.loads(call("methods", "--json").output)
    for name, variant in VARIANTS.items():
        row = rows[name]
        assert (row["method"], row["settings"]) == (variant.method, dict(variant.settings))
        assert (row["about"], row["source"]) == (variant.about, variant.source)
        assert (row["reads"], row["writes"]) == (rows[variant.method]["reads"], rows[variant.method]["writes"])
    assert "method" not in rows["sageval"]
    lines = call("methods").output.splitlines()
    assert [line.split()[0] for line in lines[lines.index("variants") + 1 :]] == list(VARIANTS)  # a line each
    assert "(coascore, aspects=5; Gong & Mao 2023" in " ".join(call("methods", "-v").output.split())


def documented():
    """Name -> (settings, source) of every row of the tables; "the same, ..." is of the source of the row above."""
    rows, above = {}, ""
    for name, settings, source in re.findall(r"^\| `([a-z0-9-]+)` \| (.*?) \| (.*?) \|$", DOCS.read_text(), re.M):
        source = source.replace("the same,", f"{above.partition(':')[0]}:")
        rows[name], above = (settings, source), source
    return rows


def test_the_docs_list_every_row_and_no_other():
    rows = documented()
    assert set(rows) == {*VARIANTS, *METHODS, *table.PEER_METHODS}
    assert {settings for name, (settings, _) in rows.items() if name not in VARIANTS} == {"none"}


def test_the_docs_say_of_a_row_what_it_sets_and_where_it_is_from():
    rows = documented()
    for name, variant in VARIANTS.items():
        settings, source = rows[name]
        said = re.findall(r"`(\w+)=([^`]*)`", settings)
        assert sorted(said) == sorted((key, str(value).lower()) for key, value in variant.settings.items()), name
        assert source == re.sub(r"^.*?arXiv:[\d.]+(, |: )", "", variant.source)  # the paper heads the table
