"""Running a sub-agent in a clean context: a conversation is a value, a pure function takes it one step, a driver does what the step wants."""

from typing import TYPE_CHECKING

from pipeline.later import later

if TYPE_CHECKING:
    from pipeline.subagent.budget import Budget, Prices
    from pipeline.subagent.caching import CacheKey, Divergence, cache_key, first_divergence
    from pipeline.subagent.cancellation import Cancellation
    from pipeline.subagent.context import Context
    from pipeline.subagent.conversation import (
        TRANSITIONS,
        Aborted,
        Answered,
        AwaitNews,
        Begun,
        CallModel,
        Conclude,
        Conclusion,
        Conversation,
        Failed,
        Judge,
        Judged,
        Notified,
        OutOfBudget,
        Prompted,
        ProtocolError,
        Refused,
        Replied,
        Resumed,
        RunTools,
        Step,
    )
    from pipeline.subagent.engine import Options
    from pipeline.subagent.messages import Message, Reply, Text, ToolResult, ToolUse, Usage
    from pipeline.subagent.models.anthropic import AnthropicModel
    from pipeline.subagent.models.function import FunctionModel
    from pipeline.subagent.models.protocol import Model
    from pipeline.subagent.models.scripted import Line, ScriptedModel
    from pipeline.subagent.models.scripts import load_script, parse_script
    from pipeline.subagent.modes import CLEAN, FORK_BY_NAME, FORKING, ModePolicy, select_mode
    from pipeline.subagent.permission import Allow, Ask, Deny, Occasion, allow_all, deny_destructive, settled
    from pipeline.subagent.requests import ModelRequest, ToolSpec
    from pipeline.subagent.running import Execution, Turn, converse, converse_sync, execute, execute_sync, root_context, run, run_sync
    from pipeline.subagent.starting import FORK_TAG, begin, begin_main, fork, is_fork
    from pipeline.subagent.step import advance
    from pipeline.subagent.tools import Answer, Tool, ToolCall, ToolError

__all__ = [
    "CLEAN",
    "FORKING",
    "FORK_BY_NAME",
    "FORK_TAG",
    "TRANSITIONS",
    "Aborted",
    "Allow",
    "Answer",
    "Answered",
    "AnthropicModel",
    "Ask",
    "AwaitNews",
    "Begun",
    "Budget",
    "CacheKey",
    "CallModel",
    "Cancellation",
    "Conclude",
    "Conclusion",
    "Context",
    "Conversation",
    "Deny",
    "Divergence",
    "Execution",
    "Failed",
    "FunctionModel",
    "Judge",
    "Judged",
    "Line",
    "Message",
    "ModePolicy",
    "Model",
    "ModelRequest",
    "Notified",
    "Occasion",
    "Options",
    "OutOfBudget",
    "Prices",
    "Prompted",
    "ProtocolError",
    "Refused",
    "Replied",
    "Reply",
    "Resumed",
    "RunTools",
    "ScriptedModel",
    "Step",
    "Text",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "ToolSpec",
    "ToolUse",
    "Turn",
    "Usage",
    "advance",
    "allow_all",
    "begin",
    "begin_main",
    "cache_key",
    "converse",
    "converse_sync",
    "deny_destructive",
    "execute",
    "execute_sync",
    "first_divergence",
    "fork",
    "is_fork",
    "load_script",
    "parse_script",
    "root_context",
    "run",
    "run_sync",
    "select_mode",
    "settled",
]

_HOMES = {
    "pipeline.subagent.budget": ("Budget", "Prices"),
    "pipeline.subagent.caching": ("CacheKey", "Divergence", "cache_key", "first_divergence"),
    "pipeline.subagent.cancellation": ("Cancellation",),
    "pipeline.subagent.context": ("Context",),
    "pipeline.subagent.conversation": (
        "TRANSITIONS",
        "Aborted",
        "Answered",
        "AwaitNews",
        "Begun",
        "CallModel",
        "Conclude",
        "Conclusion",
        "Conversation",
        "Failed",
        "Judge",
        "Judged",
        "Notified",
        "OutOfBudget",
        "Prompted",
        "ProtocolError",
        "Refused",
        "Replied",
        "Resumed",
        "RunTools",
        "Step",
    ),
    "pipeline.subagent.engine": ("Options",),
    "pipeline.subagent.running": (
        "Execution",
        "Turn",
        "converse",
        "converse_sync",
        "execute",
        "execute_sync",
        "root_context",
        "run",
        "run_sync",
    ),
    "pipeline.subagent.messages": ("Message", "Reply", "Text", "ToolResult", "ToolUse", "Usage"),
    "pipeline.subagent.models.anthropic": ("AnthropicModel",),
    "pipeline.subagent.models.function": ("FunctionModel",),
    "pipeline.subagent.models.protocol": ("Model",),
    "pipeline.subagent.models.scripted": ("Line", "ScriptedModel"),
    "pipeline.subagent.models.scripts": ("load_script", "parse_script"),
    "pipeline.subagent.modes": ("CLEAN", "FORKING", "FORK_BY_NAME", "ModePolicy", "select_mode"),
    "pipeline.subagent.permission": ("Allow", "Ask", "Deny", "Occasion", "allow_all", "deny_destructive", "settled"),
    "pipeline.subagent.requests": ("ModelRequest", "ToolSpec"),
    "pipeline.subagent.starting": ("FORK_TAG", "begin", "begin_main", "fork", "is_fork"),
    "pipeline.subagent.step": ("advance",),
    "pipeline.subagent.tools": ("Answer", "Tool", "ToolCall", "ToolError"),
}

__getattr__ = later(__name__, {name: module for module, names in _HOMES.items() for name in names})
