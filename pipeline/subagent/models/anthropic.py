"""The real model: the Messages API over the `anthropic` SDK, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pipeline.agent import ThinkingLevel
from pipeline.frozen import JsonObject, freeze, thaw
from pipeline.subagent.messages import NOTHING_USED, Kept, Message, Reply, StopReason, Text, ToolUse, Usage, block_to_wire
from pipeline.subagent.requests import ModelRequest, ToolSpec

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

ThinkingStyle: TypeAlias = Literal["adaptive", "budget"]
"""How a model is told to think: by an effort, as models since Claude 4.6 want it, or by a budget of tokens, the only way of those before."""

EFFORTS: Final[Mapping[ThinkingLevel, str]] = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}
"""The effort of each thinking level; the API knows none below `low`."""
EIGHTHS: Final[Mapping[ThinkingLevel, int]] = {"minimal": 1, "low": 2, "medium": 4, "high": 5, "xhigh": 6}
"""How many eighths of the reply's tokens each level may think with; thinking counts towards the reply, and the rest is for its words."""
LEAST_BUDGET: Final = 1024
"""The smallest budget that the API takes; it must also be below the reply's tokens."""

STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
}
"""Why a reply stopped, in the words of the engine. Any other reason (`pause_turn`, none, one that is new) counts as `max_tokens`: a reply that
may go on is not a conclusion, and a tool use in it is not run."""

CACHED: Final = {"type": "ephemeral"}
NOT_AN_OBJECT: Final = "not_an_object"
"""The key under which a tool's input stands that is no JSON object, or why it is none: the tool's schema can refuse it and the model can see why."""


class ReplyError(RuntimeError):
    """An answer that is not a message of the Messages API: the provider's fault, or that of something between."""


class AnthropicModel:
    """Whatever model `name` the provider has. An agent's wish counts where `aliases` translates it, the first such wish first.

    The SDK's client is made at the first reply, once; base address and key come from the SDK's own environment variables, retries and time limits
    are its own. A client that is given is used as it is, and closed by whoever gave it. RuntimeError where the SDK is not installed; ReplyError for
    an answer that is not a message; the SDK's own errors for all else, also for more `max_tokens` than it allows a client with no time limit of
    its own (about 21,000).
    """

    def __init__(
        self,
        name: str,
        *,
        client: AsyncAnthropic | None = None,
        aliases: Mapping[str, str] = {},
        caching: bool = True,
        thinking: ThinkingStyle = "adaptive",
    ) -> None:
        self._name = name
        self._given = client
        self._made: AsyncAnthropic | None = None
        self._aliases = dict(aliases)
        self._caching = caching
        self._thinking: ThinkingStyle = thinking

    async def reply(self, request: ModelRequest) -> Reply:
        """The provider's reply, with its usage."""
        parameters = to_parameters(request, self.model_for(request), caching=self._caching, thinking=self._thinking)
        client = self._client()
        try:
            return from_message(await client.messages.create(**parameters))
        except JSONDecodeError as error:
            raise ReplyError(f"the provider's answer is not JSON: {error}") from error
        except Exception as error:
            for note in _ways_out(error, client):
                error.add_note(note)
            raise

    def model_for(self, request: ModelRequest) -> str:
        """The provider's name of the model that answers a request.

        >>> from pyrsistent import v
        >>> model = AnthropicModel("claude-opus-4-8", aliases={"fast": "claude-haiku-4-5"})
        >>> model.model_for(ModelRequest("", (), v(), model=("unheard-of", "fast")))
        'claude-haiku-4-5'
        >>> model.model_for(ModelRequest("", (), v(), model=("unheard-of",)))
        'claude-opus-4-8'
        """
        return next((self._aliases[wish] for wish in request.model if wish in self._aliases), self._name)

    async def aclose(self) -> None:
        """Close the client that was made here; the next reply makes another. `contextlib.aclosing` calls it."""
        made, self._made = self._made, None
        if made is not None:
            await made.close()

    def _client(self) -> AsyncAnthropic:
        if self._given is not None:
            return self._given
        if self._made is None:
            self._made = _new_client()
        return self._made


def _ways_out(error: Exception, client: AsyncAnthropic) -> Iterator[str]:
    """What the SDK leaves unsaid: where it wanted to connect, and where a key is to be given."""
    if type(error).__name__ in ("APIConnectionError", "APITimeoutError"):
        yield f"the address is {client.base_url}, from ANTHROPIC_BASE_URL where that is set"
    if isinstance(error, TypeError) and "authentication" in str(error):
        yield "give the key in ANTHROPIC_API_KEY"


def _new_client() -> AsyncAnthropic:
    try:
        from anthropic import AsyncAnthropic  # noqa: PLC0415 - an extra: whoever uses no real model need not have it
    except ModuleNotFoundError:
        raise RuntimeError("the real model needs the SDK: pip install 'task-agent-pipeline[anthropic]'") from None
    # An idle connection belongs to the event loop that opened it: kept open, it would break the first reply of the next loop, and each
    # synchronous run is a loop of its own. Opening one costs little beside a reply.
    return AsyncAnthropic(default_headers={"Connection": "close"})


