"""What a fork promises: the provider's cache sees its parent, and it is the last of its line."""

from __future__ import annotations

from dataclasses import replace

from returns.pipeline import is_successful

from pipeline.subagent.caching import cache_key, first_divergence, wire_bytes
from pipeline.subagent.conversation import Conversation
from pipeline.subagent.messages import Message, Text
from pipeline.subagent.starting import fork, is_fork


def a_fork_s_bytes_begin_with_its_parent_s(parent: Conversation, directive: str) -> None:
    """System prompt, tools, model and thinking of a fork are its parent's, byte for byte, and so are its messages, as far as the parent's go."""
    made = fork(parent, directive).unwrap()
    number = len(parent.messages)
    assert cache_key(made.request, messages=number) == cache_key(parent.request)
    assert first_divergence(parent.request, made.request) is None
    whole, prefix = (wire_bytes([message.to_wire() for message in each.messages]) for each in (made, parent))
    assert whole.startswith(prefix[:-1])
    assert len(made.messages) == number + 1


def siblings_differ_only_in_their_directive(parent: Conversation, one: str, other: str) -> None:
    """Two forks of one conversation are the same but for the last block of their last message."""
    first, second = fork(parent, one).unwrap(), fork(parent, other).unwrap()
    assert _without_directive(first) == _without_directive(second)
    assert first.messages[-1].content[-1] == Text(one)
    divergence = first_divergence(first.request, second.request)
    assert (divergence is None) == (one == other)
    if divergence is not None:
        assert divergence.part == "messages"
        assert divergence.place.startswith(f"/{len(parent.messages)}/content/{len(first.messages[-1].content) - 1}/text@")


def _without_directive(conversation: Conversation) -> Conversation:
    last = conversation.messages[-1]
    return replace(conversation, messages=conversation.messages[:-1].append(Message(last.role, last.content[:-1])))


def a_fork_is_never_forked(parent: Conversation, directive: str) -> None:
    """A fork is refused a fork of its own, told by its history alone and by its origin alone; a parent never is, whatever tags its texts quote."""
    assert not is_fork(parent.messages)
    made = fork(parent, directive).unwrap()
    for told in (made, replace(made, forked=False), replace(parent, forked=True)):
        assert not is_successful(fork(told, directive))


def a_fork_may_use_no_more_than_its_parent(parent: Conversation, directive: str) -> None:
    """What a fork may use is among what its parent may use, fewer tools still where it may start nobody."""
    free, alone = (fork(parent, directive, may_spawn=may_spawn).unwrap() for may_spawn in (True, False))
    names = [spec.name for spec in parent.tools]
    assert (
        {name for name in names if alone.may_use(name)}
        <= {name for name in names if free.may_use(name)}
        <= {name for name in names if parent.may_use(name)}
    )


def a_fork_leaves_its_parent_alone(parent: Conversation, directive: str) -> None:
    """A parent is after a fork what it was before."""
    before = list(parent.messages)
    fork(parent, directive)
    assert list(parent.messages) == before
