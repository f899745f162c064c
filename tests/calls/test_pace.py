"""How many requests may be in flight: halved once for a round of refusals, one more for a window of answers."""

import pytest

from judgegraph.calls.limits import Pace


def throttled(in_flight, cap=64.0, wait=0.0):
    pace = Pace(cap=cap, room=cap)
    pace.throttled(0, in_flight, 100.0, wait)
    return pace


def test_a_refusal_halves_what_is_in_flight_and_others_of_its_round_do_not():
    pace = throttled(32)
    pace.throttled(0, 20, 100.0, 0.0)
    assert pace.room == 16
    pace.throttled(1, 16, 100.0, 0.0)
    assert pace.room == 8


def test_a_window_of_answers_makes_room_for_one_more():
    pace = throttled(16)
    for window in range(8, 14):
        for _ in range(window):
            pace.answered()
        assert pace.window == pytest.approx(window + 1, abs=0.5)


def test_room_never_passes_the_cap_nor_falls_below_one():
    pace = throttled(2, cap=4.0)
    for _ in range(1000):
        pace.answered()
    assert pace.room == 4
    for _ in range(10):
        pace.throttled(pace.round, 1, 100.0, 0.0)
    assert pace.room == 1


@pytest.mark.parametrize("before", [16, 1])
def test_after_an_outage_each_answer_makes_room_for_one_more_up_to_what_was_in_flight(before):
    pace = Pace()
    pace.reopen(before)
    rooms = []
    for _ in range(max(1, before - 1)):
        rooms.append(pace.room)
        pace.answered()
    assert rooms == list(range(1, max(2, before)))
    assert pace.room == float("inf")  # as it was before the outage


def test_an_outage_that_comes_back_forgets_nothing_of_what_was_learnt_before_it():
    pace = throttled(16)
    pace.reopen(32)
    pace.answered()
    pace.reopen(4)
    for _ in range(31):
        pace.answered()
    assert pace.room == 32


def test_after_an_unanswered_request_as_many_are_in_flight_as_are_answered_in_a_quarter_of_its_time_or_half_as_many():
    pace = Pace(cap=64.0, room=64.0)
    pace.late(0, answered=180, in_flight=64)
    assert pace.room == 45
    pace.late(0, answered=4, in_flight=40)  # it was sent before that
    assert pace.room == 45
    pace.late(1, answered=1, in_flight=40)
    assert pace.room == 20


def test_one_unanswered_request_slows_no_server_that_answers_all_others_in_time():
    pace = Pace(cap=64.0, room=64.0)
    pace.late(0, answered=300, in_flight=64)
    assert (pace.room, pace.round) == (64, 0)


def test_a_server_at_which_requests_wait_is_sent_as_many_as_it_answers_in_a_minute():
    pace = Pace(cap=64.0, room=64.0)
    pace.took(5.0, 0, 0, answered=1, in_flight=60)
    pace.took(45.0, 0, 0, answered=12, in_flight=60)
    assert (pace.room, pace.round) == (16, 1)
    pace.took(60.0, 0, 0, answered=12, in_flight=50)  # it was sent before that
    assert (pace.room, pace.round) == (16, 1)
    pace.took(90.0, 0, 1, answered=2, in_flight=16)
    assert (pace.room, pace.round) == (4, 2)  # these crowd no server


@pytest.mark.parametrize(
    ("quickest", "seconds", "answered"), [(20.0, 45.0, 12), (0.5, 15.0, 2), (5.0, 50.0, 70)],
    ids=["all of them take long", "it took not long", "some are longer than others"],
)  # fmt: skip
def test_a_server_that_answers_all_at_once_is_sent_as_many_as_before(quickest, seconds, answered):
    pace = Pace(cap=64.0, room=64.0)
    pace.took(quickest, 0, 0, answered=1, in_flight=60)
    pace.took(seconds, 0, 0, answered=answered, in_flight=60)
    assert (pace.room, pace.round) == (64, 0)


def test_short_replies_that_take_long_waited_for_their_turn_and_long_ones_did_not():
    pace = Pace(cap=12.0, room=12.0)
    pace.took(5.0, 100, 0, answered=1, in_flight=12)  # 20 tokens a second
    pace.took(90.0, 900, 0, answered=40, in_flight=12)  # written beside others, at half that rate, or at a quarter
    assert (pace.room, pace.round) == (12, 0)
    pace.took(30.0, 50, 0, answered=40, in_flight=12)  # 10 seconds are its own at the most, 5 of waiting would do
    assert (pace.room, pace.round) == (12 * 15 / 30, 1)


def test_what_was_sent_before_a_decrease_or_waited_makes_no_room():
    pace = Pace(cap=12.0, room=12.0)
    pace.took(5.0, 100, 0, answered=1, in_flight=12)
    assert not pace.took(30.0, 50, 0, answered=40, in_flight=12)
    assert not pace.took(8.0, 50, 0, answered=4, in_flight=11)  # it was sent before that
    assert not pace.took(90.0, 50, 1, answered=40, in_flight=3)  # too few are in flight to send fewer
    assert pace.took(8.0, 50, 1, answered=4, in_flight=6)
    pace.answered(at_once=False)
    assert pace.window == 6
    pace.answered()
    assert pace.window > 6


def test_a_reply_of_a_cache_says_nothing_of_how_quickly_a_server_writes():
    pace = Pace(cap=64.0, room=64.0)
    pace.took(0.05, 500, 0, answered=1, in_flight=60)
    assert pace.took(60.0, 2000, 0, answered=60, in_flight=60)  # all of them think for a minute
    assert (pace.room, pace.round) == (64, 0)
