"""A wrong argument is told in one line, before anything is opened."""

import os
import threading

import pytest
from small import fine, graph_of, samples

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"limits": 3}, "limits is Limits, such as .*; got 3"),
        ({"budget": 5}, "budget is a Budget, such as .*; got 5"),
        ({"stop": True}, "stop is a threading.Event, or None; got True"),
        ({"prices": 3}, "prices is Prices"),
        ({"on_item": 3}, "on_item is a function of one argument"),
        ({"on_progress": "x"}, "on_progress is a function"),
        ({"concurrency": 1.5}, "concurrency is 1 or more, a whole number; got 1.5"),
        ({"concurrency": "4"}, "concurrency is 1 or more"),
        ({"concurrency": True}, "concurrency is 1 or more"),
        ({"timeout": "5"}, "timeout is more than 0 seconds; got '5'"),
        ({"timeout": None}, "timeout is more than 0 seconds; got None"),
        ({"ledger": "a\0b"}, "ledger is the path of a file"),
        ({"ledger": 7}, "ledger is the path of a file"),
        ({"ledger": ""}, "ledger is the path of a file"),
        ({"out": "a\0b"}, "a run's folder has a name"),
        ({"out": 7}, "a run's folder has a name"),
        ({"out": b"bytes"}, "a run's folder has a name"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else "",
)
def test_a_wrong_setting_is_named(settings, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"out": tmp_path / "run", **settings}
    with pytest.raises(ConfigError, match=said) as raised:
        jg.evaluate(graph_of(fine), samples(1), **given)
    assert "\n" not in str(raised.value)
    assert os.listdir(tmp_path) == []


async def asynchronous():
    yield samples(1)[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "got None"),
        (5, "got 5"),
        ({"id": "a"}, "got {'id'"),
        (asynchronous(), "an async generator is read first"),
    ],
    ids=["nothing", "a number", "a row", "an async generator"],
)
def test_what_holds_no_samples_is_told_so(given, said, tmp_path):
    with pytest.raises(DataError, match=f"samples are an iterable of Sample.*{said}"):
        jg.evaluate(graph_of(fine), given, out=tmp_path / "run")
    assert os.listdir(tmp_path) == []


def test_a_pipe_is_no_data_file_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "data.jsonl")
    found = []

    def load():
        with pytest.raises(DataError, match="is no file, but a pipe"):
            jg.load(tmp_path / "data.jsonl")
        found.append(True)

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    thread.join(5)
    assert found == [True]


@pytest.mark.parametrize("path", ["a\0b", None, 5])
def test_a_run_is_not_loaded_from_what_is_no_path(path):
    with pytest.raises(ConfigError, match="a run's folder has a name"):
        jg.Run.load(path)
