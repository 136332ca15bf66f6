"""What shell commands would run, and which of them are held to be destructive."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.subagent.shell import grammar
from pipeline.subagent.shell.commands import MAX_DEPTH, MAX_LENGTH, commands_in, reading
from pipeline.subagent.shell.destructive import RULES, destructive, shortened
from pipeline.subagent.shell.words import Words

DATA = Path(__file__).parent / "data"


def commands(name: str) -> list[str]:
    lines = (DATA / name).read_text("utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if not line.startswith("## ")]


@pytest.mark.parametrize("text", [*commands("destructive_commands.txt"), "rm -rf /\0", "rm -rf \ud800 /"])
def test_destructive(text: str) -> None:
    assert destructive(text)


@pytest.mark.parametrize("text", [*commands("harmless_commands.txt"), "", " "])
def test_harmless(text: str) -> None:
    assert destructive(text) is None


def test_the_words_of_commands() -> None:
    assert commands_in("A=1 /bin/l\\s -l \"a b\"'c' $x > out 2>> log < in") == (
        Words("ls", ("-l", "a bc", "$x"), False, ("out", "log"), appended=("log",)),
    )
    assert commands_in("f() { a | b; }") == (Words("a", within=("f",)), Words("b", fed_by=("a",), within=("f",)))
    assert commands_in("{ a; } > x") == (Words("", redirects=("x",)), Words("a"))
    assert commands_in("a; declare b=$(c)") == (Words("a"), Words("declare", ("b=$(c)",), certain=False), Words("c"))
    assert [each.certain for each in commands_in("sudo ls $x; sudo ls; bash -c $x; bash -c 'ls'")] == [False] * 2 + [True] * 2 + [False] * 2 + [
        True
    ] * 2
    assert commands_in('echo " $x  y"') == (Words("echo", (" $x  y",), certain=False),)
    assert commands_in("echo $'\\ud800\\U00110000\\t\\q\\x'") == (Words("echo", ("\ud800\ufffd\tqx",)),)
    assert commands_in(r"e'c'\ ho\  a") == (Words("ec ho ", ("a",)),)
    assert commands_in("\u00e9\u3000\U0001d79b \u00fc") == (Words("\u00e9\u3000\U0001d79b", ("\u00fc",)),)
    assert commands_in("find . ! -name x \\( ! -name y \\)") == (Words("find", (".", "!", "-name", "x", "(", "!", "-name", "y", ")")),)
    assert commands_in("! ls '; ! x'") == (Words("ls", ("; ! x",)),)
    assert commands_in("a | b | a | c")[-1].fed_by == ("a", "b")
    assert commands_in("echo {a,b}{c,d} '{a,b}'") == (Words("echo", ("ac", "ad", "bc", "bd", "{a,b}")),)


def test_words_of_great_length_are_cut_or_left_alone() -> None:
    assert len(commands_in("echo {" + ",".join("ab" * 20) + "}{a,b}" + "{a,b}" * 20)[0].arguments) <= 200
    assert commands_in("echo {" + "a," * 1000 + "}")[0].arguments == ("{" + "a," * 1000 + "}",)
    assert commands_in(f"echo $(ls {'x' * 2000})")[0].arguments == (f"$(ls {'x' * 995}",)
    assert len(commands_in(" | ".join(f"c{number}" for number in range(50)))[-1].fed_by) == 16


def test_reasons() -> None:
    assert destructive("ls; rm -rf ~/*") == "rm -r of ~/* destroys what it names"
    assert destructive(f"rm -rf /{'./' * 100}") == f"rm -r of /{'./' * 28}... destroys what it names"
    assert destructive("git push -f") == "git push throws away what cannot be had back"
    assert shortened("a\nb\x1b") == "a\ufffdb\ufffd"
    assert len(RULES) == len(set(RULES))


def test_what_cannot_be_read_is_not_allowed() -> None:
    assert destructive("ls " + "x" * MAX_LENGTH) == "the text is longer than 100000 characters: it cannot be judged"
    assert destructive("sudo " * (MAX_DEPTH + 1) + "ls") == "commands are wrapped in more than 12 others: it cannot be judged"
    assert destructive("sudo " * 1000 + "ls") is not None
    assert destructive("curl x | " + "sudo " * 20 + "sh") is not None
    assert destructive("a | " * 2000 + "a") == "the text is too tangled to be parsed: it cannot be judged"
    assert destructive("bash -c '" + "x " * 40_000 + "'" + " | sh" * 10) is None
    many = " && ".join(["xargs ls"] * 200) + " <<EOF\n" + "x " * 20_000 + "\nEOF"
    assert destructive(many) == "the text runs too much text in its turn: it cannot be judged"
    product = f"find {'a ' * 3_000} -exec echo {'{} ' * 3_000} +"
    assert destructive(product) == "the text runs too much text in its turn: it cannot be judged"
    assert reading("ls | sh").unread is None


def test_a_parser_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "MAX_SECONDS", -1.0)
    assert destructive("a; " * 1000) == "the text is too tangled to be parsed: it cannot be judged"


@pytest.mark.parametrize(
    "opening", ["$(", "echo $(", "(", "{ ", '"$(', "if ", "`", "f(){ ", "<(", "! ", "sudo ", "eval ", "${", "[[ ", "$((", "'", "\\"]
)
def test_deep_nesting_ends_in_an_answer(opening: str) -> None:
    destructive(opening * 3_000)
    destructive(opening * 3_000 + "a | b")
    destructive(opening * 300 + "rm -rf /" + ")" * 300)
