"""A new prompt to start from: a copy of a shipped one, or the versioned form of a `{transcript}` template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jury.errors import ConfigError
from jury.prompts import PROMPT_FILE, SYSTEM_FILE, PromptSpec, load, shipped
from jury.sessions.criteria import criterion
from jury.sessions.legacy import LegacyTemplate, is_legacy

_BLANK = "policy"
_SESSION = [
    {"role": "user", "content": "a request of your users"},
    {"role": "assistant", "content": "what a good agent answers"},
]


def start(target: str | Path, source: str | Path | None = None) -> Path:
    """Writes the folder of a new prompt; returns it. `source` is a shipped name, a prompt, or a `{transcript}` file.

    Raises `ConfigError` where the folder exists, or the source cannot be read.
    """
    folder = Path(target)
    if folder.exists():
        raise ConfigError(f"{folder} exists: a new prompt gets a folder of its own")
    spec = load(source) if source is not None else shipped(_BLANK)
    files = _from_legacy(spec, folder.name) if is_legacy(spec.user) else _copied(spec, folder.name)
    try:
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from None
    return folder


def _copied(spec: PromptSpec, name: str) -> dict[str, str]:
    changelog = {"1": f"from {spec.name} {spec.version}"}
    meta: dict[str, Any] = {**spec.meta, "name": name, "version": "1", "changelog": changelog}
    if "key" in meta:
        meta["key"] = name.replace("-", "_")
    if "rubric" in meta:
        meta["rubric"] = {**meta["rubric"], "name": name}
    made = {PROMPT_FILE: _with_meta(meta, spec.user), SYSTEM_FILE: f"{spec.system}\n"}
    cases = Path(str(spec.path)) / "cases.jsonl"
    if cases.is_file():
        made["cases.jsonl"] = cases.read_text("utf-8")
    return made


def _from_legacy(spec: PromptSpec, name: str) -> dict[str, str]:
    one = criterion(str(spec.path), {})
    meta: dict[str, Any] = {
        "name": name,
        "version": "1",
        "kind": "session",
        "key": name.replace("-", "_"),
        "description": "say in one sentence what this prompt asks",
        "verdicts": list(one.reply.verdicts),
        "fields": dict(one.reply.fields),
        "needs_context": one.needs_context,
        "every_event": True,
        "source": f"made from the template {spec.name}",
        "changelog": {"1": "first version"},
    }
    cases = [
        {"id": f"my-{word.lower()}", "expect": word, "session": {"messages": _SESSION}} for word in ("PASS", "FAIL")
    ]
    if one.needs_context:
        cases = [{**case, "context": "what the agent was to go by"} for case in cases]
    user = LegacyTemplate(spec.user, name=spec.name).mustache()
    return {
        PROMPT_FILE: _with_meta(meta, user),
        "cases.jsonl": "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases),
    }


def _with_meta(meta: dict[str, Any], user: str) -> str:
    import yaml

    front = yaml.safe_dump(meta, sort_keys=False, allow_unicode=True, width=110)
    return f"---\n{front}---\n{user.strip()}\n"
