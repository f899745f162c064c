"""The short way to a model is taken where nobody would hear of the call, and never where somebody would."""

from contextvars import ContextVar

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, AsyncCallbackManager
from langchain_core.globals import set_debug
from langchain_core.tracers import context as tracers
from langchain_core.tracers.context import collect_runs
from langsmith import Client
from langsmith.run_helpers import tracing_context

from judgegraph.calls import send as native
from judgegraph.models.judges import Endpoint, resolve

SOMEBODY: ContextVar[AsyncCallbackHandler | None] = ContextVar("somebody", default=None)


@pytest.fixture
async def judge():
    return resolve(Endpoint(model="openai:m", base_url="http://127.0.0.1:9/v1", transport="fast"))


@pytest.fixture
def hook(monkeypatch):
    """Another package's handler, made where its name stands in the environment or its variable is set."""
    monkeypatch.setattr(tracers, "_configure_hooks", [*tracers._configure_hooks])
    native._langchain.cache_clear()
    tracers.register_configure_hook(SOMEBODY, True, AsyncCallbackHandler, "SOMEBODY_LISTENS")
    yield
    native._langchain.cache_clear()


@pytest.mark.parametrize("callbacks", [None, [], AsyncCallbackManager([])], ids=["none", "list", "manager"])
async def test_where_nobody_listens_the_short_way_is_taken(judge, callbacks):
    assert native.direct_call_of(judge, callbacks, {}) is not None


@pytest.mark.parametrize("wrapped", [list, AsyncCallbackManager], ids=["list", "manager"])
async def test_a_handler_in_the_config_is_not_passed_by(judge, wrapped):
    assert native.direct_call_of(judge, wrapped([AsyncCallbackHandler()]), {}) is None


async def test_a_tracer_that_is_switched_on_within_a_node_is_not_passed_by(judge):
    quiet = AsyncCallbackManager([])
    with collect_runs():
        assert native.direct_call_of(judge, quiet, {}) is None
    assert native.direct_call_of(judge, quiet, {}) is not None


async def test_tracing_that_is_switched_on_is_not_passed_by(judge):
    silent = Client(api_url="http://127.0.0.1:9", api_key="k", auto_batch_tracing=False, info={})
    with tracing_context(enabled=True, client=silent):
        assert native.direct_call_of(judge, None, {}) is None


async def test_debugging_that_is_switched_on_is_not_passed_by(judge):
    set_debug(True)
    try:
        assert native.direct_call_of(judge, None, {}) is None
    finally:
        set_debug(False)


async def test_a_handler_of_another_package_is_not_passed_by(judge, hook, monkeypatch):
    assert native.direct_call_of(judge, None, {}) is not None
    monkeypatch.setenv("SOMEBODY_LISTENS", "true")
    assert native.direct_call_of(judge, None, {}) is None
    monkeypatch.delenv("SOMEBODY_LISTENS")
    SOMEBODY.set(AsyncCallbackHandler())
    assert native.direct_call_of(judge, None, {}) is None
