"""Names, addresses and keys: who is found under which name, and which key may go where."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jury.errors import ConfigError, MissingExtra, ProviderError
from jury.providers import endpoints, registry
from jury.providers.anthropic import AnthropicProvider
from jury.providers.base import Provider
from jury.providers.endpoints import KNOWN, Endpoint
from jury.providers.openai import OpenAIProvider

COMPATIBLE = (
    *("azure", "deepseek", "fireworks", "gemini", "groq", "mistral", "ollama"),
    *("openrouter", "together", "vllm", "xai"),
)
HEAVY = ("openai", "anthropic", "aiohttp", "httpx2", "pydantic", "numpy")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """No key, no address and no configuration of the machine."""
    import os

    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL", "_AUTH_TOKEN", "_ENDPOINT")) or name.startswith(
            ("JURY_", "OLLAMA_")
        ):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    registry.reset()
    yield
    registry.reset()


@pytest.fixture
def configured(tmp_path: Path) -> Any:
    return lambda text: (tmp_path / "jury.yaml").write_text(text)


def found(name: str) -> Endpoint:
    endpoint = endpoints.find(name)
    assert endpoint is not None
    return endpoint


@pytest.mark.parametrize(
    ("judge_id", "parts"),
    [
        ("openai/gpt-5-mini", ("openai", "gpt-5-mini")),
        ("openrouter/meta-llama/llama-3.3-70b:free", ("openrouter", "meta-llama/llama-3.3-70b:free")),
        (" groq/openai/gpt-oss-120b ", ("groq", "openai/gpt-oss-120b")),
        ("scripted//tmp/x.json", ("scripted", "/tmp/x.json")),
    ],
)
def test_a_judge_id_splits_at_its_first_slash(judge_id: str, parts: tuple[str, str]) -> None:
    assert registry.split(judge_id) == parts


@pytest.mark.parametrize(
    ("judge_id", "says"),
    [
        ("gpt-5-mini", "openai/gpt-5-mini"),
        ("gpt-5-mimi", "openai/gpt-5-mini"),
        ("claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
        ("gemini-2.5-flash", "gemini/gemini-2.5-flash"),
        ("openai:gpt-5", "openai/gpt-5"),
        ("my-own-model", "<provider>/<model>"),
        ("", "<provider>/<model>"),
        ("openai/", "<provider>/<model>"),
        ("/gpt-5", "<provider>/<model>"),
    ],
)
def test_a_bare_model_is_told_how_to_be_written(judge_id: str, says: str) -> None:
    with pytest.raises(ConfigError, match="provider") as caught:
        registry.split(judge_id)
    assert says in str(caught.value)


@pytest.mark.parametrize("judge_id", ["checks.py", "evals/checks.py", " checks.py "])
def test_a_file_without_its_function_is_told_so(judge_id: str) -> None:
    with pytest.raises(ConfigError, match=rf"is a file: say which function in it, {judge_id.strip()}:NAME"):
        registry.split(judge_id)


def test_known_names_need_no_key_to_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://res.openai.azure.com/")
    for name in COMPATIBLE:
        provider = registry.provider(name)
        assert isinstance(provider, OpenAIProvider)
        assert provider.name == name
        assert isinstance(provider, Provider)
    assert isinstance(registry.provider("anthropic"), AnthropicProvider)
    assert registry.provider("openai-responses").endpoint.api == "responses"  # type: ignore[attr-defined]
    assert set(COMPATIBLE) < set(registry.names())
    assert {"local", "scripted", "openai", "anthropic"} < set(registry.names())


def test_one_instance_serves_a_name_until_its_address_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    first = registry.provider("openai")
    assert registry.provider("openai") is first
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    second = registry.provider("openai")
    assert second is not first
    assert registry.provider("openai") is second


@pytest.mark.parametrize(
    ("name", "says"), [("opnai", "openai"), ("grok", "groq"), ("meta-llama", "openrouter/meta-llama")]
)
def test_an_unknown_name_is_told_near_ones(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match="no provider is named") as caught:
        registry.provider(name)
    assert says in str(caught.value)
    assert f"{endpoints.env_name(name)}_URL" in str(caught.value)


def test_addresses_of_the_vendors_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://proxy.example")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://res.openai.azure.com/")
    monkeypatch.setenv("OLLAMA_HOST", "10.0.0.5")
    assert found("openai").base_url == "https://proxy.example/v1"
    assert found("openai").secret() == "key-of-openai"  # address and key were set side by side, on purpose
    assert found("anthropic").base_url == "https://proxy.example"
    assert found("azure").base_url == "https://res.openai.azure.com/openai/v1"
    assert found("ollama").base_url == "http://10.0.0.5:11434/v1"


def test_azure_without_its_address_says_what_to_set() -> None:
    with pytest.raises(ConfigError, match="AZURE_OPENAI_ENDPOINT"):
        registry.provider("azure")


def test_an_endpoint_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURY_PROVIDER_MY_SERVER_URL", "http://127.0.0.1:8001/v1")
    assert found("my-server").secret() is None
    monkeypatch.setenv("JURY_PROVIDER_MY_SERVER_KEY", "key-of-mine")
    assert found("my-server").secret() == "key-of-mine"
    monkeypatch.setenv("JURY_PROVIDER_MY_SERVER_API", "anthropic")
    assert isinstance(registry.provider("my-server"), AnthropicProvider)
    monkeypatch.setenv("JURY_PROVIDER_MY_SERVER_API", "soap")
    with pytest.raises(ConfigError, match="api must be one of"):
        found("my-server")


def test_endpoints_of_the_configuration(monkeypatch: pytest.MonkeyPatch, configured: Any) -> None:
    configured(
        "providers:\n"
        "  lab: {base_url: 'http://lab:8000/v1', key_env: LAB_KEY}\n"
        "  free: {base_url: 'http://free:8000/v1', api: responses}\n"
        "  groq: {key_env: GROQ_TEAM_KEY}\n"
    )
    monkeypatch.setenv("LAB_KEY", "key-of-lab")
    monkeypatch.setenv("GROQ_API_KEY", "key-of-groq")
    monkeypatch.setenv("GROQ_TEAM_KEY", "key-of-team")
    assert found("lab").secret() == "key-of-lab"
    assert (found("free").secret(), found("free").api) == (None, "responses")
    assert (found("groq").base_url, found("groq").secret()) == (KNOWN["groq"].base_url, "key-of-team")
    assert {"lab", "free"} < set(registry.names())


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("{key_env: X}", "needs base_url"),
        ("{base_url: 'ftp://x'}", "http"),
        ("{base_url: 'localhost:8000'}", "http"),
        ("{base_url: 'https://me:secret@x/v1'}", "must not hold a password"),
        ("{base_url: 'http://x', api_key: abc}", "never in a file"),
        ("{base_url: 'http://x', api: soap}", "api must be one of"),
        ("{base_url: 5}", "must be texts"),
    ],
)
def test_a_wrong_endpoint_is_told(configured: Any, row: str, says: str) -> None:
    configured(f"providers:\n  lab: {row}\n")
    with pytest.raises(ConfigError, match="lab") as caught:
        registry.provider("lab")
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)


FOREIGN = [
    ("JURY_PROVIDER_OPENAI_URL", "openai"),
    ("JURY_PROVIDER_GROQ_URL", "groq"),
    ("JURY_PROVIDER_ANTHROPIC_URL", "anthropic"),
    ("JURY_PROVIDER_MINE_URL", "mine"),
]


@pytest.mark.parametrize(("variable", "name"), FOREIGN)
def test_no_key_of_a_vendor_goes_to_another_address(monkeypatch: pytest.MonkeyPatch, variable: str, name: str) -> None:
    for vendor in ("OPENAI", "GROQ", "ANTHROPIC"):
        monkeypatch.setenv(f"{vendor}_API_KEY", f"key-of-{vendor}")
    monkeypatch.setenv(variable, "http://elsewhere.example/v1")
    assert found(name).secret() is None
    monkeypatch.setenv(variable.replace("_URL", "_KEY"), "key-for-elsewhere")
    assert found(name).secret() == "key-for-elsewhere"


def test_a_configured_address_gets_no_key_it_does_not_name(monkeypatch: pytest.MonkeyPatch, configured: Any) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    configured("providers:\n  openai: {base_url: 'http://elsewhere.example/v1'}\n")
    assert found("openai").secret() is None
    configured("providers:\n  openai: {base_url: 'http://elsewhere.example/v1', key_env: OPENAI_API_KEY}\n")
    assert found("openai").secret() == "key-of-openai"


@pytest.mark.parametrize("name", [n for n in KNOWN if not KNOWN[n].open and n != "azure"])
def test_each_vendor_has_a_variable_of_its_own(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for other in KNOWN.values():
        for variable in other.key_env:
            if variable not in KNOWN[name].key_env:
                monkeypatch.setenv(variable, "key-of-another")
    with pytest.raises(ProviderError) as caught:
        found(name).secret()
    assert caught.value.kind == "auth"
    assert KNOWN[name].key_env[0] in caught.value.detail
    assert registry.key_problem(name) == caught.value.detail


def test_open_servers_need_no_key() -> None:
    assert registry.key_problem("ollama") is None
    assert registry.key_problem("vllm") is None


def test_a_local_judge_needs_its_runtime_and_its_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.setenv("JURY_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("JURY_LOCAL_GGUF", "model.gguf")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(MissingExtra, match=r'runtime is not installed: pip install "jury-llm\[local\]"'):
        registry.key_problem("local")
    (tmp_path / "xllamacpp.py").write_text("", "utf-8")
    sys.path_importer_cache.clear()
    assert registry.key_problem("local") is None  # with a file of one's own
    monkeypatch.delenv("JURY_LOCAL_GGUF")
    with pytest.raises(MissingExtra, match="its packages missing"):
        registry.key_problem("local")


def test_an_unknown_name_is_no_matter_of_keys() -> None:
    with pytest.raises(ConfigError, match="no provider is named"):
        registry.key_problem("opnai")


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "tab\tkey"])
def test_a_key_that_cannot_be_sent_is_told_without_being_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ProviderError) as caught:
        found("openai").secret()
    assert caught.value.kind == "auth"
    assert key not in str(caught.value)


def test_blanks_around_a_key_are_forgiven_and_a_blank_key_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "  key-of-openai\n")
    assert found("openai").secret() == "key-of-openai"
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    assert registry.key_problem("openai") is not None


def test_no_key_shows_in_a_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JURY_PROVIDER_GROQ_KEY", "key-not-to-be-seen")
    assert "not-to-be-seen" not in repr(found("groq")) + repr(registry.provider("groq"))
    by_hand = OpenAIProvider(api_key="key-not-to-be-seen")
    assert "not-to-be-seen" not in repr(by_hand) + repr(by_hand.endpoint)


def test_by_hand_a_key_goes_to_the_named_address_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    assert OpenAIProvider().endpoint.secret() == "key-of-openai"
    assert OpenAIProvider(api_key="mine").endpoint.secret() == "mine"
    assert OpenAIProvider(base_url="http://127.0.0.1:1/v1").endpoint.secret() is None
    assert OpenAIProvider(base_url="http://127.0.0.1:1/v1", api_key="mine").endpoint.secret() == "mine"
    assert AnthropicProvider(base_url="http://127.0.0.1:1").endpoint.api == "anthropic"
    with pytest.raises(ConfigError, match="api must be"):
        OpenAIProvider(api="anthropic")


class _Point:
    def __init__(self, name: str, loaded: Any) -> None:
        self.name = name
        self._loaded = loaded

    def load(self) -> Any:
        return self._loaded


class Plugin:
    name = "plugin"

    def rungs(self, model: str) -> tuple[str, ...]:
        return ("text",)

    async def complete(self, request: Any) -> Any:
        raise AssertionError


def test_entry_points_add_providers_and_take_no_built_in_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [_Point("plugin", Plugin), _Point("made", Plugin()), _Point("openai", Plugin), _Point("broken", object)]
    monkeypatch.setattr(
        registry, "entry_points", lambda group, name=None: [p for p in points if name in (None, p.name)]
    )
    assert isinstance(registry.provider("plugin"), Plugin)
    assert registry.provider("made") is points[1].load()
    assert isinstance(registry.provider("openai"), OpenAIProvider)
    assert "plugin" in registry.names()
    with pytest.raises(ConfigError, match="which is no provider"):
        registry.provider("broken")


def loaded(code: str) -> set[str]:
    """Which of the heavy modules a fresh process has loaded after some code."""
    code += f"\nimport sys\nprint(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


CALL = """
import asyncio, os
from jury.errors import ProviderError
from jury.providers.base import Request, Turn
from jury.providers.registry import provider
os.environ.update(OPENAI_API_KEY="k" * 8, ANTHROPIC_API_KEY="k" * 8)
os.environ.update(OPENAI_BASE_URL="http://127.0.0.1:1/v1", ANTHROPIC_BASE_URL="http://127.0.0.1:1")
async def main():
    try:
        await provider("{name}").complete(Request("m", "", (Turn("user", "x"),)))
    except ProviderError as error:
        assert error.kind == "connection", error
asyncio.run(main())
"""


def test_names_and_keys_are_looked_up_without_an_sdk() -> None:
    code = "from jury.providers.registry import key_problem, names, provider, split\n"
    code += "split('openai/x'); names(); key_problem('openai'); key_problem('anthropic'); provider('scripted')"
    assert loaded(code) == set()


@pytest.mark.parametrize(("name", "other"), [("openai", "anthropic"), ("anthropic", "openai")])
def test_a_run_of_one_vendor_never_loads_the_others_sdk(name: str, other: str) -> None:
    modules = loaded(CALL.replace("{name}", name))
    assert name in modules
    assert other not in modules