def to_parameters(request: ModelRequest, model: str, *, caching: bool = True, thinking: ThinkingStyle = "adaptive") -> dict[str, Any]:
    """What the SDK's `messages.create` is called with. Equal requests give equal parameters; where the messages grow, what was there stays as it was.

    Caching marks the end of the system prompt, which children of one agent share, and by the SDK's top-level mark the end of the messages, which
    a fork shares; the marks change no message. Text that is blank is left out, and a message with nothing else: the API refuses both.

    >>> from pyrsistent import v
    >>> to_parameters(ModelRequest("", (), v(Message("user", (Text("Hi"),))), max_tokens=9), "m", caching=False)
    {'model': 'm', 'max_tokens': 9, 'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi'}]}]}
    """
    parameters: dict[str, Any] = {"model": model, "max_tokens": request.max_tokens}
    parameters |= thinking_parameters(request.thinking, request.max_tokens, thinking)
    mark = {"cache_control": CACHED} if caching else {}
    if request.tools:
        parameters["tools"] = [_tool(tool) for tool in request.tools]
    if request.system.strip():
        parameters["system"] = [{"type": "text", "text": request.system} | mark]
    parameters["messages"] = [{"role": message.role, "content": content} for message in request.messages if (content := _content(message))]
    sent: dict[str, Any] = _sendable(parameters | mark)
    return sent


def thinking_parameters(level: ThinkingLevel | None, max_tokens: int, style: ThinkingStyle) -> dict[str, Any]:
    """The API's configuration for a thinking level; nothing where the level is the provider's choice. Off too where the reply has no room for it.

    >>> thinking_parameters("high", 8192, "adaptive")
    {'thinking': {'type': 'adaptive'}, 'output_config': {'effort': 'high'}}
    >>> thinking_parameters("high", 8192, "budget")
    {'thinking': {'type': 'enabled', 'budget_tokens': 5120}}
    >>> thinking_parameters("high", 1024, "budget")
    {'thinking': {'type': 'disabled'}}
    """
    if level is None or level == "inherit":
        return {}
    if level == "off":
        return {"thinking": {"type": "disabled"}}
    if style == "adaptive":
        return {"thinking": {"type": "adaptive"}, "output_config": {"effort": EFFORTS[level]}}
    if max_tokens <= LEAST_BUDGET:
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "enabled", "budget_tokens": max(LEAST_BUDGET, max_tokens * EIGHTHS[level] // 8)}}


def _sendable(value: Any) -> Any:
    """JSON data in which every text can be sent: a lone surrogate, as file names that are not UTF-8 have them, is written out."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode("utf-8")
        case dict():
            return {_sendable(key): _sendable(each) for key, each in value.items()}
        case list():
            return [_sendable(each) for each in value]
        case _:
            return value


def _tool(tool: ToolSpec) -> dict[str, object]:
    # The API wants every schema to say so; an engine's tool takes nothing but objects.
    return tool.to_wire() | {"input_schema": {"type": "object"} | {key: thaw(value) for key, value in tool.input_schema.items()}}


def _content(message: Message) -> list[dict[str, object]]:
    return [block_to_wire(block) for block in message.content if not (isinstance(block, Text) and not block.text.strip())]


def from_message(message: object) -> Reply:
    """The reply that the SDK's message says, or the same as JSON data; ReplyError for anything that is not a message.

    Blocks of other kinds than `text` and `tool_use` are kept, equal as JSON. A reason to stop that is not known counts as cut: `STOP_REASONS`.

    >>> from_message({"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"}).text
    'Hi'
    >>> from_message("<html>")
    Traceback (most recent call last):
    pipeline.subagent.models.anthropic.ReplyError: the provider answered with something other than a message: '<html>'
    """
    # The SDK reads leniently: what it hands out may be a text, or a message with anything in any field.
    to_dict = getattr(message, "to_dict", None)
    data: Any = message if to_dict is None else to_dict(mode="json", warnings=False)
    match data:
        case {"content": list(blocks)}:
            content = tuple([_block(block) for block in blocks])
            return Reply(content, STOP_REASONS.get(str(data.get("stop_reason")), "max_tokens"), _usage(data.get("usage")))
        case _:
            raise ReplyError(f"the provider answered with something other than a message: {_excerpt(data)}")


def _block(block: Any) -> Text | ToolUse | Kept:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "tool_use", "id": str(used), "name": str(name)}:
            return ToolUse(used, name, _input(block.get("input")))
        case {"type": str(kind)} if kind not in {"text", "tool_use"}:
            return _kept(block)
        case _:
            raise ReplyError(f"the provider's message has a block that cannot be read: {_excerpt(block)}")


def _kept(block: Mapping[str, object]) -> Kept:
    try:
        return Kept(_frozen(block))
    except TypeError as error:
        raise ReplyError(f"the provider's message has a block that is no JSON ({error}): {_excerpt(block)}") from error


def _input(given: Any) -> JsonObject:
    try:
        match given:
            case Mapping():
                return _frozen(given)
            case None:
                return JsonObject({})
            case _:
                return JsonObject({NOT_AN_OBJECT: freeze(given)})
    except TypeError as error:  # it holds a number that is too large to be one
        return JsonObject({NOT_AN_OBJECT: str(error)})


def _frozen(data: Mapping[str, object]) -> JsonObject:
    return JsonObject({key: freeze(value) for key, value in data.items()})


def _usage(data: object) -> Usage:
    if not isinstance(data, Mapping):
        return NOTHING_USED
    keys = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return Usage(*[count if isinstance(count := data.get(key), int) and count > 0 else 0 for key in keys])


def _excerpt(data: object, length: int = 200) -> str:
    text = repr(data)
    return text if len(text) <= length else f"{text[:length]}..."
