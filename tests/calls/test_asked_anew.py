"""A run that takes up what failed: what lay in the ledger and cannot be read is asked for once more, and no oftener."""

import pytest

from judgegraph.calls.asking import Form, one_reply, several_replies
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Ledger
from judgegraph.calls.types import Call
from judgegraph.errors import ReplyError
from judgegraph.models.judges import resolve
from judgegraph.testing import scripted

BAD, GOOD = '{"value": "none"}', '{"value": 4}'


def value(reply):
    if reply["value"] == "none":
        raise ValueError("no value")
    return reply["value"]


FORM = Form("f", {"type": "object", "properties": {"value": {}}}, value)


class Asker:
    """Asks the same thing of one judge, by one ledger, as one process after another would."""

    def __init__(self, *script):
        self.model, self.ledger = scripted(*script), Ledger()

    async def ask(self, n=1, anew=False):
        from langchain_core.messages import HumanMessage

        token = context.set(CallContext(ledger=self.ledger, anew=anew))
        call = Call((HumanMessage("How good?"),), FORM.schema, FORM.name, n=n)
        try:
            judge = resolve(self.model)
            found = await several_replies(judge, call, FORM) if n > 1 else [await one_reply(judge, call, FORM)]
            return [reply.value for reply in found]
        except ReplyError as error:
            return error.status
        finally:
            context.reset(token)

    @property
    def count(self):
        return len(self.model.calls)


@pytest.mark.parametrize("n", [1, 3])
async def test_what_cannot_be_read_is_asked_for_anew_and_kept(n):
    asker = Asker(*[BAD] * 99)
    assert await asker.ask(n) == "unreadable"
    asked = asker.count
    assert await asker.ask(n) == "unreadable"
    assert asker.count == asked  # without `anew` the ledger answers
    asker.model.script[asked:] = [GOOD] * 9
    assert await asker.ask(n, anew=True) == [4] * n
    renewed = asker.count
    assert await asker.ask(n) == [4] * n
    assert asker.count == renewed


@pytest.mark.parametrize("n", [1, 3])
async def test_what_was_paid_for_in_this_process_is_not_asked_for_again(n):
    first, second = Asker(*[BAD] * 99), Asker(*[BAD] * 99)
    await first.ask(n)
    await second.ask(n, anew=True)
    assert second.count == first.count


async def test_what_can_be_read_is_not_asked_for_anew():
    asker = Asker(BAD, GOOD)
    assert await asker.ask() == [4]
    assert await asker.ask(anew=True) == [4]
    assert asker.count == 2


async def test_where_asking_anew_fails_too_the_ledger_is_no_poorer():
    asker = Asker(*[BAD] * 99)
    await asker.ask()
    before = asker.ledger.count()
    asker.model.script[asker.count :] = [ValueError("down")] * 9
    assert await asker.ask(anew=True) == "provider_error"
    assert asker.ledger.count() == before
