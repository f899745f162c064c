"""What went wrong with a request, and whether it is sent again."""

from types import SimpleNamespace

import pytest

from judgegraph.calls.send import classify, retry_after

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


def http(status, text="said", headers=None, **more):
    error = Exception(text)
    error.status_code = status
    error.response = SimpleNamespace(headers=headers or {})
    vars(error).update(more)
    return error


def named(name, base=Exception, text="said"):
    return type(name, (base,), {})(text)


@pytest.mark.parametrize(
    ("error", "status", "retry", "fatal"),
    [
        (http(400), "provider_error", False, False),
        (http(422), "provider_error", False, False),
        (http(400, "content_filter"), "filtered", False, False),
        (http(400, code="content_filter"), "filtered", False, False),
        (http(401), "provider_error", False, True),
        (http(403), "provider_error", False, True),
        (http(404), "provider_error", False, True),
        (http(403, "this model requires moderation, and your input was flagged"), "filtered", False, False),
        (http(403, "content policy violation"), "filtered", False, False),
        (ValueError({"message": "overloaded", "code": 502}), "provider_error", True, False),
        (http(408), "provider_error", True, False),
        (http(409), "provider_error", True, False),
        (http(429), "provider_error", True, False),
        (http(429, "insufficient_quota"), "provider_error", False, True),
        (http(500), "provider_error", True, False),
        (http(529), "provider_error", True, False),
        (TimeoutError(), "timeout", True, False),
        (named("APITimeoutError"), "timeout", True, False),
        (named("APIConnectionError"), "provider_error", True, False),
        (ConnectionResetError(), "provider_error", True, False),
        (OSError("no route"), "provider_error", True, False),
        (named("JSONDecodeError", ValueError), "provider_error", True, False),
        (named("LengthFinishReasonError"), "truncated", False, False),
        (named("ContentFilterFinishReasonError"), "filtered", False, False),
        (TypeError("null value for 'choices'"), "provider_error", True, False),
        (ValueError("a bug"), "provider_error", False, False),
    ],
    ids=lambda one: one if isinstance(one, str) else f"{type(one).__name__}-{getattr(one, 'status_code', '')}",
)
def test_a_fault_is_judged_by_its_kind(error, status, retry, fatal):
    fault = classify(error, lambda: NOW)
    assert (fault.status, fault.retry, fault.fatal) == (status, retry, fatal)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "300"}, 300.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:15:20 GMT"}, 120.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:15:20 -0000"}, 120.0),
        ({"retry-after": "Tue, 14 Nov 2023 23:15:20 +0100"}, 120.0),
        ({"retry-after": "Tue, 14 Nov 2023 21:00:00 GMT"}, 0.0),
        ({"retry-after": "Tue, 14 Nov 2023 21:02:00 GMT", "Date": "Tue, 14 Nov 2023 21:00:00 GMT"}, 120.0),
        ({"retry-after": "Wed, 15 Nov 2023 01:02:00 GMT", "date": "Wed, 15 Nov 2023 01:00:00 GMT"}, 120.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:15:20 GMT", "date": "some time"}, 120.0),
        ({"retry-after": "7", "date": "Tue, 14 Nov 2023 21:00:00 GMT"}, 7.0),
        ({"retry-after": "1", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
    ],
    ids=lambda one: str(one)[:60],
)
def test_the_wait_is_what_the_server_asked_for(headers, wait):
    assert retry_after(headers, lambda: NOW) == wait
    assert classify(http(429, headers=headers), lambda: NOW).wait == wait


def test_a_wait_of_over_an_hour_is_told_and_not_waited_for():
    fault = classify(http(429, headers={"retry-after": "86400"}))
    assert (fault.retry, "86400 s" in fault.message) == (False, True)


def test_a_message_is_one_short_line_without_keys():
    error = http(500, "line\nsk-abcdefgh12345\x1b[31m mine-1234 Bearer abcdefgh1234 http://u:p@h/ " + "x" * 9999)
    message = classify(error, secrets=("mine-1234",)).message
    assert len(message) <= 300
    assert message.startswith("Exception: line ***\\x1b[31m *** Bearer *** http://***@h/ xxx")


def test_a_connection_error_says_what_it_came_from():
    error = named("APIConnectionError", text="Connection error.")
    error.__cause__ = OSError("name not known")
    assert classify(error).message == "APIConnectionError: Connection error. (OSError: name not known)"
