"""What is learnt from an error, and what is not: one that may pass teaches nothing but where it comes twice."""

import pytest

from judgegraph.calls.send import fall_back, learn_schema
from judgegraph.calls.types import Choice
from judgegraph.models.judges import Support

SENT = {"logprobs": True, "top_logprobs": 20, "response_format": {}, "n": 3, "tools": [], "temperature": 0}
WORDS = "logprobs, response_format, 'n', tools are not supported, 'temperature' is not supported"


def http(status, text, param=None):
    error = Exception(text)
    error.status_code, error.param = status, param
    return error


@pytest.mark.parametrize("status", [408, 409, 429, 502, 504, 529, None])
def test_an_error_that_may_pass_teaches_nothing_whatever_it_says(status):
    support = Support()
    assert not any(fall_back(support, SENT, http(status, WORDS)) for _ in range(3))
    assert support == Support()


@pytest.mark.parametrize("status", [500, 503])
def test_a_broken_server_that_repeats_the_prompt_switches_no_logprobs_off(status):
    support = Support()
    error = http(status, "failed while processing: an essay on logprobs and top_logprobs")
    assert not any(fall_back(support, SENT, error) for _ in range(3))
    assert support == Support()


@pytest.mark.parametrize("status", [400, 404, 422, 501])
def test_a_refusal_teaches_at_once(status):
    support = Support()
    assert fall_back(support, SENT, http(status, "response_format json_schema is not supported"))
    assert support.json_schema is False


@pytest.mark.parametrize("error", [http(500, "json_schema: grammar failed"), http(503, "broken", "response_format")])
def test_a_server_that_breaks_of_a_schema_twice_on_end_is_sent_none(error):
    support = Support()
    assert not fall_back(support, SENT, error)
    assert support.json_schema is None
    learn_schema(support, [Choice('{"a": 1}', "stop")])  # it was chance
    assert not fall_back(support, SENT, error)
    assert support.json_schema is True
    assert fall_back(support, SENT, error)
    assert support.json_schema is False


def test_a_request_without_a_schema_says_nothing_of_schemas():
    support = Support()
    assert not any(fall_back(support, {"n": 2}, http(500, "json_schema")) for _ in range(3))
    assert support == Support()
