"""The KV cache of an inference engine: who fits into the pool, what is reserved in vain, and how blocks hand the room
out.

Closed forms and two data structures. Blocks, block tables and copy-on-write are PagedAttention (Kwon et al. 2023,
arXiv:2309.06180), the prefix tree is RadixAttention (Zheng et al. 2023, arXiv:2312.07104). How large the pool is stands
in memory.py, what reading it costs in throughput.py, who is admitted and evicted in scheduling.py.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import erf, exp, floor, log, sqrt
from typing import Any

import numpy as np


def max_sequences(tokens: float, slots: float) -> int:
    """Sequences that fit at once when each takes `slots` of the cache's `tokens`."""
    return max(floor(tokens / slots), 0)


def max_in_groups(room: float, own: float, shared: float, K: int) -> int:
    """Sequences that fit at once in groups of K: each takes `own` of the room, in slots or in bytes, and each begun
    group `shared` more for its prompt.
    """
    groups, left = divmod(max(room, 0), shared + K * own)
    return int(groups) * K + min(max(floor((left - shared) / own), 0), K - 1)


def token_passes(n: int, cached: bool) -> int:
    """Tokens that run through the model while n are written: each once if keys and values are kept, else all of them at
    every step, n (n + 1) / 2.
    """
    return n if cached else n * (n + 1) // 2


def expected_utilization(median: float, sigma: float, max_length: int) -> float:
    """Share of a reservation of `max_length` that is ever filled, E[min(X, c)] / c, lengths lognormal(ln median, sigma)
    cut there.
    """
    cut = (log(max_length) - log(median)) / sigma
    return (median * exp(sigma**2 / 2) * normal_cdf(cut - sigma) + max_length * (1 - normal_cdf(cut))) / max_length


