"""The KV cache of an inference engine: how many tokens fit, what reading them costs, and how blocks hand the room out.

Capacity and roofline are closed forms. Blocks, block tables and copy-on-write are PagedAttention (Kwon et al. 2023,
arXiv:2309.06180), the prefix tree is RadixAttention (Zheng et al. 2023, arXiv:2312.07104), eviction by recomputation is
what vLLM does (its V1 scheduler, 2025). Not modeled: layers with a sliding window, whose cache stops growing, and the
all-reduces of tensor parallelism.
"""

from collections import deque
from dataclasses import dataclass
from math import erf, exp, floor, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from sim.cluster.throughput import bytes_read, peak_flops

HBM_SHARE = 0.9  # of the memory that the engine may fill with weights and cache


def capacity(model, acc, tp=1, util=HBM_SHARE, w_bytes=2, kv_bytes=2):
    """Tokens whose keys and values fit beside the weights; negative if the weights alone do not fit.

    On each of `tp` GPUs: (util x HBM − weights / tp) / (KV bytes a token / KV shards).
    """
    room = util * acc.hbm_bytes - model.params() * w_bytes / tp  # assumed: all else in 1 − util
    return floor(room * model.kv_shards(tp) / model.kv_bytes_per_token(kv_bytes))


def max_seqs(tokens, slots):
    """Sequences that fit at once when each takes `slots` of the cache's `tokens`."""
    return max(floor(tokens / slots), 0)


class Decode(NamedTuple):
    """One decode iteration at the peak of the chip: an upper bound on speed, with no launch overhead and no
    communication.
    """

    memory_seconds: float | np.ndarray
    compute_seconds: float | np.ndarray
    kv_share: float | np.ndarray  # of the bytes read
    batch: float | np.ndarray

    @property
    def seconds(self):
        return np.maximum(self.memory_seconds, self.compute_seconds)  # loads overlap arithmetic

    @property
    def tok_s(self):
        return self.batch / self.seconds

    @property
    def per_seq_tok_s(self):
        return self.tok_s / self.batch

    @property
    def bound(self):
        return "memory" if self.memory_seconds >= self.compute_seconds else "compute"


def decode_roofline(model, acc, batch, context, tp=1, w_bytes=2, kv_bytes=2):
    """Reading the weights once and every live token's cache, against 2 FLOP a weight and attention.

    Numbers or arrays.
    """
    batch = batch * 1.0  # float64: the products overflow the browser's int32
    tokens = batch * context
    read = bytes_read(model, batch, tokens, tp, w_bytes, kv_bytes)
    cache = bytes_read(model, batch, tokens, tp, 0, kv_bytes)  # weights of no bytes
    flop = batch * (2.0 * model.active_params() + model.attn_flops_per_token(context * 1.0))
    return Decode(
        memory_seconds=read / acc.hbm_bytes_per_second,
        compute_seconds=flop / (tp * peak_flops(acc, w_bytes)),
        kv_share=cache / read,
        batch=batch,
    )


def unlimited_batch_intensity(model, context, tp=1, kv_bytes=2):
    """FLOP per byte read as the batch grows without limit: the weights' reading is shared among ever more tokens, a
    sequence's own cache is not.

    (2P + attention FLOPs) / KV bytes, all a token; P the active weights. Above the ridge a large enough batch is bound
    by compute.
    """
    cache = context * float(model.kv_bytes_per_token(kv_bytes)) * tp / model.kv_shards(tp)
    return (2.0 * model.active_params() + model.attn_flops_per_token(context)) / cache


def crossover_context(model, acc, tp=1, w_bytes=2, kv_bytes=2):
    """S*, the average context beyond which no batch is bound by compute, from the weights' FLOPs alone: 2P / (KV bytes
    a token x ridge).
    """
    return 2.0 * model.active_params() / flop_to_hide_a_token(model, acc, tp, w_bytes, kv_bytes)


def crossover_with_attention(model, acc, tp=1, w_bytes=2, kv_bytes=2):
    """S* counting attention's FLOPs too; infinite where they alone keep the chip busy."""
    hide = flop_to_hide_a_token(model, acc, tp, w_bytes, kv_bytes)
    spare = hide - model.attn_flops_per_token(1.0)
    return 2.0 * model.active_params() / spare if spare > 0 else inf


def flop_to_hide_a_token(model, acc, tp, w_bytes, kv_bytes):
    """FLOP that `tp` GPUs can do while each reads its part of one cached token."""
    read = model.kv_bytes_per_token(kv_bytes) * tp / model.kv_shards(tp)
    return read * engine_ridge(acc, w_bytes)


def engine_ridge(acc, w_bytes):
    """FLOP a byte at which an engine with weights of this width is compute-bound. Assumed: attention runs at the same
    peak as the projections.
    """
    return peak_flops(acc, w_bytes) / acc.hbm_bytes_per_second


