"""The KV cache of an inference engine: how many tokens fit, what reading them costs, and how blocks hand the room out.

Capacity and roofline are closed forms. Blocks, block tables and copy-on-write are PagedAttention (Kwon et al. 2023,
arXiv:2309.06180), the prefix tree is RadixAttention (Zheng et al. 2023, arXiv:2312.07104), eviction by recomputation is
what vLLM does (its V1 scheduler, 2025). Not modeled: layers with a sliding window, whose cache stops growing, and the
all-reduces of tensor parallelism.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from math import erf, exp, floor, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from sim.cluster.throughput import peak_flops

HBM_SHARE = 0.9  # of the memory that the engine may fill with weights and cache


def capacity(model, accelerator, tensor_parallel=1, hbm_share=HBM_SHARE, weight_bytes=2, kv_bytes=2):
    """Tokens whose keys and values fit beside the weights; negative if the weights alone do not fit.

    On each of `tensor_parallel` GPUs: (share x HBM − weights / GPUs) / (KV bytes a token / KV shards).
    """
    weights = model.params() * weight_bytes / tensor_parallel
    room = hbm_share * accelerator.hbm_bytes - weights  # assumed: all else in 1 − hbm_share
    return floor(room * model.kv_shards(tensor_parallel) / model.kv_bytes_per_token(kv_bytes))


def max_sequences(tokens, slots):
    """Sequences that fit at once when each takes `slots` of the cache's `tokens`."""
    return max(floor(tokens / slots), 0)


def max_in_groups(tokens, own, shared, K):
    """Sequences that fit at once in groups of K: each takes `own` slots, and each begun group `shared` ones more for
    its prompt.
    """
    groups, left = divmod(max(tokens, 0), shared + K * own)
    return int(groups) * K + min(max(floor((left - shared) / own), 0), K - 1)


def token_passes(n, cached):
    """Tokens that run through the model while n are written: each once if keys and values are kept, else all of them at
    every step, n (n + 1) / 2.
    """
    return n if cached else n * (n + 1) // 2


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
    def tokens_per_second(self):
        return self.batch / self.seconds

    @property
    def bound(self):
        return "memory" if self.memory_seconds >= self.compute_seconds else "compute"


def decode_roofline(model, accelerator, batch, context, tensor_parallel=1, weight_bytes=2, kv_bytes=2):
    """Reading the weights once and every live token's cache, against 2 FLOP a weight and attention.

    Numbers or arrays.
    """
    batch = batch * 1.0  # float64: the products overflow the browser's int32
    tokens = batch * context
    read = bytes_read(model, batch, tokens, tensor_parallel, weight_bytes, kv_bytes)
    cache = bytes_read(model, batch, tokens, tensor_parallel, 0, kv_bytes)  # weights of no bytes
    flop = batch * (2.0 * model.active_params() + model.attention_flops_per_token(context * 1.0))
    return Decode(
        memory_seconds=read / accelerator.hbm_bytes_per_second,
        compute_seconds=flop / (tensor_parallel * peak_flops(accelerator, weight_bytes)),
        kv_share=cache / read,
        batch=batch,
    )


def unlimited_batch_intensity(model, context, tensor_parallel=1, kv_bytes=2):
    """FLOP per byte read as the batch grows without limit: the weights' reading is shared among ever more tokens, a
    sequence's own cache is not.

    (2P + attention FLOPs) / KV bytes, all a token; P the active weights. Above the ridge a large enough batch is bound
    by compute.
    """
    cache = context * float(model.kv_bytes_per_token(kv_bytes)) * tensor_parallel / model.kv_shards(tensor_parallel)
    return (2.0 * model.active_params() + model.attention_flops_per_token(context)) / cache


def crossover_context(model, accelerator, tensor_parallel=1, weight_bytes=2, kv_bytes=2):
    """S*, the average context beyond which no batch is bound by compute, from the weights' FLOPs alone: 2P / (KV bytes
    a token x ridge).
    """
    hide = flop_to_hide_a_token(model, accelerator, tensor_parallel, weight_bytes, kv_bytes)
    return 2.0 * model.active_params() / hide


