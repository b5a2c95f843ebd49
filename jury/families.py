"""Which family a model belongs to. Models of one family err alike, so a panel warns when all its seats share one."""

from __future__ import annotations

import re

# Words that occur in the model ids of each family, whoever serves them. The first match wins.
_FAMILIES = (
    ("anthropic", r"claude"),
    ("openai", r"gpt|chatgpt|davinci|\bo[1-9]\b"),
    ("google", r"gemini|gemma|palm"),
    ("meta", r"llama"),
    ("qwen", r"qwen|qwq"),
    ("mistral", r"mistral|mixtral|ministral|magistral|codestral|pixtral"),
    ("deepseek", r"deepseek"),
    ("xai", r"grok"),
    ("cohere", r"command|cohere|\baya\b"),
    ("microsoft", r"\bphi\b|phi-"),
    ("amazon", r"nova|titan"),
    ("moonshot", r"kimi|moonshot"),
    ("zhipu", r"glm"),
    ("nvidia", r"nemotron"),
)
_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _FAMILIES)


def family(model: str) -> str:
    """The family of a model id such as `openrouter/meta-llama/llama-3.3-70b`; the id itself where none is known.

    >>> family("openrouter/anthropic/claude-sonnet"), family("openai/o3-mini"), family("vllm/our-own-7b")
    ('anthropic', 'openai', 'vllm/our-own-7b')
    """
    name = model.casefold()
    for known, pattern in _PATTERNS:
        if pattern.search(name.rsplit("/", 1)[-1]) or pattern.search(name):
            return known
    return model
