"""Checkpoints: the serializer that knows our values."""

from __future__ import annotations

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from judgegraph import types


def serializer() -> JsonPlusSerializer:
    """For a checkpointer of yours, such as `InMemorySaver(serde=serializer())`: it reads our values back.

    Without it LangGraph logs a warning for each of them, and refuses them where LANGGRAPH_STRICT_MSGPACK is set. Values
    of your own are added by `serializer().with_msgpack_allowlist([...])`.
    """
    values = [t for t in vars(types).values() if isinstance(t, type) and issubclass(t, types.Value)]
    return JsonPlusSerializer(allowed_msgpack_modules=[(t.__module__, t.__name__) for t in values])
