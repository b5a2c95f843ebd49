"""The page over HTTP: who is let in, what is refused, that every answer is harmless. And the command around it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.testclient import TestClient

from jury.cli.__main__ import main
from jury.errors import ConfigError
from jury.label import serving
from jury.label.app import STATIC, application
from jury.store import Run
from tests import label_runs as runs
from tests.label_runs import desk

PORT, TOKEN = 8765, "a-token-of-this-test"
HOME = f"http://127.0.0.1:{PORT}"


def client(made, *, inside: bool = True, stop=lambda: None) -> TestClient:
    """`inside`: the page was opened with its token."""
    found = TestClient(application(made, token=TOKEN, port=PORT, stop=stop), base_url=HOME, follow_redirects=False)
    if inside:
        assert found.get(f"/?token={TOKEN}").status_code == 200
        found.headers["origin"] = HOME
    return found


@pytest.fixture
def made(tmp_path):
    return desk(runs.boolean(tmp_path))


def test_the_page_opens_with_its_token_and_keeps_it_as_a_cookie(made):
    page = client(made, inside=False)
    for path in ("/", "/?token=", "/?token=wrong", f"/api/next?token={TOKEN}", "/api/about"):
        refused = page.get(path)
        assert refused.status_code == 403, path
        assert "set-cookie" not in refused.headers
    opened = page.get(f"/?token={TOKEN}")
    assert opened.status_code == 200
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Domain" not in cookie
    assert page.get("/").status_code == 200
    assert page.get("/api/next").json()["target"] == 12
    assert client(made, inside=False).get("/api/next", headers={"x-jury-token": TOKEN}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{PORT}", ""]
)
def test_another_host_name_is_refused_even_with_the_token(made, host):
    answer = client(made).get("/api/next", headers={"host": host, "x-jury-token": TOKEN})
    assert answer.status_code == 421
    assert client(made).get("/static/label.js", headers={"host": host}).status_code == 421


def test_localhost_is_a_name_of_this_computer(made):
    answer = client(made).get("/api/next", headers={"host": f"localhost:{PORT}", "x-jury-token": TOKEN})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": f"http://127.0.0.1:{PORT + 1}"}, 403),
        ({"origin": f"https://127.0.0.1:{PORT}"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-length": str(10**9)}, 413),
        ({"content-length": "-1"}, 413),
    ],
)
def test_a_write_that_another_page_started_is_refused(made, headers, status):
    page = client(made)
    given = {"content-type": "application/json", **headers}
    answer = page.post("/api/label", content=json.dumps({"place": 0, "answers": {"": {"choice": 0}}}), headers=given)
    assert answer.status_code == status
    assert made.run.labels() == []


def test_a_write_without_an_origin_needs_the_token_as_a_header(made):
    page = client(made)
    del page.headers["origin"]
    body = {"place": 0, "answers": {"": {"choice": 0}}}
    assert page.post("/api/label", json=body).status_code == 403
    assert page.post("/api/label", json=body, headers={"x-jury-token": TOKEN}).status_code == 200


@pytest.mark.parametrize("path", ["/api/label", "/api/undo", "/api/more", "/api/close"])
def test_nothing_is_written_by_a_get(made, path):
    assert client(made).get(path).status_code == 405


def test_other_methods_are_refused(made):
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert client(made).request(method, "/api/next").status_code == 405


def test_every_answer_forbids_what_the_page_does_not_need(made):
    page = client(made)
    for path in ("/", "/api/next", "/static/label.js", "/nothing", "/api/findings"):
        headers = page.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers
    refused = client(made, inside=False).get("/")
    assert "default-src 'none'" in refused.headers["content-security-policy"]


def test_the_page_holds_no_inline_script_and_names_no_other_host(made):
    page = client(made)
    text = page.get("/").text
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"\son\w+=|style=", text)
    for file in STATIC.iterdir():
        served = page.get(f"/static/{file.name}")
        assert served.status_code == 200
        found = set(re.findall(r"https?://[^\s\"']+", served.text)) - {"http://www.w3.org/2000/svg"}
        assert not found, file.name
        if file.suffix == ".js":
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
                assert word not in served.text, (file.name, word)


def test_paths_lead_to_the_page_own_files_alone(made):
    page = client(made)
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/", "/labels.jsonl"):
        assert page.get(path).status_code == 404, path


def test_labels_go_from_item_to_item_until_there_is_none(made):
    page = client(made)
    view = page.get("/api/next").json()
    while view["item"]:
        body = {"place": view["item"]["place"], "answers": {"": {"choice": 0}}, "note": ""}
        answer = page.post("/api/label", json=body)
        assert answer.status_code == 200
        assert len(Run.open(made.run.folder).labels()) == answer.json()["done"]  # on disk before the next one shows
        view = answer.json()
    assert (view["done"], view["target"]) == (12, 12)
    found = page.get("/api/findings").json()
    assert found["labels"] == 12
    assert found["sayings"][0].startswith("The panel agrees with you on")
    back = page.post("/api/undo", json={}).json()
    assert back["before"]["answers"] == {"": {"choice": 0}}
    assert page.post("/api/more", json={"count": 3}).json()["target"] == 12


def test_who_labels_an_item_anew_after_the_results_named_the_panel_s_verdict_has_seen_it(tmp_path):
    made = desk(runs.points(tmp_path, [{"x": True}] * 8))
    page = client(made)
    for place in range(8):
        page.post("/api/label", json={"place": place, "answers": {"": {"choice": 1}}})
    listed = {one["item"] for one in page.get("/api/findings").json()["differences"]}
    assert 0 < len(listed) < 8
    for _ in range(8):
        page.post("/api/undo", json={})
    for place in range(8):
        page.post("/api/label", json={"place": place, "answers": {"": {"choice": 0}}})
    assert {label.item for label in made.run.labels() if label.saw_verdict} == listed


def test_an_item_that_another_window_labelled_is_a_conflict(made):
    page = client(made)
    body = {"place": 0, "answers": {"": {"choice": 0}}}
    assert page.post("/api/label", json=body).status_code == 200
    again = page.post("/api/label", json={"place": 0, "answers": {"": {"choice": 1}}})
    assert again.status_code == 409
    assert [label.value for label in made.run.labels()] == [True]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/label", "[]"),
        ("/api/label", "{"),
        ("/api/label", "[" * 5000),
        ("/api/label", '{"place": "0", "answers": {"": {"choice": 0}}}'),
        ("/api/label", '{"place": true, "answers": {"": {"choice": 0}}}'),
        ("/api/label", '{"place": 0, "answers": {"": {"choice": 0}}, "note": 3}'),
        ("/api/label", '{"place": 0}'),
        ("/api/more", '{"count": "many"}'),
    ],
)
def test_what_is_no_request_is_refused_with_a_word(made, path, body):
    answer = client(made).post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert made.run.labels() == []


def test_a_disk_that_takes_no_more_is_told_and_the_item_stays(made, monkeypatch):
    from jury.errors import DataError

    def full(label):
        raise DataError("labels.jsonl: cannot be written: the disk is full", "unwritable")

    monkeypatch.setattr(made.run, "add_label", full)
    page = client(made)
    before = page.get("/api/next").json()
    answer = page.post("/api/label", json={"place": 0, "answers": {"": {"choice": 0}}})
    assert answer.status_code == 500
    assert "the disk is full" in answer.json()["error"]
    assert page.get("/api/next").json() == before


def test_hostile_texts_arrive_as_they_are_in_plain_ascii(tmp_path):
    text = "</script><script>alert(1)</script> \u202eevil\x00 half \ud835 pair, שלום"
    run = runs.points(tmp_path, [{"x": True}], items=[{"input": text, "output": text * 3000}])
    page = client(desk(run))
    answer = page.get("/api/next")
    assert answer.content.isascii()
    assert answer.headers["content-type"] == "application/json"
    blocks = json.loads(answer.content)["item"]["blocks"]
    assert blocks[0]["text"] == text
    assert json.loads(page.get("/api/text?place=0&block=1").content)["text"] == text * 3000
    answer = page.post(
        "/api/label",
        content=json.dumps({"place": 0, "answers": {"": {"choice": 0}}, "note": text}),
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 200
    assert run.labels()[0].note == text
    assert page.get("/api/findings").content.isascii()


@pytest.mark.parametrize("query", ["", "?place=0", "?place=-1&block=0", "?place=0&block=99", "?place=x&block=y"])
def test_a_text_that_there_is_not(made, query):
    assert client(made).get(f"/api/text{query}").status_code == 400


def test_many_windows_at_once_leave_a_whole_file(tmp_path):
    """Threads of two people, each in windows of their own, label the same items at the same time."""
    run = runs.boolean(tmp_path, 30)

    def work(who: str) -> None:
        made = desk(Run.open(tmp_path), who)
        page = client(made)
        while (view := page.get("/api/next").json())["item"]:
            page.post("/api/label", json={"place": view["item"]["place"], "answers": {"": {"choice": 0}}})

    threads = [threading.Thread(target=work, args=(who,)) for who in ("ann", "bob", "ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    labels = run.labels()
    assert len(labels) == 60
    from jury.store.lines import broken

    assert broken(tmp_path / "labels.jsonl") == []


def test_closing_stops_the_server(made):
    stopped = []
    answer = client(made, stop=lambda: stopped.append(True)).post("/api/close", json={})
    assert answer.json()["labels"].endswith("labels.jsonl")
    assert stopped == [True]


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_taken_port_is_told(made):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="choose another --port"):
            serving.serve(made, port=taken.getsockname()[1], browser=False)
    with pytest.raises(ConfigError, match="between 0 and 65535"):
        serving.serve(made, port=70000, browser=False)


def served(folder, *arguments):
    """The command in a process of its own, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "jury", "label", str(folder), "--as", "ann", "--no-browser", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    for line in process.stderr:
        if line.startswith("http://127.0.0.1:"):
            return process, urlsplit(line.strip())
    raise AssertionError(process.communicate())


