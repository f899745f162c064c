"""Exports made by the formats' own libraries, of one agent's run: the same steps from each, and back without loss."""

import json

import forecaster
import pytest

import judgegraph as jg
from judgegraph.agent_runs.formats import as_records, read_trajectories, trajectories, trajectory
from judgegraph.evidence import turns_text

STEPS = """\
[1] user: Should I take an umbrella to Oslo today?
[2] assistant calls weather (call-1): {"city": "Osl"}
[3] tool weather (call-1), error: Error: ValueError('no such city: Osl')
     Please fix your mistakes.
[4] assistant: That was misspelt.
[4] assistant calls weather (call-2): {"city": "Oslo"}
[4] assistant calls search (call-3): {"query": "Oslo"}
[5] tool weather (call-2): Oslo: rain, 7 degrees
[6] tool search (call-3): nothing found
[7] assistant: Yes: rain is forecast for Oslo, at 7 degrees."""


def steps(sample):
    """As a judge reads them, without the agents' names, which some formats have and others have not."""
    bare = [turn.model_copy(update={"agent": ""}) for turn in sample.turns]
    return turns_text(bare)


def sound(sample, format):
    assert sample.query == forecaster.QUESTION
    assert sample.output == forecaster.ANSWER
    assert sample.meta["trajectory"]["format"] == format
    again = jg.Sample.model_validate_json(sample.model_dump_json())
    assert again == sample
    assert as_records(again) == as_records(sample)


def plain(value):
    from langchain_core.load import dumpd

    return json.loads(json.dumps(value, default=lambda one: dumpd(one) if hasattr(one, "lc_id") else str(one)))


def test_message_objects_and_states_of_langgraph():
    from langchain_core.load import dumpd
    from langchain_core.messages import messages_to_dict

    state = forecaster.run()
    sample = trajectory(state)
    assert steps(sample) == STEPS
    sound(sample, "langchain")
    assert as_records(sample)["messages"] == messages_to_dict(state["messages"])
    assert sample.turns[-1].usage == {"input_tokens": 90, "output_tokens": 12, "total_tokens": 102}
    assert sample.turns[-1].id == "ai-3"
    dumped = dumpd(state["messages"])
    assert steps(trajectory(dumped)) == STEPS
    assert as_records(trajectory(dumped)) == dumped


def test_calls_that_could_not_be_read_and_artifacts_stay():
    from langchain_core.messages import AIMessage, ToolMessage, messages_to_dict

    bad = {"name": "weather", "args": '{"city": ', "id": "c1", "error": "no JSON", "type": "invalid_tool_call"}
    messages = [AIMessage("", invalid_tool_calls=[bad]), ToolMessage("x", tool_call_id="c1", artifact={"raw": [1]})]
    sample = trajectory(messages)
    (call,) = sample.turns[0].calls
    assert (call.name, call.arguments, call.more["invalid"], call.more["error"]) == (
        "weather",
        '{"city": ',
        True,
        "no JSON",
    )
    assert as_records(sample) == messages_to_dict(messages)


def test_openai_messages_come_back_as_they_were():
    openai = pytest.importorskip("openai.types.chat", reason="skipped: openai is not installed")
    from langchain_core.messages import convert_to_openai_messages

    messages = convert_to_openai_messages(forecaster.run()["messages"])
    said = openai.ChatCompletionMessage(role="assistant", content="Bye.", refusal=None, annotations=[]).model_dump()
    messages = [*messages, said]
    sample = trajectory(messages)
    assert as_records(sample) == messages
    assert sample.turns[1].calls[0].name == "weather"
    assert sample.output == "Bye."
    document = {"id": "chat-1", "messages": messages, "tools": [{"type": "function", "function": {"name": "weather"}}]}
    whole = trajectory(document)
    assert as_records(whole) == document
    assert whole.id == "chat-1"
    assert whole.facts["tools"][0]["function"]["name"] == "weather"


def langsmith_runs():
    from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

    collector = RunCollectorCallbackHandler(_schema_format="original+chat")
    forecaster.agent().invoke({"messages": [("user", forecaster.QUESTION)]}, config={"callbacks": [collector]})
    (root,) = collector.traced_runs

    def told(run):
        found = plain(run.model_dump(exclude={"child_runs", "parent_run", "client", "ls_client"}))
        return {**found, "child_runs": [told(one) for one in run.child_runs]}

    return told(root)


