"""An OpenAI-compatible server on loopback that answers by rule, and misbehaves on demand.

A rule is a function of the request's text; it knows no paper, task or model by name. What it
returns is the message's content, or a ``Fault`` that says how to misbehave.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Ask:
    """One request as the rule sees it. ``number`` counts from 1."""

    text: str
    messages: list[dict[str, str]]
    body: dict[str, Any]
    number: int


@dataclass(frozen=True)
class Fault:
    """One way to misbehave; made by the class methods."""

    kind: str
    code: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    payload: dict[str, Any] | None = None

    @classmethod
    def status(
        cls, code: int, *, retry_after: float | str | None = None, message: str = "no", error_code: str = ""
    ) -> Fault:
        """Answer with an HTTP error in OpenAI's form."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        error = {"message": message, "type": "injected", "code": error_code or None, "param": None}
        return cls("status", code, headers, {"error": error})

    @classmethod
    def garbage(cls) -> Fault:
        """Answer 200 with something that is not JSON."""
        return cls("garbage")

    @classmethod
    def foreign(cls) -> Fault:
        """Answer 200 with JSON that is no chat completion."""
        return cls("foreign")

    @classmethod
    def half_json(cls) -> Fault:
        """Answer 200 with the first half of the right body, declared as whole."""
        return cls("half_json")

    @classmethod
    def cut(cls) -> Fault:
        """Announce the whole body, send half of it and close the connection."""
        return cls("cut")

    @classmethod
    def half_content(cls) -> Fault:
        """Answer with a whole completion whose content is the first half of the right one."""
        return cls("half_content")

    @classmethod
    def refusal(cls) -> Fault:
        """Answer with a completion in which the model refuses."""
        return cls("refusal")

    @classmethod
    def hang(cls) -> Fault:
        """Read the request and never answer."""
        return cls("hang")

    @classmethod
    def drip(cls) -> Fault:
        """Answer rightly, but one byte at a time, without ever coming to an end."""
        return cls("drip")


Rule = Callable[[Ask], "str | Fault"]


class ModelServer:
    """The server, as a context manager.

    Attributes:
        asks: all requests that arrived, oldest first.
        purchases: the requests that were answered with a whole completion, as canonical JSON.
    """

    def __init__(self, rule: Rule, port: int = 0) -> None:
        self._rule = rule
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.asks: list[Ask] = []
        self.purchases: list[str] = []
        self._server = _Server(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """The address to configure."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> int:
        """How many requests arrived."""
        return len(self.asks)

    @property
    def bought_twice(self) -> list[str]:
        """The purchases that were made more than once."""
        return [body for body, count in Counter(self.purchases).items() if count > 1]

    def inject(self, faults: Iterable[Fault]) -> None:
        """Misbehave in these ways, one for each of the next requests."""
        with self._lock:
            self._faults.extend(faults)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _decide(self, body: dict[str, Any]) -> tuple[str, Fault | None]:
        messages = body.get("messages", [])
        text = "\n".join(str(message.get("content")) for message in messages)
        with self._lock:
            ask = Ask(text, messages, body, len(self.asks) + 1)
            self.asks.append(ask)
            fault = self._faults.pop(0) if self._faults else None
        if fault is not None and fault.kind not in ("half_json", "half_content", "cut", "drip"):
            return "", fault
        answer = self._rule(ask)
        return ("", answer) if isinstance(answer, Fault) else (answer, fault)

    def _note_purchase(self, body: dict[str, Any]) -> None:
        with self._lock:
            self.purchases.append(json.dumps(body, sort_keys=True))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: a client that goes away in the middle is part of what is tested."""


def _handler(owner: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Stay silent."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer, fault = owner._decide(body)
            kind = "" if fault is None else fault.kind
            if fault is not None and kind == "status":
                self._send(json.dumps(fault.payload), fault.code, fault.headers)
            elif kind == "garbage":
                self._send("<html>upstream is having a bad day</html>")
            elif kind == "foreign":
                self._send('{"hello": ["world"]}')
            elif kind == "hang":
                owner._closing.wait()
                self.close_connection = True
            elif kind in ("half_json", "cut", "drip"):
                self._send_part(json.dumps(_completion(body, answer)), kind)
            else:
                content = answer[: len(answer) // 2] if kind == "half_content" else answer
                owner._note_purchase(body)
                self._send(json.dumps(_completion(body, content, refused=kind == "refusal")))

        def _send(self, text: str, code: int = 200, headers: dict[str, str] | None = None) -> None:
            data = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _send_part(self, text: str, kind: str) -> None:
            half = text[: len(text) // 2]
            if kind == "half_json":
                self._send(half)
                return
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(10**6))
            self.end_headers()
            self.close_connection = True
            if kind == "cut":
                self.wfile.write(half.encode())
                return
            while not owner._closing.wait(0.05):
                self.wfile.write(b" ")

    return Handler


def _completion(body: dict[str, Any], answer: str, *, refused: bool = False) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    if refused:
        message = {"role": "assistant", "content": None, "refusal": "I would rather not."}
    elif body.get("tools"):
        name = body["tools"][0]["function"]["name"]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": answer}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    words_in = sum(len(str(message.get("content")).split()) for message in body["messages"])
    words_out = len(answer.split())
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": words_in,
            "completion_tokens": words_out,
            "total_tokens": words_in + words_out,
        },
    }
