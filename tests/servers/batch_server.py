"""The batch APIs of both vendors on the loopback address, as far as a client of batches sees them.

    with BatchServer() as server:
        server.fate["q2"] = "expired"      # of a request: "ok" (default), "error", "server_error", "expired", "missing"
        server.finish()                    # everything that was submitted is done; `finish("cancelled")` ends it so

`submitted` counts the batches that were created, `lines` holds their requests. Results come in reverse order.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

STAMP = "2026-01-01T00:00:00Z"


class BatchServer:
    """`answer(body)` gives the text of a reply."""

    def __init__(self, answer: Callable[[dict[str, Any]], str] = lambda body: '{"value": true}') -> None:
        self.answer = answer
        self.fate: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.files: dict[str, str] = {}
        self.lines: list[dict[str, Any]] = []
        self.drop_next_create = False  # the batch is made, and the answer about it is lost
        self.ending = "completed"
        self.spoil: Callable[[str], str] = str  # what becomes of the results on their way
        self.vendor_created = STAMP
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def submitted(self) -> int:
        return len(self.batches)

    def finish(self, status: str = "completed") -> None:
        for batch in self.batches.values():
            if not batch["done"]:
                batch["done"] = True
                batch["status"] = status

    def create(self, vendor: str, requests: list[dict[str, Any]], metadata: Any = None) -> dict[str, Any]:
        name = f"batch_{len(self.batches) + 1}"
        self.lines += requests
        self.batches[name] = {"vendor": vendor, "requests": requests, "done": False, "status": "", "metadata": metadata}
        return self.shown(name)

    def shown(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        if batch["vendor"] == "anthropic":
            counts = dict.fromkeys(("succeeded", "errored", "canceled", "expired"), 0)
            left = 0 if batch["done"] else len(batch["requests"])
            counts["succeeded"] = len(batch["requests"]) - left
            return {
                "id": name,
                "type": "message_batch",
                "processing_status": "ended" if batch["done"] else "in_progress",
                "request_counts": {"processing": left, **counts},
                "created_at": self.vendor_created,
                "expires_at": STAMP,
                "results_url": f"{self.url}/v1/messages/batches/{name}/results" if batch["done"] else None,
            }
        made = {
            "id": name,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": "in",
            "completion_window": "24h",
            "created_at": 1,
            "status": batch["status"] if batch["done"] else "in_progress",
            "metadata": batch["metadata"],
        }
        if batch["done"]:
            good = [r for r in reversed(batch["requests"]) if self._fate(r, batch) == "ok"]
            bad = [r for r in batch["requests"] if self._fate(r, batch) not in ("ok", "missing")]
            for key, lines in (("output_file_id", good), ("error_file_id", bad)):
                if lines:
                    told = (json.dumps(self._openai(r, batch), ensure_ascii=False) for r in lines)
                    self.files[f"{key}_{name}"] = "\n".join(told)
                    made[key] = f"{key}_{name}"
        return made

    def results(self, name: str) -> str:
        batch = self.batches[name]
        kept = [r for r in reversed(batch["requests"]) if self._fate(r, batch) != "missing"]
        return "\n".join(json.dumps(self._anthropic(r, batch), ensure_ascii=False) for r in kept)

    def _fate(self, request: dict[str, Any], batch: dict[str, Any]) -> str:
        fates = [fate for text, fate in self.fate.items() if text in json.dumps(request)]
        return fates[0] if fates else "ok"

    def _openai(self, request: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
        line: dict[str, Any] = {"id": "x", "custom_id": request["custom_id"], "response": None, "error": None}
        fate = self._fate(request, batch)
        if fate == "expired":
            return {**line, "error": {"code": "batch_expired", "message": "This request could not be executed."}}
        status = {"ok": 200, "error": 400}.get(fate, 500)
        message = {"role": "assistant", "content": self.answer(request["body"])}
        body: dict[str, Any] = {
            "model": request["body"]["model"],
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
            "service_tier": "batch",
        }
        if status != 200:
            body = {"error": {"message": "maximum context length", "code": "x"}}
        return {**line, "response": {"status_code": status, "request_id": "r", "body": body}}

    def _anthropic(self, request: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
        fate = self._fate(request, batch)
        if fate in ("error", "server_error"):
            kind = "invalid_request_error" if fate == "error" else "api_error"
            inner = {"type": "error", "error": {"type": kind, "message": "prompt is too long"}, "request_id": None}
            return {"custom_id": request["custom_id"], "result": {"type": "errored", "error": inner}}
        if fate in ("expired", "canceled"):
            return {"custom_id": request["custom_id"], "result": {"type": fate}}
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": request["params"]["model"],
            "content": [{"type": "text", "text": self.answer(request["params"])}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1000, "output_tokens": 100, "service_tier": "batch"},
        }
        return {"custom_id": request["custom_id"], "result": {"type": "succeeded", "message": message}}


def _handler(server: BatchServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            path = self.path.partition("?")[0]
            if path == "/v1/files":
                name = f"file_{len(server.files)}"
                part = re.search(rb"filename=.*?\r\n\r\n(.*?)\r\n--", data, re.DOTALL)
                server.files[name] = part[1].decode() if part else ""
                return self._json({"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "f"})
            body = json.loads(data)
            if path == "/v1/batches":
                lines = [json.loads(line) for line in server.files[body["input_file_id"]].splitlines()]
                made = server.create("openai", lines, body.get("metadata"))
            else:
                made = server.create("anthropic", body["requests"])
            if server.drop_next_create:
                server.drop_next_create = False
                self.close_connection = True
                self.connection.shutdown(2)
                return None
            return self._json(made)

        def do_GET(self) -> None:
            parts = self.path.partition("?")[0].split("/")
            if self.path.startswith("/v1/files/"):
                return self._send(server.spoil(server.files[parts[3]]).encode(), "application/octet-stream")
            if parts[-1] == "results":
                return self._send(server.spoil(server.results(parts[-2])).encode(), "application/x-jsonl")
            if parts[-1] == "batches":
                vendor = "anthropic" if "messages" in parts else "openai"
                data = [server.shown(n) for n, b in reversed(server.batches.items()) if b["vendor"] == vendor]
                ends = {"has_more": False, "first_id": None, "last_id": None}
                return self._json({"object": "list", "data": data, **ends})
            return self._json(server.shown(parts[-1]))

        def _json(self, value: Any) -> None:
            self._send(json.dumps(value).encode(), "application/json")

        def _send(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
