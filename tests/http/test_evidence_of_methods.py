"""Every kind of evidence through every method over HTTP, with recorded items that have a reference of their own.

In each request that holds the text to judge the evidence stands in its section, or the sample has a status or the plan
a line that says what is not shown, before anything is paid for.
"""

import re

import pytest

import judgegraph as jg
from judgegraph.bench.prometheus import COLLECTION
from judgegraph.registry import factory

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # one pixel
TURNS = [
    {"role": "user", "content": "When does the ferry leave?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "timetable", "arguments": '{"day": "Monday"}'}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "timetable", "content": "07:40"},
]  # fmt: skip
KINDS = {  # what is added to a sample, the section it stands in, and words that stand there
    "reference": ({}, "reference", ("Reference of its own",)),
    "references": ({"references": ["Another answer."]}, "reference", ("Reference of its own", "[2]\n    Another")),
    "contexts": ({"contexts": {"dock-7": "At 07:40."}}, "contexts", ("[1] id: dock-7", "At 07:40.")),
    "turns": ({"turns": TURNS}, "turns", ("[1] user: When", 'calls timetable (c1): {"day"', "[3] tool timetable")),
    "images": ({"images": [f"data:image/png;base64,{PNG}"]}, "images", ()),
    "facts": ({"facts": {"tier": "gold"}}, "facts", ("tier: gold",)),
}
FOREIGN = {"form": "prometheus2-absolute", "template": "{instruction} {response} {reference_answer} {rubric}\n"}
METHODS = {  # name -> settings
    "sageval": {}, "sageval-sr": {}, "coascore": {}, "fennec": {}, "fennec-pair": {}, "fennec-apart": {},
    "fusion-eval": {}, "fusion-avg-direct": {}, "g-eval": {}, "llm-score": {}, "checkeval": {}, "mateval": {},
    "chateval": {}, "bsm": {}, "poll": {}, "trajectory": {}, "find-fault": {}, "judge-form": {},
    "judge-form verdict": {"form": "verdict"}, "judge-form of others": FOREIGN,
}  # fmt: skip
PAIRS = ("fennec-pair", "fennec-apart", "bsm", "judge-form verdict")
OF_RUNS = ("trajectory", "find-fault")  # which judge turns


@pytest.fixture(scope="module")
def recorded(shared):
    """A recorded response with its reference, and another one to the same request, for each kind of evidence."""
    by_query: dict[str, list[jg.Sample]] = {}
    for sample in COLLECTION.samples(shared / "data/prometheus"):
        by_query.setdefault(sample.meta["group"], []).append(sample)
    return [(one, other) for one, other, *_ in by_query.values() if one.output != other.output][: len(KINDS)]


def samples(method, recorded):
    for (kind, (added, _, _)), (one, other) in zip(KINDS.items(), recorded, strict=True):
        given = one.model_dump(exclude={"human", "meta"}) | {"id": kind}
        given["reference"] = f"Reference of its own, {kind}: {one.reference}"
        given |= {"rival": other.output} if method in PAIRS else {}
        yield jg.Sample.model_validate(given | ({"turns": TURNS} if method in OF_RUNS else {}) | added)


def told(request):
    """The text of a request, and its pictures."""
    parts = []
    for message in request["body"]["messages"]:
        content = message["content"] or ""
        parts += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return "\n".join(p.get("text", "") for p in parts), [p for p in parts if p["type"] == "image_url"]


def section(name, text):
    found = re.search(rf"<{name}-([0-9a-f]{{8}})>\n(.*?)\n</{name}-\1>", text, re.S)
    return found[2] if found else ""


def holds(sample, text):
    """Whether a request has what is judged of a sample: its output, or of a run of an agent the steps."""
    return any(sample.output in section(name, text) for name in ("output", "response", "response_a", "response_b"))


async def judged(method, site, given, **settings):
    graph = factory(method.split()[0])(judge=site.judge(), **METHODS[method])
    run = await jg.aevaluate(graph, given, **settings)
    return graph, run, [told(request) for request in site.seen]


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name] is not FOREIGN])
async def test_every_kind_stands_in_its_section_of_every_request_that_holds_the_text(method, recorded, server):
    given = [*samples(method, recorded)]
    _, run, requests = await judged(method, server("ok"), given)
    assert {item.status for item in run.items} == {"ok"}
    for sample in given:
        _, name, words = KINDS[sample.id]
        if method == "find-fault":  # shows no output, and the reference of its own sample
            mine = [r for r in requests if sample.reference in r[0]]
        else:
            mine = [r for r in requests if holds(sample, r[0])]
        assert mine, sample.id
        for text, images in mine:
            assert sample.reference.splitlines()[0] in section("reference", text), sample.id
            assert all(word in section(name, text) for word in words), (sample.id, section(name, text)[:400])
            assert len(images) == len(sample.images), sample.id
    evidence = re.search(r"\|evidence:([a-z,]+)", run.signature)
    assert evidence is not None
    assert evidence[1].split(",") == ["contexts", "turns", "images", "facts"]
    assert "unshown" not in run.manifest["calls"]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
async def test_what_is_left_out_stands_nowhere_and_the_signature_names_it(method, recorded, server):
    kept = ("turns",) if method in OF_RUNS else ()
    without = [name for name in ("contexts", "turns", "images", "facts") if name not in kept]
    _, run, requests = await judged(
        method, server("ok"), [*samples(method, recorded)], reference=False, without=without
    )
    assert requests or METHODS[method] is FOREIGN  # whose template wants a reference
    hidden = [word for kind, (_, _, words) in KINDS.items() if kind not in kept for word in words]
    assert not [word for text, _ in requests for word in hidden if word in text]
    assert not any(images for _, images in requests)
    for name in ("reference", *without):
        assert f"|{name}:left-out" in run.signature


async def test_a_template_of_others_shows_the_reference_and_the_plan_says_what_it_shows_to_nobody(recorded, server):
    given, site = [*samples("judge-form", recorded)], server("ok")
    graph, run, requests = await judged("judge-form of others", site, given)
    by_id = {item.id: item for item in run.items}
    for sample in given:
        mine = [text for text, _ in requests if sample.output in text]
        assert all(sample.reference.splitlines()[0] in text for text in mine)
        assert bool(mine) == (sample.id != "images")
    assert {score.status for score in by_id["images"].scores} == {"skipped"}
    assert "--no-images" in by_id["images"].scores[0].reason
    lacking = {f"${name} in prometheus2-absolute" for name in ("contexts", "turns", "facts")}
    assert set(run.manifest["calls"]["unshown"]) == lacking
    before = site.count
    plan = await jg.aplan(graph, given)
    assert [line for line in plan.basis if all(one in line for one in lacking)]
    bare = await jg.aplan(graph, given, without=["contexts", "turns", "facts"])
    assert not [line for line in bare.basis if "no place" in line]
    assert site.count == before


async def test_a_sample_that_a_judge_of_runs_cannot_use_is_not_paid_for(server):
    for method in OF_RUNS:
        site = server("ok")
        _, run, _ = await judged(method, site, [jg.Sample(id="1", query="q", output="o", reference="r")])
        (item,) = run.items
        assert {score.status for score in item.scores} == {"skipped"}
        assert "no steps of an agent (turns)" in item.scores[0].reason
        assert site.count == 0