def expected_utilization(median, sigma, max_len):
    """Share of a reservation of `max_len` that is ever filled, lengths lognormal(ln median, sigma) cut at `max_len`:
    E[min(X, c)] / c.
    """
    cut = (log(max_len) - log(median)) / sigma
    return (median * exp(sigma**2 / 2) * normal_cdf(cut - sigma) + max_len * (1 - normal_cdf(cut))) / max_len


def normal_cdf(x):
    return (1 + erf(x / sqrt(2))) / 2


def fragmentation(lengths, max_len, block=None):
    """Share of the reserved slots that hold a token: whole blocks, or `max_len` for each sequence if there are no
    blocks.
    """
    reserved = np.full(len(lengths), float(max_len)) if block is None else np.ceil(lengths / block) * block
    return float(np.sum(lengths) / np.sum(reserved))


def shared_fraction(prompt_share, K):
    """KV of K completions that share their prompt, as a part of what K copies take: (p + K l) / (K (p + l)) with p / (p
    + l) = prompt_share.
    """
    return prompt_share / K + 1 - prompt_share


def slots_per_sequence(context, block, prompt=0, K=1):
    """Slots that one sequence of a group of K takes on average; only the prompt's full blocks are shared."""
    shared = prompt // block * block if K > 1 else 0
    return shared / K + context - shared + (block - 1) / 2  # assumed: the last block is filled evenly from 1 to `block`