def test_langsmith_as_a_tree_and_as_a_flat_list(tmp_path):
    tree = langsmith_runs()
    tree["feedback"] = [{"key": "helpfulness", "score": 1}]
    sample = trajectory(tree)
    assert steps(sample) == STEPS
    sound(sample, "langsmith")
    assert sample.human == {"helpfulness": 1.0}

    def flat(run):
        yield {key: value for key, value in run.items() if key != "child_runs"}
        for child in run["child_runs"]:
            yield from flat(child)

    runs = [*flat(tree)]
    shuffled = trajectory(runs[::-1])
    assert steps(shuffled) == STEPS
    assert as_records(shuffled) == runs[::-1]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(run) + "\n" for run in runs))
    assert [steps(one) for one in read_trajectories(path)] == [STEPS]


def exporter():
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    return memory, provider


def test_openinference():
    told = pytest.importorskip(
        "openinference.instrumentation.langchain",
        reason="skipped: openinference-instrumentation-langchain is not installed",
    )
    memory, provider = exporter()
    instrumentor = told.LangChainInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        forecaster.run()
    finally:
        instrumentor.uninstrument()
    spans = [json.loads(span.to_json()) for span in memory.get_finished_spans()]
    sample = trajectory(spans)
    assert steps(sample) == STEPS
    sound(sample, "openinference")
    assert as_records(sample) == spans


def test_opentelemetry_genai(monkeypatch):
    handlers = pytest.importorskip(
        "opentelemetry.util.genai.handler", reason="skipped: opentelemetry-util-genai is not installed"
    )
    from opentelemetry.util.genai import types

    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    memory, provider = exporter()
    handler = handlers.TelemetryHandler(tracer_provider=provider)
    history = [types.InputMessage(role="user", parts=[types.TextPart(content=forecaster.QUESTION)])]
    results = iter(forecaster.run()["messages"])
    with handler.invoke_local_agent(agent_name="forecaster"):
        for message in results:
            if message.type == "tool":
                with handler.tool(message.name, tool_call_id=message.tool_call_id) as tool:
                    tool.tool_result = message.content
                part = types.ToolCallResponsePart(response=message.content, id=message.tool_call_id)
                history.append(types.InputMessage(role="tool", parts=[part]))
            elif message.type == "ai":
                parts = [types.TextPart(content=message.content)] if message.content else []
                parts += [
                    types.ToolCallRequestPart(arguments=c["args"], name=c["name"], id=c["id"])
                    for c in message.tool_calls
                ]
                with handler.inference("openai", request_model="m") as call:
                    call.input_messages = list(history)
                    call.output_messages = [types.OutputMessage(role="assistant", parts=parts, finish_reason="stop")]
                history.append(types.InputMessage(role="assistant", parts=parts))
    spans = [json.loads(span.to_json()) for span in memory.get_finished_spans()]
    sample = trajectory(spans)
    assert steps(sample) == STEPS.replace("), error", ")")  # these spans do not say that the tool failed
    sound(sample, "otel")
    assert as_records(sample) == spans
    assert {turn.agent for turn in sample.turns if turn.role == "assistant"} == {"forecaster"}


def test_otlp_json_of_our_own_exporter_and_older_spellings():
    def attribute(key, value):
        kind = "intValue" if isinstance(value, int) else "stringValue"
        return {"key": key, "value": {kind: str(value)}}

    span = {
        "traceId": "t", "spanId": "a", "name": "chat m", "startTimeUnixNano": "5",
        "attributes": [attribute("gen_ai.operation.name", "chat"), attribute("gen_ai.usage.input_tokens", 7),
                       attribute("gen_ai.prompt", json.dumps([{"role": "user", "content": "Hi?"}])),
                       attribute("gen_ai.completion", json.dumps([{"role": "assistant", "content": "Hello."}]))],
    }  # fmt: skip
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    sample = trajectory(document)
    assert [(turn.role, turn.text) for turn in sample.turns] == [("user", "Hi?"), ("assistant", "Hello.")]
    assert sample.turns[1].usage == {"input_tokens": 7}


def test_langfuse():
    api = pytest.importorskip("langfuse.api", reason="skipped: langfuse is not installed")
    from langchain_core.messages import convert_to_openai_messages

    messages = convert_to_openai_messages(forecaster.run()["messages"])
    made, at = [], 0

    def observed(**fields):
        nonlocal at
        at += 1
        stamp = f"2026-01-01T00:00:{at:02d}Z"
        about = {"id": f"o{at}", "trace_id": "t1", "start_time": stamp, "project_id": "p", "level": "DEFAULT",
                 "environment": "default", "parent_observation_id": "o1" if at > 1 else None}  # fmt: skip
        made.append(json.loads(api.ObservationV2.model_validate({**about, **fields}).model_dump_json()))

    observed(type="AGENT", name="forecaster", input=json.dumps(messages[:1]), output=forecaster.ANSWER)
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            observed(type="GENERATION", name="think", input=json.dumps(messages[:place]), output=json.dumps(message))
        elif message["role"] == "tool":
            failed = {"level": "ERROR", "status_message": message["content"]} if "Error" in message["content"] else {}
            observed(type="TOOL", name=message["name"], output=message["content"], **failed)
    sample = trajectory(made)
    assert steps(sample) == STEPS
    sound(sample, "langfuse")
    score = {"name": "helpful", "value": 1, "source": "ANNOTATION"}
    judged = trajectory(
        {"id": "t1", "observations": made, "scores": [score, {**score, "name": "auto", "source": "EVAL"}]}
    )
    assert judged.human == {"helpful": 1.0}