def crossover_with_attention(model, accelerator, tensor_parallel=1, weight_bytes=2, kv_bytes=2):
    """S* counting attention's FLOPs too; infinite where they alone keep the chip busy."""
    hide = flop_to_hide_a_token(model, accelerator, tensor_parallel, weight_bytes, kv_bytes)
    spare = hide - model.attention_flops_per_token(1.0)
    return 2.0 * model.active_params() / spare if spare > 0 else inf


def flop_to_hide_a_token(model, accelerator, tensor_parallel, weight_bytes, kv_bytes):
    """FLOP that `tensor_parallel` GPUs can do while each reads its part of one cached token."""
    read = model.kv_bytes_per_token(kv_bytes) * tensor_parallel / model.kv_shards(tensor_parallel)
    return read * engine_ridge(accelerator, weight_bytes)


def engine_ridge(accelerator, weight_bytes):
    """FLOP a byte at which an engine with weights of this width is compute-bound. Assumed: attention runs at the same
    peak as the projections.
    """
    return peak_flops(accelerator, weight_bytes) / accelerator.hbm_bytes_per_second


def bytes_read(model, tokens, kv_tokens, tensor_parallel=1, weight_bytes=2, kv_bytes=2):
    """HBM bytes that one GPU reads in an iteration: its shard of the weights once, and its shard of every live
    sequence's keys and values.
    """
    weights = weights_read(model, tokens) * weight_bytes / tensor_parallel
    return weights + kv_tokens * float(model.kv_bytes_per_token(kv_bytes)) / model.kv_shards(tensor_parallel)


def weights_read(model, tokens):
    """Parameters that so many tokens touch, the lookup table counted: all of a dense model; of a mixture of experts the
    shared part and E(1 − (1 − k/E)^n) distinct experts a layer.
    """
    if not model.moe:
        return float(model.params())
    routed = float(model.moe_layers * model.moe.experts * model.expert_params())
    return model.params() - routed * (1 - model.moe.top_k / model.moe.experts) ** tokens


def expected_utilization(median, sigma, max_length):
    """Share of a reservation of `max_length` that is ever filled, E[min(X, c)] / c, lengths lognormal(ln median, sigma)
    cut there.
    """
    cut = (log(max_length) - log(median)) / sigma
    return (median * exp(sigma**2 / 2) * normal_cdf(cut - sigma) + max_length * (1 - normal_cdf(cut))) / max_length


def normal_cdf(x):
    return (1 + erf(x / sqrt(2))) / 2


