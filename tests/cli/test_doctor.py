"""`judgegraph doctor`, where no server is needed; tests/http has those with one."""

import json

import pytest
from click.testing import CliRunner

from judgegraph.cli import main


def call(*arguments):
    return CliRunner().invoke(main, ["doctor", *arguments])


def test_without_a_judge_the_embedded_one_is_examined():
    done = call()
    assert done.exit_code == 0, done.output
    lines = {line.split("  ")[0]: line for line in done.output.splitlines()}
    assert "heeded" in lines["json_schema"]
    assert "not measured: no address is known" in lines["authentication"]
    assert "nothing was kept: there is no address to remember it by" in done.output


def test_a_probe_that_differs_has_a_line_on_what_it_means():
    found = json.loads(call("--json").output)
    differs = [probe for probe in found["probes"] if probe["ok"] is False]
    assert [probe["name"] for probe in differs] == ["max tokens"]
    assert f"  max tokens: {differs[0]['deviation']}" in call().output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("-j", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--timeout", "5"), 1, "127.0.0.1:9/v1 cannot be"),
        (("-j", "openai:m"), 1, "MY_KEY"),
        (("-j", "nonsense"), 1, "no judge 'nonsense'"),
        (("--base-url", "http://127.0.0.1:9/v1"), 2, "--judge openai:MODEL"),
        (("-j", "openai:m", "--base-url", "127.0.0.1"), 2, "starts with http://"),
        (("--timeout", "0"), 2, "range"),
    ],
    ids=["unreachable", "no key", "no such judge", "no model", "no address", "no time"],
)
def test_what_cannot_be_examined_is_said_in_one_line(monkeypatch, arguments, code, said):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr("judgegraph.calls.call._backoff", lambda _: 0.0)
    done = call(*arguments, "--api-key-env", "MY_KEY")
    assert done.exit_code == code
    assert said in done.output
    assert "Traceback" not in done.output
    assert code == 2 or len(done.output.strip().splitlines()) == 1