def test_atif():
    atif = pytest.importorskip("nat.atif", reason="skipped: nvidia-nat-atif is not installed")
    made, number = [], 0
    results = {m.tool_call_id: m for m in forecaster.run()["messages"] if m.type == "tool"}
    for message in forecaster.run()["messages"]:
        if message.type == "tool":
            continue
        number += 1
        step = {"step_id": number, "source": "user" if message.type == "human" else "agent", "message": message.content}
        if message.type == "ai" and message.tool_calls:
            step["tool_calls"] = [
                atif.ToolCall(tool_call_id=c["id"], function_name=c["name"], arguments=c["args"])
                for c in message.tool_calls
            ]
            told = [(c["id"], results[c["id"]].content) for c in message.tool_calls]
            given = [atif.ObservationResult(source_call_id=id, content=content) for id, content in told]
            step["observation"] = atif.Observation(results=given)
        made.append(atif.Step(**step))
    whole = atif.Trajectory(session_id="s1", agent=atif.Agent(name="forecaster", version="1"), steps=made)
    document = whole.model_dump(mode="json", exclude_none=True)
    sample = trajectory(document)
    assert steps(sample) == STEPS.replace("), error", ")")  # ATIF has no place for a tool's failure
    sound(sample, "atif")
    assert as_records(sample) == document
    assert atif.Trajectory.model_validate(as_records(sample)) == whole


def test_jg_tracing_of_an_agent_of_ones_own_gives_such_samples(tmp_path):
    with jg.tracing(tmp_path / "traced"):
        forecaster.run()
        forecaster.run()
    samples = jg.load(tmp_path / "traced")
    assert [steps(one) for one in samples] == [STEPS, STEPS]
    assert [one.id for one in samples] == ["run-1", "run-2"]
    with jg.tracing(tmp_path / "bare", redact=("texts",)):
        forecaster.run()
    assert not (tmp_path / "bare" / "trajectories.jsonl").exists()


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "no format of runs fits"),
        ({"a": 1}, "no format of runs fits"),
        ([{"role": "user"}, {"content": "x"}], "a turn has a role"),
        ({"schema_version": "ATIF-v1.7", "steps": [{"source": "agent", "tool_calls": [{}]}]}, "in the format atif"),
    ],
)
def test_what_is_no_run_is_refused_with_what_is_known(document, said):
    with pytest.raises(jg.JudgegraphError, match=said):
        trajectories(document)