def fragmentation(lengths, max_length, block=None):
    """Share of the reserved slots that hold a token: whole blocks, or `max_length` for each sequence if there are no
    blocks.
    """
    reserved = np.full(len(lengths), float(max_length)) if block is None else np.ceil(lengths / block) * block
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
    block may stand in several tables. The block that was freed first is handed out first, and until then it can be
    found by the tag of its content.
    """

    def __init__(self, n_blocks, block):
        self.n_blocks, self.block = n_blocks, block
        self.free_blocks = OrderedDict.fromkeys(range(n_blocks))
        self.references = [0] * n_blocks
        self.tables, self.lengths = {}, {}
        self.tags, self.tagged = {}, {}  # block -> tag, tag -> block
        self.saved = 0  # slots that further tables would have taken without sharing

    @property
    def used(self):
        return (self.n_blocks - len(self.free_blocks)) * self.block

    @property
    def tokens(self):
        """Tokens as the sequences see them: a shared one counts for each."""
        return sum(self.lengths.values())

    def needed(self, sequence, n):
        """New blocks for `n` more tokens of `sequence`; one of them is a copy if its last block is half full and
        someone else reads it.
        """
        table, length = self.tables.get(sequence, []), self.lengths.get(sequence, 0)
        copy = length % self.block > 0 and self.references[table[-1]] > 1
        return -(-(length + n) // self.block) - len(table) + copy, copy

    def append(self, sequence, n=1):
        """Room for `n` more tokens of `sequence`, which may be new; False if the blocks do not suffice."""
        needed, copy = self.needed(sequence, n)
        if needed > len(self.free_blocks):
            return False
        table = self.tables.setdefault(sequence, [])
        if copy:
            self._release([table.pop()])  # copy-on-write: the first new block takes its place
        if needed:
            table += [self._take() for _ in range(needed)]
        self.lengths[sequence] = self.lengths.get(sequence, 0) + n
        return True

    def fork(self, parent, child, n):
        """`child` begins with the first `n` tokens of `parent` and takes no room for them."""
        table = self.tables[parent][: -(-n // self.block)]
        for b in table:
            self.references[b] += 1
        self.saved += len(table) * self.block
        self.tables[child], self.lengths[child] = table, n

    def free(self, sequence):
        self._release(self.tables.pop(sequence)[::-1])  # a prefix is worth more than what follows: it goes last
        del self.lengths[sequence]

    def tag(self, sequence, i, tag):
        """Say what block i of `sequence` holds; what is already there under this tag stays the one that is found."""
        if tag not in self.tagged:
            block = self.tables[sequence][i]
            self.tags[block], self.tagged[tag] = tag, block

    def find(self, tags):
        """The blocks that hold the first of these tags, as far as they are all there."""
        found = []
        for tag in tags:
            if tag not in self.tagged:
                break
            found.append(self.tagged[tag])
        return found

    def claim(self, sequence, blocks):
        """A new sequence begins with these blocks, full ones, which may be free or in other tables."""
        for b in blocks:
            if self.references[b]:
                self.saved += self.block
            else:
                del self.free_blocks[b]
            self.references[b] += 1
        self.tables[sequence], self.lengths[sequence] = list(blocks), len(blocks) * self.block

    def _take(self):
        block, _ = self.free_blocks.popitem(last=False)
        self.references[block] = 1
        self.tagged.pop(self.tags.pop(block, None), None)
        return block

    def _release(self, blocks):
        for b in blocks:
            self.references[b] -= 1
            if self.references[b]:
                self.saved -= self.block
            else:
                self.free_blocks[b] = None


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
            sequence = waiting[0]
            siblings = [s for s in running if sharing and requests[s].group == requests[sequence].group]
            cached = prompt // block * block if siblings else 0
            if -(-(requests[sequence].have - cached) // block) > len(pool.free_blocks):
                break
            if cached:
                pool.fork(siblings[0], sequence, cached)
            pool.append(sequence, requests[sequence].have - cached)
            running.append(waiting.popleft())
            read += requests[sequence].have - cached
            if sequence in evicted:
                evicted.discard(sequence)
                recomputed += requests[sequence].have - cached
        if not running:
            raise ValueError(f"a pool of {slots:,} slots has no room for a prompt of {prompt:,} tokens")
        live, context = len(running), pool.tokens
        for sequence in list(running):
            if sequence not in pool.tables:
                continue  # evicted a moment ago, to make room for an older one
            grow = min(stride, requests[sequence].length - requests[sequence].have)
            while not pool.append(sequence, grow):
                newest = running.pop()
                pool.free(newest)
                waiting.appendleft(newest)
                evicted.add(newest)
                evictions += 1
                if newest == sequence:
                    break
            else:
                requests[sequence].have += grow
        wasted = pool.used - (pool.tokens - pool.saved)  # only full blocks are shared: the bracket counts a token once
        rows.append((live, context, read, pool.used, wasted, pool.saved, evictions))
        if pool.used - wasted > fullest:
            fullest = pool.used - wasted
            references = pool.references[:]
            last = {table[-1]: pool.lengths[sequence] % block for sequence, table in pool.tables.items()}
        for sequence in [s for s in running if requests[s].have == requests[s].length]:
            pool.free(sequence)
            running.remove(sequence)
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
