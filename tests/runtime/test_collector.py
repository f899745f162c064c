"""While a run is under way the collector rests, and afterwards it is as it was before."""

import gc
import weakref

import pytest

from judgegraph.runs.run import THRESHOLDS, seldom


@pytest.fixture(autouse=True)
def _as_it_was():
    before, on = gc.get_threshold(), gc.isenabled()
    gc.set_threshold(700, 10, 10)
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    (gc.enable if on else gc.disable)()


def test_it_runs_seldom_and_is_put_back():
    with seldom():
        assert gc.get_threshold() == THRESHOLDS
        assert gc.get_freeze_count() > 0
    assert (gc.get_threshold(), gc.get_freeze_count()) == ((700, 10, 10), 0)


def test_it_is_put_back_after_an_error():
    with pytest.raises(ValueError, match="x"), seldom():
        raise ValueError("x")
    assert (gc.get_threshold(), gc.get_freeze_count()) == ((700, 10, 10), 0)


def test_of_runs_that_overlap_the_last_one_puts_it_back():
    one, two = seldom(), seldom()
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold() == THRESHOLDS
    two.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize(
    "set_up", [gc.disable, gc.freeze, lambda: gc.set_threshold(50_000), lambda: gc.set_threshold(0)]
)
def test_what_its_owner_arranged_is_left(set_up):
    set_up()
    before = gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 0
    with seldom():
        assert (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 0) == before
    assert (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 0) == before


def test_what_somebody_set_meanwhile_stays():
    with seldom():
        gc.set_threshold(900)
    assert gc.get_threshold()[0] == 900


def test_cycles_made_in_a_run_are_still_collected():
    class Node:
        pass

    with seldom():
        node = Node()
        node.itself = node
        gone = weakref.ref(node)
        del node
        for _ in range(3):
            held = [[] for _ in range(THRESHOLDS[0] + 1000)]
        assert held
        assert gone() is None
