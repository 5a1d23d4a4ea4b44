"""One inference engine, iteration by iteration: who is admitted, what is read, who is evicted.

Iteration-level scheduling is Orca's (Yu et al., OSDI 2022), paging vLLM's (Kwon et al. 2023, arXiv:2309.06180), chunked
prefill Sarathi-Serve's (Agrawal et al. 2024, arXiv:2403.02310), speculation that of Leviathan et al. (2023),
arXiv:2211.17192. Eviction and prefix caching follow vLLM's V1 scheduler (2026). Not modeled: drafts whose quality
changes, and kernels that differ by batch size.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any, Protocol

import numpy as np

from sim.cluster import throughput
from sim.cluster.hardware import Accelerator
from sim.cluster.kv_cache import BlockAllocator
from sim.cluster.lengths import Law
from sim.cluster.models import Model, Numbers

DRAFT_SECONDS = 0.2e-3  # assumed: launching one draft


class IterationSeconds(Protocol):
    """Seconds of an iteration that decodes so many sequences over so many cached tokens in all, and prefills."""

    def __call__(
        self, n: Numbers, kv_tokens: Numbers, prefill_tokens: Numbers = 0, prefill_context: Numbers = 0, /
    ) -> Numbers: ...


@dataclass(frozen=True)
class Request:
    prompt: int
    output: int
    group: int  # completions of one prompt


def tokens_a_pass(acceptance: float, drafts: int) -> float:
    """Mean tokens per pass, the model's own and the accepted drafts: (1 − α^(γ+1)) / (1 − α)."""
    if acceptance == 1:
        return drafts + 1.0
    return (1 - acceptance ** (drafts + 1)) / (1 - acceptance)


@dataclass(frozen=True)
class Speculation:
    acceptance: float  # α, probability that a draft is accepted if those before it were
    drafts: int  # γ, tokens drafted in each pass
    cost: float  # c, the drafter's weights as a fraction of the model's

    @property
    def tokens(self) -> float:
        """Mean tokens per pass."""
        return tokens_a_pass(self.acceptance, self.drafts)

    @property
    def speedup(self) -> float:
        """The speed-up while memory sets the pace and launching takes no time: tokens / (γ c + 1)."""
        return self.tokens / (self.drafts * self.cost + 1)


def best_drafts(acceptance: float, cost: float, most: int = 64) -> int:
    """The γ with the largest `speedup`, 0 if speculation never pays."""
    return max(range(most + 1), key=lambda drafts: Speculation(acceptance, drafts, cost).speedup)


def pays_until(
    model: Model, accelerator: Accelerator, speculation: Speculation, context: float, most: int = 2**13, **engine: Any
) -> float:
    """The largest number of sequences of `context` tokens up to which a pass with drafts yields more tokens per second
    than an iteration without; 0 if none, inf if all up to `most` gain.
    """
    n = np.arange(1, most + 1.0)
    plain, guessing = (rates(model, accelerator, s, **engine)(n, n * context) for s in (None, speculation))
    gains = np.asarray(guessing < speculation.tokens * plain)
    return inf if gains.all() else int(np.argmin(gains))


@dataclass(frozen=True)
class Policy:
    batch: int = 256  # maximum number of concurrent sequences
    static: bool = False  # the next batch starts when the last sequence of this one has finished
    reserve: int | None = None  # tokens reserved for every sequence; None means blocks as needed
    prefix: bool = True  # blocks are found by their content
    chunk: int = 2048  # tokens in a mixed iteration; 0 means that prompts are read whole, in separate iterations
    budget: int = 8192  # tokens of such an iteration
    watermark: float = 0.0  # fraction of the blocks that admission leaves free
    speculation: Speculation | None = None


@dataclass(frozen=True)
class Trace:
    """The results of a run, or of its part so far; an entry of an array is one event, in the order of `seconds`."""

    makespan: float
    tokens_per_second: float  # generated
    iterations: int
    preemptions: int
    longest_gap: float  # seconds between two tokens of a sequence that was not evicted between them
    read_again: float  # tokens prefilled after evictions, as a fraction of all requests' tokens
    finished: int  # requests
    seconds: np.ndarray
    written: np.ndarray  # tokens generated
    live: np.ndarray  # sequences
    used: np.ndarray  # slots in blocks that are in use
    filled: np.ndarray  # those that hold a token; a shared one counts once
    gaps: np.ndarray  # seconds, the longest silence of a sequence that ended at this event
    evictions: np.ndarray  # since the previous event