class BlockAllocator:
    """Slots for tokens, in blocks of one size. A sequence has a table of block numbers in the order of its tokens; a
    block may stand in several tables.
    """

    def __init__(self, n_blocks, block):
        self.n_blocks, self.block = n_blocks, block
        self.free_blocks = list(range(n_blocks))[::-1]
        self.references = [0] * n_blocks
        self.tables, self.lengths = {}, {}
        self.saved = 0  # slots that further tables would have taken without sharing

    @property
    def used(self):
        return (self.n_blocks - len(self.free_blocks)) * self.block

    @property
    def tokens(self):
        """Tokens as the sequences see them: a shared one counts for each."""
        return sum(self.lengths.values())

    def needed(self, seq, n):
        """New blocks for `n` more tokens of `seq`; one of them is a copy if its last block is half full and someone
        else reads it.
        """
        table, length = self.tables.get(seq, []), self.lengths.get(seq, 0)
        copy = length % self.block > 0 and self.references[table[-1]] > 1
        return -(-(length + n) // self.block) - len(table) + copy, copy

    def append(self, seq, n=1):
        """Room for `n` more tokens of `seq`, which may be new; False if the blocks do not suffice."""
        needed, copy = self.needed(seq, n)
        if needed > len(self.free_blocks):
            return False
        table = self.tables.setdefault(seq, [])
        if copy:
            self._release([table.pop()])  # copy-on-write: the first new block takes its place
        if needed:
            new = self.free_blocks[: -needed - 1 : -1]
            del self.free_blocks[-needed:]
            for b in new:
                self.references[b] = 1
            table += new
        self.lengths[seq] = self.lengths.get(seq, 0) + n
        return True

    def fork(self, parent, child, n):
        """`child` begins with the first `n` tokens of `parent` and takes no room for them."""
        table = self.tables[parent][: -(-n // self.block)]
        for b in table:
            self.references[b] += 1
        self.saved += len(table) * self.block
        self.tables[child], self.lengths[child] = table, n

    def free(self, seq):
        self._release(self.tables.pop(seq))
        del self.lengths[seq]

    def _release(self, blocks):
        for b in blocks:
            self.references[b] -= 1
            if self.references[b]:
                self.saved -= self.block
            else:
                self.free_blocks.append(b)


class RadixCache:
    """Prompt blocks by content, a tree with a node for each block: the same tokens after the same parent have the same
    keys and values.

    The path from the root is the prefix, so a node is what vLLM looks up by the hash of (hash of the parent, tokens of
    the block).
    """

    def __init__(self, block):
        self.block, self.root, self.clock = block, {}, 0

    def match(self, tokens):
        """How many tokens at the beginning are cached, in whole blocks; they become the most recently used."""
        self.clock += 1
        path = self._path(tokens)
        for node in path:
            node["used"] = self.clock
        return len(path) * self.block

    def insert(self, tokens):
        """Cache the full blocks of `tokens`."""
        self.clock += 1
        children = self.root
        for key in self._keys(tokens):
            node = children.setdefault(key, dict(children={}, holders=0))
            node["used"] = self.clock
            children = node["children"]

    def hold(self, tokens, by=1):
        """A running sequence reads these blocks, so they stay; `by` = -1 when it has finished."""
        for node in self._path(tokens):
            node["holders"] += by

    def evict(self, n):
        """Forget up to `n` blocks, one at a time: the least recently used leaf that nobody holds."""
        for _ in range(n):
            leaves = [
                (node["used"], siblings, key)
                for siblings, key, node in self._nodes()
                if not node["children"] and not node["holders"]
            ]
            if not leaves:
                return
            _, siblings, key = min(leaves, key=lambda leaf: leaf[0])
            del siblings[key]

    def __len__(self):
        return sum(1 for _ in self._nodes())

    def _keys(self, tokens):
        return [tuple(tokens[i : i + self.block]) for i in range(0, len(tokens) - self.block + 1, self.block)]

    def _path(self, tokens):
        path, children = [], self.root
        for key in self._keys(tokens):
            if key not in children:
                break
            path.append(children[key])
            children = children[key]["children"]
        return path

    def _nodes(self):
        stack = [self.root]
        while stack:
            siblings = stack.pop()
            for key, node in siblings.items():
                yield siblings, key, node
                stack.append(node["children"])


@dataclass
class Request:
    group: int  # completions of one prompt
    prompt: int
    length: int  # of prompt and completion together
    have: int  # tokens known so far; an evicted sequence keeps them, but not their keys and values


@dataclass(frozen=True)
class Trace:
    """What a run of the engine leaves behind; an entry of an array is one event, except in the last two."""

    slots: int  # of the pool
    seconds: np.ndarray
    used: np.ndarray  # slots in blocks that belong to someone
    wasted: np.ndarray  # of these, the ones without a token
    saved: np.ndarray  # slots that sharing did not have to take
    live: np.ndarray  # sequences
    evictions: np.ndarray
    recomputed: int  # tokens read again after an eviction
    recompute_share: float  # of the time
    references: np.ndarray  # (blocks,) tables that hold each block, when the pool held most tokens
    fill: np.ndarray  # (blocks,) share of its slots with a token, then


def serve_trace(lengths, prompt, K, slots, block, batch, decode_seconds, prefill_seconds, sharing, stride):
    """Generate completions of total `lengths`, K of each prompt, first come first served, at most `batch` at once, in a
    pool of `slots`; -> Trace.

    A sequence is admitted when what it has so far fits. When a running one needs a block and there is none, the newest
    is evicted, waits at the head of the queue and is read again from its tokens. `decode_seconds(n, tokens)` are those
    of iterations (arrays), `prefill_seconds` of one token read. Sequences move on `stride` tokens at a time.
    """
    pool = BlockAllocator(slots // block, block)
    requests = [Request(i // K, prompt, int(min(n, pool.n_blocks * block)), prompt) for i, n in enumerate(lengths)]
    waiting, running, evicted, rows = deque(range(len(requests))), [], set(), []
    recomputed, fullest = 0, -1
    while waiting or running:
        read, evictions = 0, 0
        while waiting and len(running) < batch:
            seq = waiting[0]
            sibling = next((s for s in running if requests[s].group == requests[seq].group), None) if sharing else None
            cached = prompt // block * block if sibling is not None else 0
            if -(-(requests[seq].have - cached) // block) > len(pool.free_blocks):
                break
            if cached:
                pool.fork(sibling, seq, cached)
            pool.append(seq, requests[seq].have - cached)
            running.append(waiting.popleft())
            read += requests[seq].have - cached
            if seq in evicted:
                evicted.discard(seq)
                recomputed += requests[seq].have - cached
        live, context = len(running), pool.tokens
        for seq in list(running):
            if seq not in pool.tables:
                continue  # evicted a moment ago, to make room for an older one
            grow = min(stride, requests[seq].length - requests[seq].have)
            while not pool.append(seq, grow):
                newest = running.pop()
                pool.free(newest)
                waiting.appendleft(newest)
                evicted.add(newest)
                evictions += 1
                if newest == seq:
                    break
            else:
                requests[seq].have += grow
        wasted = pool.used - (
            pool.tokens - pool.saved
        )  # only full blocks are shared, so the bracket counts each token once
        rows.append((live, context, read, pool.used, wasted, pool.saved, evictions))
        if pool.used - wasted > fullest:
            fullest = pool.used - wasted
            references, last = (
                pool.references[:],
                {table[-1]: pool.lengths[seq] % block for seq, table in pool.tables.items()},
            )
        for seq in [s for s in running if requests[s].have == requests[s].length]:
            pool.free(seq)
            running.remove(seq)
    references = np.array(references, float)
    fill = np.minimum(references, 1)
    for b, tokens in last.items():
        fill[b] = tokens / block if tokens else 1
    live, context, read, used, wasted, saved, evictions = np.array(rows, float).T
    seconds = np.cumsum(read * prefill_seconds + stride * decode_seconds(live, context))
    return Trace(
        pool.n_blocks * block,
        seconds,
        used,
        wasted,
        saved,
        live,
        evictions,
        recomputed,
        recomputed * prefill_seconds / seconds[-1],
        references,
        fill,
    )
