"""`jury check RUN.yaml`: what a run configuration lacks, before the run."""

from __future__ import annotations

import json

import pytest

from jury.cli.__main__ import main

ROWS = "input,output,expected\nWhat is 2+2?,4,4\nThe capital of France?,Lyon,Paris\n"
CHECKS = "def short(output):\n    return len(output) < 3\n\n\ndef first(response_a, response_b):\n    return 'A'\n"


@pytest.fixture
def check(bare_folder, capsys):
    tmp_path = bare_folder
    (tmp_path / "rows.csv").write_text(ROWS, "utf-8")
    (tmp_path / "checks.py").write_text(CHECKS, "utf-8")

    def run(text: str, *options: str):
        (tmp_path / "eval.yaml").write_text(text, "utf-8")
        with pytest.raises(SystemExit) as caught:
            main(["check", "eval.yaml", *options])
        told = capsys.readouterr()
        return caught.value.code, told.out, told.err

    return run


RUN = "data: rows.csv\ncriteria: Right.\njudges: [openai/gpt-5-mini, 'checks.py:short']\n"


def test_a_run_configuration_is_checked_as_one(check):
    code, out, _ = check(RUN, "--json")
    found = json.loads(out)
    assert code == 2
    assert found["run"] == {"file": "eval.yaml", "kind": "pointwise", "folder": "runs/eval"}
    assert [bool(j["problem"]) for j in found["judges"]] == [True, False]
    assert "OPENAI_API_KEY" in found["judges"][0]["problem"]
    assert (found["data"]["rows"], found["data"]["fields"]["expected_output"]) == (2, "expected")
    assert found["prompt"]["unknown"] == []
    code, out, _ = check(RUN, "-j", "checks.py:short")
    assert code == 0
    assert "eval.yaml: pointwise, into runs/eval" in out
    assert "rows.csv: 2 rows" in out


def test_a_prompt_without_names_is_called_by_its_name_alone(check):
    rubric = "rubric: {name: r, criteria: [{key: right}]}\n"
    code, out, _ = check(RUN.replace("criteria: Right.\n", rubric), "-j", "openai/x")
    assert (code, "known name" in out) == (2, False)
    assert "6 known names" in check(RUN, "-j", "checks.py:short")[1]


def test_one_call_to_each_judge_of_a_run(check):
    code, out, _ = check(RUN + "stop: decided\n", "-j", "checks.py:short", "--call", "--json")
    assert (code, json.loads(out)["judges"][0]["value"]) == (0, True)


def test_a_script_that_is_not_there_is_told_before_anything_is_asked(check):
    code, _, err = check(RUN, "-j", "scripted/absent.json")
    assert (code, "scripted/absent.json: not a readable JSON file" in err) == (2, True)


def test_what_a_judge_said_to_the_test_call(check, bare_folder):
    (bare_folder / "odd.py").write_text("def first(case):\n    return 'A'\n\n\ndef none(case):\n    return None\n")
    pairs = RUN.replace("criteria", "kind: pairwise\ncriteria")
    (bare_folder / "rows.csv").write_text("question,response_a,response_b\nq,a,b\n")
    code, out, _ = check(pairs, "-j", "odd.py:first,odd.py:none", "--call")
    assert code == 0
    assert "changed sides with the order (primacy) in" in out
    assert "abstained in" in out
    code, out, _ = check(pairs, "-j", "odd.py:first", "--call", "--json")
    assert json.loads(out)["judges"][0]["flip_kind"] == "primacy"


def test_the_test_call_has_what_a_judge_may_ask_for(check, bare_folder):
    (bare_folder / "exact.py").write_text("def exact(output, expected_output):\n    return output == expected_output\n")
    code, out, err = check(RUN, "-j", "exact.py:exact", "--call", "--json")
    assert (code, json.loads(out)["judges"][0]["value"]) == (0, True)
    assert "expected_output" not in err


def test_names_that_a_prompt_cannot_fill(check):
    code, out, _ = check(RUN + "prompt: 'Is {{outptu.response}} right?'\n", "-j", "checks.py:short")
    assert code == 2
    assert "did you mean output.response?" in " ".join(out.split())


def test_pairs_and_wrong_configurations(check):
    code, _, err = check("kind: pairwise\ndata: rows.csv\njudges: ['checks.py:first']\n")
    assert code == 2
    assert "response_a" in err
    code, _, err = check("criterias: x\n" + RUN)
    assert (code, "did you mean criteria" in err and "docs/reference/run-config.md" in err) == (2, True)
    code, _, err = check(RUN, "-c", "Another.")
    assert (code, "write --criteria into it" in err) == (2, True)
    code, _, err = check("data: none.csv\ncriteria: x\njudges: ['checks.py:short']\n")
    assert (code, "none.csv" in err) == (2, True)


def test_a_session_run(check, tmp_path):
    chat = {"messages": [{"role": "user", "content": "Is it in?"}, {"role": "assistant", "content": "Yes."}]}
    (tmp_path / "chat.jsonl").write_text(json.dumps(chat) + "\n", "utf-8")
    (tmp_path / "facts.py").write_text("def answered(session):\n    return True\n", "utf-8")
    code, out, err = check("kind: session\ndata: chat.jsonl\nchecks: ['facts.py:answered']\n")
    assert (code, err) == (0, "")
    assert "1 sessions" in out


def test_a_prompt_is_held_against_the_columns_of_the_data(check, bare_folder, capsys):
    rows = [{"output": "a", "context": "c", "page": 1}, {"output": "b", "context": "d"}]
    (bare_folder / "rag.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (bare_folder / "p.md").write_text(
        "{{row.contxt}} {{row.context}} {{#row.page}}{{row.page}}{{/row.page}} {{row.page}}"
    )
    arguments = ("check", "rag.jsonl", "--prompt", "p.md", "-j", "checks.py:short")
    with pytest.raises(SystemExit) as caught:
        main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert caught.value.code == 2
    assert found["prompt"]["unknown"] == ["{{row.contxt}} (line 1; stays as written; did you mean row.context?)"]
    assert found["prompt"]["gaps"] == {"row.page": 1}
    assert "filled" not in found["data"]
    (bare_folder / "p.md").write_text("{{row.context}} {{row.page}}")
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    out = capsys.readouterr().out
    assert caught.value.code == 0
    assert "no value in 1 row: {{row.page}} stays as written there" in out
    assert "as {{row.NAME}}: output, context, page" in out
