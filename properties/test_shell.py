"""The laws of the deny list: it answers every text, quoting disarms, wrapping does not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.subagent.shell.commands import commands_in
from pipeline.subagent.shell.destructive import destructive

DESTRUCTIVE = st.sampled_from(
    ("rm -rf /", "/bin/rm -r -f ~", "git push --force", "mkfs.ext4 /dev/sda1", "shutdown now", "chmod -R 777 /etc", "kill -9 -1")
)
TOKENS = "$(( )) ${ $' $( <( <<< case_ in_ esac if_ then_ fi for_ do_ done [[_ _]] function_ sudo_ xargs_ bash_-c_ eval_ find_ -exec_ echo_ git_push_"
PIECES = st.sampled_from(
    (*"abrm -rf/'\"`$(){}[]<>|&;\n\\#!*?~=:\0,+\ud800é", "<<E\n", "\nE\n", *(token.replace("_", " ") for token in TOKENS.split()))
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))
BEFORE = st.sampled_from(
    (
        *("sudo -u root", "doas", "env -i A=1", "command", "nohup", "nice -n 5", "timeout -s KILL 5", "setsid", "busybox", "xargs", "stdbuf -oL"),
        *("time", "$SUDO", "chrt -f 50", "flock x", "timeout --kill 5 9", "strace -o log", "systemd-run --unit x", "unshare -r", "setarch i386 -R"),
    )
)


def _quoted(form: str) -> Callable[[str], str]:
    return lambda text: form.format(shlex.quote(text))


def _as_is(form: str) -> Callable[[str], str]:
    return lambda text: form.replace("END", f"END{len(text)}").replace("TEXT", text)


def _in_backquotes(form: str) -> Callable[[str], str]:
    return lambda text: form.replace("END", f"END{len(text)}").format("`" + re.sub(r"([\\`$])", r"\\\1", text) + "`")


AROUND = st.sampled_from(
    (
        *map(
            _quoted,
            (
                "bash -c {}",
                "eval -- {}",
                "flock x -c {}",
                "script -qc {}",
                "{{ echo {}; }} | sh",
                "bash <(echo {})",
                "sh 0<<< {}",
                "echo {} | tee >(sh)",
            ),
        ),
        *map(
            _quoted,
            (
                "source /dev/stdin <<< {}",
                "sudo sh -ec {}",
                "eval {}",
                "echo {} | sh",
                "printf '%s' {} | sudo bash -s",
                "bash <<< {}",
                "trap {} EXIT",
                "su -c {}",
            ),
        ),
        *map(
            _as_is,
            ("( TEXT )", "{ TEXT; }", "true && TEXT", "false; TEXT", "x=$( TEXT )", "cat <( TEXT )", 'echo "$( TEXT )"', "if true; then TEXT; fi"),
        ),
        *map(_as_is, ("echo ${x:-$( TEXT )}", "! { TEXT; }", "coproc X { TEXT; }", "cat <<A && cat <<END\nx\nA\n$( TEXT )\nEND\n")),
        *map(_in_backquotes, ("echo {}", 'echo "{}"', "cat <<END\n{}\nEND\n", "echo ${{x#{}}}")),
        *map(
            _as_is, ("f() { TEXT; }; f", "while true; do TEXT; done", "case a in a) TEXT;; esac", "! TEXT", "TEXT | cat", "bash <<'END'\nTEXT\nEND\n")
        ),
    )
)


@given(TEXTS)
@example("$(" * 50)
@example("*\n\xdb\xb3\x92j\x0e\U0001d79b\xdfP\U0006fb47{\U000eb861\U0001f331f\x157\xd7")
@example("a <<E | b <<F\nE\nF\n")
def test_every_text_has_an_answer(text: str) -> None:
    """Any text gives commands and a reason or none, the same each time, never a crash."""
    reason = destructive(text)
    assert reason is None or 0 < len(reason) < 200
    assert commands_in(text) == commands_in(text)


@given(st.one_of(DESTRUCTIVE, TEXTS))
def test_a_quoted_text_is_harmless(text: str) -> None:
    """A text that is only an argument of an echo runs nothing."""
    assert destructive(f"echo {shlex.quote(text)}") is None


@given(DESTRUCTIVE, st.lists(BEFORE, max_size=3), st.lists(AROUND, max_size=3))
def test_wrapping_does_not_hide(command: str, before: list[str], around: list[Callable[[str], str]]) -> None:
    """A destructive command stays one behind any chain of wrappers."""
    text = " ".join((*before, command))
    for wrap in around:
        text = wrap(text)
    assert destructive(text)


@given(DESTRUCTIVE, st.data())
def test_quotes_within_words_change_nothing(command: str, data: st.DataObject) -> None:
    """A letter may be quoted in every way a shell knows: the word is the same. (A tilde is not quoted: it would be a name.)"""
    forms = ("{}", "'{}'", '"{}"', "\\{}", "$'{}'")
    text = "".join(letter if letter in " ~" else data.draw(st.sampled_from(forms)).format(letter) for letter in command)
    assert destructive(text)
