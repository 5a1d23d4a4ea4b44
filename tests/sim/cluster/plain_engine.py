"""An engine written without a look at sim/: every iteration, every block, in the order of vLLM's V1 scheduler (2026).

Running sequences get room for their next token first, and where none is left the newest is evicted; then the waiting
ones are admitted, unless somebody was evicted; freed blocks keep what they hold until they are handed out again.
"""

from collections import OrderedDict, deque
from typing import NamedTuple


class Served(NamedTuple):
    seconds: float
    evictions: int
    read_again: int  # tokens
    read_again_seconds: float  # of the iterations that read whole prompts


def serve(requests, blocks, seconds, batch, chunk=0, watermark=0.0, block=16, prefix=True):
    """`seconds(n, kv_tokens, prefill, context)` of an iteration; `chunk` = 0 reads prompts whole, between two
    iterations that decode.
    """
    known = [r.prompt for r in requests]
    total = [r.prompt + r.output for r in requests]
    cached, tables = [0] * len(requests), [[] for _ in requests]
    readers, free = [0] * blocks, OrderedDict.fromkeys(range(blocks))
    holds, where = {}, {}  # block -> what it holds, and back
    waiting, running, evicted = deque(range(len(requests))), [], set()
    clock = again_seconds = 0.0
    evictions = again = 0

    def content(s, i):
        return ("prompt", requests[s].group, i) if (i + 1) * block <= requests[s].prompt else ("own", s, i)

    def keep(s, n):
        for i in range(n):
            if prefix and content(s, i) not in where:
                where[content(s, i)], holds[tables[s][i]] = tables[s][i], content(s, i)

    def take():
        b, _ = free.popitem(last=False)
        where.pop(holds.pop(b, None), None)
        readers[b] = 1
        return b

    def drop(s):
        for b in reversed(tables[s]):
            readers[b] -= 1
            if not readers[b]:
                free[b] = None
        tables[s] = []

    while waiting or running:
        short, i = False, 0
        while i < len(running):
            s, i = running[i], i + 1
            while cached[s] == known[s] and len(tables[s]) < -(-min(known[s] + 2, total[s]) // block):
                if free:
                    tables[s].append(take())
                    continue
                newest = running.pop()
                keep(newest, known[newest] // block)
                drop(newest)
                waiting.appendleft(newest)
                evicted.add(newest)
                cached[newest], evictions, short = 0, evictions + 1, True
                if newest == s:
                    break
        decoding = [s for s in running if cached[s] == known[s]]
        re_read = 0
        while waiting and len(running) < batch and not short:
            s, found = waiting[0], []
            for i in range((known[s] - 1) // block):
                if content(s, i) not in where:
                    break
                found.append(where[content(s, i)])
            new = -(-(known[s] + 1) // block) - len(found)
            spare = int(watermark * blocks) if running else 0
            if new + sum(readers[b] == 0 for b in found) + spare > len(free):
                break
            for b in found:
                free.pop(b, None)
                readers[b] += 1
            tables[s] = found + [take() for _ in range(new)]
            cached[s] = len(found) * block
            keep(s, requests[s].prompt // block)
            re_read += (known[s] - cached[s]) * (s in evicted)
            running.append(waiting.popleft())
        again += re_read
        left, read, context = chunk - len(decoding) if chunk else 10**12, 0, 0.0
        for s in running:
            now = min(left, known[s] - cached[s])
            if now > 0:
                context += now * (cached[s] + now / 2)
                cached[s], read, left = cached[s] + now, read + now, left - now
        attended, kv_tokens = context / read if read else 0.0, sum(known[s] for s in decoding) + len(decoding) / 2
        if chunk or not read:
            clock += seconds(len(decoding), kv_tokens, read, attended)
        else:
            alone = seconds(0, 0, read, attended)
            clock += alone + (seconds(len(decoding), kv_tokens, 0, 0) if decoding else 0.0)
            again_seconds += alone * re_read / read
        for s in decoding:
            known[s], cached[s] = known[s] + 1, cached[s] + 1
        for s in [s for s in decoding if known[s] == total[s]]:
            drop(s)
            running.remove(s)
    return Served(clock, evictions, again, again_seconds)
