"""Images go to a judge as content parts and never as text; a judge that sees none is not asked for what needs them."""

import base64
import json
import struct
import zlib

import judgegraph as jg
from judgegraph.calls.types import prompt_tokens
from judgegraph.graphs import llm_score
from judgegraph.traces.read import trace_of

KEY = "canary-key-0123456789"


def png():
    """A picture of one pixel, with text beside it so that its data are long."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    text = b"Comment\0" + bytes(range(33, 120)) * 4
    pixel = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(k, d) for k, d in ((b"IHDR", head), (b"tEXt", text), (b"IDAT", pixel), (b"IEND", b""))
    )


def sample(tmp_path):
    (tmp_path / "red.png").write_bytes(png())
    return jg.Sample(
        id="a", query="What is on the picture?", output="A red pixel.",
        images=[str(tmp_path / "red.png"), "https://example.org/blue.png"],
    )  # fmt: skip


CRITERIA = [jg.Criterion(name="Accuracy", definition="The output says what the picture shows.")]


async def test_they_are_sent_as_parts_and_kept_nowhere_as_text(server, tmp_path):
    site = server("ok")
    out = tmp_path / "run"
    graph = llm_score(judge=site.judge(), criteria=CRITERIA)
    run = await jg.aevaluate(graph, [sample(tmp_path)], out=out)
    assert [score.status for item in run.items for score in item.scores] == ["ok"]
    content = site.seen[0]["body"]["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "image_url"]
    data = base64.b64encode(png()).decode()
    assert content[1]["image_url"]["url"] == f"data:image/png;base64,{data}"
    assert content[2]["image_url"]["url"] == "https://example.org/blue.png"
    assert "[1] " in content[0]["text"]
    assert "red.png" in content[0]["text"]
    assert data not in content[0]["text"]
    for path in out.iterdir():
        assert data.encode() not in path.read_bytes(), path.name
    asked = json.dumps(trace_of(run, "a").root.to_dict())
    assert "[image image/png, " in asked
    assert "|evidence:images" in run.signature
    again = await jg.aevaluate(graph, [sample(tmp_path).model_copy(update={"id": "b"})], ledger=out / "ledger.sqlite")
    assert [score.status for item in again.items for score in item.scores] == ["ok"]
    assert site.count == 1  # the same picture has the same address


async def test_a_judge_that_is_said_to_see_none_is_not_asked(server, tmp_path):
    site = server("ok")
    graph = llm_score(judge=site.judge(vision=False), criteria=CRITERIA)
    run = await jg.aevaluate(graph, [sample(tmp_path)])
    (item,) = run.items
    assert item.status == "skipped"
    assert "openai:stub cannot see" in item.reason
    assert site.count == 0
    left_out = await jg.aevaluate(graph, [sample(tmp_path)], without=["images"])
    assert [score.status for one in left_out.items for score in one.scores] == ["ok"]
    assert isinstance(site.seen[0]["body"]["messages"][-1]["content"], str)


async def test_where_some_judge_of_a_graph_sees_the_others_answers_are_skipped(server, tmp_path):
    site = server("ok")
    blind = jg.judge_agent("blind", "You look.", judge="embedded")
    seeing = jg.judge_agent("seeing", "You look.", judge=site.judge())
    run = await jg.aevaluate(jg.jury(blind, seeing, criteria=CRITERIA), [sample(tmp_path)])
    (item,) = run.items
    by = {score.agent: score for score in item.scores if score.agent in ("blind", "seeing")}
    assert by["seeing"].status == "ok"
    assert by["blind"].status == "skipped"
    assert "sees no images" in by["blind"].reason


def test_the_embedded_judge_sees_none(tmp_path):
    run = jg.evaluate(llm_score(criteria=CRITERIA), [sample(tmp_path)])
    (item,) = run.items
    assert item.status == "skipped"


async def test_an_image_counts_by_its_size_on_the_screen_not_by_its_data(tmp_path):
    from langchain_core.messages import HumanMessage

    big = base64.b64encode(b"\0" * 3_000_000).decode()
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{big}"}}
    assert prompt_tokens([HumanMessage([{"type": "text", "text": "See."}, part])]) < 2_000


async def test_a_schema_in_words_leaves_the_picture_a_part(server, tmp_path):
    site = server("no-schema")
    graph = llm_score(judge=site.judge(), criteria=CRITERIA)
    await jg.aevaluate(graph, [sample(tmp_path)])
    for request in site.seen:
        for message in request["body"]["messages"]:
            texts = [p["text"] for p in message["content"] if p["type"] == "text"] if isinstance(
                message["content"], list) else [message["content"]]  # fmt: skip
            assert base64.b64encode(png()).decode()[:60] not in json.dumps(texts)


async def test_a_prompt_beyond_the_window_is_not_sent(server):
    site = server("ok")
    graph = llm_score(judge=site.judge(window=2_000), criteria=CRITERIA)
    samples = [jg.Sample(id="long", output="x", contexts=["word " * 4_000]), jg.Sample(id="short", output="x")]
    run = await jg.aevaluate(graph, samples)
    by_id = {item.id: item for item in run.items}
    assert {score.status for score in by_id["long"].scores} == {"too_large"}
    assert "the window of openai:stub is 2,000" in by_id["long"].scores[0].reason
    assert {score.status for score in by_id["short"].scores} == {"ok"}
    assert site.count == 1
    kept = await jg.aevaluate(graph, samples, without=["contexts"])
    assert {score.status for item in kept.items for score in item.scores} == {"ok"}


async def test_a_price_file_may_name_the_window(server, tmp_path):
    site = server("ok")
    (tmp_path / "prices.yaml").write_text('prices:\n  "openai:stub": {prompt: 0, completion: 0, window: 2000}\n')
    graph = llm_score(judge=site.judge(), criteria=CRITERIA)
    long = [jg.Sample(id="long", output="x", contexts=["word " * 4_000])]
    run = await jg.aevaluate(graph, long, prices=tmp_path / "prices.yaml")
    assert {score.status for item in run.items for score in item.scores} == {"too_large"}
    assert site.count == 0
