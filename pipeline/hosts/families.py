"""The places that xcsh documents, and the keys that agent files hold: the only module that knows the name of a folder."""

from __future__ import annotations

from typing import Final

from pipeline.hosts.host import CommandPlace, Family, Plugins, Registry

FAMILIES: Final = (
    Family(project=".xcsh/agents", user=".xcsh/agent/agents"),
    Family(project=".claude/agents", user=".claude/agents"),
    Family(project=".codex/agents", user=".codex/agents"),
    Family(project=".gemini/agents", user=".gemini/agents"),
)

PLUGINS: Final = Plugins(
    registries=(
        Registry(".claude/plugins/installed_plugins.json"),
        Registry(".xcsh/plugins/installed_plugins.json"),
        Registry(".xcsh/plugins/installed_plugins.json", of_project=True),
    ),
    folder="agents",
    markers=(".xcsh", ".git"),
)

_AGENT_STANDARD: Final = (".agent/commands", ".agents/commands")
COMMANDS: Final = (
    CommandPlace((".xcsh/commands",), "cwd", unless_empty=".xcsh"),
    CommandPlace((".xcsh/agent/commands",), "home", unless_empty=".xcsh/agent"),
    CommandPlace((".claude/commands",), "home"),
    CommandPlace((".claude/commands",), "cwd"),
    CommandPlace(("commands",), "plugin", naming="plugin and stem"),
    CommandPlace(_AGENT_STANDARD, "upward"),
    CommandPlace(_AGENT_STANDARD, "home"),
    CommandPlace((".codex/commands",), "home", naming="frontmatter", keeps_description=False),
    CommandPlace((".codex/commands",), "cwd", naming="frontmatter", keeps_description=False),
    CommandPlace((".config/opencode/commands",), "home", naming="frontmatter", keeps_description=False),
    CommandPlace((".opencode/commands",), "cwd", naming="frontmatter", keeps_description=False),
)

KNOWN_KEYS: Final = frozenset({"name", "description", "tools", "spawns", "model", "thinkingLevel", "thinking", "blocking", "output"})

FOREIGN_KEYS: Final = frozenset(
    {
        *("color", "maxTurns", "permissionMode", "skills", "hooks", "memory", "background", "isolation", "effort", "mcpServers"),
        *("initialPrompt", "kind", "displayName", "temperature", "timeoutMins", "approvalMode", "mode", "permission", "disable"),
        *("hidden", "steps", "target", "infer", "handoffs", "argumentHint", "license", "version", "author", "tags", "metadata", "category"),
    }
)
