"""The pool of an engine as a scene shows it: a wall of blocks with their owners, and how far each completion is."""

from collections.abc import Iterator, Mapping, Sequence

from sim.cluster import pool_states
from sim.cluster.pool_states import State
from sim.cluster.scheduling import Request
from widgets.frame.drawing import scene

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Cell = tuple[str, float, str]


def cells(state: State, blocks: int, block: int, lost: Mapping[int, Sequence[int]]) -> list[Cell]:
    """Of each block: its role, how full it is, and its owners; a free block may just have been taken from somebody."""
    last_owner = {number: s for s, table in lost.items() for number in table}
    out: list[Cell] = []
    for number, owners in enumerate(pool_states.owners(state, blocks)):
        if not owners:
            out.append(("lost", 0.0, NAMES[last_owner[number]]) if number in last_owner else ("free", 0.0, ""))
            continue
        full = max(pool_states.tokens_in(state, s, place, block) for s, place in owners) / block
        names = "".join(NAMES[s] for s, _ in sorted(owners))
        many = len(owners) > 1
        out.append(("shared" if many else "held", full, f"×{len(names)}" if many else names))
    return out


def taken_and_filled(state: State, blocks: int, block: int) -> tuple[int, float]:
    """Blocks that have an owner, and the share of their slots that hold a token."""
    fills = [full for role, full, _ in cells(state, blocks, block, {}) if role != "free"]
    return len(fills), sum(fills) / max(len(fills), 1)


def status(state: State, sequence: int, prompt: int) -> str:
    if sequence in state.running:
        return "writes"
    if sequence in state.evicted:
        return "evicted"
    return "waits" if sequence in state.waiting else "done"


def roster(
    key: str,
    state: State,
    requests: Sequence[Request],
    at: scene.Place,
    wide: float,
    pitch: float = 0.95,
    unsaid: str = "writes",
) -> Iterator[scene.Mark]:
    """A line for each completion: its prompt, what it has written, what it will write, and, but for what is `unsaid`,
    what it does.
    """
    (x, y), longest = at, max(request.prompt + request.output for request in requests)
    unit = wide / longest
    for s, request in enumerate(requests):
        top, whole = y + pitch * s, request.prompt + request.output
        doing = status(state, s, request.prompt)
        tokens = whole if doing == "done" else state.known[s]
        begin = x + 0.9
        yield scene.word(NAMES[s], (x, top + 0.5), "strong" if doing == "writes" else "head", key=f"{key}n{s}")
        yield scene.bar(f"{key}w{s}", (begin, top), unit * whole, "to-come", 0.55)
        yield scene.bar(f"{key}k{s}", (begin, top), unit * tokens, "written", 0.55)
        yield scene.bar(f"{key}p{s}", (begin, top), unit * request.prompt, "given", 0.55)
        yield scene.word(
            "" if doing in unsaid.split() else doing, (begin + wide + 0.3, top + 0.5), doing, key=f"{key}s{s}"
        )
