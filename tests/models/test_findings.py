"""What doctor found is kept by model and address for a month, and read back as it was written or not at all."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judgegraph.calls import Endpoint
from judgegraph.errors import ConfigError
from judgegraph.models.judges import Support, cache_folder, keep, known_support, resolve

SITE = Endpoint(model="openai:m", base_url="http://127.0.0.1:9/v1")
NOW = datetime(2030, 5, 17, tzinfo=UTC)
FOUND = Support(
    json_schema=False, logprobs=True, top_logprobs=5, n=False, tools=True, max_tokens="max_tokens", refused={"seed"}
)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_findings_come_back_as_they_were_kept():
    path = keep(SITE, FOUND, ("n: why",), NOW)
    assert known_support(SITE, NOW) == FOUND
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text())["deviations"] == ["n: why"]
    assert [p for p in path.parent.iterdir() if p != path] == []


@pytest.mark.parametrize(
    "other",
    [
        Endpoint(model="openai:other", base_url=SITE.base_url),
        Endpoint(model="openai:m", base_url="http://127.0.0.1:9/v2"),
        Endpoint(model="openai:m"),
    ],
    ids=["model", "address", "the provider's own"],
)
def test_another_endpoint_knows_nothing_of_it(other):
    keep(SITE, FOUND, now=NOW)
    assert known_support(other, NOW) is None


def test_settings_and_keys_make_no_other_endpoint():
    keep(SITE, FOUND, now=NOW)
    same = Endpoint(model="openai:m", base_url="http://me:word@127.0.0.1:9/v1?key=k", temperature=0.3, api_key_env="X")
    assert known_support(same, NOW) == FOUND


def test_an_address_of_the_environment_is_an_address(monkeypatch):
    keep(SITE, FOUND, now=NOW)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert known_support(Endpoint(model="openai:m"), NOW) == FOUND


@pytest.mark.parametrize(("days", "used"), [(29, True), (31, False), (-0.5, True), (-2, False)])
def test_findings_are_used_for_a_month(days, used):
    keep(SITE, FOUND, now=NOW)
    assert (known_support(SITE, NOW + timedelta(days=days)) is not None) is used


@pytest.mark.parametrize(("days", "lasts"), [(6, True), (8, False)])
def test_what_a_run_finds_out_by_one_refusal_is_believed_for_a_week(days, lasts):
    keep(SITE, FOUND, now=NOW)
    silent = Support(json_schema=False, max_tokens="max_tokens")
    assert known_support(SITE, NOW + timedelta(days=days)) == (FOUND if lasts else silent)


@pytest.mark.parametrize(
    "changed",
    [
        {"top_logprobs": -5}, {"top_logprobs": 100_000}, {"top_logprobs": "5"}, {"json_schema": "yes"}, {"n": 1},
        {"max_tokens": "stop"}, {"refused": ["temperature", "messages"]}, {"refused": "seed"},
    ],
)  # fmt: skip
def test_a_value_that_doctor_never_writes_makes_it_no_finding(changed):
    path = keep(SITE, FOUND, now=NOW)
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "support": {**kept["support"], **changed}}))
    assert known_support(SITE, NOW) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"version": 1}', b"\xff\x00", '{"version": 2}'],
)
def test_a_damaged_file_is_no_finding(text):
    path = keep(SITE, FOUND, now=NOW)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert known_support(SITE, NOW) is None


@pytest.mark.parametrize(
    ("key", "value"), [("version", 2), ("model", "openai:x"), ("address", "http://x"), ("support", {"n": "maybe"})]
)
def test_a_file_of_something_else_is_no_finding(key, value):
    path = keep(SITE, FOUND, now=NOW)
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    assert known_support(SITE, NOW) is None


async def test_a_judge_is_made_with_what_was_found():
    keep(SITE, FOUND)
    assert resolve(SITE).support == FOUND
    assert resolve(Endpoint(model="openai:other", base_url=SITE.base_url)).support == Support()


def test_a_folder_that_cannot_be_written_to_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JUDGEGRAPH_CACHE", str(tmp_path / "file"))
    with pytest.raises(ConfigError, match="file/doctor: Not a directory"):
        keep(SITE, FOUND)
    assert known_support(SITE) is None


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"JUDGEGRAPH_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/judgegraph")),
        ({"HOME": "/c"}, Path("/c/.cache/judgegraph")),
    ],
)
def test_the_cache_folder_is_ones_own_or_the_systems(monkeypatch, variables, folder):
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("JUDGEGRAPH_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == folder
