"""A strict Messages API on loopback: refuses what breaks the protocol, counts what its cache would have read, fails on request.

Its replies are the test's: a list, or a function of the request. A token is four bytes of the request's JSON.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from tests.messages_protocol import problems

BYTES_OF_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class RateLimited:
    """429; the client may come back after so many seconds."""

    retry_after: float = 0.01


@dataclass(frozen=True, slots=True)
class ServerError:
    """500."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """The connection is closed in the middle of the body."""


@dataclass(frozen=True, slots=True)
class Hangs:
    """Nothing is answered until the server is released, and then the connection is closed."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """200, and a body that is no message."""

    body: str = '{"id": "msg_1", "content": ['
    content_type: str = "application/json"


Fault: TypeAlias = RateLimited | ServerError | Dropped | Hangs | Malformed
Answer: TypeAlias = Mapping[str, Any] | Fault
Replies: TypeAlias = Callable[[dict[str, Any]], Answer] | Sequence[Answer]


def says(*blocks: str | Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A reply of these blocks, a text for short; the fields stand for what the server would say itself, such as `usage`."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else dict(block) for block in blocks]
    return {"content": content} | fields


def uses(name: str, number: int = 1, **given: Any) -> dict[str, Any]:
    """A block that asks for a tool."""
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


class Cache:
    """What a provider's prompt cache would read: the longest prefix, block by block, that an earlier request had too. Only marked requests use it."""

    def __init__(self) -> None:
        self._seen: list[list[bytes]] = []

    def usage(self, body: dict[str, Any]) -> dict[str, int]:
        """The input's share of a reply's usage, in tokens; the request is remembered."""
        blocks = _blocks(body)
        shared = 0
        if '"cache_control"' in json.dumps(body):
            shared = max((_shared(blocks, seen) for seen in self._seen), default=0)
            self._seen.append(blocks)
        read = sum(map(len, blocks[:shared])) // BYTES_OF_A_TOKEN
        return {"input_tokens": sum(map(len, blocks)) // BYTES_OF_A_TOKEN - read, "cache_read_input_tokens": read}


def _blocks(body: dict[str, Any]) -> list[bytes]:
    """A request in the provider's order: model and thinking, tools, system, messages; a block each, without its mark."""
    system, turns = body.get("system", []), [(message["role"], message["content"]) for message in body["messages"]]
    parts: list[Any] = [{key: body.get(key) for key in ("model", "thinking", "output_config")}, *body.get("tools", [])]
    parts += [system] if isinstance(system, str) else system
    parts += [{"role": role, "block": block} for role, content in turns for block in ([content] if isinstance(content, str) else content)]
    return [json.dumps(_unmarked(part)).encode() for part in parts]


def _unmarked(part: Any) -> Any:
    return {key: value for key, value in part.items() if key != "cache_control"} if isinstance(part, dict) else part


def _shared(left: list[bytes], right: list[bytes]) -> int:
    pairs = zip(left, right, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right)))


@dataclass(slots=True)
class Server:
    """A server that runs: where it is, the requests that kept the protocol, in order, and what it said to the others."""

    url: str
    replies: Replies
    requests: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    cache: Cache = field(default_factory=Cache)
    released: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def release(self) -> None:
        """Let go of every request that hangs."""
        self.released.set()

    def answer(self, headers: Mapping[str, str], body: Any) -> Answer | str:
        """The answer to a request, with its usage; a text is a refusal. One request at a time."""
        with self.lock:
            if wrong := "; ".join(problems(headers, body)):
                self.refusals.append(wrong)
                return wrong
            self.requests.append(body)
            reply = self._reply(body)
            return _message(reply, body, self.cache) if isinstance(reply, Mapping) else reply

    def _reply(self, body: dict[str, Any]) -> Answer | str:
        if callable(self.replies):
            return self.replies(body)
        return self.replies[len(self.requests) - 1] if len(self.requests) <= len(self.replies) else "the script has no more replies"


def _message(reply: Mapping[str, Any], body: dict[str, Any], cache: Cache) -> dict[str, Any]:
    wants_tools = any(block["type"] == "tool_use" for block in reply["content"])
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "stop_reason": "tool_use" if wants_tools else "end_turn",
        "stop_sequence": None,
        "usage": cache.usage(body) | {"output_tokens": len(json.dumps(reply["content"])) // BYTES_OF_A_TOKEN},
    } | dict(reply)


class _Listener(ThreadingHTTPServer):
    """The sockets: each connection has a thread, and all end with the server."""

    daemon_threads = False

    def __init__(self, server: Server) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = server
        self.answers.url = f"http://127.0.0.1:{self.server_port}"
        self.connections: set[socket.socket] = set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # a client that lost its patience is no error
            super().handle_error(request, client_address)

    def end(self) -> None:
        self.answers.release()
        self.shutdown()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the method that it stands for
        """Nothing: the tests look at the requests themselves."""

    def do_POST(self) -> None:
        given = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path != "/v1/messages":
            return self._error(404, "not_found_error", self.path)
        try:
            body = json.loads(given)
        except ValueError as error:
            return self._error(400, "invalid_request_error", f"the body is not JSON: {error}")
        return self._give(self.server.answers.answer({key.lower(): value for key, value in self.headers.items()}, body))

    def _give(self, answer: Answer | str) -> None:
        match answer:
            case str():
                self._error(400, "invalid_request_error", answer)
            case RateLimited(seconds):
                self._error(429, "rate_limit_error", "too many requests", {"retry-after": str(seconds)})
            case ServerError():
                self._error(500, "api_error", "internal server error")
            case Dropped():
                self._send(200, b'{"id": "msg_1", ', {"content-length": "1000"})
                self.close_connection = True
            case Hangs():
                self.server.answers.released.wait()
                self.close_connection = True
            case Malformed(body, kind):
                self._send(200, body.encode(), {"content-type": kind})
            case _:
                self._send(200, json.dumps(answer).encode())

    def _error(self, status: int, kind: str, message: str, headers: Mapping[str, str] = {}) -> None:
        self._send(status, json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode(), headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] = {}) -> None:
        self.send_response(status)
        for name, value in ({"content-type": "application/json", "content-length": str(len(body))} | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def messages_server(replies: Replies) -> Iterator[Server]:
    """A server that gives these replies, one a request, until the block ends; then every connection is closed and every thread has ended."""
    listener = _Listener(Server("", replies))
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield listener.answers
    finally:
        listener.end()
        thread.join()
