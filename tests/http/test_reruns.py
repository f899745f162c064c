"""A rerun on a warm ledger sends nothing, in whatever order it asks and whatever is known of the judge by then."""

import asyncio
import random

import pytest

from judgegraph.calls import Reader, Slot, rate, replies
from judgegraph.calls.asking import ratings_form
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.ledger import Ledger
from judgegraph.models.judges import Support, keep, resolve
from judgegraph.prompts.template import slugs
from judgegraph.types import Criterion, Scale

FORM = ratings_form(slugs([Criterion(name="Clarity")]))
SLOTS = {"clarity": Slot(Scale(low=1, high=5), ("clarity",))}
SERVERS = ["ok", "one-choice", "no-n", "null-logprobs", "no-logprobs", "no-schema", "prose", "null-beside-schema"]
LACKS = Support(json_schema=False, logprobs=False, n=False)


async def sampled(judge, text):
    return [reply.value for reply in await replies(judge, text, FORM, n=3)]


async def weighted(judge, text):
    found = await rate(judge, text, FORM, SLOTS, Reader("weighted", samples=3))
    return found.value, found.answers["clarity"].value, found.answers["clarity"].reader, found.values


def asked(judge, ledger, way, seed, *, width=None, count=20):
    """What is answered to each question by a process of its own, which asks in an order of its own."""

    async def run():
        order = random.Random(seed)
        questions = order.sample(range(count), count)
        doors = asyncio.Semaphore(width or order.choice([1, 2, 7, 20]))
        token = context.set(CallContext(width=order.choice([1, 4, None]), ledger=Ledger(ledger)))

        async def one(number):
            async with doors:
                return await way(judge, f"Judge text {number}.")

        try:
            return dict(zip(questions, await asyncio.gather(*map(one, questions)), strict=True))
        finally:
            context.get().ledger.close()
            context.reset(token)

    return asyncio.run(run())


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("way", [sampled, weighted])
@pytest.mark.parametrize("script", SERVERS)
def test_a_rerun_in_another_order_and_width_sends_nothing(server, tmp_path, script, way, seed):
    site, ledger = server(script), tmp_path / "calls.sqlite"
    first = asked(site.judge(), ledger, way, seed)
    sent = site.count
    assert sent >= 20
    assert asked(site.judge(), ledger, way, seed + 100) == first
    assert asked(site.judge(), ledger, way, seed + 200) == first
    assert site.count == sent


@pytest.mark.parametrize("way", [sampled, weighted])
@pytest.mark.parametrize("script", SERVERS)
@pytest.mark.parametrize("known", [(None, LACKS), (LACKS, None), (LACKS, Support(True, True, 20, True))])
@pytest.mark.sampled(6)
def test_a_rerun_sends_nothing_whatever_is_known_of_the_judge_by_then(server, tmp_path, script, way, known):
    site, ledger, runs = server(script), tmp_path / "calls.sqlite", []
    for seed, findings in enumerate(known):
        keep(site.judge(), findings or Support())
        runs.append((asked(site.judge(), ledger, way, seed, count=5), site.count))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("script", ["one-choice", "no-n"])
@pytest.mark.long
def test_a_run_that_was_broken_off_pays_for_the_missing_choices_alone(server, tmp_path, script):
    site, ledger = server(script), tmp_path / "calls.sqlite"
    keep(site.judge(), Support(n=False))

    async def broken_off(judge, text):
        try:
            async with asyncio.timeout(0.25):
                await sampled(judge, text)
        except TimeoutError:
            pass

    slow = server(f"{script},{script},slow=2")
    keep(slow.judge(), Support(n=False))
    asked(slow.judge(), ledger, broken_off, 0, width=1, count=1)
    assert slow.count == 3
    keep(slow.judge(), Support())
    asked(slow.judge(), ledger, sampled, 1, count=1)
    assert slow.count == 4


def test_samples_of_a_method_that_takes_means_say_nothing_of_log_probabilities(server, tmp_path):
    site, ledger = server("ok"), tmp_path / "calls.sqlite"

    async def mean(judge, text):
        return (await rate(judge, text, FORM, SLOTS, Reader("mean", samples=3))).answers["clarity"].reader

    assert set(asked(site.judge(), ledger, mean, 0, count=3).values()) == {"samples"}
    assert {found[2] for found in asked(site.judge(), ledger, weighted, 0, count=3).values()} == {"logprobs"}


def test_replies_of_a_ledger_do_not_teach_that_a_schema_is_heeded(server, tmp_path):
    site, ledger, seen = server("prose"), tmp_path / "calls.sqlite", []
    keep(site.judge(), Support(json_schema=False))
    asked(site.judge(), ledger, sampled, 0, count=3)
    keep(site.judge(), Support())

    async def noted(judge, text):
        await sampled(judge, text)
        seen.append(resolve(judge).support.json_schema)

    asked(site.judge(), ledger, noted, 0, count=3)
    assert seen == [None, None, None]
