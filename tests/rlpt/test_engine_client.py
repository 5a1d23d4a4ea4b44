"""A server on this machine, whose passes take a + b · sequences + c · tokens by its own clock, is timed from outside;
and whatever else a server may do ends in a sentence.
"""

import json
import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from random import Random
from statistics import median

import numpy as np
import pytest

from rlpt import calibrate, engine_client
from rlpt.engine_client import EngineError
from rlpt.planning import engine_timing, user_inputs
from tests import skips

pytestmark = skips.processes  # nor servers
A, B, C = 10e-3, 5e-3, 20e-6  # seconds: large next to what a busy machine adds
MANY, PROMPTS = (1, 4), (10, 500)


class Engine:
    """Decodes one token for all requests in each pass."""

    def __init__(self):
        self.running, self.passes, self.prompts = [], {}, []
        threading.Thread(target=self.loop, daemon=True).start()

    def loop(self):
        before = time.perf_counter()
        while True:
            batch = list(self.running)
            held = sum(request["held"] for request in batch)
            time.sleep(A + B * len(batch) + C * held if batch else 1e-3)
            now = time.perf_counter()
            for request in batch:
                request["held"] += 1
                request["left"] -= 1
                if not request["left"]:
                    self.running.remove(request)
                request["parts"].put(request["left"])
            if batch:
                key = len(batch), max(request["prompt"] for request in batch)
                self.passes.setdefault(key, []).append(now - before)
            before = now


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, body, status=200, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        asked = self.server.does
        if "key" in asked and self.headers["Authorization"] != f"Bearer {asked['key']}":
            return self.say(b"{}", 401)
        models = asked.get("models", [{"id": "tiny", "max_model_len": asked.get("longest", 4096)}])
        body = asked.get("list", json.dumps({"data": models}).encode())
        return self.say(body, 200 if self.path == "/v1/models" else 404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = self.server.does
        if "refuses" in asked:
            return self.say(json.dumps({"error": {"message": asked["refuses"]}}).encode(), 400)
        if "at once" in asked:
            return self.say(b'{"choices": [{"text": "x"}]}')
        tokens = body["max_tokens"]
        assert body["ignore_eos"] and body["min_tokens"] == tokens and body["stream"] and body["temperature"] == 1
        self.server.engine.prompts.append(body["prompt"])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if "parts" in asked:
            for part in asked["parts"]:
                self.chunk(part)
            if asked.get("hangs"):
                time.sleep(3)
            self.close_connection = True
            return None if asked.get("breaks") else self.wfile.write(b"0\r\n\r\n")
        parts = Queue()
        self.server.engine.running.append(
            {"left": tokens, "held": len(body["prompt"]), "prompt": len(body["prompt"]), "parts": parts}
        )
        left = tokens
        while left:
            left = parts.get(timeout=5)
            self.chunk({"choices": [{"text": "x", "finish_reason": None if left else "length"}]})
        self.chunk({"choices": [], "usage": {"completion_tokens": tokens}})
        self.chunk("[DONE]")
        return self.wfile.write(b"0\r\n\r\n")

    def chunk(self, part):
        text = f"data: {part if isinstance(part, str) else json.dumps(part)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))


class Threads(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512  # as servers of engines have it; those that find no place come a second later


@contextmanager
def serving(**does):
    """A server that answers, or does something else."""
    with Threads(("127.0.0.1", 0), Handler) as there:
        there.does, there.engine = does, Engine()
        threading.Thread(target=there.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield there, f"http://127.0.0.1:{there.server_address[1]}"
        finally:
            there.shutdown()


@pytest.fixture
def few_tokens(monkeypatch):
    """Short rounds."""
    monkeypatch.setattr(engine_client, "TOKENS", 8)
    monkeypatch.setattr(engine_timing, "BLOCK", 2)


def test_a_server_with_known_delays_is_fitted_as_its_own_clock_says(few_tokens):
    with serving() as (there, url):
        server = engine_client.server(f"{url}/v1/")
        seen = list(engine_client.passes(server, MANY, PROMPTS, Random(5), 20))
        own = there.engine.passes
        prompts = there.engine.prompts
    assert [one.sequences for one in seen] == [1, 4, 1, 4]
    # a busy machine delays the server's passes and not only what is seen of them, so its own clock is the truth
    for one, prompt in zip(seen, (10, 10, 500, 500)):
        assert one.seconds == pytest.approx(median(own[one.sequences, prompt]), rel=0.25)
        assert one.seconds > 0.95 * (A + B * one.sequences + C * one.sequences * prompt)
        assert one.tokens == pytest.approx(one.sequences * (prompt + 5), abs=5 * one.sequences)
    found, made = (
        engine_timing.fit(*np.array(rows, float).T).line
        for rows in (
            seen,
            [(n, one.tokens, median(own[n, p])) for one, n, p in zip(seen, MANY * 2, np.repeat(PROMPTS, 2))],
        )
    )
    assert found == pytest.approx(made, rel=0.3, abs=0.25 * A)
    assert found.token == pytest.approx(made.token, rel=0.2) and made.token > 0.8 * C
    # no two prompts begin alike, so no cache of prefixes helps
    assert len({tuple(prompt[:2]) for prompt in prompts}) == len(prompts) == 4 + 2 * (1 + 4)


def test_the_command_prints_the_line_that_a_plan_reads(few_tokens, capsys):
    with serving() as (_, url):
        words = ["--engine", url, "--at-once", "1 4", "--prompts", "10 500", "--gpus", "1", "--config", "qwen2.5-7b"]
        assert calibrate.main([*words, "--chip", "h100"]) == 0
    *shown, row = capsys.readouterr().out.splitlines()
    row = json.loads(row)
    assert shown[-1] == f'--timed "{row["timed"]}"' and user_inputs.timed(row["timed"])[0].gpus == 1
    assert len(row["passes"]) == 4 and row["model"] == "tiny"
    # 2 x 28 layers x 4 heads x 128 in bf16
    assert row["cache"]["bytes_per_second"] == pytest.approx(57_344 / row["token_seconds"])
    assert row["cache"]["share"] == pytest.approx(57_344 / row["token_seconds"] / 3.35e12)


def test_what_the_server_has_no_room_for_is_left_out_in_a_sentence(few_tokens, capsys):
    with serving(longest=100) as (_, url):
        seen = list(engine_client.passes(engine_client.server(url), (1,), (10, 500), Random(5), 20))
        assert "limit of 100" in seen[1] and seen[0].sequences == 1
        with pytest.raises(SystemExit) as end:
            calibrate.main(["--engine", url, "--at-once", "1", "--prompts", "10", "--json"])
    shown, wrong = capsys.readouterr()
    assert end.value.code == 2 and not shown and "cannot separate a, b and c" in wrong and wrong.count("\n") == 1


def ended(tokens, reason="length"):
    last = {"choices": [{"text": "x", "finish_reason": reason}]}
    return [{"choices": [{"text": "x"}]}] * (tokens - 1) + [last]


@pytest.mark.parametrize(
    "does, because",
    [
        ({"list": b"<html>"}, "is no list of models"),
        ({"list": b'{"data": 7}'}, "is no list of models"),
        ({"models": []}, "serves no model"),
        ({"models": [{"id": "a"}, {"id": "b"}]}, "several models; choose one by --served-model: a, b"),
        ({"key": "secret"}, "asks for a key; set OPENAI_API_KEY (status 401)"),
        ({"refuses": "no such\nparameter"}, "answers with status 400 Bad Request: no such parameter"),
        ({"at once": 1}, "does not stream its answers"),
        ({"parts": ended(3)[:2]}, "ended a stream after 2 of 2 tokens"),
        ({"parts": ended(3)[:1], "breaks": 1}, "ended a stream after 1 of 2 tokens"),
        ({"parts": ended(1, "stop")}, "stopped a sequence after 1 of 2 tokens, although ignore_eos"),
        ({"parts": [{"error": {"message": "out of memory"}}]}, "broke off a stream: out of memory"),
        ({"parts": ["nonsense"]}, "no part of a completion"),
        ({"parts": [], "hangs": 1}, "needs more than 1 s for 1 sequence of 10 tokens; raise --patience"),
    ],
)
def test_a_server_that_does_not_answer_ends_in_a_sentence(does, because, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(**does) as (_, url), pytest.raises(SystemExit) as end:
        calibrate.main(["--engine", url, "--at-once", "1", "--prompts", "10", "--patience", "1", "--json"])
    shown, wrong = capsys.readouterr()
    assert end.value.code == 2 and not shown and because in wrong and wrong.count("\n") == 1


def test_a_key_is_sent_and_a_wrong_one_is_said_to_be(monkeypatch):
    with serving(key="secret") as (_, url):
        assert engine_client.server(url, "secret").model == "tiny"
        with pytest.raises(EngineError, match="refuses the key in OPENAI_API_KEY"):
            engine_client.server(url, "wrong")
    with pytest.raises(EngineError, match="characters that no key has"):
        engine_client.server(url, "a\nb")


def test_a_model_is_chosen_by_name():
    with serving(models=[{"id": "a"}, {"id": "b", "max_model_len": 9}]) as (_, url):
        assert engine_client.server(url, name="b")[-2:] == ("b", 9)
        with pytest.raises(EngineError, match="does not serve c; it serves a, b"):
            engine_client.server(url, name="c")
        with pytest.raises(EngineError, match="has no /v1/models"):
            engine_client.server(f"{url}/v2", name="b")


@pytest.mark.parametrize("url", ["", "ftp://host", "http://", "http://host:99999999", "http://a b", "http://[::1"])
def test_what_is_no_address_is_a_sentence(url):
    with pytest.raises(EngineError, match="is no address of a server"):
        engine_client.server(url)


def test_where_nobody_or_something_else_answers_it_is_a_sentence(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as there:
        url = f"http://127.0.0.1:{there.getsockname()[1]}"

        def other():
            connection, _ = there.accept()
            connection.recv(1000)
            connection.sendall(b"220 mail.example ESMTP\r\n")
            connection.close()

        threading.Thread(target=other, daemon=True).start()
        with pytest.raises(EngineError, match="does not speak HTTP"):
            engine_client.server(url)
        monkeypatch.setattr(engine_client, "ANSWER", 0.2)
        with pytest.raises(EngineError, match=r"does not list its models within|took too long"):
            engine_client.server(url)  # connects, and waits
    with pytest.raises(EngineError, match="no server answers there: Connection refused"):
        engine_client.server(url)


def test_ctrl_c_ends_it_with_status_130(monkeypatch, capsys):
    def interrupted(*of, **named):
        raise KeyboardInterrupt

    with serving() as (_, url):
        monkeypatch.setattr(engine_client.Queue, "get", interrupted)
        with pytest.raises(SystemExit) as end:
            calibrate.main(["--engine", url])
    assert end.value.code == 130 and capsys.readouterr().err == "\nstopped\n"


# Streams, without a server


def test_a_pass_is_the_time_between_tokens_while_all_sequences_decode():
    # one begins at 0 and runs alone until the other one comes; together they take 20 ms a token
    first = engine_timing.Stream(np.concatenate([np.arange(0, 1, 0.01), 1 + np.arange(60) * 0.02]), 1.0)
    second = engine_timing.Stream(1 + np.arange(50) * 0.02, 1.0)
    one = engine_timing.decode_pass(100, [first, second])
    assert one.sequences == 2 and one.seconds == pytest.approx(0.02)
    # the first has decoded 101 to 150 tokens, 125.5 on average, the second 1 to 50
    assert one.tokens == pytest.approx(100 + 125.5 + 100 + 25.5)


def test_parts_of_several_tokens_and_a_pause_do_not_change_a_pass():
    times = np.arange(40) * 0.05
    times[17:] += 1.0  # preempted once
    one = engine_timing.decode_pass(100, [engine_timing.Stream(times, 4.0)])
    assert one.seconds == pytest.approx(0.0125)


def test_sequences_that_wait_for_one_another_show_no_pass():
    early, late = (engine_timing.Stream(start + np.arange(50) * 0.01, 1.0) for start in (0.0, 0.45))
    assert engine_timing.decode_pass(100, [early, late]) is None


def test_the_last_part_may_say_only_that_the_answer_is_over():
    server = engine_client.address("localhost:8000", "")
    lines = [(t / 10, json.dumps(part).encode()) for t, part in enumerate([*ended(4, None), *ended(1)])]
    lines[-1] = (0.5, b'{"choices": [{"text": "", "finish_reason": "length"}], "usage": {"completion_tokens": 4}}')
    assert len(engine_client.stream(server, lines, 4).times) == 4
