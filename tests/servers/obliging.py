"""A provider that answers every question with the smallest reply its schema allows, and the environment to find it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.servers.provider_server import ProviderServer, Recorded

ROOT = Path(__file__).parents[2]


def filled(schema: dict[str, Any]) -> Any:
    """The smallest value that a reply schema allows; the first choice of many."""
    if "anyOf" in schema:
        return filled(next(s for s in schema["anyOf"] if s.get("type") != "null"))
    if "enum" in schema:
        return "tie" if "tie" in schema["enum"] else schema["enum"][0]  # not always the same slot
    kind = schema.get("type")
    kind = next(k for k in kind if k != "null") if isinstance(kind, list) else kind
    if kind == "object":
        return {name: filled(node) for name, node in schema.get("properties", {}).items() if name != "abstain"} | (
            {"abstain": False} if "abstain" in schema.get("properties", {}) else {}
        )
    return {"array": [], "string": "It says so.", "boolean": True}.get(str(kind), schema.get("minimum", 1))


def answered(request: Recorded) -> Any:
    """A good reply to a chat completion or a message with a schema."""
    body = request.body
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    schema = schema or body.get("output_config", {}).get("format", {}).get("schema")
    return filled(schema) if schema else {"explanation": "It says so.", "value": True}


def server() -> ProviderServer:
    """Answers Chat Completions and Messages alike; a context manager."""
    return ProviderServer(answered)


def environment(server: ProviderServer, home: Path) -> dict[str, str]:
    """For a command of its own: keys, the server's addresses, a fresh home, and nothing else of ours."""
    keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "SYSTEMROOT")}
    return {
        **keep,
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "OPENAI_API_KEY": "k",
        "ANTHROPIC_API_KEY": "k",
        "OPENAI_BASE_URL": server.openai_url,
        "ANTHROPIC_BASE_URL": server.anthropic_url,
    }
