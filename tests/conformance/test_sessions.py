"""The recorded sessions: `JURY_SESSIONS`, or `shared/sessions` beside the checkout. Each in its own format, and forced.

`namespace.json` holds the values of the documented names and the normal events; a value that it leaves out is given as
`omitted (N characters)`, the length of its JSON.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from jury.namespace import pointwise
from jury.sessions.events import Session, call_dict
from jury.sessions.fit import fit
from jury.transcripts import load_session

_OMITTED = re.compile(r"omitted \((\d+) characters\)\Z")


def folder() -> Path:
    given = os.environ.get("JURY_SESSIONS")
    path = Path(given) if given else Path(__file__).resolve().parents[3] / "shared" / "sessions"
    if not path.is_dir():
        pytest.skip(f"no recorded sessions at {path}: set JURY_SESSIONS to their folder", allow_module_level=True)
    return path


FOLDER = folder()
NAMESPACE: dict[str, dict[str, Any]] = json.loads((FOLDER / "namespace.json").read_text("utf-8"))
LABELS: dict[str, dict[str, Any]] = json.loads((FOLDER / "labels.json").read_text("utf-8"))["sessions"]
LONG = [name for name, label in LABELS.items() if "truncation" in label]


def session(name: str, **forced: str) -> Session:
    return load_session(FOLDER / NAMESPACE[name]["file"], **forced)


def flat(value: Session) -> dict[str, Any]:
    """The recorded names, as `jury` fills them; `input.all_messages` as the chat messages themselves."""
    names = pointwise(value.data, value.output, criteria="")
    made = {f"{family}.{leaf}": inner for family in ("input", "output", "log") for leaf, inner in names[family].items()}
    ours = value.namespace()
    made |= {f"session.{leaf}": ours[leaf] for leaf in ("tools_called", "final_message")}
    texts = [event.text for event in value.events[value.split :] if event.type == "assistant"]
    made["output.response_all_text"] = "".join(texts)
    made["output.tools_called"] = [call_dict(call) for call in value.output.tool_calls]
    made["input.all_messages"] = value.messages
    made["log.messages"] = "same as input.all_messages"
    return made


@pytest.mark.parametrize("name", NAMESPACE)
def test_namespace(name: str) -> None:
    found = flat(session(name))
    for key, wanted in NAMESPACE[name].items():
        if key == "file" or key.startswith("transcript_events"):
            continue
        omitted = _OMITTED.match(wanted) if isinstance(wanted, str) else None
        if omitted:
            assert len(json.dumps(found[key], ensure_ascii=False)) == int(omitted[1]), key
        else:
            assert found[key] == wanted, key


@pytest.mark.parametrize("name", NAMESPACE)
def test_events(name: str) -> None:
    loaded = session(name)
    recorded = NAMESPACE[name]
    if "transcript_events" in recorded:
        assert [known(event.to_dict()) for event in loaded.events] == recorded["transcript_events"]
        assert [json.loads(line) for line in loaded.transcript.splitlines()] == [e.to_dict() for e in loaded.events]
    else:
        assert len(loaded.events) == recorded["transcript_events_count"]


def known(event: dict[str, Any]) -> dict[str, Any]:
    """Arguments that are no object stand under a name of their own in `jury`."""
    return {("arguments" if key == "arguments_text" else key): value for key, value in event.items()}


@pytest.mark.parametrize("name", NAMESPACE)
def test_format_is_found_and_can_be_forced(name: str) -> None:
    loaded = session(name)
    assert loaded.format == LABELS[name]["format"]
    assert session(name, format=loaded.format).events == loaded.events


@pytest.mark.parametrize("name", NAMESPACE)
def test_target_errors(name: str) -> None:
    assert (session(name).error is None) is LABELS[name]["judged"]


@pytest.mark.parametrize("name", NAMESPACE)
def test_own_events_are_read_back(name: str) -> None:
    loaded = session(name)
    again = load_session(loaded.transcript + "\n")
    assert again.format == "events"
    assert again.events == loaded.events


@pytest.mark.parametrize("share", [0.6, 0.3])
@pytest.mark.parametrize("name", LONG)
def test_a_cut_keeps_request_and_outcome(name: str, share: float) -> None:
    loaded = session(name)
    limit = int(len(loaded.transcript) * share)
    fitted = fit(loaded, max_chars=limit)

    recorded = LABELS[name]["truncation"]
    kept = {event.i for event in fitted.session.events if event.type != "gap"}
    assert len(fitted.transcript) <= limit
    assert {recorded["request_event"], *recorded["outcome_events"]} <= kept
    lost = set(recorded["evidence_events"]) - kept
    gone = {i for first, last in fitted.cut.gaps for i in range(first, last + 1)}
    assert lost <= gone, "what is left out is on record"
