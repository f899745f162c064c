"""Counting: what is certain, and the ends of the rest, each address once."""

from judgegraph.models.prices import Price
from judgegraph.planning.dry_run import Asked, Tally

A, B = 1, 2  # bits of two manners


def asked(node: str = "n", **about: object) -> Asked:
    return Asked(node, **{"kept": False, "prompt": 10, "completion": 5.0, **about})  # type: ignore[arg-type]


def calls(tally: Tally, node: str = "n") -> tuple[int, int, int, int, int]:
    count = tally.nodes[node]
    more = (count.lowest, count.readable, count.highest)
    low, readable, high = (round(amount.calls) for amount in more)
    return count.exact, count.kept, low, readable, high


def test_what_all_manners_ask_is_certain_and_the_rest_a_range():
    tally = Tally()
    tally.add({A: {b"1": asked(), b"2": asked()}, B: {b"1": asked()}})
    assert calls(tally) == (1, 0, 0, 1, 1)
    assert tally.exact == {b"1"}


def test_the_ends_are_taken_sample_by_sample():
    tally = Tally()
    tally.add({A: {b"1": asked()}, B: {}})
    tally.add({A: {}, B: {b"2": asked()}})
    assert calls(tally) == (0, 0, 0, 2, 2), "never less than 0 or 1 each, though every manner asks once in all"


def test_an_address_counts_once_for_all_samples():
    tally = Tally()
    for _ in range(3):
        tally.add({A: {b"1": asked(), b"2": asked()}, B: {b"1": asked(), b"3": asked()}})
    assert calls(tally) == (1, 0, 1, 1, 1)


def test_what_was_once_asked_by_one_manner_alone_is_not_certain_later_and_the_ends_stay_wide():
    tally = Tally()
    tally.add({A: {b"1": asked()}, B: {}})
    tally.add({A: {b"1": asked()}, B: {b"1": asked()}})
    assert calls(tally) == (0, 0, 0, 2, 2)


def test_several_choices_may_become_a_call_each():
    tally = Tally()
    tally.add({A: {b"1": asked(n=8, most=24)}, B: {b"1": asked(n=8)}})
    assert calls(tally) == (1, 0, 0, 0, 23)
    count = tally.nodes["n"]
    assert (count.certain.prompt, count.certain.completion) == (10, 40)
    assert (count.highest.prompt, count.highest.completion) == (230, 80)


def test_asking_again_is_not_in_the_middle():
    tally = Tally()
    tally.add({A: {b"1": asked(), b"2": asked(again=True)}, B: {b"1": asked()}})
    assert calls(tally) == (1, 0, 0, 0, 1)


def test_what_the_ledger_holds_is_counted_and_costs_nothing():
    tally = Tally()
    price = Price(1.0, 2.0)
    tally.add({A: {b"1": asked(kept=True, price=price), b"2": asked(price=price)}})
    assert calls(tally) == (2, 1, 0, 0, 0)
    assert tally.nodes["n"].certain.parts == (1, 10, 5, 20e-6)
