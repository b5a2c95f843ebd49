"""Which family a model belongs to. Models of one family err alike, so a panel warns when all its seats share one."""

from __future__ import annotations

import re

# Words of each family in the parts of a model id, whoever serves it: names of models, and of those who make them.
_FAMILIES = (
    ("anthropic", r"claude|anthropic"),
    ("openai", r"gpt|davinci|\bo[1-9]\b|openai"),
    ("google", r"gemini|gemma|\bpalm\b|google"),
    ("meta", r"(?<!o)llama"),  # not Ollama, who serves all of them
    ("qwen", r"qwen|qwq"),
    ("mistral", r"mistral|mixtral|ministral|magistral|codestral|devstral|pixtral"),
    ("deepseek", r"deepseek"),
    ("xai", r"grok|\bx-?ai\b"),
    ("cohere", r"\bcommand\b|cohere|\baya\b"),
    ("microsoft", r"\bphi-?\d|\bphi\b|microsoft"),
    ("amazon", r"\bnova\b|\btitan\b|amazon"),
    ("moonshot", r"kimi|moonshot"),
    ("zhipu", r"glm|\bz-?ai\b|zhipu"),
    ("nvidia", r"nemotron|nvidia"),
)
_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _FAMILIES)


def family(model: str) -> str:
    """The family of a model id such as `openrouter/meta-llama/llama-3.3-70b`; the id itself where none is known.

    The name of the model says more than who made it, and that more than who serves it.

    >>> family("openrouter/anthropic/claude-sonnet"), family("openai/o3-mini"), family("vllm/our-own-7b")
    ('anthropic', 'openai', 'vllm/our-own-7b')
    """
    for part in reversed(model.casefold().split("/")):
        for known, pattern in _PATTERNS:
            if pattern.search(part):
                return known
    return model