def normal_cdf(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def fragmentation(lengths: np.ndarray, max_length: int, block: int | None = None) -> float:
    """Share of the reserved slots that hold a token: whole blocks, or `max_length` for each sequence if there are no
    blocks.
    """
    reserved = np.full(len(lengths), float(max_length)) if block is None else np.ceil(lengths / block) * block
    return float(np.sum(lengths) / np.sum(reserved))


def shared_fraction(prompt_share: float, K: int) -> float:
    """KV of K completions that share their prompt, as a part of what K copies take: (p + K l) / (K (p + l)) with p / (p
    + l) = prompt_share.
    """
    return prompt_share / K + 1 - prompt_share


def slots_per_sequence(context: float, block: int, prompt: int = 0, K: int = 1) -> float:
    """Slots that one sequence of a group of K takes on average; only the prompt's full blocks are shared."""
    shared = prompt // block * block if K > 1 else 0
    return shared / K + context - shared + (block - 1) / 2  # assumed: the last block is filled evenly from 1 to `block`


class BlockAllocator:
    """Slots for tokens, in blocks of one size. A sequence has a table of block numbers in the order of its tokens; a
    block may stand in several tables. The block that was freed first is handed out first, and until then it can be
    found by the tag of its content.
    """

    def __init__(self, n_blocks: int, block: int) -> None:
        self.n_blocks, self.block = n_blocks, block
        self.free_blocks = OrderedDict.fromkeys(range(n_blocks))
        self.references = [0] * n_blocks
        self.tables: dict[Hashable, list[int]] = {}
        self.lengths: dict[Hashable, int] = {}
        self.tags: dict[int, Hashable] = {}
        self.tagged: dict[Hashable, int] = {}  # the block that holds it
        self.saved = 0  # slots that further tables would have taken without sharing

    @property
    def used(self) -> int:
        return (self.n_blocks - len(self.free_blocks)) * self.block

    @property
    def tokens(self) -> int:
        """Tokens as the sequences see them: a shared one counts for each."""
        return sum(self.lengths.values())

    def map(self) -> tuple[np.ndarray, np.ndarray]:
        """(references, fill), arrays with a number for each block: how many tables hold it, and the share of its slots
        that are taken.
        """
        references = np.array(self.references, float)
        fill = np.minimum(references, 1)
        for sequence, table in self.tables.items():
            if table and self.lengths[sequence] < len(table) * self.block:
                fill[table[-1]] = self.lengths[sequence] % self.block / self.block
        return references, fill

    def needed(self, sequence: Hashable, n: int) -> tuple[int, bool]:
        """New blocks for `n` more tokens of `sequence`; one of them is a copy if its last block is half full and
        someone else reads it.
        """
        table, length = self.tables.get(sequence, []), self.lengths.get(sequence, 0)
        copy = length % self.block > 0 and self.references[table[-1]] > 1
        return -(-(length + n) // self.block) - len(table) + copy, copy

    def append(self, sequence: Hashable, n: int = 1) -> bool:
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

    def fork(self, parent: Hashable, child: Hashable, n: int) -> None:
        """`child` begins with the first `n` tokens of `parent` and takes no room for them."""
        table = self.tables[parent][: -(-n // self.block)]
        for b in table:
            self.references[b] += 1
        self.saved += len(table) * self.block
        self.tables[child], self.lengths[child] = table, n

    def free(self, sequence: Hashable) -> None:
        self._release(self.tables.pop(sequence)[::-1])  # a prefix is worth more than what follows: it goes last
        del self.lengths[sequence]

    def tag(self, sequence: Hashable, i: int, tag: Hashable) -> None:
        """Say what block i of `sequence` holds; what is already there under this tag stays the one that is found."""
        if tag not in self.tagged:
            block = self.tables[sequence][i]
            self.tags[block], self.tagged[tag] = tag, block

    def find(self, tags: Iterable[Hashable]) -> list[int]:
        """The blocks that hold the first of these tags, as far as they are all there."""
        blocks = []
        for tag in tags:
            if tag not in self.tagged:
                break
            blocks.append(self.tagged[tag])
        return blocks

    def claim(self, sequence: Hashable, blocks: Sequence[int]) -> None:
        """A new sequence begins with these blocks, full ones, which may be free or in other tables."""
        for b in blocks:
            if self.references[b]:
                self.saved += self.block
            else:
                del self.free_blocks[b]
            self.references[b] += 1
        self.tables[sequence], self.lengths[sequence] = list(blocks), len(blocks) * self.block

    def _take(self) -> int:
        block, _ = self.free_blocks.popitem(last=False)
        self.references[block] = 1
        self.tagged.pop(self.tags.pop(block, None), None)
        return block

    def _release(self, blocks: Sequence[int]) -> None:
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

    def __init__(self, block: int) -> None:
        self.block, self.clock = block, 0
        self.root: dict[tuple[int, ...], Any] = {}

    def match(self, tokens: Sequence[int]) -> int:
        """How many tokens at the beginning are cached, in whole blocks; they become the most recently used."""
        self.clock += 1
        path = self._path(tokens)
        for node in path:
            node["used"] = self.clock
        return len(path) * self.block

    def insert(self, tokens: Sequence[int]) -> None:
        """Cache the full blocks of `tokens`."""
        self.clock += 1
        children = self.root
        for key in self._keys(tokens):
            node = children.setdefault(key, dict(children={}, holders=0))
            node["used"] = self.clock
            children = node["children"]

    def hold(self, tokens: Sequence[int], by: int = 1) -> None:
        """A running sequence reads these blocks, so they stay; `by` = -1 when it has finished."""
        for node in self._path(tokens):
            node["holders"] += by

    def evict(self, n: int) -> None:
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

    def __len__(self) -> int:
        return sum(1 for _ in self._nodes())

    def _keys(self, tokens: Sequence[int]) -> list[tuple[int, ...]]:
        return [tuple(tokens[i : i + self.block]) for i in range(0, len(tokens) - self.block + 1, self.block)]

    def _path(self, tokens: Sequence[int]) -> list[dict[str, Any]]:
        path, children = [], self.root
        for key in self._keys(tokens):
            if key not in children:
                break
            path.append(children[key])
            children = children[key]["children"]
        return path

    def _nodes(self) -> Iterator[tuple[dict[tuple[int, ...], Any], tuple[int, ...], dict[str, Any]]]:
        stack = [self.root]
        while stack:
            siblings = stack.pop()
            for key, node in siblings.items():
                yield siblings, key, node
                stack.append(node["children"])
