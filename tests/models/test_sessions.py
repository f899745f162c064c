"""Connections are kept for each event loop."""

from judgegraph.models import http as sessions


class Busy:
    """An event loop of another thread, where a session is opened while this thread looks at it."""

    def is_closed(self):
        sessions._open[object()] = None
        return False


async def test_a_session_that_another_thread_opens_meanwhile_disturbs_nobody(monkeypatch):
    monkeypatch.setattr(sessions, "_open", {Busy(): None, Busy(): None})
    own = await sessions.session()
    assert await sessions.session() is own
    for left in [left for left in sessions._open.values() if left]:
        await left.keeper.aclose()
    assert own.closed
