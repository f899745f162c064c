"""A loop whose clock jumps: what waits for a minute is tested in no time."""

import asyncio
import selectors


class Jumping(selectors.SelectSelector):
    """Instead of waiting, the clock jumps to the next timer."""

    now = 1000.0

    def select(self, timeout=None):
        assert timeout is not None, "everybody waits, and nobody will ever be woken"
        self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self):
        self.jumping = Jumping()
        super().__init__(self.jumping)

    def time(self):
        return self.jumping.now


def virtually(work):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