@pytest.mark.parametrize(
    ("format", "document"),
    [
        ("openai", {"messages": []}), ("openai", []), ("openai", [{"role": "user", "content": "Hi"}]),
        ("openai", {"messages": [{"role": "assistant"}]}), ("openai", {"messages": "Hi"}), ("openai", {"msgs": []}),
        ("langchain", {"messages": []}), ("langchain", [{"text": "Hi"}]), ("langsmith", []),
        ("langsmith", {"id": "1", "run_type": "chain", "inputs": {"x": 1}, "outputs": {}}),
        ("langsmith", {"name": "no run"}), ("otel", {"resourceSpans": []}), ("otel", []),
        ("otel", {"spanId": "1", "traceId": "2", "attributes": [{"key": "a", "value": {"stringValue": "b"}}]}),
        ("openinference", [{"context": {"span_id": "1"}, "attributes": {"openinference.span.kind": "CHAIN"}}]),
        ("langfuse", {"id": "1", "observations": []}), ("langfuse", []),
        ("atif", {"schema_version": "ATIF-v1.7", "steps": []}),
    ],
)  # fmt: skip
def test_a_record_without_anything_of_an_agents_is_refused_with_line_and_what_was_expected(format, document, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("\n" + json.dumps(document) + "\n")
    with pytest.raises(jg.JudgegraphError, match=r"runs\.jsonl, line \d: trajectory.*; expected "):
        list(read_trajectories(path, format))


def _span(id, **attributes):
    return {"context": {"trace_id": "t", "span_id": id}, "start_time": f"2026-01-01T00:00:0{id}Z",
            "parent_id": None if id == "1" else "1", "attributes": attributes}  # fmt: skip


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([{"role": "user", "content": "Hi"}, {"role": "assistant", "contnt": "Yes"}], "did you mean 'content'"),
        ([{"role": "user", "content": "Hi"}, {"role": "assistant", "toolcalls": [{}]}], "did you mean 'tool_calls'"),
        ([{"type": "ai", "data": {"text": "Yes"}}, {"type": "ai", "data": {"content": "x"}}], "its keys are text"),
        ({"agent": {}, "steps": [{"source": "agent", "message": "x"}, {"source": "agent", "msg": "y"}]},
         "step 2 has no message; its keys are source, msg"),
        ([_span("1", **{"gen_ai.operation.name": "invoke_agent"}), _span("2", **{"gen_ai.operation.name": "chat"}),
          _span("3", **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather"})],
         "names of calls alone: no text, no argument and no result was exported"),
    ],
)  # fmt: skip
def test_a_record_of_which_a_part_would_be_lost_is_refused_with_its_place(document, said, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(document) + "\n")
    with pytest.raises(jg.JudgegraphError, match=r"runs\.jsonl, line 1: trajectory") as refused:
        list(read_trajectories(path))
    assert said in str(refused.value)


def test_a_file_with_a_bad_line_names_it(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('[{"role": "assistant", "content": "Hi"}]\nnot json\n')
    with pytest.raises(jg.JudgegraphError, match=r"runs\.jsonl, line 2: no JSON"):
        list(read_trajectories(path))


def test_the_loader_reads_runs_by_their_format(tmp_path):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(langsmith_runs()))
    (sample,) = jg.load(path, format="langsmith")
    assert steps(sample) == STEPS
    chat = tmp_path / "chat.jsonl"
    chat.write_text(json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]) + "\n")
    (sample,) = jg.load(chat, format="openai")
    assert (sample.query, sample.output) == ("Hi", "Ho")


def test_the_function_is_not_hidden_by_a_module_of_its_name():
    both = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    assert [one.query for one in jg.trajectories(both)] == ["Hi"]


ANTHROPIC = [
    {"role": "user", "content": "How warm is it in Bergen?"},
    {"role": "assistant", "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Bergen"}},
        {"type": "tool_use", "id": "t2", "name": "get_weather", "input": {"city": "Osl"}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "11 degrees"}]},
        {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": "no such city"},
        {"type": "text", "text": "Go on."}]},
    {"role": "assistant", "content": "It is 11 degrees."},
]  # fmt: skip
SHOWN = """\
[1] user: How warm is it in Bergen?
[2] assistant: I look.
[2] assistant calls get_weather (t1): {"city": "Bergen"}
[2] assistant calls get_weather (t2): {"city": "Osl"}
[3] tool (t1): 11 degrees
[4] tool (t2), error: no such city
[5] user: Go on.
[6] assistant: It is 11 degrees."""


def test_calls_and_results_in_anthropics_content_blocks_are_calls_and_turns():
    sample = trajectory(ANTHROPIC)
    assert turns_text(sample.turns) == SHOWN
    assert as_records(jg.Sample.model_validate_json(sample.model_dump_json())) == ANTHROPIC
    assert turns_text(jg.Sample(id="1", output="x", turns=ANTHROPIC).turns) == SHOWN


@pytest.mark.parametrize(
    ("turn", "shown"),
    [
        ({"from": "human", "value": "Hello."}, "human: Hello."),
        ({"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
         "assistant calls look: {}"),
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, "assistant: I cannot."),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]}, "assistant: I cannot."),
        ({"role": "assistant", "content": None}, "assistant: "),
    ],
)  # fmt: skip
def test_what_a_message_says_elsewhere_is_shown(turn, shown):
    sample = jg.Sample(id="1", output="x", turns=[turn])
    assert turns_text(sample.turns) == f"[1] {shown}"
    assert jg.Sample.model_validate_json(sample.model_dump_json()) == sample
    if "role" in turn:
        both = [turn, {"role": "assistant", "content": "That is all."}]
        assert as_records(trajectory(both)) == both


@pytest.mark.parametrize("name", ["text", "message", "utterance"])
def test_a_turn_whose_text_would_be_shown_to_nobody_is_refused(name):
    with pytest.raises(ValueError, match=f"its text in content, and here it stands in '{name}'"):
        jg.Sample(id="1", output="x", turns=[{"role": "user", name: "Hello."}])