def post(address, path, body):
    """A request as a program makes it, with the token as a header."""
    headers = {"x-jury-token": address.query.removeprefix("token=")}
    return httpx.post(f"http://{address.netloc}{path}", json=body, headers=headers, timeout=120).json()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_command_serves_until_ctrl_c_and_says_what_the_labels_say(tmp_path):
    runs.boolean(tmp_path / "run")
    process, address = served(tmp_path / "run", "--n", "2")
    for place in (0, 1):
        post(address, "/api/label", {"place": place, "answers": {"": {"choice": 0}}})
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "The panel agrees with you on" in out
    assert "jury calibrate" in out
    assert len(Run.open(tmp_path / "run").labels()) == 2


def test_the_page_can_end_the_command_and_json_is_json(tmp_path):
    runs.boolean(tmp_path / "run")
    process, address = served(tmp_path / "run", "--json")
    page = httpx.get(address.geturl(), follow_redirects=True, timeout=120)
    assert "<!doctype html>" in page.text
    post(address, "/api/label", {"place": 0, "answers": {"": {"na": True}}})
    assert post(address, "/api/close", {})["labels"].endswith("labels.jsonl")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert (json.loads(out)["labels"], json.loads(out)["na"]) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nowhere"], "no such folder"),
        (["run", "--sampling", "best"], "random, disagreement or people"),
        (["run", "--as", ""], "--as NAME"),
        (["run", "--n", "0"], "at least 1"),
        (["run", "--precision", "2"], "half-width"),
    ],
)
def test_wrong_usage_is_told_in_a_line(tmp_path, monkeypatch, capsys, arguments, word):
    runs.boolean(tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["label", *arguments])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert word in told
    assert told.startswith("error: ")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_session_loses_nothing(tmp_path):
    """SIGKILL in the middle of labelling, again and again: every label that was acknowledged is there."""
    folder = tmp_path / "run"
    runs.boolean(folder, 200)
    acknowledged = []
    for attempt in range(5):
        process, address = served(folder)
        headers = {"x-jury-token": address.query.removeprefix("token=")}
        killer = threading.Timer(0.004 * attempt, process.kill)
        before = len(acknowledged)
        try:
            while True:
                item = httpx.get(f"http://{address.netloc}/api/next", headers=headers, timeout=120).json()["item"]
                note = f"{attempt}: " + "word " * 400
                post(address, "/api/label", {"place": item["place"], "answers": {"": {"choice": 1}}, "note": note})
                acknowledged.append((item["id"], note.strip()))
                if len(acknowledged) == before + 3:
                    killer.start()
        except (httpx.HTTPError, ValueError):  # killed: what was not acknowledged may be there or not
            pass
        killer.join()
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
        stored = {label.item: label for label in Run.open(folder).labels()}
        for item, note in acknowledged:
            assert (stored[item].value, stored[item].note) == (False, note)
        assert len(stored) <= len(acknowledged) + attempt + 1
    assert len(acknowledged) >= 15


