"""Juries of judges: verdicts on what a language model or an agent did, that a person can act on.

Every name here is loaded on first use: `import jury` loads no provider SDK, no numpy and no pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jury.data import (
        AgentResponse,
        DataPoint,
        Message,
        Output,
        Reasoning,
        ResponsePair,
        TargetError,
        Text,
        ToolCall,
    )
    from jury.errors import (
        CallError,
        ConfigError,
        DataError,
        JuryError,
        MissingExtra,
        ProviderError,
        ReplyError,
        TemplateError,
    )
    from jury.judge import Case, JudgeSpec
    from jury.pairwise import PairwiseJury, llm_jury_pairwise
    from jury.panel import PanelSpec
    from jury.pointwise import Jury, llm_jury
    from jury.providers.base import Provider, Request, Settings, Turn
    from jury.providers.scripted import ScriptedProvider
    from jury.results import (
        Comparison,
        CriterionResult,
        EvidenceCheck,
        Failure,
        Judgment,
        PairVote,
        PanelResult,
        Reply,
        Usage,
        Verdict,
        Vote,
    )
    from jury.rubrics.criterion import Criterion
    from jury.rubrics.library import load_rubric
    from jury.rubrics.rubric import Rubric
    from jury.rubrics.seeds import seed_report
    from jury.scales import Boolean, Labels, Numeric
    from jury.sessions.checks import code_check
    from jury.sessions.events import Session
    from jury.sessions.judging import SessionJury
    from jury.sessions.making import session_jury
    from jury.summary import PositionBias, Summary, WinRate, position_bias, summarize, win_rate
    from jury.transcripts import load_session, load_sessions

__version__ = "0.1.0"

_HOMES = {
    "data": "AgentResponse DataPoint Message Output Reasoning ResponsePair TargetError Text ToolCall",
    "errors": "CallError ConfigError DataError JuryError MissingExtra ProviderError ReplyError TemplateError",
    "judge": "Case JudgeSpec",
    "pairwise": "PairwiseJury llm_jury_pairwise",
    "panel": "PanelSpec",
    "pointwise": "Jury llm_jury",
    "providers.base": "Provider Request Settings Turn",
    "providers.scripted": "ScriptedProvider",
    "results": "Comparison CriterionResult EvidenceCheck Failure Judgment PairVote PanelResult Reply Usage"
    " Verdict Vote",
    "rubrics.criterion": "Criterion",
    "rubrics.library": "load_rubric",
    "rubrics.rubric": "Rubric",
    "rubrics.seeds": "seed_report",
    "scales": "Boolean Labels Numeric",
    "sessions.checks": "code_check",
    "sessions.events": "Session",
    "sessions.judging": "SessionJury",
    "sessions.making": "session_jury",
    "transcripts": "load_session load_sessions",
    "summary": "PositionBias Summary WinRate position_bias summarize win_rate",
}
_HOME = {name: f"jury.{module}" for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "AgentResponse",
    "Boolean",
    "CallError",
    "Case",
    "Comparison",
    "ConfigError",
    "Criterion",
    "CriterionResult",
    "DataError",
    "DataPoint",
    "EvidenceCheck",
    "Failure",
    "JudgeSpec",
    "Judgment",
    "Jury",
    "JuryError",
    "Labels",
    "Message",
    "MissingExtra",
    "Numeric",
    "Output",
    "PairVote",
    "PairwiseJury",
    "PanelResult",
    "PanelSpec",
    "PositionBias",
    "Provider",
    "ProviderError",
    "Reasoning",
    "Reply",
    "ReplyError",
    "Request",
    "ResponsePair",
    "Rubric",
    "ScriptedProvider",
    "Session",
    "SessionJury",
    "Settings",
    "Summary",
    "TargetError",
    "TemplateError",
    "Text",
    "ToolCall",
    "Turn",
    "Usage",
    "Verdict",
    "Vote",
    "WinRate",
    "code_check",
    "llm_jury",
    "llm_jury_pairwise",
    "load_rubric",
    "load_session",
    "load_sessions",
    "position_bias",
    "seed_report",
    "session_jury",
    "summarize",
    "win_rate",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'jury' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
