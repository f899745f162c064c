"""The JSON Schema for editors takes what the reader takes, and sees the mistakes that a schema can see."""

import json
from importlib.resources import files

import pytest
import yaml
from small_files import FILE
from test_broken_files import BROKEN

from judgegraph.graph_files.build import json_schema, known
from judgegraph.graph_files.read import EdgeSpec, GraphSpec, JudgeSpec, NodeSpec

validators = pytest.importorskip("jsonschema_rs")
SHIPPED = list(files("judgegraph.graph_files").joinpath("shipped").iterdir())
SEEN = (  # mistakes of BROKEN that need no knowledge of the whole file
    "a misspelt key", "no name", "a name with a space", "a name that YAML takes for a switch",
    "a criterion without a definition", "an unknown setting", "a setting off its values", "a setting of the wrong kind",
    "a setting of a method off its range", "a judge among the settings", "a misspelt setting of a judge",
    "an edge without an arrow", "a misspelt condition", "a panel of nothing", "no nodes",
)  # fmt: skip


@pytest.fixture(scope="module")
def validator():
    return validators.validator_for(json_schema())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_a_shipped_file_fits(path, validator):
    assert [str(error) for error in validator.iter_errors(yaml.safe_load(path.read_text()))] == []


@pytest.mark.parametrize(
    "text",
    [
        FILE,
        FILE.replace("evaluate: evaluator", "evaluate: {use: my-plugin, with: {anything: [1]}, judge: own}"),
        FILE.replace("critique: {use: sage,", "critique: {use: ./other.yaml, each: criteria,").replace("calls", "x"),
        FILE + "  - {from: [critique], to: rectify, when: {wide: {above: 0.2}}, else: end}\n",
        FILE.replace("evaluator", "{use: panel, with: {judges: {a: strong, b: {use: g-eval}}, combine: vote}}"),
        FILE.replace("evaluator", "{use: escalate, with: {cheap: embedded, strong: strong, when: failed}}"),
    ],
)
def test_what_the_reader_may_take_fits(text, validator):
    assert [str(error) for error in validator.iter_errors(yaml.safe_load(text))] == []


@pytest.mark.parametrize("what", SEEN)
def test_a_mistake_is_seen(what, validator):
    old, new, _ = BROKEN[what]
    assert not validator.is_valid(yaml.safe_load(FILE.replace(old, new, 1)))


def test_it_offers_every_registered_name_and_every_key():
    schema = json_schema()
    offered = schema["$defs"]["NodeSpec"]["properties"]["use"]["anyOf"][0]["enum"]
    assert offered == known()
    assert {"sage", "sageval", "rouge-l", "evaluator", "panel"} <= set(offered)
    assert json.loads(json.dumps(schema)) == schema
    for part, spec in (("NodeSpec", NodeSpec), ("EdgeSpec", EdgeSpec), ("JudgeSpec", JudgeSpec)):
        keys = {field.alias or name for name, field in spec.model_fields.items()}
        assert set(schema["$defs"][part]["properties"]) == keys
    assert set(schema["properties"]) == set(GraphSpec.model_fields)