@pytest.fixture
def terminal(monkeypatch, capsys):
    """`terminal(folder, *arguments)`: what the command prints where the page was used to label everything."""

    def served_at_once(made, **_):
        while (view := made.next())["item"]:
            answers = {
                q.key: {"number": 0.5} if q.scale and not q.choices else {"choice": 0} for q in made.asked.questions
            }
            made.save(view["item"]["place"], answers)

    monkeypatch.setattr("jury.cli.labelling.serve", served_at_once)

    def run(folder, *arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["label", str(folder), *arguments])
        assert ended.value.code == 0
        return capsys.readouterr().out

    return run


def test_the_terminal_says_what_the_page_says(tmp_path, terminal):
    runs.boolean(tmp_path)
    terminal(tmp_path, "--as", "ann")
    out = terminal(tmp_path, "--as", "bob")
    for word in (
        "The panel agrees with you on",
        "labels of bob beside",
        "kappa",
        "other people",
        "ann",
        "--sampled random",
    ):
        assert word in out, word


def test_the_terminal_has_criteria_and_plain_numbers_too(tmp_path, terminal):
    runs.rubric(tmp_path / "rubric")
    out = terminal(tmp_path / "rubric", "--as", "ann")
    assert re.search(r"tone +the panel +100\.0%", out)
    runs.numeric(tmp_path / "numeric")
    out = terminal(tmp_path / "numeric", "--as", "ann")
    assert "alpha" in out
    assert "agreement" not in out
    assert "jury calibrate" not in out  # it needs a pass mark


def test_hostile_names_do_not_act_on_the_terminal(tmp_path, terminal):
    runs.points(tmp_path, [{"\u202eevil": True, "\x1b[31mred": False}] * 3)
    out = terminal(tmp_path, "--as", "an\x1bn")
    assert "\\u202eevil" in out
    assert "\u202e" not in out
    assert "\x1b" not in out
