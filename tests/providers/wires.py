"""Small servers in one, for tests: the wire formats of Anthropic, Gemini, Ollama, chat completions and Bedrock.

    python wires.py             prints its address, such as http://127.0.0.1:40123

The base URL `{address}/{script}/{name}` has a script, behaviours joined by ",": the first request gets the first, the
next the second, further ones the last. `GET {address}/seen/{name}` gives what came under that name:
[{"path": ..., "headers": {...}, "body": {...}}, ...]. The shapes are those of the providers' public documentation.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SEEN: dict[str, list[dict[str, Any]]] = {}
LOCK = threading.Lock()
NUMBERS = ("one two three four five six seven eight nine ten " * 6).split()
IN, OUT = 11, 7  # tokens of every prompt and of a reply that is not cut
REFUSALS = {"400": "a bad request", "401": "no such key", "404": "no such model", "500": "broken", "529": "overloaded"}
ANTHROPIC_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")  # of a property in a tool's schema


def filled(schema: dict[str, Any]) -> Any:
    """A value that fits a schema; every score is 4 where it may be."""
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return filled(schema[word][0])
    if "enum" in schema:
        return 4 if 4 in schema["enum"] else schema["enum"][0]
    kind = str(schema.get("type")).lower()
    if kind == "object":
        return {name: filled(inner) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema["items"]) for _ in range(schema.get("minItems") or 0)]
    text = "because"[: schema.get("maxLength") or 7]
    return {"string": text, "integer": 4, "number": 4.0, "boolean": True}.get(kind)


def said(prompt: str, schema: dict[str, Any] | None, does: str) -> str:
    """The text of a reply."""
    told = re.search(r"Its JSON Schema:\n(\{.*\})", prompt, re.S)
    form = schema if schema is not None else json.loads(told[1]) if told else None
    if does == "prose":
        return "I am glad to help, but what form should it have?"
    if form is not None:
        return json.dumps(filled(form))
    return " ".join(NUMBERS) if "Count from" in prompt else "Final score: 4."


def cut(text: str, limit: int | None) -> tuple[str, bool]:
    """A text of so many words, a token each."""
    words = text.split(" ")
    return (" ".join(words[:limit]), True) if limit and len(words) > limit else (text, False)


def anthropic(body: dict[str, Any], does: str) -> tuple[int, Any]:
    tools, choice = body.get("tools") or [], body.get("tool_choice") or {}
    bad = [k for tool in tools for k in _keys(tool.get("input_schema", {})) if not ANTHROPIC_KEY.fullmatch(k)]
    if bad:
        return 400, _anthropic_error(f"tools.0.custom.input_schema.properties: Property keys should match: {bad[0]!r}")
    if does == "no-temperature" and "temperature" in body:
        return 400, _anthropic_error("`temperature` is deprecated for this model.")
    if does == "no-forced-tool" and choice.get("type") in ("tool", "any"):
        return 400, _anthropic_error("Thinking may not be enabled when tool_choice forces tool use.")
    form = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    prompt = _words(body["messages"][-1]["content"])
    text, stop, content = said(prompt, form.get("schema"), does), "end_turn", []
    named = next((tool for tool in tools if tool["name"] == choice.get("name")), tools[0] if tools else None)
    if does == "refusal":
        text, stop = "", "refusal"
    elif does == "length":
        text, stop = text[: len(text) // 2], "max_tokens"
    else:
        text, short = cut(text, body.get("max_tokens"))
        stop = "max_tokens" if short else stop
    if named and does not in ("refusal",) and ("Count from" not in prompt):
        args = {} if does == "length" else filled(named["input_schema"])
        content.append({"type": "tool_use", "id": "t1", "name": named["name"], "input": args})
        stop = "max_tokens" if does == "length" else "tool_use"
    elif text:
        content.append({"type": "text", "text": text})
    usage = {"input_tokens": IN, "output_tokens": OUT}
    about = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "stub"),
        "stop_sequence": None,
    }
    return 200, {**about, "content": content, "stop_reason": stop, "usage": usage}


def _anthropic_error(message: str, kind: str = "invalid_request_error") -> Any:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _keys(schema: dict[str, Any]) -> list[str]:
    inner = schema.get("properties") or {}
    return [*inner, *(key for one in inner.values() if isinstance(one, dict) for key in _keys(one))]


def _words(content: Any) -> str:
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


def gemini(body: dict[str, Any], does: str) -> tuple[int, Any]:
    config, tools = body.get("generationConfig") or {}, body.get("tools") or []
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    prompt = "".join(part.get("text", "") for part in body["contents"][-1]["parts"])
    if does == "filter":
        return 200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": IN}}
    text, finish = said(prompt, schema, does), "STOP"
    if does == "length":
        text, finish = text[: len(text) // 2], "MAX_TOKENS"
    text, short = cut(text, config.get("maxOutputTokens"))
    parts: list[Any] = [{"text": text}]
    declared = [one for tool in tools for one in tool.get("functionDeclarations", ())]
    if declared:
        parts = [{"functionCall": {"name": declared[0]["name"], "args": {"word": "lagoon"}}}]
    if does == "refusal":
        parts, finish = [], "SAFETY"
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": "MAX_TOKENS" if short else finish}
    usage = {"promptTokenCount": IN, "candidatesTokenCount": OUT, "totalTokenCount": IN + OUT}
    return 200, {"candidates": [{**candidate, "index": 0}], "usageMetadata": usage, "modelVersion": "stub"}


def ollama(body: dict[str, Any], does: str) -> tuple[int, Any]:
    form = body.get("format") if isinstance(body.get("format"), dict) else None
    prompt, options = body["messages"][-1]["content"], body.get("options") or {}
    text, reason = said(prompt, form, does), "stop"
    if does == "length":
        text, reason = text[: len(text) // 2], "length"
    text, short = cut(text, options.get("num_predict"))
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if body.get("tools"):
        function = {"name": body["tools"][0]["function"]["name"], "arguments": {"word": "lagoon"}}
        message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    about = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z"}
    counts = {
        "prompt_eval_count": IN,
        "eval_count": OUT,
        "total_duration": 1,
        "done_reason": "length" if short else reason,
    }
    if not body.get("stream", True):
        return 200, {**about, "message": message, "done": True, **counts}
    last = {**about, "message": {"role": "assistant", "content": ""}, "done": True, **counts}
    return 200, [{**about, "message": message, "done": False}, last]


def completions(body: dict[str, Any], does: str) -> tuple[int, Any]:
    """Chat completions, as Azure, Mistral and what LiteLLM asks speak them."""
    form = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    text, short = cut(said(_words(body["messages"][-1]["content"]), form, does), limit)
    reason = "length" if short else "stop"
    if does == "length":
        text, reason = text[: len(text) // 2], "length"
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if does == "refusal":
        message, reason = {"role": "assistant", "content": ""}, "content_filter"
    elif body.get("tools"):
        function = body["tools"][0]["function"]
        given = json.dumps({} if does == "length" else filled(function["parameters"]))
        call = {"id": "t12345678", "type": "function", "function": {"name": function["name"], "arguments": given}}
        message = {"role": "assistant", "content": "", "tool_calls": [call]}
        reason = "length" if does == "length" else "tool_calls"
    usage = {"prompt_tokens": IN, "completion_tokens": OUT, "total_tokens": IN + OUT}
    about = {"id": "c", "object": "chat.completion", "created": 0, "model": body.get("model") or "stub", "usage": usage}
    choice: dict[str, Any] = {"message": message, "finish_reason": reason}
    if body.get("logprobs"):
        count = body.get("top_logprobs") or 0
        choice["logprobs"] = {"content": [_token(one, count) for one in re.findall(r"\s*\w+|\W", message["content"])]}
    return 200, {**about, "choices": [{"index": at, **choice} for at in range(body.get("n") or 1)]}


def _token(text: str, count: int) -> dict[str, Any]:
    """A token with its likeliest others; of a number these are the numbers beside it."""
    others = [text, *(str(one) for one in range(1, 6) if str(one) != text)] if text.isdigit() else [text]
    rows = [{"token": one, "logprob": -0.1 if one == text else -3.0 - at, "bytes": [*one.encode()]}
            for at, one in enumerate(others)]  # fmt: skip
    return {**rows[0], "top_logprobs": rows[:count]}


def bedrock(body: dict[str, Any], does: str) -> tuple[int, Any]:
    """Bedrock's Converse."""
    prompt = "".join(part.get("text", "") for part in body["messages"][-1]["content"])
    text, short = cut(said(prompt, None, does), body.get("inferenceConfig", {}).get("maxTokens"))
    stop = "max_tokens" if short else "end_turn"
    if does == "length":
        text, stop = text[: len(text) // 2], "max_tokens"
    content: list[Any] = [{"text": text}]
    if does == "refusal":
        content, stop = [{"text": "Blocked."}], "guardrail_intervened"
    elif tools := body.get("toolConfig", {}).get("tools"):
        spec = tools[0]["toolSpec"]
        use = {"toolUseId": "t1", "name": spec["name"], "input": filled(spec["inputSchema"]["json"])}
        content, stop = [{"toolUse": use}], "max_tokens" if does == "length" else "tool_use"
    usage = {"inputTokens": IN, "outputTokens": OUT, "totalTokens": IN + OUT}
    message = {"message": {"role": "assistant", "content": content}}
    return 200, {"output": message, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        with LOCK:
            self.say(200, SEEN.get(self.path.rpartition("/")[2], []))

    def do_POST(self) -> None:
        _, script, name, *rest = self.path.split("/")
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with LOCK:
            seen = SEEN.setdefault(name, [])
            steps = script.split(",")
            does, _, setting = steps[min(len(seen), len(steps) - 1)].partition("=")
            headers = {k.lower(): v for k, v in self.headers.items()}
            seen.append({"path": "/".join(rest), "headers": headers, "body": body, "at": time.time()})
        path = "/".join(rest)
        if does == "hang":
            time.sleep(float(setting))
        if does in REFUSALS or does == "429":
            self.refuse(path, int(does), REFUSALS.get(does, "slow down"), setting)
            return
        counts = {"x-amzn-bedrock-input-token-count": str(IN), "x-amzn-bedrock-output-token-count": str(OUT)}
        self.say(*_speaks(path)(body, does), counts if path.endswith("/invoke") else None)

    def refuse(self, path: str, code: int, message: str, wait: str) -> None:
        if "v1/messages" in path:
            data: Any = _anthropic_error(message, "rate_limit_error" if code == 429 else "api_error")
        elif "generateContent" in path:
            status = {429: "RESOURCE_EXHAUSTED", 401: "UNAUTHENTICATED", 404: "NOT_FOUND"}.get(code, "INTERNAL")
            data = {"error": {"code": code, "message": message, "status": status}}
        elif "chat/completions" in path:
            data = {"error": {"code": str(code), "message": message, "type": "error"}}
        else:
            data = {"error": message, "message": message}
        self.say(code, data, {"retry-after": wait} if wait else {})

    def say(self, code: int, data: Any, headers: dict[str, str] | None = None) -> None:
        lines = isinstance(data, list) and code == 200 and "/seen/" not in self.path
        text = "".join(json.dumps(line) + "\n" for line in data) if lines else json.dumps(data)
        raw = text.encode()
        self.send_response(code)
        self.send_header("content-type", "application/x-ndjson" if lines else "application/json")
        self.send_header("content-length", str(len(raw)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(raw)


def _speaks(path: str) -> Callable[[dict[str, Any], str], tuple[int, Any]]:
    formats = {
        "v1/messages": anthropic,
        "generateContent": gemini,
        "chat/completions": completions,
        "/converse": bedrock,
        "/invoke": anthropic,  # Bedrock's other interface takes and gives what the model's makers do
    }
    return next((speak for mark, speak in formats.items() if mark in path), ollama)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
