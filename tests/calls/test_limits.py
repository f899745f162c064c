"""Which limiter a judge has, and what it was told."""

import itertools

import pytest

from judgegraph.calls.limits import Limits, limiter_of
from judgegraph.errors import ConfigError
from judgegraph.models.endpoint import Endpoint
from judgegraph.models.resolve import Judge

_servers = itertools.count()


class Model:
    """A chat model by nothing but its address."""

    def __init__(self, openai_api_base=None):
        self.openai_api_base = openai_api_base


def judge(url=None, name="openai:m", base=None, **limits):
    return Judge(name, Model(base), Endpoint(model=name, base_url=url, **limits), speaks_openai=True)


@pytest.fixture
def url():
    return f"http://127.0.0.1:9/limits{next(_servers)}/v1"


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "many", float("nan")])
@pytest.mark.parametrize("name", ["rpm", "tpm", "in_flight"])
def test_a_limit_is_a_whole_number_of_one_or_more(name, number):
    for make in (Limits, lambda **limit: Endpoint(model="openai:m", **limit)):
        with pytest.raises(ConfigError, match=f"{name} must be a whole number, 1 or more, or None"):
            make(**{name: number})


def test_judges_of_one_model_at_one_address_share_a_limiter(url):
    login = url.replace("://", "://user:word@")
    same = [judge(url), judge(url), judge(url + "/"), judge(login), judge(None, base=url)]
    assert len({id(limiter_of(one)) for one in same}) == 1


def test_another_model_or_address_has_another_limiter(url):
    others = [judge(url), judge(url, name="openai:n"), judge(url + "x"), judge(None, base=url + "y")]
    assert len({id(limiter_of(one)) for one in others}) == 4


@pytest.mark.parametrize(
    ("given", "stands"),
    [
        ([(None, {"rpm": 5})], (5, None)),
        ([(Limits(rpm=5), {})], (5, None)),
        ([(Limits(rpm=5), {"tpm": 7})], (None, 7)),  # the endpoint's own come first, as a whole
        ([(Limits(rpm=5), {}), (None, {})], (5, None)),
        ([(Limits(rpm=5), {}), (Limits(tpm=7), {})], (None, 7)),
        ([(Limits(rpm=5), {}), (Limits(), {})], (None, None)),
        ([(Limits(rpm=5), {}), (Limits(rpm=6), {}), (Limits(rpm=5), {})], (5, None)),
        ([(None, {})], (None, None)),
    ],
)
def test_the_latest_limits_stand_and_none_leaves_them(url, given, stands):
    for limits, own in given:
        limiter = limiter_of(judge(url, **own), limits)
    assert (limiter.rpm, limiter.tpm) == stands