def rates(
    model: Model, accelerator: Accelerator, speculation: Speculation | None = None, **engine: Any
) -> IterationSeconds:
    """seconds(sequences, KV tokens, prefill tokens, prefill context) of one iteration; with drafts, of one pass."""
    gamma = speculation.drafts if speculation else 0
    eff = engine.get("efficiency", throughput.ASSUMED)

    def seconds(n: Numbers, kv_tokens: Numbers, prefill_tokens: Numbers = 0, prefill_context: Numbers = 0) -> Numbers:
        shape = (model, accelerator, n, kv_tokens, prefill_tokens, prefill_context)
        one = throughput.iteration_seconds(*shape, queries=1 + gamma, **engine)
        if not speculation or not gamma:
            return one
        read = model.read_params(n) * 2 / (accelerator.hbm_bytes_per_second * eff.bandwidth)
        multiply = 2.0 * model.matmul_params() * n / (accelerator.flops() * eff.flops)
        return one + gamma * (speculation.cost * np.maximum(read, multiply) + DRAFT_SECONDS) * (n > 0)

    return seconds


def requests_of(law: Law, prompts: int, samples: int, prompt: int, rng: np.random.Generator) -> list[Request]:
    """`samples` requests for each of `prompts` prompts: lengths sampled from the law, prompts evenly from two thirds to
    four thirds of `prompt` tokens.
    """
    sizes = rng.integers(max(2 * prompt // 3, 1), 4 * prompt // 3 + (prompt < 3), prompts)
    outputs = np.ceil(law.at(rng.standard_normal((prompts, samples)))).astype(np.int64)
    return [Request(int(size), int(n), group) for group, size in enumerate(sizes) for n in outputs[group]]


class Engine:
    """The state of one engine between two events."""

    def __init__(self, requests: Sequence[Request], pool: BlockAllocator, policy: Policy) -> None:
        self.requests, self.pool, self.policy = requests, pool, policy
        self.per_pass = policy.speculation.tokens if policy.speculation else 1.0
        self.waiting = deque(range(len(requests)))
        self.running: list[int] = []
        n = len(requests)
        self.prompt = np.array([r.prompt for r in requests])
        self.total = self.prompt + np.array([r.output for r in requests])
        self.known = self.prompt.astype(np.float64)  # tokens whose text exists; an evicted sequence keeps them
        self.unread = np.zeros(n, np.int64)  # those of them that must be prefilled before it decodes
        self.spoke = np.zeros(n)  # when its last token arrived
        self.held = np.zeros(n, np.int64)  # blocks
        self.evicted: set[int] = set()
        self.preemptions = self.read_again = self.finished = 0
        self.evicted_now = False

    def tag(self, s: int, i: int) -> tuple[str, int, int]:
        """What block i of a sequence holds: a part of its group's prompt, or of its own text."""
        whole = (i + 1) * self.pool.block <= self.prompt[s]
        return ("prompt", self.requests[s].group, i) if whole else ("own", s, i)

    def tag_full_blocks(self, s: int, tokens: float) -> None:
        if self.policy.prefix:
            for i in range(int(tokens) // self.pool.block):
                self.pool.tag(s, i, self.tag(s, i))

    def admit(self) -> None:
        """First come, first served, while the known tokens and one more fit beside what the running sequences take for
        their next token. Nobody is admitted in an iteration with an eviction, because the evicted and the next would
        replace each other forever.
        """
        policy, pool = self.policy, self.pool
        wait, self.evicted_now = self.evicted_now, False
        if self.running and (wait or policy.static or not self.waiting):
            return
        running = np.array(self.running, np.int64)
        decoding = running[self.unread[running] == 0]
        if not policy.reserve and len(decoding):
            if not self.most_passes(decoding, self.per_pass, 1):
                return  # somebody is about to be evicted
            self.take_blocks(decoding, self.known[decoding] + self.per_pass)
        while self.waiting and len(self.running) < policy.batch:
            s = self.waiting[0]
            have = int(self.known[s])
            slots = max(policy.reserve or 0, have + 1)
            # at least one token is read again, otherwise there is nothing to sample from
            hits = pool.find(self.tag(s, i) for i in range((have - 1) // pool.block)) if policy.prefix else []
            needed = ceil(slots / pool.block) - len(hits) + sum(pool.references[b] == 0 for b in hits)
            spare = int(policy.watermark * pool.n_blocks) if self.running else 0
            if needed + spare > len(pool.free_blocks):
                return
            pool.claim(s, hits)
            cached = len(hits) * pool.block
            pool.append(s, slots - cached)
            self.unread[s], self.held[s] = have - cached, len(pool.tables[s])
            # before it is read: siblings admitted in the same iteration find it
            self.tag_full_blocks(s, self.prompt[s])
            if s in self.evicted:
                self.read_again += have - cached
            self.running.append(self.waiting.popleft())

    def most_passes(self, sequences: np.ndarray, per_pass: float, at_most: int) -> int:
        """The largest number of passes, up to `at_most`, for which there are free blocks."""
        if self.policy.reserve:
            return at_most
        held, known, total = self.held[sequences], self.known[sequences], self.total[sequences]
        free, block, n = len(self.pool.free_blocks), self.pool.block, len(sequences)

        def enough(
            passes: int,
        ) -> bool:  # one token more than is known has room, as on admission; the last of all needs none after
            wanted = np.minimum(np.floor(known + passes * per_pass) + 1, total)
            return np.maximum(np.ceil(wanted / block) - held, 0).sum() <= free

        if enough(at_most):
            return at_most
        if not enough(1):
            return 0
        # every sequence has at most one block that is not full
        low, high = 1, min(at_most, int((free + n) * block / (n * per_pass)) + 2)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if enough(middle) else (low, middle)
        return low

    def grow(self, sequences: np.ndarray, tokens: float) -> None:
        """This many more tokens for each sequence, up to its end."""
        known = self.known[sequences] = np.minimum(self.known[sequences] + tokens, self.total[sequences])
        if not self.policy.reserve:
            self.take_blocks(sequences, known)

    def take_blocks(self, sequences: np.ndarray, known: np.ndarray) -> None:
        """Blocks for this many tokens of each sequence and one more, up to its end."""
        slots = np.minimum(np.floor(known) + 1, self.total[sequences]).astype(np.int64)
        blocks = -(-slots // self.pool.block)
        short = blocks > self.held[sequences]  # the others have room in their last block
        for s, wanted in zip(sequences[short].tolist(), slots[short].tolist()):
            self.pool.append(s, wanted - self.pool.lengths[s])
        self.held[sequences[short]] = blocks[short]

    def evict_newest(self) -> None:
        newest = self.running.pop()
        self.tag_full_blocks(newest, self.known[newest])  # so that it finds its unused blocks when it returns
        self.pool.free(newest)
        self.waiting.appendleft(newest)
        self.evicted.add(newest)
        self.unread[newest] = 0
        self.preemptions += 1
        self.evicted_now = True

    def retire(self) -> None:
        running = np.array(self.running, np.int64)
        for s in running[(self.unread[running] == 0) & (self.known[running] >= self.total[running])].tolist():
            self.pool.free(s)
            self.running.remove(s)
            self.finished += 1


def run(
    requests: Sequence[Request], seconds: IterationSeconds, pool: BlockAllocator, policy: Policy, stride: float = inf
) -> Trace:
    """Serves `requests` from first to last and returns the last Trace of `stream`."""
    *_, trace = stream(requests, seconds, pool, policy, stride, every=inf)
    return trace


def stream(
    requests: Sequence[Request],
    seconds: IterationSeconds,
    pool: BlockAllocator,
    policy: Policy,
    stride: float = inf,
    every: float = 40,
    watch: Callable[[Engine, float], None] | None = None,
) -> Iterator[Trace]:
    """Serves `requests` from first to last: yields the Trace so far after every `every` events, and finally that of
    everything. `watch` sees the engine and the clock before each event, once it is known who takes part, and once at
    the end.

    `seconds(sequences, KV tokens, prefill tokens, prefill context)` gives the time of an iteration. Decode advances by
    as many iterations as pass without an event, at most `stride`, evaluated at the KV tokens of their middle.
    """
    engine = Engine(requests, pool, policy)
    longest, room = max(int(engine.total.max()), policy.reserve or 0), pool.n_blocks * pool.block
    if longest > room:  # alone in the pool, it would evict itself forever
        raise ValueError(f"a sequence of {longest:,} tokens can never be served: the pool has {room:,}")
    per_pass = policy.speculation.tokens if policy.speculation else 1.0
    queries = 1 + policy.speculation.drafts if policy.speculation else 1
    clock, iterations, rows = 0.0, 0, []
    while engine.waiting or engine.running:
        engine.admit()
        if watch:
            watch(engine, clock)
        running = np.array(engine.running, np.int64)
        unread = engine.unread[running] > 0
        reading, decoding = running[unread].tolist(), running[~unread]
        prefill: float = 0
        passes: float = 0
        n, context, gap = len(decoding), 0.0, 0.0
        if reading and not policy.chunk:
            n, budget = 0, policy.budget
            for s in reading:
                if prefill and engine.unread[s] > budget - prefill:
                    break
                prefill, context = read(engine, s, int(engine.unread[s]), prefill, context)
        else:
            room = policy.chunk - n * queries if reading else 0
            # a prompt of many chunks is read at once, as decode moves on, and so is one that finds no room at all
            alike = max(int(engine.unread[reading[0]]) // room, 1) if room > 0 else inf
            passes = alike
            if n:
                left = int(np.ceil((engine.total[decoding] - engine.known[decoding]).min() / per_pass))
                passes = engine.most_passes(decoding, per_pass, int(min(left, alike, stride)))
                if not passes:
                    engine.evict_newest()
                    continue
            if passes > 1 and room > 0:
                prefill, context = read(engine, reading[0], passes * room, prefill, context)
                prefill, context = prefill / passes, context / passes
            elif room > 0:
                for s in reading:
                    if prefill < room:
                        tokens = min(int(engine.unread[s]), room - int(prefill))
                        prefill, context = read(engine, s, tokens, prefill, context)
        kv_tokens = engine.known[decoding].sum() + n * passes * per_pass / 2 if n else 0.0
        each = float(seconds(n, kv_tokens, prefill, context / prefill if prefill else 0.0))
        if n:
            gap = clock + each - engine.spoke[decoding].min()
            engine.grow(decoding, passes * per_pass)
        iterations += int(max(passes, 1))
        clock += each * max(passes, 1)
        engine.spoke[decoding[:n]] = clock
        done = [s for s in reading if not engine.unread[s]]
        engine.spoke[done] = clock
        written = (engine.known - engine.prompt).sum()
        filled = engine.known[engine.running].sum() - pool.saved
        rows.append((clock, written, len(engine.running), pool.used, filled, gap, engine.preemptions))
        engine.retire()
        if len(rows) % every == 0 and (engine.waiting or engine.running):
            yield trace_of(engine, iterations, rows)
    if watch:
        watch(engine, clock)
    yield trace_of(engine, iterations, rows)


def trace_of(engine: Engine, iterations: int, rows: Sequence[tuple[float, ...]]) -> Trace:
    at, written, live, used, filled, gaps, preemptions = np.array(rows, float).T
    return Trace(
        float(at[-1]),
        float(written[-1] / at[-1]),
        iterations,
        engine.preemptions,
        float(gaps.max()),
        float(engine.read_again / engine.total.sum()),
        engine.finished,
        at,
        written,
        live,
        used,
        filled,
        gaps,
        np.diff(preemptions, prepend=0),
    )


def live_on_average(trace: Trace) -> float:
    """Mean number of sequences in their slots over the time of a run."""
    return float(np.sum(trace.live * np.diff(trace.seconds, prepend=0.0)) / trace.seconds[-1])


def timetable(lengths: Sequence[int], places: int, static: bool = False) -> list[tuple[int, int, int, int]]:
    """Which sequence has which slot when, with one token per iteration and no prefill: [(slot, number of the sequence,
    first iteration, last)], the iterations counted from 0.
    """
    free, out = [0] * places, []
    for number, length in enumerate(lengths):
        if static and number % places == 0:
            free = [max(free)] * places
        place = free.index(min(free))
        out.append((place, number, free[place], free[place] + length - 1))
        free[place] += length
    return out


def read(engine: Engine, s: int, tokens: float, prefill: float, context: float) -> tuple[float, float]:
    """Prefills `tokens` of a sequence and returns (tokens of the iteration so far, the sum of what each of them attends
    to).
    """
    before = int(engine.known[s]) - int(engine.unread[s])
    engine.unread[s] -= tokens
    return prefill + tokens, context + tokens * (before + tokens / 2)
