"""A small OpenAI-compatible server for tests: it behaves as its address says, and counts.

    python server.py            prints its address, such as http://127.0.0.1:40123

The base URL `{address}/{script}/{name}/v1` has a script, behaviours joined by ",": the first request gets the first,
the next the second, further ones the last; refusals of one server are joined by "+". `GET {address}/seen/{name}` gives
what requests came under that name:
[{"at": seconds, "headers": {...}, "body": {...}}, ...].
"""

from __future__ import annotations

import json
import math
import re
import socket
import sys
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SEEN: dict[str, list[dict[str, Any]]] = {}
LOCK = threading.Lock()
TOKEN = re.compile(r"\d|[A-Za-z]+|\s+|[^\w\s]|\w")
ODDS = {"4": 0.6, "5": 0.3, "3": 0.1}
PROSE = "I am glad to help, but what form should it have?"
NUMBERS = "one two three four five six seven eight nine ten " * 6
TOO_LARGE = {  # as servers word it
    "too-large-openai": (400, "This model's maximum context length is 8192 tokens, your messages have 9000 tokens."),
    "too-large-openai-input": (400, "Your input exceeds the context window of this model. Please adjust your input."),
    "too-large-a-minute": (429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 41000."),
    "too-large-llama.cpp": (400, "request (9000 tokens) exceeds the available context size (8192 tokens), increase it"),
    "too-large-llama.cpp-batch": (500, "input is too large to process. increase the physical batch size"),
    "too-large-vllm": (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
    "too-large-sglang": (400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
    "too-large-anthropic": (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    "too-large-gemini": (
        400,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "too-large-bytes": (413, "Request Entity Too Large"),
}
LIMITS = {"max-ignored": (), "max-older": ("max_tokens",)}  # behaviour -> the names of a limit that it heeds


def filled(schema: dict[str, Any]) -> Any:
    """A value that fits a strict schema; every score is 4 where it may be."""
    if "anyOf" in schema:
        return filled(schema["anyOf"][0])
    if "enum" in schema:
        return 4 if 4 in schema["enum"] else schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: filled(inner) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema["items"]) for _ in range(schema.get("minItems", 0))]
    return {"string": "because", "integer": 4, "number": 4.0, "boolean": True}.get(str(kind))


def endless(schema: dict[str, Any]) -> Any:
    """As `filled`, and every text goes on to its bound."""
    if schema.get("type") == "object":
        return {name: endless(inner) for name, inner in schema["properties"].items()}
    return "x" * schema["maxLength"] if "maxLength" in schema else filled(schema)


def logprobs(text: str) -> dict[str, Any]:
    content = []
    for token in TOKEN.findall(text):
        odds = ODDS if token in ODDS else {token: 1.0}
        top = [{"token": t, "logprob": math.log(p), "bytes": list(t.encode())} for t, p in odds.items()]
        content.append({**next(one for one in top if one["token"] == token), "top_logprobs": top})
    return {"content": content, "refusal": None}


PRINTS = {"llama-cpp": "b1-0c1e570", "ollama": "fp_ollama"}  # of servers whose grammars know no ends of ranges


def completion(body: dict[str, Any], does: str) -> dict[str, Any]:
    form = body.get("response_format", {}).get("json_schema", {}).get("schema")
    content = body["messages"][-1]["content"] or ""
    asked = "\n".join(part.get("text", "") for part in content) if isinstance(content, list) else content
    told = re.search(r"Its JSON Schema:\n(\{.*\})", asked, re.S)
    schema = json.loads(told[1]) if told else form if does not in ("prose", "rambling") else None
    text = json.dumps(filled(schema)) if schema else PROSE if form or does == "prose" else "Final score: 4."
    if does == "endless" and form:
        text = json.dumps(endless(form))
    if does == "beyond":
        text = text.replace("4.0", "400.0")
    if does == "schema-loose" and schema:
        text = re.sub(r"\b[3-5]\b", "4.5", text)
    if "Count from" in str(body["messages"][-1]["content"]) or (does == "rambling" and form):
        text = NUMBERS * 40
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    finish = does if does in ("content_filter", "length") else "stop"
    if does == "refusal":
        message |= {"content": None, "refusal": "I will not judge this."}
    if does == "thinking":
        message["content"], finish = "<think>Well, let me see. " * 9, "length"
    if does == "half":
        message["content"] = text[: len(text) // 2]
    limits = [body[name] for name in LIMITS.get(does, ("max_completion_tokens", "max_tokens")) if body.get(name)]
    if limits and len(text.split()) > limits[0]:
        message["content"], finish = " ".join(text.split()[: limits[0]]), "length"
    if does == "moody" and not form:
        message["content"] = f"{text} {time.monotonic_ns()}"
    forced = isinstance(body.get("tool_choice"), dict)
    if body.get("tools") and does != "tools-ignored" and not (forced and does == "tool-choice-ignored"):
        offered = [tool["function"]["name"] for tool in body["tools"]]
        called = [
            {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": "{}"}}
            for at, name in enumerate(offered if does == "tools-all" else offered[:1], 1)
        ]
        message |= {"content": None, "tool_calls": called}
        finish = "tool_calls"
    given = logprobs(text) if body.get("logprobs") and does != "null-logprobs" else None
    for place in (given or {"content": ()})["content"]:
        if does == "five-likely" or (does == "likely-beside-schema" and form):
            place |= {"logprob": -0.1, "top_logprobs": [{"token": t, "logprob": -0.1, "bytes": None} for t in "12345"]}
        if does == "lone-logprobs":
            place |= {"top_logprobs": []}
    if does == "null-beside-schema" and form:
        given = None
    count = 1 if does == "one-choice" else body.get("n") or 1
    choices = [{"index": i, "message": message, "finish_reason": finish, "logprobs": given} for i in range(count)]
    usage = {"prompt_tokens": 10, "completion_tokens": 5 * count, "total_tokens": 10 + 5 * count}
    about = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
    about |= {"system_fingerprint": PRINTS[does]} if does in PRINTS else {}
    return {**about, "choices": [] if does == "empty" else choices, "usage": None if does == "no-usage" else usage}


def response(body: dict[str, Any]) -> dict[str, Any]:
    """The same in the shape of OpenAI's Responses API."""
    text = json.dumps(filled(body["text"]["format"]["schema"]))
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    about = {"id": "r", "object": "response", "created_at": 0, "model": body["model"], "status": "completed"}
    return {**about, "output": [message], "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}


def refused(does: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[int, str] | None:
    """(HTTP status, message) where the behaviour is to refuse this request."""
    key = headers.get("authorization", "")
    lacking = {
        "no-schema": (
            "response_format" in body,
            400,
            "'response_format' of type 'json_schema' is not supported with this model",
        ),
        "schema-500": ("response_format" in body, 500, "json_schema: grammar failed to compile"),
        "no-max-length": (
            "maxLength" in json.dumps(body.get("response_format")),
            400,
            "Invalid schema for response_format 'ratings': In context=('properties',), 'maxLength' is not permitted.",
        ),
        "small-context": (
            any(body.get(name) for name in ("max_tokens", "max_completion_tokens")),
            400,
            "This model's maximum context length is 512 tokens. However, you requested 900 tokens (100 in the "
            "messages, 800 in the completion).",
        ),
        "no-logprobs": (bool(body.get("logprobs")), 400, "logprobs are not supported by this model"),
        "few-logprobs": ((body.get("top_logprobs") or 0) > 5, 400, "top_logprobs must be at most 5"),
        "few-n": ((body.get("n") or 1) > 4, 400, "Field 'n': Value must be between 1 <= value <= 4, but got 8"),
        "no-n": ((body.get("n") or 1) > 1, 400, "n must be 1"),
        "no-tools": ("tools" in body, 400, "this model does not support tools"),
        "no-max": ("max_completion_tokens" in body, 400, "unknown field max_completion_tokens"),
        "newer": (
            "max_tokens" in body,
            400,
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        ),
        "no-limit": (
            "max_tokens" in body or "max_completion_tokens" in body,
            400,
            "parameters max_tokens and max_completion_tokens: is not supported",
        ),
        "no-temperature": ("temperature" in body, 400, "Unsupported value: 'temperature' is not supported"),
        **{name: (True, status, said) for name, (status, said) in TOO_LARGE.items()},
        "filter-400": (True, 400, "the prompt triggered content_filter"),
        "filter-one-text": ("forbidden" in str(body.get("messages")), 400, "the prompt triggered content_filter"),
        "400": (True, 400, "a bad request"),
        "408": (True, 408, "too slow"),
        "firewall": ("forbidden" in str(body.get("messages")), 403, "blocked by the firewall"),
        "crash": ("forbidden" in str(body.get("messages")), 502, "bad gateway"),
        "502": (True, 502, "bad gateway"),
        "401": (True, 401, f"no such key: {key} and {headers.get('x-team', '')}"),
        "403": (True, 403, "not for this key"),
        "404": (True, 404, "no such model"),
        "500": (True, 500, f"broken, said {key}"),
        "quota": (True, 429, "insufficient_quota: pay first"),
    }
    found = (lacking.get(one, (False, 0, "")) for one in does.split("+"))
    return next(((status, message) for applies, status, message in found if applies), None)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ahead = 0.0

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string((timestamp or time.time()) + self.ahead)

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        with LOCK:
            seen = SEEN.get(self.path.rpartition("/")[2], [])
            self.say(200, json.dumps(seen))

    def do_POST(self) -> None:
        _, script, name, *_rest = self.path.split("/")
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {k.lower(): v for k, v in self.headers.items()}
        with LOCK:
            seen = SEEN.setdefault(name, [])
            steps = script.split(",")
            does, _, setting = steps[min(len(seen), len(steps) - 1)].partition("=")
            seen.append({"at": time.time(), "headers": headers, "body": body})
            if does == "out":  # for so many seconds after the first request
                does, setting = ("502" if time.time() < seen[0]["at"] + float(setting) else "ok"), ""
            if does == "busy":  # for so many seconds after the first request
                left = seen[0]["at"] + float(setting) - time.time()
                does, setting = ("429", f"{left:.3f}") if left > 0 else ("ok", "")
        self.behave(does, setting, body, headers)

    def behave(self, does: str, setting: str, body: dict[str, Any], headers: dict[str, str]) -> None:
        if does in ("need-key", "cool-down") and headers.get("authorization") != f"Bearer {setting}":
            cold = does == "cool-down" and self.again(headers)
            return self.say(429 if cold else 401, json.dumps({"error": {"message": "no such key"}}))
        if does == "slow-firewall":
            does = "firewall"
            if refused(does, body, headers) is None:
                time.sleep(float(setting))
        if does == "slow-401":  # at once, or up to so many seconds later
            does = "401"
            time.sleep(float(setting) * (threading.get_native_id() % 7) / 6)
        if refusal := refused(does, body, headers):
            status, message = refusal
            return self.say(status, json.dumps({"error": {"message": message, "type": "t", "code": None}}))
        if does == "redirect":  # to a port of this machine by its other name
            at = f"http://localhost:{setting}/ok/stolen/v1/chat/completions"
            return self.say(307, "", {"location": at})
        if does == "429-ahead":  # its clock is an hour ahead of ours
            self.ahead, does = 3600.0, "429-date"
        if does in ("429", "429-date"):
            wait = formatdate(time.time() + self.ahead + float(setting), usegmt=True) if does == "429-date" else setting
            return self.say(429, json.dumps({"error": {"message": "slow down"}}), {"retry-after": wait} if wait else {})
        if "temperature" in body and not isinstance(body["temperature"], int | float):
            return self.mistaken(does, body)
        if does in ("plain-500", "plain-200"):
            return self.say(int(does[-3:]), "upstream has gone away", kind="text/plain")
        if does == "hang":
            return time.sleep(600)
        text = json.dumps(response(body) if self.path.endswith("/responses") else completion(body, does))
        if does == "slow":
            time.sleep(float(setting))
        if does == "truncated":
            return self.say(200, text[: len(text) // 2])
        if does == "reset":
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        return self.drip(text) if does == "drip" else self.say(200, text)

    def again(self, headers: dict[str, str]) -> bool:
        """Another request under this name had the same key."""
        with LOCK:
            seen = SEEN[self.path.split("/")[2]]
            return sum(one["headers"].get("authorization") == headers.get("authorization") for one in seen) > 1

    def mistaken(self, does: str, body: dict[str, Any]) -> None:
        """The answer to a temperature that is no number."""
        said = "temperature must be a number"
        if does == "plain-400":
            return self.say(400, said, kind="text/plain")
        if does == "lax":
            return self.say(200, json.dumps(completion(body, does)))
        told = {"detail": [{"msg": said}]} if does == "detail-400" else {"error": {"message": said}}
        return self.say(500 if does == "bad-500" else 400, json.dumps(told))

    def drip(self, text: str) -> None:
        self.head(200, len(text), "application/json", {})
        try:
            for character in text.encode():
                self.wfile.write(bytes([character]))
                self.wfile.flush()
                time.sleep(0.2)
        except OSError:  # the client has had enough
            self.close_connection = True

    def head(self, status: int, length: int, kind: str, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(length), **more}.items():
            self.send_header(name, value)
        self.end_headers()

    def say(self, status: int, text: str, more: dict[str, str] | None = None, kind: str = "application/json") -> None:
        data = text.encode()
        self.head(status, len(data), kind, more or {})
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: Any) -> None:
        pass  # a client that went away


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
