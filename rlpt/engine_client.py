"""Decode passes of a running vLLM or SGLang server, timed from outside: requests that stream, many at once, by the
OpenAI-compatible API. Measurement, not a model. What the seconds say is in planning/engine_timing.py.

Prompts are random token IDs, so no two share a prefix that the server could have kept. Everything ends: each request
has a deadline, and whatever the server does instead of answering becomes an EngineError with one sentence.
"""

import http.client
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import ceil
from queue import Empty, Queue
from random import Random
from threading import Thread
from time import monotonic, perf_counter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from rlpt.planning.engine_timing import BLOCK, Pass, Stream, decode_pass
from sim.words import counted

ANSWER = 15.0  # seconds for the list of models
LONGEST = 3600  # the most seconds of a round
TOKENS = 6 * BLOCK  # that each sequence decodes beside all others
# assumed: tokens of prompts in a pass, at least. Sequences that came first decode meanwhile, and while the server is
# still reading the requests, of which a pass sees four.
PREFILL = 2048
IDS = range(1000, 20_000)  # of tokens in any vocabulary of today
BODY, LINE = 2**20, 2**16  # the most bytes to read of an answer and of a line


class EngineError(Exception):
    """What is wrong with the server, in a sentence."""


class Server(NamedTuple):
    secure: bool
    host: str
    port: int
    path: str  # before /v1
    key: str
    model: str = ""
    longest: int | None = None  # tokens in a sequence, if the server says so

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' * self.secure}://{host}:{self.port}{self.path}"

    def connection(self, seconds: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        return kind(self.host, self.port, timeout=seconds)


def server(url: str, key: str = "", name: str | None = None) -> Server:
    """The server at a URL, once it has listed the model that is asked for; `key` as in OPENAI_API_KEY."""
    found = address(url, key)
    late = f"{found.url} does not list its models within {ANSWER:.0f} s"
    body = together(found, [lambda opened: answer(found, opened)], ANSWER, late)[0]
    try:
        models = {str(one["id"]): one for one in json.loads(body)["data"]}
    except (ValueError, TypeError, KeyError):
        raise EngineError(f"{found.url}/v1/models is no list of models as OpenAI's API has it") from None
    listed = ", ".join(models)[:300]
    if not models:
        raise EngineError(f"{found.url} serves no model")
    if name is None and len(models) > 1:
        raise EngineError(f"{found.url} serves several models; choose one by --served-model: {listed}")
    if name is not None and name not in models:
        raise EngineError(f"{found.url} does not serve {name[:80]}; it serves {listed}")
    chosen = name or next(iter(models))
    longest = models[chosen].get("max_model_len")
    return found._replace(model=chosen, longest=longest if isinstance(longest, int) else None)


def address(url: str, key: str) -> Server:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in ("http", "https") or not url.isascii() or any(c.isspace() for c in url):
        raise EngineError(f"“{url[:80]}” is no address of a server; an example is http://localhost:8000")
    if not (key.isascii() and key.isprintable()):
        raise EngineError("OPENAI_API_KEY holds characters that no key has")
    secure = parts.scheme == "https"
    return Server(
        secure, host, port or (443 if secure else 80), parts.path.rstrip("/").removesuffix("/v1"), key.strip()
    )


def passes(
    at: Server, many: Sequence[int], prompts: Sequence[int], rng: Random, seconds: float
) -> Iterator[Pass | str]:
    """A Pass for each number of sequences and each length of prompts, or a sentence on why it was left out, after one
    round that is not counted. No round takes longer than `seconds`.
    """
    round_of(at, max(many), min(prompts), 2, rng, seconds)
    for prompt in prompts:
        for n in many:
            tokens = TOKENS + n // 4 + ceil(n * prompt / PREFILL)
            left_out = f"{n:,} x {prompt:,} tokens left out: "
            if at.longest is not None and prompt + tokens > at.longest:
                yield f"{left_out}with {tokens:,} more each, they exceed the server's limit of {at.longest:,}"
                continue
            seen = decode_pass(prompt, round_of(at, n, prompt, tokens, rng, seconds))
            yield seen or f"{left_out}the server did not decode them together; it has no room, or its limit is lower"


def round_of(at: Server, n: int, prompt: int, tokens: int, rng: Random, seconds: float) -> list[Stream]:
    """n requests at once, as streams."""
    firsts = rng.sample(IDS, n)  # no prompt begins as another one does
    bodies = [request(at, [first, *rng.choices(IDS, k=prompt - 1)], tokens) for first in firsts]
    late = f"{at.url} needs more than {seconds:,.0f} s for {counted(n, 'sequence')} of {prompt:,} tokens"
    late += "; raise --patience if it is that slow"
    jobs = [lambda opened, body=body: streamed(at, opened, body) for body in bodies]
    return [stream(at, lines, tokens) for lines in together(at, jobs, seconds, late)]


def request(at: Server, prompt: list[int], tokens: int) -> bytes:
    exactly = dict(max_tokens=tokens, min_tokens=tokens, ignore_eos=True, temperature=1)
    told = dict(stream=True, stream_options=dict(include_usage=True))
    return json.dumps(dict(model=at.model, prompt=prompt, **exactly, **told)).encode()


# One request

Opened = list[socket.socket]  # what must be closed to end it


def sent(at: Server, opened: Opened, path: str, body: bytes | None = None) -> http.client.HTTPResponse:
    """The answer to a request, of which only the head has been read."""
    connection = at.connection(ANSWER if body is None else LONGEST)
    headers = {"Connection": "close"}
    headers |= {"Content-Type": "application/json"} if body is not None else {}
    headers |= {"Authorization": f"Bearer {at.key}"} if at.key else {}
    connection.connect()
    opened.append(connection.sock)
    connection.request("GET" if body is None else "POST", at.path + path, body, headers)
    response = connection.getresponse()
    if response.status != 200:
        raise EngineError(refusal(at, path, response))
    return response


def refusal(at: Server, path: str, response: http.client.HTTPResponse) -> str:
    status = response.status
    if status in (401, 403):
        wrong = "refuses the key in" if at.key else "asks for a key; set"
        return f"{at.url} {wrong} OPENAI_API_KEY (status {status})"
    if status == 404 and path == "/v1/models":
        return f"{at.url} has no /v1/models, so it is no server with OpenAI's API; pass the URL without /v1/…"
    said = response.read(BODY).decode(errors="replace")
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        told = json.loads(said)
        said = str(told["error"]["message"] if isinstance(told.get("error"), dict) else told["message"])
    said = " ".join(said.split())[:200]
    return f"{at.url}{path} answers with status {status} {response.reason}{f': {said}' if said else ''}"


def answer(at: Server, opened: Opened) -> bytes:
    return sent(at, opened, "/v1/models").read(BODY)


def streamed(at: Server, opened: Opened, body: bytes) -> list[tuple[float, bytes]]:
    """[(time, line)] of a stream. Lines are parsed later, because parsing would delay the clock of other streams."""
    response = sent(at, opened, "/v1/completions", body)
    if "event-stream" not in response.getheader("Content-Type", ""):
        raise EngineError(f"{at.url} does not stream its answers, so the time of a pass cannot be seen")
    lines = []
    while line := response.readline(LINE):
        if line.startswith(b"data:"):
            lines.append((perf_counter(), line[5:].strip()))
    return lines


def stream(at: Server, lines: Sequence[tuple[float, bytes]], asked: int) -> Stream:
    """The Stream of a request for so many tokens."""
    times: list[float] = []
    tokens, reason, text = None, None, ""
    for time, line in lines:
        if line == b"[DONE]":
            continue
        try:
            part = json.loads(line)
            fault, choices, usage = part.get("error"), part.get("choices"), part.get("usage")
            if choices:
                times.append(time)
                reason, text = choices[0].get("finish_reason") or reason, choices[0].get("text")
            tokens = int(usage["completion_tokens"]) if usage else tokens
        except (ValueError, TypeError, KeyError, AttributeError, IndexError):
            raise EngineError(f"{at.url} streams what is no part of a completion: {line[:60]!r}") from None
        if fault:
            said = fault.get("message") if isinstance(fault, dict) else fault
            raise EngineError(f"{at.url} broke off a stream: {' '.join(str(said).split())[:200]}")
    if tokens is None:
        tokens = len(times)
    elif len(times) == tokens + 1 and not text:
        times.pop()  # says only that the answer is over
    if reason is None:
        raise EngineError(f"{at.url} ended a stream after {tokens:,} of {asked:,} tokens")
    if tokens < asked:
        raise EngineError(
            f"{at.url} stopped a sequence after {tokens:,} of {asked:,} tokens, although ignore_eos and min_tokens "
            "forbid that, so it cannot be timed"
        )
    return Stream(np.array(times), tokens / len(times))


# Many at once


def together(at: Server, jobs: Sequence[Callable[[Opened], Any]], seconds: float, late: str) -> list[Any]:
    """The results of jobs that run at once. Raises the first EngineError, or `late` after so many seconds, and closes
    what the jobs have opened.
    """
    done: Queue[tuple[int, Any]] = Queue()
    opened: Opened = []
    deadline = monotonic() + seconds

    def run(i: int, job: Callable[[Opened], Any]) -> None:
        try:
            done.put((i, job(opened)))
        except EngineError as fault:
            done.put((i, fault))
        except Exception as fault:  # whatever a socket or a server comes up with
            done.put((i, EngineError(f"{at.url}: {broken(fault)}")))

    results: list[Any] = [None] * len(jobs)
    try:
        for i, job in enumerate(jobs):
            Thread(target=run, args=(i, job), daemon=True).start()
        for _ in jobs:
            i, results[i] = done.get(timeout=max(deadline - monotonic(), 0.0))
            if isinstance(results[i], EngineError):
                raise results[i]
    except Empty:
        raise EngineError(late) from None
    finally:
        for one in opened:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
    return results


def broken(fault: Exception) -> str:
    if isinstance(fault, UnicodeError):
        return "that host has no valid name"
    if isinstance(fault, ConnectionRefusedError | socket.gaierror | TimeoutError):
        return f"no server answers there: {fault.strerror or 'it took too long'}"
    if isinstance(fault, http.client.BadStatusLine | http.client.LineTooLong):
        return "what answers there does not speak HTTP"
    if isinstance(fault, http.client.IncompleteRead):
        return "the server broke off in the middle of an answer"
    return f"the connection broke: {' '.join(str(fault).split())[:200] or type(fault).__name__}"
