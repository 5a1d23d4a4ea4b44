"""The KV cache of an inference engine: how many sequences fit into the pool, how much is reserved in vain, and how
blocks allocate the room.

Closed forms and two data structures. Blocks, block tables and copy-on-write are PagedAttention (Kwon et al. 2023,
arXiv:2309.06180); the prefix tree is RadixAttention (Zheng et al. 2023, arXiv:2312.07104). memory.py has the size of
the pool, throughput.py the cost of reading it, and scheduling.py who is admitted and evicted.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import erf, exp, floor, log, sqrt
from typing import Any

import numpy as np


def max_sequences(tokens: float, slots: float) -> int:
    """Sequences that fit at once if each takes `slots` of the cache's `tokens`."""
    return max(floor(tokens / slots), 0)


def max_in_groups(room: float, own: float, shared: float, K: int) -> int:
    """Sequences that fit at once in groups of K: each takes `own` of the room, in slots or bytes, and each group that
    has begun takes `shared` more for its prompt.
    """
    groups, left = divmod(max(room, 0), shared + K * own)
    return int(groups) * K + min(max(floor((left - shared) / own), 0), K - 1)


def token_passes(n: int, cached: bool) -> int:
    """Tokens that pass through the model while n are written: each once if keys and values are kept, otherwise all of
    them at every step, n (n + 1) / 2.
    """
    return n if cached else n * (n + 1) // 2


def expected_utilization(median: float, sigma: float, max_length: int) -> float:
    """Fraction of a reservation of `max_length` that is ever filled, E[min(X, c)] / c, for lengths lognormal(ln median,
    sigma) cut off there.
    """
    cut = (log(max_length) - log(median)) / sigma
    return (median * exp(sigma**2 / 2) * normal_cdf(cut - sigma) + max_length * (1 - normal_cdf(cut))) / max_length


def normal_cdf(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2


def fragmentation(lengths: np.ndarray, max_length: int, block: int | None = None) -> float:
    """Fraction of the reserved slots that hold a token, for whole blocks, or for `max_length` per sequence if there are
    no blocks.
    """
    reserved = np.full(len(lengths), float(max_length)) if block is None else np.ceil(lengths / block) * block
    return float(np.sum(lengths) / np.sum(reserved))


def shared_fraction(prompt_share: float, K: int) -> float:
    """KV of K completions that share their prompt, relative to K separate copies: (p + K l) / (K (p + l)) with p / (p +
    l) = prompt_share.
    """
    return prompt_share / K + 1 - prompt_share


def slots_per_sequence(context: float, block: int, prompt: int = 0, K: int = 1) -> float:
    """Mean number of slots per sequence in a group of K; only the prompt's full blocks are shared."""
    shared = prompt // block * block if K > 1 else 0
    return shared / K + context - shared + (block - 1) / 2  # assumed: the last block is filled evenly from 1 to `block`


class BlockAllocator:
    """Slots for tokens, in blocks of one size. A sequence has a table of block numbers in the order of its tokens; a
    block may be in several tables. Blocks are reused in the order in which they were freed, and until then they can be
    found by the tag of their content.
    """

    def __init__(self, n_blocks: int, block: int) -> None:
        self.n_blocks, self.block = n_blocks, block
        self.free_blocks = OrderedDict.fromkeys(range(n_blocks))
        self.references = [0] * n_blocks
        self.tables: dict[Hashable, list[int]] = {}
        self.lengths: dict[Hashable, int] = {}
        self.tags: dict[int, Hashable] = {}
        self.tagged: dict[Hashable, int] = {}  # the block that holds it
        self.saved = 0  # slots that additional tables would have needed without sharing

    @property
    def used(self) -> int:
        return (self.n_blocks - len(self.free_blocks)) * self.block

    @property
    def tokens(self) -> int:
        """Tokens as the sequences see them: a shared token counts once for each."""
        return sum(self.lengths.values())

    def map(self) -> tuple[np.ndarray, np.ndarray]:
        """(references, fill), arrays with one number per block: how many tables hold it, and the fraction of its slots
        in use.
        """
        references = np.array(self.references, float)
        fill = np.minimum(references, 1)
        for sequence, table in self.tables.items():
            if table and self.lengths[sequence] < len(table) * self.block:
                fill[table[-1]] = self.lengths[sequence] % self.block / self.block
        return references, fill

    def needed(self, sequence: Hashable, n: int) -> tuple[int, bool]:
        """The number of new blocks for `n` more tokens of `sequence`, and whether one of them is a copy because its
        last block is partly filled and shared.
        """
        table, length = self.tables.get(sequence, []), self.lengths.get(sequence, 0)
        copy = length % self.block > 0 and self.references[table[-1]] > 1
        return -(-(length + n) // self.block) - len(table) + copy, copy

    def append(self, sequence: Hashable, n: int = 1) -> bool:
        """Makes room for `n` more tokens of `sequence`, which may be new; False if there are not enough blocks."""
        needed, copy = self.needed(sequence, n)
        if needed > len(self.free_blocks):
            return False
        table = self.tables.setdefault(sequence, [])
        if copy:
            self._release([table.pop()])  # copy-on-write: the first new block replaces it
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
        self._release(self.tables.pop(sequence)[::-1])  # a prefix is worth more than what follows it, so it goes last
        del self.lengths[sequence]

    def tag(self, sequence: Hashable, i: int, tag: Hashable) -> None:
        """States what block i of `sequence` holds; if the tag exists already, the earlier block stays the one that is
        found.
        """
        if tag not in self.tagged:
            block = self.tables[sequence][i]
            self.tags[block], self.tagged[tag] = tag, block

    def find(self, tags: Iterable[Hashable]) -> list[int]:
        """The blocks that hold the longest available prefix of these tags."""
        blocks = []
        for tag in tags:
            if tag not in self.tagged:
                break
            blocks.append(self.tagged[tag])
        return blocks

    def claim(self, sequence: Hashable, blocks: Sequence[int]) -> None:
        """A new sequence begins with these full blocks, which may be free or in other tables."""
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
    """Prompt blocks by content, a tree with one node per block: the same tokens after the same parent have the same
    keys and values.

    The path from the root is the prefix, so a node corresponds to what vLLM looks up by the hash of (parent's hash,
    tokens of the block).
    """

    def __init__(self, block: int) -> None:
        self.block, self.clock = block, 0
        self.root: dict[tuple[int, ...], Any] = {}

    def match(self, tokens: Sequence[int]) -> int:
        """The number of leading tokens that are cached, in whole blocks; these become the most recently used."""
        self.clock += 1
        path = self._path(tokens)
        for node in path:
            node["used"] = self.clock
        return len(path) * self.block

    def insert(self, tokens: Sequence[int]) -> None:
        """Caches the full blocks of `tokens`."""
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
        """Forgets up to `n` blocks, one at a time: the least recently used leaf that nothing holds."""
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
