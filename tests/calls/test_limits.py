"""Which limiter a judge has, and what it was told."""

import itertools

import pytest

from judgegraph.calls.limits import Limits, limiter_of, limits_of_run
from judgegraph.errors import ConfigError
from judgegraph.models.judges import Endpoint, Judge

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
        with pytest.raises(ConfigError, match=f"{name}:? (must be|expected) a whole number"):
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


def test_of_several_runs_the_strictest_of_each_limit_holds_while_they_are_open(url):
    one, seen = judge(url), []

    def asked(limits):
        limiter = limiter_of(one, limits)
        seen.append((limiter.rpm, limiter.tpm))

    with limits_of_run(Limits(rpm=3)) as slow:
        asked(slow)
        with limits_of_run(Limits(rpm=1000, tpm=50)) as quick:
            for _ in range(2):
                asked(quick)
                asked(slow)
        asked(slow)
        asked(quick)  # a call that outlives its run
    asked(None)
    assert seen == [(3, None), *[(3, 50)] * 4, (3, None), (3, None), (None, None)]


def test_a_runs_limits_hold_only_where_it_asks(url):
    with limits_of_run(Limits(rpm=3)) as slow, limits_of_run(Limits(rpm=1000)) as quick:
        assert limiter_of(judge(url), slow).rpm == 3
        assert limiter_of(judge(url + "x"), quick).rpm == 1000


def test_two_runs_with_the_same_limits_end_apart(url):
    same = Limits(rpm=3)
    with limits_of_run(same) as one:
        limiter_of(judge(url), one)
        with limits_of_run(same) as other:
            limiter_of(judge(url), other)
        assert limiter_of(judge(url), one).rpm == 3
    assert limiter_of(judge(url)).rpm is None


def test_an_endpoints_own_limits_outlive_a_run_and_the_stricter_hold_beside_it(url):
    with limits_of_run(Limits(rpm=5)) as limits:
        assert limiter_of(judge(url), limits).rpm == 5
        assert [limiter_of(judge(url, rpm=7), limits).rpm, limiter_of(judge(url), limits).rpm] == [5, 5]
        assert limiter_of(judge(url, rpm=2), limits).rpm == 2
        assert limiter_of(judge(url, rpm=9), limits).rpm == 5
    assert limiter_of(judge(url)).rpm == 9
    with limits_of_run(Limits(rpm=20)) as limits:
        assert limiter_of(judge(url), limits).rpm == 20  # the later given, where none was open
