"""Keys that stand beside a judge's settings or in an address reach the vendor, and no file, report or error."""

from __future__ import annotations

import json

import pytest

from jury import ConfigError, JudgeSpec, ScriptedProvider, llm_jury
from jury.audit import rebuilding
from jury.cli.__main__ import main
from jury.redaction import HIDDEN, address, keyless
from jury.runner import RunSpec, run_sync
from jury.store import Run

SECRET = "s3cr3t-of-the-gateway"
YES = '{"explanation": "e", "value": true}'


def spec_of(provider, key=SECRET, **options):
    extra = {"extra_headers": {"Authorization": f"Bearer {key}", "X-Team": "red"}, "prompt_cache_key": "kept"}
    judge = JudgeSpec("scripted/j", provider=provider, settings={"extra": extra})
    rows = [{"input": "q", "output": "o"}]
    return RunSpec(rows, {"criteria": "c", "judges": [judge]}, cache=False, **options)


def files(folder):
    return {path.name: path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file()}


def test_a_key_among_the_settings_reaches_the_provider_and_no_file(tmp_path):
    provider = ScriptedProvider([YES])
    run_sync(spec_of(provider), tmp_path)
    assert provider.requests[0].settings.extra["extra_headers"]["Authorization"] == f"Bearer {SECRET}"
    for report in ("html", "json", "csv", "md"):
        with pytest.raises(SystemExit):
            main(["report", str(tmp_path), "--format", report, "-o", str(tmp_path / f"report.{report}")])
    found = files(tmp_path)
    assert [name for name, text in found.items() if SECRET in text] == []
    kept = json.loads(found["manifest.json"])["judges"][0]["settings"]["extra"]
    assert kept["extra_headers"] == {"Authorization": HIDDEN, "X-Team": "red"}
    assert kept["prompt_cache_key"] == "kept"


def test_another_key_is_no_other_judge(tmp_path):
    run_sync(spec_of(ScriptedProvider([YES])), tmp_path)
    again = run_sync(spec_of(ScriptedProvider([]), key="a-new-one"), tmp_path)
    assert (again.asked.live, again.changes, again.totals["n_pass"]) == (0, (), 1)


def test_a_judge_is_not_asked_again_with_a_hidden_key(tmp_path):
    run_sync(spec_of(ScriptedProvider([YES])), tmp_path)
    with pytest.raises(ConfigError, match="--config"):
        rebuilding.jury_of(Run.open(tmp_path))


@pytest.mark.parametrize("word", ["api_key", "key"])
def test_an_error_of_the_configuration_does_not_repeat_the_key(tmp_path, word):
    given = {"judges": [{"model": "vllm/m", word: SECRET}], "criteria": "c", "data": "rows.jsonl"}
    with pytest.raises(ConfigError, match="environment") as refused:
        RunSpec.from_mapping(given).make_jury()
    assert SECRET not in str(refused.value)


def test_a_key_in_the_address_of_a_target_is_in_no_file(tmp_path):
    jury = llm_jury(criteria="c", judges=[lambda output: True])
    target = {"url": f"http://127.0.0.1:9/ask?model=a&token={SECRET}", "body": {"api_key": SECRET}, "retries": 0}
    report = run_sync(RunSpec([{"input": "q"}], jury, target=target, cache=False), tmp_path)
    assert report.totals["n_not_judged"] == 1
    assert [name for name, text in files(tmp_path).items() if SECRET in text] == []
    assert "ask?model=a&token=" in files(tmp_path)["manifest.json"]


def test_what_is_hidden_and_what_is_not():
    given = {"x-api-key": "k", "Cookie": "k", "access_token": "k", "client-secret": "k", "list": [{"password": "k"}]}
    assert '"k"' not in json.dumps(keyless(given))
    kept = {"max_tokens": 5, "prompt_cache_key": "k", "token_limit": "k", "keys": "k", "authorization": None}
    assert keyless(kept) == kept
    assert address("http://h/x?a=1&sig=abc&b=2#top") == f"http://h/x?a=1&sig={HIDDEN}&b=2#top"
    assert address("http://h/x?monkey=1&tokens=2&q=key") == "http://h/x?monkey=1&tokens=2&q=key"
